"""What must hold for every mechanism and composition, searched for counterexamples by hypothesis.

Brackets are compared with certainty: a property fails only if two brackets *contradict* it. The reference has no
brackets; there its own error estimate is the allowance.
"""

import math
from fractions import Fraction
from itertools import pairwise

import mpmath
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from mpmath import mpf

from dplab import Composition, Gaussian, Laplace, PoissonSubsampled, RandomizedResponse, fourier, reference
from dplab.core.functions import MpmathTable

FN = MpmathTable()
WAYS = ("forward", "backward")


def decimals(low: str, high: str, places: int = 3):
    """Decimal numbers between two bounds, as text."""
    return st.decimals(low, high, places=places, allow_nan=False, allow_infinity=False).map(str)


gaussians = st.builds(Gaussian, decimals("0.3", "30"), st.sampled_from([1, 1, "0.5", 2]))
laplaces = st.builds(Laplace, decimals("0.2", "30"), st.sampled_from([1, 1, "0.5", 2]))
responses = st.builds(RandomizedResponse, decimals("0.502", "0.98")) | st.builds(
    RandomizedResponse.from_eps, decimals("0.01", "4")
)
plain = gaussians | laplaces | responses
rates = decimals("0.001", "0.999")
sampled = st.builds(PoissonSubsampled, plain, rates)
mechanisms = plain | sampled | st.builds(PoissonSubsampled, st.just(Gaussian(0)), decimals("0.01", "0.5"))
small_counts = st.integers(1, 12)
counts = st.integers(1, 400)
compositions = st.lists(st.tuples(mechanisms, counts), min_size=1, max_size=3).map(Composition)
few_steps = st.lists(st.tuples(mechanisms, small_counts), min_size=1, max_size=2).map(Composition)
epss = decimals("-3", "12")
ways = st.sampled_from([*WAYS, "both"])


def delta(composition, eps, way="both", **options):
    """The bracket; coarse ones are quicker and must be as true."""
    return fourier.delta(composition, eps, way, max_size=2**18, **options)


# --- delta as a function of eps -----------------------------------------------------------------------


@given(compositions, st.lists(epss, min_size=2, max_size=5, unique=True), ways)
def test_delta_is_a_probability_and_falls_with_eps(composition, points, way):
    points = sorted(points, key=Fraction)
    brackets = [delta(composition, eps, way) for eps in points]
    for bracket in brackets:
        assert 0 <= bracket.lower <= bracket.upper <= 1
    for smaller, larger in pairwise(brackets):
        assert not larger > smaller  # never certainly larger


@given(compositions, st.tuples(epss, epss, epss), ways)
@settings(max_examples=25)
def test_delta_is_convex_in_e_to_the_eps(composition, points, way):
    """The chord between two upper bounds lies above the lower bound between them."""
    left, middle, right = sorted(points, key=Fraction)
    assume(Fraction(left) < Fraction(middle) < Fraction(right))
    a, b, c = (delta(composition, eps, way) for eps in (left, middle, right))
    with mpmath.workdps(40):
        xa, xb, xc = (mpmath.exp(mpf(eps)) for eps in (left, middle, right))
        share = (xb - xa) / (xc - xa)
        chord = (1 - share) * mpf(a.upper) + share * mpf(c.upper)
        assert b.lower <= chord + mpf(10) ** -300


@given(compositions, epss, ways)
def test_delta_exceeds_the_trivial_bounds(composition, eps, way):
    """delta(eps) >= max(delta(inf), 1 - e^eps)."""
    bracket = delta(composition, eps, way)
    at_infinity = delta(composition, math.inf, way)
    assert bracket.upper >= at_infinity.lower
    with mpmath.workdps(30):
        assert bracket.upper >= -mpmath.expm1(mpf(eps))
        if mpf(eps) < 0:
            assert bracket.lower >= -mpmath.expm1(mpf(eps)) * (1 - mpf("1e-14"))


@given(compositions, epss)
def test_both_is_the_max_of_the_directions(composition, eps):
    forward, backward, both = (delta(composition, eps, way) for way in (*WAYS, "both"))
    assert both.lower <= max(forward.upper, backward.upper)
    assert both.upper >= max(forward.lower, backward.lower)


# --- the mirror ---------------------------------------------------------------------------------------


@given(compositions, epss)
def test_each_direction_is_the_mirror_image_of_the_other(composition, eps):
    """delta_{Y/X}(eps) = 1 - e^eps + e^eps delta_{X/Y}(-eps), masses at infinity included."""
    minus = str(-Fraction(eps))
    there, back = delta(composition, eps, "backward"), delta(composition, minus, "forward")
    with mpmath.workdps(40):
        x = mpmath.exp(mpf(eps))
        assert there.lower <= 1 - x + x * mpf(back.upper) + mpf(10) ** -300
        assert 1 - x + x * mpf(back.lower) <= mpf(there.upper) + mpf(10) ** -300


@given(few_steps, epss)
@settings(max_examples=10)
def test_the_mirror_on_the_reference_route(composition, eps):
    assume(_cheap(composition))
    minus = str(-Fraction(eps))
    there = reference.delta(composition, eps, "backward", digits=20)
    back = reference.delta(composition, minus, "forward", digits=20)
    with mpmath.workdps(60):
        x = mpmath.exp(mpf(eps))
        mirrored = 1 - x + x * back.value
        slack = there.error + x * back.error + mpf(10) ** -19 * max(1, x)
        assert abs(there.value - mirrored) <= slack


@given(compositions, epss, ways)
def test_symmetric_mechanisms_have_one_delta(composition, eps, way):
    symmetric = Composition([(pair, k) for pair, k in composition.parts if pair.symmetric])
    one, other = delta(symmetric, eps, "forward"), delta(symmetric, eps, way)
    assert (one.lower, one.upper) == (other.lower, other.upper)


# --- composition --------------------------------------------------------------------------------------


@given(st.lists(st.tuples(mechanisms, small_counts), min_size=2, max_size=4), st.randoms(use_true_random=False), epss)
@settings(max_examples=25)
def test_order_does_not_matter(parts, random, eps):
    loose = [pair for pair, k in parts for _ in range(k)]
    random.shuffle(loose)
    one, other = Composition(parts), sum(loose, Composition())
    assert one == other
    a, b = delta(one, eps), delta(other, eps)
    assert (a.lower, a.upper) == (b.lower, b.upper)


@given(compositions, mechanisms, epss, ways)
@settings(max_examples=25)
def test_one_release_more_never_helps(composition, pair, eps, way):
    before, after = delta(composition, eps, way), delta(composition + pair, eps, way)
    assert not after < before


@given(mechanisms, counts, counts, epss, ways)
def test_monotone_in_k(pair, k, more, eps, way):
    assert not delta((k + more) * pair, eps, way) < delta(k * pair, eps, way)


@given(few_steps, few_steps, decimals("0", "4"), decimals("0", "4"))
@settings(max_examples=25)
def test_composition_is_no_worse_than_basic_composition(one, other, eps, more):
    """(eps1, delta1) and (eps2, delta2) give (eps1 + eps2, delta1 + delta2): Dwork et al. (2006)."""
    total = str(Fraction(eps) + Fraction(more))
    together = delta(one + other, total)
    assert together.lower <= delta(one, eps).upper + delta(other, more).upper + 1e-15


@given(compositions, epss)
def test_releases_that_lose_nothing_change_nothing(composition, eps):
    padded = composition + 5 * Gaussian(1, sensitivity=0) + 3 * PoissonSubsampled(Laplace(1), 0)
    a, b = delta(composition, eps), delta(padded, eps)
    assert (a.lower, a.upper) == (b.lower, b.upper)


# --- parameters ---------------------------------------------------------------------------------------

numbers = decimals("0.3", "20")


@given(st.sampled_from([Gaussian, Laplace]), numbers, numbers, counts, epss, st.none() | rates, ways)
@settings(max_examples=25)
def test_more_noise_never_hurts(kind, one, other, k, eps, rate, way):
    little, much = sorted((one, other), key=Fraction)

    def with_noise(scale):
        pair = kind(scale)
        return k * (pair if rate is None else PoissonSubsampled(pair, rate))

    assert not delta(with_noise(much), eps, way) > delta(with_noise(little), eps, way)


@given(plain, rates, rates, counts, epss, ways)
@example(Laplace("0.943"), "0.513", "0.189", 29, "0.167", "forward")  # a rough tail below 0
def test_monotone_in_q(pair, one, other, k, eps, way):
    small, large = sorted((one, other), key=Fraction)
    few, many = (delta(k * PoissonSubsampled(pair, q), eps, way) for q in (small, large))
    assert not few > many
    assert not few > delta(k * pair, eps, way)  # and no sample is worse than everybody


@given(numbers, numbers, decimals("0.1", "3"), counts, epss)
@settings(max_examples=25)
def test_only_sensitivity_over_noise_counts(sigma, b, sensitivity, k, eps):
    factor = Fraction(sensitivity)
    for kind, scale in ((Gaussian, sigma), (Laplace, b)):
        plain_one = delta(k * kind(scale), eps)
        scaled = delta(k * kind(Fraction(scale) * factor, sensitivity), eps)
        assert scaled.lower <= plain_one.upper
        assert plain_one.lower <= scaled.upper


@given(numbers, counts, st.integers(2, 5), epss)
def test_gaussians_add_up_in_squares(sigma, k, factor, eps):
    """k factor^2 steps of noise factor sigma are k steps of noise sigma."""
    one = delta(k * Gaussian(sigma), eps)
    other = delta(k * factor**2 * Gaussian(Fraction(sigma) * factor), eps)
    assert one.lower <= other.upper
    assert other.lower <= one.upper


@given(rates, rates, plain, small_counts, epss, ways)
def test_a_sample_of_a_sample(one, other, pair, k, eps, way):
    nested = delta(k * PoissonSubsampled(PoissonSubsampled(pair, one), other), eps, way)
    direct = delta(k * PoissonSubsampled(pair, Fraction(one) * Fraction(other)), eps, way)
    assert (nested.lower, nested.upper) == (direct.lower, direct.upper)


# --- eps as a function of delta -----------------------------------------------------------------------

probabilities = st.integers(1, 12).map(lambda n: f"1e-{n}") | decimals("0.001", "0.999")


@given(compositions, probabilities, probabilities, ways)
@settings(max_examples=25)
def test_eps_falls_with_delta(composition, one, other, way):
    small, large = sorted((one, other), key=Fraction)
    at_small, at_large = (fourier.epsilon(composition, d, way, max_size=2**18) for d in (small, large))
    assert 0 <= at_small.lower <= at_small.upper
    assert not at_large > at_small


@given(compositions, probabilities, ways)
@settings(max_examples=25)
def test_delta_at_eps_is_not_certainly_larger(composition, probability, way):
    bracket = fourier.epsilon(composition, probability, way, max_size=2**18)
    if math.isfinite(bracket.upper):
        assert delta(composition, bracket.upper, way).lower <= float(probability) * (1 + 1e-12)
    if 0 < bracket.lower < math.inf:
        assert delta(composition, bracket.lower, way).upper >= float(probability) * (1 - 1e-12)


# --- brackets and references ----------------------------------------------------------------------------


def _cheap(composition) -> bool:
    """Whether the reference answers at once: atoms only, Gaussians only, or a single step."""
    pairs = [pair for pair, _ in composition.reduced().parts]
    atoms_only = all(pair.support(FN) is None for pair in pairs)
    return atoms_only or composition.steps == 1 or all(isinstance(pair, Gaussian) for pair in pairs)


@given(few_steps, epss, ways, st.sampled_from(["1e-1", "1e-3", "1e-6"]))
@example(2 * RandomizedResponse("0.75"), "0", "both", "1e-3")
@example(Composition([(Gaussian("0.3"), 1)]), "12", "forward", "1e-3")
def test_brackets_contain_the_reference(composition, eps, way, rtol):
    assume(_cheap(composition))
    true = reference.delta(composition, eps, way, digits=20)
    bracket = delta(composition, eps, way, rtol=rtol)
    assert bracket.lower <= true.value + true.error
    assert true.value - true.error <= bracket.upper


@given(few_steps, st.lists(epss, min_size=3, max_size=3, unique=True), ways)
@settings(max_examples=12)
def test_references_fall_and_are_convex(composition, points, way):
    assume(_cheap(composition))
    points = sorted(points, key=Fraction)
    found = [reference.delta(composition, eps, way, digits=20) for eps in points]
    with mpmath.workdps(50):
        values, slack = [f.value for f in found], sum(f.error for f in found) + mpf(10) ** -300
        assert all(0 <= v <= 1 for v in values)
        assert values[0] + slack >= values[1] and values[1] + slack >= values[2]  # noqa: PT018
        xs = [mpmath.exp(mpf(eps)) for eps in points]
        share = (xs[1] - xs[0]) / (xs[2] - xs[0])
        assert values[1] <= (1 - share) * values[0] + share * values[2] + slack + mpf(10) ** -18


@given(compositions, epss, ways, decimals("0.05", "40"), decimals("0.002", "0.5"))
def test_settings_by_hand_do_not_contradict_each_other(composition, eps, way, tilt, dx):
    brackets = [delta(composition, eps, way, **by_hand) for by_hand in ({}, {"tilt": tilt}, {"dx": dx})]
    assert max(b.lower for b in brackets) <= min(b.upper for b in brackets)


@pytest.mark.long
@given(compositions, epss, ways, decimals("0.001", "900"), decimals("0.0005", "20"), st.integers(4, 3000))
@settings(max_examples=200)
def test_settings_by_hand_do_not_contradict_each_other_at_length(composition, eps, way, tilt, dx, half):
    by_hand = [{}, {"tilt": tilt}, {"dx": dx}, {"n": 2 * half}, {"tilt": tilt, "dx": dx, "n": 2 * half}]
    brackets = [delta(composition, eps, way, **settings) for settings in by_hand]
    assert max(b.lower for b in brackets) <= min(b.upper for b in brackets)
