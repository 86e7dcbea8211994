"""What every step of a story needs: the mechanism, the direction, the arithmetic, and the letters of the paper."""

from dataclasses import dataclass, field

import sympy

from ...core.pair import Pair
from ...core.pld import PLD
from ..outputs import Outputs
from ..table import SympyTable
from ..worker import DEFAULT_BUDGET

S = sympy.Symbol("s", real=True)
T = sympy.Symbol("t", real=True)
Z = sympy.Symbol("z")
EPS = sympy.Symbol("eps", real=True)
X = sympy.Symbol("x", positive=True)
LAM = sympy.Symbol("lambda", positive=True)
A = sympy.Symbol("a", positive=True)
ALPHA = sympy.Symbol("alpha", positive=True)
K = sympy.Symbol("k", integer=True, positive=True)
L = sympy.Symbol("L", positive=True)
J = sympy.Symbol("j", integer=True)
C = sympy.Symbol("c", real=True)


@dataclass
class Setting:
    """A mechanism in one direction; `outputs` are in that direction already (first over second)."""

    pair: Pair
    backward: bool
    outputs: Outputs
    fn: SympyTable = field(default_factory=SympyTable)
    budget: float = DEFAULT_BUDGET

    @property
    def page(self) -> PLD:
        """The mechanism's page in this direction."""
        return PLD(self.pair, self.backward)

    @property
    def first(self) -> str:
        """The letter of the distribution in the numerator of the loss."""
        return "Q" if self.backward else "P"

    @property
    def second(self) -> str:
        """The letter of the distribution in the denominator."""
        return "P" if self.backward else "Q"

    @property
    def other_way(self) -> str:
        """Subscript of what belongs to the other direction."""
        return f"{{{self.second}/{self.first}}}"
