"""delta by its definition, unevaluated: on samples too, and where nothing is left above eps."""

import itertools

import mpmath
import pytest
from mpmath import mpf

from dplab import PoissonSubsampled, symbolic

from .laws import GEOMETRICS, MIXTURES, POISSONS, normals_density

P, Q = normals_density(0, 3), normals_density(1, 4)


def _sampled_delta(eps, backward: bool):
    """The integral of max(0, .), with the mixture of rate 1/10 written out, split finely."""

    def excess(t):
        mixed = (P(t) + 9 * Q(t)) / 10
        first, second = (Q(t), mixed) if backward else (mixed, Q(t))
        return first - mpmath.exp(eps) * second

    points = [mpf(i) / 4 for i in range(-60, 81)]
    total = mpf(0)
    for a, b in itertools.pairwise(points):
        cut = [mpmath.findroot(excess, (a, b), solver="anderson")] if excess(a) * excess(b) < 0 else []
        for low, high in itertools.pairwise([a, *cut, b]):
            if excess((low + high) / 2) > 0:
                total += mpmath.quad(excess, [low, high])
    return total


@pytest.mark.parametrize(("eps", "way"), [("0.3", "forward"), ("1", "forward"), ("-0.2", "backward")])
def test_sampled_without_a_closed_form(eps, way):
    found = symbolic.delta(PoissonSubsampled(MIXTURES, "0.1"), eps, way)
    assert "Integral(Max(0" in str(found)
    with mpmath.workdps(25):
        assert abs(found.evaluate(20) - _sampled_delta(mpf(eps), way == "backward")) < mpf(10) ** -18


def test_sampled_with_a_symbol_for_eps():
    found = symbolic.delta(PoissonSubsampled(MIXTURES, "0.1"), "eps", "forward")
    with mpmath.workdps(25):
        assert abs(found.evaluate(20, eps="0.3") - _sampled_delta(mpf("0.3"), False)) < mpf(10) ** -18
        assert abs(found.evaluate(20, eps="-0.2") + mpmath.expm1(mpf("-0.2"))) < mpf(10) ** -18


@pytest.mark.parametrize(
    ("pair", "eps", "way"),
    [(GEOMETRICS, "0.3", "backward"), (POISSONS, "1", "forward")],
)
def test_exactly_zero_where_no_loss_is_above_eps(pair, eps, way):
    """Losses end at log(5/4) and at 1 exactly; two thousand digits of 0 would take a minute."""
    assert symbolic.delta(pair, eps, way).evaluate(20) == 0


def test_next_to_the_largest_loss():
    """Only t = 0 has a loss above 0.99999: delta = e^-3 - e^{0.99999 - 4}."""
    with mpmath.workdps(25):
        true = mpmath.exp(-3) - mpmath.exp(mpf("0.99999") - 4)
        assert abs(symbolic.delta(POISSONS, "0.99999", "forward").evaluate(15) - true) < mpf(10) ** -20
