"""Writing a result the way a person would: of several equal forms, the one with the fewest operations."""

import sympy

from .table import SympyTable

MOST_FACTORED = 150
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


def compact(expression: sympy.Expr) -> sympy.Expr:
    """The expression multiplied out, so that terms cancel, then collected; as it was where that does not help."""
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
    return sympy.factor(plain, deep=False).xreplace({letter: power for power, letter in letters.items()})


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
