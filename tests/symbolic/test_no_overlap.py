"""P and Q that share few outcomes or none: every route has an answer, and the derivation says why."""

import math
from fractions import Fraction

import pytest
import sympy

from dplab import (
    ApproximateDP,
    Binomial,
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    Laplace,
    Pair,
    PoissonSubsampled,
    Product,
    clt,
    fourier,
    reference,
    symbolic,
)
from dplab.core.errors import ParameterError

APART = {
    "tables": Pair.from_tables([1, 0], [0, 1]),
    "tables of several": Pair.from_tables(["1/2", "1/2", 0], [0, 0, 1]),
    "intervals": Pair.from_text("heaviside(t)*heaviside(1 - t)", "heaviside(t - 2)*heaviside(3 - t)"),
    "intervals that touch": Pair.from_text("heaviside(t)*heaviside(1 - t)", "heaviside(t - 1)*heaviside(2 - t)"),
    "points": Pair.from_text("dirac(t)", "dirac(t - 1)"),
    "whole numbers": Pair.from_text(
        "piecewise((1/2, j < 2), (0, True))", "piecewise((0, j < 2), (1/2, True))", "j", (0, 3), discrete=True
    ),
    "a shift beyond all outcomes": Binomial(3, "0.5", 4),
    "no noise": Gaussian(0),
    "no Laplace noise": Laplace(0),
    "no discrete noise": DiscreteGaussian(0),
    "no geometric noise": DiscreteLaplace(0),
    "everything told": ApproximateDP(1, 1),
    "several steps": 3 * Pair.from_tables([1, 0], [0, 1]),
    "beside noise": Pair.from_tables([1, 0], [0, 1]) + Gaussian(1),
    "beside noise in a product": Product(Laplace(1), Gaussian(0)),
}


@pytest.mark.parametrize("name", APART)
@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_no_overlap_is_delta_one_on_every_route(name, direction):
    pair = APART[name]
    derivation = symbolic.derive(pair, direction)
    assert derivation["Tight delta"].expression == 1
    assert derivation["Trade-off function"].expression == 0
    assert derivation["Privacy loss distribution"].lines[-1].right == 1
    assert not derivation.stopped
    assert symbolic.delta(pair, "eps", direction).expression == 1
    assert symbolic.pld(pair, direction).mass_at_infinity == 1
    assert symbolic.mgf(pair, direction=direction).expression == 0
    for eps in (-2, 0, 7):
        assert reference.delta(pair, eps, direction).value == 1
        bracket = fourier.delta(pair, eps, direction)
        assert 1 - 1e-12 < bracket.lower <= bracket.upper == 1  # sums of masses count their rounding
        assert clt.delta(pair, eps, direction).value == 1
    for delta in ("0", "0.1"):
        assert symbolic.epsilon(pair, delta, direction).expression == sympy.oo
        assert reference.epsilon(pair, delta, direction).value == math.inf
        assert fourier.epsilon(pair, delta, direction).lower == math.inf
        assert clt.epsilon(pair, delta, direction).value == math.inf


FEW = {
    "one common outcome": (Pair.from_tables(["1/2", "1/2", 0], [0, "1/3", "2/3"]), 1, Fraction(1, 2)),
    "one common outcome, alike": (Pair.from_tables(["1/2", "1/2", 0], [0, "1/2", "1/2"]), 1, Fraction(1, 2)),
    "P on some of Q's": (Pair.from_tables([1, 0], ["1/2", "1/2"]), 1, 0),
    "Q on some of P's": (Pair.from_tables(["1/2", "1/2"], [0, 1]), 1, Fraction(1, 2)),
    "overlapping intervals": (
        Pair.from_text("heaviside(t)*heaviside(1 - t)", "heaviside(t - 1/2)*heaviside(3/2 - t)"), 1, Fraction(1, 2),
    ),
    "three steps with one loss": (
        3 * Pair.from_tables(["1/2", "1/2", 0], [0, "1/3", "2/3"]), 3, 1 - Fraction(1, 8)
    ),
    "no noise on a sample": (PoissonSubsampled(Gaussian(0), "0.1"), 1, Fraction(1, 10)),
    "no discrete noise on a sample": (PoissonSubsampled(DiscreteLaplace(0), "0.1"), 1, Fraction(1, 10)),
    "a shift beyond all outcomes on a sample": (PoissonSubsampled(Binomial(3, "0.5", 4), "0.1"), 1, Fraction(1, 10)),
}  # fmt: skip


@pytest.mark.parametrize("name", FEW)
def test_little_overlap(name):
    pair, steps, infinite = FEW[name]
    assert reference.delta(pair, 50, "forward").value == pytest.approx(float(infinite), abs=1e-15)
    for direction in ("forward", "backward"):
        derivation = symbolic.derive(pair, direction)
        assert all(row.digits >= 30 for row in derivation.checked)
        title = "Privacy loss distribution" if steps == 1 else "Mass at infinity"
        found = derivation[title].lines[-1].right
        assert direction == "backward" or found == sympy.Rational(infinite)


def test_the_part_that_decides_is_named():
    assert "TablePair(p=[1, 0], q=[0, 1]) do not overlap" in symbolic.derive(APART["beside noise"]).note


def test_equal_distributions_lose_nothing_and_have_no_derivation():
    for pair in (Pair.from_tables(["1/2", "1/2"], ["1/2", "1/2"]), Pair.from_text("exp(-abs(t))/2", "exp(-abs(t))/2")):
        with pytest.raises(ParameterError, match="Nothing is lost here"):
            symbolic.derive(pair)
        assert reference.delta(pair, 0).value == fourier.delta(pair, 0).upper == clt.delta(pair, 0).value == 0
