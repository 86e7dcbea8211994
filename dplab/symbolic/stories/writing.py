"""Formulas kept the way they are written down; sympy would rearrange them."""

import sympy


def cases(*pieces: tuple, otherwise) -> sympy.Expr:
    """A case distinction: (value, variable, bound) stands for "value where variable < bound"."""
    conditions = [(value, sympy.StrictLessThan(variable, bound, evaluate=False)) for value, variable, bound in pieces]
    return sympy.Piecewise(*conditions, (otherwise, True), evaluate=False)
