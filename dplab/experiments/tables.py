"""Measurements as lines for a terminal and as Markdown."""

from collections.abc import Iterable

from .measuring import Measurement
from .questions import Question

COLUMNS = ("who", "setting", "time", "CPU", "memory", "answer", "error", "")


def cells(found: Measurement, quantity: str) -> tuple[str, ...]:
    """One measurement in words: who, setting, wall time, CPU time, peak memory, answer, error, remarks."""
    who = f"{found.who} {found.version}".strip()
    if found.status != "answered":
        return who, found.setting, "", "", "", found.status, "", found.reason
    time = f"{_time(found.seconds)}" + (f" (of {found.runs})" if found.runs > 1 else " (once)")
    memory = f"{found.peak_mb:.0f} MB" if found.peak_mb is not None else "?"
    return (
        who,
        found.setting,
        time,
        _time(found.cpu_seconds),
        memory,
        _answer(found),
        _error(found, quantity),
        _remarks(found),
    )


def _time(seconds: float | None) -> str:
    if seconds is None:
        return "?"
    return f"{1e3 * seconds:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"


def _answer(found: Measurement) -> str:
    if found.kind == "bracket":
        return f"[{found.lower:.9g}, {found.upper:.9g}]"
    for sign, end in (("<=", found.upper), (">=", found.lower), ("~", found.value)):
        if end is not None:
            return f"{sign} {end:.9g}"
    return "?"


def _error(found: Measurement, quantity: str) -> str:
    """Signed distances from the truth; of a bracket also its width."""
    unit = " relative" if quantity == "delta" else ""
    away = " / ".join(f"{error:+.1e}" for error in found.errors.values())
    width = f", width {found.width:.1e}" if found.width is not None else ""
    return f"{away}{width}{unit}"


def _remarks(found: Measurement) -> str:
    said = []
    if found.sound is False:
        said.append("NOT A BOUND: " + _wrong_side(found))
    if found.direction != "both":
        said.append(f"{found.direction} only")
    missed = [goal for goal, met in found.met.items() if not met]
    if found.met:
        said.append("misses its goal: " + ", ".join(missed) if missed else "goals met")
    return "; ".join(said)


def _wrong_side(found: Measurement) -> str:
    if not found.errors.get("upper", 1.0) >= 0:
        return "upper below the truth"
    if not found.errors.get("lower", -1.0) <= 0:
        return "lower above the truth"
    return "at another point of the curve"


def line(found: Measurement, quantity: str) -> str:
    """One line for a terminal."""
    who, setting, time, cpu, memory, answer, error, remarks = cells(found, quantity)
    return f"  {who:<26}{setting:<17}{time:>18}{cpu:>10}{memory:>9}  {answer:<42}{error}  {remarks}".rstrip()


def markdown(rows: Iterable[tuple[Question, list[Measurement]]], facts: Iterable[str]) -> str:
    """The whole bench as Markdown: a table a question, the facts about machine and imports above them."""
    parts = ["# Bench", "", "Made by `make bench`.", "", *(f"- {fact}" for fact in facts)]
    for question, found in rows:
        truth = question.truth[0] if len(question.truth) == 1 else f"{len(question.truth)} points, closed form"
        parts += ["", f"## {question.name}: {question.title}", "", f"Truth: {truth}", ""]
        parts += ["| " + " | ".join(COLUMNS) + " |", "|" + " --- |" * len(COLUMNS)]
        parts += ["| " + " | ".join(cells(one, question.quantity)) + " |" for one in found]
    return "\n".join(parts) + "\n"
