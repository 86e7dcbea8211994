"""One step, or Gaussians alone: delta(eps) = delta(inf) + P(s > eps) - e^eps Q(s > eps) from closed-form tails.

Source: the Neyman-Pearson form of the hockey stick (Balle and Wang 2018, Theorem 5); k Gaussians of mu_j are one
Gaussian of mu = sqrt(sum k_j mu_j^2).
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath

from ..core.pair import Tails
from ..core.parameters import evaluate
from ..core.pld import PLD
from ..mechanisms import Gaussian
from .arithmetic import FN
from .found import Found, Sum, agreeing
from .law import Law


def single_step(law: Law, eps, digits: int) -> Found:
    """delta of a composition of one step."""
    pld = law.parts[0][0]
    return _from_masses(lambda x: masses_above(pld, x), law.mass_at_infinity, eps, digits, "closed form, one step")


def gaussians(law: Law, eps, digits: int) -> Found:
    """delta of a composition of Gaussians only, none of them without noise."""

    def above(x) -> Tails:
        mu = mpmath.sqrt(mpmath.fsum(k * _gaussian(pld).mu(FN) ** 2 for pld, k in law.parts))
        return Tails(FN.normal_cdf(mu / 2 - x / mu), FN.normal_cdf(-mu / 2 - x / mu))

    method = "closed form, one Gaussian" if law.steps > 1 else "closed form, one step"
    return _from_masses(above, law.mass_at_infinity, eps, digits, method)


def only_gaussians(law: Law) -> bool:
    """Whether `gaussians` applies."""
    return all(isinstance(pld.pair, Gaussian) and not pld.pair.noiseless for pld, _ in law.parts)


def masses_above(pld: PLD, x) -> Tails:
    """P(x < s < inf) and Q(s > x) of one step, atoms included."""
    if pld.endless:
        closed = _endless_above(pld, x)
        if closed is not None:
            return closed
    return pld.masses_above(FN, x)


def _endless_above(pld: PLD, x) -> Tails | None:
    """The same of a loss with infinitely many values, where its tails are closed."""
    smallest, largest = pld.loss_ends(FN) or (-mpmath.inf, mpmath.inf)
    if x >= largest:
        return Tails(mpmath.mpf(0), mpmath.mpf(0))
    if x < smallest:
        return Tails(1 - pld.mass_at_infinity(FN), 1 - pld.mass_at_minus_infinity(FN))
    return pld.atoms_above(FN, x)


def log_delta_of_one(pld: PLD, eps: float) -> float:
    """log of one step's delta to a few digits, -inf where it is 0."""
    found = single_step(Law(((pld, 1),)), Fraction(eps), 6)
    with mpmath.workdps(15):
        return float(mpmath.log(found.value)) if found.value > 0 else -math.inf


def _from_masses(above: Callable[[Any], Tails], infinite: Callable, eps, digits: int, method: str) -> Found:
    def compute(_places: int) -> Sum:
        x = evaluate(eps, FN)
        p, q = above(x)
        weighted = mpmath.exp(x) * q
        return Sum(infinite() + p - weighted, infinite() + p, -weighted)

    return agreeing(compute, digits, method)


def _gaussian(pld: PLD) -> Gaussian:
    assert isinstance(pld.pair, Gaussian)
    return pld.pair
