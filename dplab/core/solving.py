"""Inverses of monotone functions and integrals of smooth ones in mpmath, at the surrounding precision."""

from collections.abc import Callable
from typing import Any

import mpmath

from .errors import PrecisionError

MOST_STEPS = 4000
FARTHEST = 2.0**1000
FAR_APART = 1000
SINGULAR = 2.5
"""So many times more digits where a function is infinite at an end, like 1/sqrt(t)."""


def solve(function: Callable, x, low, high, rising: bool):
    """The t between low and high (perhaps infinite) with function(t) = x, for a monotone function.

    A bracket is found by doubling, then narrowed by the Illinois rule with bisections in between. A complex x is
    reached from its real part by secant steps.

    Raises PrecisionError if no bracket is found or it does not close.
    """
    if isinstance(x, mpmath.mpc):
        return _continued(function, x, solve(function, x.real, low, high, rising))

    def gap(t, outside=mpmath.nan):
        """`outside` where rounding has moved an end out of the function's domain."""
        try:
            value = function(t) - x
        except ZeroDivisionError:
            return outside
        if isinstance(value, mpmath.mpc) or mpmath.isnan(value):
            return outside
        return value if rising else -value

    left, right = _bracket(gap, low, high)
    with mpmath.extradps(5):
        tolerance = mpmath.mpf(2) ** -mpmath.mp.prec
        below, above = gap(left, -mpmath.inf), gap(right, mpmath.inf)
        if below == 0 or above == 0:
            return left if below == 0 else right
        side = 0
        for step in range(MOST_STEPS):
            width = right - left
            if width <= 8 * tolerance * max(abs(left), abs(right)) or not mpmath.isfinite(width):
                break
            use_secant = step % 4 != 3 and mpmath.isfinite(above - below) and above != below and _near(left, right)
            middle = (left * above - right * below) / (above - below) if use_secant else _middle(left, right, step)
            if not left < middle < right:
                middle = _middle(left, right, step)
                if not left < middle < right:
                    break
            value = gap(middle, -mpmath.inf if middle - left < right - middle else mpmath.inf)
            if value == 0:
                return +middle
            if value < 0:
                left, below = middle, value
                above = above / 2 if side < 0 else above
                side = -1
            else:
                right, above = middle, value
                below = below / 2 if side > 0 else below
                side = 1
        else:
            raise PrecisionError(f"no outcome with loss {mpmath.nstr(x, 8)} was found in {MOST_STEPS} steps")
        return (left + right) / 2


def _near(left, right) -> bool:
    """Whether two numbers are of about one size, or of different signs."""
    small, large = sorted((abs(left), abs(right)))
    return left < 0 < right or large <= FAR_APART * small


def _middle(left, right, step: int):
    """Half way, by orders of magnitude where the two are far apart or one is 0: then e^{-e^x} is found at once."""
    if _near(left, right):
        return (left + right) / 2
    if left == 0 or right == 0:
        return (left + right) * mpmath.mpf(2) ** -(2**step)
    return mpmath.sqrt(left * right) * mpmath.sign(left)


def _bracket(gap: Callable, low, high) -> tuple[Any, Any]:
    """Finite ends on which the gap is <= 0 and >= 0."""
    if not mpmath.isinf(low) and not mpmath.isinf(high):
        return mpmath.mpf(low), mpmath.mpf(high)
    start = mpmath.mpf(0)
    if not mpmath.isinf(low):
        start = low + 1
    elif not mpmath.isinf(high):
        start = high - 1
    left, right, reach = start, start, mpmath.mpf(1)
    while gap(left) > 0:
        left = start - reach if mpmath.isinf(low) else low + (start - low) / (1 + reach)
        reach *= 2
        if reach > FARTHEST:
            raise PrecisionError("no outcome with so small a loss was found")
    reach = mpmath.mpf(1)
    while gap(right) < 0:
        right = start + reach if mpmath.isinf(high) else high - (high - start) / (1 + reach)
        reach *= 2
        if reach > FARTHEST:
            raise PrecisionError("no outcome with so large a loss was found")
    return left, right


def _continued(function: Callable, x, start):
    """Secant steps towards a complex target."""
    one, other = mpmath.mpc(start), mpmath.mpc(start, mpmath.mpf(2) ** (-mpmath.mp.prec // 3))
    at_one, at_other = function(one) - x, function(other) - x
    for _ in range(60):
        if at_one == at_other or abs(other - one) <= mpmath.eps * abs(other):
            break
        one, other = other, other - at_other * (other - one) / (at_other - at_one)
        at_one, at_other = at_other, function(other) - x
    return other


def integral(function: Callable, low, high):
    """The integral of a smooth function from low to high (perhaps infinite)."""
    if low >= high:
        return mpmath.mpf(0)
    points = [low, high]
    if mpmath.isinf(low) and mpmath.isinf(high):
        points = [low, mpmath.mpf(0), high]
    digits = mpmath.mp.dps * (SINGULAR if is_singular(function, low, high) else 1)
    with mpmath.workdps(int(digits) + 5):
        value, error = mpmath.quad(function, points, error=True, maxdegree=10)
    return +value if error <= abs(value) else value


def is_singular(function: Callable, low, high) -> bool:
    """Whether a function, or one of several, is infinite at a finite end: what lies beyond the outermost node of a
    quadrature then counts by its root, and takes `SINGULAR` times the digits."""
    try:
        return any(not mpmath.isinf(end) and is_infinite(function(end)) for end in (low, high))
    except ZeroDivisionError:
        return True


def is_infinite(values: Any) -> bool:
    """Whether a number is infinite, or one of several (None does not count)."""
    return any(v is not None and mpmath.isinf(v) for v in (values if isinstance(values, tuple) else (values,)))


def bessel_series(n: int, x):
    """I_n(x) = sum of (x/2)^{2m+n}/(m! (m+n)!) for whole n >= 0 and x > 0: positive terms only.

    >>> bessel_series(0, mpmath.mpf(1))
    mpf('1.2660658777520084')
    """
    with mpmath.extradps(10):
        half = mpmath.mpf(x) / 2
        term = half**n / mpmath.factorial(n)
        total, m = term, 0
        while term > total * mpmath.eps:
            m += 1
            term = term * half * half / (m * (m + n))
            total += term
    return +total
