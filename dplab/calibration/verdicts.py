"""Asking one value of the parameter at a time: safe, unsafe, or not decided; and whether the answers are monotone."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from .. import fourier
from ..core.composition import Composition
from ..core.display import number
from ..core.errors import DplabError, ParameterError, ParameterTypeError
from ..core.parameters import parameter_text
from ..core.results import Bracket

Verdict = Literal["safe", "unsafe", "undecided"]
ROUGH, FINER, FINEST = 1e-2, 1 / 50, 1e-12


@dataclass(frozen=True)
class Answer:
    """The bracket of delta at one value, and what it proves."""

    value: Fraction
    bracket: Bracket
    verdict: Verdict

    def gap(self, target: float) -> float:
        """log of delta over the wanted one, about; -inf where delta may be 0."""
        if target == 0 or self.bracket.lower <= 0:
            return -math.inf if self.verdict == "safe" else math.inf if self.verdict == "unsafe" else 0.0
        return 0.5 * (math.log(self.bracket.lower) + math.log(self.bracket.upper)) - math.log(target)


class Questions:
    """The family of compositions, the wanted (eps, delta), and all answers so far."""

    def __init__(self, family: Callable, name: str, eps, wanted: tuple[Fraction, Fraction], direction: str, bar):
        self.family, self.name, self.eps, self.direction, self.bar = family, name, eps, direction, bar
        self.least, self.most = wanted  # an enclosure of the wanted delta
        self.whole = False
        self.target = float(self.least)
        self.answers: dict[Fraction, Answer] = {}
        self.count = 0

    def composition(self, value: Fraction) -> Composition:
        """The composition at a value; its errors pass through."""
        return Composition.of(self.family(int(value) if self.whole else value))

    def admits(self, value: Fraction) -> bool:
        """Whether the family has a member there: no error about a range."""
        try:
            self.composition(value)
        except ParameterError:
            return False
        return True

    def takes_fractions(self) -> bool:
        """False if the parameter must be whole."""
        whole = False
        for value in (Fraction(1, 2), Fraction(3, 2), Fraction(1, 100)):
            try:
                self.composition(value)
                return True
            except ParameterTypeError:
                whole = True
            except ParameterError:
                continue
        return not whole

    def ask(self, value: Fraction, rtol: float = ROUGH, decide: bool = True) -> Answer:
        """The answer at a value, refined until it is decided or nothing finer is to be had."""
        known = self.answers.get(value)
        if known is not None and (known.verdict != "undecided" or not decide):
            return known
        composition = self.composition(value)
        while True:
            bracket = fourier.delta(composition, self.eps, self.direction, rtol=rtol)
            self.count += 1
            self.bar.set_postfix_str(f"{self.name} = {parameter_text(value)}", refresh=False)
            self.bar.update()
            answer = Answer(value, bracket, self._verdict(bracket))
            if answer.verdict != "undecided" or not decide or not bracket.reached or rtol < FINEST:
                break
            rtol = min(rtol, bracket.relative_width) * FINER
        self.answers[value] = answer
        self._check_order()
        return answer

    def _verdict(self, bracket: Bracket) -> Verdict:
        if Fraction(bracket.upper) <= self.least:
            return "safe"
        return "unsafe" if Fraction(bracket.lower) > self.most else "undecided"

    def _check_order(self) -> None:
        """Raises NotMonotoneError if delta, as proven, rises somewhere and falls somewhere else."""
        answers = sorted(self.answers.values(), key=lambda answer: answer.value)
        rises = _proven_step(answers, rising=True)
        falls = _proven_step(answers, rising=False)
        if rises and falls:
            pieces = ", ".join(
                f"delta({number(float(a.value), 4)}) = {0.5 * (a.bracket.lower + a.bracket.upper):.3g}"
                for a in sorted({*rises, *falls}, key=lambda answer: answer.value)
            )
            raise NotMonotoneError(f"delta is not monotone in {self.name}: {pieces}; give a narrower `between`")


def _proven_step(answers: list[Answer], rising: bool) -> tuple[Answer, Answer] | None:
    """Two answers of which the second is certainly larger (or smaller)."""
    reach = None
    for answer in answers:
        if reach is not None and (answer.bracket > reach.bracket if rising else answer.bracket < reach.bracket):
            return reach, answer
        if reach is None or (
            answer.bracket.upper < reach.bracket.upper if rising else answer.bracket.lower > reach.bracket.lower
        ):
            reach = answer
    return None


class CalibrationError(DplabError, ValueError):
    """No value of the parameter separates safe from unsafe; the message says what was found."""


class NotMonotoneError(CalibrationError):
    """delta both rises and falls with the parameter."""
