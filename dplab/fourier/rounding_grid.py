"""Rounding grid PLDs [Koskela et al. 2021, Lemma 5]: every loss moves to a node, left (lower) or right (upper).

upper: (x_{i-1}, x_i] goes to x_i, what lies below the grid to x_0, what lies above it to infinity.
lower: [x_i, x_{i+1}) goes to x_i, what lies above the grid to its last node, what lies below it is dropped.

Moving losses up raises h everywhere, so h^L <= h <= h^R, also after composition; the error is O(k dx). Rounded to
the right, h_grid lies above h at every node; rounded to the left, on each cell it lies below the line of the test set
{s >= right end}. Both are what `certificate` checks.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from .aligned import aligned_pld
from .certificate import certify_lower, certify_upper
from .grids import Grid, GridPLD, Lines
from .intervals import Interval
from .onestep import OneStep

Cells = Callable[[OneStep, Grid, np.ndarray, int], np.ndarray]
"""Masses of the continuous part in each cell, of the upper (sign +1) or lower (-1) side, from P(s > x) at the nodes."""


def exact_cells(step: OneStep, grid: Grid, above: np.ndarray, sign: int) -> np.ndarray:
    """The P-mass of the continuous part in each cell."""
    return np.maximum(above[:-1] - above[1:], 0.0)


def moved_masses(
    step: OneStep, grid: Grid, above: np.ndarray, sign: int, cells: Cells = exact_cells, near: float = -1.0
) -> tuple[np.ndarray, float]:
    """Masses with every cell's at its right (sign +1) or left (-1) end, and the mass at infinity.

    `above` is P(s > x) of the continuous part at the nodes. An atom within `near` cells of a node is taken
    to lie on it; a bound cannot afford that (hence -1).
    """
    masses, infinity = np.zeros(grid.size), float(step.infinity.hi if sign > 0 else step.infinity.lo)
    inner = cells(step, grid, above, sign)
    if sign > 0:
        masses[1:] = inner
        masses[0] = max(float(step.below(grid.at()[:1]).mid[0]), 0.0)
        infinity += float(above[-1])
    else:
        masses[:-1] = inner
        masses[-1] = above[-1]
    if len(step.columns):
        nodes, mass = _moved_atoms(grid, step.columns.loss, sign, near), step.columns.p
        kept = nodes < grid.size if sign > 0 else nodes >= 0
        np.add.at(masses, np.clip(nodes[kept], 0, grid.size - 1), mass.mid[kept])
        infinity += float(mass.hi[~kept].sum()) + step.unlisted if sign > 0 else 0.0
    return masses, min(infinity, 1.0)


def _moved_atoms(grid: Grid, loss: Interval, sign: int, near: float) -> np.ndarray:
    """The nodes certainly not below (sign +1) or not above (-1) the atoms: the nearest, or the next one."""
    place = (loss.mid - grid.offset) / grid.dx
    nearest = np.round(np.clip(place, grid.first - 2.0, grid.first + grid.size + 1.0))
    at = Interval.exactly(nearest) * grid.dx + grid.offset
    misses = at.lo < loss.hi if sign > 0 else at.hi > loss.lo
    return nearest.astype(int) - grid.first + sign * (misses & (np.abs(place - nearest) > near))


def moved_upper(step: OneStep, grid: Grid, tilt: float, spare: float, cells: Cells = exact_cells) -> GridPLD:
    """The certified grid PLD with every cell's mass at its right end; the exact one on a lattice of losses."""
    exact = aligned_pld(step, grid, +1)
    if exact is not None:
        return exact
    nodes = grid.at()
    tails = step.continuous(nodes)
    masses, infinity = moved_masses(step, grid, tails.p.mid, +1, cells)
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows, the certificate sees
        return certify_upper(GridPLD(grid, masses, infinity), step, tails, step.curve(nodes, tails), tilt, spare)


def moved_lower(step: OneStep, grid: Grid, tilt: float, spare: float, cells: Cells = exact_cells) -> GridPLD:
    """The certified grid PLD with every cell's mass at its left end; the exact one on a lattice of losses.

    Its grid has one more node on the left, without mass, so that the line left of x_0 is a cell's line too.
    """
    exact = aligned_pld(step, grid, -1)
    if exact is not None:
        return exact
    tails = step.continuous(grid.at())
    masses, infinity = moved_masses(step, grid, tails.p.mid, -1, cells)
    longer = replace(grid, first=grid.first - 1, size=grid.size + 1)
    lines = Lines(longer, np.ones(grid.size), tails, drops_below=True)
    with np.errstate(over="ignore", invalid="ignore"):
        made = GridPLD(longer, np.append(0.0, masses), infinity)
        return certify_lower(made, step, lines, tilt, spare)
