"""One step and Gaussians against the hockey stick integral itself."""

import mpmath
import pytest

from dplab import Composition, Gaussian, Laplace, PoissonSubsampled, RandomizedResponse, reference
from dplab.reference.law import Law
from dplab.reference.single_step import gaussians, masses_above, only_gaussians, single_step


def hockey_stick_gaussian(sigma, q, eps, backward):
    """int max(P - e^eps Q, 0) for the subsampled Gaussian, split at the one zero."""
    with mpmath.workdps(40):
        sigma, q, eps = map(mpmath.mpf, (sigma, q, eps))

        def base(t):
            return mpmath.npdf(t, 0, sigma)

        def mixed(t):
            return q * mpmath.npdf(t, 1, sigma) + (1 - q) * base(t)

        x = -eps if backward else eps
        zero = sigma**2 * mpmath.log((mpmath.exp(x) - 1 + q) / q) + mpmath.mpf(1) / 2
        if backward:
            return mpmath.quad(lambda t: base(t) - mpmath.exp(eps) * mixed(t), [zero - 20, zero - 3, zero])
        return mpmath.quad(lambda t: mixed(t) - mpmath.exp(eps) * base(t), [zero, zero + 3, zero + 20])


@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize(("sigma", "q", "eps"), [("1", "0.1", "0.05"), ("0.7", "0.3", "-0.2"), ("2", "0.5", "0")])
def test_subsampled_gaussian_by_quadrature(sigma, q, eps, backward):
    direction = "add" if backward else "remove"
    found = reference.delta(PoissonSubsampled(Gaussian(sigma), q), eps, direction, digits=25)
    assert abs(found.value - hockey_stick_gaussian(sigma, q, eps, backward)) < mpmath.mpf(10) ** -22


@pytest.mark.parametrize("eps", ["-0.9", "0", "0.3", "0.99"])
def test_laplace_closed_form(eps):
    found = reference.delta(Laplace(1), eps)
    with mpmath.workdps(60):
        expected = -mpmath.expm1((mpmath.mpf(eps) - 1) / 2)
        assert abs(found.value - expected) <= expected * mpmath.mpf(10) ** -40


def test_cancellation_is_made_up():
    """Near the largest loss P - e^eps Q loses twice the digits of the gap."""
    found = reference.delta(RandomizedResponse.from_eps(1), "1 - 1/10**40", digits=40)
    with mpmath.workdps(100):
        p = 1 / (1 + mpmath.exp(-1))
        expected = -p * mpmath.expm1(-(mpmath.mpf(10) ** -40))
        assert abs(found.value - expected) <= expected * mpmath.mpf(10) ** -40


def test_many_gaussians_are_one():
    law = Law.of(3 * Gaussian(2) + 5 * Gaussian("0.5"), "forward")
    assert only_gaussians(law)
    one = single_step(Law.of(Composition.of(Gaussian(sigma="1/sqrt(83/4)")), "forward"), 1, 30)
    with mpmath.workdps(60):
        assert abs(gaussians(law, 1, 30).value - one.value) < mpmath.mpf(10) ** -30


def test_masses_include_the_atoms():
    with mpmath.workdps(30):
        ((pld, _),) = Law.of(Composition.of(Laplace(1)), "forward").parts
        p, q = masses_above(pld, mpmath.mpf(-2))
        assert abs(p - 1) < 1e-28
        assert abs(q - 1) < 1e-28
        p, q = masses_above(pld, mpmath.mpf("0.999999999"))
        assert abs(p - mpmath.mpf(1) / 2) < 1e-9
