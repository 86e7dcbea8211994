"""One release, strictly enclosed: tails, delta(eps) and supporting lines of a PLD on arrays of points.

With x a loss: P(x) = P(s > x), S(x) = e^x Q(s > x) (scaled, so that nothing overflows), and
h(x) = delta(log-scale x) = delta(inf) + P(x) - S(x). Atoms are kept apart from the continuous part, because
their share of h is p (1 - e^{x - s})_+ without any cancellation.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..core.pair import Tails
from ..core.pld import PLD
from .atoms import AtomSums
from .columns import Columns
from .intervals import Interval, maximum, minimum
from .lattices import Lattice, lattice_of
from .whole_numbers import LawTable

FN = LawTable()


class StepTails(NamedTuple):
    """Of the continuous part at points x: P(x) = P(s > x), S(x) = e^x Q(s > x), and P(x) - S(x) without the
    cancellation, where the mechanism knows how."""

    p: Interval
    s: Interval
    excess: Interval

    def at(self, index) -> "StepTails":
        """The tails at some of the points."""
        return StepTails(*(values[index] for values in self))


@dataclass(frozen=True)
class OneStep:
    """Strict float64 enclosures of one PLD."""

    pld: PLD

    @cached_property
    def columns(self) -> Columns:
        """The listed atoms, in increasing order of loss."""
        return Columns.of(self.pld.atoms(FN)).ascending()

    @cached_property
    def sums(self) -> AtomSums | None:
        """Their sums above a point; None without atoms."""
        return AtomSums(self.columns) if len(self.columns) else None

    @cached_property
    def atoms(self) -> list[tuple[Interval, Interval]]:
        """(loss, mass) of the listed atoms, in increasing order of loss (slow for many: see `columns`, `sums`)."""
        return [(atom.loss, atom.p) for atom in self.columns]

    @cached_property
    def unlisted(self) -> float:
        """An upper bound of the P-mass of atoms that are not listed (of an endless loss)."""
        rest = self.pld.remainder(FN)
        return 0.0 if rest is None else float(rest.p.hi)

    @cached_property
    def lattice(self) -> Lattice | None:
        """The lattice on which all atoms lie, if there is one and no density."""
        if self.support is not None or not len(self.columns):
            return None
        return lattice_of(self.columns, self.pld.lattice(FN))

    @cached_property
    def infinity(self) -> Interval:
        """delta(inf)."""
        return self.pld.mass_at_infinity(FN)

    @cached_property
    def q_mass(self) -> Interval:
        """Mass of the second distribution on finite losses, 1 - delta_{Y/X}(inf)."""
        return 1 - self.pld.mass_at_minus_infinity(FN)

    @cached_property
    def support(self) -> tuple[Interval, Interval] | None:
        """Ends of the continuous part as intervals (possibly infinite), or None."""
        ends = self.pld.support(FN)
        if ends is None:
            return None
        lower, upper = (end if isinstance(end, Interval) else Interval.exactly(end) for end in ends)
        return lower, upper

    @cached_property
    def continuous_mass(self) -> Tails:
        """Masses of the continuous part under both distributions."""
        return Tails(*(mass.clipped(0.0, 1.0) for mass in self.pld.continuous_mass(FN)))

    @cached_property
    def largest(self) -> Interval:
        """Enclosure of the largest finite loss (infinite if unbounded; 0 if there is no finite loss)."""
        ends = self._ends(1)
        return Interval(max(float(e.lo) for e in ends), max(float(e.hi) for e in ends))

    @cached_property
    def smallest(self) -> Interval:
        """Enclosure of the smallest finite loss (infinite if unbounded; 0 if there is no finite loss)."""
        ends = self._ends(0)
        return Interval(min(float(e.lo) for e in ends), min(float(e.hi) for e in ends))

    def _ends(self, which: int) -> list[Interval]:
        if self.pld.endless:
            found = (self.pld.loss_ends(FN) or (-np.inf, np.inf))[which]
            return [found if isinstance(found, Interval) else Interval.exactly(float(found))]
        ends = [self.columns.loss[index] for index in (0, -1)] if len(self.columns) else []
        if self.support is not None:
            ends.append(self.support[which])
        return ends or [Interval.exactly(0.0)]

    @cached_property
    def _kept(self) -> dict[str, tuple[Any, StepTails]]:
        return {}

    def on_lattice(self, grid) -> StepTails:
        """`continuous` at the nodes of a `grids.Grid`; the last ones are kept, since the nodes of one side are the
        midpoints of the other's cells."""
        if "last" in self._kept:
            before, tails = self._kept["last"]
            start = grid.first - before.first
            same = (before.offset, before.dx, before.wide) == (grid.offset, grid.dx, grid.wide)
            if same and start >= 0 and start + grid.size <= before.size:
                return tails.at(slice(start, start + grid.size))
        tails = self.continuous(grid.at())
        self._kept["last"] = grid, tails
        return tails

    def continuous(self, x: Interval, close: bool = True) -> StepTails:
        """The tails of the continuous part at any x (outside the support too); the excess is P - S unless `close`."""
        if self.support is None:
            zero = Interval(np.zeros(np.shape(x.lo)), np.zeros(np.shape(x.lo)))
            return StepTails(zero, zero, zero)
        lower, upper = self.support
        inside = minimum(maximum(x, lower), upper)
        p, s = self.pld.above_scaled(FN, inside)
        p = p.clipped(0.0, 1.0)
        excess = self.pld.excess_above(FN, inside) if close else p - s
        if np.isfinite(lower.lo) or np.isfinite(upper.hi):
            excess = excess - FN.expm1(x - inside) * s
            s = FN.exp(x - inside) * s
        total = self.continuous_mass
        zero = Interval.exactly(0.0)
        outside = [(x.lo >= upper.hi, StepTails(zero, zero, zero))]
        if np.isfinite(lower.lo):
            scaled = FN.exp(x) * total.q
            outside.append((x.hi <= lower.lo, StepTails(total.p, scaled, total.p - scaled)))
        found = StepTails(p, s, excess)
        for where, there in outside:
            if np.any(where):
                found = StepTails(
                    *(
                        Interval(np.where(where, new.lo, old.lo), np.where(where, new.hi, old.hi))
                        for new, old in zip(there, found, strict=True)
                    )
                )
        return StepTails(found.p, found.s.clipped(0.0, np.inf), found.excess.clipped(0.0, 1.0))

    def below(self, x: Interval) -> Interval:
        """P(s <= x) of the continuous part."""
        return self._below(x).p

    def q_below(self, x: Interval) -> Interval:
        """Q(s <= x) of the continuous part."""
        return self._below(x).q

    def _below(self, x: Interval) -> Tails:
        if self.support is None:
            zero = Interval(np.zeros(np.shape(x.lo)), np.zeros(np.shape(x.lo)))
            return Tails(zero, zero)
        lower, upper = self.support
        none, every = x.hi <= lower.lo, x.lo >= upper.hi
        found = []
        for mass, total in zip(
            self.pld.below(FN, minimum(maximum(x, lower), upper)), self.continuous_mass, strict=True
        ):
            m = mass.clipped(0.0, 1.0)
            ends = ((0.0, total.lo, m.lo), (0.0, total.hi, m.hi))
            found.append(Interval(*(np.where(none, low, np.where(every, high, inside)) for low, high, inside in ends)))
        return Tails(*found)

    def curve(self, x: Interval, tails: StepTails | None = None) -> Interval:
        """h(x), the one-step delta at eps = x."""
        total = (self.continuous(x) if tails is None else tails).excess + self.infinity
        if self.sums is not None:
            total = total + self.sums.curve(x) + Interval(0.0, self.unlisted)
        return total

    def line(self, x: Interval, atom_limit: np.ndarray, tails: StepTails, shift: Interval) -> Interval:
        """The line of the test set {s > m}, P(s > m) - e^x Q(s > m) + delta(inf), at x = m + shift.

        A lower bound of h(x) for every test set (Neyman-Pearson); `tails` are those at m, and
        atoms belong to the set above `atom_limit`.
        """
        total = tails.excess - FN.expm1(shift) * tails.s + self.infinity
        return total if self.sums is None else total + self.sums.line(x, atom_limit)
