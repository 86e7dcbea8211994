"""A pair given by probabilities of integers, finitely or infinitely many (geometric, Poisson, Skellam).

A run of integers on which the loss is constant is one atom; elsewhere every integer is an atom of its own. Infinite
runs are cut where what is left is far below the working precision; the interval arithmetic bounds what is left by a
geometric series and counts it as possibly at infinity and possibly nowhere, so that brackets stay strict.
"""

import math
from collections.abc import Mapping
from typing import Any

from ...core.errors import ParameterError, SchemaError
from ...core.expression import Expression
from ...core.pair import Atom, Pair
from ...core.parameters import Parameter
from ...core.pld import PLD
from .densities import _EVERYWHERE, _end_text, _ends


class IntegerPair(Pair):
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

    def __init__(self, p, q, variable="t", support=_EVERYWHERE):
        from .formulas import canonical, variable_name

        name = variable_name(variable)
        columns = {"p": canonical(p, "P", name, integer=True), "q": canonical(q, "Q", name, integer=True)}
        self._set(**columns, variable=name, support=_ends(support))
        if self.free_symbols:
            symbol = sorted(self.free_symbols)[0]
            raise ParameterError(
                symbol, symbol, "a number", "Probabilities of integers need numbers: the sum over them has no end."
            )
        _ = self.analysis

    @property
    def analysis(self):
        """Everything that was found; see `runs.Lattice`."""
        from .analysis import attempted
        from .runs import lattice

        return attempted(
            lattice, self.arguments["p"], self.arguments["q"], self.arguments["variable"], *self.arguments["support"]
        )

    @property
    def variable(self):
        """The variable, an integer sympy symbol."""
        return self.analysis.variable

    @property
    def p_density(self):
        """P's probability of t, a sympy expression."""
        return self.analysis.p

    @property
    def q_density(self):
        """Q's probability of t, a sympy expression."""
        return self.analysis.q

    @property
    def pieces(self) -> tuple:
        """Always empty: there is no continuous part. The runs of integers are in `analysis.runs`."""
        return ()

    @property
    def loss_formulas(self) -> tuple:
        """The loss as a formula in the variable, run by run, where both probabilities are positive."""
        return tuple(run.loss for run in self.analysis.runs if run.loss is not None)

    @property
    def ends(self) -> tuple:
        """The ends of the support, sympy."""
        from .analysis import end_of

        return tuple(end_of(end) for end in self.arguments["support"])

    def definition(self, x, backward: bool):
        """delta(x) as the integral that defines it, with a numeric evaluator behind it."""
        from .definition import hockey_stick

        return hockey_stick(PLD(self, backward), x)

    @property
    def stages(self) -> tuple[str, ...]:
        """What has no closed form, in words."""
        return self.analysis.notes

    def reduced(self):
        """None where P = Q."""
        return None if self.arguments["p"] == self.arguments["q"] else self

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

    @property
    def free_symbols(self) -> frozenset[str]:
        """Names of the parameters without a value (none, once it is made)."""
        trees = [self.arguments["p"], self.arguments["q"], *self.arguments["support"]]
        names = [tree.free_symbols for tree in trees if isinstance(tree, Expression)]
        return frozenset().union(*names) - {self.arguments["variable"]}

    def _bound(self, values: Mapping[str, Parameter]) -> "IntegerPair":
        return self

    def _text(self, name: str) -> str:
        from .formulas import text_of

        return text_of(self.arguments[name], self.arguments["variable"], integer=True)

    def to_json(self) -> dict:
        """Probabilities and support as text that reads back."""
        fields: dict[str, Any] = {"p": self._text("p"), "q": self._text("q"), "variable": self.arguments["variable"]}
        return {"type": "IntegerPair", **fields, "support": [_end_text(end) for end in self.arguments["support"]]}

    @classmethod
    def from_arguments(cls, **arguments) -> "IntegerPair":
        """The inverse of `arguments` and of `to_json`."""
        unknown = set(arguments) - {"p", "q", "variable", "support"}
        if unknown:
            raise SchemaError(f"IntegerPair: wrong fields {sorted(unknown)}")
        return cls(**arguments)

    def __repr__(self) -> str:
        text = f"IntegerPair(p={self._text('p')!r}, q={self._text('q')!r}"
        if self.arguments["variable"] != "t":
            text += f", variable={self.arguments['variable']!r}"
        ends = tuple(_end_text(end) for end in self.arguments["support"])
        return text + (")" if ends == _EVERYWHERE else f", support={ends!r})")


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
