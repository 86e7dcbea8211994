"""The tilted sum against exact convolutions: small grids, many tilts, any window, eps anywhere."""

import math
from collections.abc import Sequence

import mpmath
import numpy as np
import pytest
from mpmath import mpf

from dplab.fourier.grids import Grid, GridPLD
from dplab.fourier.intervals import U
from dplab.fourier.tilted import TiltedSum, _power, good_size

WIDE = (-1e3, 1e3, 0.05, 0.05)


@pytest.fixture(autouse=True)
def eighty_digits():
    with mpmath.workdps(80):
        yield


def grid_pld(offset: float, dx: float, first: int, masses: Sequence[float]) -> GridPLD:
    return GridPLD(Grid(offset, dx, first, len(masses)), np.asarray(masses, dtype=float), 0.0)


class Exact:
    """All sums of losses with their masses, by repeated convolution in 80 digits."""

    def __init__(self, parts):
        self.origin, self.dx, lowest, law = mpf(0), mpf(parts[0][0].grid.dx), 0, [mpf(1)]
        for pld, k in parts:
            masses = [mpf(m) for m in pld.masses.tolist()]
            self.origin += k * mpf(pld.grid.offset)
            lowest += k * pld.grid.first
            for _ in range(k):
                longer = [mpf(0)] * (len(law) + len(masses) - 1)
                for i, a in enumerate(law):
                    for j, b in enumerate(masses):
                        longer[i + j] += a * b
                law = longer
        self.points = [(self.origin + (lowest + i) * self.dx, mass) for i, mass in enumerate(law)]

    def delta(self, eps):
        """sum_{S > eps} (1 - e^{eps - S}) mass."""
        return mpmath.fsum(-mpmath.expm1(eps - s) * mass for s, mass in self.points if s > eps)


def bounds(tilted: TiltedSum, eps: float):
    """What a `Side` makes of it, without certificates: bounds of the exact sum."""
    ends = []
    for sign in (-1, 1):
        found = tilted.evaluate(eps - sign * tilted.position_error(eps))
        kernel = max(mpf(found.value) + sign * (mpf(found.rounding) + mpf(found.periodisation)), mpf(0))
        ends.append(kernel * mpmath.exp(mpf(found.log_factor) + sign * mpf(found.log_slack)))
    return ends


SMALL = {
    "one part": [(grid_pld(0.0, 0.25, -2, [0.1, 0.2, 0.3, 0.25, 0.15]), 7)],
    "offset": [(grid_pld(-0.37, 0.25, -2, [0.1, 0.2, 0.3, 0.25, 0.15]), 5)],
    "far from 0": [(grid_pld(1e4 + 0.1, 0.5, -3, [0.5, 0.0, 0.25, 0.25]), 4)],
    "two atoms": [(grid_pld(0.1, 1.7, -1, [0.3, 0.7]), 30)],
    "fifty": [(grid_pld(0.0, 0.1, -3, [0.05, 0.1, 0.2, 0.3, 0.25, 0.1]), 50)],
    "parts": [
        (grid_pld(0.03, 0.25, -2, [0.1, 0.2, 0.3, 0.25, 0.15]), 4),
        (grid_pld(-0.11, 0.25, 1, [0.9, 0.05, 0.05]), 9),
        (grid_pld(0.0, 0.25, -9, [1e-9, 0.0, 0.0, 0.6, 0.4]), 1),
    ],
    "not one": [(grid_pld(0.0, 0.5, -1, [0.2, 0.1, 0.3]), 6)],
    "transform with zeros": [
        (grid_pld(0.0, 0.5, 0, [0.25, 0.25, 0.25, 0.25]), 1),
        (grid_pld(0.0, 0.5, 0, [0.5, 0.5]), 2),
    ],
    "tiny masses": [(grid_pld(0.0, 0.5, -4, [0.9, 0.0, 0.1, 1e-40, 1e-120, 1e-280]), 3)],
}
with mpmath.workdps(80):
    LAWS = {name: Exact(parts) for name, parts in SMALL.items()}


def probes(law: Exact) -> list[float]:
    """eps at, between and beside the sums, and far outside."""
    points = [float(s) for s, _ in law.points]
    chosen = points[:: max(1, len(points) // 7)]
    between = [p + 0.3 * float(law.dx) for p in chosen]
    beside = [float(np.nextafter(chosen[len(chosen) // 2], towards)) for towards in (-np.inf, np.inf)]
    return [*chosen, *between, *beside, points[0] - 5.0, points[0] - 300.0, points[-1] + 3.0]


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("tilt", [1e-6, 0.03, 0.7, 5.0, 80.0])
def test_the_exact_sum_is_bounded_at_any_eps(name, tilt):
    parts, law = SMALL[name], LAWS[name]
    span = len(law.points)
    for n in (good_size(span + 3), good_size(4 * span)):
        middle = float(law.points[span // 2][0])
        tilted = TiltedSum(parts, tilt, (middle - 1, middle + 1, 4.0, 4.0), n)
        for eps in probes(law):
            low, high = bounds(tilted, eps)
            assert low <= law.delta(mpf(eps)) <= high


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("tilt", [1e-6, 0.4, 3.0])
@pytest.mark.parametrize("n", [8, 40])
@pytest.mark.parametrize("moved", [-30, -3, 5])
def test_wrap_around_is_covered_wherever_the_window_lies(name, tilt, n, moved):
    parts, law = SMALL[name], LAWS[name]
    middle = float(law.points[len(law.points) // 2][0]) + moved * float(law.dx)
    for lam in (0.01, 0.8, 9.0):
        tilted = TiltedSum(parts, tilt, (middle, middle, lam, 1.3 * lam), n)
        for eps in probes(law)[::2]:
            low, high = bounds(tilted, eps)
            assert low <= law.delta(mpf(eps)) <= high


@pytest.mark.parametrize("name", ["one part", "offset", "two atoms", "fifty", "parts"])
def test_the_errors_are_small_where_the_tilt_fits(name):
    """Relative accuracy, however small the sum: the tilt that puts the mean at eps."""
    parts, law = SMALL[name], LAWS[name]
    top, mean = law.points[-1][0], sum(s * m for s, m in law.points) / sum(m for _, m in law.points)
    for share in (0.1, 0.5, 0.9):
        eps = float(mean + mpf(share) * (top - mean))

        def excess(tilt, eps=eps):
            weights = [m * mpmath.exp(tilt * s) for s, m in law.points]
            return sum(w * (s - eps) for w, (s, _) in zip(weights, law.points, strict=True)) / sum(weights)

        tilt = float(mpmath.findroot(excess, (mpf("0.1"), mpf(2)), tol=1e-8, verify=False))
        tilted = TiltedSum(
            parts, tilt, (float(law.points[0][0]), float(top), 50.0, 50.0), good_size(3 * len(law.points))
        )
        found, true = tilted.evaluate(eps), law.delta(mpf(eps))
        value = mpf(found.value) * mpmath.exp(mpf(found.log_factor))
        assert abs(value / true - 1) < 1e-12
        assert found.rounding < 1e-11 * found.value
        assert found.periodisation < 1e-15 * found.value
        low, high = bounds(tilted, eps)
        assert 0 < high / low - 1 < 1e-10


def test_a_tiny_sum_is_as_accurate_as_a_large_one():
    parts = [(grid_pld(0.0, 1.0, -1, [0.6, 0.3999999, 1e-7]), 40)]
    law = Exact(parts)
    eps = 34.5
    true = law.delta(mpf(eps))
    assert true < 1e-220
    tilted = TiltedSum(parts, 17.3, (-40.0, 40.0, 50.0, 50.0), 128)
    low, high = bounds(tilted, eps)
    assert low <= true <= high
    assert high / low - 1 < 1e-9


def test_no_mass_at_all():
    for n in (8, 64):
        tilted = TiltedSum([(grid_pld(0.0, 0.5, 0, [0.0, 0.0, 0.0]), 3)], 1.0, (-1.0, 1.0, 1.0, 1.0), n)
        for eps in (-2.0, 0.0, 5.0):
            found = tilted.evaluate(eps)
            assert (found.value, found.periodisation) == (0.0, 0.0)
            assert found.rounding >= 0


def test_mass_only_far_below_the_end_of_the_grid_does_not_hide_from_chernoff():
    """lam times the length of the grid is beyond the exponential's range; the mass sits at the lower end."""
    masses = np.zeros(2000)
    masses[:3] = [0.25, 0.5, 0.25]
    parts = [(grid_pld(0.0, 1.0, 0, masses), 4)]
    law = Exact([(grid_pld(0.0, 1.0, 0, masses[:3]), 4)])
    tilted = TiltedSum(parts, 0.5, (-4.0, 0.0, 1.0, 1.0), 8)
    for lam in (0.3, 1.0, 7.0):
        tilted = TiltedSum(parts, 0.5, (-4.0, 0.0, lam, lam), 8)  # the sums 0..8 lie above and inside
        assert tilted.log_outside > -math.inf
        for eps in (-3.0, 0.5, 2.5, 6.5):
            low, high = bounds(tilted, eps)
            assert low <= law.delta(mpf(eps)) <= high


@pytest.mark.parametrize("tilt", [1e-12, 1e-6, 1e3, 1e6, 1e9, 1e12])
def test_tilts_far_off_give_wide_bounds_but_true_ones(tilt):
    parts, law = SMALL["one part"], LAWS["one part"]
    for n in (8, 64):
        for lam in (3.0, 2000.0):
            tilted = TiltedSum(parts, tilt, (-1.0, 1.0, lam, lam), n)
            for eps in (-4.0, -0.55, 0.3, 1.1, 3.4):
                low, high = bounds(tilted, eps)
                assert low <= law.delta(mpf(eps)) <= high


@pytest.mark.parametrize("tilt", [1e-18, 1e-6])
@pytest.mark.parametrize("k", [1, 2])
def test_a_transform_that_vanishes_exactly(tilt, k):
    """0 relative to its rounding: no division by it."""
    parts = [(grid_pld(0.0, 0.5, 0, [0.25, 0.25, 0.25, 0.25]), k), (grid_pld(0.0, 0.5, 0, [0.7, 0.3]), 1)]
    law = Exact(parts)
    tilted = TiltedSum(parts, tilt, (0.0, 2.0, 9.0, 9.0), 32)
    for eps in (-1.0, 0.2, 1.1):
        low, high = bounds(tilted, eps)
        assert low <= law.delta(mpf(eps)) <= high
        assert tilt < 1e-6 or high - low < 1e-6


def test_a_window_far_above_eps_is_not_taken_for_nothing():
    """e^{-tilt (S - eps)} underflows at every S of the window; nothing may be concluded from that."""
    parts = [(grid_pld(0.0, 1e5, 0, [0.6, 0.4]), 3)]
    law = Exact(parts)
    for lam in (1e-4, 0.05):  # with the larger one Chernoff's bound itself is 0 in float64
        tilted = TiltedSum(parts, 0.6, (1e5, 2e5, lam, lam), 8)
        low, high = bounds(tilted, 1.0)
        assert low <= law.delta(mpf(1)) <= high


@pytest.mark.parametrize("lam", [0.5, 11.0, 300.0])
@pytest.mark.parametrize("tilt", [3.0, 300.0, 1e5])
def test_mass_outside_counts_however_far_the_window_is_lifted(tilt, lam):
    """The chance of being outside underflows, and what it is multiplied with overflows."""
    parts, law = SMALL["one part"], LAWS["one part"]
    for start in (100.0, 5.0, 2.0):
        tilted = TiltedSum(parts, tilt, (start, start + 1, lam, lam), 8)
        for eps in (-0.237, 1.0, 3.4):
            low, high = bounds(tilted, eps)
            assert low <= law.delta(mpf(eps)) <= high


@pytest.mark.parametrize("tilt", [1e-6, 0.01, 1.0, 100.0, 1e8])
def test_the_periodisation_uses_the_supremum_of_the_kernel(tilt):
    t = mpf(tilt)
    peak = mpmath.log1p(1 / t)
    sup = mpmath.exp(-t * peak) * -mpmath.expm1(-peak)
    tilted = TiltedSum(SMALL["one part"], tilt, (50.0, 60.0, 0.1, 0.1), 8)
    found = tilted.evaluate(1e4)  # nothing of the window lies above
    assert found.value == found.rounding == 0
    assert found.periodisation >= sup * mpmath.exp(tilted.log_outside) * (1 - mpf(10) ** -14)
    assert found.periodisation <= sup * mpmath.exp(tilted.log_outside) * (1 + mpf(10) ** -11)


def test_position_error_covers_the_sums_of_offsets_and_nodes():
    rng = np.random.default_rng(5)
    for _ in range(200):
        dx, offset, k = 10 ** rng.uniform(-6, 0), rng.normal() * 10 ** rng.uniform(-3, 2), int(rng.integers(1, 10**6))
        pld = grid_pld(offset, dx, int(rng.integers(-100, 100)), [0.5, 0.5])
        tilted = TiltedSum([(pld, k)], 0.1, (k * offset - 1, k * offset + 1, 1.0, 1.0), 16)
        for index in (tilted.start, tilted.start + 15):
            in_float = tilted.offset + index * dx
            exact = k * mpf(offset) + index * mpf(dx)
            assert abs(in_float - exact) <= tilted.position_error(in_float)


@pytest.mark.parametrize("k", [1, 2, 3, 7, 64, 1000, 12345])
def test_power_by_repeated_squaring(k):
    rng = np.random.default_rng(k)
    base = np.exp(-rng.random(20) / k) * np.exp(1j * rng.uniform(0, 6, 20))
    for found, z in zip(_power(base, k).tolist(), base.tolist(), strict=True):
        true = mpmath.mpc(z) ** k
        assert abs(mpmath.mpc(found) - true) <= math.sqrt(5) * U * k * abs(true)


@pytest.mark.parametrize("n", [8, 30, 128, 96, 1000, 720, 2 * 509, 2 * 61])
def test_the_transform_errs_by_less_than_its_bound(n):
    """5 u log2(n) of the sum of moduli an output, by hand-picked and random inputs, other sizes by hand included."""
    rng = np.random.default_rng(n)
    for kind in range(3):
        values = (rng.exponential(size=n), np.exp(-0.5 * np.linspace(-9, 9, n) ** 2), np.eye(n)[n // 3])[kind]
        values = values / values.sum()
        found = np.fft.rfft(values)
        for frequency in {0, 1, n // 2, *rng.integers(0, n // 2, 3).tolist()}:
            with mpmath.workdps(25):
                turns = [mpmath.expjpi(mpf(-2 * ((j * frequency) % n)) / n) for j in range(n)]
                true = mpmath.fdot(values.tolist(), turns)
            assert abs(found[frequency] - complex(true)) <= 5 * math.log2(n) * U


def test_sizes_are_products_of_small_primes():
    for least in (1, 8, 9, 17, 100, 1025, 99_999, 2**20 + 1):
        size = good_size(least)
        assert size >= least
        assert size % 8 == 0
        for prime in (2, 3, 5):
            while size % prime == 0:
                size //= prime
        assert size == 1
