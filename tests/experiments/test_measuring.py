"""Measurements: judged against the truth, medians, and what is said about peers that do not answer."""

import json
import math
import subprocess
import sys

import pytest

from dplab import peers
from dplab.experiments import imports, measuring, tables
from dplab.experiments.machine import busy, environment
from dplab.experiments.measuring import Measurement, judge_claim, judge_own, of_peer, own
from dplab.experiments.questions import Goal, Question, questions
from dplab.peers import Answer, Claim
from tests.house import ROOT

ROWS = {row.name: row for row in questions()}
ROW = Question("X", "eps", ROWS["W1"].composition, ("2.5",), (Goal(0.1, 0.1, 1.0, 100.0),), delta="1e-5")
POINTS = Question("Y", "delta", ROWS["W1"].composition, ("0.5", "0.25"), (Goal(0.1, 0.1),), eps=("1", "2"))


def nothing(_=1):
    """No progress bar."""


def blank(**figures) -> Measurement:
    return Measurement("X", "somebody", "default", **figures)


# --- dplab's own ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ends", "sound"),
    [((2.4, 2.6), True), ((2.5, 2.6), True), ((2.4, 2.5), True), ((2.51, 2.6), False), ((2.4, 2.49), False)],
)
def test_a_bracket_contains_the_truth_or_not(ends, sound):
    found = blank()
    judge_own(found, ROW, ROW.goals[0], [ends])
    assert found.sound is sound
    assert found.width == ends[1] - ends[0]
    assert found.errors["upper"] == pytest.approx(ends[1] - 2.5)


def test_every_point_of_a_curve_counts_and_the_widest_is_shown():
    found = blank()
    judge_own(found, POINTS, POINTS.goals[0], [(0.4, 0.6), (0.2499, 0.2501)])
    assert found.sound
    assert (found.lower, found.upper) == (0.4, 0.6)
    assert found.width == pytest.approx(1 / 3)
    judge_own(found, POINTS, POINTS.goals[0], [(0.4, 0.6), (0.2501, 0.2502)])
    assert found.sound is False


def test_goals():
    found = blank(seconds=2.0, peak_mb=50.0)
    judge_own(found, ROW, ROW.goals[0], [(2.49, 2.51)])
    assert found.met == {"width": True, "seconds": False, "memory": True}
    assert tables.cells(found, "eps")[-1] == "misses its goal: seconds"


def test_a_row_in_fresh_processes():
    ticks = []
    found = own(ROWS["W6"], 0, 2, lambda: ticks.append(1))
    assert found.sound
    assert found.runs == len(ticks) == 2
    assert found.seconds > 0
    assert found.peak_mb > 10
    assert not found.notes
    json.dumps(found.to_json(), allow_nan=False)


# --- peers' claims -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("claim", "sound", "remark"),
    [
        (Claim("upper", "both", upper=2.6), True, ""),
        (Claim("upper", "both", upper=2.4), False, "NOT A BOUND: upper below the truth"),
        (Claim("upper", "both", upper=math.nan), False, "NOT A BOUND: upper below the truth"),
        (Claim("upper", "both", upper=math.inf), True, ""),
        (Claim("lower", "both", lower=2.6), False, "NOT A BOUND: lower above the truth"),
        (Claim("bracket", "forward", 2.4, 2.6), True, "forward only"),
        (Claim("bracket", "both", 2.6, 2.7), False, "NOT A BOUND: lower above the truth"),
        (Claim("value", "both", value=2.4), None, ""),
    ],
)
def test_on_which_side_of_the_truth_a_claim_lies(claim, sound, remark):
    found = blank()
    judge_claim(found, ROW, claim)
    assert found.sound is sound
    assert tables.cells(found, "eps")[-1] == remark
    json.dumps(found.to_json(), allow_nan=False)


def answers(monkeypatch, *given: Answer):
    """peers.ask gives these, one after the other, and counts."""
    calls = []

    def ask(name, composition, **keywords):
        calls.append(keywords)
        return given[min(len(calls), len(given)) - 1]

    monkeypatch.setattr(peers, "ask", ask)
    return calls


def answered(seconds: float) -> Answer:
    claim = Claim("upper", "both", upper=2.6)
    return Answer("riskcal", "answered", (claim,), version="9", seconds=seconds, peak_mb=10 * seconds)


def test_medians_of_a_peer(monkeypatch):
    calls = answers(monkeypatch, answered(3.0), answered(1.0), answered(2.0))
    found = of_peer(ROW, "riskcal", "interval 1e-3", 3, 20, 600, nothing)
    assert (found.seconds, found.peak_mb, found.runs, found.version) == (2.0, 20.0, 3, "9")
    assert calls[0] == {"delta": "1e-5", "settings": {"interval": 1e-3}, "timeout": 600}


def test_a_slow_peer_is_run_once(monkeypatch):
    calls = answers(monkeypatch, answered(30.0))
    assert of_peer(ROW, "riskcal", "default", 7, 20, 600, nothing).runs == len(calls) == 1


@pytest.mark.parametrize("status", ["not modelled", "not installed", "failed", "timeout"])
def test_a_peer_that_does_not_answer_is_named(monkeypatch, status):
    answers(monkeypatch, Answer("riskcal", status, reason="because"))
    found = of_peer(ROW, "riskcal", "default", 7, 20, 600, nothing)
    shown = tables.line(found, "eps")
    assert all(word in shown for word in ("riskcal", status, "because"))


# --- what is around the measurement --------------------------------------------------------------------


def test_the_measured_process_is_not_slowed_down(monkeypatch):
    for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "PYTHONDONTWRITEBYTECODE"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("SOMETHING_ELSE", "1")
    kept = environment()
    assert kept["SOMETHING_ELSE"] == "1"
    assert not {"OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "PYTHONDONTWRITEBYTECODE"} & set(kept)


def test_a_busy_machine_is_said():
    assert "not valid" in busy([0.3, 4.0])
    assert busy([0.3, 1.1]) == busy([]) == ""


def test_imports_are_compared():
    times = {"dplab.fourier": {"cpu_seconds": 0.3}, "numpy + scipy.special": {"cpu_seconds": 0.2}}
    assert imports.ratio(times) == pytest.approx(1.5)


def test_imports_are_measured(monkeypatch):
    monkeypatch.setattr(imports, "STATEMENTS", {"little": "import json", "nothing": "pass"})
    found = imports.import_times(1, nothing)
    assert all(one["seconds"] > 0 for one in found.values())


def test_the_measured_process_has_not_loaded_what_the_call_needs():
    """Else an import that the first call pays for would hide."""
    code = "from dplab.experiments.questions import questions; questions(); import sys; print('mpmath' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_an_unknown_row_is_no_answer():
    with pytest.raises(StopIteration):
        measuring.answer_here("W99", 0)
