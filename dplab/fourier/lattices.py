"""Losses on a lattice offset + j spacing, in float64: which atom sits on which point."""

import math
from dataclasses import dataclass

import numpy as np

from .columns import Columns
from .intervals import Interval

_CLOSE = 1e-6
"""Losses must lie this close to their lattice point, in units of the spacing, to be taken to be on it."""


@dataclass(frozen=True)
class Lattice:
    """offset + j spacing as floats, and the j of each atom (of columns in increasing order)."""

    offset: float
    spacing: float
    index: np.ndarray

    @property
    def first(self) -> int:
        """The least j."""
        return int(self.index[0])

    @property
    def last(self) -> int:
        """The largest j."""
        return int(self.index[-1])


def lattice_of(columns: Columns, stated: tuple[Interval, Interval] | None) -> Lattice | None:
    """The lattice that the mechanism states, or that of two atoms; None if there is none.

    The offset is moved to the heaviest atom, so that multiples of the spacing stay small where the mass is.
    """
    losses = columns.loss.mid
    if stated is None:
        if len(columns) > 2:
            return None
        spacing = float(losses[-1] - losses[0]) if len(columns) == 2 else 1.0
    else:
        spacing = float(stated[1].mid)
    heaviest = int(np.argmax(columns.p.mid))
    offset = float(losses[heaviest])
    if not (np.isfinite(spacing) and spacing > 0):
        return None
    index = np.rint((losses - offset) / spacing)
    if np.max(np.abs(losses - offset - index * spacing)) > _CLOSE * spacing or np.max(np.abs(index)) > 2**40:
        return None
    return Lattice(offset, spacing, index.astype(np.int64))


def common_spacing(spacings: list[float], most: int = 1000) -> float | None:
    """The spacing of which all are whole multiples up to `most`, to a few ulps; None if there is none.

    >>> common_spacing([0.2, 0.3])
    0.1
    """
    if not spacings:
        return math.inf
    least = min(spacings)
    for parts in range(1, most + 1):
        unit = least / parts
        ratios = np.array(spacings) / unit
        if np.all(np.abs(ratios - np.rint(ratios)) < 1e-12 * ratios) and ratios.max() <= most * parts:
            return unit
    return None
