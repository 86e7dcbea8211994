"""Sums of e^{-t^2/(2v)} over whole numbers, as sympy functions that print as sums."""

import mpmath
import sympy

from ..core.functions import MpmathTable


class Theta(sympy.Function):
    """Theta(a, v), the sum of e^{-(t-a)^2/(2v)} over all whole numbers t; of period 1 in a.

    >>> Theta(3, sympy.Symbol("v"))
    Theta(0, v)
    >>> Theta(0, 1).evalf(20)
    2.5066282880429055448
    """

    nargs = 2

    @classmethod
    def eval(cls, a, v):
        """A whole a is 0."""
        return cls(sympy.S.Zero, v) if a.is_Integer and a != 0 else None

    def _eval_is_extended_real(self):
        return all(argument.is_extended_real for argument in self.args)

    def _eval_is_positive(self):
        return True if self.args[0].is_real else None

    def _eval_evalf(self, prec):
        with mpmath.workprec(prec + 10):
            a, v = (mpmath.mpmathify(argument.evalf(mpmath.mp.dps)) for argument in self.args)
            return sympy.sympify(MpmathTable().theta(a, v))._eval_evalf(prec)

    def _latex(self, printer, exp=None):
        a, v = (printer._print(argument) for argument in self.args)
        square = "t^{2}" if self.args[0] == 0 else rf"\left(t - {a}\right)^{{2}}"
        shown = rf"\sum_{{t \in \mathbb{{Z}}}} e^{{- {square} / 2 {v}}}"
        return shown if exp is None else rf"\left({shown}\right)^{{{exp}}}"


class ThetaAbove(sympy.Function):
    """ThetaAbove(m, v), the sum of e^{-t^2/(2v)} over the whole numbers t > m, for whole m.

    >>> ThetaAbove(3, 1).evalf(20)
    0.00033920453396435042140
    """

    nargs = 2

    def _eval_is_extended_real(self):
        return all(argument.is_extended_real for argument in self.args)

    def _eval_is_positive(self):
        return True

    def _eval_evalf(self, prec):
        with mpmath.workprec(prec + 10):
            m, v = (mpmath.mpmathify(argument.evalf(mpmath.mp.dps)) for argument in self.args)
            return sympy.sympify(MpmathTable().theta_above(m, v))._eval_evalf(prec)

    def _latex(self, printer, exp=None):
        m, v = (printer._print(argument) for argument in self.args)
        shown = rf"\sum_{{t > {m}}} e^{{- t^{{2}} / 2 {v}}}"
        return shown if exp is None else rf"\left({shown}\right)^{{{exp}}}"
