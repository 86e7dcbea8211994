"""Cutting the line into cells on which both densities are smooth: no |.|, no cases, no atoms left inside.

Where an absolute value, a sign, a step, a minimum or a condition may change is where some polynomial in the variable
vanishes; between two such points each of them is decided by one sample. Where a density touches 0 is an end as well.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import sympy

from ...core.errors import ParameterError
from .folding import fold, has_steps, unit_cells
from .signs import certain_sign, ordered

MOST_CELLS = 60
_SWITCHING = (sympy.Abs, sympy.sign, sympy.Heaviside, sympy.Max, sympy.Min, sympy.Piecewise)


class Cell(NamedTuple):
    """An open interval, a point inside, and the two densities there as smooth expressions."""

    lower: sympy.Expr
    upper: sympy.Expr
    sample: sympy.Expr
    p: sympy.Expr
    q: sympy.Expr


class PointMass(NamedTuple):
    """An outcome with positive probability."""

    at: sympy.Expr
    mass: sympy.Expr


def split_atoms(density: sympy.Expr, t: sympy.Symbol, name: str) -> tuple[sympy.Expr, list[PointMass]]:
    """The density without its DiracDelta terms, and those as masses at outcomes.

    Raises ParameterError for a DiracDelta whose argument is not linear in the variable.
    """
    if not density.has(sympy.DiracDelta):
        return density, []
    rest, masses = [], []
    for term in sympy.Add.make_args(sympy.expand(density, deep=False)):
        deltas = list(term.atoms(sympy.DiracDelta))
        if not deltas:
            rest.append(term)
            continue
        slope = sympy.diff(deltas[0].args[0], t)
        coefficient = term / deltas[0]
        if len(deltas) > 1 or slope.has(t) or slope == 0 or coefficient.has(sympy.DiracDelta):
            raise ParameterError(name, str(term), "a sum of terms c*DiracDelta(t - a) and a density")
        at = sympy.solve_linear(deltas[0].args[0], 0, [t])[1]
        masses.append(PointMass(at, sympy.simplify(coefficient.subs(t, at) / sympy.Abs(slope))))
    return sympy.Add(*rest), masses


def cells(p: sympy.Expr, q: sympy.Expr, t: sympy.Symbol, lower: sympy.Expr, upper: sympy.Expr) -> list[Cell]:
    """The cells of two densities on an interval, neighbours with the same formulas joined.

    Raises ParameterError if the corners cannot be found or ordered.
    """
    p, q = _plain_conditions(p), _plain_conditions(q)
    if has_steps(p, q):
        folded: list[Cell] = []
        for low, high, one, other, side in unit_cells(p, q, t, lower, upper, _corners(t, p, q)):
            for cell in cells(one, other, t, low, high):
                if side and (cell.p != 0 or cell.q != 0):
                    factor = fold(p, q, t, side, cell.sample, _Resolver)
                    cell = cell._replace(p=cell.p * factor, q=cell.q * factor)
                folded.append(cell)
        return folded
    corners = _corners(t, p, q)
    where = "corners of the densities"
    inside = [c for c in corners if _between(c, lower, upper)]
    ends = [lower, *ordered(sorted(inside, key=sympy.default_sort_key), where), upper]
    if len(ends) > MOST_CELLS:
        raise ParameterError("densities", f"{len(ends) - 1} cells", f"of at most {MOST_CELLS} smooth cells")
    found: list[Cell] = []
    for left, right in pairwise(ends):
        sample = sample_of(left, right)
        resolve = _Resolver(t, sample)
        cell = Cell(left, right, sample, resolve(p), resolve(q))
        if found and (found[-1].p, found[-1].q) == (cell.p, cell.q):
            cell = cell._replace(lower=found.pop().lower)
            cell = cell._replace(sample=sample_of(cell.lower, cell.upper))
        found.append(cell)
    return [part for cell in found for part in _cut_at_zeros(cell, t)]


def _cut_at_zeros(cell: Cell, t: sympy.Symbol) -> list[Cell]:
    """The cell cut where a density touches 0: the loss is infinite there, or at least not smooth."""
    zeros = {zero for density in (cell.p, cell.q) for zero in _touched(density, t)}
    inside = [zero for zero in zeros if _between(zero, cell.lower, cell.upper)]
    ends = [cell.lower, *ordered(sorted(inside, key=sympy.default_sort_key), "zeros of the densities"), cell.upper]
    return [Cell(low, high, sample_of(low, high), cell.p, cell.q) for low, high in pairwise(ends)]


def _touched(density: sympy.Expr, t: sympy.Symbol) -> Iterator[sympy.Expr]:
    """The zeros of a smooth factor that is squared: none else can vanish inside a cell and stay positive around."""
    for factor in sympy.Mul.make_args(sympy.factor_terms(density)):
        base, exponent = factor.as_base_exp()
        if not base.has(t) or exponent.has(t) or exponent.is_positive is False:
            continue
        polynomial = base.as_poly(t)
        if polynomial is None or polynomial.degree() < 1:
            continue
        squared = exponent.is_Rational and exponent.p % 2 == 0
        for part, multiplicity in polynomial.sqf_list()[1]:
            if (squared or multiplicity % 2 == 0) and part.degree() <= 2:
                yield from real_zeros(part)


def _plain_conditions(density: sympy.Expr) -> sympy.Expr:
    """|x| < c as -c < x < c, so that the zero of x is no corner; the same for the other comparisons."""
    replaced: dict = {}
    for relation in density.atoms(sympy.core.relational.Relational):
        difference = sympy.expand(relation.lhs - relation.rhs)
        sizes = list(difference.atoms(sympy.Abs))
        if len(sizes) != 1 or difference.has(sympy.floor):
            continue
        factor = difference.coeff(sizes[0])
        rest = sympy.expand(difference - factor * sizes[0])
        if not factor.is_Rational or rest.has(sympy.Abs):
            continue
        sides = [relation.func(factor * side * sizes[0].args[0] + rest, 0) for side in (1, -1)]
        if isinstance(relation, (sympy.StrictLessThan, sympy.LessThan)):
            replaced[relation] = sympy.And(*sides) if factor > 0 else sympy.Or(*sides)
        elif isinstance(relation, (sympy.StrictGreaterThan, sympy.GreaterThan)):
            replaced[relation] = sympy.Or(*sides) if factor > 0 else sympy.And(*sides)
    return density.xreplace(replaced) if replaced else density


def _corners(t: sympy.Symbol, *densities: sympy.Expr) -> set[sympy.Expr]:
    """Where the formula of a density may change, steps of floor left aside."""
    return {point for d in densities for switch in _switches(d) for point in _zeros(switch, t)}


def sample_of(lower: sympy.Expr, upper: sympy.Expr) -> sympy.Expr:
    """A point between two ends."""
    if lower.is_infinite:
        return sympy.S.Zero if upper.is_infinite else upper - 1
    return lower + 1 if upper.is_infinite else (lower + upper) / 2


def _between(point: sympy.Expr, lower: sympy.Expr, upper: sympy.Expr) -> bool:
    said = f"It is not known whether the corner at {point} lies inside the support."
    return (lower.is_infinite or certain_sign(point - lower, said) > 0) and (
        upper.is_infinite or certain_sign(upper - point, said) > 0
    )


def _switches(expression: sympy.Expr) -> Iterator[sympy.Expr]:
    """Expressions whose signs decide which formula holds."""
    for node in sympy.preorder_traversal(expression):
        if node.has(sympy.floor):
            continue
        if isinstance(node, (sympy.Abs, sympy.sign, sympy.Heaviside)):
            yield from _variants(node.args[0])
        elif isinstance(node, (sympy.Max, sympy.Min)):
            for i, one in enumerate(node.args):
                for other in node.args[i + 1 :]:
                    yield from _variants(one - other)
        elif isinstance(node, sympy.core.relational.Relational):
            yield from _variants(node.lhs - node.rhs)


def _variants(expression: sympy.Expr) -> list[sympy.Expr]:
    """The expression with each inner |a| taken as a and as -a."""
    inner = [node for node in expression.atoms(sympy.Abs)]
    if not inner:
        return [expression]
    first = inner[0]
    return [
        variant
        for choice in (first.args[0], -first.args[0])
        for variant in _variants(expression.xreplace({first: choice}))
    ]


def _zeros(expression: sympy.Expr, t: sympy.Symbol) -> list[sympy.Expr]:
    if not expression.has(t):
        return []
    try:
        polynomial = sympy.Poly(sympy.expand(expression), t)
    except sympy.PolynomialError:
        polynomial = None
    if polynomial is None or polynomial.degree() > 2:
        raise ParameterError(
            "densities", str(expression), "such that conditions and absolute values are linear or quadratic in "
            f"{t}", "Where this changes its sign could not be found.",
        )  # fmt: skip
    return real_zeros(polynomial)


def real_zeros(polynomial: sympy.Poly) -> list[sympy.Expr]:
    """The real zeros of a polynomial of degree 1 or 2, in increasing order."""
    coefficients = polynomial.all_coeffs()
    if len(coefficients) == 2:
        return [sympy.factor_terms(-coefficients[1] / coefficients[0])]
    a, b, c = coefficients
    discriminant = sympy.factor_terms(b * b - 4 * a * c)
    kind = certain_sign(discriminant, "It is not known whether a corner exists.")
    if kind < 0:
        return []
    if kind == 0:
        return [sympy.simplify(-b / (2 * a))]
    root = sympy.sqrt(discriminant)
    pair = [sympy.simplify((-b + side * root) / (2 * a)) for side in (-1, 1)]
    return pair if certain_sign(a, "A leading coefficient.") > 0 else pair[::-1]


class _Resolver:
    """Replaces what switches by what it is at the sample."""

    def __init__(self, t: sympy.Symbol, sample: sympy.Expr):
        self.t, self.sample = t, sample

    def __call__(self, node: sympy.Expr) -> sympy.Expr:
        if not node.has(*_SWITCHING):
            return node
        if isinstance(node, sympy.Piecewise):
            for value, condition in node.args:
                if self.holds(condition):
                    return self(value)
            return sympy.S.Zero
        arguments = [self(argument) for argument in node.args]
        if isinstance(node, sympy.Abs):
            return arguments[0] * self.sign(arguments[0])
        if isinstance(node, sympy.sign):
            return sympy.Integer(self.sign(arguments[0]))
        if isinstance(node, sympy.Heaviside):
            return sympy.Integer(int(self.sign(arguments[0]) > 0))
        if isinstance(node, (sympy.Max, sympy.Min)):
            largest = isinstance(node, sympy.Max)
            best = arguments[0]
            for other in arguments[1:]:
                if (self.sign(other - best) > 0) == largest:
                    best = other
            return best
        return node.func(*arguments)

    def sign(self, expression: sympy.Expr) -> int:
        at = expression.subs(self.t, self.sample)
        return certain_sign(at, f"It is not known which sign {expression} has between two corners.")

    def holds(self, condition) -> bool:
        if condition in (sympy.true, sympy.false):
            return bool(condition)
        if isinstance(condition, (sympy.And, sympy.Or)):
            answers = [self.holds(part) for part in condition.args]
            return all(answers) if isinstance(condition, sympy.And) else any(answers)
        if isinstance(condition, sympy.Not):
            return not self.holds(condition.args[0])
        difference = self.sign(self(condition.lhs - condition.rhs))
        if difference == 0:  # only on the integers: elsewhere no corner is a sample
            return isinstance(condition, (sympy.GreaterThan, sympy.LessThan, sympy.Eq))
        if isinstance(condition, (sympy.StrictGreaterThan, sympy.GreaterThan)):
            return difference > 0
        if isinstance(condition, (sympy.StrictLessThan, sympy.LessThan)):
            return difference < 0
        return isinstance(condition, sympy.Ne)
