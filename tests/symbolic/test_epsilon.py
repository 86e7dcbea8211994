"""eps(delta) in closed form: an inverse of delta(eps), with the conventions at both ends."""

import mpmath
import pytest
import sympy
from mpmath import mpf

from dplab import Gaussian, Laplace, PoissonSubsampled, RandomizedResponse, symbolic
from dplab.core.errors import NoClosedFormError, ParameterError

INVERTIBLE = [
    (RandomizedResponse("0.83"), "both"),
    (RandomizedResponse.from_eps("0.4"), "both"),
    (2 * RandomizedResponse("0.83"), "both"),
    (4 * RandomizedResponse("0.6"), "both"),
    (RandomizedResponse("0.83") + RandomizedResponse("0.6"), "both"),
    (PoissonSubsampled(RandomizedResponse("0.83"), "0.2"), "remove"),
    (PoissonSubsampled(RandomizedResponse("0.83"), "0.2"), "add"),
    (PoissonSubsampled(RandomizedResponse("0.83"), "0.2"), "both"),
    (3 * PoissonSubsampled(RandomizedResponse("0.83"), "0.2"), "both"),
    (Laplace("0.6"), "both"),
    (PoissonSubsampled(Laplace("0.6"), "0.3"), "remove"),
    (PoissonSubsampled(Gaussian(0), "0.2"), "add"),
]


@pytest.mark.parametrize(("composition", "direction"), INVERTIBLE, ids=str)
def test_delta_of_epsilon_is_delta(composition, direction):
    at_zero = symbolic.delta(composition, 0, direction).evaluate(40)
    form = symbolic.epsilon(composition, "delta", direction)
    for tenth in range(1, 10):
        target = mpmath.nstr(at_zero * tenth / 10, 20)
        eps = symbolic.epsilon(composition, target, direction).evaluate(40)
        assert eps > 0
        reached = symbolic.delta(composition, mpmath.nstr(eps, 38), direction).evaluate(40)
        with mpmath.workdps(40):
            assert abs(reached - mpf(target)) < mpf("1e-34")
            assert abs(form.evaluate(40, delta=target) - eps) < mpf("1e-36")


@pytest.mark.parametrize(("composition", "direction"), INVERTIBLE, ids=str)
def test_conventions_at_the_ends(composition, direction):
    at_zero = symbolic.delta(composition, 0, direction).evaluate(40)
    assert symbolic.epsilon(composition, 1, direction).evaluate(20) == 0
    with mpmath.workdps(40):
        assert symbolic.epsilon(composition, mpmath.nstr(at_zero + mpf("1e-9"), 30), direction).evaluate(20) == 0
    largest = symbolic.epsilon(composition, 0, direction).evaluate(40)
    assert abs(symbolic.delta(composition, mpmath.nstr(largest, 30), direction).evaluate(20)) < mpf("1e-25")


def test_the_largest_loss_is_epsilon_at_delta_zero():
    with mpmath.workdps(40):
        assert symbolic.epsilon(RandomizedResponse(0.75), 0).expression == sympy.log(3)
        assert symbolic.epsilon(Laplace(2), 0).expression == sympy.Rational(1, 2)
        sampled = symbolic.epsilon(PoissonSubsampled(RandomizedResponse(0.75), "0.1"), 0).evaluate(30)
        assert abs(sampled - mpmath.log(1 - mpf("0.1") + mpf("0.1") * 3)) < mpf("1e-29")


def test_forms():
    text = {
        Laplace("b"): "Piecewise((2*log(1 - delta) + 1/b, delta < 1 - exp(-1/(2*b))), (0, True))",
        RandomizedResponse("p"): "Piecewise((log((p - delta)/(1 - p)), delta < 2*p - 1), (0, True))",
    }
    for pair, expected in text.items():
        assert str(symbolic.epsilon(pair, "delta")) == f"eps = {expected}"


@pytest.mark.parametrize("delta", [0, "1e-9", "0.1999999"])
def test_infinite_below_the_mass_at_infinity(delta):
    assert symbolic.epsilon(PoissonSubsampled(Gaussian(0), "0.2"), delta).expression == sympy.oo


def test_at_the_mass_at_infinity_the_largest_finite_loss_counts():
    pair = PoissonSubsampled(Gaussian(0), "0.2")
    assert symbolic.epsilon(pair, "0.2", "remove").evaluate(20) == 0
    assert symbolic.epsilon(Gaussian(0), 1).expression == 0
    assert symbolic.epsilon(Gaussian(0), "0.999").expression == sympy.oo


@pytest.mark.parametrize(
    ("composition", "direction"),
    [
        (Gaussian(1), "both"),
        (Gaussian("sigma"), "both"),
        (1000 * Gaussian(50), "both"),
        (PoissonSubsampled(Gaussian(1), "0.1"), "remove"),
        (PoissonSubsampled(Gaussian(1), "0.1"), "add"),
        (PoissonSubsampled(Laplace(1), "0.1"), "add"),
        (10 * RandomizedResponse("0.6"), "both"),
        (2 * Laplace(1), "both"),
    ],
    ids=str,
)
def test_no_closed_inverse_names_the_equation(composition, direction):
    with pytest.raises(NoClosedFormError, match=r"^inversion: .*(Phi|exp|Sum).* = delta has no closed solution"):
        symbolic.epsilon(composition, "delta", direction)


@pytest.mark.parametrize("delta", [-0.1, 1.1, float("nan"), float("inf"), None, "eval(1)"])
def test_delta_must_be_a_probability(delta):
    with pytest.raises(ParameterError, match=r"^delta = "):
        symbolic.epsilon(RandomizedResponse(0.75), delta)
