"""Formulas by cases, written flat."""

from collections.abc import Callable

import sympy


def cases(*pieces: tuple, otherwise) -> sympy.Expr:
    """A case distinction: (value, variable, bound) stands for "value where variable < bound"."""
    conditions = [(value, sympy.StrictLessThan(variable, bound, evaluate=False)) for value, variable, bound in pieces]
    rest = otherwise.args if isinstance(otherwise, sympy.Piecewise) else [(otherwise, True)]
    return sympy.Piecewise(*conditions, *rest, evaluate=False)


def through(of: Callable, *expressions: sympy.Expr) -> sympy.Expr:
    """A function of each value of case distinctions (the same ones), instead of case distinctions inside a formula."""
    found = [expression for expression in expressions if isinstance(expression, sympy.Piecewise)]
    conditions = {tuple(condition for _, condition in one.args) for one in found}
    if len(conditions) != 1:
        return of(*expressions)
    (conditions_of_all,) = conditions
    values = [
        [value for value, _ in one.args] if one in found else [one] * len(conditions_of_all) for one in expressions
    ]
    return sympy.Piecewise(*zip(map(of, *values), conditions_of_all, strict=True), evaluate=False)
