"""The search: a safe and an unsafe value first, then closing in on both sides of the border between them."""

import itertools
import math
from fractions import Fraction

from ..core.display import number
from ..core.errors import ParameterError
from ..core.parameters import exact
from .verdicts import Answer, CalibrationError, Questions

_FACTOR, _REACH = 4, 24  # a range is looked for by factors of 4, up to 4^24 on both sides
_PROBES, _EDGE = 5, 12
_STARTS = (Fraction(1), Fraction(1, 2), Fraction(1, 16), Fraction(16), Fraction(1, 10**4), Fraction(10**4))


def opposite_pair(questions: Questions, between: tuple[Fraction, Fraction] | None) -> tuple[Answer, Answer]:
    """A safe and an unsafe value, the ends of a range in which the border lies.

    Raises CalibrationError if every value that was looked at is safe, or none is.
    """
    if between is not None:
        return _inside(questions, between)
    start = next((v for v in _STARTS if (not questions.whole or v.denominator == 1) and questions.admits(v)), None)
    if start is None:
        questions.composition(_STARTS[0])  # its own error says what is wrong
        raise CalibrationError(f"{questions.name} = 1 and others are refused; give `between`")
    first = questions.ask(start)
    found = {first.verdict: first}
    ways = [_upwards(questions, start), _downwards(questions, start)]
    turn = 0
    while ways:  # the way that leads towards the other verdict gets its turn first, then they alternate
        way = ways[turn % len(ways)]
        value = next(way, None)
        if value is None:
            ways.remove(way)
            continue
        answer = questions.ask(value)
        found.setdefault(answer.verdict, answer)
        if "safe" in found and "unsafe" in found:
            return _closest(questions)
        if not _towards(questions, first, answer):
            turn += 1
    raise _one_sided(questions)


def _upwards(questions: Questions, start: Fraction):
    value = start
    for _ in range(_REACH):
        further = value * _FACTOR
        if not questions.admits(further):
            yield from _edge(questions, value, further)
            return
        value = further
        yield value


def _downwards(questions: Questions, start: Fraction):
    value = start
    for _ in range(_REACH):
        further = value / _FACTOR
        if questions.whole and further < 1:
            if questions.admits(Fraction(0)):
                yield Fraction(0)
            return
        if not questions.admits(further):
            yield from _edge(questions, value, further)
            return
        value = further
        yield value


def _edge(questions: Questions, inside: Fraction, outside: Fraction):
    """Values closer and closer to where the family ends; 1 first if it lies there (a rate)."""
    if min(inside, outside) < 1 < max(inside, outside) and questions.admits(Fraction(1)):
        inside = Fraction(1)
        yield inside
    for _ in range(_EDGE):
        middle = (inside + outside) / 2
        middle = Fraction(round(middle)) if questions.whole else middle
        if middle in (inside, outside):
            return
        if questions.admits(middle):
            inside = middle
            yield inside
        else:
            outside = middle


def _towards(questions: Questions, first: Answer, answer: Answer) -> bool:
    """Whether delta at the answer lies nearer to the wanted one than at the start."""
    gap, start = (a.gap(questions.target) for a in (answer, first))
    return abs(gap) < abs(start) - 1e-9


def _closest(questions: Questions) -> tuple[Answer, Answer]:
    """The neighbouring safe and unsafe values among all answers."""
    answers = [a for a in sorted(questions.answers.values(), key=lambda a: a.value) if a.verdict != "undecided"]
    for left, right in itertools.pairwise(answers):
        if left.verdict != right.verdict:
            return (left, right) if left.verdict == "safe" else (right, left)
    raise _one_sided(questions)


def _inside(questions: Questions, between: tuple[Fraction, Fraction]) -> tuple[Answer, Answer]:
    """A safe and an unsafe value in a range given by the caller, some inner values looked at as well."""
    low, high = between
    inner = [low + (high - low) * Fraction(i, _PROBES + 1) for i in range(1, _PROBES + 1)]
    if low > 0 and high > 100 * low:
        ratio = (float(high) / float(low)) ** (1 / (_PROBES + 1))
        inner = [Fraction(f"{float(low) * ratio**i:.2g}") for i in range(1, _PROBES + 1)]
    values = [low, high, *(Fraction(round(v)) if questions.whole else v for v in inner if low < v < high)]
    for value in dict.fromkeys(values):
        questions.ask(value)
    return _closest(questions)


def _one_sided(questions: Questions) -> CalibrationError:
    answers = sorted(questions.answers.values(), key=lambda a: a.value)
    verdicts = {a.verdict for a in answers}
    low, high = (f"{questions.name} = {number(float(a.value), 4)}" for a in (answers[0], answers[-1]))
    if verdicts == {"safe"}:
        return CalibrationError(f"every value looked at is safe, from {low} to {high}: nothing to calibrate there")
    if verdicts == {"unsafe"}:
        least = min(a.bracket.lower for a in answers)
        return CalibrationError(
            f"no value looked at is safe, from {low} to {high}: delta is at least {least:.3g} there. "
            "Usual causes: eps or delta too small for so many steps, or mass at infinity"
        )
    undecided = sum(a.verdict == "undecided" for a in answers)
    return CalibrationError(
        f"no safe and unsafe values side by side from {low} to {high}: {undecided} of {len(answers)} undecided"
    )


def close_in(questions: Questions, safe: Answer, unsafe: Answer, tol: Fraction) -> tuple[Answer, Answer]:
    """Safe and unsafe values as close as asked, or as can be told apart."""
    moved, times = "", 0  # the end that moved last, and how often in a row
    while True:
        unit = _unit(safe.value, unsafe.value, questions.whole, tol)
        if abs(safe.value - unsafe.value) <= unit:
            return safe, unsafe
        share = _share(safe.gap(questions.target), unsafe.gap(questions.target), moved, times)
        value = _multiple(safe.value, unsafe.value, share, unit)
        gaps = abs(safe.gap(questions.target)), abs(unsafe.gap(questions.target))
        rtol = min(1e-2, max(0.05 * sum(gaps), 1e-9)) if all(map(math.isfinite, gaps)) else 1e-2
        answer = questions.ask(value, rtol)
        if answer.verdict == "undecided":
            return _around(questions, answer, safe, unsafe, unit)
        times = times + 1 if answer.verdict == moved else 1
        moved = answer.verdict
        safe, unsafe = (answer, unsafe) if moved == "safe" else (safe, answer)


def _unit(one: Fraction, other: Fraction, whole: bool, tol: Fraction) -> Fraction:
    """The largest power of ten within the tolerance; 1 for whole numbers."""
    if whole:
        return Fraction(1)
    size = min(abs(one), abs(other)) or max(abs(one), abs(other)) * tol
    return Fraction(10) ** math.floor(math.log10(size * tol) + 1e-9)


def _share(safe_gap: float, unsafe_gap: float, moved: str, times: int) -> float:
    """Where between the safe (0) and the unsafe value (1) to look next: where the line through both gaps crosses 0;
    twice as far from an end that moved twice in a row, four times from one that moved thrice, and so on."""
    if not (math.isfinite(safe_gap) and math.isfinite(unsafe_gap)) or unsafe_gap <= safe_gap or times > 8:
        return 0.5
    share = -safe_gap / (unsafe_gap - safe_gap)
    boost = 2.0 ** (times - 1) if times > 1 else 1.0
    if moved == "safe":
        share *= boost
    elif moved == "unsafe":
        share = 1 - (1 - share) * boost
    return min(max(share, 1e-6), 1 - 1e-6)


def _multiple(safe: Fraction, unsafe: Fraction, share: float, unit: Fraction) -> Fraction:
    """The multiple of the unit nearest to a share of the way (in log v if v > 0), strictly inside."""
    a, b = float(safe), float(unsafe)
    place = math.exp(math.log(a) + share * math.log(b / a)) if a > 0 and b > 0 else a + share * (b - a)
    least, most = sorted((safe, unsafe))
    first, last = (math.floor(least / unit) + 1) * unit, (math.ceil(most / unit) - 1) * unit
    if first > last:
        return (least + most) / 2
    return min(max(Fraction(round(Fraction(place) / unit)) * unit, first), last)


def _around(
    questions: Questions, middle: Answer, safe: Answer, unsafe: Answer, unit: Fraction
) -> tuple[Answer, Answer]:
    """The nearest decided values on both sides of one that cannot be decided."""
    found = []
    for end in (safe, unsafe):
        step = unit if end.value > middle.value else -unit
        value: Fraction = middle.value
        while True:
            value, step = value + step, 2 * step
            if (end.value - value) * step <= 0:
                found.append(end)
                break
            answer = questions.ask(value)
            if answer.verdict == end.verdict:
                found.append(answer)
                break
    return found[0], found[1]


def checked_range(between: object, whole_hint: bool | None) -> tuple[Fraction, Fraction]:
    """The ends of a caller's range, exact and in order.

    Raises ParameterError if it is not two numbers.
    """
    if not isinstance(between, (tuple, list)) or len(between) != 2:
        raise ParameterError("between", between, "two numbers (low, high)")
    ends = [exact(value, "between") for value in between]
    if not all(isinstance(end, Fraction) for end in ends):
        raise ParameterError("between", between, "two rational numbers (low, high)")
    low, high = Fraction(str(ends[0])), Fraction(str(ends[1]))
    if not low < high:
        raise ParameterError("between", between, "two numbers in increasing order")
    if whole_hint and (low.denominator != 1 or high.denominator != 1):
        raise ParameterError("between", between, "two integers, because the parameter is one")
    return low, high
