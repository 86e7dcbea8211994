"""The k-fold composition of grid PLDs by one tilted, windowed FFT, with every rounding bounded.

With theta > 0 the masses a_i become b_i = a_i e^{theta x_i - C}, so that the sum S sits where eps is and

    delta(eps) = e^{sum k C - theta eps} sum_{S > eps} e^{-theta y} (1 - e^{-y}) b^{*k}(S),   y = S - eps.

b^{*k} is never formed: its transform Phi = prod phi_j^{k_j} is significant at few frequencies, and the kernel's sum
over the window is two geometric series at each frequency. Errors are relative to the Chernoff bound e^{sum k C -
theta eps}, so delta = 1e-200 costs no more than delta = 1e-3.

Rounding (u = 2^-53): rfft of size n = 2^a 3^b 5^c: 5 u log2 n ||b||_1 an output (another n, set by hand: 4 sqrt n
times that); repeated squaring: sqrt 5 u (k - 1) relative; the sums below: a few u of the sums of moduli.
Periodisation: the window wraps mass outside it, at most kappa P_theta(S outside), kappa = theta^theta/(1 +
theta)^{1 + theta} the kernel's supremum.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .grids import GridPLD
from .intervals import TINY, U
from .sums import log_exp_sum
from .wide import is_wide, log_of, widened

_OTHER_LAMBDAS = (1.0, 0.25, 1 / 32)  # a planned lambda can be too large for the grid's own ends
_LEAST = 1e-320  # stands for 0 in logarithms: an upper bound of it
_DROP = -46.0  # frequencies below e^-46 of the total are left out and bounded instead


@dataclass(frozen=True)
class KernelSum:
    """sum_{S > eps} of kernel times tilted masses: `value` +- (`rounding` + `periodisation`), times e^{log_factor}.

    `log_slack` bounds the relative error of factor and masses.
    """

    value: float
    rounding: float
    periodisation: float
    log_factor: float
    log_slack: float


class TiltedSum:
    """The tilted k-fold sum of grid PLDs on one window; evaluates the kernel's sum at any eps."""

    def __init__(
        self,
        parts: Sequence[tuple[GridPLD, int]],
        tilt: float,
        window: tuple[float, float, float, float],
        n: int,
    ):
        self.tilt, self.n = tilt, n
        self.dx = float(parts[0][0].grid.dx)
        self.steps = sum(k for _, k in parts)
        self.offset = math.fsum(k * pld.grid.offset for pld, k in parts)
        lower, upper, lam_down, lam_up = window
        middle = 0.5 * (lower + upper) - self.offset
        self.start = math.floor(middle / self.dx) - n // 2  # the window holds the integers start .. start + n - 1
        self.log_normaliser = 0.0
        self.log_slack = 0.0
        self._magnitude = math.fsum(abs(k * pld.grid.offset) for pld, k in parts)
        transforms = [self._transform(pld, k) for pld, k in parts]
        self._combine(transforms, [k for _, k in parts])
        above, below = (
            min(self._log_outside(parts, transforms, lam * factor, sign) for factor in _OTHER_LAMBDAS)
            for lam, sign in ((lam_up, +1), (lam_down, -1))
        )
        self.log_outside = min(float(np.logaddexp(above, below)), 0.0)

    def _transform(self, pld: GridPLD, k: int):
        exponent = widened(self.tilt * pld.grid.nodes, is_wide(pld.masses))
        used = pld.masses > 0
        peak = exponent.max(where=used, initial=-math.inf)
        peak = peak if np.isfinite(peak) else 0.0
        masses = np.where(used, pld.masses * np.exp(np.minimum(exponent - peak, 0.0)), 0.0)
        total = masses.sum()
        log_mgf = float(peak) + (log_of(total) if total > 0 else 0.0)
        masses = pld.masses * np.exp(np.where(used, exponent - log_mgf, 0.0))
        masses = np.where(used, masses, 0.0).astype(float)
        largest = float(np.abs(exponent).max()) + self.tilt * abs(pld.grid.offset) + abs(log_mgf)
        self.log_normaliser += k * log_mgf
        self.log_slack += k * (4 * largest + 12) * U
        folded = np.zeros(self.n)
        index = (pld.grid.first + np.arange(pld.grid.size)) % self.n
        np.add.at(folded, index, masses)
        weight = float(folded.sum())
        stages = 5 * math.log2(self.n) * (1 if _is_smooth(self.n) else 4 * math.sqrt(self.n))
        gamma = (stages + 2 + pld.grid.size // self.n) * U * weight
        return np.fft.rfft(folded), gamma, masses

    def _combine(self, transforms, counts) -> None:
        n = self.n
        log_bound = np.zeros(n // 2 + 1)
        for (phi, gamma, _), k in zip(transforms, counts, strict=True):
            with np.errstate(divide="ignore"):  # no mass at all
                log_bound += k * np.log(np.abs(phi) * (1 + 4 * U) + gamma)
        kept = np.nonzero(log_bound > log_bound[0] + _DROP)[0]
        dropped = log_bound[log_bound <= log_bound[0] + _DROP]
        self.dropped = 2.0 / n * float(np.exp(dropped).sum()) * (1 + n * U) if len(dropped) else 0.0
        self.dropped *= math.exp(1e-9 + 4 * self.steps * U)  # rounding of the logarithms
        total, relative = np.ones(len(kept), dtype=complex), np.zeros(len(kept))
        log_size, unresolved = np.zeros(len(kept)), np.zeros(len(kept), dtype=bool)
        for (phi, gamma, _), k in zip(transforms, counts, strict=True):
            chosen = phi[kept]
            size = np.maximum(np.abs(chosen), gamma)
            unresolved |= np.abs(chosen) < gamma
            log_size += k * np.log(size)
            relative += k * np.log1p(gamma / size) + math.sqrt(5) * U * (k + 2)
            total = total * _power(chosen, k)
        self.frequencies = kept
        weights = np.full(len(kept), 2.0 / n)
        weights[(kept == 0) | (2 * kept == n)] = 1.0 / n
        self.spectrum = total * weights
        self._spectrum_error = np.abs(self.spectrum) * (np.expm1(relative) + 8 * U)
        if unresolved.any():  # a transform below its own rounding: all of the power may be error
            everything = weights * np.exp(log_size + relative + 1e-9 + 4 * self.steps * U)
            self._spectrum_error = np.where(unresolved, 2 * everything, self._spectrum_error)

    def _log_outside(self, parts, transforms, lam: float, sign: int) -> float:
        """Chernoff's bound of the log of the tilted mass beyond one end of the window, of the grid measure itself."""
        end = self.offset + (self.start + (self.n if sign > 0 else -1)) * self.dx
        total, slack = -sign * lam * end, 0.5 * lam * self.position_error(end)
        for (pld, k), (_, _, masses) in zip(parts, transforms, strict=True):
            value, rounding = log_exp_sum(masses, pld.grid.nodes, sign * lam)
            total += k * value
            slack += k * rounding
        return min(total + slack + self.log_slack, 0.0)

    def evaluate(self, eps: float) -> KernelSum:
        """The kernel's sum at eps, taken exactly as the float it is; eps may lie anywhere."""
        n, dx, tilt = self.n, self.dx, self.tilt
        place = min(max((eps - self.offset) / dx, self.start - 1), self.start + n)
        first = math.floor(place) + 1  # of the losses S = offset + i dx > eps in the window
        first += self.offset + first * dx <= eps
        count = self.start + n - first
        kappa = log_kappa(tilt)
        log_factor = self.log_normaliser - tilt * eps
        slack = self.log_slack + 4 * (abs(self.log_normaliser) + abs(tilt * eps) + 8) * U
        slack += tilt * self.position_error(eps)
        if count <= 0:
            return KernelSum(0.0, 0.0, _exp(kappa + self.log_outside), log_factor, slack)
        y = self.offset + first * dx - eps
        lift = tilt * y  # e^{-lift} is taken out too, or a far window would underflow to "exactly 0"
        log_factor, slack = log_factor - lift, slack + 4 * lift * U
        angle = 2 * math.pi / n * self.frequencies
        turn = (2 * math.pi / n) * ((self.frequencies * (first % n)) % n)
        turned = np.cos(turn) + 1j * np.sin(turn)
        ending = (2 * math.pi / n) * ((self.frequencies * (count % n)) % n)
        ended = np.cos(ending) + 1j * np.sin(ending)
        near, near_size = _geometric(tilt, dx, angle, ended, count)
        far, far_size = _geometric(tilt + 1, dx, angle, ended, count)
        far, far_size = far * math.exp(-y), far_size * math.exp(-y)
        kernel = turned * (near - far)
        size = near_size + far_size
        value = float((self.spectrum * kernel).real.sum())
        moduli = np.abs(self.spectrum)
        rounding = float(
            (self._spectrum_error * (np.abs(kernel) + 64 * U * size)).sum()
            + ((64 + 2 * math.log2(len(kernel) + 1)) * U * moduli * size).sum()
        )
        largest = count * min(1.0, _exp(kappa + lift))
        if tilt * dx > TINY:
            largest = min(largest, -1 / math.expm1(-tilt * dx))
        rounding = rounding * (1 + 1e-9) + self.dropped * largest
        if not (math.isfinite(value) and math.isfinite(rounding)):
            value, rounding = 0.0, math.inf  # beyond float64: nothing is known
        return KernelSum(value, rounding, _exp(kappa + self.log_outside + lift), log_factor, slack)

    @property
    def work(self) -> int:
        """Frequencies summed in one evaluation."""
        return len(self.frequencies)

    def position_error(self, eps: float) -> float:
        """A bound of the error of S - eps from adding up offsets and multiples of dx in float64."""
        reach = max(abs(self.start), abs(self.start + self.n)) * self.dx
        return 8 * U * (self._magnitude + reach + abs(eps))


def log_kappa(tilt: float) -> float:
    """log of the kernel's supremum theta^theta/(1 + theta)^{1 + theta}."""
    return -math.log1p(tilt) - tilt * math.log1p(1 / tilt) if tilt > 0 else 0.0


def _exp(x: float) -> float:
    """e^x rounded upwards, whatever x; 0 for -inf only."""
    return math.exp(x) * (1 + 1e-12) + (5e-324 if x > -math.inf else 0.0) if x < 700 else math.inf


def _geometric(rate: float, dx: float, angle: np.ndarray, ended: np.ndarray, count: int):
    """sum_{m=0}^{count-1} r^m for r = e^{-rate dx + i angle}, and the size its rounding error is relative to."""
    decay = -rate * dx
    real = -math.expm1(decay) * np.cos(angle) + 2 * np.sin(angle / 2) ** 2
    one_minus_r = real - 1j * math.exp(decay) * np.sin(angle)
    whole = math.exp(max(decay * count, -745.0))
    real_part_gap = -math.expm1(decay * count)
    numerator = real_part_gap + whole * (1 - ended)
    size = (1 + whole) / np.abs(one_minus_r)
    return numerator / one_minus_r, size


def _power(base: np.ndarray, k: int) -> np.ndarray:
    """base**k by repeated squaring: at most k - 1 + (bits of k) roundings count."""
    bits = bin(k)[3:]
    result = base
    for bit in bits:
        result = result * result
        if bit == "1":
            result = result * base
    return result


def _is_smooth(n: int) -> bool:
    """Whether n has no prime factor above 5; others transform by Bluestein's detour, good in the 2-norm only."""
    for prime in (2, 3, 5):
        while n % prime == 0:
            n //= prime
    return n == 1


_SIZES: list[int] = []


def good_size(least: int) -> int:
    """The smallest 2^a 3^b 5^c >= least with a >= 3 (fast real transforms)."""
    if not _SIZES:
        limit = 2**28
        _SIZES.extend(
            sorted(
                8 * two * three * five
                for two in (2**a for a in range(26))
                for three in (3**b for b in range(4))
                for five in (5**c for c in range(3))
                if 8 * two * three * five <= limit
            )
        )
    from bisect import bisect_left

    return _SIZES[min(bisect_left(_SIZES, least), len(_SIZES) - 1)]
