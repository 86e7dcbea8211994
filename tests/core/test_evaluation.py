"""Closed forms to any number of digits, cancellation or not; expected values from mpmath at a far higher precision."""

import mpmath
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mpf

from dplab.core.errors import NoClosedFormError, ParameterError, ParameterTypeError, UnboundSymbolError
from dplab.core.results import Exact

x, y = sympy.symbols("x y", real=True)
s = sympy.Symbol("s", positive=True)
j, m = sympy.symbols("j m", integer=True, nonnegative=True)


def agrees(found, expected, digits) -> bool:
    with mpmath.workdps(digits + 20):
        return abs(found - expected) <= abs(expected) * mpf(10) ** -digits


def test_cancellation_costs_no_digits():
    # (1 - Phi(30)) written as a difference of numbers near 1: 197 digits cancel
    upper = Exact(1 - (1 - sympy.erfc(x / sympy.sqrt(2)) / 2))
    difference = Exact(sympy.exp(x) - 1 - x - x**2 / 2)
    with mpmath.workdps(400):
        tail, small = mpmath.erfc(30 / mpmath.sqrt(2)) / 2, mpf(10) ** -60
        remainder = small**3 / 6 + small**4 / 24
    assert agrees(upper.evaluate(50, x=30), tail, 50)
    assert agrees(Exact(sympy.erf(x) - 1).evaluate(50, x=20), -mpmath.erfc(20), 14)
    assert agrees(difference.evaluate(60, x="1e-60"), remainder, 55)


def test_two_wrong_zeros_are_not_believed():
    """At 40 and at 80 digits alike the first term is 0 and the sum looks like 1e-250: it is 5e-198."""
    form = Exact((1 - (1 - sympy.erfc(x / sympy.sqrt(2)) / 2)) + s)
    with mpmath.workdps(400):
        expected = mpmath.erfc(30 / mpmath.sqrt(2)) / 2 + mpf(10) ** -250
    assert agrees(form.evaluate(40, x=30, s="1e-250"), expected, 40)


def test_what_is_zero_is_zero():
    assert Exact(sympy.log(1 + x) - sympy.log(1 + y)).evaluate(30, x="1/3", y="1/3") == 0
    assert Exact(sympy.sqrt(x) ** 2 - x).evaluate(30, x=2) == 0
    assert Exact(sympy.log(sympy.Max(0, x))).evaluate(30, x=-1) == -mpmath.inf


@pytest.mark.parametrize("digits", [1, 15, 50, 200])
def test_any_number_of_digits(digits):
    form = Exact(sympy.exp(x) * sympy.erfc(x) + sympy.log(s) ** 3 - sympy.pi / sympy.sqrt(s) + sympy.E**2)
    with mpmath.workdps(digits + 40):
        a, b = mpf(7) / 10, mpf(3)
        expected = mpmath.exp(a) * mpmath.erfc(a) + mpmath.log(b) ** 3 - mpmath.pi / mpmath.sqrt(b) + mpmath.exp(2)
    assert agrees(form.evaluate(digits, x=0.7, s=3), expected, digits)


@given(st.floats(-50, 50), st.floats(0.01, 50))
def test_random_points_of_a_gaussian_delta(eps, sigma):
    form = Exact(
        sympy.erfc(x * s / sympy.sqrt(2) - 1 / (2 * sympy.sqrt(2) * s)) / 2
        - sympy.exp(x) * sympy.erfc(x * s / sympy.sqrt(2) + 1 / (2 * sympy.sqrt(2) * s)) / 2
    )
    found = form.evaluate(25, x=eps, s=sigma)
    with mpmath.workdps(100):
        e, t = mpf(repr(eps)), mpf(repr(sigma))
        low, high = ((e * t + sign / (2 * t)) / mpmath.sqrt(2) for sign in (-1, 1))
        expected = mpmath.erfc(low) / 2 - mpmath.exp(e) * mpmath.erfc(high) / 2
    assert agrees(found, expected, 25)


def test_sums():
    row = sympy.Sum(sympy.binomial(300, j) * s**j * (1 - s) ** (300 - j) * sympy.Max(0, j - 150), (j, 0, 300))
    nested = sympy.Sum(sympy.binomial(5, j) * sympy.binomial(5 - j, m) * s**j * x**m, (m, 0, 5 - j), (j, 0, 5))
    with mpmath.workdps(60):
        p = mpf(1) / 3
        terms = (mpmath.binomial(300, i) * p**i * (1 - p) ** (300 - i) * max(0, i - 150) for i in range(301))
        expected = mpmath.fsum(terms)
        trinomial = (1 + mpf(2) + mpf(3)) ** 5
    assert agrees(Exact(row).evaluate(40, s="1/3"), expected, 40)
    assert agrees(Exact(nested).evaluate(40, s=2, x=3), trinomial, 40)


def test_branches_and_knots():
    form = Exact(sympy.Piecewise((1 - sympy.exp(x), x <= -s), (1 - sympy.exp((x - s) / 2), x < s), (0, True)))
    assert form.evaluate(20, x=5, s=1) == 0
    assert agrees(form.evaluate(30, x="-log(2)", s="log(2)"), mpf("0.5"), 30)  # on the knot: both branches are right
    assert agrees(form.evaluate(30, x=-2, s=1), 1 - mpmath.exp(-2), 14)
    both = sympy.And(x > 0, sympy.Or(y > 1, sympy.Not(x < 2)))
    switch = Exact(sympy.Piecewise((1, both), (2, True)))
    assert [switch.evaluate(5, x=a, y=b) for a, b in ((1, 2), (1, 0), (3, 0), (-1, 5))] == [1, 2, 1, 2]


def test_values_are_exact_parameters():
    assert agrees(Exact(x).evaluate(50, x=0.1), mpf(1) / 10, 15)
    with mpmath.workdps(60):
        assert agrees(Exact(x).evaluate(50, x="1/sqrt(10)"), 1 / mpmath.sqrt(10), 50)
        assert agrees(Exact(x).evaluate(50, x=sympy.log(3)), mpmath.log(3), 50)
        assert agrees(Exact(x).evaluate(50, x=0.1), mpf(1) / 10, 50)


def test_infinite_results():
    assert Exact(sympy.oo, "eps").evaluate(20) == mpmath.inf
    assert Exact(-sympy.oo, "log delta").evaluate(20) == -mpmath.inf


def test_bad_values():
    with pytest.raises(UnboundSymbolError, match="y"):
        Exact(x + y).evaluate(20, x=1)
    with pytest.raises(UnboundSymbolError):
        Exact(x).evaluate(20, x="z + 1")
    with pytest.raises(ParameterError, match=r"^s = '-1'"):
        Exact(s).evaluate(20, s=-1)
    with pytest.raises(ParameterError, match=r"^x = nan"):
        Exact(x).evaluate(20, x=float("nan"))
    with pytest.raises(ParameterError, match=r"^x = "):
        Exact(x).evaluate(20, x="__import__('os')")
    with pytest.raises(ParameterTypeError, match=r"^digits = "):
        Exact(x).evaluate(20.5, x=1)
    with pytest.raises(NoClosedFormError, match="gamma"):
        Exact(sympy.gamma(x)).evaluate(20, x=1)


def test_working_precision_is_left_alone():
    before = mpmath.mp.dps, mpmath.iv.dps
    Exact(sympy.exp(x) - 1).evaluate(150, x="1e-100")
    assert (mpmath.mp.dps, mpmath.iv.dps) == before


def test_an_exact_result_shows_its_definitions():
    g = sympy.Symbol("g")
    shown = Exact(s * sympy.exp(sympy.log(1 + x)), written=s * sympy.exp(g), definitions=((g, sympy.log(1 + x)),))
    assert str(shown) == "delta = s*exp(g), where g = log(1 + x)"
    assert shown._repr_latex_() == (
        r"$\displaystyle \delta = s e^{g} \quad\text{where } g = \log{\left(1 + x \right)}$"
    )
    assert shown.free_symbols == {"s", "x"}
    assert hash(shown) == hash(Exact(shown.expression, written=shown.written, definitions=shown.definitions))
