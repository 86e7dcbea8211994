"""Blocked sums against 60-digit sums: within the relative error they state, without underflow."""

import mpmath
import numpy as np
import pytest
from mpmath import mpf

from dplab.fourier.sums import suffix_decay_sums, suffix_sums

RNG = np.random.default_rng(11)


def masses_of(kind: str, size: int, dx: float) -> np.ndarray:
    if kind == "random":
        return 10.0 ** RNG.uniform(-12, 0, size)
    if kind == "last only":  # the factor e^{-dx} is carried from block to block
        return np.append(np.zeros(size - 1), 0.3)
    if kind == "growing":  # every term counts the same
        return np.exp(np.arange(size) * dx - (size - 1) * dx)
    if kind == "falling":
        return np.exp(-0.5 * np.linspace(0, 36, size) ** 2)
    return np.where(RNG.random(size) < 0.8, 0.0, RNG.random(size))  # sparse


def exact_decay_sums(masses: np.ndarray, dx: float) -> list:
    total, factor, sums = mpf(0), mpmath.exp(-mpf(dx)), []
    for mass in reversed(masses.tolist()):
        total = mpf(mass) + factor * total
        sums.append(total)
    return sums[::-1]


@pytest.mark.parametrize("kind", ["random", "last only", "growing", "falling", "sparse"])
@pytest.mark.parametrize(
    ("size", "dx"),
    [
        (1, 0.1),
        (2, 0.1),
        (3, 5.0),
        (10, 1e-9),
        (1000, 1e-4),
        (5000, 0.02),
        (700, 0.9),
        (300, 2.3),
        (20, 33.0),
        (5, 800.0),
    ],
)
def test_decay_sums(kind, size, dx):
    masses = masses_of(kind, size, dx)
    found, relative = suffix_decay_sums(masses, dx)
    assert len(found) == size
    assert relative < 1e-11
    with mpmath.workdps(60):
        for value, true in zip(found.tolist(), exact_decay_sums(masses, dx), strict=True):
            assert abs(value - true) <= relative * true + mpf("1e-305")


def test_decay_sums_of_signed_masses_are_right_where_nothing_cancels():
    masses = np.array([0.5, -0.25, 1.0, 0.0])
    found, _ = suffix_decay_sums(masses, 0.5)
    e = np.exp(-0.5)
    assert np.allclose(found, [0.5 - 0.25 * e + e * e, -0.25 + e, 1.0, 0.0], rtol=1e-14)


@pytest.mark.parametrize("size", [1, 2, 3, 10, 17, 1000, 4096])
def test_suffix_sums(size):
    for values in (10.0 ** RNG.uniform(-15, 0, size), np.full(size, 0.1), np.append(np.zeros(size - 1), 1e-300)):
        found, relative = suffix_sums(values)
        assert relative < 1e-12
        with mpmath.workdps(60):
            total = mpf(0)
            for value, mine in zip(reversed(values.tolist()), reversed(found.tolist()), strict=True):
                total += mpf(value)
                assert abs(mine - total) <= relative * total
