"""A pair given by two densities on the line, perhaps with atoms: everything else is derived from them once.

On each smooth cell the loss s(t) = log p(t) - log q(t) is split where it turns; every monotone piece has its inverse,
and the masses of {s > x} are those of the outcomes on one side of t(x). A cell where the loss is constant is an atom of
the loss, a cell where one density vanishes is mass at infinity.
"""

from collections.abc import Mapping
from functools import cached_property

from ...core.errors import ParameterError
from ...core.expression import Expression
from ...core.pair import Atom, Coordinate, Pair, Tails
from ...core.parameters import Parameter
from . import tails
from .written import EVERYWHERE, Written, ends_of


class DensityPair(Written, Pair):
    """Outcomes on the line: P with density `p` against Q with density `q`, in the variable `variable`.

    Made by `Pair.from_densities` (sympy) or `Pair.from_text`; `p`, `q` may also be text in the grammar of densities.
    `support`: its two ends, the whole line if left out. DiracDelta(t - a) is an atom at a. Parameters are positive.

    `p_density`, `q_density` (sympy), `variable` and `pieces` (monotone pieces of the loss with their inverses) say
    what was found; `stages` says where no closed form was.

    >>> from dplab import Pair
    >>> pair = Pair.from_text("exp(-abs(t - 1))/2", "exp(-abs(t))/2", variable="t")
    >>> [str(piece.inverse) for piece in pair.pieces]
    ['x/2 + 1/2']

    Raises ParameterError for densities that are none, saying what was found and where.
    """

    def __init__(self, p, q, variable="t", support=EVERYWHERE):
        from .formulas import canonical, variable_name

        name = variable_name(variable)
        lower, upper = ends_of(support)
        self._set(
            p=canonical(p, "P", name), q=canonical(q, "Q", name), variable=name, support=(lower, upper)
        )  # fmt: skip
        _ = self.analysis

    @cached_property
    def analysis(self):
        """Everything that was found; see `analysis.Analysis`."""
        from .analysis import analysed, attempted

        return attempted(
            analysed, self.arguments["p"], self.arguments["q"], self.arguments["variable"], *self.arguments["support"]
        )

    @property
    def pieces(self) -> tuple:
        """The monotone pieces of the loss, from left to right; see `analysis.Piece`."""
        return self.analysis.pieces

    # --- the law of the loss ----------------------------------------------------------------------

    def mass_at_infinity(self, fn):
        """P where q vanishes."""
        return tails.value(fn, self.analysis.infinite)

    def mass_at_minus_infinity(self, fn):
        """Q where p vanishes."""
        return tails.value(fn, self.analysis.missing)

    def atoms(self, fn):
        """Cells with a constant loss, and outcomes to which both give positive probability."""
        return [Atom(*(tails.value(fn, part) for part in (a.loss, a.p, a.q))) for a in self.analysis.atoms]

    def support(self, fn):
        """From the smallest to the largest loss of all monotone pieces."""
        ends = self.analysis.range
        if ends is None:
            return None
        found = tuple(tails.value(fn, end) for end in ends)
        if not fn.keeps_remainders:
            return found
        sure = [tails.certified(fn, piece) for piece in self.pieces if piece.inverse is None]
        return fn.spanned(*found, [end for one in sure for end in (one.low, one.high)])

    def remainder(self, fn):
        """Outcomes far out whose loss is not certain; where all losses are bounded, weighed with the bound as well."""
        if not fn.keeps_remainders:
            return None
        found = [rest for rest in (tails.uncertain(fn, piece) for piece in self.pieces) if rest is not None]
        if not found:
            return None
        p, q = (sum(side[1:], side[0]) for side in zip(*found, strict=True))
        low, high = self.support(fn)
        most_p = p if fn.is_infinite(low) else p + fn.exp(low) * q
        most_q = q if fn.is_infinite(high) else q + fn.exp(-high) * p
        return Tails(most_p, most_q)

    def knots(self, fn):
        """Losses at which one of several pieces begins or ends."""
        return [tails.value(fn, knot) for knot in self.analysis.knots]

    def density(self, fn, x):
        """The sum of p(t)/|s'(t)| over the outcomes t with loss x."""
        total = fn.rational(0, 1)
        zero = fn.rational(0, 1)
        for piece in self.pieces:
            programs = piece.panel.programs

            def inside(at, piece=piece, programs=programs):
                t = tails.outcome(fn, piece, at)
                slope = programs["slope"](fn, t)
                return programs["p"](fn, t) / (slope if piece.increasing else -slope)

            ends = tails.value(fn, piece.low), tails.value(fn, piece.high)
            total = total + fn.between(x, *ends, zero, inside, zero)
        return total

    def above(self, fn, x):
        """The masses of {s > x}, piece by piece."""
        return self._summed(fn, [tails.masses_above(fn, piece, x) for piece in self.pieces])

    def below(self, fn, x):
        """The masses of {s <= x}, piece by piece."""
        return self._summed(fn, [tails.masses_below(fn, piece, x) for piece in self.pieces])

    def _summed(self, fn, parts: list[Tails]) -> Tails:
        total = parts[0]
        for part in parts[1:]:
            total = Tails(total.p + part.p, total.q + part.q)
        return total

    # --- outcomes ---------------------------------------------------------------------------------

    def loss(self, fn, t):
        """s at the outcome t, inside a cell where both densities are positive."""
        for panel in self.analysis.panels:
            if tails.value(fn, panel.cell.lower) < t < tails.value(fn, panel.cell.upper):
                return panel.programs["loss"](fn, t)
        raise ParameterError("t", str(t), "an outcome where both densities are positive and the loss is not constant")

    def outcome(self, fn, s):
        """The outcome with loss s, where there is only one."""
        if len(self.pieces) != 1:
            raise NotImplementedError(f"the loss has {len(self.pieces)} monotone pieces: see `pieces`")
        return tails.outcome(fn, self.pieces[0], s)

    # --- coordinates ------------------------------------------------------------------------------

    def panels(self):
        """One pair for each cell on which the loss runs smoothly."""
        from .parts import Part  # brings mpmath, which no other mechanism needs

        return [Part(self, index) for index in range(len(self.analysis.panels))]

    def coordinate(self, fn) -> Coordinate | None:
        """That of the only panel; several have one each (see `panels`)."""
        parts = self.panels()
        if len(parts) > 1:
            raise NotImplementedError("this pair has several panels, each with a coordinate of its own: see panels()")
        return parts[0].coordinate(fn) if parts else None

    def coordinate_loss(self, fn, u):
        """The loss at u, on the only panel."""
        return self.panels()[0].coordinate_loss(fn, u)

    def coordinate_densities(self, fn, u):
        """Densities along u, on the only panel."""
        return self.panels()[0].coordinate_densities(fn, u)

    # --- identity ---------------------------------------------------------------------------------

    def _bound(self, values: Mapping[str, Parameter]) -> "DensityPair":
        def substituted(tree):
            return tree.substitute(dict(values)) if isinstance(tree, Expression) else tree

        arguments = {name: substituted(self.arguments[name]) for name in ("p", "q")}
        ends = tuple(substituted(end) for end in self.arguments["support"])
        return DensityPair(**arguments, variable=self.arguments["variable"], support=ends)
