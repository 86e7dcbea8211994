"""The pictures of Algorithm 1: swap, periodic extension, wrap-around; curves, checks and parts of a budget."""

import math

import numpy as np
import pytest

from dplab import Gaussian
from dplab.core.budget import ErrorBudget, Part
from dplab.core.errors import ParameterError
from dplab.fourier import algorithm_1, compose, rounded_masses
from dplab.plots import (
    draw_check,
    draw_lines,
    draw_outside,
    draw_parts,
    draw_periodic,
    draw_swap,
    draw_wrapped,
    new_figure,
    wrapped,
)


@pytest.fixture
def ax():
    return new_figure()[1][0]


# ---------------------------------------------------------------- Algorithm 1


def test_wrapped_pieces_are_what_algorithm_1_computes_and_what_direct_convolution_gives():
    a, _ = rounded_masses(Gaussian(2), 3, 48)
    for k in (1, 2, 7, 12):
        pieces = wrapped(a, k, 3)
        law = np.ones(1)
        for _ in range(k):
            law = np.convolve(law, a)
        x = (np.arange(len(law)) - k * 24) * 0.125
        assert np.interp(x, pieces.losses, pieces.law, 0.0, 0.0) == pytest.approx(law, abs=1e-15)
        assert pieces.composed == pytest.approx(compose(a, k, 3).masses, abs=1e-14)
        true, seen = pieces.delta(0.7)
        assert seen == pytest.approx(algorithm_1(a, k, 3, 0.7), abs=1e-14)
        assert true - seen <= pieces.from_above.sum() + 1e-15
        assert seen - true <= pieces.from_below.sum() + 1e-15


def test_mass_from_below_comes_back_at_the_top():
    pieces = wrapped([0.5, 0, 0.5, 0], 2, L=2)  # losses -2 and 0: the sum -4 comes back at 0
    assert pieces.from_below.tolist() == [0, 0, 0.25, 0]
    assert pieces.inside.tolist() == [0.5, 0, 0.25, 0]
    assert pieces.from_above.sum() == 0


def test_the_swap_shows_both_rows(ax):
    a, _ = rounded_masses(Gaussian(2), 3, 48)
    sentence = draw_swap(ax, a, 3)
    bars = ax.patches
    assert len(bars) == 96
    upper, lower = [bar.get_height() for bar in bars[:48]], [bar.get_height() for bar in bars[48:]]
    assert lower == pytest.approx(upper[24:] + upper[:24])
    assert [label.get_text() for label in ax.get_yticklabels()] == ["D a", "a"]
    assert "number 24 of 48, comes first" in sentence


def test_the_periodic_extension_has_three_copies(ax):
    a, _ = rounded_masses(Gaussian(2), 3, 48)
    sentence = draw_periodic(ax, a, 3)
    heights = [bar.get_height() for bar in ax.patches if bar.get_height()]
    copy = sorted(heights[: len(heights) // 3])
    assert sorted(heights) == pytest.approx(sorted(3 * copy))
    assert ax.get_xlim() == (-9, 9)
    assert "the same periodic sequence" in sentence
    assert {text.get_text() for text in ax.texts} >= {"the window: a", "D a"}


def test_the_law_and_the_window(ax):
    a, _ = rounded_masses(Gaussian(2), 3, 48)
    pieces = wrapped(a, 8, 3)
    sentence = draw_outside(ax, pieces)
    assert "Mass above it: 0.155" in sentence
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["in the window", "above: 16 %", "below: 0.064 %"]
    low, high = ax.get_xlim()
    assert low < -3
    assert high > 3


def test_what_comes_back_is_stacked_and_named(ax):
    a, _ = rounded_masses(Gaussian(2), 3, 48)
    pieces = wrapped(a, 8, 3)
    sentence = draw_wrapped(ax, pieces, 1.0)
    true, seen = pieces.delta(1.0)
    assert f"reads off {seen:.3g}; the true value is {true:.3g}" in sentence.replace("0.400", "0.4")
    assert f"δ̃ = {seen:.3g}" in ax.get_title(loc="left")
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels[:2] == ["belongs here", "came from above"]


def test_a_long_window_has_nothing_to_hide(ax):
    a, _ = rounded_masses(Gaussian(2), 12, 192)
    draw_wrapped(ax, wrapped(a, 2, 12), 1.0)
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["belongs here", "1 − exp(ε − x)"]


@pytest.mark.parametrize("draw", [draw_swap, draw_periodic])
def test_masses_that_are_none_are_refused(ax, draw):
    with pytest.raises(ParameterError):
        draw(ax, [0.5, 0.5, 0.1], 1.0)


# ---------------------------------------------------------------- curves


def test_lines_on_both_kinds_of_axes(ax):
    series = {"a": [(0.1, 1e-3), (1, 1e-6), (10, 0.0)], "b": [(0.1, 1.0), (10, 2.0)]}
    sentence = draw_lines(ax, series, x="lambda", y="bound", at=1, log_x=True)
    assert sentence == "bound against lambda, from 0.1 to 10. At 1: a 1e-6 and b 1."
    a, b = ax.lines[0], ax.lines[2]
    assert list(a.get_xdata()) == pytest.approx([-1, 0, 1])
    assert list(a.get_ydata())[:2] == pytest.approx([-3, -6])
    assert a.get_ydata()[2] < ax.get_ylim()[0]  # zero lies below the picture
    assert list(b.get_ydata()) == pytest.approx([0, math.log10(2)])


def test_lines_without_logarithms(ax):
    sentence = draw_lines(ax, {"a": [(0, -1), (1, 3)]}, x="s", y="law", log_y=False, limits=(0, 2))
    assert ax.get_ylim() == (0, 2)
    assert sentence == "law against s, from 0 to 1. a: from -1 to 3."


def test_what_overflows_stays_near_the_picture(ax):
    draw_lines(ax, {"a": [(1, math.inf), (2, 1e-3), (3, math.nan)]}, x="x", y="t", limits=(1e-4, 1))
    ys = list(ax.lines[0].get_ydata())
    assert ys == pytest.approx([4, -3, -8])


# ---------------------------------------------------------------- checks and parts


def test_violations_are_counted_and_drawn_under_the_diagonal(ax):
    claims = {
        "right": [(1e-3, 2e-3), (1e-6, 1e-6), (0.0, 1e-9)],
        "wrong": [(1e-3, 1e-4), (1e-2, -1.0), (1e-5, 1.0), (1e-4, math.nan)],
    }
    sentence = draw_check(ax, claims)
    assert sentence.endswith("right is violated in 0 of 3 cases and wrong is violated in 3 of 4 cases.")
    xs, ys = (list(data) for data in ax.lines[1].get_data())
    assert xs == pytest.approx([-3, -2, -5, -4])
    assert all(y < x for x, y in zip(xs, ys, strict=True) if x != -5)


def test_parts_on_a_ladder(ax):
    budget = ErrorBudget((Part("grid", 3e-4, ""), Part("tail", 0.0, ""), Part("rounding", 1e-13, "")), {})
    sentence = draw_parts(ax, budget)
    assert sentence == "Parts of a width of 3e-4, by size: grid 3e-4, tail 0, rounding 1e-13."
    ends = [bar.get_x() + bar.get_width() for bar in ax.patches]
    assert ends == pytest.approx([math.log10(3e-4), -13])
    assert [text.get_text() for text in ax.texts] == ["3e-4", "0", "1e-13"]


def test_an_infinite_part_ends_at_the_edge(ax):
    draw_parts(ax, ErrorBudget((Part("tail", math.inf, ""), Part("grid", 1.0, "")), {}))
    assert max(bar.get_x() + bar.get_width() for bar in ax.patches) <= ax.get_xlim()[1]
