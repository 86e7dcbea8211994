"""k-ary randomised response: one of m answers, the true one e^eps times as likely as each other one.

With p0 = e^eps/(e^eps + m - 1) and p1 = e^{-eps} p0 the loss is eps at P's answer, -eps at Q's, 0 at the other m - 2.
"""

from ..core.pair import Atom, Pair
from ..core.parameters import evaluate, nonnegative, whole


class KaryRandomizedResponse(Pair):
    """Randomised response among `m` >= 2 answers; (eps, 0)-DP, `eps` >= 0 in nats (a symbol's name too).

    m = 2 is `RandomizedResponse.from_eps(eps)`; eps = 0 answers at random and loses nothing.

    Source: Kairouz, Oh, Viswanath (2014), section 4.

    >>> KaryRandomizedResponse(eps=1, m=10)
    KaryRandomizedResponse(eps=1, m=10)

    Raises ParameterError for eps < 0, or m that is no whole number from 2 to 1e9.
    """

    symmetric = True

    def __init__(self, eps, m):
        self._set(
            eps=nonnegative(eps, "eps"),
            m=whole(m, "m", 2, 10**9, "It is the number of possible answers."),
        )

    @property
    def m(self) -> int:
        """The number of answers."""
        return int(self.arguments["m"])

    def reduced(self):
        """None for eps = 0; plain randomised response for two answers."""
        if self.arguments["eps"] == 0:
            return None
        if self.m == 2:
            from .randomized_response import RandomizedResponse

            return RandomizedResponse.from_eps(self.arguments["eps"])
        return self

    def masses(self, fn):
        """p0 and p1."""
        small = fn.exp(-evaluate(self.arguments["eps"], fn))
        whole_mass = 1 + (self.m - 1) * small
        return 1 / whole_mass, small / whole_mass

    def atoms(self, fn):
        """p0 at eps, (m-2) p1 at 0, p1 at -eps."""
        eps = evaluate(self.arguments["eps"], fn)
        p0, p1 = self.masses(fn)
        others = [Atom(fn.rational(0, 1), (self.m - 2) * p1, (self.m - 2) * p1)] if self.m > 2 else []
        return [Atom(eps, p0, p1), *others, Atom(-eps, p1, p0)]

    def lattice(self, fn):
        """The multiples of eps."""
        return fn.rational(0, 1), evaluate(self.arguments["eps"], fn)

    def mgf(self, fn, z):
        """M(z) = p0 e^{z eps} + (m-2) p1 + p1 e^{-z eps}."""
        eps = evaluate(self.arguments["eps"], fn)
        p0, p1 = self.masses(fn)
        return p0 * fn.exp(z * eps) + (self.m - 2) * p1 + p1 * fn.exp(-z * eps)
