"""Grid PLDs of losses on a lattice with which the grid is aligned: no grid error, only rounding.

Every atom goes to its own node. What remains between the two, a few ulps, is bounded atom by atom and becomes the grid
PLD's `shift`; masses are rounded outwards. Atoms beyond the grid: above it their mass goes to infinity (upper) or is
left out (lower), below it to the first node (upper) or is left out.
"""

import math

import numpy as np

from .certificate import NEGLIGIBLE
from .columns import added
from .grids import Grid, GridPLD
from .intervals import Interval, U
from .onestep import OneStep

_CLOSE = 1e-7
"""Nodes and atoms may be this far apart, in units of dx, for the grid to count as aligned."""


def aligned_pld(step: OneStep, grid: Grid, sign: int) -> GridPLD | None:
    """The upper (sign = +1) or lower (-1) grid PLD, or None if the atoms are not on the nodes."""
    nodes = node_indices(step, grid)
    if nodes is None:
        return None
    inside = (nodes >= grid.first) & (nodes < grid.first + grid.size)
    index, atoms = nodes[inside], step.columns[inside]
    at = Interval.exactly(index.astype(float)) * grid.dx + grid.offset
    apart = atoms.loss - at
    off = max(float(np.max(sign * (apart.hi if sign > 0 else apart.lo), initial=0.0)), 0.0)
    if off > _CLOSE * grid.dx:
        return None
    masses = np.zeros(grid.size)
    masses[index - grid.first] = atoms.p.hi if sign > 0 else atoms.p.lo
    tiny = masses < NEGLIGIBLE  # float64 does not hold them with full relative accuracy
    lost = float(masses[tiny].sum()) * (1 + grid.size * U) if sign > 0 else 0.0
    masses[tiny] = 0.0
    if sign < 0:
        return GridPLD(grid, masses, max(float(step.infinity.lo), 0.0), shift=off)
    above, below = (
        float(added(step.columns.p[side]).hi) for side in (nodes >= grid.first + grid.size, nodes < grid.first)
    )
    masses[0] += below
    infinity = (float(step.infinity.hi) + above + lost + step.unlisted) * (1 + 8 * U)
    total = (float(masses.sum()) + infinity) * (1 + (grid.size + 4) * U)
    return GridPLD(grid, masses, infinity, shift=off, log_excess=max(math.log(total), 0.0) + 4 * U)


def node_indices(step: OneStep, grid: Grid) -> np.ndarray | None:
    """The node of each atom, counted from the grid's offset; None unless the grid starts on the lattice and divides
    its spacing."""
    lattice = step.lattice
    if lattice is None or grid.offset != lattice.offset:
        return None
    cells = round(lattice.spacing / grid.dx) if len(step.columns) > 1 else 1
    if cells < 1 or (abs(lattice.spacing / grid.dx - cells) > 1e-9 * cells and len(step.columns) > 1):
        return None
    return lattice.index * cells
