"""Masses above and below a loss, piece by piece, in the arithmetic of any function table."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from ...core.certified import Certified
from ...core.pair import Tails

if TYPE_CHECKING:
    import sympy

    from .analysis import Panel, Piece


def value(fn, what):
    """A sympy constant, an infinity or a turning point as a number of the table."""
    from .turning import Turning

    if isinstance(what, Turning):
        return what.evaluate(fn)
    if what.is_infinite:
        return fn.inf if what.is_extended_positive else -fn.inf
    if fn.symbolic:
        return _program(what)(fn)
    return _number(what, fn, precision_of(fn))


def precision_of(fn) -> int | None:
    """Beside the table what a number in it depends on: mpmath's working precision; None for enclosures."""
    if fn.keeps_remainders:
        return None
    import mpmath  # which the fourier route does not need

    return mpmath.mp.prec


@lru_cache(maxsize=4096)
def _number(constant: sympy.Expr, fn, precision: int | None):
    """The constant in one arithmetic and precision, found once: quadratures ask for the same one a thousand times."""
    return _program(constant)(fn)


@lru_cache(maxsize=4096)
def _program(constant: sympy.Expr):
    from .programs import Program

    return Program(constant)


def outcome(fn, piece: Piece, x):
    """The t on a piece with loss x."""
    program, loss = piece.inverse_program, piece.panel.programs["loss"]
    ends = value(fn, piece.lower), value(fn, piece.upper)

    def solved(at):
        gaps = [gap.where for gap in certified(fn, piece).gaps]
        return fn.solve(lambda t: loss(fn, t), at, *ends, piece.increasing, gaps, piece.turns)

    if program is None:
        return solved(x)
    try:
        found = program(fn, x)
    except ZeroDivisionError:  # a hole of the formula, or a loss that rounding cannot tell from its limit
        return solved(x)
    return fn.refined(fn.within(found, *ends), x, solved)


def masses_above(fn, piece: Piece, x) -> Tails:
    """P and Q of the outcomes of a piece with a loss above x, for any x."""
    return _masses(fn, piece, x, piece.increasing)


def masses_below(fn, piece: Piece, x) -> Tails:
    """P and Q of the outcomes of a piece with a loss at most x, for any x."""
    return _masses(fn, piece, x, not piece.increasing)


def _masses(fn, piece: Piece, x, right: bool) -> Tails:
    """Masses right of the outcome with loss x, or left of it."""
    zero = fn.rational(0, 1)
    none, whole = Tails(zero, zero), whole_mass(fn, piece)

    def beyond(t) -> Tails:
        return right_of(fn, piece, t) if right else left_of(fn, piece, t)

    def inside(at) -> Tails:
        return fn.monotone(beyond, outcome(fn, piece, at), not right)

    rises = right != piece.increasing  # the mass grows with x
    sure = certified(fn, piece)
    found = fn.between(x, sure.low, sure.high, none if rises else whole, inside, whole if rises else none)
    p, q = found
    for gap in sure.gaps:  # what is there may be above or below
        most = gap_masses(fn, piece, gap.where)
        p, q = fn.loosened(p, x, gap.values, most.p), fn.loosened(q, x, gap.values, most.q)
    return Tails(p, q)


def certified(fn, piece: Piece) -> Certified:
    """Where the piece is monotone for certain, and its range; pieces with a closed inverse are by their formulas."""
    if piece.inverse_program is not None:
        return Certified((), value(fn, piece.low), value(fn, piece.high))
    return _certified(fn, piece, precision_of(fn))


@lru_cache(maxsize=1024)
def _certified(fn, piece: Piece, precision: int | None) -> Certified:
    loss, slope = (piece.panel.programs[name] for name in ("loss", "slope"))
    ends, values = (
        (value(fn, one), value(fn, other)) for one, other in ((piece.lower, piece.upper), (piece.low, piece.high))
    )
    return fn.certified(lambda t: loss(fn, t), lambda t: slope(fn, t), ends, values, piece.increasing)


@lru_cache(maxsize=4096)
def gap_masses(fn, piece: Piece, gap) -> Tails:
    """Bounds of the masses in a gap: the least of its width times the density and the masses up to its rims."""
    programs, low, high = piece.panel.programs, *(type(gap).exactly(rim) for rim in (gap.lo, gap.hi))
    masses = []
    for side in "pq":
        found = [programs[f"{side}_left"](fn, high), programs[f"{side}_right"](fn, low)]
        if not (fn.is_infinite(gap.lo) or fn.is_infinite(gap.hi)):
            found.append(programs[side](fn, gap) * (high - low))
        masses.append(min((mass for mass in found if mass.hi >= 0), key=lambda mass: float(mass.hi)))
    return Tails(*masses)


def uncertain(fn, piece: Piece) -> Tails | None:
    """Bounds of the masses of outcomes whose loss may be anything; None if there are none."""
    sure = certified(fn, piece)
    unknown = [gap.where for gap in sure.gaps if fn.is_infinite(gap.values.lo) or fn.is_infinite(gap.values.hi)]
    if not unknown:
        return None
    masses = [gap_masses(fn, piece, where) for where in unknown]
    return Tails(*(sum(side[1:], side[0]) for side in zip(*masses, strict=True)))


def right_of(fn, piece: Piece, t) -> Tails:
    """Masses between t and the piece's upper end."""
    return Tails(*(_between(fn, piece.panel, side, t, None, piece.upper) for side in "pq"))


def left_of(fn, piece: Piece, t) -> Tails:
    """Masses between the piece's lower end and t."""
    return Tails(*(_between(fn, piece.panel, side, None, t, piece.lower) for side in "pq"))


def whole_mass(fn, piece: Piece) -> Tails:
    """Masses of the whole piece."""
    return _whole_mass(fn, piece, precision_of(fn))


@lru_cache(maxsize=1024)
def _whole_mass(fn, piece: Piece, precision: int | None) -> Tails:
    if not any(piece.turns):
        totals = (piece.panel.p_mass.total, piece.panel.q_mass.total)
        if None not in totals:
            return Tails(*(value(fn, total) for total in totals))
    if not piece.turns[0]:
        return left_of(fn, piece, value(fn, piece.upper))
    return right_of(fn, piece, value(fn, piece.lower))


def _between(fn, panel: Panel, side: str, low, high, end):
    """Mass from `low` to `high`; the one that is None is the end of the piece."""
    programs, cell = panel.programs, panel.cell
    if f"{side}_left" not in programs:
        bound = value(fn, end)
        ends = (bound, high) if low is None else (low, bound)
        return fn.integral(lambda t: programs[side](fn, t), *ends)
    left, right = programs[f"{side}_left"], programs[f"{side}_right"]
    if low is None:
        if end == cell.lower:
            return left(fn, high)
        bound = value(fn, end)
        return fn.difference((left(fn, high), left(fn, bound)), (right(fn, bound), right(fn, high)))
    if end == cell.upper:
        return right(fn, low)
    bound = value(fn, end)
    return fn.difference((left(fn, bound), left(fn, low)), (right(fn, low), right(fn, bound)))
