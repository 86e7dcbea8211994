"""Labels a reader knows, and logarithms that survive what no float can hold."""

import math
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dplab.plots.scale import decades, log10, power_label
from dplab.plots.words import in_words, percent, short, span


@pytest.mark.parametrize(
    ("value", "expected"),
    [(1000, 3), (0.01, -2), (Fraction(1, 10), -1), (mpmath.mpf("1e-1000"), -1000), (0, -math.inf), (0.0, -math.inf)],
)
def test_log10_of_every_type(value, expected):
    assert log10(value) == pytest.approx(expected)


@pytest.mark.parametrize("value", [-1, float("nan"), mpmath.mpf(-1)])
def test_log10_of_what_has_none(value):
    assert math.isnan(log10(value))


@pytest.mark.parametrize(
    ("exponent", "label"),
    [
        (0, "1"),
        (-1, "0.1"),
        (2, "100"),
        (-3, "10⁻³"),
        (-120, "10⁻¹²⁰"),
        (math.log10(0.02), "0.02"),
        (-5 + math.log10(2), "2·10⁻⁵"),
    ],
)
def test_tick_labels(exponent, label):
    assert power_label(exponent) == label


@given(st.floats(-400, 3), st.floats(0, 400))
def test_ticks_lie_inside_and_are_few(low, span_):
    ticks = decades(low, low + span_)
    assert 1 <= len(ticks) <= 12
    assert all(low - 1e-6 <= tick <= low + span_ + 1e-6 for tick in ticks)
    assert ticks == sorted(ticks)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.25, "0.25"), (1.5e-7, "1.5e-7"), (mpmath.mpf("3e-1000"), "3e-1000"), (0, "0"), (math.inf, "∞"), (10**6, "1e6")],
)
def test_short_numbers(value, text):
    assert short(value) == text


def test_phrases():
    assert span(0.5, 2) == "from 0.5 to 2"
    assert span(2, 2) == "at 2"
    assert percent(0.0361) == "3.6 %"
    assert in_words([]) == ""
    assert in_words(["a"]) == "a"
    assert in_words(["a", "b", "c"]) == "a, b and c"
