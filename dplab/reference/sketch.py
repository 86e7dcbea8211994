"""A float picture of one loss law: log M(c), its derivatives, and how far a rule must reach.

Good to about six digits and made in milliseconds. It steers (saddle points, step sizes) and never ends in a result.
"""

import math
from itertools import pairwise
from typing import NamedTuple

import mpmath

from ..core.pld import PLD
from .arithmetic import FN
from .rules import atom_nodes, node, substitution

FIRST_STEP, FINEST_STEP = 0.25, 0.25 / 2**7
FARTHEST = 2000.0
"""No sketch of the whole line goes farther out than this many widths."""

MOST_POINTS = 20_000
NEGLIGIBLE = 60.0
"""What is e^-60 of the largest weight does not count."""


class Cumulants(NamedTuple):
    """log M(c) and its first two derivatives."""

    log: float
    mean: float
    variance: float


class Point(NamedTuple):
    """A point of the rule: t, the loss there, and the log of its weight (without the step)."""

    t: float
    loss: float
    log_weight: float


class Sketch:
    """The law of `pld`, composed `k` times, as a coarse rule in floats."""

    def __init__(self, pld: PLD, k: int):
        self.pld, self.k = pld, k
        self.points: list[Point] = []
        self.outposts: dict[int, list[Point]] = {}
        self.step = FIRST_STEP
        with mpmath.workdps(20):
            self.atoms = [(float(s), float(mpmath.log(w))) for s, w in atom_nodes(pld)]
            if pld.coordinate(FN) is not None:
                self.substitution = substitution(pld)
                farthest = self.substitution.farthest
                self._add(range(round(-farthest / FIRST_STEP), round(farthest / FIRST_STEP) + 1))
                if self.substitution.gaussian:
                    ladder = [farthest * 1.2**i for i in range(23)]
                    self.outposts = {side: self._points([side * t for t in ladder]) for side in (-1, 1)}
        for c in (0.0, -1.0):
            self.cumulants(c)

    def cumulants(self, c: float) -> Cumulants:
        """log M, its first and its second derivative at real c, all points refined until they settle."""
        self._extend(c)
        while True:
            fine = self._cumulants(c, self.points, self.step)
            if self.step <= FINEST_STEP or len(self.points) > MOST_POINTS or not self.points or self.at_the_edge(c):
                return fine
            coarse = self._cumulants(c, self.points[::2], 2 * self.step)
            if abs(fine.log - coarse.log) * self.k < 1e-3:
                return fine
            self._refine()

    def reach(self, tilts: tuple[float, ...], below: float) -> tuple[float, float]:
        """The range of t where e^{cs} omega is within e^{-below} of its largest value, for each tilt c."""
        kept: list[float] = []
        for c in tilts:
            heights = [(point.t, point.log_weight + c * point.loss) for point in self.points]
            top = max(height for _, height in heights)
            kept += [t for t, height in heights if height > top - below]
        return min(kept) - FIRST_STEP, max(kept) + FIRST_STEP

    def at_the_edge(self, c: float) -> bool:
        """Whether the law tilted by c reaches farther than any sketch does, so that log M(c) means nothing."""
        return any(self._needed(c, side) > FARTHEST for side in (-1, 1))

    def _needed(self, c: float, side: int) -> float:
        """How far out, on one side, the law tilted by c may still have weight (beyond a valley, too)."""
        outposts = self.outposts.get(side, [])
        top = max((p.log_weight + c * p.loss for p in self.points), default=0.0) - NEGLIGIBLE
        needed = 0.0
        for near, far in pairwise(outposts):
            if near.log_weight + max(c * near.loss, c * far.loss) > top:
                needed = abs(far.t)
        return 2 * FARTHEST if outposts and needed == abs(outposts[-1].t) else needed

    def _extend(self, c: float) -> None:
        """Add points at the ends until the law tilted by c fits in."""
        for side in (-1, 1):
            needed = min(FARTHEST, self._needed(c, side))
            end = abs(self.points[0 if side < 0 else -1].t) if self.points else 0.0
            if needed > end:
                start = round(end / self.step) + 1
                self._add([side * i for i in range(start, start + 2 * math.ceil((needed - end) / self.step / 2))])

    def _cumulants(self, c: float, points: list[Point], step: float) -> Cumulants:
        weighted = [(p.loss, p.log_weight + math.log(step) + c * p.loss) for p in points]
        weighted += [(s, w + c * s) for s, w in self.atoms]
        if not weighted:
            return Cumulants(-math.inf, 0.0, 0.0)
        top = max(height for _, height in weighted)
        masses = [(s, math.exp(height - top)) for s, height in weighted if height > top - 60]
        total = math.fsum(w for _, w in masses)
        mean = math.fsum(w * s for s, w in masses) / total
        variance = math.fsum(w * (s - mean) ** 2 for s, w in masses) / total
        return Cumulants(top + math.log(total), mean, variance)

    def _add(self, indices) -> None:
        self.points += self._points([i * self.step for i in indices])
        self.points.sort()

    def _points(self, places: list[float]) -> list[Point]:
        points = []
        with mpmath.workdps(20):
            for t in places:
                s, w = node(self.pld, self.substitution.at, mpmath.mpf(t))
                if w:
                    points.append(Point(t, float(s), float(mpmath.log(w))))
        return points

    def _refine(self) -> None:
        start, stop = self.points[0].t, self.points[-1].t
        self.step /= 2
        self._add(range(round(start / self.step) + 1, round(stop / self.step), 2))
