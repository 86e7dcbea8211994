"""The bent contour against the convolution of two steps, the vertical line, and itself at other digits."""

from fractions import Fraction

import mpmath
import pytest

from dplab import Composition, Gaussian, Laplace, PoissonSubsampled
from dplab.reference.bent import BentContour, bends
from dplab.reference.bulk import BULK
from dplab.reference.contour import Contour
from dplab.reference.convolution import two_steps
from dplab.reference.law import Law
from dplab.reference.paths import SubsampledGaussian
from dplab.reference.saddle import Landscape


def sampled(sigma, q):
    return PoissonSubsampled(Gaussian(sigma), q)


def bent(law: Law, eps, digits: int):
    return BentContour(law, digits, Landscape(law)).find(eps)


def test_where_it_applies():
    assert bends(Law.of(3 * sampled(1, "0.1") + Gaussian(2), "forward"))
    assert not bends(Law.of(3 * Gaussian(2), "forward"))
    assert not bends(Law.of(3 * sampled(1, "0.1") + Laplace(2), "forward"))
    assert not bends(Law.of(3 * sampled(0, "0.1"), "forward"))


@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize(
    ("composition", "eps"),
    [
        (2 * sampled(1, "0.01"), Fraction(1, 100)),
        (sampled(3, "0.3") + sampled(1, "0.5"), Fraction(-1, 5)),
    ],
)
def test_two_steps(composition, eps, direction):
    law = Law.of(composition, direction)
    found, exact = bent(law, eps, 12), two_steps(law, eps, 20)
    assert abs(found.value - exact.value) <= 2 * (found.error + exact.error)
    assert found.error <= exact.value * mpmath.mpf(10) ** -12
    assert abs(found.slope - exact.slope) <= abs(exact.slope) * mpmath.mpf(10) ** -10


@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_against_a_vertical_line(direction):
    law = Law.of(400 * sampled(1, "0.02"), direction)
    found, line = bent(law, 2, 12), Contour(law, 20, Landscape(law)).find(2)
    assert line.error <= line.value * mpmath.mpf(10) ** -20
    assert abs(found.value - line.value) <= 2 * (found.error + line.error)


def test_without_noise_in_the_limit():
    """sigma = 0.03: the two outputs hardly overlap, delta is 1 - (1-q)^k but for less than 1e-40."""
    found = bent(Law.of(5 * sampled("0.03", "0.1"), "forward"), Fraction(1, 2), 12)
    with mpmath.workdps(30):
        assert abs(found.value - (1 - mpmath.mpf("0.9") ** 5)) < mpmath.mpf(10) ** -12


def test_a_tiny_delta_of_a_heavy_tail():
    """100 steps, sigma=4, q=0.01, eps=1: one large loss does it. Between one step's delta and 100 e^{...} times it."""
    composition = 100 * sampled(4, "0.01")
    found = bent(Law.of(composition, "forward"), 1, 10)
    from dplab import reference

    single = reference.delta(sampled(4, "0.01"), 1, "forward").value
    assert found.error <= found.value * mpmath.mpf(10) ** -10
    assert 100 * single < found.value < 10**5 * single


@pytest.mark.long
@pytest.mark.parametrize(
    ("composition", "eps", "direction"),
    [
        (3 * sampled(1, "0.01"), Fraction(1, 10), "forward"),
        (3 * sampled(4, "0.01"), Fraction(1, 10), "forward"),
        (3 * sampled(1, "0.01"), Fraction(1, 50), "backward"),
        (20 * sampled(1, "0.01"), 1, "forward"),
        (1000 * sampled("0.5", "0.001"), 3, "forward"),
        (4 * sampled("0.2", "0.02"), Fraction(1, 20), "backward"),
        (30 * sampled(2, "0.1") + 3 * sampled("0.7", "0.01") + Gaussian(20), 1, "forward"),
    ],
)
def test_forty_digits(composition, eps, direction):
    law = Law.of(composition, direction)
    low, high = bent(law, eps, 20), bent(law, eps, 40)
    assert high.error <= high.value * mpmath.mpf(10) ** -40
    assert abs(low.value - high.value) <= 2 * low.error


def test_means_on_paths_against_integer_moments():
    """E_Q[(1 + r e^u)^n] = sum C(n,j) r^j e^{j(j-1) mu^2/2}."""
    pair = sampled("0.8", "0.2")
    with BULK.at(40):
        means = SubsampledGaussian(pair, 40, 0.05, 0.0)
        r, mu = mpmath.mpf(1) / 4, 1 / mpmath.mpf("0.8")
        for n in (0, 1, 2, 5):
            exact = mpmath.fsum(
                mpmath.binomial(n, j) * r**j * mpmath.exp(j * (j - 1) * mu**2 / 2) for j in range(n + 1)
            )
            found = means.mean(mpmath.mpc(n - 1), 100.0, 1e-20)
            assert abs(found.value - exact) < exact * mpmath.mpf(10) ** -35


@pytest.mark.parametrize("z", [(3, 2), (20, 60), (70, 153), (74, 157), (1000, 2500), (-8, 30)])
def test_paths_of_other_families_agree(z):
    """Different heights, steps and so different paths give the same mean: no branch cut is crossed, none resonates."""
    pair = sampled(1, "0.01")
    with BULK.at(40):
        one, other = SubsampledGaussian(pair, 40, 0.07, 0.0), SubsampledGaussian(pair, 40, 0.061, 0.07)
        a, b = (means.mean(mpmath.mpc(*z), 95.0, 1e-18) for means in (one, other))
        assert abs(a.value - b.value) < mpmath.mpf(10) ** -33


def test_runs_are_kept_for_eps_nearby():
    law = Law.of(3 * sampled(1, "0.05"), "forward")
    kept = BentContour(law, 12, Landscape(law))
    assert kept.again(1) is None
    kept.find(Fraction(1, 5))
    again, fresh = kept.again(Fraction(21, 100)), bent(law, Fraction(21, 100), 12)
    assert again is not None
    assert abs(again.value - fresh.value) <= 2 * (again.error + fresh.error)


def test_a_composition_in_one_piece_or_in_parts():
    one = Law.of(Composition([(sampled(1, "0.1"), 3)]), "forward")
    two = Law.of(sampled(1, "0.1") + 2 * sampled(1, "0.1"), "forward")
    assert bent(one, 1, 10).value == bent(two, 1, 10).value
