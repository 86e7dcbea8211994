"""Several curves against one variable, on a plain or a logarithmic axis, with a dot on each where one now is."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from .scale import decades, log10, log_axis, power_label
from .style import BLUE, GREEN, LINE, ORANGE, PURPLE, SKY, VERMILLION, legend, name_axes
from .words import in_words, short, span

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LOOKS = [
    (BLUE, "-"),
    (VERMILLION, (0, (5, 3))),
    (GREEN, (0, (1, 1.6))),
    (PURPLE, (0, (6, 2, 1, 2))),
    (ORANGE, (0, (3, 1.5))),
    (SKY, (0, (8, 2))),
]
"""Colour and dashes of the first, second ... curve of a picture."""

Points = Sequence[tuple[float, float]]


def draw_lines(
    ax: "Axes",
    series: Mapping[str, Points],
    *,
    x: str,
    y: str,
    title: str = "",
    at: float | None = None,
    log_x: bool = False,
    log_y: bool = True,
    limits: tuple[float, float] | None = None,
    place: str = "best",
) -> str:
    """Draw curves y(x); returns the describing sentence.

    series: label -> (x, y) points, in increasing x; `x` and `y` name the axes, y unless there is a title. On a
    logarithmic axis what is 0 or negative lies below the picture.
    at: an x to be marked, on every curve by a dot. limits: the ends of the y axis, in its own values; without them, the
    curves'. place: where the legend stands.

    >>> from dplab.plots import new_figure
    >>> figure, (ax,) = new_figure()
    >>> draw_lines(ax, {"a": [(1, 1e-3), (2, 1e-6)]}, x="lambda", y="bound")
    'bound against lambda, from 1 to 2. a: from 0.001 to 1e-6.'
    """
    across = log10 if log_x else float
    up = log10 if log_y else float
    low, high = _limits(series, log_y, limits)
    said = []
    for (label, points), (colour, dash) in zip(series.items(), LOOKS * len(series), strict=False):
        xs = [across(value) for value, _ in points]
        ys = [_inside(up(value), low, high) for _, value in points]
        ax.plot(xs, ys, color=colour, linestyle=dash, linewidth=LINE, label=label)
        if at is not None:
            marked = min(points, key=lambda point: abs(across(point[0]) - across(at)))
            ax.plot([across(marked[0])], [_inside(up(marked[1]), low, high)], "o", color=colour, markersize=8)
            said.append(f"{label} {short(marked[1])}")
        else:
            said.append(f"{label}: {span(points[0][1], points[-1][1])}")
    if at is not None:
        ax.axvline(across(at), color="#6b6b6b", linewidth=1, linestyle=(0, (2, 2)), zorder=0)
    _dress(ax, series, low, high, log_x, log_y)
    name_axes(ax, x, title or y)
    legend(ax, loc=place)
    everywhere = [value for points in series.values() for value, _ in points]
    start = f"{y} against {x}, {span(min(everywhere), max(everywhere))}."
    if at is not None:
        return f"{start} At {short(at)}: {in_words(said)}."
    return f"{start} {'; '.join(said)}."


def _limits(series: Mapping[str, Points], log_y: bool, limits: tuple[float, float] | None) -> tuple[float, float]:
    up = log10 if log_y else float
    if limits is not None:
        return up(limits[0]), up(limits[1])
    values = [up(value) for points in series.values() for _, value in points]
    finite = [value for value in values if math.isfinite(value)] or [0.0]
    low, high = min(finite), max(finite)
    room = 0.06 * (high - low) or 1.0
    return low - room, high + room


def _inside(value: float, low: float, high: float) -> float:
    """A point far outside, as a neighbour of the picture: matplotlib is slow and inexact with 1e5 times its size."""
    if math.isnan(value):
        return low - (high - low)
    return min(max(value, low - (high - low)), high + (high - low))


def _dress(ax: "Axes", series: Mapping[str, Points], low: float, high: float, log_x: bool, log_y: bool) -> None:
    if log_x:
        ends = [log10(value) for points in series.values() for value, _ in points]
        ticks = decades(min(ends), max(ends))
        ax.set_xticks(ticks, [power_label(tick) for tick in ticks])
    if log_y:
        log_axis(ax, low, high)
    else:
        ax.set_ylim(low, high)
