"""From sides to brackets: budgets that add up, directions, brackets that are not as narrow as asked, shared curves."""

import math

import mpmath
import pytest
from mpmath import mpf

from dplab import Composition, Gaussian, Laplace, Pair, PoissonSubsampled, RandomizedResponse, fourier
from dplab.core.pld import PLD
from dplab.fourier.accountant import OneDirection, Point

from .exact import atoms_delta, curve, gaussian_delta

SAMPLED = PoissonSubsampled(Gaussian(1), "0.05")
PARTS = {"grid", "tail", "truncation", "periodisation", "rounding", "mass at infinity", "evaluation"}


@pytest.mark.parametrize(
    ("composition", "eps"),
    [
        (100 * SAMPLED, 1),
        (100 * SAMPLED + 3 * Laplace(4), "0.7"),
        (50 * RandomizedResponse("0.6"), 2),
        (20 * Laplace(2), "1/3"),
        (30 * PoissonSubsampled(Laplace(0), "0.01") + 4 * Gaussian(2), "0.5"),
        (2000 * Gaussian(40), 9),
    ],
    ids=str,
)
@pytest.mark.parametrize("direction", ["forward", "backward", "both"])
def test_the_parts_of_the_budget_add_up_to_the_width(composition, eps, direction):
    bracket = fourier.delta(composition, eps, direction)
    assert bracket.reached
    assert bracket.budget.total == pytest.approx(bracket.width, rel=1e-6, abs=4e-16 * bracket.upper)
    assert {part.name for part in bracket.budget} - {"direction"} == PARTS
    assert all(part.reason for part in bracket.budget)
    assert all(bracket.budget[name] >= 0 for name in ("tail", "periodisation", "rounding"))
    assert bracket.budget.settings["n"] >= 8
    assert bracket.budget.settings["dx"] > 0


def test_one_step_needs_no_grid_and_says_so():
    bracket = fourier.delta(Gaussian(1), 1)
    assert [part.name for part in bracket.budget] == ["rounding"]
    assert bracket.relative_width < 1e-12
    with mpmath.workdps(30):
        assert bracket.contains(gaussian_delta(1, 1))


@pytest.mark.parametrize(
    ("composition", "eps"),
    [
        (100 * SAMPLED, 1),
        (5 * SAMPLED + 2 * Laplace(1), "0.4"),
        (40 * PoissonSubsampled(RandomizedResponse("0.9"), "0.1"), "1.5"),
    ],
    ids=str,
)
def test_both_directions_are_the_larger_of_the_two(composition, eps):
    remove, add, both = (fourier.delta(composition, eps, way) for way in ("remove", "add", "both"))
    assert both.direction == "both"
    assert remove.direction == "forward"
    low, high = max(remove.lower, add.lower), max(remove.upper, add.upper)
    assert both.lower <= high
    assert both.upper >= low
    assert both.relative_width <= 1e-3


def test_symmetric_mechanisms_have_one_law():
    for composition in (30 * Gaussian(3), 20 * Laplace(2), 9 * RandomizedResponse("0.7")):
        found = [fourier.delta(composition, "0.5", way) for way in ("forward", "backward", "both")]
        assert len({(b.lower, b.upper) for b in found}) == 1


def test_the_max_is_of_compositions():
    """Where remove and add are mixed in one composition they are still composed separately."""
    pair = PoissonSubsampled(RandomizedResponse("0.9"), "0.1")
    with mpmath.workdps(40):
        truth = [atoms_delta(pair, backward, 40, mpf("1.5")) for backward in (False, True)]
    for way, true in (("remove", truth[0]), ("add", truth[1]), ("both", max(truth))):
        bracket = fourier.delta(40 * pair, "1.5", way)
        assert bracket.contains(true)
        assert bracket.relative_width < 1e-3


NOT_REACHED = [
    (1000 * SAMPLED, 6, {"max_size": 2**10}, "max_size"),
    (1000 * SAMPLED, 6, {"n": 64}, "n or max_size"),
    (1000 * SAMPLED, 6, {"dx": "0.3"}, ""),
    (1000 * SAMPLED, 6, {"tilt": 90}, ""),
    (2000 * Gaussian(1), 1500, {"rtol": 1e-14}, ""),
]


@pytest.mark.parametrize(("composition", "eps", "settings", "helps"), NOT_REACHED, ids=str)
def test_a_bracket_that_is_too_wide_says_so_and_what_would_help(composition, eps, settings, helps):
    bracket = fourier.delta(composition, eps, "remove", **settings)
    good = fourier.delta(composition, eps, "remove")
    assert not bracket.reached
    assert "accuracy not reached" in bracket.note
    assert helps in bracket.note
    assert bracket.lower <= good.upper
    assert good.lower <= bracket.upper
    assert good.reached
    assert good.note == ""


def test_a_one_step_bracket_out_of_float64s_reach_is_flagged_too():
    bracket = fourier.delta(PoissonSubsampled(Gaussian(4), "1e-13"), "2e-14", rtol=1e-15)
    assert not bracket.reached
    assert "float64" in bracket.note


@pytest.mark.parametrize(
    ("pair", "direction", "eps"),
    [
        (PoissonSubsampled(Gaussian(4), "1e-13"), "forward", "2e-14"),
        (PoissonSubsampled(Gaussian("0.7"), "0.004"), "backward", "0.004008"),
        (Gaussian(5000), "forward", "1e-4"),
        (PoissonSubsampled(Laplace(500), "0.01"), "forward", "2e-5"),
        (PoissonSubsampled(Laplace(500), "0.01"), "backward", "1.9e-5"),
    ],
    ids=repr,
)
def test_one_step_where_the_two_tails_nearly_cancel(pair, direction, eps):
    """delta is far smaller than P(s > eps), and known to nearly all digits all the same."""
    bracket = fourier.delta(pair, eps, direction)
    with mpmath.workdps(40):
        truth = curve(PLD(pair, direction == "backward"), mpf(eps))
        assert bracket.contains(truth)
        assert 0 < bracket.relative_width < 1e-7


def test_a_finer_tolerance_gives_a_narrower_bracket_around_the_same_truth():
    composition, truth = 500 * Gaussian(20), None
    with mpmath.workdps(30):
        truth = gaussian_delta(mpmath.sqrt(500) / 20, 2)
    for rtol in (0.1, 1e-3, 1e-5, 1e-7):
        bracket = fourier.delta(composition, 2, rtol=rtol)
        assert bracket.reached
        assert bracket.contains(truth)
        assert bracket.relative_width <= rtol


EPSS = [-2, "-0.3", 0, "0.1", 1, "1.7", 3, 6, 12, 25, 60]


@pytest.mark.parametrize(
    "composition",
    [
        400 * PoissonSubsampled(Gaussian(1), "0.02"),
        60 * Laplace(4),
        200 * RandomizedResponse("0.55"),
        50 * Gaussian(9) + SAMPLED,
    ],
    ids=str,
)
def test_curves_share_plans_and_agree_with_single_calls(composition):
    curve = fourier.curve(composition, EPSS)
    assert list(curve.eps) == [-2, -0.3, 0, 0.1, 1, 1.7, 3, 6, 12, 25, 60]
    assert len(curve) == len(EPSS)
    for eps, shared in zip(EPSS, curve, strict=True):
        single = fourier.delta(composition, eps)
        assert shared.lower <= single.upper
        assert single.lower <= shared.upper
        if single.upper > 1e-200:
            assert shared.relative_width <= 1e-3
    assert list(curve.lower) == sorted(curve.lower, reverse=True)
    assert list(curve.upper) == sorted(curve.upper, reverse=True)


def test_a_curve_in_any_order_and_with_repeats():
    composition = 30 * Gaussian(5)
    there, back = fourier.curve(composition, [0, 1, 1, 2]), fourier.curve(composition, [2, 1, 0])
    assert there[1].lower == there[2].lower
    with mpmath.workdps(30):
        for curve in (there, back):
            for eps, bracket in zip(curve.eps, curve, strict=True):
                assert bracket.contains(gaussian_delta(mpmath.sqrt(30) / 5, mpf(eps)))
    assert len(fourier.curve(composition, [])) == 0


def test_points_of_a_curve_that_are_the_same_float():
    """1/10 and a little more or less: each is bracketed for itself."""
    points = ["0.1", "0.09999999999999999999", "0.10000000000000000001", 0.1, "1/10"]
    curve = fourier.curve(7 * Gaussian(2), points, rtol=1e-7)
    with mpmath.workdps(40):
        for eps, bracket in zip(points[:3], curve, strict=False):
            assert bracket.contains(gaussian_delta(mpmath.sqrt(7) / 2, mpf(eps)))
    assert (curve[0].lower, curve[0].upper) == (curve[3].lower, curve[3].upper) == (curve[4].lower, curve[4].upper)


@pytest.mark.parametrize("eps", ["1/3", "0.1", "sqrt(2)", "log(3)", "-1/7", "pi/10"])
def test_eps_is_meant_exactly(eps):
    """eps is no float: its conversion is inside the bracket."""
    with mpmath.workdps(40):
        exact = {
            "sqrt(2)": mpmath.sqrt(2),
            "log(3)": mpmath.log(3),
            "pi/10": mpmath.pi / 10,
        }.get(eps) or mpf(eps.split("/")[0]) / (mpf(eps.split("/")[1]) if "/" in eps else 1)
        for k in (1, 20):
            bracket = fourier.delta(k * Gaussian(2), eps, rtol=1e-7)
            assert bracket.contains(gaussian_delta(mpmath.sqrt(k) / 2, exact))


def test_mass_at_infinity_and_largest_losses_are_enclosed():
    composition = 7 * PoissonSubsampled(Gaussian(0), "0.1") + 3 * Laplace("0.3") + 2 * RandomizedResponse("0.6")
    forward, backward = (OneDirection(composition, way) for way in (False, True))
    with mpmath.workdps(40):
        q = mpf("0.1")
        infinity = 1 - (1 - q) ** 7
        largest = 7 * mpmath.log1p(-q) + 3 / mpf("0.3") + 2 * mpmath.log(mpf("1.5"))
        assert forward.infinity[0] <= infinity <= forward.infinity[1]
        assert forward.largest_loss().lo <= largest <= forward.largest_loss().hi
        largest = -7 * mpmath.log1p(-q) + 3 / mpf("0.3") + 2 * mpmath.log(mpf("1.5"))
        assert backward.largest_loss().lo <= largest <= backward.largest_loss().hi
    assert backward.infinity == (0.0, 0.0)
    assert backward.exactly_no_infinity
    assert not forward.exactly_no_infinity
    assert forward.infinity[1] - forward.infinity[0] < 1e-13


def test_points_carry_their_conversion_error():
    way = OneDirection(3 * Gaussian(1), False)
    (narrow,), (wide,) = (way.at([Point(1.0, error)], [1e-3], _settings()) for error in (0.0, 1e-3))
    assert wide.lower.bound < narrow.lower.bound
    assert wide.upper.bound > narrow.upper.bound
    with mpmath.workdps(30):
        for eps in ("0.999", "1.001"):
            assert wide.lower.bound <= gaussian_delta(mpmath.sqrt(3), mpf(eps)) <= wide.upper.bound


def _settings():
    from dplab.fourier.planning import Settings

    return Settings()


TINY = [
    (5000 * RandomizedResponse("0.51"), "199.9"),  # e^-3361
    (2000 * RandomizedResponse("0.6"), "810.5"),
    (2000 * PoissonSubsampled(RandomizedResponse("0.75"), "0.1"), "330"),
]


@pytest.mark.parametrize(("composition", "eps"), TINY, ids=str)
def test_deltas_below_the_smallest_float_are_positive_and_have_logarithms(composition, eps):
    ((pair, k),) = composition.parts
    with mpmath.workdps(60):
        truth = max(atoms_delta(pair, backward, k, mpf(eps)) for backward in (False, True))
        assert 0 < truth < mpf("1e-300")
        bracket, log_bracket = fourier.delta(composition, eps), fourier.log_delta(composition, eps)
        assert bracket.contains(truth)
        assert bracket.upper > 0
        assert log_bracket.contains(mpmath.log(truth))
    assert log_bracket.quantity == "log delta"
    assert log_bracket.width < 1e-3


def test_heterogeneous_order_and_grouping_do_not_matter():
    a, b, c = Gaussian(3), PoissonSubsampled(Laplace(1), "0.1"), RandomizedResponse("0.6")
    first = fourier.delta(2 * a + 5 * b + c, 1)
    second = fourier.delta(c + (b + a) + 4 * b + a, 1)
    assert (first.lower, first.upper) == (second.lower, second.upper)


def test_nothing_released():
    for composition in (Composition(), 0 * Gaussian(1), 5 * Gaussian(1, sensitivity=0)):
        for eps in (0, 1, "1e-9", math.inf):
            bracket = fourier.delta(composition, eps)
            assert (bracket.lower, bracket.upper) == (0.0, 0.0)
        bracket = fourier.delta(composition, "-0.25")
        with mpmath.workdps(30):
            assert bracket.contains(-mpmath.expm1(mpf("-0.25")))
        assert bracket.relative_width < 1e-14


@pytest.mark.parametrize("rtol", [1e-5, 1e-8])
def test_asking_for_more_than_can_be_had_gives_what_can(rtol):
    """Triangular noise: a grid for 1e-5 has no window that would do, one for 1e-4 has."""
    steps = 2 * Pair.from_text("max(0, 1 - abs(t - 1/4))", "max(0, 1 - abs(t))")
    bracket = fourier.delta(steps, 0.5, "forward", rtol=rtol)
    assert not bracket.reached
    assert bracket.upper - bracket.lower < 4e-4 * bracket.upper
