"""Poisson subsampling: each record takes part with probability q, independently.

remove (forward): q P + (1-q) Q against Q.   add (backward): Q against q P + (1-q) Q.

If s is the loss of (P, Q), the mixture's loss is phi(s) = log(1 - q + q e^s), the function table's `log_mix(s, q)`;
its inverse is g(x) = log(1 + (e^x - 1)/q) = log_mix(x, 1/q). Outcomes that P cannot produce become finite losses.
"""

from fractions import Fraction

from ..core.errors import ParameterTypeError
from ..core.pair import Atom, Pair, Tails
from ..core.parameters import evaluate, probability
from .product import Product


class PoissonSubsampled(Pair):
    """A `mechanism` run on a Poisson sample of rate `q` in [0, 1], add/remove neighbours.

    q = 0 loses nothing and q = 1 is the mechanism itself. The two directions differ.

    Source: Koskela et al. (2021), section 6; Zhu, Dong, Wang (2022), Theorem 11 (the pair dominates).

    >>> from dplab import Gaussian
    >>> 100 * PoissonSubsampled(Gaussian(sigma=4), q=0.01)
    100 * PoissonSubsampled(Gaussian(sigma=4), q=0.01)

    Raises ParameterError for q outside [0, 1] or a product that has a density, ParameterTypeError if `mechanism` is
    not one.
    """

    def __init__(self, mechanism, q):
        if not isinstance(mechanism, Pair):
            raise ParameterTypeError("mechanism", mechanism, "a mechanism such as Gaussian(sigma=4)")
        simplest = mechanism.reduced()
        if isinstance(simplest, Product):
            simplest.require_atoms()
        self._set(
            mechanism=mechanism,
            q=probability(q, "q", "It is batch size over data set size."),
        )

    @property
    def mechanism(self) -> Pair:
        """The mechanism that runs on the sample."""
        return self.arguments["mechanism"]

    def reduced(self):
        """The mechanism itself for q = 1, None for q = 0; nested sampling is sampling at the product rate."""
        base, q = self.mechanism.reduced(), self.arguments["q"]
        if base is None or q == 0:
            return None
        if q == 1:
            return base
        if isinstance(base, PoissonSubsampled):
            inner = base.arguments["q"]
            if isinstance(inner, Fraction) and isinstance(q, Fraction):
                return PoissonSubsampled(base.mechanism, inner * q)
        return self if base == self.mechanism else PoissonSubsampled(base, q)

    def q(self, fn):
        """The sampling rate."""
        return evaluate(self.arguments["q"], fn)

    def _mixed(self, fn, masses: Tails) -> Tails:
        q = self.q(fn)
        return Tails(q * masses.p + (1 - q) * masses.q, masses.q)

    def loss(self, fn, t):
        """s at the outcome t."""
        return fn.log_mix(self.mechanism.loss(fn, t), self.q(fn))

    def outcome(self, fn, s):
        """The outcome t with loss s."""
        return self.mechanism.outcome(fn, self._base_loss(fn, s))

    def _base_loss(self, fn, x):
        """g(x)."""
        return fn.log_mix(x, 1 / self.q(fn))

    def mass_at_infinity(self, fn):
        """q times the mechanism's."""
        return self.q(fn) * self.mechanism.mass_at_infinity(fn)

    def atoms(self, fn):
        """The mechanism's atoms moved by phi, and one at log(1-q) for the outcomes that P lacks."""
        q = self.q(fn)
        moved = fn.each(
            self.mechanism.atoms(fn),
            lambda atom: Atom(fn.log_mix(atom.loss, q), *self._mixed(fn, Tails(atom.p, atom.q))),
        )
        lacking = self.mechanism.mass_at_minus_infinity(fn)
        if fn.is_zero(lacking):
            return moved
        return fn.joined(moved, [Atom(fn.log1p(-q), (1 - q) * lacking, lacking)])

    def remainder(self, fn):
        """The mechanism's, mixed."""
        rest = self.mechanism.remainder(fn)
        return None if rest is None else self._mixed(fn, rest)

    @property
    def endless(self) -> bool:  # type: ignore[override]
        """True if the mechanism's loss is."""
        return self.mechanism.endless

    def loss_ends(self, fn):
        """phi of the mechanism's; small losses accumulate at log(1-q)."""
        ends = self.mechanism.loss_ends(fn)
        if ends is None:
            return None
        return self._moved_ends(fn, ends)

    def atoms_above(self, fn, x):
        """The mechanism's at g(x), mixed; above log(1-q) the outcomes that P lacks are not among them."""
        return self._atoms_beyond(fn, x, self.mechanism.atoms_above)

    def atoms_below(self, fn, x):
        """The mechanism's at g(x), mixed, and the outcomes that P lacks."""
        tails = self._atoms_beyond(fn, x, self.mechanism.atoms_below)
        if tails is None:
            return None
        lacking = self.mechanism.mass_at_minus_infinity(fn)
        return Tails(tails.p + (1 - self.q(fn)) * lacking, tails.q + lacking)

    def _atoms_beyond(self, fn, x, tails):
        base = tails(fn, self._base_loss(fn, x))
        return None if base is None else self._mixed(fn, base)

    def support(self, fn):
        """phi of the mechanism's support; it starts at log(1-q) where that has no lower end."""
        ends = self.mechanism.support(fn)
        if ends is None:
            return None
        return self._moved_ends(fn, ends)

    def _moved_ends(self, fn, ends: tuple) -> tuple:
        q = self.q(fn)
        lower = fn.log1p(-q) if fn.is_infinite(ends[0]) else fn.log_mix(ends[0], q)
        return lower, ends[1] if fn.is_infinite(ends[1]) else fn.log_mix(ends[1], q)

    def density(self, fn, x):
        """omega(g(x)) e^{2(x - g(x))}/q: the mixture's density times g'(x) = e^{x-g(x)}/q."""
        g = self._base_loss(fn, x)
        stretch = fn.exp(x - g)
        return self.mechanism.density(fn, g) * stretch * stretch / self.q(fn)

    def above(self, fn, x):
        """The mechanism's tails at g(x), mixed."""
        return self._mixed(fn, self.mechanism.above(fn, self._base_loss(fn, x)))

    def below(self, fn, x):
        """The mechanism's tails at g(x), mixed."""
        return self._mixed(fn, self.mechanism.below(fn, self._base_loss(fn, x)))

    def above_scaled(self, fn, x):
        """The mechanism's tails at g, mixed: with e^x Q where that cannot overflow, else with e^{x-g} (e^g Q)."""

        def left(x):
            p, q = self.above(fn, x)
            return Tails(p, fn.exp(x) * q)

        def right(x):
            g = self._base_loss(fn, x)
            p, scaled = self.mechanism.above_scaled(fn, g)
            q = self.q(fn)
            return Tails(q * p + (1 - q) * fn.exp(-g) * scaled, fn.exp(x - g) * scaled)

        return fn.split(x, 1, left, right)

    def excess_above(self, fn, x):
        """q times the mechanism's at g, since q P + (1-q) Q - e^x Q = q (P - e^g Q)."""
        return self.q(fn) * self.mechanism.excess_above(fn, self._base_loss(fn, x))

    def excess_below(self, fn, x):
        """q e^{g-x} times the mechanism's at g, since Q - e^{-x} (q P + (1-q) Q) = q e^{g-x} (Q - e^{-g} P)."""
        g = self._base_loss(fn, x)
        return self.q(fn) * fn.exp(g - x) * self.mechanism.excess_below(fn, g)

    def panels(self):
        """The mechanism's, each sampled."""
        panels = self.mechanism.panels()
        return [self] if len(panels) == 1 else [PoissonSubsampled(panel, self.arguments["q"]) for panel in panels]

    def knots(self, fn):
        """phi of the mechanism's."""
        return [fn.log_mix(knot, self.q(fn)) for knot in self.mechanism.knots(fn)]

    def definition(self, fn, x, backward):
        """The mechanism's at another loss; None if it has none."""
        base = self.mechanism
        if base.definition(fn, x, backward) is None:
            return None
        from .own.definition import sampled_hockey_stick  # brings sympy, which no numeric route needs

        return sampled_hockey_stick(lambda g: base.definition(fn, g, backward), self.q(fn), x, backward)

    def coordinate(self, fn):
        """The mechanism's."""
        return self.mechanism.coordinate(fn)

    def coordinate_loss(self, fn, u):
        """phi of the mechanism's loss."""
        return fn.log_mix(self.mechanism.coordinate_loss(fn, u), self.q(fn))

    def coordinate_densities(self, fn, u):
        """The mechanism's densities, mixed."""
        return self._mixed(fn, self.mechanism.coordinate_densities(fn, u))
