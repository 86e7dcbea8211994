"""What intervals do at the ends of a range: cases by x, inverses, integrals; a part of the interval table.

Used by pairs whose law has several pieces, each with a range of losses and an inverse of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ..core.errors import NoEnclosureError

if TYPE_CHECKING:
    from .intervals import Interval


class Placing:
    """Methods of `IntervalTable`."""

    def between(self, x, low, high, below, inside, above):
        """below where x <= low, above where x >= high, else inside(x); for masses, which lie between the two ends."""
        from .intervals import as_interval, maximum, minimum

        x, low, high = as_interval(x), as_interval(low), as_interval(high)
        found = inside(minimum(maximum(x, low), high))
        if not isinstance(below, tuple):
            return _placed(x, low, high, below, found, above, clip=False)
        parts = zip(below, found, above, strict=True)
        return type(below)(*(_placed(x, low, high, *part, clip=True) for part in parts))  # type: ignore[arg-type]

    def within(self, x, low, high) -> Interval:
        """x cut to the outermost of the two ends; all between them where x is no number."""
        from .intervals import Interval, as_interval

        x, low, high = as_interval(x), as_interval(low), as_interval(high)
        lo = np.where(np.isnan(x.lo), low.lo, np.minimum(np.maximum(x.lo, low.lo), high.hi))
        hi = np.where(np.isnan(x.hi), high.hi, np.maximum(np.minimum(x.hi, high.hi), low.lo))
        return Interval(lo, hi)

    def difference(self, one: tuple, other: tuple) -> Interval:
        """What both differences allow."""
        from .intervals import Interval

        a, b = one[0] - one[1], other[0] - other[1]
        return Interval(np.fmax(a.lo, b.lo), np.fmin(a.hi, b.hi))

    def solve(self, function: Callable, x, low, high, rising: bool) -> Interval:
        """Enclosures of the t with function(t) = x; see `solving`."""
        from .intervals import as_interval
        from .solving import solve

        return solve(function, as_interval(x), low, high, rising)

    def monotone_gaps(self, slope: Callable, low, high, rising: bool) -> list[Interval]:
        """Where the slope's sign could not be certified; see `solving`."""
        from .solving import monotone_gaps

        return monotone_gaps(slope, self, low, high, rising)

    def integral(self, function: Callable, low, high):
        """No strict quadrature here: raises NoEnclosureError."""
        raise NoEnclosureError(
            "fourier: a mass of this pair has no closed antiderivative, so its tails have no strict float64 enclosure; "
            "use dplab.reference"
        )


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
