"""Where a function is certainly monotone, and what its inverse encloses when it is not everywhere."""

import numpy as np
import pytest

from dplab.fourier.intervals import Interval, IntervalTable
from dplab.fourier.solving import _named, certified, solve

FN = IntervalTable()


def cubic(t: Interval) -> Interval:
    """t^3 - t, which falls between -1/sqrt(3) and 1/sqrt(3)."""
    return t * t * t - t


def slope(t: Interval) -> Interval:
    """Its derivative."""
    return FN.rational(3, 1) * (t * t) - 1


def outside(gaps, points: np.ndarray) -> np.ndarray:
    """The points that lie in no gap."""
    return np.array([u for u in points if not any(gap.where.lo < u < gap.where.hi for gap in gaps)])


def test_a_gap_covers_what_falls_and_ends_where_the_function_is_further_on():
    found = certified(cubic, slope, (-2.0, 2.0), (-6.0, 6.0), True)
    (gap,) = found.gaps
    assert gap.where.lo < -(3**-0.5)
    assert gap.where.hi > 3**-0.5
    assert gap.where.hi**3 - gap.where.hi >= gap.where.lo**3 - gap.where.lo
    assert gap.values.lo <= -2 / 27**0.5
    assert gap.values.hi >= 2 / 27**0.5
    assert (found.low.lo, found.high.hi) == (-6.0, 6.0)


def test_a_monotone_function_has_no_gap_of_any_size():
    found = certified(lambda t: t * t * t, lambda t: 3 * Interval(1.0, 1.0) + t * t, (-2.0, 2.0), (-8.0, 8.0), True)
    assert found.gaps == ()


@pytest.mark.parametrize("x", [-5.0, -0.3, 0.0, 0.1, 0.38, 3.0])
def test_all_points_outside_a_gap_lie_on_the_side_the_inverse_says(x):
    gaps = certified(cubic, slope, (-2.0, 2.0), (-6.0, 6.0), True).gaps
    t = solve(cubic, Interval(x, x), -2.0, 2.0, True, [gap.where for gap in gaps])
    points = outside(gaps, np.linspace(-2, 2, 4001))
    values = points**3 - points
    assert (values[points < t.lo] <= x + 1e-12).all()
    assert (values[points > t.hi] >= x - 1e-12).all()


@pytest.mark.parametrize("rising", [True, False])
def test_a_maximum_inside_a_piece_widens_its_range(rising):
    """1 - t^2 from -1 to 1/2 should rise from 0 to 3/4, or fall so mirrored: it goes up to 1 in between."""
    ends = (-1.0, 0.5) if rising else (-0.5, 1.0)
    two = FN.rational(2, 1)
    found = certified(lambda t: 1 - t * t, lambda t: -(two * t), ends, (0.0, 0.75), rising)
    assert found.high.hi >= 1.0
    assert found.gaps


def test_an_endless_gap_has_unknown_values():
    """Nothing is known where exponentials overflow."""
    found = certified(
        lambda t: FN.exp(t) - FN.exp(t), lambda t: FN.exp(t) - FN.exp(t) + 1, (0.0, np.inf), (0.0, np.inf), True
    )
    assert found.gaps[-1].where.hi == np.inf
    assert (found.gaps[-1].values.lo, found.gaps[-1].values.hi) == (-np.inf, np.inf)


def test_known_values_end_with_the_last_cell_that_has_them():
    """Between a cell with known values and the next one without, a monotone function may go anywhere."""
    nothing, cells = np.inf, Interval(np.array([0.0, 2.0]), np.array([1.0, 3.0]))
    known, unknown = _named(cubic, cells, Interval(np.array([0.0, -nothing]), np.array([5.0, nothing])), 0.0, 3.0)
    assert (known.where.hi, known.values.hi, unknown.where.lo) == (1.0, 5.0, 1.0)
    unknown, known = _named(cubic, cells, Interval(np.array([-nothing, 0.0]), np.array([nothing, 5.0])), 0.0, 3.0)
    assert (known.where.lo, known.values.hi, unknown.where.hi) == (2.0, 5.0, 2.0)
