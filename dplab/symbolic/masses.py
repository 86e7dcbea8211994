"""Outcomes with probabilities as numbers: sums over them by brute force."""

from collections.abc import Callable, Sequence
from typing import Any

import mpmath


class Masses:
    """Outcomes as a list of (mass under P, mass under Q)."""

    moments = 3
    """Up to which power the moments of the loss are finite."""

    def __init__(self, points: Sequence[tuple], powers: tuple = (3, 3)):
        self.points = [(p, q) for p, q in points if p or q]
        self.powers = -mpmath.mpf(powers[0]), mpmath.mpf(powers[1])

    def merged(self) -> list[tuple]:
        """Outcomes with the same loss, to half the working digits, added up."""
        found: dict[Any, tuple] = {}
        for p, q in self.points:
            key = mpmath.nstr(p / q, mpmath.mp.dps // 2) if p and q else bool(p)
            before = found.get(key, (mpmath.mpf(0), mpmath.mpf(0)))
            found[key] = (before[0] + p, before[1] + q)
        return list(found.values())

    def totals(self) -> tuple:
        """P and Q of everything."""
        return mpmath.fsum(p for p, _ in self.points), mpmath.fsum(q for _, q in self.points)

    def infinite(self) -> tuple:
        """P(Q = 0) and Q(P = 0)."""
        return mpmath.fsum(p for p, q in self.points if not q), mpmath.fsum(q for p, q in self.points if not p)

    def moment(self, function: Callable, kinks: Sequence = ()):
        """The sum of function(s) P over the outcomes that both can produce."""
        return sum((function(mpmath.log(p / q)) * p for p, q in self.points if p and q), mpmath.mpf(0))

    def above(self, c) -> tuple:
        """P(s > c) and Q(s > c); outcomes that Q lacks have s = infinity. Losses equal up to rounding do not count."""
        growth = mpmath.exp(c) * (1 + mpmath.eps * 2**10)
        chosen = [(p, q) for p, q in self.points if p > growth * q]
        return mpmath.fsum(p for p, _ in chosen), mpmath.fsum(q for _, q in chosen)

    def hockey_stick(self, eps):
        """The sum of max(P - e^eps Q, 0)."""
        growth = mpmath.exp(eps)
        return mpmath.fsum(max(p - growth * q, mpmath.mpf(0)) for p, q in self.points)

    def range(self) -> tuple:
        """The smallest and the largest finite loss among outcomes that are not negligible."""
        shared = [(mpmath.log(p / q), min(p, q)) for p, q in self.points if p and q]
        return usual_range(shared, mpmath.mpf(10) ** -8)

    def loss_points(self) -> list[tuple]:
        """(loss, mass under P) for a small copy on a grid."""
        return [(mpmath.log(p / q), p) for p, q in self.points if p and q]


def usual_range(weighted: Sequence[tuple], share) -> tuple:
    """The ends of the losses whose weight is more than a share of 1, or of the largest one if that is less."""
    least = share * min(1, max(w for _, w in weighted))
    losses = [loss for loss, w in weighted if w > least]
    return min(losses), max(losses)


def weight(p, q, below=3, above=3):
    """What an outcome counts for in the largest moments that checks ask for: M(above), and M(below) turned round."""
    if not p or not q:
        return p + q
    ratio = p / q
    return max(p * ratio**above, p / ratio**below, p, q)
