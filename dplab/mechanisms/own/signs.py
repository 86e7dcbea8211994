"""Order and sign of exact values: rational numbers, constants such as sqrt(2), and formulas in positive parameters."""

import sympy

from ...core.errors import ParameterError

DIGITS = 60


def sign(expression: sympy.Expr) -> int | None:
    """-1, 0 or 1; None where the parameters' signs do not decide it."""
    expression = sympy.sympify(expression)
    if expression.is_Rational or expression.is_infinite:
        return int(bool(expression > 0)) - int(bool(expression < 0))
    if not expression.free_symbols:
        value = expression.evalf(DIGITS, maxn=4 * DIGITS)
        if not value.is_number or value.is_real is False:
            return None
        return 0 if abs(value) < sympy.Float(10) ** (10 - DIGITS) else (1 if value > 0 else -1)
    for form in (expression, sympy.expand(expression, log=False), sympy.factor_terms(expression)):
        if form.is_positive:
            return 1
        if form.is_negative:
            return -1
        if form.is_zero:
            return 0
    together = sympy.factor(sympy.together(expression)) if sympy.count_ops(expression) < 60 else expression
    return 1 if together.is_positive else -1 if together.is_negative else 0 if together.is_zero else None


def certain_sign(expression: sympy.Expr, what: str) -> int:
    """The sign; raises ParameterError that says what cannot be told."""
    found = sign(expression)
    if found is None:
        names = ", ".join(sorted(symbol.name for symbol in sympy.sympify(expression).free_symbols)) or "parameter"
        raise ParameterError(
            names, str(expression), "such that the order of the densities' corners is known", f"{what} Give it as a "
            "number, or write the densities so that the sign shows (w = 1/2 + a with a positive)."
        )  # fmt: skip
    return found


def ordered(points, what: str) -> list[sympy.Expr]:
    """Different points from the smallest to the largest; equal ones once.

    Raises ParameterError if two of them cannot be compared.
    """
    result: list[sympy.Expr] = []
    for point in points:
        place, known = 0, False
        for i, other in enumerate(result):
            comparison = compared(point, other, what)
            if comparison == 0:
                known = True
                break
            if comparison > 0:
                place = i + 1
        if not known:
            result.insert(place, point)
    return result


def compared(one: sympy.Expr, other: sympy.Expr, what: str) -> int:
    """-1, 0, 1 as one is smaller than, equal to, or larger than the other; infinities included."""
    if one == other:
        return 0
    if one.is_infinite or other.is_infinite:
        return -1 if one is -sympy.oo or other is sympy.oo else 1
    return certain_sign(one - other, f"It is not known whether {one} lies left of {other} ({what}).")
