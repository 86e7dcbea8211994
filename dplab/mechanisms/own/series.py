"""Sums of probabilities over runs of integers in closed form, and bounds of the ratios of neighbouring ones."""

from __future__ import annotations

import math
from functools import lru_cache

import mpmath
import sympy

from .losses import log_of
from .signs import sign


def typical(first, last) -> int:
    """An integer of a run."""
    if math.isfinite(first):
        return int(first)
    return int(last) if math.isfinite(last) else 0


def log_probability(density: sympy.Expr, t: sympy.Symbol, sample: sympy.Integer) -> sympy.Expr:
    """log of a probability, factorials as loggamma."""
    return with_loggamma(log_of(density, t, sample))


def with_loggamma(expression: sympy.Expr) -> sympy.Expr:
    """The logarithms of factorials, gammas and binomials in it as loggamma."""

    def rewritten(inside):
        if isinstance(inside, sympy.factorial):
            return sympy.loggamma(inside.args[0] + 1)
        if isinstance(inside, sympy.gamma):
            return sympy.loggamma(inside.args[0])
        if isinstance(inside, sympy.binomial):
            n, k = inside.args
            return sympy.loggamma(n + 1) - sympy.loggamma(k + 1) - sympy.loggamma(n - k + 1)
        return sympy.log(inside)

    return expression.replace(sympy.log, rewritten)


def closed_sum(density: sympy.Expr, t: sympy.Symbol, first, last) -> sympy.Expr | None:
    """The sum of c e^{a t} over first..last; None for other formulas."""
    logarithm = sympy.expand(log_of(density, t, sympy.Integer(typical(first, last))))
    try:
        polynomial = sympy.Poly(logarithm, t)
    except sympy.PolynomialError:
        return None
    if polynomial.degree() > 1:
        return None
    slope = polynomial.coeff_monomial(t)
    if slope == 0 or sign(slope) == 0:
        return density.subs(t, 0) * (last - first + 1) if math.isfinite(first) and math.isfinite(last) else None
    ratio = sympy.exp(slope)

    def at(index: int) -> sympy.Expr:
        return sympy.simplify(density.subs(t, index))

    if math.isfinite(first) and math.isfinite(last):
        return (at(int(first)) - at(int(last) + 1)) / (1 - ratio)
    if math.isfinite(first) and sign(slope) == -1:
        return at(int(first)) / (1 - ratio)
    if math.isfinite(last) and sign(slope) == 1:
        return at(int(last)) / (1 - 1 / ratio)
    return None


def simpler(ratio: sympy.Expr) -> sympy.Expr:
    """Powers and factorials cancelled; Bessel functions left as they are (sympy would write three for one)."""
    if ratio.has(sympy.factorial, sympy.gamma, sympy.binomial):
        ratio = sympy.combsimp(ratio)
    ratio = sympy.powsimp(ratio, deep=True)
    return ratio if ratio.has(sympy.besseli) else sympy.simplify(ratio)


@lru_cache(maxsize=256)
def ratio_bound(density: sympy.Expr, t: sympy.Symbol, step: int) -> sympy.Expr:
    """f(t + step)/f(t) or, where Bessel functions are left, something larger: I_{n+1}(x)/I_n(x) <= x/(2(n+1))."""
    ratio = simpler(density.subs(t, t + step) / density)

    def outwards(order: sympy.Expr) -> sympy.Expr:  # I_{-n} = I_n for whole n
        return order if sign(sympy.diff(order, t)) == step else -order

    for above in ratio.atoms(sympy.besseli):
        for below in ratio.atoms(sympy.besseli):
            order, x = outwards(below.args[0]), below.args[1]
            if above.args[1] == x and sympy.expand(outwards(above.args[0]) - order - 1) == 0:
                ratio = ratio.xreplace({above: below * x / (2 * (order + 1))})
    return sympy.cancel(ratio)


def at_most(ratio: sympy.Expr, t: sympy.Symbol, start: int, step: int):
    """The ratio at t = start if it is falling from there on outwards; None if that is not certain."""
    if not ratio.has(t):
        return mpmath.mpf(str(ratio.evalf(30))) * (1 + mpmath.mpf(10) ** -20)
    if not ratio.is_rational_function(t):
        return None
    d = sympy.Dummy("d", nonnegative=True)
    outwards = sympy.cancel(ratio.subs(t, start + step * d))
    slope = sympy.fraction(sympy.cancel(sympy.together(sympy.diff(outwards, d))))
    signs = [{sign(c) for c in sympy.Poly(part, d).all_coeffs()} - {0} for part in slope]
    if any(len(found) > 1 for found in signs):
        return None
    falling = not signs[0] or signs[0] != signs[1]
    if not falling or sign(outwards.subs(d, 0)) == -1:
        return None
    return mpmath.mpf(str(outwards.subs(d, 0).evalf(30))) * (1 + mpmath.mpf(10) ** -20)
