"""One smooth panel of a pair as a pair of sub-probabilities, for quadrature along its own coordinate.

On a bounded cell and on a half line the coordinate is the outcome itself. On the whole line it is chosen by how the
densities fall: t for Gaussian tails, t = c + w sinh u for exponential ones, t = c + w sinh(pi/2 sinh u) for powers, so
that along u they always fall at least as fast as a Gaussian. On a bounded cell at an end of which a density vanishes,
t = end -+ width/(1 + e^{pi sinh u}): the distance from the end is what counts there, and it is kept to full precision.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import mpmath

from ...core.functions import MpmathTable
from ...core.pair import Coordinate, Pair, Tails
from . import tails

if TYPE_CHECKING:
    from .analysis import Panel
    from .densities import DensityPair

GAUSSIAN, EXPONENTIAL, POWER = range(3)


class Shape(NamedTuple):
    """Where a panel's mass is, how wide it is, and how it falls."""

    center: mpmath.mpf
    width: mpmath.mpf
    fall: int
    sharp: bool = False
    """Whether a density vanishes at an end of a bounded cell, so that the loss is unbounded there."""


class Part(Pair):
    """Panel number `index` of a pair, with its share of the masses: for quadrature, not for composition."""

    def __init__(self, mechanism: DensityPair, index: int):
        object.__setattr__(self, "mechanism", mechanism)
        object.__setattr__(self, "index", index)
        self._set(mechanism=mechanism)

    mechanism: DensityPair
    index: int

    def _key(self) -> tuple:
        return ("Part", self.mechanism, self.index)

    @property
    def panel(self) -> Panel:
        """The panel."""
        return self.mechanism.analysis.panels[self.index]

    def reduced(self):
        """Itself."""
        return self

    def panels(self):
        """Itself alone."""
        return [self]

    def coordinate(self, fn):
        """The interval of u, with a typical value and width."""
        lower, upper = (tails.value(fn, end) for end in (self.panel.cell.lower, self.panel.cell.upper))
        found = shape(self.panel)
        if found.sharp:
            return Coordinate(-fn.inf, fn.inf, fn.rational(0, 1), fn.rational(1, 1))
        if not fn.is_infinite(lower) and not fn.is_infinite(upper):
            return Coordinate(lower, upper, (lower + upper) / 2, (upper - lower) / 2)
        if fn.is_infinite(lower) and fn.is_infinite(upper) and found.fall != GAUSSIAN:
            return Coordinate(lower, upper, fn.rational(0, 1), fn.rational(1, 1))
        return Coordinate(lower, upper, found.center, found.width)

    def _outcome(self, fn, u) -> tuple:
        """t(u) and dt/du."""
        cell, found = self.panel.cell, shape(self.panel)
        if not (cell.lower.is_infinite and cell.upper.is_infinite) or found.fall == GAUSSIAN:
            return u, fn.rational(1, 1)
        if found.fall == EXPONENTIAL:
            return found.center + found.width * mpmath.sinh(u), found.width * mpmath.cosh(u)
        inner = fn.pi / 2 * mpmath.sinh(u)
        slope = fn.pi / 2 * mpmath.cosh(u) * mpmath.cosh(inner)
        return found.center + found.width * mpmath.sinh(inner), found.width * slope

    def _near_end(self, fn, u) -> tuple:
        """Loss and densities along u of a bounded cell, with the digits that the distance from the end needs."""
        side = 1 if mpmath.re(u) > 0 else -1
        inner = mpmath.pi * mpmath.sinh(side * u)
        digits = mpmath.re(inner) / mpmath.log(10)
        if digits > 6 * mpmath.mp.dps:  # nothing is left
            return fn.rational(0, 1), Tails(fn.rational(0, 1), fn.rational(0, 1))
        with mpmath.workdps(mpmath.mp.dps + 5 + int(max(digits, 0))):
            lower, upper = (tails.value(fn, end) for end in (self.panel.cell.lower, self.panel.cell.upper))
            fraction = 1 / (1 + mpmath.exp(inner))
            distance = (upper - lower) * fraction
            t = upper - distance if side > 0 else lower + distance
            stretch = distance * (1 - fraction) * mpmath.pi * mpmath.cosh(u)
            programs = self.panel.programs
            densities = Tails(programs["p"](fn, t) * stretch, programs["q"](fn, t) * stretch)
            loss = programs["loss"](fn, t)
        return +loss, Tails(+densities.p, +densities.q)

    def turns(self, fn) -> list:
        """The u at which the loss turns, in increasing order."""
        inner = [piece.upper for piece in self.mechanism.pieces if piece.panel is self.panel][:-1]
        return [self._coordinate_of(fn, tails.value(fn, at)) for at in inner]

    def _coordinate_of(self, fn, t):
        """u(t)."""
        cell, found = self.panel.cell, shape(self.panel)
        if found.sharp:
            lower, upper = (tails.value(fn, end) for end in (cell.lower, cell.upper))
            return mpmath.asinh(mpmath.log((t - lower) / (upper - t)) / mpmath.pi)
        if not (cell.lower.is_infinite and cell.upper.is_infinite) or found.fall == GAUSSIAN:
            return t
        inner = mpmath.asinh((t - found.center) / found.width)
        return inner if found.fall == EXPONENTIAL else mpmath.asinh(2 * inner / fn.pi)

    def coordinate_loss(self, fn, u):
        """The loss at u."""
        if shape(self.panel).sharp:
            return self._near_end(fn, u)[0]
        loss = self.panel.programs["loss"](fn, self._outcome(fn, u)[0])
        return loss if isinstance(u, mpmath.mpc) else mpmath.re(loss)  # rounding may move u over an end of the cell

    def coordinate_densities(self, fn, u):
        """Densities of P and Q along u."""
        if shape(self.panel).sharp:
            return self._near_end(fn, u)[1]
        t, stretch = self._outcome(fn, u)
        programs = self.panel.programs
        found = Tails(programs["p"](fn, t) * stretch, programs["q"](fn, t) * stretch)
        if isinstance(u, mpmath.mpc) or all(isinstance(mass, mpmath.mpf) and mass >= 0 for mass in found):
            return found
        return Tails(fn.rational(0, 1), fn.rational(0, 1))


@lru_cache(maxsize=512)
def shape(panel: Panel) -> Shape:
    """Where the mass of a panel is, to a few digits."""
    from .losses import leading

    fn, cell = MpmathTable(), panel.cell
    falls = []
    for end, side in ((cell.lower, -1), (cell.upper, 1)):
        if end.is_infinite:
            for density in (cell.p, cell.q):
                lead = leading(density, panel.variable, side)
                if lead is not None and lead.a2.is_negative:
                    falls.append(GAUSSIAN)
                else:
                    falls.append(EXPONENTIAL if lead is None or lead.a1.is_negative else POWER)
    with mpmath.workdps(20):
        if not cell.lower.is_infinite and not cell.upper.is_infinite:
            center = tails.value(fn, cell.sample)
            return Shape(center, center, GAUSSIAN, _sharp(panel))
        if not cell.lower.is_infinite or not cell.upper.is_infinite:
            start = tails.value(fn, cell.upper if cell.lower.is_infinite else cell.lower)
            return Shape(start, _typical_distance(panel, start), max(falls, default=GAUSSIAN))
        center = _median(panel)
        return Shape(center, _quantile_distance(panel, center), max(falls))


def _sharp(panel: Panel) -> bool:
    fn, cell = MpmathTable(), panel.cell
    ends = [tails.value(fn, end) for end in (cell.lower, cell.upper)]
    small = mpmath.mpf(10) ** -15
    heights = [_height(panel.programs[side], fn, end) for side in "pq" for end in ends]
    return any(abs(height) < small or mpmath.isinf(height) for height in heights)


def _height(density, fn, at):
    """A density at an end of its cell, where it may be infinite."""
    try:
        return density(fn, at)
    except ZeroDivisionError:
        return mpmath.inf


def _median(panel: Panel):
    """About the point with half of P's mass on either side."""
    fn = MpmathTable()
    program = panel.programs.get("p_left")
    if program is None:
        from .turning import scan_points

        density = panel.programs["p"]
        return max(scan_points(panel), key=lambda at: density(fn, at))
    right, total = panel.programs["p_right"], tails.value(fn, panel.p_mass.total)

    def below(at) -> bool:
        """Whether less than half of the mass lies left of a point."""
        return (program(fn, at) if at < 0 else total - right(fn, at)) < total / 2

    low, high = mpmath.mpf(-1), mpmath.mpf(1)
    while not below(low) and low > -(mpmath.mpf(10) ** 300):
        low *= 2
    while below(high) and high < mpmath.mpf(10) ** 300:
        high *= 2
    for _ in range(20):
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle) else (low, middle)
    return (low + high) / 2


def _typical_distance(panel: Panel, start):
    """The distance from the end of a half line at which most of P's mass is, in octaves."""
    fn, density = MpmathTable(), panel.programs["p"]
    side = -1 if panel.cell.lower.is_infinite else 1
    distances = [mpmath.mpf(2) ** (mpmath.mpf(i) / 2) for i in range(-400, 401)]
    return max(distances, key=lambda distance: distance * density(fn, start + side * distance))


def _quantile_distance(panel: Panel, start):
    """About how far to the right the density stays within a factor e of its value at a point."""
    fn, density = MpmathTable(), panel.programs["p"]
    width = mpmath.mpf(1)
    inside = start + width / 1000
    height = density(fn, inside)
    while density(fn, start + width) * mpmath.e < height and width > mpmath.mpf(10) ** -60:
        width /= 2
        height = max(height, density(fn, start + width / 1000))
    while density(fn, start + 2 * width) * mpmath.e > height and width < mpmath.mpf(10) ** 60:
        width *= 2
    return width
