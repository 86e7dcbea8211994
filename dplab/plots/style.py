"""The picture vocabulary: what each route looks like, everywhere, and how an Axes is dressed.

Okabe-Ito colours, and for every route a dash pattern and a marker of its own, so that a grey print and a
colour-blind eye can still tell the routes apart. Sizes are for the back row of a lecture hall.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
YELLOW, BLUE, VERMILLION, PURPLE = "#F0E442", "#0072B2", "#D55E00", "#CC79A7"
GREY = "#6b6b6b"

TEXT, LABEL, TICK = 13, 14, 12.5
LINE = 2.2

SERIES = (
    (BLUE, "-", "o"),
    (VERMILLION, (0, (5, 3)), "^"),
    (GREEN, (0, (1, 1.6)), "s"),
    (PURPLE, (0, (6, 2, 1, 2)), "D"),
    (BLACK, (0, (3, 1)), "v"),
)
"""Colour, dash and marker of lines that stand for no route, in this order."""


@dataclass(frozen=True)
class RouteStyle:
    """How one route is drawn: its label in a legend, colour, dash pattern (matplotlib's linestyle) and marker."""

    label: str
    colour: str
    dash: Any
    marker: str

    @property
    def line(self) -> dict:
        """Keywords for `Axes.plot` as a line."""
        return {"color": self.colour, "linestyle": self.dash, "linewidth": LINE}

    @property
    def points(self) -> dict:
        """Keywords for `Axes.plot` as hollow markers, joined by a line where the route has one."""
        return {
            **self.line,
            "marker": self.marker,
            "markersize": 12 if self.marker == "D" else 8,  # a closed form and its reference share their points
            "markerfacecolor": "none",
            "markeredgewidth": 2,
        }


ROUTES: dict[str, RouteStyle] = {
    "symbolic": RouteStyle("closed form", PURPLE, (0, (6, 2, 1, 2)), "D"),
    "reference": RouteStyle("reference", BLACK, "-", "o"),
    "fourier": RouteStyle("FFT bracket", BLUE, "-", "s"),
    "clt": RouteStyle("CLT (no bound)", VERMILLION, (0, (5, 3)), "^"),
    "bounds": RouteStyle("composition theorem, RDP", GREEN, (0, (1, 1.6)), "v"),
    "peer": RouteStyle("other accountant", ORANGE, (0, (3, 1.5, 1, 1.5, 1, 1.5)), "X"),
}
"""The routes of dplab (and other accountants), in the order of a legend."""

_OTHERS = [
    (GREY, (0, (2, 2)), "P"),
    (SKY, (0, (4, 1.5, 1, 1.5)), "*"),
    (GREEN, (0, (7, 2)), "h"),
    (GREY, (0, (1, 3)), "d"),
]


def route_style(route: str, place: int = 0) -> RouteStyle:
    """The style of a route; an unknown one keeps its name as label, and looks like no route of dplab's.

    place: which of the neutral looks, for several unknown names in one picture.
    """
    colour, dash, marker = _OTHERS[place % len(_OTHERS)]
    return ROUTES.get(route) or RouteStyle(route, colour, dash, marker)


def route_styles(routes: Iterable[str]) -> dict[str, RouteStyle]:
    """The styles of several routes in one picture, all different.

    >>> [style.marker for style in route_styles(["clt", "mine", "yours"]).values()]
    ['^', 'P', '*']
    """
    names = list(routes)
    unknown = [name for name in names if name not in ROUTES]
    return {name: route_style(name, unknown.index(name) if name in unknown else 0) for name in names}


def new_figure(columns: int = 1, width: float = 8.6, height: float = 4.6) -> "tuple[Figure, list[Axes]]":
    """A figure with `columns` dressed axes side by side (inches; no pyplot, so nothing global to close)."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), facecolor="white")
    return figure, dress(figure, columns)


def dress(figure: "Figure", columns: int = 1, *, keep: bool = False) -> "list[Axes]":
    """Clear a figure and give it `columns` dressed axes; margins are fixed, which is faster than a layout engine.

    keep: leave the axes of the last time and remove what was drawn on them, which saves making all ticks anew; only
    where the same plot functions will draw on them again.
    """
    width, height = figure.get_size_inches()
    kept = _without_twins(figure) if keep else []
    if len(kept) != columns:
        figure.clear()
    figure.subplots_adjust(
        left=0.95 / width,
        right=1 - 0.25 / width,
        bottom=0.72 / height,
        top=1 - 0.5 / height,
        wspace=1.1 * columns / (width - 1.1),
    )
    if len(kept) == columns:
        return [_wiped(ax) for ax in kept]
    axes = [figure.add_subplot(1, columns, column + 1) for column in range(columns)]
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
        ax.locator_params(nbins=6)
        ax.tick_params(labelsize=TICK, length=4, color=GREY)
        ax.grid(True, color="#dddddd", linewidth=0.8)
        ax.set_axisbelow(True)
        ax.margins(x=0.03)
    return axes


def _without_twins(figure: "Figure") -> "list[Axes]":
    """One axes for each place in the figure; a second one in the same place (another scale) is removed."""
    first: dict = {}
    for ax in list(figure.axes):
        place = str(ax.get_subplotspec())
        if place in first:
            ax.remove()
        else:
            first[place] = ax
    return list(first.values())


def _wiped(ax: "Axes") -> "Axes":
    from matplotlib.ticker import AutoLocator, FixedLocator, ScalarFormatter

    ax.containers.clear()  # a legend would list bars that are gone
    for artist in [*ax.lines, *ax.collections, *ax.patches, *ax.texts, ax.get_legend()]:
        if artist is not None:
            artist.remove()
    for axis in (ax.xaxis, ax.yaxis):
        if isinstance(axis.get_major_locator(), FixedLocator):  # the names of outcomes, say
            axis.set_major_locator(AutoLocator())
            axis.set_major_formatter(ScalarFormatter())
            axis.get_major_locator().set_params(nbins=6)
    ax.relim()
    ax.autoscale(True)
    return ax


def name_axes(ax: "Axes", x: str, y: str, title: str = "") -> None:
    """Label the axes; the y label stands upright above the axis, where it is read without tilting the head."""
    ax.set_xlabel(x, fontsize=LABEL)
    ax.set_title(title or y, fontsize=LABEL, loc="left", pad=10)


def legend(ax: "Axes", **keywords) -> None:
    """A plain legend, if there is anything to name."""
    handles, labels = ax.get_legend_handles_labels()
    if handles:
        box = ax.legend(handles, labels, fontsize=TEXT, frameon=True, handlelength=2.8, borderpad=0.4, **keywords)
        box.get_frame().set(edgecolor="none", facecolor="white", alpha=0.85)
