"""Poisson subsampling of pairs given by two densities: the map on PLDs, applied to whatever is known of the base.

What has a closed form for the mechanism itself has one here: omega, delta and the trade-off function by substitution.
M(z) stays the mean of a power of a sum.
"""

from functools import cached_property

import mpmath
import sympy

from ...core.pair import Atom
from ...mechanisms import PoissonSubsampled
from ...mechanisms.own import DensityPair
from ..derivation import Comparison, Line, Step
from ..outputs import Line as Densities
from ..outputs import Piece as Interval
from ..outputs import Row
from ..scene import Scene
from ..worker import StageStopped
from . import bounds, common, evaluated
from .mapping import STOPPED, U, map_step, mapped_open, moved_density, profile_steps, turned, unsampled
from .own import composition_step, mirror_step, moments, pld_step
from .own_curve import Tails
from .own_law import Own, density_of, own_outputs
from .setting import S, Setting, Z

ZERO = sympy.S.Zero
E = sympy.exp


def sampled_own_outputs(pair: PoissonSubsampled, fn) -> Densities:
    """q P + (1-q) Q and Q."""
    assert isinstance(pair.mechanism, DensityPair)
    base, q = own_outputs(pair.mechanism, fn), pair.q(fn)
    pieces = tuple(Interval(cell.lower, cell.upper, q * cell.p + (1 - q) * cell.q, cell.q) for cell in base.pieces)
    points = tuple(Row(row.name, q * row.p + (1 - q) * row.q, row.q) for row in base.points)
    p, rest = base.whole
    return Densities(base.t, pieces, (q * p + (1 - q) * rest, rest), base.typical, points)


class Sampled(Own):
    """The mixture over Q (or the other way round), in terms of the loss u of the mechanism itself, `base`."""

    law_reason = "The map on PLDs: `omega_0(u) (q + (1-q) e^{-u}) u'(s)`, with `omega_0` the mechanism's own"
    law_open = StageStopped("PLD", "its density needs the mechanism's own, which has no closed form")

    def __init__(self, setting: Setting):
        assert isinstance(setting.pair, PoissonSubsampled)
        self.q = setting.pair.q(setting.fn)
        self.base = Own(Setting(setting.pair.mechanism, False, setting.outputs, setting.fn, setting.budget))
        self.setting, self.back = setting, setting.backward
        self.found, self.t = self.base.found, self.base.t
        moved = [Atom(self.phi(a.loss), self.mixed(a.p, a.q), a.q) for a in self.base.atoms]
        if self.base.missing != 0:
            moved.append(Atom(sympy.log(1 - self.q), (1 - self.q) * self.base.missing, self.base.missing))
        self.atoms = [Atom(-a.loss, a.q, a.p) for a in moved[::-1]] if self.back else moved
        self.infinite, self.missing = self.q * self.base.infinite, ZERO
        if self.back:
            self.infinite, self.missing = self.missing, self.infinite

    def mixed(self, p, q) -> sympy.Expr:
        """q p + (1-q) q."""
        return self.q * p + (1 - self.q) * q

    def phi(self, u) -> sympy.Expr:
        """The mixture's loss where the mechanism's is u."""
        u = sympy.sympify(u)
        if u.is_infinite:
            return u if u > 0 else sympy.log(1 - self.q)
        return sympy.log(1 - self.q + self.q * E(u))

    def sides(self, panel) -> tuple[sympy.Expr, sympy.Expr]:
        """First and second density on a panel."""
        p, q = self.base.sides(panel)
        return (q, self.mixed(p, q)) if self.back else (self.mixed(p, q), q)

    def loss(self, panel) -> sympy.Expr:
        """s(t) on a panel."""
        return -self.phi(panel.loss) if self.back else self.phi(panel.loss)

    def range(self, piece) -> tuple:
        """The smallest and the largest loss on a piece."""
        low, high = map(self.phi, self.base.range(piece))
        return (-high, -low) if self.back else (low, high)

    @cached_property
    def density(self) -> tuple[sympy.Expr, tuple] | None:
        """omega in terms of u, and its letters; None where that of the mechanism itself is not closed."""
        found = density_of(self.base, U)
        return None if found is None else self._moved(*found)

    def open_density(self) -> tuple[sympy.Expr, tuple]:
        """omega in terms of the mechanism's own, which has no formula."""
        return self._moved(sympy.Function("omega_0")(U), ())

    def _moved(self, own, letters: tuple) -> tuple[sympy.Expr, tuple]:
        inverse = unsampled(self.q, turned(self.setting, E(S)))
        return moved_density(self.q, own, self.back), (*letters, (U, inverse))


def sampled_own_story(setting: Setting) -> list[Step]:
    """All steps for the mixture and Q."""
    own = Sampled(setting)
    mgf = _mgf_step(own)
    steps = [_output_step(own)]
    if own.found.panels:
        steps.append(_loss_step(own))
    steps += [map_step(setting, own.q), pld_step(own), mirror_step(own), mgf]
    closed = mgf.stopped is None
    steps += moments(own, mgf.lines[0].right, closed)
    steps += [
        *_profile(own),
        composition_step(setting, own.infinite, mgf.lines[0].right if closed else None),
        bounds.chernoff_step(setting, infinite=own.infinite),
    ]
    return [*steps, bounds.total_error_step(setting), bounds.periodisation_step(setting)]


def _output_step(own: Sampled) -> Step:
    p, q = (sympy.Function(name)(own.t) for name in ("P_0", "Q_0"))
    lines = [
        Line(f"P({own.t})", own.mixed(p, q)),
        Line(f"Q({own.t})", q),
        Line(str(p), own.found.p),
        Line(str(q), own.found.q),
    ]
    reason = "A record takes part with probability `q`: with it the output is the mixture, without it never"
    return common.output_step(own.setting, lines, reason)


def _loss_step(own: Sampled) -> Step:
    sign = "-" if own.back else ""
    lines = [Line(f"s({own.t})", sympy.Function(f"{sign}phi")(U))]
    lines += [
        Line(f"u({own.t})", panel.loss, common.interval(own.t, panel.cell.lower, panel.cell.upper))
        for panel in own.found.panels
    ]

    def check(scene: Scene):
        for panel in own.found.panels:
            t = scene.inside(panel.cell.lower, panel.cell.upper)
            first, second = (scene.number(side, **{own.t.name: t}) for side in own.sides(panel))
            found = scene.number(own.loss(panel), **{own.t.name: t})
            yield Comparison(f"s({mpmath.nstr(t, 5)})", found, mpmath.log(first / second))

    reason = (
        f"`s = log({own.setting.first}/{own.setting.second})`; the mixture over Q is `1 - q + q e^u`, with `u` the "
        "loss of the mechanism itself and `phi(u)` its logarithm"
    )
    return Step("Privacy loss", tuple(lines), reason, check, "the densities themselves")


def _mgf_step(own: Sampled) -> Step:
    mgf = own.expectation(lambda s: E(Z * s))
    stopped = STOPPED if own.found.panels else None
    return common.mgf_step(own.setting, [Line("M(z)", mgf)], "The definition: the mean of `e^{z s}`", stopped=stopped)


def _profile(own: Sampled) -> list[Step]:
    tails = Tails.of(own.base, U)
    if tails is not None:
        return profile_steps(own.setting, own.q, tails.masses(), tails.letters(), tails.curve())
    return evaluated.profile_steps(own.setting, mapped_open(own.setting, own.q))
