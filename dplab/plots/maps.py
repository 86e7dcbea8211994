"""Laws pushed through a map: outcomes to losses, and losses to the losses of a sampled mechanism.

One vocabulary for both: the map is a curve; below it, along the x axis, stands the law that goes in; at its left, along
the y axis, the law that comes out. A strip of what goes in is carried over with its mass.
"""

import math
from typing import TYPE_CHECKING

import mpmath
import numpy as np

from ..core.functions import MpmathTable
from ..core.pair import Pair
from ..core.parameters import approximate, probability, require_numbers
from ..core.pld import PLD
from ..mechanisms import PoissonSubsampled
from .losses import Shape, shape
from .outcomes import Line, Table, need_numbers, outcomes
from .style import BLACK, BLUE, GREEN, GREY, LINE, TEXT, TICK, VERMILLION, name_axes
from .words import short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_TICKS = 5
_SHARE = 0.3
"""How much of the picture, in either direction, the two laws take."""


class _Frame:
    """Where in the axes the curve, the law below and the law at the left are drawn."""

    def __init__(self, ax: "Axes", x: tuple[float, float], y: tuple[float, float]):
        self.ax = ax
        x, y = ((a, b) if b - a > 1e-9 else (a - 1, b + 1) for a, b in (x, y))
        wide, high = x[1] - x[0], y[1] - y[0]
        self.left, self.bottom = x[0] - (_SHARE + 0.06) * wide, y[0] - (_SHARE + 0.06) * high
        self.wide, self.high = _SHARE * wide, _SHARE * high
        self.gap = 0.06 * wide
        ax.set_xlim(self.left, x[1] + 0.03 * wide)
        ax.set_ylim(self.bottom, y[1] + 0.05 * high)

    def below(self, x, heights, highest: float, **look) -> None:
        """A density along the x axis."""
        y = self.bottom + self.high * np.minimum(np.asarray(heights) / highest, 1.0)
        self.ax.fill_between(x, self.bottom, y, linewidth=0, **look)

    def beside(self, y, heights, highest: float, **look) -> None:
        """A density along the y axis."""
        x = self.left + self.wide * np.minimum(np.asarray(heights) / highest, 1.0)
        self.ax.fill_betweenx(y, self.left, x, linewidth=0, **look)

    def stems_below(self, atoms) -> None:
        """Atoms along the x axis."""
        if atoms:
            x, share = _shares(atoms)
            tops = self.bottom + self.high * share
            self.ax.vlines(x, self.bottom, tops, color=VERMILLION, linewidth=3 if len(x) <= 30 else 1.5)
            self.ax.plot(x, tops, "o", color=VERMILLION, markersize=7 if len(x) <= 30 else 3)

    def stems_beside(self, atoms) -> None:
        """Atoms along the y axis."""
        if atoms:
            y, share = _shares(atoms)
            ends = self.left + self.wide * share
            self.ax.hlines(y, self.left, ends, color=VERMILLION, linewidth=3 if len(y) <= 30 else 1.5)
            self.ax.plot(ends, y, "o", color=VERMILLION, markersize=7 if len(y) <= 30 else 3)

    def carry(self, x: float, y: float) -> None:
        """From the x axis up to the curve, and from there to the y axis."""
        self.ax.plot([x, x, self.left], [self.bottom, y, y], color=GREEN, linewidth=1.3, linestyle=(0, (4, 2)))


def _shares(atoms) -> tuple[np.ndarray, np.ndarray]:
    """Where the atoms are, and their lengths: a mass of 1 (or the largest of many small ones) has the full one."""
    place, mass = np.array(atoms, float).T
    full = 1.0 if float(np.max(mass)) > 0.25 else 1.1 * float(np.max(mass))
    return place, np.maximum(mass / full, 0.02)


def draw_loss_map(
    ax: "Axes", pair: Pair, strip: tuple[float, float] | None = None, *, backward: bool = False, title: str = ""
) -> str:
    """Draw the loss s(t) of every outcome, the law of t below it, and omega at its left.

    strip: an interval of real outcomes; it is carried over to the interval of its losses. Returns the describing
    sentence. Outcomes that only one of the two can produce have no finite loss and no point.

    >>> from dplab import RandomizedResponse
    >>> from dplab.plots import new_figure
    >>> figure, (ax,) = new_figure()
    >>> draw_loss_map(ax, RandomizedResponse("0.75"))
    'The losses of 2 outcomes, from -1.1 to 1.1.'
    """
    law = outcomes(pair, backward)
    image = shape(PLD(pair, backward))
    first = "Q" if backward else "P"
    if isinstance(law, Table):
        said = _draw_listed(ax, law, image)
    else:
        said = _draw_line(ax, law, image, strip, first)
    ax.axhline(0, color=GREY, linewidth=0.8, zorder=0)
    name_axes(ax, f"outcome t, with its law under {first}", title or "privacy loss s(t), and ω(s) at the left")
    return said


def _draw_line(ax: "Axes", law: Line, image: Shape, strip: tuple[float, float] | None, first: str) -> str:
    t = np.linspace(*law.window, 401)
    s, p = law.loss(t), law.p(t)
    finite = np.isfinite(s)
    lowest, highest = (float(end) for end in (np.min(s[finite], initial=0.0), np.max(s[finite], initial=0.0)))
    losses = np.array([loss for loss, _ in [*image.atoms, *image.density]])
    kept = losses[(losses >= lowest - 1e-9) & (losses <= highest + 1e-9)]
    frame = _Frame(ax, (t[0], t[-1]), (lowest, highest))
    frame.below(t, p, float(np.max(p)), color=BLUE, alpha=0.25)
    _image(frame, image, float(np.min(kept, initial=lowest)), float(np.max(kept, initial=highest)))
    _only_first(frame, t, s, p)
    ax.plot(t, np.where(finite, s, np.nan), color=BLACK, linewidth=LINE)
    said = f"The loss s(t) for outcomes t {_span(t[0], t[-1])}: losses {_span(lowest, highest)}."
    if strip is None:
        return said
    low, high = (min(max(float(end), t[0]), t[-1]) for end in strip)
    inside = np.linspace(low, high, 61)
    frame.below(inside, law.p(inside), float(np.max(p)), color=GREEN, alpha=0.7)
    mass = law.masses([(low, high)]).p
    reached = law.loss(inside)
    if not np.all(np.isfinite(reached)):
        return f"{said} Outcomes {_span(low, high)}, of mass {short(mass)} under {first}, have no finite loss in part."
    smallest, largest = float(np.min(reached)), float(np.max(reached))
    carried = np.linspace(smallest, largest, 61)
    frame.beside(carried, _density_at(image, carried), _highest(image), color=GREEN, alpha=0.7)
    for end, loss in ((low, reached[0]), (high, reached[-1])):
        frame.carry(end, float(loss))
    one_to_one = bool(np.all(np.diff(reached) > 0) or np.all(np.diff(reached) < 0))
    same = ", of the same mass under ω" if one_to_one else ""
    return (
        f"{said} Outcomes {_span(low, high)}, of mass {short(mass)} under {first}, have losses "
        f"{_span(smallest, largest)}{same}."
    )


def _only_first(frame: _Frame, t: np.ndarray, s: np.ndarray, p: np.ndarray) -> None:
    """Outcomes with an infinite loss, which only the first of the two can produce."""
    alone = np.where(s == np.inf, p, 0.0)
    if np.any(alone):
        frame.below(t, alone, float(np.max(p)), color=VERMILLION, alpha=0.6)
        place = float(np.mean(t[alone > 0]))
        frame.ax.annotate(
            "s = ∞", (place, frame.bottom + frame.high), (0, 4), textcoords="offset points", ha="center", fontsize=TEXT,
            color=VERMILLION,
        )  # fmt: skip


def _draw_listed(ax: "Axes", law: Table, image: Shape) -> str:
    x = np.arange(len(law.names), dtype=float)
    with np.errstate(divide="ignore"):
        s = np.log(law.p) - np.log(law.q)
    finite = np.isfinite(s)
    lowest, highest = (float(end) for end in (np.min(s[finite], initial=0.0), np.max(s[finite], initial=0.0)))
    frame = _Frame(ax, (x[0] - 0.5, x[-1] + 0.5), (lowest, highest))
    frame.stems_below([(place, mass) for place, mass in zip(x, law.p, strict=True) if mass])
    frame.stems_beside([(loss, mass) for loss, mass in image.atoms if lowest - 1e-9 <= loss <= highest + 1e-9])
    ax.plot(x[finite], s[finite], "o", color=BLACK, markersize=8 if len(x) <= 30 else 4)
    for place, loss in zip(x[finite], s[finite], strict=True):
        if len(x) <= 8:
            frame.carry(float(place), float(loss))
    every = -(-len(x) // _MOST_TICKS)
    ax.set_xticks(x[::every], law.names[::every], fontsize=TICK)
    return f"The losses of {len(x)} outcomes, {_span(lowest, highest)}."


def draw_sampling_map(ax: "Axes", pair: Pair, q, *, backward: bool = False, title: str = "") -> str:
    """Draw what Poisson sampling at rate q does to a loss: s goes to log(1 - q + q e^s), and minus that backward.

    Below stands the law of the mechanism's own loss s, under the mixture q P + (1-q) Q (backward: under Q); at the
    left the law of the sampled mechanism's loss. Outcomes that P cannot produce have s = -infinity and become an atom
    at log(1-q). Returns the describing sentence.

    Raises UnboundSymbolError for symbols, ParameterError for q outside (0, 1].
    """
    need_numbers(pair)
    require_numbers("a picture", probability(q, "q"))
    rate, sampled = float(approximate(probability(q, "q"))), PoissonSubsampled(pair, q)
    own, image = shape(PLD(pair)), shape(PLD(sampled, backward))
    with mpmath.workdps(15):
        lacking = float(pair.mass_at_minus_infinity(MpmathTable()))
    sign = -1.0 if backward else 1.0

    def weight(s):
        return np.exp(-s) if backward else rate + (1 - rate) * np.exp(-s)

    losses = [s for s, _ in [*own.atoms, *own.density]] or [0.0]
    low, high = min(losses), max(losses)
    room = 0.35 * ((high - low) or 1.0) if lacking else 0.0
    s = np.linspace(low - room, high, 401)
    phi = sign * np.log1p(rate * np.expm1(s))
    floor = sign * math.log1p(-rate) if rate < 1 and (lacking or math.isinf(_lowest(pair))) else None
    ends = (
        (float(np.min(phi)), float(np.max(phi)))
        if floor is None
        else (min(np.min(phi), floor), max(np.max(phi), floor))
    )
    frame = _Frame(ax, (s[0], s[-1]), ends)
    if own.density:
        x, omega = np.array(own.density).T
        heights = omega * weight(x)
        frame.below(x, heights, float(np.max(heights)), color=BLUE, alpha=0.25)
    extra_mass = lacking if backward else (1 - rate) * lacking
    atoms = [(loss, mass * float(weight(loss))) for loss, mass in own.atoms] + [(s[0], extra_mass)] * bool(lacking)
    frame.stems_below(atoms)
    if lacking:
        frame.carry(s[0], sign * math.log1p(-rate))
        ax.annotate(
            "s = −∞", (s[0], frame.bottom + frame.high * float(_shares(atoms)[1][-1])), (6, 4),
            textcoords="offset points",
            fontsize=TEXT, color=VERMILLION,
        )  # fmt: skip
    inside = [loss for loss, _ in [*image.atoms, *image.density]]
    _image(frame, image, min(inside, default=0.0), max(inside, default=0.0))
    ax.plot(s, phi, color=BLACK, linewidth=LINE)
    if floor is not None:
        ax.axhline(floor, color=GREY, linewidth=1, linestyle=(0, (1, 2)))
        ax.annotate(
            "−log(1−q)" if backward else "log(1−q)", (s[-1], floor), (0, 4 if backward else 5),
            textcoords="offset points", ha="right", fontsize=TEXT, color=GREY,
        )  # fmt: skip
    under = "Q" if backward else "qP + (1−q)Q"
    heading = "add: −φ(s)" if backward else "remove: φ(s)"
    heading += f", and δ(∞) = {short(image.infinite)}" if image.infinite else ""
    name_axes(ax, f"loss s of the mechanism itself, under {under}", title or heading)
    extra = f" An atom of mass {short(extra_mass)} comes from s = −∞." if lacking else ""
    infinite = f" Mass at infinity {short(image.infinite)}." if image.infinite else " No mass at infinity."
    return (
        f"Sampling at q = {short(rate)}, {'add' if backward else 'remove'}: losses {_span(low, high)} become "
        f"{_span(min(inside, default=0.0), max(inside, default=0.0))}.{extra}{infinite}"
    )


def _lowest(pair: Pair) -> float:
    ends = pair.support(MpmathTable())
    return float(ends[0]) if ends is not None else 0.0


def _image(frame: _Frame, image: Shape, low: float, high: float) -> None:
    """The law that comes out, at the left."""
    if image.density:
        y, omega = (np.array(column) for column in zip(*image.density, strict=True))
        kept = (y >= low) & (y <= high)
        frame.beside(y[kept], omega[kept], _highest(image), color=BLUE, alpha=0.25)
    frame.stems_beside([(loss, mass) for loss, mass in image.atoms if low <= loss <= high])


def _highest(image: Shape) -> float:
    """The height that fills the margin: a peak, but not a narrow spike."""
    if not image.density:
        return 1.0
    y, omega = np.array(image.density).T
    return min(float(np.max(omega)), 6 / max(float(y[-1] - y[0]), 1e-9))


def _density_at(image: Shape, losses: np.ndarray) -> np.ndarray:
    if not image.density:
        return np.zeros(len(losses))
    y, omega = np.array(image.density).T
    return np.interp(losses, y, omega, 0, 0)


def _span(low, high) -> str:
    first, last = (short(float(end) + 0.0) for end in (low, high))
    return f"at {first}" if first == last else f"from {first} to {last}"
