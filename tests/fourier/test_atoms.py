"""Sums over many atoms: against sums one by one in mpmath, and atoms as columns against lists of them."""

import mpmath
import numpy as np
import pytest
from mpmath import mpf

from dplab import Binomial, KaryRandomizedResponse, Laplace, PoissonSubsampled, Product
from dplab.core.functions import MpmathTable
from dplab.core.pld import PLD
from dplab.fourier.atoms import AtomSums
from dplab.fourier.coarse import CoarseLaw
from dplab.fourier.columns import Columns
from dplab.fourier.intervals import Interval
from dplab.fourier.onestep import OneStep
from dplab.fourier.whole_numbers import LawTable

from ..mechanisms.examples import EXAMPLES, NOISELESS

MP, FN = MpmathTable(), LawTable()
PAIRS = [example.pair for example in EXAMPLES] + [pair for pair, *_ in NOISELESS]


@pytest.fixture(autouse=True)
def forty_digits():
    with mpmath.workdps(40):
        yield


def random_atoms(rng, size: int, span: float) -> Columns:
    losses = np.sort(rng.uniform(-span, span, size))
    losses[1::7] = losses[0::7][: len(losses[1::7])]  # some that coincide
    masses = rng.exponential(size=size) * np.exp(rng.uniform(-40, 0, size))
    masses /= masses.sum()
    blur = np.abs(losses) * rng.choice([0.0, 1e-16, 1e-12], size)
    q = masses * np.exp(-losses)
    columns = Columns(
        Interval(losses - blur, losses + blur),
        Interval(masses * (1 - 1e-15), masses * (1 + 1e-15)),
        Interval(q * (1 - 1e-9), q * (1 + 1e-9)),
    )
    return columns.ascending()


def drawn(rng, columns: Columns) -> list[tuple]:
    """Losses and masses somewhere in their enclosures."""
    atoms = []
    for loss, p in zip(*((np.stack([c.lo, c.hi], 1)) for c in (columns.loss, columns.p)), strict=True):
        a, b = rng.choice([0.0, 0.5, 1.0], 2)
        atoms.append(tuple(mpf(x[0]) + mpf(w) * (mpf(x[1]) - mpf(x[0])) for x, w in ((loss, a), (p, b))))
    return atoms


CASES = [(1, 1.0, 1), (2, 0.1, 2), (30, 3.0, 3), (300, 200.0, 4), (1000, 0.01, 5), (400, 340.0, 6)]


@pytest.mark.parametrize(("size", "span", "seed"), CASES)
def test_sums_above_a_point_contain_the_sums_one_by_one(size, span, seed):
    rng = np.random.default_rng(seed)
    columns = random_atoms(rng, size, span)
    sums, atoms = AtomSums(columns), drawn(rng, columns)
    x = np.sort(rng.uniform(-1.1 * span, 1.1 * span, 12))
    x[3] = columns.loss.mid[size // 2]
    curve = sums.curve(Interval.exactly(x))
    for i, at in enumerate(map(mpf, x)):
        true = mpmath.fsum(p * (1 - mpmath.exp(at - s)) for s, p in atoms if s > at)
        assert curve.lo[i] <= true <= curve.hi[i]
        uncertain = 1e-11 * span * mpmath.fsum(p * mpmath.exp(at - s) for s, p in atoms if s > at - 1e-9)
        assert curve.hi[i] - curve.lo[i] <= 1e-12 * true + uncertain + 1e-290


@pytest.mark.parametrize(("size", "span", "seed"), CASES)
def test_lines_of_test_sets_and_their_slopes(size, span, seed):
    rng = np.random.default_rng(seed + 100)
    columns = random_atoms(rng, size, span)
    sums, atoms = AtomSums(columns), drawn(rng, columns)
    limits = np.sort(rng.uniform(-1.1 * span, 1.1 * span, 12))
    for ahead in (-0.4 * span / 10, 0.0, 0.3 * span / 10):
        x = limits + ahead
        line, slope = sums.line(Interval.exactly(x), limits), sums.q_above(x, limits)
        sure = sums.certainly_above(np.minimum(x, limits), limits)
        for i, (at, limit) in enumerate(zip(map(mpf, x), limits, strict=True)):
            above = [atom for atom, middle in zip(atoms, columns.loss.mid, strict=True) if middle > limit]
            assert line.lo[i] <= mpmath.fsum(p * (1 - mpmath.exp(at - s)) for s, p in above) <= line.hi[i]
            true = mpmath.fsum(p * mpmath.exp(at - s) for s, p in above)
            assert true * (1 - 1e-9) - 1e-290 <= slope[i] * (1 + 3e-9 * span) <= true * (1 + 1e-8 * span)
            certain = mpmath.fsum(p * mpmath.exp(min(at, mpf(limit)) - s) for s, p in atoms if s > limit)
            assert sure[i] <= certain
            assert sums.p_above(limit) <= mpmath.fsum(p for _, p in above)


@pytest.mark.parametrize("pair", PAIRS, ids=str)
@pytest.mark.parametrize("backward", [False, True], ids=["forward", "backward"])
def test_columns_enclose_the_atoms_that_mpmath_lists(pair, backward):
    pld = PLD(pair, backward)
    columns = Columns.of(pld.atoms(FN)).ascending()
    atoms = sorted(pld.atoms(MP))
    if pld.endless and isinstance(pair, PoissonSubsampled):  # losses crowd at log(1-q): masses only
        for side in (1, 2):
            total = FN.total(columns.p if side == 1 else columns.q)
            assert total.lo <= 1 <= total.hi + pld.remainder(FN)[side - 1].hi
        return
    if pld.endless:  # mpmath lists farther out on both sides
        top = next(i for i, atom in enumerate(atoms) if atom.loss > columns.loss.hi[-1])
        atoms, left_out = atoms[top - len(columns) : top], atoms[: top - len(columns)] + atoms[top:]
        rest = pld.remainder(FN)
        for side in (1, 2):
            assert 0 < mpmath.fsum(atom[side] for atom in left_out) <= rest[side - 1].hi
    assert len(atoms) == len(columns)
    for atom, enclosed in zip(atoms, columns, strict=True):
        for true, interval in zip(atom, enclosed, strict=True):
            assert interval.lo <= true <= interval.hi
            assert interval.hi - interval.lo <= 1e-12 * abs(true) + 1e-13


def test_masses_apart_are_enclosed():
    for pair in PAIRS:
        for name in ("mass_at_infinity", "mass_at_minus_infinity"):
            true, enclosed = getattr(pair, name)(MP), getattr(pair, name)(FN)
            assert enclosed.lo <= true <= enclosed.hi
            assert enclosed.hi - enclosed.lo <= 1e-13 * true


def test_sums_of_losses_join_equal_ones():
    pld = PLD(Product(*[Binomial(6, "0.5")] * 4))
    assert len(Columns.of(pld.atoms(FN))) == len(pld.atoms(MP))
    mixed = PLD(Product(Binomial(5, "0.3"), KaryRandomizedResponse(1, 4)))
    assert len(Columns.of(mixed.atoms(FN))) == len(mixed.atoms(MP))


def test_ten_thousand_atoms_are_one_array_operation():
    step = OneStep(PLD(PoissonSubsampled(Product(*[Binomial(40, "0.5")] * 4), "0.1")))
    assert len(step.columns) > 10_000
    x = np.linspace(-1.0, 5.0, 7)
    curve = step.curve(Interval.exactly(x))
    assert np.all(curve.lo <= curve.hi)
    assert np.all(np.diff(curve.hi) < 0)
    assert np.all(curve.hi - curve.lo <= 1e-11 * curve.hi)


def test_without_atoms_there_are_no_sums():
    assert OneStep(PLD(Laplace(0))).sums is None
    assert OneStep(PLD(Laplace(1))).sums is not None


def test_the_coarse_table_of_many_atoms_keeps_masses_and_ends():
    """A first cell whose mean lies above its lowest atom once cut a third of the mass below it off the grid."""
    step = OneStep(PLD(PoissonSubsampled(Product(*[Binomial(40, "0.5")] * 4), "0.01")))
    law, columns = CoarseLaw.of(step), step.columns
    assert len(law.losses) < 5000 < len(columns)
    assert law.ends == (float(columns.loss.mid[0]), float(columns.loss.mid[-1]))
    assert np.all(np.diff(law.losses) >= 0)
    for weight in (0.0, -1.0, 3.0):
        whole = columns.p.mid @ np.exp(weight * columns.loss.mid)
        assert law.masses @ np.exp(weight * law.losses) == pytest.approx(whole, rel=1e-9 if weight <= 0 else 1e-4)
