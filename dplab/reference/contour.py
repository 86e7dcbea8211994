"""The contour integral: delta(eps) = constant + (1/2 pi i) int prod M_j(z)^{k_j} e^{-z eps} / (z(z+1)) dz on Re z = c.

The cost does not depend on k. Two runs that share neither c nor h are compared; the error is their difference, plus
the remainder beyond the last node, plus the error of the quadrature rules.

The remainder is bounded by (1/pi Y) prod (A_j + C_j)^{k_j} beyond height Y, where A_j is the share of the atoms in
M_j(c), which never decays and may line up again (lattice-like losses), and C_j the largest share of the continuous
part seen in the last quarter of the line. If that floor is above the digits asked for it goes into the error.

Of many atoms on no lattice A_j would be all of M_j and nothing would be left. They hardly ever line up again: the line
goes on as long as the work allows, and what is beyond Y is taken to be at most twice the largest change that the
integral saw between Y/2 and Y. An estimate like the rest.
"""

import math
from dataclasses import replace
from typing import Any, NamedTuple

import mpmath

from ..core.parameters import evaluate
from ..core.progress import counted
from .arithmetic import FN
from .found import GUARD, Found, guarded, reached
from .law import Law
from .line import Transform
from .rules import Rule
from .saddle import Landscape, Saddle, moved


class Limits(NamedTuple):
    """The most complex multiplications of one run, the most nodes of one quadrature rule, and the number of nodes from
    which a rule is tried on a lifted path."""

    work: int
    nodes: int
    long: int


LONG = 500_000
"""A line of so many complex multiplications takes half a second, or two on a slow machine: it has a progress bar."""

FULL, BRIEF = Limits(5 * 10**6, 4000, 300), Limits(4 * 10**5, 550, 10**9)

SCATTERED = 8
"""From so many atoms on, on no lattice, a law's M is expected to stay as small as it has become."""
SCATTERED_WORK = 2 * 10**6
"""Atoms times nodes of one line of such a law."""

SPARE = 5
"""Truncations are made this many decimal digits below those asked for."""

MARGIN = 1.4
"""A line may go on to this multiple of the height that was planned, until its own estimate of the rest is small."""


class Plan(NamedTuple):
    """Two lines with their steps, the height to which the rules are good, and whether that is high enough."""

    saddles: tuple[Saddle, Saddle]
    steps: tuple[float, float]
    height: float
    enough: bool


class Line(NamedTuple):
    """The transform along Re z = c: G_m = (M(c + imh)/M(c))^k/(z(z+1)), log M(c)^k, and a bound on the rest of the
    integral over M(c)^k e^{-c eps}."""

    c: Any
    h: Any
    values: list[Any]
    log_scale: Any
    rest: Any


class Contour:
    """The law's transform, prepared for one number of digits; rules and the last lines are kept for further eps.

    `limits` bound the work. Where they stop a line early, `whole` refuses it; without `whole` the line is used as far
    as it goes, and the error says what is missing.
    """

    def __init__(self, law: Law, digits: int, landscape: Landscape, limits: Limits = FULL, whole: bool = False):
        self.law, self.digits, self.landscape = law, digits, landscape
        self.limits, self.whole = limits, whole
        self.counts = [k for _, k in law.parts]
        self.transforms: list[Transform] = []
        self.lines: list[Line] = []
        self.built_at = math.nan
        self.places = digits
        self.quadrature = 0.0

    def again(self, eps) -> Found | None:
        """delta(eps) from the last lines, None if there are none or eps is too far from theirs."""
        if not self.lines or abs(float(evaluate(eps, FN)) - self.built_at) * max(1, abs(self.lines[0].c)) > 1:
            return None
        found = self._evaluated(eps)
        return found if reached(found, self.digits) or self._scattered else None

    def find(self, eps) -> Found | None:
        """delta(eps), with the slope; None where no step will do, or only the whole line and it would be too long."""
        self.built_at = float(evaluate(eps, FN))
        log_delta = None
        for _ in range(4):
            plan = self.plan(self.built_at, log_delta)
            if not plan.enough and (self.whole or not plan.height):
                return None
            self.lines = self._draw(plan)
            found = self._evaluated(eps)
            if reached(found, self.digits) or not plan.enough:
                break
            log_delta = self._smaller(found, plan.saddles[0].log_delta)
        return found

    def _smaller(self, found: Found, before: float) -> float:
        """log delta, after a run has shown it to be smaller than the saddle point made it look (a heavy tail)."""
        with mpmath.workdps(15):
            if found.error < abs(found.value):
                return min(before - 1, float(mpmath.log(abs(found.value))))
        return before - 20

    # --- planning ---------------------------------------------------------------------------------

    def plan(self, eps: float, log_delta: float | None = None) -> Plan:
        """Choose the lines for this eps, and make quadrature rules that are good as far up as they go."""
        below = (self.digits + SPARE) * math.log(10)
        saddle = self.landscape.line(eps, below, log_delta)
        other = replace(self.landscape.at(moved(saddle), eps), log_delta=saddle.log_delta, width=saddle.width)
        steps = (self.landscape.step(saddle, eps, below), 0.94 * self.landscape.step(other, eps, below))
        lost = max(0.0, saddle.log_peak - saddle.log_delta, -saddle.log_delta if saddle.c < 0 else 0.0) / math.log(10)
        if not 0 < min(steps) < math.inf:  # the aliases fall nowhere
            return Plan((saddle, other), steps, 0.0, False)
        self.places = self.digits + GUARD + math.ceil(lost + math.log10(max(self.counts))) + 3
        with mpmath.workdps(self.places):
            self._make_rules((saddle.c, other.c))
            height, enough = self._climb(saddle, min(steps))
            if enough:
                self._settle(other, 0.0)
                self._settle(other, height)
        return Plan((saddle, other), steps, height, enough)

    def _make_rules(self, tilts: tuple[float, float]) -> None:
        self.transforms, self.quadrature = [], 0.0
        for sketch, (pld, _) in zip(self.landscape.sketches, self.law.parts, strict=True):
            if pld.support(FN) is None or pld.mgf(FN, mpmath.mpf(1)) is not None:
                self.transforms.append(Transform(pld, None))
            else:
                reach = sketch.reach(tilts, (self.places + 3) * math.log(10))
                self.transforms.append(Transform(pld, Rule(pld, self.places, reach)))

    def _climb(self, saddle: Saddle, h: float) -> tuple[float, bool]:
        """Go up until the rest of the integral is negligible, refining the rules on the way."""
        if self._scattered:
            return SCATTERED_WORK * h / sum(len(t.atoms) for t in self.transforms), False
        shares = [t.atoms_share(saddle.c) for t in self.transforms]
        floor = self._log_product(shares)
        self._settle(saddle, 0.0)
        height = 2 * saddle.width
        while True:
            sizes = self._settle(saddle, height)
            decay = self._log_product([a + c for a, c in zip(shares, sizes, strict=True)])
            if decay - math.log(math.pi * height) < self._negligible(saddle):
                self._settle(saddle, MARGIN * height)
                return MARGIN * height, True
            work = 2 * height / h * sum(t.size for t in self.transforms)
            longest = max(t.size for t in self.transforms)
            if decay < floor + 0.1 or work > self.limits.work or longest > self.limits.nodes:
                return height, False
            height *= 1.5

    @property
    def _scattered(self) -> bool:
        """Whether the law has no density, and every part of it many atoms (a common lattice has a route of its own)."""
        return not self.law.continuous and all(len(t.atoms) >= SCATTERED for t in self.transforms)

    def _negligible(self, saddle: Saddle) -> float:
        """log of what may be left out of the integral over M(c)^k e^{-c eps}."""
        scale = saddle.log_peak + math.log(abs(saddle.c * (saddle.c + 1)))
        return saddle.log_delta - (self.digits + SPARE) * math.log(10) - scale

    def _log_product(self, shares: list[float]) -> float:
        return math.fsum(k * math.log(a) if a else -math.inf for a, k in zip(shares, self.counts, strict=True))

    def _settle(self, saddle: Saddle, y: float) -> list[float]:
        """Refine the rules until they are good at c + iy; the shares of the continuous parts there."""
        z = mpmath.mpc(saddle.c, y)
        values = [t.value(z, saddle.c) for t in self.transforms]
        logs = [float(mpmath.log(abs(v.ratio))) if v.ratio else -1e300 for v in values]
        together = math.fsum(k * log for k, log in zip(self.counts, logs, strict=True))
        goal = -(self.digits + SPARE) * math.log(10) + min(0.0, saddle.log_delta - saddle.log_peak)
        for transform, k, log in zip(self.transforms, self.counts, logs, strict=True):
            if transform.rule is not None:
                weight = math.log(k) + together - log
                error = self._refined(transform, z, saddle.c, goal - weight)
                self.quadrature = max(self.quadrature, error * math.exp(min(weight + saddle.log_peak, 600)))
        return [value.continuous for value in values]

    def _refined(self, transform: Transform, z, c: float, goal: float) -> float:
        """Refine (or lift) one rule until its error at z is below e^goal M(c); the error reached."""
        while True:
            error = transform.rule_error(z, c)
            if error <= mpmath.exp(goal) or transform.size > self.limits.nodes:
                return float(error)
            if transform.size < self.limits.long or not transform.lift(z, c, goal):
                transform.refine()

    # --- running ----------------------------------------------------------------------------------

    def _draw(self, plan: Plan) -> list[Line]:
        with mpmath.workdps(self.places):
            return [self._draw_one(s, h, plan.height) for s, h in zip(plan.saddles, plan.steps, strict=True)]

    def _draw_one(self, saddle: Saddle, step: float, height: float) -> Line:
        c, h = mpmath.mpf(saddle.c), mpmath.mpf(step)
        bits = mpmath.mp.prec + 10 + (int(height / step) + 1).bit_length()
        shares = [t.atoms_share(c) for t in self.transforms]
        wanted, rest, check = self._negligible(saddle), math.inf, 7
        values, sizes = [], []
        nodes, most = zip(*(t.along(c, h, bits) for t in self.transforms), strict=True), int(height / step) + 1
        long = most * sum(t.size for t in self.transforms) > LONG
        with counted(nodes, long=long, total=most, unit="node", what="reference") as values_of_m:
            for m, parts in enumerate(values_of_m):
                z = mpmath.mpc(c, m * h)
                product = mpmath.mpf(1)
                for part, k in zip(parts, self.counts, strict=True):
                    product *= part.ratio**k
                values.append(product / (z * (z + 1)))
                sizes.append([part.continuous for part in parts])
                if m >= check:
                    check = m + 8 + m // 20
                    recent = sizes[3 * len(sizes) // 4 :]
                    largest = [share + max(size[j] for size in recent) for j, share in enumerate(shares)]
                    rest = self._log_product(largest) - math.log(math.pi * (m + 1) * step)
                    if rest < wanted or m * step > height:
                        break
        log_scale = mpmath.fsum(k * t.log_at(c) for t, k in zip(self.transforms, self.counts, strict=True))
        return Line(c, h, values, log_scale, mpmath.mpf(0) if self._scattered else mpmath.exp(rest))

    def _evaluated(self, eps) -> Found:
        """delta from both lines."""
        with mpmath.workdps(self.places):
            x = evaluate(eps, FN)
            (one, slope, change), (other, _, last) = (self._integral(line, x) for line in self.lines)
            constant, constant_slope = self.law.left_of(self.lines[0].c, x)
            rest = sum(line.rest * mpmath.exp(line.log_scale - line.c * x) for line in self.lines)
            value = constant + one
            if self._scattered:
                rest += 2 * max(change, last)
            error = abs(one - other) + rest + self.quadrature + guarded(value, self.digits)
            return Found(value, error, constant_slope + slope, "contour integral")

    @staticmethod
    def _integral(line: Line, eps) -> tuple[Any, Any, Any]:
        """The integral and its derivative in eps by the trapezoid rule, and the largest change in its second half."""
        turn, phase = mpmath.expj(-line.h * eps), mpmath.mpf(1)
        total = slope = mpmath.mpf(0)
        totals = []
        for m, value in enumerate(line.values):
            term = value * phase
            weight = 1 if m == 0 else 2
            total += weight * mpmath.re(term)
            slope -= weight * mpmath.re(term * mpmath.mpc(line.c, m * line.h))
            phase *= turn
            totals.append(total)
        later = totals[(len(totals) + 1) // 2 :]
        scale = mpmath.exp(line.log_scale - line.c * eps) * line.h / (2 * mpmath.pi)
        return scale * total, scale * slope, scale * (max(later) - min(later))
