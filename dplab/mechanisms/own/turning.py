"""Turning points of a loss that no formula gives: bracketed by rationals, evaluated in any arithmetic on demand.

A scan in mpmath finds sign changes of s'. Nothing strict rests on it: the interval arithmetic certifies the sign of s'
on every piece itself (`fourier.solving`), and gives up where it cannot.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

import mpmath
import sympy

from ...core.errors import NoClosedFormError, ParameterError
from ...core.functions import MpmathTable
from .tails import precision_of

if TYPE_CHECKING:
    from .analysis import Panel

SCAN, OCTAVES = 400, 40
DIGITS = 40
MOST_DENOMINATOR = 1000
FAR = mpmath.mpf(10) ** -320
"""Outcomes where both densities are below this are not searched."""


@dataclass(frozen=True, eq=False)
class Turning:
    """The zero of s' between two rational numbers, or (with `of_loss`) the loss there."""

    panel: Panel
    left: sympy.Rational
    right: sympy.Rational
    rising: bool
    near: sympy.Float
    of_loss: bool = False

    def evaluate(self, fn):
        """The point, or the loss there, in the arithmetic of a table."""
        if fn.symbolic:
            raise NoClosedFormError(f"turning points: where the loss turns near {self} has no formula")
        return _evaluated(self, fn, precision_of(fn))

    def compute(self, fn):
        """The same, not remembered."""
        low, high = (fn.rational(int(end.p), int(end.q)) for end in (self.left, self.right))
        slope = self.panel.programs["slope"]
        zero = fn.rational(0, 1)
        at = fn.solve(lambda t: slope(fn, t), zero, low, high, self.rising)
        return self.panel.programs["loss"](fn, at) if self.of_loss else at

    @property
    def value(self) -> Turning:
        """The loss at this point."""
        near = self.panel.loss.subs(self.panel.variable, self.near).evalf(20)
        return Turning(self.panel, self.left, self.right, self.rising, near, of_loss=True)

    def __str__(self) -> str:
        return str(self.near.evalf(8))


@lru_cache(maxsize=4096)
def _evaluated(turning: Turning, fn, precision: int | None):
    """The point in one arithmetic and precision, found once."""
    return turning.compute(fn)


def numeric_turning_points(panel: Panel) -> list[Turning | sympy.Rational]:
    """The sign changes of s' on a fine scan of the part of the cell where there is mass.

    Raises ParameterError if parameters have no values.
    """
    names = sorted(symbol.name for symbol in panel.loss.free_symbols - {panel.variable})
    if names:
        raise ParameterError(
            names[0], names[0], "a number", "Where the loss turns has no formula, so the parameters must be numbers."
        )
    with mpmath.workdps(DIGITS):
        known = [(at, sign > 0) for at in scan_points(panel) if (sign := _sign_of_slope(panel, at))]
        return [_narrowed(panel, a, b, not up_a) for (a, up_a), (b, up_b) in pairwise(known) if up_a != up_b]


def _sign_of_slope(panel: Panel, at) -> int:
    """The sign of s' at a point; 0 where it is 0, or its digits have cancelled: then two precisions disagree."""
    slope, fn = panel.programs["slope"], MpmathTable()
    value = slope(fn, at)
    with mpmath.extradps(10):
        better = slope(fn, at)
        return 0 if abs(better) <= 4 * abs(better - value) else int(mpmath.sign(better))


def scan_points(panel: Panel) -> list:
    """Points of the cell where there is mass, dense where most of it is, and evenly in the logarithm of the distance
    from finite ends and from the middle."""
    cell, fn = panel.cell, MpmathTable()
    low, high = (_float(end) for end in (cell.lower, cell.upper))
    start = _float(cell.sample)
    ends = []
    for end, side in ((low, -1), (high, 1)):
        reach = mpmath.mpf(1)
        while mpmath.isinf(end) and reach < mpmath.mpf(10) ** 30:
            at = start + side * reach
            if max(panel.programs["p"](fn, at), panel.programs["q"](fn, at)) < FAR:
                break
            reach *= mpmath.mpf(5) / 4
        ends.append(start + side * reach if mpmath.isinf(end) else end)
    left, right = ends
    width = right - left
    points = {left + width * (2 * i + 1) / (2 * SCAN) for i in range(SCAN)}
    if mpmath.isinf(low) or mpmath.isinf(high):
        points |= {start + 8 * (mpmath.mpf(i) / SCAN - mpmath.mpf(1) / 2) for i in range(SCAN)}
    for centre, side in ((start, 1), (start, -1), (low, 1), (high, -1)):
        if mpmath.isfinite(centre):
            points |= {centre + side * step for step in _octaves(width)}
    room = min(width, mpmath.mpf(1)) * mpmath.mpf(2) ** (-2 * OCTAVES)  # the end itself, rounded, would be a pole
    return sorted(at for at in points if left + room < at < right - room)


def _octaves(most) -> list:
    """Four distances an octave, from 2^-OCTAVES to the largest."""
    last = int(mpmath.ceil(4 * mpmath.log(most, 2)))
    return [mpmath.mpf(2) ** (mpmath.mpf(i) / 4) for i in range(-4 * OCTAVES, last + 1)]


def _float(end: sympy.Expr):
    if end.is_infinite:
        return mpmath.inf if end is sympy.oo else -mpmath.inf
    return mpmath.mpf(str(end.evalf(40)))


def _narrowed(panel: Panel, a, b, rising: bool) -> Turning | sympy.Rational:
    """The zero of s' between two points, as a fraction if it is one."""
    fn, slope = MpmathTable(), panel.programs["slope"]
    at = fn.solve(lambda t: slope(fn, t), mpmath.mpf(0), a, b, rising)
    room = max(abs(at), mpmath.mpf(1)) * mpmath.mpf(10) ** -12
    simple = _rational(at).limit_denominator(MOST_DENOMINATOR)
    if abs(mpmath.mpf(int(simple.p)) / int(simple.q) - at) < room and _is_zero(panel, simple):
        return simple
    left, right = (_rational(end) for end in (at - room, at + room))
    return Turning(panel, left, right, rising, sympy.Float(mpmath.nstr(at, 25), 25))


def _is_zero(panel: Panel, at: sympy.Rational) -> bool:
    """Whether s' vanishes at a fraction, to three times the digits of the scan."""
    with mpmath.workdps(3 * DIGITS):
        slope = panel.programs["slope"]
        return abs(slope(MpmathTable(), mpmath.mpf(int(at.p)) / int(at.q))) < mpmath.mpf(10) ** (-5 * DIGITS // 2)


def _rational(value) -> sympy.Rational:
    return sympy.Rational(mpmath.nstr(value, 30))
