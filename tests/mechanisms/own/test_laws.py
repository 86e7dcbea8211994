"""Twelve laws that a user may type, against the hockey stick of their textbook densities, by every route."""

import functools
import itertools

import mpmath
import pytest
from mpmath import mpf

from dplab import Composition, Pair, PoissonSubsampled, clt, fourier, reference, symbolic
from dplab.core.functions import MpmathTable

from .composing import bounds
from .laws import CONTINUOUS, LAWS, MIXTURES, Law, normals_density

FN = MpmathTable()
every = pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
both_ways = pytest.mark.parametrize("way", ["forward", "backward"])


@functools.cache
def pair_of(law) -> Pair:
    return law.pair()


def hockey_stick(law, way: str, eps):
    """The integral or sum of max(p - e^eps q, 0), written from the textbook."""
    p, q = (law.p, law.q) if way == "forward" else (law.q, law.p)

    def excess(t):
        return p(t) - mpmath.exp(eps) * q(t)

    if law.integers:
        return mpmath.fsum(max(excess(t), mpf(0)) for t in law.cuts)
    total = mpf(0)
    for left, right in itertools.pairwise(_with_zeros(excess, law.cuts)):
        middle = (max(left, mpf(-10000)) + min(right, mpf(10000))) / 2
        if excess(middle) > 0:
            total += mpmath.quad(excess, [left, right])
    return total


def _with_zeros(f, cuts) -> list:
    points = []
    for left, right in itertools.pairwise(cuts):
        low, high = max(left, mpf(-10000)), min(right, mpf(10000))
        fine = [low + (high - low) * (i + mpf("0.001")) / 16 for i in range(16)]
        fine.append(high - (high - low) / 10**6)
        points.append(left)
        for a, b in itertools.pairwise(fine):
            if f(a) * f(b) < 0:
                points.append(mpmath.findroot(f, (a, b), solver="anderson", tol=mpf(10) ** -60, verify=False))
    return [*points, cuts[-1]]


@every
@both_ways
def test_one_step_by_every_route(law, way):
    with mpmath.workdps(30):
        for eps in ("0.3", "-0.2"):
            true = hockey_stick(law, way, mpf(eps))
            assert abs(reference.delta(pair_of(law), eps, way, digits=20).value - true) < mpf(10) ** -18
            assert abs(symbolic.delta(pair_of(law), eps, way).evaluate(20) - true) < mpf(10) ** -18
            bracket = fourier.delta(pair_of(law), eps, way)
            assert bracket.lower <= true <= bracket.upper
            assert bracket.width < 1e-11


@every
@both_ways
@pytest.mark.parametrize(("k", "eps"), [(3, 0.5), (50, 2.0)], ids=["k=3", "k=50"])
def test_composed_brackets_agree_with_a_convolution_of_the_densities(law, way, k, eps):
    bracket = fourier.delta(k * pair_of(law), eps, way)
    low, high = bounds(law, way == "backward", k, eps)
    lost = 1e-7 if law.name != "Cauchy" else 2e-3 * k  # the slices end at 400
    assert bracket.lower <= high + lost
    assert low - lost <= bracket.upper
    assert bracket.relative_width < 5e-3


@every
def test_the_central_limit_is_near(law):
    bracket = fourier.delta(50 * pair_of(law), "2", "forward")
    assert abs(clt.delta(50 * pair_of(law), "2", "forward", method="moments").value - bracket.upper) < 0.12


REFERENCED = ("uniform", "logistic", "staircase", "hyperbolic secant", "truncated Gaussian", "geometric")
"""Laws whose reference of 50 steps takes a second or less."""


@pytest.mark.parametrize("law", [law for law in LAWS if law.name in REFERENCED], ids=lambda law: law.name)
@both_ways
def test_composed_brackets_contain_the_reference(law, way):
    composition = 50 * pair_of(law)
    true = reference.delta(composition, "2", way, digits=12)
    assert true.reached
    bracket = fourier.delta(composition, "2", way)
    assert bracket.lower <= true.value + true.error
    assert true.value - true.error <= bracket.upper


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
@pytest.mark.parametrize("k", [2, 3, 50])
@both_ways
@pytest.mark.exhaustive
def test_references_stand_by_their_error(law, k, way):
    """Where the law has corners or few values a short sum converges slowly; the reference then says so."""
    true = reference.delta(k * pair_of(law), "0.5", way, digits=6)
    bracket = fourier.delta(k * pair_of(law), "0.5", way)
    assert bracket.lower <= true.value + true.error
    assert true.value - true.error <= bracket.upper


@every
@both_ways
def test_sampled(law, way):
    """20 steps at rate 0.1: the mixture's density against Q, sliced."""
    bracket = fourier.delta(20 * PoissonSubsampled(pair_of(law), "0.1"), 0.4, way)
    low, high = bounds(law, way == "backward", 20, 0.4, rate=0.1)
    lost = 1e-7 if law.name != "Cauchy" else 2e-3 * 20
    assert bracket.lower <= high + lost
    assert low - lost <= bracket.upper
    assert bracket.relative_width < 0.05


@every
def test_json_pickle_and_hash(law):
    import pickle

    composition = 3 * pair_of(law) + PoissonSubsampled(pair_of(law), "0.1")
    again = Composition.from_json(composition.to_json())
    assert again == composition
    assert hash(again) == hash(composition)
    assert pickle.loads(pickle.dumps(composition)) == composition
    with pytest.raises(AttributeError, match="immutable"):
        pair_of(law).anything = 1


@pytest.mark.parametrize("law", CONTINUOUS, ids=lambda law: law.name)
def test_pieces_are_monotone_and_inverted(law):
    with mpmath.workdps(30):
        for piece in pair_of(law).pieces:
            from dplab.mechanisms.own import tails

            low, high = (max(min(tails.value(FN, end), mpf(6)), mpf(-6)) for end in (piece.low, piece.high))
            for i in range(1, 6):
                x = low + (high - low) * i / 6
                t = tails.outcome(FN, piece, x)
                assert abs(mpmath.log(law.p(t) / law.q(t)) - x) < mpf(10) ** -20
                later = t + mpf(10) ** -8
                rises = mpmath.log(law.p(later) / law.q(later)) > x
                assert rises == piece.increasing


EXPECTED_PIECES = {
    "uniform": 0, "logistic": 1, "Cauchy": 3, "staircase": 0, "triangular": 3, "truncated Laplace": 1,
    "truncated Gaussian": 1, "hyperbolic secant": 1, "Gaussian mixture": 5,
}  # fmt: skip


@pytest.mark.parametrize("law", CONTINUOUS, ids=lambda law: law.name)
def test_the_number_of_pieces_and_what_has_no_formula(law):
    pair = pair_of(law)
    assert len(pair.pieces) == EXPECTED_PIECES[law.name]
    assert bool(pair.stages) == (law.name == "Gaussian mixture")
    assert all((piece.inverse is None) == (law.name == "Gaussian mixture") for piece in pair.pieces)


def test_the_stage_that_stopped_is_named():
    mixture = next(law for law in LAWS if law.name == "Gaussian mixture")
    found = symbolic.delta(pair_of(mixture), "0.3", "forward")
    assert "turning points" in found.reason
    assert "Integral(Max(0" in str(found)
    poisson = next(law for law in LAWS if law.name == "Poisson")
    found = symbolic.delta(pair_of(poisson), "0.3", "forward")
    assert "infinitely many values" in found.reason
    assert "Sum(" in str(found)


@pytest.mark.long
@pytest.mark.parametrize("way", ["forward", "backward"])
def test_two_mixtures_against_each_other(way):
    """.5 N(0,1) + .5 N(3,1) over .5 N(1,1) + .5 N(4,1): the loss turns twice, its inverse is numeric."""

    class Mixtures(Law):
        """P is no shift of Q here."""

        p = property(lambda self: normals_density(0, 3))
        q = property(lambda self: normals_density(1, 4))

    law = Mixtures("two mixtures", "", normals_density(0, 3), tuple(map(mpf, range(-16, 21, 2))))
    for eps in (1.0, 4.0):
        bracket = fourier.delta(20 * MIXTURES, eps, way)
        low, high = bounds(law, way == "backward", 20, eps)
        assert bracket.lower <= high + 1e-9
        assert low - 1e-9 <= bracket.upper
        assert bracket.relative_width < 1e-3
