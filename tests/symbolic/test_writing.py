"""Case distinctions stay flat, and a function goes into each of their values."""

import pytest
import sympy

from dplab.symbolic.stories.writing import cases, through

X = sympy.Symbol("x", real=True)
STEP = cases((sympy.Integer(1), X, 0), otherwise=X)


def test_cases_in_the_last_case_follow_it():
    found = cases((sympy.Integer(5), X, -3), otherwise=STEP)
    assert str(found) == "Piecewise((5, x < -3), (1, x < 0), (x, True))"


def test_through_one():
    assert str(through(lambda value: 2 * value, STEP)) == "Piecewise((2, x < 0), (2*x, True))"
    assert through(lambda value: 2 * value, X) == 2 * X


def test_through_two_with_the_same_cases():
    other = cases((X, X, 0), otherwise=sympy.Integer(7))
    assert str(through(lambda a, b: a + b, STEP, other)) == "Piecewise((x + 1, x < 0), (x + 7, True))"
    assert str(through(lambda a, b: a - b, STEP, X)) == "Piecewise((1 - x, x < 0), (0, True))"


@pytest.mark.parametrize("at", [-2, sympy.Rational(-1, 2), 3])
def test_through_two_with_different_cases(at):
    other = cases((X, X, -1), otherwise=sympy.Integer(7))
    found = through(lambda a, b: a * b, STEP, other)
    assert found.subs(X, at) == STEP.subs(X, at) * other.subs(X, at)
