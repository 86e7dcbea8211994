"""The error budget as a stacked bar: what the width of a bracket is made of."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..core.budget import ErrorBudget
from ..core.stacked import part_looks
from .style import TEXT, name_axes
from .words import in_words, percent, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_budget(ax: "Axes", budgets: ErrorBudget | Mapping[str, ErrorBudget], *, title: str = "") -> str:
    """Draw one stacked bar per budget, each scaled to 100 % of its own width; returns the describing sentence.

    The legend gives the sizes of the first budget, so that a part too thin to be seen can still be read. Colours come
    with hatching: the order of the parts survives a grey print.

    >>> from dplab.core.budget import ErrorBudget, Part
    >>> from dplab.plots import new_figure
    >>> figure, (ax,) = new_figure()
    >>> draw_budget(ax, ErrorBudget((Part("grid", 3e-4, ""), Part("rounding", 1e-4, "")), {}))
    'Error budget: width 4e-4, of which grid 75 % and rounding 25 %.'
    """
    named = {"": budgets} if isinstance(budgets, ErrorBudget) else dict(budgets)
    parts = list(dict.fromkeys(part.name for budget in named.values() for part in budget))
    starts = dict.fromkeys(named, 0.0)
    for part, (colour, hatch) in part_looks(parts).items():
        for row, (name, budget) in enumerate(named.items()):
            share = max(_sizes(budget).get(part, 0.0), 0.0) / (_positive(budget) or 1.0)
            label = _label(part, next(iter(named.values())), len(named) > 1) if row == 0 else None
            ax.barh(
                row,
                100 * share,
                0.6,
                left=100 * starts[name],
                color=colour,
                hatch=hatch,
                edgecolor="white",
                linewidth=0.8,
                label=label,
            )
            starts[name] += share
    ax.set_yticks(range(len(named)), list(named))
    ax.invert_yaxis()
    ax.grid(False, axis="y")
    ax.set_xlim(0, 100)
    name_axes(ax, "share of upper − lower (%)", title or "what the bracket's width is made of")
    ax.tick_params(axis="y", length=0)
    _make_room(ax, max(len(name) for name in named), len(parts))
    return "Error budget: " + "; ".join(_described(name, budget) for name, budget in named.items()) + "."


def _make_room(ax: "Axes", longest: int, parts: int) -> None:
    """Margins for the names at the left and a legend in two columns below."""
    width, height = ax.figure.get_size_inches()
    below = (0.8 + 0.26 * ((parts + 1) // 2)) / height
    ax.figure.subplots_adjust(left=max(0.95, 0.3 + 0.105 * longest) / width, bottom=below)
    ax.figure.legend(
        loc="lower center", bbox_to_anchor=(0.5, 0.0), ncols=2, fontsize=TEXT, frameon=False, handlelength=2.2
    )


def _sizes(budget: ErrorBudget) -> dict[str, float]:
    if any(part.size == math.inf for part in budget):  # beside those nothing else is anything
        return {part.name: float(part.size == math.inf) for part in budget}
    return {part.name: part.size for part in budget}


def _positive(budget: ErrorBudget) -> float:
    """The sum of what widens the bracket; a part may also narrow it (two directions, clipping)."""
    return sum(size for size in _sizes(budget).values() if size > 0)


def _label(part: str, budget: ErrorBudget, several: bool) -> str:
    return part if several else f"{part}: {short(sum(p.size for p in budget if p.name == part), 2)}"


def _described(name: str, budget: ErrorBudget) -> str:
    start = f"{name}, width" if name else "width"
    if not budget.total:
        return f"{start} 0"
    total = _positive(budget)
    sizes = _sizes(budget).items()
    shares = in_words(f"{part} {percent(size / total)}" for part, size in sizes if size > 1e-4 * total)
    return f"{start} {short(budget.total)}, of which {shares}"
