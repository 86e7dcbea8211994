"""A reference far below the mean loss: it is right, or its error says that nothing is known; never a number above 1."""

import pytest

from dplab import Gaussian, Laplace, PoissonSubsampled, fourier, reference

FAR_BELOW = [
    (1820 * Laplace("0.397"), "28.8941", "remove"),
    (12 * Gaussian("2.08") + 8 * PoissonSubsampled(Gaussian("0.882"), "0.1"), "-0.05", "add"),
    (64715 * Laplace("8.428"), "23.1559", "remove"),
    (6 * PoissonSubsampled(Gaussian("15.09"), "0.38439"), "-0.9486", "add"),
]


@pytest.mark.parametrize(("composition", "eps", "direction"), FAR_BELOW, ids=str)
def test_far_below_the_mean(composition, eps, direction):
    truth = reference.delta(composition, eps, direction, digits=20)
    assert 0 <= truth.value <= 1 + truth.error
    assert truth.error <= 1
    assert not truth.reached or truth.error < 1e-19
    bracket = fourier.delta(composition, eps, direction)
    assert bracket.lower <= truth.value + 2 * truth.error
    assert truth.value - 2 * truth.error <= bracket.upper
