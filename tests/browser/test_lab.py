"""The capstone notebook in JupyterLab: it runs, and its slider draws a new picture."""

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
from tests.house import ROOT


@pytest.mark.long
@pytest.mark.browser
def test_the_capstone_answers_the_keyboard(tmp_path):
    with jupyter_lab(ROOT / "notebooks", tmp_path) as url, chromium_page() as page:
        open_notebook(page, url, "09_exact_fft_clt.ipynb")
        run_all(page)
        widget = widget_with(page, "sigma")
        before = picture(widget)
        press_slider(widget, "sigma")
        new_picture(widget, before)
