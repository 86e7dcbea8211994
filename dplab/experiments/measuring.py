"""Measuring: each figure is the first call in a fresh process, imports excluded; then the median of several.

`python -m dplab.experiments.measuring ROW GOAL` answers one of dplab's own questions and prints JSON.
"""

import json
import math
import statistics
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from .. import peers
from ..peers.harness import measured
from .machine import environment
from .questions import Goal, Question, questions

FIGURES = ("seconds", "cpu_seconds", "import_seconds", "peak_mb", "grown_mb")


@dataclass
class Measurement:
    """One answer to one question: who gave it, with what setting, what it says, what it cost.

    `errors` are value - truth (relative for delta) of its ends in the order lower, upper or value; `sound` is False
    if a bound lies on the wrong side of the truth, None for a value that claims nothing.
    """

    row: str
    who: str
    setting: str
    status: str = "answered"
    kind: str = ""
    lower: float | None = None
    upper: float | None = None
    value: float | None = None
    direction: str = "both"
    width: float | None = None
    errors: dict[str, float] = field(default_factory=dict)
    sound: bool | None = None
    reason: str = ""
    version: str = ""
    runs: int = 0
    seconds: float | None = None
    cpu_seconds: float | None = None
    import_seconds: float | None = None
    peak_mb: float | None = None
    grown_mb: float | None = None
    met: dict[str, bool] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def to_json(self) -> dict:
        """Plain JSON values; what is not finite is text."""
        return {name: _plain(value) for name, value in asdict(self).items()}


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return {key: _plain(one) for key, one in value.items()} if isinstance(value, dict) else value


def answer_here(row: str, goal: int) -> dict:
    """dplab's answer to a row, in this process: its first call."""
    from importlib import import_module

    question = next(question for question in questions() if question.name == row)
    import_module("dplab.fourier")
    brackets, figures = measured(lambda: question.ask(question.goals[goal].accuracy))
    return {"ends": [(bracket.lower, bracket.upper) for bracket in brackets], **figures}


def own(question: Question, goal: int, repeat: int, tick: Callable[[], None]) -> Measurement:
    """dplab's measurement of a row at one of its goals; the bracket must be the same in every process."""
    wanted = question.goals[goal]
    runs = []
    for _ in range(repeat):
        command = [sys.executable, "-m", "dplab.experiments.measuring", question.name, str(goal)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment())
        runs.append(json.loads(done.stdout))
        tick()
    letter = "atol" if question.quantity == "eps" else "rtol"
    result = Measurement(question.name, "dplab", f"{letter} {wanted.accuracy:g}", kind="bracket", runs=repeat)
    _take_medians(result, runs)
    ends = [tuple(pair) for pair in runs[0]["ends"]]
    if any([tuple(pair) for pair in run["ends"]] != ends for run in runs):
        result.notes.append("the bracket differs between processes")
    judge_own(result, question, wanted, ends)
    return result


def judge_own(result: Measurement, question: Question, wanted: Goal, ends: list[tuple[float, float]]) -> None:
    """Fill in dplab's ends (of a curve: of its widest point), whether all contain their truths, goals met or not."""
    relative = question.quantity == "delta"
    widths = [(high - low) / (high if relative else 1.0) for low, high in ends]
    widest = max(range(len(ends)), key=widths.__getitem__)
    result.lower, result.upper = ends[widest]
    result.width = widths[widest]
    result.errors = {
        "lower": question.error(ends[widest][0], widest),
        "upper": question.error(ends[widest][1], widest),
    }
    result.sound = all(question.error(low, i) <= 0 <= question.error(high, i) for i, (low, high) in enumerate(ends))
    result.met = {"width": result.width <= wanted.width}
    if wanted.seconds is not None and result.seconds is not None:
        result.met["seconds"] = result.seconds <= wanted.seconds
    if wanted.mb is not None and result.peak_mb is not None:
        result.met["memory"] = result.peak_mb <= wanted.mb


def of_peer(
    question: Question, name: str, variant: str, repeat: int, patience: float, timeout: float, tick: Callable[[], None]
) -> Measurement:
    """A peer's measurement of a row with one of its settings; a first run longer than `patience` is not repeated."""
    settings = peers.adapter(name).variants[variant]
    result = Measurement(question.name, name, variant)
    runs: list[dict] = []
    for _ in range(repeat):
        answer = peers.ask(name, question.composition, **question.peer_arguments(), settings=settings, timeout=timeout)
        tick()
        result.status, result.reason = answer.status, answer.reason
        if answer.status != "answered":
            if answer.status in ("not modelled", "not installed"):
                result.setting = ""  # no setting would help
            return result
        runs.append({figure: getattr(answer, figure) for figure in FIGURES})
        result.version, result.notes = answer.version, list(answer.notes)
        judge_claim(result, question, answer.claims[0])
        if (answer.seconds or 0) > patience:
            break
    result.runs = len(runs)
    _take_medians(result, runs)
    return result


def judge_claim(result: Measurement, question: Question, claim: peers.Claim) -> None:
    """Fill in what a peer claims, and on which side of the truth it lies."""
    result.kind, result.direction = claim.kind, claim.direction
    result.lower, result.upper, result.value = claim.lower, claim.upper, claim.value
    ends = {"lower": claim.lower, "upper": claim.upper, "value": claim.value}
    result.errors = {name: question.error(end) for name, end in ends.items() if end is not None}
    if claim.kind == "bracket" and claim.lower is not None and claim.upper is not None:
        width = claim.upper - claim.lower
        result.width = width / claim.upper if question.quantity == "delta" and claim.upper else width
    if claim.kind != "value":  # nan is on no side
        result.sound = result.errors.get("lower", -1.0) <= 0 <= result.errors.get("upper", 1.0)


def _take_medians(result: Measurement, runs: list[dict]) -> None:
    for figure in FIGURES:
        values = [run[figure] for run in runs if run.get(figure) is not None]
        if values:
            setattr(result, figure, statistics.median(values))


if __name__ == "__main__":
    print(json.dumps(answer_here(sys.argv[1], int(sys.argv[2]))))
