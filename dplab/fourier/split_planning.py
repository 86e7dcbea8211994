"""Plans for sums ruled by a few large losses, see `rare`; and the choice between the two kinds of plan."""

import math

from .choices import DEFAULT_GRID
from .coarse import window_of
from .onestep import OneStep
from .planning import (
    MARGIN,
    MOST_NODES,
    Plan,
    Settings,
    alignment,
    coarsest,
    grids_for,
    half_a_cell_off,
    make_plan,
    range_of,
    spare_mass,
)
from .rare import Splitting, clipped_term, half
from .scout import Saddle, Scout
from .tilted import good_size


def plan_for(
    parts: list[tuple[OneStep, int]], scout: Scout, saddle: Saddle, rtol: float, settings: Settings, nearby: float = 0.0
) -> Plan:
    """The plan of `make_plan`, or of `split_plan` where the saddle has a splitting and nothing is fixed by hand."""
    if saddle.splitting is not None and settings.tilt is None and settings.n is None and settings.grid == DEFAULT_GRID:
        return split_plan(parts, scout, saddle.splitting, saddle.log_delta, rtol, settings)
    return make_plan(parts, scout, saddle, rtol, settings, nearby)


def split_plan(
    parts: list[tuple[OneStep, int]],
    scout: Scout,
    splitting: Splitting,
    log_delta: float,
    rtol: float,
    settings: Settings,
) -> Plan:
    """A plan in which the large losses of a step are counted, each number of them with a tilt and window of its own."""
    steps = sum(k for _, k in parts)
    terms = [t for t in splitting.terms if t.log_chernoff > log_delta + math.log(MARGIN * rtol)]
    wanted = math.inf
    for term in terms:
        share = max(math.exp(min(term.log_value - log_delta, 0.0)), 1e-6)
        fine = math.sqrt(4 * rtol / (term.tilt * (term.tilt + 1) * steps * share))
        wanted = min(wanted, fine, max(term.deviation / 8, 1e-12) / share)
    tilt = min(term.tilt for term in terms)
    main = max(terms, key=lambda term: term.log_value)
    wanted = settings.dx or min(wanted, coarsest(parts, main.tilt, rtol))
    log_tail = math.log(MARGIN * rtol) + min(log_delta, 0.0) - math.log(steps)
    log_share = math.log(MARGIN * rtol / steps)
    ranges = [
        range_of(step, law, log_tail, log_share, tilt, half(law, splitting.threshold, above=False))
        for (step, _), (law, _) in zip(parts, scout.laws, strict=True)
    ]
    room, most = 2 * min(wanted, 1.0), min(settings.max_size, MOST_NODES)
    ends = [(bottom - room, top + room) for bottom, top in ranges]
    spans = [
        window_of(
            clipped_term(scout.laws, splitting.threshold, term.large, ends),
            term.tilt,
            min(math.log(MARGIN * rtol) + log_delta - term.log_chernoff, 0.0),
        )
        for term in terms
    ]
    widths = [span[1] - span[0] for span in spans]
    least = max([max(widths) / (settings.max_size - 16), *((top - bottom) / most for bottom, top in ranges)])
    dx = max(wanted, least)
    aligned = alignment(parts, dx, least)
    lower, upper = (grids_for(parts, ranges, aligned, dx, side, scout.wide) for side in (-1, +1))
    dx, upper = upper[0].dx, half_a_cell_off(parts, lower, upper)
    sizes = [good_size(int(width / dx) + 16) for width in widths]
    windows = dict(zip((term.large for term in terms), zip(spans, sizes, strict=True), strict=True))
    return Plan(
        main.tilt,
        dx,
        lower,
        upper,
        windows[main.large][0],
        max(sizes),
        spare_mass(scout, log_tail),
        least > wanted,
        splitting=splitting,
        windows=tuple(windows.get(term.large) for term in splitting.terms),
    )
