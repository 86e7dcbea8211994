"""The loss on a smooth cell: s = log p - log q as a sum of logarithms, its limits at the ends, where it turns, and its
inverse, each in stages that are simple and cannot run away.

Turning points and inverses: linear or quadratic in t, or in E = e^{a t + b}, or e^{s/c} rational in one of them with an
equation of degree at most 2. Beyond that the stage says "numeric".
"""

import math
from fractions import Fraction
from functools import reduce
from typing import NamedTuple

import sympy

from ...core.errors import ParameterError
from .cells import Cell, sample_of
from .masses import in_exponential
from .signs import certain_sign, sign

NUMERIC = "numeric"


# --- the loss -----------------------------------------------------------------------------------------


def log_of(density: sympy.Expr, t: sympy.Symbol, sample: sympy.Expr) -> sympy.Expr:
    """log of a positive smooth expression, taken apart; factors negative at the sample change their sign."""
    if isinstance(density, sympy.exp):
        return density.args[0]
    if density.is_Pow and not density.args[0].has(t) and density.args[0].is_positive and density.args[1].is_real:
        return density.args[1] * sympy.log(density.args[0])
    if density.is_Pow and not density.args[1].has(t) and density.args[1].is_real:
        base, exponent = density.args
        return exponent * log_of(_positive(base, t, sample), t, sample)
    if density.is_Add:
        together = sympy.together(density) if density.is_rational_function(t) else density
        together = sympy.factor_terms(together, sign=False)
        if not together.is_Add:
            return log_of(together, t, sample)
        return _log_of_normals(together, t) or sympy.log(together)
    if density.is_Mul:
        factors = [_positive(factor, t, sample) for factor in density.args]
        return sympy.Add(*(sympy.log(f) if f.is_Mul else log_of(f, t, sample) for f in factors))
    return sympy.log(density)


def _log_of_normals(density: sympy.Expr, t: sympy.Symbol) -> sympy.Expr | None:
    """log of a sum of terms c e^{a2 t^2 + a1 t}, a2 < 0: their common factor and log of the rest; None for others.

    Far out every term vanishes in float64 and takes the loss with it, unless what they share stands outside the log.
    """
    terms = []
    for term in sympy.Add.make_args(sympy.expand(density)):
        factors, exponent = sympy.S.One, sympy.S.Zero
        for factor in sympy.Mul.make_args(term):
            if isinstance(factor, sympy.exp):
                exponent += factor.args[0]
            else:
                factors *= factor
        polynomial = sympy.expand(exponent).as_poly(t)
        if factors.has(t) or polynomial is None or polynomial.degree() != 2:
            return None
        terms.append((factors, polynomial))
    squares = [polynomial.coeff_monomial(t**2) for _, polynomial in terms]
    if not all(square.is_negative for square in squares):
        return None
    widest = _extreme(squares, 1)
    if widest is None:
        return None
    slopes = [p.coeff_monomial(t) for (_, p), square in zip(terms, squares, strict=True) if square == widest]
    shared = widest * t**2 + (_extreme(slopes, -1) or 0) * t
    rest = [factors * sympy.exp(sympy.expand(polynomial.as_expr() - shared)) for factors, polynomial in terms]
    return shared + sympy.log(sympy.factor_terms(sympy.Add(*rest)))


def _extreme(values: list[sympy.Expr], side: int) -> sympy.Expr | None:
    """The largest (side 1) or smallest (side -1) of some values; None where parameters decide it."""
    best = values[0]
    for value in values[1:]:
        order = sign(value - best)
        if order is None:
            return None
        best = value if order == side else best
    return best


def _positive(factor: sympy.Expr, t: sympy.Symbol, sample: sympy.Expr) -> sympy.Expr:
    if factor.is_positive or sign(factor.subs(t, sample)) == 1:
        return factor
    return -factor


def loss_of(cell: Cell, t: sympy.Symbol) -> sympy.Expr:
    """s(t) on a cell where both densities are positive."""
    difference = log_of(cell.p, t, cell.sample) - log_of(cell.q, t, cell.sample)
    if any(power.args[0].has(sympy.log) for power in difference.atoms(sympy.Pow)):  # squares of logarithms may cancel
        difference = sympy.expand(difference, log=False, power_base=False)
    logs: list[sympy.Expr] = []
    rest: list[sympy.Expr] = []
    for term in sympy.Add.make_args(sympy.expand(difference, deep=False)):
        (logs if term.has(sympy.log) and term.has(t) else rest).append(term)
    plain = sympy.expand(sympy.Add(*rest), log=False, power_base=False)
    plain = sympy.collect(plain, t) if plain.has(t) else sympy.simplify(plain) if plain.count_ops() < 40 else plain
    return plain + sympy.Add(*logs)


def is_constant(loss: sympy.Expr, t: sympy.Symbol, cell: Cell) -> bool:
    """Whether the loss takes one value throughout its cell."""
    if not loss.has(t):
        return True
    slope = sympy.together(sympy.diff(loss, t))
    if slope == 0 or sympy.expand(sympy.fraction(slope)[0]) == 0:
        return True
    found = in_exponential(slope, t)
    if found is not None and found[0] == 0:
        return True
    if slope.free_symbols - {t}:
        return False
    points = [cell.sample + sympy.Rational(i, 7) * _room(cell) for i in (0, 1, -1, 2)]
    return all(abs(slope.subs(t, at).evalf(60)) < sympy.Float(10) ** -50 for at in points)


def _room(cell: Cell) -> sympy.Expr:
    """A width within which the sample may be moved to both sides."""
    return sympy.S.One if cell.lower.is_infinite or cell.upper.is_infinite else (cell.upper - cell.lower) / 2


# --- limits -------------------------------------------------------------------------------------------


class Lead(NamedTuple):
    """c |t|^r e^{a2 t^2 + a1 |t|}: how a density behaves far out."""

    c: sympy.Expr
    r: sympy.Expr
    a1: sympy.Expr
    a2: sympy.Expr


def end_value(loss: sympy.Expr, cell: Cell, t: sympy.Symbol, end: sympy.Expr, from_below: bool) -> sympy.Expr:
    """The limit of the loss at an end of a cell; `from_below` for its upper end."""
    if end.is_infinite:
        p, q = (leading(exp_form, t, 1 if end is sympy.oo else -1) for exp_form in (cell.p, cell.q))
        if p is not None and q is not None:
            for one, other in ((p.a2, q.a2), (p.a1, q.a1), (p.r, q.r)):
                direction = certain_sign(one - other, "It is not known which density is larger far out.")
                if direction:
                    return sympy.oo * direction
            return sympy.expand_log(sympy.log(sympy.simplify(p.c / q.c)), force=True)
    else:
        p, q = (sympy.simplify(density.subs(t, end)) for density in (cell.p, cell.q))
        if p.is_finite is not False and q.is_finite is not False and not (p.has(sympy.nan) or q.has(sympy.nan)):
            if p != 0 and q != 0:
                return sympy.simplify(loss.subs(t, end)) if loss.count_ops() < 60 else loss.subs(t, end)
            if p == 0 != q or q == 0 != p:
                return -sympy.oo if p == 0 else sympy.oo
    return sympy.limit(loss, t, end, "-" if from_below else "+")


def leading(expression: sympy.Expr, t: sympy.Symbol, side: int) -> Lead | None:
    """The leading behaviour for t to +oo (side 1) or -oo (side -1); None where this stage does not know it."""
    zero, one = sympy.S.Zero, sympy.S.One
    if not expression.has(t):
        return Lead(expression, zero, zero, zero)
    if expression == t:
        return Lead(sympy.Integer(side), one, zero, zero)
    if isinstance(expression, sympy.exp):
        try:
            polynomial = sympy.Poly(sympy.expand(expression.args[0]), t)
        except sympy.PolynomialError:
            return None
        if polynomial.degree() > 2:
            return None
        a0, a1, a2 = (polynomial.coeff_monomial(t**i) for i in range(3))
        return Lead(sympy.exp(a0), zero, side * a1, a2)
    if expression.is_Pow and not expression.args[1].has(t):
        base, exponent = leading(expression.args[0], t, side), expression.args[1]
        return None if base is None else Lead(base.c**exponent, *(exponent * part for part in base[1:]))
    if expression.is_Mul or expression.is_Add:
        parts = [leading(part, t, side) for part in expression.args]
        if any(part is None for part in parts):
            return None
        known = [part for part in parts if part is not None]
        return _product(known) if expression.is_Mul else _largest(known)
    return None


def _product(parts: list[Lead]) -> Lead:
    return Lead(
        sympy.Mul(*(part.c for part in parts)),
        *(sympy.Add(*(part[i] for part in parts)) for i in (1, 2, 3)),
    )


def _largest(parts: list[Lead]) -> Lead | None:
    best = [parts[0]]
    for part in parts[1:]:
        order = 0
        for i in (3, 2, 1):
            order = certain_sign(part[i] - best[0][i], "It is not known which term of a density is largest far out.")
            if order:
                break
        best = [part] if order > 0 else [*best, part] if order == 0 else best
    c = sympy.simplify(sympy.Add(*(part.c for part in best)))
    return None if c == 0 else best[0]._replace(c=c)


# --- where it turns -----------------------------------------------------------------------------------


def turning_points(loss: sympy.Expr, t: sympy.Symbol, cell: Cell) -> list[sympy.Expr] | None:
    """All zeros of s' inside the cell, in increasing order; None where no stage finds them."""
    numerator = sympy.expand(sympy.fraction(sympy.together(sympy.diff(loss, t)))[0])
    zeros = _polynomial_zeros(numerator, t)
    if zeros is None:
        found = in_exponential(numerator, t)
        if found is None:
            return None
        rational, letter, argument = found
        roots = _polynomial_zeros(sympy.expand(sympy.fraction(sympy.together(rational))[0]), letter, positive=True)
        if roots is None:
            return None
        slope = sympy.diff(argument, t)
        zeros = [sympy.simplify((sympy.log(root) - argument.subs(t, 0)) / slope) for root in roots]
    inside = [zero for zero in zeros if _inside(zero, cell)]
    return sorted(inside, key=_place)


def _place(zero: sympy.Expr) -> float:
    """Where a zero lies for the order, with parameters at 1.

    Raises ParameterError where it has no place then: its parameters decide whether there is one, and on which side.
    """
    try:
        return float(_numbered(zero))
    except TypeError:
        letters = ", ".join(sorted(symbol.name for symbol in zero.free_symbols))
        cause = f"The loss turns at {zero}; on which side that is, and whether it is at all, depends on them."
        raise ParameterError("parameters", letters, "numbers, all but one", cause) from None


def _polynomial_zeros(expression: sympy.Expr, t: sympy.Symbol, positive: bool = False) -> list[sympy.Expr] | None:
    """Real (or positive) zeros of a polynomial in t of degree at most 2, or without sign changes."""
    try:
        polynomial = sympy.Poly(expression, t)
    except sympy.PolynomialError:
        return None
    if polynomial.degree() <= 0:
        return []
    if positive:
        signs = {sign(sympy.simplify(c)) for c in polynomial.coeffs()}
        if signs in ({1}, {-1}):  # Descartes
            return []
        shift = min(monomial[0] for monomial in polynomial.monoms())
        polynomial = sympy.Poly({(m[0] - shift,): c for m, c in polynomial.terms()}, t)
    if polynomial.degree() > 2:
        return None
    from .cells import real_zeros

    zeros = real_zeros(polynomial) if polynomial.degree() > 0 else []
    return [zero for zero in zeros if not positive or certain_sign(zero, "A zero of the loss's slope.") > 0]


def _inside(point: sympy.Expr, cell: Cell) -> bool:
    said = f"It is not known whether the loss turns at {point} inside a cell."
    return (cell.lower.is_infinite or certain_sign(point - cell.lower, said) > 0) and (
        cell.upper.is_infinite or certain_sign(cell.upper - point, said) > 0
    )


def _numbered(expression: sympy.Expr) -> sympy.Expr:
    return expression.subs(dict.fromkeys(expression.free_symbols, sympy.S.One)).evalf()


# --- its inverse --------------------------------------------------------------------------------------


class Inverse(NamedTuple):
    """t as a function of the loss x on one monotone piece, and the stage that found it; None if numeric."""

    formula: sympy.Expr | None
    stage: str


def inverse_of(loss: sympy.Expr, t: sympy.Symbol, x: sympy.Symbol, lower, upper) -> Inverse:
    """The inverse of the loss on the piece between two outcomes."""
    sample = sample_of(lower, upper)
    for stage, solutions in (("polynomial", _in_variable), ("exponential of the loss", _in_ratio)):
        for formula in solutions(loss, t, x):
            if _inverts(formula, loss, t, x, sample):
                return Inverse(formula, stage)
    return Inverse(None, NUMERIC)


def _inverts(formula: sympy.Expr, loss: sympy.Expr, t: sympy.Symbol, x: sympy.Symbol, sample: sympy.Expr) -> bool:
    values = dict.fromkeys((loss.free_symbols | sample.free_symbols) - {t}, sympy.S.One)
    at = sample.subs(values)
    found = formula.subs(values).subs(x, loss.subs(values).subs(t, at).evalf(50)).evalf(40)
    return bool(found.is_real) and abs(found - at.evalf(40)) < sympy.Float(10) ** -25 * (1 + abs(at.evalf(40)))


def _in_variable(loss: sympy.Expr, t: sympy.Symbol, x: sympy.Symbol) -> list[sympy.Expr]:
    try:
        polynomial = sympy.Poly(loss - x, t)
    except sympy.PolynomialError:
        return []
    return _roots(polynomial)


def _in_ratio(loss: sympy.Expr, t: sympy.Symbol, x: sympy.Symbol) -> list[sympy.Expr]:
    """e^{s/c} = y rational in t, or in E = e^{a t + b}: the zeros of numerator - y denominator."""
    logs = [term for term in sympy.Add.make_args(loss) if term.has(sympy.log) and term.has(t)]
    if not logs:
        return []
    powers = [term.as_coeff_Mul() for term in logs]
    if any(not coefficient.is_Rational or not isinstance(inside, sympy.log) for coefficient, inside in powers):
        return []
    c = _common_divisor([Fraction(int(k.p), int(k.q)) for k, _ in powers])
    step = sympy.Rational(c.numerator, c.denominator)
    rest = sympy.expand((loss - sympy.Add(*logs)) / step)
    constant = rest.subs(t, 0)
    ratio = sympy.exp(rest - constant) * sympy.Mul(*(inside.args[0] ** (k / step) for k, inside in powers))
    y = sympy.Dummy("y", positive=True)
    meaning = sympy.exp(x / step - constant)
    if ratio.is_rational_function(t):
        above, below = sympy.fraction(sympy.cancel(sympy.together(ratio)))
        return [root.subs(y, meaning) for root in _roots(sympy.Poly(above - y * below, t))]
    found = in_exponential(ratio, t)
    if found is None:
        return []
    rational, letter, argument = found
    above, below = sympy.fraction(sympy.cancel(sympy.together(rational)))
    slope = sympy.diff(argument, t)
    return [
        (sympy.log(root.subs(y, meaning)) - argument.subs(t, 0)) / slope
        for root in _roots(sympy.Poly(above - y * below, letter))
    ]


def _common_divisor(values: list[Fraction]) -> Fraction:
    return reduce(
        lambda a, b: Fraction(
            math.gcd(a.numerator * b.denominator, b.numerator * a.denominator), a.denominator * b.denominator
        ),
        map(abs, values),
    )


def _roots(polynomial: sympy.Poly) -> list[sympy.Expr]:
    """Formulas for the zeros of a polynomial of degree 1 or 2, each in both of the forms that may avoid
    cancellation: (-b +- root)/(2a) and 2c/(-b -+ root)."""
    coefficients = [sympy.factor_terms(c) for c in polynomial.all_coeffs()]
    if len(coefficients) == 2:
        return [-coefficients[1] / coefficients[0]]
    if len(coefficients) != 3:
        return []
    a, b, c = coefficients
    root = sympy.sqrt(sympy.factor_terms(sympy.expand(b * b - 4 * a * c)))
    letter = next(iter(b.free_symbols), None)
    below = sign(b.subs(letter, 1)) if letter is not None and not (b.free_symbols - {letter}) else sign(b)
    if below == 1:  # -b and -root have the same sign
        return [(-b - root) / (2 * a), 2 * c / (-b - root)]
    return [(-b + root) / (2 * a), 2 * c / (-b + root)]
