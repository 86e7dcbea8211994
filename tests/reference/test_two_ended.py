"""Few steps of the subsampled Laplace mechanism, against the convolution of two steps and the vertical line."""

from fractions import Fraction

import mpmath
import pytest

from dplab import Composition, Gaussian, Laplace, PoissonSubsampled, RandomizedResponse, reference
from dplab.reference.contour import Contour
from dplab.reference.convolution import two_steps
from dplab.reference.law import Law
from dplab.reference.saddle import Landscape
from dplab.reference.two_ended import TwoEnded, two_ended

SAMPLED = PoissonSubsampled(Laplace(1), q="0.1")


def by_terms(law: Law, eps, digits: int):
    return TwoEnded(law, digits, Landscape(law)).find(eps)


def test_where_it_applies():
    assert two_ended(Law.of(3 * SAMPLED, "forward"))
    assert two_ended(Law.of(3 * Laplace(1), "backward"))
    assert not two_ended(Law.of(3 * SAMPLED + Laplace(1), "forward"))
    assert not two_ended(Law.of(3 * PoissonSubsampled(Gaussian(1), "0.1"), "forward"))
    assert not two_ended(Law.of(Composition.of(RandomizedResponse("0.7")), "forward"))


@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_two_steps(direction):
    law = Law.of(2 * SAMPLED, direction)
    eps = Fraction(1, 20)
    found, exact = by_terms(law, eps, 15), two_steps(law, eps, 25)
    assert abs(found.value - exact.value) <= 2 * (found.error + exact.error)
    assert found.error <= exact.value * mpmath.mpf(10) ** -15
    assert abs(found.slope - exact.slope) <= abs(exact.slope) * mpmath.mpf(10) ** -10


def test_three_laplace_steps_by_residues():
    found = by_terms(Law.of(3 * Laplace(1), "forward"), Fraction(1, 2), 15)
    exact = reference.delta(3 * Laplace(1), "0.5")
    assert abs(found.value - exact.value) <= 2 * found.error
    assert found.error <= exact.value * mpmath.mpf(10) ** -15


def test_against_a_vertical_line():
    """300 steps: the atoms' share is e^-115 or so, so that both work."""
    law = Law.of(300 * SAMPLED, "forward")
    found, line = by_terms(law, Fraction(1, 2), 12), Contour(law, 20, Landscape(law)).find(Fraction(1, 2))
    assert line.error <= line.value * mpmath.mpf(10) ** -20
    assert abs(found.value - line.value) <= 2 * (found.error + line.error)


def test_the_route_is_taken():
    found = reference.delta(3 * SAMPLED, "0.05", "remove", digits=12)
    assert found.method == "contour integral, term by term"
    assert found.reached


@pytest.mark.long
@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_forty_digits(direction):
    law = Law.of(3 * SAMPLED, direction)
    low, high = by_terms(law, Fraction(1, 20), 20), by_terms(law, Fraction(1, 20), 40)
    assert high.error <= high.value * mpmath.mpf(10) ** -40
    assert abs(low.value - high.value) <= 2 * low.error
