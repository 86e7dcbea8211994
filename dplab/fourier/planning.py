"""Choosing tilt, dx, grids and window for a question, from the scout's rough law."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .choices import DEFAULT_GRID, GRIDS
from .coarse import CoarseLaw
from .floats import rough_tails
from .grids import Grid, half_off
from .intervals import Interval, U
from .lattices import common_spacing
from .onestep import OneStep
from .rare import Splitting
from .rounding import down, up
from .scout import Saddle, Scout
from .tilted import good_size, log_kappa
from .wide import exp_of, log_least, widened

DEFAULT_MAX_SIZE = 2**22
DEFAULT_MAX_MEMORY = 2**30
MOST_NODES = 2**20  # of one step's grid: each costs a microsecond
_HEAVY = 1e-3
MARGIN = 1e-3
_SHARE = 6.0  # both sides together err by about theta (theta + 1) steps dx^2/8: three quarters of what was asked
_POINT_SHARE = 4.0  # point masses may miss what is narrower than a cell besides
_FINER = 1e-5  # without a grid error the rest may be as small as rounding, for a slightly longer grid


@dataclass(frozen=True)
class Settings:
    """What a caller may fix by hand; None leaves the choice to the plan. `max_size` caps n and every grid; `grid` is
    one of `choices.GRIDS`; plans that need more than `max_memory` bytes are refused."""

    dx: float | None = None
    n: int | None = None
    tilt: float | None = None
    max_size: int = DEFAULT_MAX_SIZE
    grid: str = DEFAULT_GRID
    max_memory: float = DEFAULT_MAX_MEMORY

    @property
    def fixed(self) -> bool:
        """True if dx was fixed by hand, so that refining it is not wanted."""
        return self.dx is not None and not self.planned_dx

    @property
    def by_hand(self) -> bool:
        """True if a caller asked for a particular discretisation."""
        return (self.dx, self.n, self.tilt) != (None, None, None) or self.grid != DEFAULT_GRID

    planned_dx: bool = False


@dataclass(frozen=True)
class Plan:
    """One discretisation: the tilt, dx for the lower and upper side, one grid a part for each, window, n.

    `spare` is a mass too small to matter in one step: values of h below it need not be resolved. With a `splitting`,
    `windows` holds (window, n) for each of its terms, None for those that are bounded only.
    """

    tilt: float
    dx: float
    lower: tuple[Grid, ...]
    upper: tuple[Grid, ...]
    window: tuple[float, float, float, float]
    n: int
    spare: Any
    capped: bool
    grid: str = DEFAULT_GRID
    splitting: Splitting | None = None
    windows: tuple[tuple[tuple[float, float, float, float], int] | None, ...] = ()

    @property
    def wide(self) -> bool:
        """Whether masses have a type with a wider exponent."""
        return any(grid.wide for grid in self.upper)


def make_plan(
    parts: list[tuple[OneStep, int]], scout: Scout, saddle: Saddle, rtol: float, settings: Settings, nearby: float = 0.0
) -> Plan:
    """A plan whose grid error is about half of `rtol` (relative, of delta at the saddle).

    `nearby` > 0 makes the window wider, so that the plan also serves eps where the tilted sum is e^{-nearby} smaller.
    """
    tilt = settings.tilt if settings.tilt is not None else min(saddle.tilt, _steepest(parts, saddle.eps))
    steps = sum(k for _, k in parts)
    chosen, laws = GRIDS[settings.grid], [law for law, _ in scout.laws]
    if chosen.order == 1:  # losses move by at most dx to either side
        rough = (
            [k * chosen.roughness(step, law.losses, tilt) for (step, k), law in zip(parts, laws, strict=True)]
            if chosen.roughness
            else [0.0]
        )
        wanted = rtol / (tilt * steps + sum(rough))
    else:
        share = _SHARE if chosen.strict else _POINT_SHARE
        wanted = math.sqrt(share * rtol / (tilt * (tilt + 1) * steps)) if tilt > 0 else math.inf
    wanted = min(wanted, max(saddle.deviation / 8, abs(saddle.bulk - saddle.eps) / 32, 1e-12))
    wanted = settings.dx or min(wanted, coarsest(parts, tilt, rtol))
    log_sum = saddle.log_delta - saddle.log_chernoff  # the tilted sum
    on_lattices = settings.grid == DEFAULT_GRID and all(step.lattice is not None for step, _ in parts)
    margin = MARGIN * rtol * (_FINER if on_lattices else 1.0)
    target = math.log(margin) + min(log_sum - log_kappa(tilt), 0.0) - nearby
    log_tail = math.log(margin) + min(saddle.log_delta, 0.0) - math.log(steps)
    log_share = math.log(margin / steps)
    ranges = [range_of(step, law, log_tail, log_share, tilt) for (step, _), law in zip(parts, laws, strict=True)]
    room, most = 2 * min(wanted, 1.0), min(settings.max_size, MOST_NODES)
    window = scout.window(tilt, target, [(bottom - room, top + room) for bottom, top in ranges])
    width = window[1] - window[0]
    least = max([width / (settings.max_size - 16), *((top - bottom) / most for bottom, top in ranges)])
    dx = max(wanted, least)
    aligned = alignment(parts, dx, least)
    lower = grids_for(parts, ranges, aligned, dx, -1, scout.wide)
    upper = grids_for(parts, ranges, aligned, dx, +1, scout.wide)
    dx = float(upper[0].dx)
    if settings.grid == DEFAULT_GRID:
        upper = half_a_cell_off(parts, lower, upper)
    n = settings.n or good_size(int(width / dx) + 16)
    return Plan(tilt, dx, lower, upper, window, n, spare_mass(scout, log_tail), least > wanted, settings.grid)


def spare_mass(scout: Scout, log_tail: float) -> Any:
    """The mass of one step that does not matter, or the smallest that its tails resolve."""
    return exp_of(max(log_tail, log_least(scout.wide)), scout.wide)


def _steepest(parts: list[tuple[OneStep, int]], eps: float) -> float:
    """The tilt at which rounding of losses in float64 still costs only a thousandth of delta."""
    largest = ((k, abs(float(step.largest.mid))) for step, k in parts)
    scale = abs(eps) + sum(k * loss for k, loss in largest if math.isfinite(loss))
    return 1e-3 / (64 * U * max(scale, 1e-290))


def coarsest(parts: list[tuple[OneStep, int]], tilt: float, rtol: float) -> float:
    """The dx that still resolves where losses start or end abruptly: a lower grid that does not puts the bulk of a step
    at its smallest loss. Where even k times that loss does not matter, it may."""
    ends = [
        end
        for step, k in parts
        for end in (abs(float(step.smallest.mid)), abs(float(step.largest.mid)))
        if 0 < end < math.inf and k * end * tilt > rtol / 8
    ]
    return min(ends, default=math.inf) / 2


def range_of(
    step: OneStep, law: CoarseLaw, log_tail: float, log_share: float, tilt: float, bulk: CoarseLaw | None = None
) -> tuple[float, float]:
    """The losses that one part's grid must reach: beyond them its mass does not matter.

    What lies left of it is compared with `bulk`, where large losses are counted apart: what has no large loss.
    """
    bulk = law if bulk is None else bulk
    least = exp_of(max(log_tail, log_least(law.wide)), law.wide)
    top = _first(step, law.wide, law.top_cell(log_tail), lambda p, q, x: p <= least)
    limit = log_share + bulk.log_mgf(tilt)

    def matters(p, q, x):
        with np.errstate(divide="ignore"):
            return np.log(np.maximum(q, 0.0)) + (1 + tilt) * x > limit

    bottom = _first(step, law.wide, bulk.bottom_cell(log_share, tilt), matters, before=True)
    top = min(top, float(step.largest.hi))
    bottom = min(max(bottom, float(step.smallest.lo)), top)
    return bottom, top


def _first(step: OneStep, wide: bool, cell: tuple[float, float], holds, before: bool = False) -> float:
    """The first of some points of a coarse cell where a condition on P(above), Q(at or below) and x holds."""
    if step.support is None or cell[0] >= cell[1]:
        return cell[0] if before else cell[1]
    x = widened(np.linspace(cell[0], cell[1], 65), wide)
    above, _, _, q_below = rough_tails(step, x)
    good = np.nonzero(holds(above, q_below, x))[0]
    if not len(good):
        return cell[1]
    return float(x[max(good[0] - 1, 0) if before else good[0]])


@dataclass(frozen=True)
class Alignment:
    """A spacing of losses that is a whole number of `cells`: that of a lattice, on which the parts in `exact` lie; or
    that of the two heaviest atoms of one `part`."""

    cells: int
    spacing: float = 0.0
    exact: tuple[int, ...] = ()
    part: int = 0


def alignment(parts, dx: float, least: float) -> Alignment | None:
    """The alignment that matters most, if some dx fits it."""
    heavy = [(index, k * _second_mass(step)) for index, (step, k) in enumerate(parts)]
    least_mass = 0.0 if all(step.lattice is not None for step, _ in parts) else _HEAVY
    heavy = sorted([one for one in heavy if one[1] > least_mass], key=lambda one: -one[1])
    found = _lattice(parts, [index for index, _ in heavy], dx, least)
    if found is not None:
        return found
    for index, _ in heavy:
        left, right = _heaviest(parts[index][0])
        gap = float(right.lo) - float(left.hi)
        if gap <= 0:
            continue
        step = parts[index][0]
        only_atoms = len(parts) == 1 and len(step.columns) == 2 and step.support is None
        cells = 1 if only_atoms and gap >= least else max(1, math.ceil(gap / dx))
        if gap / cells >= least:
            return Alignment(cells, part=index)
    return None


def _lattice(parts, heavy: list[int], dx: float, least: float) -> Alignment | None:
    """The lattice of the heaviest part that has one, made finer for as many others as it can be."""
    found: list[int] = []
    spacings: list[float] = []
    spacing = math.inf
    for index in heavy:
        lattice = parts[index][0].lattice
        common = common_spacing([*spacings, lattice.spacing]) if lattice is not None else None
        if common is not None and common >= least:
            found, spacings, spacing = [*found, index], [*spacings, lattice.spacing], common
    if not found:
        return None
    single = [i for i, (step, _) in enumerate(parts) if step.lattice is not None and len(step.columns) == 1]
    alone = len({*found, *single}) == len(parts)
    cells = 1 if alone else max(1, min(math.ceil(spacing / dx), math.floor(spacing / least)))
    return Alignment(cells, spacing, tuple(found))


def _second_mass(step: OneStep) -> float:
    """Mass of the second heaviest atom."""
    return float(np.sort(step.columns.p.mid)[-2]) if len(step.columns) > 1 else 0.0


def _heaviest(step: OneStep):
    """Losses of the two heaviest atoms, in order."""
    heavy = np.argsort(-step.columns.p.mid, kind="stable")[:2]
    return [step.columns.loss[i] for i in sorted(heavy)]


def _nudged(loss, side: int, ulps: int = 16) -> float:
    """A float certainly on one side of an atom: nodes lie just below atoms (lower) or just above (upper)."""
    value = float(loss.lo if side < 0 else loss.hi)
    return value + side * ulps * max(abs(value), 1e-300) * 2.0**-53


def _heaviest_atom(step: OneStep) -> Interval:
    return step.columns.loss[int(np.argmax(step.columns.p.mid))]


def _offset(step: OneStep, side: int) -> float:
    """Where a node has to be: at the heaviest atom, or where the law starts, which may be abruptly."""
    if len(step.columns):
        return _nudged(_heaviest_atom(step), side)
    return _nudged(step.smallest, -1) if math.isfinite(step.smallest.lo) and step.smallest.lo != 0 else 0.0


def grids_for(parts, ranges, aligned: Alignment | None, dx: float, side: int, wide: bool) -> tuple[Grid, ...]:
    """One grid a part that covers its range; side +1 for the upper, -1 for the lower bound."""
    offsets = [_offset(step, side) for step, _ in parts]
    if aligned is not None and aligned.exact:
        dx = aligned.spacing / aligned.cells
        for index, (step, _) in enumerate(parts):
            if index in aligned.exact or (step.lattice is not None and len(step.columns) == 1):
                offsets[index] = step.lattice.offset
    elif aligned is not None:
        left, right = _heaviest(parts[aligned.part][0])
        offsets[aligned.part] = _nudged(left, side)
        dx = (_nudged(right, side) - offsets[aligned.part]) / aligned.cells
        dx = float(down(dx) if side < 0 else up(dx))
    grids = []
    for (bottom, top), offset in zip(ranges, offsets, strict=True):
        first = math.floor((bottom - offset) / dx + 1e-9)
        last = math.ceil((top - offset) / dx - 1e-9) + 1
        grids.append(Grid(offset, dx, first, max(last - first + 1, 3), wide))
    return tuple(grids)


def half_a_cell_off(parts, lower: tuple[Grid, ...], upper: tuple[Grid, ...]) -> tuple[Grid, ...]:
    """Upper grids whose nodes are the midpoints of the lower grids' cells, where there is no atom to be on a node."""
    return tuple(
        above
        if len(step.columns) or below.dx != above.dx
        else replace(below, offset=half_off(below), first=below.first - 1, size=below.size + 1)
        for (step, _), below, above in zip(parts, lower, upper, strict=True)
    )


def refined(settings: Settings, plan: Plan, factor: float) -> Settings:
    """Settings with a smaller dx, for a second try."""
    return replace(settings, dx=plan.dx * float(np.clip(factor, 0.05, 0.7)), planned_dx=True)
