"""Two steps: one quadrature of the second step's closed-form delta against the law of the first.

    delta(eps) = delta(inf) + sum_a p_a d(eps - s_a) + int d(eps - s(u)) p(u) du,  d(x) = P(x < s < inf) - e^x Q(s > x),

with d of the second step, which has kinks at that step's atoms and where one of its monotone pieces ends. The integral
over the first step's coordinate u, panel by panel, is split where eps - s(u) meets one of them and taken by the
double-exponential rule on every piece (Takahasi and Mori 1974), halving its step until nothing changes.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import mpmath

from ..core.parameters import evaluate
from ..core.pld import PLD
from .arithmetic import FN
from .found import GUARD, Found, Sum, agreeing, guarded
from .law import Law
from .rules import atom_nodes, substitution
from .single_step import masses_above

FIRST_STEP = mpmath.mpf(1) / 4
MOST_HALVINGS = 9
NOTHING = mpmath.mpf(10) ** -6
"""A piece whose mass is so much less than the last digit of the largest piece needs no digits of its own."""
SETTLED = mpmath.mpf(1) / 64
"""From this step on, sums that no longer come closer to each other are as close as rounding lets them."""
LOOKS = 200
"""A loss is looked at in so many places on either side."""
NO_MASS = mpmath.mpf(10) ** -40
"""Where densities are below this the loss is not looked at: far out it may be the difference of two huge logarithms."""

LARGEST_MISSING = mpmath.mpf(10) ** -6
"""Nodes that miss more of the first step's mass than this have not seen it all."""
WIDENINGS = 12
"""How often the range of t is widened while what lies outside may matter: a tiny delta can be made there."""


def two_steps(law: Law, eps, digits: int) -> Found:
    """delta of a composition of exactly two steps, one of which has a density and a loss of known turns."""
    first, second = _ordered(law)
    for wider in range(WIDENINGS):
        found = _within(law, first, second, wider, eps, digits)
        with mpmath.workdps(digits + GUARD):
            outside = mpmath.fsum(_outside(panel, wider) for panel in first.panels())
            if outside <= guarded(found.value, digits):
                break
    return found._replace(error=found.error + outside)


def _outside(panel: PLD, wider: int) -> Any:
    """About the P-mass beyond the ends of t, where densities fall at least exponentially; 0 on a finite range."""
    path = _path(panel, wider)
    if path.whole:
        return mpmath.mpf(0)
    edges = [path.at(end) for end in path.ends]
    return mpmath.fsum(abs(panel.coordinate_densities(FN, u).p * stretch) for u, stretch in edges)


def _within(law: Law, first: PLD, second: PLD, wider: int, eps, digits: int) -> Found:
    """delta, the range of t widened so many times."""

    def compute(places: int) -> Sum:
        x = evaluate(eps, FN)
        tolerance = mpmath.mpf(10) ** (5 - places)
        parts = [_profile(second, x - s).times(p) for s, p in atom_nodes(first)]
        pieces = []
        for panel in first.panels():
            path = _path(panel, wider)
            for ends in _pieces(panel, second, x, path):
                pieces.append(_Piece(panel, second, x, path.at, *ends, tolerance))
        largest = max([abs(piece.rough.value) for piece in pieces] + [abs(part.value) for part in parts])
        parts += [piece.integral(largest) for piece in pieces]
        infinite = law.mass_at_infinity()
        value, slope, size, mass = (mpmath.fsum(column) for column in zip(*parts, strict=True))
        missing = abs(1 - first.mass_at_infinity(FN) - mass)
        if missing > LARGEST_MISSING:  # the nodes have missed a part of the first step's law
            size = max(size, missing * mpmath.mpf(10) ** mpmath.mp.dps)
        return Sum(infinite + value, infinite + size, slope)

    return agreeing(compute, digits, "convolution of two steps")


def turns_known(pld: PLD) -> bool:
    """Whether it is known where the loss of a step with a density turns: its panels say so, or it runs one way."""
    panels = pld.panels()
    if all(panel.turns(FN) is not None for panel in panels):
        return True
    return len(panels) == 1 and _monotone(pld)


def _monotone(pld: PLD) -> bool:
    """Whether the loss runs one way along the coordinate (looked at, not proved)."""
    with mpmath.workdps(20):
        at, farthest, _ = substitution(pld)
        outcomes = [at(mpmath.mpf(farthest) * i / LOOKS)[0] for i in range(-LOOKS, LOOKS + 1)]
        losses = [pld.coordinate_loss(FN, u) for u in outcomes if sum(pld.coordinate_densities(FN, u)) > NO_MASS]
        steps = [other - one for one, other in itertools.pairwise(losses)]
        rounding = mpmath.mpf(10) ** -12 * (1 + max(map(abs, losses), default=0))  # a bounded loss is flat far out
    return all(step > -rounding for step in steps) or all(step < rounding for step in steps)


def _ordered(law: Law) -> tuple[PLD, PLD]:
    """The step to integrate over (a finite interval is the easier one), and the other."""
    steps = [pld for pld, k in law.parts for _ in range(k)]

    def whole_line(pld: PLD) -> bool:
        coordinates = [panel.coordinate(FN) for panel in pld.panels()]
        return any(coordinate is None or bool(mpmath.isinf(coordinate.lower)) for coordinate in coordinates)

    steps.sort(key=whole_line)
    return steps[0], steps[1]


class Profile(NamedTuple):
    """d(x) or an integral of it, its derivative, what it was subtracted from, and the mass it was integrated over."""

    value: Any
    slope: Any
    size: Any
    mass: Any

    def times(self, weight) -> Profile:
        """All of them, weighted."""
        return Profile(*(weight * part for part in self))


def _profile(pld: PLD, x) -> Profile:
    """d(x)."""
    p, q = masses_above(pld, x)
    weighted = FN.exp(x) * q if q else q
    return Profile(p - weighted, -weighted, p, mpmath.mpf(1))


class Path(NamedTuple):
    """t -> (u, du/dt), the ends of t, and whether these are all of the coordinate's range."""

    at: Callable
    ends: list
    whole: bool


def _path(panel: PLD, wider: int) -> Path:
    """A path along the coordinate, on an infinite range between two ends beyond which nothing counts, moved out so many
    times.

    A finite interval is its own path: the pieces have ends enough of their own, and a rule that crowds at both ends
    twice converges slowly.
    """
    coordinate = panel.coordinate(FN)
    assert coordinate is not None
    ends = [coordinate.lower, coordinate.upper]
    if not any(mpmath.isinf(end) for end in ends):
        return Path(lambda u: (u, mpmath.mpf(1)), ends, True)
    at, farthest, gaussian = substitution(panel)
    farthest = mpmath.mpf(farthest * (1.6 if gaussian else 1.1) ** wider)
    return Path(at, [side * _reach(panel, at, side, farthest) for side in (-1, 1)], False)


def _reach(panel: PLD, at: Callable, side: int, farthest):
    """How far the path goes on one side: less far where densities are 0 before."""
    while farthest > 1 and not any(panel.coordinate_densities(FN, at(side * farthest)[0])):
        farthest -= mpmath.mpf(1) / 4
    return farthest


def _pieces(panel: PLD, second: PLD, eps, path: Path) -> list[tuple[Any, Any]]:
    """The intervals of t between the kinks of d(eps - s(u(t)))."""
    at, (start, end), _ = path
    kinks = [atom.loss for atom in second.atoms(FN)] + second.knots(FN)
    kinks += [e for e in second.support(FN) or () if not mpmath.isinf(e)]

    def loss(t):
        return panel.coordinate_loss(FN, at(t)[0])

    turns = [_solved(lambda t, u=u: at(t)[0] - u, [start, end]) for u in panel.turns(FN) or ()]
    bounds = [start, *(t for t in turns if start < t < end), end]
    splits = []
    for ends in itertools.pairwise(bounds):
        low, high = sorted(map(loss, ends))
        inside = [kink for kink in kinks if low < eps - kink < high]
        splits += sorted({_solved(lambda t, k=kink: loss(t) + k - eps, list(ends)) for kink in inside})
    points = sorted({*bounds, *splits})
    return list(itertools.pairwise(points))


def _solved(function: Callable, ends: list) -> Any:
    """The zero of a monotone function by bisection, then Newton-like steps by secants."""
    low, high = ends
    rising = function(high) > 0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if (function(middle) > 0) == rising else (middle, high)
    for _ in range(12):
        one, other = function(low), function(high)
        if one == other:
            break
        low, high = high, high - other * (high - low) / (other - one)
    return high


class _Piece:
    """The integral over t from lower to upper, at first by a rough rule."""

    def __init__(self, panel: PLD, second: PLD, eps, at: Callable, lower, upper, tolerance):
        self.tolerance = tolerance
        self.reach = mpmath.asinh(mpmath.log(1 / tolerance) / mpmath.pi * 2) + 1
        middle, half = (lower + upper) / 2, (upper - lower) / 2

        def sample(v) -> Profile:
            inner = mpmath.pi / 2 * mpmath.sinh(v)
            u, stretch = at(middle + half * mpmath.tanh(inner))
            weight = panel.coordinate_densities(FN, u).p * stretch * half * mpmath.pi / 2 * mpmath.cosh(v)
            weight /= mpmath.cosh(inner) ** 2
            if not weight:
                return Profile(weight, weight, weight, weight)
            return _profile(second, eps - panel.coordinate_loss(FN, u)).times(weight)

        self.sample = sample
        self.total = _sums(sample, FIRST_STEP, 0, self.reach)

    @property
    def rough(self) -> Profile:
        """By the first rule."""
        return self.total.times(FIRST_STEP)

    def integral(self, largest) -> Profile:
        """By rules of half the step until nothing changes, or all of its mass, by two rules, is nothing beside the
        largest piece's value."""
        total, step, tolerance = self.total, FIRST_STEP, self.tolerance
        before, unit = mpmath.inf, mpmath.mpf(10) ** -mpmath.mp.dps
        nothing = unit * NOTHING * largest
        for _ in range(MOST_HALVINGS):
            more = _sums(self.sample, step, 1, self.reach)
            change = abs(total.value - more.value) / 2
            uneven = abs(total.mass - more.mass) / 2 > tolerance**0.5 * total.mass
            if max(total.mass, more.mass) * step <= nothing:
                break
            total, step = Profile(*(one + other for one, other in zip(total, more, strict=True))), step / 2
            if uneven:
                before = change
                continue
            if change <= max(tolerance**0.5 * abs(total.value) * mpmath.mpf("5e-4"), 100 * unit * total.size):
                break
            if step <= SETTLED and before / 2 < change < 10**6 * unit * total.mass:
                # Rounding, where tails end and are small differences: more digits are needed, unless these are enough.
                total = total._replace(size=max(total.size, change / unit))
                break
            before = change
        return total.times(step)


def _sums(sample: Callable, step, shift: int, reach) -> Profile:
    """Sums of all components at (i + shift/2) step, |v| <= reach."""
    count = int(reach / step) + 1
    points = [sample((i + mpmath.mpf(shift) / 2) * step) for i in range(-count, count + 1)]
    return Profile(*(mpmath.fsum(column) for column in zip(*points, strict=True)))
