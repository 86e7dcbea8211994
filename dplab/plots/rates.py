"""How fast an error shrinks with the number of steps: a log-log picture with the fitted slopes."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from .scale import decades, log10, log_axis, power_label
from .style import LINE, SERIES, legend, name_axes
from .words import in_words, span

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def slope(points: Sequence[tuple[float, float]]) -> float:
    """The least-squares slope of log(error) against log(k).

    >>> slope([(1, 1.0), (10, 0.1), (100, 0.01)])
    -1.0
    """
    logs = [(log10(k), log10(error)) for k, error in points]
    x_mean, y_mean = (sum(column) / len(logs) for column in zip(*logs, strict=True))
    return sum((x - x_mean) * (y - y_mean) for x, y in logs) / sum((x - x_mean) ** 2 for x, _ in logs)


def draw_rates(
    ax: "Axes",
    series: Mapping[str, Sequence[tuple[float, float]]],
    *,
    x: str = "steps k",
    y: str = "relative error",
    title: str = "",
) -> str:
    """Draw positive errors against k on two logarithmic axes, a line a series; returns the describing sentence.

    series: label -> (k, error) pairs, at least two each. The legend gives the fitted slope: -1 halves the error when k
    doubles, -1/2 takes four times k for it.
    """
    said = []
    for (label, points), (colour, dash, marker) in zip(series.items(), SERIES[:4] * len(series), strict=False):
        fitted = slope(points)
        xs, ys = ([log10(value) for value in column] for column in zip(*points, strict=True))
        ax.plot(
            xs, ys, color=colour, linestyle=dash, marker=marker, linewidth=LINE, markersize=8, markerfacecolor="none",
            markeredgewidth=2, label=f"{label}: slope {f'{fitted:.2f}'.replace('-', '−')}",
        )  # fmt: skip
        said.append(f"{label} {span(points[0][1], points[-1][1])}, slope {fitted:.2f}")
    ks = [log10(k) for points in series.values() for k, _ in points]
    errors = [log10(error) for points in series.values() for _, error in points]
    ticks = decades(min(ks), max(ks))
    ax.set_xticks(ticks, [power_label(tick) for tick in ticks])
    spread = max(errors) - min(errors) + 0.5
    log_axis(ax, min(errors) - 0.35 * spread, max(errors) + 0.08 * spread)  # the legend stands below the lines
    name_axes(ax, x, title or y)
    legend(ax, loc="lower left")
    return f"{y} against {x}, {span(10 ** min(ks), 10 ** max(ks))}: {in_words(said)}."
