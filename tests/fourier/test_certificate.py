"""The certificate: whatever the masses are, the corrected grid PLD is a bound, and a broken one pays for it."""

from dataclasses import replace
from functools import cache

import mpmath
import numpy as np
import pytest
from mpmath import mpf

from dplab import Gaussian, Laplace, PoissonSubsampled, RandomizedResponse
from dplab.core.pld import PLD
from dplab.fourier.certificate import certify_lower, certify_upper, grid_curve, line_limits
from dplab.fourier.grids import Grid, GridPLD, merge, split, supporting_lines
from dplab.fourier.onestep import OneStep

from . import exact
from .exact import curve, dominated, name

CASES = [
    (PLD(Gaussian(1)), Grid(0.0, 0.25, -24, 52)),
    (PLD(Laplace(1)), Grid(1 + 2.0**-46, 0.2, -11, 13)),
    (PLD(PoissonSubsampled(Gaussian("0.8"), "0.2")), Grid(0.0, 0.125, -3, 60)),
    (PLD(PoissonSubsampled(Gaussian("0.8"), "0.2"), True), Grid(0.0, 0.05, -90, 97)),
    (PLD(PoissonSubsampled(Gaussian(4), "1e-3")), Grid(0.0, 1e-3, -2, 14)),
    (PLD(RandomizedResponse("0.75")), Grid(0.07, 0.3, -6, 12)),
    (PLD(PoissonSubsampled(Laplace(0), "0.25")), Grid(float(np.log(0.75)), 0.1, -3, 7)),
]
every = pytest.mark.parametrize(("pld", "grid"), CASES, ids=[name(pld) for pld, _ in CASES])

BREAKAGES = {
    "none": lambda m, rng: m,
    "noise of a few ulps": lambda m, rng: m * (1 + 1e-15 * rng.standard_normal(len(m))),
    "noise of 1e-4": lambda m, rng: m * (1 + 1e-4 * rng.standard_normal(len(m))),
    "a tenth lost": lambda m, rng: 0.9 * m,
    "a tenth gained": lambda m, rng: 1.1 * m,
    "one node moved left": lambda m, rng: np.append(m[1:], 0.0),
    "one node moved right": lambda m, rng: np.append(0.0, m[:-1]),
    "all at the first node": lambda m, rng: np.eye(len(m))[0],
    "all at the last node": lambda m, rng: np.eye(len(m))[-1],
    "all in the middle, twice": lambda m, rng: 2 * np.eye(len(m))[len(m) // 2],
    "nothing": lambda m, rng: 0 * m,
    "the largest mass negative": lambda m, rng: np.where(m == m.max(), -m, m),
    "a little negative": lambda m, rng: m - 1e-9,
    "the smallest masses gone": lambda m, rng: np.where(m < 1e-3, 0.0, m),
    "reversed": lambda m, rng: m[::-1].copy(),
    "one is no number": lambda m, rng: np.where(np.arange(len(m)) == len(m) // 2, np.nan, m),
    "one is infinite": lambda m, rng: np.where(np.arange(len(m)) == 3, np.inf, m),
}
breaking = pytest.mark.parametrize("breakage", BREAKAGES)


@pytest.fixture(autouse=True)
def fifty_digits():
    with mpmath.workdps(50):
        yield


def upper_of(pld, grid, change=None, tilt=1.0) -> GridPLD:
    step, nodes = OneStep(pld), grid.at()
    tails = step.continuous(nodes)
    h = step.curve(nodes, tails)
    made = split(step, grid, tails, h)
    if change:
        made = replace(made, masses=change(made.masses, np.random.default_rng(1)))
    return certify_upper(made, step, tails, h, tilt)


def lower_of(pld, grid, change=None, tilt=1.0, infinity=None) -> GridPLD:
    step = OneStep(pld)
    lines = supporting_lines(step, grid)
    made = merge(step, lines)
    if change:
        made = replace(made, masses=change(made.masses, np.random.default_rng(1)))
    if infinity is not None:
        made = replace(made, infinity=infinity)
    return certify_lower(made, step, lines, tilt)


def probes(grid: Grid, shift: float) -> list[float]:
    """Nodes, moved nodes, points between, and far to both sides."""
    rng = np.random.default_rng(3)
    nodes = grid.nodes
    between = rng.uniform(nodes[0] - 2 * grid.dx, nodes[-1] + 2 * grid.dx, 30)
    moved = [nodes + shift, nodes - shift] if 0 < shift < 10 * grid.dx else []
    return np.concatenate([nodes, between, *moved, [nodes[0] - 60, nodes[0] - 3, nodes[-1] + 3]]).tolist()


@cache
def h_of(pld: PLD, x: float):
    return curve(pld, mpf(x))


def assert_bounds(found: GridPLD, pld: PLD, sign: int) -> None:
    assert found.log_scale >= 0
    assert found.shift >= 0
    assert np.isfinite(found.log_scale)
    assert np.all(found.masses >= 0)
    bound = dominated(found, sign)
    for x in probes(found.grid, found.shift):
        assert sign * (bound(mpf(x)) - h_of(pld, x)) >= 0, x
    assert sign * (bound(-mpmath.inf) - 1) >= 0


@every
@breaking
def test_whatever_the_masses_the_upper_grid_pld_is_a_bound(pld, grid, breakage):
    assert_bounds(upper_of(pld, grid, BREAKAGES[breakage]), pld, +1)


@every
@breaking
@pytest.mark.parametrize("tilt", [1.0, 1e-3])
def test_whatever_the_masses_the_lower_grid_pld_is_a_bound(pld, grid, breakage, tilt):
    assert_bounds(lower_of(pld, grid, BREAKAGES[breakage], tilt), pld, -1)


@every
def test_good_masses_cost_next_to_nothing(pld, grid):
    for found in (upper_of(pld, grid), lower_of(pld, grid)):
        assert found.log_scale < 1e-12
        assert found.shift < 1e-8 * grid.dx
        assert found.masses.sum() > 0.2 * (1 - found.infinity)


@every
@pytest.mark.parametrize("breakage", ["a tenth lost", "all at the first node", "nothing"])
def test_broken_upper_masses_cost_something(pld, grid, breakage):
    found = upper_of(pld, grid, BREAKAGES[breakage])
    assert found.log_scale > 0.05 or found.infinity > 0.05 or found.log_excess > 0.05


@every
@pytest.mark.parametrize("breakage", ["a tenth gained", "all at the last node", "all in the middle, twice"])
def test_broken_lower_masses_cost_something(pld, grid, breakage):
    found = lower_of(pld, grid, BREAKAGES[breakage])
    assert found.log_scale > 0.05 or found.shift > 0.05 * grid.dx or found.masses.sum() < 0.95


def test_a_mass_at_infinity_that_is_not_there_is_not_believed():
    pld, grid = CASES[0]
    found = lower_of(pld, grid, infinity=0.01)
    assert_bounds(found, pld, -1)


def test_shifts_are_not_claimed_beyond_what_they_gain():
    """T(x - t) = P - e^{x - t} Q never exceeds P, however large the shift t."""
    pld, grid = PLD(Gaussian(1)), Grid(0.0, 0.5, -10, 24)
    masses = np.zeros(24)
    masses[15] = 1.0
    step = OneStep(pld)
    lines = supporting_lines(step, grid)
    for tilt in (1.0, 1e-3, 1e-6):
        found = certify_lower(GridPLD(grid, masses, 0.0), step, lines, tilt)
        assert_bounds(found, pld, -1)


@pytest.mark.parametrize(
    ("dx", "size"), [(1e-5, 3000), (0.01, 1000), (0.3, 700), (2.0, 150), (25.0, 27), (300.0, 5)], ids=str
)
def test_grid_curve_is_as_accurate_as_it_says(dx, size):
    rng = np.random.default_rng(2)
    for kind in range(4):
        masses = 10.0 ** rng.uniform(-30, 0, size)
        if kind == 1:
            masses = np.zeros(size)
            masses[-1] = 0.3
        if kind == 2:
            masses = np.exp(-0.5 * np.linspace(0, 30, size) ** 2)
        if kind == 3:
            masses = np.where(rng.random(size) < 0.9, 0.0, masses)
        made = GridPLD(Grid(0.0, dx, 0, size), masses, 0.0)
        values, relative = grid_curve(made)
        true_curve = exact.GridCurve(made)
        assert relative < 1e-10
        for i in sorted({0, 1, size // 3, size // 2, size - 2, *rng.integers(0, size, 6).tolist()}):
            true = true_curve(i * mpf(dx))
            if true > 1e-290:
                assert abs(values[i] - true) <= relative * true
        assert values[-1] == 0


def test_line_limits_are_lines_below_h():
    for pld, grid in CASES:
        step = OneStep(pld)
        (left, _), (right, _), most = line_limits(step, supporting_lines(step, grid))
        for i, node in enumerate(grid.nodes.tolist()):
            h = curve(pld, mpf(node))
            slack = mpf(10) ** -15 * abs(h)  # the node was rounded
            assert left.lo[i] <= h + slack
            assert right.lo[i] <= h + slack
        assert 0 < most <= 1


def test_the_upper_total_reaches_one_and_says_how_far_it_exceeds_it():
    """Composition needs e^{log_scale} >= 1/total, and e^{log_excess} >= total."""
    for pld, grid in CASES:
        for factor in (1 - 1e-9, 1 + 1e-9, 1.05):
            found = upper_of(pld, grid, lambda m, rng, factor=factor: factor * m)
            total = float(exact.GridCurve(found).total)
            assert found.log_scale >= -np.log(total)
            assert found.log_excess >= max(np.log(total), 0.0)


def test_one_atom_just_above_the_first_node_is_kept():
    """All mass at one node: nothing is left above it, and the cut falls there."""
    pld = PLD(PoissonSubsampled(Laplace(0), "1.676e-6"), True)
    loss = float(mpmath.log1p(-mpf("1.676e-6"))) * -1
    for dx in (1e-7, 1e-3, 1.0):
        grid = Grid(loss * (1 - 2.0**-49), dx, 0, 3)
        found = lower_of(pld, grid)
        assert_bounds(found, pld, -1)
        assert found.masses[0] == pytest.approx(1, rel=1e-9)
        assert found.log_scale < 1e-12
