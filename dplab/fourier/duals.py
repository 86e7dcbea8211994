"""First derivatives, strictly enclosed: a function table for numbers that carry their derivative along.

A `Dual` is a pair of intervals, a value and its derivative with respect to one variable. A mechanism's formula run on
this table comes back with an enclosure of its derivative (forward differentiation), the formula written only once.
"""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from scipy import special

from ..core.certified import Certified
from ..core.errors import NoEnclosureError
from .intervals import Interval, IntervalTable, U, _joined, as_interval

FN = IntervalTable()


class Dual:
    """value and slope, both intervals; every operation encloses both for all exact operands inside."""

    __slots__ = ("slope", "value")
    __array_ufunc__ = None

    def __init__(self, value: Interval, slope: Interval):
        self.value, self.slope = value, slope

    @classmethod
    def variable(cls, x: Interval) -> "Dual":
        """The variable itself: its slope is 1."""
        one = np.ones(np.shape(x.lo))
        return cls(x, Interval(one, one))

    @classmethod
    def constant(cls, x: Interval) -> "Dual":
        """A number that does not depend on the variable."""
        return cls(x, Interval.exactly(0.0))

    def chain(self, value: Interval, derivative: Interval) -> "Dual":
        """f(self), given f and f' there."""
        return Dual(value, derivative * self.slope)

    def __getitem__(self, index) -> "Dual":
        shape = np.shape(self.value.lo)
        slope = Interval(np.broadcast_to(self.slope.lo, shape), np.broadcast_to(self.slope.hi, shape))
        return Dual(self.value[index], slope[index])

    def __neg__(self) -> "Dual":
        return Dual(-self.value, -self.slope)

    def __add__(self, other) -> "Dual":
        other = _dual(other)
        return Dual(self.value + other.value, self.slope + other.slope)

    __radd__ = __add__

    def __sub__(self, other) -> "Dual":
        return self + (-_dual(other))

    def __rsub__(self, other) -> "Dual":
        return _dual(other) + (-self)

    def __mul__(self, other) -> "Dual":
        if other is self:  # a square is never negative
            square = self.value * self.value
            return Dual(square.clipped(0.0, np.inf), 2 * (self.value * self.slope))
        other = _dual(other)
        return Dual(self.value * other.value, self.slope * other.value + self.value * other.slope)

    __rmul__ = __mul__

    def __truediv__(self, other) -> "Dual":
        other = _dual(other)
        ratio = self.value / other.value
        return Dual(ratio, (self.slope - ratio * other.slope) / other.value)

    def __rtruediv__(self, other) -> "Dual":
        return _dual(other) / self


def _dual(value) -> Dual:
    return value if isinstance(value, Dual) else Dual.constant(as_interval(value))


class DualTable:
    """The mechanisms' function table for values with derivatives."""

    inf = np.inf
    symbolic = False
    keeps_remainders = True
    pi = Dual.constant(FN.pi)

    def rational(self, numerator: int, denominator: int) -> Dual:
        """The fraction, enclosed; slope 0."""
        return Dual.constant(FN.rational(numerator, denominator))

    def symbol(self, name: str):
        """Symbols have no value here: raises UnboundSymbolError."""
        return FN.symbol(name)

    def exp(self, x) -> Dual:
        """e^x."""
        x = _dual(x)
        value = FN.exp(x.value)
        return x.chain(value, value)

    def expm1(self, x) -> Dual:
        """e^x - 1."""
        x = _dual(x)
        return x.chain(FN.expm1(x.value), FN.exp(x.value))

    def log(self, x) -> Dual:
        """log x."""
        x = _dual(x)
        return x.chain(FN.log(x.value), 1 / x.value)

    def log1p(self, x) -> Dual:
        """log(1 + x)."""
        x = _dual(x)
        return x.chain(FN.log1p(x.value), 1 / (1 + x.value))

    def sqrt(self, x) -> Dual:
        """The square root."""
        x = _dual(x)
        root = FN.sqrt(x.value)
        return x.chain(root, 0.5 / root)

    def normal_cdf(self, x) -> Dual:
        """Phi(x), whose derivative is the normal density."""
        x = _dual(x)
        return x.chain(FN.normal_cdf(x.value), _pdf(x.value))

    def log_normal_cdf(self, x) -> Dual:
        """log Phi(x); its derivative falls with x, and runs from sqrt(2/pi)/erfcx(-x/sqrt 2)."""
        x = _dual(x)
        with np.errstate(over="ignore"):
            ends = [np.sqrt(2 / np.pi) / special.erfcx(-np.asarray(e) / np.sqrt(2)) for e in (x.value.hi, x.value.lo)]
        hazard = Interval(ends[0] * (1 - 64 * U), ends[1] * (1 + 64 * U))
        return x.chain(FN.log_normal_cdf(x.value), hazard.clipped(0.0, np.inf))

    def log_mix(self, s, r) -> Dual:
        """log(1 + r (e^s - 1)), with derivatives r e^{s - value} in s and (e^s - 1) e^{-value} in r."""
        s, r = _dual(s), _dual(r)
        value = FN.log_mix(s.value, r.value)
        slope = r.value * FN.exp(s.value - value) * s.slope
        if np.any(np.asarray(r.slope.lo) != 0) or np.any(np.asarray(r.slope.hi) != 0):
            slope = slope + (FN.exp(s.value - value) - FN.exp(-value)) * r.slope
        return Dual(value, slope)

    def power(self, x, r: Fraction) -> Dual:
        """x**r for x > 0."""
        x = _dual(x)
        return x.chain(FN.power(x.value, r), r * FN.power(x.value, r - 1))

    def split(self, x, at: int, left: Callable, right: Callable):
        """left where x <= at, right elsewhere (both are valid for every x)."""
        x = _dual(x)
        above = np.asarray(x.value.hi) > at
        if not np.any(above):
            return left(x)
        if np.all(above):
            return right(x)
        low, high = left(x[~above]), right(x[above])
        if isinstance(low, tuple):
            return type(low)(*(_merged(above, a, b) for a, b in zip(low, high, strict=True)))  # type: ignore[arg-type]
        return _merged(above, low, high)

    def atan(self, x) -> Dual:
        """The angle in (-pi/2, pi/2)."""
        x = _dual(x)
        return x.chain(FN.atan(x.value), 1 / (1 + (x * x).value))

    def acot(self, x) -> Dual:
        """The angle in (0, pi)."""
        x = _dual(x)
        return x.chain(FN.acot(x.value), -1 / (1 + (x * x).value))

    def within(self, x, low, high) -> Dual:
        """x, known to lie between the two."""
        x = _dual(x)
        return Dual(FN.within(x.value, _plain(low), _plain(high)), x.slope)

    def refined(self, t, x, solved) -> Dual:
        """t."""
        return t

    def between(self, x, low, high, below, inside, above) -> Dual:
        """below where x <= low, above where x >= high, else inside(x); without a slope on intervals with an end."""
        x, low, high = _dual(x), _plain(low), _plain(high)
        below, above = _dual(below), _dual(above)
        found = _dual(inside(Dual(FN.within(x.value, low, high), x.slope)))
        value = FN.between(x.value, low, high, below.value, lambda _: found.value, above.value)
        under, over = np.asarray(x.value.hi) <= as_interval(low).lo, np.asarray(x.value.lo) >= as_interval(high).hi
        whole = (np.asarray(x.value.lo) >= as_interval(low).hi) & (np.asarray(x.value.hi) <= as_interval(high).lo)
        ends = (
            np.where(whole, inner, np.where(under, left, np.where(over, right, unknown)))
            for inner, left, right, unknown in (
                (found.slope.lo, below.slope.lo, above.slope.lo, -np.inf),
                (found.slope.hi, below.slope.hi, above.slope.hi, np.inf),
            )
        )
        return Dual(value, Interval(*ends))

    def monotone(self, function, x, rising: bool):
        """f(x)."""
        return function(x)

    def solve(self, function: Callable, x, low, high, rising: bool, gaps=(), flat=(False, False)) -> Dual:
        """The t with function(t) = x, whose derivative is 1/function'(t)."""
        x = _dual(x)
        t = FN.solve(_of_intervals(function), x.value, _plain(low), _plain(high), rising, gaps)
        slope = _dual(function(Dual.variable(t))).slope.clipped(*((0.0, np.inf) if rising else (-np.inf, 0.0)))
        return x.chain(t, 1 / slope)

    def certified(self, function: Callable, slope: Callable, ends: tuple, values: tuple, rising: bool) -> Certified:
        """As in intervals."""
        ends, values = (tuple(map(_plain, pair)) for pair in (ends, values))
        return FN.certified(_of_intervals(function), _of_intervals(slope), ends, values, rising)

    def __getattr__(self, name: str):
        """Functions without a derivative here: raises NoEnclosureError when one is needed."""
        if name.startswith("__"):
            raise AttributeError(name)
        raise NoEnclosureError(f"fourier: no derivative of {name} in interval arithmetic")

    def is_infinite(self, x) -> bool:
        """True for an infinite end of a support."""
        return isinstance(x, float) and np.isinf(x)


def _of_intervals(function: Callable) -> Callable[[Interval], Interval]:
    """A function of duals as one of intervals."""
    return lambda t: _dual(function(Dual.constant(t))).value


def _plain(x):
    return x.value if isinstance(x, Dual) else x


def _merged(above: np.ndarray, low: Dual, high: Dual) -> Dual:
    return Dual(_joined(above, low.value, high.value), _joined(above, low.slope, high.slope))


def _pdf(x: Interval) -> Interval:
    far = np.maximum(np.abs(x.lo), np.abs(x.hi))
    near = np.where((np.asarray(x.lo) <= 0) & (np.asarray(x.hi) >= 0), 0.0, np.minimum(np.abs(x.lo), np.abs(x.hi)))
    square = Interval(near, far) * Interval(near, far)
    return FN.exp(-square / 2) / FN.sqrt(2 * FN.pi)
