"""Formulas kept the way they are written down; sympy would rearrange them."""

import sympy


def cases(*pieces: tuple, otherwise) -> sympy.Expr:
    """A case distinction: (value, variable, bound) stands for "value where variable < bound"."""
    conditions = [(value, sympy.StrictLessThan(variable, bound, evaluate=False)) for value, variable, bound in pieces]
    return sympy.Piecewise(*conditions, (otherwise, True), evaluate=False)


def through(of, expression: sympy.Expr) -> sympy.Expr:
    """A function of each value of a case distinction, instead of a case distinction inside a formula."""
    if not isinstance(expression, sympy.Piecewise):
        return of(expression)
    return sympy.Piecewise(*((of(value), condition) for value, condition in expression.args), evaluate=False)
