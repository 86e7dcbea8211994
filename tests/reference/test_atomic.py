"""Binomial sums and enumerations against brute force in exact rationals."""

import itertools
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dplab import Gaussian, Laplace, PoissonSubsampled, RandomizedResponse, reference
from dplab.core.pld import PLD
from dplab.reference.arithmetic import FN
from dplab.reference.atomic import _enumerated, atoms_estimate
from dplab.reference.law import Law


def brute_force(tables, x):
    """sum max(P - x Q, 0) over all outcomes of a product of finite tables [(p, q), ...], exactly; x = e^eps."""
    total = Fraction(0)
    for outcome in itertools.product(*tables):
        p = q = Fraction(1)
        for one, other in outcome:
            p, q = p * one, q * other
        total += max(p - x * q, Fraction(0))
    return total


def randomised(p):
    return [(p, 1 - p), (1 - p, p)]


def sampled(table, q):
    return [(q * one + (1 - q) * other, other) for one, other in table]


def agree(found, exact: Fraction, digits: int) -> bool:
    with mpmath.workdps(digits + 20):
        value = mpmath.mpf(exact.numerator) / exact.denominator
        return bool(abs(found.value - value) <= max(value, 1e-300) * mpmath.mpf(10) ** -digits)


@given(
    st.fractions(Fraction(1, 2), Fraction(24, 25), max_denominator=50).filter(lambda p: p > Fraction(1, 2)),
    st.integers(1, 7),
    st.fractions(Fraction(1, 10), 20, max_denominator=20),
)
def test_randomised_response(p, k, x):
    found = reference.delta(k * RandomizedResponse(p), f"log({x})", digits=25)
    assert agree(found, brute_force([randomised(p)] * k, x), 25)


@pytest.mark.parametrize("direction", ["remove", "add"])
@pytest.mark.parametrize("x", [Fraction(1, 2), Fraction(9, 10), Fraction(11, 10), Fraction(3, 2)])
def test_unequal_losses(x, direction):
    table = sampled(randomised(Fraction(3, 4)), Fraction(1, 5))
    if direction == "add":
        table = [(q, p) for p, q in table]
    composition = 6 * PoissonSubsampled(RandomizedResponse("0.75"), "0.2")
    assert agree(reference.delta(composition, f"log({x})", direction), brute_force([table] * 6, x), 40)


@pytest.mark.parametrize("x", [Fraction(1, 3), Fraction(1), Fraction(7, 3), Fraction(50)])
def test_different_parts(x):
    tables = [randomised(Fraction(3, 4))] * 4 + [randomised(Fraction(3, 5))] * 5
    composition = 4 * RandomizedResponse("0.75") + 5 * RandomizedResponse("0.6")
    assert agree(reference.delta(composition, f"log({x})"), brute_force(tables, x), 40)


def test_masses_at_infinity():
    """Without noise, remove: mass q at infinity and one atom; add: one atom and outcomes that Q lacks."""
    table = [(Fraction(1, 10), Fraction(0)), (Fraction(9, 10), Fraction(1))]
    composition = 3 * PoissonSubsampled(Gaussian(0), "0.1") + 2 * RandomizedResponse("0.75")
    tables = [table] * 3 + [randomised(Fraction(3, 4))] * 2
    mirrored = [[(q, p) for p, q in one] for one in tables]
    for x in (Fraction(1, 2), Fraction(1), Fraction(2), Fraction(10)):
        assert agree(reference.delta(composition, f"log({x})", "remove"), brute_force(tables, x), 40)
        assert agree(reference.delta(composition, f"log({x})", "add"), brute_force(mirrored, x), 40)


def test_a_million_steps():
    """p - 1/2 = 1/2000 and k = 10^6: nearly Gaussian with mu = 2, so delta(1) is near 0.5 but not equal."""
    composition = 10**6 * RandomizedResponse(Fraction(1001, 2000))
    found = reference.delta(composition, 1, digits=40)
    near = reference.delta(Gaussian(sigma="0.5"), 1, digits=20)
    assert found.reached
    assert 0 < abs(found.value - near.value) < 1e-5
    more = reference.delta(composition, 1, digits=60)
    assert abs(found.value - more.value) <= 2 * found.error


def test_tiny_deltas_keep_their_digits():
    """Only the top atom lies above eps: delta = p^k (1 - e^{eps - k c})."""
    composition = 200 * RandomizedResponse("0.6")
    eps = "199*log(3/2)"
    found = reference.delta(composition, eps)
    with mpmath.workdps(60):
        expected = mpmath.mpf("0.6") ** 200 * mpmath.mpf(1) / 3
        assert abs(found.value - expected) <= expected * mpmath.mpf(10) ** -40


def test_enumeration_merges_equal_losses():
    with mpmath.workdps(30):
        atoms = [a for a in PLD(RandomizedResponse("0.75")).atoms(FN)]
        three = [type("A", (), {"loss": a.loss, "mass": a.p})() for a in atoms]
        three.append(type("A", (), {"loss": mpmath.mpf(0), "mass": mpmath.mpf(0)})())
        assert len(_enumerated(three, 6, 30)) == 13
        assert abs(sum(m for _, m in _enumerated(three, 6, 30)) - 1) < 1e-28


def test_estimate_grows_like_the_root_of_k():
    few, many = (atoms_estimate(Law.of(k * RandomizedResponse("0.6"), "forward")) for k in (10**4, 10**8))
    assert 50 < many / few < 200


def test_atoms_with_one_continuous_step():
    """2 atoms and one Laplace step, from the definition."""
    composition = 2 * RandomizedResponse("0.75") + Laplace(2)
    found = reference.delta(composition, "0.7", digits=30)
    assert found.method == "sum over atoms of closed forms"
    with mpmath.workdps(40):
        c, p, eps = mpmath.log(3), mpmath.mpf(3) / 4, mpmath.mpf("0.7")
        total = mpmath.mpf(0)
        for j, weight in ((2, p * p), (1, 2 * p * (1 - p)), (0, (1 - p) ** 2)):
            x = eps - (2 * j - 2) * c
            single = max(-mpmath.expm1((x - mpmath.mpf(1) / 2) / 2), 0) if x > -0.5 else -mpmath.expm1(x)
            total += weight * single
        assert abs(found.value - total) < mpmath.mpf(10) ** -29
