"""Derivations of laws on the whole numbers of one's own: closed sums, thresholds, monotonicity, stages that stop."""

import mpmath
import pytest
import sympy
from mpmath import mpf

from dplab import Pair, reference, symbolic
from dplab.symbolic.numeric import infinite_sum, number
from dplab.symbolic.stories.integers import geometric, inverse, poisson
from dplab.symbolic.stories.setting import EPS, J, S, Z

HALF_LINE = (0, "inf")
POISSON = ("exp(-2)*2**t/factorial(t)", "exp(-3)*3**t/factorial(t)", HALF_LINE)
SHIFTED = ("piecewise((exp(-3)*3**(t - 1)/factorial(t - 1), t >= 1), (0, True))", POISSON[1], HALF_LINE)
GEOMETRIC = ("(1/2)*(1/2)**t", "(1/3)*(2/3)**t", HALF_LINE)
SHIFTED_GEOMETRIC = ("piecewise(((1/3)*(2/3)**(t - 1), t >= 1), (0, True))", GEOMETRIC[1], HALF_LINE)
SKELLAM = ("exp(-4)*besseli(abs(t - 1), 4)", "exp(-4)*besseli(abs(t), 4)", None)


def made(p, q, support):
    return Pair.from_text(p, q, "t", support, discrete=True)


def derived(law, direction="forward"):
    derivation = symbolic.derive(made(*law), direction)
    assert all(row.digits >= 30 for row in derivation.checked)
    return derivation


@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize("law", [POISSON, SHIFTED, SHIFTED_GEOMETRIC], ids=["Poisson", "shifted", "geometric"])
def test_chains(law, direction):
    stages = {step.stopped.stage for step in derived(law, direction).stopped}
    assert stages - {"cumulants", "convolution"} == ({"moment generating function"} if law is SHIFTED else set())


@pytest.mark.long
@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize("law", [GEOMETRIC, SKELLAM], ids=["geometric", "Skellam"])
def test_long_chains(law, direction):
    derivation = derived(law, direction)
    assert derivation["Monotone pieces"].stopped is None
    assert (derivation["Moment generating function"].stopped is None) == (law is GEOMETRIC)


def test_poisson_moments_in_closed_form():
    """M(z) = e^{-3(-z) - 2(z + 1)} e^{2^{z+1} 3^{-z}}, by hand from the exponential series."""
    found = derived(POISSON)["Moment generating function"].expression
    with mpmath.workdps(40):
        z = mpf("0.7")
        expected = mpmath.exp(3 * z - 2 * (z + 1) + mpf(2) ** (z + 1) * mpf(3) ** -z)
        assert abs(number(found, {Z: z}) / expected - 1) < mpf(10) ** -35


def test_delta_is_a_sum_up_to_the_threshold():
    delta = derived(SHIFTED)["Tight delta"].expression
    assert not delta.has(sympy.Piecewise)
    pair = made(*SHIFTED)
    with mpmath.workdps(40):
        for eps in ("-0.4", "0.3", "1.1"):
            true = reference.delta(pair, eps, "forward", digits=30)
            assert abs(number(delta, {EPS: mpf(eps)}) - true.value) <= true.error + mpf(10) ** -28


def test_monotonicity_is_said_and_proved():
    rising = derived(SHIFTED)["Monotone pieces"]
    assert "rises for j >= 1" in rising.reason
    assert rising.lines[1].right == 3 * sympy.exp(S)
    assert "falls for j >= 1" in derived(SHIFTED, "backward")["Monotone pieces"].reason
    assert "is constant" in derived(SHIFTED_GEOMETRIC)["Monotone pieces"].reason


def test_what_only_one_law_has_is_at_infinity():
    forward, backward = (derived(SHIFTED_GEOMETRIC, way) for way in ("forward", "backward"))
    assert forward["Privacy loss distribution"].lines[-1].right == 0
    assert backward["Privacy loss distribution"].lines[-1].right == sympy.Rational(1, 3)


@pytest.mark.parametrize(
    ("closed", "term", "first", "last"),
    [
        (geometric, 3 * sympy.exp(-J / 2), 2, sympy.oo),
        (geometric, sympy.exp(J / 3), -sympy.oo, 4),
        (geometric, sympy.exp(J / 3 - 1), -2, 5),
        (poisson, sympy.exp(J / 2) / sympy.factorial(J), 0, sympy.oo),
        (poisson, 2 * sympy.exp(-J) / sympy.factorial(J - 3), 3, sympy.oo),
    ],
)
def test_closed_sums(closed, term, first, last):
    ends = [sympy.sympify(end) for end in (first, last)]
    with mpmath.workdps(30):
        low, high = (number(end, {}) for end in ends)
        expected = infinite_sum(lambda j: number(term, {J: j}), low, high)
        assert abs(number(closed(term, *ends), {}) / expected - 1) < mpf(10) ** -25


def test_sums_that_are_not_closed():
    assert geometric(sympy.exp(-(J**2)), sympy.S.Zero, sympy.oo) is None
    assert poisson(J ** sympy.Rational(1, 2) / sympy.factorial(J), sympy.S.Zero, sympy.oo) is None
    assert inverse(sympy.log(J) + J) is None
