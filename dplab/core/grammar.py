"""What the text of a formula may contain: names of functions with their numbers of arguments, and limits of size.

Two grammars share one parser (`expression.parse`): that of a parameter's value, and the wider one of a density.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

PIECEWISE = "piecewise"


@dataclass(frozen=True)
class Grammar:
    """The functions (name: smallest and largest number of arguments), other spellings of them, and the limits.

    With `conditions`, comparisons joined by `and`, `or` and `piecewise((value, condition), ..., (value, True))` are
    allowed too.
    """

    calls: Mapping[str, tuple[int, int]]
    most_text: int
    most_depth: int
    most_nodes: int
    conditions: bool = False
    spellings: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def canonical(self, name: str) -> str:
        """The name under which a function is known here."""
        return self.spellings.get(name, name)

    @property
    def allowed(self) -> str:
        """The functions, as a list to read."""
        names = [*self.calls, "pi"]
        if self.conditions:
            names.append("piecewise((value, condition), ..., (value, True))")
        return ", ".join(names)


PARAMETER = Grammar(MappingProxyType({"sqrt": (1, 1), "exp": (1, 1), "log": (1, 1)}), 200, 20, 200)

_ONE = ("sqrt", "exp", "log", "abs", "sign", "erf", "erfc", "cosh", "sinh", "tanh", "sech", "atan", "gamma")

DENSITY = Grammar(
    MappingProxyType(
        {
            **dict.fromkeys(_ONE, (1, 1)),
            "factorial": (1, 1),
            "floor": (1, 1),
            "heaviside": (1, 1),
            "dirac": (1, 1),
            "binomial": (2, 2),
            "besseli": (2, 2),
            "min": (2, 8),
            "max": (2, 8),
        }
    ),
    most_text=2000,
    most_depth=60,
    most_nodes=800,
    conditions=True,
    spellings=MappingProxyType(
        {
            "Abs": "abs",
            "Min": "min",
            "Max": "max",
            "Heaviside": "heaviside",
            "DiracDelta": "dirac",
            "Piecewise": PIECEWISE,
        }
    ),
)
