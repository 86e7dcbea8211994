"""Writing a result the way a person would: of several equal forms, the one with the fewest operations."""

import sympy
from sympy.polys.polyerrors import BasePolynomialError

from .purse import affordable
from .table import SympyTable

MOST_FACTORED, MOST_JOINED = 150, 300
MOST_POWER, MOST_LETTERS, MOST_TERMS = 12, 5, 40
"""Larger polynomials are not factored: sympy may take hours over them."""
MOST_TIDIED, MOST_SIMPLIFIED = 80, 25
"""A formula of more operations would only become a thicket when it is multiplied out; sympy's own simplification has
nothing to offer to longer ones."""
CLEARLY = 0.75
"""A form that was multiplied out must be this much shorter than the one that shows where it comes from."""


def tidy_difference(a: sympy.Expr, b: sympy.Expr, x: sympy.Expr, fn: SympyTable) -> sympy.Expr:
    """a - e^x b in its simplest form; letters for the loss maps of x or -x replace e^x where that is shorter."""
    candidates = [compact(a) - sympy.exp(x) * compact(b)]
    for letter, relation in fn.relations.items():
        if relation.argument == x:
            candidates.append(compact(a - relation.exp_of_argument(letter) * b))
        elif relation.argument == -x:
            candidates.append(sympy.exp(x) * compact(relation.exp_of_argument(letter) * a - b))
    plain = min(candidates, key=sympy.count_ops)
    return shorter(plain, compact(plain))


@affordable
def short(expression: sympy.Expr) -> sympy.Expr:
    """Tidied, and over one denominator where that is no longer and no denominator is negative."""

    def cost(formula: sympy.Expr) -> int:
        return sympy.count_ops(formula) + (4 if is_negative(sympy.fraction(formula)[1]) else 0)

    plain = _tidied(expression)
    if sympy.count_ops(plain) > MOST_TIDIED:
        return plain
    joined = over_one_denominator(plain)
    return joined if cost(joined) <= cost(plain) else plain


@affordable
def tidied(expression: sympy.Expr) -> sympy.Expr:
    """The shortest of a few equal forms; nothing that takes long."""
    return _tidied(expression)


@affordable
def compact(expression: sympy.Expr) -> sympy.Expr:
    """The expression multiplied out, so that terms cancel, then collected; as it was where that does not help."""
    return _compact(expression)


def _tidied(expression: sympy.Expr) -> sympy.Expr:
    if expression.has(sympy.Integral, sympy.Piecewise, sympy.Max, sympy.Abs):
        return expression
    if sympy.count_ops(expression) > MOST_TIDIED:
        return expression
    forms = [expression, _compact(expression)]
    if sympy.count_ops(expression) < MOST_SIMPLIFIED:
        forms.append(sympy.simplify(expression))
    return min(forms, key=sympy.count_ops)


def _compact(expression: sympy.Expr) -> sympy.Expr:
    if expression.has(sympy.Piecewise, sympy.Max, sympy.Sum):
        return expression
    expanded = sympy.expand(expression, log=False, power_base=False)
    joined = sympy.powsimp(expanded, combine="exp", deep=True)
    forms = [expression, sympy.factor_terms(joined, sign=False), joined, _factored(joined)]
    return min(forms, key=sympy.count_ops)


def _factored(expression: sympy.Expr) -> sympy.Expr:
    """Factored as a polynomial with every exponential a letter of its own.

    sympy would write e^{2/5} and e^{-1e-7} as powers of one letter, e^{1e-7}, and factor a polynomial of degree
    four million.
    """
    if sympy.count_ops(expression) > MOST_FACTORED:
        return expression
    letters: dict[sympy.Expr, sympy.Dummy] = {}

    def letter_of(power: sympy.Expr) -> sympy.Expr:
        if sympy.log(power).could_extract_minus_sign():
            return 1 / letter_of(1 / power)
        return letters.setdefault(power, sympy.Dummy(positive=True))

    plain = expression.replace(lambda node: isinstance(node, sympy.exp) or node is sympy.E, letter_of)
    if not _tame(plain):
        return expression
    factored = sympy.factor(plain, deep=False)
    for power, letter in reversed(letters.items()):  # an exponential of an exponential has the letter of the inner one
        factored = factored.xreplace({letter: power})
    return factored


def _tame(expression: sympy.Expr) -> bool:
    """Whether numerator and denominator are small enough as polynomials for sympy to factor them in no time."""
    if sympy.count_ops(expression) > MOST_JOINED:  # `together` itself may take for ever
        return False
    for part in sympy.fraction(sympy.together(expression)):
        try:
            found = sympy.Poly(part)
        except BasePolynomialError:  # a number, or nothing that sympy takes for a polynomial
            continue
        if len(found.gens) > MOST_LETTERS or found.total_degree() > MOST_POWER or len(found.terms()) > MOST_TERMS:
            return False
    return True


def over_one_denominator(expression: sympy.Expr) -> sympy.Expr:
    """A rational function of exponentials over one denominator, each part factored or multiplied out, whichever is
    shorter; as it was where the exponents have no common measure.

    e^{1/2} and e are powers of one letter here, so that (e - 2 e^{(1 + s)/2} + e^s)/(e - 1) is a square over e - 1.
    """
    expression = sympy.expand(expression, log=False, power_base=False)
    powers = sorted(expression.atoms(sympy.exp), key=sympy.default_sort_key)  # the same letters in every process
    exponents = [sympy.S.One, *(sympy.expand(node.exp) for node in powers)]
    sizes: dict[sympy.Expr, list[sympy.Rational]] = {}
    for exponent in exponents:
        for term, size in sorted(exponent.as_coefficients_dict().items(), key=sympy.default_sort_key):
            sizes.setdefault(term, []).append(size)
    if any(not size.is_Rational for found in sizes.values() for size in found):
        return expression
    units = {term: sympy.gcd_list(found) for term, found in sizes.items()}
    if any(max(map(abs, found)) / units[term] > MOST_POWER for term, found in sizes.items()):
        return expression
    letters = {term: sympy.Dummy(positive=True) for term in units}

    def written(exponent: sympy.Expr) -> sympy.Expr:
        terms = exponent.as_coefficients_dict().items()
        return sympy.Mul(*(letters[term] ** (size / units[term]) for term, size in terms))

    plain = expression.xreplace(dict(zip([sympy.E, *powers], map(written, exponents), strict=True)))
    if not _tame(plain):
        return expression
    back = {letter: sympy.exp(units[term] * term) for term, letter in letters.items()}

    def joined(part: sympy.Expr) -> sympy.Expr:
        return sympy.powsimp(part.subs(back), combine="exp", deep=True)

    parts = [
        min((joined(sympy.factor(part)), joined(sympy.factor_terms(sympy.expand(part)))), key=sympy.count_ops)
        for part in sympy.fraction(sympy.cancel(sympy.together(plain)))
    ]
    above, below = (-part for part in parts) if is_negative(parts[1]) else parts
    return above / below


def is_negative(expression: sympy.Expr) -> bool:
    """Whether it is a negative number, or has a negative sign by its symbols'."""
    if expression.is_number:
        return bool(expression.evalf(20) < 0)
    return expression.is_negative is True


def shorter(plain: sympy.Expr, rearranged: sympy.Expr) -> sympy.Expr:
    """The rearranged form if it is clearly shorter."""
    return rearranged if sympy.count_ops(rearranged) < CLEARLY * sympy.count_ops(plain) else plain


def sign_of(expression: sympy.Expr) -> int | None:
    """-1, 0 or 1, or None where the symbols' signs do not decide it."""
    expression = sympy.expand(sympy.sympify(expression), log=False)
    if expression.is_positive:
        return 1
    if expression.is_negative:
        return -1
    return 0 if expression.is_zero else None
