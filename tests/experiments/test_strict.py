"""The strictness run: cases are always the same, runs go on where they stopped, violations are seen."""

import json

import mpmath
import pytest

from dplab import Bracket, Reference
from dplab.core.budget import ErrorBudget
from dplab.experiments import strict
from dplab.experiments.strict_cases import FAMILIES, LEAST_EPS, MOST_EPS, MOST_STEPS, case

IN_CI = 500


def test_a_number_is_always_the_same_case():
    assert case(7) == case(7)
    assert case(7).composition != case(15).composition


def test_cases_cover_what_they_promise():
    cases = [case(number) for number in range(4 * len(FAMILIES))]
    assert {c.family for c in cases} == set(FAMILIES)
    assert {c.direction for c in cases} == {"forward", "backward", "both"}
    assert all(LEAST_EPS <= float(c.eps) <= MOST_EPS for c in cases)
    assert all(1 <= c.composition.steps <= MOST_STEPS for c in cases)


def _answer(lower: float, upper: float, truth: str, error: str):
    bracket = Bracket(lower, upper, ErrorBudget((), {}))
    return bracket, Reference(mpmath.mpf(truth), mpmath.mpf(error), "made up", strict.DIGITS)


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        (_answer(0.1, 0.2, "0.15", "1e-30"), "inside"),
        (_answer(0.1, 0.2, "0.2000001", "1e-30"), "outside"),
        (_answer(0.1, 0.2, "0.0999999", "1e-30"), "outside"),
        (_answer(0.1, 0.2, "0.25", "0.1"), "no reference"),
        (_answer(0.1, 0.2, "0.25", "0.01"), "outside"),
    ],
)
def test_the_verdict(monkeypatch, answer, verdict):
    bracket, truth = answer
    monkeypatch.setattr(strict.fourier, "delta", lambda *_: bracket)
    monkeypatch.setattr(strict.reference, "delta", lambda *_: truth)
    assert strict.examine(3)["verdict"] == verdict


def test_a_reference_that_takes_too_long_judges_nothing(monkeypatch):
    def for_ever(*_):
        while True:
            pass

    monkeypatch.setattr(strict.reference, "delta", for_ever)
    found = strict.examine(0, limit=0.05)
    assert (found["verdict"], found["why"]) == ("no reference", "_TooSlow")


def test_an_error_is_no_bracket(monkeypatch):
    def broken(*_):
        raise IndexError("list index out of range")

    monkeypatch.setattr(strict.fourier, "delta", broken)
    found = strict.examine(2)
    assert found["verdict"] == "crash"
    assert "CRASH case 2" in strict.report([found])


def test_a_run_goes_on_where_it_stopped(tmp_path):
    file = tmp_path / "results.jsonl"
    kept = {**strict.examine(0), "note": "kept"}
    file.write_text(json.dumps(kept) + "\n")
    results = list(strict.run([0, 1], file, processes=1))
    assert [r["case"] for r in results] == [0, 1]
    assert results[0]["note"] == "kept"
    assert [json.loads(line)["case"] for line in file.read_text().splitlines()] == [0, 1]


def test_the_report_names_what_lies_outside():
    good = {"case": 1, "family": "Gaussian", "verdict": "inside", "width": 1e-4}
    bad = good | {"case": 2, "verdict": "outside", "composition": "X", "eps": "1", "direction": "both", "truth": "0.3"}
    text = strict.report([good, bad, good | {"case": 3, "verdict": "no reference", "width": 1.0}])
    assert "1 brackets contain it, 1 do not" in text
    assert "OUTSIDE case 2: X eps=1 both: 0.3" in text
    assert "66.67%" in text


@pytest.mark.long
def test_random_brackets_hold_their_references(tmp_path):
    """No violation, and 95 % of all brackets within a relative width of 1e-2."""
    results = list(strict.run(list(range(IN_CI)), tmp_path / "results.jsonl", processes=2, limit=3.0))
    print(strict.report(results))
    assert not [r for r in results if r["verdict"] in ("outside", "crash")]
    assert sum(r["width"] <= strict.WIDE for r in results) >= 0.95 * IN_CI
    assert sum(r["verdict"] == "inside" for r in results) >= 0.8 * IN_CI
