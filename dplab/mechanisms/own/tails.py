"""Masses above and below a loss, piece by piece, in the arithmetic of any function table."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

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
        return fn.solve(lambda t: loss(fn, t), at, *ends, piece.increasing)

    if program is None:
        return solved(x)
    return fn.refined(fn.within(program(fn, x), *ends), x, solved)


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

    def inside(at) -> Tails:
        t = outcome(fn, piece, at)
        return right_of(fn, piece, t) if right else left_of(fn, piece, t)

    rises = right != piece.increasing  # the mass grows with x
    ends = value(fn, piece.low), value(fn, piece.high)
    found = fn.between(x, *ends, none if rises else whole, inside, whole if rises else none)
    return found if piece.inverse_program is not None else _with_gaps(fn, piece, found)


def _with_gaps(fn, piece: Piece, found: Tails) -> Tails:
    """Masses of a piece whose loss may fail to be monotone in some tiny gaps: what is there may be above or below."""
    ends = value(fn, piece.lower), value(fn, piece.upper)
    gaps = fn.monotone_gaps(piece.panel.programs["slope"], *ends, piece.increasing)
    if not gaps:
        return found
    p, q = found
    for gap in gaps:
        low, high = type(gap).exactly(gap.lo), type(gap).exactly(gap.hi)
        at_left = fn.is_infinite(gap.lo)
        for side in "pq":
            programs = piece.panel.programs
            if at_left:
                most = programs[f"{side}_left"](fn, high)
            elif fn.is_infinite(gap.hi):
                most = programs[f"{side}_right"](fn, low)
            else:
                most = programs[side](fn, gap) * (high - low)
            spread = type(gap)(-most.hi, most.hi)
            p, q = (p + spread, q) if side == "p" else (p, q + spread)
    return Tails(p, q)


def right_of(fn, piece: Piece, t) -> Tails:
    """Masses between t and the piece's upper end."""
    return Tails(*(_between(fn, piece.panel, side, t, None, piece.upper) for side in "pq"))


def left_of(fn, piece: Piece, t) -> Tails:
    """Masses between the piece's lower end and t."""
    return Tails(*(_between(fn, piece.panel, side, None, t, piece.lower) for side in "pq"))


def whole_mass(fn, piece: Piece) -> Tails:
    """Masses of the whole piece."""
    cell = piece.panel.cell
    if piece.lower == cell.lower and piece.upper == cell.upper:
        totals = (piece.panel.p_mass.total, piece.panel.q_mass.total)
        if None not in totals:
            return Tails(*(value(fn, total) for total in totals))
    if piece.lower == cell.lower:
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
