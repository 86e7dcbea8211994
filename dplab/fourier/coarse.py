"""A PLD as a coarse table of cells: rough cumulants for planning; nothing here enters a bound."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from .floats import rough_tails
from .onestep import OneStep
from .wide import exp_of, is_wide, least, log_least, log_of, widened

SMALLEST_TILT, LARGEST_TILT = 1e-10, 1e12
_HEAVY_CELL = 0.01
_STEEP_CELL = 2.0
_ENOUGH_CELLS = 6000
_MOST_ATOMS = 4000


@dataclass(frozen=True)
class CoarseLaw:
    """One PLD as a table: cell losses and masses, the tail masses right of each and e^x Q left of each."""

    losses: np.ndarray
    masses: np.ndarray
    ends: tuple[float, float]

    @classmethod
    @lru_cache(maxsize=256)
    def of(cls, step: OneStep, wide: bool = False) -> "CoarseLaw":
        """The table of a PLD: a logarithmic first look, then refined where there is mass; in the type with a wider
        exponent if that is asked for."""
        losses, masses, ends = _cells(step, wide)
        atoms = _gathered(step.columns.loss.mid, step.columns.p.mid)
        losses, masses = np.append(losses, atoms[0]), np.append(masses, atoms[1])
        order = np.argsort(losses, kind="stable")
        order = order[masses[order] > 0] if masses.any() else order
        losses = losses[order]
        listed = step.columns.loss.mid if len(step.columns) else losses
        ends = (min(ends[0], float(losses[0]), float(listed[0])), max(ends[1], float(losses[-1]), float(listed[-1])))
        return cls(losses, np.maximum(masses[order], 0.0), ends)

    @cached_property
    def above(self) -> np.ndarray:
        """Mass right of each cell, itself included."""
        return np.cumsum(self.masses[::-1])[::-1]

    def top_cell(self, log_mass: float) -> tuple[float, float]:
        """Neighbouring losses, the first with more and the second with at most this mass above it."""
        limit = exp_of(max(log_mass, log_least(self.wide) - 80.0), self.wide)
        beyond = np.nonzero(self.above <= limit)[0]
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
        weights, peak = self._tilted(tilt)
        return log_of(weights.sum()) + peak

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
        weights, _ = self._tilted(tilt)
        weights = weights / weights.sum()
        spread = self.losses - weights @ self.losses
        variance = weights @ spread**2
        return float(weights @ spread**4 - 3 * variance**2)

    def moments(self, tilt: float) -> tuple[float, float, float]:
        """log M, its first and second derivative."""
        weights, peak = self._tilted(tilt)
        total = weights.sum()
        mean = float(weights @ self.losses / total)
        spread = self.losses - mean
        return log_of(total) + peak, mean, float(weights @ (spread * spread) / total)

    def _tilted(self, tilt: float) -> tuple[np.ndarray, float]:
        """The masses times e^{tilt s}, without the largest exponential; its exponent."""
        exponent = tilt * self.losses
        peak = exponent.max()
        return self.masses * np.exp(exponent - peak), float(peak)

    @property
    def wide(self) -> bool:
        """Whether its masses have the type with the wider exponent."""
        return is_wide(self.masses)


def _gathered(losses: np.ndarray, masses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Atoms in increasing order of loss; thousands of them gathered into cells that keep their P- and Q-mass."""
    if len(losses) <= _MOST_ATOMS:
        return losses, masses
    share = np.cumsum(masses)
    quantiles = np.searchsorted(share, np.linspace(0.0, share[-1], _MOST_ATOMS // 4))
    even = np.searchsorted(losses, np.linspace(losses[0], losses[-1], _MOST_ATOMS // 2))
    starts = np.unique(np.concatenate([[0], quantiles, even]))
    starts = starts[starts < len(losses)]
    first = np.repeat(losses[starts], np.diff(np.append(starts, len(losses))))
    p = np.add.reduceat(masses, starts)
    q = np.add.reduceat(masses * np.exp(first - losses), starts)  # e^{first} times the Q-mass
    with np.errstate(divide="ignore", invalid="ignore"):
        return losses[starts] + np.where(q > 0, np.log(p / q), 0.0), p


def _cells(step: OneStep, wide: bool) -> tuple[np.ndarray, np.ndarray, tuple[float, float]]:
    """Losses, masses and outer ends of cells of the continuous part.

    Cells are split until none is both heavy and wide and no tail falls by much more than a factor e within one.
    """
    if step.support is None:
        return np.empty(0), np.empty(0), (math.inf, -math.inf)
    lower, upper = float(step.support[0].lo), float(step.support[1].hi)
    edges = widened(_first_edges(lower - 1e-12 * (1 + abs(lower)), upper + 1e-12 * (1 + abs(upper))), wide)
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
    if not kept.any():  # all of it lies beyond the first looks (almost no noise): a point there will do
        end = float(table[0][-1] if table[1][-1] > 0.5 else table[0][0])
        return np.array([end]), np.ones(1), (end, end)
    return losses[kept], masses[kept], (float(table[0][:-1][kept][0]), float(table[0][1:][kept][-1]))


def _tails(step: OneStep, edges: np.ndarray) -> np.ndarray:
    """Rows: the points, P above, e^x Q above, P below, Q below."""
    return np.stack([edges, *rough_tails(step, edges)])


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
    kept = (above[:-1] > least(edges)) & (below[1:] > least(edges)) & (masses > 0)
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


def cumulants(laws: list[tuple[CoarseLaw, int]], tilt: float) -> tuple[float, float, float]:
    """K, K', K'' of the sum of k losses of each law, at a real tilt."""
    total = np.zeros(3)
    for law, k in laws:
        total += k * np.asarray(law.moments(tilt))
    return float(total[0]), float(total[1]), float(total[2])


def bisected_tilt(go_right: Callable[[float], bool], steps: int = 20) -> float:
    """The tilt up to which `go_right` holds, on a logarithmic scale."""
    low, high = math.log(SMALLEST_TILT), math.log(LARGEST_TILT)
    for _ in range(steps):
        middle = 0.5 * (low + high)
        if go_right(math.exp(middle)):
            low = middle
        else:
            high = middle
    return math.exp(0.5 * (low + high))


def saddle_eps(mean: float, tilt: float) -> float:
    """The eps whose saddle point is at this tilt, the tilted sum's mean being given."""
    return mean - 1 / tilt - 1 / (tilt + 1)


def log_peak(variance: float, tilt: float) -> float:
    """log of the saddle point's factor 1/(theta (theta + 1) sqrt(2 pi V)), V that of the whole integrand."""
    total = variance + 1 / tilt**2 + 1 / (tilt + 1) ** 2
    return -math.log(tilt * (tilt + 1)) - 0.5 * math.log(2 * math.pi * total)


def window_of(laws: list[tuple[CoarseLaw, int]], tilt: float, log_mass: float) -> tuple[float, float, float, float]:
    """(lower, upper, lambda below, lambda above): the tilted sum of these laws leaves [lower, upper] with at most
    e^{log_mass} on each side, by Chernoff's bound at these lambdas."""
    k0, _, k2 = cumulants(laws, tilt)

    def log_mgf(at: float) -> float:
        return sum(k * law.log_mgf(at) for law, k in laws)

    scale = 1 / math.sqrt(max(k2, 1e-300))
    best_up, best_down = (math.inf, scale), (-math.inf, scale)
    for factor in 2.0 ** np.arange(-4, 6.5, 0.5):
        lam = scale * factor
        up = (log_mgf(tilt + lam) - k0 - log_mass) / lam
        down = -(log_mgf(tilt - lam) - k0 - log_mass) / lam
        best_up, best_down = min(best_up, (up, lam)), max(best_down, (down, lam))
    return best_down[0], best_up[0], best_down[1], best_up[1]
