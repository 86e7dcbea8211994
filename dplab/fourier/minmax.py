"""The min/max grid PLD for continuous losses [Koskela et al. 2021, section 6.3]: cell width times min or max of omega.

upper (c+): dx max omega over (x_{i-1}, x_i] goes to x_i; the total then exceeds 1.
lower (c-): dx min omega over [x_i, x_{i+1}) goes to x_i.
Both are rounded grids (`rounding_grid`) with more, or less, mass in every cell, so they bound h where those do; the
error is O(k dx). Atoms, and what lies outside the grid, move as there. A cell that the support covers in part counts
with that part; one in which omega has no known bound counts with its mass.
"""

import numpy as np

from .extremes import density_extremes
from .grids import Grid, GridPLD
from .intervals import Interval
from .onestep import FN, OneStep
from .rounding import down, up
from .rounding_grid import exact_cells, moved_lower, moved_upper

_SPIKE = 10.0


def extreme_cells(step: OneStep, grid: Grid, above: np.ndarray, sign: int) -> np.ndarray:
    """An upper (sign +1) or a lower (-1) bound of the mass of the continuous part in each cell: width times max or
    min of omega."""
    cells = exact_cells(step, grid, above, sign)
    if step.support is None:
        return cells
    lower, upper = step.support
    nodes = grid.at()
    left, right = Interval(nodes.lo[:-1], nodes.hi[:-1]), Interval(nodes.lo[1:], nodes.hi[1:])
    if sign > 0:
        start, end = np.maximum(left.lo, lower.lo), np.minimum(right.hi, upper.hi)
    else:
        start, end = np.maximum(left.hi, lower.hi), np.minimum(right.lo, upper.lo)
    inside = np.nonzero(start < end)[0]
    masses = np.zeros(grid.size - 1)
    start, end = start[inside], end[inside]
    found = density_extremes(step.pld, start, end)
    if sign > 0:
        most = up(up(end - start) * found.greatest)
        masses[inside] = np.where(np.isfinite(most), most, cells[inside])
    else:
        masses[inside] = np.maximum(down(down(end - start) * found.least), 0.0)
    return masses


def roughness(step: OneStep, losses: np.ndarray, tilt: float) -> float:
    """About the total variation of omega under the tilt, relative to its tilted mass: what min and max of the cells
    miss, per dx. For planning only."""
    if step.support is None or len(losses) < 2:
        return 0.0
    points = np.unique(np.concatenate([losses, 0.5 * (losses[:-1] + losses[1:])]))
    low, high = float(step.support[0].hi), float(step.support[1].lo)
    points = points[(points > low) & (points < high)]
    with np.errstate(over="ignore", invalid="ignore", divide="ignore", under="ignore"):
        density = np.broadcast_to(step.pld.density(FN, Interval.exactly(points)).mid, points.shape)
        density = np.where(np.isfinite(density), density, 0.0)
        weight = np.exp(tilt * (points - points.max()))
    tilted = density * weight
    masses = tilted * np.gradient(points) if len(points) > 1 else np.zeros(1)
    mass = float(masses.sum())
    if not mass > 0:
        return 0.0
    order = np.argsort(tilted)
    typical = tilted[order][np.searchsorted(np.cumsum(masses[order]), 0.5 * mass)]  # half the mass has a lower density
    bounded = np.minimum(tilted, _SPIKE * typical)  # a spike or pole is cheaper met by a finer second try
    return float(np.abs(np.diff(bounded, prepend=0.0, append=0.0)).sum()) / mass


def minmax_upper(step: OneStep, grid: Grid, tilt: float, spare: float) -> GridPLD:
    """The certified c+."""
    return moved_upper(step, grid, tilt, spare, extreme_cells)


def minmax_lower(step: OneStep, grid: Grid, tilt: float, spare: float) -> GridPLD:
    """The certified c-."""
    return moved_lower(step, grid, tilt, spare, extreme_cells)
