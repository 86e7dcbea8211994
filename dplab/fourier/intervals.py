"""Outward-rounded float64 intervals, vectorised, and the function table of the fourier route.

An `Interval` holds two arrays lo <= hi; every operation returns an interval that contains the exact result for all
exact operands inside. So the tails of a mechanism, written once, come back as strict enclosures: parameter
conversion, rounding and the special functions' own errors included.

Stated accuracies, in units of u = 2^-53 relative (tested against 40 digits): exp, log, log1p, expm1: 4; erfc(a):
16 + 6 a^2 for a > 0, 16 for a <= 0 (SciPy squares the argument in float64); log_ndtr below -25: 16; erfcx above -2:
64.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

import numpy as np
from scipy import special

from ..core.errors import UnboundSymbolError
from .placing import Placing
from .rounding import down, sum_down, sum_up, up
from .wide import TINY as TINY
from .wide import U as U
from .wide import half_erfc, is_wide, least, narrow_down, narrow_up

MOST_FACTORS = 12
_FAR, _WIDE_FAR = -25.0, -145.0


class Interval:
    """Pairs of floats that enclose exact real numbers."""

    __slots__ = ("hi", "lo")
    __array_ufunc__ = None  # numpy arrays leave mixed operations to this class

    def __init__(self, lo, hi):
        self.lo, self.hi = lo, hi

    @classmethod
    def exactly(cls, value) -> "Interval":
        """The interval of one float (or array of floats), meant exactly."""
        return cls(value, value)

    @property
    def mid(self):
        """A point inside."""
        return np.where(self.lo == self.hi, self.lo, 0.5 * self.lo + 0.5 * self.hi)

    def __getitem__(self, index) -> "Interval":
        return Interval(np.asarray(self.lo)[index], np.asarray(self.hi)[index])

    def __neg__(self) -> "Interval":
        return Interval(-self.hi, -self.lo)

    def __add__(self, other) -> "Interval":
        other = as_interval(other)
        with np.errstate(over="ignore", invalid="ignore"):
            return Interval(sum_down(self.lo + other.lo), sum_up(self.hi + other.hi))

    __radd__ = __add__

    def __sub__(self, other) -> "Interval":
        return self + (-as_interval(other))

    def __rsub__(self, other) -> "Interval":
        return as_interval(other) + (-self)

    def __mul__(self, other) -> "Interval":
        a, b = self, as_interval(other)
        if not _positive(b):
            a, b = b, a
        right, both = _positive(b), _positive(b) and _positive(a)
        with np.errstate(invalid="ignore", over="ignore", under="ignore"):
            if both or (right and b.lo is b.hi):
                lo, hi = _finite(a.lo * b.lo), _finite(a.hi * b.hi)
            elif right:
                lo = np.minimum(_finite(a.lo * b.lo), _finite(a.lo * b.hi))
                hi = np.maximum(_finite(a.hi * b.lo), _finite(a.hi * b.hi))
            else:
                products = [_finite(x * y) for x in (a.lo, a.hi) for y in (b.lo, b.hi)]
                lo = np.minimum(np.minimum(products[0], products[1]), np.minimum(products[2], products[3]))
                hi = np.maximum(np.maximum(products[0], products[1]), np.maximum(products[2], products[3]))
        lo, hi = np.maximum(down(lo), 0.0) if both else down(lo), up(hi)
        zero = _is_zero(a) | _is_zero(b)
        return Interval(np.where(zero, 0.0, lo), np.where(zero, 0.0, hi)) if _any(zero) else Interval(lo, hi)

    __rmul__ = __mul__

    def __truediv__(self, other) -> "Interval":
        other = as_interval(other)
        if np.ndim(other.lo) == 0 and other.lo > 0:
            with np.errstate(invalid="ignore", over="ignore", under="ignore"):
                lo = np.where(np.asarray(self.lo) >= 0, self.lo / other.hi, self.lo / other.lo)
                hi = np.where(np.asarray(self.hi) >= 0, self.hi / other.lo, self.hi / other.hi)
            return Interval(down(_finite(lo)), up(_finite(hi)))
        return self * other._reciprocal()

    def __rtruediv__(self, other) -> "Interval":
        return as_interval(other) * self._reciprocal()

    def _reciprocal(self) -> "Interval":
        with np.errstate(divide="ignore", over="ignore", under="ignore"):
            crosses = (self.lo <= 0) & (self.hi >= 0)
            lo = np.where(crosses, -np.inf, down(1.0 / np.where(self.hi == 0, 1.0, self.hi)))
            hi = np.where(crosses, np.inf, up(1.0 / np.where(self.lo == 0, 1.0, self.lo)))
        return Interval(lo, hi)

    def clipped(self, lower: float, upper: float) -> "Interval":
        """The interval of min(max(x, lower), upper)."""
        return Interval(np.clip(self.lo, lower, upper), np.clip(self.hi, lower, upper))

    def __repr__(self) -> str:
        return f"Interval({self.lo!r}, {self.hi!r})"


def maximum(a, b) -> Interval:
    """Elementwise maximum."""
    a, b = as_interval(a), as_interval(b)
    return Interval(np.maximum(a.lo, b.lo), np.maximum(a.hi, b.hi))


def minimum(a, b) -> Interval:
    """Elementwise minimum."""
    a, b = as_interval(a), as_interval(b)
    return Interval(np.minimum(a.lo, b.lo), np.minimum(a.hi, b.hi))


def as_interval(value) -> Interval:
    """A number, array or interval as an interval."""
    if isinstance(value, Interval):
        return value
    if isinstance(value, Fraction):
        return IntervalTable().rational(value.numerator, value.denominator)
    if isinstance(value, int) and abs(value) > 2**53:
        return IntervalTable().rational(value, 1)
    exactly = value if isinstance(value, np.ndarray | np.floating) else float(value)
    return Interval(exactly, exactly)


def _any(condition) -> bool:
    """Whether it holds anywhere; an array's own method is several times quicker than `np.any`."""
    return bool(condition.any() if isinstance(condition, np.ndarray) else condition)


def _is_zero(x: Interval):
    return (x.lo == 0) & (x.hi == 0)


def _positive(x: Interval) -> bool:
    return bool(x.lo.min(initial=0) >= 0 if isinstance(x.lo, np.ndarray) else x.lo >= 0)


def _finite(x):
    """0 * inf is 0 here: an infinite end stands for "unbounded", and zero times any real number is zero."""
    unknown = np.isnan(x)
    return np.where(unknown, 0.0, x) if _any(unknown) else x


def _monotone(function: Callable, ulps: float) -> Callable[[Interval], Interval]:
    """An increasing function whose float64 version errs by at most `ulps` u relative; long doubles have 11 bits more,
    of which 6 count."""

    def enclosed(x) -> Interval:
        x = as_interval(x)
        factor = ulps * U / (64 if is_wide(x.lo) else 1)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
            return Interval(down(function(x.lo), factor), up(function(x.hi), factor))

    return enclosed


def _log1p(x):
    return np.where(np.asarray(x) <= -1, -np.inf, np.log1p(np.maximum(x, -1)))


def _log(x):
    return np.where(np.asarray(x) <= 0, -np.inf, np.log(np.maximum(x, 0)))


@lru_cache(maxsize=4096)
def _rational(numerator: int, denominator: int) -> Interval:
    value = Fraction(numerator, denominator)
    nearest = float(value)
    if Fraction(nearest) == value:
        return Interval.exactly(nearest)
    return Interval(float(down(nearest)), float(up(nearest)))


class IntervalTable(Placing):
    """The mechanisms' function table in interval arithmetic; `LawTable` adds what whole-valued outcomes need."""

    inf = np.inf
    symbolic = False
    keeps_remainders = True
    pi = Interval(float(down(np.pi)), float(up(np.pi)))
    log = staticmethod(_monotone(_log, 4))
    log1p = staticmethod(_monotone(_log1p, 4))
    _exp = staticmethod(_monotone(np.exp, 4))
    _expm1 = staticmethod(_monotone(np.expm1, 4))
    _sqrt = staticmethod(_monotone(np.sqrt, 1))

    def rational(self, numerator: int, denominator: int) -> Interval:
        """The fraction, enclosed; exact where a float can be."""
        return _rational(numerator, denominator)

    def symbol(self, name: str):
        """Symbols have no value here: raises UnboundSymbolError."""
        raise UnboundSymbolError([name], "the interval arithmetic")

    def exp(self, x) -> Interval:
        """e^x, never negative."""
        return self._exp(x).clipped(0.0, np.inf)

    def expm1(self, x) -> Interval:
        """e^x - 1, never below -1."""
        return self._expm1(x).clipped(-1.0, np.inf)

    def sqrt(self, x) -> Interval:
        """The square root."""
        return self._sqrt(x).clipped(0.0, np.inf)

    def normal_cdf(self, x) -> Interval:
        """Phi(x) = erfc(-x/sqrt 2)/2."""
        x = as_interval(x)
        a = -x / self.sqrt(Interval.exactly(np.longdouble(2) if is_wide(x.lo) else 2.0))
        (lo, below), (hi, above) = half_erfc(a.hi), half_erfc(a.lo)
        lo, hi, tiny = lo * (1 - below), hi * (1 + above), least(lo)
        return Interval(np.where(lo < tiny, 0.0, np.minimum(lo, 1.0)), np.where(hi < tiny, tiny, np.minimum(hi, 1.0)))

    def log_normal_cdf(self, x) -> Interval:
        """log Phi(x), through erfc where that is accurate and by SciPy's log_ndtr in the far lower tail."""
        x = as_interval(x)
        far = _WIDE_FAR if is_wide(x.lo) else _FAR
        near = self.log(self.normal_cdf(Interval(np.maximum(x.lo, far), np.maximum(x.hi, far))))
        far_lo = special.log_ndtr(np.minimum(narrow_down(x.lo), far)) * (1 + 16 * U)
        far_hi = special.log_ndtr(np.minimum(narrow_up(x.hi), far)) * (1 - 16 * U)
        return Interval(
            np.where(np.asarray(x.lo) < far, far_lo, near.lo),
            np.where(np.asarray(x.hi) < far, far_hi, near.hi),
        )

    def normal_excess(self, t, d) -> Interval:
        """Phi(-t) - e^{d (t + d/2)} Phi(-t - d) for d > 0; for small d without the cancellation, see `_mills_gap`."""
        t, d = as_interval(t), as_interval(d)
        x = d * (t + d / 2)
        direct = self.normal_cdf(-t) - self.exp(x + self.log_normal_cdf(-t - d))
        if not np.all(np.asarray(d.hi) <= _SMALL_SHIFT):
            return direct.clipped(0.0, 1.0)
        left = -self.expm1(x) + (self.exp(x) * self.normal_cdf(t + d) - self.normal_cdf(t))
        best = Interval(np.maximum(direct.lo, left.lo), np.minimum(direct.hi, left.hi))
        first, last = _MILLS_RANGE[0], _WIDE_MILLS_END if is_wide(t.lo) else _MILLS_RANGE[1]
        inside = t.clipped(first, last)
        middle = self.exp(-inside * inside / 2) / self.sqrt(2 * self.pi) * _mills_gap(inside, d)
        covered = (np.asarray(t.lo) >= first) & (np.asarray(t.hi) <= last)
        lo = np.where(covered, np.maximum(best.lo, middle.lo), best.lo)
        hi = np.where(covered, np.minimum(best.hi, middle.hi), best.hi)
        return Interval(lo, hi).clipped(0.0, 1.0)

    def log_mix(self, s, r) -> Interval:
        """log(1 + r (e^s - 1)), without overflow for large s."""
        return self.split(s, 300, lambda s: self.log1p(r * self.expm1(s)), lambda s: self._log_mix_right(s, r))

    def _log_mix_right(self, s, r) -> Interval:
        return s + self.log(r) + self.log1p((1 - r) / r * self.exp(-s))

    def split(self, x, at: int, left: Callable, right: Callable):
        """left where x <= at, right elsewhere (both are valid for every x)."""
        x = as_interval(x)
        above = np.asarray(x.hi) > at
        if not np.any(above):
            return left(x)
        if np.all(above):
            return right(x)
        low, high = left(x[~above]), right(x[above])
        if isinstance(low, tuple):
            pieces = [_joined(above, a, b) for a, b in zip(low, high, strict=True)]
            return type(low)(*pieces)  # type: ignore[arg-type]
        return _joined(above, low, high)

    def power(self, x, r: Fraction) -> Interval:
        """x**r: any x for a small whole r, else x > 0."""
        if r.denominator == 1 and 0 < r.numerator <= MOST_FACTORS:
            return _whole_power(as_interval(x), int(r.numerator))
        return self.exp(as_interval(r) * self.log(x))

    atan = staticmethod(_monotone(np.arctan, 4))

    def acot(self, x) -> Interval:
        """pi/2 - atan(x), the angle of the point (x, 1)."""
        x = as_interval(x)
        lo, hi = np.arctan2(1.0, x.hi), np.arctan2(1.0, x.lo)
        return Interval(np.maximum(down(lo * (1 - 4 * U)), 0.0), up(hi * (1 + 4 * U)))

    def is_infinite(self, x) -> bool:
        """True for an infinite end of a support."""
        return isinstance(x, float) and np.isinf(x)


_SMALL_SHIFT = 0.01
_MILLS_RANGE = (-2.0, 37.0)
_WIDE_MILLS_END = 145.0
_MILLS_7 = 34266.0
"""At least -R^(7)(-2), R Mills' ratio; R is completely monotone, so it bounds -R^(7) from there on."""


def _mills_gap(t: Interval, d: Interval) -> Interval:
    """R(t) - R(t + d) for Mills' ratio R(t) = (1 - Phi(t))/phi(t), t in the range above, 0 < d <= 0.01.

    Taylor's series at the midpoint m: -2 [R^(1)(m) h + R^(3)(m) h^3/3! + R^(5)(m) h^5/5!] and a rest of at most
    -2 R^(7)(t) h^7/7!, h = d/2. All terms are positive, and -R^(7)(t) <= min(48, 7!/t^8) for t >= 0. The derivatives
    follow from R^(1)(t) = t R(t) - 1.
    """
    m, h = t + d / 2, d / 2
    argument = m / IntervalTable._sqrt(Interval.exactly(2.0))
    low, high = narrow_down(argument.lo), narrow_up(argument.hi)
    ends = special.erfcx(high) * (1 - 64 * U), special.erfcx(low) * (1 + 64 * U)
    ratio = Interval(*ends) * IntervalTable._sqrt(IntervalTable.pi / 2)
    derivatives = [ratio, m * ratio - 1]
    for n in range(1, 5):
        derivatives.append(m * derivatives[n] + n * derivatives[n - 1])
    square = h * h
    total = derivatives[1] + square * (derivatives[3] / 6 + square * (derivatives[5] / 120))
    with np.errstate(divide="ignore"):
        far = np.minimum(48.0, 5040.0 / np.maximum(t.lo, 0.0) ** 8)
    seventh = np.where(np.asarray(t.lo) >= 0, far, _MILLS_7)
    rest = square * square * square * Interval(np.zeros_like(seventh), seventh / 5040 * (1 + 64 * U))
    return 2 * h * (rest - total)


def _whole_power(x: Interval, n: int) -> Interval:
    """x**n by repeated multiplication; an even power is never negative."""
    if n % 2 == 0:
        size_lo = np.where((np.asarray(x.lo) <= 0) & (np.asarray(x.hi) >= 0), 0.0, np.minimum(abs(x.lo), abs(x.hi)))
        x = Interval(size_lo, np.maximum(abs(x.lo), abs(x.hi)))
    power = x
    for _ in range(n - 1):
        power = power * x
    return power


def _joined(above: np.ndarray, low: Interval, high: Interval) -> Interval:
    """One interval array from its parts where `above` is False and where it is True."""
    kind = np.result_type(low.lo, high.lo)
    result = Interval(np.empty(above.shape, kind), np.empty(above.shape, kind))
    for mask, part in ((~above, low), (above, high)):
        result.lo[mask], result.hi[mask] = part.lo, part.hi
    return result
