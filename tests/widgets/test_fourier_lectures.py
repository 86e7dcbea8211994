"""The widgets of the Fourier notebooks: plain functions, every setting draws, sliders move what they should."""

import math
import statistics
import time

import pytest

from dplab import Gaussian
from dplab.core.errors import DplabError
from dplab.plots import Picture
from dplab.widgets import error_picture, error_widget, wrap_bounds, wrap_picture, wrap_widget


def test_the_widgets_show_the_static_pictures():
    for widget, (static, values) in (
        (wrap_widget(k=6, L="2.5", eps="0.5"), wrap_picture(Gaussian(2), 6, "2.5", "0.5")),
        (error_widget(lam="2", L="8", n=256, k=5), error_picture(Gaussian(2), 5, "8", 256, "1", "2")),
    ):
        assert isinstance(static, Picture)
        assert widget.picture.value == static.svg
        assert values in widget.text.value
        assert widget.error.value == ""


@pytest.mark.parametrize("make", [wrap_widget, error_widget])
def test_every_control_draws_at_its_ends_and_in_the_middle(make):
    widget = make()
    for control in widget.controls.values():
        start, seen, options = control.value, set(), [value for _, value in control.options]
        for value in {options[0], options[len(options) // 2], options[-1]}:
            control.value = value
            assert widget.error.value == ""
            seen.add(widget.picture.value)
        assert len(seen) == min(3, len(options))  # and each looks different
        control.value = start


def test_a_shorter_window_loses_more():
    lost = []
    for L in ("5", "4", "3", "2"):
        picture, _ = wrap_picture(Gaussian(2), 8, L, 1)
        lost.append(float(picture.description.split("Mass above it: ")[1].split(",")[0]))
    assert lost == sorted(lost)
    assert lost[0] < 0.02 < 0.3 < lost[-1]


def test_bounds_against_lambda():
    found = wrap_bounds(Gaussian(2), 8, 6.0, 256, [0.5, 2.0, 6.0])
    for (lam, theorem), (_, part), (_, sharper), (_, true) in zip(*found.values(), strict=True):
        assert lam in (0.5, 2.0, 6.0)
        assert true < sharper < theorem
        assert part < theorem
    mean, deviation = 8 * (0.125 + 12 / 256 / 2), math.sqrt(2)  # rounded up by half a cell a step
    outside = [math.erfc(distance / deviation / math.sqrt(2)) / 2 for distance in (6 - mean, 6 + mean)]
    assert true == pytest.approx(sum(outside), rel=0.1)


@pytest.mark.parametrize(("k", "L"), [(1000, 1.0), (1, 8.0)])
def test_no_line_for_a_mass_that_cannot_be_had(k, L):
    assert "true mass outside" not in wrap_bounds(Gaussian(2), k, L, 8192, [1.0])


def test_both_ways_of_bounding_are_strict_and_shown():
    for wrap in ("one-sided", "theorem 10"):
        picture, values = error_picture(Gaussian(2), 8, 6, 512, 1, wrap=wrap)
        assert ("Theorem 10: partial sums" in values) == (wrap == "theorem 10")
        assert "upper − lower" in values
        assert "truncation" in picture.description


def test_errors_are_shown_in_place():
    widget = error_widget()
    before = widget.picture.value
    widget._draw = lambda **values: error_picture(Gaussian("sigma"), 2, 8, 64, 1)
    widget.refresh()
    assert "sigma" in widget.error.value
    assert widget.picture.value == before
    with pytest.raises(DplabError, match="k = 0"):
        error_picture(Gaussian(2), 0, 8, 64, 1)


@pytest.mark.long
@pytest.mark.parametrize("make", [wrap_widget, error_widget])
def test_a_key_press_costs_little(make):
    """The goal is 100 ms from key to picture; three times as much CPU time is surely a change for the worse."""
    widget = make()
    spent = []
    for name in ("L", "k"):
        control = widget.controls[name]
        for _, value in control.options:
            start = time.process_time()
            control.value = value
            spent.append(time.process_time() - start)
    assert statistics.median(spent) < 0.3
