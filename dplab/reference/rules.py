"""Quadrature rules for M(z) = E[e^{zs}] where no closed form is known: nodes (s_j, w_j) with M(z) ~ sum w_j e^{z s_j}.

The continuous part is integrated along the pair's smooth coordinate u by the trapezoid rule in t, where

* on the whole line u = center + scale (t + i lift) (Gaussian decay: geometric convergence),
* on a finite interval u = middle + half [tanh(g) + i lift / cosh(g)^2], g = pi/2 sinh t (double-exponential),
* on a half line u = end +- scale exp(t - e^{-t}).

A lift > 0 moves the path to where e^{iys} decays for y > 0, so that one rule serves all heights y; without it the
number of nodes grows with y. Nodes come in two interleaved halves: the difference of what the halves say is twice
the error of either.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import mpmath

from ..core.pld import PLD
from .arithmetic import FN
from .bulk import BULK

SHORTEST, LONGEST = 8.0, 150.0
"""Between which the range of t on a half line lies."""


class Node(NamedTuple):
    """A loss and the mass it carries in the rule; both complex on a lifted path."""

    loss: Any
    weight: Any


class Nodes:
    """Some nodes as a rule of their own."""

    def __init__(self, nodes: Iterable[Node] = ()):
        self.list = list(nodes)
        self._bulk: list[tuple[Any, Any]] = []

    def __len__(self) -> int:
        return len(self.list)

    def __iter__(self) -> Iterator[Node]:
        return iter(self.list)

    def at(self, z):
        """sum w e^{zs} at the working precision; real for real z."""
        if not self.list:
            return mpmath.mpf(0)
        with BULK.at(mpmath.mp.dps):
            if not self._bulk:
                pairs = [(BULK.make(s), BULK.make(w)) for s, w in self.list]
                self._bulk = [(s, w) for s, w in pairs if w]  # some are too small for this arithmetic
            power, total = BULK.make(z), BULK.make(mpmath.mpf(0))
            for s, w in self._bulk:
                total += w * BULK.exp(power * s)
            value = BULK.back(total)
        return value if isinstance(z, mpmath.mpc) else mpmath.re(value)


class Substitution(NamedTuple):
    """t -> (u, du/dt), a range of t outside which nothing is left, and whether the decay is Gaussian."""

    at: Callable[[Any], tuple[Any, Any]]
    farthest: float
    gaussian: bool


def substitution(pld: PLD, lift: float = 0.0) -> Substitution:
    """The substitution that suits the interval of the pair's coordinate; the loss rises along +i lift."""
    coordinate = pld.coordinate(FN)
    assert coordinate is not None
    lower, upper, center, scale = coordinate
    rise = mpmath.mpc(0, -lift if pld.backward else lift) if lift else 0
    if mpmath.isinf(lower) and mpmath.isinf(upper):
        return Substitution(lambda t: (center + scale * (t + rise), scale), 40.0, True)
    if mpmath.isinf(upper) or mpmath.isinf(lower):
        return Substitution(_half_line(pld), _extent(pld, mpmath.mp.dps), False)
    middle, half = (lower + upper) / 2, (upper - lower) / 2

    def interval(t):
        inner = mpmath.pi / 2 * mpmath.sinh(t)
        decay, slope = 1 / mpmath.cosh(inner) ** 2, mpmath.pi / 2 * mpmath.cosh(t)
        tanh = mpmath.tanh(inner)
        return middle + half * (tanh + rise * decay), half * slope * decay * (1 - 2 * rise * tanh)

    return Substitution(interval, 7.0, False)


def _half_line(pld: PLD) -> Callable[[Any], tuple[Any, Any]]:
    """t -> (u, du/dt) on a half line."""
    coordinate = pld.coordinate(FN)
    assert coordinate is not None
    lower, upper, _, scale = coordinate
    end, side = (lower, scale) if mpmath.isinf(upper) else (upper, -scale)

    def at(t):
        grown = mpmath.exp(t - mpmath.exp(-t))
        return end + side * grown, abs(side) * grown * (1 + mpmath.exp(-t))

    return at


@lru_cache(maxsize=256)
def _extent(pld: PLD, places: int) -> float:
    """How far t goes on a half line: until nothing is left of either distribution, which for powers of u is far."""
    at = _half_line(pld)

    def height(t):
        u, stretch = at(mpmath.mpf(t))
        return stretch * max(pld.coordinate_densities(FN, u))

    farthest, peak = SHORTEST, max(map(height, range(-3, 4)))
    while farthest < LONGEST and height(farthest) > peak * mpmath.mpf(10) ** -places:
        farthest *= 1.25
    return farthest


def node(pld: PLD, at: Callable, t) -> Node:
    """The loss at t and the density of P along t."""
    u, stretch = at(t)
    return Node(pld.coordinate_loss(FN, u), pld.coordinate_densities(FN, u).p * stretch)


def atom_nodes(pld: PLD) -> Nodes:
    """The atoms, which need no quadrature."""
    return Nodes(Node(a.loss, a.p) for a in pld.atoms(FN) if a.p)


Reach = tuple[float, float] | list[tuple[float, float]]
"""Two ends of t, one pair for all panels of the PLD or one for each."""


class Rule:
    """The trapezoid rule of one PLD at one precision, for t between two ends, panel by panel.

    `coarse` and `offset` are its two halves, each a rule of its own with weights that include the step.
    """

    def __init__(self, pld: PLD, places: int, reach: Reach, lift: float = 0.0):
        self.pld, self.places, self.lift = pld, places, lift
        with mpmath.workdps(places):
            self.panels = pld.panels()
            self.substitutions = [substitution(panel, lift) for panel in self.panels]
            self.step = mpmath.mpf(min(first_step(s.gaussian, places, lift) for s in self.substitutions))
        self.reaches = reach if isinstance(reach, list) else [reach] * len(self.panels)
        self.coarse = self._nodes(0)
        self.offset = self._nodes(0.5)

    def lifted(self, lift: float) -> "Rule":
        """A rule of the same precision along a path lifted by `lift`."""
        extra = lift**2 / (2 * math.log(10))
        wider = [(start - lift / 4, stop + lift / 4) for start, stop in self.reaches]
        return Rule(self.pld, self.places + math.ceil(extra), wider, lift)

    def refine(self) -> None:
        """Halve the step."""
        self.step = self.step / 2
        with mpmath.workdps(self.places):
            self.coarse = Nodes(Node(s, w / 2) for s, w in (*self.coarse, *self.offset))
        self.offset = self._nodes(0.5)

    def sums(self, z) -> tuple[Any, Any]:
        """M(z) of the continuous part by each of the two halves."""
        return self.coarse.at(z), self.offset.at(z)

    def _nodes(self, shift: float) -> Nodes:
        """Nodes at (i + shift) step between the ends of each panel's reach."""
        raw: list[Node] = []
        with mpmath.workdps(self.places):
            for panel, (at, *_), (start, stop) in zip(self.panels, self.substitutions, self.reaches, strict=True):
                first = math.ceil(start / float(self.step) - shift)
                last = math.floor(stop / float(self.step) - shift)
                raw += [node(panel, at, (i + mpmath.mpf(shift)) * self.step) for i in range(first, last + 1)]
            return Nodes(Node(s, w * self.step) for s, w in raw if w)


def first_step(gaussian: bool, places: int, lift: float) -> float:
    """The step that the bare Gaussian, a path lifted out of the way, or a bare double-exponential rule needs."""
    digits = places * math.log(10)
    bare = math.pi * math.sqrt(2 / digits) if gaussian else 14 / digits
    return min(bare, 2 * math.pi * lift / digits) if lift and gaussian else bare
