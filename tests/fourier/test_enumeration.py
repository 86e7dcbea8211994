"""Sums of losses written down one by one, against the same sum in 60 digits."""

from itertools import product

import mpmath
import pytest
from mpmath import mpf

from dplab import Gaussian, PoissonSubsampled, RandomizedResponse, fourier
from dplab.core.functions import MpmathTable
from dplab.core.pld import PLD
from dplab.fourier.enumeration import MOST_SUMS, count_sums
from dplab.fourier.onestep import OneStep

FN = MpmathTable()
MIXED = 12 * PoissonSubsampled(RandomizedResponse.from_eps("2.02"), "0.01181") + 3 * RandomizedResponse.from_eps("0.46")
NOISELESS = MIXED + 2 * PoissonSubsampled(Gaussian(0), "1e-9")


def brute_force(composition, eps, backward: bool):
    """delta by adding up all ways in which the atoms of two-atom laws can be counted."""
    total, finite = mpf(0), mpf(1)
    laws = [(PLD(pair, backward), k) for pair, k in composition.reduced().parts]
    for pld, k in laws:
        finite *= (1 - pld.mass_at_infinity(FN)) ** k
    for counts in product(*(range(k + 1) for _, k in laws)):
        mass, loss = mpf(1), mpf(0)
        for (pld, k), count in zip(laws, counts, strict=True):
            first, *rest = pld.atoms(FN)
            second = rest[0] if rest else first
            if not rest and count:
                mass = mpf(0)
            mass *= mpmath.binomial(k, count) * second.p**count * first.p ** (k - count)
            loss += count * second.loss + (k - count) * first.loss
        total += mass * max(-mpmath.expm1(eps - loss), mpf(0))
    return 1 - finite + total


@pytest.mark.parametrize("composition", [MIXED, NOISELESS], ids=str)
@pytest.mark.parametrize("eps", ["-0.5", "0.1", "2.28269", "9", "25.6"])
@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_a_few_kinds_of_steps(composition, eps, direction):
    bracket = fourier.delta(composition, eps, direction, rtol=1e-10)
    with mpmath.workdps(60):
        truth = brute_force(composition, mpf(eps), direction == "backward")
        assert bracket.contains(truth)
        assert bracket.reached


def test_eps_from_written_down_sums():
    bracket = fourier.epsilon(MIXED, "1e-6", "forward", atol=1e-9)
    assert bracket.reached
    with mpmath.workdps(40):
        assert brute_force(MIXED, mpf(bracket.lower), False) >= mpf("1e-6")
        assert brute_force(MIXED, mpf(bracket.upper), False) <= mpf("1e-6")


def test_only_what_is_short_enough_is_written_down():
    def sums(composition) -> int:
        return count_sums([(OneStep(pld), k) for pld, k in composition.plds(False)])

    assert sums(MIXED) == 13 * 4
    assert sums(MIXED + Gaussian(1)) == 0
    assert sums(5000 * RandomizedResponse("0.6")) == 0
    assert sums(300 * RandomizedResponse("0.6") + 300 * RandomizedResponse("0.7")) > MOST_SUMS
