"""Bulk arithmetic: the same complex functions by gmpy2 where it is installed (five times faster), else by mpmath.

Numbers go in and out as mpmath's; precision is local to `at(places)` in both.
"""

import contextlib
from typing import Any

import mpmath

try:
    import gmpy2
except ImportError:  # a pure Python installation, a browser kernel
    gmpy2 = None


MOST_EXPONENT = 2**61
"""A power of two beyond it is 0 or infinite for gmpy2, which takes no larger number for one."""


class _Mpmath:
    exp, log, sqrt, sinh, cosh = map(staticmethod, (mpmath.exp, mpmath.log, mpmath.sqrt, mpmath.sinh, mpmath.cosh))
    complex = staticmethod(mpmath.mpc)

    @staticmethod
    def at(places: int):
        """A context with this many decimal digits."""
        return mpmath.workdps(places)

    @staticmethod
    def make(x):
        """A number of this arithmetic from one of mpmath's."""
        return x

    @staticmethod
    def back(x):
        """A number of mpmath's from one of this arithmetic."""
        return x


class _Gmpy2:
    def __init__(self):
        self.exp, self.log, self.sqrt = gmpy2.exp, gmpy2.log, gmpy2.sqrt
        self.sinh, self.cosh, self.complex = gmpy2.sinh, gmpy2.cosh, gmpy2.mpc

    @staticmethod
    @contextlib.contextmanager
    def at(places: int):
        """A context with this many decimal digits, for mpmath too."""
        with mpmath.workdps(places), gmpy2.context(precision=mpmath.mp.prec):
            yield

    @classmethod
    def make(cls, x):
        """A number of this arithmetic from one of mpmath's."""
        if isinstance(x, mpmath.mpc):
            return gmpy2.mpc(cls.make(x.real), cls.make(x.imag))
        sign, mantissa, exponent, _ = x._mpf_
        value = gmpy2.mpfr(-int(mantissa) if sign else int(mantissa))
        if abs(exponent) > MOST_EXPONENT:
            return value * (gmpy2.inf() if exponent > 0 else 0)
        return gmpy2.mul_2exp(value, exponent) if exponent >= 0 else gmpy2.div_2exp(value, -exponent)

    @classmethod
    def back(cls, x):
        """A number of mpmath's from one of this arithmetic."""
        if isinstance(x, gmpy2.mpc):
            return mpmath.mpc(cls.back(x.real), cls.back(x.imag))
        if not gmpy2.is_finite(x):
            return mpmath.mpf(str(x))
        mantissa, exponent = x.as_mantissa_exp()
        return mpmath.ldexp(mpmath.mpf(int(mantissa)), int(exponent))


BULK: Any = _Gmpy2() if gmpy2 is not None else _Mpmath()
