"""delta(eps) of one PLD from its own tails: delta = delta(inf) + P(s > eps) - e^eps Q(s > eps).

The atoms and the ends of the support cut the eps axis into regions; in each the two masses are one formula. Which
knot is larger is what the mechanism's page says (atoms are listed from the largest loss down), because symbols alone
often cannot decide it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import sympy

from ..core.errors import NoClosedFormError
from ..core.pair import Atom, Tails
from ..core.pld import PLD
from .table import SympyTable
from .tidy import sign_of, tidy_difference


class Law(NamedTuple):
    """What delta needs of a loss law: atoms from the largest loss down, the masses that only one of the two
    distributions has, the ends of the continuous part, its masses above a value, and its total masses."""

    atoms: Sequence[Atom]
    infinite: sympy.Expr
    missing: sympy.Expr
    ends: tuple | None = None
    above: Callable[[sympy.Expr], Tails] | None = None
    total: Tails = Tails(sympy.S.Zero, sympy.S.Zero)
    inner: Sequence[sympy.Expr] = ()
    """Losses at which the formula of `above` changes, from the largest down."""


@dataclass(frozen=True)
class Region:
    """Between two neighbouring knots delta(eps) is `value`; ends may be infinite."""

    lower: sympy.Expr
    upper: sympy.Expr
    value: sympy.Expr


def law_of(pld: PLD, fn: SympyTable) -> Law:
    """The law of one step, from the mechanism's page."""
    atoms = pld.atoms(fn)
    return Law(
        atoms[::-1] if pld.backward else atoms,
        pld.mass_at_infinity(fn),
        pld.mass_at_minus_infinity(fn),
        pld.support(fn),
        lambda x: pld.above(fn, x),
        pld.continuous_mass(fn),
        pld.knots(fn),
    )


def regions_of(law: Law, fn: SympyTable, x: sympy.Expr) -> list[Region]:
    """The regions of delta(x), from the largest losses down; for a number x among numbers, that of x alone.

    Raises NoClosedFormError if the ends of the support cannot be placed among the atoms.
    """
    law = _spelled(law, fn)
    knots = _knots(law)
    top, bottom = (knots.index(end) for end in reversed(law.ends)) if law.ends else (0, 0)
    regions, only = [], _place(knots, x)
    for i, (upper, lower) in enumerate(pairwise(knots)):
        if only not in (None, i):
            continue
        inside = top <= i < bottom
        if lower == -sympy.oo and not inside:
            a, b = sympy.S.One, 1 - law.missing
        else:
            fn.sample = {x: _sample(lower, upper)} if only is None else {}
            part = law.above(x) if inside and law.above else law.total if i >= bottom else Tails(0, 0)
            fn.sample = None
            beyond = [atom for atom in law.atoms if knots.index(atom.loss) <= i]
            a = sum((atom.p for atom in beyond), law.infinite + part.p)
            b = sum((atom.q for atom in beyond), sympy.sympify(part.q))
        regions.append(Region(lower, upper, tidy_difference(a, b, x, fn)))
    return regions


def _spelled(law: Law, fn: SympyTable) -> Law:
    """The law with the losses that are numbers written without letters."""

    def spelled(loss: sympy.Expr) -> sympy.Expr:
        plain = fn.spelled_out(sympy.sympify(loss))
        return loss if plain.free_symbols else plain

    ends = law.ends and (spelled(law.ends[0]), spelled(law.ends[1]))
    atoms = [atom._replace(loss=spelled(atom.loss)) for atom in law.atoms]
    return law._replace(ends=ends, atoms=atoms, inner=[spelled(loss) for loss in law.inner])


def _place(knots: list[sympy.Expr], x: sympy.Expr) -> int | None:
    """The region that a number x lies in; None where parameters without values decide it.

    Elsewhere the formulas may not hold at x, and a sample put for x would change every equal number in them.
    """
    if x.free_symbols or any(knot.free_symbols for knot in knots):
        return None
    lowest = len(knots) - 2
    for i in range(lowest, 0, -1):
        order = sign_of(knots[i] - x)
        if order is None:
            return None
        if order > 0 or (order == 0 and i == lowest):
            return i
    return 0


def _sample(lower: sympy.Expr, upper: sympy.Expr) -> sympy.Expr:
    """A number in a region, parameters without values counting as 1/2."""
    ends = [end.subs(dict.fromkeys(end.free_symbols, sympy.S.Half)) for end in (lower, upper)]
    if ends[0].is_infinite:
        return sympy.S.Zero if ends[1].is_infinite else ends[1] - 1
    return ends[0] + 1 if ends[1].is_infinite else (ends[0] + ends[1]) / 2


def _knots(law: Law) -> list[sympy.Expr]:
    knots = [atom.loss for atom in law.atoms]
    for end in (*(law.ends or ()), *law.inner):
        if end.is_infinite or end in knots:
            continue
        signs = [sign_of(knot - end) for knot in knots]
        if None in signs or 0 in signs:
            raise NoClosedFormError(
                f"support: cannot tell where its end {end} lies among the losses {knots}; "
                "give more parameters as numbers"
            )
        knots.insert(signs.count(1), end)
    return [sympy.oo, *knots, -sympy.oo]


def as_piecewise(regions: Sequence[Region], x: sympy.Expr) -> sympy.Expr:
    """The regions as one expression in x, from the smallest x up."""
    *rest, top = regions[::-1]
    if not rest:
        return top.value
    lowest, *inner = rest
    pieces = [(lowest.value, x <= lowest.upper), *((r.value, x < r.upper) for r in inner), (top.value, True)]
    return sympy.Piecewise(*pieces)
