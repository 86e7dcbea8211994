"""Mean and variance of the privacy loss of one PLD, by quadrature along the pair's smooth coordinate.

On the whole line the trapezoid rule converges geometrically (the integrands are analytic and decay like a normal
density); it walks outwards from the centre until nothing is left, so that no mass can be missed however wide the
loss is. On a finite interval tanh-sinh quadrature is used.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import mpmath

from ..core.functions import MpmathTable
from ..core.pair import Pair
from ..core.pld import PLD

DIGITS = 30
NOTHING = mpmath.mpf(10) ** -40
"""A density this much smaller than its peak, and falling, has ended."""
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
        first, second = expectations(pld, (lambda s: s, lambda s: s * s))
        mean = first / (1 - infinite)
        return Moments(mean, max(mpmath.mpf(0), second / (1 - infinite) - mean * mean), infinite, missing)


@lru_cache(maxsize=1024)
def chi_square(pair: Pair) -> mpmath.mpf:
    """chi^2(P, Q) = E_P[e^s] - 1, for a pair without mass at infinity.

    >>> from dplab import Gaussian
    >>> mpmath.nstr(chi_square(Gaussian(sigma=1)), 10)  # e - 1
    '1.718281828'
    """
    with mpmath.workdps(DIGITS):
        closed = pair.mgf(MpmathTable(), mpmath.mpf(1))
        return (closed if closed is not None else expectations(PLD(pair), (mpmath.exp,))[0]) - 1


def expectations(pld: PLD, functions: tuple[Callable, ...]) -> list:
    """E_omega[f(s)] for each of the functions, over finite losses."""
    fn = MpmathTable()
    totals = [sum((atom.p * f(atom.loss) for atom in pld.atoms(fn)), mpmath.mpf(0)) for f in functions]
    coordinate = pld.coordinate(fn)
    if coordinate is None:
        return totals

    def integrands(u) -> list:
        p = pld.coordinate_densities(fn, u).p
        s = pld.coordinate_loss(fn, u)
        return [p, *(p * f(s) for f in functions)]

    if mpmath.isinf(coordinate.lower):
        integrals = _on_the_line(integrands, coordinate.center, coordinate.scale)
    else:
        ends = [coordinate.lower, coordinate.upper]
        integrals = [mpmath.quad(lambda u, i=i: integrands(u)[i], ends) for i in range(len(functions) + 1)]
    return [total + integral for total, integral in zip(totals, integrals[1:], strict=True)]


def _on_the_line(integrands: Callable, center, scale) -> list:
    """Integrals over the real line; the step is halved until the sums agree."""
    step = scale / 2
    coarse = [step * total for total in _walk_both_ways(integrands, center, step)]
    while True:
        between = _walk_both_ways(integrands, center + step / 2, step)
        fine = [(old + step * new) / 2 for old, new in zip(coarse, between, strict=True)]
        step /= 2
        if all(abs(new - old) <= AGREEMENT * abs(new) for old, new in zip(coarse, fine, strict=True)):
            return fine
        coarse = fine


def _walk_both_ways(integrands: Callable, start, step) -> list:
    right, left = _walk(integrands, start, step), _walk(integrands, start - step, -step)
    return [a + b for a, b in zip(right, left, strict=True)]


def _walk(integrands: Callable, u, step) -> list:
    """Sums at u, u + step, ... until the density has ended."""
    values = integrands(u)
    totals, peak = values, values[0]
    while True:
        u += step
        before, values = values[0], integrands(u)
        totals = [total + value for total, value in zip(totals, values, strict=True)]
        peak = max(peak, values[0])
        if values[0] <= before and values[0] <= NOTHING * peak:
            return totals
