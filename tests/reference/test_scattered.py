"""Compositions of losses with many values on no lattice: M never vanishes along the line, and hardly ever lines up
again. The reference owns up to what it leaves out; sums over all outcomes and strict brackets are inside its error."""

import math
from collections import defaultdict
from itertools import product

import mpmath
import pytest

from dplab import Pair, fourier, reference

RATE = 3
LAW = "piecewise((exp(-3)*3**{t}/factorial({t}), {t} >= 0), (0, True))"
POISSON = Pair.from_text(LAW.replace("{t}", "(t - 1)"), LAW.replace("{t}", "t"), "t", discrete=True)
"""One more count over the counts themselves: the loss at t is log(t/3)."""


def enumerated(k: int, eps: float) -> float:
    """delta of k steps: the sum of losses is the logarithm of the product of the outcomes, less k log 3."""
    masses = {t: math.exp(-RATE) * RATE ** (t - 1) / math.factorial(t - 1) for t in range(1, 34)}
    total = {1: 1.0}
    for _ in range(k):
        step: dict[int, float] = defaultdict(float)
        for (done, mass), (t, more) in product(total.items(), masses.items()):
            if mass * more > 1e-16:
                step[done * t] += mass * more
        total = step
    return math.fsum(
        mass * max(0.0, -math.expm1(eps - math.log(outcome) + k * math.log(RATE))) for outcome, mass in total.items()
    )


def test_few_steps_against_all_outcomes():
    found = reference.delta(5 * POISSON, "0.5", "forward", digits=10)
    assert not found.reached
    assert found.error < 1e-5
    assert abs(found.value - enumerated(5, 0.5)) <= found.error + mpmath.mpf(10) ** -9


@pytest.mark.long
@pytest.mark.parametrize(("k", "eps", "way"), [(20, "0.5", "forward"), (20, "2", "backward"), (50, "0.5", "backward")])
def test_many_steps_against_narrow_brackets(k, eps, way):
    """On the first few widths of the line M^k is as good as 0: a line that stopped there would be wrong by 2e-6 and
    claim sixteen digits."""
    found = reference.delta(k * POISSON, eps, way, digits=10)
    bracket = fourier.delta(k * POISSON, eps, way, rtol=1e-6)
    assert bracket.relative_width < 1e-5
    assert bracket.lower <= found.value + found.error
    assert found.value - found.error <= bracket.upper
    assert found.error < 1e-4 * found.value


@pytest.mark.long
def test_inverted():
    found = reference.epsilon(20 * POISSON, "0.3", "forward", digits=8)
    bracket = fourier.epsilon(20 * POISSON, "0.3", "forward")
    assert found.error < 1e-3
    assert bracket.lower <= found.value + found.error
    assert found.value - found.error <= bracket.upper
