"""A float picture of one loss law: log M(c), its derivatives, and how far a rule must reach.

Good to about six digits and made in milliseconds. It steers (saddle points, step sizes) and never ends in a result.
"""

import math
from itertools import pairwise
from typing import NamedTuple

import mpmath

from ..core.errors import PrecisionError
from ..core.pld import PLD
from .arithmetic import FN
from .rules import atom_nodes, node, substitution

FIRST_STEP, FINEST_STEP = 0.5, 0.5 / 2**8
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


def closed_and_endless(pld: PLD) -> bool:
    """Whether the loss takes infinitely many values and M is closed."""
    return pld.endless and pld.mgf(FN, mpmath.mpf(1)) is not None


class ClosedSketch:
    """The law of an endless loss whose M is closed, by differences of log M."""

    def __init__(self, pld: PLD):
        self.pld = pld
        self.known: dict[float, Cumulants] = {}

    def cumulants(self, c: float) -> Cumulants:
        """log M, its first and its second derivative at real c."""
        if c not in self.known:
            with mpmath.workdps(50):
                h = mpmath.mpf(10) ** -12 * max(1, abs(c))
                low, here, high = (mpmath.log(self.pld.mgf(FN, c + i * h)) for i in (-1, 0, 1))
                second = (high - 2 * here + low) / h**2
                self.known[c] = Cumulants(float(here), float((high - low) / (2 * h)), float(second))
        return self.known[c]

    def at_the_edge(self, c: float) -> bool:
        """Never: M is closed."""
        return False

    def reach(self, tilts: tuple[float, ...], below: float) -> tuple[float, float]:
        """No rule is made for a closed M: raises PrecisionError."""
        raise PrecisionError("no quadrature rule is needed where M is closed")


LARGEST_LOSS = 1e150
"""A larger one has no mass that counts, and no float when squared."""


class Sketch:
    """The law of `pld`, composed `k` times, as coarse rules in floats, one for each smooth panel."""

    def __init__(self, pld: PLD, k: int):
        with mpmath.workdps(20):
            self.atoms = [(float(s), float(mpmath.log(w))) for s, w in atom_nodes(pld)]
            panels = pld.panels() if pld.support(FN) is not None else []
            self.panels = [PanelSketch(panel, k) for panel in panels]
        for c in (0.0, -1.0):
            self.cumulants(c)

    def cumulants(self, c: float) -> Cumulants:
        """log M, its first and its second derivative at real c, all points refined until they settle."""
        found = [panel.weights(c) for panel in self.panels]
        highest = max([top for top, _ in found] + [w + c * s for s, w in self.atoms], default=-math.inf)
        if highest == -math.inf:
            return Cumulants(-math.inf, 0.0, 0.0)
        parts = [(s, math.exp(w + c * s - highest)) for s, w in self.atoms]
        for top, masses in found:
            factor = math.exp(top - highest)
            parts += [(s, m * factor) for s, m in masses]
        total = sum(m for _, m in parts)
        mean = sum(m * s for s, m in parts) / total
        variance = sum(m * (s - mean) ** 2 for s, m in parts) / total
        return Cumulants(highest + math.log(total), mean, variance)

    def reach(self, tilts: tuple[float, ...], below: float) -> list[tuple[float, float]]:
        """For each panel the range of t where e^{cs} omega is within e^{-below} of its largest value, for each c."""
        return [panel.reach(tilts, below) for panel in self.panels]

    def at_the_edge(self, c: float) -> bool:
        """Whether the law tilted by c reaches farther than any sketch does, so that log M(c) means nothing."""
        return any(panel.at_the_edge(c) for panel in self.panels)


class PanelSketch:
    """One panel of a law as a coarse rule in floats."""

    def __init__(self, pld: PLD, k: int):
        self.pld, self.k = pld, k
        self.points: list[Point] = []
        self.outposts: list[list[Point]] = []
        self.step = FIRST_STEP
        self.substitution = substitution(pld)
        farthest = self.substitution.farthest
        self._add(range(round(-farthest / FIRST_STEP), round(farthest / FIRST_STEP) + 1))
        if self.substitution.gaussian:
            ladder = [farthest * 1.2**i for i in range(23)]
            self.outposts = [self._points([side * t for t in ladder]) for side in (-1, 1)]

    def weights(self, c: float) -> tuple[float, list[tuple[float, float]]]:
        """The log of the largest weight under the tilt c, and (loss, mass over that) of all points that count."""
        while True:
            heights = [w + c * s for _, s, w in self.points]
            top = max(heights, default=-math.inf)
            finished = self._extended(c, top)
            if finished is None:
                continue
            masses = [math.exp(h - top) if h >= top - NEGLIGIBLE else 0.0 for h in heights]
            even, total = sum(masses[::2]), sum(masses)
            settled = not total or abs(2 * even - total) * self.k < 1e-3 * total
            if settled or not finished or self.step <= FINEST_STEP or len(self.points) > MOST_POINTS:
                break
            self._refine()
        return top, [(s, m * self.step) for (_, s, _), m in zip(self.points, masses, strict=True) if m]

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
        top = max((w + c * s for _, s, w in self.points), default=0.0)
        return max(self._needed(c, top), default=0.0) > FARTHEST

    def _needed(self, c: float, top: float) -> list[float]:
        """How far out, on each side, the law tilted by c may still have weight (beyond a valley, too)."""
        reached = []
        for outposts in self.outposts:
            far = [
                abs(after.t)
                for before, after in pairwise(outposts)
                if before.log_weight + c * (after.loss if (after.loss > before.loss) == (c > 0) else before.loss)
                > top - NEGLIGIBLE
            ]
            last = max(far, default=0.0)
            reached.append(2 * FARTHEST if last and last == abs(outposts[-1].t) else last)
        return reached

    def _extended(self, c: float, top: float) -> bool | None:
        """True if the law tilted by c fits in, False if it never will, None after points have been added."""
        finished = True
        for side, needed in zip((-1, 1), self._needed(c, top), strict=False):
            end = abs(self.points[0 if side < 0 else -1].t)
            if needed > FARTHEST:
                finished = False
            elif needed > end:
                first = round(end / self.step) + 1
                self._add([side * i for i in range(first, first + 2 * math.ceil((needed - end) / self.step / 2))])
                return None
        return finished

    def _add(self, indices) -> None:
        self.points += self._points([i * self.step for i in indices])
        self.points.sort()

    def _points(self, places: list[float]) -> list[Point]:
        points = []
        with mpmath.workdps(20):
            for t in places:
                s, w = node(self.pld, self.substitution.at, mpmath.mpf(t))
                if w and abs(s) < LARGEST_LOSS:
                    points.append(Point(t, float(s), float(mpmath.log(w))))
        return points

    def _refine(self) -> None:
        start, stop = self.points[0].t, self.points[-1].t
        self.step /= 2
        self._add(range(round(start / self.step) + 1, round(stop / self.step), 2))
