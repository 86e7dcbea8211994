"""Inverses of monotone functions: at ends, beyond them by rounding, where the function turns, and far out."""

import mpmath
import pytest
from mpmath import mpf

from dplab.core.solving import solve


class Counted:
    """A function that counts how often it is asked."""

    def __init__(self, function):
        self.function, self.asked = function, 0

    def __call__(self, t):
        self.asked += 1
        return self.function(t)


@pytest.fixture(autouse=True)
def digits():
    with mpmath.workdps(40):
        yield


@pytest.mark.parametrize(
    ("function", "low", "high", "root"),
    [
        (lambda t: t**3, -mpmath.inf, mpmath.inf, "1.25"),
        (lambda t: mpmath.log(t / (1 - t)), mpf(0), mpf(1), "0.125"),
        (lambda t: mpmath.log(t) - 1 / t, mpf(0), mpmath.inf, "0.03125"),
        (lambda t: t - mpmath.log(t) ** 2 / 2 - mpmath.log(t), mpf(0), mpmath.inf, "1e-313"),
        (lambda t: mpmath.tanh(t), -mpmath.inf, mpmath.inf, "-7.5"),
    ],
)
def test_a_root_with_all_digits(function, low, high, root):
    counted = Counted(function)
    found = solve(counted, function(mpf(root)), low, high, rising=True)
    assert abs(found / mpf(root) - 1) < mpf(10) ** -33
    assert counted.asked < 120


@pytest.mark.parametrize("near", ["0.5", "1e-5", "1e-9", "1e-15"])
def test_close_to_a_point_where_the_function_turns(near):
    """cos t on (-1, 0): a root at a distance d of the turn has twice as many digits when told where it is."""
    at = -mpf(near)
    plain, told = Counted(mpmath.cos), Counted(mpmath.cos)
    found = [solve(plain, mpmath.cos(at), mpf(-1), mpf(0), rising=True)]
    found.append(solve(told, mpmath.cos(at), mpf(-1), mpf(0), rising=True, flat=(False, True)))
    assert all(abs(t - at) < mpf(10) ** -39 / mpf(near) + mpf(10) ** -39 for t in found)
    assert told.asked < 80


def test_turning_at_both_ends():
    for at in (mpf("-3.1"), mpf("-0.001"), mpf(-1)):
        found = solve(mpmath.cos, mpmath.cos(at), -mpmath.pi, mpf(0), rising=True, flat=(True, True))
        assert abs(found - at) < mpf(10) ** -36


@pytest.mark.parametrize("beyond", [0, 1, -1])
@pytest.mark.parametrize("flat", [(False, False), (True, False)])
def test_a_value_at_an_end_or_beyond_it_by_rounding(beyond, flat):
    value = mpmath.exp(mpf(1)) * (1 + beyond * mpmath.eps)
    found = solve(lambda t: mpmath.exp(1 + t * t), value, mpf(0), mpmath.inf, rising=True, flat=flat)
    assert abs(found) < mpf(10) ** -18


def test_a_function_without_a_value_at_an_end():
    found = solve(lambda t: 1 / (t - 1), -(mpf(2) ** 70), -mpmath.inf, mpf(1), rising=False)
    assert found <= 1
    assert solve(lambda t: mpmath.log(1 - t), mpf(-200), mpf(0), mpf(1), rising=False) <= 1
