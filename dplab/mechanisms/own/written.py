"""What pairs written as two formulas share: variable, formulas, support; how they are shown, stored and rebuilt."""

import math
from collections.abc import Mapping
from typing import Any, ClassVar

from ...core.errors import ParameterError, SchemaError
from ...core.expression import Expression
from ...core.parameters import exact
from ...core.pld import PLD

EVERYWHERE = ("-inf", "inf")


class Written:
    """A pair of two formulas `p` and `q` in a `variable`, on a `support`; `analysis` is what was found of them."""

    arguments: Mapping[str, Any]
    analysis: Any
    whole_numbers: ClassVar[bool] = False
    """Whether the variable runs over the integers."""

    @property
    def variable(self):
        """The variable of the formulas, a sympy symbol."""
        return self.analysis.variable

    @property
    def p_density(self):
        """The density of P, or its probability of the variable's value: a sympy expression."""
        return self.analysis.p

    @property
    def q_density(self):
        """The density of Q, or its probability of the variable's value: a sympy expression."""
        return self.analysis.q

    @property
    def ends(self) -> tuple:
        """The ends of the support, sympy."""
        from .analysis import end_of

        return tuple(end_of(end) for end in self.arguments["support"])

    def definition(self, fn, x, backward: bool):
        """delta(x) as the integral or sum that defines it, with a numeric evaluator behind it."""
        from .definition import hockey_stick

        return hockey_stick(PLD(self, backward), x)  # type: ignore[arg-type]

    @property
    def stages(self) -> tuple[str, ...]:
        """What has no closed form, in words; empty if everything has one."""
        return self.analysis.notes

    def reduced(self):
        """None where P = Q."""
        return None if self.arguments["p"] == self.arguments["q"] else self

    @property
    def free_symbols(self) -> frozenset[str]:
        """Names of the parameters without a value."""
        trees = [self.arguments["p"], self.arguments["q"], *self.arguments["support"]]
        names = [tree.free_symbols for tree in trees if isinstance(tree, Expression)]
        return frozenset().union(*names) - {self.arguments["variable"]}

    def _text(self, name: str) -> str:
        from .formulas import text_of

        return text_of(self.arguments[name], self.arguments["variable"], integer=self.whole_numbers)

    def to_json(self) -> dict:
        """Formulas and support as text that reads back."""
        fields: dict[str, Any] = {"p": self._text("p"), "q": self._text("q"), "variable": self.arguments["variable"]}
        return {"type": type(self).__name__, **fields, "support": [_end_text(end) for end in self.arguments["support"]]}

    @classmethod
    def from_arguments(cls, **arguments):
        """The inverse of `arguments` and of `to_json`."""
        unknown = set(arguments) - {"p", "q", "variable", "support"}
        if unknown:
            raise SchemaError(f"{cls.__name__}: wrong fields {sorted(unknown)}")
        return cls(**arguments)

    def __repr__(self) -> str:
        text = f"{type(self).__name__}(p={self._text('p')!r}, q={self._text('q')!r}"
        if self.arguments["variable"] != "t":
            text += f", variable={self.arguments['variable']!r}"
        ends = tuple(_end_text(end) for end in self.arguments["support"])
        return text + (")" if ends == EVERYWHERE else f", support={ends!r})")


def ends_of(support) -> tuple:
    """The two ends of a support as it was given: expressions, or infinities."""
    from .formulas import canonical

    if support is None:
        support = EVERYWHERE
    ends = support.args[:2] if getattr(support, "is_Interval", False) else support
    ends = tuple(ends) if isinstance(ends, (tuple, list)) else ()
    if len(ends) != 2:
        raise ParameterError("support", support, 'two ends such as (0, 1) or (0, "inf")')
    found: list[Any] = []
    for end in ends:
        text = str(end).strip()
        if text in ("oo", "inf", "+inf", "-oo", "-inf"):
            found.append(-math.inf if text.startswith("-") else math.inf)
        elif isinstance(end, Expression):
            found.append(end)
        else:
            number = canonical(end, "support", "_") if hasattr(end, "free_symbols") else exact(end, "support")
            found.append(number if isinstance(number, Expression) else Expression(("num", number)))
    return tuple(found)


def _end_text(end) -> str:
    return str(end) if isinstance(end, Expression) else ("inf" if end > 0 else "-inf")
