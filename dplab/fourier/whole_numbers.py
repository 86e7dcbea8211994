"""The function table of whole laws: interval arithmetic, binomial masses, theta sums, and atoms as columns."""

import math
from functools import lru_cache

import numpy as np

from .columns import Columns, added
from .intervals import TINY, Interval, IntervalTable, U, as_interval
from .rounding import down, up

BASE = IntervalTable()


class LawTable(IntervalTable):
    """The mechanisms' function table in interval arithmetic, complete: laws of 100,000 atoms are arrays."""

    depth = 690.0

    def is_zero(self, x) -> bool:
        """True for the interval [0, 0]."""
        x = as_interval(x)
        return bool(np.all(np.asarray(x.lo) == 0) and np.all(np.asarray(x.hi) == 0))

    def floor(self, x):
        """Not used by float64 enclosures: raises NotImplementedError."""
        raise NotImplementedError("floor of an interval")

    theta_above = floor

    def binomial_pmf(self, n: int, j, p) -> Interval:
        """C(n,j) p^j (1-p)^(n-j) for whole j, scalar or array."""
        index = np.rint(as_interval(j).mid).astype(int)  # sums of whole numbers come rounded outwards
        return _binomial_masses(n, float(as_interval(p).lo), float(as_interval(p).hi))[index]

    def theta(self, a, v) -> Interval:
        """The sum of e^{-t^2/(2v)} over all whole t (a = 0 only)."""
        if not self.is_zero(a):
            raise NotImplementedError("theta of an interval that is not 0")
        return _theta(as_interval(v))

    def each(self, items, formula):
        """formula of all whole numbers of a range, or of all atoms, at once."""
        if isinstance(items, range):
            if not len(items):
                return []
            found = formula(Interval.exactly(np.arange(items.start, items.stop, items.step, dtype=float)))
        else:
            if not len(items):
                return []
            found = formula(Columns.of(items))
        return Columns.made(*found) if isinstance(found, tuple) else found

    def total(self, values) -> Interval:
        """The sum of an array of numbers >= 0."""
        return Interval.exactly(0.0) if isinstance(values, list) else added(values)

    def joined(self, one, two):
        """All atoms of both."""
        if not len(one) or not len(two):
            return one if len(one) else two
        return Columns.of(one).joined(Columns.of(two))

    def sums(self, one, two):
        """The atoms of the sum of two independent losses."""
        return Columns.of(one).plus(Columns.of(two)) if len(one) and len(two) else []


@lru_cache(maxsize=64)
def _binomial_masses(n: int, p_lo: float, p_hi: float) -> Interval:
    """The n + 1 masses of Bin(n, p) for every p in [p_lo, p_hi]: products of the ratios pmf(j+1)/pmf(j) = (n-j)/(j+1)
    p/(1-p) from the mode outwards, divided by their sum; the rounding grows with the distance from the mode only."""
    p = Interval(p_lo, p_hi)
    odds = p / (1 - p)
    mode = min(max(math.floor((n + 1) * 0.5 * (p_lo + p_hi)), 0), n)
    rising = _ratios(np.arange(mode, n, dtype=float), n, odds, up_from_mode=True)
    falling = _ratios(np.arange(mode, 0, -1, dtype=float), n, odds, up_from_mode=False)
    lo = np.concatenate([falling.lo[::-1], [1.0], rising.lo])
    hi = np.concatenate([falling.hi[::-1], [1.0], rising.hi])
    total = added(Interval(lo, hi))
    masses = Interval(lo, hi) / total
    return Interval(masses.lo, np.minimum(masses.hi, 1.0))


def _ratios(j: np.ndarray, n: int, odds: Interval, up_from_mode: bool) -> Interval:
    """Running products of pmf(j+1)/pmf(j), or of pmf(j-1)/pmf(j)."""
    if not len(j):
        return Interval(np.empty(0), np.empty(0))
    step = Interval.exactly((n - j) / (j + 1) if up_from_mode else j / (n - j + 1))
    step = Interval(down(step.lo), up(step.hi)) * (odds if up_from_mode else 1 / odds)
    counts = np.arange(1, len(j) + 1)
    with np.errstate(under="ignore"):
        lo, hi = np.cumprod(step.lo) * (1 - 2 * counts * U), np.cumprod(step.hi) * (1 + 2 * counts * U)
    small = hi < TINY  # beyond: what underflows is only known to be as small as that
    return Interval(np.where(small, 0.0, np.maximum(lo, 0.0)), np.where(small, TINY, hi))


def _theta(v: Interval) -> Interval:
    """The sum of e^{-t^2/(2v)} over all whole t, for v > 0: directly, or by Poisson's formula sqrt(2 pi v) times the
    sum of e^{-2 pi^2 v m^2}; ten terms, the rest below twice the eleventh."""
    if v.hi < 0.2:
        return _theta_sum(-1 / (2 * v))
    return BASE.sqrt(2 * BASE.pi * v) * _theta_sum(-2 * BASE.pi * BASE.pi * v)


def _theta_sum(rate: Interval) -> Interval:
    """1 + 2 sum of e^{rate m^2} for a rate below -2."""
    m = Interval.exactly(np.arange(1.0, 11.0))
    terms = BASE.exp(m * m * rate)
    rest = float(BASE.exp(Interval.exactly(121.0) * rate).hi)
    return 1 + 2 * added(Interval(terms.lo, terms.hi)) + Interval(0.0, 4 * rest)
