"""The two output distributions behind the pictures of the definition: masses of test sets, and the best one."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dplab import Gaussian, Laplace, PoissonSubsampled, RandomizedResponse, reference
from dplab.core.errors import ParameterError, UnboundSymbolError
from dplab.plots.outcomes import Line, Masses, Table, outcomes

LINES = [Gaussian("0.7", sensitivity=2), Laplace("1.5"), PoissonSubsampled(Gaussian(2), "0.3"), Laplace(1)]
INF = math.inf


@pytest.mark.parametrize("pair", LINES, ids=repr)
def test_densities_belong_to_the_distribution_functions(pair):
    law = outcomes(pair)
    for density, below in ((law.p, law.p_below), (law.q, law.q_below)):
        mass = mpmath.quad(lambda t, f=density: float(f(np.float64(t))), [-3, 0, 1, 2, 5])
        assert float(mass) == pytest.approx(float(below(5.0) - below(-3.0)), abs=1e-9)
        assert float(below(np.float64(60.0))) == pytest.approx(1)


@pytest.mark.parametrize("pair", LINES, ids=repr)
def test_the_loss_is_the_logarithm_of_the_ratio(pair):
    law, t = outcomes(pair), np.linspace(-3, 5, 41)
    assert law.loss(t) == pytest.approx(np.log(law.p(t) / law.q(t)), abs=1e-12)


def test_masses_of_a_gaussian_by_hand():
    masses = outcomes(Gaussian(1)).masses([(1.5, INF), (-INF, -1)])
    phi = mpmath.ncdf
    assert masses.p == pytest.approx(float(phi(-0.5) + phi(-2)), abs=1e-15)
    assert masses.q == pytest.approx(float(phi(-1.5) + phi(-1)), abs=1e-15)


@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize("eps", [-0.5, 0, 0.4])
@pytest.mark.parametrize("pair", [*LINES, RandomizedResponse("0.7"), PoissonSubsampled(Gaussian(0), "0.2")], ids=repr)
def test_the_best_set_reaches_delta(pair, eps, backward):
    law = outcomes(pair, backward)
    masses = law.masses(law.best(eps))
    truth = reference.delta(pair, str(eps), direction="backward" if backward else "forward", digits=15)
    assert masses.p - math.exp(eps) * masses.q == pytest.approx(float(truth.value), abs=1e-10)


@given(ends=st.lists(st.floats(-4, 5), min_size=2, max_size=6, unique=True).filter(lambda e: len(e) % 2 == 0))
def test_no_other_set_does_better(ends):
    law = outcomes(Laplace(1))
    chosen = sorted(ends)
    masses = law.masses(list(zip(chosen[::2], chosen[1::2], strict=True)))
    assert masses.p - math.exp(0.5) * masses.q <= 1 - math.exp(-0.25) + 1e-12  # its delta(1/2)


def test_tables_of_names():
    law = outcomes(PoissonSubsampled(RandomizedResponse("0.8"), "0.5"))
    assert isinstance(law, Table)
    assert law.p == pytest.approx((0.5, 0.5))
    assert law.masses(["yes", "no"]) == pytest.approx(Masses(1, 1))
    with pytest.raises(ParameterError, match="names of outcomes: yes, no"):
        law.masses(["maybe"])


def test_without_noise_outcomes_are_names():
    assert outcomes(Laplace(0)).p == (1.0, 0.0)
    assert isinstance(outcomes(Laplace(3)), Line)


def test_symbols_cannot_be_drawn():
    with pytest.raises(UnboundSymbolError, match="sigma"):
        outcomes(Gaussian("sigma"))
