"""Error budgets on random cases: every part named, the parts add up to upper - lower, in delta, log delta and eps."""

import math

import numpy as np
import pytest

from dplab import Gaussian, Laplace, PoissonSubsampled, RandomizedResponse, fourier

PARTS = ["grid", "tail", "truncation", "periodisation", "rounding", "mass at infinity", "evaluation"]


def random_composition(rng):
    """One to three parts, 2 to 3000 steps, now and then with mass at infinity."""

    def mechanism():
        kind = rng.integers(6)
        noise = round(float(np.exp(rng.uniform(-0.3, 2.5))), 3)
        rate = round(float(np.exp(rng.uniform(-5, -0.5))), 4)
        return [
            lambda: Gaussian(noise),
            lambda: Laplace(noise),
            lambda: RandomizedResponse(round(float(rng.uniform(0.52, 0.8)), 3)),
            lambda: PoissonSubsampled(Gaussian(noise), rate),
            lambda: PoissonSubsampled(Laplace(noise), rate),
            lambda: PoissonSubsampled(Laplace(0), round(rate / 100, 6)),
        ][kind]()

    composition = int(np.exp(rng.uniform(0.7, 8))) * mechanism()
    for _ in range(rng.integers(0, 3)):
        composition = composition + int(rng.integers(1, 40)) * mechanism()
    return composition


@pytest.mark.parametrize("seed", range(24))
def test_parts_add_up_to_the_width(seed):
    rng = np.random.default_rng(seed)
    composition = random_composition(rng)
    direction = ["forward", "backward", "both"][seed % 3]
    eps = fourier.epsilon(composition, 10.0 ** -int(rng.integers(2, 9)), direction)
    if math.isfinite(eps.upper) and eps.lower > 0:
        assert eps.budget.total == pytest.approx(eps.width, rel=1e-6, abs=1e-14 * eps.upper)
    at = round(eps.upper, 3) if math.isfinite(eps.upper) else 1.0
    bracket = fourier.delta(composition, at, direction)
    if bracket.budget.settings:  # otherwise no grid was needed
        assert [part.name for part in bracket.budget][: len(PARTS)] == PARTS
    clipped = bracket.lower == 0.0 or bracket.upper == 1.0
    if not clipped:
        assert bracket.budget.total == pytest.approx(bracket.width, rel=1e-6, abs=1e-15 * bracket.upper)
    logs = fourier.log_delta(composition, at, direction)
    if logs.width and math.isfinite(logs.width):
        assert logs.budget.total == pytest.approx(logs.width, rel=1e-9)
    for part in bracket.budget:
        assert part.reason
        assert not math.isnan(part.size)


def test_mass_at_infinity_is_not_called_a_tail():
    clear = PoissonSubsampled(Laplace(0), "0.01")  # delta(inf) = 0.01 in one direction, known to the last bit or so
    budget = fourier.delta(3 * clear + 200 * Gaussian(20), "0.5", "forward").budget
    assert 0 < budget["mass at infinity"] < 1e-15
    assert budget["tail"] > 0


def test_log_delta_beyond_what_is_resolved_still_adds_up():
    bracket = fourier.log_delta(5000 * Gaussian(50), 400)  # log delta = -38,811
    assert not bracket.reached
    assert bracket.budget.total == pytest.approx(bracket.width, rel=1e-9)
