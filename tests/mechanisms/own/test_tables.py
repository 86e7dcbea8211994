"""Finite tables: exact probabilities, merged ratios, masses apart, and every route."""

from decimal import Decimal
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mpf

from dplab import Composition, Pair, RandomizedResponse, fourier, reference, symbolic
from dplab.core.errors import ParameterError, ParameterTypeError
from dplab.core.functions import MpmathTable

FN = MpmathTable()


def test_ints_text_fractions_decimals_and_floats_are_exact():
    pair = Pair.from_tables([0.1, Decimal("0.2"), "0.3", Fraction(2, 5), 0], ["1/3", "1/3", "1/6", "1/6", 0])
    assert sum(pair.arguments["p"]) == sum(pair.arguments["q"]) == 1
    assert Fraction(1, 10) in pair.arguments["p"]


def test_outcomes_are_matched_by_name_and_those_left_out_have_no_mass():
    pair = Pair.from_tables({"a": "1/2", "b": "1/2"}, {"b": "1/4", "c": "3/4"})
    assert pair.mass_at_infinity(FN) == mpf("0.5")
    assert pair.mass_at_minus_infinity(FN) == mpf("0.75")
    (atom,) = pair.atoms(FN)
    assert abs(atom.loss - mpmath.log(2)) < mpf(10) ** -14


def test_equal_ratios_are_one_atom_and_the_order_does_not_matter():
    one = Pair.from_tables(["1/4", "1/4", "1/2"], ["1/8", "1/8", "3/4"])
    other = Pair.from_tables(["1/2", "1/2"], ["3/4", "1/4"])
    assert one == other
    assert hash(one) == hash(other)
    assert len(one.atoms(FN)) == 2


def test_a_table_typed_by_hand_is_randomised_response():
    typed, built = Pair.from_tables(["3/4", "1/4"], ["1/4", "3/4"]), RandomizedResponse("0.75")
    for k in (1, 7):
        for eps in ("0.4", "-1", "2"):
            assert reference.delta(k * typed, eps).value == reference.delta(k * built, eps).value
    assert symbolic.delta(typed, "0.4").expression == symbolic.delta(built, "0.4").expression


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=6), st.floats(-2, 3))
def test_delta_is_the_hockey_stick(counts, eps):
    p, q = ([row[i] for row in counts] for i in (0, 1))
    if not sum(p) or not sum(q):
        return
    columns = [[Fraction(n, sum(column)) for n in column] for column in (p, q)]
    pair = Pair.from_tables(*columns)
    true = sum(max(float(a) - mpmath.exp(eps) * float(b), 0) for a, b in zip(*columns, strict=True))
    assert abs(reference.delta(pair, eps, "forward").value - true) < 1e-14
    found = fourier.delta(pair, eps, "forward")
    assert found.lower - 1e-14 <= true <= found.upper + 1e-14


def test_compositions_enumerate_and_read_back():
    composition = 5 * Pair.from_tables([0.5, 0.3, 0.2], [0.2, 0.3, 0.5])
    assert Composition.from_json(composition.to_json()) == composition
    true = reference.delta(composition, 1)
    assert fourier.delta(composition, 1).contains(true.value)


@pytest.mark.parametrize(
    ("p", "q", "error", "found"),
    [
        ([0.5, 0.4], [0.5, 0.5], ParameterError, "P = 'total mass 0.9'"),
        (["1/3", "1/3", "0.333"], [1, 0, 0], ParameterError, "P = 'total mass 2999/3000'"),
        ([0.5, 0.5], ["1/3", "1/3", "1/3"], ParameterError, "as long as P"),
        ([1.5, -0.5], [0.5, 0.5], ParameterError, r"P\[1\] = -0.5"),
        ([float("nan"), 1], [1, 0], ParameterError, r"P\[0\] = nan"),
        (["q", "1-q"], ["1/2", "1/2"], ParameterError, "Tables hold numbers"),
        ({"a": 1}, [1], ParameterTypeError, "same kind as P"),
        ("ab", "ab", ParameterTypeError, "a sequence of probabilities"),
        ([], [], ParameterError, "0 entries"),
        ([True], [1], ParameterTypeError, r"P\[0\] = True"),
    ],
)
def test_bad_tables(p, q, error, found):
    with pytest.raises(error, match=found):
        Pair.from_tables(p, q)
