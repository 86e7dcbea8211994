"""Outward rounding against the neighbouring floats and against exact fractions."""

import math
from fractions import Fraction

import numpy as np
import pytest

from dplab.fourier.rounding import down, sum_down, sum_up, up
from dplab.fourier.wide import HAS_WIDE

RNG = np.random.default_rng(20240102)
EDGES = [
    0.0, 5e-324, 1e-323, 1.5e-323, 1e-310, 2.2250738585072009e-308, 2.2250738585072014e-308, 4.4501477170144028e-308,
    2.0**-970, 2.0**-969, 1.0, 1 - 2**-53, 1 + 2**-52, 2.0, 2 - 2**-52, 0.1, 2.0**1023, 1.7976931348623157e308,
]  # fmt: skip
NUMBERS = np.concatenate(
    [EDGES, 10.0 ** RNG.uniform(-320, 308, 2000), 2.0 ** RNG.integers(-1074, 1024, 500), RNG.random(500)]
)
NUMBERS = np.concatenate([NUMBERS, -NUMBERS])
TYPES = [float, pytest.param(np.longdouble, marks=pytest.mark.skipif(not HAS_WIDE, reason="no wider type here"))]


def numbers(kind) -> np.ndarray:
    x = NUMBERS.astype(kind)
    if kind is float:
        return x
    return np.concatenate([x, x * np.longdouble("1e-4600"), x[np.abs(x) < 1] * np.longdouble("1e4900")])


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.filterwarnings("error")
def test_at_least_the_next_float_and_at_most_three(kind):
    x = numbers(kind)
    below, above = down(x), up(x)
    assert below.dtype == above.dtype == x.dtype
    with np.errstate(over="ignore"):
        assert np.all(below <= np.nextafter(x, kind(-np.inf)))
        assert np.all(above >= np.nextafter(x, kind(np.inf)))
        least = x.copy()
        for _ in range(3):
            least = np.nextafter(least, kind(-np.inf))
    assert np.all(below >= least)


@pytest.mark.parametrize("relative", [2.0**-53, 16 * 2.0**-53, 1e-6, 0.3])
def test_relative_error_and_rounding(relative):
    """x came from an exact value that may be `relative` off, and the nearest float was half an ulp away."""
    for x, below, above in zip(NUMBERS, down(NUMBERS, relative), up(NUMBERS, relative), strict=True):
        wide = Fraction(abs(float(x))) * Fraction(relative)
        half = Fraction(math.ulp(float(x))) / 2
        assert below == -np.inf or Fraction(float(below)) <= Fraction(float(x)) - wide - half
        assert above == np.inf or Fraction(float(above)) >= Fraction(float(x)) + wide + half


def test_infinity_is_an_overflow_one_way_and_stays_the_other():
    x = np.array([np.inf, -np.inf])
    most = np.finfo(float).max
    assert down(x)[1] == -np.inf
    assert up(x)[0] == np.inf
    assert most / 2 < down(x)[0] < np.inf
    assert -np.inf < up(x)[1] < -most / 2
    assert down(x, 1e-3)[0] < most
    assert up(x, 1e-3)[0] == np.inf
    assert most / 2 < sum_down(x)[0] < np.inf
    assert sum_down(x)[1] == -np.inf
    assert sum_up(x)[0] == np.inf
    assert np.isnan(down(np.array([np.nan]))).all()
    assert np.isnan(up(np.float64("nan")))


@pytest.mark.parametrize("x", EDGES + [-x for x in EDGES] + [math.inf, -math.inf])
def test_numbers_as_the_arrays_of_one(x):
    assert down(x) == math.nextafter(x, -math.inf)
    assert up(x) == math.nextafter(x, math.inf)
    assert isinstance(down(x), np.float64)
    assert isinstance(up(x), np.float64)


@pytest.mark.filterwarnings("error")
def test_sums_are_enclosed_and_exact_where_floats_are():
    a, b = NUMBERS[RNG.permutation(len(NUMBERS))], NUMBERS
    usable = np.abs(a) + np.abs(b) / 2 < 8e307
    a = np.concatenate([a[usable], -b, b * 2.0**-40])
    b = np.concatenate([b[usable], b, -b * 2.0**-40 * (1 + 2.0**-50)])
    total = a + b
    low, high = sum_down(total), sum_up(total)
    for x, y, below, above in zip(*(v.tolist() for v in (a, b, low, high)), strict=True):
        exact = Fraction(x) + Fraction(y)
        assert below == -np.inf or Fraction(below) <= exact
        assert above == np.inf or exact <= Fraction(above)
        if abs(exact) < Fraction(2) ** -1022:
            assert below == above
