"""How time grows with the size of a question: a log-log picture, with the exponent at the far end."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from .rates import slope
from .scale import decades, log10, log_axis, power_label
from .style import GREY, LINE, SERIES, legend, name_axes
from .words import in_words, span

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def exponent(points: Sequence[tuple[float, float]], decades_kept: float = 2.0) -> float:
    """The exponent a in time ~ x^a at the far end: the least-squares slope over the last decades of x.

    points: (x, time) with x increasing, at least two. What costs the same for every x hides the growth near the start.

    >>> round(exponent([(1, 1.0), (10, 1.0), (100, 1.1), (1000, 3.5), (10_000, 11.0)]), 2)
    0.5
    """
    last = points[-1][0]
    kept = [point for point in points if point[0] * 10**decades_kept >= last * (1 - 1e-9)]
    return slope(kept if len(kept) > 1 else points[-2:])


def draw_scaling(
    ax: "Axes", series: Mapping[str, Sequence[tuple[float, float]]], *, x: str, guide: float, y: str = "CPU seconds"
) -> str:
    """Draw times against a size on two logarithmic axes, a line a series; returns the describing sentence.

    series: label -> (x, seconds), x increasing, at least two each. `guide` is an exponent whose slope is drawn in grey.
    """
    said = []
    for (label, points), (colour, dash, marker) in zip(series.items(), SERIES * len(series), strict=False):
        fitted = exponent(points)
        xs, ys = ([log10(value) for value in column] for column in zip(*points, strict=True))
        ax.plot(
            xs, ys, color=colour, linestyle=dash, marker=marker, linewidth=LINE, markersize=7, markerfacecolor="none",
            markeredgewidth=1.8, label=f"{label}: {fitted:.2f}".replace("-", "−"),
        )  # fmt: skip
        said.append(f"{label} {span(points[0][1], points[-1][1])} seconds, exponent {fitted:.2f}")
    logs = [log10(size) for points in series.values() for size, _ in points]
    times = [log10(time) for points in series.values() for _, time in points]
    low, high = min(logs), max(logs)
    top = max(times)
    ax.plot([low, high], [top - guide * (high - low), top], color=GREY, linewidth=1.2, label=f"exponent {guide:g}")
    ticks = decades(low, high, 5)
    ax.set_xticks(ticks, [power_label(tick) for tick in ticks])
    spread = top - min(times) + 0.5
    share = 0.08 * (len(series) + 1) + 0.04  # of the height, for the legend above the lines
    log_axis(ax, min(times) - 0.1 * spread, top + spread * share / (1 - share))
    name_axes(ax, x, y)
    legend(ax, loc="upper left")
    return f"{y} against {x} {span(10**low, 10**high)}: {in_words(said)}; a grey line has exponent {guide:g}."
