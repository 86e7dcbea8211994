"""Algorithm 1 seen: the two halves and their swap, the periodic extension, and the mass that wraps around.

Grid masses a_i on x_i = -L + i dx, dx = 2L/n, as `dplab.fourier.rounded_masses` makes them.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..fourier.chernoff import lecture_grid
from .style import BLACK, BLUE, GREEN, GREY, LABEL, LINE, ORANGE, TEXT, VERMILLION, legend, name_axes
from .words import percent, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LEFT, _RIGHT = ORANGE, BLUE  # x < 0, x >= 0
_NOTHING = 1e-18  # of the largest mass: not in the picture
_INSIDE, _ABOVE, _BELOW = BLUE, VERMILLION, ORANGE


def draw_swap(ax: "Axes", a, L: float, *, title: str = "") -> str:
    """Draw the row of masses and, below it, D a: both halves change places. Returns the describing sentence.

    >>> from dplab.plots import new_figure
    >>> figure, (ax,) = new_figure()
    >>> draw_swap(ax, [0, 0.1, 0.6, 0.3], L=2)
    'The row a and below it D a, with its halves swapped: the mass at x = 0, number 2 of 4, comes first.'
    """
    masses, x = lecture_grid(a, L)
    n = len(masses)
    height = 0.8 * masses / masses.max()
    colours = np.where(x < 0, _LEFT, _RIGHT)
    swapped = np.concatenate([np.arange(n // 2, n), np.arange(n // 2)])
    for base, order in ((1.0, np.arange(n)), (0.0, swapped)):
        ax.bar(np.arange(n), height[order], 0.85, bottom=base, color=colours[order])
        ax.plot([-0.6, n - 0.4], [base, base], color=BLACK, linewidth=1)
    for start, end in ((n / 4, 3 * n / 4), (3 * n / 4, n / 4)):
        arrow = {"arrowstyle": "-|>", "color": GREY, "linewidth": 1.5, "shrinkA": 3, "shrinkB": 3}
        ax.annotate("", (end, 0.86), (start, 1.0), arrowprops=arrow)
    ax.plot([], [], color=_LEFT, linewidth=8, label="x < 0")
    ax.plot([], [], color=_RIGHT, linewidth=8, label="x ≥ 0")
    ax.set_yticks([0.0, 1.0], ["D a", "a"], fontsize=LABEL)
    ax.grid(False)
    ax.set_xlim(-1, n)
    ax.set_ylim(-0.05, 2.0)
    name_axes(ax, "number i in the row", title or "D swaps the halves: x = 0 comes first")
    legend(ax, loc="upper right")
    return (
        f"The row a and below it D a, with its halves swapped: the mass at x = 0, number {n // 2} of {n}, comes first."
    )


def draw_periodic(ax: "Axes", a, L: float, *, title: str = "") -> str:
    """Draw the periodic extension of the masses: what the transform sees of a row. Returns the describing sentence.

    The window [-L, L) is in full colour, its copies are pale; brackets show where the rows a and D a are read.
    """
    masses, x = lecture_grid(a, L)
    half = 0.5 * len(x) * float(x[1] - x[0])
    dx = float(x[1] - x[0])
    colours = np.where(x < 0, _LEFT, _RIGHT)
    for copy in (-1, 0, 1):
        ax.bar(x + 2 * half * copy, masses, 0.85 * dx, color=colours, alpha=1.0 if copy == 0 else 0.3)
    top = 1.55 * float(masses.max())
    for level, (left, right), name in ((1.15, (-half, half), "the window: a"), (1.35, (0.0, 2 * half), "D a")):
        y = level * float(masses.max())
        ax.annotate("", (left, y), (right, y), arrowprops={"arrowstyle": "|-|", "color": BLACK, "linewidth": 1.5})
        at = 0.5 * (left + right)
        box = {"facecolor": "white", "edgecolor": "none", "pad": 2}
        ax.text(at, y, name, ha="center", va="center", fontsize=TEXT, bbox=box)
    ax.set_xlim(-3 * half, 3 * half)
    ax.set_ylim(0, top)
    ax.set_xticks([half * i for i in range(-3, 4)], ["−3L", "−2L", "−L", "0", "L", "2L", "3L"])
    name_axes(ax, "loss s", title or "what the transform sees: the row, repeated for ever")
    return (
        f"The masses on [-L, L), L = {short(half)}, with a copy on either side. The row a is read from -L to L, the "
        f"row D a from 0 to 2L: the same periodic sequence, read from another place."
    )


@dataclass(frozen=True)
class Wrapped:
    """The k-fold sum of grid masses, and what Algorithm 1 makes of it.

    `losses`, `law`: the sum itself, by direct convolution (where it has any mass). `x`, `inside`, `from_above`,
    `from_below`: masses on the window's points that belong there, that have come back from above it, and from below it.
    """

    losses: np.ndarray
    law: np.ndarray
    x: np.ndarray
    inside: np.ndarray
    from_above: np.ndarray
    from_below: np.ndarray

    @property
    def composed(self) -> np.ndarray:
        """C^k, what Algorithm 1 computes."""
        return self.inside + self.from_above + self.from_below

    def delta(self, eps: float) -> tuple[float, float]:
        """(the true, Algorithm 1's) sum of (1 - e^{eps - s}) over s > eps, without the mass at infinity."""
        both = ((self.losses, self.law), (self.x, self.composed))
        true, seen = (float(kernel(x, eps) @ mass) for x, mass in both)
        return true, seen


def kernel(x: np.ndarray, eps: float) -> np.ndarray:
    """(1 - e^{eps - x}) above eps, 0 elsewhere."""
    return -np.expm1(np.minimum(eps - x, 0.0))


def wrapped(a, k: int, L: float) -> Wrapped:
    """The k-fold sum of grid masses by direct convolution, and its pieces modulo the window.

    >>> pieces = wrapped([0, 0, 0.5, 0.5], 2, L=2)  # losses 0 and 1 on -2, -1, 0, 1: the sum 2 comes back at -2
    >>> pieces.from_above.tolist()
    [0.25, 0.0, 0.0, 0.0]
    """
    masses, x = lecture_grid(a, L)
    n, dx = len(masses), float(x[1] - x[0])
    used = np.nonzero(masses > _NOTHING * masses.max())[0]
    trimmed, first = masses[used[0] : used[-1] + 1], int(used[0])
    law = np.ones(1)
    for bit in bin(k)[2:]:
        law = np.convolve(law, law)
        if bit == "1":
            law = np.convolve(law, trimmed)
    index = np.arange(len(law)) + k * (first - n // 2)
    place = (index + n // 2) % n
    turns = (index + n // 2) // n
    pieces = (np.bincount(place, law * at, n) for at in (turns == 0, turns > 0, turns < 0))
    return Wrapped(index * dx, law, x, *pieces)


def draw_outside(ax: "Axes", pieces: Wrapped, *, title: str = "") -> str:
    """Draw the true law of the sum, with the window and what lies outside; returns the describing sentence."""
    x, law = pieces.losses, pieces.law
    low, high = float(pieces.x[0]), -float(pieces.x[0])
    seen = np.nonzero(law > 1e-4 * law.max())[0]
    left, right = min(low, float(x[seen[0]])), max(high, float(x[seen[-1]]))
    room = 0.04 * (right - left)
    ax.axvspan(low, high, color="#eef4f9", zorder=-1)
    for end in (low, high):
        ax.axvline(end, color=GREY, linewidth=1.2, linestyle=(0, (2, 2)))
    beyond = float(law[x >= high].sum()), float(law[x < low].sum())
    shown = (x > left - room) & (x < right + room)
    x, law = x[shown], law[shown]
    inside, above, below = (x >= low) & (x < high), x >= high, x < low
    _filled(ax, x, np.where(inside, law, 0.0), _INSIDE, "in the window")
    _filled(ax, x, np.where(above, law, 0.0), _ABOVE, f"above: {percent(beyond[0])}", "//")
    if beyond[1] > 1e-4 or low > left:
        _filled(ax, x, np.where(below, law, 0.0), _BELOW, f"below: {percent(beyond[1])}", "\\\\")
    ax.set_xlim(left - room, right + room)
    ax.set_ylim(0, 1.35 * float(law.max()))
    name_axes(ax, "loss of the sum S", title or "the true law of the sum")
    legend(ax, loc="upper left")
    return (
        f"The law of the sum; the window reaches from {short(low)} to {short(high)}. Mass above it: "
        f"{short(beyond[0])}, below it: {short(beyond[1])}."
    )


def draw_wrapped(ax: "Axes", pieces: Wrapped, eps: float, *, title: str = "") -> str:
    """Draw C^k on its window, with the mass that has come back stacked on what belongs there; the kernel of delta(eps)
    above it. Returns the describing sentence."""
    x = pieces.x
    top = float(pieces.composed.max())
    base = np.zeros(len(x))
    parts = (
        (pieces.inside, _INSIDE, "belongs here", ""),
        (pieces.from_above, _ABOVE, "came from above", "//"),
        (pieces.from_below, _BELOW, "came from below", "\\\\"),
    )
    for masses, colour, label, hatch in parts:
        if masses.max() > 1e-4 * top or not hatch:
            _filled(ax, x, base + masses, colour, label, hatch, base)
        base = base + masses
    fine = np.linspace(float(x[0]), -float(x[0]), 301)
    ax.plot(fine, top * kernel(fine, eps), color=GREEN, linewidth=LINE, linestyle=(0, (5, 2)), label="1 − exp(ε − x)")
    true, seen = pieces.delta(eps)
    ax.set_xlim(float(x[0]), -float(x[0]))
    ax.set_ylim(0, 1.45 * top)
    heading = f"Algorithm 1 sees δ̃ = {short(seen)}; true δ = {short(true)}"
    name_axes(ax, "loss in the window", title or heading)
    legend(ax, loc="upper left", ncols=2)
    return (
        f"What Algorithm 1 has in its window: mass that came back from above {short(pieces.from_above.sum())}, from "
        f"below {short(pieces.from_below.sum())}. At ε = {short(eps)} it reads off {short(seen)}; the true value is "
        f"{short(true)}."
    )


def _filled(ax: "Axes", x, y, colour: str, label: str, hatch: str = "", base=0.0) -> None:
    """A step area, as a histogram."""
    look = {"hatch": hatch, "edgecolor": "white"} if hatch else {}
    ax.fill_between(x, base, y, step="mid", facecolor=colour, linewidth=0, label=label, **look)
