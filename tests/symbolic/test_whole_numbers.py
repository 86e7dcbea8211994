"""Closed forms of whole-valued mechanisms, symbols included."""

import mpmath
import pytest
import sympy
from mpmath import mpf

from dplab import (
    ApproximateDP,
    Binomial,
    DiscreteGaussian,
    DiscreteLaplace,
    ExponentialCounting,
    KaryRandomizedResponse,
    PoissonSubsampled,
    Product,
    RandomizedResponse,
    reference,
    symbolic,
)
from dplab.core.errors import NoClosedFormError
from dplab.symbolic.theta import Theta, ThetaAbove

SYMBOLIC = [
    (ApproximateDP("e", "d"), {"e": "0.5", "d": "0.01"}),
    (KaryRandomizedResponse("e", 5), {"e": "0.7"}),
    (ExponentialCounting("e", 3, 10), {"e": "0.3"}),
    (DiscreteLaplace("b", 2), {"b": "1.5"}),
    (DiscreteGaussian("sigma", 2), {"sigma": "1.5"}),
    (Binomial(30, "p", 2), {"p": "0.4"}),
    (PoissonSubsampled(DiscreteGaussian("sigma"), "q"), {"sigma": "1.5", "q": "0.2"}),
    (PoissonSubsampled(ApproximateDP("e", "d"), "q"), {"e": "0.5", "d": "0.1", "q": "0.25"}),
    (10 * ApproximateDP("e", "d"), {"e": "0.2", "d": "0.001"}),
    (12 * ExponentialCounting("e", 3, 10), {"e": "0.3"}),
]


@pytest.fixture(autouse=True)
def fifty_digits():
    with mpmath.workdps(50):
        yield


@pytest.mark.parametrize(("form", "values"), SYMBOLIC, ids=str)
@pytest.mark.parametrize("way", ["forward", "backward"])
def test_symbolic_parameters(form, values, way):
    closed = symbolic.delta(form, "eps", way)
    bound = form.bind(**values)
    for eps in ("0.31", "-0.2", "1.3"):
        found = closed.evaluate(35, eps=eps, **values)
        true = reference.delta(bound, eps, way, digits=35)
        assert abs(found - true.value) <= true.error + mpf(10) ** -33


def test_sampling_keeps_the_outcomes_that_p_lacks_when_symbols_are_free():
    """An atom at log(1-q) of Q-mass d: without it the masses fall short of 1 and delta is understated."""
    pair = PoissonSubsampled(ApproximateDP("e", "d"), "q")
    law = symbolic.pld(pair)
    assert len(law.atoms) == 3
    for side, apart in (("p", law.mass_at_infinity), ("q", law.mass_at_minus_infinity)):
        total = sum((getattr(atom, side) for atom in law.atoms), apart)
        assert sympy.simplify(total - 1) == 0
    backward = symbolic.delta(pair, "eps", "add").evaluate(30, eps="0.2", e="0.1", d="0.3", q="0.3")
    true = reference.delta(pair.bind(e="0.1", d="0.3", q="0.3"), "0.2", "add", digits=30)
    assert abs(backward - true.value) < mpf(10) ** -28


def test_theta_functions():
    v = sympy.Symbol("v", positive=True)
    assert Theta(4, v) == Theta(0, v)
    assert Theta(sympy.Rational(1, 2), v) != Theta(0, v)
    assert abs(mpf(str(Theta(0, sympy.Rational(1, 100)).evalf(40))) - 1 - 2 * mpmath.exp(-50)) < mpf(10) ** -38
    assert Theta(0, v).is_positive
    assert ThetaAbove(sympy.Integer(3), v).is_positive
    assert "sum" in sympy.latex(Theta(0, v))
    assert "sum" in sympy.latex(ThetaAbove(3, v) ** 2)


def test_the_mgf_of_the_discrete_gaussian():
    closed = symbolic.mgf(DiscreteGaussian("sigma", 3), "z")
    for z in ("1", "-0.5", "2.25"):
        found = closed.evaluate(30, z=z, sigma="0.9")
        true = DiscreteGaussian("0.9", 3).mgf(_mp(), mpf(z))
        assert abs(found / true - 1) < mpf(10) ** -28


def _mp():
    from dplab.core.functions import MpmathTable

    return MpmathTable()


def test_many_coins_are_one_sum():
    closed = symbolic.delta(Binomial(200, "p", 5), "eps", "forward")
    assert closed.expression.has(sympy.Sum)
    assert sympy.count_ops(closed.expression) < 100
    true = reference.delta(Binomial(200, "0.3", 5), "0.4", "forward", digits=30)
    assert abs(closed.evaluate(30, eps="0.4", p="0.3") / true.value - 1) < mpf(10) ** -28


@pytest.mark.parametrize(
    ("composition", "stage"),
    [
        (2 * DiscreteGaussian(1), "convolution"),
        (DiscreteGaussian(1) + RandomizedResponse("0.75"), "convolution"),
        (3 * Binomial(60, "0.5"), "convolution"),
        (60 * DiscreteLaplace(5, 4), "convolution"),
    ],
    ids=str,
)
def test_where_no_closed_form_exists_the_stage_is_named(composition, stage):
    with pytest.raises(NoClosedFormError, match=stage):
        symbolic.delta(composition, "eps")


def test_products_of_different_atoms_are_written_out():
    pair = Product(KaryRandomizedResponse(1, 3), DiscreteLaplace(2, 2))
    true = reference.delta(pair, "0.5", digits=30)
    assert abs(symbolic.delta(pair, "0.5").evaluate(30) / true.value - 1) < mpf(10) ** -28


def test_eps_of_delta_where_it_can_be_solved():
    found = symbolic.epsilon(DiscreteLaplace(2, 3), "0.1").evaluate(30)
    true = reference.epsilon(DiscreteLaplace(2, 3), "0.1", digits=30)
    assert abs(found - true.value) < mpf(10) ** -28
    with pytest.raises(NoClosedFormError, match="inversion"):
        symbolic.epsilon(DiscreteGaussian(2), "0.1")
