"""The discrete Laplace (two-sided geometric) mechanism: P{t} ~ a^{|t-d|}, Q{t} ~ a^{|t|}, t whole, a = e^{-1/b}.

The loss (|t| - |t-d|)/b runs over the lattice -d/b, (2-d)/b, ..., d/b; its ends collect the tails.
"""

from fractions import Fraction
from typing import ClassVar

from ..core.pair import Atom, Pair
from ..core.parameters import evaluate, nonnegative, whole
from .noise import NoiseOnCounts


class DiscreteLaplace(NoiseOnCounts, Pair):
    """Noise with P{t} = (1-a)/(1+a) a^{|t|}, a = e^{-1/`b`}, on a whole-valued query that moves by at most `shift`.

    b >= 0 is the scale in counts (a symbol's name too), shift >= 0 is whole; (shift/b, 0)-DP. The geometric mechanism
    of privacy eps is b = shift/eps. b = 0 is no noise (all mass at infinity), shift = 0 loses nothing.

    Source: Ghosh, Roughgarden, Sundararajan (2012), section 2.

    >>> DiscreteLaplace(b=5, shift=3)
    DiscreteLaplace(b=5, shift=3)

    Raises ParameterError for b < 0 or a shift that is no whole number from 0 to 1e6.
    """

    defaults: ClassVar = {"shift": Fraction(1)}
    symmetric = True
    noise_name = "b"

    def __init__(self, b, shift=1):
        self._set(
            b=nonnegative(b, "b", "It is the scale of the noise, shift/eps."),
            shift=whole(shift, "shift", cause="The query counts: it moves by whole numbers."),
        )

    def atoms(self, fn):
        """1/(1+a) at d/b, (1-a)/(1+a) a^{d-t} at (2t-d)/b for 0 < t < d, a^d/(1+a) at -d/b; Q's the same backwards."""
        if self.noiseless:
            return []
        d, rate = self.shift, 1 / evaluate(self.arguments["b"], fn)
        share = 1 / (1 + fn.exp(-rate))
        tail, inner = fn.exp(-d * rate) * share, -fn.expm1(-rate) * share

        def between(back):
            """The atom at t = d - back."""
            return Atom((d - 2 * back) * rate, inner * fn.exp(-back * rate), inner * fn.exp((back - d) * rate))

        ends = Atom(d * rate, share, tail), Atom(-d * rate, tail, share)
        return fn.joined(fn.joined([ends[0]], fn.each(range(1, d), between)), [ends[1]])

    def lattice(self, fn):
        """d/b plus multiples of 2/b."""
        rate = 1 / evaluate(self.arguments["b"], fn)
        return (self.shift % 2) * rate, 2 * rate
