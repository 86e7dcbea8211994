"""Largest and smallest values of omega on cells, and where it turns."""

import mpmath
import numpy as np
import pytest
from mpmath import mpf

from dplab import Gaussian, Laplace, PoissonSubsampled, RandomizedResponse
from dplab.core.pld import PLD
from dplab.fourier.extremes import density_extremes, stationary_points

from .exact import FN, PLDS, name, typical_losses


def sampled_loss(t, sigma, q):
    """s of the subsampled Gaussian at t, from the two densities."""
    return mpmath.log(q * mpmath.exp((2 * t - 1) / (2 * sigma**2)) + 1 - q)


@pytest.mark.parametrize("pld", [p for p in PLDS if p.support(FN) is not None], ids=name)
@pytest.mark.parametrize("cells", [7, 100])
def test_every_value_in_a_cell_lies_between_the_extremes(pld, cells):
    low, high = typical_losses(pld)
    edges = np.linspace(low, high, cells + 1)[1:-1]
    found = density_extremes(pld, edges[:-1], edges[1:])
    rng = np.random.default_rng(5)
    with mpmath.workdps(40):
        for i in rng.integers(0, len(edges) - 1, 12):
            for share in (0, *rng.random(4), 1):
                x = mpf(edges[i]) + mpf(share) * (mpf(edges[i + 1]) - mpf(edges[i]))
                assert found.least[i] <= pld.density(FN, x) <= found.greatest[i]


@pytest.mark.parametrize("pair", [Gaussian(1), PoissonSubsampled(Gaussian(1), "0.2"), Laplace(1)], ids=str)
def test_extremes_are_tight(pair):
    """A cell's bounds are attained to 1e-9 where omega is monotone, and to the last cut elsewhere."""
    pld = PLD(pair)
    low, high = typical_losses(pld)
    edges = np.linspace(low + 0.05 * (high - low), high - 0.3 * (high - low), 41)
    found = density_extremes(pld, edges[:-1], edges[1:])
    assert found.turns.sum() <= 2
    with mpmath.workdps(30):
        for i in range(40):
            values = [float(pld.density(FN, mpf(x))) for x in np.linspace(edges[i], edges[i + 1], 30)]
            tolerance = 2e-3 if found.turns[i] else 1e-9
            assert found.greatest[i] == pytest.approx(max(values), rel=tolerance)
            assert found.least[i] == pytest.approx(min(values), rel=tolerance)


def test_three_stationary_points():
    """sigma = .3, q = .25: at t = -1.000, .793 and .967; one point only for sigma > 1/sqrt(2)."""
    pld = PLD(PoissonSubsampled(Gaussian("0.3"), "0.25"))
    with mpmath.workdps(30):
        losses = [sampled_loss(mpf(t), mpf("0.3"), mpf("0.25")) for t in ("-1.0005", "-0.9995")]
        start = mpmath.log(mpf("0.75"))
        widest = float(losses[1] - start)
        near_start = stationary_points(pld, float(start) + widest * 1e-3, float(start) + 1e-3, cells=4096, width=1e-14)
        assert len(near_start) == 1
        assert losses[0] < near_start[0].lo
        assert near_start[0].hi < losses[1]
        found = stationary_points(pld, float(start) + 1e-3, 6.0)
        assert len(found) == 2
        for interval, t in zip(found, ("0.793", "0.967"), strict=True):
            assert interval.hi - interval.lo < 1e-7
            ends = [sampled_loss(mpf(t) + mpf(s) / 2000, mpf("0.3"), mpf("0.25")) for s in (-1, 1)]
            assert ends[0] < interval.lo
            assert interval.hi < ends[1]


@pytest.mark.parametrize(("sigma", "q"), [("0.71", "0.1"), ("1", "0.01"), ("1", "0.5"), ("2", "0.2"), ("4", "0.01")])
def test_one_stationary_point_where_sigma_exceeds_one_over_sqrt_2(sigma, q):
    """It solves 2 w(t) = t + 1, w the logistic function of the loss's numerator [Koskela et al. 2021, section 6.3]."""
    pld = PLD(PoissonSubsampled(Gaussian(sigma), q))
    low, high = typical_losses(pld)
    found = stationary_points(pld, low, high)
    assert len(found) == 1
    with mpmath.workdps(30):
        s = (mpf(found[0].lo) + mpf(found[0].hi)) / 2
        exact_q, exact_sigma = mpf(q), mpf(sigma)
        t = exact_sigma**2 * mpmath.log((mpmath.exp(s) - (1 - exact_q)) / exact_q) + mpf(1) / 2
        weighted = exact_q * mpmath.exp(-((t - 1) ** 2) / (2 * exact_sigma**2))
        other = (1 - exact_q) * mpmath.exp(-(t**2) / (2 * exact_sigma**2))
        assert 2 * weighted / (weighted + other) == pytest.approx(float(t + 1), abs=1e-5)


def test_where_nothing_turns():
    assert stationary_points(PLD(Laplace(1)), -5, 5) == []
    assert stationary_points(PLD(RandomizedResponse("0.75")), -5, 5) == []
    gaussian = stationary_points(PLD(Gaussian(1)), -5, 5, cells=7)
    assert len(gaussian) == 1
    assert gaussian[0].lo <= 0.5 <= gaussian[0].hi
