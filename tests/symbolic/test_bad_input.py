"""Bad input is refused before any work, and edge values are not bad input."""

import math

import numpy
import pytest
import sympy

from dplab import Composition, Gaussian, Laplace, PoissonSubsampled, RandomizedResponse, symbolic
from dplab.core.errors import ParameterError, ParameterTypeError

PAIR = PoissonSubsampled(Gaussian(2), "0.1")


@pytest.mark.parametrize("question", [symbolic.delta, symbolic.log_delta])
@pytest.mark.parametrize("eps", [math.nan, "nan", None, [1], 1j, True, "eval(1)", "x.real", "sin(x)", sympy.I])
def test_eps(question, eps):
    with pytest.raises(ParameterError, match=r"^eps = "):
        question(PAIR, eps)


@pytest.mark.parametrize("direction", ["sideways", "", None, 1, "X/Y"])
def test_direction(direction):
    for question in (symbolic.delta, symbolic.log_delta, symbolic.epsilon):
        with pytest.raises(ParameterError, match=r"^direction = "):
            question(PAIR, "0.5", direction)
    for question in (symbolic.pld, symbolic.mgf):
        with pytest.raises(ParameterError, match=r"^direction = "):
            question(PAIR, direction=direction)


@pytest.mark.parametrize("composition", [None, "Gaussian(1)", 3, [PAIR]])
def test_composition(composition):
    for question in (symbolic.delta, symbolic.log_delta, symbolic.epsilon):
        with pytest.raises(ParameterTypeError, match=r"^composition = "):
            question(composition, "0.5")


@pytest.mark.parametrize("z", [math.nan, math.inf, None, "__import__('os')"])
def test_z(z):
    with pytest.raises(ParameterError, match=r"^z = "):
        symbolic.mgf(Gaussian(1), z)


@pytest.mark.parametrize("variable", ["", "1x", "lambda", "__class__", "a b", None, 3])
def test_variable(variable):
    with pytest.raises(ParameterError, match=r"^variable = "):
        symbolic.pld(Gaussian(1), variable=variable)


EVERYTHING = [
    Composition(),
    RandomizedResponse("0.75"),
    Gaussian(1),
    Gaussian(0),
    Laplace(1),
    Laplace(0),
    PoissonSubsampled(Gaussian(1), "0.1"),
    PoissonSubsampled(Laplace(1), "0.1"),
    PoissonSubsampled(Gaussian(0), "0.1"),
    3 * PoissonSubsampled(Gaussian(0), "0.1") + 2 * Gaussian(1),
]


@pytest.mark.parametrize("composition", EVERYTHING, ids=str)
@pytest.mark.parametrize("direction", ["remove", "add", "both"])
def test_infinite_eps(composition, direction):
    infinite = {"PoissonSubsampled(Gaussian(sigma=0), q=0.1)": "0.1", "Gaussian(sigma=0)": 1, "Laplace(b=0)": 1}
    infinite = infinite.get(str(composition), "0.271" if "3 *" in str(composition) else 0)
    if direction == "add" and infinite != 1:
        infinite = 0
    for inf in (math.inf, "inf", sympy.oo, numpy.float64("inf")):
        assert symbolic.delta(composition, inf, direction).expression == sympy.Rational(infinite)
    assert symbolic.delta(composition, -math.inf, direction).expression == 1


def test_k_zero_sigma_zero_sensitivity_zero_q_zero_q_one():
    assert symbolic.delta(0 * Gaussian(1), 1).expression == 0
    assert symbolic.delta(Gaussian(0), 1).expression == 1
    assert symbolic.delta(Gaussian(0), 10**6).expression == 1
    assert symbolic.delta(Laplace(1, sensitivity=0), 1).expression == 0
    assert symbolic.delta(PoissonSubsampled(Gaussian(1), 0), 1).expression == 0
    whole = symbolic.delta(Gaussian(1), "eps").expression
    assert symbolic.delta(PoissonSubsampled(Gaussian(1), 1), "eps").expression == whole
    assert symbolic.delta(PoissonSubsampled(Gaussian(0), "0.3"), 1).expression == sympy.Rational(3, 10)


def test_log_delta_of_nothing_is_minus_infinity():
    assert symbolic.log_delta(Laplace(1), 1).expression == -sympy.oo
    assert symbolic.log_delta(Laplace(1), "eps").evaluate(15, eps=2) == -math.inf
    assert symbolic.log_delta(Gaussian(0), 3).expression == 0


def test_tiny_deltas():
    value = symbolic.log_delta(Gaussian(1), 1000).evaluate(30)
    assert -500010 < value < -499500
    assert symbolic.delta(Gaussian(1), 1000).evaluate(30) > 0
