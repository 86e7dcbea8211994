"""Sums over the atoms above a point, strictly enclosed, for any number of points at once.

For a set of atoms of losses s and masses p: D(x) = sum of p e^{x-s} (e^x times the Q-mass) and H(x) = sum of p (1 -
e^{x-s}) (its share of delta). Between neighbouring atoms D and H are linear in e^x with non-negative parts, so that
suffix sums at the atoms serve every x and nothing cancels:

    D_a = p_a + e^{s_a - s_b} D_b,   H_a = H_b + (1 - e^{s_a - s_b}) D_b   (b the next atom above a).

H grows with s and with p. Two laws with exact float64 losses and masses, one below and one above the true one, give
its enclosure.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .columns import Columns
from .intervals import TINY, Interval, IntervalTable, U, as_interval
from .sums import suffix_sums

FN = IntervalTable()
_BLOCK = 30.0


@dataclass(frozen=True)
class _Exact:
    """Suffix sums of one law with float losses in order, padded by one empty atom; relative error at most `error`."""

    losses: np.ndarray
    decayed: np.ndarray
    shares: np.ndarray
    error: float

    @classmethod
    def of(cls, losses: np.ndarray, masses: np.ndarray) -> "_Exact":
        decayed, error = _suffix_decay(losses, masses)
        shares, more = suffix_sums(np.append(-np.expm1(losses[:-1] - losses[1:]) * decayed[1:], 0.0))
        return cls(np.append(losses, losses[-1]), np.append(decayed, 0.0), np.append(shares, 0.0), error + more + 4 * U)

    def share(self, index: np.ndarray, x) -> np.ndarray:
        """H(x) of the atoms from `index` on, all of which lie at or above x; rounded to nearest."""
        gap = np.minimum(x - self.losses[index], 0.0)
        return self.shares[index] - np.expm1(gap) * self.decayed[index]


def _suffix_decay(losses: np.ndarray, masses: np.ndarray) -> tuple[np.ndarray, float]:
    """D at every atom, in blocks that are short and span at most 30 nats, and a bound of its relative error."""
    size = len(losses)
    width = int(np.ceil(np.sqrt(size)))
    marks = np.floor((losses - losses[0]) / _BLOCK) + np.arange(size) // width
    starts = np.flatnonzero(np.append(True, np.diff(marks) > 0))
    ends = np.append(starts[1:], size)
    result, carry, carried_at, reach = np.empty(size), 0.0, losses[-1], 0.0
    for start, end in zip(starts[::-1], ends[::-1], strict=True):
        here = losses[start:end] - losses[start]
        inner = np.cumsum((masses[start:end] * np.exp(-here))[::-1])[::-1]
        carry *= np.exp(losses[start] - carried_at)
        result[start:end] = np.exp(here) * (inner + carry)
        carry, carried_at, reach = float(inner[0] + carry), losses[start], max(reach, float(here[-1]))
    return result, (width + 8 * len(starts) + 4 * reach + 16) * U


@dataclass(frozen=True)
class AtomSums:
    """The sums for the atoms of one PLD; `columns` are in increasing order of loss."""

    columns: Columns

    @cached_property
    def middles(self) -> np.ndarray:
        """The losses, rounded; test sets are cut by them."""
        return self.columns.loss.mid

    @cached_property
    def _lower(self) -> _Exact:
        return _Exact.of(np.minimum.accumulate(self.columns.loss.lo[::-1])[::-1], self.columns.p.lo)

    @cached_property
    def _upper(self) -> _Exact:
        return _Exact.of(np.maximum.accumulate(self.columns.loss.hi), self.columns.p.hi)

    @cached_property
    def _blur(self) -> float:
        """How far losses may be apart within their enclosures, as a relative error of D."""
        return float(np.expm1(np.max(self._upper.losses - self._lower.losses))) * (1 + 1e-9) + 4 * U

    @cached_property
    def _above(self) -> np.ndarray:
        """P-masses from each atom on, lower bounds."""
        sums, error = suffix_sums(self.columns.p.lo)
        return np.append(sums * (1 - error), 0.0)

    def _from(self, limit) -> np.ndarray:
        """The index of the first atom whose middle lies above each limit."""
        return np.searchsorted(self.middles, limit, side="right")

    def curve(self, x: Interval) -> Interval:
        """H(x), the atoms' share of delta(x)."""
        low, high = self._lower, self._upper
        below = low.share(np.searchsorted(low.losses[:-1], x.hi, side="right"), x.hi) * (1 - low.error)
        index = np.searchsorted(high.losses[:-1], x.lo, side="right")
        above = high.share(index, x.lo) * (1 + high.error)
        return Interval(np.maximum(below, 0.0), np.where(index < len(self.middles), above + TINY, 0.0))

    def line(self, x: Interval, limit: np.ndarray) -> Interval:
        """The sum of p (1 - e^{x-s}) over the atoms above `limit`, whatever x."""
        index = self._from(limit)
        low, high = self._lower, self._upper
        reference = low.losses[index]
        some = index < len(self.middles)
        share = Interval(
            low.shares[index] * (1 - low.error),
            np.where(some, high.share(index, reference) * (1 + high.error) + TINY, 0.0),
        )
        return share - FN.expm1(x - reference) * self._decayed(index, some)

    def _decayed(self, index: np.ndarray, some: np.ndarray) -> Interval:
        """D of the atoms from `index` on, at the lower end of the first one's loss."""
        low, high = self._lower, self._upper
        return Interval(
            low.decayed[index] * (1 - low.error - self._blur),
            np.where(some, high.decayed[index] * (1 + high.error + 2 * self._blur) + TINY, 0.0),
        )

    def q_above(self, x: np.ndarray, limit: np.ndarray) -> np.ndarray:
        """Lower bounds of e^x times the Q-mass of the atoms above `limit`."""
        index = self._from(limit)
        exponent = np.minimum(x - self._lower.losses[index], 700.0)
        lower = self._decayed(index, index < len(self.middles)).lo
        return np.maximum(lower, 0.0) * np.exp(exponent) * (1 - 1e-12)

    def certainly_above(self, x: np.ndarray, limit: np.ndarray) -> np.ndarray:
        """As `q_above`, of the atoms whose loss is certain to lie above the limit, for x <= limit."""
        index = np.searchsorted(self._lower.losses[:-1], limit, side="right")
        lower = self._decayed(index, index < len(self.middles)).lo
        return np.maximum(lower, 0.0) * np.exp(np.minimum(x - self._lower.losses[index], 0.0)) * (1 - 1e-12)

    def p_above(self, limit: float) -> float:
        """A lower bound of the P-mass of the atoms above the limit."""
        return float(self._above[self._from(limit)])


def nothing(x) -> Interval:
    """Zero at every point."""
    zero = np.zeros(np.shape(as_interval(x).lo))
    return Interval(zero, zero)
