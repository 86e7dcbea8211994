"""Laws of sums of losses in floats: masses, means, and the delta that the picture shades, against the routes."""

import math

import numpy as np
import pytest

from dplab import Composition, Gaussian, Laplace, PoissonSubsampled, RandomizedResponse, fourier
from dplab.core.errors import NoClosedFormError, UnboundSymbolError
from dplab.plots import draw_convolution, draw_growth, draw_sum, new_figure
from dplab.plots.sums import sum_law

SAMPLED = PoissonSubsampled(Gaussian(1), "0.1")
CASES = [
    Composition.of(Gaussian(1)),
    10 * Gaussian(3),
    2 * Laplace(1),
    30 * Laplace(3),
    5 * SAMPLED,
    500 * PoissonSubsampled(Gaussian(1), "0.02"),
    10 * RandomizedResponse("0.6"),
    300 * RandomizedResponse("0.51"),
    3 * Laplace(2) + Gaussian(2) + 4 * RandomizedResponse("0.6"),
    6 * PoissonSubsampled(Laplace(0), "0.1"),
]


@pytest.fixture
def ax():
    return new_figure()[1][0]


def density_of(law):
    return np.array(law.shape.density).T


@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize("composition", CASES, ids=repr)
def test_the_shaded_delta_is_the_true_one(composition, backward):
    law = sum_law(composition, backward)
    eps = law.mean + law.deviation / 2 - 0.01
    direction = "backward" if backward else "forward"
    truth = fourier.delta(composition, str(eps), direction=direction, rtol=1e-5)
    assert law.delta(eps) == pytest.approx(truth.upper, rel=0.05, abs=1e-9)  # what lies outside the picture is left out
    if law.shape.density:
        wide = sum_law(composition, backward, widths=9)
        assert wide.delta(eps) == pytest.approx(truth.upper, rel=3e-3)


@pytest.mark.parametrize("composition", CASES, ids=repr)
def test_mass_and_mean_are_kept(composition):
    law = sum_law(composition, widths=9)
    mass = sum(m for _, m in law.shape.atoms) + law.shape.infinite
    mean = sum(s * m for s, m in law.shape.atoms)
    if law.shape.density:
        x, omega = density_of(law)
        mass += np.trapezoid(omega, x)
        mean += np.trapezoid(omega * x, x)
    assert mass == pytest.approx(1, abs=2e-3)
    assert mean == pytest.approx((1 - law.shape.infinite) * law.mean, abs=4e-3 * max(law.deviation, 1))


def test_atoms_of_a_sum_are_binomial():
    atoms = sum_law(5 * RandomizedResponse("0.75")).shape.atoms
    assert [m for _, m in atoms] == pytest.approx([math.comb(5, j) * 0.75**j * 0.25 ** (5 - j) for j in range(6)])
    assert [s for s, _ in atoms] == pytest.approx([(2 * j - 5) * math.log(3) for j in range(6)])


def test_atoms_and_density_are_kept_apart():
    law = sum_law(2 * Laplace(1))
    assert [m for _, m in law.shape.atoms] == pytest.approx([math.exp(-2) / 4, math.exp(-1) / 2, 0.25])
    x, omega = density_of(law)
    expected = 1 - sum(m for _, m in law.shape.atoms)
    assert np.trapezoid(omega, x) == pytest.approx(expected, abs=2e-3)


def test_mass_at_infinity_adds_up():
    law = sum_law(3 * PoissonSubsampled(Gaussian(0), "0.1"))
    assert law.shape.infinite == pytest.approx(1 - 0.9**3)
    assert law.shape.atoms == [(pytest.approx(3 * math.log(0.9)), pytest.approx(0.9**3))]


def test_two_gaussians_are_one():
    law = sum_law(Gaussian(2) + 3 * Gaussian(1))
    mu2 = 0.25 + 3
    x, omega = density_of(law)
    expected = np.exp(-((x - mu2 / 2) ** 2) / (2 * mu2)) / math.sqrt(2 * math.pi * mu2)
    assert omega == pytest.approx(expected, abs=2e-4)


def test_symbols_cannot_be_drawn():
    with pytest.raises(UnboundSymbolError, match="sigma"):
        sum_law(3 * Gaussian("sigma"))


# ---------------------------------------------------------------- pictures


def test_a_sum_is_drawn_with_its_normal_law_and_delta(ax):
    sentence = draw_sum(ax, 10 * RandomizedResponse("0.6"), eps=1.5, normal=True)
    assert "Shaded: δ(1.5) ≈ 0.137." in sentence
    assert "Mean 0.811, standard deviation 1.26." in sentence
    (dashed,) = [line for line in ax.lines if line.get_label() == "normal law"]
    gap = 2 * math.log(1.5)
    assert max(dashed.get_ydata()) == pytest.approx(gap / (1.2562 * math.sqrt(2 * math.pi)), rel=1e-3)


@pytest.mark.parametrize("composition", CASES, ids=repr)
def test_every_sum_draws(ax, composition):
    assert "Mean" in draw_sum(ax, composition, eps=0.5, normal=True, backward=True)
    assert all(math.isfinite(end) for end in (*ax.get_xlim(), *ax.get_ylim()))


def test_growth_draws_a_line_for_each_k(ax):
    sentence = draw_growth(ax, RandomizedResponse("0.6"), (1, 4, 16))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["k = 1", "k = 4", "k = 16"]
    assert "k = 16: mean 1.3, standard deviation 1.59" in sentence


def test_the_product_has_the_area_that_is_the_sums_density():
    _, (left, right) = new_figure(2)
    sentence = draw_convolution(left, right, Gaussian(1), 2 * Gaussian(2), 1.0)
    mu2 = 1 + 2 * 0.25
    expected = math.exp(-((1 - mu2 / 2) ** 2) / (2 * mu2)) / math.sqrt(2 * math.pi * mu2)
    assert f"has area {expected:.3g}," in sentence
    assert left.get_title(loc="left") == f"area of the product: {expected:.3g}"


def test_a_convolution_of_atoms_is_refused():
    _, (left, right) = new_figure(2)
    with pytest.raises(NoClosedFormError, match="has atoms"):
        draw_convolution(left, right, Gaussian(1), RandomizedResponse("0.6"), 0)
