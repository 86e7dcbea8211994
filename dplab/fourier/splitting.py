"""The tilted sum of grid PLDs whose large losses are counted: one tilted sum for each number of large losses.

Each grid PLD is split at a node, a = A + B, exactly; then sum_J C(k, J) A^{*(k-J)} * B^{*J} is the k-fold sum itself.
The terms that are not evaluated are bounded by Chernoff: for every theta > 0 and z >= 1

    sum over |J| > m of prod_j C(k_j, J_j) A_j^{k_j - J_j} B_j^{J_j} <= z^{-m-1} prod_j (A_j + z B_j)^{k_j}

where A_j, B_j are the MGFs of the measures at theta; times kappa(theta) e^{-theta eps} it bounds their share of delta.
"""

import math
from dataclasses import replace

import numpy as np

from .grids import GridPLD
from .intervals import U
from .rare import Splitting, ways_to_count
from .sums import log_exp_sum
from .tilted import KernelSum, TiltedSum, log_kappa

_NOTHING = -1e30  # stands for log 0: an upper bound of it
_NEAR = np.array([-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0])


class SplitSum:
    """Like `TiltedSum`, for the terms of a `Splitting`; `windows` are (window, n) of those to be evaluated, in order,
    None for those to be bounded only."""

    def __init__(self, parts: list[tuple[GridPLD, int]], splitting: Splitting, windows):
        self.parts = [(*_halves(pld, splitting.threshold), k) for pld, k in parts]
        self.terms, self.bounded = [], []
        most = max(sum(term.large) for term in splitting.terms)
        planned = {term.large: (term, window) for term, window in zip(splitting.terms, windows, strict=True)}
        some = [j for j, (_, upper, _) in enumerate(self.parts) if upper is not None]
        for count in range(most + 1):
            for large in ways_to_count(some, count, len(self.parts)):
                if any(number > k for number, (_, _, k) in zip(large, self.parts, strict=True)):
                    continue
                if any(lower is None and k > number for number, (lower, _, k) in zip(large, self.parts, strict=True)):
                    continue  # a factor without mass: the term is nothing
                term, window = planned.get(large, (None, None))
                if term is None or window is None:
                    self.bounded.append(large)
                else:
                    self.terms.append((_log_weight(self.parts, large), self._sum(large, term.tilt, *window)))
        self.most = most
        tilts = sorted({term.tilt for term in splitting.terms})
        self._rests = [self._log_rest_at(tilt) for tilt in tilts + [tilts[-1] * 2.0**j for j in range(1, 11)]]

    def _sum(self, large, tilt: float, window, n: int) -> TiltedSum:
        chosen = []
        for (lower, upper, k), count in zip(self.parts, large, strict=True):
            chosen += [(pld, times) for pld, times in ((lower, k - count), (upper, count)) if times and pld is not None]
        return TiltedSum(chosen, tilt, window, n)

    def _log_mgfs(self, tilt: float) -> list[tuple[float, float, float]]:
        """For each part log A(tilt), log B(tilt), and a bound of what rounding adds to k times either."""
        logs = []
        for lower, upper, k in self.parts:
            (low, slack), (high, more) = (_log_mgf(pld, tilt) for pld in (lower, upper))
            logs.append((low, high, k * max(slack, more)))
        return logs

    def _log_rest_at(self, tilt: float) -> tuple[float, float, list[float]]:
        """At one tilt, its slack included and without e^{-theta eps}: the logarithm of the bound of the terms with more
        large losses than are counted, and those of the terms that are bounded one by one."""
        logs = self._log_mgfs(tilt)
        common = log_kappa(tilt) + math.fsum(slack for _, _, slack in logs) + 1e-9
        expected = np.logaddexp.reduce(  # of large losses, where z = 1
            [math.log(k) + high - low for (low, high, _), (*_, k) in zip(logs, self.parts, strict=True)]
        )
        log_z = np.clip(math.log(self.most + 1) - expected + _NEAR, 0.0, 1e4)
        product = sum(
            k * np.logaddexp(low, high + log_z) for (low, high, _), (*_, k) in zip(logs, self.parts, strict=True)
        )
        single = []
        for large in self.bounded:
            size = _log_weight(self.parts, large)
            for (low, high, _), (*_, k), count in zip(logs, self.parts, large, strict=True):
                size += (k - count) * low if k > count else 0.0
                size += count * high if count else 0.0
            single.append(size + common)
        return tilt, float(np.min(product - (self.most + 1) * log_z)) + common, single

    def _log_rest(self, eps: float) -> float:
        """An upper bound of the logarithm of what the terms that are not evaluated contribute to delta."""
        moved = [-tilt * eps + 8 * U * tilt * abs(eps) + tilt * self.position_error(eps) for tilt, _, _ in self._rests]
        rows = [[many, *single] for _, many, single in self._rests]
        return float(np.logaddexp.reduce(np.min(np.array(rows) + np.array(moved)[:, None], axis=0)))

    def evaluate(self, eps: float) -> KernelSum:
        """The kernel's sum at eps, as `TiltedSum.evaluate`."""
        found = [(weight, total.evaluate(eps)) for weight, total in self.terms]
        rest = self._log_rest(eps)
        factors = [weight + kernel.log_factor for weight, kernel in found]
        top = max(factors) if factors else rest
        if not math.isfinite(top):
            return KernelSum(0.0, math.inf, 0.0, 0.0, 0.0)
        shares = [math.exp(max(factor - top, -745.0)) for factor in factors]
        value, rounding, periodisation = 0.0, 0.0, 0.0
        for share, (_, kernel) in zip(shares, found, strict=True):
            value += share * kernel.value
            rounding += share * (kernel.rounding + abs(kernel.value) * 8 * U)
            periodisation += share * kernel.periodisation
        slack = max(
            (kernel.log_slack + 8 * U * (abs(weight) + abs(kernel.log_factor)) for weight, kernel in found), default=0.0
        )
        periodisation = periodisation * (1 + 1e-9) + math.exp(min(rest - top, 700.0)) * (1 + 1e-9)
        return KernelSum(value, rounding * (1 + 1e-9), periodisation, top, slack + 8 * U * abs(top))

    @property
    def work(self) -> int:
        """Frequencies summed in one evaluation."""
        return sum(total.work for _, total in self.terms)

    def position_error(self, eps: float) -> float:
        """A bound of the error of S - eps in any term."""
        return max((total.position_error(eps) for _, total in self.terms), default=64 * U * (1 + abs(eps)))


def _halves(pld: GridPLD, threshold: float) -> tuple[GridPLD | None, GridPLD | None]:
    """The grid PLD's nodes up to the threshold and those above; None where there are none."""
    grid = pld.grid
    cut = int(np.searchsorted(grid.nodes, threshold, side="right"))
    made = []
    for start, end in ((0, cut), (cut, grid.size)):
        masses = pld.masses[start:end]
        here = replace(grid, first=grid.first + start, size=end - start)
        made.append(GridPLD(here, masses, 0.0) if end > start and masses.any() else None)
    return made[0], made[1]


def _log_weight(parts, large: tuple[int, ...]) -> float:
    """The logarithm of prod C(k_j, J_j)."""
    return math.fsum(math.log(math.comb(k, count)) for (_, _, k), count in zip(parts, large, strict=True))


def _log_mgf(pld: GridPLD | None, tilt: float) -> tuple[float, float]:
    """log sum a_i e^{tilt x_i}, and a bound of its error, that of the nodes included."""
    if pld is None:
        return _NOTHING, 0.0
    reach = tilt * (float(np.abs(pld.grid.nodes).max()) + abs(pld.grid.offset))
    value, slack = log_exp_sum(pld.masses, pld.grid.nodes, tilt)
    return value, slack + 8 * reach * U
