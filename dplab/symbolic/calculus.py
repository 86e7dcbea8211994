"""Integrals in stages: what completing the square gives, then what sympy finds within a budget, else nothing.

exponential(L, t, a, b)     the integral of e^{L(t)} for L a polynomial of degree at most 2 in t
Search(stage, ...)          whatever sympy.integrate finds, in a worker, checked against a quadrature
"""

import mpmath
import sympy

from .normal_cdf import Phi
from .numeric import function
from .quadrature import integrate
from .worker import Running, StageStopped

SAMPLES = (sympy.Rational(37, 100), sympy.Rational(61, 50), sympy.Rational(83, 40))
"""Values for the symbols of an integral when sympy's answer is checked."""


def exponential(exponent: sympy.Expr, t: sympy.Symbol, low, high) -> sympy.Expr | None:
    """The integral of e^{A t^2 + B t + C} between two ends; None if the exponent is no such polynomial.

    A must be negative (its real part, where it depends on z) if an end is infinite.
    """
    try:
        polynomial = sympy.Poly(sympy.expand(exponent), t)
    except sympy.PolynomialError:
        return None
    if polynomial.degree() > 2 or any(c.has(t) for c in polynomial.all_coeffs()):
        return None
    a, b, c = (polynomial.coeff_monomial(t**n) for n in (2, 1, 0))
    if a == 0:
        return _straight(b, c, low, high)
    return _square(a, b, c, low, high)


def _straight(b, c, low, high) -> sympy.Expr | None:
    if b == 0:
        return (high - low) * sympy.exp(c) if sympy.sympify(high - low).is_finite else None

    def at(end):
        return sympy.S.Zero if end.is_infinite else sympy.exp(sympy.factor_terms(sympy.expand(b * end + c)))

    return (at(high) - at(low)) / b


def _square(a, b, c, low, high) -> sympy.Expr:
    """e^{c - b^2/(4a)} sqrt(pi/-a) (Phi(sqrt(-2a)(high - m)) - Phi(sqrt(-2a)(low - m))), m = -b/(2a)."""
    middle, width = -b / (2 * a), sympy.sqrt(-2 * a)
    height = sympy.exp(sympy.factor(sympy.simplify(c - b**2 / (4 * a)))) * sympy.sqrt(sympy.pi) / sympy.sqrt(-a)

    def below(end):
        if end.is_infinite:
            return sympy.S.One if end == sympy.oo else sympy.S.Zero
        return Phi(sympy.simplify(width * (end - middle)))

    return sympy.simplify(height * 1) * (below(high) - below(low))


class Search:
    """sympy's search for integrals, (integrand, variable, low, high) each, in a worker that starts at once."""

    def __init__(self, stage: str, integrals: list[tuple], budget: float):
        self.integrals = integrals
        self._running = Running(stage, "calculus:in_worker", integrals, budget=budget) if integrals else None

    def __enter__(self) -> "Search":
        return self

    def __exit__(self, *problem) -> None:
        if self._running is not None:
            self._running.__exit__(*problem)

    def result(self):
        """Their sum if all are closed, else StageStopped."""
        if self._running is None:
            return sympy.S.Zero
        found = self._running.result()
        if found is None:
            return StageStopped(self._running.stage, "sympy finds no antiderivative in closed form")
        return found


def in_worker(integrals: list[tuple]) -> sympy.Expr | None:
    """What the worker does: all of the integrals, or None."""
    total = sympy.S.Zero
    for integral in integrals:
        found = _one(*integral)
        if found is None:
            return None
        total += found
    shorter = sympy.simplify(total)
    return shorter if sympy.count_ops(shorter) < sympy.count_ops(total) else total


def _one(integrand: sympy.Expr, t: sympy.Symbol, low, high) -> sympy.Expr | None:
    """Integrate, refuse what is not closed or not readable, compare with a quadrature."""
    found = sympy.integrate(integrand, (t, low, high), conds="none")
    letters = integrand.free_symbols | sympy.sympify(low).free_symbols | sympy.sympify(high).free_symbols
    if found.free_symbols - letters or found.has(sympy.Integral, sympy.meijerg, sympy.zoo, sympy.nan, sympy.I):
        return None
    if not _agrees(found, integrand, t, low, high):
        return None
    return found


def _agrees(found, integrand, t, low, high) -> bool:
    symbols = sorted((found.free_symbols | integrand.free_symbols) - {t}, key=str)
    for shift in range(2):
        with mpmath.workdps(20):
            values = {x: mpmath.mpf(SAMPLES[(i + shift) % 3].p) / SAMPLES[(i + shift) % 3].q
                      for i, x in enumerate(symbols)}  # fmt: skip
            values |= {x: mpmath.mpc(value / 4, shift) for x, value in values.items() if x.name == "z"}
            ends = [function(sympy.sympify(end), (), values)() for end in (low, high)]
            cuts = [ends[0], 0, ends[1]] if all(map(mpmath.isinf, ends)) else ends
            expected = integrate(function(integrand, [t], values), cuts)
            try:
                difference = abs(function(found, (), values)() - expected)
            except (ZeroDivisionError, ValueError, TypeError):
                return False
            if not difference <= mpmath.mpf(10) ** -10 * (1 + abs(expected)):
                return False
    return True
