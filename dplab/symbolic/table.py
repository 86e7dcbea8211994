"""sympy's arithmetic as a function table: a mechanism's page, read with letters instead of numbers.

Symbols are positive, except the names said to be real (eps, z, s). The loss maps of subsampling that depend on the
variable of a question get a letter of their own, g, h, ..., as one would write them on paper.
"""

from collections.abc import Collection
from fractions import Fraction
from typing import NamedTuple

import sympy

from ..core.certified import Certified
from ..core.errors import NoClosedFormError
from ..core.pair import Atom
from .normal_cdf import Phi
from .theta import Theta, ThetaAbove


class Relation(NamedTuple):
    """What a letter stands for: letter = log(1 + rate (e^argument - 1))."""

    argument: sympy.Expr
    rate: sympy.Expr
    meaning: sympy.Expr

    def exp_of_argument(self, letter: sympy.Symbol) -> sympy.Expr:
        """e^argument in terms of the letter."""
        return 1 - 1 / self.rate + sympy.exp(letter) / self.rate


class SympyTable:
    """The function table of `dplab.core.functions` in sympy.

    `real` are names of symbols that may be negative; `letters` are the letters that may name a loss map.

    >>> table = SympyTable()
    >>> table.normal_cdf(table.symbol("x"))
    Phi(x)
    >>> table.log_mix(table.symbol("s"), table.rational(1, 4))
    log(exp(s)/4 + 3/4)
    """

    pi = sympy.pi
    inf = sympy.oo
    symbolic = True
    keeps_remainders = False

    def __init__(self, real: Collection[str] = (), letters: str = "ghuvw"):
        self.real = frozenset(real)
        self.letters = letters
        self.relations: dict[sympy.Symbol, Relation] = {}
        self.named: tuple[sympy.Expr, ...] = ()
        self.sample: dict[sympy.Expr, sympy.Expr] | None = None
        """The variable's value at a point of the region that is being written down."""

    def rational(self, numerator: int, denominator: int) -> sympy.Expr:
        """The exact fraction."""
        return sympy.Rational(numerator, denominator)

    def symbol(self, name: str) -> sympy.Symbol:
        """A symbol, positive unless its name is one of the real ones."""
        return sympy.Symbol(name, real=True) if name in self.real else sympy.Symbol(name, positive=True)

    exp = staticmethod(sympy.exp)
    log = staticmethod(sympy.log)
    sqrt = staticmethod(sympy.sqrt)

    def log1p(self, x) -> sympy.Expr:
        """log(1 + x)."""
        return sympy.log(1 + x)

    def expm1(self, x) -> sympy.Expr:
        """e^x - 1."""
        return sympy.exp(x) - 1

    def normal_cdf(self, x) -> sympy.Expr:
        """Phi(x)."""
        return Phi(x)

    def log_normal_cdf(self, x) -> sympy.Expr:
        """log Phi(x)."""
        return sympy.log(Phi(x))

    def normal_excess(self, t, d) -> sympy.Expr:
        """Phi(-t) - e^{d (t + d/2)} Phi(-t - d)."""
        return Phi(-t) - sympy.exp(d * (t + d / 2)) * Phi(-t - d)

    def log_mix(self, s, r) -> sympy.Expr:
        """log(1 - r + r e^s), or the letter that stands for it."""
        for letter, relation in self.relations.items():
            if (relation.argument, relation.rate) == (s, r):
                return letter
        inverse = 1 / r
        inside = (sympy.exp(s) - 1 + inverse) / inverse if inverse.is_Symbol else 1 - r + r * sympy.exp(s)
        meaning = sympy.log(inside)
        if s not in self.named:
            return meaning
        letter = sympy.Symbol(self._next_letter(meaning), real=True)
        self.relations[letter] = Relation(s, r, meaning)
        return letter

    def name_losses_of(self, *arguments: sympy.Expr) -> None:
        """From now on the loss map of any of these arguments gets a letter."""
        self.named = arguments

    def _next_letter(self, meaning: sympy.Expr) -> str:
        taken = {symbol.name for symbol in meaning.free_symbols} | {letter.name for letter in self.relations}
        free = [letter for letter in self.letters if letter not in taken]
        return free[0] if free else f"{self.letters[0]}{len(self.relations)}"

    def definitions(self, *expressions: sympy.Expr) -> tuple[tuple[sympy.Symbol, sympy.Expr], ...]:
        """The letters that the expressions use, with their meanings."""
        used = frozenset().union(*(expression.free_symbols for expression in expressions))
        return tuple((letter, relation.meaning) for letter, relation in self.relations.items() if letter in used)

    def spelled_out(self, expression: sympy.Expr) -> sympy.Expr:
        """The expression without letters."""
        return expression.xreplace({letter: relation.meaning for letter, relation in self.relations.items()})

    def split(self, x, at: int, left, right) -> sympy.Expr:
        """Both forms are the same formula: the left one."""
        return left(x)

    atan = staticmethod(sympy.atan)
    loggamma = staticmethod(sympy.loggamma)
    besseli = staticmethod(sympy.besseli)

    def log_besseli(self, n, x) -> sympy.Expr:
        """log I_n(x)."""
        return sympy.log(sympy.besseli(n, x))

    def up_to(self, bound) -> sympy.Expr:
        """Formulas keep no remainders: 0."""
        return sympy.S.Zero

    def acot(self, x) -> sympy.Expr:
        """The angle in (0, pi) whose cotangent is x."""
        return sympy.pi / 2 - sympy.atan(x)

    def between(self, x, low, high, below, inside, above):
        """The case that holds at the sample; without a sample all three, as cases."""
        if self.sample is None:
            if isinstance(below, tuple):
                parts = zip(below, inside(x), above, strict=True)
                return type(below)(*(_cases(x, low, high, *part) for part in parts))
            return _cases(x, low, high, below, inside(x), above)
        at, first, last = (self._number(value) for value in (x, low, high))
        return below if at <= first else above if at >= last else inside(x)

    def _number(self, value) -> sympy.Expr:
        """A value at the sample, to 30 digits; parameters without values count as 1/2."""
        value = self.spelled_out(sympy.sympify(value)).subs(self.sample or {})
        return value.subs(dict.fromkeys(value.free_symbols, sympy.S.Half)).evalf(30)

    def within(self, x, low, high) -> sympy.Expr:
        """x."""
        return x

    def refined(self, t, x, solved) -> sympy.Expr:
        """t."""
        return t

    def difference(self, one: tuple, other: tuple) -> sympy.Expr:
        """The shorter form."""
        return min((a - b for a, b in (one, other)), key=sympy.count_ops)

    def monotone(self, function, x, rising: bool):
        """f(x)."""
        return function(x)

    def solve(self, function, x, low, high, rising: bool, gaps=(), flat=(False, False)):
        """No formula: raises NoClosedFormError."""
        raise NoClosedFormError(f"inverse: the outcome with loss {x} has no closed form between {low} and {high}")

    def certified(self, function, slope, ends: tuple, values: tuple, rising: bool) -> Certified:
        """As was claimed."""
        return Certified((), *values)

    def integral(self, function, low, high):
        """No formula: raises NoClosedFormError."""
        raise NoClosedFormError(f"antiderivative: the mass between {low} and {high} has no closed form")

    def power(self, x, r: Fraction) -> sympy.Expr:
        """x**r."""
        return x ** sympy.Rational(r.numerator, r.denominator)

    def is_infinite(self, x) -> bool:
        """True for oo and -oo."""
        return bool(x.is_infinite)

    floor = staticmethod(sympy.floor)

    def binomial_pmf(self, n: int, j, p) -> sympy.Expr:
        """C(n,j) p^j (1-p)^(n-j)."""
        return sympy.binomial(n, j) * p**j * (1 - p) ** (n - j)

    def theta(self, a, v) -> sympy.Expr:
        """The sum over all whole numbers, as a function of its own."""
        return Theta(sympy.sympify(a), v)

    def theta_above(self, m, v) -> sympy.Expr:
        """The sum over the whole numbers above m."""
        return ThetaAbove(sympy.sympify(m), v)

    def each(self, items, formula) -> list:
        """formula(t) for every t."""
        return [formula(sympy.Integer(item) if isinstance(item, int) else item) for item in items]

    def total(self, values) -> sympy.Expr:
        """The sum."""
        return sympy.Add(*values)

    def joined(self, one, two) -> list:
        """All atoms of both."""
        return [*one, *two]

    def sums(self, one, two) -> list:
        """The atoms of a sum of two independent losses, equal losses as one, largest first where they are numbers."""
        merged: dict[sympy.Expr, Atom] = {}
        for a in one:
            for b in two:
                loss = sympy.expand(a.loss + b.loss, log=False)
                before = merged.get(loss, Atom(loss, sympy.S.Zero, sympy.S.Zero))
                merged[loss] = Atom(loss, before.p + a.p * b.p, before.q + a.q * b.q)
        atoms = list(merged.values())
        if any(atom.loss.free_symbols for atom in atoms):
            return atoms
        return sorted(atoms, key=lambda atom: atom.loss.evalf(30), reverse=True)

    def is_zero(self, x) -> bool:
        """True for 0 itself."""
        return x == 0

    @property
    def depth(self) -> float:
        """Atoms of an infinite law are not listed here: raises NoClosedFormError."""
        raise NoClosedFormError("atoms: the loss takes infinitely many values; use dplab.reference")


def _cases(x, low, high, below, inside, above) -> sympy.Expr:
    return sympy.Piecewise((below, x <= low), (inside, x < high), (above, True))
