"""Closed forms to any number of digits: a sympy expression walked in interval arithmetic.

Every node yields an interval that contains its value, so cancellation shows as width and is answered with more
precision until the width is below the digits asked for. A condition that the intervals cannot decide takes the hull
of both branches: delta(eps) is continuous, so the hull closes as the precision grows. The only endpoints that are not
rounded outwards by mpmath itself are those of erfc, which is monotone and accurate to an ulp; they are widened here.
"""

import functools
import math
from collections.abc import Mapping
from typing import Any

import mpmath
from mpmath import libmp
from mpmath.ctx_iv import MPIntervalContext

from .errors import NoClosedFormError, ParameterError, PrecisionError, UnboundSymbolError
from .parameters import Parameter, evaluate, parameter_text

GUARD_DIGITS = 10
MOST_DIGITS = 2000
"""An expression whose first 2000 digits (or eight times those asked for) are all zero is taken to be zero."""


def evaluate_expression(expression, digits: int, values: Mapping[str, Parameter]):
    """The value of a sympy expression as an mpf with `digits` correct significant digits.

    `values` gives the exact value of each free symbol by its name.

    Raises UnboundSymbolError for a symbol without a value, ParameterError for a value that contradicts the symbol's
    sign, PrecisionError if the digits are out of reach.
    """
    _check_symbols(expression, values)
    limit = max(MOST_DIGITS, 8 * digits)
    working = digits + GUARD_DIGITS
    while True:
        interval = Walker(working, values).walk(expression)
        value = _settled(interval, digits)
        if value is not None:
            return value
        if working >= limit:
            return _zero_or_refuse(interval, limit, digits)
        working = min(2 * working, limit)


def _check_symbols(expression, values: Mapping[str, Parameter]) -> None:
    symbols = expression.free_symbols
    missing = [symbol.name for symbol in symbols if symbol.name not in values]
    if missing:
        raise UnboundSymbolError(missing, "a closed form's evaluation")
    for symbol in symbols:
        value = values[symbol.name]
        table = Walker(30, {})
        if symbol.is_positive and not bool(evaluate(value, table) > 0):
            raise ParameterError(symbol.name, parameter_text(value), "> 0")


def _settled(interval, digits: int):
    """The midpoint, rounded, if all of the interval shares its digits; else None."""
    low, high = _ends(interval)
    if low == high:
        return low
    if not (mpmath.isfinite(low) and mpmath.isfinite(high)) or low <= 0 <= high:
        return None
    with mpmath.workdps(digits + GUARD_DIGITS):
        if high - low > min(abs(low), abs(high)) * mpmath.mpf(10) ** (-digits - 1):
            return None
        return (low + high) / 2


def _zero_or_refuse(interval, limit: int, digits: int):
    low, high = _ends(interval)
    tiny = mpmath.mpf(10) ** (-limit // 2)
    if -tiny <= low <= high <= tiny:
        return mpmath.mpf(0)
    if low == -mpmath.inf and high < -limit:  # the logarithm of such a zero
        return low
    raise PrecisionError(f"{digits} digits are out of reach: {limit} working digits give [{low}, {high}]")


def _ends(interval):
    low, high = interval._mpi_
    return mpmath.mp.make_mpf(low), mpmath.mp.make_mpf(high)


class Walker:
    """Interval values of sympy nodes at one precision; also a function table for parameters (see `functions`)."""

    def __init__(self, digits: int, values: Mapping[str, Parameter]):
        self.ctx = MPIntervalContext()
        self.ctx.dps = digits
        self.inf = self.ctx.mpf("inf")
        self.line = self.ctx.mpf(["-inf", "inf"])
        self.names: dict[str, Any] = {name: evaluate(value, self) for name, value in values.items()}
        self.indices: dict[Any, int] = {}
        self.known: dict[Any, Any] = {}
        self.varying: dict[Any, bool] = {}
        self.binomials = _Binomials()

    # --- the function table -----------------------------------------------------------------------

    @property
    def pi(self):
        """An interval around pi."""
        return +self.ctx.pi

    def rational(self, numerator: int, denominator: int):
        """An interval around the fraction."""
        return self.ctx.mpf(numerator) / denominator

    def symbol(self, name: str):
        """Raises UnboundSymbolError."""
        raise UnboundSymbolError([name], "a closed form's evaluation")

    def exp(self, x):
        """e^x."""
        return self.ctx.exp(x)

    def sqrt(self, x):
        """The square root of the part of x that is >= 0."""
        return self.ctx.sqrt(self._clipped(x))

    def log(self, x):
        """log x; an interval that reaches zero has -inf as its lower end."""
        low, high = x._mpi_
        if libmp.mpf_sign(high) <= 0:
            return -self.inf
        if libmp.mpf_sign(low) <= 0:
            return self._span(libmp.fninf, self.ctx.log(self._span(high, high))._mpi_[1])
        return self.ctx.log(x)

    def power(self, x, r):
        """x**r for an exact number r."""
        if r.denominator == 1:
            return x ** int(r.numerator)
        root = self.sqrt(x) if r.denominator == 2 else self.exp(self.log(x) / r.denominator)
        return root ** int(r.numerator)

    def erfc(self, x):
        """erfc decreases: its ends are those of x, swapped and widened by a few ulps."""
        precision = self.ctx.prec
        low, high = x._mpi_
        one_up = self.ctx.mpf([1 - mpmath.ldexp(1, -precision), 1 + mpmath.ldexp(1, -precision)])
        ends = [libmp.mpf_erfc(end, precision + 20, "n") for end in (high, low)]
        return self._span(*ends) * one_up

    def atan(self, x):
        """The angle in (-pi/2, pi/2)."""
        return self.ctx.make_mpf(libmp.mpi_atan(x._mpi_, self.ctx.prec))

    def _clipped(self, x):
        low, high = x._mpi_
        zero = libmp.fzero
        return self._span(zero if libmp.mpf_lt(low, zero) else low, zero if libmp.mpf_lt(high, zero) else high)

    def _span(self, low, high):
        return self.ctx.make_mpf((low, high))

    # --- nodes ------------------------------------------------------------------------------------

    def walk(self, node):
        """The interval of a node. Nodes without a bound index are computed once."""
        found = self.known.get(node)
        if found is not None:
            return found
        value = self._value(node)
        if libmp.fnan in value._mpi_:
            value = self.line
        if not self._varies(node):
            self.known[node] = value
        return value

    def _varies(self, node) -> bool:
        if not self.indices:
            return False
        if node not in self.varying:
            self.varying[node] = not node.free_symbols.isdisjoint(self.indices)
        return self.varying[node]

    def _value(self, node):
        if node in self.indices:
            return self.ctx.mpf(self.indices[node])
        if node.is_Symbol:
            return self.names[node.name]
        if node.is_Rational:
            return self.rational(int(node.p), int(node.q))
        rule = _RULES.get(type(node).__name__)
        if rule is None and hasattr(node, "enclosure"):  # a node of a pair that has no closed form
            return node.enclosure(self)
        if rule is None:
            raise NoClosedFormError(f"evaluation: no rule for {type(node).__name__} in {str(node)[:60]}")
        return rule(self, node)

    def integer(self, node) -> int:
        """A node that must be a whole number: the limit of a sum, an exponent, an argument of a binomial."""
        if node.is_Integer:
            return int(node)
        if node in self.indices:
            return self.indices[node]
        if node.is_Add or node.is_Mul:
            parts = [self.integer(part) for part in node.args]
            return sum(parts) if node.is_Add else math.prod(parts)
        raise NoClosedFormError(f"evaluation: {node} is not a whole number")

    def decide(self, condition) -> bool | None:
        """True, False, or None where the intervals overlap."""
        kind = type(condition).__name__
        if kind in ("BooleanTrue", "BooleanFalse"):
            return kind == "BooleanTrue"
        if kind == "Not":
            inner = self.decide(condition.args[0])
            return None if inner is None else not inner
        if kind in ("And", "Or"):
            answers = [self.decide(part) for part in condition.args]
            stops = kind == "Or"
            return stops if stops in answers else (None if None in answers else not stops)
        left, right = (self.walk(side) for side in condition.args)
        return _COMPARISONS[kind](left, right)

    def hull(self, intervals):
        """The smallest interval that contains all of them."""
        first, *rest = intervals
        for other in rest:
            low, high = zip(first._mpi_, other._mpi_, strict=True)
            first = self._span(_least(low), _greatest(high))
        return first


class _Binomials:
    """C(n, j), fast when j runs upwards."""

    def __init__(self):
        self.last = (-1, -1, 0)

    def __call__(self, n: int, j: int) -> int:
        row, column, value = self.last
        value = value * (n - column) // j if (row, column) == (n, j - 1) else math.comb(n, j)
        self.last = (n, j, value)
        return value


def _power(walker: Walker, node):
    base, exponent = node.args
    if exponent.is_Rational:
        return walker.power(walker.walk(base), exponent)
    if exponent.is_integer and walker.indices:
        return walker.walk(base) ** walker.integer(exponent)
    return walker.exp(walker.walk(exponent) * walker.log(walker.walk(base)))


def _piecewise(walker: Walker, node):
    possible = []
    for value, condition in node.args:
        holds = walker.decide(condition)
        if holds is not False:
            possible.append(walker.walk(value))
        if holds:
            break
    return walker.hull(possible)


def _extreme(walker: Walker, node, choose):
    lows, highs = zip(*(walker.walk(part)._mpi_ for part in node.args), strict=True)
    return walker._span(choose(lows), choose(highs))


def _least(ends):
    return min(ends, key=mpmath.mp.make_mpf)


def _greatest(ends):
    return max(ends, key=mpmath.mp.make_mpf)


def _sum(walker: Walker, node):
    summand, *inner, (index, first, last) = node.args  # the last limit is the outermost sum
    if inner:
        summand = node.func(summand, *inner)
    total = walker.ctx.mpf(0)
    outside = dict(walker.indices)
    for value in range(walker.integer(first), walker.integer(last) + 1):
        walker.indices = {**outside, index: value}
        total += walker.walk(summand)
    walker.indices = outside
    return total


def _binomial(walker: Walker, node):
    n, j = (walker.integer(part) for part in node.args)
    return walker.ctx.mpf(walker.binomials(n, j))


def _floor(walker: Walker, node):
    """The hull of the whole numbers that the floor may be."""
    low, high = _ends(walker.walk(node.args[0]))
    return walker.ctx.mpf([mpmath.floor(low), mpmath.floor(high)])


def _theta(walker: Walker, node):
    """The sum of e^{-(t-a)^2/(2v)} over all whole t; for v > 1/5 by Poisson's formula."""
    a, v = (walker.walk(part) for part in node.args)
    ctx, pi = walker.ctx, walker.pi
    if node.args[0] == 0 and _ends(v)[1] < mpmath.mpf(1) / 5:
        return 1 + 2 * _gauss_sum(walker, 1, v)
    if _ends(v)[0] <= 0 or _ends(v)[1] < mpmath.mpf(1) / 5:
        raise NoClosedFormError(f"evaluation: {node} for a small second argument")
    total, m, term = ctx.mpf(1), 0, ctx.mpf(1)
    while _ends(term)[1] > mpmath.mpf(10) ** -(ctx.dps + 5):
        m += 1
        term = ctx.exp(-2 * pi * pi * v * m * m)
        total += 2 * term * (ctx.cos(2 * pi * a * m) if node.args[0] != 0 else 1)
    rest = _ends(term)[1]  # the terms fall by more than half from here on
    return ctx.sqrt(2 * pi * v) * (total + ctx.mpf([-2 * rest, 2 * rest]))


def _theta_above(walker: Walker, node):
    """The sum of e^{-t^2/(2v)} over the whole t > m; it falls in m, so that the ends of m give the ends."""
    low, high = _ends(walker.walk(node.args[0]))
    v = walker.walk(node.args[1])
    return walker.hull([_gauss_sum_from(walker, int(m) + 1, v) for m in {mpmath.floor(low), mpmath.floor(high)}])


def _gauss_sum_from(walker: Walker, first: int, v):
    if first >= 1:
        return _gauss_sum(walker, first, v)
    inside = 1 + _gauss_sum(walker, 1, v)
    below = _gauss_sum(walker, 1, v) - _gauss_sum(walker, 1 - first, v)
    return inside + below


def _gauss_sum(walker: Walker, first: int, v):
    """The sum for t = first >= 1, first + 1, ..., and a geometric series around the rest."""
    ctx = walker.ctx
    term, ratio = ctx.exp(-(ctx.mpf(first) ** 2) / (2 * v)), ctx.exp(-(2 * ctx.mpf(first) + 1) / (2 * v))
    total, shrink = term, ctx.exp(-1 / v)
    while True:
        term, ratio = term * ratio, ratio * shrink
        total += term
        last, left = _ends(term)[1], 1 - _ends(ratio)[1]
        if left > 0 and last <= left * _ends(total)[0] * mpmath.mpf(10) ** -(ctx.dps + 2):
            return total + ctx.mpf([0, 2 * last / left])


_COMPARISONS = {
    "StrictLessThan": lambda a, b: a < b,
    "LessThan": lambda a, b: a <= b,
    "StrictGreaterThan": lambda a, b: a > b,
    "GreaterThan": lambda a, b: a >= b,
}

_RULES = {
    "Add": lambda w, node: functools.reduce(lambda a, b: a + b, map(w.walk, node.args)),
    "Mul": lambda w, node: functools.reduce(lambda a, b: a * b, map(w.walk, node.args)),
    "Pow": _power,
    "exp": lambda w, node: w.exp(w.walk(node.args[0])),
    "log": lambda w, node: w.log(w.walk(node.args[0])),
    "erfc": lambda w, node: w.erfc(w.walk(node.args[0])),
    "erf": lambda w, node: 1 - w.erfc(w.walk(node.args[0])),
    "Phi": lambda w, node: w.erfc(-w.walk(node.args[0]) / w.ctx.sqrt(w.ctx.mpf(2))) / 2,
    "floor": _floor,
    "Theta": _theta,
    "ThetaAbove": _theta_above,
    "atan": lambda w, node: w.atan(w.walk(node.args[0])),
    "Abs": lambda w, node: abs(w.walk(node.args[0])),
    "Max": lambda w, node: _extreme(w, node, _greatest),
    "Min": lambda w, node: _extreme(w, node, _least),
    "Piecewise": _piecewise,
    "Sum": _sum,
    "binomial": _binomial,
    "Pi": lambda w, node: w.pi,
    "Exp1": lambda w, node: w.exp(w.ctx.mpf(1)),
    "Infinity": lambda w, node: w.inf,
    "NegativeInfinity": lambda w, node: -w.inf,
}
