"""Compositions of a few kinds of steps whose losses take few values: every sum of losses, one by one, in intervals.

delta = delta(inf) + sum over counts of prod_j (multinomial weight times masses) (1 - e^{eps - S})_+. No grid, no FFT; a
lattice that several kinds of steps share no more than approximately is no problem here, and neither is delta = 1e-300.
"""

import math
from itertools import combinations_with_replacement, pairwise

import numpy as np

from .intervals import Interval, U, maximum
from .onestep import FN, OneStep

MOST_SUMS = 20_000
_MOST_OF_ONE = 2_000


def count_sums(parts: list[tuple[OneStep, int]]) -> int:
    """How many sums there are, or 0 if a part has a continuous law or too many steps."""
    total = 1
    for step, k in parts:
        if step.support is not None or step.unlisted or k > _MOST_OF_ONE:
            return 0
        total *= math.comb(k + len(step.columns) - 1, k) if len(step.columns) else 1
        if total > MOST_SUMS:
            return total
    return total


def enumerated_delta(parts: list[tuple[OneStep, int]], eps: Interval) -> Interval:
    """The finite part of delta(eps), enclosed."""
    losses, logs = Interval.exactly(np.zeros(1)), Interval.exactly(np.zeros(1))
    for step, k in parts:
        more_losses, more_logs = _sums_of_one(step, k)
        losses, logs = _outer(losses, more_losses), _outer(logs, more_logs)
    terms = FN.exp(logs) * maximum(-FN.expm1(eps - losses), 0.0)
    slack = (len(np.atleast_1d(terms.lo)) + 4) * U
    return Interval(float(np.sum(terms.lo)) * (1 - slack), float(np.sum(terms.hi)) * (1 + slack))


def _sums_of_one(step: OneStep, k: int) -> tuple[Interval, Interval]:
    """The sums of k losses of one law, and the logarithms of their masses."""
    if not step.atoms:  # nothing finite
        return Interval.exactly(np.zeros(1)), Interval.exactly(np.full(1, -np.inf))
    counts = np.array(list(_counts(len(step.atoms), k)), dtype=float)
    weights = np.array([_log_multinomial(k, row) for row in counts.astype(int).tolist()])
    logs = Interval(weights - np.abs(weights) * 8 * U, weights + np.abs(weights) * 8 * U)
    losses = Interval.exactly(np.zeros(len(counts)))
    for column, (loss, mass) in enumerate(step.atoms):
        times = Interval.exactly(counts[:, column])
        losses = losses + times * loss
        logs = logs + times * FN.log(mass)
    return losses, logs


def _counts(kinds: int, k: int):
    """All ways to write k as a sum of `kinds` counts."""
    for bars in combinations_with_replacement(range(k + 1), kinds - 1):
        edges = (0, *bars, k)
        yield [after - before for before, after in pairwise(edges)]


def _log_multinomial(k: int, counts: list[int]) -> float:
    total, left = 1, k
    for count in counts:
        total *= math.comb(left, count)
        left -= count
    return math.log(total)


def _outer(one: Interval, other: Interval) -> Interval:
    a = Interval(np.repeat(one.lo, len(other.lo)), np.repeat(one.hi, len(other.hi)))
    b = Interval(np.tile(other.lo, len(one.lo)), np.tile(other.hi, len(one.hi)))
    return a + b
