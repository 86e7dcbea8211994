"""Deltas below 1e-300: long doubles through the same interval code, against 40 digits and the references."""

import math
import operator

import mpmath
import numpy as np
import pytest

from dplab import Gaussian, Laplace, PoissonSubsampled, fourier, reference
from dplab.fourier.intervals import Interval, IntervalTable
from dplab.fourier.wide import HAS_WIDE, exp_of, half_erfc, is_wide, least, log_of, narrow_down, narrow_up, widened

FN = IntervalTable()
wide_only = pytest.mark.skipif(not HAS_WIDE, reason="long double is no wider than float64 on this machine")


def exact(x) -> mpmath.mpf:
    """A long double as the number it is."""
    mantissa, exponent = np.frexp(x)
    high = float(mantissa)
    return mpmath.ldexp(mpmath.mpf(high) + mpmath.mpf(float(mantissa - np.longdouble(high))), int(exponent))


@wide_only
def test_numbers_are_narrowed_outwards():
    x = widened(np.array([0.1, -0.1, 3.0]), True) / 3
    assert is_wide(x)
    assert not is_wide(narrow_down(x))
    assert (narrow_down(x) <= x).all()
    assert (narrow_up(x) >= x).all()
    assert narrow_down(x)[2] == narrow_up(x)[2] == 1.0
    tiny = widened(np.array([1.0]), True) * least(x)
    assert narrow_down(tiny)[0] == 0.0 < narrow_up(tiny)[0]


@wide_only
def test_logarithms_and_exponentials():
    assert log_of(exp_of(-5000.0, wide=True)) == pytest.approx(-5000.0, rel=1e-15)
    assert log_of(exp_of(-50.0, wide=False)) == pytest.approx(-50.0, rel=1e-15)
    assert log_of(0.0) == -math.inf


@wide_only
def test_half_erfc_has_the_accuracy_it_states():
    a = widened(np.linspace(-6, 105, 400), True) / np.longdouble(1.01)
    value, relative = half_erfc(a)
    with mpmath.workdps(60):
        for at, found, error in zip(a, value, relative, strict=True):
            true = mpmath.erfc(exact(at)) / 2
            assert abs(exact(found) / true - 1) <= float(error) + 1e-24


@wide_only
@pytest.mark.parametrize("d", [1e-6, 0.004, 0.3, 2.0])
def test_the_gaussian_excess_is_enclosed_far_out(d):
    t = widened(np.linspace(-3, 140, 120), True)
    found = FN.normal_excess(Interval(t, t), d)
    assert is_wide(found.lo)
    with mpmath.workdps(60):
        for at, low, high in zip(t, found.lo, found.hi, strict=True):
            x, shift = exact(at), mpmath.mpf(d)
            true = mpmath.ncdf(-x) - mpmath.exp(shift * (x + shift / 2)) * mpmath.ncdf(-x - shift)
            low, high = exact(low) * (1 - mpmath.mpf(10) ** -20), exact(high) * (1 + mpmath.mpf(10) ** -20)
            assert low <= true <= high
            assert high - low <= true * mpmath.mpf(10) ** -8


@wide_only
def test_the_normal_tail_is_enclosed_far_out():
    x = widened(np.linspace(-148, 9, 300), True)
    found, log = FN.normal_cdf(Interval(x, x)), FN.log_normal_cdf(Interval(x, x))
    with mpmath.workdps(60):
        for at, low, high, log_low, log_high in zip(x, found.lo, found.hi, log.lo, log.hi, strict=True):
            true = mpmath.ncdf(exact(at))
            assert exact(low) * (1 - mpmath.mpf(10) ** -20) <= true <= exact(high) * (1 + mpmath.mpf(10) ** -20)
            assert exact(log_low) - mpmath.mpf(10) ** -17 <= mpmath.log(true) <= exact(log_high) + mpmath.mpf(10) ** -17


CASES = [
    (100 * Gaussian(5), 90, "both"),
    (100 * Gaussian(5), 300, "both"),
    (2 * Gaussian(1), 60, "both"),
    (5000 * Gaussian(50), 55, "both"),
    (5 * PoissonSubsampled(Gaussian(2), "0.1"), 40, "remove"),
    (1000 * PoissonSubsampled(Gaussian(1), "0.01"), 100, "remove"),
    (2000 * Laplace(1), 1950, "both"),
    (1 * Gaussian(1), 100, "both"),
    (1 * PoissonSubsampled(Gaussian(1), "0.1"), 60, "remove"),
]


@wide_only
@pytest.mark.parametrize(("composition", "eps", "direction"), CASES)
def test_brackets_hold_below_the_smallest_float(composition, eps, direction):
    bracket = fourier.log_delta(composition, eps, direction)
    true = reference.delta(composition, eps, direction, digits=12)
    assert true.reached
    assert true.value < mpmath.mpf(10) ** -300
    with mpmath.workdps(30):
        assert bracket.lower <= mpmath.log(true.value) <= bracket.upper
    assert bracket.reached
    assert bracket.width < 2e-3
    assert bracket.budget.total == pytest.approx(bracket.width, rel=1e-6)


@wide_only
def test_a_delta_below_the_smallest_float_is_not_zero():
    for composition, eps in ((1 * Gaussian(1), 100), (100 * Gaussian(5), 90)):
        bracket = fourier.delta(composition, eps)
        assert bracket.lower == 0 < bracket.upper < 1e-320


@wide_only
def test_eps_at_the_smallest_delta():
    bracket = fourier.epsilon(100 * Gaussian(5), "1e-300")
    assert bracket.reached
    for end, holds in ((bracket.lower, operator.ge), (bracket.upper, operator.le)):
        assert holds(reference.delta(100 * Gaussian(5), end, digits=20).value, mpmath.mpf(10) ** -300)


def test_beyond_every_exponent_the_bracket_says_so():
    bracket = fourier.log_delta(100 * Gaussian(5), 400)
    assert not bracket.reached
    assert "dplab.reference" in bracket.note
    assert bracket.lower <= -19811.3224761 <= bracket.upper


@wide_only
@pytest.mark.parametrize(
    ("name", "start", "stop", "true"),
    [
        ("exp", -11300, 11300, mpmath.exp),
        ("expm1", -50, 11300, mpmath.expm1),
        ("log", 1e-300, 1e300, mpmath.log),
        ("log1p", -0.999, 1e9, mpmath.log1p),
        ("sqrt", 0, 1e9, mpmath.sqrt),
        ("atan", -50, 50, mpmath.atan),
    ],
)
def test_elementary_functions_are_enclosed_closely(name, start, stop, true):
    near = np.linspace(max(start, -2), 3, 150) if name != "log" else np.linspace(1e-3, 3, 150)
    x = widened(np.concatenate([np.linspace(start, stop, 150), near]), True) / np.longdouble(1.003)
    x = x[x > 0] if name in ("log", "sqrt") else x
    found = getattr(FN, name)(Interval(x, x))
    with mpmath.workdps(60):
        for at, low, high in zip(x, found.lo, found.hi, strict=True):
            value = true(exact(at))
            assert exact(low) <= value <= exact(high)
            assert exact(high) - exact(low) <= abs(value) * mpmath.mpf(2) ** -53
