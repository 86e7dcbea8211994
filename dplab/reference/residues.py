"""k steps of one Laplace mechanism: exact residues.

With w = z + 1/2 and e0 = Delta/b, M(z) = [(w + 1/2) e^{z e0} + (w - 1/2) e^{-(z+1) e0}]/(2w). Expand M^k:

    M^k e^{-z eps} = sum_i C(k,i) X^{k-i} Y^i e^{-z eps},   X = (w+1/2) e^{z e0}/(2w),   Y = (w-1/2) e^{-(z+1) e0}/(2w),

term i growing like e^{z [(k-2i) e0 - eps]}. Where that exponent is negative the contour closes to the right and the
term is 0. Where it is positive the contour closes to the left round all poles (order k at w = 0; 1/2 for i = 0), so

    delta(eps) = (1/2 pi i) times the integral over |w| = R > 1/2 of
                 sum_{(k-2i) e0 > eps} C(k,i) X^{k-i} Y^i e^{-z eps}/(z(z+1)).

The trapezoid rule on the circle converges geometrically. R is chosen where the integrand is smallest; what is still
lost to cancellation is measured and made up by working digits. (i = k has poles at -1 too, but eps > -k e0 there.)
"""

import math
from typing import Any, NamedTuple

import mpmath

from ..core.errors import PrecisionError
from ..core.parameters import evaluate
from ..mechanisms import Laplace
from .arithmetic import FN
from .found import Found, Sum, agreeing
from .law import Law
from .truncated import truncated_power

MOST_STEPS = 5000
"""More Laplace steps than this are left to the contour."""

MOST_POINTS = 2**15


def only_laplace(law: Law) -> bool:
    """Whether the law is that of a single Laplace mechanism, composed."""
    return len(law.parts) == 1 and isinstance(law.parts[0][0].pair, Laplace)


def laplace(law: Law, eps, digits: int, tilt: float) -> Found:
    """delta of k Laplace steps, for eps inside the open range of the loss; `tilt` is the saddle c > 0."""
    ((pld, k),) = law.parts
    pair = pld.pair
    assert isinstance(pair, Laplace)
    with mpmath.workdps(30):
        e0, near = float(pair.e0(FN)), float(evaluate(eps, FN))
        last = int(mpmath.ceil((k - evaluate(eps, FN) / pair.e0(FN)) / 2)) - 1
    radius = _best_radius(k, e0, near, last, tilt)

    def compute(places: int) -> Sum:
        circle = _Circle(k, pair.e0(FN), evaluate(eps, FN), last, mpmath.mpf(radius))
        return circle.integral(mpmath.mpf(10) ** (5 - places))

    return agreeing(compute, digits, "residues")


class _Term(NamedTuple):
    value: Any
    size: Any
    slope: Any


class _Circle:
    """The integral over |w| = R of the terms i = 0, ..., last."""

    def __init__(self, k: int, e0, eps, last: int, radius):
        self.k, self.e0, self.eps, self.last, self.radius = k, e0, eps, last, radius

    def integral(self, tolerance) -> Sum:
        """Double the points until two rules agree to `tolerance` of the largest term.

        Raises PrecisionError if they do not.
        """
        points = 32
        ring = [self._at(mpmath.mpf(n) / points) for n in range(points // 2 + 1)]
        weights = [1 if n in (0, points // 2) else 2 for n in range(points // 2 + 1)]
        total = self._weighted(ring, weights)
        while points < MOST_POINTS:
            between = [self._at(mpmath.mpf(2 * n + 1) / (2 * points)) for n in range(points // 2)]
            other = self._weighted(between, [2] * len(between))
            value, slope = ((a + b) / (2 * points) for a, b in ((total.value, other.value), (total.slope, other.slope)))
            size = max(total.size, other.size)
            if abs(total.value - other.value) / points < tolerance * size:
                return Sum(value, size, slope)
            total = Sum(total.value + other.value, size, total.slope + other.slope)
            points *= 2
        raise PrecisionError(f"residues: {MOST_POINTS} points on the circle are not enough")

    @staticmethod
    def _weighted(ring: list[_Term], weights: list[int]) -> Sum:
        """Sums of the real parts: the lower half of the circle is the mirror image."""
        return Sum(
            mpmath.fsum(w * term.value.real for w, term in zip(weights, ring, strict=True)),
            max(term.size for term in ring),
            mpmath.fsum(w * term.slope.real for w, term in zip(weights, ring, strict=True)),
        )

    def _at(self, turn) -> _Term:
        """w times the integrand at w = R e^{2 pi i turn}."""
        k, e0 = self.k, self.e0
        w = self.radius * mpmath.expjpi(2 * turn)
        z = w - mpmath.mpf(1) / 2
        x = (z + 1) * mpmath.exp(z * e0) / (2 * w)
        t = z / (z + 1) * mpmath.exp(-(2 * z + 1) * e0)
        front = w * x**k * mpmath.exp(-z * self.eps) / (z * (z + 1))
        peak, total = truncated_power(k, t, 0, self.last)
        front *= math.comb(k, peak) * t**peak
        return _Term(front * total, abs(front), -z * front * total)


def _best_radius(k: int, e0: float, eps: float, last: int, tilt: float) -> float:
    """The R whose circle has the smallest largest term (in floats)."""
    radii = [0.5 + max(0.1, tilt * 1.3**n) for n in range(-10, 13)]
    return min(radii, key=lambda r: max(_log_size(k, e0, eps, last, r, n / 24) for n in range(25)))


def _log_size(k: int, e0: float, eps: float, last: int, radius: float, half_turns: float) -> float:
    """log of the largest term at w = R e^{i pi half_turns}."""
    w = radius * complex(math.cos(math.pi * half_turns), math.sin(math.pi * half_turns))
    z = w - 0.5
    log_x = math.log(abs(z + 1) / abs(2 * w)) + z.real * e0
    log_t = math.log(max(abs(z), 1e-300) / abs(z + 1)) - (2 * z.real + 1) * e0
    share = 1 / (1 + math.exp(-log_t)) if log_t > -600 else 0.0
    i = min(last, round(k * share))
    log_binomial = math.lgamma(k + 1) - math.lgamma(i + 1) - math.lgamma(k - i + 1)
    return k * log_x + log_binomial + i * log_t - z.real * eps + math.log(abs(w) / abs(z * (z + 1)))
