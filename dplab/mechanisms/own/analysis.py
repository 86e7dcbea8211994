"""Everything about two densities, found once: cells, loss, monotone pieces with their inverses, masses, atoms.

The result is plain data in sympy, with programs that evaluate it in any arithmetic. What was found how is kept beside
it (`stage` fields), for derivations to explain.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise

import sympy

from ...core.deadline import within
from ...core.errors import BudgetError, DplabError, ParameterError
from ...core.expression import Expression
from .cells import Cell, PointMass, cells, split_atoms
from .formulas import to_sympy
from .losses import NUMERIC, Inverse, end_value, inverse_of, is_constant, loss_of, turning_points
from .masses import NO_FORMULA, Mass, exponentials
from .programs import Program
from .signs import compared, sign
from .substitution import mass_of
from .turning import Turning, numeric_turning_points

MOST_TIDIED = 60
ONE_STAGE, ALL_STAGES = 5.0, 60.0
"""Seconds of CPU time for one search (an antiderivative, the turning points, an inverse), and for everything."""
X = sympy.Symbol("x", real=True)
"""The loss, as the variable of inverses."""


@dataclass(frozen=True, eq=False)
class Panel:
    """A cell in which both densities are positive, with the loss and the masses there."""

    cell: Cell
    variable: sympy.Symbol
    loss: sympy.Expr
    p_mass: Mass
    q_mass: Mass

    @cached_property
    def programs(self) -> dict[str, Program]:
        """p, q, loss and slope as functions of t; left and right masses where they are closed."""
        t = self.variable
        formulas = {
            "p": self.cell.p,
            "q": self.cell.q,
            "loss": self.loss,
            "slope": sympy.diff(self.loss, t),
            "p_left": self.p_mass.left,
            "p_right": self.p_mass.right,
            "q_left": self.q_mass.left,
            "q_right": self.q_mass.right,
        }
        return {name: Program(formula, t) for name, formula in formulas.items() if formula is not None}


@dataclass(frozen=True, eq=False)
class Piece:
    """A part of a panel between two outcomes on which the loss is strictly monotone.

    `lower`, `upper`: the outcomes at its ends (sympy; infinite; or a `Turning` point known numerically only);
    `increasing`; `low`, `high`: the range of the loss; `inverse`: t as a formula in x, None if it is numeric only.
    """

    panel: Panel
    lower: sympy.Expr | Turning
    upper: sympy.Expr | Turning
    increasing: bool
    low: sympy.Expr | Turning
    high: sympy.Expr | Turning
    found: Inverse

    @property
    def loss(self) -> sympy.Expr:
        """s(t)."""
        return self.panel.loss

    @property
    def turns(self) -> tuple[bool, bool]:
        """At which ends the loss turns: those inside the panel."""
        cell = self.panel.cell
        return self.lower != cell.lower, self.upper != cell.upper

    @property
    def inverse(self) -> sympy.Expr | None:
        """t(x), or None."""
        return self.found.formula

    @property
    def stage(self) -> str:
        """How the inverse was found; "numeric" if it has no closed form here."""
        return self.found.stage

    @cached_property
    def inverse_program(self) -> Program | None:
        """The inverse as a program in x."""
        return None if self.inverse is None else Program(self.inverse, X)


@dataclass(frozen=True, eq=False)
class LossAtom:
    """One finite loss that a set of outcomes shares, with the masses of P and Q there."""

    loss: sympy.Expr
    p: sympy.Expr
    q: sympy.Expr


@dataclass(frozen=True, eq=False)
class Analysis:
    """What is known of two densities."""

    variable: sympy.Symbol
    p: sympy.Expr
    q: sympy.Expr
    panels: tuple[Panel, ...]
    pieces: tuple[Piece, ...]
    atoms: tuple[LossAtom, ...]
    infinite: sympy.Expr
    missing: sympy.Expr
    cells: tuple[Cell, ...]
    notes: tuple[str, ...] = ()
    given_up: tuple[BudgetError, ...] = ()

    @cached_property
    def range(self) -> tuple | None:
        """The smallest and the largest loss of the pieces (sympy, or turning points' losses); None without pieces."""
        if not self.pieces:
            return None
        low, high = self.pieces[0].low, self.pieces[0].high
        for piece in self.pieces[1:]:
            low = piece.low if _smaller(piece.low, low) else low
            high = piece.high if _smaller(high, piece.high) else high
        return low, high

    @cached_property
    def knots(self) -> tuple:
        """Ends of pieces' ranges strictly inside the whole range, from the largest down."""
        if self.range is None:
            return ()
        found: list = []
        for end in (end for piece in self.pieces for end in (piece.low, piece.high)):
            known = any(not _smaller(end, other) and not _smaller(other, end) for other in (*self.range, *found))
            if not known:
                place = sum(1 for other in found if _smaller(end, other))
                found.insert(place, end)
        return tuple(found)


@lru_cache(maxsize=256)
def analysed(p: Expression, q: Expression, variable: str, lower, upper) -> Analysis:
    """The analysis of two densities on an interval (its ends are trees, or infinities).

    Raises ParameterError for densities that are none, and where parameters without values leave the order of corners
    open.
    """
    from .checks import check_densities

    t = sympy.Symbol(variable, real=True)
    whole = [to_sympy(density, variable) for density in (p, q)]
    ends = [end_of(end) for end in (lower, upper)]
    if compared(ends[0], ends[1], "ends of the support") >= 0:
        raise ParameterError("support", f"({ends[0]}, {ends[1]})", "an interval (lower, upper) with lower < upper")
    smooth, points = zip(*(split_atoms(d, t, name) for d, name in zip(whole, "PQ", strict=True)), strict=True)
    found = [
        c._replace(p=exponentials(c.p), q=exponentials(c.q)) for c in cells(smooth[0], smooth[1], t, ends[0], ends[1])
    ]
    builder = _Builder(t)
    masses = [(builder.mass(c.p, c), builder.mass(c.q, c)) for c in found]
    check_densities(found, masses, points, t)
    for cell, (p_mass, q_mass) in zip(found, masses, strict=True):
        builder.add(cell, p_mass, q_mass)
    builder.add_points(*points)
    return Analysis(
        variable=t,
        p=whole[0],
        q=whole[1],
        panels=tuple(builder.panels),
        pieces=tuple(builder.pieces),
        atoms=builder.sorted_atoms(),
        infinite=sympy.Add(*builder.infinite),
        missing=sympy.Add(*builder.missing),
        cells=tuple(found),
        notes=tuple(builder.notes),
        given_up=tuple(builder.given_up),
    )


def attempted(analysis: Callable, *given):
    """The analysis, or a ParameterError where a formula is too strange for one of its stages.

    Raises BudgetError where it takes longer than `ALL_STAGES`.
    """
    try:
        return within(ALL_STAGES, "the analysis of the densities", analysis, *given)
    except DplabError:
        raise
    except (ArithmeticError, ValueError, TypeError, AttributeError, NotImplementedError, RecursionError) as error:
        shown = ", ".join(str(tree)[:60] for tree in given[:2])
        cause = f"{type(error).__name__}: {str(error)[:80]}" if str(error) else type(error).__name__
        raise ParameterError("densities", shown, "formulas that can be taken apart here", cause) from None


def end_of(end) -> sympy.Expr:
    """An end of a support, a tree or an infinity, in sympy."""
    if isinstance(end, float):
        return sympy.oo if end > 0 else -sympy.oo
    return to_sympy(end, "_")


class _Builder:
    """Collects panels, pieces and atoms."""

    def __init__(self, t: sympy.Symbol):
        self.t = t
        self.panels: list[Panel] = []
        self.pieces: list[Piece] = []
        self.atoms: list[LossAtom] = []
        self.infinite: list[sympy.Expr] = []
        self.missing: list[sympy.Expr] = []
        self.notes: list[str] = []
        self.given_up: list[BudgetError] = []

    def mass(self, density: sympy.Expr, cell: Cell) -> Mass:
        """The mass of a density in a cell."""
        return self._searched("the search for an antiderivative", NO_FORMULA, mass_of, density, self.t, cell)

    def _searched(self, what: str, otherwise, search: Callable, *arguments):
        """What a search finds; where it takes too long it is given up, which is kept in mind."""
        try:
            return within(ONE_STAGE, what, search, *arguments)
        except BudgetError as error:
            self.given_up.append(error)
            self.notes.append(str(error))
            return otherwise

    def add(self, cell: Cell, p_mass: Mass, q_mass: Mass) -> None:
        """One cell: nothing, mass at an infinity, an atom, or a panel with its monotone pieces."""
        if cell.p == 0 and cell.q == 0:
            return
        if cell.q == 0:
            self.infinite.append(self._total(p_mass, cell.p, cell))
            return
        if cell.p == 0:
            self.missing.append(self._total(q_mass, cell.q, cell))
            return
        loss = loss_of(cell, self.t)
        if is_constant(loss, self.t, cell):
            at = loss if not loss.has(self.t) else sympy.simplify(loss.subs(self.t, cell.sample))
            self._add_atom(at, self._total(p_mass, cell.p, cell), self._total(q_mass, cell.q, cell))
            return
        panel = Panel(cell, self.t, loss, p_mass, q_mass)
        self.panels.append(panel)
        self.pieces += self._monotone(panel)

    def _total(self, mass: Mass, density: sympy.Expr, cell: Cell) -> sympy.Expr:
        if mass.total is not None:
            return mass.total
        return sympy.Integral(density, (self.t, cell.lower, cell.upper))

    def _add_atom(self, loss: sympy.Expr, p: sympy.Expr, q: sympy.Expr) -> None:
        for i, known in enumerate(self.atoms):
            if known.loss == loss or sign(known.loss - loss) == 0:
                self.atoms[i] = LossAtom(known.loss, known.p + p, known.q + q)
                return
        self.atoms.append(LossAtom(loss, p, q))

    def add_points(self, p_points: list[PointMass], q_points: list[PointMass]) -> None:
        """Outcomes with positive probability under one or both."""
        places = {point.at for point in (*p_points, *q_points)}
        for at in sorted(places, key=sympy.default_sort_key):
            p, q = (sympy.Add(*(m.mass for m in points if m.at == at)) for points in (p_points, q_points))
            if q == 0:
                self.infinite.append(p)
            elif p == 0:
                self.missing.append(q)
            else:
                self._add_atom(sympy.expand_log(sympy.log(sympy.simplify(p / q)), force=True), p, q)

    def sorted_atoms(self) -> tuple[LossAtom, ...]:
        """The atoms from the largest loss down."""
        result: list[LossAtom] = []
        for atom in self.atoms:
            place = 0
            for i, other in enumerate(result):
                if compared(other.loss, atom.loss, "losses of atoms") > 0:
                    place = i + 1
            result.insert(place, atom)
        return tuple(LossAtom(atom.loss, _tidy(atom.p), _tidy(atom.q)) for atom in result)

    def _monotone(self, panel: Panel) -> list[Piece]:
        cell, t, loss = panel.cell, self.t, panel.loss
        turns = self._searched("the search for turning points", None, turning_points, loss, t, cell)
        if turns is None:
            turns = numeric_turning_points(panel)
            self.notes.append(
                f"the loss turns at {len(turns)} points of ({cell.lower}, {cell.upper}) found numerically"
            )
        ends = [cell.lower, *turns, cell.upper]
        values = [
            end_value(loss, cell, t, cell.lower, False),
            *(turn.value if isinstance(turn, Turning) else sympy.simplify(loss.subs(t, turn)) for turn in turns),
            end_value(loss, cell, t, cell.upper, True),
        ]
        pieces = []
        for (lower, at_lower), (upper, at_upper) in pairwise(zip(ends, values, strict=True)):
            increasing = _smaller(at_lower, at_upper)
            if not increasing and not _smaller(at_upper, at_lower):
                shown = f"{lower} < {t} < {upper}"
                raise ParameterError("densities", shown, "such that the turning points of the loss can be found")
            numeric = isinstance(lower, Turning) or isinstance(upper, Turning)
            found = Inverse(None, NUMERIC)
            if not numeric:
                found = self._searched("the search for an inverse", found, inverse_of, loss, t, X, lower, upper)
            low, high = (at_lower, at_upper) if increasing else (at_upper, at_lower)
            pieces.append(Piece(panel, lower, upper, increasing, low, high, found))
            if found.formula is None:
                self.notes.append(f"no closed inverse of the loss between {lower} and {upper}")
        return pieces


def _smaller(one, other) -> bool:
    """Whether one value of the loss is smaller than another, turning points compared by 25 digits."""
    one, other = (value.near if isinstance(value, Turning) else value for value in (one, other))
    return compared(one, other, "values of the loss") < 0


def _tidy(mass: sympy.Expr) -> sympy.Expr:
    """A constant in a short form, if it is short enough for sympy to find one quickly."""
    return sympy.simplify(mass) if not mass.has(sympy.Integral) and mass.count_ops() < MOST_TIDIED else mass
