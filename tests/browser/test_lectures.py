"""The lectures on definitions, the privacy loss and composition in JupyterLab: every widget answers the keyboard."""

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

pytestmark = [pytest.mark.long, pytest.mark.browser]


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    with jupyter_lab(ROOT / "notebooks", tmp_path_factory.mktemp("lab")) as url, chromium_page() as page:
        yield url, page


@pytest.mark.parametrize(
    ("notebook", "sliders"),
    [
        ("01_definitions", [("eps", 0), ("S from, to", 0)]),
        ("02_privacy_loss", [("strip of t", 0)]),
        ("03_composition", [("k", 0), ("s", 0), ("q", -1)]),
    ],
)
def test_every_slider_moves_its_picture(lab, notebook, sliders):
    url, page = lab
    open_notebook(page, url, f"{notebook}.ipynb")
    run_all(page)
    for label, place in sliders:
        widget = widget_with(page, label, place)
        before = picture(widget)
        press_slider(widget, label)
        new_picture(widget, before)


def test_typing_a_mechanism(lab):
    url, page = lab
    open_notebook(page, url, "02_privacy_loss.ipynb")
    run_all(page)
    widget = page.locator(".jp-OutputArea-output").filter(has=page.locator(".widget-text")).first
    field = widget.get_by_label("P(t)", exact=True)
    before = picture(widget)
    field.fill("exp(-abs(t - 2))/2")
    after = new_picture(widget, before)
    assert "exp(-abs(t - 2))/2" in after
    field.fill("exp(-abs(t - 2)/2")
    alert = widget.get_by_role("alert")
    alert.wait_for(timeout=10_000)
    assert "exp(-abs(t - 2)/2" in alert.inner_text()
    assert picture(widget) == after
