"""Masses that are elementary in another variable: against quadrature, on both sides and far out."""

import mpmath
import pytest
import sympy
from mpmath import mpf

from dplab.core.functions import MpmathTable
from dplab.mechanisms.own.cells import Cell, sample_of
from dplab.mechanisms.own.programs import Program
from dplab.mechanisms.own.substitution import mass_of

T = sympy.Symbol("t", real=True)
FN = MpmathTable()
DENSITIES = {
    "log-normal": ("exp(-(log(t) - 1)**2/2)/(t*sqrt(2*pi))", 0, "oo", "in a logarithm"),
    "logarithm": ("-log(t)", 0, 1, "in a logarithm"),
    "Weibull": ("3*t**2*exp(-t**3)", 0, "oo", "in a power"),
    "stretched exponential": ("exp(-sqrt(t))/(2*sqrt(t))", 0, "oo", "in a power"),
    "Pareto, 5/2": ("3/(2*t**(5/2))", 1, "oo", "in a power"),
    "gamma, 3/2": ("2*sqrt(t)*exp(-t)/sqrt(pi)", 0, "oo", "in a power"),
    "Fréchet": ("exp(-1/t)/t**2", 0, "oo", "in a power"),
    "beta, mirrored": ("15*sqrt(1 - t)*t/4", 0, 1, "in a power"),
    "Gumbel": ("exp(-(t - 1) - exp(-(t - 1)))", "-oo", "oo", "in an exponential"),
    "Gompertz": ("exp(t)*exp(1 - exp(t))", 0, "oo", "in an exponential"),
    "arcsine": ("1/(pi*sqrt(t*(1 - t)))", 0, 1, "between two zeros"),
    "semicircle": ("2*sqrt(1 - t**2)/pi", -1, 1, "between two zeros"),
    "Student, 2": ("1/(2*sqrt(2)*(1 + (t - 1)**2/2)**(3/2))", "-oo", "oo", "in a hyperbolic variable"),
    "mixture": ("exp(-t**2/2)/(2*sqrt(2*pi)) + 1/(2*pi*(1 + t**2))", "-oo", "oo", "rational function"),
}


def _mass(name):
    text, low, high, stage = DENSITIES[name]
    density = sympy.sympify(text, locals={"t": T}, rational=True)
    low, high = sympy.sympify(low), sympy.sympify(high)
    return density, low, high, mass_of(density, T, Cell(low, high, sample_of(low, high), density, density)), stage


@pytest.mark.parametrize("name", DENSITIES)
def test_both_sides_are_the_integrals(name):
    density, low, high, mass, stage = _mass(name)
    assert stage in mass.stage
    f, left, right = (Program(formula, T) for formula in (density, mass.left, mass.right))
    with mpmath.workdps(30):
        ends = [mpmath.mpf(str(end)) if end.is_finite else mpmath.inf * int(sympy.sign(end)) for end in (low, high)]
        assert abs(mpmath.mpf(str(sympy.N(mass.total, 40))) - 1) < mpf(10) ** -28
        for part in (mpf("0.2"), mpf("0.7")):
            width = ends[1] - ends[0] if mpmath.isfinite(ends[1] - ends[0]) else 3
            at = (ends[0] if mpmath.isfinite(ends[0]) else -1) + part * width
            near = [at, at + 1, at + 10] if mpmath.isinf(ends[1]) else [at]
            expected = mpmath.quad(lambda t: f(FN, t), [*near, ends[1]])
            assert abs(right(FN, at) - expected) < mpf(10) ** -12
            assert abs(left(FN, at) + right(FN, at) - 1) < mpf(10) ** -27


def _beyond(x):
    """The mass of Student's law with two degrees of freedom right of x."""
    root = mpmath.hypot(x, mpmath.sqrt(2))
    return 1 / (root * (root + x))


@pytest.mark.parametrize(
    ("name", "at", "expected"),
    [
        ("log-normal", mpf(10) ** 9, lambda t: mpmath.ncdf(1 - mpmath.log(t))),
        ("Weibull", mpf(6), lambda t: mpmath.exp(-(t**3))),
        ("Gumbel", mpf(60), lambda t: -mpmath.expm1(-mpmath.exp(1 - t))),
        ("Student, 2", mpf(10) ** 8, lambda t: _beyond(t - 1)),
    ],
)
def test_small_tails_keep_their_digits(name, at, expected):
    """In the floats of the working precision, without a digit more."""
    right = Program(_mass(name)[3].right, T)
    with mpmath.workdps(40):
        true = expected(at)
    with mpmath.workdps(20):
        assert abs(right(FN, at) / true - 1) < mpf(10) ** -17


def test_a_sum_with_one_hard_term_is_left_to_quadrature():
    density = sympy.exp(-(T**2) / 2) + sympy.exp(-(T**4))
    cell = Cell(-sympy.oo, sympy.oo, sympy.S.Zero, density, density)
    assert mass_of(density, T, cell) == (None, None, None, "numeric quadrature")
