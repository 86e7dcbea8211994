"""The public functions: input, special values, what the result says."""

import subprocess
import sys
from fractions import Fraction

import mpmath
import pytest

from dplab import Composition, DplabError, Gaussian, Laplace, PoissonSubsampled, RandomizedResponse, reference
from dplab.core.errors import ParameterError, ParameterTypeError, UnboundSymbolError

SAMPLED = 100 * PoissonSubsampled(Gaussian(sigma=4), q="0.01")


@pytest.mark.parametrize(
    ("arguments", "error", "said"),
    [
        ((SAMPLED, "nan"), ParameterError, "eps"),
        ((SAMPLED, 1, "sideways"), ParameterError, "direction"),
        ((SAMPLED, 1, "both", 0), ParameterError, "digits"),
        ((SAMPLED, 1, "both", 201), ParameterError, "digits"),
        ((SAMPLED, 1, "both", 2.5), ParameterTypeError, "digits"),
        ((SAMPLED, "eps"), UnboundSymbolError, "eps"),
        ((Gaussian("sigma"), 1), UnboundSymbolError, "sigma"),
        ((3, 1), ParameterTypeError, "composition"),
    ],
)
def test_bad_input_is_named(arguments, error, said):
    with pytest.raises(error, match=said):
        reference.delta(*arguments)


@pytest.mark.parametrize("delta", [-1e-9, 1.5, "nan", "inf"])
def test_delta_must_be_a_probability(delta):
    with pytest.raises(ParameterError, match="delta"):
        reference.epsilon(SAMPLED, delta)


def test_curve_refuses_text():
    with pytest.raises(ParameterTypeError, match="epss"):
        reference.curve(SAMPLED, "12")


def test_errors_are_dplab_errors():
    with pytest.raises(DplabError):
        reference.epsilon(Gaussian(sigma="s"), 0.1)


@pytest.mark.parametrize("digits", [1, 15, 200])
def test_nothing_released(digits):
    nothing = Composition()
    assert reference.delta(nothing, 1, digits=digits).value == 0
    assert reference.epsilon(nothing, 0, digits=digits).value == 0
    found = reference.delta(nothing, "-log(2)", digits=digits).value
    assert abs(found - mpmath.mpf(1) / 2) < mpmath.mpf(10) ** -min(digits, 15)


@pytest.mark.parametrize(
    "same", [0 * Gaussian(1), 3 * Gaussian(1, sensitivity=0), 5 * PoissonSubsampled(Laplace(1), 0)]
)
def test_lossless_compositions(same):
    assert reference.delta(same, 0).value == 0
    assert reference.epsilon(same, 0).value == 0


@pytest.mark.parametrize("composition", [Gaussian(1), 3 * Laplace(2), SAMPLED, 5 * RandomizedResponse("0.7")])
def test_infinite_eps(composition):
    assert reference.delta(composition, float("inf")).value == 0
    assert reference.delta(composition, float("-inf")).value == 1


def test_no_overlap():
    assert reference.delta(2 * Gaussian(0), 5).value == 1
    assert reference.epsilon(2 * Gaussian(0), 0.5).value == mpmath.inf
    assert reference.epsilon(2 * Gaussian(0), 1).value == 0


def test_delta_one_is_no_demand():
    found = reference.epsilon(SAMPLED, 1)
    assert (found.value, found.error) == (0, 0)
    assert "by convention" in found.method


def test_delta_at_zero_exactly_gives_eps_zero():
    """delta(0) of randomised response is 2p - 1."""
    found = reference.epsilon(RandomizedResponse("0.75"), "0.5")
    assert found.value == 0
    just_less = reference.epsilon(RandomizedResponse("0.75"), Fraction(1, 2) - Fraction(1, 10**30))
    assert 0 < just_less.value < mpmath.mpf(10) ** -29


def test_mass_at_infinity_with_a_bounded_loss():
    """Without noise, removal is seen with probability q; otherwise the loss is log(1-q) < 0: eps 0 will do."""
    composition = 2 * PoissonSubsampled(Gaussian(0), q="0.1")
    assert reference.epsilon(composition, "0.19", "remove").value == 0
    assert reference.epsilon(composition, "0.1899999", "remove").value == mpmath.inf
    together = composition + RandomizedResponse("0.75")
    found = reference.epsilon(together, "0.19", "remove")
    with mpmath.workdps(50):
        expected = 2 * mpmath.log(mpmath.mpf(9) / 10) + mpmath.log(3)
        assert abs(found.value - expected) < mpmath.mpf(10) ** -39
    assert found.method.startswith("largest finite loss")


def test_outside_the_losses():
    composition = 3 * Laplace(2)
    assert reference.delta(composition, "1.5").value == 0
    assert reference.delta(composition, 7).value == 0
    with mpmath.workdps(60):
        below = reference.delta(composition, -2).value
        assert abs(below - (1 - mpmath.exp(-2))) < mpmath.mpf(10) ** -40


def test_both_is_the_larger_direction():
    remove, add, both = (
        reference.delta(SAMPLED, "0.1", direction, digits=20) for direction in ("remove", "add", "both")
    )
    assert both.value == max(remove.value, add.value)
    assert both.direction == "both"
    assert both.method.endswith("forward")
    assert add.direction == "backward"


def test_log_delta():
    found = reference.log_delta(5000 * Gaussian(50), 20, digits=30)
    with mpmath.workdps(50):
        expected = mpmath.log(mpmath.mpf("1.778135294473348174528651690920947914584e-42"))
        assert abs(found.value - expected) < mpmath.mpf(10) ** -28
    assert found.quantity == "log delta"
    assert reference.log_delta(Laplace(1), 3).value == -mpmath.inf


def test_log_delta_far_below_floats():
    """Mills' ratio, first term: delta ~ phi(a) mu/(a^2 - ...) to a few digits; here log10 delta ~ -217,147."""
    found = reference.log_delta(Gaussian(1), 1000, digits=20)
    assert abs(found.value + mpmath.mpf("999.5") ** 2 / 2) < 20


def test_curve_is_the_function_at_each_point():
    epss = [-1, 0, "0.5", 2]
    points = reference.curve(10 * Laplace(2), epss, digits=20)
    assert points.eps == (-1.0, 0.0, 0.5, 2.0)
    for eps, point in zip(epss, points, strict=True):
        assert point.value == reference.delta(10 * Laplace(2), eps, digits=20).value


@pytest.mark.long
def test_precision_is_left_alone():
    before = mpmath.mp.dps
    reference.delta(SAMPLED, 1, digits=30)
    reference.epsilon(SAMPLED, 1e-9, digits=20)
    assert mpmath.mp.dps == before
    with pytest.raises(ParameterError):
        reference.delta(SAMPLED, 1, digits=500)
    assert mpmath.mp.dps == before


def test_floats_mean_their_decimals():
    a = reference.delta(10 * Gaussian(sigma=0.1), 0.1, digits=50)
    b = reference.delta(10 * Gaussian(sigma="1/10"), "1/10", digits=50)
    assert a.value == b.value


def test_import_without_numpy():
    code = "import sys, dplab.reference; print(any(name in sys.modules for name in ('numpy', 'scipy', 'sympy')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.long
def test_a_case_in_under_a_second():
    """delta(1) to 40 digits of sigma=4, q=0.01, k=10^4, both directions, in a fresh process."""
    code = (
        "import time\nfrom dplab import Gaussian, PoissonSubsampled, reference\nstart = time.process_time()\n"
        "reference.delta(10_000 * PoissonSubsampled(Gaussian(sigma=4), q='0.01'), 1)\n"
        "print(time.process_time() - start)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert float(done.stdout) < 1.0
