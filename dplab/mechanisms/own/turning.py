"""Turning points of a loss that no formula gives: bracketed by rationals, evaluated in any arithmetic on demand.

A scan in mpmath finds sign changes of s'. Nothing strict rests on it: the interval arithmetic certifies the sign of s'
on every piece itself (`fourier.solving`), and gives up where it cannot.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import mpmath
import sympy

from ...core.errors import NoClosedFormError, ParameterError
from ...core.functions import MpmathTable
from .tails import precision_of

if TYPE_CHECKING:
    from .analysis import Panel

SCAN = 400
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


def numeric_turning_points(panel: Panel) -> list[Turning]:
    """The sign changes of s' on a fine scan of the part of the cell where there is mass.

    Raises ParameterError if parameters have no values.
    """
    names = sorted(symbol.name for symbol in panel.loss.free_symbols - {panel.variable})
    if names:
        raise ParameterError(
            names[0], names[0], "a number", "Where the loss turns has no formula, so the parameters must be numbers."
        )
    fn = MpmathTable()
    with mpmath.workdps(40):
        slope = panel.programs["slope"]
        points = scan_points(panel)
        values = [slope(fn, at) for at in points]
        found = []
        for a, b, at_a, at_b in zip(points, points[1:], values, values[1:], strict=False):
            if at_a * at_b < 0:
                found.append(_narrowed(panel, a, b, at_a < 0))
        return found


def scan_points(panel: Panel) -> list:
    """Points of the cell where there is mass, dense where most of it is."""
    cell, fn = panel.cell, MpmathTable()
    low, high = (_float(end) for end in (cell.lower, cell.upper))
    if mpmath.isfinite(low) and mpmath.isfinite(high):
        return [low + (high - low) * (2 * i + 1) / (2 * SCAN) for i in range(SCAN)]
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
    near = [start + 8 * (mpmath.mpf(i) / SCAN - mpmath.mpf(1) / 2) for i in range(SCAN)]
    wide = [left + (right - left) * (2 * i + 1) / (2 * SCAN) for i in range(SCAN)]
    return sorted(at for at in {*near, *wide} if left < at < right)


def _float(end: sympy.Expr):
    if end.is_infinite:
        return mpmath.inf if end is sympy.oo else -mpmath.inf
    return mpmath.mpf(str(end.evalf(40)))


def _narrowed(panel: Panel, a, b, rising: bool) -> Turning:
    fn, slope = MpmathTable(), panel.programs["slope"]
    with mpmath.workdps(40):
        at = fn.solve(lambda t: slope(fn, t), mpmath.mpf(0), a, b, rising)
        room = max(abs(at), mpmath.mpf(1)) * mpmath.mpf(10) ** -12
        left, right = (_rational(end) for end in (at - room, at + room))
        return Turning(panel, left, right, rising, sympy.Float(mpmath.nstr(at, 25), 25))


def _rational(value) -> sympy.Rational:
    return sympy.Rational(mpmath.nstr(value, 30))
