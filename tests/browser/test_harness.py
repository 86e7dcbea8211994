"""The browser harness itself: it sees a picture change, a picture that does not, and a failing cell."""

import nbformat
import pytest

from tests.browser.lab import (
    chromium_page,
    jupyter_lab,
    new_picture,
    open_notebook,
    picture,
    press_slider,
    run_all,
    widget_with,
)

pytestmark = [pytest.mark.long, pytest.mark.browser]

WIDGET = """
import ipywidgets as widgets
other = widgets.IntSlider(description="k", value=3)
slider = widgets.IntSlider(description="sigma", value=3)
picture = widgets.HTML()
def draw(change=None):
    picture.value = f'<svg width="100" height="20"><circle cx="{slider.value}" cy="9" r="3"/></svg>'
slider.observe(draw, "value")
draw()
widgets.VBox([other, slider, picture])
"""


def write_notebook(path, *cells):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3"}
    nbformat.write(notebook, path)


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    notebooks = tmp_path_factory.mktemp("notebooks")
    write_notebook(notebooks / "widget.ipynb", "import time\ntime.sleep(1)", *["1 + 1"] * 30, WIDGET)
    write_notebook(notebooks / "broken.ipynb", "1 + 1", "1 / 0")
    with jupyter_lab(notebooks, tmp_path_factory.mktemp("lab")) as url, chromium_page() as page:
        yield url, page


def test_the_slider_changes_the_picture(lab):
    url, page = lab
    open_notebook(page, url, "widget.ipynb")
    run_all(page)
    widget = widget_with(page, "sigma")
    before = picture(widget)
    assert 'cx="3"' in before
    press_slider(widget, "sigma")
    after = new_picture(widget, before)
    assert 'cx="4"' in after
    press_slider(widget, "k")
    with pytest.raises(TimeoutError):
        new_picture(widget, after, seconds=1)


def test_a_failing_cell_is_named(lab):
    url, page = lab
    open_notebook(page, url, "broken.ipynb")
    with pytest.raises(AssertionError, match="cell 1: ZeroDivisionError"):
        run_all(page)
