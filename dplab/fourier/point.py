"""Point masses omega(x_i) dx [Koskela, Jälkö, Honkela 2020]: no bound, so what comes of it is an `Approximation`.

It is the trapezoid rule on the grid: good for smooth densities, of first order where omega jumps or has atoms (they
move to the nearest node).
"""

import numpy as np

from .grids import Grid, GridPLD
from .intervals import Interval
from .onestep import FN, OneStep


def point_masses(step: OneStep, grid: Grid) -> tuple[np.ndarray, float]:
    """omega(x_i) dx at the nodes, atoms at the nearest node, and the mass at infinity."""
    return sampled_density(step, grid) + nearest_atoms(step, grid), float(step.infinity.mid)


def sampled_density(step: OneStep, grid: Grid) -> np.ndarray:
    """omega(x_i) dx at the nodes."""
    masses, nodes = np.zeros(grid.size), grid.nodes
    if step.support is not None:
        inside = (nodes > float(step.support[0].mid)) & (nodes < float(step.support[1].mid))
        with np.errstate(over="ignore", invalid="ignore", divide="ignore", under="ignore"):
            density = np.broadcast_to(step.pld.density(FN, Interval.exactly(nodes[inside])).mid, inside.sum())
        masses[inside] = np.where(np.isfinite(density), density, 0.0) * grid.dx
    return masses


def nearest_atoms(step: OneStep, grid: Grid) -> np.ndarray:
    """Atoms at the node nearest to them."""
    masses = np.zeros(grid.size)
    if len(step.columns):
        place = np.round((step.columns.loss.mid - grid.offset) / grid.dx) - grid.first
        np.add.at(masses, np.clip(place, 0, grid.size - 1).astype(int), step.columns.p.mid)
    return masses


def point_grid_pld(step: OneStep, grid: Grid, tilt: float, spare: float) -> GridPLD:
    """The grid PLD of point masses, which bounds nothing."""
    masses, infinity = point_masses(step, grid)
    return GridPLD(grid, masses, infinity)
