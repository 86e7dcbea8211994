"""k steps of one loss on a finite interval with an atom at each end (the subsampled Laplace mechanism, say).

The atoms never decay on a vertical line, so the plain contour stops early. But with the density omega continued
upwards from both ends s_1 > s_2 of its support, for Im z > 0,

    M(z) = e^{z s_1} B_1(z) + e^{z s_2} B_2(z),
    B_1 = a_1 - i int_0^inf e^{iz tau} omega(s_1 + i tau) dtau,
    B_2 = a_2 + i int_0^inf e^{iz tau} omega(s_2 + i tau) dtau,

and term i of the binomial expansion of M^k grows like e^{b_i z}, b_i = (k-i) s_1 + i s_2 - eps. From z_1 above the
saddle the terms with b_i > 0 are integrated to the upper left and the others to the upper right, where they die;
below z_1 the integral runs up the saddle's line. All integrals are double-exponential sums. Two runs that differ in
every choice are compared.
"""

import math
from bisect import bisect_left, bisect_right
from typing import Any, NamedTuple

import mpmath

from ..core.parameters import evaluate
from ..core.pld import PLD
from .arithmetic import FN
from .bulk import BULK
from .found import GUARD, Found, guarded, reached
from .law import Law
from .line import Transform
from .rules import Rule
from .saddle import Landscape, Saddle, moved
from .truncated import truncated_power

SPARE = 5


def two_ended(law: Law) -> bool:
    """Whether the route applies: one part, its density on a finite interval, its atoms at both ends."""
    if len(law.parts) != 1:
        return False
    pld = law.parts[0][0]
    with mpmath.workdps(30):
        atoms = sorted(atom.loss for atom in pld.atoms(FN))
        ends = pld.support(FN)
        if ends is None or any(mpmath.isinf(e) for e in ends) or len(atoms) != 2:
            return False
        if len(pld.panels()) > 1 or pld.knots(FN):
            return False
        return all(abs(a - e) < mpmath.mpf(10) ** -25 for a, e in zip(atoms, ends, strict=True))


class _Node(NamedTuple):
    z: Any
    weight: Any


class TwoEnded:
    """delta(eps) for one law and number of digits."""

    def __init__(self, law: Law, digits: int, landscape: Landscape):
        self.law, self.digits, self.landscape = law, digits, landscape
        ((self.pld, self.k),) = law.parts

    def find(self, eps) -> Found:
        """delta(eps) for eps inside the range of the loss."""
        saddle = self.landscape.saddle(float(evaluate(eps, FN)))
        finer = 1.0
        for _ in range(4):
            lost = max(0.0, saddle.log_peak - saddle.log_delta, -saddle.log_delta) / math.log(10)
            places = self.digits + GUARD + math.ceil(lost) + len(str(self.k))
            with BULK.at(places):
                x = evaluate(eps, FN)
                one = _Run(self.pld, self.k, x, saddle.c, saddle, finer, 0).integral()
                two = _Run(self.pld, self.k, x, moved(saddle), saddle, finer, 1).integral()
                constant, constant_slope = self.law.left_of(saddle.c, x)
                value = constant + one[0]
                error = abs(one[0] - two[0]) + guarded(value, self.digits)
                found = Found(value, error, constant_slope + one[1], "contour integral, term by term")
            if reached(found, self.digits):
                break
            finer *= 0.75
        return found


class _Run:
    """One evaluation of the three integrals."""

    def __init__(self, pld: PLD, k: int, eps, c: float, saddle: Saddle, finer: float, which: int):
        self.pld, self.k, self.eps, self.c = pld, k, eps, mpmath.mpf(c)
        digits = mpmath.mp.dps
        base = finer * (0.93 if which else 1.0) * 3.8 / (digits * math.log(10)) * min(1.0, 30 / digits) ** 0.6
        self.step = mpmath.mpf(base)
        enough = digits * math.log(10) / (2 * math.pi)  # e^{iz tau} is gone before omega comes round to tau = 2 pi
        self.height = mpmath.mpf(max(enough, 5 * saddle.width) * (1.1 if which else 1.0))
        self.segment_step = self.step * min(1.0, 5 * saddle.width / float(self.height)) ** 0.6
        self.tilt = mpmath.mpf(0.13 if which else 0.12)
        self.reach = mpmath.asinh(2 * mpmath.mp.dps * mpmath.log(10) / mpmath.pi) + mpmath.mpf(1) / 2
        ends = pld.support(FN)
        assert ends is not None
        self.low, self.high = ends
        atoms = sorted(pld.atoms(FN))
        self.atom_low, self.atom_high = atoms[0].p, atoms[1].p
        last = (k * self.high - eps) / (self.high - self.low)
        self.last = min(k, max(-1, int(mpmath.ceil(last)) - 1))
        self.taus = self._tau_rule()
        self.tau_floats = [float(tau) for tau, _, _ in self.taus]

    def integral(self) -> tuple[Any, Any]:
        """(1/pi) Im of the integral of M^k e^{-z eps}/(z(z+1)) over the upper half, and its derivative in eps."""
        top = mpmath.mpc(self.c, self.height)
        pieces = [
            (self._segment(top), self._whole),
            (self._ray(top, 1 - self.tilt), self._left),
            (self._ray(top, self.tilt), self._right),
        ]
        total = slope = mpmath.mpf(0)
        for nodes, transform in pieces:
            for z, weight in nodes:
                term = weight * transform(z) / (z * (z + 1))
                total += term.imag
                slope -= (z * term).imag
        return total / mpmath.pi, slope / mpmath.pi

    def _whole(self, z):
        """M^k e^{-z eps} by quadrature along the real coordinate."""
        return self._rule().at(z) ** self.k * mpmath.exp(-z * self.eps)

    def _rule(self) -> Transform:
        if not hasattr(self, "_transform"):
            rule = Rule(self.pld, mpmath.mp.dps, (-5.5, 5.5))
            self._transform = Transform(self.pld, rule)
            for z in (mpmath.mpf(self.c), mpmath.mpc(self.c, self.height)):
                for _ in range(6):
                    if self._transform.rule_error(z, self.c) * self.k < mpmath.mpf(10) ** (GUARD - mpmath.mp.dps):
                        break
                    self._transform.refine()
        return self._transform

    def _left(self, z):
        """The terms with b_i > 0."""
        return self._terms(z, 0, self.last)

    def _right(self, z):
        """The terms with b_i <= 0."""
        return self._terms(z, self.last + 1, self.k)

    def _terms(self, z, first: int, last: int):
        """sum over i from first to last of C(k,i) B_1^{k-i} B_2^i e^{b_i z}."""
        if first > last:
            return mpmath.mpf(0)
        one, two = self._ends(z)
        ratio = two / one * mpmath.exp(z * (self.low - self.high))
        peak, total = truncated_power(self.k, ratio, first, last)
        return math.comb(self.k, peak) * one ** (self.k - peak) * two**peak * mpmath.exp(z * self._growth(peak)) * total

    def _growth(self, i: int):
        """b_i, exactly 0 where it vanishes to the working precision."""
        value = (self.k - i) * self.high + i * self.low - self.eps
        size = self.k * max(abs(self.high), abs(self.low)) + abs(self.eps)
        return value if abs(value) > size * mpmath.mpf(10) ** (8 - mpmath.mp.dps) else mpmath.mpf(0)

    def _ends(self, z) -> tuple[Any, Any]:
        """B_1(z) and B_2(z)."""
        turn = BULK.make(mpmath.mpc(0, 1) * z)
        high = low = BULK.complex(0)
        size, rise, digits = float(abs(z)), float(z.imag), mpmath.mp.dps
        first = bisect_left(self.tau_floats, 10.0 ** -min(digits + 3, 300) / size)
        last = bisect_right(self.tau_floats, (digits + 3) * math.log(10) / rise)
        for tau, at_high, at_low in self.taus[first:last]:
            decay = BULK.exp(turn * tau)
            high += decay * at_high
            low += decay * at_low
        one = self.atom_high - mpmath.mpc(0, 1) * BULK.back(high)
        two = self.atom_low + mpmath.mpc(0, 1) * BULK.back(low)
        return one, two

    def _tau_rule(self) -> list[tuple[Any, Any, Any]]:
        """Nodes tau and the weighted densities above both ends."""
        rule = []
        for tau, weight in _exp_sinh(0.55 * self.step, self.reach, 1 / self.height):
            up = mpmath.mpc(0, tau)
            if tau * self.height < mpmath.mp.dps * 3:
                densities = [weight * self.pld.density(FN, end + up) for end in (self.high, self.low)]
                rule.append((BULK.make(tau), *map(BULK.make, densities)))
        return rule

    def _segment(self, top) -> list[_Node]:
        """A tanh-sinh rule from c up to z_1."""
        rule = _tanh_sinh(self.segment_step, self.reach)
        return [_Node(mpmath.mpc(self.c, top.imag * t), mpmath.mpc(0, top.imag * w)) for t, w in rule]

    def _ray(self, top, half_turns) -> list[_Node]:
        """An exp-sinh rule from z_1 outwards at an angle of half_turns pi."""
        direction = mpmath.expjpi(half_turns)
        return [
            _Node(top + direction * r, direction * w) for r, w in _exp_sinh(0.65 * self.step, self.reach, self.height)
        ]


def _tanh_sinh(step, reach) -> list[tuple[Any, Any]]:
    """Nodes and weights on (0, 1)."""
    rule = []
    for i in range(-int(reach / step), int(reach / step) + 1):
        inner = mpmath.pi / 2 * mpmath.sinh(i * step)
        weight = step * mpmath.pi / 4 * mpmath.cosh(i * step) / mpmath.cosh(inner) ** 2
        rule.append((1 / (1 + mpmath.exp(-2 * inner)), weight))
    return rule


def _exp_sinh(step, reach, scale) -> list[tuple[Any, Any]]:
    """Nodes and weights on (0, inf)."""
    rule = []
    for i in range(-int(reach / step), int(reach / step) + 1):
        node = scale * mpmath.exp(mpmath.pi / 2 * mpmath.sinh(i * step))
        rule.append((node, step * mpmath.pi / 2 * mpmath.cosh(i * step) * node))
    return rule
