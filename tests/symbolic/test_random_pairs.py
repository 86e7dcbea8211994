"""Derivations of random pairs of densities: each checks all its steps when it is made, and raises where one fails."""

import pytest

from dplab import Pair, symbolic

from ..random_pairs import random_pair

QUICK, LONG, EXHAUSTIVE = (2, 11, 231), (*range(12, 26), 173), range(100, 260)


def _derived(seed: int, direction: str) -> None:
    p, q, support = random_pair(seed)
    found = symbolic.derive(Pair.from_text(p, q, support=support), direction)
    assert {"Privacy loss", "Tight delta", "Trade-off function", "k-fold composition"} <= {s.title for s in found}
    assert len(found.checked) > len(found) // 2


@pytest.mark.parametrize("seed", QUICK)
def test_a_few(seed):
    _derived(seed, "forward")


@pytest.mark.long
@pytest.mark.parametrize("seed", LONG)
def test_some(seed):
    _derived(seed, "backward" if seed % 4 == 0 else "forward")


@pytest.mark.exhaustive
@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize("seed", EXHAUSTIVE)
def test_many(seed, direction):
    _derived(seed, direction)
