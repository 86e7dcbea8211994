"""Error estimates are tested themselves: the true error is at most twice the estimate, on every route."""

import itertools
import math
from fractions import Fraction

import mpmath
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dplab import Composition, Gaussian, Laplace, PoissonSubsampled, RandomizedResponse, reference
from dplab.core.pld import PLD
from dplab.reference.single_step import log_delta_of_one

SIGMAS = st.fractions(Fraction(7, 10), 6, max_denominator=10)
RATES = st.fractions(Fraction(1, 1000), Fraction(1, 2), max_denominator=1000)
EPSS = st.fractions(-1, 6, max_denominator=20)
DIRECTIONS = st.sampled_from(["remove", "add"])
CHEAP = st.one_of(
    st.builds(lambda s: Composition.of(Gaussian(s)), SIGMAS),
    st.builds(lambda s, q: Composition.of(PoissonSubsampled(Gaussian(s), q)), SIGMAS, RATES),
    st.builds(lambda b, q: Composition.of(PoissonSubsampled(Laplace(b), q)), SIGMAS, RATES),
    st.builds(lambda b, k: k * Laplace(b), SIGMAS, st.integers(1, 12)),
    st.builds(lambda p, k: k * RandomizedResponse(p), st.sampled_from(["0.6", "0.75", "0.9"]), st.integers(1, 60)),
    st.builds(
        lambda p, q, k: k * PoissonSubsampled(RandomizedResponse(p), q),
        st.sampled_from(["0.6", "0.9"]), RATES, st.integers(1, 60),
    ),
    st.builds(lambda b, k: Laplace(b) + k * RandomizedResponse("0.6"), SIGMAS, st.integers(1, 9)),
    st.builds(lambda s, k: k * Gaussian(s) + 2 * Laplace(s), SIGMAS, st.integers(20, 60)),
)  # fmt: skip


LEAST = math.log(1e-150)
"""log of one step's delta below which a few steps, ruled by one large loss, may cost more than a reference spends: the
rest of the steps, e^{-c eps} on the contour, cancels to so many digits. It then says that it has not reached them."""


def honest(composition, eps, direction, few: int, many: int, reached: bool = True) -> None:
    low, high = (reference.delta(composition, eps, direction, digits=digits) for digits in (few, many))
    with mpmath.workdps(many + 20):
        assert abs(low.value - high.value) <= 2 * (low.error + high.error)
    assert low.reached or not reached


@given(CHEAP, EPSS, DIRECTIONS)
def test_cheap_routes(composition, eps, direction):
    honest(composition, eps, direction, 20, 60)


@settings(max_examples=12)
@given(
    st.fractions(1, 6, max_denominator=10),
    st.fractions(Fraction(1, 20), Fraction(1, 2), max_denominator=100),
    st.integers(1000, 10**6),
    st.fractions(0, 3, max_denominator=10),
    DIRECTIONS,
)
def test_vertical_lines(sigma, q, k, eps, direction):
    honest(k * PoissonSubsampled(Gaussian(sigma), q), eps, direction, 12, 25)


@pytest.mark.long
@settings(max_examples=30)
@example(sigma=Fraction(35, 6), q=Fraction(1, 1000), k=175, eps=Fraction(9, 4), direction="remove")
@example(sigma=Fraction(14, 5), q=Fraction(1, 1000), k=175, eps=Fraction(9, 4), direction="remove")
@given(SIGMAS, RATES, st.integers(2, 300), st.fractions(-1, 3, max_denominator=10), DIRECTIONS)
def test_few_steps(sigma, q, k, eps, direction):
    step = PoissonSubsampled(Gaussian(sigma), q)
    single = log_delta_of_one(PLD(step, direction == "add"), float(eps))
    honest(k * step, eps, direction, 12, 25, reached=direction == "add" or single > LEAST)


@pytest.mark.long
@settings(max_examples=15)
@given(SIGMAS, RATES, st.integers(2, 300), st.fractions(-1, 3, max_denominator=10), DIRECTIONS)
def test_few_steps_with_atoms(b, q, k, eps, direction):
    honest(k * PoissonSubsampled(Laplace(b), q), eps, direction, 10, 18)


@settings(max_examples=10)
@given(CHEAP, DIRECTIONS)
def test_shape_of_the_curve(composition, direction):
    """delta is in [0, 1], non-increasing, and convex in x = e^eps."""
    xs = [Fraction(1, 2), Fraction(1), Fraction(3, 2), Fraction(2), Fraction(4)]
    points = reference.curve(composition, [f"log({x})" for x in xs], direction, digits=20)
    values = [point.value for point in points]
    assert all(0 <= value <= 1 for value in values)
    with mpmath.workdps(30):
        slopes = [(b - a) / (mpmath.mpf((y - x).numerator) / (y - x).denominator)
                  for a, b, x, y in zip(values, values[1:], xs, xs[1:], strict=False)]  # fmt: skip
        assert all(slope <= mpmath.mpf(10) ** -19 for slope in slopes)
        assert all(a <= b + mpmath.mpf(10) ** -18 for a, b in itertools.pairwise(slopes))
