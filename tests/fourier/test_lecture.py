"""The lecture version of Algorithm 1: against direct convolution; rounding bounds moderate deltas."""

import math

import mpmath
import numpy as np
import pytest

from dplab import Gaussian, Laplace, PoissonSubsampled, RandomizedResponse
from dplab.core.errors import ParameterError, ParameterTypeError
from dplab.core.pld import PLD
from dplab.fourier import algorithm_1, rounded_masses

from .exact import FN, curve


def by_convolution(a: np.ndarray, k: int, L: float, eps: float, infinity: float = 0.0) -> float:
    """The k-fold sum written out: a loss of -k L + j dx has mass law[j]."""
    dx, law = 2 * L / len(a), np.ones(1)
    for _ in range(k):
        law = np.convolve(law, a)
    x = -k * L + np.arange(len(law)) * dx
    return 1 - (1 - infinity) ** k + float(np.sum(np.where(x > eps, -np.expm1(eps - x), 0.0) * law))


@pytest.mark.parametrize("k", [0, 1, 2, 5, 9])
@pytest.mark.parametrize("eps", [-0.7, 0.0, 0.33, 2.0])
@pytest.mark.parametrize("infinity", [0.0, 0.01])
def test_algorithm_1_is_the_plain_convolution_where_nothing_wraps(k, eps, infinity):
    rng = np.random.default_rng(k)
    L, n = 16.0, 256
    a = np.zeros(n)
    a[110:150] = rng.random(40)  # |loss| < 2.3, so nine steps stay inside
    a /= a.sum() / (1 - infinity)
    k = min(k, 6)
    assert algorithm_1(a, k, L, eps, infinity) == pytest.approx(by_convolution(a, k, L, eps, infinity), abs=1e-13)


def test_mass_beyond_the_grid_wraps_around_and_shows():
    a = np.zeros(64)
    a[60] = 1.0  # one loss of 0.875 L
    L = 1.0
    assert algorithm_1(a, 1, L, 0.5) == pytest.approx(-math.expm1(0.5 - 0.875), abs=1e-14)
    assert by_convolution(a, 2, L, 0.5) == pytest.approx(-math.expm1(0.5 - 1.75), abs=1e-14)
    assert algorithm_1(a, 2, L, 0.5) == pytest.approx(0.0, abs=1e-14)  # 1.75 has become -0.25


def test_nothing_composed_is_perfect_privacy():
    a, _ = rounded_masses(Gaussian(1), L=8, n=128)
    assert algorithm_1(a, 0, 8, 0.5) == pytest.approx(0.0, abs=1e-12)
    assert algorithm_1(a, 0, 8, -1.0) == pytest.approx(-math.expm1(-1), abs=1e-12)


MECHANISMS = [
    (Gaussian(1), 12.0, 3),
    (Laplace("0.5"), 8.0, 3),
    (RandomizedResponse("0.75"), 8.0, 4),
    (PoissonSubsampled(Gaussian(1), "0.1"), 8.0, 5),
    (PoissonSubsampled(Laplace("0.5"), "0.3"), 8.0, 4),
    (PoissonSubsampled(Gaussian(0), "0.1"), 6.0, 3),
]


@pytest.mark.parametrize(("pair", "L", "k"), MECHANISMS, ids=lambda value: str(value))
@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_rounded_masses_bound_one_step_and_the_composition(pair, L, k, direction):
    """Koskela et al. (2021), Lemma 5. The truth of the composition is bracketed by a grid sixteen times finer."""
    pld = PLD(pair, direction == "backward")
    sides = {side: rounded_masses(pair, L, 1024, side, direction) for side in ("lower", "upper")}
    finer = {side: rounded_masses(pair, L, 16 * 1024, side, direction) for side in ("lower", "upper")}
    for eps in (-0.4, 0.1, 0.5, 1.3):
        true = float(curve(pld, mpmath.mpf(eps)))
        one = {side: algorithm_1(a, 1, L, eps, infinity) for side, (a, infinity) in sides.items()}
        assert one["lower"] - 1e-12 <= true <= one["upper"] + 1e-12
        many = {side: algorithm_1(a, k, L, eps, infinity) for side, (a, infinity) in sides.items()}
        close = {side: algorithm_1(a, k, L, eps, infinity) for side, (a, infinity) in finer.items()}
        assert many["lower"] <= close["lower"] + 1e-9
        assert close["lower"] <= close["upper"] + 1e-9
        assert close["upper"] <= many["upper"] + 1e-9


def test_the_known_value_lies_between_the_two_roundings():
    """Gaussian sigma = 1, k = 4 is Gaussian sigma = 1/2: delta(1) in closed form."""
    with mpmath.workdps(30):
        true = float(curve(PLD(Gaussian("1/2")), mpmath.mpf(1)))
    masses = [rounded_masses(Gaussian(1), 20, 2**14, side)[0] for side in ("lower", "upper")]
    low, high = (algorithm_1(a, 4, 20, 1.0) for a in masses)
    assert low < true < high
    assert high - low < 0.02


@pytest.mark.parametrize("side", ["lower", "upper"])
@pytest.mark.parametrize(("pair", "L", "k"), MECHANISMS, ids=lambda value: str(value))
def test_rounded_masses_are_the_masses_of_cells(pair, L, k, side):
    n = 64
    a, infinity = rounded_masses(pair, L, n, side)
    x = -L + np.arange(n) * (2 * L / n)
    pld = PLD(pair)
    with mpmath.workdps(40):
        for i in (1, 20, 31, 32, 40, 62):
            left, right = (x[i - 1], x[i]) if side == "upper" else (x[i], x[i + 1])
            on_node = right if side == "upper" else left  # an atom on a node stays there
            atoms = sum(atom.p for atom in pld.atoms(FN) if left < atom.loss < right or atom.loss == on_node)
            support = pld.support(FN)
            mass = mpmath.mpf(0)
            if support is not None:
                ends = [min(max(mpmath.mpf(end), support[0]), support[1]) for end in (left, right)]
                if ends[0] < ends[1]:
                    mass = (
                        pld.below(FN, ends[1]).p - pld.below(FN, ends[0]).p
                        if ends[1] < support[1]
                        else (pld.above(FN, ends[0]).p if ends[0] > support[0] else pld.continuous_mass(FN).p)
                    )
            assert a[i] == pytest.approx(float(atoms + mass), abs=1e-13)
    assert a.min() >= -1e-15
    assert infinity >= float(pld.mass_at_infinity(FN)) - 1e-15
    assert a.sum() + infinity <= 1 + 1e-12


@pytest.mark.parametrize("side", ["lower", "upper"])
@pytest.mark.parametrize(
    "pair", [Gaussian(1, sensitivity=0), PoissonSubsampled(Laplace(1), 0), Gaussian(0, sensitivity=0)]
)
def test_a_pair_that_loses_nothing(pair, side):
    a, infinity = rounded_masses(pair, 4, 16, side)
    assert infinity == 0
    assert algorithm_1(a, 3, 4, 0.5) == pytest.approx(0, abs=1e-12)
    assert algorithm_1(a, 3, 4, -0.5) == pytest.approx(-math.expm1(-0.5), abs=1e-12)


BAD = [
    (lambda: algorithm_1(np.ones(3) / 3, 1, 1.0, 0.0), "len"),
    (lambda: algorithm_1(np.ones(0), 1, 1.0, 0.0), "len"),
    (lambda: algorithm_1(np.ones(4) / 4, 1, 0.0, 0.0), "L"),
    (lambda: algorithm_1(np.ones(4) / 4, 1, math.nan, 0.0), "L"),
    (lambda: algorithm_1(np.ones(4) / 4, -1, 1.0, 0.0), "k"),
    (lambda: rounded_masses(Gaussian(1), 4, 7), "n"),
    (lambda: rounded_masses(Gaussian(1), 4, 0), "n"),
    (lambda: rounded_masses(Gaussian(1), -4, 8), "L"),
    (lambda: rounded_masses(Gaussian(1), 4, 8, "middle"), "side"),
    (lambda: rounded_masses(Gaussian(1), 4, 8, direction="both"), "direction"),
    (lambda: rounded_masses(Gaussian(1), 4, 8, direction="sideways"), "direction"),
]


@pytest.mark.parametrize(("call", "name"), BAD)
def test_bad_input_is_named(call, name):
    with pytest.raises(ParameterError, match=rf"^{name}"):
        call()


def test_k_must_be_whole():
    with pytest.raises(ParameterTypeError):
        algorithm_1(np.ones(4) / 4, 2.5, 1.0, 0.0)
