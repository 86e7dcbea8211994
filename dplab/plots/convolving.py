"""Composition seen: the law of a sum of losses as it grows, and one point of a convolution as an area."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..core.composition import Composition
from ..core.errors import NoClosedFormError
from .losses import draw_shape
from .style import BLACK, BLUE, GREEN, GREY, LINE, ORANGE, PURPLE, SKY, TEXT, legend, name_axes
from .sums import SumLaw, sum_law
from .words import in_words, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LOOKS = [(SKY, "-"), (ORANGE, (0, (5, 2))), (GREEN, (0, (1, 1.6))), (BLUE, (0, (6, 2, 1, 2))), (PURPLE, (0, (3, 1.5)))]


def draw_sum(
    ax: "Axes", composition, *, eps: float | None = None, normal: bool = False, backward: bool = False, title: str = ""
) -> str:
    """Draw the law of the loss of a composition; returns the describing sentence.

    eps: shade what counts in delta(eps). normal: the normal law of the same mean and variance as a dashed line, scaled
    to the atoms where there are only those.

    >>> from dplab import RandomizedResponse
    >>> from dplab.plots import new_figure
    >>> figure, (ax,) = new_figure()
    >>> draw_sum(ax, 2 * RandomizedResponse("0.75")).partition(". ")[2]
    'No mass at infinity. Mean 1.1, standard deviation 1.35.'

    Raises UnboundSymbolError if a parameter is a symbol.
    """
    law = sum_law(composition, backward)
    sentence = draw_shape(ax, law.shape, eps=eps, title=title)
    if normal and law.deviation:
        _normal(ax, law)
    if eps is not None:
        sentence += f" Shaded: δ({short(eps)}) ≈ {short(law.delta(eps))}."
    return f"{sentence} Mean {short(law.mean)}, standard deviation {short(law.deviation)}."


def _normal(ax: "Axes", law: SumLaw) -> None:
    low, high = law.mean - 4.5 * law.deviation, law.mean + 4.5 * law.deviation
    s = np.linspace(low, high, 161)
    height = (1 - law.shape.infinite) / (law.deviation * math.sqrt(2 * math.pi))
    if not law.shape.density:
        losses = [loss for loss, _ in law.shape.atoms]
        gaps = np.diff(losses)
        if len(gaps) == 0 or np.ptp(gaps) > 1e-6 * np.max(gaps):
            return  # no lattice: a density cannot be compared with single masses
        height *= float(np.mean(gaps))
    values = height * np.exp(-(((s - law.mean) / law.deviation) ** 2) / 2)
    ax.plot(s, values, color=BLACK, linestyle=(0, (4, 3)), linewidth=1.6, label="normal law", zorder=4)
    ax.set_xlim(min(ax.get_xlim()[0], low), max(ax.get_xlim()[1], high))
    ax.set_ylim(0, max(ax.get_ylim()[1], 1.1 * height))
    legend(ax, loc="upper left")


def draw_growth(ax: "Axes", composition, counts: Sequence[int], *, backward: bool = False, title: str = "") -> str:
    """Draw the laws of the loss after k = counts[0], counts[1], ... releases of the same; returns the sentence.

    Where a law is made of atoms they are joined by a line, each mass divided by the width that its atom stands for.
    """
    said = []
    for k, (colour, dash) in zip(counts, _LOOKS * len(counts), strict=False):
        law = sum_law(k * Composition.of(composition), backward)
        x, y = _as_curve(law)
        ax.plot(x, y, color=colour, linestyle=dash, linewidth=LINE, label=f"k = {k:,}".replace(",", " "))
        said.append(f"k = {k}: mean {short(law.mean)}, standard deviation {short(law.deviation)}")
    ax.set_ylim(bottom=0)
    name_axes(ax, "privacy loss s (nats)", title or "density of the loss of k releases")
    legend(ax, loc="upper right")
    return f"Laws of the loss of k releases. {in_words(said)}."


def _as_curve(law: SumLaw) -> tuple[list[float], list[float]]:
    points = law.shape.density or law.shape.atoms
    x, y = [loss for loss, _ in points], [height for _, height in points]
    if law.shape.density or len(x) < 2:
        return x, y
    gap = (x[-1] - x[0]) / (len(x) - 1)
    return x, [mass / gap for mass in y]


def draw_convolution(left: "Axes", right: "Axes", first, second, x: float, *, backward: bool = False) -> str:
    """Draw one point of a convolution: the two densities with the second turned round and moved to x, their product
    shaded; beside it the law of the sum, with the point at x. Returns the describing sentence.

    first, second: mechanisms or compositions whose losses have densities and no atoms.

    Raises NoClosedFormError for a law with atoms (where sums of stems would have to be drawn).
    """
    laws = [sum_law(part, backward, widths=6) for part in (first, second)]
    for part, law in zip((first, second), laws, strict=True):
        if law.shape.atoms or not law.shape.density:
            raise NoClosedFormError(f"draw_convolution: the loss of {part!r} has atoms; draw it with draw_sum")
    whole = sum_law(Composition.of(first) + second, backward)
    (a, f), (b, g) = (np.array(law.shape.density).T for law in laws)
    low, high = min(a[0], x - b[-1]), max(a[-1], x - b[0])
    u = np.linspace(*_window(laws, whole, x), 401)
    kept = np.interp(u, a, f, 0, 0)
    moved = np.interp(x - u, b, g, 0, 0)
    fine = np.linspace(low, high, 4001)
    value = float(np.trapezoid(np.interp(fine, a, f, 0, 0) * np.interp(x - fine, b, g, 0, 0), fine))
    left.plot(u, kept, color=BLUE, linewidth=LINE, label="ω₁(u)")
    left.plot(u, moved, color=ORANGE, linewidth=LINE, linestyle=(0, (5, 2)), label="ω₂(s − u), turned round")
    left.fill_between(u, kept * moved, color=GREEN, alpha=0.6, linewidth=0, label="product")
    left.set_ylim(0, 1.6 * max(float(np.max(f)), float(np.max(g))))
    left.set_xlim(u[0], u[-1])
    name_axes(left, "loss u of the first release (nats)", f"area of the product: {short(value)}")
    legend(left, loc="upper right")
    s, omega = np.array(whole.shape.density).T
    right.plot(s, omega, color=BLACK, linewidth=LINE, label="ω of the sum")
    right.vlines([x], 0, [value], color=GREEN, linewidth=3)
    right.plot([x], [value], "o", color=GREEN, markersize=10, zorder=5)
    right.annotate(short(value), (x, value), (9, 4), textcoords="offset points", fontsize=TEXT, color=GREEN)
    right.set_ylim(0, 1.25 * float(np.max(omega)))
    right.set_xlim(u[0], u[-1])
    right.axvline(0, color=GREY, linewidth=1, zorder=1)
    name_axes(right, "loss s of both together (nats)", "the law of the sum")
    return (
        f"Convolution at s = {short(x)}: the first law times the second, turned round and moved, has area "
        f"{short(value)}, which is the density of the sum there. Means {short(laws[0].mean)} and "
        f"{short(laws[1].mean)}, together {short(whole.mean)}."
    )


def _window(laws: Sequence[SumLaw], whole: SumLaw, x: float) -> tuple[float, float]:
    """One range for both pictures, the same for every x that is not far out."""
    every = [*laws, whole]
    low, high = (
        min(law.mean - 3.6 * law.deviation for law in every),
        max(law.mean + 3.6 * law.deviation for law in every),
    )
    return min(low, x - 0.2), max(high, x + 0.2)
