"""The numbers behind the checks: right where densities are below every number, and no dearer than needed."""

import mpmath
import pytest
import sympy
from mpmath import mpf

from dplab.symbolic.borders import borders
from dplab.symbolic.outputs import Line, Piece

T = sympy.Symbol("t", real=True)


def _twin(p, q, low, high, *typical):
    line = Line(T, (Piece(low, high, p, q),), (p, q), tuple(map(sympy.sympify, typical)))
    return line.twin({})


@pytest.fixture(autouse=True)
def digits():
    """The digits of a check when a derivation is made."""
    with mpmath.workdps(42):
        yield


def test_losses_beyond_every_number_count_by_the_limit():
    """Cauchy over Gumbel: left of t = -2800 the density of Q is e^{-e^2800}, which no number is small enough for."""
    p, q = 1 / (sympy.pi * (1 + T**2)), sympy.exp(-T - sympy.exp(-T))
    twin = _twin(p, q, -sympy.oo, sympy.oo, -1, 0, 1)
    assert abs(twin.moment(lambda s: mpf(1)) - 1) < mpf(10) ** -35
    assert twin.infinite() == (0, 0)
    sure = twin.moment(lambda s: max(mpf(0), -mpmath.expm1(1 - s)), [mpf(1)])
    assert abs(sure - twin.hockey_stick(mpf(1))) < mpf(10) ** -32


def test_losses_that_are_infinite_are_no_moment():
    """Uniform on (0, 2) over uniform on (0, 1): half of P is at infinity."""
    half, one = sympy.Rational(1, 2), sympy.S.One
    line = Line(
        T,
        (Piece(sympy.S.Zero, one, half, one), Piece(one, sympy.Integer(2), half, sympy.S.Zero)),
        (half, one),
        (sympy.S.Zero, one, sympy.Integer(2)),
    )
    twin = line.twin({})
    assert abs(twin.moment(lambda s: mpf(1)) - mpf("0.5")) < mpf(10) ** -40
    assert abs(twin.infinite()[0] - mpf("0.5")) < mpf(10) ** -40


def test_delta_at_large_eps_has_the_digits_of_both_masses():
    """A gamma law over half a normal one, eps = 5000: e^eps Q is a thousandth of P, though Q is below 10^-2000."""
    p, q = T * sympy.exp(-T / 10) / 100, 2 * sympy.sqrt(2 / sympy.pi) * sympy.exp(-2 * T**2)
    found = _twin(p, q, sympy.S.Zero, sympy.oo, 0).hockey_stick(mpf(5000))
    with mpmath.workdps(60):

        def loss(t):
            return mpmath.log(t / 100) - t / 10 - mpmath.log(2 * mpmath.sqrt(2 / mpmath.pi)) + 2 * t * t

        at = mpmath.findroot(lambda t: loss(t) - 5000, 50)
        right = (1 + at / 10) * mpmath.exp(-at / 10) - mpmath.exp(5000) * mpmath.erfc(mpmath.sqrt(2) * at)
    assert abs(found - right) < mpf(10) ** -38


def test_crossings_of_flat_ratios_are_not_looked_for_in_rounding():
    """Outside (0, 1) the ratio of two Laplace densities is constant but for its last digits."""
    asked = []

    def p(t):
        asked.append(t)
        return mpmath.exp(-abs(t - 1) / 3) / 6

    ends, signs = borders([-mpmath.inf, mpf(0), mpf(1), mpmath.inf], p, lambda t: mpmath.exp(-abs(t) / 3) / 6, mpf(1))
    assert signs == [-1, 1]
    assert abs(ends[1] - mpf("0.5")) < mpf(10) ** -38
    assert len(asked) < 800
