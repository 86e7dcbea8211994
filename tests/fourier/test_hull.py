"""The hull against SciPy's isotonic regression and against the definition: the largest convex minorant."""

import numpy as np
import pytest
from scipy.optimize import isotonic_regression

from dplab.fourier.hull import convex_masses


def by_isotonic_regression(masses: np.ndarray, dx: float) -> np.ndarray:
    """-slopes of h on (0, x_0), (x_0, x_1), ..., made non-increasing with the cells' lengths as weights."""
    x = np.exp((np.arange(len(masses)) - (len(masses) - 1)) * dx)
    slopes = np.cumsum((masses / x)[::-1])[::-1]
    lengths = np.concatenate([[x[0]], np.diff(x)])
    fitted = np.maximum(isotonic_regression(slopes, weights=lengths, increasing=False).x, 0.0)
    return x * -np.diff(np.append(fitted, 0.0))


def curve_values(masses: np.ndarray, dx: float) -> tuple[np.ndarray, np.ndarray]:
    """e^x at 0 and the nodes (the last one is 1), and h there."""
    x = np.concatenate([[0.0], np.exp((np.arange(len(masses)) - (len(masses) - 1)) * dx)])
    weights = masses / x[1:]
    h = np.array([np.sum(np.where(x[1:] > at, masses - at * weights, 0.0)) for at in x])
    return x, h


def lower_hull(x: np.ndarray, h: np.ndarray) -> np.ndarray:
    """The lower convex hull of points by Andrew's walk, then read off at the same x."""
    kept: list[int] = []
    for i in range(len(x)):
        while len(kept) > 1 and (h[kept[-1]] - h[kept[-2]]) * (x[i] - x[kept[-2]]) >= (h[i] - h[kept[-2]]) * (
            x[kept[-1]] - x[kept[-2]]
        ):
            kept.pop()
        kept.append(i)
    return np.interp(x, x[kept], h[kept])


def random_masses(rng, dx: float) -> np.ndarray:
    n = int(rng.integers(3, 40))
    masses = rng.exponential(size=n) * 10 ** rng.uniform(-3, 0, n)
    for _ in range(rng.integers(0, 6)):
        i = rng.integers(1, n - 1)
        taken = rng.exponential() * 3 * masses[i]
        masses[i] -= taken
        if rng.random() < 0.5:
            masses[i - 1] += 0.5 * taken
            masses[i + 1] += 0.5 * taken
    return masses


@pytest.mark.parametrize("seed", range(6))
def test_random_masses_against_isotonic_regression(seed):
    rng = np.random.default_rng(seed)
    for _ in range(150):
        dx = 10 ** rng.uniform(-3, 0.3)
        masses = random_masses(rng, dx)
        found, expected = convex_masses(masses, dx), by_isotonic_regression(masses, dx)
        assert found.min() >= 0
        assert np.max(np.abs(found - expected)) <= 1e-9 * np.max(np.abs(masses))


@pytest.mark.parametrize("seed", range(3))
def test_the_result_is_the_largest_convex_minorant(seed):
    rng = np.random.default_rng(100 + seed)
    for _ in range(60):
        dx = 10 ** rng.uniform(-2, 0.3)
        masses = random_masses(rng, dx)
        x, h = curve_values(masses, dx)
        if h[1:].min() < 0:
            continue  # h falls below its value at infinity: the hull is cut there
        _, after = curve_values(convex_masses(masses, dx), dx)
        assert np.allclose(after, lower_hull(x, h), rtol=0, atol=1e-10 * h[0])


def test_non_negative_masses_are_left_alone():
    masses = np.array([0.1, 0.0, 0.4, 0.5])
    assert convex_masses(masses, 0.1) is masses


def test_one_negative_mass_is_pooled_with_its_neighbours_only():
    masses = np.array([0.1, 0.2, 0.3, -0.05, 0.3, 0.1, 0.05])
    found = convex_masses(masses, 0.01)
    assert found[3] == 0
    assert found[[0, 1, 5, 6]] == pytest.approx(masses[[0, 1, 5, 6]], rel=1e-12)
    assert found.sum() == pytest.approx(masses.sum(), rel=1e-12)


def test_negative_masses_at_the_ends():
    for masses in (
        np.array([-0.1, 0.3, 0.8]),
        np.array([0.5, 0.6, -0.1]),
        np.array([-0.2, 0.1, -0.3]),
        np.array([-1.0, 0.0, 0.0]),
    ):
        found = convex_masses(masses, 0.2)
        assert np.allclose(found, by_isotonic_regression(masses, 0.2), atol=1e-12)
        assert found.min() >= 0


def test_a_large_grid_with_few_violations_is_quick_and_right():
    rng = np.random.default_rng(1)
    masses = np.exp(-0.5 * np.linspace(-6, 6, 20000) ** 2)
    where = rng.integers(100, 19900, 50)
    masses[where] *= -1.5
    found = convex_masses(masses, 1e-4)
    assert found.min() >= 0
    expected = by_isotonic_regression(masses, 1e-4)
    assert np.max(np.abs(found - expected)) < 1e-9


def test_no_overflow_on_a_very_coarse_grid():
    masses = np.array([0.2, -0.1, 0.5, 0.4])
    found = convex_masses(masses, 400.0)
    assert np.all(np.isfinite(found))
    assert found.min() >= 0
