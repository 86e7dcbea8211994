"""Losses on a lattice: one period of the contour integral, whatever the number of steps.

If all losses are o + j d with whole j, M(z)^k e^{-z eps} repeats itself along Im z with period 2 pi/d (up to a phase
that the kernel undoes), and with S_0 the first point of the lattice above eps, y = S_0 - eps,

    delta(eps) = constant + (1/N) sum_m prod M_j(z_m)^{k_j} K(z_m),   z_m = c + 2 pi i m/(N d),
    K(z) = e^{-z S_0} [1/(1 - e^{-z d}) - e^{-y}/(1 - e^{-(z+1) d})],

exact but for aliases N d apart; the constant is that of the whole line (see `contour`). Far from the real axis the
power is negligible: |M(c+iy)|/M(c) changes by at most the tilted deviation times the step (for discrete Gaussians it
falls monotonically, by the product formula of theta), which tells how many nodes may be skipped. Two runs that share
neither c nor N are compared.
"""

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import mpmath

from ..core.parameters import evaluate
from ..core.pld import PLD
from ..mechanisms import DiscreteGaussian
from .arithmetic import FN
from .bulk import BULK
from .found import GUARD, Found, reached
from .law import Law
from .saddle import Landscape, Saddle, moved

SPARE = 5
MOST_PARTS = 1000
"""Spacings that are not whole multiples of one by factors up to this share no lattice."""


class Lattice(NamedTuple):
    """offset + j spacing, for the composed loss."""

    offset: Any
    spacing: Any


def lattice_of(law: Law) -> Lattice | None:
    """The lattice of the composed loss at the working precision, or None."""
    offset, spacings = mpmath.mpf(0), []
    for pld, k in law.parts:
        if pld.support(FN) is not None:
            return None
        found = _lattice_of_one(pld)
        if found is None:
            return None
        offset += k * found.offset
        if found.spacing:
            spacings.append(found.spacing)
    return Lattice(offset, common_spacing(spacings)) if spacings and common_spacing(spacings) else None


def _lattice_of_one(pld: PLD) -> Lattice | None:
    """What the mechanism says, or what two atoms show; a single atom has spacing 0."""
    stated = pld.lattice(FN)
    if stated is not None:
        return Lattice(*stated)
    if pld.endless:
        return None
    losses = [atom.loss for atom in pld.atoms(FN)]
    if not 1 <= len(losses) <= 2:
        return None
    return Lattice(losses[0], abs(losses[0] - losses[-1]))


def common_spacing(spacings: list) -> Any:
    """The largest spacing of which all are whole multiples, to the working precision; None if there is none."""
    first, ratios = spacings[0], [Fraction(1)]
    for other in spacings[1:]:
        ratio = other / first
        near = Fraction(int(mpmath.nint(ratio * 10**18)), 10**18).limit_denominator(MOST_PARTS)
        if abs(ratio - mpmath.mpf(near.numerator) / near.denominator) > ratio * mpmath.mpf(10) ** (8 - mpmath.mp.dps):
            return None
        ratios.append(near)
    denominator = math.lcm(*(ratio.denominator for ratio in ratios))
    numerator = math.gcd(*(int(ratio * denominator) for ratio in ratios))
    if denominator > MOST_PARTS:
        return None
    return first * numerator / denominator


class _Part:
    """M(z)/M(c) of one PLD on its lattice."""

    def __init__(self, pld: PLD, c):
        self.pld = pld
        self.closed = pld.mgf(FN, mpmath.mpf(1)) is not None
        self.monotone = isinstance(pld.pair, DiscreteGaussian)
        if not self.closed:
            self._masses()
        self.at_c = self._value(c)

    def _masses(self) -> None:
        """Masses by their place on the lattice, the lowest first."""
        atoms = self.pld.atoms(FN)
        self.lowest = min(atom.loss for atom in atoms)
        spacing = getattr(_lattice_of_one(self.pld), "spacing", 0)
        places = {int(mpmath.nint((a.loss - self.lowest) / spacing)) if spacing else 0: a.p for a in atoms}
        self.spacing, self.top = spacing, max(places)
        self.places = [BULK.make(places.get(j, mpmath.mpf(0))) for j in range(self.top, -1, -1)]

    def ratio(self, z):
        """M(z)/M(c)."""
        return self._value(z) / self.at_c

    def _value(self, z):
        if self.closed:
            return self.pld.mgf(FN, z)
        turn, total = BULK.make(mpmath.exp(z * self.spacing)), BULK.make(mpmath.mpf(0))
        for mass in self.places:
            total = total * turn + mass
        return BULK.back(total) * mpmath.exp(z * self.lowest)


class _Run(NamedTuple):
    value: Any
    slope: Any
    rest: Any


class LatticeContour:
    """delta(eps) for one law and number of digits."""

    def __init__(self, law: Law, digits: int, landscape: Landscape):
        self.law, self.digits, self.landscape = law, digits, landscape

    def find(self, eps) -> Found:
        """delta(eps) for eps inside the range of the loss."""
        saddle = self.landscape.saddle(float(evaluate(eps, FN)))
        for _ in range(4):
            found = self._found(eps, saddle)
            if reached(found, self.digits):
                break
            with mpmath.workdps(15):
                size = float(mpmath.log(abs(found.value))) if found.value else saddle.log_delta - 40
            saddle = replace(saddle, log_delta=min(size, saddle.log_delta - 5))
        return found

    def _found(self, eps, saddle: Saddle) -> Found:
        at = float(evaluate(eps, FN))
        below = (self.digits + SPARE) * math.log(10)
        other = replace(self.landscape.at(moved(saddle), at), log_delta=saddle.log_delta, width=saddle.width)
        lost = max(0.0, saddle.log_peak - saddle.log_delta, -saddle.log_delta if saddle.c < 0 else 0.0) / math.log(10)
        most = max(k for _, k in self.law.parts)
        places = self.digits + GUARD + math.ceil(lost + math.log10(most) + math.log10(2 + abs(saddle.c))) + 5
        with BULK.at(places):
            lattice = lattice_of(self.law)
            assert lattice is not None
            x = evaluate(eps, FN)
            runs = []
            for line, longer in ((saddle, 1.0), (other, 1.06)):
                step = self.landscape.step(line, at, below)
                nodes = longer * 2 * math.pi / (float(lattice.spacing) * step)
                runs.append(self._run(line, lattice, x, 2 * math.ceil(nodes / 2) + 8, below))
            one, two = runs
            constant, constant_slope = self.law.left_of(saddle.c, x)
            rounding = abs(two.value) * mpmath.mpf(10) ** (3 - places + lost)
            error = abs(one.value - two.value) + one.rest + two.rest + rounding
            return Found(constant + two.value, error, constant_slope + two.slope, "contour integral over one period")

    def _run(self, saddle: Saddle, lattice: Lattice, eps, count: int, below: float) -> _Run:
        """The sum over `count` nodes of one period."""
        c, d = mpmath.mpf(saddle.c), lattice.spacing
        parts = [_Part(pld, c) for pld, _ in self.law.parts]
        counts = [k for _, k in self.law.parts]
        deviations = [1.01 * math.sqrt(sketch.cumulants(saddle.c).variance) for sketch in self.landscape.sketches]
        start = lattice.offset + d * (mpmath.floor((eps - lattice.offset) / d) + 1)
        ahead, h = mpmath.exp(eps - start), 2 * mpmath.pi / (count * d)
        negligible = min(0.0, saddle.log_delta - saddle.log_peak) - below - math.log(count) - 5
        scale = mpmath.exp(mpmath.fsum(k * mpmath.log(p.at_c) for p, k in zip(parts, counts, strict=True)) - c * start)
        total, slope, m = mpmath.mpf(0), mpmath.mpf(0), 0
        while 2 * m <= count:
            z = mpmath.mpc(c, m * h)
            ratios = [part.ratio(z) for part in parts]
            power = mpmath.mpf(1)
            for ratio, k in zip(ratios, counts, strict=True):
                power *= ratio**k
            weight = 1 if m == 0 or 2 * m == count else 2
            term = weight * power * mpmath.expj(-m * h * start)
            near, far = 1 / -mpmath.expm1(-z * d), ahead / -mpmath.expm1(-(z + 1) * d)
            total += mpmath.re(term * (near - far))
            slope -= mpmath.re(term * far)
            m += self._skip(parts, ratios, counts, deviations, float(h), negligible, count)
        factor = scale / count
        rest = factor * abs(1 / (-mpmath.expm1(-c * d))) * mpmath.exp(negligible) * count
        return _Run(factor * total, factor * slope, rest)

    @staticmethod
    def _skip(parts, ratios, counts, deviations, h: float, negligible: float, count: int) -> int:
        """How far it is to the next node that matters."""
        sizes = [float(abs(ratio)) for ratio in ratios]

        def bound(nodes: int) -> float:
            total = 0.0
            for part, size, k, deviation in zip(parts, sizes, counts, deviations, strict=True):
                most = size if part.monotone else min(size + nodes * h * deviation, 1.0)
                total += k * math.log(most) if most > 0 else -math.inf
            return total

        ahead = 1
        while ahead < count and bound(2 * ahead) < negligible:
            ahead *= 2
        return ahead
