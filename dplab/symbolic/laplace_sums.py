"""Sums of Laplace losses, by residues of the contour integral of M(z)^k e^{-z eps}/(z (z+1)).

M_i(z) = [(z+1) e^{z e_i} + z e^{-(z+1) e_i}]/(2z+1). Multiplied out, every term is a power of e^z times
(z+1)^{j-1} z^{k-j-1}/(2z+1)^k; where its exponent a = (sum of +-e_i) - eps is positive the line is closed to the left
around z = -1/2 (order k), and around 0 (all signs +, residue 1) or -1 (all signs -, residue -e^eps). Hence on
|eps| < e_1 + ... + e_k, delta(eps) = 1 + e^{(eps - sum e_i)/2} * (piecewise polynomial).
"""

from collections.abc import Sequence
from itertools import product
from math import comb, factorial, prod

import sympy

MOST_TERMS = 64
"""More terms than this are no closed form that anybody reads."""


def laplace_sum(losses: Sequence[tuple[sympy.Expr, int]], x: sympy.Expr) -> sympy.Expr:
    """delta(x) of the sum of k_i Laplace losses with largest loss e_i each, for losses = [(e_i, k_i), ...].

    >>> eps, e = sympy.Symbol("eps", real=True), sympy.Symbol("e", positive=True)
    >>> laplace_sum([(e, 1)], eps).subs({eps: 0, e: 1})
    1 - exp(-1/2)
    """
    k = sum(times for _, times in losses)
    largest = sum(e * times for e, times in losses)
    spline = sympy.S.Zero
    for signs in product(*(range(times + 1) for _, times in losses)):
        weight = prod(comb(times, j) for (_, times), j in zip(losses, signs, strict=True))
        middle = sum((2 * j - times) * e for (e, times), j in zip(losses, signs, strict=True))
        if sum(signs) > 0:  # all signs minus: the exponent is negative inside the range
            spline += weight * _polynomial(k, sum(signs), _positive_part(middle - x))
    inside = 1 + sympy.exp((x - largest) / 2) * spline
    return sympy.Piecewise((1 - sympy.exp(x), x <= -largest), (inside, x < largest), (0, True))


def number_of_terms(losses: Sequence[tuple[sympy.Expr, int]]) -> int:
    """How many exponents the product of the M_i has."""
    return prod(times + 1 for _, times in losses)


def _positive_part(a: sympy.Expr) -> sympy.Expr:
    return sympy.Max(0, a, evaluate=not a.free_symbols)


def _polynomial(k: int, j: int, a: sympy.Expr) -> sympy.Expr:
    """2^-k times the coefficient of w^(k-1) in (1/2 + w)^(j-1) (w - 1/2)^(k-j-1) e^{a w}, a polynomial in a."""
    half = sympy.Rational(1, 2)
    first, second = _binomial_series(half, j - 1, k), _binomial_series(-half, k - j - 1, k)
    series = [sum(first[i] * second[m - i] for i in range(m + 1)) for m in range(k)]
    return sum(series[m] * a ** (k - 1 - m) / factorial(k - 1 - m) for m in range(k)) / 2**k


def _binomial_series(at: sympy.Rational, power: int, length: int) -> list[sympy.Rational]:
    """Coefficients of (at + w)^power."""
    return [sympy.binomial(power, m) * at ** (power - m) for m in range(length)]
