"""Pairs that the mechanisms of today do not cover: three atoms, many atoms, mass at infinity on both sides.

They are written here against the function table as a new mechanism would be, and checked by enumeration.
"""

import itertools
import json
from math import comb
from pathlib import Path

import mpmath
import pytest
from mpmath import mpf

from dplab import Gaussian, RandomizedResponse, symbolic
from dplab.core.errors import NoClosedFormError
from dplab.core.pair import Atom, Pair
from dplab.core.parameters import evaluate, positive, probability

TRUTH = json.loads((Path(__file__).parents[1] / "data" / "truth.json").read_text())


class _Atomic(Pair):
    def reduced(self):
        return self


class ThreeAnswers(_Atomic):
    """k-ary randomised response with three answers."""

    symmetric = True

    def __init__(self, eps):
        self._set(eps=positive(eps, "eps"))

    def atoms(self, fn):
        e = evaluate(self.arguments["eps"], fn)
        large = fn.exp(e) / (fn.exp(e) + 2)
        small = 1 / (fn.exp(e) + 2)
        return [Atom(e, large, small), Atom(fn.rational(0, 1), small, small), Atom(-e, small, large)]


class Leaky(_Atomic):
    """The worst (eps, delta)-DP mechanism [KOV15]: with probability delta it tells everything."""

    symmetric = True

    def __init__(self, eps, delta):
        self._set(eps=positive(eps, "eps"), delta=probability(delta, "delta"))

    def mass_at_infinity(self, fn):
        return evaluate(self.arguments["delta"], fn)

    mass_at_minus_infinity = mass_at_infinity

    def atoms(self, fn):
        e, rest = evaluate(self.arguments["eps"], fn), 1 - self.mass_at_infinity(fn)
        large, small = rest * fn.exp(e) / (1 + fn.exp(e)), rest / (1 + fn.exp(e))
        return [Atom(e, large, small), Atom(-e, small, large)]


class Truncated(_Atomic):
    """Bin(30, 1/2) against 1 + Bin(30, 1/2): 30 atoms and one outcome that only one side has, each way."""

    def __init__(self):
        self._set()

    def mass_at_infinity(self, fn):
        return fn.rational(1, 2**30)

    mass_at_minus_infinity = mass_at_infinity

    def atoms(self, fn):
        pmf = [fn.rational(comb(30, j), 2**30) for j in range(31)]
        return [Atom(fn.log(pmf[j] / pmf[j - 1]), pmf[j], pmf[j - 1]) for j in range(1, 31)]


def enumerated(parts, eps):
    """The hockey stick over all sequences of outcomes; parts list (mass of P, mass of Q), zero masses included."""
    total = mpf(0)
    for outcome in itertools.product(*parts):
        p, q = mpmath.fprod(o[0] for o in outcome), mpmath.fprod(o[1] for o in outcome)
        total += max(p - mpmath.exp(eps) * q, mpf(0))
    return total


def three(eps):
    e = mpmath.exp(mpf(eps))
    return [(e / (e + 2), 1 / (e + 2)), (1 / (e + 2), 1 / (e + 2)), (1 / (e + 2), e / (e + 2))]


def leaky(eps, delta):
    e, d = mpmath.exp(mpf(eps)), mpf(delta)
    large, small = (1 - d) * e / (1 + e), (1 - d) / (1 + e)
    return [(d, mpf(0)), (large, small), (small, large), (mpf(0), d)]


@pytest.mark.parametrize("k", [1, 2, 3, 6])
@pytest.mark.parametrize("eps", ["-0.9", "0", "0.6", "1.9"])
def test_three_atoms(k, eps):
    with mpmath.workdps(50):
        expected = enumerated([three("0.7")] * k, mpf(eps))
    assert abs(symbolic.delta(k * ThreeAnswers("0.7"), eps).evaluate(40) - expected) < mpf("1e-39")
    assert abs(symbolic.delta(k * ThreeAnswers("e"), "eps").evaluate(40, e="0.7", eps=eps) - expected) < mpf("1e-39")


@pytest.mark.parametrize("k", [1, 2, 5])
@pytest.mark.parametrize("eps", ["-0.4", "0.3", "0.8", "9"])
def test_mass_at_infinity_on_both_sides(k, eps):
    with mpmath.workdps(50):
        parts = [leaky("0.5", "0.03")] * k
        alone = enumerated(parts, mpf(eps))
        mixed = enumerated([*parts, three("0.7")], mpf(eps))
    assert abs(symbolic.delta(k * Leaky("0.5", "0.03"), eps).evaluate(40) - alone) < mpf("1e-39")
    both = k * Leaky("0.5", "0.03") + ThreeAnswers("0.7")
    assert abs(symbolic.delta(both, eps).evaluate(40) - mixed) < mpf("1e-39")


@pytest.mark.parametrize("entry", [e for e in TRUTH if e["mechanism"] == "approximate_dp"], ids=lambda e: f"k={e['k']}")
def test_known_values_of_the_worst_approximate_dp_mechanism(entry):
    found = symbolic.delta(entry["k"] * Leaky(entry["eps0"], entry["delta0"]), entry["eps"]).evaluate(45)
    with mpmath.workdps(50):
        assert abs(found / mpf(entry["value"]) - 1) < mpf("1e-39")


def test_case_k7_05_a_gaussian_and_a_leak():
    """Gaussian sigma=1 with the (0, 0.01)-DP leak: delta = d + (1-d) delta_Gaussian."""
    found = symbolic.delta(Gaussian(1) + Leaky("1e-300", "0.01"), 1).evaluate(30)
    gaussian = symbolic.delta(Gaussian(1), 1).evaluate(30)
    with mpmath.workdps(30):
        assert abs(found - mpf("0.01") - mpf("0.99") * gaussian) < mpf("1e-28")


def test_epsilon_with_mass_at_infinity():
    pair = Leaky("0.5", "0.03")
    assert symbolic.epsilon(pair, "0.029").evaluate(20) == mpmath.inf
    assert abs(symbolic.epsilon(pair, "0.03").evaluate(20) - mpf("0.5")) < mpf("1e-15")
    eps = symbolic.epsilon(pair, "0.1").evaluate(40)
    assert abs(symbolic.delta(pair, mpmath.nstr(eps, 35)).evaluate(30) - mpf("0.1")) < mpf("1e-15")
    symbolically = symbolic.epsilon(Leaky("e", "d"), "delta")
    assert symbolically.evaluate(20, e="0.5", d="0.03", delta="0.029") == mpmath.inf
    assert abs(symbolically.evaluate(35, e="0.5", d="0.03", delta="0.1") - eps) < mpf("1e-30")


@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_many_atoms(direction):
    pmf = [mpf(comb(30, j)) / 2**30 for j in range(31)]
    for eps in ("-0.2", "0.1", "1.5"):
        with mpmath.workdps(50):
            first, second = [*pmf, mpf(0)], [mpf(0), *pmf]
            first, second = (first, second) if direction == "forward" else (second, first)
            expected = sum(max(a - mpmath.exp(mpf(eps)) * b, mpf(0)) for a, b in zip(first, second, strict=True))
        assert abs(symbolic.delta(Truncated(), eps, direction).evaluate(40) - expected) < mpf("1e-15")


def test_many_atoms_convolved_name_the_stage():
    with pytest.raises(NoClosedFormError, match=r"^convolution: .*free indices"):
        symbolic.delta(2 * Truncated(), 1)
    with pytest.raises(NoClosedFormError, match=r"^convolution: .*free indices"):
        symbolic.delta(20 * RandomizedResponse("0.6") + 7 * Truncated(), 1)


def test_atoms_out_of_order_are_put_in_order_where_numbers_allow():
    """Heterogeneous sums of atoms have losses in no natural order."""
    with mpmath.workdps(50):
        parts = [three("0.7"), [(mpf("0.6"), mpf("0.4")), (mpf("0.4"), mpf("0.6"))]]
        for eps in ("-1", "-0.1", "0.2", "0.5", "1"):
            expected = enumerated(parts, mpf(eps))
            found = symbolic.delta(ThreeAnswers("0.7") + RandomizedResponse("0.6"), eps).evaluate(40)
            assert abs(found - expected) < mpf("1e-39")
