"""sympy expressions as mpmath functions: one closure a node, everything that does not vary computed once.

The checks of a derivation integrate and sum these. Real or complex, at the precision of the surrounding `workdps`;
no interval arithmetic (that is `core.evaluation`), no text and no `eval` anywhere.
"""

import functools
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import mpmath
import sympy

from ..core.errors import NoClosedFormError
from ..core.functions import MpmathTable
from .quadrature import integrate

PAGE = MpmathTable()
Values = Mapping[Any, Any]
"""Numbers by symbol."""


def number(expression, values: Values):
    """The value of an expression whose symbols all have numbers.

    >>> x = sympy.Symbol("x")
    >>> number(sympy.exp(x) / 3, {x: mpmath.mpf(0)})
    mpf('0.33333333333333331')
    """
    return function(expression, (), values)()


def function(expression, variables: Sequence, values: Values) -> Callable[..., Any]:
    """The expression as a function of some of its symbols, the others replaced by numbers.

    Unevaluated sums and integrals are summed and integrated when called.

    Raises NoClosedFormError for a node without numeric meaning, UnboundSymbolError is left to the caller.
    """
    slots = {variable: place for place, variable in enumerate(variables)}
    made = _Compiler(slots, dict(values)).node(sympy.sympify(expression))
    if callable(made):
        return lambda *arguments: made(list(arguments))
    return lambda *arguments: made


class _Compiler:
    """A node is a number, or a function of the list of the variables' values."""

    def __init__(self, slots: dict, values: dict):
        self.slots, self.values = slots, values
        self.known: dict = {}

    def node(self, node):
        if node not in self.known:
            self.known[node] = self._made(node)
        return self.known[node]

    def _made(self, node):
        if node in self.slots:
            return operator.itemgetter(self.slots[node])
        if node in self.values:
            return self.values[node]
        if node.is_Rational:
            return mpmath.mpf(int(node.p)) / int(node.q) if node.q != 1 else int(node.p)
        if node.is_Float:
            return mpmath.mpf(node._mpf_)
        kind = type(node).__name__
        if kind in _CONSTANTS:
            return _CONSTANTS[kind]()
        if kind in ("Sum", "Product"):
            return self._summed(node, kind)
        if kind == "Integral":
            return self._integrated(node)
        if kind == "Piecewise":
            return self._pieces(node)
        if kind == "Pow":
            return self._power(node)
        if kind in _CHAINS:
            return _chained(_CHAINS[kind], [self.node(part) for part in node.args])
        if kind == "acot" and not isinstance(node, sympy.acot):  # the angle in (0, pi), of pairs of one's own
            return _joined(lambda x: mpmath.pi / 2 - mpmath.atan(x), [self.node(node.args[0])])
        rule = _RULES.get(kind) or getattr(mpmath, kind, None)
        if rule is None or node.is_Symbol:
            raise NoClosedFormError(f"evaluation: no number for {str(node)[:60]}")
        return _joined(rule, [self.node(part) for part in node.args])

    def _power(self, node):
        base, exponent = node.args
        if exponent.is_Integer:
            power = int(exponent)
            return _joined(lambda x: _whole_power(x, power), [self.node(base)])
        if exponent == sympy.S.Half:
            return _joined(mpmath.sqrt, [self.node(base)])
        if base is sympy.S.Exp1:
            return _joined(PAGE.exp, [self.node(exponent)])
        return _joined(_real_power, [self.node(base), self.node(exponent)])

    def _pieces(self, node):
        nothing = [None] * len(self.slots)
        if not node.free_symbols & set(self.slots):  # the other pieces may have no meaning here
            for value, condition in node.args:
                if self._condition(condition)(nothing):
                    return self.node(value)
            return mpmath.nan
        pieces = [(self.node(value), self._condition(condition)) for value, condition in node.args]

        def chosen(slots):
            for value, holds in pieces:
                if holds(slots):
                    return value(slots) if callable(value) else value
            return mpmath.nan

        return chosen

    def _condition(self, condition):
        kind = type(condition).__name__
        if kind in ("BooleanTrue", "BooleanFalse"):
            return lambda slots: kind == "BooleanTrue"
        if kind in ("And", "Or", "Not"):
            parts = [self._condition(part) for part in condition.args]
            if kind == "Not":
                return lambda slots: not parts[0](slots)
            join = all if kind == "And" else any
            return lambda slots: join(part(slots) for part in parts)
        sides = [self.node(side) for side in condition.args]
        compare = _COMPARISONS[kind]
        return lambda slots: compare(*(side(slots) if callable(side) else side for side in sides))

    def _summed(self, node, kind):
        """Finite sums term by term, infinite ones outwards until the terms stop counting."""
        summand, *inside, (index, first, last) = node.args  # the last limit is the outermost sum
        if inside:
            summand = node.func(summand, *inside)
        inner = _Compiler({**self.slots, index: len(self.slots)}, self.values).node(summand)
        ends = self.node(first), self.node(last)
        start, join = (0, operator.add) if kind == "Sum" else (1, operator.mul)

        def total(slots):
            low, high = (end(slots) if callable(end) else end for end in ends)

            def term(j):
                return inner([*slots, j]) if callable(inner) else inner

            if mpmath.isinf(low) or mpmath.isinf(high):
                return infinite_sum(term, low, high)
            return functools.reduce(join, map(term, range(int(low), int(high) + 1)), mpmath.mpf(start))

        varies = bool(node.free_symbols & set(self.slots))
        return total if varies else total([None] * len(self.slots))

    def _integrated(self, node):
        integrand, *inside, (variable, low, high) = node.args
        if inside:
            integrand = node.func(integrand, *inside)
        inner = _Compiler({**self.slots, variable: len(self.slots)}, self.values).node(integrand)
        ends = [self.node(low), self.node(high)]

        def integral(slots):
            low, high = (end(slots) if callable(end) else end for end in ends)
            cuts = [low, high] if not (mpmath.isinf(low) and mpmath.isinf(high)) else [low, 0, high]

            finite = [(end, sign) for end, sign in ((low, 1), (high, -1)) if not mpmath.isinf(end)]

            def at(u):
                """A node nearer to an end than rounding allows may lie where the formula has no meaning; far out, where
                exponentials are 0 and infinite, it is 0. At an end itself the formula says whether it is infinite."""
                for end, sign in finite:
                    room = (1 + abs(end)) * mpmath.eps * 4  # of the precision at work, which is higher near a pole
                    if u != end and sign * (u - end) <= room:
                        u = end + sign * room
                value = inner([*slots, u]) if callable(inner) else inner
                return mpmath.mpf(0) if mpmath.isnan(value) else value

            return integrate(at, cuts)

        varies = bool(node.free_symbols & set(self.slots))
        return integral if varies else integral([None] * len(self.slots))


def infinite_sum(term, low=-mpmath.inf, high=mpmath.inf, counts=None):
    """A sum over all whole numbers between two ends, from the middle outwards until 12 terms in a row do not count.

    `counts` says which of them are added at all.
    """
    middle = 0 if mpmath.isinf(low) and mpmath.isinf(high) else int(high if mpmath.isinf(low) else low)
    total = seen = mpmath.mpf(0)
    for start, step, end in ((middle, 1, high), (middle - 1, -1, low)):
        j, silent = start, 0
        while silent < 12 and (j <= end if step > 0 else j >= end):
            value = term(j)
            seen += abs(value)
            total += value if counts is None or counts(j) else 0
            silent = silent + 1 if abs(value) <= mpmath.eps * seen / 100 else 0
            j += step
            if abs(j - start) > 200_000:
                raise NoClosedFormError("evaluation: a sum does not settle within 200,000 terms")
    return total


def _joined(rule, parts):
    if not any(map(callable, parts)):
        return rule(*parts)
    if len(parts) == 1:
        (only,) = parts
        return lambda slots: rule(only(slots))
    if len(parts) == 2:
        a, b = parts
        if not callable(a):
            return lambda slots: rule(a, b(slots))
        if not callable(b):
            return lambda slots: rule(a(slots), b)
        return lambda slots: rule(a(slots), b(slots))
    return lambda slots: rule(*(part(slots) if callable(part) else part for part in parts))


def _chained(join, parts):
    """Sums and products: the parts that do not vary become one number."""
    fixed = [part for part in parts if not callable(part)]
    varying = [part for part in parts if callable(part)]
    start = functools.reduce(join, fixed) if fixed else None
    if not varying:
        return start
    first, *rest = varying
    if start is None and len(rest) == 1:
        return lambda slots: join(first(slots), rest[0](slots))
    if start is not None and not rest:
        return lambda slots: join(start, first(slots))

    def joined(slots):
        value = first(slots) if start is None else join(start, first(slots))
        for part in rest:
            value = join(value, part(slots))
        return value

    return joined


def _log(x):
    return mpmath.log(x) if x != 0 else -mpmath.inf


def _whole_power(x, power: int):
    if power >= 0:
        return x**power
    return mpmath.mpf(1) / x**-power if x != 0 else mpmath.inf


def _real_power(x, r):
    return mpmath.power(x, r) if x != 0 or mpmath.re(r) >= 0 else mpmath.inf


def _bessel(order, x):
    return _bessel_once(order, x, mpmath.mp.prec)


@functools.lru_cache(maxsize=20_000)
def _bessel_once(order, x, precision: int):
    """Sums over the same outcomes ask for the same values again and again."""
    with mpmath.workprec(precision):
        return mpmath.besseli(order, x)


_CHAINS = {"Add": operator.add, "Mul": operator.mul}

_CONSTANTS: dict[str, Callable] = {
    "Pi": lambda: +mpmath.pi,
    "Exp1": lambda: +mpmath.e,
    "ImaginaryUnit": lambda: mpmath.mpc(0, 1),
    "EulerGamma": lambda: +mpmath.euler,
    "Infinity": lambda: mpmath.inf,
    "NegativeInfinity": lambda: -mpmath.inf,
}

_RULES: dict[str, Callable] = {
    "exp": PAGE.exp,
    "log": _log,
    "Abs": abs,
    "Max": lambda *parts: max(parts),
    "Min": lambda *parts: min(parts),
    "Phi": lambda x: mpmath.erfc(-x / mpmath.sqrt(2)) / 2,
    "upper_normal": lambda x: mpmath.erfc(x / mpmath.sqrt(2)) / 2,
    "PhiInverse": lambda a: -mpmath.sqrt(2) * _erfc_inverse(2 * a),
    "besseli": _bessel,
    "binomial": mpmath.binomial,
    "ceiling": mpmath.ceil,
    "Theta": PAGE.theta,
    "ThetaAbove": PAGE.theta_above,
    "LambertW": mpmath.lambertw,
    "sign": mpmath.sign,
    "Heaviside": lambda x, *_: mpmath.mpf(1 if x > 0 else 0),
    "uppergamma": lambda a, x: mpmath.gammainc(a, x),
    "lowergamma": lambda a, x: mpmath.gammainc(a, 0, x),
}

_COMPARISONS: dict[str, Callable] = {
    "StrictLessThan": operator.lt,
    "LessThan": operator.le,
    "StrictGreaterThan": operator.gt,
    "GreaterThan": operator.ge,
    "Equality": operator.eq,
    "Unequality": operator.ne,
}


def _erfc_inverse(y):
    """x with erfc(x) = y for 0 < y < 2."""
    if y <= 0 or y >= 2:
        return mpmath.inf if y <= 0 else -mpmath.inf
    if y > 1:
        return -_erfc_inverse(2 - y)
    if y == 1:
        return mpmath.mpf(0)
    start = mpmath.erfinv(1 - y) if y > 0.1 else mpmath.sqrt(-mpmath.log(y))
    return mpmath.findroot(lambda x: mpmath.log(mpmath.erfc(x)) - mpmath.log(y), start)
