"""Masses of densities that become elementary in another variable u: a logarithm, a power, an exponential, or the
variable that makes the root of a quadratic rational (Euler). A density that is a sum is taken term by term, each term
in the variable that suits it.
"""

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import sympy

from .cells import Cell, real_zeros, sample_of
from .masses import NO_FORMULA, Mass, elementary, summed, terms_of
from .signs import sign

ZERO = sympy.S.Zero
MOST_ROOT = 12
LONGEST = 200
"""Densities of more operations are left to quadrature."""


class Change(NamedTuple):
    """A new variable u: t in terms of u, u in terms of t (in two forms, for masses left and right of t), the values of
    u at the ends of the cell, and whether u grows with t."""

    letter: sympy.Symbol
    t: sympy.Expr
    at_left: sympy.Expr
    at_right: sympy.Expr
    ends: tuple[sympy.Expr, sympy.Expr]
    rising: bool
    name: str


def mass_of(density: sympy.Expr, t: sympy.Symbol, cell: Cell) -> Mass:
    """The mass of a density in its cell."""
    whole = _found(density, t, cell)
    if whole is not None:
        return whole
    parts = []
    for constant, term in terms_of(density, t):
        part = _found(constant * term, t, cell)
        if part is None:
            return NO_FORMULA
        parts.append(part)
    return summed(parts)


def _found(density: sympy.Expr, t: sympy.Symbol, cell: Cell) -> Mass | None:
    plain = elementary(density, t, cell)
    if plain is not None or sympy.count_ops(density) > LONGEST:
        return plain
    for change in _changes(density, t, cell):
        found = _changed(density, t, change)
        if found is not None:
            return found
    return None


def _changed(density: sympy.Expr, t: sympy.Symbol, change: Change) -> Mass | None:
    """The mass in the new variable, written in t again."""
    u = change.letter
    constant, moving = density.as_independent(t, as_Add=False)
    inside = _simple(moving.subs(t, change.t), u) * sympy.diff(change.t, u)
    if not change.rising:
        inside = -inside
    inside = sympy.powsimp(sympy.expand_mul(_simple(inside, u)))
    if inside.has(t):
        return None
    if inside.is_rational_function(u):
        inside = sympy.cancel(sympy.together(inside))
    low, high = change.ends if change.rising else change.ends[::-1]
    found = elementary(inside, u, Cell(low, high, sample_of(low, high), inside, inside))
    if found is None or found.left is None or found.right is None or found.total is None:
        return None
    left, right = (found.left, found.right) if change.rising else (found.right, found.left)
    return Mass(
        constant * left.xreplace({u: change.at_left}),
        constant * right.xreplace({u: change.at_right}),
        constant * found.total,
        f"{change.name}, {found.stage}",
    )


def _simple(expression: sympy.Expr, u: sympy.Symbol) -> sympy.Expr:
    """Bases, exponents and logarithms multiplied out, so that powers of powers of u become powers."""

    def plain(node: sympy.Expr) -> sympy.Expr:
        if isinstance(node, sympy.exp):
            return sympy.exp(sympy.expand(node.args[0]))
        if isinstance(node, sympy.log):
            return sympy.expand_log(sympy.log(sympy.factor_terms(sympy.expand(node.args[0]))))
        base = sympy.cancel(node.base) if node.base.is_rational_function(u) else sympy.expand(node.base)
        return sympy.powdenest(sympy.factor(base) ** node.exp)

    return expression.replace(
        lambda node: node.has(u) and (node.is_Pow or isinstance(node, (sympy.exp, sympy.log))), plain
    )


def _changes(density: sympy.Expr, t: sympy.Symbol, cell: Cell) -> Iterator[Change]:
    """New variables that may help."""
    yield from _logarithms(density, t, cell)
    yield from _exponentials(density, t, cell)
    yield from _powers(density, t, cell)
    yield from _roots(density, t, cell)


def _linear(expression: sympy.Expr, t: sympy.Symbol) -> tuple[sympy.Expr, sympy.Expr] | None:
    """a and b of a t + b, or None."""
    polynomial = expression.as_poly(t)
    if polynomial is None or polynomial.degree() != 1:
        return None
    a, b = polynomial.all_coeffs()
    return a, b


def _at(expression: sympy.Expr, t: sympy.Symbol, end: sympy.Expr) -> sympy.Expr:
    """A linear expression at an end of the cell."""
    if not end.is_infinite:
        return sympy.expand(expression.subs(t, end))
    direction = sign(sympy.diff(expression, t))
    return (sympy.oo if direction == 1 else -sympy.oo) * (1 if end is sympy.oo else -1)


def _logarithms(density: sympy.Expr, t: sympy.Symbol, cell: Cell) -> Iterator[Change]:
    """u = log(a t + b)."""
    for inside in sorted({node.args[0] for node in density.atoms(sympy.log)}, key=sympy.default_sort_key):
        u = sympy.Dummy("u", real=True)
        yield from _of_linear(inside, t, cell, u, (sympy.exp, sympy.log), _log, "in a logarithm")


def _exponentials(density: sympy.Expr, t: sympy.Symbol, cell: Cell) -> Iterator[Change]:
    """u = e^{a t + b} where it stands in another exponent."""
    nested = {inner.args[0] for outer in density.atoms(sympy.exp) for inner in outer.args[0].atoms(sympy.exp)}
    for inside in sorted(nested, key=sympy.default_sort_key):
        u = sympy.Dummy("u", positive=True)
        yield from _of_linear(inside, t, cell, u, (sympy.log, sympy.exp), _exp, "in an exponential")


def _of_linear(inside, t, cell: Cell, u, functions: tuple, at_end: Callable, name: str) -> Iterator[Change]:
    """u = f(a t + b) for a rising f, given with its inverse before it; `at_end` is f with its limits."""
    inverse, function = functions
    found = _linear(inside, t)
    if found is None:
        return
    a, b = found
    ends = at_end(_at(inside, t, cell.lower)), at_end(_at(inside, t, cell.upper))
    there = function(inside)
    yield Change(u, (inverse(u) - b) / a, there, there, ends, sign(a) == 1, name)


def _log(value: sympy.Expr) -> sympy.Expr:
    return -sympy.oo if value == 0 else value if value is sympy.oo else sympy.log(value)


def _exp(value: sympy.Expr) -> sympy.Expr:
    return ZERO if value is -sympy.oo else value if value is sympy.oo else sympy.exp(value)


def _powers(density: sympy.Expr, t: sympy.Symbol, cell: Cell) -> Iterator[Change]:
    """u = x^r where x = a t + b has powers that are not whole, or whole ones in an exponent."""
    bases: dict[sympy.Expr, list[sympy.Expr]] = {}
    for power in sorted(density.atoms(sympy.Pow), key=sympy.default_sort_key):
        if _linear(power.base, t) is not None and not power.exp.has(t):
            bases.setdefault(power.base, []).append(power.exp)
    inner = {node for outer in density.atoms(sympy.exp) for node in outer.args[0].atoms(sympy.Pow)}
    for base, exponents in bases.items():
        x = sign(base.subs(t, cell.sample)), *(sign(_at(base, t, e)) for e in (cell.lower, cell.upper))
        if x[0] != 1 or -1 in x:
            continue
        rates = [power.exp for power in sorted(inner, key=sympy.default_sort_key) if power.base == base]
        whole = all(exponent.is_Rational for exponent in exponents)
        common = math.lcm(*(int(exponent.q) for exponent in exponents)) if whole else 0
        if 1 < common <= MOST_ROOT:
            yield _power(base, sympy.Rational(1, common), t, cell)
        for rate in rates:
            if rate not in (1, 2):
                yield _power(base, rate, t, cell)


def _power(base: sympy.Expr, rate: sympy.Expr, t: sympy.Symbol, cell: Cell) -> Change:
    a, b = base.as_poly(t).all_coeffs()
    u = sympy.Dummy("u", positive=True)
    grows = sign(rate) == 1
    ends = []
    for end in (cell.lower, cell.upper):
        x = _at(base, t, end)
        if x == 0 or x is sympy.oo:
            ends.append(x if grows else (sympy.oo if x == 0 else ZERO))
        else:
            ends.append(x**rate)
    there = base**rate
    return Change(u, (u ** (1 / rate) - b) / a, there, there, (ends[0], ends[1]), (sign(a) == 1) == grows, "in a power")


def _roots(density: sympy.Expr, t: sympy.Symbol, cell: Cell) -> Iterator[Change]:
    """u that makes the root of a quadratic rational."""
    halves = [p for p in density.atoms(sympy.Pow) if p.exp.is_Rational and p.exp.q == 2 and p.base.has(t)]
    quadratics = {power.base.as_poly(t) for power in halves}
    if len(quadratics) != 1:
        return
    (polynomial,) = quadratics
    if polynomial is None or polynomial.degree() != 2:
        return
    lead, middle, rest = polynomial.all_coeffs()
    discriminant = sign(middle**2 - 4 * lead * rest)
    if sign(lead) == -1 and discriminant == 1:
        yield _between_zeros(polynomial, t, cell)
    elif sign(lead) == 1 and discriminant == -1:
        yield _hyperbolic(polynomial, t, cell)


def _between_zeros(polynomial: sympy.Poly, t: sympy.Symbol, cell: Cell) -> Change:
    """u = sqrt((t - a)/(b - t)) between the zeros a and b."""
    a, b = real_zeros(polynomial)
    u = sympy.Dummy("u", positive=True)
    there = sympy.sqrt((t - a) / (b - t))
    ends = tuple(sympy.oo if sympy.simplify(end - b) == 0 else sympy.simplify(there.subs(t, end)) for end in cell[:2])
    return Change(u, (a + b * u**2) / (1 + u**2), there, there, (ends[0], ends[1]), True, "between two zeros")


def _hyperbolic(polynomial: sympy.Poly, t: sympy.Symbol, cell: Cell) -> Change:
    """u = x + sqrt(x^2 + c^2), x the distance from the quadratic's middle; left of it written without cancellation."""
    lead, middle, rest = polynomial.all_coeffs()
    centre = -middle / (2 * lead)
    square = sympy.factor_terms(rest / lead - centre**2)
    u, x = sympy.Dummy("u", positive=True), t - centre
    root = sympy.sqrt(x**2 + square)
    ends = []
    for end in cell[:2]:
        infinite = ZERO if end is -sympy.oo else sympy.oo
        ends.append(infinite if end.is_infinite else sympy.simplify((x + root).subs(t, end)))
    there = (square / (root - x), x + root)
    return Change(u, centre + (u - square / u) / 2, *there, (ends[0], ends[1]), True, "in a hyperbolic variable")
