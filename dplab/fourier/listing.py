"""Compositions of few atoms: all of them listed, which is exact where a grid would move them."""

import math

from ..core.pld import PLD
from .lattices import common_spacing
from .onestep import OneStep

MOST_PRODUCTS = 10**6
"""Largest number of pairs of atoms that are multiplied out at a time."""
MOST_STEPS = 2000


def listed(parts: list[tuple[OneStep, int]]) -> OneStep | None:
    """The composition as one step with all its atoms (that of a product of all steps), if they are few enough; what an
    endless loss does not list is left out of each, and bounded.

    None for losses with a density, and where one lattice holds all losses: a grid aligned
    with it moves nothing.
    """
    steps = sum(k for _, k in parts)
    if steps < 2 or steps > MOST_STEPS or any(step.support is not None for step, _ in parts):
        return None
    if on_one_lattice([step for step, _ in parts]) or _products(parts) > MOST_PRODUCTS:
        return None
    from ..mechanisms import Product  # not needed by most questions

    factors = [step.pld.pair for step, k in parts for _ in range(k)]
    return OneStep(PLD(Product(*factors), parts[0][0].pld.backward))


def on_one_lattice(steps: list[OneStep]) -> bool:
    """Whether all losses lie on lattices of one common spacing."""
    spacings = [step.lattice.spacing if step.lattice else None for step in steps if len(step.columns) > 1]
    return None not in spacings and common_spacing([s for s in spacings if s is not None]) is not None


def _products(parts: list[tuple[OneStep, int]]) -> float:
    """The largest number of pairs that repeated squaring and then multiplying the parts will form."""
    largest, total = 0.0, 1.0
    for step, k in parts:
        done, power = 0, 1
        for bit in bin(k)[:1:-1]:
            if bit == "1":
                largest = max(largest, _size(step, done) * _size(step, power) if done else 0.0)
                done += power
            if done < k:
                largest, power = max(largest, _size(step, power) ** 2), 2 * power
        largest, total = max(largest, total * _size(step, k)), total * _size(step, k)
    return largest


def _size(step: OneStep, k: int) -> float:
    """How many atoms the k-fold sum has."""
    count = len(step.columns)
    if step.lattice is not None:
        return k * (step.lattice.last - step.lattice.first) + 1
    return min(float(math.comb(count + k - 1, k)), 1e100) if count * k < 10**5 else 1e100
