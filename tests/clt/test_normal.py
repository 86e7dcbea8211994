"""delta of a normal loss in float64 against 60-digit arithmetic, far into both tails."""

import math

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mpf

from dplab.clt.normal import log_normal_delta, mills, mills_slope


def exact_log_delta(mean, variance, eps, digits=60):
    """log of Phi((m-eps)/h) - e^{eps-m+v/2} Phi((m-v-eps)/h), with enough digits for any cancellation."""
    with mpmath.workdps(digits):
        m, v, e = (mpf(repr(value)) for value in (mean, variance, eps))
        h = mpmath.sqrt(v)

        def phi(x):
            return mpmath.erfc(-x / mpmath.sqrt(2)) / 2

        return mpmath.log(phi((m - e) / h) - mpmath.exp(e - m + v / 2) * phi((m - v - e) / h))


@pytest.mark.parametrize("t", [-37.0, -20.0, -3.0, -0.1, 0.0, 1.0, 3.99, 4.0, 5.5, 10.0, 40.0, 1e3, 1e8])
def test_mills_ratio(t):
    with mpmath.workdps(60):
        x = mpf(t)
        ratio = mpmath.erfc(x / mpmath.sqrt(2)) / 2 * mpmath.exp(x * x / 2) * mpmath.sqrt(2 * mpmath.pi)
        assert abs(mills(t) / ratio - 1) < 4e-15
        assert abs(mills_slope(t) / (1 - x * ratio) - 1) < 4e-14


@given(
    st.floats(-8, 3).map(lambda x: 10.0**x),
    st.floats(-3, 3).map(lambda x: 10.0**x),
    st.floats(-60, 60),
)
def test_any_normal_law(sd, skew, t):
    """eps at t standard deviations from the mean. The float eps itself is exact, so nothing is conditioned away."""
    variance, mean = sd * sd, skew * sd * sd / 2
    eps = mean + t * sd
    found = log_normal_delta(mean, variance, eps)
    expected = exact_log_delta(mean, variance, eps)
    distance = abs(mpf(repr(eps)) - mpf(repr(mean))) / mpf(repr(sd))
    slack = 4e-14 + 4e-16 * float(distance) ** 2 + 2e-15 * abs(mean) / sd * float(distance)
    assert abs(found - expected) <= slack


@pytest.mark.parametrize("eps", [40.0, 200.0, 1e4, 1e6])
def test_far_tails_do_not_underflow(eps):
    found = log_normal_delta(0.5, 1.0, eps)
    assert abs(found / exact_log_delta(0.5, 1.0, eps, 80) - 1) < mpf("1e-14")


def test_ends():
    assert log_normal_delta(0.5, 1.0, math.inf) == -math.inf
    assert log_normal_delta(0.5, 1.0, -math.inf) == 0
    assert log_normal_delta(0.0, 0.0, 0.0) == -math.inf
    assert log_normal_delta(0.0, 0.0, 1.0) == -math.inf
    assert math.exp(log_normal_delta(0.0, 0.0, -1.0)) == pytest.approx(1 - math.exp(-1), rel=1e-15)
    assert log_normal_delta(math.inf, math.inf, 1e300) == 0
    assert log_normal_delta(0.5, 1.0, 1e300) == -math.inf
    assert log_normal_delta(0.5, 1.0, -1e300) == 0
