"""The binomial mechanism: P = Bin(n, p) against Q = D + Bin(n, p).

At an outcome j from D to n the loss is log(C(n,j)/C(n,j-D)) + D log(p/(1-p)); P alone has j < D, Q alone j > n.
"""

from fractions import Fraction
from typing import ClassVar

from ..core.pair import Atom, Pair, Tails
from ..core.parameters import evaluate, probability, whole


class Binomial(Pair):
    """Binomial noise Bin(`n`, `p`) on a whole-valued query that moves by `shift`.

    Forward is Bin(n,p) over shift + Bin(n,p). n >= 1 and shift >= 0 are whole, p in [0, 1] (a symbol's name too).
    delta(inf) is P(Bin < shift), backward P(Bin > n - shift). shift = 0 loses nothing; p = 0 or 1 is no noise.

    Source: Dwork et al. (2006), "Our data, ourselves"; Koskela et al. (2021), section 5.

    >>> Binomial(n=1000, p="0.5", shift=20)
    Binomial(n=1000, p=0.5, shift=20)

    Raises ParameterError for p outside [0, 1], or n and shift that are no whole numbers up to 1e6.
    """

    defaults: ClassVar = {"shift": Fraction(1)}

    def __init__(self, n, p, shift=1):
        self._set(
            n=whole(n, "n", 1, cause="It is the number of coins."),
            p=probability(p, "p", "It is the probability of one coin's success."),
            shift=whole(shift, "shift", cause="The query counts: it moves by whole numbers."),
        )

    @property
    def symmetric(self) -> bool:  # type: ignore[override]
        """True for fair coins."""
        return self.arguments["p"] == Fraction(1, 2)

    @property
    def n(self) -> int:
        """The number of coins."""
        return int(self.arguments["n"])

    @property
    def shift(self) -> int:
        """D, by how much the query moves."""
        return int(self.arguments["shift"])

    def reduced(self):
        """None for shift 0."""
        return None if self.shift == 0 else self

    @property
    def disjoint(self) -> bool:
        """Whether no outcome is common to P and Q."""
        return self.shift > self.n or (self.arguments["p"] in (0, 1) and self.shift > 0)

    @property
    def common_outcomes(self) -> range:  # type: ignore[override]
        """From D to n."""
        return range(self.shift, self.n + 1)

    def outcome_masses(self, fn, j) -> Tails:
        """P{j} and Q{j} for a common outcome j."""
        p = evaluate(self.arguments["p"], fn)
        return Tails(fn.binomial_pmf(self.n, j, p), fn.binomial_pmf(self.n, j - self.shift, p))

    def loss(self, fn, t):
        """s at the common outcome t: the sum over 0 <= i < D of log((n-t+D-i) p/((t-i)(1-p))), each through log1p."""
        p, n, shift = evaluate(self.arguments["p"], fn), self.n, self.shift
        total = fn.rational(0, 1)
        for i in range(shift):
            total = total + fn.log1p(((n + shift - 2 * i) * p - (t - i)) / ((t - i) * (1 - p)))
        return total

    def atoms(self, fn):
        """P{j} and Q{j} at the loss of j."""
        if self.disjoint:
            return []
        return fn.each(self.common_outcomes, lambda j: Atom(self.loss(fn, j), *self.outcome_masses(fn, j)))

    def mass_at_infinity(self, fn):
        """P(Bin < D)."""
        return self._mass(fn, range(self.shift))

    def mass_at_minus_infinity(self, fn):
        """P(Bin > n - D)."""
        return self._mass(fn, range(self.n - self.shift + 1, self.n + 1))

    def _mass(self, fn, outcomes: range):
        if self.disjoint:
            return fn.rational(1, 1)
        p = evaluate(self.arguments["p"], fn)
        return fn.total(fn.each(outcomes, lambda j: fn.binomial_pmf(self.n, j, p)))
