"""Every known value of these mechanisms, to the digits given, and at several precisions against each other."""

import mpmath
import pytest

from dplab import reference

from .known import Known, truths


def ask(known: Known, digits: int):
    """The route's answer to a known question."""
    question = reference.delta if known.quantity == "delta" else reference.epsilon
    return question(known.composition, known.argument, known.direction, digits=digits)


SLOW = ("Binomial(n=60", "Binomial(n=1000, p=0.5, shift=20)")  # many thousands of sums of losses
EACH = pytest.mark.parametrize(
    "known",
    [
        pytest.param(known, marks=pytest.mark.long if any(name in known.name for name in SLOW) else (), id=known.name)
        for known in truths()
    ],
)


@EACH
def test_known_value(known):
    found = ask(known, known.digits)
    with mpmath.workdps(known.digits + 20):
        expected = mpmath.mpf(known.value)
        assert abs(found.value - expected) <= abs(expected) * mpmath.mpf(10) ** (1 - known.digits)
    assert found.reached


@EACH
def test_fifteen_digits_agree_with_forty(known):
    low, high = ask(known, 15), ask(known, 40)
    with mpmath.workdps(60):
        assert abs(low.value - high.value) <= abs(high.value) * mpmath.mpf(10) ** -15
        assert abs(low.value - high.value) <= 2 * low.error + 2 * high.error


@pytest.mark.long
@EACH
def test_a_hundred_digits_agree_with_forty(known):
    low, high = ask(known, 40), ask(known, 100)
    assert high.reached
    with mpmath.workdps(120):
        assert abs(low.value - high.value) <= abs(high.value) * mpmath.mpf(10) ** -40
