"""The parts of an error budget on a logarithmic ladder: what a stacked bar is too coarse to show."""

import math
from typing import TYPE_CHECKING

from ..core.budget import ErrorBudget
from ..core.stacked import part_looks
from .scale import decades, log10, power_label
from .style import BLACK, LABEL, name_axes
from .words import short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LEAST = -30.0


def draw_parts(ax: "Axes", budget: ErrorBudget, *, title: str = "") -> str:
    """Draw one bar for each part, from 1e-30 to its size; returns the describing sentence.

    Parts that are 0 (or smaller than that) have no bar.

    >>> from dplab.core.budget import Part
    >>> from dplab.plots import new_figure
    >>> figure, (ax,) = new_figure()
    >>> draw_parts(ax, ErrorBudget((Part("grid", 3e-4, ""), Part("tail", 0.0, "")), {}))
    'Parts of a width of 3e-4, by size: grid 3e-4, tail 0.'
    """
    parts = list(budget)
    high = max([log10(part.size) for part in parts if 0 < part.size < math.inf] or [0.0])
    high = max(high, 0.0) + 0.5
    for place, (part, look) in enumerate(zip(parts, part_looks([p.name for p in parts]).values(), strict=True)):
        size = min(log10(part.size), high) if part.size > 0 else _LEAST
        if size > _LEAST:
            ax.barh(place, size - _LEAST, 0.62, left=_LEAST, color=look[0], hatch=look[1], edgecolor="white")
        at = max(size, _LEAST) + 0.4
        inside = at > high - 7
        ax.text(
            at - (0.8 if inside else 0), place, short(part.size, 2), va="center", ha="right" if inside else "left",
            fontsize=LABEL - 1, color=BLACK, bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5},
        )  # fmt: skip
    ax.set_yticks(range(len(parts)), [part.name for part in parts], fontsize=LABEL - 1)
    ax.set_ylim(len(parts) - 0.5, -0.5)
    ax.grid(False, axis="y")
    ax.tick_params(axis="y", length=0)
    ax.set_xlim(_LEAST, high)
    ticks = decades(_LEAST, high, 6)
    ax.set_xticks(ticks, [power_label(tick) for tick in ticks])
    name_axes(ax, "size", title or f"upper − lower = {short(budget.total)}, part by part")
    listed = ", ".join(f"{part.name} {short(part.size, 2)}" for part in parts)
    return f"Parts of a width of {short(budget.total)}, by size: {listed}."
