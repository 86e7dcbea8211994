"""What a student types by mistake, and what the message must point at."""

import math

import pytest
import sympy

from dplab import Pair
from dplab.core.errors import ParameterError

T, PLAIN, MU = sympy.Symbol("t", real=True), sympy.Symbol("x"), sympy.Symbol("mu")
BELL = sympy.exp(-(T**2) / 2) / sympy.sqrt(2 * sympy.pi)
MOVED = BELL.subs(T, T - 1)
TEXT = ("exp(-(t - 1)**2/2)/sqrt(2*pi)", "exp(-t**2/2)/sqrt(2*pi)")

TYPED = {
    "another variable in Q": ((TEXT[0], "exp(-x**2/2)/sqrt(2*pi)"), r"^Q = .*the letter x, which"),
    "a letter misspelt": (
        ("exp(-(t - 1)**2/2/sigma**2)/sqrt(2*pi)/sigmaa", "exp(-t**2/2/sigma**2)/sqrt(2*pi)/sigma"),
        r"total mass sigma/sigmaa.*letters sigma and sigmaa",
    ),
    "a constant left out": (("exp(-(t - 1)**2/2)", "exp(-t**2/2)"), r"^P = 'total mass 2\.5066.*from -oo to oo"),
    "a constant as a letter": (("a*exp(-abs(t - 1))", "exp(-abs(t))/2"), r"^P = 'total mass 2\*a'.*letter a"),
    "negative somewhere": (("t**3*exp(-t**2/2)", TEXT[1]), r"^P = '-[0-9.]+ at t = -"),
    "Q is wrong, not P": ((TEXT[0], "exp(-t**2)/sqrt(2*pi)"), r"^Q = 'total mass 0\.7071"),
    "a caret": (("exp(-(t - 1)^2/2)/sqrt(2*pi)", TEXT[1]), r"\*\*, not \^"),
    "a product without its sign": (("exp(-(t - 1)**2/2)/sqrt(2pi)", TEXT[1]), r"a product needs its \*"),
    "a parenthesis left open": (("exp(-(t - 1)**2/2", TEXT[1]), r"it has 2 \( and 1 \)"),
    "an unknown function": (("normal(t - 1)", "normal(t)"), r"'normal' in 'normal\(t - 1\)'"),
    "a half line not said": (("exp(-t)", "2*exp(-2*t)"), r"infinite.*from -oo to oo; .*support=\(0, 'inf'\)"),
    "a pole": (("1/t", "1", "t", (0, 1)), r"^P = 'total mass infinite.*from 0 to 1"),
    "a support of one end": ((*TEXT, "t", (0,)), r"^support = \(0,\)"),
    "a support upside down": (("1", "1", "t", (1, 0)), r"lower < upper"),
    "a support that cuts": ((*TEXT, "t", (0, 1)), r"^P = 'total mass 0\.3413.*from 0 to 1"),
    "integers without a beginning": (
        ("2/3*(1/3)**j", "1/2*(1/2)**j", "j", None, True), r"down to -inf.*support=\(0, 'inf'\)"
    ),
    "two open widths": (
        ("exp(-(t - 1)**2/2/a**2)/sqrt(2*pi)/a", "exp(-t**2/2/b**2)/sqrt(2*pi)/b"), r"^parameters = 'a, b'.*turns at"
    ),
    "sympy in the text maker": ((TEXT[0], 1), r"^Q = 1: must be text"),
}  # fmt: skip


@pytest.mark.parametrize("name", TYPED)
def test_text(name):
    given, message = TYPED[name]
    with pytest.raises(ParameterError, match=message):
        Pair.from_text(*given)


GIVEN = {
    "a location without a sign": ((BELL.subs(T, T - MU), BELL, T), r"^mu = mu: .*declared positive"),
    "the wrong variable": (
        (MOVED, BELL, PLAIN),
        r"^variable = 'x': must be the letter of the outcomes in P\. That has t",
    ),
    "a function": ((lambda t: 1, BELL, T), r"^P = <function.*sympy expression"),
    "a support that cuts": ((MOVED, BELL, T, sympy.Interval(0, 1)), r"^P = 'total mass 0\.3413"),
}


@pytest.mark.parametrize("name", GIVEN)
def test_densities(name):
    given, message = GIVEN[name]
    with pytest.raises(ParameterError, match=message):
        Pair.from_densities(*given)


TABLES = {
    "too much": (([0.5, 0.6], [0.5, 0.5]), r"^P = 'total mass 1\.1'"),
    "a rounded third": (([1 / 3] * 3, [0.5, 0.25, 0.25]), r"'1/3', are exact"),
    "different lengths": (([0.5, 0.5], [0.5, 0.25, 0.25]), r"^Q = '3 entries'.*P \(2 entries\)"),
    "negative": (([1.5, -0.5], [0.5, 0.5]), r"^P\[1\] = -0\.5"),
    "no number": (([0.5, math.nan], [0.5, 0.5]), r"^P\[1\] = nan"),
    "letters": ((["p", "1-p"], ["1-p", "p"]), r"^P\[0\] = 'p'.*Tables hold numbers"),
    "nothing": (([], []), r"^P = '0 entries'"),
    "text": (("1/2", "1/2"), r"^P = '1/2': must be a sequence"),
}


@pytest.mark.parametrize("name", TABLES)
def test_tables(name):
    given, message = TABLES[name]
    with pytest.raises(ParameterError, match=message):
        Pair.from_tables(*given)
