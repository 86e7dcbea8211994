"""The privacy loss distribution as a picture: a density, atoms as stems, and the mass at infinity at the right edge."""

import math
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import mpmath
import numpy as np

from ..core.functions import MpmathTable
from ..core.pair import Pair
from ..core.pld import PLD
from ..fourier.intervals import Interval, IntervalTable
from .outcomes import Line, known_by_densities, need_numbers, outcomes
from .pushing import pushed
from .style import BLACK, BLUE, GREEN, GREY, LINE, TEXT, TICK, VERMILLION, legend, name_axes
from .words import in_words, short, span

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WIDTHS = 4.5
"""Half the picture's range, in typical widths of the continuous part."""


_FEW_STEMS = 40
_UNSEEN = 1e-6
"""Atoms of so much less mass than the largest one are left out."""
_TALLEST = 6.0
"""A peak is shown up to this many times the height that nine tenths of the points stay below."""
_FLOATS = IntervalTable()
"""Of its intervals the middles are drawn: every formula at once for all points, in float64."""


class Shape(NamedTuple):
    """A PLD in floats: atoms (loss, mass), the density's points (x, omega), and delta(inf)."""

    atoms: list[tuple[float, float]]
    density: list[tuple[float, float]]
    infinite: float


@lru_cache(maxsize=64)
def shape(pld: PLD, points: int = 241) -> Shape:
    """Evaluate a PLD for a picture (15 digits, pictures only), without the atoms that nobody could see."""
    need_numbers(pld.pair)
    fn = MpmathTable()
    with mpmath.workdps(15):
        atoms = sorted((float(atom.loss), float(atom.p)) for atom in pld.atoms(fn) if atom.p)
        largest = max((mass for _, mass in atoms), default=0.0)
        atoms = [(loss, mass) for loss, mass in atoms if mass > _UNSEEN * largest]
        return Shape(atoms, _density(pld, fn, points), float(pld.mass_at_infinity(fn)))


def _density(pld: PLD, fn: MpmathTable, points: int) -> list[tuple[float, float]]:
    if known_by_densities(pld.pair):
        law = outcomes(pld.pair, pld.backward)
        return pushed(law, points - 1) if isinstance(law, Line) else []
    ends, coordinate = pld.support(fn), pld.coordinate(fn)
    if ends is None or coordinate is None:
        return []
    center = float(coordinate.center)
    reach = _WIDTHS * float(coordinate.scale)
    low, high = max(center - reach, float(coordinate.lower)), min(center + reach, float(coordinate.upper))
    steps = np.arange(points, dtype=float)
    steps[[0, -1]] += 1e-3, -1e-3  # just inside
    u = low + (high - low) * steps / (points - 1)
    losses = np.sort(pld.coordinate_loss(_FLOATS, Interval.exactly(u)).mid)
    losses = losses[(losses > float(ends[0])) & (losses < float(ends[1]))]
    heights = pld.density(_FLOATS, Interval.exactly(losses)).mid
    return list(zip(losses.tolist(), heights.tolist(), strict=True))


def draw_pld(ax: "Axes", pld: PLD | Pair, *, eps: float | None = None, title: str = "") -> str:
    """Draw the law of the privacy loss of one release; returns the describing sentence.

    The density belongs to the left axis, the stems (atoms) to the right one, which is there only if both are; the
    mass at infinity is a stem at the right edge, with an arrow for a head. eps: what counts in delta(eps), the
    share 1 - e^{eps - s} of each loss above it, is shaded.

    >>> from dplab import RandomizedResponse
    >>> from dplab.plots import new_figure
    >>> figure, (ax,) = new_figure()
    >>> draw_pld(ax, RandomizedResponse(0.75))
    'Privacy loss distribution: 2 atoms, mass 0.25 at loss -1.1 and mass 0.75 at loss 1.1. No mass at infinity.'

    Raises UnboundSymbolError if a parameter is a symbol.
    """
    return draw_shape(ax, shape(pld if isinstance(pld, PLD) else PLD(pld)), eps=eps, title=title)


def draw_shape(ax: "Axes", law: Shape, *, eps: float | None = None, title: str = "") -> str:
    """Draw a law that is known in floats, as `draw_pld` does; returns the describing sentence."""
    both = bool(law.density) and (bool(law.atoms) or law.infinite > 0)
    if law.density:
        x, y = zip(*law.density, strict=True)
        ax.plot(x, y, color=BLUE, linewidth=LINE)
        ax.fill_between(x, y, color=BLUE, alpha=0.15, linewidth=0)
        if eps is not None:
            ax.fill_between(
                x, [_counted(s, eps) * height for s, height in law.density], color=GREEN, alpha=0.6, linewidth=0
            )
        ax.set_ylim(0, 1.15 * _top(law))
    if law.atoms or law.infinite:
        _stems(ax.twinx() if both else ax, law, both, eps)
    if eps is not None:
        ax.axvline(eps, color=GREY, linewidth=1, zorder=1)
    name_axes(ax, "privacy loss s (nats)", title or _heading(law, both))
    return _sentence(law)


def _top(law: Shape) -> float:
    """The highest density to be shown: at a turning point of the loss it is infinite."""
    heights = sorted(height for _, height in law.density)
    return min(heights[-1], _TALLEST * heights[int(0.9 * len(heights))])


def _counted(s: float, eps: float) -> float:
    """The share of a loss that counts in delta(eps): (1 - e^{eps - s})_+ [Koskela et al. 2021, Lemma 2]."""
    return -math.expm1(min(eps - s, 0.0))


def _stems(ax: "Axes", law: Shape, both: bool, eps: float | None = None) -> None:
    losses = [loss for loss, _ in law.atoms] + [x for x, _ in law.density]
    low, high = (min(losses), max(losses)) if losses else (0.0, 0.0)
    room = 0.08 * (high - low) or 1.0
    if law.atoms:
        x, mass = zip(*law.atoms, strict=True)
        few = len(x) <= _FEW_STEMS
        ax.vlines(x, 0, mass, color=VERMILLION, linewidth=3 if few else 1.6, zorder=3)
        if few:
            ax.plot(x, mass, "o", color=VERMILLION, markersize=8)
        if eps is not None:
            counted = [m * _counted(s, eps) for s, m in law.atoms]
            look = {"linewidth": 9, "alpha": 0.7, "zorder": 2} if few else {"linewidth": 1.6, "zorder": 4}
            ax.vlines(x, 0, counted, color=GREEN, **look)
    edge = high + room
    if law.infinite:
        if eps is not None:
            ax.vlines([edge], 0, [law.infinite], color=GREEN, linewidth=9, alpha=0.7, zorder=2)
        ax.vlines([edge], 0, [law.infinite], color=VERMILLION, linewidth=3, linestyle=(0, (2, 1)))
        ax.plot([edge], [law.infinite], ">", color=VERMILLION, markersize=11, clip_on=False)
        ax.annotate(
            f"δ(∞) = {short(law.infinite)}",
            (edge, law.infinite),
            (-8, 6),
            textcoords="offset points",
            ha="right",
            fontsize=TEXT,
            color=VERMILLION,
        )
    ax.set_xlim(low - room, edge + (room / 2 if law.infinite else 0))
    ax.set_ylim(0, 1.15 * max([law.infinite, *(mass for _, mass in law.atoms)]))
    if both:
        _right_axis(ax, VERMILLION)


def _right_axis(ax: "Axes", colour: str) -> None:
    ax.figure.subplots_adjust(right=1 - 0.95 / ax.figure.get_size_inches()[0])
    ax.set_ylabel("mass of an atom", fontsize=TEXT, color=colour)
    ax.tick_params(labelsize=TICK, colors=colour)
    ax.spines[["top", "left"]].set_visible(False)


def _heading(law: Shape, both: bool) -> str:
    if both:
        return "density ω(s), and atoms as stems"
    return "density ω(s)" if law.density else "mass"


def _sentence(law: Shape) -> str:
    parts = []
    if law.density:
        peak = max(law.density, key=lambda point: point[1])
        parts.append(f"a density {span(law.density[0][0], law.density[-1][0])}, highest near {short(peak[0])}")
    if law.atoms:
        named = in_words(f"mass {short(mass)} at loss {short(loss)}" for loss, mass in law.atoms[:6])
        more = " ..." if len(law.atoms) > 6 else ""
        parts.append(f"{len(law.atoms)} atom{'s' if len(law.atoms) > 1 else ''}, {named}{more}")
    infinite = f"Mass {short(law.infinite)} at infinity." if law.infinite else "No mass at infinity."
    return f"Privacy loss distribution: {'; '.join(parts) or 'nothing at finite losses'}. {infinite}"


def draw_mirror(ax: "Axes", pair: Pair, *, title: str = "") -> str:
    """Draw both PLDs of a mechanism, and e^s omega_{P/Q}(-s) as points, which lie on the second: the mirror identity.

    Atoms are stems of the same colours, in units of the right axis if there are densities too; a mass at infinity is
    named in the legend. Returns the describing sentence.

    Raises UnboundSymbolError if a parameter is a symbol.
    """
    forward, backward = (shape(PLD(pair, turned)) for turned in (False, True))
    both = bool(forward.density) and bool(forward.atoms)
    atoms = ax.twinx() if both else ax
    for law, name, colour, dash in ((forward, "P/Q", BLUE, "-"), (backward, "Q/P", VERMILLION, (0, (5, 3)))):
        label = name + (f", δ(∞) = {short(law.infinite)}" if law.infinite else "")
        if law.density:
            x, y = zip(*law.density, strict=True)
            ax.plot(x, y, color=colour, linestyle=dash, linewidth=LINE, label=label)
        if law.atoms:
            losses, masses = zip(*law.atoms, strict=True)
            few = len(losses) <= _FEW_STEMS
            atoms.vlines(losses, 0, masses, color=colour, linewidth=3 if few else 1.4, linestyle=dash)
            named = None if law.density else label
            atoms.plot(losses, masses, "o", color=colour, markersize=8 if few else 3, label=named)
        if not law.density and not law.atoms:
            ax.plot([], [], color=colour, linestyle=dash, linewidth=LINE, label=label)
    mirrored = "P/Q mirrored"
    look = {
        "color": BLACK,
        "linestyle": "",
        "markerfacecolor": "none",
        "markersize": 11,
        "markeredgewidth": 1.6,
        "zorder": 5,
    }
    if forward.density:
        every = max(1, len(forward.density) // 24)
        points = [(-s, math.exp(-s) * height) for s, height in forward.density[::every]]
        ax.plot(*zip(*points, strict=True), "o", label=mirrored, **{**look, "markersize": 6})
        ax.set_ylim(0, 1.4 * max(_top(law) for law in (forward, backward)))
    if forward.atoms:
        points = [(-s, math.exp(-s) * mass) for s, mass in forward.atoms]
        look["markersize"] = 11 if len(points) <= _FEW_STEMS else 5
        atoms.plot(*zip(*points, strict=True), "s", label=None if forward.density else mirrored, **look)
        atoms.set_ylim(0, 1.4 * max(mass for law in (forward, backward) for _, mass in law.atoms))
    if both:
        _right_axis(atoms, BLACK)
    name_axes(ax, "privacy loss s (nats)", title or _heading(forward, both))
    legend(ax, loc="upper center", ncols=2 if forward.infinite or backward.infinite else 3, columnspacing=1.2)
    return f"Both directions. P over Q: {_sentence(forward)} Q over P: {_sentence(backward)}"
