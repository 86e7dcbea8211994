"""Losses on a lattice: one period of the contour against binomial sums, exact convolution, and itself."""

from fractions import Fraction

import mpmath
import pytest
from mpmath import mpf

from dplab import (
    ApproximateDP,
    Binomial,
    Composition,
    DiscreteGaussian,
    DiscreteLaplace,
    ExponentialCounting,
    Gaussian,
    KaryRandomizedResponse,
    PoissonSubsampled,
    RandomizedResponse,
    clt,
    reference,
)
from dplab.core.functions import MpmathTable
from dplab.reference.atomic import atomic
from dplab.reference.lattice import LatticeContour, common_spacing, lattice_of
from dplab.reference.law import Law
from dplab.reference.saddle import Landscape

FN = MpmathTable()
RR = RandomizedResponse.from_eps


@pytest.fixture(autouse=True)
def sixty_digits():
    with mpmath.workdps(60):
        yield


def by_contour(composition, eps, way="forward", digits=30):
    law = Law.of(Composition.of(composition), way)
    return LatticeContour(law, digits, Landscape(law)).find(Fraction(eps))


TWO_ATOMS = [
    (200 * RR("0.1"), "1"),
    (200 * RR("0.1"), "19.5"),
    (200 * RR("0.1"), "-3"),
    (30 * ExponentialCounting("0.5", 3, 10), "1"),
    (50 * ApproximateDP("0.3", "1e-4"), "3"),
    (100 * PoissonSubsampled(RandomizedResponse("0.75"), "0.1"), "1"),
    (20 * RR("0.2") + 30 * RR("0.3"), "2.5"),
    (3 * RR(2), "1"),
]


@pytest.mark.parametrize(("composition", "eps"), TWO_ATOMS, ids=str)
@pytest.mark.parametrize("way", ["forward", "backward"])
def test_the_period_agrees_with_binomial_sums(composition, eps, way):
    law = Law.of(Composition.of(composition), way)
    true = atomic(law, Fraction(eps), 40, Landscape(law).tilt(float(Fraction(eps))))
    found = by_contour(composition, eps, way)
    assert abs(found.value - true.value) <= found.error + true.error
    assert found.error <= mpf(10) ** -30 * true.value
    assert abs(found.slope - true.slope) <= mpf(10) ** -25 * abs(true.slope)


def convolved(pair, k: int) -> dict[int, mpf]:
    """The k-fold law by its places on the lattice, by plain convolution."""
    spacing = pair.lattice(FN)[1]
    base = pair.atoms(FN)[0].loss
    step = {int(mpmath.nint((atom.loss - base) / spacing)): atom.p for atom in pair.atoms(FN)}
    total = {0: mpf(1)}
    for _ in range(k):
        after: dict[int, mpf] = {}
        for i, mass in total.items():
            for j, p in step.items():
                if mass * p > mpf(10) ** -70:
                    after[i + j] = after.get(i + j, mpf(0)) + mass * p
        total = after
    return {k * base + place * spacing: mass for place, mass in total.items()}


@pytest.mark.parametrize(
    ("pair", "k", "eps"),
    [
        (KaryRandomizedResponse("0.4", 6), 25, "1.5"),
        (DiscreteLaplace(4, 3), 15, "4"),
        (DiscreteGaussian(2), 3, "1"),
        (DiscreteGaussian("0.5", 2), 4, "9"),
    ],
    ids=str,
)
def test_the_period_agrees_with_convolution(pair, k, eps):
    eps_value = mpf(eps)
    masses = convolved(pair, k)
    true = mpmath.fsum(p * (1 - mpmath.exp(eps_value - s)) for s, p in masses.items() if s > eps_value)
    found = reference.delta(k * pair, eps, "forward", digits=30)
    assert found.method == "contour integral over one period"
    assert abs(found.value - true) <= mpf(10) ** -28 * true


def test_a_million_steps_cost_no_more_than_a_thousand():
    for pair in (DiscreteGaussian(10), RR("0.1"), DiscreteLaplace(20, 4)):
        eps = f"{clt.epsilon(10**6 * pair, '1e-6', 'forward').value:.6g}"
        found = reference.delta(10**6 * pair, eps, "forward", digits=30)
        assert found.reached
        assert mpf("1e-8") < found.value < mpf("1e-4")


def test_wide_discrete_gaussians_are_gaussian_between_lattice_points():
    """At sigma = 1000 lattice and line differ by little; far below that only in the last digits."""
    for eps in ("-1", "0.5", "3"):
        lattice = reference.delta(1000 * DiscreteGaussian(1000, 50), eps, "forward", digits=25)
        line = reference.delta(1000 * Gaussian(20), eps, "forward", digits=25)
        assert lattice.reached
        assert abs(lattice.value / line.value - 1) < mpf("1e-4")


def test_tiny_deltas_of_one_step_are_not_lost():
    """delta below the masses that any list of atoms would have."""
    with mpmath.workdps(60):
        found = reference.delta(DiscreteGaussian(1), "100", digits=30)
        v = mpf(1)
        total = FN.theta(0, v)
        true = mpmath.fsum(
            (mpmath.exp(-(mpf(t - 1) ** 2) / 2) - mpmath.exp(100 - mpf(t) ** 2 / 2)) / total for t in range(101, 140)
        )
        assert abs(found.value / true - 1) < mpf(10) ** -28
        assert found.value < mpf(10) ** -2000


def test_eps_of_lattice_laws_inverts_delta():
    for composition in (100 * DiscreteGaussian(5), 50 * KaryRandomizedResponse("0.2", 5)):
        found = reference.epsilon(composition, "1e-8", digits=25)
        again = reference.delta(composition, mpmath.nstr(found.value, 40), digits=25)
        assert abs(again.value / mpf("1e-8") - 1) < mpf(10) ** -22


def test_which_laws_share_a_lattice():
    def found(composition):
        return lattice_of(Law.of(Composition.of(composition), "forward"))

    assert abs(found(2 * RR("0.1") + 3 * KaryRandomizedResponse("0.3", 4)).spacing - mpf("0.1")) < mpf(10) ** -55
    assert found(RR("0.1") + RR("sqrt(2)")) is None
    assert found(RR("0.1") + Gaussian(1)) is None
    assert found(2 * Binomial(9, "0.4")) is None
    assert found(2 * PoissonSubsampled(DiscreteGaussian(1), "0.1")) is None
    assert common_spacing([mpf(1) / 3, mpf(1) / 2]) == mpf(1) / 6


def test_two_steps_of_an_endless_loss_on_no_lattice():
    """Listed far out and multiplied; against the sum over both outcomes."""
    q, v = mpf("0.25"), mpf(1)
    total = FN.theta(0, v)
    masses = []
    for t in range(-25, 27):
        p0, q0 = mpmath.exp(-(mpf(t - 1) ** 2) / 2) / total, mpmath.exp(-(mpf(t) ** 2) / 2) / total
        masses.append((q * p0 + (1 - q) * q0, q0))
    composition = 2 * PoissonSubsampled(DiscreteGaussian(1), "0.25")
    for eps in ("0.5", "2"):
        true = mpmath.fsum(max(a * c - mpmath.exp(mpf(eps)) * b * d, mpf(0)) for a, b in masses for c, d in masses)
        found = reference.delta(composition, eps, "forward", digits=25)
        assert found.reached
        assert abs(found.value / true - 1) < mpf(10) ** -25


def test_what_cannot_be_reached_says_so_soon():
    """Many steps on lattices that share none: no list, no period; the contour does what it can."""
    composition = 30 * DiscreteGaussian(5) + 10 * RR("sqrt(2)/10")
    found = reference.delta(composition, 1, "forward", digits=20)
    assert not found.reached or found.error <= mpf(10) ** -20 * found.value
