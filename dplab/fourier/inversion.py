"""eps(delta) from both sides of the bracket.

An eps where the upper bound of delta is <= delta is an upper bound of eps(delta); one where the lower bound is >=
delta is a lower bound. What is returned was verified by evaluating the side at that very float, and at the decimal
that it prints as.

Both are found by a safeguarded secant search on log delta, which is nearly straight in eps: about seven evaluations a
side, a few hundredths of the time. Newton's method in x = e^eps, which needs the derivative too (a second sum), comes
from the left without fail, but far from the root it brings delta down by no more than a factor e a step.
"""

import math
from dataclasses import dataclass

from ..core.budget import ErrorBudget, Part
from ..core.directions import Direction
from ..core.results import Bracket
from .accountant import Found, OneDirection, budget_of
from .costs import affordable
from .intervals import U
from .planning import Settings
from .rounding import down, up
from .scout import Saddle, Scout
from .sides import Side

_TRIES = 5
_STEPS, _FEWEST, _WORK = 60, 12, 4_000_000  # of a search: evaluations, and frequencies summed in all


@dataclass(frozen=True)
class EpsRange:
    """A bracket of eps in one direction, its budget, and a note in words."""

    lower: float
    upper: float
    budget: ErrorBudget
    note: str = ""
    reached: bool = True


def epsilon_ranges(
    ways: dict[Direction, OneDirection], delta: float, delta_error: float, atol: float, settings: Settings
) -> dict[Direction, EpsRange]:
    """eps(delta) of each direction, the one that looks larger first: the other need only be known to be smaller."""

    def guess(name: Direction) -> float:
        way = ways[name]
        finite = delta - way.infinity[1]
        if not way.parts or finite <= 0 or way.has_closed_form:
            return math.inf
        return way.scout.saddle_for(math.log(finite)).eps

    ranges: dict[Direction, EpsRange] = {}
    enough = -math.inf
    for name in sorted(ways, key=guess, reverse=True) if len(ways) > 1 else ways:
        ranges[name] = epsilon_range(ways[name], delta, delta_error, atol, settings, enough)
        enough = ranges[name].lower
    return ranges


def epsilon_range(
    direction: OneDirection,
    delta: float,
    delta_error: float,
    atol: float,
    settings: Settings,
    enough: float = -math.inf,
) -> EpsRange:
    """eps(delta) of one direction, before the convention that it is at least 0.

    `delta` is a float within relative `delta_error` of the exact value. If the whole range lies below `enough`, its
    width does not matter.
    """
    if delta == 1 and not delta_error:
        return EpsRange(-math.inf, 0.0, _empty(), "every composition is (0, 1)-DP")
    low, high = direction.infinity
    least, most = delta * (1 - delta_error), delta * (1 + delta_error)
    largest = direction.largest_loss() if direction.parts else None
    if most < low:
        note = f"delta lies below the mass at infinity, {low:.6g}: no finite eps"
        return EpsRange(math.inf, math.inf, _empty(), note)
    if delta == 0 and direction.exactly_no_infinity:
        if largest is None:
            return EpsRange(0.0, 0.0, _empty(), "nothing is released")
        if math.isinf(largest.hi):
            return EpsRange(math.inf, math.inf, _empty(), "delta = 0 and the loss is unbounded: no finite eps")
        return EpsRange(float(largest.lo), float(largest.hi), _empty(), "delta = 0: the largest loss")
    if largest is None:
        return EpsRange(-math.inf, 0.0, _empty(), "nothing is released")
    if least <= high:
        note = "delta equals the mass at infinity within its own rounding: eps may be the largest loss or infinite"
        return EpsRange(-math.inf, math.inf, _empty(), note, reached=False)
    return _search(direction, least, most, low, atol, settings, enough)


def question_for(
    direction: OneDirection, delta: float, atol: float, settings: Settings
) -> tuple[Scout, Saddle, float] | None:
    """The rough law, its saddle and the relative accuracy of delta that eps(delta) is first looked for with; None
    without a grid."""
    infinity = direction.infinity[1]
    if not direction.parts or delta >= 1 or delta <= infinity or direction.answers_without_grid(settings):
        return None
    scout, saddle = _saddle_for(direction, delta, infinity, settings)
    return scout, saddle, _accuracy(saddle, delta, infinity, atol)


def _saddle_for(direction: OneDirection, delta: float, infinity: float, settings: Settings) -> tuple[Scout, Saddle]:
    log_delta = math.log(max(delta - infinity, 5e-324))
    scout = direction.scout_for(log_delta, settings)
    saddle = scout.saddle_for(log_delta)
    # eps is at least 0 by convention: whether delta(0) <= delta is all that matters
    return scout, saddle if saddle.eps >= 0 else scout.saddle(0.0)


def _accuracy(saddle: Saddle, delta: float, infinity: float, atol: float) -> float:
    """The relative accuracy of delta at the saddle that makes eps as accurate as asked."""
    return min(0.5, atol * saddle.tilt * (1 - infinity / delta))


def _search(
    direction: OneDirection,
    least: float,
    most: float,
    infinity: float,
    atol: float,
    settings: Settings,
    enough: float,
) -> EpsRange:
    if direction.answers_without_grid(settings):
        return _without_grid(direction, least, most, atol)
    scout, saddle = _saddle_for(direction, most, infinity, settings)
    best: EpsRange | None = None
    for _ in range(_TRIES):
        loose = max(atol, 0.5 * (enough - saddle.eps)) if best is None else atol
        rtol = _accuracy(saddle, most, infinity, loose)
        asked, first = ("atol", atol), best is None
        plan = affordable(direction.parts, scout, saddle, rtol, settings, 1.0, asked, refuse=first)
        upper = Side(direction.parts, plan, +1)
        right = root(upper, _log(least, -1), saddle.eps, 1 / saddle.tilt, atol, +1)
        if right <= enough:
            return EpsRange(-math.inf, right, _empty(), "smaller than the other direction")
        lower = Side(direction.parts, plan, -1)
        left = root(lower, _log(most, +1), saddle.eps, 1 / saddle.tilt, atol, -1)
        at = 0.5 * (left + right) if math.isfinite(left) and math.isfinite(right) else saddle.eps
        found = Found(lower.at(at, 0.0), upper.at(at, 0.0), plan)
        width = right - left
        budget = budget_of(found)
        known = 0 < budget.total < math.inf and math.isfinite(width)
        budget = budget.scaled(width / budget.total) if known else _empty(width)
        reached = width <= atol
        note = "" if reached else f"accuracy not reached: width {width:.1e}, asked {atol:.1e}"
        helped = best is None or direction.scattered or not width > 0.7 * (best.upper - best.lower)
        if best is None or width < best.upper - best.lower:
            best = EpsRange(left, right, budget, note, reached)
        if reached or plan.capped or settings.fixed or not helped or right <= 0:
            break
        better = found.remedy(saddle, settings, found.relative_width * min(atol / width, 0.5), direction.scattered)
        if better is None:
            break
        saddle, settings = better
    assert best is not None
    return best


def _log(delta: float, sign: int) -> float:
    """log delta on the safe side, by so much that its exponential in float64 is on that side too."""
    value = math.log(delta)
    return value + sign * 8 * U * (1 + abs(value))


def _as_decimal(eps: float) -> float:
    """How far the decimal that Python prints for a float may lie from it, and a little more."""
    return 2.0**-51 * abs(eps)


def _without_grid(direction: OneDirection, least: float, most: float, atol: float) -> EpsRange:
    """Bisection on the float64 enclosure of a closed form."""
    from .accountant import Point

    def bounds(eps: float) -> tuple[float, float]:
        found = direction.at([Point(eps, _as_decimal(eps))], [1.0], Settings())[0]
        low, high = found.lower.bound, found.upper.bound
        return (low, high) if low == high else (float(down(low)), float(up(high)))  # as `combine` would report them

    right = _bisect(lambda e: bounds(e)[1] <= least, True)
    left = _bisect(lambda e: bounds(e)[0] < most, False)
    budget = ErrorBudget((Part("rounding", right - left, "float64 enclosure of the closed form"),), {})
    if left == right or right - left <= atol:
        return EpsRange(left, right, budget)
    note = (
        f"accuracy not reached: width {right - left:.1e}, asked {atol:.1e}; float64 cancels here, use dplab.reference"
    )
    return EpsRange(left, right, budget, note, reached=False)


def _bisect(holds, right: bool) -> float:
    """The edge of {eps: holds(eps)}, an up-set: the last float known to be in it, or the last known to be out."""
    low, high = -1.0, 1.0
    while holds(low):
        high, low = low, 2 * low
        if low < -1e6:
            return -math.inf
    while not holds(high):
        low, high = high, 2 * high
        if high > 1e9:
            return math.inf if right else low
    for _ in range(90):
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        if holds(middle):
            high = middle
        else:
            low = middle
    return high if right else low


def root(side: Side, log_target: float, start: float, scale: float, atol: float, sign: int) -> float:
    """An eps where the log of the side's bound is verified <= (upper side) or >= (lower side) the target, as close to
    equality as float64 tells apart; an infinity where none is found."""

    def gap_at(eps: float) -> float:
        """Positive on the side where the bound may not be used."""
        gap = sign * (side.at(eps, _as_decimal(eps)).log_bound - log_target)
        return max(min(gap, 1e3), -1e3)

    inside = outside = None
    eps, step = start, 0.0
    steps = max(_FEWEST, min(_STEPS, _WORK // (side.sum.work + 1)))
    for _ in range(steps):  # walk until both a usable and an unusable eps are known
        gap = gap_at(eps)
        if gap <= 0:
            inside, gap_in = eps, gap
        else:
            outside, gap_out = eps, gap
        if inside is not None and outside is not None:
            break
        step = max(2 * step, min(abs(gap), 50.0) * scale * 1.1, 0.1 * min(atol, scale))
        eps += sign * step if inside is None else -sign * step
    if inside is None:
        return math.inf * sign
    if outside is None:
        return inside
    resolution = max(4e-16 * abs(inside), (1e-8 if steps == _STEPS else 1e-3) * atol)
    weight_in, weight_out, moved = gap_in, gap_out, 0
    for _ in range(steps):  # Illinois: a secant that halves the weight of an end that stays twice
        if abs(inside - outside) <= resolution or -gap_in * scale <= resolution:
            break
        share = weight_in / (weight_in - weight_out)
        eps = inside + (outside - inside) * min(max(share, 1e-6), 1 - 1e-6)
        gap = gap_at(eps)
        if gap <= 0:
            inside, gap_in, weight_in = eps, gap, gap
            weight_out, moved = (0.5 * weight_out, 1) if moved == 1 else (weight_out, 1)
        else:
            outside, weight_out = eps, gap
            weight_in, moved = (0.5 * weight_in, -1) if moved == -1 else (weight_in, -1)
    return inside


def _empty(width: float = 0.0) -> ErrorBudget:
    return ErrorBudget((Part("exact", 0.0 if not math.isfinite(width) else width, "known without a grid"),), {})


def combine_ranges(ranges: dict[Direction, EpsRange], atol: float, direction: str) -> Bracket:
    """The max over directions, and at least 0 (delta >= delta(0) gives eps = 0 by convention)."""
    top = max(ranges, key=lambda name: ranges[name].upper)
    base = max(ranges, key=lambda name: ranges[name].lower)
    lower, upper = ranges[base].lower, ranges[top].upper
    budget, note, reached = ranges[top].budget, ranges[top].note, ranges[top].reached
    if base != top:
        gained = ranges[top].lower - lower
        budget = budget.with_part(Part("direction", gained, f"the lower bound comes from the {base} direction"))
    if upper <= 0:
        return Bracket(0.0, 0.0, _empty(), "eps", direction, True, "delta >= delta(0): eps = 0 by convention")
    lower = max(lower, 0.0)  # both ends are verified at the very floats they are
    return Bracket(lower, upper, budget, "eps", direction, reached or upper - lower <= atol, note)
