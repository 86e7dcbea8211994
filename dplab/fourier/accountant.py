"""From a composition to strict brackets: one direction at a time, planned, certified, refined, combined.

`OneDirection` answers delta at one or many eps; `combine` takes the max of two directions; both carry the error
budget whose parts add up to upper - lower.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..core.budget import ErrorBudget, Part
from ..core.composition import Composition
from ..core.results import Bracket
from .choices import DEFAULT_GRID, GRIDS
from .costs import affordable
from .enumeration import MOST_SUMS, count_sums, enumerated_delta
from .intervals import Interval
from .listing import listed
from .onestep import OneStep
from .planning import Plan, Settings, refined
from .rounding import down, up
from .scout import Saddle, Scout
from .sides import Side, SideValue
from .wide import HAS_WIDE, log_least, log_of, widened

_TRIES = 5
_WORTHWHILE = 0.7  # a try that shrinks the width by less is the last
_MISSED = 10.0  # a plan that missed by the square of this may have asked too much: one for less may do better
_ROOM = 60.0  # log delta may be so much larger than the log of the smallest tail resolved
_NEARBY = 12.0  # a plan made for one eps is to serve others whose Chernoff bounds differ by up to e^12


@dataclass(frozen=True)
class Point:
    """Bounds of delta at one eps (a float that stands for an exact value within `eps_error`)."""

    eps: float
    eps_error: float = 0.0


@dataclass(frozen=True)
class Found:
    """The two sides at one point, before any combination."""

    lower: SideValue
    upper: SideValue
    plan: Plan

    @property
    def relative_width(self) -> float:
        """(upper - lower)/upper, through logarithms, so that it works below 1e-308."""
        if self.upper.log_bound == -math.inf:
            return 0.0
        return -math.expm1(min(self.lower.log_bound - self.upper.log_bound, 0.0))

    def remedy(
        self, saddle: Saddle, settings: Settings, rtol: float, scattered: bool = False
    ) -> tuple[Saddle, Settings] | None:
        """What to change for a second try: a finer grid, or a longer one; None where neither would help."""
        unit = self.upper.log_unit
        width = self.relative_width * math.exp(min(self.upper.log_bound - unit, 700.0))
        if self.upper.log_bound < lowest(self.plan.wide):
            return None
        lower, estimate = self.lower.in_units(unit), math.log(max(self.upper.central, 1e-300)) + unit
        if width > 0 and self.upper.periodisation + lower.periodisation > 0.3 * width:  # a longer window
            return replace(saddle, log_delta=min(saddle.log_delta - 4.0, estimate - 2.0)), settings
        if width > 0 and self.upper.infinity - lower.infinity > 0.3 * width:
            return replace(saddle, log_delta=min(saddle.log_delta - 4.0, estimate)), settings
        if width > 0 and self.upper.central - lower.central < 0.3 * width:
            return None
        power = 1.0 if scattered else 1 / GRIDS[self.plan.grid].order
        return saddle, refined(settings, self.plan, 0.9 * (rtol / self.relative_width) ** power)


class OneDirection:
    """One direction of a composition: P over Q, or Q over P."""

    def __init__(self, composition: Composition, backward: bool):
        self.parts = [(OneStep(pld), k) for pld, k in composition.plds(backward)]
        self.steps = sum(k for _, k in self.parts)

    @cached_property
    def scout(self) -> Scout:
        """The rough law used for planning."""
        return Scout(self.parts)

    @cached_property
    def wide_scout(self) -> Scout:
        """The rough law with tails below 1e-300."""
        return Scout(self.parts, wide=True)

    def scout_for(self, log_delta: float, settings: Settings) -> Scout:
        """The rough law for a delta of about this size: with wider exponents where that helps."""
        helps = HAS_WIDE and settings.grid == DEFAULT_GRID and any(step.support is not None for step, _ in self.parts)
        return self.wide_scout if helps and log_delta < lowest(wide=False) else self.scout

    def look(self, eps: float, settings: Settings) -> tuple[Scout, Saddle]:
        """The rough law for this eps, and its saddle there."""
        saddle = self.scout.saddle(eps)
        scout = self.scout_for(saddle.log_delta, settings)
        return scout, scout.saddle(eps) if scout.wide else saddle

    @cached_property
    def infinity(self) -> tuple[float, float]:
        """Enclosure of delta(inf) of the composition, 1 - prod (1 - delta_j(inf))^{k_j}."""
        low = high = 0.0
        for step, k in self.parts:
            mass = step.infinity
            low += k * math.log1p(-float(mass.lo)) if mass.lo < 1 else -math.inf
            high += k * math.log1p(-float(mass.hi)) if mass.hi < 1 else -math.inf
        least = 1.0 if low == -math.inf else max(-math.expm1(low) * (1 - 1e-14), 0.0)
        return least + 0.0, min(-math.expm1(high) * (1 + 1e-14), 1.0) + 0.0  # no -0.0

    def log_estimate(self, point: Point) -> float:
        """log delta, about: for deciding what to compute first, never for a bound."""
        if not self.parts or math.isinf(point.eps) or self.has_closed_form:
            return 0.0
        finite = self.scout.saddle(point.eps).log_delta
        return float(np.logaddexp(finite, math.log(max(self.infinity[0], 1e-300))))

    @property
    def exactly_no_infinity(self) -> bool:
        """True if delta(inf) is exactly 0."""
        return self.infinity[1] == 0.0

    def largest_loss(self) -> Interval:
        """Enclosure of the largest finite loss of the composition (hi is inf if unbounded)."""
        return self._total_loss("largest")

    def smallest_loss(self) -> Interval:
        """Enclosure of the smallest finite loss of the composition (lo is -inf if unbounded)."""
        return self._total_loss("smallest")

    def _total_loss(self, which: str) -> Interval:
        total = Interval.exactly(0.0)
        for step, k in self.parts:
            total = total + getattr(step, which) * k
        return total

    @cached_property
    def has_closed_form(self) -> bool:
        """True for one step, where nothing finite is left, and where the sums of losses can be written down."""
        if self.steps == 1 or self.infinity[0] >= 1:
            return True
        return self._sums == 1 or (len(self.parts) > 1 and 1 < self._sums <= MOST_SUMS)

    @cached_property
    def _sums(self) -> int:
        return count_sums(self.parts)

    @property
    def scattered(self) -> bool:
        """Whether some losses are atoms that no grid fits: the width then falls slowly with dx, in leaps."""
        return any(len(step.columns) > 2 and step.lattice is None for step, _ in self.parts)

    @cached_property
    def listed(self) -> OneStep | None:
        """All atoms of the composition as one step, if they are few and lie on no common lattice."""
        return listed(self.parts)

    def answers_without_grid(self, settings: Settings) -> bool:
        """True where a closed form, or a list of all atoms, serves and no particular grid was asked for."""
        if self.has_closed_form:
            return settings.grid == DEFAULT_GRID or self.infinity[0] >= 1
        return not settings.by_hand and self.listed is not None

    def _closed_form(self, eps: Interval) -> tuple[Any, Any]:
        """Enclosure of delta where no grid is needed, in the wider type if it is tiny; see `has_closed_form`."""
        if self.infinity[0] >= 1:
            return 1.0, 1.0
        only = self.parts[0][0] if self.steps == 1 else self.listed
        if only is not None:
            curve = only.curve(Interval(np.atleast_1d(eps.lo), np.atleast_1d(eps.hi)))
            if HAS_WIDE and log_of(curve.hi[0]) < lowest(wide=False):
                curve = only.curve(Interval(*(widened(np.atleast_1d(end), True) for end in (eps.lo, eps.hi))))
            return curve.lo[0], curve.hi[0]
        finite = enumerated_delta(self.parts, eps) + Interval(*self.infinity)
        return max(float(finite.lo), 0.0), min(float(finite.hi), 1.0)

    def _log_q(self) -> tuple[float, float]:
        """Upper and lower bound of log prod (1 - delta_{Y/X}(inf))^k, the second distribution's finite mass."""
        ends = []
        for towards in (up, down):
            total = 0.0
            for step, k in self.parts:
                mass = float(step.q_mass.hi if towards is up else step.q_mass.lo)
                total += k * float(towards(math.log(mass))) if mass > 0 else -math.inf
            ends.append(min(total * (1 - 1e-15 if towards is up else 1 + 1e-15), 0.0))
        return ends[0], ends[1]

    def at(self, points: Sequence[Point], rtols: Sequence[float], settings: Settings) -> list[Found]:
        """Both sides at each point, to the relative widths asked for if possible.

        A plan is made for the middle point and kept for the neighbours that it serves well enough.
        """
        answers: list[Found | None] = [self.without_grid(point, settings) for point in points]
        open_ones = [i for i, answer in enumerate(answers) if answer is None]
        stack = [sorted(open_ones, key=lambda i: points[i].eps)]
        while stack:
            group = stack.pop()
            if not group:
                continue
            middle = len(group) // 2
            alone = len(open_ones) == 1
            best, sides = self._planned(points[group[middle]], rtols[group[middle]], settings, alone)
            left: list[int] = []
            right: list[int] = []
            for position, index in enumerate(group):
                found = best if position == middle else self._evaluate(sides, points[index])
                if position == middle or found.relative_width <= rtols[index]:
                    answers[index] = found
                else:
                    (left if position < middle else right).append(index)
            stack += [left, right]
        return [answer for answer in answers if answer is not None]

    def _planned(self, point: Point, rtol: float, settings: Settings, alone: bool):
        scout, saddle = self.look(point.eps, settings)
        hopeless = saddle.log_delta < log_least(scout.wide)
        if hopeless:
            settings = _sparing(settings)  # no grid would do
        best = self._tried(scout, saddle, point, rtol, settings, alone)
        if scout.wide and best[0].upper.log_bound > lowest(wide=False):  # too much for it
            best = self._tried(self.scout, self.scout.saddle(point.eps), point, rtol, _sparing(settings), alone)
        if best[0].relative_width > rtol and saddle.splitting is None and not settings.fixed and alone:
            other = scout.split(saddle)
            if other.splitting is not None:
                tried = best, self._tried(scout, other, point, rtol, settings, alone, refuse=False)
                best = min(tried, key=_narrowness)
        missed = 0.0 if hopeless or not alone or settings.by_hand else best[0].relative_width
        while missed > _MISSED**2 * rtol:
            tried = best, self._tried(scout, saddle, point, missed / _MISSED, settings, alone, refuse=False)
            best = min(tried, key=_narrowness)
            missed = best[0].relative_width if best[0].relative_width < missed / 2 else 0.0
        if best[0].relative_width > rtol and 0 < self._sums <= MOST_SUMS and not settings.by_hand:
            written = self._written_down(point)
            best = min(best, (written, best[1]), key=_narrowness)
        return best

    def _written_down(self, point: Point) -> Found:
        """Both sides from all sums of losses, where there are few."""
        total = enumerated_delta(self.parts, _enclosed(point)) + Interval(*self.infinity)
        return Found(_known(max(float(total.lo), 0.0)), _known(min(float(total.hi), 1.0)), _NO_PLAN)

    def _tried(
        self,
        scout: Scout,
        saddle: Saddle,
        point: Point,
        rtol: float,
        settings: Settings,
        alone: bool,
        refuse: bool = True,
    ):
        """Brackets from better and better plans of one kind."""
        best = None
        for _ in range(_TRIES):
            nearby, first = 0.0 if alone else _NEARBY, refuse and best is None
            plan = affordable(self.parts, scout, saddle, rtol, settings, nearby, refuse=first)
            sides = (Side(self.parts, plan, -1), Side(self.parts, plan, +1), plan)
            found = self._evaluate(sides, point)
            first_order = GRIDS[plan.grid].order == 1  # falls slowly, and not at all before the law is resolved
            worth = 1.0 if first_order and found.relative_width > 0.5 else 0.95 if first_order else _WORTHWHILE
            helped = best is None or self.scattered or found.relative_width <= worth * best[0].relative_width
            if best is None or found.relative_width < best[0].relative_width:
                best = found, sides
            if found.relative_width <= rtol or plan.capped or settings.fixed or not helped:
                break
            better = found.remedy(saddle, settings, rtol, self.scattered)
            if better is None:
                break
            saddle, settings = better
        return best

    def _evaluate(self, sides: tuple[Side, Side, Plan], point: Point) -> Found:
        lower, upper, plan = sides
        return Found(lower.at(point.eps, point.eps_error), upper.at(point.eps, point.eps_error), plan)

    def without_grid(self, point: Point, settings: Settings) -> Found | None:
        """Answers that need no composition on a grid."""
        eps = _enclosed(point)
        if math.isinf(point.eps):
            low, high = self.infinity if point.eps > 0 else (1.0, 1.0)
        elif self.infinity[0] >= 1:
            low, high = 1.0, 1.0
        elif not self.parts:
            low, high = (max(0.0, -math.expm1(e) * (1 + s * 1e-15)) for e, s in ((eps.hi, -1), (eps.lo, 1)))
        elif eps.lo >= self.largest_loss().hi:
            low, high = self.infinity
        elif eps.hi <= self.smallest_loss().lo:
            low, high = (-math.expm1(e + log_q) for e, log_q in zip((eps.hi, eps.lo), self._log_q(), strict=True))
            low, high = max(low - 4e-16, 0.0), min(high + 4e-16, 1.0)
        elif self.answers_without_grid(settings):
            low, high = self._closed_form(eps)
        else:
            return None
        return Found(_known(low), _known(high), _NO_PLAN)


def _narrowness(planned: tuple) -> tuple[float, float]:
    """What is compared of two plans' brackets: the width, then the upper bound."""
    return planned[0].relative_width, planned[0].upper.log_bound


def _sparing(settings: Settings) -> Settings:
    """Settings that spend little, for what will not be reached."""
    return replace(settings, max_size=min(settings.max_size, 2**17))


def _enclosed(point: Point) -> Interval:
    """All values that the point's eps may have."""
    eps = Interval(point.eps - point.eps_error, point.eps + point.eps_error)
    return Interval(down(eps.lo), up(eps.hi)) if point.eps_error else eps


def _known(value: Any) -> SideValue:
    near = float(value)
    return SideValue(near, log_of(value), near, near, 0.0, 0.0, 0.0, 0.0)


_NO_PLAN = Plan(0.0, 0.0, (), (), (0.0, 0.0, 0.0, 0.0), 0, 0.0, capped=False)


def lowest(wide: bool) -> float:
    """The log of the smallest delta that tails of that type resolve."""
    return log_least(wide) + _ROOM


def budget_of(found: Found) -> ErrorBudget:
    """What the width of one direction's bracket is made of; the parts add up to upper - lower before clipping, in units
    of e^{upper.log_unit}."""
    upper, plan = found.upper, found.plan
    lower = found.lower.in_units(upper.log_unit)
    width = upper.unclipped - lower.unclipped if math.isfinite(upper.bound) else math.inf
    if plan is _NO_PLAN:
        reason = "float64 enclosure of the closed form, parameters included"
        return ErrorBudget((Part("rounding", width, reason),), {})
    proper = upper.proper_infinity - lower.proper_infinity
    cut = upper.infinity - lower.infinity - proper
    wrapped = upper.periodisation + lower.periodisation
    parts = [
        Part("grid", upper.central - lower.central, GRIDS[plan.grid].reason),
        Part("tail", cut, "mass above the grid: at infinity in the upper bound, left out of the lower one"),
        Part("truncation", 0.0, "none: partial sums are never cut off, only whole sums come back elsewhere"),
        Part("periodisation", wrapped, "kappa times Chernoff's bound of P(S outside), both sides"),
        Part("rounding", upper.rounding + lower.rounding, "float64: 5 u log2 n per output, powers and sums counted"),
        Part("mass at infinity", proper, "delta(inf) and its powers, enclosed"),
    ]
    rest = width - math.fsum(part.size for part in parts)
    parts.append(Part("evaluation", rest, "parameters and special functions: certified factor and shift of the losses"))
    settings = {
        "grid": plan.grid,
        "dx": plan.dx,
        "n": plan.n,
        "tilt": plan.tilt,
        "grid nodes": sum(g.size for g in plan.upper),
    }
    return ErrorBudget(tuple(parts), settings)


def combine(found: dict[str, Found], point: Point, rtol: float, direction: str, log: bool = False) -> Bracket:
    """The bracket of the max over the directions in `found`, clipped to the trivial bounds."""
    top = max(found, key=lambda name: found[name].upper.log_bound)
    base = max(found, key=lambda name: found[name].lower.log_bound)
    budget, unit = budget_of(found[top]), found[top].upper.log_unit
    if base != top:
        gained = found[top].lower.in_units(unit).unclipped - found[base].lower.in_units(unit).unclipped
        budget = budget.with_part(Part("direction", gained, f"the lower bound comes from the {base} direction"))
    ends = found[base].lower, found[top].upper
    exact = ends[0].bound == ends[1].bound and ends[0].log_bound == ends[1].log_bound
    certain = exact and found[top].plan is _NO_PLAN  # 0 or 1
    log_lower, log_upper = found[base].lower.log_bound, min(found[top].upper.log_bound, 0.0)
    relative = -math.expm1(min(log_lower - log_upper, 0.0)) if log_upper > -math.inf else 0.0
    reached = relative <= rtol
    note = "" if reached else _advice(found[top], relative, rtol)
    if log:
        if not certain:
            log_lower, log_upper = float(down(log_lower)), min(float(up(log_upper)), 0.0)
        budget = _in_logarithms(budget, log_upper - log_lower)
        return Bracket(log_lower, log_upper, budget, "log delta", direction, reached, note)
    if unit:
        budget = budget.scaled(math.exp(unit))
    lower, upper = found[base].lower.bound, found[top].upper.bound
    if not certain:
        lower, upper = max(float(down(lower)), _trivial(point), 0.0), min(float(up(upper)), 1.0)
    return Bracket(min(lower, upper), upper, budget, "delta", direction, reached, note)


def _in_logarithms(budget: ErrorBudget, width: float) -> ErrorBudget:
    """The budget of delta in nats of log delta: shares of the width there."""
    if not width > 0 or math.isinf(width):
        return budget.scaled(0.0) if not width else budget
    if budget.total > 0 and math.isfinite(budget.total):
        return budget.scaled(width / budget.total)
    reason = "delta lies below the smallest float: all parts together"
    return ErrorBudget((Part("evaluation", width, reason),), budget.settings)


def _trivial(point: Point) -> float:
    """1 - e^eps, which every delta exceeds."""
    eps = point.eps + point.eps_error
    return max(0.0, float(down(-math.expm1(eps) * (1 - 1e-15)))) if eps < 0 else 0.0


def _advice(found: Found, relative: float, rtol: float) -> str:
    plan = found.plan
    factor = (relative / rtol) ** (1 / GRIDS[plan.grid].order)
    says = f"accuracy not reached: relative width {relative:.1e}, asked {rtol:.1e}"
    if plan is _NO_PLAN:
        return f"{says}; float64 cancels here: use dplab.reference"
    if found.upper.log_bound < lowest(plan.wide):
        return f"{says}; delta lies below what floating-point tails resolve: use dplab.reference"
    largest = max(budget_of(found), key=lambda part: part.size).name
    if largest == "periodisation":
        return f"{says}; the window is too short: n or max_size above {plan.n} is needed"
    if plan.capped:
        return f"{says}; a grid of about {plan.n * factor:.1e} points would do (max_size)"
    if largest == "grid":
        return f"{says}; dx = {plan.dx / factor:.1e} would do"
    return f"{says}; {largest} limits it: another tilt may help, or use dplab.reference"
