"""Certificates: a grid PLD made of floats is compared with the PLD itself, node by node, in interval arithmetic.

h of a PLD is convex in x = e^eps, and the h of a grid PLD is piecewise linear with kinks at the nodes. So

* upper: h_grid >= h at every node and at x = 0 implies h_grid >= h everywhere;
* lower: on each cell both end values <= those of one supporting line of h implies h_grid <= h everywhere.

Rounding may miss these by a few ulps. Two certified corrections repair that, and nothing about how the masses were
made is trusted: all masses times a factor close to 1 (`log_scale`), and all losses moved by a tiny `shift` (up for the
upper PLD, down for the lower), which gains shift * e^x Q(s > x) at a node. Each node uses the cheaper one: shifts cost
k * tilt * shift in the end, factors k * log_scale.
"""

import math
from dataclasses import replace
from typing import Any

import numpy as np

from .grids import GridPLD, Lines
from .intervals import Interval, U
from .onestep import FN, OneStep, StepTails
from .rounding import up
from .sums import suffix_decay_sums, suffix_sums
from .wide import exp_of, is_wide, widened

NEGLIGIBLE = 1e-290
_WIDE_NEGLIGIBLE = exp_of(-11250.0, wide=True)


def grid_curve(pld: GridPLD) -> tuple[np.ndarray, float]:
    """h of a grid PLD at its nodes without the infinite part, and a bound of its relative error.

    h(x_i) - h(x_{i+1}) = (1 - e^{-dx}) D_{i+1}: sums of non-negative terms only.
    """
    decay, relative = suffix_decay_sums(pld.masses, pld.grid.dx)
    curve, more = suffix_sums(-np.expm1(-pld.grid.dx) * np.append(decay[1:], 0.0))
    return curve, relative + more


def certify_upper(
    pld: GridPLD,
    step: OneStep,
    tails: StepTails,
    curve: Interval,
    tilt: float,
    spare: float = NEGLIGIBLE,
) -> GridPLD:
    """The grid PLD with the corrections that make it an upper bound.

    `tails` are those at the nodes and `curve` encloses h there; `tilt` weighs the two corrections. Where h is
    below `spare`, the mass at infinity covers it.
    """
    below = np.max(curve.hi, where=curve.hi < max(spare, negligible(pld.masses)), initial=0.0)
    infinity = max(pld.infinity, below)
    pld = replace(pld, masses=_usable(pld.masses), infinity=infinity)
    values, relative = grid_curve(pld)
    low = values * (1 - relative) + infinity * (1 - 2 * U)
    gain, reach = _mass_above(step, pld, tails.s.lo)
    lift = _lift(pld, curve.hi - low, _costs(curve.hi, low, gain, tilt), tilt)
    if lift.any():
        pld = replace(pld, masses=pld.masses + lift)
        values, relative = grid_curve(pld)
        low = values * (1 - relative) + infinity * (1 - 2 * U)
    total = float(np.sum(pld.masses) + infinity)
    while True:
        scale, shift = _cheapest(curve.hi, low, gain, tilt)
        too_far = (gain > 0) & (reach < shift)
        if not too_far.any():
            break
        gain = np.where(too_far, 0.0, gain)
    if not (math.isfinite(scale) and 0 < total < math.inf):  # all mass at infinity bounds everything
        return replace(pld, masses=np.zeros_like(pld.masses), infinity=1.0)
    # At x = 0 the total must reach 1. How far it exceeds 1 matters for the mass at infinity of the composition.
    excess = max(math.log(total), 0.0) + 64 * U
    return replace(pld, log_scale=max(scale, -math.log(total)) + 64 * U, shift=shift, log_excess=excess)


def negligible(masses: np.ndarray) -> Any:
    """The mass below which the type of `masses` loses digits."""
    return _WIDE_NEGLIGIBLE if is_wide(masses) else NEGLIGIBLE


def _lift(pld: GridPLD, lack: np.ndarray, costs: np.ndarray, tilt: float) -> np.ndarray:
    """Masses to add at the nodes right of those where h_grid lacks something, if the tilted sum hardly feels them.

    Where h falls by many orders of magnitude within a cell (a steep end of the support), its enclosure is wide, and a
    factor or a shift for its sake would cost all other nodes far more than a mass that nobody notices.
    """
    lift = np.zeros_like(pld.masses)
    need = np.nonzero(costs[:-1] > 0)[0]
    exponent = widened(tilt * pld.grid.nodes, is_wide(pld.masses))
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        peak = np.max(exponent, where=pld.masses > 0, initial=-math.inf)
        mgf = pld.masses @ np.exp(np.minimum(exponent - peak, 0.0))
        masses = lack[need] / -np.expm1(-pld.grid.dx) * (1 + 1e-9)
        share = masses / mgf * np.exp(exponent[need + 1] - peak)
        worth = (share + masses) * len(need) < costs[need]  # the total mass counts too
    lift[need[worth] + 1] = np.maximum(masses[worth], 0.0)
    return lift


def _usable(masses: np.ndarray) -> np.ndarray:
    """Masses >= 0 that their type holds with full relative accuracy; what else there may be becomes 0."""
    return np.where((masses > negligible(masses)) & (masses < np.inf), masses, 0.0)


def _mass_above(step: OneStep, pld: GridPLD, scaled: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lower bounds of e^{x_i} Q(s > x_i + reach_i), and the reaches, up to which they are what a shift gains.

    From S at the next node where that is a good part of S at the node itself, and from closer by where the tail falls
    fast; atoms count if they lie half a cell above the node.
    """
    grid = pld.grid
    index = np.arange(grid.first, grid.first + grid.size)
    gain = np.append(np.exp(-grid.dx) * scaled[1:], 0.0)
    reach = np.full(grid.size, grid.dx / 2)
    for part in (4, 32, 256, 2048, 2**16, 2**22, 2**30):
        steep = gain < 0.25 * scaled
        if not steep.any():
            break
        ahead = grid.dx * ((index[steep] + 1 / part) - index[steep])  # what `at` makes of it in float64
        gain[steep] = np.exp(-ahead) * step.continuous(grid.at(1 / part)[steep], close=False).s.lo
        reach[steep] = ahead * (1 - 1e-9)
    if step.sums is not None:
        gain = gain + step.sums.certainly_above(grid.nodes, grid.nodes + grid.dx / 2)
    return gain * (1 - 8 * U), reach


def certify_lower(pld: GridPLD, step: OneStep, lines: Lines, tilt: float, spare: float = NEGLIGIBLE) -> GridPLD:
    """The grid PLD, cut where its tail is unresolved or below `spare`, with the corrections that make it a lower bound.

    Cut at node c means no mass beyond it; there the constant line delta(inf) holds, so nodes beyond c (and c's right
    line) need no other.
    """
    (left, left_gain), (right, right_gain), most = line_limits(step, lines)
    infinite = float(step.infinity.hi)
    pld = replace(pld, masses=_usable(pld.masses), infinity=max(min(pld.infinity, float(step.infinity.lo)), 0.0))
    little = infinite + max(spare, negligible(pld.masses))
    unresolved = np.nonzero((right.lo < 0.5 * right.hi) | (right.hi < little))[0]
    cut = int(unresolved[0]) if len(unresolved) else len(pld.masses) - 1
    while cut >= 0 and most > 0:
        masses = pld.masses.copy()
        masses[cut + 1 :] = 0.0
        cut_pld = replace(pld, masses=masses)
        values, relative = grid_curve(cut_pld)
        high = np.where(values == 0, pld.infinity, up(values * (1 + relative) + pld.infinity))
        ends = slice(cut + 1), slice(cut)
        costs = [
            _cheapest(high[end], limit.lo[end], gain[end], tilt)
            for end, limit, gain in zip(ends, (left, right), (left_gain, right_gain), strict=True)
        ]
        scale, shift = max(c[0] for c in costs), max(c[1] for c in costs)
        total = float(np.sum(masses)) + pld.infinity
        if math.isfinite(scale) and math.isfinite(total):
            scale = max(scale, math.log(max(total / most, 1.0)) + 64 * U)
            return replace(cut_pld, log_scale=scale, shift=shift)
        cut = cut // 2 if cut else -1
    return replace(pld, masses=np.zeros_like(pld.masses))


def _cheapest(above, below, gain, tilt: float) -> tuple[float, float]:
    """(log_scale, shift) that make below >= above at each node, each node by the cheaper of the two; an infinite
    log_scale where neither does. What is no number needs everything."""
    need = ~(above <= below)
    if not need.any():
        return 0.0, 0.0
    by_scale, by_shift = _ways(above[need], below[need], gain[need])
    with np.errstate(over="ignore"):
        shifted = by_shift * max(tilt, 1.0) < by_scale
    scale = float(np.max(by_scale, where=~shifted, initial=0.0))
    shift = float(np.max(by_shift, where=shifted, initial=0.0))
    # 1 - e^{-t} >= shift for t = shift/(1 - shift)
    return (scale * (1 + 4 * U) + 4 * U if scale else 0.0), shift / (1 - shift)


def _ways(above, below, gain) -> tuple[np.ndarray, np.ndarray]:
    """What each node that needs it would need of a factor, and of a shift."""
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        by_scale = np.where(below > 0, np.log(above / np.where(below > 0, below, 1.0)), np.inf)
        by_scale = np.where(by_scale >= 0, by_scale, np.inf)
        by_shift = np.where(gain > 0, (above - below) / np.where(gain > 0, gain, 1.0) * (1 + 1e-9), np.inf)
        return by_scale, np.where(by_shift < 0.5, by_shift, np.inf)  # a line never exceeds its value at x = 0


def _costs(above, below, gain, tilt: float) -> np.ndarray:
    """What each node's own correction costs a tilted step; 0 where none is needed."""
    by_scale, by_shift = _ways(above, below, gain)
    with np.errstate(over="ignore"):
        return np.where(above <= below, 0.0, np.minimum(by_scale, by_shift * max(tilt, 1.0)))


def line_limits(step: OneStep, lines: Lines):
    """For each node the lines of the cells on its left and on its right: (value there, e^x times the line's Q-mass);
    and the value at x = 0 of the line left of the grid, which the total mass must not exceed. Right of the grid the
    line is delta(inf).
    """
    own, after = lines.values(step)
    grid = lines.grid
    nodes = grid.at()
    q_above = lines.q_above(step)
    if lines.drops_below:
        start, start_gain, most = own[:1], q_above[0][:1], lines.first(step)[1]
    else:
        everything = FN.exp(nodes[:1]) * step.q_mass
        start, start_gain, most = 1 - everything, everything.lo, 1.0
    infinite = step.infinity
    left = Interval(np.append(start.lo, after.lo), np.append(start.hi, after.hi))
    right = Interval(np.append(own.lo, infinite.lo), np.append(own.hi, infinite.hi))
    left_gain = np.append(start_gain, q_above[1]) * (1 - 8 * U)
    right_gain = np.append(q_above[0], 0.0) * (1 - 8 * U)
    return (left, left_gain), (right, right_gain), most
