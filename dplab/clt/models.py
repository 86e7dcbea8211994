"""What a composition's loss is replaced by: a normal law, a shift, and a mass at infinity."""

import math
from dataclasses import dataclass
from typing import Literal

import mpmath

from ..core.composition import Composition
from ..core.errors import ParameterError
from ..core.functions import MpmathTable
from ..core.pair import Pair
from ..core.pld import PLD
from ..mechanisms import Gaussian, PoissonSubsampled, RandomizedResponse
from .moments import DIGITS, Moments, chi_square, moments
from .normal import log_normal_delta

Method = Literal["gdp", "limit", "moments", "normal"]
METHODS = ("gdp", "limit", "moments", "normal")


@dataclass(frozen=True)
class Model:
    """delta(eps) ~ d + (1 - d) delta_N(eps - shift), with delta_N that of a loss N(mean, variance).

    A normal law that is no loss's (mean < variance/2) can fall below 1 - e^eps, which no delta does: then that counts.
    d is `infinite`, the mass at infinity. `details` has what it was made from: mu, and the composed loss's own mean
    and variance (nats, of its finite part).
    """

    mean: float
    variance: float
    shift: float
    infinite: float
    details: dict

    def log_delta(self, eps: float) -> float:
        """log delta(eps), eps in nats or infinite."""
        normal = log_normal_delta(self.mean, self.variance, eps - self.shift)
        if self.infinite == 0:
            value = normal
        elif self.infinite == 1:
            value = 0.0
        else:
            value = _log_sum(math.log(self.infinite), math.log1p(-self.infinite) + normal)
        return max(value, math.log(-math.expm1(eps))) if eps < 0 else value

    def epsilon(self, delta: float) -> float:
        """The smallest eps >= 0 with delta(eps) <= delta; inf if there is none."""
        if delta >= 1 or math.exp(self.log_delta(0.0)) <= delta:
            return 0.0
        if self.variance <= 0 and delta == self.infinite:
            return max(0.0, self.mean + self.shift)
        if delta <= self.infinite:
            return math.inf
        target, low, high = math.log(delta), 0.0, 1.0
        while self.log_delta(high) > target:
            low, high = high, 2 * high
        while (middle := (low + high) / 2) not in (low, high):
            low, high = (middle, high) if self.log_delta(middle) > target else (low, middle)
        return high


def _log_sum(a: float, b: float) -> float:
    """log(e^a + e^b)."""
    return max(a, b) + math.log1p(math.exp(-abs(a - b)))


def model_of(composition: Composition, backward: bool, method: str) -> Model:
    """The normal law that stands for the composition in one direction.

    Raises ParameterError for an unknown method, or one that does not cover a part.
    """
    with mpmath.workdps(DIGITS):
        parts = [(pld, k, moments(pld)) for pld, k in composition.plds(backward)]
        mean = sum((k * m.mean for _, k, m in parts), mpmath.mpf(0))
        variance = sum((k * m.variance for _, k, m in parts), mpmath.mpf(0))
        infinite = -mpmath.expm1(sum((k * mpmath.log1p(-m.infinite) for _, k, m in parts), mpmath.mpf(0)))
        details = {"mean": float(mean), "variance": float(variance), "mass_at_infinity": float(infinite)}
        if infinite == 1 or method == "normal":
            mu = _mu_of_moments(parts) if infinite != 1 else mpmath.inf
            return Model(float(mean), float(variance), 0.0, float(infinite), {"mu": float(mu), **details})
        mu = _mu(parts, method)
        shift = sum((k * m.shift for _, k, m in parts), mpmath.mpf(0))
        details = {"mu": float(mu), "mu_of_moments": float(_mu_of_moments(parts)), **details}
        return Model(float(mu * mu / 2), float(mu * mu), float(shift), float(infinite), details)


Parts = list[tuple[PLD, int, Moments]]


def _mu(parts: Parts, method: str):
    if method == "moments":
        return _mu_of_moments(parts)
    sampled = [part for part in parts if method == "limit" or _has_subsampling_limit(part[0].pair)]
    others = [part for part in parts if part not in sampled]
    squares = sum((k * limit_mu(pld.pair) ** 2 for pld, k, _ in sampled), mpmath.mpf(0))
    return mpmath.sqrt(squares + _mu_of_moments(others) ** 2)


def _mu_of_moments(parts: Parts):
    """2 mean/sd of the finite losses, without the shift that comes from the masses apart [DRS22, Theorem 3.4]."""
    mean = sum((k * (m.mean - m.shift) for _, k, m in parts), mpmath.mpf(0))
    variance = sum((k * m.variance for _, k, m in parts), mpmath.mpf(0))
    return 2 * mean / mpmath.sqrt(variance) if variance > 0 else mpmath.mpf(0)


def _has_subsampling_limit(pair: Pair) -> bool:
    return isinstance(pair, PoissonSubsampled) and pair.mechanism.mass_at_infinity(MpmathTable()) == 0


def limit_mu(pair: Pair):
    """mu of one step by a limit theorem: eps0 for randomised response [DRS22, Theorem 3.6], Delta/sigma for a
    Gaussian, q sqrt(chi^2(P, Q)) for Poisson sampling at small q [Bu, Dong, Long, Su 2020, Theorem 5].

    Raises ParameterError for other mechanisms.
    """
    fn = MpmathTable()
    if isinstance(pair, RandomizedResponse):
        return pair.c(fn)
    if isinstance(pair, Gaussian):
        return pair.mu(fn)
    if isinstance(pair, PoissonSubsampled) and _has_subsampling_limit(pair):
        return pair.q(fn) * mpmath.sqrt(chi_square(pair.mechanism))
    raise ParameterError("method", "limit", '"gdp", "moments" or "normal" here', f"No limit theorem for {pair!r}.")
