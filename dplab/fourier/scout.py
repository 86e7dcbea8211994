"""A rough look at a composition, for choosing tilt, window and dx; nothing here enters a bound.

K(theta) = sum_j k_j log M_j(theta) from a coarse table of each PLD's cells. The saddle point of
K(theta) - theta eps - log theta (theta + 1) is where the contour integral of delta(eps) concentrates; there
delta is about exp(K - theta eps) / (theta (theta + 1) sqrt(2 pi V)), V = K'' + 1/theta^2 + 1/(theta+1)^2. Where a few
large losses rule, the tilted law has two humps and that is no good: see `rare`.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property

from .coarse import CoarseLaw, bisected_tilt, cumulants, log_peak, saddle_eps, window_of
from .onestep import OneStep
from .rare import Splitting, choose_splitting, split_at
from .tilted import log_kappa

_UNLIKELY = 0.3
_PLAIN = (-0.05, 0.3)  # excess kurtosis of the tilted sum when it looks like one hump
_HUMPS = (-0.4, 8.0)  # and outside of which it does not; in between, a splitting is tried
_PROBE = 0.9
_GAIN = 3.0  # by which splitting has to lower the logarithm of Chernoff's bound
_SEARCH, _NEAR = 16, 0.25


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
    splitting: Splitting | None = None


class Scout:
    """Rough cumulants of a composition: `parts` are (OneStep, k); `wide` where tails below 1e-300 matter."""

    def __init__(self, parts: list[tuple[OneStep, int]], wide: bool = False):
        self.wide = wide
        self.laws = [(CoarseLaw.of(step, wide), k) for step, k in parts]

    @cached_property
    def bulk(self) -> float:
        """Where the sum typically is: the untilted mean without losses so rare that most sums contain none."""
        return sum(k * law.typical_mean(_UNLIKELY / k) for law, k in self.laws)

    def saddle_at(self, tilt: float) -> Saddle:
        """The saddle whose tilt is given: the eps it belongs to and the estimate of log delta there."""
        k0, k1, k2 = cumulants(self.laws, tilt)
        eps = saddle_eps(k1, tilt)
        chernoff = k0 - tilt * eps
        return Saddle(tilt, eps, chernoff + log_peak(k2, tilt), chernoff, k1, math.sqrt(max(k2, 0.0)), self.bulk)

    def saddle(self, eps: float) -> Saddle:
        """The saddle for one eps, with a splitting where that is better."""
        found = replace(self._bisect(lambda s: s.eps < eps), eps=eps)
        return self.split(found) if self._is_odd(found) else found

    def split(self, saddle: Saddle) -> Saddle:
        """The saddle with a splitting, if one promises much less rounding."""
        found = choose_splitting(self.laws, saddle.eps, self.bulk)
        if found is None or not self._gains(saddle, found):
            return saddle
        return replace(saddle, log_delta=found.log_delta, splitting=found)

    def saddle_for(self, log_delta: float) -> Saddle:
        """The saddle where log delta is about the value given."""
        found = self._bisect(lambda s: s.log_delta > log_delta)
        if not self._is_odd(found):
            return found
        low, high = self.saddle(self.bulk - 1.0), self.saddle(self.bulk + 1.0)
        while high.log_delta > log_delta and high.eps < 1e6:
            low, high = high, self.saddle(self.bulk + 2 * (high.eps - self.bulk))
        while low.log_delta < log_delta and low.eps > -1e6:
            low, high = self.saddle(self.bulk - 4 * (self.bulk - low.eps)), low
        for step in range(_SEARCH):
            share = (low.log_delta - log_delta) / max(low.log_delta - high.log_delta, 1e-9)
            share = 0.5 if step % 3 == 2 else min(max(share, 0.05), 0.95)
            middle = self.saddle(low.eps + share * (high.eps - low.eps))
            if middle.log_delta > log_delta:
                low = middle
            else:
                high = middle
            if abs(middle.log_delta - log_delta) < _NEAR:
                return middle
        largest = sum(k * float(law.losses[-1]) for law, k in self.laws)
        return high if high.eps < largest else found  # close to the largest loss the tilt tells eps better

    def _is_odd(self, saddle: Saddle) -> bool:
        """Whether the tilted sum does not look like one hump."""
        fourth, unit = sum(k * law.fourth_cumulant(saddle.tilt) for law, k in self.laws), saddle.deviation**4
        if _PLAIN[0] * unit <= fourth <= _PLAIN[1] * unit:
            return False
        if not _HUMPS[0] * unit <= fourth <= _HUMPS[1] * unit:
            return True
        probe = split_at(self.laws, saddle.eps, self.bulk + _PROBE * (saddle.eps - self.bulk))
        return probe is not None and self._gains(saddle, probe)

    @staticmethod
    def _gains(saddle: Saddle, splitting: Splitting) -> bool:
        """Whether the splitting promises much less rounding."""
        return splitting.log_chernoff < saddle.log_chernoff + log_kappa(saddle.tilt) - _GAIN

    def _bisect(self, go_right) -> Saddle:
        return self.saddle_at(bisected_tilt(lambda tilt: go_right(self.saddle_at(tilt))))

    def window(
        self, tilt: float, log_mass: float, ranges: list[tuple[float, float]]
    ) -> tuple[float, float, float, float]:
        """(lower, upper, lambda below, lambda above): the tilted sum of the grids that end at `ranges` leaves
        [lower, upper] with at most e^{log_mass} on each side, by Chernoff's bound at these lambdas."""
        laws = [(law.clipped(*ends), k) for (law, k), ends in zip(self.laws, ranges, strict=True)]
        return window_of(laws, tilt, log_mass)
