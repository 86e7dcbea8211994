"""Compositions are multisets: an algebra, a value, and JSON."""

import copy
import json
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dplab import Composition, Gaussian, Laplace, PoissonSubsampled, RandomizedResponse
from dplab.core.directions import parse_direction, single_directions
from dplab.core.errors import DplabError, ParameterError, ParameterTypeError, SchemaError

PAIRS = [
    Gaussian(1),
    Gaussian("0.1", sensitivity="1/3"),
    Gaussian("sigma"),
    Laplace(b=10),
    RandomizedResponse(0.75),
    RandomizedResponse.from_eps("1/sqrt(10)"),
    PoissonSubsampled(Gaussian(4), q="0.01"),
    PoissonSubsampled(PoissonSubsampled(Laplace("b"), "q1"), "q2*(1 - q3/3)"),
]

compositions = st.lists(st.tuples(st.sampled_from(PAIRS), st.integers(0, 10**6)), max_size=5).map(Composition)
counts = st.integers(0, 1000)


@given(compositions, compositions, compositions)
def test_addition_commutes_and_associates(a, b, c):
    assert a + b == b + a
    assert (a + b) + c == a + (b + c)
    assert hash(a + b) == hash(b + a)
    assert a + Composition() == a
    assert sum([a, b, c]) == a + b + c


@given(compositions, compositions, counts, counts)
def test_multiples_are_repeated_sums(a, b, k, m):
    assert k * a == a * k
    assert k * (a + b) == k * a + k * b
    assert (k + m) * a == k * a + m * a
    assert k * (m * a) == (k * m) * a
    assert (k * a).steps == k * a.steps
    assert 0 * a == Composition()


@given(compositions)
def test_json_there_and_back(a):
    text = a.to_json()
    assert Composition.from_json(text) == a
    assert Composition.from_json(text).to_json() == text
    assert json.loads(text)["schema"] == "dplab.composition/1"


@given(compositions)
def test_pickle_and_copy(a):
    assert pickle.loads(pickle.dumps(a)) == a
    assert copy.deepcopy(a) == a
    for pair, _ in a.parts:
        assert pickle.loads(pickle.dumps(pair)) == pair


def test_one_of_a_mechanism_is_the_mechanism():
    pair = Gaussian(1)
    assert 1 * pair == pair
    assert pair == 1 * pair
    assert hash(1 * pair) == hash(pair)
    assert 2 * pair != pair
    assert pair != 2 * pair
    assert pair + pair == 2 * pair
    assert sum([pair, pair, Laplace(1)]) == 2 * pair + Laplace(1)


@pytest.mark.parametrize("value", [Gaussian(1), 3 * Gaussian(1)], ids=str)
def test_values_are_immutable(value):
    with pytest.raises(AttributeError, match="immutable"):
        value.parts = ()
    with pytest.raises(AttributeError, match="immutable"):
        value.sigma = 2
    with pytest.raises(TypeError):
        Gaussian(1).arguments["sigma"] = 2


@pytest.mark.parametrize("k", [2.0, 2.5, "2", None, True])
def test_only_whole_numbers_multiply(k):
    with pytest.raises(ParameterTypeError, match=r"^k = "):
        k * Gaussian(1)
    with pytest.raises(ParameterTypeError, match=r"^k = "):
        k * (2 * Gaussian(1))


def test_negative_counts():
    with pytest.raises(ParameterError, match=r"^k = -1"):
        -1 * Gaussian(1)


@pytest.mark.parametrize("other", [1, "x", None, 2.0])
def test_only_mechanisms_add(other):
    with pytest.raises(TypeError):
        Gaussian(1) + other
    with pytest.raises(TypeError):
        2 * Gaussian(1) + other


@pytest.mark.parametrize("value", [None, "Gaussian(sigma=1)", 3, [Gaussian(1)], Gaussian])
def test_what_is_no_composition(value):
    with pytest.raises(ParameterTypeError, match=r"^composition = "):
        Composition.of(value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "not JSON"),
        ("", "not JSON"),
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "expected"),
        ('{"schema": "dplab.composition/2", "parts": []}', "expected"),
        ('{"schema": "dplab.composition/1", "parts": {}}', "expected"),
        ('{"schema": "dplab.composition/1", "parts": [1]}', "every part"),
        ('{"schema": "dplab.composition/1", "parts": [{"type": "Gaussian", "sigma": "1"}]}', "every part"),
        ('{"schema": "dplab.composition/1", "parts": [{"k": 1}]}', "type"),
        ('{"schema": "dplab.composition/1", "parts": [{"k": 1, "type": "Gauss"}]}', "unknown mechanism 'Gauss'"),
        ('{"schema": "dplab.composition/1", "parts": [{"k": 1, "type": "Gaussian"}]}', "Gaussian: wrong fields"),
        ('{"schema": "dplab.composition/1", "parts": [{"k": 1, "type": "Laplace", "b": "1", "c": 2}]}', "wrong fields"),
    ],
)
def test_json_that_does_not_follow_the_schema(text, message):
    with pytest.raises(SchemaError, match=message):
        Composition.from_json(text)


@pytest.mark.parametrize(
    "part",
    [
        {"k": 1, "type": "Gaussian", "sigma": "-1"},
        {"k": 1, "type": "Gaussian", "sigma": float("nan")},
        {"k": 1, "type": "Gaussian", "sigma": None},
        {"k": 1, "type": "Gaussian", "sigma": ["1"]},
        {"k": 1.5, "type": "Gaussian", "sigma": "1"},
        {"k": -1, "type": "Gaussian", "sigma": "1"},
        {"k": 1, "type": "PoissonSubsampled", "mechanism": "Gaussian", "q": "0.1"},
        {"k": 1, "type": "Gaussian", "sigma": "__import__('os')"},
    ],
    ids=str,
)
def test_json_with_values_out_of_range(part):
    with pytest.raises(ParameterError):
        Composition.from_json(json.dumps({"schema": "dplab.composition/1", "parts": [part]}))


@pytest.mark.parametrize("depth", [40, 200])
def test_mechanisms_nested_without_end(depth):
    part = {"type": "Gaussian", "sigma": "1"}
    for _ in range(depth):
        part = {"type": "PoissonSubsampled", "q": "0.5", "mechanism": part}
    with pytest.raises(DplabError, match="nested"):
        Composition.from_json(json.dumps({"schema": "dplab.composition/1", "parts": [{"k": 1, **part}]}))


def test_reduced_leaves_out_what_loses_nothing_and_joins_what_is_equal():
    a = 3 * PoissonSubsampled(Gaussian(1), 1) + 2 * Gaussian(1) + 7 * Gaussian(1, sensitivity=0)
    assert a.reduced() == 5 * Gaussian(1)
    assert (4 * PoissonSubsampled(Laplace(1), 0)).reduced() == Composition()


def test_binding_symbols_of_several_parts():
    a = 2 * Gaussian("s") + PoissonSubsampled(Laplace("s"), "q")
    assert a.free_symbols == {"s", "q"}
    assert a.bind(s=3, q="0.1") == 2 * Gaussian(3) + PoissonSubsampled(Laplace(3), "0.1")
    assert a.bind(q="0.1").free_symbols == {"s"}
    with pytest.raises(ParameterError, match="free symbols"):
        a.bind(sigma=1)


def test_repr_is_the_sum_one_would_write():
    a = 1000 * PoissonSubsampled(Gaussian(sigma=4), q="0.01") + Laplace(b=10)
    assert repr(a) == "Laplace(b=10) + 1000 * PoissonSubsampled(Gaussian(sigma=4), q=0.01)"
    assert repr(Composition()) == "Composition()"


@pytest.mark.parametrize(
    ("word", "meaning"),
    [("forward", "forward"), ("remove", "forward"), ("backward", "backward"), ("add", "backward"), ("both", "both")],
)
def test_direction_words(word, meaning):
    assert parse_direction(word) == meaning


@pytest.mark.parametrize("word", ["Forward", "X/Y", "", None, 1, ["forward"], b"add"])
def test_other_words_are_no_directions(word):
    with pytest.raises(ParameterError, match=r"^direction = "):
        parse_direction(word)
    with pytest.raises(ParameterError, match=r"^direction = "):
        single_directions(word, symmetric=True)


def test_which_directions_must_be_computed():
    assert single_directions("both", symmetric=False) == ("forward", "backward")
    assert single_directions("add", symmetric=False) == ("backward",)
    assert single_directions("both", symmetric=True) == single_directions("add", symmetric=True) == ("forward",)
