"""eps(delta): it solves delta(eps) = delta, to the digits asked for."""

import mpmath
import pytest

from dplab import Gaussian, Laplace, PoissonSubsampled, RandomizedResponse, reference

COMPOSITIONS = [
    (Gaussian(1), "1e-5"),
    (50 * Gaussian(10), "1e-200"),
    (12 * Laplace(2), "1e-3"),
    (Laplace(2) + RandomizedResponse("0.6"), "0.05"),
    (30 * RandomizedResponse("0.6"), "1e-9"),
    (30 * RandomizedResponse("0.6") + 10 * RandomizedResponse("0.7"), "0.25"),
    (500 * PoissonSubsampled(Gaussian(2), "0.02"), "1e-8"),
    (2 * PoissonSubsampled(Gaussian(2), "0.02"), "1e-4"),
    (500 * PoissonSubsampled(Gaussian(2), "0.02") + 20 * Laplace(30), "1e-4"),
]


@pytest.mark.parametrize(("composition", "delta"), COMPOSITIONS, ids=repr)
def test_round_trip(composition, delta):
    eps = reference.epsilon(composition, delta, "remove", digits=20)
    assert eps.reached
    with mpmath.workdps(40):
        exact = mpmath.nstr(eps.value, 34, min_fixed=-100, max_fixed=100)
        back = reference.delta(composition, exact, "remove", digits=30)
        slope = reference.delta(composition, exact + "0001", "remove", digits=30).value - back.value
        assert slope <= 0
        assert abs(back.value / mpmath.mpf(delta) - 1) < mpmath.mpf(10) ** -17


@pytest.mark.parametrize(("composition", "delta"), COMPOSITIONS[:6], ids=repr)
def test_errors_of_eps_are_honest(composition, delta):
    low, high = (reference.epsilon(composition, delta, digits=digits) for digits in (12, 40))
    assert abs(low.value - high.value) <= 2 * low.error
    assert low.error <= low.value * mpmath.mpf(10) ** -12


def test_the_paper_s_newton_example():
    """p = .9, delta = .01 (MATH.md section 1): eps = log((p - delta)/(1-p))."""
    found = reference.epsilon(RandomizedResponse("0.9"), "0.01")
    with mpmath.workdps(60):
        exact = mpmath.log(mpmath.mpf("0.89") / mpmath.mpf("0.1"))
        assert abs(found.value - exact) < mpmath.mpf(10) ** -39


def test_tiny_eps_keeps_relative_digits():
    """delta just below delta(0) = 2p - 1: delta(eps) = p - e^eps (1 - p)."""
    found = reference.epsilon(RandomizedResponse("0.75"), "0.5 - 1/10**35", digits=30)
    with mpmath.workdps(100):
        exact = mpmath.log1p(4 * mpmath.mpf(10) ** -35)
        assert abs(found.value - exact) <= exact * mpmath.mpf(10) ** -30


def test_falls_with_delta():
    composition = 200 * PoissonSubsampled(Gaussian(1), "0.01")
    found = [reference.epsilon(composition, d, "add", digits=10).value for d in ("1e-3", "1e-6", "1e-12")]
    assert found == sorted(found)
