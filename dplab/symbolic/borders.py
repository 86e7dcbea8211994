"""Where two densities cross, and how fast what is integrated falls at the ends: looked at with numbers, since the twin
of a derivation must not share its formulas."""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import pairwise

import mpmath

LEAST_DECAY = 1.6
"""M counts as infinite where its integrand falls no faster than t^-1.6: no quadrature has 30 digits then."""
NOISE = 2**10
"""Relative differences of so many units of rounding are none."""
GOLDEN, GOLDEN_STEPS = (mpmath.sqrt(5) - 1) / 2, 30


def borders(cuts: Sequence, p: Callable, q: Callable, growth) -> tuple[list, list]:
    """The ends of the parts on which the sign of p - growth q is constant, and these signs.

    Found by bisection between the points of a coarse grid, which is finer at the ends and where the difference bulges
    towards 0.
    """

    @cache
    def height(t):
        """The relative difference; infinite at an end where a density is, or has no value."""
        one, other = p(t), growth * q(t)
        if not mpmath.isfinite(one + other):
            return mpmath.inf if mpmath.isinf(one) else -mpmath.inf
        return (one - other) / (one + other) if one + other else mpmath.mpf(0)

    def sign(t):
        return 0 if abs(height(t)) <= mpmath.eps * NOISE else int(mpmath.sign(height(t)))

    inside = [t for low, high in pairwise(cuts) for t in (*inner_points(low, high, 12), *_near_ends(low, high))]
    ends = [t for t in (cuts[0], cuts[-1]) if not mpmath.isinf(t) and (p(t) or q(t))]
    far = [
        start + sign * mpmath.mpf(2) ** k
        for end, start, sign in ((cuts[0], cuts[1], -1), (cuts[-1], cuts[-2], 1))
        if mpmath.isinf(end) and not mpmath.isinf(start)
        for k in range(5, 80)
    ]
    probes = sorted({*ends, *inside, *(t for t in far if p(t) and q(t))})
    probes = sorted({*probes, *_bulges(probes, height)})
    signs = [sign(t) for t in probes]
    found, states = [cuts[0]], [signs[0]]
    for a, b, left, right in zip(probes, probes[1:], signs, signs[1:], strict=False):
        if right != left:
            found.append(bisected(lambda t, left=left: sign(t) == left, a, b))
            states.append(right)
    return [*found, cuts[-1]], states


def _bulges(probes: Sequence, height: Callable) -> list:
    """Where a function comes nearest to 0 between three probes of one sign: it may change its sign twice there. By
    golden sections, which stop at the first point of the other sign."""
    found = []
    for a, middle, c in _triples(probes):
        side, (left, here, right) = mpmath.sign(height(middle)), map(height, (a, middle, c))
        depth = min(left * side, right * side) - here * side
        if not (mpmath.isfinite(left) and mpmath.isfinite(right)) or depth <= mpmath.eps * NOISE:
            continue
        for _ in range(GOLDEN_STEPS):
            low, high = c - (c - a) * GOLDEN, a + (c - a) * GOLDEN
            one, other = height(low) * side, height(high) * side
            if min(one, other) <= 0:
                found.append(low if one <= 0 else high)
                break
            a, c = (a, high) if one < other else (low, c)
    return found


def _triples(values: Sequence) -> Iterator[tuple]:
    """Three neighbours at a time."""
    return zip(values, values[1:], values[2:], strict=False)


def _near_ends(low, high) -> list:
    """Points that crowd at both ends of a finite interval: in a long one all that happens may be near one of them."""
    if mpmath.isinf(low) or mpmath.isinf(high):
        return []
    shares = [mpmath.mpf("0.8") ** k for k in range(1, 33)] + [mpmath.mpf(2) ** -k for k in range(12, 60, 3)]
    parts = [(high - low) * share for share in shares]
    return [*(low + part for part in parts), *(high - part for part in parts)]


def inner_points(low, high, parts: int) -> list:
    """The middles of equal cells; of an infinite interval, those of a mapped one."""
    middles = [mpmath.mpf(2 * i + 1) / (2 * parts) for i in range(parts)]
    if mpmath.isinf(low) and mpmath.isinf(high):
        return [mpmath.log(u / (1 - u)) for u in middles]
    if mpmath.isinf(high):
        return [low + u / (1 - u) for u in middles]
    if mpmath.isinf(low):
        return [high - (1 - u) / u for u in middles]
    return [low + (high - low) * u for u in middles]


def decays(cuts: Sequence, p: Callable, q: Callable, z, moment: int = 0) -> bool:
    """Whether P (P/Q)^z |s|^moment vanishes fast enough for a quadrature at infinite ends of a piece, or grows slowly
    enough at finite ones."""
    finite = [x for x in cuts if not mpmath.isinf(x)] or [mpmath.mpf(0)]
    width = (finite[-1] - finite[0]) or mpmath.mpf(1)
    steepest = -0.25 if z else -0.6
    for end, start, sign in ((cuts[0], finite[0], -1), (cuts[-1], finite[-1], 1)):
        if not mpmath.isinf(end):
            # P (P/Q)^z ~ d^a at a distance d from a finite end
            places = [end - sign * width * mpmath.mpf(10) ** d for d in (-10, -20)]
            values = [_log_power(p, q, place, z, moment) for place in places]
            if None not in values and (values[0] - values[1]) / (10 * mpmath.log(10)) < steepest:
                return False
            continue
        for reach in (10**6, 10**4, 200, 50, 10, 3):
            near, far = start + sign * width * reach / 10, start + sign * width * reach
            if p(far) and q(far):
                values = [_log_power(p, q, x, z, moment) for x in (near, far)]
                if None not in values and (values[0] - values[1]) / mpmath.log(10) < LEAST_DECAY:
                    return False
                break
    return True


def _log_power(p: Callable, q: Callable, t, z, moment: int):
    """log of P (P/Q)^z |s|^moment, None where one of them vanishes."""
    a, b = p(t), q(t)
    if not (a > 0 and b > 0 and a != b):
        return None
    loss = mpmath.log(a / b)
    return mpmath.log(a) + z * loss + moment * mpmath.log(abs(loss))


def bisected(holds: Callable, a, b):
    """The end of the interval from a on which a condition holds, to the working precision."""
    for _ in range(mpmath.mp.prec + 5):
        middle = (a + b) / 2
        if middle in (a, b):
            break
        a, b = (middle, b) if holds(middle) else (a, middle)
    return (a + b) / 2
