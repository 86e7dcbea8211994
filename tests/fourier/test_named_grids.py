"""The grids by name: each side bounds h everywhere, as fast as it says; `point` bounds nothing and says so."""

import itertools
import math

import mpmath
import numpy as np
import pytest
import sympy
from mpmath import mpf
from scipy.signal import fftconvolve

from dplab import (
    Approximation,
    Bracket,
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    KaryRandomizedResponse,
    Laplace,
    Pair,
    PoissonSubsampled,
    RandomizedResponse,
    fourier,
    reference,
)
from dplab.core.errors import ParameterError
from dplab.core.pld import PLD
from dplab.fourier.choices import GRIDS
from dplab.fourier.grids import Grid
from dplab.fourier.onestep import OneStep

from .exact import PLDS, atoms_delta, curve, dominated, gaussian_delta, name, typical_losses

STRICT = [grid for grid in GRIDS.values() if grid.strict]
FIRST_ORDER = [grid for grid in STRICT if grid.order == 1]
every = pytest.mark.parametrize("pld", [p for p in PLDS if not (p.backward and p.pair.symmetric)], ids=name)
grids = pytest.mark.parametrize("named", FIRST_ORDER, ids=lambda named: named.name)
strict_grids = pytest.mark.parametrize("named", STRICT, ids=lambda named: named.name)
sides = pytest.mark.parametrize("sign", [+1, -1], ids=["upper", "lower"])


@pytest.fixture(autouse=True)
def fifty_digits():
    with mpmath.workdps(50):
        yield


def make(named, sign: int, pld: PLD, grid: Grid):
    return (named.upper if sign > 0 else named.lower)(OneStep(pld), grid, 1.0, 1e-290)


def no_noise(k: int, q, eps):
    """k steps that show the record with probability q, and a loss log(1-q) < 0 otherwise: delta(eps) for eps > 0."""
    assert eps > 0
    return 1 - (1 - q) ** k


# --- both sides are bounds --------------------------------------------------------------------------


@every
@sides
@grids
@pytest.mark.parametrize(
    ("cells", "share", "offset"),
    [(4, 0.05, 0.0), (11, -0.2, 0.0), (60, 0.15, 0.0371)],
    ids=["coarse", "inside", "fine"],
)
def test_the_certified_grid_pld_bounds_h_everywhere(pld, sign, named, cells, share, offset):
    low, high = typical_losses(pld)
    width = max(high - low, 0.1)
    dx = width * (1 + 2 * share) / cells
    grid = Grid(offset, dx, math.floor((low - share * width - offset) / dx), cells + 2)
    bound = dominated(make(named, sign, pld, grid), sign)
    between = np.random.default_rng(3).uniform(grid.nodes[0] - 2 * dx, grid.nodes[-1] + 2 * dx, 20)
    for x in [
        *grid.nodes[:: max(1, grid.size // 10)],
        *between,
        grid.nodes[-1],
        grid.nodes[0] - 50,
        grid.nodes[-1] + 50,
    ]:
        assert sign * (bound(mpf(x)) - curve(pld, mpf(x))) >= 0, x
    assert sign * (bound(-mpmath.inf) - 1) >= 0


@sides
@grids
def test_corrections_are_as_small_as_rounding(named, sign):
    """The formulas bound h by themselves; the certificate only repairs float64."""
    for pld in (PLD(Gaussian(1)), PLD(Laplace(1)), PLD(PoissonSubsampled(Gaussian(1), "0.2"), True)):
        low, high = typical_losses(pld)
        grid = Grid(0.0, (high - low) / 200, math.floor(200 * low / (high - low)) - 3, 210)
        made = make(named, sign, pld, grid)
        assert made.log_scale < 1e-12
        assert made.shift < 1e-12


@grids
@pytest.mark.parametrize(
    ("composition", "eps", "true"),
    [
        (50 * Gaussian(10), 1, lambda: gaussian_delta(mpmath.sqrt("0.5"), 1)),
        (1 * Gaussian(2), "0.3", lambda: gaussian_delta("0.5", "0.3")),
        (30 * RandomizedResponse("0.6"), 2, lambda: atoms_delta(RandomizedResponse("0.6"), False, 30, 2)),
        (3 * PoissonSubsampled(Laplace(0), "0.1"), "0.1", lambda: no_noise(3, mpf("0.1"), mpf("0.1"))),
    ],
    ids=["many", "one", "atoms", "no noise"],
)
def test_brackets_of_compositions_hold_the_truth(named, composition, eps, true):
    for settings in ({}, {"dx": 0.05}, {"dx": "0.003", "tilt": 1}, {"dx": 1.5}):
        bracket = fourier.delta(composition, eps, grid=named.name, rtol=1e-2, **settings)
        assert isinstance(bracket, Bracket)
        assert bracket.contains(true())
        assert bracket.reached or settings


@grids
def test_eps_is_bracketed_too(named):
    composition, eps = 50 * Gaussian(10), mpf("0.8")
    delta = gaussian_delta(mpmath.sqrt("0.5"), eps)
    found = fourier.epsilon(composition, mpmath.nstr(delta, 30), grid=named.name, atol=1e-2)
    assert found.contains(eps)
    assert found.reached


@strict_grids
@pytest.mark.parametrize("excess", [1.0, 1.3])
def test_a_total_above_one_counts_in_the_mass_at_infinity(named, excess):
    """k steps with total mass T and mass d at infinity have T^k - (T - d)^k there: an upper bound needs that."""
    from dplab.fourier.grids import GridPLD
    from dplab.fourier.planning import Plan
    from dplab.fourier.sides import Side

    grid, masses, d = Grid(0.0, 0.5, -2, 5), np.array([0.1, 0.2, 0.3, 0.2, 0.1]), 0.1
    masses = masses * (excess - d) / masses.sum()
    plan = Plan(0.7, 0.5, (grid,), (grid,), (-9.0, 9.0, 1.0, 1.0), 128, 1e-290, False, named.name)
    side = Side.__new__(Side)
    side.sign, side.plds = +1, [(GridPLD(grid, masses, d, log_excess=math.log(excess) + 1e-14), 4)]
    assert plan.grid == named.name
    assert side._infinity() == pytest.approx(excess**4 - (excess - d) ** 4, rel=1e-12)
    assert side._infinity() >= excess**4 - (excess - d) ** 4


def test_the_upper_minmax_total_exceeds_one_and_matters_with_many_steps():
    sampled = PoissonSubsampled(Gaussian(1), "0.2")
    _, masses, infinity = fourier.grid_masses(sampled, 8, 4096, "minmax")
    assert masses.sum() + infinity > 1.001
    few, many = (fourier.delta(k * sampled, 3, grid="minmax", dx=1 / 512) for k in (5, 100))
    assert many.relative_width > 5 * few.relative_width


@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_a_pair_of_your_own(direction):
    """Its density, inverted and placed by the interval table, has slopes too."""
    t = sympy.Symbol("t", real=True)
    logistic = sympy.exp(-t) / (1 + sympy.exp(-t)) ** 2
    composition = 3 * Pair.from_densities(logistic.subs(t, t - 1), logistic, t)
    sharp = fourier.delta(composition, 1, direction, rtol=1e-5)
    found = fourier.delta(composition, 1, direction, grid="minmax", rtol=5e-2)
    assert found.lower <= sharp.lower
    assert sharp.upper <= found.upper
    assert found.reached


# --- order of convergence ---------------------------------------------------------------------------

SMOOTH = [
    PLD(Gaussian(1)),
    PLD(PoissonSubsampled(Gaussian(1), "0.2")),
    PLD(PoissonSubsampled(Gaussian(1), "0.2"), True),
]


def k_fold(named, sign: int, pld: PLD, k: int, dx: float, eps: float, offset: float = 0.0) -> float:
    """delta(eps) of k steps of one side's grid PLD, by convolution."""
    low, high = typical_losses(pld)
    grid = Grid(offset, dx, math.floor((low - offset) / dx) - 2, math.ceil((high - low) / dx) + 6)
    made = make(named, sign, pld, grid)
    law = np.ones(1)
    for _ in range(k):
        law = fftconvolve(law, made.masses)
    x = k * (offset + made.grid.first * dx) + np.arange(len(law)) * dx
    finite = np.sum(np.where(x > eps, -np.expm1(eps - x), 0.0) * law)
    return 1 - (1 - made.infinity) ** k + finite


def measured_order(values, ratio: float) -> float:
    differences = [abs(a - b) for a, b in itertools.pairwise(values)]
    return math.log(differences[-2] / differences[-1]) / math.log(ratio)


@pytest.mark.parametrize("pld", SMOOTH, ids=name)
@sides
@strict_grids
@pytest.mark.parametrize("k", [1, 5])
def test_the_order_on_smooth_losses_is_what_the_grid_says(pld, sign, named, k):
    """The slope of the error against dx on a log-log line is within 10 % of 1 (round, minmax) or 2 (split, merge)."""
    spread = 4 * float(curve(pld, mpf(0))) * math.sqrt(k)
    step = 2.0 ** round(math.log2(spread / 24))
    eps = (round(0.31 * spread / step) + 1 / 3) * step  # a third, two thirds, a third ... of a cell
    sizes = [step / 2**j for j in (4, 5, 6, 7, 8)]
    values = [k_fold(named, sign, pld, k, dx, eps) for dx in sizes]
    assert measured_order(values, 2) == pytest.approx(named.order, rel=0.1)
    assert sign * (values[0] - values[-1]) > 0
    if k == 1:  # and what it converges to is h
        weight = 2**named.order - 1
        limit = values[-1] + (values[-1] - values[-2]) / weight
        assert limit == pytest.approx(float(curve(pld, mpf(eps))), rel=1e-3)


OFF_GRID = PLD(RandomizedResponse("0.7"))
ON_GRID_LOSS = float(mpmath.log(mpf(7) / 3))


@strict_grids
@sides
def test_off_grid_atoms_cost_the_lower_side_first_order(named, sign):
    """An atom below its right neighbour can only be rounded down. Split keeps P and Q of an atom's share of the sums
    above eps, so away from the kinks of delta it has no error at all."""
    k, eps = 4, 0.4
    sizes = [ON_GRID_LOSS / (m + 1 / 3) for m in (5, 21, 85, 341)]  # always a third of a cell beyond a node
    values = [k_fold(named, sign, OFF_GRID, k, dx, eps) for dx in sizes]
    true = float(atoms_delta(OFF_GRID.pair, False, k, eps))
    errors = [abs(value - true) for value in values]
    if named.order == 2 and sign > 0:
        assert max(errors[1:]) < 1e-12
        return
    order = math.log(errors[-2] / errors[-1]) / math.log(sizes[-2] / sizes[-1])
    assert order == pytest.approx(1, rel=0.1)


@strict_grids
@sides
def test_aligned_atoms_have_no_grid_error(named, sign):
    true = float(atoms_delta(OFF_GRID.pair, False, 6, 0.4))
    for cells in (1, 3):
        dx = 2 * ON_GRID_LOSS / cells
        value = k_fold(named, sign, OFF_GRID, 6, dx, 0.4, offset=-ON_GRID_LOSS + sign * 4e-15)
        assert value == pytest.approx(true, rel=1e-12)
    bracket = fourier.delta(6 * OFF_GRID.pair, "0.4", grid=named.name)
    assert bracket.relative_width < 1e-11


@pytest.mark.parametrize("pair", [DiscreteLaplace(3), DiscreteGaussian(4), KaryRandomizedResponse(1, 5)], ids=str)
@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_losses_on_a_lattice_have_no_grid_error_on_any_grid(pair, direction):
    composition = 7 * pair
    sharp = reference.delta(composition, "0.4", digits=20, direction=direction)
    for named in STRICT:
        bracket = fourier.delta(composition, "0.4", direction, grid=named.name, rtol=1e-6)
        assert bracket.lower - sharp.error <= sharp.value <= bracket.upper + sharp.error
        assert bracket.relative_width < 1e-8
    value = fourier.delta(composition, "0.4", direction, grid="point", rtol=1e-6).value
    assert value == pytest.approx(float(sharp.value), rel=1e-8)


@grids
def test_lattice_and_density_together(named):
    composition = 4 * DiscreteLaplace(3) + 3 * Gaussian(2)
    sharp = fourier.delta(composition, 1, rtol=1e-6)
    found = fourier.delta(composition, 1, grid=named.name, rtol=1e-2)
    assert found.reached
    assert found.lower <= sharp.upper
    assert sharp.lower <= found.upper


# --- point: an approximation --------------------------------------------------------------------------


def test_point_is_an_approximation():
    value = fourier.delta(50 * Gaussian(10), 1, grid="point")
    assert isinstance(value, Approximation)
    assert "point" in value.method
    assert value.value == pytest.approx(float(gaussian_delta(mpmath.sqrt("0.5"), 1)), rel=1e-3)
    assert value.details["mass caught"] == pytest.approx(1, rel=1e-3)
    log = fourier.log_delta(50 * Gaussian(10), 1, grid="point")
    assert log.value == pytest.approx(math.log(value.value), rel=1e-12)
    assert log.quantity == "log delta"


def test_point_eps_inverts_point_delta():
    composition = 40 * PoissonSubsampled(Gaussian(1), "0.1")
    eps = fourier.epsilon(composition, "1e-5", grid="point", atol=1e-6)
    assert isinstance(eps, Approximation)
    assert fourier.delta(composition, eps.value, grid="point").value == pytest.approx(1e-5, rel=1e-3)
    assert fourier.epsilon(composition, 1, grid="point").value == 0
    assert fourier.epsilon(composition, 0, grid="point").value == math.inf


def test_point_takes_a_finer_grid_where_the_density_is_narrower_than_a_cell():
    """omega of this mechanism has a spike near log(1-q), which a grid made for the tails steps over."""
    narrow = 20 * PoissonSubsampled(Gaussian("0.5"), "0.25")
    coarse = fourier.delta(narrow, 3, grid="point", dx="0.1")
    assert abs(coarse.details["mass caught"] - 1) > 0.01
    fine = fourier.delta(narrow, 3, grid="point", rtol=1e-2)
    assert fine.details["mass caught"] == pytest.approx(1, rel=1e-2)
    assert fine.value == pytest.approx(fourier.delta(narrow, 3).upper, rel=2e-2)


def test_point_curve_and_both_directions():
    composition = 40 * PoissonSubsampled(Gaussian(1), "0.1")
    curve = fourier.curve(composition, [0.5, 1, 2, math.inf, -1], grid="point")
    assert curve[3].value == 0
    for eps, value in zip((0.5, 1, 2, -1), (curve[0], curve[1], curve[2], curve[4]), strict=True):
        ways = [fourier.delta(composition, eps, way, grid="point").value for way in ("forward", "backward")]
        assert value.value == pytest.approx(max(ways), rel=1e-3)


# --- the lecture's masses ---------------------------------------------------------------------------


@strict_grids
@pytest.mark.parametrize("pair", [Gaussian(1), Laplace("0.7"), PoissonSubsampled(Gaussian(1), "0.1")], ids=str)
@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_lecture_masses_bound_one_step(named, pair, direction):
    pld = PLD(pair, direction == "backward")
    for eps in (-0.4, 0.1, 0.77):
        true = float(curve(pld, mpf(eps)))
        bounds = [
            fourier.algorithm_1(made.masses, 1, 12, eps, made.infinity)
            for made in (
                fourier.grid_masses(pair, 12, 16384, named.name, side, direction) for side in ("lower", "upper")
            )
        ]
        assert bounds[0] <= true + 1e-12
        assert bounds[1] >= true - 1e-12
        assert bounds[1] - bounds[0] < (0.02 if named.order == 1 else 1e-3)


def test_lecture_point_masses_are_the_density():
    x, masses, infinity = fourier.grid_masses(Gaussian(1), 8, 64, "point")
    assert infinity == 0
    assert masses == pytest.approx(np.exp(-0.5 * (x - 0.5) ** 2) / math.sqrt(2 * math.pi) * 0.25, rel=1e-12)
    atoms = fourier.grid_masses(RandomizedResponse("0.75"), 4, 64, "point")
    assert np.sort(atoms.masses)[-2:] == pytest.approx([0.25, 0.75])


@pytest.mark.parametrize("bad", ["Round", "", None, 2, ["round"]], ids=repr)
def test_an_unknown_grid_is_named_before_any_work(bad):
    for call in (
        lambda: fourier.delta(Gaussian(1), 1, grid=bad),
        lambda: fourier.log_delta(Gaussian(1), 1, grid=bad),
        lambda: fourier.curve(Gaussian(1), [1], grid=bad),
        lambda: fourier.epsilon(Gaussian(1), "1e-5", grid=bad),
        lambda: fourier.grid_masses(Gaussian(1), 4, 16, bad),
    ):
        with pytest.raises(ParameterError, match=r'^grid .*"split-merge", "round", "minmax", "point"'):
            call()
