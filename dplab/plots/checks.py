"""A claimed bound against the truth, case by case: whatever lies under the diagonal is a counterexample."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from .scale import decades, log10, log_axis, power_label
from .style import BLACK, BLUE, GREEN, PURPLE, VERMILLION, legend, name_axes
from .words import in_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LOOKS = [(BLUE, "o"), (VERMILLION, "^"), (GREEN, "s"), (PURPLE, "D")]
_DECADES = 7.0


def draw_check(
    ax: "Axes", claims: Mapping[str, Sequence[tuple[float, float]]], *, x: str = "true error", title: str = ""
) -> str:
    """Draw (truth, claimed bound) pairs on two logarithmic axes; returns the describing sentence.

    claims: label -> pairs, truth >= 0. Bounds that are 0 or negative lie on the lower edge. The legend counts how many
    pairs of each label violate bound >= truth.

    >>> from dplab.plots import new_figure
    >>> figure, (ax,) = new_figure()
    >>> draw_check(ax, {"mine": [(1e-3, 1e-2), (1e-2, 1e-3), (1e-4, -1)]})
    'Claimed bounds against the truth, case by case: mine is violated in 2 of 3 cases.'
    """
    truths = [log10(truth) for pairs in claims.values() for truth, _ in pairs if truth > 0]
    high = max(truths, default=0.0) + 0.3
    low = max(min(truths, default=-1.0), high - _DECADES) - 0.3
    values = [log10(bound) for pairs in claims.values() for _, bound in pairs if bound > 0]
    top = min(max([*values, high]), high + 2)
    said = []
    for (label, pairs), (colour, marker) in zip(claims.items(), _LOOKS * len(claims), strict=False):
        wrong = sum(not bound >= truth for truth, bound in pairs)
        shown = [(truth, bound) for truth, bound in pairs if log10(truth) >= low]
        xs = [log10(truth) for truth, _ in shown]
        ys = [min(max(_finite(log10(bound)), low), top) for _, bound in shown]
        ax.plot(
            xs, ys, marker, color=colour, markersize=5, markerfacecolor="none", markeredgewidth=1.3, clip_on=False,
            label=f"{label}: {wrong} of {len(pairs)} violated",
        )  # fmt: skip
        said.append(f"{label} is violated in {wrong} of {len(pairs)} cases")
    ax.plot([low, high], [low, high], color=BLACK, linewidth=1.5)
    ax.fill_between([low, high], [low, high], [low, low], color="#f3dcd0", zorder=0, linewidth=0)
    ax.set_xlim(low, high)
    ticks = decades(low, high)
    ax.set_xticks(ticks, [power_label(tick) for tick in ticks])
    log_axis(ax, low, top + 0.45 * (top - low))
    name_axes(ax, x, title or "claimed bound (shaded: smaller than the truth)")
    legend(ax, loc="upper left")
    return f"Claimed bounds against the truth, case by case: {in_words(said)}."


def _finite(value: float) -> float:
    return value if math.isfinite(value) else -1e9
