"""Laplace by residues, against its contour, a recurrence for the residues, and the density of the sum."""

import mpmath
import pytest

from dplab import Laplace, reference
from dplab.reference.contour import Contour
from dplab.reference.law import Law
from dplab.reference.saddle import Landscape
from dplab.reference.two_ended import TwoEnded


def by_recurrence(k: int, e0: str, eps: str, places: int):
    """delta from the Taylor coefficients of (w+1/2)^{j-1} (w-1/2)^{i-1} e^{bw} at w = 0, i + j = k; plus 1 (w = 1/2).

    The coefficients c_n follow from the differential equation of that function.
    """
    with mpmath.workdps(places):
        e0, eps, half = mpmath.mpf(e0), mpmath.mpf(eps), mpmath.mpf(1) / 2
        total, i = mpmath.mpf(1), 0
        while (k - 2 * i) * e0 > eps:
            b, one, other = (k - 2 * i) * e0 - eps, k - i - 1, i - 1
            before, last, now = mpmath.mpf(0), mpmath.mpf(0), half**one * (-half) ** other
            for n in range(k - 1):
                following = 4 * ((n + 1 - k) * last - ((other - one) * half - b / 4) * now - b * before) / (n + 1)
                before, last, now = last, now, following
            total += mpmath.binomial(k, i) * mpmath.exp(-i * e0 - b / 2) * now / mpmath.mpf(2) ** k
            i += 1
        return total


@pytest.mark.parametrize(
    ("k", "b", "eps"),
    [(2, "1", "0.5"), (3, "0.5", "-1"), (7, "1", "0"), (20, "2", "5"), (60, "10", "3"), (40, "1", "39.5")],
)
def test_against_the_recurrence(k, b, eps):
    found = reference.delta(k * Laplace(b), eps, digits=40)
    with mpmath.workdps(120):
        expected = by_recurrence(k, 1 / mpmath.mpf(b), eps, 120 + 2 * k)
        assert abs(found.value - expected) <= abs(expected) * mpmath.mpf(10) ** -40
    assert found.method == "residues"


@pytest.mark.long
def test_the_entry_that_truth_has_wrong():
    """tests/data/README.md: the contour behind the public value missed where |M| revives."""
    found = reference.delta(1000 * Laplace(10), 12, digits=40)
    with mpmath.workdps(60):
        expected = by_recurrence(1000, "0.1", "12", 700)
        assert abs(found.value - expected) <= expected * mpmath.mpf(10) ** -40
        claimed = mpmath.mpf("0.005525805808753770331146337373881486651624")
        assert mpmath.mpf(10) ** -25 < abs(found.value / claimed - 1) < mpmath.mpf(10) ** -24


def test_against_the_contour():
    """k = 400, b = 1: the atoms' share is small enough for a vertical line to reach 20 digits."""
    law = Law.of(400 * Laplace(1), "forward")
    one = reference.delta(400 * Laplace(1), 120, digits=20)
    other = Contour(law, 20, Landscape(law)).find(120)
    assert abs(one.value - other.value) <= 2 * (one.error + other.error)


@pytest.mark.long
def test_the_contour_admits_what_the_atoms_hide():
    """b = 10, k = 1000: the atoms revive, the line stops early, and its error says so."""
    law = Law.of(1000 * Laplace(10), "forward")
    found = Contour(law, 40, Landscape(law)).find(12)
    exact = reference.delta(1000 * Laplace(10), 12, digits=40)
    assert abs(found.value - exact.value) <= found.error
    assert mpmath.mpf(10) ** -26 < found.error / found.value < mpmath.mpf(10) ** -20


def test_against_terms_bent_to_both_sides():
    law = Law.of(20 * Laplace(2), "forward")
    found = TwoEnded(law, 15, Landscape(law)).find(4)
    exact = reference.delta(20 * Laplace(2), 4, digits=30)
    assert abs(found.value - exact.value) <= 2 * found.error
    assert found.error < 1e-13


@pytest.mark.long
def test_two_thousand_steps_at_forty_digits():
    found = reference.delta(2000 * Laplace(1000), "0.1", digits=40)
    assert found.reached
    more = reference.delta(2000 * Laplace(1000), "0.1", digits=60)
    assert abs(found.value - more.value) <= 2 * found.error
