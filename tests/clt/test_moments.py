"""Mean, variance and chi^2 of the loss, against closed forms and independent quadrature."""

import mpmath
import pytest
from mpmath import mpf

from dplab import Gaussian, Laplace, PoissonSubsampled, RandomizedResponse
from dplab.clt.moments import chi_square, moments
from dplab.core.pld import PLD

# Case K3-05, a real report on another accountant (microsoft/prv_accountant issue 14: adaptive quadrature missed the
# mass on wide domains); values by the finder, by ball-arithmetic.
K3_05 = {"q": "0.125", "sigma": "0.8", False: "0.0201488983429923365", True: "0.0158585118715600564"}


@pytest.mark.parametrize("backward", [False, True], ids=["remove", "add"])
def test_case_k3_05_mean_of_a_subsampled_gaussian(backward):
    found = moments(PLD(PoissonSubsampled(Gaussian(K3_05["sigma"]), K3_05["q"]), backward)).mean
    with mpmath.workdps(25):
        assert abs(found / mpf(K3_05[backward]) - 1) < mpf("1e-16")


@pytest.mark.parametrize("sigma", ["0.001", "0.03", "1", "50", "1e6"])
def test_gaussian(sigma):
    with mpmath.workdps(30):
        mu = 1 / mpf(sigma)
        found = moments(PLD(Gaussian(sigma)))
        assert abs(found.mean / (mu * mu / 2) - 1) < mpf("1e-16")
        assert abs(found.variance / (mu * mu) - 1) < mpf("1e-16")


@pytest.mark.parametrize("p", ["0.500001", "0.75", "0.999"])
def test_randomised_response(p):
    with mpmath.workdps(40):
        a, b = mpf(p), 1 - mpf(p)
        c = mpmath.log(a / b)
        found = moments(PLD(RandomizedResponse(p)))
        assert abs(found.mean / ((a - b) * c) - 1) < mpf("1e-16")
        assert abs(found.variance / (4 * a * b * c * c) - 1) < mpf("1e-16")


@pytest.mark.parametrize("b", ["0.01", "0.5", "1", "100"])
def test_laplace(b):
    """From the derivatives of log M at 0, M as in MATH.md, in 60-digit arithmetic."""
    with mpmath.workdps(60):
        e0 = 1 / mpf(b)

        def log_m(z):
            return mpmath.log(((z + 1) * mpmath.exp(z * e0) + z * mpmath.exp(-(z + 1) * e0)) / (2 * z + 1))

        found = moments(PLD(Laplace(b)))
        assert abs(found.mean / mpmath.diff(log_m, 0) - 1) < mpf("1e-14")
        assert abs(found.variance / mpmath.diff(log_m, 0, 2) - 1) < mpf("1e-13")


@pytest.mark.parametrize(
    ("sigma", "q"), [("0.3", "0.25"), ("1", "1e-6"), ("0.05", "0.1"), ("0.08", "1e-9"), ("9", "0.99")]
)
@pytest.mark.parametrize("backward", [False, True], ids=["remove", "add"])
def test_subsampled_gaussian_by_quadrature_over_outcomes(sigma, q, backward):
    """Other variable, other rule (Gauss-Legendre on panels), other precision; nothing is missed far out."""
    found = moments(PLD(PoissonSubsampled(Gaussian(sigma), q), backward))
    with mpmath.workdps(40):
        width, rate = mpf(sigma), mpf(q)

        def loss(t):
            return mpmath.log1p(rate * mpmath.expm1((t - mpf("0.5")) / width**2))

        def density(t):
            plain, shifted = mpmath.npdf(t, 0, width), mpmath.npdf(t, 1, width)
            return plain if backward else rate * shifted + (1 - rate) * plain

        sign = -1 if backward else 1
        ends = mpmath.linspace(-12 * width, 1 + 12 * width, 60)
        mean = mpmath.quad(lambda t: density(t) * sign * loss(t), ends, method="gauss-legendre", maxdegree=4)
        variance = mpmath.quad(
            lambda t: density(t) * (sign * loss(t) - mean) ** 2, ends, method="gauss-legendre", maxdegree=4
        )
        assert abs(found.mean / mean - 1) < mpf("1e-12")
        assert abs(found.variance / variance - 1) < mpf("1e-9")


def test_sharp_noise_lies_far_out_and_is_found():
    """N(1, sigma^2) against N(0, sigma^2) half a million standard deviations from the middle; here the parts of the
    mixture do not overlap: with probability q the loss is normal, else it is log(1-q)."""
    with mpmath.workdps(30):
        mu, q = mpf(10) ** 6, mpf("0.001")
        found = moments(PLD(PoissonSubsampled(Gaussian("1e-6"), "0.001")))
        far, near = mu * mu / 2 + mpmath.log(q), mpmath.log1p(-q)
        mean = q * far + (1 - q) * near
        assert abs(found.mean / mean - 1) < mpf("1e-16")
        assert abs(found.variance / (q * mu**2 + q * (1 - q) * (far - near) ** 2) - 1) < mpf("1e-16")


def test_without_noise_the_masses_stand_apart():
    remove, add = (moments(PLD(PoissonSubsampled(Gaussian(0), "0.25"), way)) for way in (False, True))
    assert (remove.infinite, remove.missing, remove.variance) == (mpf("0.25"), 0, 0)
    assert abs(remove.mean - mpmath.log(mpf("0.75"))) < mpf("1e-15")
    assert abs(remove.mean - remove.shift) < mpf("1e-15")
    assert (add.infinite, add.missing) == (0, mpf("0.25"))
    assert abs(add.mean + mpmath.log(mpf("0.75"))) < mpf("1e-15")
    assert moments(PLD(Gaussian(0))).infinite == 1


def test_chi_square():
    with mpmath.workdps(30):
        assert abs(chi_square(Gaussian(2)) / mpmath.expm1(mpf(1) / 4) - 1) < mpf("1e-20")
        assert abs(chi_square(Gaussian("1e100")) / mpf("1e-200") - 1) < mpf("1e-20")
        a, b = mpf("0.75"), mpf("0.25")
        assert abs(chi_square(RandomizedResponse("0.75")) - (a * a / b + b * b / a - 1)) < mpf("1e-25")
        # no closed M(z): chi^2 of the mixture is q^2 times that of the mechanism
        sampled = chi_square(PoissonSubsampled(Gaussian(2), "0.1"))
        assert abs(sampled / (mpmath.expm1(mpf(1) / 4) / 100) - 1) < mpf("1e-16")


def test_precision_is_left_alone():
    before = mpmath.mp.dps
    moments(PLD(PoissonSubsampled(Gaussian("0.77"), "0.11")))
    assert mpmath.mp.dps == before
