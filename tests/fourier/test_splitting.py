"""Counting large losses: the terms add up to the k-fold sum, the rest is bounded, rare losses are reached."""

import mpmath
import numpy as np
import pytest
from mpmath import mpf

from dplab import Gaussian, Laplace, PoissonSubsampled, RandomizedResponse, fourier, reference
from dplab.fourier.accountant import OneDirection
from dplab.fourier.grids import Grid, GridPLD
from dplab.fourier.rare import Splitting, Term, choose_splitting
from dplab.fourier.splitting import SplitSum

RNG = np.random.default_rng(7)


@pytest.fixture(autouse=True)
def sixty_digits():
    with mpmath.workdps(60):
        yield


def convolved(parts) -> dict[int, mpf]:
    """Masses of the k-fold sum at integer multiples of dx, by plain multiplication."""
    total = {0: mpf(1)}
    for pld, k in parts:
        step = {pld.grid.first + i: mpf(float(a)) for i, a in enumerate(pld.masses) if a > 0}
        for _ in range(k):
            new: dict[int, mpf] = {}
            for place, mass in total.items():
                for move, other in step.items():
                    new[place + move] = new.get(place + move, mpf(0)) + mass * other
            total = new
    return total


def kernel_sum(parts, eps: float) -> mpf:
    dx = mpf(parts[0][0].grid.dx)
    return sum(
        (-mass * mpmath.expm1(mpf(eps) - place * dx) for place, mass in convolved(parts).items() if place * dx > eps),
        mpf(0),
    )


def rare(size: int, likely: int, small: float) -> GridPLD:
    """Most mass on a few nodes, and a far tail of very small masses that does not fall."""
    masses = np.where(np.arange(size) < likely, RNG.random(size), small * RNG.random(size))
    return GridPLD(Grid(0.0, 0.125, -2, size), masses / masses.sum(), 0.0)


def terms_for(counts, tilts) -> tuple[Term, ...]:
    return tuple(Term(count, tilt, 0.0, 0.0, 0.0, 0.0) for count, tilt in zip(counts, tilts, strict=True))


WINDOW = (-8.0, 60.0, 1.0, 1.0)


@pytest.mark.parametrize("small", [1e-3, 1e-30, 1e-120])
@pytest.mark.parametrize("eps", [0.3, 2.0, 4.1])
def test_the_terms_and_the_bound_of_the_rest_enclose_the_sum(small, eps):
    parts = [(rare(40, 5, small), 4)]
    splitting = Splitting(0.6, terms_for([(0,), (1,), (2,)], [3.0, 1.0, 0.2]))
    for windows in ([(WINDOW, 1024)] * 3, [(WINDOW, 1024), (WINDOW, 1024), None], [None, (WINDOW, 1024), None]):
        found = SplitSum(parts, splitting, windows).evaluate(eps)
        scale = mpmath.exp(mpf(found.log_factor))
        truth, error = kernel_sum(parts, eps), (found.rounding + found.periodisation) * scale
        assert abs(found.value * scale - truth) <= error * (1 + mpf(found.log_slack)) + truth * mpf(found.log_slack)


def test_what_is_evaluated_is_resolved_however_rare():
    """A loss that occurs once in 1e120 steps is known to nine digits where it alone reaches eps."""
    parts = [(rare(40, 5, 1e-120), 4)]
    splitting = Splitting(0.6, terms_for([(0,), (1,), (2,)], [3.0, 1.0, 0.2]))
    found = SplitSum(parts, splitting, [None, (WINDOW, 1024), (WINDOW, 1024)]).evaluate(2.5)  # 4 small ones end at 2
    truth = kernel_sum(parts, 2.5)
    assert found.value * mpmath.exp(mpf(found.log_factor)) == pytest.approx(float(truth), rel=1e-9, abs=0)
    assert found.rounding < 1e-9 * found.value
    assert found.periodisation < 1e-9 * found.value


@pytest.mark.parametrize("empty", ["no nodes", "no mass", "one part"])
def test_a_part_without_small_losses_makes_terms_vanish(empty):
    """A factor that has no mass is not a factor of one."""
    pld = rare(40, 5, 1e-3)
    if empty == "no mass":
        pld = GridPLD(pld.grid, np.where(pld.grid.nodes <= 0.3, 0.0, pld.masses), 0.0)
    threshold = -1.0 if empty == "no nodes" else 0.3
    parts = [(pld, 3)]
    if empty == "one part":  # of two: it starts above the threshold
        parts.append((GridPLD(Grid(0.0, 0.125, 5, 4), np.array([0.4, 0.3, 0.2, 0.1]), 0.0), 2))
    counts = [(0,), (1,), (2,)] if len(parts) == 1 else [(0, 0), (1, 0), (0, 1), (0, 2), (1, 1)]
    splitting = Splitting(threshold, terms_for(counts, [3.0, 1.0, 0.5, 0.5, 0.5][: len(counts)]))
    found = SplitSum(parts, splitting, [(WINDOW, 1024)] * len(counts)).evaluate(1.1)
    scale = mpmath.exp(mpf(found.log_factor))
    truth, error = kernel_sum(parts, 1.1), (found.rounding + found.periodisation) * scale
    assert truth > 0
    assert abs(found.value * scale - truth) <= error * (1 + mpf(found.log_slack)) + truth * mpf(found.log_slack)


def test_two_parts_are_counted_together():
    parts = [(rare(20, 3, 1e-20), 2), (rare(24, 4, 1e-15), 1)]
    counts = [(0, 0), (1, 0), (0, 1), (2, 0), (1, 1)]
    splitting = Splitting(0.4, terms_for(counts, [2.0, 1.0, 1.0, 0.5, 0.5]))
    found = SplitSum(parts, splitting, [None] + [(WINDOW, 1024)] * 4).evaluate(1.1)
    truth = kernel_sum(parts, 1.1)
    scale = mpmath.exp(mpf(found.log_factor))
    assert abs(found.value * scale - truth) <= (found.rounding + found.periodisation) * scale
    assert found.value * scale == pytest.approx(float(truth), rel=1e-9, abs=0)


@pytest.mark.parametrize(
    ("composition", "eps"),
    [
        (2 * PoissonSubsampled(Gaussian(1), "1e-6"), "0.5"),
        (2 * PoissonSubsampled(Gaussian("5.8"), "9e-4"), "0.13"),
        (3 * PoissonSubsampled(Laplace("0.8"), "1e-4"), "0.01"),
    ],
    ids=str,
)
def test_brackets_where_a_few_large_losses_rule(composition, eps):
    bracket = fourier.delta(composition, eps, "forward")
    assert bracket.reached
    assert bracket.contains(reference.delta(composition, eps, "forward", digits=15).value)


@pytest.mark.parametrize(("k", "sigma", "q", "eps"), [(100, 1, "1e-4", "0.5"), (27, "5.834", "0.000916", "0.13508")])
def test_many_steps_with_rare_large_losses_reach_the_accuracy_asked_for(k, sigma, q, eps):
    composition = k * PoissonSubsampled(Gaussian(sigma), q)
    wide, narrow = fourier.delta(composition, eps, rtol=1e-2), fourier.delta(composition, eps, rtol=1e-4)
    assert narrow.reached
    assert wide.lower <= narrow.upper
    assert narrow.lower <= wide.upper
    one = fourier.delta(PoissonSubsampled(Gaussian(sigma), q), eps)
    assert narrow.lower > 0.9 * k * one.lower  # any one of the k losses alone can reach eps


def test_eps_of_a_delta_that_one_large_loss_decides():
    composition = 100 * PoissonSubsampled(Gaussian(1), "1e-4")
    bracket = fourier.epsilon(composition, "1e-18", "forward")
    assert bracket.reached
    assert fourier.delta(composition, bracket.upper, "forward").lower <= 1e-18
    assert fourier.delta(composition, bracket.lower, "forward").upper >= 1e-18


def test_ordinary_sums_are_not_split():
    for composition, eps in (
        (10_000 * PoissonSubsampled(Gaussian(4), "0.01"), 1.0),
        (1000 * Laplace(10), 12.0),
        (500 * RandomizedResponse.from_eps("0.1"), 9.0),
    ):
        assert OneDirection(composition.reduced(), False).scout.saddle(eps).splitting is None


def test_a_sum_of_many_moderate_losses_has_no_useful_splitting():
    scout = OneDirection((10_000 * Gaussian(50)).reduced(), False).scout
    found = choose_splitting(scout.laws, 3.0, scout.bulk)
    assert found is None or found.log_chernoff > scout.saddle(3.0).log_chernoff - 3
