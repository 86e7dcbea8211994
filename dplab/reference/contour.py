"""The contour integral: delta(eps) = constant + (1/2 pi i) int prod M_j(z)^{k_j} e^{-z eps} / (z(z+1)) dz on Re z = c.

The cost does not depend on k. Two runs that share neither c nor h are compared; the error is their difference, plus
the remainder beyond the last node, plus the error of the quadrature rules.

The remainder is bounded by (1/pi Y) prod (A_j + C_j)^{k_j} beyond height Y, where A_j is the share of the atoms in
M_j(c), which never decays and may line up again (lattice-like losses), and C_j the largest share of the continuous
part seen in the last quarter of the line. If that floor is above the digits asked for it goes into the error.
"""

import math
from dataclasses import replace
from typing import Any, NamedTuple

import mpmath

from ..core.parameters import evaluate
from .arithmetic import FN
from .found import GUARD, Found
from .law import Law
from .line import Transform
from .rules import Rule, atom_nodes, node_sum
from .saddle import Landscape, Saddle

MOST_WORK = 5 * 10**6
"""Most complex multiplications of one run."""

MOST_NODES = 4000
"""Most nodes of one quadrature rule."""

SPARE = 5
"""Truncations are made this many decimal digits below those asked for."""

MARGIN = 1.4
"""A line may go on to this multiple of the height that was planned, until its own estimate of the rest is small."""

LIFTS = (1.0, 2.0)
"""Heights, in widths of the coordinate, to which the path of a rule is lifted when the plain one gets long."""


class Line(NamedTuple):
    """The transform along Re z = c: G_m = (M(c + imh)/M(c))^k/(z(z+1)), log M(c)^k, the height reached and a bound on
    the rest of the integral over M(c)^k e^{-c eps}."""

    c: Any
    h: Any
    values: list[Any]
    log_scale: Any
    rest: Any


class Plan(NamedTuple):
    """What a line needs: its saddle, the step, the height at which to stop, whether that height is enough."""

    saddle: Saddle
    h: float
    height: float
    enough: bool


class Contour:
    """The law's transform, prepared for one number of digits; rules and the last lines are kept for further eps."""

    def __init__(self, law: Law, digits: int):
        self.law, self.digits = law, digits
        self.landscape = Landscape(law)
        self.transforms: list[Transform] = []
        self.lines: list[Line] = []
        self.built_at: float | None = None
        self.places = digits
        self.quadrature = 0.0

    # --- planning ---------------------------------------------------------------------------------

    def plan(self, eps) -> Plan:
        """Choose the line for this eps, and make quadrature rules that are good as far up as it goes."""
        near = float(evaluate(eps, FN))
        saddle = self.landscape.line(near, (self.digits + SPARE) * math.log(10))
        other = self._other(saddle, near)
        lost = max(0.0, saddle.log_peak - saddle.log_delta, -saddle.log_delta if saddle.c < 0 else 0.0) / math.log(10)
        counts = max(k for _, k in self.law.parts)
        self.places = self.digits + GUARD + math.ceil(lost + math.log10(counts)) + 3
        h = self.landscape.step(saddle, near, (self.digits + SPARE) * math.log(10))
        with mpmath.workdps(self.places):
            self._make_rules((saddle.c, other.c))
            height, enough = self._climb(saddle, near, h)
            if enough:
                self._settle(other, near, [0.0, height])
        return Plan(saddle, h, height, enough)

    def _other(self, saddle: Saddle, eps: float) -> Saddle:
        """The line of the second run."""
        return replace(self.landscape.at(_moved(saddle), eps), log_delta=saddle.log_delta, width=saddle.width)

    def _make_rules(self, tilts: tuple[float, float]) -> None:
        self.transforms = []
        self.quadrature = 0.0
        for sketch, (pld, _) in zip(self.landscape.sketches, self.law.parts, strict=True):
            if pld.support(FN) is None or pld.mgf(FN, mpmath.mpf(1)) is not None:
                self.transforms.append(Transform(pld, None))
            else:
                reach = sketch.reach(tilts, (self.places + 3) * math.log(10))
                self.transforms.append(Transform(pld, Rule(pld, self.places, reach)))

    def _climb(self, saddle: Saddle, eps: float, h: float) -> tuple[float, bool]:
        """Double the height until the rest of the integral is negligible, refining the rules on the way."""
        shares = [t.atoms_share(saddle.c) for t in self.transforms]
        floor = math.fsum(k * math.log(a) if a else -math.inf for a, (_, k) in zip(shares, self.law.parts, strict=True))
        wanted = saddle.log_delta - (self.digits + SPARE) * math.log(10)
        scale = saddle.log_peak + math.log(abs(saddle.c * (saddle.c + 1)))
        self._settle(saddle, eps, [0.0])
        height = saddle.width
        while True:
            sizes = self._settle(saddle, eps, [height])
            decay = math.fsum(
                k * math.log(a + c) if a + c else -math.inf
                for a, c, (_, k) in zip(shares, sizes, self.law.parts, strict=True)
            )
            if decay + scale - math.log(math.pi * height) < wanted:
                self._settle(saddle, eps, [MARGIN * height])
                return MARGIN * height, True
            work = 2 * height / h * sum(t.size for t in self.transforms)
            longest = max(t.size for t in self.transforms)
            if decay < floor + 0.1 or work > MOST_WORK or longest > MOST_NODES:
                return height, False
            height *= 1.5

    def _settle(self, saddle: Saddle, eps: float, heights: list[float]) -> list[float]:
        """Refine the rules until they are good at c + iy; the shares |C_j| of the continuous parts at the last y."""
        sizes: list[float] = []
        for y in heights:
            z = mpmath.mpc(saddle.c, y)
            ratios = [abs(t.at(z)) / mpmath.exp(t.log_at(saddle.c)) for t in self.transforms]
            logs = [k * float(mpmath.log(r)) if r else -1e300 for r, (_, k) in zip(ratios, self.law.parts, strict=True)]
            goal = -(self.digits + SPARE + 1) * math.log(10) + min(0.0, saddle.log_delta - saddle.log_peak)
            for i, (transform, (_, k)) in enumerate(zip(self.transforms, self.law.parts, strict=True)):
                if transform.rule is not None:
                    weight = math.log(k) + math.fsum(logs) - logs[i] / k
                    error = self._refined(transform, z, saddle.c, goal - weight)
                    self.quadrature = max(self.quadrature, error * math.exp(min(weight, 600)))
            sizes = [self._continuous(t, z, saddle.c) for t in self.transforms]
        return sizes

    def _refined(self, transform: Transform, z, c: float, goal: float) -> float:
        """Refine, or lift, one rule until its error at z is below e^goal M(c); the error reached."""
        while True:
            rule = transform.rule
            assert rule is not None
            coarse, offset = rule.sums(z)
            error = abs(coarse - offset) / 2 / mpmath.exp(transform.log_at(c))
            if error <= mpmath.exp(goal) or len(rule.coarse) > MOST_NODES:
                return float(error)
            rule.refine()

    def _continuous(self, transform: Transform, z, c: float) -> float:
        atoms = node_sum(atom_nodes(transform.pld), z)
        return float(abs(transform.at(z) - atoms) / mpmath.exp(transform.log_at(c)))

    # --- running ----------------------------------------------------------------------------------

    def find(self, eps, plan: Plan | None = None) -> Found:
        """delta(eps), with the slope."""
        near = float(evaluate(eps, FN))
        if self.built_at is None or abs(near - self.built_at) * max(1, abs(float(self.lines[0].c))) > 1:
            plan = plan or self.plan(eps)
            self.lines = self._draw(plan, near)
            self.built_at = near
        with mpmath.workdps(self.places):
            value = evaluate(eps, FN)
            runs = [self._integral(line, value) for line in self.lines]
            constant, constant_slope = self._constant(value)
            (one, slope), (other, _) = runs
            rest = sum(line.rest * mpmath.exp(line.log_scale - line.c * value) for line in self.lines)
            quadrature = self.quadrature * abs(one)
            error = abs(one - other) + rest + quadrature
            return Found(constant + one, error, constant_slope + slope, "contour integral")

    def _draw(self, plan: Plan, near: float) -> list[Line]:
        saddle, other = plan.saddle, self._other(plan.saddle, near)
        step = self.landscape.step(other, near, (self.digits + SPARE + 1) * math.log(10))
        with mpmath.workdps(self.places):
            return [
                self._draw_one(saddle, plan.h, plan.height),
                self._draw_one(other, 0.94 * step, plan.height),
            ]

    def _draw_one(self, saddle: Saddle, h: float, height: float) -> Line:
        c, h = mpmath.mpf(saddle.c), mpmath.mpf(h)
        counts = [k for _, k in self.law.parts]
        shares = [t.atoms_share(c) for t in self.transforms]
        bits = mpmath.mp.prec + 10 + max(1, int(height / float(h)) + 1).bit_length()
        values, sizes = [], []
        wanted = saddle.log_delta - saddle.log_peak - math.log(abs(saddle.c * (saddle.c + 1))) - (self.digits + SPARE) * math.log(10)
        rest, check = math.inf, 7
        for m, parts in enumerate(zip(*(t.along(c, h, bits) for t in self.transforms), strict=True)):
            z = mpmath.mpc(c, m * h)
            product = mpmath.mpf(1)
            for part, k in zip(parts, counts, strict=True):
                product *= part.ratio**k
            values.append(product / (z * (z + 1)))
            sizes.append([part.continuous for part in parts])
            if m >= check:
                check = m + 8 + m // 20
                rest = self._rest(sizes, shares, counts, (m + 1) * float(h))
                if rest < wanted or m * h > height:
                    break
        log_scale = mpmath.fsum(k * t.log_at(c) for t, k in zip(self.transforms, counts, strict=True))
        return Line(c, h, values, log_scale, mpmath.exp(rest))

    @staticmethod
    def _rest(sizes: list[list[float]], shares: list[float], counts: list[int], height: float) -> float:
        """log of the bound on the remaining integral."""
        recent = sizes[3 * len(sizes) // 4 :]
        decay = -math.log(math.pi * height)
        for j, (share, k) in enumerate(zip(shares, counts, strict=True)):
            largest = share + max(size[j] for size in recent)
            decay += k * math.log(largest) if largest else -math.inf
        return decay

    def _integral(self, line: Line, eps) -> tuple[Any, Any]:
        """The integral and its derivative in eps by the trapezoid rule."""
        turn, phase = mpmath.expj(-line.h * eps), mpmath.mpf(1)
        total = slope = mpmath.mpf(0)
        for m, value in enumerate(line.values):
            term = value * phase
            weight = 1 if m == 0 else 2
            total += weight * mpmath.re(term)
            slope -= weight * mpmath.re(term * mpmath.mpc(line.c, m * line.h))
            phase *= turn
        scale = mpmath.exp(line.log_scale - line.c * eps) * line.h / (2 * mpmath.pi)
        return scale * total, scale * slope

    def _constant(self, eps) -> tuple[Any, Any]:
        """What the poles left of the line contribute, and its derivative."""
        c = self.lines[0].c
        if c > 0:
            return self.law.mass_at_infinity(), mpmath.mpf(0)
        if c > -1:
            return mpmath.mpf(1), mpmath.mpf(0)
        weighted = mpmath.exp(eps) * (1 - self.law.mass_at_minus_infinity())
        return 1 - weighted, -weighted


def _moved(saddle: Saddle) -> float:
    """Another abscissa in the same strip, at the price of a few per cent in size."""
    c, step = saddle.c, 0.35 * saddle.width
    if c > 0:
        return c - min(step, c / 10)
    if c < -1:
        return c - step
    return c + min(step, -c / 4) if c < -0.5 else c - min(step, (c + 1) / 4)
