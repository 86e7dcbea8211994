"""Split and merge, certified: the default grid, of second order on both sides."""

import numpy as np

from .aligned import aligned_pld
from .certificate import certify_lower, certify_upper
from .grids import Grid, GridPLD, merge, split, supporting_lines
from .onestep import OneStep


def split_masses(step: OneStep, grid: Grid) -> GridPLD:
    """The split grid PLD, not certified."""
    nodes = grid.at()
    tails = step.continuous(nodes)
    return split(step, grid, tails, step.curve(nodes, tails))


def upper_grid_pld(step: OneStep, grid: Grid, tilt: float, spare: float) -> GridPLD:
    """The certified split grid PLD; the exact one if the grid is aligned with a lattice of losses."""
    exact = aligned_pld(step, grid, +1)
    if exact is not None:
        return exact
    nodes = grid.at()
    tails = step.on_lattice(grid)
    curve = step.curve(nodes, tails)
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows, the certificate sees
        return certify_upper(split(step, grid, tails, curve), step, tails, curve, tilt, spare)


def lower_grid_pld(step: OneStep, grid: Grid, tilt: float, spare: float) -> GridPLD:
    """The certified merge grid PLD; the exact one if the grid is aligned with a lattice of losses."""
    exact = aligned_pld(step, grid, -1)
    if exact is not None:
        return exact
    lines = supporting_lines(step, grid)
    with np.errstate(over="ignore", invalid="ignore"):
        return certify_lower(merge(step, lines), step, lines, tilt, spare)
