"""The scout's rough law: right to a few per cent where plans are made from it. (No bound rests on it.)"""

import math

import mpmath
import numpy as np
import pytest

from dplab import Gaussian, Laplace, PoissonSubsampled, RandomizedResponse
from dplab.core.pld import PLD
from dplab.fourier.coarse import CoarseLaw
from dplab.fourier.onestep import OneStep
from dplab.fourier.scout import Scout

from .exact import FN, MECHANISMS, gaussian_delta

PLDS = [PLD(pair, backward) for pair in MECHANISMS for backward in (False, True)]


def scout_of(*parts) -> Scout:
    return Scout([(OneStep(PLD(pair)), k) for pair, k in parts])


@pytest.mark.parametrize("pld", PLDS, ids=str)
def test_the_table_holds_all_the_mass(pld):
    law = CoarseLaw.of(OneStep(pld))
    assert np.all(np.diff(law.losses) >= 0)
    assert np.all(law.masses >= 0)
    assert law.masses.sum() == pytest.approx(1 - float(pld.mass_at_infinity(FN)), rel=1e-6)
    assert law.above[0] == pytest.approx(law.masses.sum())


@pytest.mark.parametrize("pld", [p for p in PLDS if p.mgf(FN, mpmath.mpf(1)) is not None], ids=str)
@pytest.mark.parametrize("share", [0.1, 1.0, 4.0])
def test_cumulants_are_about_right(pld, share):
    """log M, its slope and its curvature against the closed form, at tilts up to a few over the loss's deviation."""
    law = CoarseLaw.of(OneStep(pld))
    deviation = math.sqrt(law.moments(0.0)[2])
    tilt = share / deviation
    with mpmath.workdps(40):
        log_m = lambda z: mpmath.log(pld.mgf(FN, z))  # noqa: E731
        true = [log_m(mpmath.mpf(tilt)), mpmath.diff(log_m, tilt), mpmath.diff(log_m, tilt, 2)]
    found = law.moments(tilt)
    assert found[0] == pytest.approx(float(true[0]), abs=0.05 * share**2 + 1e-6)
    assert found[1] == pytest.approx(float(true[1]), abs=0.06 * deviation * max(share, 1), rel=0.02)
    assert found[2] == pytest.approx(float(true[2]), rel=0.15, abs=0.02 * deviation**2)


@pytest.mark.parametrize(("sigma", "k"), [(1, 3), (4, 100), (50, 5000), ("0.5", 2)])
def test_saddles_of_gaussian_compositions(sigma, k):
    """K is a parabola: the tilt at eps is about eps/mu^2 - 1/2, and the estimate of delta is close."""
    scout = scout_of((Gaussian(sigma), k))
    mu = math.sqrt(k) / float(mpmath.mpmathify(sigma))
    for away in (0.5, 2.0, 6.0, 15.0):
        eps = mu * mu / 2 + away * mu
        saddle = scout.saddle(eps)
        assert saddle.eps == pytest.approx(eps, abs=0.02 * mu)
        with mpmath.workdps(60):
            true = float(mpmath.log(gaussian_delta(mu, eps)))
        assert saddle.log_delta == pytest.approx(true, abs=0.35 + 0.01 * abs(true))
        again = scout.saddle_for(saddle.log_delta)
        assert again.tilt == pytest.approx(saddle.tilt, rel=0.02)


def test_saddle_tilts_increase_with_eps():
    scout = scout_of((PoissonSubsampled(Gaussian(1), "0.05"), 200), (Laplace(5), 20))
    tilts = [scout.saddle(eps).tilt for eps in (-3, -1, 0, 0.5, 1, 2, 4, 8)]
    assert tilts == sorted(tilts)
    assert tilts[0] < 0.5 < tilts[-1]


@pytest.mark.parametrize("log_mass", [-5.0, -20.0, -60.0])
@pytest.mark.parametrize("tilt", [0.01, 2.0, 10.0])
def test_the_window_leaves_out_as_little_as_it_says(log_mass, tilt):
    """The tilted sum of Gaussian losses is normal with mean K' and variance k mu^2, exactly."""
    k, mu = 400, 1 / 20
    lower, upper, lam_down, lam_up = scout_of((Gaussian(20), k)).window(tilt, log_mass, [(-3.0, 3.0)])
    mean, deviation = k * mu * mu * (0.5 + tilt), mu * math.sqrt(k)
    for distance in (upper - mean, mean - lower):
        outside = float(mpmath.log(mpmath.erfc(distance / deviation / math.sqrt(2)) / 2))
        assert outside <= log_mass + 0.5
        assert outside >= 1.6 * log_mass - 6  # and not much less than asked: a window as short as Chernoff allows
    assert lam_down > 0
    assert lam_up > 0


def test_cells_where_a_tail_mass_is_crossed():
    for pair in (Gaussian(1), PoissonSubsampled(Gaussian(1), "0.1"), Laplace(1), RandomizedResponse("0.75")):
        law = CoarseLaw.of(OneStep(PLD(pair)))
        for log_mass in (-1.0, -10.0, -100.0):
            left, right = law.top_cell(log_mass)
            assert left <= right
            low, high = law.bottom_cell(log_mass, 1.0)
            assert low <= high
