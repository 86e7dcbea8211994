"""Losses far beyond what planning looks at: brackets that hold the truth, flagged where they say little."""

import pytest

from dplab import Gaussian, PoissonSubsampled, fourier


@pytest.mark.parametrize("sigma", ["1/256", "1e-6", "1e-20", "1e-100"])
@pytest.mark.parametrize("grid", ["split-merge", "round"])
def test_almost_no_noise_is_answered(sigma, grid):
    """delta(1) of two steps is 1 up to less than 1e-300."""
    bracket = fourier.delta(2 * Gaussian(sigma), 1, grid=grid)
    assert bracket.upper == pytest.approx(1, abs=1e-9)
    assert bracket.lower <= 1
    assert bracket.reached or bracket.note


@pytest.mark.parametrize("sigma", ["1e-6", "1e-50"])
def test_its_eps_is_not_small(sigma):
    found = fourier.epsilon(2 * Gaussian(sigma), "0.5")
    assert found.upper >= 1e12  # the losses are about mu^2
    assert found.reached or found.note


def test_almost_no_noise_sampled():
    """delta is 1 - (1 - q)^2 for eps between the loss without the record and that with it."""
    bracket = fourier.delta(2 * PoissonSubsampled(Gaussian("1e-6"), "0.1"), 1)
    assert bracket.lower <= 0.19 <= bracket.upper
