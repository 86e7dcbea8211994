"""The grids by name: how a PLD becomes a grid PLD, on which side it bounds, and how fast the error falls with dx."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..core.errors import ParameterError
from .grids import Grid, GridPLD
from .minmax import minmax_lower, minmax_upper, roughness
from .onestep import OneStep
from .point import point_grid_pld
from .rounding_grid import moved_lower, moved_upper
from .split_merge import lower_grid_pld, upper_grid_pld

Maker = Callable[[OneStep, Grid, float, float], GridPLD]
"""(one release, grid, tilt, spare) -> grid PLD; `tilt` weighs its corrections, h below `spare` need not be resolved."""


@dataclass(frozen=True)
class NamedGrid:
    """One way of putting a PLD on a grid: `order` of the error in dx on smooth losses, `reason` why it is a bound.

    `strict` is False where nothing is bounded and the answer is an `Approximation`. `roughness` estimates, from some
    losses and the tilt, what a cell loses besides moving by dx, per dx.
    """

    name: str
    upper: Maker
    lower: Maker
    order: int
    reason: str
    strict: bool = True
    roughness: Callable[[OneStep, np.ndarray, float], float] | None = None


GRIDS = {
    grid.name: grid
    for grid in (
        NamedGrid(
            "split-merge",
            upper_grid_pld,
            lower_grid_pld,
            2,
            "split above and merge below the PLD, second order in dx (Doroshenko et al. 2022 for the upper side)",
        ),
        NamedGrid(
            "round",
            moved_upper,
            moved_lower,
            1,
            "every loss rounded to a node, right above, left below, first order in dx (Koskela et al. 2021, Lemma 5)",
        ),
        NamedGrid(
            "minmax",
            minmax_upper,
            minmax_lower,
            1,
            "dx times max and min of omega on each cell, first order in dx (Koskela et al. 2021, section 6.3)",
            roughness=roughness,
        ),
        NamedGrid(
            "point",
            point_grid_pld,
            point_grid_pld,
            2,
            "omega(x_i) dx (Koskela, Jälkö, Honkela 2020)",
            strict=False,
        ),
    )
}
DEFAULT_GRID = "split-merge"


def named_grid(name: object) -> NamedGrid:
    """The grid of that name.

    Raises ParameterError for an unknown one.
    """
    if not isinstance(name, str) or name not in GRIDS:
        raise ParameterError("grid", name, "one of " + ", ".join(f'"{known}"' for known in GRIDS))
    return GRIDS[name]
