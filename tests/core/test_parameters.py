"""Every number means one exact value, whatever carried it."""

import math
from decimal import Decimal
from fractions import Fraction

import mpmath
import numpy
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from dplab.core.errors import ParameterError, ParameterTypeError, UnboundSymbolError
from dplab.core.expression import Expression
from dplab.core.functions import MpmathTable
from dplab.core.parameters import (
    approximate,
    count,
    evaluate,
    exact,
    parameter_text,
    positive,
    privacy_parameter,
    probability,
    require_numbers,
)

ONE_TENTH = Fraction(1, 10)


@pytest.mark.parametrize(
    "value",
    [
        0.1,
        "0.1",
        "1/10",
        " 1e-1 ",
        "+.1",
        "(2-1)/10",
        "10**-1",
        ONE_TENTH,
        Decimal("0.1"),
        sympy.Rational(1, 10),
        sympy.Float("0.1"),
        numpy.float64(0.1),
        numpy.float32(0.1),
        numpy.array(0.1),
    ],
    ids=lambda value: f"{type(value).__name__} {value}",
)
def test_one_tenth_in_every_dress(value):
    assert exact(value, "q") == ONE_TENTH
    assert type(exact(value, "q")) is Fraction


@pytest.mark.parametrize(
    "value", [3, 3.0, "3", numpy.int64(3), numpy.uint8(3), sympy.Integer(3), Fraction(3), Decimal(3)]
)
def test_whole_numbers(value):
    assert exact(value, "k") == 3


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_means_the_decimal_python_prints(value):
    assert exact(value, "x") == Fraction(repr(value))
    assert exact(numpy.float64(value), "x") == Fraction(repr(value))


@given(st.fractions())
def test_text_of_a_parameter_reads_back(value):
    assert exact(parameter_text(value), "x") == value


@pytest.mark.parametrize("text", ["1e400", "-1e400", "1e-400", "1e9999"])
def test_numbers_beyond_any_use_are_refused_where_a_range_is_known(text):
    with pytest.raises(ParameterError, match=r"1e300|> 0"):
        positive(text, "sigma")


@pytest.mark.parametrize(
    "value",
    [
        "1e999999999",
        "1e999999999+0",
        Decimal("1e999999999"),
        Decimal("1e-999999999"),
        "((2**1000)**1000)**1000",
        "9**9**9",
    ],
    ids=str,
)
def test_numbers_that_would_fill_the_memory_are_refused_at_once(value):
    with pytest.raises(ParameterError):
        exact(value, "x")


@pytest.mark.parametrize("text", ["exp(exp(exp(10)))", "exp(exp(exp(exp(10))))", "exp(10**300)", "exp(exp(10**7))"])
def test_formulas_that_would_take_for_ever_are_refused_at_once(text):
    with pytest.raises(ParameterError):
        positive(text, "sigma")


@pytest.mark.parametrize(
    "text", ["1/0", "1/(2-2)", "0**-1", "1/sqrt(0)", "log(0)", "sqrt(-1)", "log(-2)", "(-8)**(1/3)"]
)
def test_formulas_without_a_finite_real_value(text):
    with pytest.raises(ParameterError, match=r"^x = "):
        positive(text, "x")


@pytest.mark.parametrize("text", ["1/sqrt(10)", "log(3)", "2*pi", "exp(-1/2)", "(1 + sqrt(5))/2", "2**(1/2)", "2**pi"])
def test_irrational_values_keep_all_digits(text):
    with mpmath.workdps(60):
        found = evaluate(exact(text, "x"), MpmathTable())
        assert abs(found - mpmath.mpf(sympy.N(sympy.parse_expr(text), 60))) < mpmath.mpf(10) ** -55


def test_sympy_values_are_translated_node_by_node():
    x = sympy.Symbol("x")
    assert exact(x, "sigma").free_symbols == {"x"}
    value = exact(sympy.sqrt(x) * sympy.exp(-x / 3) + sympy.log(x) / sympy.pi - sympy.E, "sigma")
    with mpmath.workdps(40):
        found = value.evaluate(MpmathTable(), {"x": mpmath.mpf(2)})
        direct = mpmath.sqrt(2) * mpmath.exp(mpmath.mpf(-2) / 3) + mpmath.log(2) / mpmath.pi - mpmath.e
        assert abs(found - direct) < mpmath.mpf(10) ** -38


@pytest.mark.parametrize(
    "value",
    [
        sympy.sin(sympy.Symbol("x")),
        sympy.zoo,
        sympy.true,
        sympy.Symbol("lambda"),
        sympy.Symbol("a b"),
        sympy.Symbol("pi"),
    ],
    ids=str,
)
def test_sympy_nodes_outside_the_whitelist(value):
    with pytest.raises(ParameterError, match=r"^sigma = "):
        exact(value, "sigma")


def test_huge_sympy_expressions_are_refused():
    with pytest.raises(ParameterError, match="at most 200 parts"):
        exact(sum(sympy.symbols("x0:500")), "sigma")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (math.inf, math.inf),
        (-math.inf, -math.inf),
        ("inf", math.inf),
        ("-inf", -math.inf),
        (sympy.oo, math.inf),
        (-sympy.oo, -math.inf),
        (mpmath.inf, math.inf),
        (Decimal("Infinity"), math.inf),
        (numpy.float64("inf"), math.inf),
        (-3, Fraction(-3)),
        (0, Fraction(0)),
        (0.5, Fraction(1, 2)),
    ],
    ids=str,
)
def test_eps_is_any_real_number_or_infinite(value, expected):
    assert privacy_parameter(value) == expected


@pytest.mark.parametrize("value", [math.nan, "nan", Decimal("NaN"), numpy.float64("nan"), sympy.nan])
def test_eps_is_not_nan(value):
    with pytest.raises(ParameterError, match=r"^eps = "):
        privacy_parameter(value)


@pytest.mark.parametrize("value", [-1e-9, 1.5, "1.0000000000000000001", "-1e-300", math.nan, math.inf])
def test_delta_is_a_probability(value):
    with pytest.raises(ParameterError, match=r"^delta = "):
        probability(value, "delta")


@pytest.mark.parametrize("value", [0, 1, 0.0, 1.0, "0", "1", Fraction(1)])
def test_zero_and_one_are_probabilities(value):
    assert probability(value, "delta") in (0, 1)


@pytest.mark.parametrize(
    ("value", "expected"), [(0, 0), (7, 7), (numpy.int32(7), 7), (sympy.Integer(7), 7), (10**30, 10**30)]
)
def test_counts(value, expected):
    assert count(value) == expected
    assert type(count(value)) is int


@pytest.mark.parametrize(
    "value", [2.5, 2.0, "2", True, None, Fraction(4, 2), sympy.Rational(1, 2), sympy.Symbol("k"), numpy.float64(2)]
)
def test_a_count_is_an_integer_and_nothing_like_it(value):
    with pytest.raises(ParameterTypeError, match=r"^k = "):
        count(value)


def test_a_count_is_not_negative():
    with pytest.raises(ParameterError, match=r"^k = -1"):
        count(-1)


def test_numeric_routes_name_the_symbols_they_miss():
    with pytest.raises(UnboundSymbolError, match=r"without a value: a, b") as caught:
        require_numbers("this route", exact("a + 1", "x"), Fraction(1), exact("b*a", "y"))
    assert caught.value.names == ("a", "b")
    assert isinstance(caught.value, ValueError)


def test_errors_shorten_what_they_show():
    with pytest.raises(ParameterError) as caught:
        exact("x" * 10_000, "sigma")
    assert len(str(caught.value)) < 400


@given(
    st.one_of(
        st.text(max_size=30), st.integers(), st.floats(), st.booleans(), st.none(), st.binary(), st.complex_numbers()
    )
)
def test_anything_gives_a_parameter_or_a_named_error(value):
    for read in (lambda v: exact(v, "x"), privacy_parameter, lambda v: probability(v, "x")):
        try:
            result = read(value)
        except ParameterError:
            continue
        assert isinstance(result, (Fraction, Expression, float))
        if not getattr(result, "free_symbols", None):
            approximate(result)
