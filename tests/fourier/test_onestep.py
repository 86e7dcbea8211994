"""One release in outward-rounded float64: tails, h and lines against 60 digits, for every mechanism and direction."""

import mpmath
import numpy as np
import pytest
from mpmath import mpf

from dplab import Gaussian, Laplace, PoissonSubsampled
from dplab.core.pld import PLD
from dplab.fourier.intervals import Interval
from dplab.fourier.onestep import OneStep

from .exact import FN, PLDS, below, continuous, curve, name, typical_losses

every = pytest.mark.parametrize("pld", PLDS, ids=name)


@pytest.fixture(autouse=True)
def sixty_digits():
    with mpmath.workdps(60):
        yield


def points(pld: PLD) -> np.ndarray:
    """Losses near the mass, outside the support, at the atoms and the ends and a float to either side of them."""
    rng = np.random.default_rng(7)
    low, high = typical_losses(pld)
    width = max(high - low, 1e-6)
    near = rng.uniform(low - 0.3 * width, high + 0.3 * width, 40)
    around = rng.choice([-1, 1], 12) * 10 ** rng.uniform(-9, 2, 12)
    edges = [float(atom.loss) for atom in pld.atoms(FN)]
    edges += [float(end) for end in pld.support(FN) or () if mpmath.isfinite(end)]
    beside = [np.nextafter(e, towards) for e in edges for towards in (-np.inf, np.inf)]
    inside = [e + sign * 10.0**-power for e in edges for power in (3, 8, 12) for sign in (-1, 1)]
    return np.unique(np.concatenate([near, around, edges, beside, inside, [0.0, -40.0, 40.0, 600.0]]))


@every
def test_masses_atoms_and_ends_are_enclosed(pld):
    step = OneStep(pld)
    exact = {
        "infinity": pld.mass_at_infinity(FN),
        "q_mass": 1 - pld.mass_at_minus_infinity(FN),
    }
    for attribute, value in exact.items():
        assert getattr(step, attribute).lo <= value <= getattr(step, attribute).hi
    for found, true in zip(step.continuous_mass, pld.continuous_mass(FN), strict=True):
        assert found.lo <= true <= found.hi
    atoms = sorted(pld.atoms(FN), key=lambda atom: atom.loss)
    assert len(atoms) == len(step.atoms)
    for (loss, mass), atom in zip(step.atoms, atoms, strict=True):
        assert loss.lo <= atom.loss <= loss.hi
        assert mass.lo <= atom.p <= mass.hi
    losses = [atom.loss for atom in atoms] + list(pld.support(FN) or ())
    if losses:
        assert step.largest.lo <= max(losses) <= step.largest.hi
        assert step.smallest.lo <= min(losses) <= step.smallest.hi


@every
def test_tails_and_h_are_enclosed(pld):
    step, xs = OneStep(pld), points(pld)
    at = Interval.exactly(xs)
    p, s, _ = step.continuous(at)
    h = step.curve(at)
    p_below, q_below = step.below(at), step.q_below(at)
    for i, x in enumerate(xs.tolist()):
        p_true, q_true = continuous(pld, mpf(x))
        assert p.lo[i] <= p_true <= p.hi[i]
        assert s.lo[i] <= mpmath.exp(mpf(x)) * q_true <= s.hi[i]
        p_under, q_under = below(pld, mpf(x))
        assert p_below.lo[i] <= p_under <= p_below.hi[i]
        assert q_below.lo[i] <= q_under <= q_below.hi[i]
        assert h.lo[i] <= curve(pld, mpf(x)) <= h.hi[i]
    assert np.all((p.lo >= 0) & (s.lo >= 0))


@every
def test_wide_arguments_give_wide_enclosures(pld):
    """An interval of losses: everything for any loss inside it."""
    step, xs = OneStep(pld), points(pld)
    at = Interval(xs - 1e-5, xs + 1e-5)
    (p, s, _), h = step.continuous(at), step.curve(at)
    for i, x in enumerate(xs.tolist()):
        for inside in (mpf(x) - mpf("1e-5"), mpf(x), mpf(x) + mpf("0.9e-5")):
            if not at.lo[i] <= inside <= at.hi[i]:
                continue
            p_true, q_true = continuous(pld, inside)
            assert p.lo[i] <= p_true <= p.hi[i]
            assert s.lo[i] <= mpmath.exp(inside) * q_true <= s.hi[i]
            assert h.lo[i] <= curve(pld, inside) <= h.hi[i]


@every
@pytest.mark.parametrize("offset", [0.0, -0.03, 0.2])
def test_lines_are_enclosed_and_lie_below_h(pld, offset):
    step, ms = OneStep(pld), points(pld)
    ms = ms[np.abs(ms) < 300]
    tails = step.continuous(Interval.exactly(ms))
    shift = Interval.exactly(np.full(len(ms), offset))
    values = step.line(Interval.exactly(ms) + shift, ms, tails, shift)
    for i, m in enumerate(ms.tolist()):
        x = mpf(m) + mpf(offset)
        p, q = continuous(pld, mpf(m))
        true = pld.mass_at_infinity(FN) + p - mpmath.exp(x) * q
        for atom, (loss, _) in zip(sorted(pld.atoms(FN), key=lambda a: a.loss), step.atoms, strict=True):
            if m < float(loss.mid):
                true += atom.p - mpmath.exp(x) * atom.q
        assert values.lo[i] <= true <= values.hi[i]
        assert values.lo[i] <= curve(pld, x)


@every
def test_enclosures_are_tight_where_there_is_mass(pld):
    """Not only true but useful: a relative width that leaves room for a thousand steps and more."""
    step = OneStep(pld)
    low, high = typical_losses(pld)
    xs = np.linspace(low, high, 31)[1:-1]
    h = step.curve(Interval.exactly(xs))
    useful = h.hi > 1e-3 * float(step.curve(Interval.exactly(np.zeros(1))).hi[0])
    assert np.all((h.hi - h.lo)[useful] <= 1e-6 * h.hi[useful])


def test_h_at_zero_and_far_left():
    for pld in PLDS:
        step = OneStep(pld)
        far = step.curve(Interval.exactly(np.array([-800.0])))
        assert far.lo[0] <= 1 <= far.hi[0]
        assert far.lo[0] > 1 - 1e-12


def test_no_continuous_part():
    step = OneStep(PLD(PoissonSubsampled(Gaussian(0), "0.25"), True))
    assert step.support is None
    zero = step.continuous(Interval.exactly(np.array([0.0, 1.0])))
    assert not any(np.any(end) for part in zero for end in (part.lo, part.hi))
    ((loss, mass),) = step.atoms
    assert loss.lo <= -mpmath.log(mpf("0.75")) <= loss.hi
    assert (mass.lo, mass.hi) == (1.0, 1.0)
    nothing = OneStep(PLD(Gaussian(0)))
    assert nothing.atoms == []
    assert (nothing.infinity.lo, nothing.infinity.hi) == (1.0, 1.0)
    assert (nothing.largest.lo, nothing.largest.hi) == (0.0, 0.0)


def test_beyond_the_support_nothing_is_left():
    step = OneStep(PLD(Laplace("0.1")))
    p, s, _ = step.continuous(Interval.exactly(np.array([10.0001, 50.0, 1e6])))
    assert not np.any(p.hi) and not np.any(s.hi)  # noqa: PT018
    h = step.curve(Interval.exactly(np.array([10.0001, 1e6])))
    assert not np.any(h.hi)
