"""Derivations of pairs that a course may ask for: heavy tails, moments infinite on one side, exponentials of
exponentials. Each step's check has to pass, and none may run away."""

import mpmath
import pytest
import sympy
from mpmath import mpf

from dplab import Pair, symbolic
from dplab.symbolic.derivation import spelled_out
from dplab.symbolic.numeric import number

EPS = sympy.Symbol("eps", real=True)
LAWS = {
    "Pareto": ("2/t**3", "3/t**4", (1, "oo"), lambda e: 4 * mpmath.exp(-2 * e) / 27),
    "Rayleigh": ("t*exp(-t**2/2)", "t*exp(-t**2/8)/4", (0, "oo"), None),
    "Maxwell": ("sqrt(2/pi)*t**2*exp(-t**2/2)", "sqrt(2/pi)*t**2*exp(-t**2/8)/8", (0, "oo"), None),
    "exponential": ("exp(-t)", "2*exp(-2*t)", (0, "oo"), lambda e: mpmath.exp(-e) / 4),
    "linear": ("2*t", "2*(1 - t)", (0, 1), lambda e: 1 / (1 + mpmath.exp(e))),
    "log-normal": ("exp(-(log(t) - 1)**2/2)/(t*sqrt(2*pi))", "exp(-log(t)**2/2)/(t*sqrt(2*pi))", (0, "oo"), None),
    "Gumbel": ("exp(-(t - 1) - exp(-(t - 1)))", "exp(-t - exp(-t))", None, None),
    "Gaussian over Laplace": ("exp(-t**2/2)/sqrt(2*pi)", "exp(-abs(t))/2", None, None),
    "Weibull": ("2*t*exp(-t**2)", "exp(-t)", (0, "oo"), None),
    "arcsine over uniform": ("1/(pi*sqrt(t*(1 - t)))", "1", (0, 1), None),
    "semicircle": ("2*sqrt(1 - t**2)/pi", "1/2", (-1, 1), None),
    "root": ("1/(2*sqrt(t))", "1", (0, 1), lambda e: mpmath.exp(-e) / 4),
    "Student, 2": ("(1 + (t - 1)**2/2)**(-3/2)/sqrt(8)", "(1 + t**2/2)**(-3/2)/sqrt(8)", None, None),
    "zero inside": ("(t - 3/10)**2*exp(-(t - 3/10)**2/2)/sqrt(2*pi)", "2/(pi*(exp(t) + exp(-t)))", None, None),
    "parabola over a line": ("6*t*(1 - t)", "1/2 + t", (0, 1), None),
    "turns without a formula": ("1", "1/(4*log(2)*(1 + t)) + 9*t*(1 - t)/2", (0, 1), None),
    "turns far out": (
        "3*max(0, 1 - t**2)/400 + 33*sqrt(3)/(50*pi*((t - 1/3)**2/3 + 1)**2)",
        "9*exp(1/3 - t)/(10*(exp(1/3 - t) + 1)**2) + 1/(20*pi*((t/2 - 1)**2 + 1))",
        None,
        None,
    ),
    "flat far out": (
        "exp(-(5*t - 10)**2/2)*5/(4*sqrt(2*pi)) + 3*exp(3/10 - t)/(4*(1 + exp(3/10 - t))**2)",
        "max(0, 1 - abs(t - 2))/2 + exp(-t - 1/2)/(2*(1 + exp(-t - 1/2))**2)",
        None,
        None,
    ),
    "mean infinite backward": ("exp(-(t - 1) - exp(-(t - 1)))", "exp(-t)/(1 + exp(-t))**2", None, None),
    "M slow": ("2*sqrt(3)/(3*pi*((t + 1/2)**2/3 + 1)**2)", "2/(5*pi*((2*t/5 - 4/5)**2 + 1))", None, None),
    "crosses close to an end": ("exp(-log(7*t)**2/2)/(t*sqrt(2*pi))", "16*t*exp(-4*t/5)/25", (0, "oo"), None),
    "roots in quotients": ("1/2 + (1 + t)/3", "1/(log(2)*(1 + t))", (0, 1), None),
    "M infinite, far out": ("49*t*exp(-7*t/2)/4", "exp(-t**2/32)/(2*sqrt(2*pi))", (0, "oo"), None),
    "one loss at all typical outcomes": ("(1 + abs(t))*exp(-abs(t))/4", "2/(pi*(exp(t) + exp(-t)))", None, None),
}
QUICK = ("Pareto", "Rayleigh", "exponential", "linear", "root")


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.long) for name in LAWS]
)
@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_every_step_is_checked(name, direction):
    p, q, support, expected = LAWS[name]
    derivation = symbolic.derive(Pair.from_text(p, q, support=support), direction)
    assert all(row.digits >= 30 for row in derivation.checked)
    if expected is not None and direction == "forward":
        step = derivation["Tight delta"]
        with mpmath.workdps(40):
            found = number(spelled_out(step.lines[0].right, step.letters), {EPS: mpf("0.3")})
            assert abs(found - expected(mpf("0.3"))) < mpf(10) ** -35


def test_a_moment_that_is_infinite_on_one_side_is_checked_on_the_other():
    p, q, support, _ = LAWS["Gaussian over Laplace"]
    backward = symbolic.derive(Pair.from_text(p, q, support=support), "backward")
    (row,) = (row for row in backward.checked if row.title == "alpha+ and alpha-")
    assert row.comparisons == 1


def test_a_density_infinite_at_an_end_is_a_density():
    pair = Pair.from_text("1/(pi*sqrt(t*(1 - t)))", "1/(2*sqrt(t))", support=(0, 1))
    found = symbolic.delta(pair, "0.1", "forward").evaluate(20)
    with mpmath.workdps(30):
        growth = mpmath.exp(mpf("0.1"))
        start = 1 - 4 / (mpmath.pi * growth) ** 2  # P > e^eps Q to the right of it
        above = 1 - 2 / mpmath.pi * mpmath.asin(mpmath.sqrt(start)) - growth * (1 - mpmath.sqrt(start))
        assert abs(found - above) < mpf(10) ** -18
