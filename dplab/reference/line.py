"""M(c + i m h)/M(c) for m = 0, 1, 2, ... along a vertical line, part by part.

With a rule of nodes (s_j, w_j) the m-th value is sum w_j e^{c s_j} (e^{i h s_j})^m / M(c): a running product, one
complex multiplication per node and step. It is done in fixed-point integers, whose errors stay absolute and tiny
beside M(c).
"""

from collections.abc import Iterator
from itertools import count
from typing import Any, NamedTuple

import mpmath
from mpmath.libmp import MPZ, from_man_exp

from ..core.pld import PLD
from .arithmetic import FN
from .rules import Nodes, Rule, atom_nodes

LIFTS = (3.0, 2.0, 1.3, 0.8, 0.5, 0.3, 0.15, 0.07)
"""Heights, in widths of the coordinate, to which a path is lifted on trial."""


class Value(NamedTuple):
    """M(z)/M(c), and the modulus of its continuous part alone (over M(c) too)."""

    ratio: Any
    continuous: float


class Rotor:
    """sum_j w_j (e^{i h s_j})^m for m = 0, 1, 2, ... in fixed-point arithmetic, where sum |w_j| is moderate."""

    def __init__(self, nodes: list[tuple[Any, Any]], h, bits: int):
        self.bits = bits
        turns = [mpmath.exp(mpmath.mpc(0, h) * s) for s, _ in nodes]
        self.state = [
            (_fixed(mpmath.re(w), bits), _fixed(mpmath.im(w), bits), _fixed(turn.real, bits), _fixed(turn.imag, bits))
            for (_, w), turn in zip(nodes, turns, strict=True)
        ]

    def value(self):
        """The present sum."""
        real, imaginary = sum(a for a, _, _, _ in self.state), sum(b for _, b, _, _ in self.state)
        return mpmath.mpc(_unfixed(real, self.bits), _unfixed(imaginary, self.bits))

    def turn(self) -> None:
        """Go on to the next m."""
        bits = self.bits
        alive = (node for node in self.state if abs(node[0]) + abs(node[1]) > 1)
        self.state = [((a * c - b * s) >> bits, (a * s + b * c) >> bits, c, s) for a, b, c, s in alive]


class Transform:
    """M of one PLD: by its closed form if it has one, else by a quadrature rule."""

    def __init__(self, pld: PLD, rule: Rule | None):
        self.pld, self.rule = pld, rule
        self.formula = rule is None and pld.support(FN) is not None
        self.atoms = atom_nodes(pld)
        self._logs: dict[float, Any] = {}
        self._tried: set[int] = set()

    @property
    def size(self) -> int:
        """Complex multiplications per value."""
        return len(self.rule.coarse) if self.rule else 10

    def at(self, z):
        """M(z)."""
        if self.formula:
            return self.pld.mgf(FN, z)
        return self.nodes().at(z) + self.atoms.at(z)

    def value(self, z, c) -> Value:
        """M(z)/M(c)."""
        top = mpmath.exp(self.log_at(c))
        whole, atoms = self.at(z), self.atoms.at(z)
        return Value(whole / top, float(abs(whole - atoms) / top))

    def rule_error(self, z, c):
        """Half the difference of the rule's halves at z, over M(c)."""
        assert self.rule is not None
        coarse, offset = self.rule.sums(z)
        return abs(coarse - offset) / 2 / mpmath.exp(self.log_at(c))

    def refine(self) -> None:
        """Halve the step of the rule."""
        assert self.rule is not None
        self.rule.refine()
        self._logs.clear()

    def lift(self, z, c, goal: float) -> bool:
        """Try paths lifted into the complex plane for one that serves both M(c) and M(z) to e^goal M(c) with fewer
        nodes than a refined plain one; False if there is none."""
        plain = self.rule
        assert plain is not None
        if plain.lift or len(plain.coarse) in self._tried:
            return False
        self._tried.add(len(plain.coarse))
        top, best = self.at(mpmath.mpf(c)), None
        for lift in LIFTS:
            rule = plain.lifted(lift)
            smooth = rule.sums(mpmath.mpf(c))
            wrong = max(abs(value + self.atoms.at(mpmath.mpf(c)) - top) for value in smooth)
            if wrong < top * mpmath.exp(goal) * 100 and (best is None or len(rule.coarse) < len(best.coarse)):
                best = rule
        if best is None or len(best.coarse) > 2 * len(plain.coarse):
            return False
        self.rule = best
        self._logs.clear()
        return True

    def log_at(self, c):
        """log M(c) at real c."""
        key = float(c)
        if key not in self._logs:
            self._logs[key] = mpmath.log(mpmath.re(self.at(mpmath.mpf(c))))
        return self._logs[key]

    def atoms_share(self, c) -> float:
        """The part of M(c) that the atoms carry."""
        return float(self.atoms.at(mpmath.mpf(c)) / mpmath.exp(self.log_at(c))) if self.atoms else 0.0

    def nodes(self) -> Nodes:
        """Nodes of the continuous part."""
        return self.rule.coarse if self.rule else Nodes()

    def along(self, c, h, bits: int) -> Iterator[Value]:
        """The values for m = 0, 1, 2, ..."""
        top = self.log_at(c)
        smooth, atoms = (
            Rotor([(s, w * mpmath.exp(c * s - top)) for s, w in nodes], h, bits) for nodes in (self.nodes(), self.atoms)
        )
        scale = mpmath.exp(top)
        for m in count():
            if self.formula:
                ratio = self.pld.mgf(FN, mpmath.mpc(c, m * h)) / scale
                yield Value(ratio, float(abs(ratio - atoms.value())))
            else:
                continuous = smooth.value()
                yield Value(continuous + atoms.value(), float(abs(continuous)))
            smooth.turn()
            atoms.turn()


def _fixed(x, bits: int):
    return MPZ(int(mpmath.floor(mpmath.ldexp(x, bits))))


def _unfixed(n, bits: int):
    return mpmath.mp.make_mpf(from_man_exp(MPZ(n), -bits, mpmath.mp.prec, "n"))
