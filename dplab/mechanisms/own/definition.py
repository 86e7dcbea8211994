"""delta(eps) by its definition, for pairs whose tails have no closed form: an unevaluated integral or sum in sympy.

It prints as the integral of max(0, p - e^eps q); behind it stands the pair's numeric evaluator, so that it gives digits
like a closed form (with an error estimate from two precisions in place of a proof).
"""

from collections.abc import Callable

import mpmath
import sympy

from ...core.functions import MpmathTable
from ...core.pld import PLD

FN = MpmathTable()
EQUAL_DIGITS = 300
"""Losses that agree to so many digits are taken to be equal."""
_KNOWN: list[PLD] = []
"""The laws that nodes refer to by their place, since sympy rebuilds nodes from sympy arguments alone."""


class HockeyStick(sympy.Expr):
    """The integral (or sum) of max(0, p - e^x q) over the outcomes of law number `index`; see `hockey_stick`."""

    def __new__(cls, x, index):
        """A node for delta(x)."""
        return sympy.Expr.__new__(cls, sympy.sympify(x), sympy.sympify(index))

    @property
    def pld(self) -> PLD:
        """The law."""
        return _KNOWN[int(self.args[1])]

    @property
    def written(self) -> sympy.Expr:
        """The definition, as sympy writes it."""
        pair = self.pld.pair
        t, first, second = pair.variable, pair.p_density, pair.q_density  # type: ignore[attr-defined]
        if self.pld.backward:
            first, second = second, first
        inside = sympy.Max(0, first - sympy.exp(self.args[0]) * second, evaluate=False)
        limits = (t, *pair.ends)  # type: ignore[attr-defined]
        return sympy.Sum(inside, limits) if t.is_integer else sympy.Integral(inside, limits)

    def _eval_is_extended_real(self):
        return True

    @property
    def free_symbols(self):
        """The symbols of x."""
        return self.args[0].free_symbols

    def _sympystr(self, printer) -> str:
        return printer._print(self.written)

    def _latex(self, printer) -> str:
        return printer._print(self.written)

    def enclosure(self, walker):
        """An interval of the evaluator of closed forms: the values at both ends, widened by their error estimates."""
        digits = walker.ctx.dps
        with mpmath.workdps(digits + 15):
            ends = [mpmath.mp.make_mpf(end) for end in walker.walk(self.args[0])._mpi_]
            found = [self._value(end, digits) for end in ends]
            low = min(value - error for value, error in found)
            high = max(value + error for value, error in found)
        return walker._span(max(low, mpmath.mpf(0))._mpf_, min(high, mpmath.mpf(1))._mpf_)

    def _value(self, x, digits: int):
        if self._nothing_above(x):
            return self.pld.mass_at_infinity(FN), mpmath.mpf(0)
        values = []
        for extra in (15, 30):
            with mpmath.workdps(digits + extra):
                values.append(delta_from_tails(self.pld, x))
        return values[1], abs(values[1] - values[0]) + mpmath.mpf(10) ** (-digits - 8)

    def _nothing_above(self, x) -> bool:
        """Whether x is not below the largest finite loss: delta(x) is delta(inf) then, perhaps exactly 0."""
        for digits in (mpmath.mp.dps, EQUAL_DIGITS):
            with mpmath.workdps(digits):
                top = self._largest_loss()
                room = 0 if mpmath.isinf(top) else (1 + abs(top)) * mpmath.mpf(10) ** (8 - digits)
                if x > top + room or x < top - room:
                    break
        return x >= top - room

    def _largest_loss(self):
        ends = [end for end in (self.pld.loss_ends(FN), self.pld.support(FN)) if end is not None]
        return max([end[1] for end in ends] + [atom.loss for atom in self.pld.atoms(FN)], default=-mpmath.inf)


def delta_from_tails(pld: PLD, x):
    """delta(inf) + P(s > x) - e^x Q(s > x) at the working precision."""
    p, q = pld.masses_above(FN, x)
    return pld.mass_at_infinity(FN) + p - mpmath.exp(x) * q


def hockey_stick(pld: PLD, x) -> HockeyStick:
    """delta(x) of one step, unevaluated."""
    if pld not in _KNOWN:
        _KNOWN.append(pld)
    return HockeyStick(x, _KNOWN.index(pld))


def sampled_hockey_stick(defined: Callable[[sympy.Expr], sympy.Expr], q: sympy.Expr, x, backward: bool) -> sympy.Expr:
    """delta(x) of one step on a sample of rate q, where `defined(g)` is that of the step itself in the same direction.

    q P + (1-q) Q - e^x Q = q (P - e^g Q), and Q - e^x (q P + (1-q) Q) = c (Q - e^g P) with c = 1 - (1-q) e^x.
    """
    x = sympy.sympify(x)
    power = sympy.exp(x)
    if backward:
        c = 1 - (1 - q) * power
        nothing, rest, factor, g = c <= 0, sympy.S.Zero, c, x + sympy.log(q) - sympy.log(c)
    else:
        nothing, rest, factor, g = power <= 1 - q, 1 - power, q, sympy.log(1 + (power - 1) / q)
    if nothing == sympy.true:
        return rest
    inside = factor * defined(g)
    return inside if nothing == sympy.false else sympy.Piecewise((rest, nothing), (inside, True))
