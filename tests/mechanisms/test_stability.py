"""Stable tails: 15-digit arithmetic keeps its digits where naive formulas overflow or cancel.

The same page is evaluated with 15 and with 80 digits; the inputs are exact, so any difference is lost digits.
"""

import mpmath
import pytest
from mpmath import mpf

from dplab import Gaussian, Laplace, PoissonSubsampled, RandomizedResponse
from dplab.core.functions import MpmathTable
from dplab.core.pld import PLD

FN = MpmathTable()

# Real reports on other accountants; values computed with 60 digits by the finder of the case, not by dplab.
# K1-08: google/differential-privacy commit e31cdaf0 (log(a*exp(b)+c) overflowed for large b).
K1_08 = {"q": "0.1", "sigma": "0.03", 2: "1664.36408157367262", 1: "553.25297046256151", -2: "-0.105360515657826301"}
# K3-07: meta-pytorch/opacus pull 574 (log of a negative number below the support's edge log(1-q)).
K3_07 = {
    "q": "0.5",
    "sigma": "1",
    "cdf": {
        "-1": "0",
        "-0.6931": "7.58888203771554584e-22",
        "-0.5": "0.0840548119725241081",
        "0": "0.5",
        "1": "0.907790785764685305",
    },
}


@pytest.mark.parametrize("t", [2, 1, -2])
def test_loss_of_a_sharp_subsampled_gaussian_is_finite(t):
    """K1-08, both directions."""
    pair = PoissonSubsampled(Gaussian(K1_08["sigma"]), K1_08["q"])
    with mpmath.workdps(17):
        remove = pair.loss(FN, mpf(t))
        assert abs(remove / mpf(K1_08[t]) - 1) < mpf("1e-15")
        u = Gaussian(K1_08["sigma"]).loss(FN, mpf(t))
        assert PLD(pair, backward=True).coordinate_loss(FN, u) == -PLD(pair).coordinate_loss(FN, u)
        assert abs(PLD(pair).coordinate_loss(FN, u) / remove - 1) < mpf("1e-15")


@pytest.mark.parametrize("x", K3_07["cdf"])
def test_distribution_function_at_and_below_the_support(x):
    """K3-07: exactly 0 below log(1-q)."""
    pld = PLD(PoissonSubsampled(Gaussian(K3_07["sigma"]), K3_07["q"]))
    with mpmath.workdps(25):
        expected = mpf(K3_07["cdf"][x])
        found = pld.below(FN, mpf(x)).p
        assert found == expected == 0 or abs(found / expected - 1) < mpf("1e-17")


CASES = [
    (Gaussian("0.03"), ["-1500", "-3", "0", "1e-9", "500", "1500"]),
    (PoissonSubsampled(Gaussian("0.03"), "0.1"), ["-0.1", "1e-12", "0.5", "3", "550", "1600"]),
    (PoissonSubsampled(Gaussian(1), "1e-6"), ["-9e-7", "-1e-7", "1e-9", "1e-7", "1e-5", "0.1", "2", "30"]),
    (PoissonSubsampled(Gaussian(50), "1e-9"), ["-1e-11", "1e-11", "1e-10"]),
    (Laplace("0.002"), ["-499.9", "-1", "0", "1e-9", "499.9"]),
    (PoissonSubsampled(Laplace("0.002"), "1e-6"), ["1e-7", "1", "400"]),
]


@pytest.mark.parametrize(("pair", "losses"), CASES, ids=str)
@pytest.mark.parametrize("backward", [False, True], ids=["forward", "backward"])
def test_no_digit_is_lost_in_the_tails(pair, losses, backward):
    pld = PLD(pair, backward)
    for text in losses:
        loss = mpf(text) * (-1 if backward else 1)
        low, high = _at(80, lambda: pld.support(FN))
        if not low < loss < high:
            continue
        for part in (pld.above, pld.below):
            rough, precise = (
                _at(17, lambda part=part, x=loss: part(FN, x)),
                _at(80, lambda part=part, x=loss: part(FN, x)),
            )
            for side in (0, 1):
                # the conditioning of the tail itself: a loss is given to 17 digits, not better
                slope = _at(80, lambda x=loss: pld.density(FN, x)) * (mpmath.exp(-loss) if side else 1)
                condition = 1 + abs(loss * slope / precise[side])
                assert abs(rough[side] / precise[side] - 1) < mpf("1e-15") * condition


def _at(digits: int, compute):
    with mpmath.workdps(digits):
        return compute()


@pytest.mark.parametrize("q", ["1e-6", "1e-15", "1e-40"])
def test_small_rates_keep_the_loss(q):
    pair = PoissonSubsampled(Gaussian(1), q)
    for t in ("-3", "0.2", "0.8", "5"):
        rough, precise = (_at(digits, lambda t=t: pair.loss(FN, mpf(t))) for digits in (17, 100))
        assert abs(rough / precise - 1) < mpf("1e-15")


@pytest.mark.parametrize("p", ["0.5000001", "0.500000000000001", "0.9999999999999"])
def test_randomised_response_near_its_ends(p):
    pair = RandomizedResponse(p)
    rough, precise = (_at(digits, lambda: pair.c(FN)) for digits in (17, 80))
    with mpmath.workdps(80):
        assert abs(precise - mpmath.log(mpf(p) / (1 - mpf(p)))) < mpf(10) ** -60
    assert abs(rough / precise - 1) < mpf("1e-15")


def test_pure_dp_with_a_large_eps_does_not_overflow():
    large, small = RandomizedResponse.from_eps(800).masses(FN)
    assert large == 1
    assert abs(small / mpmath.exp(-800) - 1) < mpf("1e-14")
