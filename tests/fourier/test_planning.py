"""Plans: what is fixed by hand stays, sizes stay within their caps, grids reach the mass and carry heavy atoms."""

import math

import mpmath
import numpy as np
import pytest

from dplab import Gaussian, Laplace, PoissonSubsampled, RandomizedResponse
from dplab.core.composition import Composition
from dplab.fourier.accountant import OneDirection
from dplab.fourier.planning import Settings, make_plan, refined
from dplab.fourier.tilted import good_size

from .exact import FN

CASES = [
    (1000 * PoissonSubsampled(Gaussian(1), "0.01"), 2.0),
    (5000 * Gaussian(50), 20.0),
    (1000 * Laplace(10), 12.0),
    (30 * RandomizedResponse("0.7"), 5.0),
    (30 * PoissonSubsampled(RandomizedResponse("0.9"), "0.1"), 0.5),
    (20 * Laplace(1) + 40 * Gaussian(5) + 3 * PoissonSubsampled(Laplace(0), "0.1"), 3.0),
    (2 * PoissonSubsampled(Gaussian("0.05"), "0.3"), 100.0),
]
every = pytest.mark.parametrize(("composition", "eps"), CASES, ids=[str(c) for c, _ in CASES])


def planned(composition, eps: float, rtol: float = 1e-3, backward: bool = False, **settings):
    way = OneDirection(Composition.of(composition), backward)
    return way, make_plan(way.parts, way.scout, way.scout.saddle(eps), rtol, Settings(**settings))


@every
@pytest.mark.parametrize("backward", [False, True])
def test_every_plan_is_well_formed(composition, eps, backward):
    way, plan = planned(composition, eps, backward=backward)
    assert plan.tilt > 0
    assert 0 < plan.spare < 1
    lower, upper, lam_down, lam_up = plan.window
    assert lower < upper
    assert min(lam_down, lam_up) > 0
    assert plan.n >= (upper - lower) / plan.dx
    assert plan.n == good_size(plan.n)
    assert not plan.capped
    for grids in (plan.lower, plan.upper):
        assert len(grids) == len(way.parts)
        assert len({grid.dx for grid in grids}) == 1  # all parts share the lattice
        assert all(3 <= grid.size <= Settings().max_size for grid in grids)
    assert plan.upper[0].dx == pytest.approx(plan.lower[0].dx, rel=1e-9)


@every
def test_grids_reach_the_mass_that_matters(composition, eps):
    """Above the grid a share of 1e-3 rtol delta / k at most; below it little of what the tilt weighs."""
    rtol = 1e-3
    way, plan = planned(composition, eps, rtol)
    saddle = way.scout.saddle(eps)
    for (step, _), grid in zip(way.parts, plan.upper, strict=True):
        nodes = grid.nodes
        with mpmath.workdps(30):
            top = mpmath.mpf(nodes[-1])
            support = step.pld.support(FN)
            above = sum(atom.p for atom in step.pld.atoms(FN) if atom.loss > top * (1 + 1e-12))
            if support is not None and top < support[1]:
                above += step.pld.above(FN, top).p
            allowed = mpmath.exp(max(math.log(1e-3 * rtol) + min(saddle.log_delta, 0) - math.log(way.steps), -660))
            assert above <= 2 * allowed


@every
def test_heavy_atoms_lie_on_nodes_just_below_and_just_above(composition, eps):
    way, plan = planned(composition, eps)
    for sign, grids in ((-1, plan.lower), (1, plan.upper)):
        for (step, _), grid in zip(way.parts, grids, strict=True):
            if not step.atoms:
                continue
            loss = max(step.atoms, key=lambda atom: float(atom[1].mid))[0]
            place = (float(loss.mid) - grid.offset) / grid.dx
            if not grid.first <= round(place) < grid.first + grid.size:
                continue  # outside the range that matters
            node = mpmath.mpf(grid.offset) + round(place) * mpmath.mpf(grid.dx)
            assert abs(node - loss.mid) < 1e-10 * max(abs(float(loss.mid)), 1e-3)
            if step.lattice is None:  # on a lattice a shift makes up for the last digits
                assert node <= loss.lo if sign < 0 else node >= loss.hi


def test_two_atoms_of_one_part_fit_the_grid_exactly():
    """No grid error at all: one cell between them, so that the k-fold sum sits on k + 1 points."""
    for pair in (RandomizedResponse("0.7"), PoissonSubsampled(RandomizedResponse("0.9"), "0.1")):
        way, plan = planned(200 * pair, 3.0)
        ((step, _),) = way.parts
        gap = float(step.atoms[1][0].mid - step.atoms[0][0].mid)
        assert plan.dx == pytest.approx(gap, rel=1e-12)
        assert plan.n < 1000


@every
def test_what_is_fixed_by_hand_stays(composition, eps):
    way, free = planned(composition, eps)
    _, plan = planned(composition, eps, n=1000)
    assert plan.n == 1000
    assert plan.tilt == free.tilt
    _, plan = planned(composition, eps, tilt=0.5)
    assert plan.tilt == 0.5
    if not any(step.atoms for step, _ in way.parts):
        _, plan = planned(composition, eps, dx=free.dx * 3)
        assert plan.dx == pytest.approx(3 * free.dx, rel=1e-12)
        assert Settings(dx=3 * free.dx).fixed
    assert not Settings().fixed


@every
@pytest.mark.parametrize("max_size", [64, 1000, 20_000])
def test_caps_are_kept_and_reported(composition, eps, max_size):
    _, free = planned(composition, eps)
    _, plan = planned(composition, eps, max_size=max_size)
    assert plan.n <= max(1.2 * max_size, 64)
    assert all(grid.size <= 1.2 * max_size + 16 for grid in plan.upper + plan.lower)
    if free.n > 2 * max_size:
        assert plan.capped


@every
def test_a_smaller_tolerance_makes_a_finer_grid(composition, eps):
    sizes = [planned(composition, eps, rtol)[1] for rtol in (1e-1, 1e-3, 1e-5)]
    assert sizes[0].dx >= sizes[1].dx >= sizes[2].dx
    windows = [plan.window[1] - plan.window[0] for plan in sizes]
    assert windows[0] <= windows[1] * 1.01 <= windows[2] * 1.02


def test_refining_shrinks_dx_within_limits():
    _, plan = planned(1000 * PoissonSubsampled(Gaussian(1), "0.01"), 2.0)
    for factor, expected in ((0.5, 0.5), (1e-9, 0.05), (3.0, 0.7)):
        settings = refined(Settings(), plan, factor)
        assert settings.dx == pytest.approx(plan.dx * expected)
        assert not settings.fixed  # it was planned, not fixed by hand


def test_the_saddle_serves_the_tail_and_the_bulk():
    """Tilts grow with eps; far in the tail delta = e^-500 costs no larger transform than delta = 1e-3."""
    sizes, tilts = [], []
    for eps in (0.0, 2.0, 6.0, 20.0, 40.0):
        _, plan = planned(2000 * Gaussian(40), eps)
        sizes.append(plan.n)
        tilts.append(plan.tilt)
    assert tilts == sorted(tilts)
    assert max(sizes) < 2**19
    assert np.all(np.isfinite(sizes))
