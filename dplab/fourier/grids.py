"""Grid PLDs: split (upper) and merge (lower), second order, strict on both sides.

The grid has nodes x_i = offset + i dx, i = first .. first + size - 1. A grid PLD is non-negative masses on the nodes
and a mass at infinity; composing it is exact up to the FFT. Masses here are plain floats: that they really bound the
PLD is not assumed but *certified* afterwards, node by node, in `certificate`.

All formulas are free of e^{x_i}: with P(x) = P(s > x), S(x) = e^x Q(s > x), a cell's Q-mass r enters as e^{x_i} r.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .hull import convex_masses
from .intervals import Interval, U
from .onestep import FN, OneStep, StepTails
from .wide import widened


@dataclass(frozen=True)
class Grid:
    """Nodes offset + i dx for `size` consecutive integers i from `first` on; offset and dx are meant exactly.

    `wide` asks for enclosures, and so for masses, in a type with a wider exponent (see `wide`).
    """

    offset: float
    dx: float
    first: int
    size: int
    wide: bool = False

    def at(self, shift: float = 0.0) -> Interval:
        """Enclosures of the points x_i + shift dx."""
        return self.points(np.arange(self.first, self.first + self.size) + shift)

    def points(self, index: np.ndarray) -> Interval:
        """Enclosures of offset + index dx, whole index or not."""
        points = Interval.exactly(widened(index, self.wide)) * self.dx
        return points if self.offset == 0.0 else points + self.offset

    @property
    def nodes(self) -> np.ndarray:
        """The nodes, rounded."""
        return self.offset + np.arange(self.first, self.first + self.size) * self.dx


@dataclass(frozen=True)
class GridPLD:
    """Masses on a grid's nodes and at infinity.

    Certified corrections, both >= 0: upper: h(x) <= e^{log_scale} h_grid(x - shift); lower: h(x) >=
    e^{-log_scale} h_grid(x + shift). `log_excess`, upper only, bounds the log of a total mass above 1.
    """

    grid: Grid
    masses: np.ndarray
    infinity: Any
    log_scale: float = 0.0
    shift: float = 0.0
    log_excess: float = 0.0


def split(step: OneStep, grid: Grid, tails: StepTails, curve: Interval) -> GridPLD:
    """Upper grid PLD: each cell's mass goes to both its ends, keeping its P- and Q-mass [Doroshenko et al. 2022].

    `tails` are those of the continuous part at the nodes, `curve` is h there. In (x_i, x_{i+1}] with masses p and r:
    w_{i+1} = (p - e^{x_i} r)/(1 - e^{-dx}), w_i = p - w_{i+1}. Below the grid all goes to its first node; above it
    h(x_top) goes to infinity and the rest to the last node.
    """
    p_tail, s_tail, excess = (values.mid for values in tails)
    dx = grid.dx
    p = p_tail[:-1] - p_tail[1:]
    fall = excess[:-1] - excess[1:] + np.expm1(-dx) * s_tail[1:]  # p - r
    right = np.clip(fall / -np.expm1(-dx), 0.0, np.maximum(p, 0.0))
    masses = np.zeros(grid.size, p.dtype)
    masses[1:] += right
    masses[:-1] += np.maximum(p - right, 0.0)
    masses[0] += max(float(step.below(grid.at()[:1]).mid[0]), 0.0)
    masses[-1] += s_tail[-1]
    _split_atoms(masses, grid, step.columns.loss.mid, step.columns.p.mid)
    return GridPLD(grid, masses, curve.hi[-1])


def _split_atoms(masses: np.ndarray, grid: Grid, losses: np.ndarray, p: np.ndarray) -> None:
    """Add atoms to both ends of their cells, or to an end of the grid."""
    cells = np.floor((losses - grid.offset) / grid.dx) - grid.first
    beyond = cells >= grid.size - 1
    masses[0] += p[cells < 0].sum()
    top = grid.offset + (grid.first + grid.size - 1) * grid.dx
    masses[-1] += (p[beyond] * np.exp(-np.maximum(losses[beyond] - top, 0.0))).sum()
    inside = (cells >= 0) & ~beyond
    cell, loss, mass = cells[inside].astype(int), losses[inside], p[inside]
    left = grid.offset + (grid.first + cell) * grid.dx
    right = np.clip(np.expm1(left - loss) / np.expm1(-grid.dx), 0.0, 1.0)
    np.add.at(masses, cell, mass * (1 - right))
    np.add.at(masses, cell + 1, mass * right)


@dataclass(frozen=True)
class Lines:
    """One supporting line of h a cell: the test set {s > m_i}, m_i = x_i + shift_i dx, 0 <= shift_i <= 1.

    `tails` are those of the continuous part at the m_i. Left of the grid the line is 1 - x (1 - delta_{Y/X}(inf)), or,
    if `drops_below`, the first cell's own: the mass below it is left out. An atom that sits on a node belongs to
    the line of a right end (shift 1) and not to that of a left end (shift 0). Without atoms the m_i may be off by
    `slack`.
    """

    grid: Grid
    shift: np.ndarray
    tails: StepTails
    drops_below: bool
    slack: float = 0.0
    ends: tuple[Interval, Interval] | None = None

    def _away(self, cells: np.ndarray) -> Interval:
        """Enclosures of x - m for an end x of a cell that many cells away."""
        exact = Interval.exactly(cells) * self.grid.dx
        return exact + Interval(-self.slack, self.slack) if self.slack else exact

    @property
    def points(self) -> np.ndarray:
        """The m_i, rounded."""
        return self.grid.nodes[:-1] + self.shift * self.grid.dx

    @property
    def atom_limits(self) -> np.ndarray:
        """Atoms above these losses belong to the test sets."""
        return self.points + (0.5 - self.shift) * (1e-3 * self.grid.dx)

    def values(self, step: OneStep, where=slice(None)) -> tuple[Interval, Interval]:
        """Enclosures of each line, or of some, at its cell's left and right end; `ends` keeps those of all."""
        if self.ends is not None:
            return self.ends[0][where], self.ends[1][where]
        nodes, m, shift = self.grid.at(), self.atom_limits[where], self.shift[where]
        tails, to_left, to_right = self.tails.at(where), self._away(-shift), self._away(1 - shift)
        return step.line(nodes[:-1][where], m, tails, to_left), step.line(nodes[1:][where], m, tails, to_right)

    def first(self, step: OneStep) -> tuple[Interval, float]:
        """The first cell's line at its left end, and a lower bound of its value at x = 0, the mass of {s > m_0}."""
        tails = self.tails.at(slice(1))
        to_left = self._away(-self.shift[:1])
        start = step.line(self.grid.at()[:1], self.atom_limits[:1], tails, to_left)
        above = step.sums.p_above(self.atom_limits[0]) if step.sums is not None else 0.0
        return start, max(float(tails.p.lo[0] + above + step.infinity.lo) * (1 - 8 * U), 0.0)

    def q_above(self, step: OneStep) -> tuple[np.ndarray, np.ndarray]:
        """Lower bounds of e^x Q(s > m_i) at each cell's left and right end x."""
        dx, m, nodes = self.grid.dx, self.atom_limits, self.grid.nodes
        ends = []
        for shift, x in ((-self.shift * dx, nodes[:-1]), ((1 - self.shift) * dx, nodes[1:])):
            mass = self.tails.s.lo * np.exp(np.minimum(shift, 700.0))
            if step.sums is not None:
                mass = mass + step.sums.q_above(x, m)
            ends.append(mass * (1 - 8 * U - 2 * self.slack))
        return ends[0], ends[1]


def supporting_lines(step: OneStep, grid: Grid) -> Lines:
    """Lines at the midpoints, except: at the left ends of the first two cells and at the right end of the last; and at
    the right end where the midpoint's line has lost half of h there (an off-grid atom, a tail or a start that the grid
    does not resolve).

    Left of the support h is the line 1 - x; if a node value fell below it where the mass starts, the hull would drag
    the whole line down, a loss of first order. The second cell's left end keeps it. Mass below the grid, which does
    not matter where the grid was planned to end there, is left out: with it the line 1 - x would do the same.
    """
    shift = np.full(grid.size - 1, 0.5)
    shift[:2], shift[-1] = 0.0, 1.0
    tails, slack = _line_tails(step, grid, shift)
    lines = Lines(grid, shift, tails, drops_below=False, slack=slack)
    (at_left, at_right), least = lines.values(step), float(step.infinity.lo)
    half = least + 0.5 * (np.append(at_left.lo[1:], least) - least)
    bad = at_right.lo < half
    # The first cell may hold everything, h being 0 within rounding at its right end; the last has its right end's line.
    bad[0], bad[-1] = at_right.hi[0] < max(half[0], least), False
    if bad.any():
        shift = np.where(bad, 1.0, shift)
        again = step.continuous(_points(grid, shift)[bad])
        for old, new in zip(tails, again, strict=True):
            old.lo[bad], old.hi[bad] = new.lo, new.hi
        lines = replace(lines, shift=shift)
        for old, new in zip((at_left, at_right), lines.values(step, bad), strict=True):
            old.lo[bad], old.hi[bad] = new.lo, new.hi
    lines = replace(lines, ends=(at_left, at_right))
    everything = 1 - FN.exp(grid.at()[:1]) * step.q_mass
    return replace(lines, drops_below=bool(everything.hi[0] < lines.first(step)[0].lo[0]))


def _line_tails(step: OneStep, grid: Grid, shift: np.ndarray) -> tuple[StepTails, float]:
    """The tails at the m_i, in arrays of their own, and by how much an m_i may be off its place.

    Without atoms the midpoints are taken as the nodes of a grid whose offset is `half_off` that of this one, rounded.
    """
    points = _points(grid, shift)
    if len(step.columns):
        return step.continuous(points), 0.0
    middle = half_off(grid)
    known = step.on_lattice(replace(grid, offset=middle, size=grid.size - 1))
    tails = StepTails(*(Interval(np.array(values.lo), np.array(values.hi)) for values in known))
    others = np.nonzero(shift != 0.5)[0]
    for values, exact in zip(tails, step.continuous(points[others]), strict=True):
        values.lo[others], values.hi[others] = exact.lo, exact.hi
    return tails, 4 * U * abs(middle) if grid.offset else 0.0


def half_off(grid: Grid) -> float:
    """The offset of a grid whose nodes are the midpoints of this one's cells."""
    return grid.offset + grid.dx / 2


def _points(grid: Grid, shift: np.ndarray) -> Interval:
    return grid.points(np.arange(grid.first, grid.first + grid.size - 1) + shift)


def merge(step: OneStep, lines: Lines) -> GridPLD:
    """Lower grid PLD: the smaller of two supporting lines of h at each node, then the lower convex hull.

    With the P-mass p_i and e^{x_i} times the Q-mass r_i of (m_{i-1}, m_i] (m_{-1} = -inf, m_{n-1} = inf), e = p - r:
    a_i = r_i + (e-_i - e+_{i+1})/(e^{dx} - 1) + (e+_i - e-_{i-1})/(1 - e^{-dx}).
    """
    grid, m = lines.grid, lines.atom_limits
    _, s_tail, excess = (values.mid for values in lines.tails)
    to_left, to_right = -lines.shift * grid.dx, (1 - lines.shift) * grid.dx
    e, r = np.empty(grid.size, excess.dtype), np.empty(grid.size, excess.dtype)
    at_right, at_left = excess - np.expm1(to_right) * s_tail, excess - np.expm1(to_left) * s_tail  # the lines there
    e[1:-1] = at_right[:-1] - at_left[1:]
    r[1:-1] = np.exp(to_right[:-1]) * s_tail[:-1] - np.exp(to_left[1:]) * s_tail[1:]
    r[0] = np.exp(grid.nodes[0]) * float(step.continuous_mass.q.mid) - s_tail[0] * np.exp(to_left[0])
    e[0] = step.below(_points(grid, lines.shift)[:1]).mid[0] - r[0]
    e[-1], r[-1] = at_right[-1], s_tail[-1] * np.exp(to_right[-1])
    at, mass = step.columns.loss.mid, step.columns.p.mid
    where = np.searchsorted(m, at)
    ahead = grid.nodes[where] - at
    np.add.at(e, where, mass * -np.expm1(ahead))
    np.add.at(r, where, mass * np.exp(ahead))
    if lines.drops_below:
        e[0] = r[0] = 0.0
    masses = convex_masses(_merged(e, r, grid.dx), grid.dx)
    return GridPLD(grid, masses, float(step.infinity.lo))


def _merged(e: np.ndarray, r: np.ndarray, dx: float) -> np.ndarray:
    plus, minus = np.maximum(e, 0.0), np.maximum(-e, 0.0)
    masses = r.copy()
    masses[0] += plus[0] + (minus[0] - plus[1]) / np.expm1(dx)
    masses[1:-1] += (minus[1:-1] - plus[2:]) / np.expm1(dx) + (plus[1:-1] - minus[:-2]) / -np.expm1(-dx)
    masses[-1] += (plus[-1] - minus[-2]) / -np.expm1(-dx)
    return masses
