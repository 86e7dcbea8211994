"""Truncated binomial series against the plain sum."""

import math

import mpmath
from hypothesis import given
from hypothesis import strategies as st

from dplab.reference.truncated import truncated_power


@given(st.integers(1, 40), st.data(), st.floats(-6, 6), st.floats(-3.1, 3.1))
def test_sum(k, data, log_size, angle):
    first = data.draw(st.integers(0, k))
    last = data.draw(st.integers(first, k))
    with mpmath.workdps(40):
        t = mpmath.exp(mpmath.mpc(log_size, angle))
        peak, relative = truncated_power(k, t, first, last)
        assert first <= peak <= last
        terms = [math.comb(k, i) * t**i for i in range(first, last + 1)]
        largest = math.comb(k, peak) * t**peak
        assert abs(relative * largest - mpmath.fsum(terms)) < abs(largest) * mpmath.mpf(10) ** -36


def test_zero():
    assert truncated_power(5, mpmath.mpf(0), 0, 3) == (0, 1)
