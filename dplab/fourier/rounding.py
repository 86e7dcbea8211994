"""Directed rounding of float64 and long double arrays, by arithmetic.

numpy's `nextafter` costs as much as five exponentials. Moving x by |x| 2^-52 (2^-63 for long doubles) and the smallest
number of its type is as safe: |x| 2^-52 is at least one ulp of x and less than two, and x minus an ulp is a float, so
that rounding the difference never ends above it.
"""

import math
from typing import Any

import numpy as np

from .wide import is_wide

_FLOAT = 2.0**-52, 5e-324, float(np.finfo(float).max)
_WIDE = np.finfo(np.longdouble).eps, np.finfo(np.longdouble).smallest_subnormal, np.finfo(np.longdouble).max


def down(x: Any, relative: float = 0.0) -> Any:
    """At most the float below x: a lower bound of what was rounded to x, or came out as x with this relative error, at
    most 0.3, before it was rounded. Infinity is taken for an overflow."""
    if relative == 0.0 and isinstance(x, float):
        return np.float64(math.nextafter(x, -math.inf))
    eps, tiny, most = _WIDE if is_wide(x) else _FLOAT
    return _lowered(x, eps + (relative + eps if relative else 0.0), tiny, most)


def up(x: Any, relative: float = 0.0) -> Any:
    """At least the float above x, as `down`."""
    return -down(-x, relative)


def sum_down(total: Any) -> Any:
    """A lower bound of what a sum of two floats was rounded to; 0, and what is subnormal, is exact."""
    eps, _, most = _WIDE if is_wide(total) else _FLOAT
    return _lowered(total, eps, None, most)


def sum_up(total: Any) -> Any:
    """An upper bound, as `sum_down`."""
    return -sum_down(-total)


def _lowered(x: Any, share: Any, tiny: Any, most: Any) -> Any:
    """x - (|x| share + tiny), x at most `most`; in place, since arrays are long."""
    with np.errstate(over="ignore"):
        moved = np.minimum(x, most)
        width = np.abs(moved)
        width *= share
        if tiny is not None:
            width += tiny
        moved -= width
    return moved
