"""The Gaussian mechanism: N(Delta, sigma^2) against N(0, sigma^2).

With mu = Delta/sigma the loss is N(mu^2/2, mu^2) under P and N(-mu^2/2, mu^2) under Q, the same in both directions.
"""

from fractions import Fraction
from typing import ClassVar

from ..core.pair import Coordinate, Pair, Tails
from ..core.parameters import evaluate, nonnegative
from .noise import AdditiveNoise, at_unit_sensitivity


class Gaussian(AdditiveNoise, Pair):
    """Gaussian noise of standard deviation `sigma` >= 0 on a query of L2 `sensitivity` >= 0 (same units).

    sigma = 0 is no noise (all mass at infinity), sensitivity = 0 loses nothing. Parameters may be symbols' names.

    Source: Balle and Wang (2018), Theorem 8: delta = Phi(-eps/mu + mu/2) - e^eps Phi(-eps/mu - mu/2).

    >>> 1000 * Gaussian(sigma=50)
    1000 * Gaussian(sigma=50)

    Raises ParameterError for sigma < 0 or sensitivity < 0, nan, inf.
    """

    defaults: ClassVar = {"sensitivity": Fraction(1)}
    symmetric = True
    noise_name = "sigma"

    def __init__(self, sigma, sensitivity=1):
        self._set(
            sigma=nonnegative(sigma, "sigma", "It is the standard deviation of the noise, not its variance."),
            sensitivity=nonnegative(sensitivity, "sensitivity"),
        )

    def reduced(self):
        """The same at sensitivity 1; None for sensitivity 0."""
        return at_unit_sensitivity(self, "sigma")

    def mu(self, fn):
        """Delta/sigma."""
        return evaluate(self.arguments["sensitivity"], fn) / evaluate(self.arguments["sigma"], fn)

    def loss(self, fn, t):
        """s at the outcome t."""
        sigma, shift = evaluate(self.arguments["sigma"], fn), evaluate(self.arguments["sensitivity"], fn)
        return shift * (t - shift / 2) / (sigma * sigma)

    def outcome(self, fn, s):
        """The outcome t with loss s."""
        sigma, shift = evaluate(self.arguments["sigma"], fn), evaluate(self.arguments["sensitivity"], fn)
        return sigma * sigma * s / shift + shift / 2

    def support(self, fn):
        """The whole line."""
        return None if self.noiseless else (-fn.inf, fn.inf)

    def density(self, fn, x):
        """omega = N(mu^2/2, mu^2)."""
        mu = self.mu(fn)
        deviation = (x - mu * mu / 2) / mu
        return fn.exp(-deviation * deviation / 2) / (mu * fn.sqrt(2 * fn.pi))

    def above(self, fn, x):
        """Phi(-x/mu + mu/2) and Phi(-x/mu - mu/2)."""
        mu = self.mu(fn)
        return Tails(fn.normal_cdf(mu / 2 - x / mu), fn.normal_cdf(-mu / 2 - x / mu))

    def below(self, fn, x):
        """Phi(x/mu - mu/2) and Phi(x/mu + mu/2)."""
        mu = self.mu(fn)
        return Tails(fn.normal_cdf(x / mu - mu / 2), fn.normal_cdf(x / mu + mu / 2))

    def above_scaled(self, fn, x):
        """Phi(-x/mu + mu/2) and e^x Phi(-x/mu - mu/2), the latter through log Phi."""
        mu = self.mu(fn)
        t = x / mu
        return Tails(fn.normal_cdf(mu / 2 - t), fn.exp(x + fn.log_normal_cdf(-mu / 2 - t)))

    def below_scaled(self, fn, x):
        """e^{-x} Phi(x/mu - mu/2), through log Phi, and Phi(x/mu + mu/2)."""
        mu = self.mu(fn)
        t = x / mu
        return Tails(fn.exp(-x + fn.log_normal_cdf(t - mu / 2)), fn.normal_cdf(t + mu / 2))

    def excess_above(self, fn, x):
        """delta(x), by the table's own `normal_excess`."""
        mu = self.mu(fn)
        return fn.normal_excess(x / mu - mu / 2, mu)

    def excess_below(self, fn, x):
        """delta(-x)."""
        return self.excess_above(fn, -x)

    def mgf(self, fn, z):
        """M(z) = exp(z (z+1) mu^2 / 2)."""
        if self.noiseless:
            return fn.rational(0, 1)
        mu = self.mu(fn)
        return fn.exp(z * (z + 1) * mu * mu / 2)

    def coordinate(self, fn):
        """The loss itself, which is normal."""
        if self.noiseless:
            return None
        mu = self.mu(fn)
        return Coordinate(-fn.inf, fn.inf, fn.rational(0, 1), mu)
