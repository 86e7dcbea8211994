"""Sampling is a map on PLDs: whatever is known of a mechanism gives the derivation of its sampled version."""

import mpmath
import pytest
import sympy
from mpmath import mpf

from dplab import (
    ApproximateDP,
    Binomial,
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    KaryRandomizedResponse,
    Pair,
    PoissonSubsampled,
    Product,
    RandomizedResponse,
    reference,
    symbolic,
)
from dplab.symbolic.numeric import number

EPS = sympy.Symbol("eps", real=True)
Q = sympy.Symbol("q", positive=True)
OWN = {
    "gaussian": Pair.from_text("exp(-(t - 1)**2/2)/sqrt(2*pi)", "exp(-t**2/2)/sqrt(2*pi)"),
    "laplace": Pair.from_text("exp(-abs(t - 1)/b)/(2*b)", "exp(-abs(t)/b)/(2*b)"),
    "uniform": Pair.from_text("heaviside(t - 1/4)*heaviside(5/4 - t)", "heaviside(t)*heaviside(1 - t)"),
    "with an atom": Pair.from_text(
        "dirac(t)/4 + 3*exp(-t)*heaviside(t)/4", "dirac(t)/2 + exp(-t)*heaviside(t)/2"
    ),
    "poisson": Pair.from_text("exp(-2)*2**j/gamma(j + 1)", "exp(-1)/gamma(j + 1)", "j", (0, "inf"), discrete=True),
    "table": Pair.from_tables(["0.6", "0.4", 0], ["0.3", "0.3", "0.4"]),
}  # fmt: skip
SLOW = {
    "triangular": Pair.from_text("max(0, 1 - abs(t - 1/4))", "max(0, 1 - abs(t))"),
    "cauchy": Pair.from_text("1/(pi*(1 + (t - 1)**2))", "1/(pi*(1 + t**2))"),
    "mixture, open": Pair.from_text(
        "(exp(-(t - 1)**2/2) + exp(-(t + 1/2)**2/2))/(2*sqrt(2*pi))", "exp(-t**2/2)/sqrt(2*pi)"
    ),
}
PRODUCTS = {
    "two responses": Product(RandomizedResponse("0.7"), RandomizedResponse("0.8")),
    "two equal responses": Product(RandomizedResponse("p"), RandomizedResponse("p")),
    "a response and one of many": Product(RandomizedResponse("0.7"), KaryRandomizedResponse(1, 4)),
    "five responses": Product(*[RandomizedResponse("0.7")] * 5),
    "leaks": Product(ApproximateDP(1, "0.1"), ApproximateDP(1, "0.1")),
    "two binomials": Product(Binomial(10, "0.5"), Binomial(10, "0.5")),
    "endless": Product(DiscreteLaplace(2), DiscreteGaussian(2)),
    "gaussians": Product(Gaussian(1), Gaussian(2)),
}


@pytest.mark.parametrize("rate", ["0.2", "q"])
@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize("pair", [*OWN.values(), *PRODUCTS.values()], ids=[*OWN, *PRODUCTS])
def test_every_step_is_checked(pair, direction, rate):
    derivation = symbolic.derive(PoissonSubsampled(pair, rate), direction)
    assert not derivation.unchecked
    assert all(row.digits >= 30 for row in derivation.checked)


@pytest.mark.long
@pytest.mark.parametrize("rate", ["0.2", "q"])
@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize("name", SLOW)
def test_open_bases_name_the_stage(name, direction, rate):
    derivation = symbolic.derive(PoissonSubsampled(SLOW[name], rate), direction)
    assert all(row.digits >= 30 for row in derivation.checked)
    assert derivation["Moment generating function"].stopped
    assert (derivation["Tight delta"].stopped is not None) == ("open" in name)


@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize("name", ["gaussian", "uniform", "with an atom", "poisson"])
def test_delta_is_that_of_the_reference(name, direction):
    formula = symbolic.derive(PoissonSubsampled(OWN[name], "q"), direction)["Tight delta"].expression
    for eps in ("-0.1", "0.05", "0.3"):
        with mpmath.workdps(40):
            found = number(formula, {EPS: mpf(eps), Q: mpf("0.2")})
        expected = reference.delta(PoissonSubsampled(OWN[name], "0.2"), eps, direction, digits=30)
        assert abs(found - expected.value) <= expected.error + mpf("1e-28")


@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_delta_without_tails_in_closed_form_has_a_number(direction):
    pair = SLOW["mixture, open"]
    for eps in ("0.05", "0.1", "0.4") if direction == "forward" else ("-0.4", "-0.1", "-0.05"):
        sampled = symbolic.delta(PoissonSubsampled(pair, "0.2"), eps, direction)
        expected = reference.delta(PoissonSubsampled(pair, "0.2"), eps, direction, digits=20)
        assert "unevaluated" in sampled.reason
        assert abs(sampled.evaluate(20) - expected.value) < mpf("1e-18")
        with_letter = symbolic.delta(PoissonSubsampled(pair, "q"), eps, direction)
        assert abs(with_letter.evaluate(20, q="0.2") - expected.value) < mpf("1e-18")


def test_the_unsampled_parts_are_the_mechanisms_own():
    """At q -> 1 the formula is that of the mechanism."""
    own = symbolic.derive(OWN["gaussian"])["Tight delta"].expression
    sampled = symbolic.derive(PoissonSubsampled(OWN["gaussian"], "q"))["Tight delta"].expression
    with mpmath.workdps(40):
        assert abs(number(sampled, {EPS: mpf("0.4"), Q: mpf(1)}) - number(own, {EPS: mpf("0.4")})) < mpf("1e-35")
