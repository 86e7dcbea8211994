"""Pairs given by two densities of one's own, turned into one direction: losses, outcomes, law and tails as formulas."""

from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import NamedTuple

import sympy

from ...core.display import text_formula
from ...core.pair import Atom
from ...mechanisms.own.analysis import Panel, Piece
from ...mechanisms.own.analysis import X as INVERSE_OF
from ...mechanisms.own.cells import split_atoms
from ...mechanisms.own.densities import DensityPair
from ...mechanisms.own.programs import acot, upper_normal
from ...mechanisms.own.turning import Turning
from ..derivation import Line
from ..normal_cdf import Phi
from ..outputs import Line as Densities
from ..outputs import Piece as Interval
from ..outputs import Row
from ..tidy import short, tidied
from ..worker import StageStopped
from . import common
from .setting import S, Setting

ZERO, HALF = sympy.S.Zero, sympy.S.Half
MOST_SUBSTITUTED = 30
"""An outcome is put into a formula up to so many operations; beyond, it keeps its letter."""


def own_outputs(pair: DensityPair, fn) -> Densities:
    """The cells of the analysis, and the outcomes with positive probability."""
    found, t = pair.analysis, pair.variable
    intervals = tuple(Interval(cell.lower, cell.upper, cell.p, cell.q) for cell in found.cells)
    points = [split_atoms(density, t, name)[1] for density, name in ((found.p, "P"), (found.q, "Q"))]
    places = sorted({point.at for side in points for point in side}, key=sympy.default_sort_key)
    rows = tuple(
        Row(str(at), *(sympy.Add(*(point.mass for point in side if point.at == at)) for side in points))
        for at in places
    )
    ends = {end for cell in found.cells for end in (cell.lower, cell.upper) if end.is_finite}
    typical = tuple(sorted(ends, key=sympy.default_sort_key))
    if not typical:
        typical = (sympy.Integer(-1), ZERO, sympy.Integer(1))
    return Densities(t, intervals, (found.p, found.q), typical, rows)


class Own:
    """The analysis of a pair, turned into one direction."""

    law_reason = (
        "Change of variables: `omega(s)` is the sum of `f(t) / |s'(t)|` over the outcomes t with loss s, f the "
        "first density"
    )
    law_open = StageStopped("PLD", "its density needs the inverses that have no closed form")

    def __init__(self, setting: Setting):
        assert isinstance(setting.pair, DensityPair)
        self.setting, self.pair, self.back = setting, setting.pair, setting.backward
        self.found, self.t = self.pair.analysis, self.pair.variable
        self.infinite, self.missing = self.found.infinite, self.found.missing
        self.atoms = [Atom(readable(a.loss), short(a.p), short(a.q)) for a in self.found.atoms]
        if self.back:
            self.infinite, self.missing = self.missing, self.infinite
            self.atoms = [Atom(-a.loss, a.q, a.p) for a in self.atoms[::-1]]

    def explained(self, stopped: StageStopped, *searches: str) -> StageStopped:
        """A stage without a formula, with the search that was given up, if one of these was."""
        for error in self.found.given_up:
            if any(search in error.what for search in searches):
                return StageStopped(
                    stopped.stage, f"{stopped.reason} ({error.what} ran out of its budget)", error.seconds
                )
        return stopped

    def sides(self, panel: Panel) -> tuple[sympy.Expr, sympy.Expr]:
        """First and second density on a panel."""
        return (panel.cell.q, panel.cell.p) if self.back else (panel.cell.p, panel.cell.q)

    def loss(self, panel: Panel) -> sympy.Expr:
        """s(t) on a panel."""
        return -panel.loss if self.back else panel.loss

    def range(self, piece: Piece) -> tuple:
        """The smallest and the largest loss on a piece."""
        ends = tuple(readable(near_end(end)) for end in (piece.low, piece.high))
        return (-ends[1], -ends[0]) if self.back else ends

    def outcome(self, piece: Piece, s) -> sympy.Expr | None:
        """The outcome with loss s on a piece; None without a closed inverse."""
        return None if piece.inverse is None else readable(piece.inverse).xreplace({INVERSE_OF: -s if self.back else s})

    @property
    def numeric(self) -> bool:
        """Whether some end or inverse is known numerically only."""
        return any(piece.inverse is None for piece in self.found.pieces)

    def turned(self) -> "Own":
        """The same pair seen from the other side."""
        setting = self.setting
        outputs = setting.outputs.swapped()
        return type(self)(Setting(setting.pair, not self.back, outputs, setting.fn, setting.budget))

    @cached_property
    def density(self) -> tuple[sympy.Expr, tuple] | None:
        """omega(s) and its letters; None where it is not closed."""
        return density_of(self, S)

    def open_density(self) -> tuple[sympy.Expr, tuple]:
        """omega in terms of inverses that have no formula."""
        inverse = sympy.Function("s^{-1}")(S)
        return sympy.Function("f")(inverse) / sympy.Abs(sympy.Function("s'")(inverse)), ()

    def expectation(self, of: Callable, weight: int = 0) -> sympy.Expr:
        """The unevaluated mean of a function of s under the first (weight 0) or second distribution."""
        total = sum((atom[1 + weight] * of(atom.loss) for atom in self.atoms), ZERO)
        for panel in self.found.panels:
            body = of(self.loss(panel)) * self.sides(panel)[weight]
            total += sympy.Integral(body, (self.t, panel.cell.lower, panel.cell.upper))
        return total


def near_end(end) -> sympy.Expr:
    """An end as a number, where it is a turning point known numerically only."""
    return sympy.Float(end.near, 12) if isinstance(end, Turning) else end


@lru_cache(maxsize=1024)
def readable(formula: sympy.Expr) -> sympy.Expr:
    """An outcome or a loss as short as may be, what stands in logarithms and roots too."""
    inside = formula.replace(sympy.log, lambda of: sympy.log(short(of)))
    inside = inside.replace(lambda e: e.is_Pow and e.exp == HALF, lambda e: sympy.sqrt(short(e.base)))
    return min(formula, inside, short(inside), key=sympy.count_ops)


def _readable(mass: sympy.Expr) -> sympy.Expr:
    """The analysis' own functions in those of the symbolic route."""
    return mass.replace(upper_normal, lambda x: Phi(-x)).replace(acot, lambda x: sympy.pi / 2 - sympy.atan(x))


def density_of(own: Own, s) -> tuple[sympy.Expr, tuple] | None:
    """omega at s: first density over |s'(t)| at each outcome with this loss; None without closed inverses.

    An outcome whose formula would make a thicket of it keeps a letter; these come with their meanings.
    """
    total, letters = [], []
    pieces = own.found.pieces
    x = {INVERSE_OF: -s if own.back else s}
    for number, piece in enumerate(pieces, 1):
        if piece.inverse is None:
            return None
        t = readable(piece.inverse).xreplace(x)
        slope = sympy.diff(piece.loss, own.t) * (1 if piece.increasing else -1)
        there = tidied(own.sides(piece.panel)[0] / slope)
        value = short(there.xreplace({own.t: t}))
        if sympy.count_ops(value) > MOST_SUBSTITUTED and sympy.count_ops(there) < sympy.count_ops(value) / 2:
            letter = outcome_letter(own, number)
            letters.append((letter, t))
            value = there.xreplace({own.t: letter})
        total.append((value, own.range(piece)))
    if not total:
        return ZERO, ()
    if len(total) == 1:
        return total[0][0], tuple(letters)
    names = [sympy.Symbol(f"omega{number}", real=True) for number in range(1, len(total) + 1)]
    parts = [(name, _within(value, s, *ends)) for name, (value, ends) in zip(names, total, strict=True)]
    return sympy.Add(*names), (*parts, *letters)


def outcome_letter(own: Own, number: int) -> sympy.Symbol:
    """The letter of the outcome on a piece."""
    return own.t if len(own.found.pieces) == 1 else sympy.Symbol(f"{own.t}{number}", real=True)


def _within(value, s, low, high) -> sympy.Expr:
    conditions = [sympy.StrictLessThan(low, s, evaluate=False)] if low.is_finite else []
    conditions += [sympy.StrictLessThan(s, high, evaluate=False)] if high.is_finite else []
    if not conditions:
        return value
    return sympy.Piecewise((value, sympy.And(*conditions, evaluate=False)), (ZERO, True), evaluate=False)


def law_lines(own: Own, name: str, density, ends, atoms, infinite) -> list[Line]:
    """The lines of a law: density, atoms, mass at infinity."""
    lines = []
    if ends is not None:
        when = common.interval("s", *ends)
        lines.append(Line(f"{name}(s)", density, when))
    lines += [Line(f"mass at {text_formula(atom.loss)}", short(atom.p)) for atom in atoms]
    return [*lines, Line("delta(inf)" if name == "omega" else f"delta{name[5:]}(inf)", infinite)]


def ends_of(own: Own) -> tuple | None:
    """The smallest and the largest loss of all pieces; None without pieces."""
    ends = [own.range(piece) for piece in own.found.pieces]
    if not ends:
        return None
    return _extreme(sympy.Min, [low for low, _ in ends]), _extreme(sympy.Max, [high for _, high in ends])


def _extreme(choose, values) -> sympy.Expr:
    return values[0] if len(set(values)) == 1 else choose(*values)


def splits_of(own: Own) -> list:
    """Losses at which the density of several pieces jumps."""
    return [end for piece in own.found.pieces for end in own.range(piece) if end.is_finite]


class PieceTails(NamedTuple):
    """First's and second's mass of {s > x} on a piece whose losses run from `low` to `high`: for an x in between, and
    for one left of it. `letter` and its meaning stand for the outcome where its formula would make a thicket of them.
    """

    low: sympy.Expr
    high: sympy.Expr
    inside: tuple[sympy.Expr, sympy.Expr]
    whole: tuple[sympy.Expr, sympy.Expr]
    letter: tuple[tuple[sympy.Symbol, sympy.Expr], ...]


def tails_of_pieces(own: Own, x, in_letters: bool) -> list[PieceTails] | None:
    """The tails of all pieces, outcomes written as letters or put into the formulas; None where some tail is not
    closed."""
    found = []
    for number, piece in enumerate(own.found.pieces, 1):
        t, letter = own.outcome(piece, x), outcome_letter(own, number)
        masses = (piece.panel.q_mass, piece.panel.p_mass) if own.back else (piece.panel.p_mass, piece.panel.q_mass)
        if t is None or any(mass.left is None or mass.right is None or mass.total is None for mass in masses):
            return None
        right = piece.increasing != own.back
        whole_panel = not any(piece.turns)
        at = letter if in_letters else t
        sides = [_mass_beyond(own, piece, mass, at, right, whole_panel) for mass in masses]
        inside, whole = zip(*sides, strict=True)
        low, high = own.range(piece)
        found.append(PieceTails(low, high, inside, whole, ((letter, t),) if in_letters else ()))
    return found


def _mass_beyond(own: Own, piece: Piece, mass, t, right: bool, whole_panel: bool) -> tuple:
    """The mass of the piece beyond t on one side, and that of all of the piece."""
    source = mass.right if right else mass.left
    source = _readable(source)
    at = tidied(source.xreplace({own.t: t}))
    if whole_panel:
        return at, tidied(_readable(mass.total))
    rest = source.xreplace({own.t: piece.upper if right else piece.lower}) if piece.turns[right] else ZERO
    other = (
        source.xreplace({own.t: piece.lower if right else piece.upper})
        if piece.turns[not right]
        else _readable(mass.total)
    )
    return at - rest, other - rest
