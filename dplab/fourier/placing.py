"""What intervals do at the ends of a range: cases by x, inverses, integrals; a part of the interval table.

Used by pairs whose law has several pieces, each with a range of losses and an inverse of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.certified import Certified
from ..core.errors import NoEnclosureError
from .wide import narrow_down, narrow_up

if TYPE_CHECKING:
    from .intervals import Interval


WIDE = 1e-9
"""Enclosures of outcomes that are relatively wider are solved for again."""


class Placing:
    """Methods of `IntervalTable`."""

    def between(self, x, low, high, below, inside, above):
        """below where x <= low, above where x >= high, else inside(x); for masses, which lie between the two ends."""
        from .intervals import as_interval, maximum, minimum

        x, low, high = as_interval(x), as_interval(low), as_interval(high)
        outside = (np.asarray(x.hi) <= low.lo) | (np.asarray(x.lo) >= high.hi)
        if np.ndim(outside) == 0 or not outside.any():
            found = inside(minimum(maximum(x, low), high))
        else:  # only where it is asked for: inverses are dear
            found = _spread(inside(minimum(maximum(x[~outside], low), high)), ~outside)
        if not isinstance(below, tuple):
            return _placed(x, low, high, below, found, above, clip=False)
        placed: list[Any] = [_placed(x, low, high, *part, clip=True) for part in zip(below, found, above, strict=True)]
        return type(below)(*placed)

    def within(self, x, low, high) -> Interval:
        """x cut to the outermost of the two ends; all between them where x is no number."""
        from .intervals import Interval, as_interval

        x, low, high = as_interval(x), as_interval(low), as_interval(high)
        lo = np.where(np.isnan(x.lo), low.lo, np.minimum(np.maximum(x.lo, low.lo), high.hi))
        hi = np.where(np.isnan(x.hi), high.hi, np.maximum(np.minimum(x.hi, high.hi), low.lo))
        return Interval(lo, hi)

    def refined(self, t, x, solved: Callable) -> Interval:
        """t, solved for again where a formula's enclosure is wide (at the ends of a piece it divides by 0)."""
        from .intervals import Interval, as_interval

        t, x = as_interval(t), as_interval(x)
        lo, hi = np.atleast_1d(t.lo), np.atleast_1d(t.hi)
        with np.errstate(invalid="ignore"):
            wide = ~(hi - lo <= WIDE * (1 + np.minimum(np.abs(lo), np.abs(hi))))
        if not wide.any():
            return t
        x_lo, x_hi = (np.broadcast_to(np.atleast_1d(end), lo.shape) for end in (x.lo, x.hi))
        better = solved(Interval(x_lo[wide], x_hi[wide]))
        lo, hi = lo.copy(), hi.copy()
        lo[wide], hi[wide] = np.maximum(lo[wide], better.lo), np.minimum(hi[wide], better.hi)
        shape = np.shape(t.lo)
        return Interval(lo.reshape(shape), hi.reshape(shape))

    def difference(self, one: tuple, other: tuple) -> Interval:
        """What both differences allow."""
        from .intervals import Interval

        a, b = one[0] - one[1], other[0] - other[1]
        return Interval(np.fmax(a.lo, b.lo), np.fmin(a.hi, b.hi))

    def solve(self, function: Callable, x, low, high, rising: bool, gaps=(), flat=(False, False)) -> Interval:
        """Enclosures of the t with function(t) = x; see `solving`."""
        from .intervals import Interval, as_interval
        from .solving import solve

        x = as_interval(x)
        return solve(function, Interval(narrow_down(x.lo), narrow_up(x.hi)), low, high, rising, gaps)

    def certified(self, function: Callable, slope: Callable, ends: tuple, values: tuple, rising: bool) -> Certified:
        """Where the slope's sign is not certain, and the range of the function; see `solving`."""
        from .solving import certified

        return certified(function, slope, ends, values, rising)

    def monotone(self, function: Callable, x, rising: bool):
        """The values of a monotone function: what its formula says, and where x is wide what it says at the ends."""
        from .intervals import Interval, as_interval

        x = as_interval(x)
        found = function(x)
        with np.errstate(invalid="ignore"):
            wide = ~(x.hi - x.lo <= WIDE * (1 + np.minimum(np.abs(x.lo), np.abs(x.hi))))
        if not np.any(wide):
            return found
        ends = [function(Interval(end, end)) for end in (x.lo, x.hi)]
        first, last = ends if rising else ends[::-1]
        parts = [
            Interval(np.fmax(here.lo, a.lo), np.fmin(here.hi, b.hi))
            for here, a, b in zip(found, first, last, strict=True)
        ]
        return type(found)(*parts)

    def spanned(self, low, high, values) -> tuple:
        """The two ends, moved out to where some values may lie; infinite ones are plain numbers."""
        from .intervals import Interval, as_interval

        inner, outer, found = as_interval(low), as_interval(high), [as_interval(value) for value in values]
        least, most = min(float(v.lo) for v in (inner, *found)), max(float(v.hi) for v in (outer, *found))
        return (
            low if inner.hi == -np.inf else Interval(least, max(least, float(inner.hi))),
            high if outer.lo == np.inf else Interval(min(most, float(outer.lo)), most),
        )

    def loosened(self, mass, x, values, most) -> Interval:
        """The mass at x, larger or smaller by `most` where x may lie among the values."""
        from .intervals import Interval, as_interval

        x = as_interval(x)
        size = np.where((x.hi >= values.lo) & (x.lo <= values.hi), most.hi, 0.0)
        return mass + Interval(-size, size)

    def up_to(self, bound) -> Interval:
        """[0, bound]."""
        from .intervals import TINY, Interval

        return Interval(0.0, max(float(bound) * (1 + 1e-12), TINY))

    def loggamma(self, x) -> Interval:
        """log Gamma of one positive number, from 30 digits; it is convex, so both ends are looked at."""
        from .intervals import Interval, as_interval

        x = as_interval(x)
        import mpmath

        with mpmath.workdps(30):
            ends = [mpmath.loggamma(mpmath.mpf(float(end))) for end in (x.lo, x.hi)]
            least = -0.1215 if x.lo < 1.4617 < x.hi else min(ends)
            return Interval(*_outward(least, max(ends)))

    def besseli(self, n, x) -> Interval:
        """I_n(x) for one whole number n and one x > 0, from 30 digits; it grows with x."""
        return self._bessel(n, x, lambda value: value)

    def log_besseli(self, n, x) -> Interval:
        """log I_n(x), where I_n(x) itself may be below every float."""
        import mpmath

        return self._bessel(n, x, mpmath.log)

    def _bessel(self, n, x, rising: Callable) -> Interval:
        """A rising function of I_n(x)."""
        from .intervals import Interval, as_interval

        order, x = as_interval(n), as_interval(x)
        whole = round(float(order.mid))  # rounding has made an interval of it
        if not order.lo <= whole <= order.hi or order.hi - order.lo > 0.5:
            raise NoEnclosureError(f"besseli: the order lies in [{order.lo}, {order.hi}]: not a whole number")
        import mpmath

        from ..core.solving import bessel_series

        with mpmath.workdps(30):
            low, high = (rising(bessel_series(abs(whole), mpmath.mpf(float(end)))) for end in (x.lo, x.hi))
            return Interval(*_outward(low, high))

    def integral(self, function: Callable, low, high):
        """No strict quadrature here: raises NoEnclosureError."""
        raise NoEnclosureError(
            "fourier: a mass of this pair has no closed antiderivative, so its tails have no strict float64 enclosure; "
            "use dplab.reference"
        )


def _spread(found, where: np.ndarray):
    """Results for some places as results for all, unbounded elsewhere."""
    from .intervals import Interval, as_interval

    if isinstance(found, tuple):
        parts: list[Any] = [_spread(part, where) for part in found]
        return type(found)(*parts)
    found = as_interval(found)
    if np.shape(found.lo) == where.shape:  # it was given for all places
        return found
    kind = np.result_type(found.lo, float)
    result = Interval(np.full(where.shape, -np.inf, kind), np.full(where.shape, np.inf, kind))
    result.lo[where], result.hi[where] = found.lo, found.hi
    return result


def _placed(x: Interval, low: Interval, high: Interval, below, inside, above, clip: bool) -> Interval:
    """One result of `between` from its three cases."""
    from .intervals import Interval, as_interval

    below, inside, above = as_interval(below), as_interval(inside), as_interval(above)
    lo, hi = inside.lo, inside.hi
    if clip:
        least, most = np.minimum(below.lo, above.lo), np.maximum(below.hi, above.hi)
        lo = np.where(np.isnan(lo), least, np.clip(lo, least, most))
        hi = np.where(np.isnan(hi), most, np.clip(hi, least, most))
    under, over = np.asarray(x.hi) <= low.lo, np.asarray(x.lo) >= high.hi
    return Interval(
        np.where(under, below.lo, np.where(over, above.lo, lo)),
        np.where(under, below.hi, np.where(over, above.hi, hi)),
    )


def _outward(low, high) -> tuple[float, float]:
    """Floats below and above two numbers that are known to 30 digits."""
    from .rounding import down, up

    return float(down(float(low))), float(up(float(high)))
