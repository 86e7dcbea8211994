"""Two steps whose densities vanish, are infinite or fall slowly at an end, against integrals done by hand."""

import mpmath
import pytest
from mpmath import mpf

from dplab import Pair, fourier, reference
from dplab.mechanisms.own import tails
from dplab.reference.arithmetic import FN


def linear(eps):
    """2t over 1 on (0, 1): 4 t1 t2 exceeds e^eps where t1 t2 > a = e^eps/4."""
    a = mpmath.exp(eps) / 4
    return 1 - 4 * a + 3 * a**2 - 2 * a**2 * mpmath.log(a)


def square_root(eps):
    """3/2 sqrt(t) over 1 on (0, 1): 9/4 sqrt(t1 t2) exceeds e^eps where t1 t2 > b."""
    b = (4 * mpmath.exp(eps) / 9) ** 2
    # the masses of {t1 t2 > b}, with v = t1 t2 of density -log v under Q and -9/4 sqrt(v) log v under P
    q = 1 - b + b * mpmath.log(b)
    p = 1 - mpf(9) / 4 * (4 * b**1.5 / 9 - 2 * b**1.5 * mpmath.log(b) / 3)
    return p - mpmath.exp(eps) * q


def pareto(eps):
    """2/t^3 over 3/t^4 from 1 on: 4/9 t1 t2 exceeds e^eps where t1 t2 > c."""
    c = 9 * mpmath.exp(eps) / 4
    # log t is exponential of rate 2 and of rate 3, the sum of two a gamma law
    return c**-2 * (1 + 2 * mpmath.log(c)) - mpmath.exp(eps) * c**-3 * (1 + 3 * mpmath.log(c))


CASES = {
    "linear": ("2*t", "1", (0, 1), linear),
    "square root": ("3/2*sqrt(t)", "1", (0, 1), square_root),
    "Pareto": ("2/t**3", "3/t**4", (1, "oo"), pareto),
}


@pytest.mark.parametrize("name", CASES)
def test_by_hand(name):
    p, q, support, by_hand = CASES[name]
    pair = Pair.from_text(p, q, support=support)
    found = reference.delta(2 * pair, "0.5", "forward", digits=15)
    bracket = fourier.delta(2 * pair, "0.5", "forward")
    with mpmath.workdps(40):
        true = by_hand(mpf("0.5"))
        assert abs(found.value - true) <= found.error + mpf(10) ** -30
        assert found.error < mpf(10) ** -15
        assert bracket.lower <= true <= bracket.upper


@pytest.mark.long
@pytest.mark.parametrize(
    ("p", "q", "support"), [("exp(-sqrt(t))/(2*sqrt(t))", "exp(-t)", (0, "oo")), ("-log(t)", "1", (0, 1))]
)
def test_a_density_infinite_at_an_end(p, q, support):
    """A rule as narrow as the pole would see next to nothing of the law."""
    pair = Pair.from_text(p, q, support=support)
    found = reference.delta(2 * pair, "0.5", "forward", digits=8)
    bracket = fourier.delta(2 * pair, "0.5", "forward")
    assert bracket.lower <= found.value + found.error
    assert found.value - found.error <= bracket.upper
    assert found.error < 0.01


SAME = {
    "beta": (("6*t*(1 - t)", "1", (0, 1)), ("12*t*(1 - t)", "2", (0, "1/2"))),
    "mixture": (
        ("(exp(-(t - 1)**2/2) + exp(-(t + 1)**2/2))/(2*sqrt(2*pi))", "exp(-t**2/2)/sqrt(2*pi)", None),
        ("(exp(-(t - 1)**2/2) + exp(-(t + 1)**2/2))/sqrt(2*pi)", "2*exp(-t**2/2)/sqrt(2*pi)", (0, "oo")),
    ),
    "logistic": (
        ("exp(-(t - 1))/(1 + exp(-(t - 1)))**2", "exp(-t)/(1 + exp(-t))**2", None),
        ("exp(1)/(t + exp(1)*(1 - t))**2", "1", (0, 1)),
    ),
}
"""Pairs with the same privacy loss: folded at their symmetry, or told in the quantiles of Q."""


@pytest.mark.parametrize("name", SAME)
@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_pairs_with_the_same_loss(name, direction):
    one, other = (
        reference.delta(2 * Pair.from_text(p, q, support=support), "0.5", direction, digits=20)
        for p, q, support in SAME[name]
    )
    assert one.reached
    assert other.reached
    assert abs(one.value - other.value) <= one.error + other.error


@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize(
    ("p", "q"),
    [
        ("1/(pi*(1 + (t - 1)**2))", "1/(pi*(1 + t**2))"),
        ("max(0, 1 - abs(t - 1/4))", "max(0, 1 - abs(t))"),
    ],
)
def test_losses_that_turn(p, q, direction):
    """Cauchy and triangular noise: three pieces each, twenty digits, inside brackets made from intervals."""
    pair = Pair.from_text(p, q)
    found = reference.delta(2 * pair, "0.5", direction, digits=20)
    assert found.method.startswith("convolution of two steps")
    assert found.reached
    bracket = fourier.delta(2 * pair, 0.5, direction)
    assert bracket.lower <= found.value <= bracket.upper <= bracket.lower * 1.001


def test_a_loss_that_rounding_cannot_tell_from_its_limit():
    """eps - s comes within a rounding of -1, where the formula of the inverse divides by 0."""
    pair = Pair.from_text("exp(-(t - 1))/(1 + exp(-(t - 1)))**2", "exp(-t)/(1 + exp(-t))**2")
    (piece,) = pair.pieces
    with mpmath.workdps(30):
        near = -1 + mpf(10) ** -29
        assert tails.outcome(FN, piece, near) < -60
