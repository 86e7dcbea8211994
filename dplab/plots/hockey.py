"""The hockey-stick divergence as an area: P against e^eps Q over the outcomes, and what a test set collects of it."""

import math
from typing import TYPE_CHECKING

import numpy as np

from ..core.pair import Pair
from .outcomes import Line, Masses, Table, TestSet, eps_of, exp_of, outcomes
from .style import BLACK, BLUE, GREEN, LINE, ORANGE, TICK, VERMILLION, legend, name_axes
from .words import in_words, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_POINTS = 301
_MOST_TICKS = 8
_GAIN, _LOSS = GREEN, VERMILLION


def draw_hockey_stick(
    ax: "Axes", pair: Pair, eps, *, chosen: TestSet | None = None, backward: bool = False, title: str = ""
) -> str:
    """Draw P and e^eps Q over the outcomes and shade P(S) - e^eps Q(S); returns the describing sentence.

    eps: nats. chosen: the test set S, a list of intervals or of names (see `outcomes`); without it the best one,
    {P > e^eps Q}, whose area is delta(eps). backward: Q and e^eps P. Where S loses (P < e^eps Q), the area is hatched
    and counts negative.

    >>> from dplab import RandomizedResponse
    >>> from dplab.plots import new_figure
    >>> figure, (ax,) = new_figure()
    >>> draw_hockey_stick(ax, RandomizedResponse("0.75"), 0)
    'P and e^ε Q over the outcomes, ε = 0. The test set {yes} has P(S) = 0.75, Q(S) = 0.25: P(S) − e^ε Q(S) = 0.5.'
    """
    eps = eps_of(eps)
    law = outcomes(pair, backward)
    best = chosen is None
    kept = law.best(eps) if chosen is None else list(chosen)
    masses = law.masses(kept)
    names = ("Q", "P") if backward else ("P", "Q")
    if isinstance(law, Line):
        _draw_line(ax, law, eps, kept, names)
    else:
        _draw_table(ax, law, eps, kept, names)
    gained = gain(masses, eps)
    shown = f"δ(ε) = {short(gained)}" if best else f"{names[0]}(S) − eᵋ {names[1]}(S) = {minus(short(gained))}"
    name_axes(ax, "outcome t" if isinstance(law, Line) else "outcome", title or f"shaded: {shown}")
    return (
        f"{names[0]} and e^ε {names[1]} over the outcomes, ε = {short(eps)}. The test set {describe(kept)} has "
        f"{names[0]}(S) = {short(masses.p)}, {names[1]}(S) = {short(masses.q)}: "
        f"{names[0]}(S) − e^ε {names[1]}(S) = {minus(short(gained))}."
    )


def gain(masses: Masses, eps: float) -> float:
    """P(S) - e^eps Q(S)."""
    return masses.p - exp_of(eps) * masses.q if masses.q else masses.p


def minus(text: str) -> str:
    """A number with a real minus sign."""
    return text.replace("-", "−", 1) if text.startswith("-") else text


def describe(chosen: TestSet) -> str:
    """A test set in words: {yes}, {t > 0.5}, {1 < t ≤ 2}.

    >>> describe(["yes"]), describe([(0.5, math.inf)]), describe([(-math.inf, 0), (1, 2)]), describe([])
    ('{yes}', '{t > 0.5}', '{t ≤ 0 or 1 < t ≤ 2}', '{} (empty)')
    """
    if not chosen:
        return "{} (empty)"
    if isinstance(chosen[0], str):
        return "{" + ", ".join(chosen) + "}"
    return "{" + in_words((_interval(*map(float, ends)) for ends in chosen), "or") + "}"


def _interval(low: float, high: float) -> str:
    if math.isinf(low):
        return "all t" if math.isinf(high) else f"t ≤ {minus(short(high))}"
    return f"t > {minus(short(low))}" if math.isinf(high) else f"{minus(short(low))} < t ≤ {minus(short(high))}"


def _draw_line(ax: "Axes", law: Line, eps: float, chosen: TestSet, names: tuple[str, str]) -> None:
    low, high = law.window
    edges = [end for ends in chosen for end in map(float, ends) if low < end < high]
    t = np.unique(np.concatenate([np.linspace(low, high, _POINTS), edges, _kinks(law)]))
    p, scaled = law.p(t), exp_of(eps) * law.q(t)
    top = 1.12 * max(float(np.max(p)), min(float(np.max(scaled)), 2.2 * float(np.max(p))))
    ax.plot(t, p, color=BLUE, linewidth=LINE, label=f"{names[0]}(t)")
    ax.plot(t, scaled, color=ORANGE, linewidth=LINE, linestyle=(0, (5, 2)), label=f"eᵋ {names[1]}(t)")
    inside = np.zeros(len(t), bool)
    for ends in chosen:
        inside |= (t >= float(ends[0])) & (t <= float(ends[1]))
    clipped = np.minimum(scaled, 2 * top)
    ax.fill_between(t, p, clipped, where=inside & (p >= scaled), color=_GAIN, alpha=0.45, linewidth=0)
    if np.any(inside & (p < scaled)):
        lost = {"facecolor": "none", "edgecolor": _LOSS, "hatch": "///", "linewidth": 0}
        ax.fill_between(t, p, clipped, where=inside & (p <= scaled), **lost)
    _mark_set(ax, chosen, low, high)
    ax.set_xlim(low, high)
    ax.set_ylim(0, top)
    legend(ax, loc="upper right")


def _kinks(law: Line) -> np.ndarray:
    """Points beside the jumps of slope that a coarse grid would cut off: the two peaks."""
    t = np.linspace(*law.window, 2001)
    return np.array([t[np.argmax(law.p(t))], t[np.argmax(law.q(t))]])


def _mark_set(ax: "Axes", chosen: TestSet, low: float, high: float) -> None:
    """A black bar under the axis: the outcomes in S."""
    for ends in chosen:
        left, right = max(float(ends[0]), low), min(float(ends[1]), high)
        if left < right:
            ax.plot(
                [left, right], [0, 0], color=BLACK, linewidth=7, solid_capstyle="butt", clip_on=False, zorder=5,
            )  # fmt: skip


def _draw_table(ax: "Axes", law: Table, eps: float, chosen: TestSet, names: tuple[str, str]) -> None:
    x = np.arange(len(law.names))
    p, scaled = np.array(law.p), exp_of(eps) * np.array(law.q)
    top = 1.35 * max(float(np.max(p)), min(float(np.max(scaled)), 1.6))
    width = 0.32
    ax.bar(x - width / 2, p, width, color=BLUE, label=names[0])
    ax.bar(
        x + width / 2, scaled, width, facecolor="none", edgecolor=ORANGE, linewidth=LINE, linestyle=(0, (5, 2)),
        label=f"eᵋ {names[1]}",
    )  # fmt: skip
    for place in (i for i, name in enumerate(law.names) if name in chosen):
        left, right = place - width, place + width
        low, high = sorted((float(p[place]), min(float(scaled[place]), 2 * top)))
        if p[place] >= scaled[place]:
            ax.fill_between([left, right], low, high, color=_GAIN, alpha=0.55, linewidth=0, zorder=3)
        else:
            ax.fill_between(
                [left, right], low, high, facecolor="none", edgecolor=_LOSS, hatch="///", linewidth=0, zorder=3
            )
        ax.plot([left, right], [0, 0], color=BLACK, linewidth=7, solid_capstyle="butt", clip_on=False, zorder=5)
    every = -(-len(x) // _MOST_TICKS)
    ax.set_xticks(x[::every], law.names[::every], fontsize=TICK)
    ax.set_xlim(-0.6, len(law.names) - 0.4)
    ax.set_ylim(0, top)
    legend(ax, loc="upper center", ncols=2)
