"""eps(delta): the bracket inverts both sides of delta, and follows the conventions at the ends."""

import math

import mpmath
import numpy as np
import pytest
from mpmath import mpf

from dplab import Composition, Gaussian, Laplace, PoissonSubsampled, RandomizedResponse, fourier
from dplab.fourier import inversion

from .exact import atoms_delta, gaussian_delta

SAMPLED = PoissonSubsampled(Gaussian(1), "0.05")
NOISELESS = 5 * PoissonSubsampled(Gaussian(0), "0.1")  # delta(inf) = 1 - 0.9^5 = 0.40951 exactly


@pytest.fixture(autouse=True)
def forty_digits():
    with mpmath.workdps(40):
        yield


def gaussian_eps(mu, delta):
    """The root of the closed form, bisected."""
    low, high = mpf(-50), mpf(1000)
    for _ in range(150):
        middle = (low + high) / 2
        low, high = (middle, high) if gaussian_delta(mu, middle) > delta else (low, middle)
    return low


@pytest.mark.parametrize(("sigma", "k"), [(1, 1), (1, 3), (20, 500), ("0.4", 2), (50, 5000)])
@pytest.mark.parametrize("delta", ["0.2", "1e-3", "1e-5", "1e-12", "1e-40"])
def test_gaussians_against_the_closed_form(sigma, k, delta):
    mu = mpmath.sqrt(k) / mpf(sigma)
    truth = max(gaussian_eps(mu, mpf(delta)), mpf(0))
    bracket = fourier.epsilon(k * Gaussian(sigma), delta)
    assert bracket.quantity == "eps"
    assert bracket.contains(truth)
    assert bracket.reached
    assert bracket.width <= 1e-4


@pytest.mark.parametrize(
    "composition",
    [
        100 * SAMPLED,
        60 * Laplace(5),
        200 * RandomizedResponse("0.55"),
        3 * SAMPLED + 10 * Laplace(3),
        NOISELESS + 10 * Gaussian(3),
    ],
    ids=str,
)
@pytest.mark.parametrize("direction", ["forward", "backward", "both"])
@pytest.mark.parametrize("delta", ["0.42", "1e-3", "1e-9"])
def test_delta_at_the_ends_of_the_bracket_lies_on_the_right_side(composition, direction, delta):
    bracket = fourier.epsilon(composition, delta, direction)
    if math.isinf(bracket.lower):
        at_infinity = fourier.delta(composition, math.inf, direction)
        assert at_infinity.lower > float(delta)
        return
    assert bracket.reached
    at_upper = fourier.delta(composition, bracket.upper, direction, rtol=1e-5)
    assert at_upper.lower <= float(delta) * (1 + 1e-9)  # the true delta there is at most delta
    if bracket.lower > 0:
        at_lower = fourier.delta(composition, bracket.lower, direction, rtol=1e-5)
        assert at_lower.upper >= float(delta) * (1 - 1e-9)


@pytest.mark.parametrize("k", [1, 2, 12, 100])
@pytest.mark.parametrize("delta", ["0.3", "1e-2", "1e-6", "1e-20"])
def test_randomised_response_against_the_binomial_sum(k, delta):
    """delta(lower end) >= delta >= delta(upper end), by exact sums."""
    pair = PoissonSubsampled(RandomizedResponse("0.8"), "0.3")
    for backward, way in ((False, "remove"), (True, "add")):
        bracket = fourier.epsilon(k * pair, delta, way)
        assert bracket.width <= 1e-4
        assert atoms_delta(pair, backward, k, mpf(bracket.upper)) <= mpf(delta)
        if bracket.lower > 0:
            assert atoms_delta(pair, backward, k, mpf(bracket.lower)) >= mpf(delta)


RUNS = [
    1000 * PoissonSubsampled(Gaussian(1), "0.01"),
    60 * Laplace(5),
    200 * RandomizedResponse("0.55"),
    5 * Laplace(1),
    NOISELESS + 10 * Gaussian(3),
]


@pytest.mark.parametrize("composition", RUNS, ids=str)
@pytest.mark.parametrize("direction", ["forward", "backward", "both"])
@pytest.mark.parametrize("delta", ["0.41", "1e-5", "1e-250"])
def test_the_upper_bound_of_delta_at_eps_upper_is_at_most_delta(monkeypatch, composition, direction, delta):
    """With the plans that gave eps; and at .lower the lower bound of delta is at least delta in some direction."""
    sides = []

    class Recorded(inversion.Side):
        def __init__(self, parts, plan, sign):
            super().__init__(parts, plan, sign)
            sides.append((repr([(step.pld, k) for step, k in parts]), sign, self))

    monkeypatch.setattr(inversion, "Side", Recorded)
    bracket = fourier.epsilon(composition, delta, direction)
    if not sides or not 0 < bracket.upper < math.inf:
        assert bracket.note
        return
    for parts in {parts for parts, _, _ in sides}:
        bounds = [side.at(bracket.upper, 0.0).bound for of, sign, side in sides if of == parts and sign > 0]
        assert min(float(np.nextafter(bound, 1)) for bound in bounds) <= float(delta)
    if bracket.lower > 0:
        found = [side.at(bracket.lower, 0.0).bound for _, sign, side in sides if sign < 0]
        assert max(float(np.nextafter(bound, 0)) for bound in found) >= float(delta)


@pytest.mark.parametrize("pair", [Gaussian(1), Laplace("0.5"), PoissonSubsampled(Gaussian(1), "0.3")], ids=str)
@pytest.mark.parametrize("delta", ["0.1", "1e-9", "0.0123456789"])
def test_one_step_is_granted_by_delta_itself(pair, delta):
    bracket = fourier.epsilon(pair, delta)
    assert fourier.delta(pair, bracket.upper).upper <= float(delta) <= fourier.delta(pair, bracket.lower).upper


@pytest.mark.parametrize("delta", ["1e-3", "1e-6", "1e-9", "1e-12"])
@pytest.mark.parametrize("k", [2, 5])
def test_close_to_the_largest_loss(k, delta):
    """Near eps = k of k Laplace(1) steps delta is 2^-k (1 - e^{eps - k}) up to the other sums: that of an atom."""
    bracket = fourier.epsilon(k * Laplace(1), delta)
    assert bracket.reached
    assert bracket.lower < k + mpmath.log1p(-(2**k) * mpf(delta)) + mpf(delta) ** 2 * 10**6
    assert bracket.upper > k + mpmath.log1p(-(2**k) * mpf(delta))
    assert bracket.upper < k


def test_few_evaluations_do(monkeypatch):
    """The secant on log delta: two to bracket the root, a few to close in, per side and plan."""
    counts = []
    at = inversion.Side.at
    monkeypatch.setattr(inversion.Side, "at", lambda *arguments: counts.append(1) or at(*arguments))
    roots = []
    root = inversion.root
    monkeypatch.setattr(inversion, "root", lambda *arguments: roots.append(1) or root(*arguments))
    for composition in RUNS[:3]:
        fourier.epsilon(composition, "1e-5")
    assert len(roots) >= 6
    assert len(counts) <= 10 * len(roots)


def test_both_is_the_larger_eps():
    composition = 100 * SAMPLED
    remove, add, both = (fourier.epsilon(composition, "1e-5", way) for way in ("remove", "add", "both"))
    assert both.lower <= max(remove.upper, add.upper)
    assert both.upper >= max(remove.lower, add.lower)
    assert both.width <= 1e-4
    assert both.direction == "both"


def test_the_tolerance_asked_for():
    truth = gaussian_eps(mpmath.sqrt(300) / 10, mpf("1e-6"))
    for atol in (0.1, 1e-2, 1e-4, 1e-6):
        bracket = fourier.epsilon(300 * Gaussian(10), "1e-6", atol=atol)
        assert bracket.contains(truth)
        assert bracket.width <= atol
        assert bracket.budget.total == pytest.approx(bracket.width, rel=1e-9, abs=1e-14)


@pytest.mark.parametrize("delta", [1, "1", 1.0])
def test_delta_one_is_always_granted(delta):
    for composition in (3 * Gaussian(1), NOISELESS, Gaussian(0), Composition(), 4 * Laplace(1)):
        bracket = fourier.epsilon(composition, delta)
        assert (bracket.lower, bracket.upper) == (0.0, 0.0)


def test_delta_almost_one_is_not_one():
    """As floats these are 1."""
    almost = "0.9999999999999999999999"
    assert fourier.epsilon(Gaussian(0), almost).upper == math.inf
    bracket = fourier.epsilon(RandomizedResponse.from_eps(100), "0.99999999999999999999")
    assert bracket.contains(mpf("53.948298140119093"))
    assert not bracket.reached
    assert "float64" in bracket.note


@pytest.mark.parametrize("delta", [0, "0", 0.0])
def test_delta_zero_asks_for_the_largest_loss(delta):
    for composition in (3 * Gaussian(1), 2 * SAMPLED, NOISELESS, Gaussian(0)):
        bracket = fourier.epsilon(composition, delta)
        assert (bracket.lower, bracket.upper) == (math.inf, math.inf)
        assert bracket.note
    for composition, largest in (
        (3 * Laplace("0.3"), 10),
        (7 * RandomizedResponse("0.75"), 7 * mpmath.log(3)),
        (7 * PoissonSubsampled(RandomizedResponse("0.75"), "0.1"), 7 * mpmath.log(mpf("1.2"))),
        (2 * Laplace(1) + RandomizedResponse.from_eps("0.5"), mpf("2.5")),
    ):
        bracket = fourier.epsilon(composition, delta, "forward")
        assert bracket.contains(largest)
        assert bracket.relative_width < 1e-14
    assert fourier.epsilon(Composition(), delta).upper == 0


def test_delta_below_the_mass_at_infinity():
    bracket = fourier.epsilon(NOISELESS, "0.4", "remove")
    assert (bracket.lower, bracket.upper) == (math.inf, math.inf)
    assert "mass at infinity" in bracket.note
    assert fourier.epsilon(NOISELESS, "0.4", "add").upper < 1
    assert fourier.epsilon(NOISELESS, "0.4").lower == math.inf


def test_delta_next_to_the_mass_at_infinity():
    """Below it there is no eps, above it there is: float64 cannot tell, so nothing is claimed."""
    for delta, truth in (("0.40950999999999999999", mpmath.inf), ("0.40951000000000000001", mpf(0))):
        bracket = fourier.epsilon(NOISELESS, delta, "remove")
        assert bracket.lower <= truth <= bracket.upper
    above = fourier.epsilon(NOISELESS, "0.4096", "remove")
    assert (above.lower, above.upper) == (0.0, 0.0)


def test_delta_at_least_delta_of_zero_gives_zero():
    for composition in (3 * Gaussian(1), 100 * SAMPLED, 5 * Laplace(2)):
        at_zero = fourier.delta(composition, 0)
        bracket = fourier.epsilon(composition, at_zero.upper * 1.001)
        assert (bracket.lower, bracket.upper) == (0.0, 0.0)
        assert "convention" in bracket.note
        near = fourier.epsilon(composition, at_zero.lower * 0.999)
        assert near.upper > 0
        assert near.lower >= 0


def test_nothing_released_needs_no_eps():
    for delta in (0, "1e-10", "0.5", 1):
        bracket = fourier.epsilon(0 * Gaussian(1), delta)
        assert (bracket.lower, bracket.upper) == (0.0, 0.0)


def test_a_range_that_is_not_narrow_enough_says_so():
    bracket = fourier.epsilon(1000 * SAMPLED, "1e-9", "remove", max_size=256)
    good = fourier.epsilon(1000 * SAMPLED, "1e-9", "remove")
    assert not bracket.reached
    assert "accuracy not reached" in bracket.note
    assert bracket.lower <= good.lower
    assert good.upper <= bracket.upper
    assert good.reached


def test_delta_is_meant_exactly():
    """1/3 is no float, and neither is 0.1."""
    for delta, exact in (("1/3", mpf(1) / 3), ("0.1", mpf("0.1")), (0.1, mpf("0.1")), ("exp(-3)", mpmath.exp(-3))):
        assert fourier.epsilon(Gaussian(1), delta).contains(gaussian_eps(1, exact))
