"""Mean and variance of the privacy loss of one PLD, by quadrature along the pair's smooth coordinate.

On the whole line the trapezoid rule converges geometrically (the integrands are analytic and decay like a normal
density). On either side of the centre it climbs to the density's peak and walks from there until nothing is left, so
that no mass is missed however far out it lies. On a finite interval tanh-sinh quadrature is used.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import mpmath

from ..core.errors import PrecisionError
from ..core.functions import MpmathTable
from ..core.pair import Pair
from ..core.pld import PLD

DIGITS = 30
ROUNDING = mpmath.mpf(10) ** -18
NOTHING = mpmath.mpf(10) ** -60
"""A density this much smaller than its peak, and falling, has ended."""
MOST_HALVINGS = 16
AGREEMENT = mpmath.mpf(10) ** -12
"""Two trapezoid sums that agree so far: the finer one is right to about twice as many digits."""


class Moments(NamedTuple):
    """Of the finite losses (their law scaled to mass 1): mean and variance, in nats; with the two masses apart."""

    mean: mpmath.mpf
    variance: mpmath.mpf
    infinite: mpmath.mpf
    missing: mpmath.mpf

    @property
    def shift(self):
        """log((1 - delta_{X/Y}(inf))/(1 - delta_{Y/X}(inf))): what the masses apart alone do to every finite loss."""
        return mpmath.log1p(-self.infinite) - mpmath.log1p(-self.missing)


@lru_cache(maxsize=1024)
def moments(pld: PLD) -> Moments:
    """Mean and variance of the loss, to about 15 digits.

    >>> from dplab import Gaussian
    >>> float(moments(PLD(Gaussian(sigma=2))).mean)
    0.125
    """
    fn = MpmathTable()
    with mpmath.workdps(DIGITS):
        infinite, missing = pld.mass_at_infinity(fn), pld.mass_at_minus_infinity(fn)
        if infinite == 1:
            return Moments(mpmath.mpf(0), mpmath.mpf(0), infinite, missing)
        mean = expectation(pld, lambda s: s) / (1 - infinite)
        single = (mean * ROUNDING) ** 2  # below this the finite loss is one value
        variance = expectation(pld, lambda s: (s - mean) ** 2, single) / (1 - infinite)
        variance = mpmath.mpf(0) if variance <= single else variance
        return Moments(mean, variance, infinite, missing)


@lru_cache(maxsize=1024)
def chi_square(pair: Pair) -> mpmath.mpf:
    """chi^2(P, Q) = E_P[e^s] - 1, for a pair without mass at infinity.

    >>> from dplab import Gaussian
    >>> mpmath.nstr(chi_square(Gaussian(sigma=1)), 10)  # e - 1
    '1.718281828'
    """
    with mpmath.workdps(10 * DIGITS):  # M(1) is 1 to many digits where the noise is wide
        closed = pair.mgf(MpmathTable(), mpmath.mpf(1))
        if closed is not None:
            return closed - 1
    with mpmath.workdps(DIGITS):
        return expectation(PLD(pair), mpmath.exp) - 1


def expectation(pld: PLD, weight: Callable, floor=0):
    """E_omega[weight(s)] over finite losses; values below `floor` need not be right."""
    fn = MpmathTable()
    total = sum((atom.p * weight(atom.loss) for atom in pld.atoms(fn)), mpmath.mpf(0))
    if pld.support(fn) is None:
        return total
    for panel in pld.panels():
        total += _over_panel(panel, weight, floor)
    return total


def _over_panel(pld: PLD, weight: Callable, floor):
    """The integral over one smooth panel."""
    fn = MpmathTable()
    coordinate = pld.coordinate(fn)
    assert coordinate is not None

    def density_and_integrand(u) -> tuple:
        p = pld.coordinate_densities(fn, u).p
        return p, p * weight(pld.coordinate_loss(fn, u))

    if mpmath.isinf(coordinate.lower) and mpmath.isinf(coordinate.upper):
        return _on_the_line(density_and_integrand, coordinate.center, coordinate.scale, floor)
    return mpmath.quad(lambda u: density_and_integrand(u)[1], [coordinate.lower, coordinate.upper])


def _on_the_line(function: Callable, center, scale, floor):
    """The integral over the real line; the step is halved until two sums agree."""
    step = scale / 2
    coarse = step * _sum_both_ways(function, center, step)
    for _ in range(MOST_HALVINGS):
        between = _sum_both_ways(function, center + step / 2, step)
        fine, step = (coarse + step * between) / 2, step / 2
        if abs(fine - coarse) <= max(AGREEMENT * abs(fine), floor):
            return fine
        coarse = fine
    raise PrecisionError("a moment of the loss did not settle; its density is not smooth along its coordinate")


def _sum_both_ways(function: Callable, start, step):
    return _sum_one_way(function, start, step) + _sum_one_way(function, start - step, -step)


def _sum_one_way(function: Callable, start, step):
    """The sum at start, start + step, ...; where the density rises at first, from its peak outwards and back."""

    def node(i: int) -> tuple:
        return function(start + i * step)

    peak = _index_of_peak(lambda i: node(i)[0])
    return _sum_until_ended(node, peak, 1) + _sum_until_ended(node, peak - 1, -1)


def _index_of_peak(density: Callable) -> int:
    """0 if the density falls at first; else the index i > 0 of the maximum, by galloping, then by bisection."""
    if density(1) <= density(0):
        return 0
    far = 1
    while density(2 * far) > density(far):
        far *= 2
    low, high = far // 2, 2 * far
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if density(middle + 1) > density(middle) else (low, middle)
    return low


def _sum_until_ended(node: Callable, i: int, direction: int):
    """The integrand from index i on, until the density has ended; inwards at most to index 0."""
    total, peak, before = mpmath.mpf(0), mpmath.mpf(0), mpmath.mpf(0)
    while i >= 0:
        density, integrand = node(i)
        total += integrand
        peak = max(peak, density)
        if density <= before and density <= NOTHING * peak:
            break
        before = density
        i += direction
    return total
