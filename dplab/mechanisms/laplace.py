"""The Laplace mechanism: a Laplace density of scale b around Delta against the same around 0.

With e0 = Delta/b the loss is +e0 or -e0 outside (0, Delta), two atoms, and runs linearly between them.
"""

from fractions import Fraction
from typing import ClassVar

from ..core.pair import Atom, Coordinate, Pair, Tails
from ..core.parameters import evaluate, nonnegative
from .noise import AdditiveNoise, at_unit_sensitivity


class Laplace(AdditiveNoise, Pair):
    """Laplace noise of scale `b` >= 0 on a query of `sensitivity` >= 0 (same units); (sensitivity/b, 0)-DP.

    b = 0 is no noise (all mass at infinity), sensitivity = 0 loses nothing. Parameters may be symbols' names.

    Source: Dwork, McSherry, Nissim, Smith (2006); one step: delta = 1 - e^{(eps - e0)/2} for |eps| <= e0.

    >>> Laplace(b=10).to_json()
    {'type': 'Laplace', 'b': '10', 'sensitivity': '1'}

    Raises ParameterError for b < 0 or sensitivity < 0, nan, inf.
    """

    defaults: ClassVar = {"sensitivity": Fraction(1)}
    symmetric = True
    noise_name = "b"

    def __init__(self, b, sensitivity=1):
        self._set(
            b=nonnegative(b, "b", "It is the scale of the noise; the standard deviation is sqrt(2) b."),
            sensitivity=nonnegative(sensitivity, "sensitivity"),
        )

    def reduced(self):
        """The same at sensitivity 1; None for sensitivity 0."""
        return at_unit_sensitivity(self, "b")

    def e0(self, fn):
        """The largest loss, Delta/b."""
        return evaluate(self.arguments["sensitivity"], fn) / evaluate(self.arguments["b"], fn)

    def outcome(self, fn, s):
        """The outcome t in (0, Delta) with loss s."""
        return (evaluate(self.arguments["b"], fn) * s + evaluate(self.arguments["sensitivity"], fn)) / 2

    def loss(self, fn, t):
        """s at an outcome t in (0, Delta); outside, the loss is constant."""
        return (2 * t - evaluate(self.arguments["sensitivity"], fn)) / evaluate(self.arguments["b"], fn)

    def atoms(self, fn):
        """Mass 1/2 at e0 and e^{-e0}/2 at -e0."""
        if self.noiseless:
            return []
        e0, half = self.e0(fn), fn.rational(1, 2)
        small = fn.exp(-e0) / 2
        return [Atom(e0, half, small), Atom(-e0, small, half)]

    def support(self, fn):
        """(-e0, e0)."""
        return None if self.noiseless else (-self.e0(fn), self.e0(fn))

    def density(self, fn, x):
        """omega(x) = e^{(x - e0)/2}/4."""
        return fn.exp((x - self.e0(fn)) / 2) / 4

    def above(self, fn, x):
        """(1 - e^{(x-e0)/2})/2 and e^{-e0}(e^{(e0-x)/2} - 1)/2."""
        e0 = self.e0(fn)
        return Tails(-fn.expm1((x - e0) / 2) / 2, fn.exp(-e0) * fn.expm1((e0 - x) / 2) / 2)

    def below(self, fn, x):
        """e^{-e0}(e^{(x+e0)/2} - 1)/2 and (1 - e^{-(x+e0)/2})/2."""
        e0 = self.e0(fn)
        return Tails(fn.exp(-e0) * fn.expm1((x + e0) / 2) / 2, -fn.expm1(-(x + e0) / 2) / 2)

    def above_scaled(self, fn, x):
        """(1 - e^{(x-e0)/2})/2 and (e^{(x-e0)/2} - e^{x-e0})/2."""
        half = (x - self.e0(fn)) / 2
        p = -fn.expm1(half) / 2
        return Tails(p, fn.exp(half) * p)

    def below_scaled(self, fn, x):
        """(e^{-(x+e0)/2} - e^{-(x+e0)})/2 and (1 - e^{-(x+e0)/2})/2."""
        half = -(x + self.e0(fn)) / 2
        q = -fn.expm1(half) / 2
        return Tails(fn.exp(half) * q, q)

    def excess_above(self, fn, x):
        """(1 - e^{(x-e0)/2})^2/2."""
        gap = fn.expm1((x - self.e0(fn)) / 2)
        return gap * gap / 2

    def excess_below(self, fn, x):
        """(1 - e^{-(x+e0)/2})^2/2."""
        return self.excess_above(fn, -x)

    def mgf(self, fn, z):
        """M(z) = [(z+1) e^{z e0} + z e^{-(z+1) e0}]/(2z+1); at z = -1/2 its limit e^{-e0/2} (1 + e0/2)."""
        if self.noiseless:
            return fn.rational(0, 1)
        e0 = self.e0(fn)
        if 2 * z + 1 == 0:
            return fn.exp(-e0 / 2) * (1 + e0 / 2)
        return ((z + 1) * fn.exp(z * e0) + z * fn.exp(-(z + 1) * e0)) / (2 * z + 1)

    def coordinate(self, fn):
        """The loss itself."""
        if self.noiseless:
            return None
        e0 = self.e0(fn)
        return Coordinate(-e0, e0, fn.rational(0, 1), e0)
