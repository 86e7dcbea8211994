"""A pair given by probabilities of integers, finitely or infinitely many (geometric, Poisson, Skellam).

A run of integers on which the loss is constant is one atom; elsewhere every integer is an atom of its own. Infinite
runs are cut where what is left is far below the working precision; the interval arithmetic bounds what is left by a
geometric series and counts it as possibly at infinity and possibly nowhere, so that brackets stay strict.
"""

import math
from collections.abc import Mapping
from functools import cached_property

from ...core.errors import ParameterError
from ...core.pair import Atom, Pair
from ...core.parameters import Parameter
from .tails import value
from .written import EVERYWHERE, Written, ends_of


class IntegerPair(Written, Pair):
    """Outcomes are the integers of `support`: P gives t the probability `p`, Q gives it `q`, formulas in `variable`.

    Made by `Pair.from_densities` with an integer variable or a Range, or by `Pair.from_text(..., discrete=True)`.
    A formula may be 0 at some integers (1/factorial(-1) is). Parameters must be numbers.

    >>> from dplab import Pair
    >>> shifted = "piecewise((exp(-3)*3**(t - 1)/factorial(t - 1), t >= 1), (0, True))"
    >>> pair = Pair.from_text(shifted, "exp(-3)*3**t/factorial(t)", "t", (0, "inf"), discrete=True)
    >>> str(pair.loss_formulas[0])
    'log(t) - log(3)'

    Raises ParameterError for what is no distribution, saying what was found and where.
    """

    whole_numbers = True

    def __init__(self, p, q, variable="t", support=EVERYWHERE):
        from .formulas import canonical, variable_name

        name = variable_name(variable)
        columns = {"p": canonical(p, "P", name, integer=True), "q": canonical(q, "Q", name, integer=True)}
        self._set(**columns, variable=name, support=ends_of(support))
        if self.free_symbols:
            symbol = sorted(self.free_symbols)[0]
            raise ParameterError(
                symbol, symbol, "a number", "Probabilities of integers need numbers: the sum over them has no end."
            )
        _ = self.analysis

    @cached_property
    def analysis(self):
        """Everything that was found; see `runs.Lattice`."""
        from .analysis import attempted
        from .runs import lattice

        return attempted(
            lattice, self.arguments["p"], self.arguments["q"], self.arguments["variable"], *self.arguments["support"]
        )

    @property
    def pieces(self) -> tuple:
        """Always empty: there is no continuous part. The runs of integers are in `analysis.runs`."""
        return ()

    @property
    def loss_formulas(self) -> tuple:
        """The loss as a formula in the variable, run by run, where both probabilities are positive."""
        return tuple(run.loss for run in self.analysis.runs if run.loss is not None)

    # --- the law of the loss ----------------------------------------------------------------------

    def mass_at_infinity(self, fn):
        """P where Q has no mass (intervals: perhaps also what was cut off)."""
        return self.analysis.apart(fn, "p")

    def mass_at_minus_infinity(self, fn):
        """Q where P has no mass (intervals: perhaps also what was cut off)."""
        return self.analysis.apart(fn, "q")

    def atoms(self, fn):
        """One for each run with a constant loss and for each integer of the others, from the largest loss down."""
        return [Atom(*atom) for atom in self.analysis.atoms(fn)]

    def lattice(self, fn):
        """Losses a + b t lie on one (two geometric or two Poisson laws, unshifted); else None."""
        spaced = self.analysis.spaced
        return None if spaced is None else tuple(value(fn, part) for part in spaced)

    def loss_ends(self, fn):
        """Where the loss runs on for ever its end is infinite (a bound: it may have a limit); else None."""
        ends = self.analysis.open_ends()
        if ends == (False, False):
            return None
        losses = [atom.loss for atom in self.atoms(fn)]
        return -fn.inf if ends[0] else min(losses), fn.inf if ends[1] else max(losses)

    def loss(self, fn, t):
        """s at the integer t."""
        return self.analysis.loss_at(fn, int(t))

    # --- identity ---------------------------------------------------------------------------------

    def _bound(self, values: Mapping[str, Parameter]) -> "IntegerPair":
        return self


def whole_end(end) -> float | int:
    """An end of a support of integers: an int, or an infinity.

    Raises ParameterError if it is neither.
    """
    if isinstance(end, float) and math.isinf(end):
        return end
    kind, *parts = getattr(end, "tree", ("",))
    if kind != "num" or parts[0].denominator != 1:
        raise ParameterError("support", str(end), "two integers, or infinite ends")
    return int(parts[0])
