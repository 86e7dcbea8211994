"""eps(delta) where delta(eps) can be solved for eps: region by region, where one exponential occurs linearly."""

from collections.abc import Sequence

import sympy

from ..core.display import text_formula
from ..core.errors import NoClosedFormError
from .regions import Region
from .table import SympyTable
from .tidy import compact, sign_of


def invert_regions(
    regions: Sequence[Region], x: sympy.Symbol, delta: sympy.Expr, fn: SympyTable, balanced: bool
) -> sympy.Expr:
    """The smallest eps >= 0 with delta(eps) <= delta, as a Piecewise in delta; oo below delta(inf).

    `regions` run from the largest losses down. `balanced` says that neither distribution has mass of its own; then
    losses of both signs occur, because the mean of e^{-s} is 1.

    Raises NoClosedFormError if a region's formula has no elementary inverse.
    """
    top = regions[0].value
    if top.free_symbols & {x, *fn.relations}:
        raise no_inverse(top)
    zero_at = _region_of_zero(regions, balanced, bounded_below=regions[-1].value == 1 - sympy.exp(x))
    pieces = [] if top == 0 else [(sympy.oo, delta < top)]
    for region in regions[1:] if zero_at is None else regions[1 : zero_at + 1]:
        solution = _solve(region.value, x, delta, fn)
        if zero_at is None:
            solution = sympy.Max(0, solution, evaluate=False)
        holds_zero = zero_at is not None and region is regions[zero_at]
        pieces.append((solution, delta < _value_at(region, sympy.S.Zero if holds_zero else region.lower, x, fn)))
    return sympy.Piecewise(*pieces, (sympy.S.Zero, True))


def _region_of_zero(regions: Sequence[Region], balanced: bool, bounded_below: bool) -> int | None:
    """The index of the region that contains eps = 0; None if the symbols do not decide it."""
    knots = [region.lower for region in regions[:-1]]
    signs = [sign_of(knot) for knot in knots]
    if balanced and knots:
        signs = [sign_of(knot / knots[0]) if sign is None else sign for knot, sign in zip(knots, signs, strict=True)]
        signs[0] = 1
        signs[-1] = -1 if bounded_below else signs[-1]
    if None in signs:
        return None
    return next((number for number, sign in enumerate(signs) if sign is not None and sign <= 0), len(knots))


def _value_at(region: Region, knot: sympy.Expr, x: sympy.Symbol, fn: SympyTable) -> sympy.Expr:
    if knot == -sympy.oo:
        return sympy.S.One
    return compact(fn.spelled_out(region.value).subs(x, knot))


def _solve(value: sympy.Expr, x: sympy.Symbol, delta: sympy.Expr, fn: SympyTable) -> sympy.Expr:
    letters = [letter for letter in fn.relations if value.has(letter)]
    if not letters:
        return _solve_exponential(value, x, delta)
    if value.has(x) or len(letters) > 1:
        raise no_inverse(value)
    relation = fn.relations[letters[0]]
    inner = _solve_exponential(value, letters[0], delta)
    return compact(sympy.log(1 - 1 / relation.rate + sympy.exp(inner) / relation.rate))


def _solve_exponential(value: sympy.Expr, x: sympy.Symbol, delta: sympy.Expr) -> sympy.Expr:
    """The solution of a + b e^{c x + d} = delta."""
    powers = [power for power in value.atoms(sympy.exp) if power.has(x)]
    if len(powers) != 1:
        raise no_inverse(value)
    y = sympy.Dummy("y")
    linear, exponent = value.xreplace({powers[0]: y}), sympy.expand(powers[0].args[0])
    b, c = linear.diff(y), exponent.diff(x)
    if linear.has(x) or b.has(x, y) or c.has(x):
        raise no_inverse(value)
    a, d = linear.subs(y, 0), exponent.subs(x, 0)
    return (sympy.log((a - delta) / -b) - d) / c


def no_inverse(value: sympy.Expr) -> NoClosedFormError:
    """The error that names the equation without a closed solution."""
    shown = text_formula(value)
    shown = shown if len(shown) <= 120 else shown[:117] + "..."
    return NoClosedFormError(f"inversion: {shown} = delta has no closed solution for eps; use dplab.reference.epsilon")
