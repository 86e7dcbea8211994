"""Curves: bounds before, bounds after, monotone exactly, convex in e^eps to the last digits, and never much wider."""

import math
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mpf

from dplab import Bracket, Gaussian, Laplace, PoissonSubsampled, RandomizedResponse, fourier
from dplab.core.budget import ErrorBudget, Part
from dplab.fourier.accountant import Point
from dplab.fourier.shaping import shaped

from .exact import atoms_delta, gaussian_delta

ROUNDING = mpf(2) ** -45


def bracket(lower: float, upper: float) -> Bracket:
    return Bracket(lower, upper, ErrorBudget((Part("grid", upper - lower, "made up"),), {}))


def triples(curve):
    """Neighbouring points (eps, lower, upper) in order, one for each eps, without eps = inf."""
    points = sorted({(eps, b.lower, b.upper) for eps, b in curve if eps < math.inf})
    assert len({eps for eps, _, _ in points}) == len(points)  # the same float, the same bracket
    return zip(points, points[1:], points[2:], strict=False)


def assert_monotone_and_convex(curve) -> None:
    curve = list(curve)
    for side in (1, 2):
        values = [(b.lower, b.upper)[side - 1] for _, b in sorted(curve, key=lambda point: point[0])]
        assert values == sorted(values, reverse=True)
        with mpmath.workdps(60):
            for left, inner, right in triples(curve):
                to_inner, to_left = (mpmath.expm1(mpf(p[0]) - mpf(right[0])) for p in (inner, left))
                share = to_inner / to_left  # of x in (x_right - x)/(x_right - x_left)
                chord = share * mpf(left[side]) + (1 - share) * mpf(right[side])
                assert inner[side] <= chord * (1 + ROUNDING) + mpf(2) ** -1073


def test_chords_and_lines_are_what_convexity_gives():
    """Three points at x = 1, 2, 3 with delta = .5, .25 and .1 at most: known by hand."""
    points = [Point(math.log(x)) for x in (1, 2, 3)]
    found = shaped(points, [bracket(0.48, 0.5), bracket(0.0, 0.4), bracket(0.05, 0.1)])
    assert found[1].upper == pytest.approx(0.3, rel=1e-14)  # the chord between .5 and .1
    assert found[1].lower == pytest.approx(0.05, rel=1e-14)  # monotone, but no line from two points on one side
    found = shaped(points, [bracket(0.4, 0.41), bracket(0.29, 0.3), bracket(0.0, 0.3)])
    assert found[2].lower == pytest.approx(0.17, rel=1e-13)  # through (1, .41) and (2, .29)
    found = shaped(points, [bracket(0.0, 1.0), bracket(0.29, 0.3), bracket(0.1, 0.11)])
    assert found[0].lower == pytest.approx(0.47, rel=1e-13)  # through (2, .29) and (3, .11)
    assert found[0].upper == pytest.approx(0.65, rel=1e-13)  # the chord between (0, 1) and (2, .3)
    for values in found:
        assert values.budget.total == pytest.approx(values.width, abs=1e-15)


epss = st.floats(-4, 40) | st.floats(-1e-3, 1e-3) | st.sampled_from([0.0, 1.0, 1.0, -math.inf, math.inf, 700.0, 1e-12])


@given(
    st.lists(epss, min_size=1, max_size=25),
    st.sampled_from(["0.3", "1", "4", "0.05"]),
    st.integers(0, 10**6),
    st.sampled_from([1e-15, 1e-6, 1e-2, 0.9]),
    st.booleans(),
)
def test_noisy_bounds_become_convex_and_stay_bounds(eps, mu, seed, noise, some_unknown):
    rng = np.random.default_rng(seed)
    with mpmath.workdps(80):
        truth = [_delta(e, mu) for e in eps]
    brackets = []
    for true in truth:
        low, high = (1 - noise * rng.random()) * (1 - 1e-15), (1 + noise * rng.random()) * (1 + 1e-15)
        lower, upper = float(true * low), min(float(true * high), 1.0)
        if some_unknown and rng.random() < 0.3:
            lower, upper = 0.0, 1.0
        brackets.append(bracket(min(lower, float(true)), np.nextafter(upper, 2) if upper < 1 else 1.0))
    found = shaped([Point(e) for e in eps], brackets)
    assert_monotone_and_convex(zip(eps, found, strict=True))
    for true, value in zip(truth, found, strict=True):
        assert value.lower <= true <= value.upper
        if not some_unknown and true > 1e-300:
            assert value.lower >= true * (1 - noise) * (1 - mpf("1e-12"))
            assert value.upper <= true * (1 + noise) * (1 + mpf("1e-12"))


def _delta(eps, mu):
    if math.isinf(eps):
        return mpf(1 if eps < 0 else 0)
    return gaussian_delta(mpf(mu), mpf(eps))


def test_positions_that_overlap_count_as_one():
    """Floats next to each other that stand for exact values within their own rounding are not ordered by them."""
    one = float(np.nextafter(1.0, 2.0))
    points = [Point(1.0, 2.3e-16), Point(one, 2.3e-16), Point(0.0), Point(2.0)]
    given_ = [bracket(0.29, 0.299), bracket(0.295, 0.31), bracket(0.5, 0.6), bracket(0.1, 0.2)]
    found = shaped(points, given_)
    assert (found[0].lower, found[0].upper) == (found[1].lower, found[1].upper)
    assert found[0].lower <= 0.29
    assert found[0].upper >= 0.31


COMPOSITIONS = [
    100 * PoissonSubsampled(Gaussian(1), "0.05"),
    2000 * Gaussian(40),
    30 * RandomizedResponse("0.6"),
    20 * Laplace(2),
    50 * PoissonSubsampled(Laplace(0), "0.001") + 4 * Gaussian(2),
]


@pytest.mark.parametrize("composition", COMPOSITIONS, ids=str)
@pytest.mark.parametrize("direction", ["both", "backward"])
def test_real_curves_are_monotone_and_convex(composition, direction):
    eps = [*np.linspace(-1, 6, 25).tolist(), 1.0, 1, "1/3", 1 / 3, "1.0000000000000002", "inf", "-inf", 40, 1e-9]
    curve = fourier.curve(composition, eps, direction, rtol=1e-2)
    assert_monotone_and_convex(zip(curve.eps, curve, strict=True))
    for value in curve:
        assert value.budget.total == pytest.approx(value.width, rel=1e-6, abs=1e-15 * value.upper + 1e-320)
    assert curve[-4].lower == curve[-4].upper or curve[-4].lower > 0 or composition == COMPOSITIONS[-1]
    assert curve[-3].lower == 1


def test_a_curve_of_a_closed_form_far_down_keeps_its_digits():
    """delta from .4 to 1e-240: the relative width stays what was asked for, and the truth inside."""
    composition = 2000 * Gaussian(40)
    eps = np.linspace(0, 36, 19).tolist()
    curve = fourier.curve(composition, eps)
    assert_monotone_and_convex(zip(curve.eps, curve, strict=True))
    assert curve[-1].upper < 1e-200
    with mpmath.workdps(40):
        for e, value in zip(eps, curve, strict=True):
            assert value.contains(gaussian_delta(mpmath.sqrt(2000) / 40, mpf(e)))
            assert value.relative_width <= 1e-3


def test_points_close_together_are_not_spoilt_by_kinks():
    """randomised response: delta is piecewise linear in e^eps, with kinks at every other multiple of the loss."""
    pair, k = RandomizedResponse("0.6"), 12
    eps = [0.81 + i * 1e-4 for i in range(-6, 7)]
    curve = fourier.curve(k * pair, eps)
    assert_monotone_and_convex(zip(curve.eps, curve, strict=True))
    with mpmath.workdps(30):
        for e, value in zip(eps, curve, strict=True):
            assert value.contains(atoms_delta(pair, False, k, mpf(e)))
            assert value.relative_width < 1e-10
    assert all(left.upper >= right.upper for left, right in pairwise(curve))
