"""A dplab composition as steps: exact parameters to the nearest float, sensitivities scaled away, refusals."""

import json
import math

import pytest

from dplab import (
    ApproximateDP,
    Composition,
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    Laplace,
    Pair,
    PoissonSubsampled,
    Product,
    RandomizedResponse,
)
from dplab.peers import NotModelled, query
from dplab.peers.protocol import Query, Step


def steps(composition) -> tuple[Step, ...]:
    return query(composition, eps=1).steps


@pytest.mark.parametrize(
    ("pair", "expected"),
    [
        (Gaussian("0.1"), Step("gaussian", {"sigma": 0.1}, 1.0, 1)),
        (Gaussian("1/3", sensitivity="1/3"), Step("gaussian", {"sigma": 1.0}, 1.0, 1)),
        (Gaussian(1, "sqrt(2)"), Step("gaussian", {"sigma": math.sqrt(0.5)}, 1.0, 1)),
        (Laplace(10, sensitivity=4), Step("laplace", {"b": 2.5}, 1.0, 1)),
        (RandomizedResponse("3/4"), Step("randomised response", {"eps": math.log(3)}, 1.0, 1)),
        (RandomizedResponse.from_eps("0.1"), Step("randomised response", {"eps": 0.1}, 1.0, 1)),
        (DiscreteLaplace(5, shift=2), Step("discrete laplace", {"b": 5.0, "shift": 2.0}, 1.0, 1)),
        (DiscreteGaussian("1.5"), Step("discrete gaussian", {"sigma": 1.5, "shift": 1.0}, 1.0, 1)),
        (ApproximateDP("0.5", "1e-3"), Step("approximate dp", {"eps": 0.5, "delta": 1e-3}, 1.0, 1)),
        (PoissonSubsampled(Gaussian(4), "0.01"), Step("gaussian", {"sigma": 4.0}, 0.01, 1)),
        (PoissonSubsampled(Laplace(4), 1), Step("laplace", {"b": 4.0}, 1.0, 1)),
        (PoissonSubsampled(PoissonSubsampled(Gaussian(4), "0.1"), "0.5"), Step("gaussian", {"sigma": 4.0}, 0.05, 1)),
    ],
    ids=repr,
)
def test_each_mechanism(pair, expected):
    assert steps(pair) == (expected,)


def test_products_go_one_by_one():
    found = sorted(steps(3 * Product(Gaussian(2), Laplace(1), Laplace(1))), key=lambda step: step.mechanism)
    assert found == [Step("gaussian", {"sigma": 2.0}, 1.0, 3), Step("laplace", {"b": 1.0}, 1.0, 6)]


def test_multiples_and_sums():
    found = steps(1000 * Gaussian(50) + 7 * Laplace(2) + 0 * Gaussian(1))
    assert {(step.mechanism, step.k) for step in found} == {("gaussian", 1000), ("laplace", 7)}


def test_equal_floats_are_one_step():
    nearly = "1." + "0" * 30 + "1"
    assert steps(2 * Gaussian(1) + 3 * Gaussian(nearly)) == (Step("gaussian", {"sigma": 1.0}, 1.0, 5),)


def test_what_is_lossless_disappears():
    assert steps(3 * Gaussian(1, sensitivity=0) + PoissonSubsampled(Gaussian(1), 0)) == ()


def test_the_question():
    asked = query(3 * PoissonSubsampled(Gaussian(1), "0.1"), delta="1/3", direction="add", settings={"n": 3})
    assert (asked.eps, asked.delta, asked.quantity) == (None, 1 / 3, "eps")
    assert (asked.direction, asked.symmetric) == ("backward", False)
    assert asked.settings == {"n": 3}
    assert Composition.from_json(asked.composition) == 3 * PoissonSubsampled(Gaussian(1), "0.1")
    assert query(Gaussian(1), eps="inf").eps == math.inf
    assert query(Gaussian(1), eps="-1/sqrt(10)").eps == -1 / math.sqrt(10)
    assert query(Gaussian(1), eps=0).symmetric


def test_there_and_back_as_json():
    asked = query(3 * PoissonSubsampled(Gaussian(1), "0.1") + Laplace(2), eps="0.5", settings={"interval": 1e-3})
    assert Query.from_json(json.loads(json.dumps(asked.to_json()))) == asked


class Curious(Pair):
    """A mechanism that no peer has heard of, with a density."""

    def __init__(self):
        self._set()

    def reduced(self):
        return self

    def support(self, fn):
        return fn.rational(0, 1), fn.rational(1, 1)


def test_finitely_many_losses_go_as_a_table():
    (step,) = steps(4 * PoissonSubsampled(RandomizedResponse("3/4"), "1/2"))
    assert (step.mechanism, step.q, step.k) == ("table", 1.0, 4)
    assert sorted(step.table) == [(0.5, 0.25), (0.5, 0.75)]  # P = (3/4 + 1/4)/2 = (1/4 + 3/4)/2
    (silent,) = steps(PoissonSubsampled(Gaussian(0), "0.1"))
    assert sorted(silent.table) == [(0.1, 0.0), (0.9, 1.0)]
    asked = query(PoissonSubsampled(RandomizedResponse("3/4"), "1/2"), eps=1)
    assert Query.from_json(json.loads(json.dumps(asked.to_json()))) == asked


@pytest.mark.parametrize(
    ("pair", "reason"),
    [
        (Curious(), "Curious.* density"),
        (PoissonSubsampled(Curious(), "0.1"), "Curious.* density"),
        (PoissonSubsampled(PoissonSubsampled(Gaussian(1), "sqrt(2)/2"), "0.1"), "density"),
    ],
    ids=repr,
)
def test_what_has_no_step_is_refused(pair, reason):
    with pytest.raises(NotModelled, match=reason):
        query(2 * pair, eps=1)
