"""Masses of a smooth density: antiderivatives in stages, each from both ends of the cell.

`Mass.left` grows from 0 at the cell's lower end, `Mass.right` falls to 0 at its upper end; both are written so that
they keep their relative accuracy where they are small. Stages: polynomials; polynomial times e^{linear}; e^{quadratic}
by completing the square, a polynomial before it by parts; rational in E = e^{linear}; rational in the variable. Where
none applies there is no closed form, and the numeric evaluator integrates the density itself.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import sympy
from sympy.integrals.rationaltools import ratint

from .cells import Cell
from .programs import acot, upper_normal
from .signs import sign


class Mass(NamedTuple):
    """The mass between the lower end and t, that between t and the upper end, the whole, and the stage that found it.

    `left` and `right` are None where the antiderivative has no closed form; then `total` may be None too.
    """

    left: sympy.Expr | None
    right: sympy.Expr | None
    total: sympy.Expr | None
    stage: str


MOST_OPERATIONS, MOST_TRANSCENDENTAL = 120, 40
"""Longer rational functions are not integrated; nor are those with constants like e^{3/10}, whose polynomials sympy may
factor for minutes (their terms have better letters)."""

NO_MASS = Mass(sympy.S.Zero, sympy.S.Zero, sympy.S.Zero, "zero")
NO_FORMULA = Mass(None, None, None, "numeric quadrature")


def elementary(density: sympy.Expr, t: sympy.Symbol, cell: Cell) -> Mass | None:
    """The mass of a density in its cell in its own variable, None where no stage applies."""
    if density == 0:
        return NO_MASS
    for stage in (_by_terms, _in_exponential, _rational):
        found = stage(density, t, cell)
        if found is not None:
            return found
    return None


def summed(parts: list[Mass]) -> Mass:
    """The mass of a sum."""
    stages = dict.fromkeys(stage for part in parts for stage in part.stage.split(", "))
    left, right, total = (sympy.Add(*(part[side] for part in parts)) for side in range(3))
    return Mass(left, right, total, ", ".join(stages))


def exponentials(density: sympy.Expr) -> sympy.Expr:
    """Hyperbolic functions written in exponentials."""
    if density.has(sympy.cosh, sympy.sinh, sympy.tanh, sympy.sech, sympy.coth, sympy.csch):
        return density.rewrite(sympy.exp)
    return density


# --- sums of polynomial times exponential of a polynomial of degree <= 2 ------------------------------


def _by_terms(density: sympy.Expr, t: sympy.Symbol, cell: Cell) -> Mass | None:
    parts = []
    for constant, term in terms_of(density, t):
        part = _term(constant, term, t, cell)
        if part is None:
            return None
        parts.append(part)
    return summed(parts)


def terms_of(density: sympy.Expr, t: sympy.Symbol) -> Iterator[tuple[sympy.Expr, sympy.Expr]]:
    """(constant, function of t) of each term; what multiplies out is the functions, never a constant's sums."""
    for term in sympy.Add.make_args(density):
        constant, moving = term.as_independent(t, as_Add=False)
        for part in sympy.Add.make_args(sympy.expand_mul(moving)):
            yield constant, part


def _term(constant: sympy.Expr, term: sympy.Expr, t: sympy.Symbol, cell: Cell) -> Mass | None:
    exponent, factor = sympy.S.Zero, constant
    for part in sympy.Mul.make_args(sympy.powsimp(term, combine="exp")):
        if isinstance(part, sympy.exp) and part.has(t):
            exponent += part.args[0]
        else:
            factor *= part
    power, polynomial = _poly(exponent, t), _poly(factor, t)
    if power is None or polynomial is None or power.degree() > 2:
        return None
    if power.degree() <= 0:
        return _polynomial(constant * term, t, cell)
    if power.degree() == 1:
        return _exponential(polynomial, power, t, cell)
    if polynomial.degree() <= 0:
        return _gaussian(polynomial.as_expr(), power, t, cell)
    return _gaussian_by_parts(polynomial, power, t, cell)


def _poly(expression: sympy.Expr, t: sympy.Symbol) -> sympy.Poly | None:
    try:
        return sympy.Poly(sympy.expand(expression), t)
    except sympy.PolynomialError:
        return None


def _polynomial(term: sympy.Expr, t: sympy.Symbol, cell: Cell) -> Mass | None:
    if cell.lower.is_infinite or cell.upper.is_infinite:
        return None
    d = sympy.Dummy("d")
    primitives = [
        sympy.Poly(term.subs(t, at), d).integrate().as_expr() for at in (cell.lower + d, cell.upper - d)
    ]  # in the distance from either end, so that nothing cancels there
    left, right = (sympy.factor(p) for p in primitives)
    total = left.subs(d, cell.upper - cell.lower)
    return Mass(left.subs(d, t - cell.lower), right.subs(d, cell.upper - t), sympy.simplify(total), "polynomial")


def _exponential(polynomial: sympy.Poly, power: sympy.Poly, t: sympy.Symbol, cell: Cell) -> Mass | None:
    a, b = power.all_coeffs()
    if polynomial.degree() <= 0:
        return _bare_exponential(polynomial.as_expr(), a, b, t, cell)
    primitive, derivative, sign_now, scale = sympy.S.Zero, polynomial, 1, 1 / a
    while not derivative.is_zero:  # integration by parts
        primitive += sign_now * derivative.as_expr() * scale
        derivative, sign_now, scale = derivative.diff(), -sign_now, scale / a
    whole = sympy.factor_terms(primitive) * sympy.exp(a * t + b)
    ends = []
    for end, direction in ((cell.lower, 1), (cell.upper, -1)):
        if end.is_infinite:
            if sign(a) != direction:
                return None
            ends.append(sympy.S.Zero)
        else:
            ends.append(whole.subs(t, end))
    return Mass(whole - ends[0], ends[1] - whole, ends[1] - ends[0], "integration by parts")


def _bare_exponential(c: sympy.Expr, a: sympy.Expr, b: sympy.Expr, t: sympy.Symbol, cell: Cell) -> Mass | None:
    height, stage = c / a, "exponential"

    def up_to(end: sympy.Expr) -> sympy.Expr:
        return height * sympy.exp(sympy.expand(a * end + b))

    rising = sign(a)
    if rising is None or (cell.lower.is_infinite and rising < 0) or (cell.upper.is_infinite and rising > 0):
        return None
    moving = height * sympy.exp(a * t + b)
    if cell.lower.is_infinite:
        left, right = moving, up_to(cell.upper) * -_expm1(a * (t - cell.upper))
        return Mass(left, right, up_to(cell.upper), stage)
    if cell.upper.is_infinite:
        left, right = up_to(cell.lower) * _expm1(a * (t - cell.lower)), -moving
        return Mass(left, right, -up_to(cell.lower), stage)
    left = up_to(cell.lower) * _expm1(a * (t - cell.lower))
    right = up_to(cell.upper) * -_expm1(a * (t - cell.upper))
    return Mass(left, right, left.subs(t, cell.upper), stage)


def _expm1(x: sympy.Expr) -> sympy.Expr:
    return sympy.exp(sympy.expand(x)) - 1


def _gaussian_by_parts(polynomial: sympy.Poly, power: sympy.Poly, t: sympy.Symbol, cell: Cell) -> Mass | None:
    """A polynomial times e^{power}: the derivative of another one times e^{power}, and a constant times e^{power}."""
    if sign(power.all_coeffs()[0]) != -1:
        return None
    slope, rest, primitive = power.diff(), polynomial, sympy.Poly(0, t)
    while rest.degree() > 0:
        part = sympy.Poly(rest.LC() / slope.LC() * t ** (rest.degree() - 1), t)
        primitive, rest = primitive + part, rest - part.diff() - part * slope
    whole = sympy.factor(primitive.as_expr()) * sympy.exp(power.as_expr())
    low, high = (sympy.S.Zero if end.is_infinite else whole.subs(t, end) for end in (cell.lower, cell.upper))
    bare = NO_MASS if rest.is_zero else _gaussian(rest.as_expr(), power, t, cell)
    if bare is None or bare.left is None or bare.right is None or bare.total is None:
        return None
    return Mass(
        whole - low + bare.left, high - whole + bare.right, high - low + bare.total, "completing the square, by parts"
    )


def _gaussian(constant: sympy.Expr, power: sympy.Poly, t: sympy.Symbol, cell: Cell) -> Mass | None:
    a, b, c = power.all_coeffs()
    if sign(a) != -1:
        return None
    alpha, middle = -a, -b / (2 * a)
    height = sympy.simplify(constant * sympy.sqrt(sympy.pi / alpha)) * sympy.exp(sympy.simplify(c - b * b / (4 * a)))
    width = sympy.sqrt(2 * alpha)

    def u(at: sympy.Expr) -> sympy.Expr:
        return sympy.simplify((at - middle) * width) if not at.has(t) else sympy.factor_terms((at - middle) * width)

    below = upper_normal(-u(t)) - _outside(-u(cell.lower) if not cell.lower.is_infinite else sympy.oo)
    above = upper_normal(u(t)) - _outside(u(cell.upper) if not cell.upper.is_infinite else sympy.oo)
    if cell.lower.is_infinite:
        total = upper_normal(-u(cell.upper)) if not cell.upper.is_infinite else sympy.S.One
    else:
        total = above.subs(t, cell.lower)
    return Mass(height * below, height * above, height * total, "completing the square")


def _outside(u: sympy.Expr) -> sympy.Expr:
    return upper_normal(u)


# --- rational functions of e^{linear}, and of the variable --------------------------------------------


def _in_exponential(density: sympy.Expr, t: sympy.Symbol, cell: Cell) -> Mass | None:
    found = in_exponential(density, t)
    if found is None:
        return None
    rational, variable, argument = found
    slope = sympy.diff(argument, t)
    primitive = _primitive(rational / (slope * variable), variable)
    if primitive is None:
        return None
    rising = sign(slope)
    if rising is None:
        return None
    w = sympy.Dummy("w", positive=True)
    sides = []
    for end, direction in ((cell.lower, 1), (cell.upper, -1)):
        if end.is_infinite:
            grows = rising * direction < 0  # E goes to infinity at this end
            outwards = argument if grows else -argument
            there = primitive.subs(variable, w if grows else 1 / w)
            side = _from_infinity(there, w)
            if side is None:
                return None
            sides.append((direction * side).subs(w, sympy.exp(sympy.expand(outwards))))
        else:
            at_end = primitive.subs(variable, sympy.exp(sympy.expand(argument.subs(t, end))))
            sides.append(direction * (primitive.subs(variable, sympy.exp(argument)) - at_end))
    total = _total(sides, t, cell, primitive, variable)
    return None if total is None else Mass(sides[0], sides[1], total, "rational in an exponential")


def in_exponential(expression: sympy.Expr, t: sympy.Symbol) -> tuple[sympy.Expr, sympy.Symbol, sympy.Expr] | None:
    """An expression as a rational function of E = e^{a t + b}: the function, E, and a t + b; None if it is none."""
    arguments = {node.args[0] for node in expression.atoms(sympy.exp) if node.has(t)}
    if not arguments:
        return None
    polynomials = {argument: _poly(argument, t) for argument in arguments}
    if any(polynomial is None or polynomial.degree() != 1 for polynomial in polynomials.values()):
        return None
    slopes = {argument: sympy.simplify(p.all_coeffs()[0]) for argument, p in polynomials.items() if p is not None}
    base = min(slopes, key=lambda argument: (abs(slopes[argument].evalf(subs=_ones(slopes[argument]))), str(argument)))
    ratios = {argument: sympy.simplify(slope / slopes[base]) for argument, slope in slopes.items()}
    if not all(ratio.is_Rational for ratio in ratios.values()):
        return None
    common = math.lcm(*(int(ratio.q) for ratio in ratios.values()))
    unit = base / common
    letter = sympy.Dummy("E", positive=True)
    replaced = {
        sympy.exp(argument): sympy.exp(sympy.expand(argument - ratios[argument] * base))
        * letter ** int(ratios[argument] * common)
        for argument in arguments
    }
    rational = expression.xreplace(replaced)
    if rational.has(t) or not rational.is_rational_function(letter):
        return None
    return sympy.cancel(sympy.together(rational)) if sympy.count_ops(rational) < 80 else rational, letter, unit


def _ones(expression: sympy.Expr) -> dict:
    return dict.fromkeys(expression.free_symbols, sympy.S.One)


def _rational(density: sympy.Expr, t: sympy.Symbol, cell: Cell) -> Mass | None:
    if not density.is_rational_function(t):
        return None
    letter = sympy.Dummy("t", real=True)
    primitive = _primitive(density.subs(t, letter), letter)
    if primitive is None:
        return None
    w = sympy.Dummy("w", positive=True)
    sides = []
    for end, direction in ((cell.lower, 1), (cell.upper, -1)):
        if end.is_infinite:
            side = _from_infinity(primitive.subs(letter, -direction * w), w)
            if side is None:
                return None
            sides.append((direction * side).subs(w, -direction * t))
        else:
            sides.append(direction * (primitive.subs(letter, t) - primitive.subs(letter, end)))
    total = _total(sides, t, cell, primitive, letter)
    return None if total is None else Mass(sides[0], sides[1], total, "rational function")


def _primitive(rational: sympy.Expr, variable: sympy.Symbol) -> sympy.Expr | None:
    if sympy.count_ops(rational) > (MOST_OPERATIONS if not rational.has(sympy.exp) else MOST_TRANSCENDENTAL):
        return None
    primitive = ratint(rational, variable, real=True)
    if primitive.has(sympy.Integral, sympy.RootSum, sympy.I):
        return None
    return primitive


def _from_infinity(primitive: sympy.Expr, w: sympy.Symbol) -> sympy.Expr | None:
    """primitive(w) minus its limit for w -> oo, in a form that goes to 0 without cancellation."""
    angles, rest = sympy.S.Zero, sympy.S.Zero
    for term in sympy.Add.make_args(sympy.expand_mul(primitive)):
        found = list(term.atoms(sympy.atan))
        if len(found) > 1:
            return None
        if not found:
            rest += term
            continue
        coefficient, inside = term / found[0], found[0].args[0]
        growth = sympy.limit(inside, w, sympy.oo)
        if coefficient.has(w):
            return None
        if growth.is_infinite:
            angles += -coefficient * acot(inside) if growth is sympy.oo else coefficient * acot(-inside)
        else:
            angles += coefficient * (sympy.atan(inside) - sympy.atan(growth))
    limit = sympy.limit(rest, w, sympy.oo) if rest.has(w) else rest
    if limit.is_finite is False or limit.has(sympy.Limit):
        return None
    remainder = rest - limit
    if remainder.has(w) and not remainder.has(sympy.log):
        remainder = _reciprocal(sympy.cancel(sympy.together(remainder)), w)
    return angles + (remainder if remainder.has(w) else sympy.S.Zero)


def _reciprocal(fraction: sympy.Expr, w: sympy.Symbol) -> sympy.Expr:
    """n(w)/d(w) with a constant n, factored, so that it is not infinity over infinity for large w."""
    above, below = sympy.fraction(fraction)
    return above / sympy.factor(below) if not above.has(w) else sympy.factor(fraction)


def _total(
    sides: list[sympy.Expr], t: sympy.Symbol, cell: Cell, primitive: sympy.Expr, letter: sympy.Symbol
) -> sympy.Expr | None:
    """The whole mass: one side at the other end."""
    if not cell.upper.is_infinite:
        return sides[0].subs(t, cell.upper)
    if not cell.lower.is_infinite:
        return sides[1].subs(t, cell.lower)
    middle = sympy.simplify(sides[0].subs(t, cell.sample) + sides[1].subs(t, cell.sample))
    middle = middle.replace(acot, lambda x: sympy.pi / 2 - sympy.atan(x))
    return sympy.simplify(middle)
