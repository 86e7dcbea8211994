"""What a route hands back, and the few lines of precision bookkeeping that all routes share."""

from collections.abc import Callable
from typing import Any, NamedTuple

import mpmath

from ..core.errors import PrecisionError

GUARD = 10
"""Decimal digits carried beyond those asked for."""

MOST_DIGITS = 40_000
"""No route works with more decimal digits than this."""


class Found(NamedTuple):
    """A value, an estimate of its absolute error, d value/d eps, and how it was computed."""

    value: Any
    error: Any
    slope: Any
    method: str


def reached(found: Found, digits: int) -> bool:
    """Whether the error estimate is within the digits asked for."""
    return found.error <= abs(found.value) * mpmath.mpf(10) ** -digits


def guarded(value, digits: int):
    """What an error estimate does not go below: two runs may agree in guard digits by luck."""
    return abs(value) * mpmath.mpf(10) ** -(digits + GUARD // 2)


class Sum(NamedTuple):
    """A sum that may have cancelled: its value, the size of its largest part, and d value/d eps."""

    value: Any
    size: Any
    slope: Any


def agreeing(compute: Callable[[int], Sum], digits: int, method: str) -> Found:
    """Evaluate a formula at two precisions, both raised until cancellation leaves the digits asked for.

    `compute(spare)` is called inside `mpmath.workdps` and may use `spare`, the decimal digits it should keep in
    any truncation. The error is the difference of the two values plus what rounding can have done.

    Raises PrecisionError if more than `MOST_DIGITS` digits would be needed.
    """
    places = digits + GUARD
    while True:
        if places > MOST_DIGITS:
            raise PrecisionError(f"{method}: more than {MOST_DIGITS} working digits would be needed")
        with mpmath.workdps(places):
            first = compute(places)
            lost = lost_digits(first)
            if places - lost < digits + GUARD // 2:
                places += max(lost, GUARD)
                continue
        with mpmath.workdps(places + GUARD):
            second = compute(places + GUARD)
            rounding = second.size * mpmath.mpf(10) ** (3 - places - GUARD)
            error = abs(first.value - second.value) + rounding if second.size else mpmath.mpf(0)
            return Found(second.value, error, second.slope, method)


def lost_digits(found: Sum) -> int:
    """Decimal digits lost to cancellation; all of them if the value is zero and its parts are not."""
    if not found.size:
        return 0
    if not found.value:
        return mpmath.mp.dps
    return max(0, int(mpmath.log10(found.size / abs(found.value))) + 1)


def sign(difference: Callable[[], tuple[Any, Any]]) -> int:
    """The sign of an exactly defined number, 0 if it vanishes to 300 digits.

    `difference()` returns the number and the size of what it was subtracted from, at the working precision.
    """
    for places in (30, 100, 300):
        with mpmath.workdps(places):
            value, size = difference()
            if mpmath.isinf(value) or abs(value) > abs(size) * mpmath.mpf(10) ** (8 - places):
                return 1 if value > 0 else -1
    return 0
