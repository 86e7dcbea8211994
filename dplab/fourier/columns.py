"""Atoms as columns: arrays of losses and masses instead of a list, so that 100,000 atoms are one array operation."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from ..core.pair import Atom
from .intervals import Interval, U

_SAME = 64
"""Losses within this many u of their size count as one loss; the hull of both is kept."""


@dataclass(frozen=True)
class Columns:
    """Losses, P-masses and Q-masses of atoms, each an Interval of arrays. Iterates over its atoms."""

    loss: Interval
    p: Interval
    q: Interval

    @classmethod
    def of(cls, atoms: "Iterable[Atom] | Columns") -> "Columns":
        """Columns of a list of atoms with scalar intervals."""
        if isinstance(atoms, Columns):
            return atoms
        rows = list(atoms)
        columns = [[atom[i] for atom in rows] for i in range(3)]
        return cls(*(Interval(_floats(x.lo for x in c), _floats(x.hi for x in c)) for c in columns))

    @classmethod
    def made(cls, loss: Interval, p: Interval, q: Interval) -> "Columns":
        """Columns of results that may be scalars (a mass that is the same for all)."""
        size = max(np.size(x.lo) for x in (loss, p, q))
        return cls(*(Interval(np.broadcast_to(x.lo, size), np.broadcast_to(x.hi, size)) for x in (loss, p, q)))

    def __len__(self) -> int:
        return len(self.loss.lo)

    def __iter__(self) -> Iterator[Atom]:
        return (Atom(self.loss[i], self.p[i], self.q[i]) for i in range(len(self)))

    def __getitem__(self, index) -> "Columns":
        return Columns(self.loss[index], self.p[index], self.q[index])

    def joined(self, other: "Columns") -> "Columns":
        """All atoms of both."""
        pairs = zip((self.loss, self.p, self.q), (other.loss, other.p, other.q), strict=True)
        return Columns(*(Interval(np.append(a.lo, b.lo), np.append(a.hi, b.hi)) for a, b in pairs))

    def ascending(self) -> "Columns":
        """In increasing order of loss."""
        order = np.argsort(self.loss.mid, kind="stable")
        return self[order]

    def plus(self, other: "Columns") -> "Columns":
        """The atoms of the sum of two independent losses, from the largest down; equal losses are one atom, whose
        loss lies in the hull."""
        one = Columns(*(Interval(x.lo[:, None], x.hi[:, None]) for x in (self.loss, self.p, self.q)))
        loss, p, q = one.loss + other.loss, one.p * other.p, one.q * other.q
        flat = Columns(*(Interval(np.ravel(x.lo), np.ravel(x.hi)) for x in (loss, p, q))).ascending()
        middle = flat.loss.mid
        gap = np.diff(middle)
        first = np.flatnonzero(np.append(True, gap > _SAME * U * (1 + np.abs(middle[1:]))))
        merged = Columns(
            Interval(np.minimum.reduceat(flat.loss.lo, first), np.maximum.reduceat(flat.loss.hi, first)),
            *(_added(x, first) for x in (flat.p, flat.q)),
        )
        return merged[::-1]


def added(values: Interval) -> Interval:
    """The sum of an array of numbers >= 0."""
    count = np.size(values.lo)
    lo, hi = float(np.sum(values.lo)), float(np.sum(values.hi))
    return Interval(max(lo * (1 - count * U), 0.0), hi * (1 + 2 * count * U))


def _added(masses: Interval, first: np.ndarray) -> Interval:
    """Sums of masses >= 0 over the runs that start at `first`, rounded outwards."""
    counts = np.diff(np.append(first, len(masses.lo)))
    lo, hi = np.add.reduceat(masses.lo, first), np.add.reduceat(masses.hi, first)
    return Interval(lo * (1 - counts * U), hi * (1 + 2 * counts * U))


def _floats(values) -> np.ndarray:
    return np.array([float(value) for value in values])
