"""The two output distributions as sympy expressions, and their numeric twins.

Three shapes: `Table` (a few outcomes with names), `Lattice` (whole numbers), `Line` (densities, piece by piece). A
derivation starts from one of them. The numeric twin knows nothing but the masses and densities themselves: it sums
and integrates by brute force, and so is what the steps of a derivation are checked against.
"""

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import mpmath
import sympy

from .borders import borders, decays, inner_points
from .masses import Masses, usual_range, weight
from .numeric import Values, function, infinite_sum, number
from .quadrature import Panel

ASTRONOMIC = mpmath.mpf(10) ** 100


class Row(NamedTuple):
    """An outcome (or several alike): what it is called, its mass under P and under Q."""

    name: str
    p: Any
    q: Any


class Piece(NamedTuple):
    """An interval of outcomes on which both densities are smooth."""

    lower: Any
    upper: Any
    p: Any
    q: Any


@dataclass(frozen=True)
class Table:
    """Finitely many named outcomes."""

    rows: tuple[Row, ...]

    def swapped(self) -> "Table":
        """P and Q change places."""
        return Table(tuple(Row(row.name, row.q, row.p) for row in self.rows))

    def twin(self, values: Values) -> "Masses":
        """The numbers."""
        return Masses([(number(row.p, values), number(row.q, values)) for row in self.rows])


@dataclass(frozen=True)
class Lattice:
    """Whole numbers from `lower` to `upper` (which may be infinite); `p` and `q` are masses as functions of `j`.

    `p_range` and `q_range` are where the two are not zero, if that is not everywhere.
    """

    j: sympy.Symbol
    p: sympy.Expr
    q: sympy.Expr
    lower: Any
    upper: Any
    p_range: tuple | None = None
    q_range: tuple | None = None
    rate: Any = None
    mixed: int = 0
    """With a `rate` r, the side `mixed` (0 or 1) is r times itself plus 1 - r times the other one."""
    powers: tuple = (3, 3)
    """(b, a): M(a) is finite, and so is M(b) of the other direction; no more may be asked for."""

    def swapped(self) -> "Lattice":
        """P and Q change places."""
        return Lattice(
            self.j, self.q, self.p, self.lower, self.upper, self.q_range, self.p_range, self.rate, 1 - self.mixed,
            self.powers[::-1],
        )  # fmt: skip

    def sampled(self, rate) -> "Lattice":
        """The mixture of P and Q in place of P."""
        return replace(self, rate=rate)

    def masses(self, values: Values) -> list[Callable]:
        """Both masses as functions of a whole number."""
        own = [
            _on_range(function(mass, [self.j], values), ends, values)
            for mass, ends in ((self.p, self.p_range), (self.q, self.q_range))
        ]
        if self.rate is None:
            return own
        rate, (alone, other) = number(self.rate, values), (own[self.mixed], own[1 - self.mixed])

        def mixture(j):
            return rate * alone(j) + (1 - rate) * other(j)

        return [mixture, other] if self.mixed == 0 else [other, mixture]

    def usual(self, values: Values) -> list[int]:
        """Outcomes that both give, and not too rarely."""
        low, high = number(self.lower, values), number(self.upper, values)
        masses = self.masses(values)
        ends = (-40 if mpmath.isinf(low) else int(low), 40 if mpmath.isinf(high) else int(high))
        found = [j for j in range(ends[0], ends[1] + 1) if min(m(j) for m in masses) > mpmath.mpf(10) ** -12]
        return found or [j for j in range(ends[0], ends[1] + 1) if all(m(j) for m in masses)]

    def twin(self, values: Values) -> "Masses":
        """The numbers, from the middle outwards until they vanish at the working precision."""
        low, high = number(self.lower, values), number(self.upper, values)
        masses = self.masses(values)
        if not mpmath.isinf(low) and not mpmath.isinf(high):
            return Masses([(masses[0](j), masses[1](j)) for j in range(int(low), int(high) + 1)])
        found: list[tuple] = []

        def term(j):
            pair = masses[0](j), masses[1](j)
            found.append(pair)
            return weight(*pair, *self.powers)

        infinite_sum(term, low, high)
        return Masses(found, self.powers)


def _on_range(mass: Callable, ends: tuple | None, values: Values) -> Callable:
    if ends is None:
        return mass
    low, high = (number(end, values) for end in ends)
    return lambda j: mass(j) if low <= j <= high else mpmath.mpf(0)


@dataclass(frozen=True)
class Line:
    """Densities along `t`, smooth on each of the `pieces`, which are in order and cover all outcomes.

    `whole` are the two densities in one formula each, for reading; `typical` are outcomes between which most of the
    mass lies.
    """

    t: sympy.Symbol
    pieces: tuple[Piece, ...]
    whole: tuple[sympy.Expr, sympy.Expr]
    typical: tuple[Any, ...] = ()
    points: tuple[Row, ...] = ()

    def swapped(self) -> "Line":
        """P and Q change places."""
        pieces = tuple(Piece(piece.lower, piece.upper, piece.q, piece.p) for piece in self.pieces)
        points = tuple(Row(row.name, row.q, row.p) for row in self.points)
        return Line(self.t, pieces, self.whole[::-1], self.typical, points)

    def twin(self, values: Values) -> "Curves":
        """The numbers."""
        pieces = []
        for piece in self.pieces:
            low, high = number(piece.lower, values), number(piece.upper, values)
            if low < high:
                pieces.append((low, high, *(function(side, [self.t], values) for side in (piece.p, piece.q))))
        masses = Masses([(number(row.p, values), number(row.q, values)) for row in self.points])
        return Curves(pieces, sorted(number(point, values) for point in self.typical), masses)


Outputs = Table | Lattice | Line


class Curves:
    """Outcomes on the line: pieces (cuts, density of P, density of Q), cut where most of the mass lies."""

    def __init__(self, pieces: Sequence[tuple], typical: Sequence, masses: Masses):
        self.masses = masses
        self.pieces = [_cut(piece, typical) for piece in pieces]
        self.by_piece = [_panels(cuts, p, q) for cuts, p, q in self.pieces]
        self.panels = [panel for panels in self.by_piece for panel in panels]

    @cached_property
    def powers(self) -> tuple:
        """Between which real z M(z) is finite, as far as -3 and 3; 0 where it is infinite on that side."""
        ends = []
        for sign in (-1, 1):
            candidates = [mpmath.mpf(sign * z) / 8 for z in (24, 16, 8, 4, 2, 1)]
            good = (z for z in candidates if all(decays(cuts, p, q, z) for cuts, p, q in self.pieces))
            ends.append(next(good, mpmath.mpf(0)))
        return tuple(ends)

    @cached_property
    def moments(self) -> int:
        """Up to which power, at most 3, the moments of the loss are finite."""
        zero = mpmath.mpf(0)
        good = (n for n in (3, 2, 1) if all(decays(cuts, p, q, zero, n) for cuts, p, q in self.pieces))
        return next(good, 0)

    def _sum(self, of: Callable) -> list:
        columns = zip(*(panel.integral(of) for panel in self.panels), strict=True)
        return [mpmath.fsum(column) for column in columns] or [mpmath.mpf(0)] * 2

    def totals(self) -> tuple:
        """P and Q of everything."""
        return _added(self._sum(lambda values: values[:2]), self.masses.totals())

    def infinite(self) -> tuple:
        """P(Q = 0) and Q(P = 0)."""
        own = [mpmath.mpf(0), mpmath.mpf(0)]
        for missing, panels in zip(self._missing, self.by_piece, strict=True):
            for side, other in ((0, 1), (1, 0)):
                if missing[other]:
                    pick = operator.itemgetter(slice(side, side + 1))
                    own[side] += mpmath.fsum(panel.integral(pick)[0] for panel in panels)
        return _added(own, self.masses.infinite())

    @cached_property
    def _missing(self) -> list[tuple[bool, bool]]:
        """On which pieces P and Q have no density: far out it may be below every number, but that is not 0."""
        places = ([t for low, high in pairwise(cuts) for t in inner_points(low, high, 3)] for cuts, *_ in self.pieces)
        return [(not any(map(p, at)), not any(map(q, at))) for at, (_, p, q) in zip(places, self.pieces, strict=True)]

    def moment(self, function: Callable, kinks: Sequence = ()):
        """The integral of function(s) P over the outcomes that both can produce; the function may have kinks.

        Where the density of Q is below every number the function counts by its limit, if it has one.
        """

        @cache
        def limit():
            value = function(mpmath.inf)
            return value if mpmath.isfinite(value) else mpmath.mpf(0)

        def weighted(values):
            p, q, loss = values
            if loss is not None:
                return (function(loss) * p,)
            return (limit() * p if p and not q else mpmath.mpf(0),)

        total = self.masses.moment(function)
        for missing, (cuts, p, q), panels in zip(self._missing, self.pieces, self.by_piece, strict=True):
            if any(missing):
                continue
            if kinks:
                points = {x for c in kinks for x in borders(cuts, p, q, mpmath.exp(c))[0]} | set(cuts)
                panels = _panels(sorted(points), p, q)
            total += mpmath.fsum(panel.integral(weighted)[0] for panel in panels)
        return total

    def above(self, c) -> tuple:
        """P(s > c) and Q(s > c): pieces cut where P = e^c Q. A piece on which the loss is c does not count.

        Q is integrated at the size that it has beside P: e^c times as large.
        """
        masses, growth = [mpmath.mpf(0), mpmath.mpf(0)], mpmath.exp(c)
        size = max(growth, mpmath.mpf(1))

        def both(values):
            return values[0], size * values[1]

        for cuts, p, q in self.pieces:
            ends, states = borders(cuts, p, q, growth)
            for low, high, state in zip(ends, ends[1:], states, strict=False):
                if state > 0:
                    for panel in _panels([low, *(x for x in cuts if low < x < high), high], p, q):
                        masses = [a + b for a, b in zip(masses, panel.integral(both), strict=True)]
        return _added((masses[0], masses[1] / size), self.masses.above(c))

    def hockey_stick(self, eps):
        """The integral of max(P - e^eps Q, 0)."""
        p, q = self.above(eps)
        return p - mpmath.exp(eps) * q

    def range(self) -> tuple:
        """The smallest and the largest loss among typical outcomes."""
        heights = [(mpmath.log(p / q), max(p, q)) for _, p, q in self._samples()]
        ends = usual_range(heights, mpmath.mpf(10) ** -4) if heights else ()
        losses = [*ends, *(loss for loss, _ in self.masses.loss_points())]
        return min(losses), max(losses)

    def loss_points(self) -> list[tuple]:
        """(loss, mass) of a coarse copy of P: 24 cells between the cuts of each piece."""
        return [(mpmath.log(p / q), p * width) for width, p, q in self._samples()] + self.masses.loss_points()

    def _samples(self, parts: int = 24):
        for cuts, p, q in self.pieces:
            for low, high in pairwise(cuts):
                if mpmath.isinf(low) or mpmath.isinf(high):
                    continue
                for t in inner_points(low, high, parts):
                    a, b = p(t), q(t)
                    if a > 0 and b > 0:
                        yield (high - low) / parts, a, b


def _panels(cuts: Sequence, p: Callable, q: Callable) -> list[Panel]:
    def at(t):
        a, b = p(t), q(t)
        return a, b, mpmath.log(a / b) if a and b else None

    return [Panel(low, high, at) for low, high in pairwise(cuts) if low < high]


def _added(one: Sequence, two: Sequence) -> tuple:
    return tuple(a + b for a, b in zip(one, two, strict=True))


def _cut(piece: tuple, typical: Sequence) -> tuple:
    """A piece cut at typical outcomes, its infinite ends moved in to where nothing is lost at the working precision."""
    low, high, p, q = piece
    inside = [x for x in typical if low < x < high]
    width = typical[-1] - typical[0] if len(typical) > 1 else mpmath.mpf(1)
    anchors = inside or [x for x in (low, high) if not mpmath.isinf(x)] or [mpmath.mpf(0)]

    def end(limit, start, sign):
        if not mpmath.isinf(limit):
            return limit
        reach = min(width, _scale(p, q, start, sign))
        for _ in range(40):
            t = start + sign * reach
            counts = weight(p(t), q(t)) * reach
            if counts < mpmath.eps / 1000:
                beyond = (start + sign * reach * mpmath.mpf(10) ** k for k in range(1, 7))
                return limit if any(weight(p(x), q(x)) > ASTRONOMIC for x in beyond) else t
            if counts > ASTRONOMIC:  # a moment is infinite, though further out exponentials vanish below every number
                return limit
            reach *= mpmath.mpf(3) / 2
        return limit

    ends = end(low, anchors[0], -1), end(high, anchors[-1], 1)
    inner = inside[len(inside) // 2 : len(inside) // 2 + 1]
    if any(map(mpmath.isinf, ends)):
        inner = inside
        if not inner:  # M(3) or M(-3) is infinite, so that no end of the integrals was found
            sides = [(anchors[0], -1), (anchors[-1], 1)]
            scales = [
                (start, sign, _scale(p, q, start, sign))
                for limit, (start, sign) in zip(ends, sides, strict=True)
                if mpmath.isinf(limit)
            ]
            inner = sorted(start + sign * scale * times for start, sign, scale in scales for times in (1, 4))
    return [ends[0], *inner, ends[1]], p, q


def _scale(p: Callable, q: Callable, start, sign: int):
    """How far from a point most of the mass on one side of it lies: where distance times density is largest."""
    distances = [mpmath.mpf(2) ** k for k in range(-40, 41)]
    return max(distances, key=lambda r: r * max(p(start + sign * r), q(start + sign * r)))
