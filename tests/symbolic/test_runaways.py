"""Stages that run away: each is given up when its budget is spent, what stands instead is right, and it is named."""

import pytest
import sympy

from dplab import Pair, fourier, reference, symbolic
from dplab.core.errors import BudgetError
from dplab.mechanisms.own import analysis
from dplab.symbolic import derivation, deriving, purse, tidy


def _runs_away(*_, **__):
    while True:
        pass


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    """Short budgets, so that the tests are quick."""
    monkeypatch.setattr(analysis, "ONE_STAGE", 0.2)
    monkeypatch.setattr(purse, "ONE_FORMULA", 0.1)


def _pair(number: int) -> Pair:
    """A pair that no other test has, so that nothing is remembered."""
    return Pair.from_text(f"exp(-abs(t - {number}/7))/2", f"exp(-abs(t - {number}/7)/2)/4")


def test_tidying(monkeypatch):
    monkeypatch.setattr(tidy, "_tidied", _runs_away)
    found = symbolic.derive(_pair(1))
    assert "stand as they came" in found.note
    assert not found.unchecked
    assert found["Tight delta"].stopped is None


def test_tidying_has_one_purse(monkeypatch):
    monkeypatch.setattr(tidy, "_tidied", _runs_away)
    monkeypatch.setattr(deriving, "TIDYING", 0.25)
    monkeypatch.setattr(purse, "within", calls := _Counted(purse.within))
    symbolic.derive(_pair(2))
    assert 2 <= calls.number <= 3  # 0.1 s or a little more each, and what was left; the others are not even begun


class _Counted:
    def __init__(self, function):
        self.function, self.number = function, 0

    def __call__(self, *arguments):
        self.number += 1
        return self.function(*arguments)


def test_a_formula_that_is_given_up_stands_as_it_came(monkeypatch):
    x = sympy.Symbol("x")
    monkeypatch.setattr(tidy, "_compact", _runs_away)
    assert tidy.compact(x * (x + 1) - x**2) == x * (x + 1) - x**2


def test_antiderivatives(monkeypatch):
    monkeypatch.setattr(analysis, "mass_of", _runs_away)
    pair = _pair(3)
    assert any("antiderivative" in stage and "budget" in stage for stage in pair.stages)
    stopped = symbolic.derive(pair)["Tight delta"].stopped
    assert "the search for an antiderivative ran out of its budget" in str(stopped)
    assert stopped.spent == 0.2
    value = reference.delta(pair, "0.1")
    assert abs(value.value - reference.delta(_pair(4), "0.1").value) < 1e-25


def test_inverses(monkeypatch):
    monkeypatch.setattr(analysis, "inverse_of", _runs_away)
    pair = _pair(5)
    assert all(piece.inverse is None for piece in pair.pieces)
    assert "the search for an inverse ran out" in str(symbolic.derive(pair)["Monotone pieces"].stopped)
    bracket = fourier.delta(pair, 0.1)
    assert bracket.lower <= reference.delta(pair, "0.1").value <= bracket.upper <= bracket.lower + 1e-3


def test_turning_points(monkeypatch):
    monkeypatch.setattr(analysis, "turning_points", _runs_away)
    pair = Pair.from_text("exp(-(t - 6/7)**2/2)/sqrt(2*pi)", "exp(-(t - 6/7)**2/8)/sqrt(8*pi)")
    assert [piece.increasing for piece in pair.pieces] == [True, False]
    assert any("turning points" in stage for stage in pair.stages)
    bracket = fourier.delta(pair, 0.1)
    assert bracket.lower <= reference.delta(pair, "0.1").value <= bracket.upper <= bracket.lower + 1e-3


def test_an_analysis_that_never_ends_is_an_error_that_says_so(monkeypatch):
    monkeypatch.setattr(analysis, "cells", _runs_away)
    monkeypatch.setattr(analysis, "ALL_STAGES", 0.2)
    with pytest.raises(BudgetError, match=r"the analysis of the densities: the budget of 0\.2 s"):
        _pair(7)


def test_a_story_that_never_ends_is_an_error_that_says_so(monkeypatch):
    monkeypatch.setattr(deriving, "story_of", _runs_away)
    monkeypatch.setattr(deriving, "ALL_STEPS", 0.2)
    with pytest.raises(BudgetError, match="the derivation of"):
        symbolic.derive(_pair(8), budget=0.1)


def test_a_check_that_never_ends_is_left_out_and_named(monkeypatch):
    whole = derivation._checked

    def checked(step, *rest):
        return _runs_away() if step.title == "Tight delta" else whole(step, *rest)

    monkeypatch.setattr(derivation, "_checked", checked)
    monkeypatch.setattr(derivation, "SECONDS_FOR_ONE", 0.5)
    found = symbolic.derive(_pair(9))
    assert found.unchecked[0].title == "Tight delta"
    assert "Tight delta" in str(found).split("Not checked within")[1]
