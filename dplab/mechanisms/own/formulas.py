"""Densities between text, expression trees and sympy.

The tree of `core.expression` is the canonical form of a density: it is hashable, it prints as text that reads back,
and it is turned into sympy node by node. In sympy the variable is real and every other symbol positive, as everywhere
in dplab.
"""

from functools import lru_cache

import sympy

from ...core.errors import ParameterError, ParameterTypeError
from ...core.expression import Expression, from_sympy, is_name
from ...core.grammar import DENSITY
from ...core.parameters import exact


class DensityTable:
    """The table with which `Expression.evaluate` builds sympy expressions of densities."""

    pi = sympy.pi

    def __init__(self, variable: str, integer: bool = False):
        self.variable = variable_symbol(variable, integer)

    def rational(self, numerator: int, denominator: int):
        """The exact fraction."""
        return sympy.Rational(numerator, denominator)

    def symbol(self, name: str):
        """The variable, or a positive parameter."""
        return self.variable if name == self.variable.name else sympy.Symbol(name, positive=True)

    exp, log, sqrt, erf, erfc = map(staticmethod, (sympy.exp, sympy.log, sympy.sqrt, sympy.erf, sympy.erfc))
    cosh, sinh, tanh, atan = map(staticmethod, (sympy.cosh, sympy.sinh, sympy.tanh, sympy.atan))
    abs, sign, heaviside, dirac = map(staticmethod, (sympy.Abs, sympy.sign, sympy.Heaviside, sympy.DiracDelta))
    gamma, factorial, binomial = map(staticmethod, (sympy.gamma, sympy.factorial, sympy.binomial))
    floor = staticmethod(sympy.floor)
    besseli, min, max = map(staticmethod, (sympy.besseli, sympy.Min, sympy.Max))
    less, at_most = map(staticmethod, (sympy.StrictLessThan, sympy.LessThan))
    more, at_least = map(staticmethod, (sympy.StrictGreaterThan, sympy.GreaterThan))
    both, either = map(staticmethod, (sympy.And, sympy.Or))

    def sech(self, x):
        """1/cosh x."""
        return 1 / sympy.cosh(x)

    def true(self):
        """The condition that always holds."""
        return sympy.true

    def piecewise(self, *parts):
        """piecewise(value, condition, value, condition, ...), 0 where no condition holds."""
        branches = list(zip(parts[::2], parts[1::2], strict=True))
        return sympy.Piecewise(*branches, (sympy.S.Zero, True))

    def power(self, x, r):
        """x**r."""
        return x ** sympy.Rational(r.numerator, r.denominator)


def variable_symbol(name: str, integer: bool = False) -> sympy.Symbol:
    """The variable of a density: real, or an integer."""
    return sympy.Symbol(name, integer=True) if integer else sympy.Symbol(name, real=True)


def to_sympy(tree: Expression, variable: str, integer: bool = False) -> sympy.Expr:
    """A density's tree as a sympy expression."""
    return sympy.sympify(tree.evaluate(DensityTable(variable, integer)))


@lru_cache(maxsize=1024)
def text_of(tree: Expression, variable: str, integer: bool = False) -> str:
    """A density as sympy prints it, which reads back to the same tree."""
    return str(to_sympy(tree, variable, integer))


def canonical(value, name: str, variable: str, integer: bool = False) -> Expression:
    """A density or an end of a support given as a sympy expression, text, tree or number, in canonical form.

    Raises ParameterError for what is not in the grammar of densities, and for a parameter that is not known to be
    positive.
    """
    if isinstance(value, str):
        from ...core.expression import parse

        tree = parse(value, name, DENSITY)
    elif isinstance(value, Expression):
        tree = value
    elif hasattr(value, "free_symbols") and hasattr(value, "is_Rational"):
        _check_signs(value, name, variable)
        tree = from_sympy(value, name, DENSITY)
    else:
        try:
            number = exact(value, name)
        except ParameterTypeError:
            allowed = "a sympy expression in the variable, or text such as 'exp(-abs(t))/2'"
            raise ParameterTypeError(name, value, allowed) from None
        tree = number if isinstance(number, Expression) else Expression(("num", number))
    built = to_sympy(tree, variable, integer)
    return from_sympy(built, name, DENSITY)


def _check_signs(value, name: str, variable: str) -> None:
    names = {symbol.name for symbol in value.free_symbols}
    if names and variable not in names and variable != "_":
        listed = ", ".join(sorted(names))
        raise ParameterError("variable", variable, f"the letter of the outcomes in {name}", f"That has {listed} only.")
    for symbol in sorted(value.free_symbols, key=str):
        if symbol.name != variable and not symbol.is_positive:
            raise ParameterError(
                symbol.name,
                symbol,
                "a symbol declared positive, sympy.Symbol(..., positive=True)",
                f"It is a parameter of {name} without a known sign; the place where a loss turns, the mass of a tail "
                "and the order of losses depend on it. Write a location as a number, or shift the variable.",
            )


def variable_name(variable) -> str:
    """The name of the variable, given as a sympy symbol or as text.

    Raises ParameterError if formulas cannot use it.
    """
    name = getattr(variable, "name", variable)
    if not isinstance(name, str) or not is_name(name, DENSITY):
        raise ParameterError("variable", variable, "a symbol or a name that formulas may use, such as t")
    return name
