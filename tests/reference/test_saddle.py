"""The float pictures of log M and the choice of lines."""

import math

import mpmath
import pytest

from dplab import Composition, Gaussian, Laplace, PoissonSubsampled, RandomizedResponse
from dplab.reference.law import Law
from dplab.reference.saddle import Landscape, moved
from dplab.reference.sketch import Sketch


def landscape(composition, direction="forward") -> Landscape:
    return Landscape(Law.of(Composition.of(composition), direction))


def test_gaussian_cumulants():
    """log M(c) = c(c+1) mu^2/2."""
    for c in (-20.0, -1.0, -0.5, 0.0, 3.0, 40.0):
        found = landscape(9 * Gaussian(3)).cumulants(c)
        assert math.isclose(found.log, c * (c + 1) / 2, abs_tol=1e-6)
        assert math.isclose(found.mean, c + 0.5, abs_tol=1e-6)
        assert math.isclose(found.variance, 1, rel_tol=1e-6)


@pytest.mark.parametrize(("sigma", "a"), [("0.3", 20), ("1", 300), ("4", 300), ("20", 300)])
def test_integer_moments_of_the_subsampled_gaussian(sigma, a):
    """[M17] E_Q[(P/Q)^{c+1}] = sum C(a,j) (1-q)^{a-j} q^j e^{j(j-1)/(2 sigma^2)}, beyond the valley too."""
    q = 0.00033
    pair = PoissonSubsampled(Gaussian(sigma), "0.00033")
    ((pld, _),) = Law.of(Composition.of(pair), "forward").parts
    exact = mpmath.log(
        mpmath.fsum(
            mpmath.binomial(a, j) * mpmath.mpf(1 - q) ** (a - j) * mpmath.mpf(q) ** j
            * mpmath.exp(j * (j - 1) / (2 * mpmath.mpf(sigma) ** 2))
            for j in range(a + 1)
        )
    )  # fmt: skip
    assert math.isclose(Sketch(pld, 1).cumulants(a - 1.0).log, exact, rel_tol=1e-6, abs_tol=1e-8)


def test_atoms_alone():
    found = landscape(2 * RandomizedResponse("0.75")).cumulants(1.0)
    assert math.isclose(found.log, 2 * math.log(0.75 * 3 + 0.25 / 3))


def test_laplace_closed_form():
    c, e0 = 2.5, 0.5
    exact = math.log(((c + 1) * math.exp(c * e0) + c * math.exp(-(c + 1) * e0)) / (2 * c + 1))
    assert math.isclose(landscape(Laplace(2)).cumulants(c).log, exact, rel_tol=1e-7)


def test_saddle_is_least():
    picture = landscape(100 * PoissonSubsampled(Gaussian(2), "0.1"))
    saddle = picture.saddle(2.0)
    assert saddle.c > 0
    for c in (saddle.c * 0.95, saddle.c * 1.05):
        assert picture.at(c, 2.0).log_peak > saddle.log_peak


def test_strips():
    picture = landscape(100 * Gaussian(5))  # mean loss 2, standard deviation 2
    assert picture.saddle(5.0).c > 0
    assert picture.saddle(0.0).c > 0
    assert picture.saddle(-60.0).c < -1
    for eps in (-60.0, -25.0, 0.0, 30.0):
        saddle = picture.saddle(eps)
        same = moved(saddle)
        assert math.floor(min(0, max(-2, saddle.c))) == math.floor(min(0, max(-2, same)))


def test_expected_delta_is_near():
    picture = landscape(100 * Gaussian(5))
    exact = mpmath.ncdf(-8 / 2 + 1) - mpmath.exp(8) * mpmath.ncdf(-8 / 2 - 1)
    assert abs(picture.saddle(8.0).log_delta - float(mpmath.log(exact))) < 0.3


def test_heavy_tails_are_noticed():
    assert landscape(100 * PoissonSubsampled(Gaussian(4), "0.01")).heavy_tailed(1.0)
    assert not landscape(10_000 * PoissonSubsampled(Gaussian(4), "0.01")).heavy_tailed(1.0)


def test_steps_heed_the_upper_tail():
    """sigma=1, q=0.01, k=1000, eps=2: MATH.md's example where the curvature's step gives 9 digits of 40."""
    picture = landscape(1000 * PoissonSubsampled(Gaussian(1), "0.01"))
    saddle = picture.saddle(2.0)
    upper, lower = picture.periods(saddle, 2.0, 40 * math.log(10))
    assert upper > 2 * lower
    line = picture.line(2.0, 40 * math.log(10))
    assert line.c < saddle.c
    assert picture.step(line, 2.0, 40 * math.log(10)) > 1.5 * picture.step(saddle, 2.0, 40 * math.log(10))
