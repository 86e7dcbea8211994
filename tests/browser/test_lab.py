"""Notebooks in JupyterLab: they run, and their sliders draw new pictures."""

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

SLIDERS = {
    "04_fourier_accountant": ("L", "k", "eps"),
    "05_error_analysis": ("lambda", "L", "n", "k"),
    "09_exact_fft_clt": ("sigma",),
}


@pytest.mark.long
@pytest.mark.browser
@pytest.mark.parametrize("stem", SLIDERS)
def test_the_sliders_answer_the_keyboard(stem, tmp_path):
    with jupyter_lab(ROOT / "notebooks", tmp_path) as url, chromium_page() as page:
        open_notebook(page, url, f"{stem}.ipynb")
        run_all(page)
        for label in SLIDERS[stem]:
            widget = widget_with(page, label)
            before = picture(widget)
            press_slider(widget, label)
            new_picture(widget, before)
