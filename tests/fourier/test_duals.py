"""Derivatives in interval arithmetic: every function of the table, and every mechanism's density, against mpmath."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from mpmath import mpf

from dplab.core.functions import MpmathTable
from dplab.core.pld import PLD
from dplab.fourier.duals import Dual, DualTable
from dplab.fourier.intervals import Interval

from .exact import FN, PLDS, name, typical_losses

DN = DualTable()


@pytest.fixture(autouse=True)
def fifty_digits():
    with mpmath.workdps(50):
        yield


FUNCTIONS = {
    "exp": lambda fn, x: fn.exp(x / 3),
    "expm1": lambda fn, x: fn.expm1(-x),
    "log": lambda fn, x: fn.log(x * x + 1),
    "log1p": lambda fn, x: fn.log1p(x * x),
    "sqrt": lambda fn, x: fn.sqrt(2 + fn.exp(x)),
    "normal_cdf": lambda fn, x: fn.normal_cdf(x / 2 - 1),
    "log_normal_cdf": lambda fn, x: fn.log_normal_cdf(x * 2 - 9),
    "log_mix in s": lambda fn, x: fn.log_mix(x, fn.rational(1, 7)),
    "log_mix in r": lambda fn, x: fn.log_mix(fn.rational(3, 2), fn.normal_cdf(x)),
    "power": lambda fn, x: fn.power(1 + x * x, Fraction(5, 3)),
    "quotient": lambda fn, x: (1 - x) / (3 + x * x) - 2 / fn.exp(x),
    "split": lambda fn, x: fn.split(x, 1, lambda x: x * x * x, lambda x: x * (x * x)),
    "atan": lambda fn, x: fn.atan(x / 3),
    "acot": lambda fn, x: fn.acot(2 - x),
    "pi": lambda fn, x: -fn.pi * x + x * 2 - (1 - x),
}


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_value_and_slope_are_enclosed_at_points_and_on_intervals(function):
    left = np.linspace(-4, 4, 33)
    right = left + 1 / 64
    fn = MpmathTable()
    at_points = function(DN, Dual.variable(Interval(left, left)))
    on_cells = function(DN, Dual.variable(Interval(left, right)))
    for i, x in enumerate(left):
        value, slope = function(fn, mpf(x)), mpmath.diff(lambda x: function(fn, x), mpf(x))
        for found in (at_points, on_cells):
            assert found.value.lo[i] <= value <= found.value.hi[i]
            noise = mpf(10) ** -20  # of the numeric derivative
            assert found.slope.lo[i] <= slope + noise
            assert found.slope.hi[i] >= slope - noise
        inside = mpf(x) + mpf(1) / 128
        slope = mpmath.diff(lambda x: function(fn, x), inside)
        assert on_cells.slope.lo[i] - mpf(10) ** -20 <= slope <= on_cells.slope.hi[i] + mpf(10) ** -20
        assert at_points.slope.hi[i] - at_points.slope.lo[i] <= 1e-9 * (1 + abs(slope))


@pytest.mark.parametrize("pld", [p for p in PLDS if p.support(FN) is not None], ids=name)
def test_the_slope_of_every_density_is_enclosed(pld: PLD):
    low, high = typical_losses(pld)
    points = np.linspace(low, high, 13)[1:-1]
    width = (high - low) * 1e-4
    found = pld.density(DN, Dual.variable(Interval(points, points + width)))
    for i, x in enumerate(points):
        x = mpf(x) + mpf(width) / 2
        slope = mpmath.diff(lambda x: pld.density(FN, x), x, h=mpf(10) ** -20)
        assert found.slope.lo[i] <= slope <= found.slope.hi[i]
        assert found.value.lo[i] <= pld.density(FN, x) <= found.value.hi[i]


def test_every_table_says_what_its_numbers_are():
    """Own pairs ask it of each; a table that does not know would silently lose its derivatives."""
    from dplab.fourier.floats import FloatTable
    from dplab.fourier.onestep import FN as LAW

    flags = {
        type(fn).__name__: (fn.symbolic, fn.keeps_remainders) for fn in (LAW, DualTable(), FloatTable(), MpmathTable())
    }
    assert flags == {
        "LawTable": (False, True),
        "DualTable": (False, True),
        "FloatTable": (False, False),
        "MpmathTable": (False, False),
    }
