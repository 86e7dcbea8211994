"""The number types: what they compare, print and refuse."""

import math
from fractions import Fraction

import mpmath
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from dplab.core.budget import ErrorBudget, Part
from dplab.core.display import latex_formula, latex_number, outward_text, text_formula
from dplab.core.results import Approximation, Bracket, Curve, Reference, trivial_bracket

finite = st.floats(allow_nan=False, allow_infinity=False)
BUDGET = ErrorBudget((Part("grid", 0.75, "split"), Part("rounding", 0.25, "Higham")), {"dx": 0.5, "n": 8})


def bracket(lower, upper, **keywords) -> Bracket:
    return Bracket(lower, upper, BUDGET, **keywords)


@given(finite, finite, finite)
def test_comparison_is_true_only_when_certain(a, b, x):
    low, high = min(a, b), max(a, b)
    inside = bracket(low, high)
    assert (inside < x) == (high < x)
    assert (inside > x) == (low > x)
    assert (inside <= x) == (high <= x)
    assert (inside >= x) == (low >= x)
    assert inside.contains(x) == (low <= x <= high)
    assert inside.judge(x) == ("below" if x < low else "above" if x > high else "undecided")
    if inside.judge(x) == "undecided":
        assert not inside < x
        assert not inside > x


def test_brackets_compare_with_each_other_and_with_exact_numbers():
    assert bracket(1, 2) < bracket(3, 4)
    assert not bracket(1, 2) < bracket(2, 4)
    assert bracket(1, 2) <= bracket(2, 4)
    assert not bracket(1, 3) < bracket(2, 4)
    assert not bracket(1, 3) > bracket(2, 4)
    third = bracket(0.3333, 0.3334)
    assert third.contains(Fraction(1, 3))
    assert third.contains(mpmath.mpf(1) / 3)
    assert bracket(0.1, 0.1).contains(Fraction(1, 10)) is False  # 0.1 in binary is not 1/10


@pytest.mark.parametrize(("lower", "upper"), [(2.0, 1.0), (math.nan, 1.0), (0.0, math.nan)])
def test_a_bracket_is_in_order(lower, upper):
    with pytest.raises(ArithmeticError, match="lower <= upper"):
        bracket(lower, upper)


@pytest.mark.parametrize(
    ("lower", "upper", "width", "relative"),
    [
        (0.0, 0.0, 0.0, 0.0),
        (1.0, 2.0, 1.0, 0.5),
        (-2.0, -1.0, 1.0, 1.0),
        (-1.0, 0.0, 1.0, math.inf),
        (1.0, math.inf, math.inf, math.inf),
        (math.inf, math.inf, 0.0, 0.0),
        (-math.inf, -math.inf, 0.0, 0.0),
    ],
)
def test_width(lower, upper, width, relative):
    assert (bracket(lower, upper).width, bracket(lower, upper).relative_width) == (width, relative)


def _read(text: str):
    return math.inf if text == "∞" else -math.inf if text == "-∞" else Fraction(text)


floats = st.one_of(
    st.floats(allow_nan=False),
    st.floats(min_value=0, max_value=1),
    st.sampled_from([0.0, -0.0, 5e-324, 1e-300, 1.7e308, -1.7e308, math.inf, -math.inf, 1e16, 99999.5, 0.99999999]),
)


@given(floats, floats)
def test_printed_ends_lie_outside(a, b):
    lower, upper = min(a, b), max(a, b)
    low, high = outward_text(lower, upper)
    if lower == upper:
        assert low == high
        assert low.replace("∞", "inf") == repr(lower).replace("inf", "inf") or float(low) == lower
        return
    assert _read(low) <= (lower if math.isinf(lower) else Fraction(lower))
    assert _read(high) >= (upper if math.isinf(upper) else Fraction(upper))
    assert len(low) <= 30
    assert len(high) <= 30


@given(st.floats(min_value=1e-200, max_value=1e200), st.floats(min_value=1e-14, max_value=0.5))
def test_printed_ends_stay_close(value, relative):
    lower, upper = value, value * (1 + relative)
    low, high = map(Fraction, outward_text(lower, upper))
    assert high - low <= Fraction(13, 10) * (Fraction(upper) - Fraction(lower)) + Fraction(value) / 10**15


def test_budget_adds_up_and_scales():
    assert BUDGET.total == 1.0
    assert BUDGET["grid"] == 0.75
    assert [part.name for part in BUDGET] == ["grid", "rounding"]
    assert BUDGET.scaled(4).total == 4.0
    assert BUDGET.with_part(Part("tail", 1.0, "Chernoff")).total == 2.0
    assert BUDGET.total == 1.0
    with pytest.raises(KeyError):
        BUDGET["nothing"]
    text = str(BUDGET)
    assert all(word in text for word in ("grid", "75.0 %", "split", "rounding", "25.0 %", "sum", "dx = 0.5", "n = 8"))
    html = BUDGET._repr_html_()
    assert html.count("<tr>") == 4
    assert "dx = 0.5" in html


def test_an_empty_budget_prints():
    assert "sum" in str(ErrorBudget((Part("exact", 0.0, "nothing is released"),), {}))


def test_a_trivial_bracket_says_why():
    zero = trivial_bracket(0.0, 0.0, "nothing is released")
    assert (zero.lower, zero.upper, zero.width) == (0, 0, 0)
    assert "nothing is released" in str(zero)
    assert zero.budget.total == 0


def test_every_type_prints_one_readable_line():
    assert str(bracket(1.23456789e-6, 1.23456999e-6)) == "delta in [1.2345678e-06, 1.2345700e-06]"
    shown = str(Approximation(0.25, "gdp"))
    assert shown == "delta ~ 0.25 (gdp; no bound)"
    assert r"\approx" in Approximation(1.5, "gdp", "eps")._repr_latex_()
    with mpmath.workdps(30):
        value = Reference(mpmath.mpf("0.125"), mpmath.mpf("1e-25"), "contour", 20)
    assert "0.125" in str(value)
    assert value.reached
    assert not Reference(mpmath.mpf(1), mpmath.mpf("0.1"), "contour", 20).reached


def test_text_in_tables_is_escaped():
    assert "<script>" not in bracket(1, 2, note="<script>")._repr_html_()


def test_a_curve_is_a_sequence_of_values():
    curve = Curve((0.0, 1.0), (bracket(1, 2), bracket(0, 1)))
    assert len(curve) == 2
    assert (curve.lower, curve.upper) == ([1, 0], [2, 1])
    assert [value.upper for value in curve] == [2, 1]
    assert Curve((0.0,), (Approximation(0.5, "gdp"),)).lower == [0.5]
    assert curve._repr_html_().count("<tr>") == 3


def test_formulas_are_written_in_the_papers_letters():
    eps, eps0, sigma = sympy.symbols("eps eps0 sigma")
    assert latex_formula(eps + eps0) == r"\varepsilon + \varepsilon_{0}"
    assert latex_formula(sigma) == r"\sigma"
    assert latex_formula(sympy.Symbol("delta_forward")) == r"\delta_{\text{forward}}"
    assert latex_formula(sympy.Symbol("epsilon")) == r"\epsilon"
    assert text_formula(1 - sympy.exp(eps)) == "1 - exp(eps)"
    assert latex_formula(1 - sympy.exp(eps)) == r"1 - e^{\varepsilon}"
    assert latex_number(4.25e-6, 3) == r"4.25 \times 10^{-6}"
    assert latex_number(-math.inf) == r"-\infty"
