"""Densities with steps that go on for ever, such as the staircase: written with floor, cut at the whole numbers.

Far out such a density repeats itself, f(t + 1) = r f(t). If P and Q do so with the same r, the loss repeats itself
exactly, and all of [N, oo) is folded into [N, N + 1) by the factor 1/(1 - r); the same on the left.
"""

from itertools import pairwise

import sympy

from ...core.errors import ParameterError
from .signs import certain_sign

MOST_UNITS = 40


def has_steps(*densities: sympy.Expr) -> bool:
    """Whether floor occurs."""
    return any(density.has(sympy.floor) for density in densities)


def unit_cells(p: sympy.Expr, q: sympy.Expr, t: sympy.Symbol, lower: sympy.Expr, upper: sympy.Expr, far: int) -> list:
    """(lower, upper, p, q) between whole numbers, floors replaced by what they are there; the last one on an infinite
    side, which `fold` takes for all beyond it, is marked by that side (-1 or 1), the others by 0.

    `far` is a whole number beyond all other corners. Raises ParameterError where floor is taken of anything else than
    the variable plus or minus a whole number.
    """
    if far > MOST_UNITS:
        raise ParameterError("densities", f"corners at {far}", f"within {MOST_UNITS} of 0 where floor is used")
    first = -far - 1 if lower.is_infinite else lower
    last = far + 1 if upper.is_infinite else upper
    edges = [first, *(n for n in range(-far, far + 1) if first < n < last), last]
    units = []
    for low, high in pairwise(map(sympy.sympify, edges)):
        side = 1 if upper.is_infinite and high == last else -1 if lower.is_infinite and low == first else 0
        units.append((low, high, _stepped(p, t, low, high), _stepped(q, t, low, high), side))
    return units


def _stepped(density: sympy.Expr, t: sympy.Symbol, lower: sympy.Expr, upper: sympy.Expr) -> sympy.Expr:
    middle = (lower + upper) / 2

    def step(argument: sympy.Expr) -> sympy.Expr:
        slope = argument.replace(sympy.Abs, lambda x: x)
        if sympy.diff(slope, t) not in (1, -1) or not sympy.sympify(slope.subs(t, 0)).is_integer:
            raise ParameterError(
                "densities", f"floor({argument})", f"floor of {t}, of |{t}|, or of these plus a whole number"
            )
        return sympy.floor(argument.subs(t, middle))

    return density.replace(sympy.floor, step)


def fold(p: sympy.Expr, q: sympy.Expr, t: sympy.Symbol, side: int, at: sympy.Expr, resolver) -> sympy.Expr:
    """What a cell around `at`, far out on one side, must be multiplied by to stand for all its repetitions further out.

    `resolver(variable, sample)` decides conditions. Raises ParameterError if P and Q do not fall by the same constant
    factor from one step to the next.
    """
    m, u = sympy.Dummy("m", integer=True, positive=True), sympy.Dummy("u", positive=True)
    resolve = resolver(u, at - sympy.floor(at))
    ratios = set()
    for density in (p, q):
        here = resolve(_far_out(density, t, side, m, u))
        if here != 0:
            ratios.add(sympy.simplify(here.subs(m, m + 1) / here))
    if len(ratios) != 1 or next(iter(ratios)).has(m, u):
        shown = ", ".join(str(ratio) for ratio in ratios)
        raise ParameterError("densities", f"ratios {shown} from one step to the next", "the same constant for P and Q")
    ratio = ratios.pop()
    if certain_sign(1 - ratio, "It is not known whether the steps fall.") <= 0:
        raise ParameterError("densities", f"ratio {ratio} from one step to the next", "below 1, so that it sums to 1")
    return 1 / (1 - ratio)


def _far_out(density: sympy.Expr, t: sympy.Symbol, side: int, m: sympy.Symbol, u: sympy.Symbol) -> sympy.Expr:
    """The density at m + u, or at -m - 1 + u on the left, for whole m beyond all corners and 0 < u < 1."""
    there = density.replace(sympy.Abs, lambda x: side * x).subs(t, m + u if side > 0 else -m - 1 + u)

    def step(argument: sympy.Expr) -> sympy.Expr:
        argument = sympy.expand(argument)
        return argument - u if argument.coeff(u) == 1 else argument + u - 1

    return sympy.expand(there.replace(sympy.floor, step), deep=True, power_exp=False, mul=False)
