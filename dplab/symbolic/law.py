"""The privacy loss distribution as an object to read: atoms, density, support, masses."""

from dataclasses import dataclass

import sympy

from ..core.display import latex_formula, text_formula
from ..core.errors import NoClosedFormError
from ..core.pair import Atom
from .compositions import MOST_ATOMS, Kinds
from .table import SympyTable
from .tidy import compact, shorter


@dataclass(frozen=True)
class SymbolicPLD:
    """omega, the law of the privacy loss s under P where Q > 0.

    `atoms` are (loss, mass under P, mass under Q), `density` the continuous part inside `support` (a sympy set),
    in the letters of `definitions`; `mass_at_infinity` is delta(inf). Everything is sympy.
    """

    variable: sympy.Symbol
    atoms: tuple[Atom, ...]
    density: sympy.Expr
    support: sympy.Set
    mass_at_infinity: sympy.Expr
    mass_at_minus_infinity: sympy.Expr
    direction: str
    definitions: tuple[tuple[sympy.Symbol, sympy.Expr], ...] = ()

    @property
    def mass(self) -> sympy.Expr:
        """The total mass of omega, 1 - delta(inf)."""
        return 1 - self.mass_at_infinity

    def density_at(self, s) -> sympy.Expr:
        """The density at a sympy value, without letters; 0 outside the support."""
        spelled_out = self.density.xreplace(dict(self.definitions))
        inside = spelled_out.subs(self.variable, s)
        return sympy.Piecewise((inside, self.support.contains(s)), (sympy.S.Zero, True))

    def __str__(self) -> str:
        text = text_formula
        lines = [f"atom of mass {text(atom.p)} at {text(atom.loss)}" for atom in self.atoms]
        if self.support is not sympy.S.EmptySet:
            low, high = map(text, self.support.args[:2])
            lines.append(f"density {text(self.density)} for {low} < {self.variable} < {high}")
            lines.extend(f"  where {letter} = {text(meaning)}" for letter, meaning in self.definitions)
        lines.append(f"delta(inf) = {text(self.mass_at_infinity)}")
        return "\n".join(lines)

    def _repr_latex_(self) -> str:
        s = latex_formula(self.variable)
        terms = [_times_delta(atom, s) for atom in self.atoms]
        if self.support is not sympy.S.EmptySet:
            low, high = (latex_formula(end) for end in self.support.args[:2])
            terms.append(rf"{latex_formula(self.density)}\;[\,{low} < {s} < {high}\,]")
        lines = [rf"\omega({s}) &= " + r" \\ &\quad + ".join(terms or ["0"])]
        lines.extend(f"{latex_formula(letter)} &= {latex_formula(meaning)}" for letter, meaning in self.definitions)
        lines.append(rf"\delta(\infty) &= {latex_formula(self.mass_at_infinity)}")
        return "$$\\begin{aligned} " + r" \\ ".join(lines) + " \\end{aligned}$$"


def _times_delta(atom: Atom, s: str) -> str:
    mass = latex_formula(atom.p)
    if sympy.sympify(atom.p).is_Add:
        mass = rf"\left({mass}\right)"
    return rf"{mass}\,\delta_{{{latex_formula(atom.loss)}}}({s})"


def symbolic_pld(kinds: Kinds, variable: sympy.Symbol, direction: str) -> SymbolicPLD:
    """The law of a composition in one direction.

    Raises NoClosedFormError where the convolution is not closed.
    """
    fn: SympyTable = kinds.fn
    if kinds.gaussian and not kinds.atomic and not kinds.other:
        mu = kinds.mu
        density = sympy.exp(-((variable - mu**2 / 2) ** 2) / (2 * mu**2)) / (mu * sympy.sqrt(2 * sympy.pi))
        zero = sympy.S.Zero
        return SymbolicPLD(variable, (), density, sympy.Interval(-sympy.oo, sympy.oo), zero, zero, direction)
    law = kinds.single_law()
    if law is None:
        raise NoClosedFormError(
            f"convolution: this PLD is not one step, not a Gaussian, and has more than {MOST_ATOMS} atoms; "
            "its delta may still be closed, see dplab.symbolic.delta"
        )
    density, support = sympy.S.Zero, sympy.S.EmptySet
    if law.ends is not None:
        fn.name_losses_of(variable, -variable)
        density = kinds.other[0][0].density(fn, variable)
        density = shorter(density, compact(density))
        support = sympy.Interval.open(*law.ends)
    return SymbolicPLD(
        variable,
        tuple(Atom(atom.loss, compact(atom.p), compact(atom.q)) for atom in law.atoms),
        density,
        support,
        compact(law.infinite),
        compact(law.missing),
        direction,
        fn.definitions(density),
    )
