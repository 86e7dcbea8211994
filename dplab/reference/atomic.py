"""Finitely many losses: binomial sums for two atoms, enumeration for more, any number of different parts.

The k-fold sum of a two-atom loss is a shifted binomial. Its terms are taken from the peak outwards by their
ratio, (k-j)/(j+1) m_1/m_2, until they are negligible *under the tilt* e^{cS} whose mean is eps (so that
delta = 1e-200 is as exact as delta = 1e-3), which leaves about sqrt(k) of them. Of several parts the longest is kept
as suffix sums P(S' > x), Q(S' > x) and the others are multiplied out:

    delta(eps) = delta(inf) + sum_o p_o [ P(S' > eps - s_o) - e^{eps - s_o} Q(S' > eps - s_o) ].
"""

import math
from collections.abc import Callable
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import mpmath

from ..core.pair import Tails
from ..core.parameters import evaluate
from ..core.pld import PLD
from .arithmetic import FN
from .found import Found, Sum, agreeing
from .law import Law
from .single_step import masses_above

MOST_ATOMS = 200_000
"""Enumerations longer than this are left to other routes."""


MOST_PRODUCTS = 5_000_000
"""Convolutions of more products than this are left to other routes, too."""
FEW_STEPS = 3000
"""So many steps of two atoms are summed; more go by the contour if they share a lattice."""


class Weighted(NamedTuple):
    """One value of a composed loss and its mass under P."""

    loss: Any
    mass: Any


def atoms_estimate(law: Law) -> float:
    """About how many composite atoms `atomic` would multiply out, the longest part left aside."""
    sizes = [_part_size(pld, k) for pld, k in law.atomic]
    if law.continuous:
        return math.prod(sizes)
    return max(math.prod(sizes) / max(sizes), max(sizes)) if sizes else 1


def two_atoms_each(law: Law) -> bool:
    """Whether every part is a binomial sum, and those are short."""
    return law.steps <= FEW_STEPS and all(not p.endless and len(p.atoms(FN)) <= 2 for p, _ in law.parts)


def atomic(law: Law, eps, digits: int, tilt: float) -> Found:
    """delta of a composition all of whose losses are atoms; `tilt` is the saddle c > 0 of its M."""
    parts = law.atomic

    def compute(places: int) -> Sum:
        lists = sorted((_composed(pld, k, tilt, places) for pld, k in parts), key=len)
        return _combined(law, lists[:-1], _suffix_sums(lists[-1]), evaluate(eps, FN))

    return _with_what_is_left_out(law, agreeing(compute, digits, _name(parts)))


def _with_what_is_left_out(law: Law, found: Found) -> Found:
    """The result with the masses that endless losses do not list counted as error."""
    rest = [(pld.remainder(FN), k) for pld, k in law.parts]
    return found._replace(error=found.error + sum(k * tails.p for tails, k in rest if tails is not None))


def atoms_and_one_step(law: Law, eps, digits: int, tilt: float) -> Found:
    """delta of atoms composed with exactly one step that has a density."""
    ((last, _),) = law.continuous

    def compute(places: int) -> Sum:
        lists = [_composed(pld, k, tilt, places) for pld, k in law.atomic]
        return _combined(law, lists, lambda x: masses_above(last, x), evaluate(eps, FN))

    return _with_what_is_left_out(law, agreeing(compute, digits, "sum over atoms of closed forms"))


def _combined(law: Law, outer: list[list[Weighted]], above: Callable[[Any], Tails], eps) -> Sum:
    """The displayed formula, with P, Q of the inner part given by `above`."""
    total, size, slope = mpmath.mpf(0), mpmath.mpf(0), mpmath.mpf(0)
    for loss, mass in _products(outer):
        p, q = above(eps - loss)
        weighted = mpmath.exp(eps - loss) * q
        total += mass * (p - weighted)
        size += mass * p
        slope -= mass * weighted
    infinite = law.mass_at_infinity()
    return Sum(infinite + total, infinite + size, slope)


def _products(lists: list[list[Weighted]]) -> list[Weighted]:
    product = [Weighted(mpmath.mpf(0), mpmath.mpf(1))]
    for part in lists:
        product = [Weighted(s + a.loss, m * a.mass) for s, m in product for a in part]
    return product


def _suffix_sums(atoms: list[Weighted]) -> Callable[[Any], Tails]:
    """The function x -> (P(s > x), Q(s > x)) of some atoms."""
    atoms = sorted(atoms)
    zero = mpmath.mpf(0)
    p = list(accumulate((a.mass for a in reversed(atoms)), initial=zero))[::-1]
    q = list(accumulate((a.mass * mpmath.exp(-a.loss) for a in reversed(atoms)), initial=zero))[::-1]
    losses = [a.loss for a in atoms]

    def above(x) -> Tails:
        low, high = 0, len(losses)
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if losses[middle] <= x else (low, middle)
        return Tails(p[low], q[low])

    return above


def _composed(pld: PLD, k: int, tilt: float, places: int) -> list[Weighted]:
    """The atoms of the k-fold sum; negligible ones under the tilt are left out."""
    atoms = [Weighted(a.loss, a.p) for a in pld.atoms(FN) if a.p]
    if len(atoms) <= 1:
        return [Weighted(k * a.loss, a.mass**k) for a in atoms]
    if len(atoms) == 2:
        return _binomial(atoms[0], atoms[1], k, tilt, places)
    return _enumerated(atoms, k, places)


def _binomial(one: Weighted, other: Weighted, k: int, tilt: float, places: int) -> list[Weighted]:
    """Terms C(k,j) m_1^j m_2^(k-j) at j s_1 + (k-j) s_2, from the tilted peak outwards."""
    with mpmath.extradps(len(str(k)) + 5):
        log_odds = mpmath.log(one.mass) - mpmath.log(other.mass)
        tilted = float(log_odds + tilt * (one.loss - other.loss))
        share = 1 / (1 + math.exp(-tilted)) if tilted > -700 else 0.0
        peak = min(k, max(0, round(k * share)))
        at_peak = mpmath.exp(
            mpmath.loggamma(k + 1) - mpmath.loggamma(peak + 1) - mpmath.loggamma(k - peak + 1)
            + peak * mpmath.log(one.mass) + (k - peak) * mpmath.log(other.mass)
        )  # fmt: skip
        ratio = one.mass / other.mass
    lowest = -places * math.log(10)
    terms = [(peak, at_peak)]
    mass, weight = at_peak, 0.0
    for j in range(peak, k):
        mass = mass * (k - j) / (j + 1) * ratio
        weight += math.log((k - j) / (j + 1)) + tilted
        if weight < lowest:
            break
        terms.append((j + 1, mass))
    mass, weight = at_peak, 0.0
    for j in range(peak, 0, -1):
        mass = mass * j / (k - j + 1) / ratio
        weight += math.log(j / (k - j + 1)) - tilted
        if weight < lowest:
            break
        terms.append((j - 1, mass))
    return [Weighted(j * one.loss + (k - j) * other.loss, mass) for j, mass in terms]


def _enumerated(atoms: list[Weighted], k: int, places: int) -> list[Weighted]:
    """Convolution one step at a time; losses that agree to the working precision are one loss."""
    scale = mpmath.mpf(10) ** (places - 5) / max(abs(a.loss) for a in atoms)
    total = {0: Weighted(mpmath.mpf(0), mpmath.mpf(1))}
    for _ in range(k):
        merged: dict[int, Weighted] = {}
        for s, m in total.values():
            for a in atoms:
                loss = s + a.loss
                key = int(mpmath.nint(loss * scale))
                before = merged.get(key)
                merged[key] = Weighted(loss, m * a.mass + (before.mass if before else 0))
        total = merged
    return list(total.values())


def _part_size(pld: PLD, k: int) -> float:
    """About how many atoms `_composed` yields (an upper estimate)."""
    kinds = len([a for a in pld.atoms(FN) if a.p])
    if kinds <= 1:
        return 1
    if kinds == 2:
        return min(k + 1, 40 * math.sqrt(k) + 50)
    losses = sorted(a.loss for a in pld.atoms(FN) if a.p)
    steps = [b - a for a, b in pairwise(losses)]
    span = (losses[-1] - losses[0]) / min(steps) if min(steps) else mpmath.inf
    if min(steps) and all(abs(step / min(steps) - mpmath.nint(step / min(steps))) < 1e-9 for step in steps):
        size = float(k * span + 1)  # a lattice
        return size if k * size * kinds <= MOST_PRODUCTS else 1e300
    return min(math.comb(k + kinds - 1, k), 1e300)


def _name(parts: tuple[tuple[PLD, int], ...]) -> str:
    if len(parts) == 1 and len(parts[0][0].atoms(FN)) == 2:
        return "binomial sum"
    return "enumeration of the atoms"
