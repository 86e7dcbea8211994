"""The compare widget: its functions are plain, its picture is the static one, and it says what it shows."""

import statistics
import time

import pytest

from dplab import Composition, Gaussian, Laplace, PoissonSubsampled, RandomizedResponse
from dplab.plots import Picture
from dplab.widgets import compare_picture, compare_widget
from dplab.widgets.comparing import composed


@pytest.fixture(scope="module")
def widget():
    return compare_widget("randomised response", p="0.6", q="1", k=10, eps=(0, 4))


@pytest.mark.parametrize(
    ("mechanism", "q", "expected"),
    [
        ("Gaussian", "1", 7 * Gaussian(2)),
        ("Laplace", "1", 7 * Laplace(3)),
        ("randomised response", "0.1", 7 * PoissonSubsampled(RandomizedResponse("0.6"), "0.1")),
    ],
)
def test_the_sliders_describe_a_composition(mechanism, q, expected):
    assert composed(mechanism, "2", "3", "0.6", q, 7) == expected
    assert isinstance(composed(mechanism, "2", "3", "0.6", q, 7), Composition)


def test_the_first_picture_is_complete(widget):
    assert widget.error.value == ""
    assert "10 * RandomizedResponse(p=0.6): δ(ε) by every route" in widget.picture.value
    assert "reference</text>" in widget.picture.value
    assert "0.0126594624563705" in widget.text.value  # delta(3) to 20 digits, in words beneath


def test_it_is_the_static_picture(widget):
    static, table = compare_picture(10 * RandomizedResponse("0.6"), eps=(0, 4))
    assert isinstance(static, Picture)
    assert table in widget.text.value
    assert static.description in widget.picture.value.replace("&#x27;", "'")


def test_only_the_parameters_of_the_mechanism_are_shown(widget):
    shown = [name for name, control in widget.controls.items() if control.layout.display is None]
    assert shown == ["mechanism", "p", "q", "k", "eps"]
    widget.controls["mechanism"].value = "Laplace"
    shown = [name for name, control in widget.controls.items() if control.layout.display is None]
    assert shown == ["mechanism", "b", "q", "k", "eps"]
    widget.controls["mechanism"].value = "randomised response"


def test_a_key_press_draws_quickly_and_then_better(widget):
    before = widget.picture.value
    widget.controls["p"].index += 1
    quick = widget.picture.value
    assert quick != before
    assert "reference</text>" not in quick
    widget.finish()
    assert "reference</text>" in widget.picture.value


def test_every_mechanism_and_an_empty_range_draw(widget):
    for mechanism in ("Gaussian", "Laplace", "randomised response"):
        widget.controls["mechanism"].value = mechanism
        widget.controls["eps"].value = (1, 1)
        assert widget.error.value == ""
        widget.controls["eps"].value = (0, 2)
        assert widget.error.value == ""


def test_start_values_must_be_on_the_sliders():
    with pytest.raises(Exception, match="Invalid selection"):
        compare_widget(sigma="4.321")


def test_it_answers_fast_enough_to_be_played_with():
    widget = compare_widget("Gaussian", sigma="4", q="1", k=100, eps=(0, 4))
    times = []
    for sigma in ("6", "10", "20", "10", "6", "4", "6"):
        start = time.perf_counter()
        widget.controls["sigma"].value = sigma
        times.append(time.perf_counter() - start)
    assert statistics.median(times) < 1, "0.1 s on a quiet machine"
