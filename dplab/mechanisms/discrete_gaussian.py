"""The discrete Gaussian mechanism on whole numbers: P{t} ~ e^{-(t-D)^2/(2 sigma^2)}, Q{t} ~ e^{-t^2/(2 sigma^2)}.

The loss D (2t-D)/(2 sigma^2) runs over an infinite lattice of spacing D/sigma^2. With theta(a) = sum of
e^{-(t-a)^2/(2 sigma^2)} over all whole t, M(z) = e^{z (z+1) D^2/(2 sigma^2)} theta((z+1) D)/theta(0): the Gaussian's
M(z) times a factor that is close to 1 for sigma above 1.
"""

import math
from fractions import Fraction
from typing import ClassVar

from ..core.pair import Atom, Pair, Tails
from ..core.parameters import approximate, evaluate, nonnegative, whole
from .noise import NoiseOnCounts


class DiscreteGaussian(NoiseOnCounts, Pair):
    """Noise with P{t} ~ e^{-t^2/(2 `sigma`^2)} on the whole numbers, on a whole-valued query that moves by `shift`.

    sigma >= 0 is in counts (for sigma above 1 the noise's standard deviation is close to it; a symbol's name too),
    shift >= 0 is whole. sigma = 0 is no noise (all mass at infinity), shift = 0 loses nothing.

    Source: Canonne, Kamath, Steinke (2020), "The discrete Gaussian for differential privacy", Theorem 7.

    >>> 5 * DiscreteGaussian(sigma=2)
    5 * DiscreteGaussian(sigma=2)

    Raises ParameterError for sigma < 0, or a shift that is no whole number from 0 to 1e6.
    """

    defaults: ClassVar = {"shift": Fraction(1)}
    symmetric = True
    noise_name = "sigma"

    def __init__(self, sigma, shift=1):
        self._set(
            sigma=nonnegative(sigma, "sigma", "It is the parameter of e^{-t^2/(2 sigma^2)}, not its square."),
            shift=whole(shift, "shift", cause="The query counts: it moves by whole numbers."),
        )

    @property
    def endless(self) -> bool:  # type: ignore[override]
        """True, with noise."""
        return not self.noiseless

    def loss_ends(self, fn):
        """The whole line."""
        return None if self.noiseless else (-fn.inf, fn.inf)

    def variance(self, fn):
        """sigma^2."""
        sigma = evaluate(self.arguments["sigma"], fn)
        return sigma * sigma

    def loss(self, fn, t):
        """s at the outcome t."""
        return self.shift * (2 * t - self.shift) / (2 * self.variance(fn))

    def _reach(self, fn) -> int:
        """How far from its centre either distribution is listed."""
        sigma = approximate(self.arguments["sigma"])
        return math.ceil(sigma * math.sqrt(2 * fn.depth)) + 1

    def atoms(self, fn):
        """P{t} and Q{t} at the loss of t, down to masses of e^{-fn.depth}; see `remainder`."""
        if self.noiseless:
            return []
        reach, twice = self._reach(fn), 2 * self.variance(fn)
        total = fn.theta(0, twice / 2)

        def atom(back):
            """At t = D + reach - back."""
            t = self.shift + reach - back
            from_p = reach - back
            masses = fn.exp(-from_p * from_p / twice) / total, fn.exp(-t * t / twice) / total
            return Atom(self.shift * (2 * t - self.shift) / twice, *masses)

        return fn.each(range(2 * reach + self.shift + 1), atom)

    def remainder(self, fn):
        """Both tails beyond the listed outcomes, by a geometric series: next term/(1 - next ratio)."""
        if self.noiseless:
            return None
        first, twice = self._reach(fn) + 1, 2 * self.variance(fn)
        term = fn.exp(-first * first / twice) / -fn.expm1(-(2 * first + 1) / twice)
        tail = term / fn.theta(0, twice / 2)
        return Tails(2 * tail, 2 * tail)

    def _last_below(self, fn, x):
        """The largest outcome with loss <= x."""
        return fn.floor(x * self.variance(fn) / self.shift + fn.rational(self.shift, 2))

    def atoms_above(self, fn, x):
        """theta_above(m - D)/theta(0) and theta_above(m)/theta(0), m the largest outcome with loss <= x."""
        m, v = self._last_below(fn, x), self.variance(fn)
        total = fn.theta(0, v)
        return Tails(fn.theta_above(m - self.shift, v) / total, fn.theta_above(m, v) / total)

    def atoms_below(self, fn, x):
        """The same from the other end."""
        m, v = self._last_below(fn, x), self.variance(fn)
        total = fn.theta(0, v)
        return Tails(fn.theta_above(self.shift - m - 1, v) / total, fn.theta_above(-m - 1, v) / total)

    def lattice(self, fn):
        """D/sigma^2 times whole numbers, or halves of odd ones for odd D."""
        spacing = self.shift / self.variance(fn)
        return (self.shift % 2) * spacing / 2, spacing

    def mgf(self, fn, z):
        """M(z) = e^{z (z+1) D^2/(2 sigma^2)} theta((z+1) D)/theta(0)."""
        if self.noiseless:
            return fn.rational(0, 1)
        v = self.variance(fn)
        factor = fn.theta((z + 1) * self.shift, v) / fn.theta(0, v)
        return fn.exp(z * (z + 1) * self.shift**2 / (2 * v)) * factor
