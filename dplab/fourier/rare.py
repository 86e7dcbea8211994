"""Sums ruled by a few large losses: where to split each law, and what each number of large losses contributes.

Where the tail of one step is heavier than exponential for a while (a small sampling rate), no tilt puts the sum at eps:
the tilted law has one hump near its bulk and another far beyond eps. Split at a threshold, omega = A + B, and

    omega^{*k} = sum_J C(k, J) A^{*(k-J)} * B^{*J},

each term has a tilt of its own that does. Everything here is a rough estimate on the scout's tables, used to choose
threshold and tilts; `splitting` bounds.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np

from .coarse import CoarseLaw, bisected_tilt, cumulants, log_peak, saddle_eps
from .tilted import log_kappa

_MOST_TERMS = 40
_MOST_LARGE = 6
_SHARES = (0.1, 0.3, 0.5, 0.65, 0.75, 0.82, 0.88, 0.92, 0.96, 0.985)
_NEGLIGIBLE = -16.0  # log of a share of delta


@dataclass(frozen=True)
class Term:
    """One term: how many losses of each part are large, its tilt, and rough logarithms of its size.

    `log_chernoff` and `log_value` include the multinomial weight `log_weight`.
    """

    large: tuple[int, ...]
    tilt: float
    log_weight: float
    log_chernoff: float
    log_value: float
    deviation: float


@dataclass(frozen=True)
class Splitting:
    """A threshold for the loss of one step, and the terms that matter."""

    threshold: float
    terms: tuple[Term, ...]

    @property
    def log_delta(self) -> float:
        """log delta without the infinite part, about."""
        return float(np.logaddexp.reduce([term.log_value for term in self.terms]))

    @property
    def log_chernoff(self) -> float:
        """What rounding is relative to."""
        return max(term.log_chernoff for term in self.terms)


def choose_splitting(laws: list[tuple[CoarseLaw, int]], eps: float, bulk: float) -> Splitting | None:
    """The threshold whose terms have the smallest Chernoff bounds in all, or None if no term reaches eps."""
    best: Splitting | None = None
    for share in _SHARES:
        found = split_at(laws, eps, bulk + share * (eps - bulk))
        if found is not None and (best is None or found.log_chernoff < best.log_chernoff):
            best = found
    return best


def split_at(laws: list[tuple[CoarseLaw, int]], eps: float, threshold: float) -> Splitting | None:
    """The terms for one threshold, by increasing number of large losses, until they no longer matter; None if there
    are too many."""
    halves = [(half(law, threshold, above=False), half(law, threshold, above=True), k) for law, k in laws]
    some = [j for j, (_, upper, _) in enumerate(halves) if upper is not None]
    if not some:
        return None
    terms: list[Term] = []
    for count in range(_MOST_LARGE + 1):
        choices = list(ways_to_count(some, count, len(halves)))
        if len(terms) + len(choices) > _MOST_TERMS:
            break
        new = [_term(halves, large, eps) for large in choices]
        found = [term for term in new if term is not None]
        terms += found
        if (
            terms
            and count
            and max((t.log_chernoff for t in found), default=-math.inf) < _NEGLIGIBLE + max(t.log_value for t in terms)
        ):
            return Splitting(threshold, tuple(terms))
    return None


def ways_to_count(some: list[int], count: int, parts: int) -> Iterator[tuple[int, ...]]:
    """All ways in which `count` large losses can be spread over `some` of the parts: how many each part has."""
    for choice in combinations_with_replacement(some, count):
        yield tuple(choice.count(j) for j in range(parts))


def half(law: CoarseLaw, threshold: float, above: bool) -> CoarseLaw | None:
    """The cells above the threshold, or those up to it; None if there are none."""
    chosen = law.losses > threshold if above else law.losses <= threshold
    if not chosen.any():
        return None
    ends = (threshold, law.ends[1]) if above else (law.ends[0], threshold)
    return CoarseLaw(law.losses[chosen], law.masses[chosen], ends)


def clipped_term(
    laws: list[tuple[CoarseLaw, int]], threshold: float, large: tuple[int, ...], ends: list[tuple[float, float]]
) -> list[tuple[CoarseLaw, int]]:
    """The laws of one term, and how often each occurs, on grids with these ends."""
    chosen = []
    for (law, k), count, (bottom, top) in zip(laws, large, ends, strict=True):
        lower, upper = half(law, threshold, above=False), half(law, threshold, above=True)
        if lower is not None and k > count:
            chosen.append((lower.clipped(bottom, min(top, threshold)), k - count))
        if upper is not None and count:
            chosen.append((upper.clipped(threshold, top), count))
    return chosen


def _term(halves, large: tuple[int, ...], eps: float) -> Term | None:
    laws, log_weight = [], 0.0
    for (lower, upper, k), count in zip(halves, large, strict=True):
        if count > k or (lower is None and count < k):
            return None
        log_weight += math.lgamma(k + 1) - math.lgamma(count + 1) - math.lgamma(k - count + 1)
        laws += [(law, times) for law, times in ((lower, k - count), (upper, count)) if times and law is not None]
    if sum(times * float(law.losses[-1]) for law, times in laws) <= eps:
        return None
    tilt = bisected_tilt(lambda theta: saddle_eps(cumulants(laws, theta)[1], theta) < eps, steps=26)
    k0, _, k2 = cumulants(laws, tilt)
    log_size = log_weight + k0 - tilt * eps
    log_chernoff, log_value = log_size + log_kappa(tilt), log_size + log_peak(k2, tilt)
    return Term(large, tilt, log_weight, log_chernoff, min(log_value, log_chernoff), math.sqrt(max(k2, 0.0)))
