"""Densities pushed through the loss function by numbers only: against the mechanisms' own formulas."""

import math

import numpy as np
import pytest

from dplab import Gaussian, Laplace, PoissonSubsampled
from dplab.core.pld import PLD
from dplab.plots.losses import shape
from dplab.plots.outcomes import outcomes, sampled_line
from dplab.plots.pushing import pushed


def columns(law, points=200):
    return np.array(pushed(law, points)).T


@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize("pair", [Gaussian(2), Laplace("0.8"), PoissonSubsampled(Gaussian(1), "0.3")], ids=repr)
def test_it_finds_the_density_of_the_page(pair, backward):
    x, omega = columns(outcomes(pair, backward))
    known, expected = np.array(shape(PLD(pair, backward)).density).T
    inside = (x > known[0]) & (x < known[-1])
    assert omega[inside] == pytest.approx(np.interp(x, known, expected)[inside], abs=0.01 * np.max(expected))


def cauchy(center):
    return lambda t: 1 / (math.pi * (1 + (np.asarray(t) - center) ** 2))


def test_all_branches_are_added():
    law = sampled_line(cauchy(1), cauchy(0), (-math.inf, math.inf))
    x, omega = columns(law)
    s = 0.3  # two outcomes have this loss: 1 + t^2 = e^s (1 + (t-1)^2)
    e = math.exp(s)
    roots = np.roots([1 - e, 2 * e, 1 - 2 * e])
    slope = 2 * roots / (1 + roots**2) - 2 * (roots - 1) / (1 + (roots - 1) ** 2)
    expected = np.sum(cauchy(1)(roots) / np.abs(slope))
    assert np.interp(s, x, omega) == pytest.approx(expected, rel=0.01)


def test_the_line_of_two_densities_knows_its_masses():
    law = sampled_line(cauchy(1), cauchy(0), (-math.inf, math.inf))
    masses = law.masses([(1, math.inf), (-math.inf, 0)])
    assert masses.p == pytest.approx(0.5 + math.atan(-1) / math.pi + 0.5, abs=1e-4)
    assert masses.q == pytest.approx(0.5 + 0.25, abs=1e-4)
    low, high = law.window
    assert low < -10
    assert high > 10


def test_what_only_one_can_produce_has_no_finite_loss():
    def box(left):
        return lambda t: np.where((t >= left) & (t <= left + 1), 1.0, 0.0)

    law = sampled_line(box(0.25), box(0), (-math.inf, math.inf))
    s = law.loss(np.array([-0.5, 0.1, 0.5, 1.1]))
    assert np.isnan(s[0])
    assert s[1] == -math.inf
    assert s[2] == 0
    assert s[3] == math.inf
    assert pushed(law, 100) == []
