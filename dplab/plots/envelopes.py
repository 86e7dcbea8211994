"""delta as a function of x = e^eps: convex, above the line of every test set, and touched by the line of the best one.

h(x) = delta(log x). A test set S gives the line P(S) - x Q(S) <= h(x) (Neyman and Pearson), with equality for
S = {s > log x}: h is the upper envelope of all lines. Backward, h'(x) = 1 - x + x h(1/x).
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ..core.pair import Pair
from ..core.pld import PLD
from ..fourier.intervals import Interval
from ..fourier.onestep import OneStep
from .hockey import describe, gain, minus
from .outcomes import Line, Masses, TestSet, eps_of, exp_of, need_numbers, outcomes, without_inverse
from .pushing import pushed_hockey_stick
from .style import BLACK, BLUE, GREEN, GREY, LINE, ORANGE, PURPLE, SKY, VERMILLION, legend, name_axes
from .words import in_words, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_POINTS = 241
_LOOKS = [
    (VERMILLION, (0, (5, 3))),
    (BLUE, (0, (1, 1.6))),
    (PURPLE, (0, (6, 2, 1, 2))),
    (ORANGE, (0, (3, 2))),
    (SKY, "-"),
]


def h_values(pld: PLD, x: np.ndarray) -> np.ndarray:
    """h(x) = delta(log x) of one release at x > 0, in floats (1 at x = 0).

    >>> from dplab import RandomizedResponse
    >>> h_values(PLD(RandomizedResponse("0.75")), np.array([0.0, 1.0, 4.0])).round(12).tolist()
    [1.0, 0.5, 0.0]

    Raises UnboundSymbolError if a parameter is a symbol.
    """
    need_numbers(pld.pair)
    if without_inverse(pld.pair):
        law = outcomes(pld.pair, pld.backward)
        if isinstance(law, Line):
            return np.where(x > 0, pushed_hockey_stick(law, x), 1.0)
    positive = np.maximum(x, 1e-300)
    values = OneStep(pld).curve(Interval.exactly(np.log(positive))).mid
    return np.where(x > 0, np.minimum(values, 1.0), 1.0)


def draw_test_lines(
    ax: "Axes",
    pair: Pair,
    eps,
    tests: "Mapping[str, TestSet] | None" = None,
    *,
    backward: bool = False,
    highest: float | None = None,
    title: str = "",
) -> str:
    """Draw h(x) over x = e^eps, the line of each test set, and what each collects at `eps`; returns the sentence.

    tests: label -> test set (a list of intervals or of names, see `outcomes`); the best one at `eps` is always
    drawn. highest: the right end of the x axis.

    >>> from dplab import RandomizedResponse
    >>> from dplab.plots import new_figure
    >>> figure, (ax,) = new_figure()
    >>> draw_test_lines(ax, RandomizedResponse("0.75"), 0, {"S": ["no"]}).partition(": ")[2]
    'S = {no} reaches −0.5, below h; the best set {yes} touches h.'
    """
    eps = eps_of(eps)
    law, here = outcomes(pair, backward), exp_of(eps)
    end = highest or max(4.5, 1.6 * here)
    x = np.unique(np.concatenate([np.linspace(0, end, _POINTS), [here]]))
    h = h_values(PLD(pair, backward), x)
    top = float(h_values(PLD(pair, backward), np.array([here]))[0])
    best, drawn = law.best(eps), [law.masses(chosen) for chosen in (tests or {}).values()]
    if Masses(0, 0) not in drawn:  # else its two halves are there as tests
        ax.plot([0, 1, end], [1, 0, 0], color=GREY, linewidth=1.4, linestyle=(0, (1, 2)), label="max(0, 1 − x)")
    said = []
    for (label, chosen), masses, (colour, dash) in zip((tests or {}).items(), drawn, _LOOKS * 9, strict=False):
        reached = gain(masses, eps)
        _line(ax, masses, end, color=colour, linestyle=dash, label=f"{label}: {_equation(masses)}")
        ax.plot([here], [reached], "s", color=colour, markersize=9, zorder=5, clip_on=True)
        below = "touching h" if reached > top - 1e-9 * max(top, 1e-3) else "below h"
        said.append(f"{label} = {describe(chosen)} reaches {minus(short(reached))}, {below}")
    if law.masses(best) not in drawn:
        _line(ax, law.masses(best), end, color=GREEN, linestyle="-", label="the best set's line")
    ax.plot(x, h, color=BLACK, linewidth=LINE + 0.6, label="h(x) = δ(log x)", zorder=4)
    ax.plot([here], [top], "o", color=GREEN, markersize=10, zorder=6, clip_on=False)
    ax.axvline(here, color=GREY, linewidth=1, zorder=1)
    ax.set_xlim(0, end)
    ax.set_ylim(-0.12, 1.0)
    name_axes(ax, "x = eᵋ", title or f"at x = {short(here)}: h(x) = {short(top)}")
    legend(ax, loc="upper right")
    said.append(f"the best set {describe(best)} touches h")
    return (
        f"h(x) = δ(log x), convex, from 1 at x = 0 to {short(float(h[-1]))} at x = {short(end)}. "
        f"At x = {short(here)}, h = {short(top)}: {'; '.join(said)}."
    )


def _equation(masses: Masses) -> str:
    """P(S) - x Q(S) with its numbers, as a person would write it."""
    slope = "" if masses.q == 1 else f"{short(masses.q)} "
    return f"{short(masses.p)} − {slope}x" if masses.q else short(masses.p)


def _line(ax: "Axes", masses, end: float, **look) -> None:
    ax.plot([0, end], [masses.p, masses.p - end * masses.q], linewidth=LINE - 0.4, zorder=3, **look)


def draw_directions(ax: "Axes", pair: Pair, *, highest: float = 4.5, title: str = "") -> str:
    """Draw h(x) in both directions, and the larger of the two; returns the describing sentence.

    >>> from dplab import Gaussian, PoissonSubsampled
    >>> from dplab.plots import new_figure
    >>> figure, (ax,) = new_figure()
    >>> draw_directions(ax, PoissonSubsampled(Gaussian(0), "0.25"), highest=3)
    'h(x) in both directions, x from 0 to 3. At x = 1: P over Q 0.25, Q over P 0.25; at x = 3: 0.25 and 0.'
    """
    x = np.unique(np.concatenate([np.linspace(0, highest, _POINTS), [1.0]]))
    forward, backward = (h_values(PLD(pair, turned), x) for turned in (False, True))
    ax.plot([0, 1, highest], [1, 0, 0], color=GREY, linewidth=1.4, linestyle=(0, (1, 2)), label="max(0, 1 − x)")
    ax.plot(x, np.maximum(forward, backward), color=SKY, linewidth=8, alpha=0.5, label="the larger: δ")
    ax.plot(x, forward, color=BLUE, linewidth=LINE, label="P over Q (remove)")
    ax.plot(x, backward, color=VERMILLION, linewidth=LINE, linestyle=(0, (5, 3)), label="Q over P (add)")
    ax.axvline(1, color=GREY, linewidth=1, zorder=1)
    ax.set_xlim(0, highest)
    ax.set_ylim(0, 1)
    name_axes(ax, "x = eᵋ", title or "h(x) = δ(log x) in both directions")
    legend(ax, loc="upper right")
    ends = [float(np.interp(at, x, h)) for at in (1, highest) for h in (forward, backward)]
    return (
        f"h(x) in both directions, x from 0 to {short(highest)}. At x = 1: P over Q {short(ends[0])}, Q over P "
        f"{short(ends[1])}; at x = {short(highest)}: {in_words(map(short, ends[2:]))}."
    )
