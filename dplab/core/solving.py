"""Inverses of monotone functions and integrals of smooth ones in mpmath, at the surrounding precision."""

from collections.abc import Callable
from typing import Any

import mpmath

from .errors import PrecisionError

MOST_STEPS = 4000
FAR, FARTHEST = mpmath.mpf(2) ** 64, mpmath.mpf(2) ** 100_000
"""Ends of a bracket are doubled up to the first, then moved faster, up to the second."""
SMALL = mpmath.mpf(10) ** -6
FAR_APART = 1000
NARROW, MOST_SECANTS = 0.1, 14
"""How wide a bracket may be, relatively, from which secant steps set out, and how many there are."""
SINGULAR = 2.5
"""So many times more digits where a function is infinite at an end, like 1/sqrt(t)."""


def solve(function: Callable, x, low, high, rising: bool, flat: tuple[bool, bool] = (False, False)):
    """The t between low and high (perhaps infinite) with function(t) = x, for a monotone function.

    `flat` says at which ends the function turns, as t^2 does: there the root of the distance is what is looked for.

    A bracket is found by doubling, then narrowed by the Illinois rule with bisections in between; once it is narrow
    secant steps finish, and signs on both sides of what they find are the proof. A complex x is reached from its real
    part by secant steps.

    A value beyond that at an end has this end for an answer: x is known to be in the range, but for rounding.

    Raises PrecisionError if no bracket is found or it does not close.
    """
    if isinstance(x, mpmath.mpc):
        return _continued(function, x, solve(function, x.real, low, high, rising, flat))
    if any(flat):
        return _from_turn(function, x, low, high, rising, flat)

    def gap(t, outside=mpmath.nan):
        """`outside` where rounding has moved an end out of the function's domain."""
        try:
            value = function(t) - x
        except (ZeroDivisionError, ValueError):  # a pole
            return outside
        if isinstance(value, mpmath.mpc) or mpmath.isnan(value):
            return outside
        return value if rising else -value

    rounding = 4 * mpmath.eps * max(abs(x), SMALL)
    for end in (low, high):
        if not mpmath.isinf(end) and abs(gap(end)) <= rounding:
            return mpmath.mpf(end)
    left, right = _bracket(gap, low, high)
    with mpmath.extradps(5):
        tolerance = mpmath.mpf(2) ** -mpmath.mp.prec
        below, above = gap(left, -mpmath.inf), gap(right, mpmath.inf)
        if below >= 0 or above <= 0:  # an end, or a value beyond its own by rounding
            return left if below >= 0 else right
        side, ends, narrow = 0, (below, above), mpmath.mpf(NARROW)
        for step in range(MOST_STEPS):
            width = right - left
            if width <= narrow * max(abs(left), abs(right)):
                found = _finished(gap, (left, right), ends, tolerance)
                if found is not None:
                    return found
                narrow *= narrow
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
                left, below, ends = middle, value, (value, ends[1])
                above = above / 2 if side < 0 else above
                side = -1
            else:
                right, above, ends = middle, value, (ends[0], value)
                below = below / 2 if side > 0 else below
                side = 1
        else:
            raise PrecisionError(f"no outcome with loss {mpmath.nstr(x, 8)} was found in {MOST_STEPS} steps")
        return (left + right) / 2


def _from_turn(function: Callable, x, low, high, rising: bool, flat: tuple[bool, bool]):
    """The same by the root of the distance from an end at which the function turns."""
    if all(flat):
        middle = (low + high) / 2
        upper = (function(middle) < x) == rising
        low, high, flat = (middle, high, (False, True)) if upper else (low, middle, (True, False))
    end, other, side = (low, high, 1) if flat[0] else (high, low, -1)
    reach = mpmath.inf if mpmath.isinf(other) else mpmath.sqrt(abs(other - end))
    root = solve(lambda v: function(end + side * v * v), x, mpmath.mpf(0), reach, rising == flat[0])
    return end + side * root * root


def _finished(gap: Callable, points: tuple, values: tuple, tolerance):
    """The zero between two points by secant steps, with signs that prove it; None where they lead nowhere."""
    (one, other), (at_one, at_other) = points, values
    low, high = points
    enough = tolerance ** mpmath.mpf("0.63")  # an error that one more step makes less than the tolerance
    for _ in range(MOST_SECANTS):
        if not mpmath.isfinite(at_other - at_one) or at_one == at_other:
            return None
        new = other - at_other * (other - one) / (at_other - at_one)
        if not low < new < high:
            return None
        change = abs(new - other)
        if change <= enough * abs(new):
            room = 4 * tolerance * abs(new)
            return new if gap(new - room) <= 0 <= gap(new + room) else None  # False for what has no value
        one, at_one, other, at_other = other, at_other, new, gap(new)
        if at_other == 0:
            return new
    return None


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
    while gap(left) > 0 and left != low:
        left = start - reach if mpmath.isinf(low) else low + (start - low) / (1 + reach)
        reach = _farther(reach)
        if reach > FARTHEST:
            raise PrecisionError("no outcome with so small a loss was found")
    reach = mpmath.mpf(1)
    while gap(right) < 0 and right != high:
        right = start + reach if mpmath.isinf(high) else high - (high - start) / (1 + reach)
        reach = _farther(reach)
        if reach > FARTHEST:
            raise PrecisionError("no outcome with so large a loss was found")
    return left, right


def _farther(reach):
    return 2 * reach if reach < FAR else reach * mpmath.sqrt(reach)


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
