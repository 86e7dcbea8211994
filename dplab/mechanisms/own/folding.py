"""Densities with steps that go on for ever, such as the staircase: written with floor, cut where floor jumps.

Far out such a density repeats itself, f(t + period) = r f(t). If P and Q do so with the same r, the loss repeats itself
exactly, and all beyond N periods is folded into the next one by the factor 1/(1 - r); the same on the left.
"""

from itertools import pairwise
from typing import NamedTuple

import sympy

from ...core.errors import ParameterError
from .signs import certain_sign

MOST_UNITS = 40


def has_steps(*densities: sympy.Expr) -> bool:
    """Whether floor occurs."""
    return any(density.has(sympy.floor) for density in densities)


class Steps(NamedTuple):
    """floor jumps at period (n + offset) for all whole n and each of the offsets, 0 among them, all in [0, 1)."""

    period: sympy.Rational
    offsets: tuple[sympy.Rational, ...]


def steps_of(t: sympy.Symbol, *densities: sympy.Expr) -> Steps:
    """Where the floors of some densities jump.

    Raises ParameterError where floor is taken of anything else than a t + b or a |t - c| + b with rational numbers,
    |a| the same everywhere.
    """
    periods, offsets = set(), {sympy.S.Zero}
    for argument in sorted({a.args[0] for d in densities for a in d.atoms(sympy.floor)}, key=sympy.default_sort_key):
        for side in (1, -1):
            line = sympy.expand(argument.replace(sympy.Abs, lambda x, side=side: side * x))
            slope, start = sympy.diff(line, t), line.subs(t, 0)
            if not (slope.is_Rational and start.is_Rational) or slope == 0:
                raise ParameterError(
                    "densities", f"floor({argument})", f"floor of a*{t} + b or a*|{t} - c| + b, rational numbers"
                )
            periods.add(1 / abs(slope))
            offset = -start * sympy.sign(slope)
            offsets.add(offset - sympy.floor(offset))
    if len(periods) > 1:
        raise ParameterError("densities", f"steps of lengths {sorted(periods)}", "steps of one length")
    return Steps(periods.pop(), tuple(sorted(offsets)))


def unit_cells(p: sympy.Expr, q: sympy.Expr, t: sympy.Symbol, lower: sympy.Expr, upper: sympy.Expr, corners) -> list:
    """(lower, upper, p, q, side) between jumps, floors replaced by what they are there; those of the last period on an
    infinite side, which `fold` takes for all beyond it, are marked by that side (-1 or 1), the others by 0.

    `corners`: where the densities change their formula otherwise. Raises ParameterError as `steps_of`, and where the
    corners are far out.
    """
    steps = steps_of(t, p, q)
    far = 1 + max((int(sympy.ceiling(abs(corner) / steps.period)) for corner in corners), default=0)
    if far > MOST_UNITS:
        raise ParameterError("densities", f"corners at {far}", f"within {MOST_UNITS} of 0 where floor is used")
    jumps = sorted(steps.period * (n + offset) for n in range(-far - 1, far + 1) for offset in steps.offsets)
    first = jumps[0] if lower.is_infinite else lower
    last = steps.period * (far + 1) if upper.is_infinite else upper
    units = []
    for low, high in pairwise(map(sympy.sympify, [first, *(at for at in jumps if first < at < last), last])):
        right, left = upper.is_infinite and low >= steps.period * far, lower.is_infinite and high <= -steps.period * far
        stepped = (_stepped(density, t, (low + high) / 2) for density in (p, q))
        units.append((low, high, *stepped, 1 if right else -1 if left else 0))
    return units


def _stepped(density: sympy.Expr, t: sympy.Symbol, middle: sympy.Expr) -> sympy.Expr:
    return density.replace(sympy.floor, lambda argument: sympy.floor(argument.subs(t, middle)))


def fold(p: sympy.Expr, q: sympy.Expr, t: sympy.Symbol, side: int, at: sympy.Expr, resolver) -> sympy.Expr:
    """What a cell around `at`, far out on one side, must be multiplied by to stand for all its repetitions further out.

    `resolver(variable, sample)` decides conditions. Raises ParameterError if P and Q do not fall by the same constant
    factor from one step to the next.
    """
    m, u = sympy.Dummy("m", integer=True, positive=True), sympy.Dummy("u", positive=True)
    period = steps_of(t, p, q).period
    inside = at / period - sympy.floor(at / period)
    resolve = resolver(u, inside)
    ratios = set()
    for density in (p, q):
        there = period * (m + u if side > 0 else -m - 1 + u)
        here = resolve(_far_out(density.replace(sympy.Abs, lambda x: side * x).subs(t, there), m, u, inside))
        if here != 0:
            ratios.add(sympy.simplify(here.subs(m, m + 1) / here))
    if len(ratios) != 1 or next(iter(ratios)).has(m, u):
        shown = ", ".join(str(ratio) for ratio in ratios)
        raise ParameterError("densities", f"ratios {shown} from one step to the next", "the same constant for P and Q")
    ratio = ratios.pop()
    if certain_sign(1 - ratio, "It is not known whether the steps fall.") <= 0:
        raise ParameterError("densities", f"ratio {ratio} from one step to the next", "below 1, so that it sums to 1")
    return 1 / (1 - ratio)


def _far_out(there: sympy.Expr, m: sympy.Symbol, u: sympy.Symbol, inside: sympy.Expr) -> sympy.Expr:
    """A density m whole periods out, m beyond all corners, with its floors taken for u about `inside`."""

    def step(argument: sympy.Expr) -> sympy.Expr:
        argument = sympy.expand(argument)
        whole = argument.coeff(m) * m
        return whole + sympy.floor((argument - whole).subs(u, inside))

    return sympy.expand(there.replace(sympy.floor, step), deep=True, power_exp=False, mul=False)
