"""What tidying may spend: sympy may take for ever over a formula of a few lines, and a formula that was left as it came
is as right as a short one.
"""

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import sympy

from ..core.deadline import within
from ..core.errors import BudgetError

ONE_FORMULA = 4.0
"""Seconds of CPU time for one formula."""


class Purse:
    """Seconds that are left for formulas that take too long, and how many were left as they came."""

    def __init__(self, seconds: float):
        self.left, self.untidied = seconds, 0

    def pay(self, seconds: float) -> None:
        """For a formula that was given up."""
        self.left -= seconds
        self.untidied += 1


_PURSE: ContextVar[Purse | None] = ContextVar("purse", default=None)


@contextmanager
def purse(seconds: float) -> Iterator[Purse]:
    """One purse for everything that is tidied in the block; without one, each formula has its own time."""
    made = Purse(seconds)
    before = _PURSE.set(made)
    try:
        yield made
    finally:
        _PURSE.reset(before)


def affordable(tidy: Callable[[sympy.Expr], sympy.Expr]) -> Callable[[sympy.Expr], sympy.Expr]:
    """The same function of a formula, which gives the formula back where it would take too long."""

    @functools.wraps(tidy)
    def within_purse(expression):
        here = _PURSE.get()
        budget = ONE_FORMULA if here is None else min(ONE_FORMULA, here.left)
        expression = sympy.sympify(expression)
        if expression.is_Atom:
            return expression
        if budget > 0:
            try:
                return within(budget, "tidying", tidy, expression)
            except BudgetError:
                pass
        if here is not None:
            here.pay(budget)
        return expression

    return within_purse
