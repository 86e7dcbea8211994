"""Densities pushed through the loss function by numbers only: against the mechanisms' own formulas."""

import math

import numpy as np
import pytest

from dplab import Gaussian, Laplace, Pair, PoissonSubsampled
from dplab.core.pld import PLD
from dplab.plots.envelopes import h_values
from dplab.plots.losses import shape
from dplab.plots.outcomes import outcomes, sampled_line
from dplab.plots.pushing import pushed, pushed_above, pushed_hockey_stick
from dplab.plots.sums import sum_law


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


# ---------------------------------------------------------------- pairs whose loss has no formula for its inverse

MIXED = "(exp(-(t - 2)**2/2) + 3*exp(-t**2/2))/(4*sqrt(2*pi))", "exp(-t**2/2)/sqrt(2*pi)"


def test_tails_and_the_hockey_stick_by_numbers():
    law = outcomes(Gaussian(2))
    x = np.array([-0.5, 0.0, 0.4])
    phi = [0.5 * math.erfc((s * 2 - 0.25) / math.sqrt(2)) for s in x]
    assert pushed_above(law, x) == pytest.approx(phi, abs=3e-3)  # the window leaves a little out
    e = np.exp(x)
    known = h_values(PLD(Gaussian(2)), e)
    assert pushed_hockey_stick(law, e) == pytest.approx(known, abs=3e-3)


@pytest.mark.parametrize("backward", [False, True])
def test_a_mixture_of_gaussians_is_drawn_as_the_sample_that_it_is(backward):
    own = Pair.from_text(*MIXED)
    sampled = PoissonSubsampled(Gaussian(1, sensitivity=2), "1/4")
    x = np.array([0.5, 1.0, 1.3, 2.0])
    known = h_values(PLD(sampled, backward), x)
    assert h_values(PLD(own, backward), x) == pytest.approx(known, abs=1e-5)
    assert sum_law(5 * own, backward).delta(0.7) == pytest.approx(sum_law(5 * sampled, backward).delta(0.7), abs=2e-3)


def test_a_sample_of_densities_has_its_density():
    own = PoissonSubsampled(Pair.from_text("exp(-abs(t - 1))/2", "exp(-abs(t))/2"), "0.3")
    x, omega = np.array(shape(PLD(own)).density).T
    known = PLD(PoissonSubsampled(Laplace(1), "0.3"))
    expected = np.array(shape(known).density).T
    assert omega == pytest.approx(np.interp(x, *expected), rel=0.02)
