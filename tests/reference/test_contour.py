"""The vertical line: against closed forms, in all three strips, and what it says where it stops early."""

from fractions import Fraction

import mpmath
import pytest

from dplab import Composition, Gaussian, Laplace, PoissonSubsampled, RandomizedResponse, fourier, reference
from dplab.reference.contour import BRIEF, Contour
from dplab.reference.law import Law
from dplab.reference.saddle import Landscape
from dplab.reference.single_step import gaussians, single_step


def contour(composition, direction="forward", digits=30, **keywords) -> Contour:
    law = Law.of(Composition.of(composition), direction)
    return Contour(law, digits, Landscape(law), **keywords)


@pytest.mark.parametrize("eps", [-40, -3, 0, Fraction(1, 2), 3, 40])
@pytest.mark.parametrize("sigma", ["0.5", "3"])
def test_gaussian_closed_form(eps, sigma):
    """From delta near 1 (left of both poles) to delta = 1e-1000."""
    composition = 20 * Gaussian(sigma)
    found = contour(composition).find(eps)
    exact = gaussians(Law.of(composition, "forward"), eps, 40)
    assert abs(found.value - exact.value) <= 2 * found.error
    assert found.error <= exact.value * mpmath.mpf(10) ** -30
    assert abs(found.slope - exact.slope) <= max(abs(exact.slope), exact.value) * mpmath.mpf(10) ** -25


def test_a_rule_agrees_with_a_closed_form():
    """q = 1/2 of a Gaussian, one step, where the tails are closed and M is not."""
    pair = PoissonSubsampled(Gaussian(sigma="0.9"), q="0.5")
    law = Law.of(Composition.of(pair + Gaussian(sigma=3)), "backward")
    found = Contour(law, 20, Landscape(law)).find(Fraction(1, 5))
    from dplab.reference.convolution import two_steps

    exact = two_steps(law, Fraction(1, 5), 30)
    assert abs(found.value - exact.value) <= 2 * found.error
    assert found.error <= exact.value * mpmath.mpf(10) ** -20


def test_cost_is_independent_of_k():
    """The same mu in total: as many nodes for 10^3 steps as for 10^7."""
    nodes = []
    for k in (10**3, 10**7):
        one = contour(Composition([(Gaussian(sigma=f"sqrt({k})"), k)]), digits=20)
        one.find(2)
        nodes.append(sum(len(line.values) for line in one.lines))
    assert nodes[0] == nodes[1]


def test_ten_million_subsampled_steps_against_the_normal_limit():
    """DRS22: the limit is Gaussian with mu = q sqrt(k (e^{1/sigma^2} - 1)); the distance shrinks like 1/sqrt(k)."""
    distances = []
    for power in (4, 7):
        k = 10**power
        composition = k * PoissonSubsampled(Gaussian(sigma=1), q=f"1/sqrt({k})")
        found = contour(composition, digits=15).find(1)
        mu = mpmath.sqrt(mpmath.e - 1)
        limit = mpmath.ncdf(-1 / mu + mu / 2) - mpmath.e * mpmath.ncdf(-1 / mu - mu / 2)
        distances.append(abs(found.value - limit))
    assert distances[0] / distances[1] > 20
    assert distances[1] < 1e-3


def test_too_few_digits_are_admitted():
    """Five Laplace steps: the atoms' share never decays."""
    found = contour(5 * Laplace(1), digits=20).find(1)
    from dplab import reference

    exact = reference.delta(5 * Laplace(1), 1)
    assert abs(found.value - exact.value) <= found.error
    assert found.error > exact.value * mpmath.mpf(10) ** -20


def test_only_the_whole_line_or_none():
    assert contour(3 * PoissonSubsampled(Gaussian(1), "0.01"), limits=BRIEF, whole=True).find(1) is None


def test_lines_are_kept_for_eps_nearby():
    kept = contour(1000 * PoissonSubsampled(Gaussian(2), "0.01"), digits=15)
    first = kept.find(1)
    again = kept.again(Fraction(101, 100))
    fresh = contour(1000 * PoissonSubsampled(Gaussian(2), "0.01"), digits=15).find(Fraction(101, 100))
    assert again is not None
    assert abs(again.value - fresh.value) <= 2 * (again.error + fresh.error)
    assert again.value < first.value
    assert kept.again(30) is None


def test_mixed_with_atoms():
    """30 randomised responses and 40 Gaussians: a sum over atoms of closed forms does the same."""
    composition = 30 * RandomizedResponse("0.6") + 40 * Gaussian(10)
    found = contour(composition, digits=20).find(1)
    with mpmath.workdps(40):
        mu, c, p = mpmath.sqrt(mpmath.mpf(40)) / 10, mpmath.log(mpmath.mpf(3) / 2), mpmath.mpf(3) / 5
        total = mpmath.mpf(0)
        for j in range(31):
            x = 1 - (2 * j - 30) * c
            profile = mpmath.ncdf(mu / 2 - x / mu) - mpmath.exp(x) * mpmath.ncdf(-mu / 2 - x / mu)
            total += mpmath.binomial(30, j) * p**j * (1 - p) ** (30 - j) * profile
    assert abs(found.value - total) <= 2 * found.error
    assert found.error <= total * mpmath.mpf(10) ** -20


def test_slope_is_the_derivative():
    composition = 100 * PoissonSubsampled(Gaussian(2), "0.1")
    law, h = Law.of(composition, "forward"), Fraction(1, 10**8)
    one = Contour(law, 25, Landscape(law))
    middle = one.find(1)
    with mpmath.workdps(40):
        difference = (one.find(1 + h).value - one.find(1 - h).value) / (2 * mpmath.mpf(10) ** -8)
        assert abs(difference - middle.slope) < abs(middle.slope) * mpmath.mpf(10) ** -12


def test_single_step_for_reference():
    law = Law.of(Composition.of(Gaussian(1)), "forward")
    assert abs(Contour(law, 20, Landscape(law)).find(1).value - single_step(law, 1, 20).value) < mpmath.mpf(10) ** -20


def test_where_no_step_can_be_chosen_the_error_says_so():
    """Eps near the end of losses that are bounded on a scale far below the tilt."""
    composition = 6 * PoissonSubsampled(Gaussian("66.37"), "0.0002137")
    found = reference.delta(composition, "0.000205945945", digits=20)
    bracket = fourier.delta(composition, "0.000205945945")
    assert bracket.reached
    assert found.value - found.error <= bracket.upper
    assert found.value + found.error >= bracket.lower


def test_a_quick_line_loads_no_progress_bar(monkeypatch):
    def no_bar(*_, **__):
        raise AssertionError("a bar was made")

    monkeypatch.setattr("dplab.core.progress.progress", no_bar)
    law = Law.of(400 * PoissonSubsampled(Gaussian(1), "0.02"), "forward")
    assert Contour(law, 15, Landscape(law)).find(2).value > 0
    monkeypatch.setattr("dplab.reference.contour.LONG", 0)
    with pytest.raises(AssertionError, match="a bar was made"):
        Contour(law, 15, Landscape(law)).find(2)
