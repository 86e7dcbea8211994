"""A rough law of the loss, for choosing tilt, window and dx; nothing here enters a bound.

K(theta) = sum_j k_j log M_j(theta) from a coarse table of each PLD's cells. The saddle point of
K(theta) - theta eps - log theta (theta + 1) is where the contour integral of delta(eps) concentrates; there
delta is about exp(K - theta eps) / (theta (theta + 1) sqrt(2 pi V)), V = K'' + 1/theta^2 + 1/(theta+1)^2.
"""

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from .intervals import Interval
from .onestep import OneStep

SMALLEST_TILT, LARGEST_TILT = 1e-6, 1e8
_LEAST_TAIL = 1e-300


@dataclass(frozen=True)
class CoarseLaw:
    """One PLD as a table: cell losses and masses, the tail masses right of each and e^x Q left of each."""

    losses: np.ndarray
    masses: np.ndarray
    ends: tuple[float, float]

    @classmethod
    @lru_cache(maxsize=256)
    def of(cls, step: OneStep) -> "CoarseLaw":
        """The table of a PLD: a logarithmic first look, then refined where there is mass."""
        losses, masses, ends = _cells(step)
        for loss, mass in step.atoms:
            losses, masses = np.append(losses, float(loss.mid)), np.append(masses, float(mass.mid))
        order = np.argsort(losses, kind="stable")
        losses = losses[order]
        ends = (min(ends[0], float(losses[0])), max(ends[1], float(losses[-1])))
        return cls(losses, np.maximum(masses[order], 0.0), ends)

    @cached_property
    def above(self) -> np.ndarray:
        """Mass right of each cell, itself included."""
        return np.cumsum(self.masses[::-1])[::-1]

    def top_cell(self, log_mass: float) -> tuple[float, float]:
        """Neighbouring losses, the first with more and the second with at most this mass above it."""
        beyond = np.nonzero(self.above <= math.exp(max(log_mass, -740.0)))[0]
        if not len(beyond):
            return float(self.losses[-1]), self.ends[1]
        return float(self.losses[max(beyond[0] - 1, 0)]), float(self.losses[beyond[0]])

    def bottom_cell(self, log_share: float, tilt: float) -> tuple[float, float]:
        """Neighbouring losses around the point below which e^x Q, tilted, is at most a share of the whole."""
        with np.errstate(divide="ignore", over="ignore"):
            weights = np.log(self.masses) - self.losses  # Q-mass
            below = np.logaddexp.accumulate(weights) + (1 + tilt) * self.losses
        large = np.nonzero(below > log_share + self.log_mgf(tilt))[0]
        if not len(large):
            return self.ends[0], float(self.losses[0])
        left = float(self.losses[large[0] - 1]) if large[0] > 0 else self.ends[0]
        return left, float(self.losses[large[0]])

    def log_mgf(self, tilt: float) -> float:
        """log M(tilt)."""
        return self.moments(tilt)[0]

    def moments(self, tilt: float) -> tuple[float, float, float]:
        """log M, its first and second derivative."""
        exponent = tilt * self.losses
        peak = float(exponent.max())
        weights = self.masses * np.exp(exponent - peak)
        total = float(weights.sum())
        mean = float(weights @ self.losses) / total
        spread = self.losses - mean
        return math.log(total) + peak, mean, float(weights @ (spread * spread)) / total


def _cells(step: OneStep) -> tuple[np.ndarray, np.ndarray, tuple[float, float]]:
    if step.support is None:
        return np.empty(0), np.empty(0), (math.inf, -math.inf)
    lower, upper = float(step.support[0].hi), float(step.support[1].lo)
    if math.isfinite(lower) and math.isfinite(upper):
        edges = np.linspace(lower, upper, 65)
    else:
        decades = np.logspace(-8, 4.5, 126)
        edges = np.concatenate([-decades[::-1], [0.0], decades])
        edges = edges[(edges > lower) & (edges < upper)]
        edges = np.concatenate([[lower] * math.isfinite(lower), edges, [upper] * math.isfinite(upper)])
    for parts in (8, 0):
        at = Interval.exactly(edges)
        above, below = step.continuous(at)[0].mid, step.below(at).mid
        masses = np.where(above[:-1] < 0.5, above[:-1] - above[1:], below[1:] - below[:-1])
        kept = (above[:-1] > _LEAST_TAIL) & (below[1:] > _LEAST_TAIL) & (masses > 0)
        if parts == 0:
            middles = (0.5 * (edges[:-1] + edges[1:]))[kept]
            return middles, masses[kept], (float(edges[:-1][kept][0]), float(edges[1:][kept][-1]))
        starts, widths = edges[:-1][kept], np.diff(edges)[kept]
        fine = starts[:, None] + widths[:, None] * np.arange(parts) / parts
        edges = np.unique(np.append(fine.ravel(), starts[-1] + widths[-1]))
    raise AssertionError("unreachable")


@dataclass(frozen=True)
class Saddle:
    """Where the integral for one eps concentrates, and what it is about."""

    tilt: float
    eps: float
    log_delta: float
    log_chernoff: float
    mean: float
    deviation: float


class Scout:
    """Rough cumulants of a composition: `parts` are (OneStep, k)."""

    def __init__(self, parts: list[tuple[OneStep, int]]):
        self.laws = [(CoarseLaw.of(step), k) for step, k in parts]

    def cumulants(self, tilt: float) -> tuple[float, float, float]:
        """K, K', K'' at a real tilt."""
        total = np.zeros(3)
        for law, k in self.laws:
            total += k * np.asarray(law.moments(tilt))
        return float(total[0]), float(total[1]), float(total[2])

    def saddle_at(self, tilt: float) -> Saddle:
        """The saddle whose tilt is given: the eps it belongs to and the estimate of log delta there."""
        k0, k1, k2 = self.cumulants(tilt)
        eps = k1 - 1 / tilt - 1 / (tilt + 1)
        variance = k2 + 1 / tilt**2 + 1 / (tilt + 1) ** 2
        chernoff = k0 - tilt * eps
        log_delta = chernoff - math.log(tilt * (tilt + 1)) - 0.5 * math.log(2 * math.pi * variance)
        return Saddle(tilt, eps, log_delta, chernoff, k1, math.sqrt(max(k2, 0.0)))

    def saddle(self, eps: float) -> Saddle:
        """The saddle for one eps."""
        return self._bisect(lambda s: s.eps < eps)

    def saddle_for(self, log_delta: float) -> Saddle:
        """The saddle where log delta is about the value given."""
        return self._bisect(lambda s: s.log_delta > log_delta)

    def _bisect(self, go_right) -> Saddle:
        low, high = math.log(SMALLEST_TILT), math.log(LARGEST_TILT)
        for _ in range(18):
            middle = 0.5 * (low + high)
            if go_right(self.saddle_at(math.exp(middle))):
                low = middle
            else:
                high = middle
        return self.saddle_at(math.exp(0.5 * (low + high)))

    def window(self, tilt: float, log_mass: float) -> tuple[float, float, float, float]:
        """(lower, upper, lambda below, lambda above): the tilted sum leaves [lower, upper] with at most e^{log_mass}
        on each side, by Chernoff's bound at these lambdas."""
        k0, _, k2 = self.cumulants(tilt)
        scale = 1 / math.sqrt(max(k2, 1e-300))
        best_up, best_down = (math.inf, scale), (-math.inf, scale)
        for factor in 2.0 ** np.arange(-4, 6.5, 0.5):
            lam = scale * factor
            up = (self.cumulants(tilt + lam)[0] - k0 - log_mass) / lam
            down = -(self.cumulants(tilt - lam)[0] - k0 - log_mass) / lam
            best_up, best_down = min(best_up, (up, lam)), max(best_down, (down, lam))
        return best_down[0], best_up[0], best_down[1], best_up[1]
