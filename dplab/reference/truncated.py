"""Truncated binomial series, summed from their largest term outwards."""

import math
from typing import Any, NamedTuple

import mpmath


class Relative(NamedTuple):
    """The index of the largest term C(k,i) t^i, and the sum divided by that term."""

    peak: int
    sum: Any


def truncated_power(k: int, t, first: int, last: int) -> Relative:
    """sum_{first <= i <= last} C(k,i) t^i over its largest term, for complex t and first <= last.

    About sqrt(k) terms are needed where the largest lies inside the range, fewer where it lies at an end.

    >>> truncated_power(4, mpmath.mpf(1), 0, 2)
    Relative(peak=2, sum=mpf('1.8333333333333333'))
    """
    log_t = float(mpmath.log(abs(t))) if t else -1e300
    share = 1 / (1 + math.exp(-log_t)) if log_t > -600 else 0.0
    peak = min(last, max(first, round(k * share)))
    lowest = -mpmath.mp.dps * math.log(10) - 5
    total = term = mpmath.mpf(1)
    weight = 0.0
    for i in range(peak, last):
        term = term * t * (k - i) / (i + 1)
        weight += math.log((k - i) / (i + 1)) + log_t
        if weight < lowest:
            break
        total += term
    term, weight, inverse = mpmath.mpf(1), 0.0, 1 / t if t else 0
    for i in range(peak, first, -1):
        term = term * inverse * i / (k - i + 1)
        weight += math.log(i / (k - i + 1)) - log_t
        if weight < lowest:
            break
        total += term
    return Relative(peak, total)
