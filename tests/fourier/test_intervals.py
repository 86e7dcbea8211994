"""Intervals: every operation encloses the exact result, and float64's functions err by no more than stated."""

import itertools
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from mpmath import mpf
from scipy import special

from dplab.core.errors import UnboundSymbolError
from dplab.fourier.intervals import (
    TINY,
    Interval,
    IntervalTable,
    U,
    maximum,
    minimum,
)
from dplab.fourier.wide import half_erfc

FN = IntervalTable()
RNG = np.random.default_rng(20240101)

SPECIAL = [
    0.0, -0.0, 5e-324, -5e-324, 1e-310, 2.2250738585072014e-308, 1e-300, -1e-200, 1e-16, -1e-8, 0.1, -0.3, 0.5, 1.0,
    -1.0, 1 + 2**-52, 3.0, -7.25, 1e8, -1e16, 1e150, -1e200, 1e308, 1.7976931348623157e308,
]  # fmt: skip


@pytest.fixture(autouse=True)
def forty_digits():
    with mpmath.workdps(40):
        yield


def signed(n: int, low: float, high: float) -> np.ndarray:
    """Numbers of both signs with sizes spread evenly over powers of ten."""
    return RNG.choice([-1.0, 1.0], n) * 10.0 ** RNG.uniform(low, high, n)


def random_intervals(n: int) -> tuple[Interval, list[tuple[Fraction, Fraction]]]:
    """Intervals of every kind: points, narrow, wide, across zero; and an exact number pair inside each."""
    centre = np.concatenate(
        [signed(n // 2, -3, 3), signed(n // 4, -160, 150), RNG.choice(SPECIAL[:18], n - n // 2 - n // 4)]
    )
    spread = np.abs(centre) * 10.0 ** RNG.uniform(-17, 1, n) * (RNG.random(n) < 0.7)
    low, high = centre - spread * RNG.random(n), centre + spread * RNG.random(n)
    inside = []
    for a, b in zip(low.tolist(), high.tolist(), strict=True):
        share = Fraction(int(RNG.integers(0, 5)), 4)
        inside.append(Fraction(a) + share * (Fraction(b) - Fraction(a)))
    return Interval(low, high), inside


def encloses(interval: Interval, exact: list) -> None:
    low, high = np.broadcast_to(interval.lo, len(exact)), np.broadcast_to(interval.hi, len(exact))
    for a, b, value in zip(low.tolist(), high.tolist(), exact, strict=True):
        assert a == -np.inf or Fraction(a) <= value, (a, value)
        assert b == np.inf or value <= Fraction(b), (b, value)


OPERATIONS = {
    "+": (lambda a, b: a + b, lambda a, b: a + b),
    "-": (lambda a, b: a - b, lambda a, b: a - b),
    "*": (lambda a, b: a * b, lambda a, b: a * b),
    "max": (maximum, max),
    "min": (minimum, min),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_operations_enclose_the_exact_result(name):
    interval, exact = OPERATIONS[name]
    a, xs = random_intervals(3000)
    b, ys = random_intervals(3000)
    order = RNG.permutation(3000)
    b, ys = b[order], [ys[i] for i in order]
    encloses(interval(a, b), [exact(x, y) for x, y in zip(xs, ys, strict=True)])


@pytest.mark.parametrize("name", OPERATIONS)
def test_operations_on_special_values(name):
    interval, exact = OPERATIONS[name]
    for x, y in itertools.product(SPECIAL, repeat=2):
        found = interval(Interval.exactly(x), Interval.exactly(y))
        encloses(Interval(np.array([found.lo]), np.array([found.hi])), [exact(Fraction(x), Fraction(y))])


def test_division_encloses_the_exact_result():
    a, xs = random_intervals(3000)
    b, ys = random_intervals(3000)
    order = RNG.permutation(3000)
    b, ys = b[order], [ys[i] for i in order]
    found = a / b
    kept = [i for i in range(3000) if ys[i] != 0]
    encloses(found[np.array(kept)], [xs[i] / ys[i] for i in kept])
    for scalar in (3.0, 1e-200, 1e200, 2.0**-1000):  # the short way for positive scalars
        encloses(a / scalar, [x / Fraction(scalar) for x in xs])
        encloses(a / Interval(scalar, scalar * 1.5), [x / (Fraction(scalar) * Fraction(5, 4)) for x in xs])
    encloses(2 / b, [Fraction(2) / ys[i] if ys[i] else Fraction(0) for i in range(3000)])
    across = 1 / Interval(-1.0, 2.0)
    assert (across.lo, across.hi) == (-np.inf, np.inf)


def test_arrays_and_numbers_on_either_side():
    x = Interval(np.array([1.0, 2.0]), np.array([1.5, 2.5]))
    array = np.array([0.1, -0.2])
    for found in (x * array, array * x):
        encloses(found, [Fraction(1) * Fraction(0.1), Fraction(2) * Fraction(-0.2)])
    for found in (x + array, array + x):
        encloses(found, [Fraction(1.25) + Fraction(0.1), Fraction(2.25) + Fraction(-0.2)])
    encloses(array - x, [Fraction(0.1) - Fraction(1), Fraction(-0.2) - Fraction(2.5)])
    encloses(Interval.exactly(np.arange(-3, 4)) * 0.1, [Fraction(0.1) * i for i in range(-3, 4)])
    third = Interval.exactly(np.array([3.0])) * Fraction(1, 3)
    encloses(third, [Fraction(1)])
    encloses(Interval.exactly(np.array([1.0])) * (2**53 + 1), [Fraction(2**53 + 1)])
    encloses(Interval.exactly(np.array([1.0])) + 10**300, [Fraction(10**300 + 1)])


def test_zeros_stay_exact():
    zero = Interval.exactly(np.zeros(3))
    anything = Interval(np.array([-1.0, 0.0, 3.0]), np.array([np.inf, 1e300, 4.0]))
    for found in (zero * anything, anything * zero, zero + zero, zero - zero, zero * Interval.exactly(1e-320)):
        assert not np.any(found.lo)
        assert not np.any(found.hi)
    whole = Interval.exactly(np.array([2.5, 1e300])) - Interval.exactly(np.array([2.5, 1e300]))
    assert not np.any(whole.lo) and not np.any(whole.hi)  # noqa: PT018
    tiny = Interval.exactly(np.array([1e-200])) * Interval.exactly(np.array([1e-200]))
    assert tiny.lo[0] == 0  # an underflow is not a zero
    assert tiny.hi[0] > 0


def test_infinite_ends_mean_unbounded():
    half_line = Interval(np.array([1.0]), np.array([np.inf]))
    assert (half_line + 1).hi[0] == np.inf
    assert (half_line + 1).lo[0] <= 2
    assert (half_line * half_line).lo[0] <= 1
    assert (half_line * Interval.exactly(-2.0)).lo[0] == -np.inf
    assert (1 / half_line).lo[0] <= 0 < 1 <= (1 / half_line).hi[0]
    overflow = Interval.exactly(np.array([1e200])) * 1e200
    assert overflow.lo[0] < np.inf
    assert overflow.hi[0] == np.inf


def test_mid_lies_inside():
    x, _ = random_intervals(2000)
    assert np.all((x.lo <= x.mid) & (x.mid <= x.hi))


def test_clipped():
    x = Interval(np.array([-2.0, 0.2, 3.0]), np.array([-1.0, 0.7, 5.0])).clipped(0.0, 1.0)
    assert x.lo.tolist() == [0.0, 0.2, 1.0]
    assert x.hi.tolist() == [0.0, 0.7, 1.0]


# --- functions: the stated accuracy of float64, then the enclosure ---------------------------------

POINTS = {
    "exp": (np.exp, mpmath.exp, np.concatenate([signed(1500, -12, 2.8), RNG.uniform(-690, 700, 1500)]), 4),
    "expm1": (np.expm1, mpmath.expm1, np.concatenate([signed(1500, -12, 2.8), RNG.uniform(-2, 2, 1500)]), 4),
    "log": (np.log, mpmath.log, np.concatenate([10 ** RNG.uniform(-300, 300, 1500), 1 + signed(1500, -15, -0.4)]), 4),
    "log1p": (
        np.log1p,
        mpmath.log1p,
        np.concatenate(
            [-1 + 10 ** RNG.uniform(-15, 0, 1000), signed(1000, -12, -0.1), 10 ** RNG.uniform(-300, 300, 1000)]
        ),
        4,
    ),
    "sqrt": (np.sqrt, mpmath.sqrt, 10 ** RNG.uniform(-300, 300, 1000), 1),
}


@pytest.mark.parametrize("name", POINTS)
def test_float64_errs_by_no_more_than_stated(name):
    function, exact, points, ulps = POINTS[name]
    for found, x in zip(function(points).tolist(), points.tolist(), strict=True):
        true = exact(mpf(x))
        assert abs(found - true) <= ulps * U * abs(true) + mpf("5e-324")


@pytest.mark.parametrize("name", POINTS)
def test_functions_enclose(name):
    _, exact, points, _ = POINTS[name]
    narrow = Interval.exactly(points)
    found = getattr(FN, name)(narrow)
    ends = points * (1 - 1e-9), points * (1 + 1e-9)
    around = getattr(FN, name)(Interval(np.minimum(*ends), np.maximum(*ends)))
    for i, x in enumerate(points.tolist()):
        true = exact(mpf(x))
        assert found.lo[i] <= true <= found.hi[i]
        assert around.lo[i] <= true <= around.hi[i]


def test_functions_at_their_edges():
    assert FN.exp(Interval.exactly(-1e6)).lo == 0
    assert FN.exp(Interval.exactly(-1e6)).hi > 0
    assert FN.exp(Interval.exactly(1e6)).hi == np.inf
    assert FN.exp(Interval.exactly(1e6)).lo < np.inf
    assert FN.exp(Interval.exactly(-np.inf)).lo == 0
    assert FN.expm1(Interval.exactly(-1e6)).lo == -1
    assert FN.expm1(Interval.exactly(-1e6)).hi > -1
    assert FN.log(Interval(0.0, 1.0)).lo == -np.inf
    assert FN.log(Interval(-1.0, 0.0)).hi > -np.inf
    assert FN.log1p(Interval(-1.0, 0.0)).lo == -np.inf
    for x in (-744.9, -745.5, -746.0):  # the smallest floats, where relative accuracy ends
        found, true = FN.exp(Interval.exactly(x)), mpmath.exp(mpf(x))
        assert found.lo <= true <= found.hi
    for x in (0.0, -0.0):
        for function, value in ((FN.expm1, 0), (FN.log1p, 0), (FN.sqrt, 0), (FN.exp, 1)):
            found = function(Interval.exactly(x))
            assert found.lo <= value <= found.hi


def test_erfc_is_as_accurate_as_stated():
    points = np.concatenate([RNG.uniform(-6, 26, 3000), signed(1000, -8, 1)])
    values, errors = half_erfc(points)
    for found, x, error in zip(values.tolist(), points.tolist(), errors.tolist(), strict=True):
        true = mpmath.erfc(mpf(x)) / 2
        if true > TINY:
            assert abs(found - true) <= error * true


def exact_log_cdf(x):
    """log Phi at 40 digits; by the asymptotic series far out."""
    x = mpf(x)
    if x > -1e4:
        return (
            mpmath.log(mpmath.erfc(-x / mpmath.sqrt(2)) / 2)
            if x < 5
            else mpmath.log1p(-mpmath.erfc(x / mpmath.sqrt(2)) / 2)
        )
    s = 1 / (x * x)
    return (
        -x * x / 2 - mpmath.log(-x * mpmath.sqrt(2 * mpmath.pi)) + mpmath.log(1 - s + 3 * s**2 - 15 * s**3 + 105 * s**4)
    )


def test_log_ndtr_is_as_accurate_as_stated_below_minus_25():
    points = np.concatenate([RNG.uniform(-300, -25, 1500), -(10 ** RNG.uniform(np.log10(25), 150, 1500))])
    for found, x in zip(special.log_ndtr(points).tolist(), points.tolist(), strict=True):
        true = exact_log_cdf(x)
        assert abs(found - true) <= 16 * U * abs(true)


def test_normal_cdf_and_its_logarithm_enclose():
    points = np.concatenate([RNG.uniform(-45, 45, 2000), signed(1000, -12, 3), [0.0, -25.0, 25.0, -37.6, 8.3]])
    exactly, wide = Interval.exactly(points), Interval(points - 1e-7, points + 1e-7)
    cdf, log_cdf = FN.normal_cdf(exactly), FN.log_normal_cdf(exactly)
    wide_cdf, wide_log = FN.normal_cdf(wide), FN.log_normal_cdf(wide)
    for i, x in enumerate(points.tolist()):
        true, true_log = mpmath.erfc(-mpf(x) / mpmath.sqrt(2)) / 2, exact_log_cdf(x)
        assert cdf.lo[i] <= true <= cdf.hi[i]
        assert log_cdf.lo[i] <= true_log <= log_cdf.hi[i]
        assert wide_cdf.lo[i] <= true <= wide_cdf.hi[i]
        assert wide_log.lo[i] <= true_log <= wide_log.hi[i]
    assert np.all((cdf.lo >= 0) & (cdf.hi <= 1))
    across = FN.log_normal_cdf(Interval(-30.0, -20.0))  # the two ways of computing meet
    assert across.lo <= exact_log_cdf(-30) < exact_log_cdf(-20) <= across.hi


@pytest.mark.parametrize("d", [1e-7, 3.3e-5, 1e-3, 0.01, 0.02, 0.7, 6.0])
def test_normal_excess_encloses_the_gaussian_delta(d):
    """However small the shift d is, ten digits or more where there is mass."""
    t = np.concatenate([RNG.uniform(-38, 38, 60), RNG.uniform(-3, 5, 40), [-2.0, 0.0, 37.0]])
    found = FN.normal_excess(Interval.exactly(t), Interval.exactly(d))
    for i, point in enumerate(t.tolist()):
        shifted = mpf(point) + mpf(d)
        with mpmath.workdps(60):
            above = [mpmath.erfc(x / mpmath.sqrt(2)) / 2 for x in (mpf(point), shifted)]
            exact = above[0] - mpmath.exp(mpf(d) * (mpf(point) + mpf(d) / 2)) * above[1]
        assert found.lo[i] <= exact <= found.hi[i]
        if -1.9 < point < 5:
            assert found.hi[i] - found.lo[i] <= 1e-10 * exact


def test_erfcx_is_as_accurate_as_stated_above_minus_2():
    x = np.concatenate([RNG.uniform(-2, 3, 400), RNG.uniform(3, 27, 400)])
    for point, value in zip(x.tolist(), special.erfcx(x).tolist(), strict=True):
        exact = mpmath.exp(mpf(point) ** 2) * mpmath.erfc(mpf(point))
        assert abs(value - exact) <= 64 * U * exact


def test_log_mix_encloses_the_loss_map_and_its_inverse():
    for rate in ("0.01", "1e-6", "0.3", "0.999999", "1e-12"):
        r = Fraction(rate)
        exact_r = mpf(r.numerator) / r.denominator
        enclosed = FN.rational(r.numerator, r.denominator)
        s = np.concatenate([signed(400, -9, 2.5), RNG.uniform(-5, 5, 200), [0.0, 1.0, 709.0, 1e4]])
        mixed = FN.log_mix(Interval.exactly(s), enclosed)
        for i, x in enumerate(s.tolist()):
            true = mpmath.log1p(exact_r * mpmath.expm1(mpf(x)))
            assert mixed.lo[i] <= true <= mixed.hi[i]
        least = float(mpmath.log1p(-exact_r))
        back = np.concatenate([least + 10 ** RNG.uniform(-6, 1, 300), RNG.uniform(0, 300, 300), [0.0]])
        unmixed = FN.log_mix(Interval.exactly(back), 1 / enclosed)
        for i, x in enumerate(back.tolist()):
            inside = mpmath.expm1(mpf(x)) / exact_r
            true = mpmath.log1p(inside) if inside > -1 else -mpmath.inf
            assert unmixed.lo[i] <= true <= unmixed.hi[i]
    below = FN.log_mix(Interval.exactly(-10.0), 1 / FN.rational(1, 100))  # left of the support
    assert below.lo == -np.inf


def test_rationals_and_constants():
    for numerator, denominator in ((1, 3), (1, 10), (-7, 9), (10**30, 7), (1, 10**300), (3, 2), (0, 1), (-5, 1)):
        found = FN.rational(numerator, denominator)
        exact = Fraction(numerator, denominator)
        assert Fraction(found.lo) <= exact <= Fraction(found.hi)
        if Fraction(float(exact)) == exact:
            assert found.lo == found.hi
        else:
            assert Fraction(found.lo) < exact < Fraction(found.hi)
    assert FN.pi.lo < mpmath.pi < FN.pi.hi
    powered = FN.power(Interval.exactly(2.0), Fraction(1, 3))
    assert powered.lo <= mpf(2) ** (mpf(1) / 3) <= powered.hi
    with pytest.raises(UnboundSymbolError, match="sigma"):
        FN.symbol("sigma")


def test_split_uses_either_form():
    x = Interval.exactly(np.array([0.5, 1.0, 1.5]))
    found = FN.split(x, 1, lambda x: x * 0 + 10, lambda x: x * 0 + 20)
    assert found.lo.tolist() == [10.0, 10.0, 20.0] or np.allclose(found.lo, [10, 10, 20])
    one = FN.split(Interval.exactly(2.0), 1, lambda x: x - 100, lambda x: x + 100)
    assert one.lo <= 102 <= one.hi
