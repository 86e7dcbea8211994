"""The worst (eps, delta)-DP mechanism: "leaky" randomised response.

Four outcomes: P gives them delta, (1-delta) e^eps/(1+e^eps), (1-delta)/(1+e^eps), 0, and Q the same backwards.
"""

from ..core.pair import Atom, Pair
from ..core.parameters import evaluate, nonnegative, probability


class ApproximateDP(Pair):
    """What is certain of any mechanism that is (`eps`, `delta`)-DP: this pair dominates it.

    eps >= 0 in nats, delta in [0, 1]; both may be symbols' names. Composed, it gives the optimal composition theorem,
    heterogeneous too. (0, 0) loses nothing, delta = 1 everything.

    Source: Kairouz, Oh, Viswanath (2015), Theorem 3.3; Murtagh and Vadhan (2016) for different ones.

    >>> 100 * ApproximateDP(eps="0.1", delta="1e-6")
    100 * ApproximateDP(eps=0.1, delta=1e-6)

    Raises ParameterError for eps < 0 or delta outside [0, 1].
    """

    symmetric = True

    def __init__(self, eps, delta):
        self._set(eps=nonnegative(eps, "eps"), delta=probability(delta, "delta"))

    def reduced(self):
        """Plain randomised response for delta = 0, None for eps = delta = 0."""
        if self.arguments["delta"] != 0:
            return self
        if self.arguments["eps"] == 0:
            return None
        from .randomized_response import RandomizedResponse

        return RandomizedResponse.from_eps(self.arguments["eps"])

    def mass_at_infinity(self, fn):
        """delta."""
        return evaluate(self.arguments["delta"], fn)

    mass_at_minus_infinity = mass_at_infinity

    def atoms(self, fn):
        """(1-delta) e^eps/(1+e^eps) at eps, (1-delta)/(1+e^eps) at -eps."""
        if self.arguments["delta"] == 1:
            return []
        eps, rest = evaluate(self.arguments["eps"], fn), 1 - self.mass_at_infinity(fn)
        if self.arguments["eps"] == 0:
            return [Atom(fn.rational(0, 1), rest, rest)]
        small = fn.exp(-eps)
        large, small = rest / (1 + small), rest * small / (1 + small)
        return [Atom(eps, large, small), Atom(-eps, small, large)]

    def lattice(self, fn):
        """eps plus multiples of 2 eps; one point for eps = 0."""
        eps = evaluate(self.arguments["eps"], fn)
        return None if self.arguments["eps"] == 0 else (eps, 2 * eps)

    def mgf(self, fn, z):
        """M(z) = (1-delta) [e^{(z+1) eps} + e^{-z eps}]/(1+e^eps)."""
        return sum((atom.p * fn.exp(z * atom.loss) for atom in self.atoms(fn)), fn.rational(0, 1))
