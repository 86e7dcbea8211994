"""Constructors: what they refuse, how they say it, and the edge values that are no errors."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy
import pytest
import sympy

from dplab import DplabError, Gaussian, Laplace, PoissonSubsampled, RandomizedResponse
from dplab.core.errors import ParameterError, ParameterTypeError

NOT_NUMBERS = [math.nan, math.inf, -math.inf, "nan", "inf", Decimal("NaN"), sympy.oo, sympy.nan, sympy.I]
WRONG_KINDS = [None, True, [1], {"sigma": 1}, object(), 1j, b"1", numpy.array([1.0, 2.0])]
MAKERS = {
    "sigma": Gaussian,
    "sensitivity": lambda value: Gaussian(1, sensitivity=value),
    "b": Laplace,
    "q": lambda value: PoissonSubsampled(Gaussian(1), value),
    "p": RandomizedResponse,
    "eps": RandomizedResponse.from_eps,
}
OUT_OF_RANGE = [
    *((name, value) for name in ("sigma", "sensitivity", "b") for value in (-1, -1e-12, "-1/3", sympy.Integer(-2))),
    *(("q", value) for value in (-0.1, 1.5, "1.0000001", Fraction(3, 2), "2/sqrt(2)")),
    *(("p", value) for value in (0, 0.2, 0.5, 1, 1.1, "1/2", "exp(-1)")),
    *(("eps", value) for value in (0, -1, "-log(2)")),
    *((name, "1e301") for name in ("sigma", "b", "eps")),
]


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("value", NOT_NUMBERS, ids=repr)
def test_a_value_that_is_no_finite_real_number(name, value):
    with pytest.raises(ParameterError, match=rf"^{name} = ") as caught:
        MAKERS[name](value)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, DplabError)


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("value", WRONG_KINDS, ids=lambda value: type(value).__name__)
def test_a_value_of_the_wrong_kind(name, value):
    with pytest.raises(ParameterTypeError, match=rf"^{name} = ") as caught:
        MAKERS[name](value)
    assert isinstance(caught.value, TypeError)


@pytest.mark.parametrize(("name", "value"), OUT_OF_RANGE, ids=str)
def test_a_value_out_of_range_is_named_with_what_is_allowed(name, value):
    with pytest.raises(ParameterError, match=rf"^{name} = .*must be ") as caught:
        MAKERS[name](value)
    assert caught.value.name == name
    assert caught.value.value == value


def test_the_usual_cause_is_told():
    with pytest.raises(ParameterError, match="It is batch size over data set size"):
        PoissonSubsampled(Gaussian(1), 600)
    with pytest.raises(ParameterError, match="probability of the true answer"):
        RandomizedResponse(0.25)


@pytest.mark.parametrize("mechanism", [None, 1, "Gaussian(sigma=1)", Gaussian])
def test_only_a_mechanism_can_be_sampled(mechanism):
    with pytest.raises(ParameterTypeError, match=r"^mechanism = "):
        PoissonSubsampled(mechanism, "0.1")


@pytest.mark.parametrize(
    ("pair", "simplest"),
    [
        (Gaussian(1), Gaussian(1)),
        (Gaussian(0), Gaussian(0)),
        (Gaussian(1, sensitivity=0), None),
        (Gaussian(0, sensitivity=0), None),
        (Laplace(1, sensitivity=0), None),
        (Laplace(0, sensitivity=0), None),
        (PoissonSubsampled(Gaussian(1), 0), None),
        (PoissonSubsampled(Gaussian(1), 1), Gaussian(1)),
        (PoissonSubsampled(Gaussian(1, sensitivity=0), "0.5"), None),
        (PoissonSubsampled(PoissonSubsampled(Laplace(2), "0.5"), "0.2"), PoissonSubsampled(Laplace(2), "0.1")),
        (PoissonSubsampled(PoissonSubsampled(Laplace(2), 1), "0.2"), PoissonSubsampled(Laplace(2), "0.2")),
        (PoissonSubsampled(PoissonSubsampled(Laplace(2), "0.2"), 1), PoissonSubsampled(Laplace(2), "0.2")),
        (PoissonSubsampled(PoissonSubsampled(Laplace(2), 0), "0.2"), None),
        (RandomizedResponse("0.75"), RandomizedResponse("0.75")),
        (Gaussian("sigma"), Gaussian("sigma")),
        (Gaussian(3, sensitivity="3/2"), Gaussian(2)),
        (Laplace(3, sensitivity=6), Laplace("1/2")),
        (PoissonSubsampled(Gaussian(3, sensitivity="3/2"), "0.1"), PoissonSubsampled(Gaussian(2), "0.1")),
        (Gaussian(0, sensitivity=2), Gaussian(0)),
        (Gaussian("1e-200", sensitivity="1e200"), Gaussian("1e-200", sensitivity="1e200")),  # 1e-400 is no parameter
        (Gaussian(3, sensitivity="sqrt(2)"), Gaussian(3, sensitivity="sqrt(2)")),
        (Gaussian(3, sensitivity="Delta"), Gaussian(3, sensitivity="Delta")),
        (PoissonSubsampled(Gaussian("sigma"), "q"), PoissonSubsampled(Gaussian("sigma"), "q")),
    ],
    ids=str,
)
def test_edge_values_are_no_errors_but_simpler_pairs(pair, simplest):
    assert pair.reduced() == simplest


def test_a_mechanism_is_its_exact_parameters():
    assert Gaussian(0.1) == Gaussian("0.1") == Gaussian(Fraction(1, 10)) == Gaussian(numpy.float64(0.1))
    assert Gaussian(2) == Gaussian(numpy.int64(2)) == Gaussian(sympy.Integer(2)) == Gaussian(Decimal("2.0"))
    assert Gaussian(1) != Laplace(1)
    assert Gaussian(1) != Gaussian(1, sensitivity=2)
    assert len({Gaussian(0.5), Gaussian("1/2"), Gaussian(1)}) == 2


def test_repr_rebuilds_the_mechanism():
    for pair in (Gaussian("0.1", 2), Laplace("1/3"), RandomizedResponse.from_eps("1/sqrt(10)")):
        shown = repr(pair)
        assert shown.startswith(type(pair).__name__)
    assert repr(PoissonSubsampled(Gaussian(4), "0.01")) == "PoissonSubsampled(Gaussian(sigma=4), q=0.01)"


def test_binding_goes_through_the_same_checks():
    assert PoissonSubsampled(Gaussian("s"), "q").bind(s=4, q=0.01) == PoissonSubsampled(Gaussian(4), "0.01")
    assert RandomizedResponse.from_eps("a/b").bind(a=1, b=4) == RandomizedResponse.from_eps("0.25")
    with pytest.raises(ParameterError, match=r"^sigma = "):
        Gaussian("sigma").bind(sigma=-1)
    with pytest.raises(ParameterError, match="free symbols"):
        Gaussian("sigma").bind(s=1)
    with pytest.raises(ParameterError, match="divides by zero"):
        RandomizedResponse.from_eps("a/b").bind(a=1, b=0)
