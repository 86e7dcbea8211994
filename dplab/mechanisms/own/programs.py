"""A derived formula as a short program over a function table: each common subexpression once, in stable forms.

sympy writes a/b as a*b**-1 and log1p as log(1 + x); here quotients become quotients, log(1 + x) `log1p`, e^x - 1
`expm1`, and (1 + erf(x/sqrt 2))/2 stays `normal_cdf`. One program serves mpmath, intervals and sympy alike.
"""

from fractions import Fraction
from typing import Any

import sympy

from ...core.errors import NoClosedFormError


class acot(sympy.Function):
    """The angle in (0, pi) whose cotangent is x: pi/2 - atan(x), accurate for large x."""

    nargs = 1

    @classmethod
    def eval(cls, x):
        """Values that need no function."""
        if x is sympy.S.Infinity:
            return sympy.S.Zero
        return sympy.pi if x is sympy.S.NegativeInfinity else (sympy.pi / 2 if x.is_zero else None)

    def fdiff(self, argindex=1):
        """-1/(1 + x^2)."""
        return -1 / (1 + self.args[0] ** 2)

    def _eval_evalf(self, prec):
        return (sympy.pi / 2 - sympy.atan(self.args[0]))._eval_evalf(prec)


class upper_normal(sympy.Function):
    """Phi(-x), the standard normal mass above x."""

    nargs = 1

    @classmethod
    def eval(cls, x):
        """Values that need no function."""
        if x is sympy.S.Infinity:
            return sympy.S.Zero
        return sympy.S.One if x is sympy.S.NegativeInfinity else (sympy.S.Half if x.is_zero else None)

    def fdiff(self, argindex=1):
        """Minus the normal density."""
        return -sympy.exp(-(self.args[0] ** 2) / 2) / sympy.sqrt(2 * sympy.pi)

    def _eval_evalf(self, prec):
        return (sympy.erfc(self.args[0] / sympy.sqrt(2)) / 2)._eval_evalf(prec)


class Program:
    """A formula in some variables, ready for any function table.

    >>> from dplab.core.functions import MpmathTable
    >>> t = sympy.Symbol("t", real=True)
    >>> Program(sympy.log(1 + sympy.exp(-t)) / 2, t)(MpmathTable(), 0)
    mpf('0.34657359027997264')
    """

    def __init__(self, expression: sympy.Expr, *variables: sympy.Symbol):
        self.expression = sympy.sympify(expression)
        self.variables = variables
        self._steps: list[tuple] = []
        self._known: dict[Any, int] = {}
        self._result = self._compiled(self.expression)

    def __call__(self, fn, *values):
        """The formula's value in the arithmetic of `fn`."""
        register: list[Any] = []
        for step in self._steps:
            run: Any = _RUN[step[0]]
            register.append(run(fn, register, values, *step[1:]))
        return register[self._result]

    # --- compilation --------------------------------------------------------------------------------

    def _compiled(self, node) -> int:
        if node not in self._known:
            self._known[node] = self._add(*self._step(node))
        return self._known[node]

    def _add(self, *step) -> int:
        self._steps.append(step)
        return len(self._steps) - 1

    def _step(self, node) -> tuple:
        if node in self.variables:
            return ("variable", self.variables.index(node))
        if node.is_Rational:
            return ("number", int(node.p), int(node.q))
        if node.is_Symbol:
            return ("symbol", node.name)
        if node is sympy.pi:
            return ("pi",)
        if node is sympy.E:
            return ("call", "exp", self._compiled(sympy.S.One))
        if node.is_Add:
            return self._sum(node)
        if node.is_Mul:
            return self._product(node)
        if node.is_Pow:
            return self._power(node)
        if isinstance(node, sympy.log):
            return self._log(node.args[0])
        if isinstance(node, sympy.Integral):
            density, (variable, low, high) = node.args[0], node.limits[0]
            return ("integral", Program(density, variable), *(self._compiled(end) for end in (low, high)))
        if node.is_infinite:
            return ("infinity", 1 if node is sympy.oo else -1)
        if isinstance(node, (sympy.erf, sympy.erfc)):
            above = 2 * upper_normal(sympy.sqrt(2) * node.args[0])
            return ("same", self._compiled(above if isinstance(node, sympy.erfc) else 1 - above))
        if isinstance(node, sympy.functions.elementary.hyperbolic.HyperbolicFunction):
            return ("same", self._compiled(node.rewrite(sympy.exp)))
        if isinstance(node, (sympy.gamma, sympy.factorial)):
            argument = node.args[0] + (1 if isinstance(node, sympy.factorial) else 0)
            return ("call", "exp", self._add("call", "loggamma", self._compiled(argument)))
        name = _CALLS.get(type(node).__name__)
        if name is None:
            raise NoClosedFormError(f"evaluation: no rule for {type(node).__name__} in {str(node)[:60]}")
        return ("call", name, *(self._compiled(argument) for argument in node.args))

    def _sum(self, node) -> tuple:
        terms = list(node.args)
        if len(terms) == 2:
            for one, other in (terms, terms[::-1]):
                ratio = -other / one
                if isinstance(ratio, sympy.exp) and not one.could_extract_minus_sign():  # one - one e^x
                    grown = self._add("call", "expm1", self._compiled(ratio.args[0]))
                    return ("neg", self._add("*", self._compiled(one), grown))
        plus = [term for term in terms if not term.could_extract_minus_sign()]
        minus = [-term for term in terms if term.could_extract_minus_sign()]
        if not plus:
            return ("neg", self._index_of("+", list(map(self._compiled, minus))))
        total = self._index_of("+", list(map(self._compiled, plus)))
        if not minus:
            return ("same", total)
        return ("-", total, self._index_of("+", list(map(self._compiled, minus))))

    def _product(self, node) -> tuple:
        above, below = [], []
        for factor in node.args:
            if factor.is_Rational:
                if abs(factor.p) != 1 or factor.q == 1:
                    above.append(sympy.Integer(factor.p))
                elif factor.p == -1:
                    above.append(sympy.S.NegativeOne)
                if factor.q != 1:
                    below.append(sympy.Integer(factor.q))
            elif factor.is_Pow and factor.args[1].could_extract_minus_sign():
                below.append(1 / factor)
            else:
                above.append(factor)
        negative = sympy.S.NegativeOne in above
        if negative:
            above.remove(sympy.S.NegativeOne)
        top = self._index_of("*", [self._compiled(factor) for factor in above or [sympy.S.One]])
        if below:
            top = self._add("/", top, self._index_of("*", list(map(self._compiled, below))))
        return ("neg", top) if negative else ("same", top)

    def _power(self, node) -> tuple:
        base, exponent = node.args
        if exponent == sympy.S.Half:
            return ("call", "sqrt", self._compiled(base))
        if exponent.could_extract_minus_sign():
            return ("/", self._compiled(sympy.S.One), self._compiled(base**-exponent))
        if exponent.is_Rational:
            return ("power", self._compiled(base), Fraction(int(exponent.p), int(exponent.q)))
        return ("call", "exp", self._compiled(exponent * sympy.log(base)))

    def _log(self, inside) -> tuple:
        if inside.is_Add and sympy.S.One in inside.args:
            return ("call", "log1p", self._compiled(inside - 1))
        if isinstance(inside, sympy.besseli):
            return ("call", "log_besseli", *map(self._compiled, inside.args))
        return ("call", "log", self._compiled(inside))

    def _index_of(self, kind: str, parts: list[int]) -> int:
        total, *rest = parts
        for part in rest:
            total = self._add(kind, total, part)
        return total


_CALLS = {
    **{name: name for name in ("exp", "acot", "atan", "Phi", "loggamma", "besseli")},
    "upper_normal": "upper_normal",
}

_RUN = {
    "variable": lambda fn, register, values, i: values[i],
    "number": lambda fn, register, values, p, q: fn.rational(p, q),
    "symbol": lambda fn, register, values, name: fn.symbol(name),
    "pi": lambda fn, register, values: fn.pi,
    "same": lambda fn, register, values, a: register[a],
    "neg": lambda fn, register, values, a: -register[a],
    "+": lambda fn, register, values, a, b: register[a] + register[b],
    "-": lambda fn, register, values, a, b: register[a] - register[b],
    "*": lambda fn, register, values, a, b: register[a] * register[b],
    "/": lambda fn, register, values, a, b: register[a] / register[b],
    "power": lambda fn, register, values, a, r: fn.power(register[a], r),
    "infinity": lambda fn, register, values, side: fn.inf if side > 0 else -fn.inf,
    "integral": lambda fn, register, values, program, a, b: fn.integral(
        lambda t: program(fn, t), register[a], register[b]
    ),
    "call": lambda fn, register, values, name, *parts: _call(fn, name, *(register[i] for i in parts)),
}


def _call(fn, name: str, *parts):
    if name == "upper_normal":
        return fn.normal_cdf(-parts[0])
    return getattr(fn, name)(*parts)
