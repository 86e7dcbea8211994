"""A rough law of the loss, for choosing tilt, window and dx; nothing here enters a bound.

K(theta) = sum_j k_j log M_j(theta) from a coarse table of each PLD's cells. The saddle point of
K(theta) - theta eps - log theta (theta + 1) is where the contour integral of delta(eps) concentrates; there
delta is about exp(K - theta eps) / (theta (theta + 1) sqrt(2 pi V)), V = K'' + 1/theta^2 + 1/(theta+1)^2.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np

from .intervals import Interval
from .onestep import OneStep

SMALLEST_TILT, LARGEST_TILT = 1e-10, 1e8
_LEAST_TAIL = 1e-300
_HEAVY_CELL = 0.01
_STEEP_CELL = 2.0
_ENOUGH_CELLS = 6000
_UNLIKELY = 0.3
_RARE = 8.0  # excess kurtosis above which a sum is ruled by a few large losses


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

    def curve(self, eps: float) -> float:
        """delta(eps) of one step without the mass at infinity."""
        return float(self.masses @ np.maximum(-np.expm1(np.minimum(eps - self.losses, 700.0)), 0.0))

    def typical_mean(self, rare: float) -> float:
        """The mean loss without tails of at most `rare` mass on either side."""
        total = self.above[0]
        typical = (self.above > rare) & (total - self.above + self.masses > rare)
        return float(self.masses[typical] @ self.losses[typical])

    def clipped(self, bottom: float, top: float) -> "CoarseLaw":
        """The law of a grid that ends there: mass above is gone, mass below sits at the lower end."""
        kept = self.losses <= top
        return CoarseLaw(np.maximum(self.losses[kept], bottom), self.masses[kept], (bottom, top))

    def fourth_cumulant(self, tilt: float) -> float:
        """The fourth derivative of log M."""
        exponent = tilt * self.losses
        weights = self.masses * np.exp(exponent - exponent.max())
        weights = weights / weights.sum()
        spread = self.losses - weights @ self.losses
        variance = weights @ spread**2
        return float(weights @ spread**4 - 3 * variance**2)

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
    """Losses, masses and outer ends of cells of the continuous part.

    Cells are split until none is both heavy and wide and no tail falls by much more than a factor e within one.
    """
    if step.support is None:
        return np.empty(0), np.empty(0), (math.inf, -math.inf)
    lower, upper = float(step.support[0].lo), float(step.support[1].hi)
    edges = _first_edges(lower - 1e-12 * (1 + abs(lower)), upper + 1e-12 * (1 + abs(upper)))
    table = _tails(step, edges)
    for parts in (4, 8, 8, 8, 0):
        losses, masses, kept, fall = _weighed(table)
        widths = np.diff(table[0])
        split = kept & (widths > 1e-12) & ((masses > _HEAVY_CELL) | (fall > _STEEP_CELL))
        if parts == 0 or not split.any() or len(masses) > _ENOUGH_CELLS:
            break
        inner = table[0][:-1][split][:, None] + widths[split][:, None] * np.arange(1, parts) / parts
        both = np.concatenate([table, _tails(step, inner.ravel())], axis=1)
        table = both[:, np.argsort(both[0], kind="stable")]
    return losses[kept], masses[kept], (float(table[0][:-1][kept][0]), float(table[0][1:][kept][-1]))


def _tails(step: OneStep, edges: np.ndarray) -> np.ndarray:
    """Rows: the points, P above, e^x Q above, P below, Q below."""
    at = Interval.exactly(edges)
    rows = [*step.continuous(at)[:2], step.below(at), step.q_below(at)]
    return np.stack([edges, *(row.mid for row in rows)])


def _weighed(table: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Of each cell: its loss (log(p/r) of its P- and Q-mass, which keeps both), its mass, whether it has any, and by
    how many nats the tail falls in it."""
    edges, above, scaled, below, q_below = table
    right = above[:-1] < 0.5
    masses = np.where(right, above[:-1] - above[1:], below[1:] - below[:-1])
    with np.errstate(all="ignore"):
        from_above = scaled[:-1] - np.exp(-np.diff(edges)) * scaled[1:]
        from_below = (q_below[1:] - q_below[:-1]) * np.exp(edges[:-1])
        losses = edges[:-1] + np.log(masses / np.where(right, from_above, from_below))
        fall = np.abs(np.where(right, np.log(above[:-1] / above[1:]), np.log(below[1:] / below[:-1])))
    good = (losses >= edges[:-1]) & (losses <= edges[1:])
    kept = (above[:-1] > _LEAST_TAIL) & (below[1:] > _LEAST_TAIL) & (masses > 0)
    return np.where(good, losses, 0.5 * (edges[:-1] + edges[1:])), masses, kept, np.nan_to_num(fall, nan=0.0)


def _first_edges(lower: float, upper: float) -> np.ndarray:
    """Edges that are dense, on a logarithmic scale, near 0 and near finite ends of the support."""
    steps = np.logspace(-9, 4.5, 109)
    edges = np.concatenate([-steps[::-1], [0.0], steps])
    if math.isfinite(lower):
        edges = np.concatenate([edges, [lower], lower + steps[::3]])
    if math.isfinite(upper):
        edges = np.concatenate([edges, [upper], upper - steps[::3]])
    if math.isfinite(lower) and math.isfinite(upper):
        edges = np.concatenate([edges, np.linspace(lower, upper, 33)])
    return np.unique(edges[(edges >= lower) & (edges <= upper)])


@dataclass(frozen=True)
class Saddle:
    """Where the integral for one eps concentrates, and what it is about."""

    tilt: float
    eps: float
    log_delta: float
    log_chernoff: float
    mean: float
    deviation: float
    bulk: float  # the mean without tilt


class Scout:
    """Rough cumulants of a composition: `parts` are (OneStep, k)."""

    def __init__(self, parts: list[tuple[OneStep, int]]):
        self.laws = [(CoarseLaw.of(step), k) for step, k in parts]

    def cumulants(self, tilt: float, laws: list[tuple[CoarseLaw, int]] | None = None) -> tuple[float, float, float]:
        """K, K', K'' at a real tilt."""
        total = np.zeros(3)
        for law, k in laws or self.laws:
            total += k * np.asarray(law.moments(tilt))
        return float(total[0]), float(total[1]), float(total[2])

    @cached_property
    def bulk(self) -> float:
        """Where the sum typically is: the untilted mean without losses so rare that most sums contain none."""
        return sum(k * law.typical_mean(_UNLIKELY / k) for law, k in self.laws)

    def saddle_at(self, tilt: float) -> Saddle:
        """The saddle whose tilt is given: the eps it belongs to and the estimate of log delta there."""
        k0, k1, k2 = self.cumulants(tilt)
        eps = k1 - 1 / tilt - 1 / (tilt + 1)
        variance = k2 + 1 / tilt**2 + 1 / (tilt + 1) ** 2
        chernoff = k0 - tilt * eps
        log_delta = chernoff - math.log(tilt * (tilt + 1)) - 0.5 * math.log(2 * math.pi * variance)
        return Saddle(tilt, eps, log_delta, chernoff, k1, math.sqrt(max(k2, 0.0)), self.bulk)

    def saddle(self, eps: float) -> Saddle:
        """The saddle for one eps; where a few large losses rule, delta is about that of one large loss."""
        found = replace(self._bisect(lambda s: s.eps < eps), eps=eps)
        if not self._is_rare(found):
            return found
        ahead = eps - self.bulk
        estimate = sum(k * law.curve(max(ahead, 0.0)) for law, k in self.laws) - math.expm1(min(ahead, 0.0))
        return replace(found, log_delta=min(found.log_delta, math.log(max(estimate, 1e-300))))

    def saddle_for(self, log_delta: float) -> Saddle:
        """The saddle where log delta is about the value given."""
        found = self._bisect(lambda s: s.log_delta > log_delta)
        if not self._is_rare(found):
            return found
        low, high = self.bulk - 1.0, self.bulk + 1.0
        while self.saddle(high).log_delta > log_delta and high < 1e6:
            low, high = high, self.bulk + 2 * (high - self.bulk)
        while self.saddle(low).log_delta < log_delta and low > -1e6:
            low, high = self.bulk - 4 * (self.bulk - low), low
        for _ in range(24):
            middle = 0.5 * (low + high)
            if self.saddle(middle).log_delta > log_delta:
                low = middle
            else:
                high = middle
        return self.saddle(0.5 * (low + high))

    def _is_rare(self, saddle: Saddle) -> bool:
        fourth = sum(k * law.fourth_cumulant(saddle.tilt) for law, k in self.laws)
        return fourth > _RARE * saddle.deviation**4

    def _bisect(self, go_right) -> Saddle:
        low, high = math.log(SMALLEST_TILT), math.log(LARGEST_TILT)
        for _ in range(20):
            middle = 0.5 * (low + high)
            if go_right(self.saddle_at(math.exp(middle))):
                low = middle
            else:
                high = middle
        return self.saddle_at(math.exp(0.5 * (low + high)))

    def window(
        self, tilt: float, log_mass: float, ranges: list[tuple[float, float]]
    ) -> tuple[float, float, float, float]:
        """(lower, upper, lambda below, lambda above): the tilted sum of the grids that end at `ranges` leaves
        [lower, upper] with at most e^{log_mass} on each side, by Chernoff's bound at these lambdas."""
        laws = [(law.clipped(*ends), k) for (law, k), ends in zip(self.laws, ranges, strict=True)]
        k0, _, k2 = self.cumulants(tilt, laws)
        scale = 1 / math.sqrt(max(k2, 1e-300))
        best_up, best_down = (math.inf, scale), (-math.inf, scale)
        for factor in 2.0 ** np.arange(-4, 6.5, 0.5):
            lam = scale * factor
            up = (self.cumulants(tilt + lam, laws)[0] - k0 - log_mass) / lam
            down = -(self.cumulants(tilt - lam, laws)[0] - k0 - log_mass) / lam
            best_up, best_down = min(best_up, (up, lam)), max(best_down, (down, lam))
        return best_down[0], best_up[0], best_down[1], best_up[1]
