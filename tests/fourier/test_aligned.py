"""Lattices: aligned grids have no grid error, commensurable lattices share a grid, few other atoms are listed."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from dplab import (
    ApproximateDP,
    Binomial,
    DiscreteGaussian,
    DiscreteLaplace,
    ExponentialCounting,
    Gaussian,
    KaryRandomizedResponse,
    Laplace,
    PoissonSubsampled,
    RandomizedResponse,
    fourier,
    reference,
)
from dplab.core.pld import PLD
from dplab.fourier.aligned import aligned_pld
from dplab.fourier.certificate import grid_curve
from dplab.fourier.grids import Grid
from dplab.fourier.intervals import Interval
from dplab.fourier.lattices import common_spacing
from dplab.fourier.listing import listed
from dplab.fourier.onestep import OneStep

RR = RandomizedResponse.from_eps
LATTICES = [
    RR("0.1"),
    KaryRandomizedResponse("0.3", 7),
    DiscreteLaplace(10),
    DiscreteLaplace(6, 5),
    DiscreteGaussian(4),
    DiscreteGaussian(9, 2),
    DiscreteGaussian("0.4"),
    ApproximateDP("0.2", "1e-40"),
    ExponentialCounting("0.2", 3, 9),
    PoissonSubsampled(RandomizedResponse("0.75"), "0.1"),
]


@pytest.fixture(autouse=True)
def forty_digits():
    with mpmath.workdps(40):
        yield


@pytest.mark.parametrize(("number", "pair"), list(enumerate(LATTICES)), ids=str)
@pytest.mark.parametrize("way", ["forward", "backward"])
def test_brackets_on_a_lattice_are_as_narrow_as_rounding(number, pair, way):
    k, delta = [(2, "1e-2"), (50, "1e-6"), (1000, "1e-30")][(number + (way == "backward")) % 3]
    found = fourier.epsilon(k * pair, delta, way)
    assert found.width <= 1e-9
    for eps, side in (
        (found.lower, 1),
        (found.upper, -1),
    ):  # eps lies between where delta is more, and where it is less
        at = fourier.delta(k * pair, eps, way)
        true = reference.delta(k * pair, eps, way, digits=25)
        assert at.contains(true.value)
        assert at.relative_width <= 1e-9
        assert side * (true.value - mpmath.mpf(delta)) >= 0 or found.lower == 0


def test_the_same_when_millions_of_steps_are_made():
    for pair in (RR("0.001"), DiscreteGaussian(100), DiscreteLaplace(500, 3)):
        true = reference.epsilon(10**6 * pair, "1e-9", digits=20)
        found = fourier.epsilon(10**6 * pair, "1e-9")
        assert found.contains(true.value)
        assert found.width <= 1e-6


@pytest.mark.parametrize(
    "composition",
    [
        100 * RR("0.1") + 50 * RR("0.2"),
        100 * KaryRandomizedResponse("0.1", 4) + 30 * DiscreteLaplace(20, 2),
        40 * DiscreteGaussian(5) + 10 * DiscreteGaussian(5, 3),
        60 * RR("0.3") + 20 * ApproximateDP("0.45", "1e-7"),
        30 * DiscreteLaplace(4) + PoissonSubsampled(DiscreteLaplace(0), "0.01") * 5,
    ],
    ids=str,
)
def test_parts_on_commensurable_lattices_share_a_grid(composition):
    for eps in ("1", "6"):
        true = reference.delta(composition, eps, "forward", digits=25)
        found = fourier.delta(composition, eps, "forward")
        assert found.contains(true.value)
        assert found.relative_width <= 1e-9


@pytest.mark.parametrize("other", [Gaussian(3), Laplace(4)], ids=str)
def test_atoms_beside_a_density_are_on_the_grid_too(other):
    composition = 40 * RR("0.1") + 20 * DiscreteGaussian(7) + 10 * other
    found = fourier.delta(composition, 3, rtol=1e-5)
    assert found.reached
    rough = fourier.delta(composition, 3, rtol=1e-2)
    assert rough.lower <= found.upper
    assert found.lower <= rough.upper


@pytest.mark.parametrize("pair", LATTICES, ids=str)
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("cells", [1, 3])
def test_the_grid_pld_bounds_h_at_every_node_and_between(pair, sign, cells):
    step = OneStep(PLD(pair.reduced()))
    lattice = step.lattice
    first, last = max(lattice.first, -700), min(lattice.last, 700)
    grid = Grid(lattice.offset, lattice.spacing / cells, first * cells - 2, (last - first) * cells + 5)
    pld = aligned_pld(step, grid, sign)
    assert 0 <= pld.shift <= 1e-13 * (1 + abs(grid.nodes).max())
    values, _ = grid_curve(pld)
    true = step.curve(grid.at(), step.continuous(grid.at()))
    if sign > 0:
        assert np.all(values + pld.infinity >= true.lo * (1 - 1e-12) - 2 * pld.shift)
    else:
        assert np.all(values + pld.infinity <= true.hi * (1 + 1e-12) + 2 * pld.shift)
    assert np.allclose(values + pld.infinity, true.mid, rtol=1e-9, atol=1e-12)


def test_a_grid_that_is_not_aligned_is_refused():
    step = OneStep(PLD(RR("0.1")))
    lattice = step.lattice
    assert aligned_pld(step, Grid(lattice.offset, 0.07, -4, 9), +1) is None
    assert aligned_pld(step, Grid(lattice.offset + 0.01, lattice.spacing, -4, 9), +1) is None
    assert OneStep(PLD(Binomial(9, "0.4"))).lattice is None
    assert OneStep(PLD(Laplace(1))).lattice is None


def test_common_spacing():
    assert common_spacing([0.3]) == 0.3
    assert common_spacing([0.3, 0.2, 0.7]) == pytest.approx(0.1, rel=1e-12)
    assert common_spacing([1.0, 2.0**0.5]) is None


@pytest.mark.parametrize(
    ("composition", "eps"),
    [
        (3 * Binomial(40, "0.5"), "0.4"),
        (2 * Binomial(100, "0.3", 3), "1"),
        (20 * RR("0.1") + 30 * RR("0.1234567"), "2"),
        (3 * PoissonSubsampled(KaryRandomizedResponse(1, 5), "0.2") + 2 * RR(1), "1.5"),
    ],
    ids=str,
)
def test_few_atoms_on_no_lattice_are_listed(composition, eps):
    for way in ("forward", "backward"):
        true = reference.delta(composition, eps, way, digits=25)
        found = fourier.delta(composition, eps, way)
        assert found.contains(true.value)
        assert found.relative_width <= 1e-11
        assert fourier.epsilon(composition, mpmath.nstr(true.value, 15), way).width <= 1e-9
    by_hand = fourier.delta(composition, eps, "forward", grid="round")
    assert by_hand.contains(reference.delta(composition, eps, "forward", digits=25).value)
    assert by_hand.relative_width > 1e-9  # a grid was asked for, and used


def test_what_is_not_listed():
    def parts(composition):
        return [(OneStep(pld), k) for pld, k in composition.plds(False)]

    assert listed(parts(100 * RR("0.1"))) is None  # a lattice
    assert listed(parts(2 * DiscreteGaussian(1) + RR("0.3"))) is None  # infinitely many atoms
    assert listed(parts(2 * Laplace(1))) is None
    assert listed(parts(40 * Binomial(1000, "0.5"))) is None  # too many
    assert listed(parts(2 * Binomial(1000, "0.5"))) is not None


def test_many_atoms_on_a_grid():
    """A thousand atoms, a hundred steps: no list, no lattice."""
    found = fourier.delta(100 * Binomial(1000, "0.5"), "1.5")
    assert 0 < found.lower < found.upper
    finer = fourier.delta(100 * Binomial(1000, "0.5"), "1.5", rtol=1e-4)
    assert found.lower <= finer.upper
    assert finer.lower <= found.upper


def test_what_is_left_out_of_an_endless_loss_counts():
    """Beyond the last listed atom delta is not 0."""
    step = OneStep(PLD(DiscreteGaussian("0.3", 2)))
    far = Interval.exactly(np.array([float(step.columns.loss.hi[-1]) + 1.0]))
    assert step.curve(far).lo[0] == 0
    assert step.curve(far).hi[0] > 0
    assert np.isinf(step.largest.hi)


def test_a_few_very_skewed_steps():
    """The tilted sum is one atom on one side: all nine sums are written down instead."""
    composition = 8 * ExponentialCounting("0.4484", 12, 53)
    bracket = fourier.delta(composition, "1.7e-4")
    assert bracket.reached
    assert bracket.contains(reference.delta(composition, "1.7e-4", digits=20).value)


@pytest.mark.parametrize(("eps0", "k"), [("800", 5), ("0.1", 1000), ("3", 16), ("0.02834", 2)])
def test_eps_at_the_largest_loss_of_all(eps0, k):
    """delta is 0 there, and float64 cannot tell: what is left is as small as its rounding of the losses."""
    eps = k * Fraction(eps0)
    bracket = fourier.delta(k * RandomizedResponse.from_eps(eps0), eps)
    assert bracket.lower == 0
    assert bracket.upper < 1e-9
    assert fourier.delta(k * RandomizedResponse.from_eps(eps0), eps * Fraction(10**6 - 1, 10**6)).reached
