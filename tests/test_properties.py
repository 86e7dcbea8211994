"""What must hold for every composition, whatever the route: order, convexity, symmetry, limits.

Brackets are strict, so a property may be tested as "never certainly violated": a violation by any margin is a bug.
"""

import math
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dplab import Composition, Gaussian, Laplace, PoissonSubsampled, RandomizedResponse, fourier, reference

QUICK = settings(max_examples=15, deadline=None)


def decimals(low: str, high: str, digits: int = 3):
    """Exact decimals between two."""
    scale = 10**digits
    ends = int(Fraction(low) * scale), int(Fraction(high) * scale)
    return st.integers(*ends).map(lambda n: Fraction(n, scale))


bases = st.one_of(
    decimals("0.5", "8").map(Gaussian),
    decimals("0.5", "20").map(Laplace),
    decimals("0.51", "0.9").map(RandomizedResponse),
)
mechanisms = st.one_of(bases, st.builds(PoissonSubsampled, bases, decimals("0.001", "0.9")))
compositions = st.lists(st.tuples(mechanisms, st.integers(1, 60)), min_size=1, max_size=2).map(Composition)
directions = st.sampled_from(["remove", "add"])
epss = decimals("-2", "12")


@QUICK
@given(compositions, directions, epss, decimals("0.01", "3"))
def test_delta_is_non_increasing_and_in_the_unit_interval(composition, direction, eps, step):
    near, far = (fourier.delta(composition, e, direction) for e in (eps, eps + step))
    assert 0 <= near.lower <= near.upper <= 1
    assert far.lower <= near.upper
    assert near.upper >= max(0.0, -math.expm1(eps) * (1 - 1e-12))


@QUICK
@given(compositions, directions, epss, st.floats(0.05, 1), st.floats(0.05, 1))
def test_delta_is_convex_in_the_exponential_of_eps(composition, direction, eps, left, right):
    eps = float(eps)
    points = [eps - left, eps, eps + right]
    low, middle, high = (math.exp(point) for point in points)
    share = (high - middle) / (high - low)
    first, second, third = fourier.curve(composition, points, direction)
    chord = share * first.upper + (1 - share) * third.upper
    assert second.lower <= chord * (1 + 1e-12) + 1e-300


@QUICK
@given(st.lists(st.tuples(mechanisms, st.integers(1, 40)), min_size=2, max_size=3), st.randoms(), epss)
def test_the_order_of_a_composition_does_not_matter(parts, random, eps):
    shuffled = list(parts)
    random.shuffle(shuffled)
    one, other = (sum((k * m for m, k in order), Composition()) for order in (parts, shuffled))
    assert one == other
    assert fourier.delta(one, eps) == fourier.delta(other, eps)


@QUICK
@given(compositions, epss)
def test_mirror(composition, eps):
    """delta_{Y/X}(eps) = 1 - e^eps (1 - delta_{X/Y}(-eps)), both sides by their own grids."""
    there = fourier.delta(composition, eps, "backward")
    back = fourier.delta(composition, -eps, "forward")
    x = mpmath.exp(mpmath.mpf(eps.numerator) / eps.denominator)
    assert 1 - x * (1 - mpmath.mpf(back.lower)) <= there.upper + 1e-13 * x
    assert there.lower <= 1 - x * (1 - mpmath.mpf(back.upper)) + 1e-13 * x


@QUICK
@given(mechanisms, directions, st.integers(1, 300), st.integers(1, 300), epss)
def test_more_releases_lose_more(mechanism, direction, k, more, eps):
    few, many = (fourier.delta(n * mechanism, eps, direction) for n in (k, k + more))
    assert few.lower <= many.upper


@QUICK
@given(decimals("0.5", "5"), decimals("0.01", "2"), decimals("0.001", "0.9"), st.integers(1, 200), directions, epss)
def test_more_noise_loses_less(sigma, more, q, k, direction, eps):
    loud, quiet = (fourier.delta(k * PoissonSubsampled(Gaussian(s), q), eps, direction) for s in (sigma, sigma + more))
    assert quiet.lower <= loud.upper


@QUICK
@given(decimals("0.001", "0.5"), decimals("0.001", "0.4"), bases, st.integers(1, 200), directions, decimals("0", "8"))
def test_larger_samples_lose_more(q, more, base, k, direction, eps):
    small, large = (fourier.delta(k * PoissonSubsampled(base, rate), eps, direction) for rate in (q, q + more))
    assert small.lower <= large.upper


@QUICK
@given(mechanisms, directions, st.integers(2, 400), decimals("0", "6"))
def test_eps_and_delta_are_inverse(mechanism, direction, k, eps):
    composition = k * mechanism
    found = fourier.delta(composition, eps, direction)
    if not 1e-12 < found.upper < 0.9 or not found.reached:
        return
    back = fourier.epsilon(composition, found.upper, direction)
    assert back.lower <= eps  # delta(eps) <= upper, so eps(upper) <= eps


@pytest.mark.long
@settings(max_examples=25, deadline=None)
@given(compositions, directions, epss)
def test_references_lie_inside_brackets(composition, direction, eps):
    bracket = fourier.delta(composition, eps, direction)
    truth = reference.delta(composition, eps, direction, digits=20)
    assert bracket.lower <= truth.value + 2 * truth.error
    assert truth.value - 2 * truth.error <= bracket.upper
