"""The widget of the privacy loss: every mechanism of the package, its strip, its values."""

import statistics
import time

import pytest

from dplab import Gaussian, RandomizedResponse
from dplab.core.errors import ParameterError, UnboundSymbolError
from dplab.widgets import loss_picture, loss_widget
from dplab.widgets.choosing import CHOICES, SCALES, mechanism_of


@pytest.fixture(scope="module")
def widget():
    return loss_widget()


def test_the_widget_shows_the_static_picture(widget):
    static, table = loss_picture(Gaussian(1), (1.0, 1.5))
    assert static.svg == loss_widget().picture.value
    assert table in loss_widget().text.value
    assert "0.38292" in table  # 2 Phi(1/2) - 1


@pytest.mark.parametrize("mechanism", CHOICES)
def test_every_mechanism_draws_at_both_ends_of_its_sliders(widget, mechanism):
    widget.controls["mechanism"].value = mechanism
    assert widget.error.value == ""
    for name in CHOICES[mechanism].parameters:
        for index in (0, len(SCALES[name].values) - 1):
            widget.controls[name].index = index
            assert widget.error.value == "", (name, widget.controls[name].value)
        widget.controls[name].value = SCALES[name].start
    assert repr(mechanism_of(mechanism)).partition("(")[0] in widget.picture.value
    widget.finish()
    assert widget.error.value == ""
    assert "…" not in widget.text.value


def test_a_strip_is_for_real_outcomes(widget):
    widget.controls["mechanism"].value = "randomised response"
    assert widget.controls["strip"].layout.display == "none"
    widget.controls["mechanism"].value = "Gaussian"
    assert widget.controls["strip"].layout.display is None
    before = widget.picture.value
    widget.controls["strip"].value = (-1.0, 0.0)
    assert widget.picture.value != before
    assert "Outcomes from -1 to 0" in widget.picture.value


def test_a_name_replaces_the_text_of_the_pair():
    picture, table = loss_picture(RandomizedResponse("0.75"), quick=True, name="my answer")
    assert picture.title.startswith("my answer: ")
    assert "my answer" in table


def test_what_makes_no_sense_is_refused():
    with pytest.raises(UnboundSymbolError, match="sigma"):
        loss_picture(Gaussian("sigma"))
    with pytest.raises(ParameterError, match="mechanism"):
        loss_widget("Cauchy")


def test_it_answers_fast_enough_to_be_played_with():
    widget = loss_widget("subsampled Gaussian")
    times = []
    for value in ("0.01", "0.05", "0.1", "0.2", "0.5"):
        start = time.process_time()
        widget.controls["q"].value = value
        times.append(time.process_time() - start)
    assert statistics.median(times) < 1, "0.06 s on a quiet machine"
