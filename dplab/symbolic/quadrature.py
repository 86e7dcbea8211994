"""Tanh-sinh quadrature whose nodes remember the densities there, so that many integrals share them.

Level m adds the points between those of level m - 1; the error is about squared from level to level, so levels are
added until two agree to a little more than half the digits [Takahasi and Mori 1974].
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

import mpmath

from ..core.solving import SINGULAR, is_infinite, is_singular

FIRST_LEVEL, LAST_LEVEL = 4, 11
FARTHER = 3
"""Towards infinity nodes go on to this power of the distance that is enough at a finite end: for t^{-3/2} and worse."""
AGREE = 0.6
"""The part of the working digits to which two levels must agree; the finer one then has about twice as many."""

_LEVELS: dict[tuple[int, int], list[tuple]] = {}


def _level(level: int) -> list[tuple]:
    """The nodes (distance from the nearer end of [-1, 1], weight) of the right half that a level adds."""
    key = (mpmath.mp.prec, level)
    if key not in _LEVELS:
        _LEVELS[key] = _nodes(level)
    return _LEVELS[key]


def _nodes(level: int) -> list[tuple]:
    step = mpmath.ldexp(1, -level)
    start, stride = (0, 1) if level == FIRST_LEVEL else (1, 2)
    found: list[tuple] = []
    k = start
    while True:
        u = k * step
        inner = mpmath.pi / 2 * mpmath.sinh(u)
        # 1 - tanh(inner), without cancellation near the end
        distance = 2 / (1 + mpmath.exp(2 * inner))
        weight = mpmath.pi / 2 * mpmath.cosh(u) / mpmath.cosh(inner) ** 2
        if distance < _nearest() ** FARTHER:
            return found
        found.append((distance, weight))
        k += stride


def _nearest():
    """Nearer to a finite end than this no node counts."""
    return mpmath.eps / 1000


class Panel:
    """An interval, possibly infinite, with the values of some functions at its nodes."""

    def __init__(self, low, high, at: Callable[[Any], Any]):
        self.low, self.high, self.at = low, high, at
        self.levels: dict[int, list[tuple]] = {}

    def nodes(self, level: int) -> list[tuple]:
        """(weight, values) at the nodes that a level adds."""
        if level not in self.levels:
            with mpmath.workdps(int(mpmath.mp.dps * (SINGULAR if self.singular else 1))):
                values = [(weight, self.at(t)) for t, weight in self._placed(level)]
            self.levels[level] = [(w, v) for w, v in values if not is_infinite(v)] if self.singular else values
        return self.levels[level]

    @cached_property
    def singular(self) -> bool:
        """Whether a function is infinite at a finite end."""
        return is_singular(self.at, self.low, self.high)

    @cached_property
    def slow(self) -> tuple[bool, bool]:
        """Whether something is left on the left and on the right where a finite interval would end its nodes."""
        far = 1 / mpmath.sqrt(2 * _nearest())
        return (
            bool(mpmath.isinf(self.low)) and self._counts(-far),
            bool(mpmath.isinf(self.high)) and self._counts(far),
        )

    def _counts(self, t) -> bool:
        """Whether a density (the first two of several functions) is more than nothing at an outcome."""
        values = self.at(t)
        densities = values[:2] if isinstance(values, tuple) else (values,)
        return any(abs(value) > mpmath.eps**2 for value in densities)

    def _placed(self, level: int):
        low, high, nearest = self.low, self.high, _nearest()
        for distance, weight in _level(level):
            sides: tuple[bool, ...] = (True, False) if distance != 1 else (True,)
            if distance <= nearest:
                sides = tuple(right for right in sides if self.slow[right])
                if not sides:
                    return
            for right in sides:
                if not mpmath.isinf(low) and not mpmath.isinf(high):
                    half = (high - low) / 2
                    yield (high - half * distance if right else low + half * distance), half * weight
                elif mpmath.isinf(low) and mpmath.isinf(high):
                    x = (1 - distance) if right else (distance - 1)
                    rest = distance * (2 - distance)  # 1 - x^2
                    root = mpmath.sqrt(rest)
                    yield x / root, weight / (rest * root)
                else:
                    # t = finite end +- (1 + x)/(1 - x)
                    near, far = (2 - distance, distance) if right else (distance, 2 - distance)
                    shift, slope = near / far, 2 / far**2
                    yield (low + shift if mpmath.isinf(high) else high - shift), slope * weight

    def integral(self, of: Callable[[Any], Sequence], digits: float | None = None) -> list:
        """Integrals of the functions that `of` makes of the values at a node, to so many digits (those at work)."""
        tolerance = mpmath.mpf(10) ** (-AGREE * (digits or mpmath.mp.dps))
        total: list = []
        last: list = []
        for level in range(FIRST_LEVEL, LAST_LEVEL + 1):
            for weight, values in self.nodes(level):
                terms = of(values)
                total = [weight * term for term in terms] if not total else [
                    a + weight * term for a, term in zip(total, terms, strict=True)
                ]  # fmt: skip
            found = [mpmath.ldexp(1, -level) * a for a in total]
            scale = max([abs(a) for a in found] + [mpmath.mpf(10) ** -12])
            if not all(map(mpmath.isfinite, found)):
                break
            if last and all(abs(a - b) <= tolerance * scale for a, b in zip(found, last, strict=True)):
                break
            last = found
        return found


def integrate(of: Callable[[Any], Any], cuts: Sequence, digits: float | None = None):
    """The integral of one function over neighbouring intervals, to so many digits (those of the working precision)."""
    panels = (Panel(low, high, of) for low, high in pairwise(cuts) if low < high)
    return sum((panel.integral(lambda value: (value,), digits)[0] for panel in panels), mpmath.mpf(0))
