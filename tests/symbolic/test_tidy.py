"""Shorter forms are the same number, and nothing is factored that could take hours."""

import itertools

import pytest
import sympy

from dplab.symbolic.tidy import _factored, compact, is_negative, over_one_denominator

S = sympy.Symbol("s", real=True)
E = sympy.exp
HALF = sympy.Rational(1, 2)

NESTED = E(2 * sympy.log(1 + E(S)) * S)
FORMS = [
    ((sympy.E - E((1 + S) / 2)) / (sympy.E - 1) - E(S) * (E(S / 2) - E(HALF)) * E(-S / 2) / (1 - sympy.E),
     (E(HALF) - E(S / 2)) ** 2 / (sympy.E - 1)),
    (1 / (E(S) - 1) - 1 / (E(S) + 1), 2 / ((E(S) - 1) * (E(S) + 1))),
    (S / (1 - sympy.E) + 1, (sympy.E - S - 1) / (sympy.E - 1)),
    ((S**2 - 1) / (S + 1), S - 1),
    (1 / (1 + NESTED) + 1, (2 + NESTED) / (1 + NESTED)),
    (sympy.Integer(3), sympy.Integer(3)),
]  # fmt: skip


@pytest.mark.parametrize(("formula", "expected"), FORMS)
def test_over_one_denominator(formula, expected):
    found = over_one_denominator(formula)
    assert sympy.count_ops(found) <= sympy.count_ops(expected)
    for value in (sympy.Rational(1, 3), sympy.Rational(-7, 5)):
        assert abs((found - formula).subs(S, value).evalf(40, maxn=200)) < 1e-35
        assert not is_negative(sympy.fraction(found)[1].subs(S, 2))


def test_exponents_without_a_common_measure_are_left_alone():
    formula = E(S * sympy.Rational(1, 1000)) + E(S)
    assert over_one_denominator(formula) == formula


@pytest.mark.parametrize("tidy", [compact, over_one_denominator])
def test_large_polynomials_are_not_factored(tidy, monkeypatch):
    """A sum of products of eight letters to the twentieth: sympy may take hours to factor or cancel it."""

    def refused(*_, **__):
        raise AssertionError("this would not come back")

    monkeypatch.setattr(sympy, "factor", refused)
    monkeypatch.setattr(sympy, "cancel", refused)
    letters = sympy.symbols("a:8", positive=True)
    formula = sum(E(20 * one) * (other + E(other) + 1) for one, other in itertools.pairwise(letters))
    found = tidy(formula / (1 + letters[0]))
    at = dict.fromkeys(letters, sympy.Rational(1, 7))
    assert abs((found - formula / (1 + letters[0])).subs(at).evalf(30)) < 1e-20


@pytest.mark.parametrize(("value", "negative"), [(1 - sympy.E, True), (sympy.E - 1, False), (-E(S), True), (S, False)])
def test_is_negative(value, negative):
    assert is_negative(value) == negative


def test_exponentials_of_exponentials_get_their_letters_back():
    """e^{1 - 2 e^{-s}}: the inner exponential is a letter within the outer one."""
    s = sympy.Symbol("s", real=True)
    formulas = (sympy.Rational(1, 2) - sympy.exp(1 - 2 * sympy.exp(-s)) / 2, sympy.exp(2 * s - 2 * sympy.exp(s) + 1))
    for formula in formulas:
        found = compact(formula)
        assert not found.atoms(sympy.Dummy)
        assert abs((found - formula).subs(s, sympy.Rational(1, 3)).evalf(30)) < 1e-25
        assert not _factored(formula).atoms(sympy.Dummy)
