"""Every mechanism in both directions: its page against its output distributions, and against itself."""

import itertools

import mpmath
import pytest
from mpmath import mpf

import dplab.mechanisms
from dplab.core.functions import MpmathTable
from dplab.core.pair import Pair
from dplab.core.pld import PLD

from .examples import EXAMPLES, NOISELESS

FN = MpmathTable()
TOLERANCE = mpf(10) ** -25

both = pytest.mark.parametrize("backward", [False, True], ids=["forward", "backward"])
every = pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.id)
continuous = pytest.mark.parametrize(
    "example", [example for example in EXAMPLES if example.p is not None], ids=lambda example: example.id
)
WITH_MGF = [example for example in EXAMPLES if example.pair.mgf(FN, mpf(1)) is not None]


@pytest.fixture(autouse=True)
def thirty_digits():
    with mpmath.workdps(30):
        yield


def inner_losses(pld: PLD, count: int = 9) -> list:
    """Losses inside the support of the continuous part."""
    coordinate = pld.coordinate(FN)
    if coordinate is None:
        return []
    if mpmath.isinf(coordinate.lower):
        us = [coordinate.center + (i - count // 2) * coordinate.scale for i in range(count)]
    else:
        us = [coordinate.lower + (coordinate.upper - coordinate.lower) * (i + 1) / (count + 1) for i in range(count)]
    return [pld.coordinate_loss(FN, u) for u in us]


def hockey_stick(example, backward: bool, eps):
    """delta(eps) from the definition: the integral of max(f_X - e^eps f_Y, 0) over outcomes."""
    if example.p is None:
        points = [(b, a) if backward else (a, b) for a, b in example.points()]
        return sum(max(a - mpmath.exp(eps) * b, mpf(0)) for a, b in points)
    p, q = (example.q, example.p) if backward else (example.p, example.q)

    def excess(t):
        return p(t) - mpmath.exp(eps) * q(t)

    total = mpf(0)
    for left, right in itertools.pairwise(sign_changes(excess, example.cuts)):
        middle = (left + right) / 2
        if excess(middle) > 0:
            total += mpmath.quad(excess, [left, right])
    return total


def sign_changes(f, cuts) -> list:
    """The cuts, and the zeros of f between them (at most one on each small piece)."""
    points = []
    for left, right in itertools.pairwise(cuts):
        fine = [left + (right - left) * i / 16 for i in range(17)]
        for a, b in itertools.pairwise(fine):
            points.append(a)
            if f(a) * f(b) < 0:
                points.append(mpmath.findroot(f, (a, b), solver="anderson", tol=mpf(10) ** -55, verify=False))
    return [*points, cuts[-1]]


def test_every_mechanism_has_an_example():
    shown = {type(example.pair).__name__ for example in EXAMPLES}
    assert shown == {name for name in dplab.mechanisms.__all__ if isinstance(getattr(dplab, name), type)}


@every
@both
def test_delta_from_the_tails_is_the_hockey_stick_of_the_output_distributions(example, backward):
    pld = PLD(example.pair, backward)
    likely = [atom.loss / 2 for atom in pld.atoms(FN) if atom.p > mpf(10) ** -12]
    losses = inner_losses(pld, 3)[:2] or likely[:: len(likely) // 9 + 1]
    for eps in losses:
        tails = [(pld.mass_at_infinity(FN), mpf(0))]
        tails += [(a.p, a.q) for a in pld.atoms(FN) if a.loss > eps]
        if pld.support(FN) is not None:
            tails.append(tuple(pld.above(FN, eps)))
        p, q = sum(t[0] for t in tails), sum(t[1] for t in tails)
        assert abs(p - mpmath.exp(eps) * q - hockey_stick(example, backward, eps)) < mpf(10) ** -22


@every
@both
def test_all_masses_add_up_to_one(example, backward):
    pld = PLD(example.pair, backward)
    atoms = pld.atoms(FN)
    apart = pld.mass_at_infinity(FN), pld.mass_at_minus_infinity(FN)
    for side in (0, 1):
        rest = apart[side] + sum(atom[1 + side] for atom in atoms)
        if pld.support(FN) is None:
            assert abs(rest - 1) < TOLERANCE
        for x in inner_losses(pld):
            inside = pld.above(FN, x)[side] + pld.below(FN, x)[side]
            assert abs(rest + inside - 1) < TOLERANCE
            assert abs(inside - pld.continuous_mass(FN)[side]) < TOLERANCE


@every
@both
def test_atoms_run_downwards_and_have_the_right_ratio(example, backward):
    pld = PLD(example.pair, backward)
    losses = [atom.loss for atom in example.pair.atoms(FN)]
    assert losses == sorted(losses, reverse=True)
    for atom in pld.atoms(FN):
        assert abs(atom.p / atom.q / mpmath.exp(atom.loss) - 1) < TOLERANCE


@continuous
@both
def test_the_density_is_the_slope_of_the_tails(example, backward):
    pld = PLD(example.pair, backward)
    low, high = pld.support(FN)
    for x in inner_losses(pld, 5):
        room = min(x - low, high - x, mpf(1))
        with mpmath.workdps(60):
            p_slope = mpmath.diff(lambda u: pld.above(FN, u).p, x, h=room * mpf(10) ** -20)
            q_slope = mpmath.diff(lambda u: pld.above(FN, u).q, x, h=room * mpf(10) ** -20)
        omega = pld.density(FN, x)
        assert abs(p_slope / omega + 1) < mpf(10) ** -15
        assert abs(q_slope / (omega * mpmath.exp(-x)) + 1) < mpf(10) ** -15


@continuous
@both
def test_scaled_tails_are_the_tails_scaled(example, backward):
    pld = PLD(example.pair, backward)
    for x in inner_losses(pld):
        p, scaled = pld.above_scaled(FN, x)
        assert abs(scaled / (mpmath.exp(x) * pld.above(FN, x).q) - 1) < TOLERANCE
        assert abs(p / pld.above(FN, x).p - 1) < TOLERANCE


@continuous
@both
def test_mirror_identity(example, backward):
    here, mirrored = PLD(example.pair, backward), PLD(example.pair, not backward)
    for x in inner_losses(here):
        assert abs(mirrored.density(FN, -x) / (mpmath.exp(-x) * here.density(FN, x)) - 1) < TOLERANCE
        assert here.above(FN, x) == tuple(reversed(mirrored.below(FN, -x)))


@continuous
@both
def test_the_coordinate_carries_the_continuous_mass(example, backward):
    pld = PLD(example.pair, backward)
    lower, upper, center, scale = pld.coordinate(FN)
    if mpmath.isinf(lower):
        lower, upper = center - 30 * scale, center + 30 * scale
    ends = [lower + (upper - lower) * i / 12 for i in range(13)]
    for side in (0, 1):
        mass = mpmath.quad(lambda u, side=side: pld.coordinate_densities(FN, u)[side], ends)
        assert abs(mass - pld.continuous_mass(FN)[side]) < mpf(10) ** -22


@continuous
@both
def test_the_coordinate_has_the_loss_it_says(example, backward):
    """The densities along u have the ratio e^{s(u)}."""
    pld = PLD(example.pair, backward)
    lower, _, center, scale = pld.coordinate(FN)
    for i in range(-4, 5):
        u = center + i * (scale if mpmath.isinf(lower) else scale / 5)
        p, q = pld.coordinate_densities(FN, u)
        assert abs(p / q / mpmath.exp(pld.coordinate_loss(FN, u)) - 1) < TOLERANCE


@continuous
def test_loss_and_outcome_invert_each_other(example):
    for t in (mpf("0.1"), mpf("0.5"), mpf("0.93")):
        s = example.pair.loss(FN, t)
        assert abs(s - mpmath.log(example.p(t) / example.q(t))) < mpf(10) ** -22
        assert abs(example.pair.outcome(FN, s) - t) < mpf(10) ** -20


@pytest.mark.parametrize("example", WITH_MGF, ids=lambda example: example.id)
@both
def test_closed_mgf_is_the_mean_of_exp_zs_over_outcomes(example, backward):
    pld = PLD(example.pair, backward)
    for z in (mpf(1), mpf("-0.5"), mpmath.mpc("0.5", 3), mpmath.mpc("-1.2", "0.7")):
        scale = pld.mgf(FN, mpmath.re(z))  # the integral of the integrand's modulus
        assert abs(pld.mgf(FN, z) - _mean_of_exp(example, backward, z)) < mpf(10) ** -20 * scale
    assert abs(pld.mgf(FN, mpf(0)) - (1 - pld.mass_at_infinity(FN))) < TOLERANCE
    assert abs(pld.mgf(FN, mpf(-1)) - (1 - pld.mass_at_minus_infinity(FN))) < TOLERANCE


def _mean_of_exp(example, backward: bool, z):
    """The integral of f_X^(1+z) f_Y^(-z)."""
    if example.p is None:
        points = [(b, a) if backward else (a, b) for a, b in example.points()]
        return sum(a ** (1 + z) * b ** (-z) for a, b in points if a and b)
    p, q = (example.q, example.p) if backward else (example.p, example.q)
    ends = [example.cuts[0], *(c + mpf(i) / 2 for c in example.cuts[1:-1] for i in (-1, 0)), example.cuts[-1]]
    return mpmath.quad(lambda t: p(t) * mpmath.exp(z * mpmath.log(p(t) / q(t))), sorted(set(ends)))


@pytest.mark.parametrize(("pair", "infinite", "missing"), NOISELESS, ids=lambda value: str(value))
def test_without_noise_all_finite_mass_is_in_one_atom_at_most(pair: Pair, infinite, missing):
    for backward, mass in ((False, infinite), (True, missing)):
        pld = PLD(pair, backward)
        assert pld.mass_at_infinity(FN) == mpmath.mpmathify(mass)
        assert pld.support(FN) is None
        assert pld.coordinate(FN) is None
        assert abs(sum(atom.p for atom in pld.atoms(FN)) + pld.mass_at_infinity(FN) - 1) < TOLERANCE
        assert abs(sum(atom.q for atom in pld.atoms(FN)) + pld.mass_at_minus_infinity(FN) - 1) < TOLERANCE


def test_sampling_no_noise_leaves_one_atom_for_the_outcomes_that_p_lacks():
    pair = dplab.PoissonSubsampled(dplab.Gaussian(0), "0.25")
    (remove,), (add,) = PLD(pair).atoms(FN), PLD(pair, backward=True).atoms(FN)
    assert abs(remove.loss - mpmath.log(mpf("0.75"))) < TOLERANCE
    assert (remove.p, remove.q) == (mpf("0.75"), 1)
    assert abs(add.loss + mpmath.log(mpf("0.75"))) < TOLERANCE
    assert (add.p, add.q) == (1, mpf("0.75"))
