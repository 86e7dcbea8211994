"""Every known value lies in its bracket, at the default accuracy and at the best that is asked for."""

import mpmath
import pytest

from dplab import fourier
from tests.reference.known import Known, truths

EACH = pytest.mark.parametrize("known", truths(), ids=lambda known: known.name)


def check(found, known: Known, function=lambda value: value):
    """The value, give or take its last digit, is inside."""
    with mpmath.workdps(known.digits + 20):
        value = mpmath.mpf(known.value)
        slack = abs(value) * mpmath.mpf(10) ** (1 - known.digits)
        assert found.lower <= function(value + slack)
        assert found.upper >= function(value - slack)


@EACH
def test_at_default_accuracy(known):
    question = fourier.delta if known.quantity == "delta" else fourier.epsilon
    found = question(known.composition, known.argument, known.direction)
    check(found, known)
    assert found.reached


@EACH
def test_as_sharp_as_it_gets(known):
    if known.quantity == "delta":
        found = fourier.delta(known.composition, known.argument, known.direction, rtol=1e-7, max_size=2**18)
    else:
        found = fourier.epsilon(known.composition, known.argument, known.direction, atol=1e-8, max_size=2**18)
    check(found, known)


@pytest.mark.parametrize("known", [known for known in truths() if known.quantity == "delta"], ids=lambda k: k.name)
def test_logarithm(known):
    check(fourier.log_delta(known.composition, known.argument, known.direction), known, mpmath.log)
