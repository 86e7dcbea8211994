"""E_Q[(1 + r e^u)^{z+1}] for the subsampled Gaussian at any complex z, by integrating along bent paths of u.

M(z) = (1-q)^{z+1} E_Q[(1 + r e^u)^{z+1}], r = q/(1-q), u the Gaussian's own loss, N(-mu^2/2, mu^2) under Q. If Im z > 0
the path v + i tau(v), with tau = tau_0 + slope * (a smooth ramp that starts right of u_b = -log r), lowers the
integrand by e^{-Im z arg(1 + r e^u)}: the left part passes near the saddle of the lognormal-like hump, the ramp lets
the Gaussian hump die out. The branch points u_b + i pi (2m+1) stay to the left of or above the path.
Of a small family of paths the one with the smallest modulus is taken; each keeps its u, and so its logarithms.
"""

import math
from typing import Any, NamedTuple

import mpmath

from ..core.parameters import evaluate
from ..mechanisms import Gaussian, PoissonSubsampled
from .arithmetic import FN
from .bulk import BULK

SLOPES = (0.0, 0.35, 0.7)
HEIGHTS = 13
"""tau_0 runs over this many multiples of `HEIGHT`, well below the branch points at i pi."""

HEIGHT = 0.16
PREFERENCE = 0.04
"""Of two paths that are nearly as good the higher one, on which the integrand turns more slowly, is taken."""

COARSER = 3
"""Paths are compared by floats at every so many nodes."""

TURN = 2.2
"""Radians by which the integrand's phase may turn from node to node."""

RAMP = 0.7
"""The ramp of a path bends over about this length of u."""

WIDE, SPREAD = 3.0, 3.0
"""From this mu on nodes are spread, as SPREAD sinh(t/SPREAD), around u_b, where the integrand bends on the scale 1."""


class Mean(NamedTuple):
    """An expectation, half the difference of the rule's two halves, and the number of terms."""

    value: Any
    doubt: Any
    terms: int


class Path:
    """One path: log(1 + r e^u) and the weights at its nodes, and floats of both to steer by."""

    def __init__(self, owner: "SubsampledGaussian", height: float, slope: float, step: float):
        self.step = step
        self.logs: list[Any] = []
        self.weights: list[Any] = []
        self.sketch: list[tuple[float, float, float]] = []
        half, spread, factor = BULK.make(owner.half), 2 * BULK.make(owner.mu) ** 2, BULK.make(owner.norm * step)
        for i in owner.nodes(slope, step):
            v, stretch = owner.spread(i * BULK.make(mpmath.mpf(step)))
            u, turn = owner.lifted(v, height, slope)
            log = owner.log_mixture(u)
            weight = turn * stretch * factor * BULK.exp(-((u + half) ** 2) / spread)
            self.logs.append(log)
            self.weights.append(weight)
            size = float(BULK.log(abs(weight))) if weight else -1e300
            self.sketch.append((size, float(log.real), float(log.imag)))

    def size(self, x: float, y: float, below: float) -> float:
        """log of the integral of the modulus for z + 1 = x + iy, with a penalty where the integrand would turn too
        fast for the nodes; inf if the path ends before the integrand does."""
        heights, rough = self.heights(x, y, 1 / COARSER)
        top = max(heights)
        if max(heights[0], heights[-1]) > top - below:
            return math.inf
        return (
            top + math.log(sum(math.exp(h - top) for h in heights if h > top - 30)) + max(0.0, rough - top + below) / 20
        )

    def heights(self, x: float, y: float, finer: float = 1.0) -> tuple[list[float], float]:
        """log of the modulus at every node, and the largest of them where the phase turns by more than `TURN` a step.

        There the trapezoid rule may resonate, and its two halves agree on a wrong value.
        """
        heights = [size + x * real - y * imaginary for size, real, imaginary in self.sketch]
        phases = [x * imaginary + y * real for _, real, imaginary in self.sketch]
        limit = TURN / finer
        fast = (
            max(h, g)
            for h, g, a, b in zip(heights, heights[1:], phases, phases[1:], strict=False)
            if abs(b - a) > limit
        )
        return heights, max(fast, default=-math.inf)


class SubsampledGaussian:
    """The expectation for one mechanism, to `digits` digits; `shift` and `step` make runs independent."""

    def __init__(self, pair: PoissonSubsampled, digits: int, step: float, shift: float):
        base = pair.mechanism
        assert isinstance(base, Gaussian)
        self.mu = base.mu(FN)
        self.q = evaluate(pair.arguments["q"], FN)
        self.half = self.mu**2 / 2
        self.norm = 1 / (self.mu * mpmath.sqrt(2 * mpmath.pi))
        self.branch = mpmath.log1p(-self.q) - mpmath.log(self.q)
        self.bulk_branch = BULK.make(self.branch)
        self.digits, self.below = digits, digits * math.log(10)
        self.step, self.shift = step, shift
        self.paths: dict[tuple[int, float], Path] = {}
        self.sketches: dict[tuple[int, float], Path] = {}
        self.last = (0, 0.0)

    def mean(self, z, below: float, wanted: float) -> Mean:
        """E_Q[(1 + r e^u)^{z+1}] for Im z >= 0, leaving out what is e^-below of the largest term.

        The path's nodes are doubled until its halves agree to `wanted` (relative), at most a few times.
        """
        x, y = float(mpmath.re(z)) + 1, float(mpmath.im(z))
        self.last = self._lowest(x, y, below)
        while True:
            if self.last not in self.paths:
                self.paths[self.last] = self._path(self.last, self.step)
            path = self.paths[self.last]
            mean = self._mean(path, z, x, y, below)
            if mean.doubt <= wanted * abs(mean.value) or path.step < self.step / 6:
                return mean
            self.paths[self.last] = self._path(self.last, path.step / 2)

    @staticmethod
    def _mean(path: Path, z, x: float, y: float, below: float) -> Mean:
        heights, rough = path.heights(x, y)
        top = max(heights)
        halves, terms = [BULK.complex(0), BULK.complex(0)], 0
        power = BULK.make(z + 1)
        for i, height in enumerate(heights):
            if height > top - below:
                halves[i % 2] += path.weights[i] * BULK.exp(power * path.logs[i])
                terms += 1
        one, other = (BULK.back(half) for half in halves)
        return Mean(one + other, abs(one - other) + mpmath.exp(rough), terms)

    def lifted(self, v, height: float, slope: float) -> tuple[Any, Any]:
        """The point of the path at v, and du/dv (in bulk numbers)."""
        w = v - self.bulk_branch - 0.5
        root = BULK.sqrt(w * w + 4 * RAMP**2)
        return BULK.complex(v, height + slope * (w + root) / 2), BULK.complex(1, slope * (1 + w / root) / 2)

    def spread(self, t) -> tuple[Any, Any]:
        """v(t) and dv/dt (in bulk numbers)."""
        if self.mu < WIDE:
            return t, 1
        return self.bulk_branch + SPREAD * BULK.sinh(t / SPREAD), BULK.cosh(t / SPREAD)

    def nodes(self, slope: float, step: float) -> range:
        """The indices i of all nodes t = i step."""
        mu = float(self.mu)
        reach = mu * math.sqrt(2 * self.below / (1 - slope**2)) + 1
        left, right = reach + mu**2 / 2, 2.2 * reach + 12 * mu**2
        if mu >= WIDE:
            left, right = left + abs(float(self.branch)), right + abs(float(self.branch))
            left, right = SPREAD * math.asinh(left / SPREAD), SPREAD * math.asinh(right / SPREAD)
        return range(-math.ceil(left / step), math.ceil(right / step) + 1)

    def log_mixture(self, u):
        """log(1 + r e^u), continued from the left of the branch points to the right below them, and on from there."""
        away = u - self.bulk_branch
        return away + BULK.log(1 + BULK.exp(-away)) if away.real > 0 else BULK.log(1 + BULK.exp(away))

    def _path(self, key: tuple[int, float], step: float) -> Path:
        height = key[0] * HEIGHT + (self.shift if key[0] else 0.0)
        return Path(self, height, key[1], step)

    def _lowest(self, x: float, y: float, below: float) -> tuple[int, float]:
        """The best path, found by walking downhill from the last one."""

        def size(key: tuple[int, float]) -> float:
            if key not in self.sketches:
                with BULK.at(15):
                    self.sketches[key] = self._path(key, COARSER * self.step)
            return self.sketches[key].size(x, y, below) - PREFERENCE * key[0]

        if y == 0:
            return 0, 0.0
        tried = {self.last: size(self.last)}
        here = self.last
        while True:
            level, _slope = here
            for near in (level - 1, level, level + 1):
                for other in SLOPES:
                    if 0 <= near < HEIGHTS and (near, other) not in tried:
                        tried[near, other] = size((near, other))
            best = min(tried, key=lambda key: tried[key])
            if tried[best] >= tried[here]:
                return here
            here = best
