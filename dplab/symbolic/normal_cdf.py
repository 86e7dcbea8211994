"""The normal distribution function as a sympy function that prints as Phi."""

import mpmath
import sympy


class Phi(sympy.Function):
    """Phi(x), the standard normal distribution function.

    `.rewrite(sympy.erfc)` gives erfc(-x/sqrt(2))/2, which other tools know.

    >>> Phi(0), Phi(sympy.oo)
    (1/2, 1)
    >>> Phi(1).rewrite(sympy.erfc)
    1 - erfc(sqrt(2)/2)/2
    """

    nargs = 1

    @classmethod
    def eval(cls, x):
        """Values that need no function: at 0 and at both ends."""
        if x is sympy.S.Infinity:
            return sympy.S.One
        if x is sympy.S.NegativeInfinity:
            return sympy.S.Zero
        return sympy.S.Half if x.is_zero else None

    def fdiff(self, argindex=1):
        """The normal density."""
        return sympy.exp(-(self.args[0] ** 2) / 2) / sympy.sqrt(2 * sympy.pi)

    def _eval_is_extended_real(self):
        return self.args[0].is_extended_real

    def _eval_is_positive(self):
        return True if self.args[0].is_real else None

    def _eval_rewrite_as_erfc(self, x, **kwargs):
        return sympy.erfc(-x / sympy.sqrt(2)) / 2

    def _eval_rewrite_as_erf(self, x, **kwargs):
        return (1 + sympy.erf(x / sympy.sqrt(2))) / 2

    def _eval_evalf(self, prec):
        return self.rewrite(sympy.erfc)._eval_evalf(prec)

    @staticmethod
    def _imp_(x):  # what sympy.lambdify calls
        return mpmath.erfc(-x / mpmath.sqrt(2)) / 2

    def _latex(self, printer, exp=None):
        shown = rf"\Phi\left({printer._print(self.args[0])}\right)"
        return shown if exp is None else rf"{shown}^{{{exp}}}"


class PhiInverse(sympy.Function):
    """The inverse of Phi, the standard normal quantile.

    >>> PhiInverse(sympy.Rational(1, 2)), Phi(PhiInverse(sympy.Symbol("a")))
    (0, Phi(PhiInverse(a)))
    """

    nargs = 1

    @classmethod
    def eval(cls, a):
        """Values that need no function."""
        if a is sympy.S.Half:
            return sympy.S.Zero
        if a is sympy.S.One:
            return sympy.S.Infinity
        return sympy.S.NegativeInfinity if a.is_zero else None

    def _eval_is_extended_real(self):
        return True if self.args[0].is_real else None

    def _latex(self, printer, exp=None):
        shown = rf"\Phi^{{-1}}\left({printer._print(self.args[0])}\right)"
        return shown if exp is None else rf"\left({shown}\right)^{{{exp}}}"
