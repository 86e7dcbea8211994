"""The privacy loss distribution of a pair in one direction.

Legend: omega is the law of s = log(P/Q) under P on {Q > 0}; backward it is the law of -s under Q, so that
omega_{Y/X}(x) = exp(x) omega_{X/Y}(-x) and M_{Y/X}(z) = M_{X/Y}(-1 - z). delta(inf) is kept apart. This file is the
only place where a direction is turned round: routes see a `PLD` and never ask which way it faces.
"""

from dataclasses import dataclass

from .pair import Atom, Coordinate, Pair, Tails


@dataclass(frozen=True)
class PLD:
    """The law of the privacy loss of `pair`, forward (P over Q) or backward (Q over P).

    All methods take a function table `fn` and answer in its arithmetic.
    """

    pair: Pair
    backward: bool = False

    def mass_at_infinity(self, fn):
        """delta(inf): mass of the first distribution where the second has none."""
        return self.pair.mass_at_minus_infinity(fn) if self.backward else self.pair.mass_at_infinity(fn)

    def mass_at_minus_infinity(self, fn):
        """Mass of the second distribution where the first has none."""
        return self.pair.mass_at_infinity(fn) if self.backward else self.pair.mass_at_minus_infinity(fn)

    def atoms(self, fn) -> list[Atom]:
        """Atoms at finite losses: (loss, mass under the first, mass under the second)."""
        atoms = self.pair.atoms(fn)
        return fn.each(atoms, lambda a: Atom(-a.loss, a.q, a.p)) if self.backward else atoms

    def remainder(self, fn) -> Tails | None:
        """Bounds of the masses that `atoms` leaves out, or None."""
        rest = self.pair.remainder(fn)
        return Tails(rest.q, rest.p) if rest is not None and self.backward else rest

    @property
    def endless(self) -> bool:
        """True when the loss takes infinitely many values without a density."""
        return self.pair.endless

    def loss_ends(self, fn) -> tuple | None:
        """Infimum and supremum of an endless loss, or None."""
        ends = self.pair.loss_ends(fn)
        return (-ends[1], -ends[0]) if ends is not None and self.backward else ends

    def outcome_masses(self, fn, j) -> Tails:
        """Masses of a common outcome j."""
        p, q = self.pair.outcome_masses(fn, j)
        return Tails(q, p) if self.backward else Tails(p, q)

    def atoms_above(self, fn, x) -> Tails | None:
        """Masses of the atoms above x in closed form, or None (an atom at x itself may be counted or not)."""
        if not self.backward:
            return self.pair.atoms_above(fn, x)
        tails = self.pair.atoms_below(fn, -x)
        return None if tails is None else Tails(tails.q, tails.p)

    def lattice(self, fn) -> tuple | None:
        """(offset, spacing) of a lattice that holds all finite losses, or None."""
        found = self.pair.lattice(fn)
        return (-found[0], found[1]) if found is not None and self.backward else found

    def support(self, fn) -> tuple | None:
        """Ends of the interval of the continuous part, or None."""
        ends = self.pair.support(fn)
        return (-ends[1], -ends[0]) if ends is not None and self.backward else ends

    def density(self, fn, x):
        """Density of omega at x, inside the support."""
        if self.backward:
            return fn.exp(x) * self.pair.density(fn, -x)
        return self.pair.density(fn, x)

    def above(self, fn, x) -> Tails:
        """Masses of {s > x} in the continuous part, x inside the support."""
        if self.backward:
            p, q = self.pair.below(fn, -x)
            return Tails(q, p)
        return self.pair.above(fn, x)

    def above_scaled(self, fn, x) -> Tails:
        """Mass of {s > x} under the first distribution, and e^x times that under the second, without overflow."""
        if self.backward:
            p, q = self.pair.below_scaled(fn, -x)
            return Tails(q, p)
        return self.pair.above_scaled(fn, x)

    def excess_above(self, fn, x):
        """delta(x) of the continuous part, x inside the support: its mass above x less e^x times the second one's."""
        return self.pair.excess_below(fn, -x) if self.backward else self.pair.excess_above(fn, x)

    def below(self, fn, x) -> Tails:
        """Masses of {s <= x} in the continuous part, x inside the support."""
        if self.backward:
            p, q = self.pair.above(fn, -x)
            return Tails(q, p)
        return self.pair.below(fn, x)

    def continuous_mass(self, fn) -> Tails:
        """Total masses of the continuous part under the two distributions (zero without one)."""
        zero, one = fn.rational(0, 1), fn.rational(1, 1)
        if self.pair.support(fn) is None:
            return Tails(zero, zero)
        p, q = one - self.mass_at_infinity(fn), one - self.mass_at_minus_infinity(fn)
        for atom in self.atoms(fn):
            p, q = p - atom.p, q - atom.q
        return Tails(p, q)

    def masses_above(self, fn, x) -> Tails:
        """P(x < s < inf) and Q(s > x), atoms included; x and the atoms must be numbers that can be compared."""
        p, q = fn.rational(0, 1), fn.rational(0, 1)
        for atom in self.atoms(fn):
            if atom.loss > x:
                p, q = p + atom.p, q + atom.q
        ends = self.support(fn)
        if ends is not None and x < ends[1]:
            rest = self.above(fn, x) if x > ends[0] else self.continuous_mass(fn)
            p, q = p + rest.p, q + rest.q
        return Tails(p, q)

    def mgf(self, fn, z):
        """M(z) in closed form, or None."""
        return self.pair.mgf(fn, -1 - z if self.backward else z)

    def panels(self) -> "list[PLD]":
        """The continuous part cut into smooth panels, each with a coordinate of its own; atoms left aside."""
        return [PLD(panel, self.backward) for panel in self.pair.panels()]

    def turns(self, fn) -> list | None:
        """The coordinates at which the loss turns, None where they are not known."""
        return self.pair.turns(fn)

    def knots(self, fn) -> list:
        """Losses inside the support where the formulas of the tails change, largest first."""
        knots = self.pair.knots(fn)
        return [-knot for knot in reversed(knots)] if self.backward else knots

    def coordinate(self, fn) -> Coordinate | None:
        """The smooth variable of the continuous part, or None."""
        return self.pair.coordinate(fn)

    def coordinate_loss(self, fn, u):
        """The loss at u."""
        loss = self.pair.coordinate_loss(fn, u)
        return -loss if self.backward else loss

    def coordinate_densities(self, fn, u) -> Tails:
        """Densities of the first and the second distribution along u."""
        p, q = self.pair.coordinate_densities(fn, u)
        return Tails(q, p) if self.backward else Tails(p, q)
