"""Randomised response: (p, 1-p) against (1-p, p).

Two atoms, at c and -c with c = log(p/(1-p)).
"""

from fractions import Fraction

from ..core.expression import Expression
from ..core.pair import Atom, Pair
from ..core.parameters import Parameter, checked, evaluate, positive


class RandomizedResponse(Pair):
    """Tells the truth with probability `p`, 1/2 < p < 1; pure DP with eps = log(p/(1-p)).

    `RandomizedResponse.from_eps(eps)` takes eps instead, exactly. p may be a symbol's name.

    Source: Warner (1965); k-fold: Kairouz, Oh, Viswanath (2015), Theorem 3.3.

    >>> RandomizedResponse(0.75)
    RandomizedResponse(p=0.75)

    Raises ParameterError for p outside (1/2, 1).
    """

    symmetric = True

    def __init__(self, p):
        self._set(
            p=checked(
                p, "p", "in (1/2, 1)", lambda v: 0.5 < v < 1, "It is the probability of the true answer, not of a flip."
            )
        )

    @classmethod
    def from_eps(cls, eps) -> "RandomizedResponse":
        """The randomised response that is exactly (eps, 0)-DP, eps > 0 in nats.

        Raises ParameterError for eps <= 0.
        """
        made = cls.__new__(cls)
        made._set(eps=positive(eps, "eps"))
        return made

    @classmethod
    def from_arguments(cls, **arguments):
        """Rebuild from "p" or from "eps"."""
        return cls.from_eps(**arguments) if "eps" in arguments else cls(**arguments)

    @property
    def p(self) -> Parameter:
        """The probability of the true answer, exactly."""
        if "p" in self.arguments:
            return self.arguments["p"]
        eps = self.arguments["eps"]
        tree = eps.tree if isinstance(eps, Expression) else ("num", eps)
        return Expression(("/", ("num", 1), ("+", ("num", 1), ("exp", ("neg", tree)))))

    def reduced(self):
        """Itself."""
        return self

    def masses(self, fn):
        """p and 1 - p."""
        if "p" in self.arguments:
            p = evaluate(self.arguments["p"], fn)
            return p, 1 - p
        small = fn.exp(-evaluate(self.arguments["eps"], fn))
        return 1 / (1 + small), small / (1 + small)

    def c(self, fn):
        """The loss log(p/(1-p))."""
        if "eps" in self.arguments:
            return evaluate(self.arguments["eps"], fn)
        p = self.arguments["p"]
        if isinstance(p, Fraction):  # log(p/(1-p)) without cancellation near p = 1/2
            return fn.log1p(evaluate((2 * p - 1) / (1 - p), fn))
        p, other = self.masses(fn)
        return fn.log(p / other)

    def atoms(self, fn):
        """p at c, 1 - p at -c."""
        p, other = self.masses(fn)
        c = self.c(fn)
        return [Atom(c, p, other), Atom(-c, other, p)]

    def lattice(self, fn):
        """c plus multiples of 2c."""
        c = self.c(fn)
        return c, 2 * c

    def mgf(self, fn, z):
        """M(z) = p e^{cz} + (1-p) e^{-cz}."""
        p, other = self.masses(fn)
        c = self.c(fn)
        return p * fn.exp(c * z) + other * fn.exp(-c * z)
