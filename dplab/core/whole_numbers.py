"""The part of mpmath's function table for whole-valued outcomes: binomial masses, theta sums, lists of atoms."""

import math
from typing import Any

import mpmath


class WholeNumbers:
    """The rows of the function table from `floor` on, in mpmath's arithmetic."""

    floor = staticmethod(mpmath.floor)

    def binomial_pmf(self, n: int, j: int, p):
        """C(n,j) p^j (1-p)^(n-j)."""
        if n <= 2000:
            return mpmath.mpf(math.comb(n, j)) * p**j * (1 - p) ** (n - j)
        with mpmath.extradps(len(str(n)) + 5):
            choices = mpmath.loggamma(n + 1) - mpmath.loggamma(j + 1) - mpmath.loggamma(n - j + 1)
            value = mpmath.exp(choices + j * mpmath.log(p) + (n - j) * mpmath.log1p(-p))
        return +value

    def theta(self, a, v):
        """The sum of e^{-(t-a)^2/(2v)} over all whole t, by itself for small v, by Poisson's formula for large v."""
        return theta(a, v)

    def theta_above(self, m, v):
        """The sum of e^{-t^2/(2v)} over whole t > m."""
        if m < 0:  # the terms fall from t = 0 on both ways
            middle = 1 if m <= -1 else 0
            return middle + self.theta_above(mpmath.mpf(0), v) + self._theta_between(-m - 1, v)
        return _falling(mpmath.mpf(m) + 1, v)

    def _theta_between(self, m, v):
        """The sum of e^{-t^2/(2v)} for 1 <= t <= m."""
        reach = mpmath.sqrt(2 * v * (mpmath.mp.dps + 5) * mpmath.log(10)) + 2
        return mpmath.fsum(mpmath.exp(-(mpmath.mpf(t) ** 2) / (2 * v)) for t in range(1, int(min(m, reach)) + 1))

    def each(self, items, formula) -> list:
        """formula(t) for every t."""
        return [formula(item) for item in items]

    def total(self, values):
        """The sum."""
        return mpmath.fsum(values)

    def joined(self, one, two) -> list:
        """All atoms of both."""
        return [*one, *two]

    def sums(self, one, two) -> list:
        """Atoms of a sum of two independent losses; losses that agree to the working precision are one loss."""
        largest = max((abs(a.loss) + abs(b.loss) for a in one[:: len(one) - 1 or 1] for b in two), default=0) or 1
        scale = mpmath.mpf(10) ** (mpmath.mp.dps - 5) / largest
        merged: dict[int, Any] = {}
        for a in one:
            for b in two:
                loss = a.loss + b.loss
                key = int(mpmath.nint(loss * scale))
                before = merged.get(key)
                p, q = (a.p * b.p, a.q * b.q) if before is None else (before.p + a.p * b.p, before.q + a.q * b.q)
                merged[key] = type(a)(loss, p, q)
        return [merged[key] for key in sorted(merged, reverse=True)]

    def is_zero(self, x) -> bool:
        """True for 0."""
        return x == 0

    @property
    def depth(self) -> float:
        """Far below the working precision: a tilt must not bring to light what was left out."""
        return (4 * mpmath.mp.dps + 400) * math.log(10)


def _falling(first, v):
    """The sum of e^{-t^2/(2v)} for t = first >= 1, first + 1, ..., until nothing is left."""
    term, ratio = mpmath.exp(-first * first / (2 * v)), mpmath.exp(-(2 * first + 1) / (2 * v))
    shrink, total = mpmath.exp(-1 / mpmath.mpf(v)), term
    while True:
        term, ratio = term * ratio, ratio * shrink
        total += term
        if term <= (1 - ratio) * mpmath.eps * total:
            return total


def theta(a, v):
    """The sum of e^{-(t-a)^2/(2v)} over all whole t, real or complex a, to a relative error of its largest term.

    Poisson's formula: sqrt(2 pi v) sum of e^{-2 pi^2 v m^2 + 2 pi i m a}. Either sum is taken from its largest terms
    outwards; of a the nearest whole number is split off first.
    """
    with mpmath.extradps(5):
        a = a - mpmath.nint(mpmath.re(a))
        height, enough = abs(mpmath.im(a)), (mpmath.mp.dps + 3) * mpmath.log(10)
        if 2 * mpmath.pi * v < 1:
            far = int(mpmath.sqrt(2 * v * enough)) + 2
            value = mpmath.fsum(mpmath.exp(-((t - a) ** 2) / (2 * v)) for t in range(-far, far + 1))
        else:
            far = int(mpmath.sqrt(enough / (2 * v)) / mpmath.pi + height / (2 * mpmath.pi * v)) + 2
            turn, damp = 2 * mpmath.pi * a, -2 * mpmath.pi**2 * v
            value = 1 + 2 * mpmath.fsum(mpmath.exp(damp * m * m) * mpmath.cos(m * turn) for m in range(1, far + 1))
            value *= mpmath.sqrt(2 * mpmath.pi * v)
    return +value
