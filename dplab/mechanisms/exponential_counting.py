"""The exponential mechanism on a counting query: of n records m say 0, and a removed record said 0.

X gives the answers 0 and 1 the weights e^{eps m} and e^{eps (n-m)}, Y the weights e^{eps (m-1)} and e^{eps (n-m)}.
With pi0 = 1/(1 + e^{eps (n-2m)}) the losses are eps + beta and beta, beta = log(1 + pi0 (e^{-eps} - 1)).
"""

from ..core.pair import Atom, Pair
from ..core.parameters import evaluate, nonnegative, whole


class ExponentialCounting(Pair):
    """Chooses the more frequent of two values, each with weight e^{eps * its count}; forward is X (with the record,
    m of n) over Y (without it).

    `eps` >= 0 in nats (a symbol's name too); 1 <= `m` <= `n` whole. The weights are e^{eps u} for a count u of
    sensitivity 1, not e^{eps u/2}: since only one count changes, each release is (eps, 0)-DP.

    Source: McSherry and Talwar (2007); the pair of Koskela et al. (2021), section 5.

    >>> ExponentialCounting(eps="0.1", m=50, n=100)
    ExponentialCounting(eps=0.1, m=50, n=100)

    Raises ParameterError for eps < 0, or m and n that are no such whole numbers.
    """

    def __init__(self, eps, m, n):
        size = whole(n, "n", 1, 10**12, "It is the number of records.")
        self._set(
            eps=nonnegative(eps, "eps"),
            m=whole(m, "m", 1, int(size), "It counts those of the n records that say 0, the removed one among them."),
            n=size,
        )

    def reduced(self):
        """None for eps = 0."""
        return None if self.arguments["eps"] == 0 else self

    def masses(self, fn):
        """pi0 and 1 - pi0, the smaller one without cancellation."""
        ahead = int(self.arguments["n"] - 2 * self.arguments["m"])
        small = fn.exp(-abs(ahead) * evaluate(self.arguments["eps"], fn))
        larger, smaller = 1 / (1 + small), small / (1 + small)
        return (smaller, larger) if ahead > 0 else (larger, smaller)

    def atoms(self, fn):
        """pi0 at eps + beta = log(1 + (1-pi0)(e^eps - 1)), 1 - pi0 at beta; Q's masses are e^{-loss} times these."""
        eps = evaluate(self.arguments["eps"], fn)
        pi0, pi1 = self.masses(fn)
        high, low = fn.log_mix(eps, pi1), fn.log_mix(-eps, pi0)
        q0 = pi0 * fn.exp(-eps)
        rest = pi1 + q0
        return [Atom(high, pi0, q0 / rest), Atom(low, pi1, pi1 / rest)]

    def lattice(self, fn):
        """beta plus multiples of eps."""
        eps = evaluate(self.arguments["eps"], fn)
        return fn.log_mix(-eps, self.masses(fn)[0]), eps
