"""Derivations of compositions and products."""

import mpmath
import pytest
from mpmath import mpf

from dplab import (
    ApproximateDP,
    Binomial,
    Composition,
    Gaussian,
    Laplace,
    PoissonSubsampled,
    Product,
    RandomizedResponse,
    reference,
    symbolic,
)
from dplab.core.errors import ParameterError
from dplab.symbolic.numeric import number

CLOSED = [
    10 * Gaussian("sigma"),
    3 * RandomizedResponse("p") + 2 * Gaussian("sigma"),
    4 * Laplace("b"),
    5 * RandomizedResponse("p") + ApproximateDP("eps0", "delta0"),
    Product(Binomial(8, "1/2"), Binomial(6, "1/3")) + Composition(),
]
OPEN = [1000 * PoissonSubsampled(Gaussian(4), "0.01"), Gaussian("sigma") + Laplace("b")]


@pytest.mark.parametrize("direction", ["forward", pytest.param("backward", marks=pytest.mark.long)])
@pytest.mark.parametrize("composition", [*CLOSED, *OPEN], ids=repr)
def test_every_step_is_checked(composition, direction):
    derivation = symbolic.derive(composition, direction)
    assert all(row.digits >= 30 and row.comparisons for row in derivation.checked)
    stopped = derivation["Tight delta"].stopped
    assert (stopped is not None and stopped.stage == "convolution") == (composition in OPEN)


@pytest.mark.parametrize("composition", [10 * Gaussian(3), 4 * Laplace(2), 6 * RandomizedResponse("0.6")], ids=repr)
def test_delta_agrees_with_the_reference_to_40_digits(composition):
    step = symbolic.derive(composition)["Tight delta"]
    expected = reference.delta(composition, "0.4", digits=42)
    with mpmath.workdps(50):
        (symbol,) = step.expression.free_symbols
        assert abs(number(step.expression, {symbol: mpf("0.4")}) / expected.value - 1) < mpf(10) ** -40


def test_nothing_released():
    with pytest.raises(ParameterError, match="Nothing is lost"):
        symbolic.derive(Composition())
