"""Split and merge dominate: h of the certified grid PLDs against h in 50 digits, between the nodes too."""

import itertools
import math
from functools import cache

import mpmath
import numpy as np
import pytest
from mpmath import mpf
from scipy.signal import fftconvolve

from dplab import Gaussian, Laplace, PoissonSubsampled
from dplab.core.pld import PLD
from dplab.fourier.grids import Grid, merge, split, supporting_lines
from dplab.fourier.onestep import OneStep
from dplab.fourier.split_merge import lower_grid_pld, upper_grid_pld

from .exact import FN, PLDS, GridCurve, curve, dominated, name, typical_losses

NEGLIGIBLE = 1e-290
MAKERS = {+1: upper_grid_pld, -1: lower_grid_pld}
sides = pytest.mark.parametrize("sign", [+1, -1], ids=["upper", "lower"])
every = pytest.mark.parametrize("pld", PLDS, ids=name)


@pytest.fixture(autouse=True)
def fifty_digits():
    with mpmath.workdps(50):
        yield


@cache
def step_of(pld: PLD) -> OneStep:
    return OneStep(pld)


def grid_over(pld: PLD, cells: int, share: float, offset: float = 0.0) -> Grid:
    """A grid of some cells that reaches beyond the typical losses by a share of their range, or stays inside."""
    low, high = typical_losses(pld)
    width = max(high - low, 0.1)
    dx = width * (1 + 2 * share) / cells
    return Grid(offset, dx, math.floor((low - share * width - offset) / dx), cells + 2)


def probes(grid: Grid) -> list[float]:
    rng = np.random.default_rng(3)
    nodes = grid.nodes
    between = rng.uniform(nodes[0] - 2 * grid.dx, nodes[-1] + 2 * grid.dx, 25)
    chosen = nodes[:: max(1, grid.size // 15)]
    return np.concatenate([chosen, between, nodes[[0, -1]], [nodes[0] - 50, nodes[-1] + 50]]).tolist()


def assert_dominates(grid_pld, pld: PLD, sign: int) -> None:
    bound = dominated(grid_pld, sign)
    for x in probes(grid_pld.grid):
        assert sign * (bound(mpf(x)) - curve(pld, mpf(x))) >= 0, x
    assert sign * (bound(-mpmath.inf) - 1) >= 0


@every
@sides
@pytest.mark.parametrize(
    ("cells", "share", "offset"),
    [(4, 0.05, 0.0), (11, -0.2, 0.0), (40, 0.15, 0.0), (40, 0.15, 0.0371), (150, 0.4, -1.3)],
    ids=["coarse", "inside", "medium", "offset", "fine"],
)
def test_the_certified_grid_pld_bounds_h_everywhere(pld, sign, cells, share, offset):
    grid = grid_over(pld, cells, share, offset)
    assert_dominates(MAKERS[sign](step_of(pld), grid, 1.0, NEGLIGIBLE), pld, sign)


@sides
@pytest.mark.parametrize("pld", [PLD(Gaussian(1)), PLD(PoissonSubsampled(Laplace("0.2"), "0.05"), True)], ids=name)
@pytest.mark.parametrize("dx", [30.0, 300.0, 800.0, 5000.0])
def test_absurdly_coarse_grids_are_bounds_too(pld, sign, dx):
    for first in (-1, 0):
        made = MAKERS[sign](step_of(pld), Grid(0.0, dx, first, 3), 1.0, NEGLIGIBLE)
        bound = dominated(made, sign)
        for x in (-3.0, 0.0, 0.7, 2.0, 11.0, 40.0):
            assert sign * (bound(mpf(x)) - curve(pld, mpf(x))) >= 0


@sides
def test_where_exponentials_overflow_nothing_is_claimed(sign):
    for dx in (1e5, 1e200):
        for pld in PLDS:
            made = MAKERS[sign](step_of(pld), Grid(0.0, dx, -1, 3), 1.0, NEGLIGIBLE)
            assert np.all(np.isfinite(made.masses))
            least = float(curve(pld, mpf(0))) - 1e-12
            total = (made.masses.sum() + made.infinity) * math.exp(sign * made.log_scale)
            assert total >= least if sign > 0 else made.infinity <= least + 2e-12


@sides
@pytest.mark.parametrize("spare", [1e-3, 1e-12, 1e-100])
def test_what_is_spared_goes_the_safe_way(sign, spare):
    for pld in (PLD(Gaussian(1)), PLD(PoissonSubsampled(Gaussian(1), "0.1"))):
        made = MAKERS[sign](step_of(pld), grid_over(pld, 60, 0.5), 1.0, spare)
        assert_dominates(made, pld, sign)
        assert made.infinity <= 1.01 * max(spare, float(curve(pld, mpf(made.grid.nodes[-1]))))


def test_masses_keep_both_totals_where_nothing_lies_outside():
    """Split and merge preserve the mass under P and under Q."""
    for pld in (
        PLD(Laplace(1)),
        PLD(PoissonSubsampled(Laplace(2), "0.97")),
        PLD(PoissonSubsampled(Laplace(2), "0.3"), True),
    ):
        step, grid = step_of(pld), grid_over(pld, 50, 0.1)
        nodes = grid.at()
        tails = step.continuous(nodes)
        for made in (split(step, grid, tails, step.curve(nodes, tails)), merge(step, supporting_lines(step, grid))):
            assert made.masses.sum() == pytest.approx(1, rel=1e-12)
            assert (made.masses * np.exp(-grid.nodes)).sum() == pytest.approx(1, rel=1e-2)
        upper = split(step, grid, tails, step.curve(nodes, tails))
        assert (upper.masses * np.exp(-grid.nodes)).sum() == pytest.approx(1, rel=1e-12)


def test_split_interpolates_h_at_the_nodes():
    """The upper h is the chord of h in e^x: equal at the nodes, and at x = 0."""
    for pld in (PLD(Gaussian(2)), PLD(Laplace(1)), PLD(PoissonSubsampled(Gaussian(1), "0.05"), True)):
        grid = grid_over(pld, 30, 0.1)
        step, nodes = step_of(pld), grid.at()
        tails = step.continuous(nodes)
        made = GridCurve(split(step, grid, tails, step.curve(nodes, tails)))
        for i in range(grid.size):
            x = mpf(grid.offset) + (grid.first + i) * mpf(grid.dx)
            assert abs(made(x) - curve(pld, x)) < mpf(10) ** -14


def test_atoms_on_nodes_are_kept_exactly_on_both_sides():
    """A node just above (upper) or just below (lower) an atom: no first-order loss."""
    pld = PLD(PoissonSubsampled(Laplace(0), "0.25"))
    loss = float(mpmath.log(mpf("0.75")))
    for sign in (1, -1):
        grid = Grid(loss + sign * 1e-14, 0.1, -2, 5)
        made = MAKERS[sign](step_of(pld), grid, 1.0, NEGLIGIBLE)
        assert made.masses.max() == pytest.approx(0.75, rel=1e-10)
        assert made.log_scale + made.shift < 1e-11
        assert_dominates(made, pld, sign)


def test_an_atom_exactly_at_the_top_node_costs_no_more_than_a_neighbouring_cell():
    """Whether a node lies above or below an atom within rounding, the bound stays finite or all goes to infinity."""
    pld = PLD(Laplace(1))
    for ulps in (-3, -1, 0, 1, 3):
        grid = Grid(1.0 + ulps * 2.0**-53, 0.2, -11, 13)
        for sign in (1, -1):
            assert_dominates(MAKERS[sign](step_of(pld), grid, 1.0, NEGLIGIBLE), pld, sign)


# --- order of convergence ---------------------------------------------------------------------------

SMOOTH = [
    PLD(Gaussian(1)),
    PLD(PoissonSubsampled(Gaussian(1), "0.2")),
    PLD(PoissonSubsampled(Gaussian(1), "0.2"), True),
    PLD(PoissonSubsampled(Gaussian(4), "0.01")),
]


def k_fold(pld: PLD, k: int, dx: float, sign: int, eps: float) -> float:
    """delta(eps) of k steps of one side's grid PLD, by convolution."""
    coordinate = pld.coordinate(FN)
    ends = [float(pld.coordinate_loss(FN, coordinate.center + s * 13 * coordinate.scale)) for s in (-1, 1)]
    low, high = min(ends), max(ends)
    grid = Grid(0.0, dx, math.floor(low / dx), math.ceil((high - low) / dx) + 2)
    made = MAKERS[sign](step_of(pld), grid, 1.0, NEGLIGIBLE)
    law = np.ones(1)
    for _ in range(k):
        law = fftconvolve(law, made.masses)
    x = (k * grid.first + np.arange(len(law))) * dx
    finite = np.sum(np.where(x > eps, -np.expm1(eps - x), 0.0) * law)
    return 1 - (1 - made.infinity) ** k + finite


@pytest.mark.parametrize("pld", SMOOTH, ids=name)
@sides
@pytest.mark.parametrize("k", [1, 5])
def test_second_order_on_smooth_losses(pld, sign, k):
    """Halving dx divides the error by about four: the slope on a log-log line is within 10 % of 2."""
    spread = 4 * float(curve(pld, mpf(0))) * math.sqrt(k)  # a few mean absolute losses
    eps = 0.31 * spread
    step = 2.0 ** round(math.log2(spread / 24))
    sizes = [step / 8, step / 16, step / 32, step / 64]
    eps = (round(eps / step) + 1 / 3) * step  # a third, two thirds, a third ... of a cell: t (1 - t) stays the same
    values = [k_fold(pld, k, dx, sign, eps) for dx in sizes]
    differences = [abs(a - b) for a, b in itertools.pairwise(values)]
    slopes = [math.log2(a / b) for a, b in itertools.pairwise(differences)]
    assert slopes[-1] == pytest.approx(2, rel=0.1)
    if k == 1:  # and what it converges to is h
        limit = values[-1] + (values[-1] - values[-2]) / 3
        assert limit == pytest.approx(float(curve(pld, mpf(eps))), rel=1e-4)
    assert sign * (values[0] - values[-1]) > 0


# --- first-order losses that a grid PLD need not have -------------------------------------------------


def test_a_law_narrower_than_one_cell_is_rounded_whole():
    """Losses of 1e-8 on a grid of 7e-3: the lower bound keeps all mass, at the node below."""
    pld = PLD(PoissonSubsampled(Laplace("2.584"), "1.435e-8"))
    lowest = float(pld.atoms(FN)[-1].loss)
    made = lower_grid_pld(step_of(pld), Grid(lowest * (1 + 1e-14), 7e-3, 0, 3), 1.0, NEGLIGIBLE)
    assert made.masses[0] == pytest.approx(1, abs=1e-12)
    assert made.log_scale + made.shift < 1e-13
    assert_dominates(made, pld, -1)


def test_mass_below_the_grid_does_not_drag_the_lower_bound_down():
    """Half of Q lies below this grid: 1 - x at the first node is .64, and h there is .9995."""
    pld = PLD(Laplace("0.07908"))
    top = float(1 / mpf("0.07908"))
    grid = Grid(top * (1 - 2e-15), 0.003039406394507218, -4497, 4499)
    made = lower_grid_pld(step_of(pld), grid, 1.3, NEGLIGIBLE)
    assert_dominates(made, pld, -1)
    h = GridCurve(made)
    for x in (-0.9, 0.0, 5.0, 12.0):
        assert h(mpf(x)) > 0.999 * curve(pld, mpf(x))


def test_tiny_losses_on_a_coarse_grid_cost_a_shift_and_no_factor():
    pld = PLD(PoissonSubsampled(Gaussian("7.155"), "1.104e-8"), True)
    made = upper_grid_pld(step_of(pld), Grid(0.0, 1e-4, -1, 4), 1.0, NEGLIGIBLE)
    assert_dominates(made, pld, +1)
    assert made.log_scale < 1e-13
    assert made.shift < 1e-13


def test_lines_below_delta_of_infinity_are_not_used():
    """An off-grid atom below much mass at infinity."""
    pld = PLD(PoissonSubsampled(Laplace(0), "0.25"))
    made = lower_grid_pld(step_of(pld), Grid(0.0, 0.1, -4, 8), 1.0, NEGLIGIBLE)
    assert_dominates(made, pld, -1)
    assert made.log_scale < 1e-12
    assert made.masses.sum() + made.infinity == pytest.approx(1, abs=1e-12)
