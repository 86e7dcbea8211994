"""One and two steps of random pairs of densities: the bracket made from intervals contains the reference, which has the
digits asked for. They share the formulas of the loss and of the masses, and nothing else."""

import pytest

from dplab import Pair, fourier, reference

from ..random_pairs import random_pair

QUICK, LONG, EXHAUSTIVE = (102, 117, 170), range(180, 200), range(100, 260)


def _compared(seed: int, k: int) -> None:
    p, q, support = random_pair(seed)
    steps = k * Pair.from_text(p, q, support=support)
    for direction in ("forward", "backward"):
        bracket = fourier.delta(steps, "0.25", direction)
        found = reference.delta(steps, "0.25", direction, digits=12)
        assert bracket.lower - found.error <= found.value <= bracket.upper + found.error
        assert found.error < 1e-4


@pytest.mark.parametrize("seed", QUICK)
def test_a_few(seed):
    _compared(seed, 1)


@pytest.mark.long
@pytest.mark.parametrize("seed", LONG)
def test_some(seed):
    _compared(seed, 1)


@pytest.mark.long
@pytest.mark.parametrize("seed", [102, 117, 161, 170])
def test_two_steps_of_some(seed):
    _compared(seed, 2)


@pytest.mark.exhaustive
@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("seed", EXHAUSTIVE)
def test_many(seed, k):
    _compared(seed, k)
