"""The function table of this route: mpmath at the surrounding precision, complex arguments included."""

import mpmath

from ..core.functions import MpmathTable


class ComplexTable(MpmathTable):
    """mpmath's table, with the loss map of subsampling, and its inverse, continued into the complex plane."""

    def log_mix(self, s, r):
        """log(1 + r (e^s - 1)): for r < 1 analytic where |Im s| < pi, for r > 1 where Re s > log(1 - 1/r)."""
        if not isinstance(s, mpmath.mpc):
            return super().log_mix(s, r)
        if s.real > 1 or r > 1:
            return s + mpmath.log(r) + mpmath.log1p((1 - r) / r * mpmath.exp(-s))
        return mpmath.log1p(r * mpmath.expm1(s))


FN = ComplexTable()
