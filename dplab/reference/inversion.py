"""eps(delta): the inverse of delta(eps), by safeguarded Newton.

The first guess comes from the saddle-point approximation, whose eps and delta are both explicit in c. Far from the
root Newton works on log delta (nearly a parabola in eps); near it on delta as a function of x = e^eps, where it is
convex, so that the piecewise linear delta of a law with atoms is hit exactly. A bracket guards both. Every step doubles
the digits that are right, so the first ones are taken with few; the contour then goes to all of them at once and
keeps its lines.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath

from ..core.parameters import evaluate
from .arithmetic import FN
from .found import GUARD, Found, sign
from .law import Law
from .saddle import Landscape

FIRST_DIGITS = 12
MOST_STEPS = 200

FindDelta = Callable[[Fraction, int], Found]
"""delta at an eps, to some digits."""


def known_epsilon(law: Law, delta, digits: int) -> Found | None:
    """The cases of MATH.md section 1 that need no search, delta(0) aside; None for an ordinary question."""
    zero = mpmath.mpf(0)
    side = sign(lambda: _gap(evaluate(delta, FN), law.mass_at_infinity()))
    with mpmath.workdps(digits + GUARD):
        if side < 0:
            return Found(mpmath.inf, zero, zero, "infinite: delta is below the mass at infinity")
        largest = law.largest_loss()
        if side == 0 and mpmath.isinf(largest):
            return Found(mpmath.inf, zero, zero, "infinite: delta is the mass at infinity, and the loss is unbounded")
        if side == 0:
            value = max(zero, largest)
            error = value * mpmath.mpf(10) ** (3 - mpmath.mp.dps)
            return Found(value, error, zero, "largest finite loss: delta is the mass at infinity")
        if evaluate(delta, FN) >= 1 or not law.parts:
            return Found(zero, zero, zero, "0 by convention: delta(0) is at most the delta asked for")
    return None


def epsilon(law: Law, find: FindDelta, delta, digits: int, by_contour: bool) -> Found:
    """The eps >= 0 at which delta(eps) is the given delta, for an ordinary delta."""
    guess = _guess(law, delta)
    if guess <= 0 or not by_contour:
        at_zero = _zero_will_do(find, delta, digits)
        if at_zero is not None:
            return at_zero
    wanted, checked = digits, guess <= 0 or not by_contour
    while True:
        found = _search(law, find, delta, max(guess, 0.0), wanted, by_contour, checked)
        if found is None:  # Newton wants to go below 0
            at_zero = _zero_will_do(find, delta, digits)
            if at_zero is not None:
                return at_zero
            checked = True
            continue
        if found.error <= found.value * mpmath.mpf(10) ** -digits or wanted >= 3 * digits + 30:
            return found
        wanted += math.ceil(float(mpmath.log10(found.error / found.value))) + digits + 2
        guess = float(found.value)


def _zero_will_do(find: FindDelta, delta, digits: int) -> Found | None:
    """eps = 0 if delta(0) is at most the delta asked for, or cannot be told from it; None otherwise."""
    for places in (FIRST_DIGITS, digits + GUARD, 3 * digits + 3 * GUARD):
        at_zero = find(Fraction(0), places)
        with mpmath.workdps(places + 2 * GUARD):
            gap = evaluate(delta, FN) - at_zero.value
            if abs(gap) > 2 * at_zero.error:
                break
    if gap < -2 * at_zero.error:
        return None
    zero, shown = mpmath.mpf(0), mpmath.nstr(at_zero.value, 6)
    return Found(zero, zero, zero, f"0 by convention: delta(0) = {shown} is at most the delta asked for")


def _search(
    law: Law, find: FindDelta, delta, guess: float, digits: int, by_contour: bool, checked: bool
) -> Found | None:
    """The root to about `digits` digits, the error estimated from delta's.

    None if Newton wants to go below 0 and nobody has `checked` that the root is above.
    """
    places = digits + 2 * GUARD
    with mpmath.workdps(places):
        target, infinite = evaluate(delta, FN), law.mass_at_infinity()
        low, high = mpmath.mpf(0), law.largest_loss()
        eps = _inside(mpmath.mpf(guess), low, high, low)
        now = min(digits, FIRST_DIGITS)
        for _ in range(MOST_STEPS):
            found = find(_fraction(eps), now)
            miss = found.value - target
            if abs(miss) > 2 * found.error:
                low, high = (eps, high) if miss > 0 else (low, eps)
            step = _newton(found, miss, target, infinite)
            doubt = found.error / abs(found.slope) if found.slope else mpmath.inf
            small = abs(step) <= max(doubt, abs(eps) * mpmath.mpf(10) ** (-(now * 2) // 3 - 2))
            if small and now >= digits:
                last = 4 * step * step * (1 + abs(found.slope / (found.value - infinite)))
                error = (
                    2 * doubt + last + abs(eps) * mpmath.mpf(10) ** -(digits + GUARD)
                )  # the guard digits are not counted on
                return Found(eps + step, error, 1 / found.slope, f"{found.method}, inverted")
            if eps + step <= 0 and not checked:
                return None
            if small:
                now = digits if by_contour else min(digits, 2 * now)
            eps = _inside(eps + step, low, high, eps)
        return Found(eps, high - low, 1 / found.slope, f"{found.method}, inverted")


def _newton(found: Found, miss, target, infinite):
    """Newton's step in eps: on log delta far from the root, in x = e^eps near it."""
    above, wanted = found.value - infinite, target - infinite
    if not found.slope:
        return -mpmath.inf
    if above > 0 and abs(mpmath.log(above / wanted)) > 0.5:
        return -above / found.slope * mpmath.log(above / wanted)
    change = -miss / found.slope
    return mpmath.log1p(change) if change > -1 else -mpmath.inf


def _inside(eps, low, high, before):
    """eps if it lies inside the bracket, else a point that halves it."""
    if low < eps < high:
        return eps
    if mpmath.isinf(high):
        return max(2 * before, low + 1)
    return (low + high) / 2


def _guess(law: Law, delta) -> float:
    """eps from the saddle-point approximation, by bisection on log c."""
    landscape = Landscape(law)
    with mpmath.workdps(30):
        wanted = float(mpmath.log(evaluate(delta, FN) - law.mass_at_infinity()))

    def at(log_c: float) -> tuple[float, float]:
        c = math.exp(log_c)
        eps = landscape.cumulants(c).mean - 1 / c - 1 / (c + 1)
        return eps, landscape.at(c, eps).log_delta

    low, high = -30.0, 0.0
    while at(high)[1] > wanted and high < 300:
        low, high = high, high + 2
    for _ in range(25):
        middle = (low + high) / 2
        low, high = (middle, high) if at(middle)[1] > wanted else (low, middle)
    return at((low + high) / 2)[0]


def _fraction(x) -> Fraction:
    """The exact value of an mpf."""
    sign_bit, mantissa, exponent, _ = x._mpf_
    value = Fraction(int(mantissa)) * Fraction(2) ** exponent
    return -value if sign_bit else value


def _gap(one: Any, other: Any) -> tuple[Any, Any]:
    return one - other, max(abs(one), abs(other))
