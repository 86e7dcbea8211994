"""Staircases of any step length, moved by any rational number, against sums over their steps."""

import itertools

import mpmath
import pytest
from mpmath import mpf

from dplab import Pair, fourier, reference
from dplab.core.errors import ParameterError

WIDE = "(1 - exp(-4/5))/(2*{s}*(3/10 + 7*exp(-4/5)/10))*exp(-4/5*floor(abs({t})/{s}))"
STEP = "*piecewise((1, abs({t})/{s} - floor(abs({t})/{s}) < 3/10), (exp(-4/5), True))"


def _staircase(s: str, shift: str) -> str:
    return (WIDE + STEP).replace("{s}", s).replace("{t}", f"(t - {shift})")


def _height(t, s):
    whole = mpmath.floor(abs(t) / s)
    level = whole + (abs(t) / s - whole >= mpf(3) / 10)
    fall = mpmath.exp(-mpf(4) / 5)
    return (1 - fall) / (2 * s * (mpf(3) / 10 + 7 * fall / 10)) * fall**level


def _delta(s, shift, eps):
    """Between two neighbouring jumps both densities are constant."""
    jumps = [side * s * (n + part) for n in range(90) for part in (0, mpf(3) / 10) for side in (1, -1)]
    edges = sorted({mpmath.nstr(at, 25) for jump in jumps for at in (jump, jump + shift)}, key=mpf)
    total = mpf(0)
    for a, b in itertools.pairwise(map(mpf, edges)):
        middle = (a + b) / 2
        total += (b - a) * max(_height(middle - shift, s) - mpmath.exp(eps) * _height(middle, s), mpf(0))
    return total


@pytest.mark.parametrize(("s", "shift"), [("1", "1/2"), ("2.5", "0.7")])
def test_moved_by_a_part_of_a_step(s, shift):
    pair = Pair.from_text(_staircase(s, shift), _staircase(s, "0"))
    assert len(pair.analysis.atoms) == 3
    with mpmath.workdps(30):
        number = mpf(5) / 2 if s == "2.5" else mpf(1)
        move = mpf("0.7") if s == "2.5" else mpf(1) / 2
        for eps, way in itertools.product(("0.3", "-0.2"), ("forward", "backward")):
            true = _delta(number, move, mpf(eps))  # the law is symmetric about its middle
            assert abs(reference.delta(pair, eps, way, digits=20).value - true) < mpf(10) ** -20
            bracket = fourier.delta(pair, eps, way)
            assert bracket.lower <= true <= bracket.upper
            assert bracket.relative_width < 1e-12


def test_steps_that_do_not_fit_are_refused():
    with pytest.raises(ParameterError, match="steps of one length"):
        Pair.from_text("exp(-floor(abs(t)))*(1 - exp(-1))/2", "exp(-floor(abs(t)/2))*(1 - exp(-1))/4")
    with pytest.raises(ParameterError, match=r"floor of a\*t"):
        Pair.from_text("exp(-floor(t**2))", "exp(-floor(abs(t)))*(1 - exp(-1))/2")
