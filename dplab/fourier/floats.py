"""Plain float64 as a function table: for the scout, whose numbers only choose, and never bound.

It lacks what laws of several branches need (`solve`, `integral`, ...); `rough_tails` takes the midpoints of intervals
for those.
"""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from scipy import special

from ..core.errors import UnboundSymbolError
from .intervals import Interval
from .onestep import OneStep
from .wide import half_erfc, is_wide


class FloatTable:
    """The functions of the closed forms, without error bounds."""

    inf = np.inf
    symbolic = False
    keeps_remainders = False
    pi = np.pi
    exp = staticmethod(np.exp)
    log = staticmethod(np.log)
    sqrt = staticmethod(np.sqrt)
    expm1 = staticmethod(np.expm1)

    def normal_cdf(self, x):
        """Phi(x)."""
        return half_erfc(-x / np.sqrt(np.longdouble(2)))[0] if is_wide(x) else special.ndtr(x)

    def log_normal_cdf(self, x):
        """log Phi(x)."""
        return special.log_ndtr(np.asarray(x).astype(float) if is_wide(x) else x)

    def rational(self, numerator: int, denominator: int) -> float:
        """The fraction, rounded."""
        return float(Fraction(numerator, denominator))

    def symbol(self, name: str):
        """Symbols have no value here: raises UnboundSymbolError."""
        raise UnboundSymbolError([name], "plain float64")

    def log1p(self, x):
        """log(1 + x), -inf at and below -1."""
        return np.where(np.asarray(x) <= -1, -np.inf, np.log1p(np.maximum(x, -1)))

    def log_mix(self, s, r):
        """log(1 + r (e^s - 1)), without overflow for large s."""
        right = s + np.log(r) + self.log1p((1 - r) / r * np.exp(-s))
        return np.where(np.asarray(s) > 300, right, self.log1p(r * np.expm1(s)))

    def monotone(self, function, x, rising: bool):
        """f(x)."""
        return function(x)

    def split(self, x, at: int, left: Callable, right: Callable):
        """left where x <= at, right elsewhere."""
        near = np.asarray(x) <= at
        if near.all():
            return left(x)
        low, high = left(x), right(x)
        if isinstance(low, tuple):
            return type(low)(*(np.where(near, a, b) for a, b in zip(low, high, strict=True)))
        return np.where(near, low, high)

    def power(self, x, r: Fraction):
        """x**r for x > 0."""
        return x ** float(r)

    def is_infinite(self, x) -> bool:
        """True for an infinite end of a support."""
        return bool(np.isinf(x))


FLOATS = FloatTable()


def rough_tails(step: OneStep, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Of the continuous part at any x: P(s > x), e^x Q(s > x), P(s <= x), Q(s <= x), about."""
    if step.support is None:
        return (np.zeros(np.shape(x)),) * 4
    with np.errstate(all="ignore"):
        try:
            found = _closed(step, x)
        except (AttributeError, TypeError):  # functions or operations that only intervals have
            at = Interval.exactly(x)
            found = [*step.continuous(at)[:2], step.below(at), step.q_below(at)]
            found = [row.mid for row in found]
    p, s, p_below, q_below = (np.nan_to_num(row, nan=0.0) for row in found)
    return p, s, p_below, q_below


def _closed(step: OneStep, x: np.ndarray):
    assert step.support is not None
    lower, upper = float(step.support[0].mid), float(step.support[1].mid)
    inside = np.clip(x, lower, upper)
    p, s = step.pld.above_scaled(FLOATS, inside)
    p_below, q_below = step.pld.below(FLOATS, inside)
    s = s * np.exp(x - inside)
    total_p, total_q = (float(mass.mid) for mass in step.continuous_mass)
    left, right = x <= lower, x >= upper
    p = np.where(left, total_p, np.where(right, 0.0, p))
    s = np.where(left, np.exp(x) * total_q, np.where(right, 0.0, s))
    p_below = np.where(left, 0.0, np.where(right, total_p, p_below))
    q_below = np.where(left, 0.0, np.where(right, total_q, q_below))
    return p, s, p_below, q_below
