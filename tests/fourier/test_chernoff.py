"""alpha+ and alpha-: of grid masses, of a mechanism, and what rounding does to them (the MGF lemma)."""

import math

import mpmath
import numpy as np
import pytest
from mpmath import mpf

from dplab import Gaussian, Laplace, PoissonSubsampled, RandomizedResponse
from dplab.core.errors import ParameterError, UnboundSymbolError
from dplab.fourier import after_rounding, alphas, alphas_of, outward_masses


def test_alphas_of_masses_are_upper_bounds_and_tight():
    rng = np.random.default_rng(1)
    for _ in range(200):
        n, L = 2 * int(rng.integers(1, 30)), float(np.exp(rng.uniform(-3, 4)))
        a = rng.random(n) ** 5 * (rng.random(n) < 0.7)
        lam = float(np.exp(rng.uniform(-3, 3)) / L)
        found = alphas(a, L, lam)
        with mpmath.workdps(40):
            dx = mpf(2 * L / n)
            for sign, value in ((1, found.plus), (-1, found.minus)):
                exact = mpmath.fsum(
                    mpf(m) * mpmath.exp(sign * mpf(lam) * (i - n // 2) * dx) for i, m in enumerate(a.tolist())
                )
                if exact == 0:
                    assert value == -math.inf
                else:
                    assert 0 <= value - mpmath.log(exact) < 1e-11


def integral(sigma, q, z):
    """log M(z) of the subsampled Gaussian, record removed, by quadrature over the outcomes."""
    with mpmath.workdps(25):
        sigma, q, z = mpf(sigma), mpf(q), mpf(z)

        def f(t):
            ratio = 1 - q + q * mpmath.exp((2 * t - 1) / (2 * sigma**2))
            return mpmath.npdf(t, 0, sigma) * ratio ** (z + 1)

        return mpmath.log(mpmath.quad(f, [-30 * sigma, -5 * sigma, 0, 1, 5 * sigma, 5 * sigma + z + 1, 30 * sigma + z]))


@pytest.mark.parametrize(("sigma", "q"), [("2", "0.01"), ("0.7", "0.2"), ("4", "0.0001")])
@pytest.mark.parametrize("lam", [0.3, 2.0, 8.0])
def test_alphas_without_a_closed_form_are_those_of_quadrature(sigma, q, lam):
    found = alphas_of(PoissonSubsampled(Gaussian(sigma), q), lam)
    assert found.plus == pytest.approx(float(integral(sigma, q, lam)), rel=1e-8)
    assert found.minus == pytest.approx(float(integral(sigma, q, -lam)), rel=1e-8)


def test_directions_are_mirror_images():
    pair = PoissonSubsampled(Laplace("0.5"), "0.3")
    forward, backward = alphas_of(pair, 2.0), alphas_of(pair, 1.0, "backward")
    assert forward.minus == pytest.approx(backward.plus, abs=1e-9)  # M_{Y/X}(z) = M_{X/Y}(-1 - z)


def test_nothing_lost_has_alpha_zero():
    assert alphas_of(Laplace(1, sensitivity=0), 3.0) == (0.0, 0.0)


PAIRS = [Gaussian(2), Laplace(1), RandomizedResponse("0.8"), PoissonSubsampled(Gaussian("0.9"), "0.1")]


@pytest.mark.parametrize("pair", PAIRS, ids=repr)
@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize("side", ["lower", "upper"])
def test_mgf_lemma(pair, direction, side):
    L, spare = 16.0, 1e-9
    known = {lam: alphas_of(pair, lam, direction) for lam in (0.05, 0.4, 1.5)}
    for n in (64, 200, 2048):
        masses = outward_masses(pair, L, n, side, direction).masses
        for lam, omega in known.items():
            grid = alphas(masses, L, lam)
            bound = after_rounding(omega, lam, 2 * L / n, side)
            assert grid.plus <= bound.plus + spare
            assert grid.minus <= bound.minus + spare
            grows, stays = ("plus", "minus") if side == "upper" else ("minus", "plus")
            assert getattr(grid, grows) >= getattr(omega, grows) - spare  # and the growth is real
            assert getattr(bound, stays) == getattr(omega, stays)


@pytest.mark.parametrize(
    ("masses", "words"),
    [([0.5], "even"), ([], "even"), ([[0.5, 0.5]], "even"), ([0.5, -0.1], "-0.1"), ([0.5, float("nan")], "nan")],
)
def test_masses_that_are_none(masses, words):
    with pytest.raises(ParameterError, match=words):
        alphas(masses, 1.0, 1.0)


def test_bad_input_is_named():
    with pytest.raises(ParameterError, match="lam = 0"):
        alphas_of(Gaussian(1), 0)
    with pytest.raises(ParameterError, match="faces one way"):
        alphas_of(Gaussian(1), 1, "both")
    with pytest.raises(UnboundSymbolError):
        alphas_of(Gaussian("sigma"), 1)
    with pytest.raises(ParameterError, match="side = 'left'"):
        after_rounding(alphas_of(Gaussian(1), 1), 1, 0.1, "left")
    with pytest.raises(ParameterError, match="dx = 0"):
        after_rounding(alphas_of(Gaussian(1), 1), 1, 0)
