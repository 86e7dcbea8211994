"""The law of the composed loss S in one direction: a list of PLDs with multiplicities, and what is plain about it.

Everything here is computed at the working precision of the caller.
"""

from dataclasses import dataclass
from typing import Any

import mpmath

from ..core.composition import Composition
from ..core.pld import PLD
from .arithmetic import FN


@dataclass(frozen=True)
class Law:
    """S = sum of k_j independent copies of each loss; `parts` are the (PLD, k_j)."""

    parts: tuple[tuple[PLD, int], ...]

    @classmethod
    def of(cls, composition: Composition, direction: str) -> "Law":
        """The law of a composition in the direction "forward" or "backward"."""
        return cls(tuple(composition.plds(backward=direction == "backward")))

    @property
    def steps(self) -> int:
        """Number of losses added."""
        return sum(k for _, k in self.parts)

    @property
    def atomic(self) -> tuple[tuple[PLD, int], ...]:
        """The parts whose loss takes finitely many values."""
        return tuple((pld, k) for pld, k in self.parts if pld.support(FN) is None)

    @property
    def continuous(self) -> tuple[tuple[PLD, int], ...]:
        """The parts whose loss has a density (and perhaps atoms too)."""
        return tuple((pld, k) for pld, k in self.parts if pld.support(FN) is not None)

    def mass_at_infinity(self):
        """delta(inf) = 1 - prod (1 - delta_j(inf))^k_j, without cancellation."""
        return _joined([(pld.mass_at_infinity(FN), k) for pld, k in self.parts])

    def mass_at_minus_infinity(self):
        """The same for the other direction: mass of Q where P has none."""
        return _joined([(pld.mass_at_minus_infinity(FN), k) for pld, k in self.parts])

    def left_of(self, c, eps) -> tuple[Any, Any]:
        """What the integral over the line Re z = c leaves out of delta(eps), its poles at 0 and -1 being right of it;
        and the derivative in eps."""
        if c > 0:
            return self.mass_at_infinity(), mpmath.mpf(0)
        if c > -1:
            return mpmath.mpf(1), mpmath.mpf(0)
        missing = mpmath.exp(eps) * self.mass_at_minus_infinity()
        return missing - mpmath.expm1(eps), missing - mpmath.exp(eps)  # 1 - e^eps (1 - missing), and its derivative

    def largest_loss(self):
        """The supremum of the finite losses, perhaps inf."""
        return mpmath.fsum(k * max(_ends(pld)) for pld, k in self.parts)

    def smallest_loss(self):
        """The infimum of the finite losses, perhaps -inf."""
        return mpmath.fsum(k * min(_ends(pld)) for pld, k in self.parts)


def _joined(masses: list[tuple[Any, int]]):
    if any(mass == 1 for mass, _ in masses):
        return mpmath.mpf(1)
    return -mpmath.expm1(mpmath.fsum(k * mpmath.log1p(-mass) for mass, k in masses))


def _ends(pld: PLD) -> list:
    """The values among which the extreme losses are; [0] if the pair has no finite loss at all."""
    ends = pld.loss_ends(FN)
    if pld.endless or ends is not None:
        return list(ends or (-mpmath.inf, mpmath.inf))
    return [atom.loss for atom in pld.atoms(FN)] + list(pld.support(FN) or ()) or [mpmath.mpf(0)]
