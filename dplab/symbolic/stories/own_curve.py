"""Tails of a pair of one's own, region by region between the losses at which their formulas change.

P(s > x) of a piece is all of its mass left of its range, a formula of its own inside, and nothing right of it. Where
the ends of all ranges can be put in order, each region between neighbours has one formula for all pieces and atoms
together, in which terms cancel that a sum of cases would hide.
"""

from collections.abc import Callable
from functools import cached_property, cmp_to_key
from itertools import pairwise
from typing import NamedTuple

import sympy

from ..derivation import spelled_out
from ..tidy import CLEARLY, short, sign_of
from .own_law import Own, PieceTails, tails_of_pieces

ZERO = sympy.S.Zero
MOST_WRITTEN = 90
"""Formulas of more operations than this are written with letters."""
DIGITS = 50
EXACTLY, NEARLY = sympy.Float("1e-30"), sympy.Float("1e-10")
"""Ends closer than this are one end; the second where a turning point is known numerically only."""


class Region(NamedTuple):
    """P and Q of {s > x}, mass at infinity included, for all x in no region before it whose `relation` to `end` holds;
    for all of them if that is infinite."""

    p: sympy.Expr
    q: sympy.Expr
    end: sympy.Expr
    relation: type

    def holds(self, x: sympy.Symbol, at: Callable) -> sympy.Basic:
        """Its condition, given that no region's before it holds; `at` turns a loss into a value of x."""
        if not self.end.is_finite:
            return sympy.true
        return self.relation(x, at(self.end), evaluate=False)


class Tails:
    """P and Q of {s > eps} as formulas, and delta(eps) = P - e^eps Q."""

    def __init__(self, own: Own, x: sympy.Symbol, pieces: list[PieceTails]):
        self.x = x
        self.regions = _regions(own, pieces, x)
        self._summed = _summed(own, pieces, x) if self.regions is None else None
        self._letters = [letter for tail in pieces for letter in tail.letter]

    @classmethod
    def of(cls, own: Own, x: sympy.Symbol) -> "Tails | None":
        """None where some of them are not closed. Outcomes keep a letter where that is much shorter."""
        pieces = tails_of_pieces(own, x, in_letters=False)
        if pieces is None:
            return None
        plain = cls(own, x, pieces)
        if plain.length <= MOST_WRITTEN:
            return plain
        lettered = cls(own, x, tails_of_pieces(own, x, in_letters=True) or [])
        return lettered if lettered.length < CLEARLY * plain.length else plain

    @cached_property
    def length(self) -> int:
        """Operations in all formulas."""
        formulas = self._summed or (*self._sticks, *(of for _, of in self._letters))
        return sum(map(sympy.count_ops, formulas))

    def masses(self, x: sympy.Symbol | None = None) -> tuple[sympy.Expr, sympy.Expr]:
        """P and Q of {s > x}, x another letter if need be."""
        return self._side(0, x or self.x), self._side(1, x or self.x)

    def errors(self, x: sympy.Symbol) -> tuple[sympy.Expr, sympy.Expr]:
        """P of {s <= x}, and Q of {s > x}: the two errors of the test that rejects the first where s <= x."""
        if self.regions is None:
            p, q = self.masses(x)
            return 1 - p, q
        return self._cases([short(1 - region.p) for region in self.regions], x), self._side(1, x)

    def masses_in_exp(self, x: sympy.Symbol) -> tuple[sympy.Expr, sympy.Expr]:
        """P and Q of {s > log x}."""
        return self._side(0, x, sympy.exp, sympy.log(x)), self._side(1, x, sympy.exp, sympy.log(x))

    def letters(self, loss: sympy.Expr | None = None) -> tuple:
        """The outcomes that keep a letter, and their formulas, at this loss."""
        return tuple((letter, of.xreplace({self.x: loss or self.x})) for letter, of in self._letters)

    def curve(self) -> sympy.Expr | None:
        """delta(eps) by cases, None where there is no order of the ends."""
        return None if self.regions is None else self._cases(self._sticks, self.x)

    def curve_in_exp(self, x: sympy.Symbol) -> sympy.Expr | None:
        """The same in x = e^eps."""
        return None if self.regions is None else self._cases(self._sticks, x, sympy.exp, sympy.log(x))

    @cached_property
    def _sticks(self) -> list[sympy.Expr]:
        assert self.regions is not None
        return [short(region.p - sympy.exp(self.x) * region.q) for region in self.regions]

    def _side(self, side: int, x: sympy.Symbol, at: Callable = sympy.sympify, loss=None) -> sympy.Expr:
        if self._summed is not None:
            return self._summed[side].xreplace({self.x: x if loss is None else loss})
        assert self.regions is not None
        return self._cases([region[side] for region in self.regions], x, at, loss)

    def _cases(self, formulas: list, x: sympy.Symbol, at: Callable = sympy.sympify, loss=None) -> sympy.Expr:
        """One formula by cases; neighbours with the same formula are one case."""
        assert self.regions is not None
        cases = [
            (formula.xreplace({self.x: x if loss is None else loss}), region.holds(x, at))
            for formula, region in zip(formulas, self.regions, strict=True)
        ]
        kept = [case for case, after in pairwise([*cases, (None, None)]) if case[0] != after[0]]
        return kept[0][0] if len(kept) == 1 else sympy.Piecewise(*kept, evaluate=False)


def _regions(own: Own, tails: list[PieceTails], x: sympy.Symbol) -> list[Region] | None:
    ends = [end for tail in tails for end in (tail.low, tail.high) if end.is_finite]
    places = _places([*ends, *(atom.loss for atom in own.atoms)])
    if places is None:
        return None
    order, place = places
    letters = [letter for tail in tails for letter in tail.letter]
    regions = []
    for number, end in enumerate(order):
        opens = any(place[t.low] == number for t in tails if t.low.is_finite)
        shuts = any(place[t.high] == number for t in tails if t.high.is_finite)
        jumps = any(place[atom.loss] == number for atom in own.atoms)
        before = _masses(own, tails, place, number - 0.5)
        good = not shuts or all(_has_value(spelled_out(side, letters).xreplace({x: end})) for side in before)
        closed = opens and good and not jumps
        regions.append(Region(*before, end, sympy.LessThan if closed else sympy.StrictLessThan))
        if opens and not good:  # nor would the next region's formula have a value there
            p, q = (spelled_out(side, letters).xreplace({x: end}) for side in _masses(own, tails, place, number))
            regions.append(Region(p, q, end, sympy.Equality))
    return [*regions, Region(*_masses(own, tails, place, len(order) - 0.5), sympy.oo, sympy.LessThan)]


def _masses(own: Own, tails: list[PieceTails], place: dict, here: float) -> tuple[sympy.Expr, sympy.Expr]:
    """P and Q above x at a place: that of an end is its number, that of the region before it half less."""
    p, q = own.infinite, ZERO
    everything = True
    for tail in tails:
        low = place[tail.low] if tail.low.is_finite else -1
        high = place[tail.high] if tail.high.is_finite else len(place)
        if here <= low:
            p, q = p + tail.whole[0], q + tail.whole[1]
        elif here < high:
            p, q, everything = p + tail.inside[0], q + tail.inside[1], False
        else:
            everything = False
    for atom in own.atoms:
        if here < place[atom.loss]:
            p, q = p + atom.p, q + atom.q
        else:
            everything = False
    return (sympy.S.One, 1 - own.missing) if everything else (short(p), short(q))


def _places(ends: list[sympy.Expr]) -> tuple[list[sympy.Expr], dict[sympy.Expr, int]] | None:
    """The different ends in increasing order, and the place of each; None if signs do not tell the order."""
    distinct = list(dict.fromkeys(ends))
    signs = {}
    for one in distinct:
        for other in distinct:
            sign = 0 if one == other else _sign(one - other)
            if sign is None:
                return None
            signs[one, other] = sign
    distinct.sort(key=cmp_to_key(lambda one, other: signs[one, other]))
    order: list[sympy.Expr] = []
    place: dict[sympy.Expr, int] = {}
    for end in distinct:
        if order and signs[order[-1], end] == 0:
            order[-1] = min(order[-1], end, key=sympy.count_ops)
        else:
            order.append(end)
        place[end] = len(order) - 1
    return order, place


def _has_value(formula: sympy.Expr) -> bool:
    return not formula.free_symbols and isinstance(formula.evalf(DIGITS), sympy.Float | sympy.Rational)


def _sign(difference: sympy.Expr) -> int | None:
    if difference.free_symbols:
        return sign_of(difference)
    value = difference.evalf(DIGITS)
    if not value.is_Float and not value.is_Rational:
        return None
    same = NEARLY if difference.atoms(sympy.Float) else EXACTLY
    return 0 if abs(value) < same else (1 if value > 0 else -1)


def _summed(own: Own, tails: list[PieceTails], x: sympy.Symbol) -> tuple[sympy.Expr, sympy.Expr]:
    """A sum of cases, one for each piece and atom: right in whatever order the ends are."""
    totals = [own.infinite, ZERO]
    for tail in tails:
        for side in (0, 1):
            cases: list[tuple] = []
            if tail.low.is_finite:
                cases.append((tail.whole[side], sympy.LessThan(x, tail.low, evaluate=False)))
            cases.append(
                (tail.inside[side], sympy.StrictLessThan(x, tail.high, evaluate=False) if tail.high.is_finite else True)
            )
            if tail.high.is_finite:
                cases.append((ZERO, True))
            totals[side] += sympy.Piecewise(*cases, evaluate=False) if len(cases) > 1 else tail.inside[side]
    for atom in own.atoms:
        above = sympy.StrictLessThan(x, atom.loss, evaluate=False)
        for side, mass in enumerate((atom.p, atom.q)):
            totals[side] += sympy.Piecewise((mass, above), (ZERO, True), evaluate=False)
    return totals[0], totals[1]
