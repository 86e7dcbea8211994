"""Derivations: steps that one can read, each checked against a computation that shares nothing with it.

A `Step` says what follows (lines of formulas), why (a rule or a theorem) and how it is checked. A `Derivation` is
an ordered tuple of steps; it checks all of them when it is made, and a step that fails raises.
"""

import hashlib
import math
import re
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any, NamedTuple

import mpmath
import sympy
from sympy.core.function import AppliedUndef

from ..core.deadline import within
from ..core.display import html_table, latex_formula, text_formula
from ..core.errors import BudgetError, ParameterError, StepFailedError
from ..core.parameters import count
from ..core.progress import progress
from .letters import latex_of, prose_latex, prose_text
from .worker import StageStopped

GUARD_DIGITS = 12
DIGITS_WHEN_MADE = 30
SECONDS_WHEN_MADE = 20.0
SECONDS_FOR_ONE = 40.0
"""CPU time for the checks when a derivation is made, and for one of them; steps whose turn comes later, and the one
whose check is given up, are left to `check`, and named."""


class Line(NamedTuple):
    """One formula: `left relation right`, `left` and `when` in the letters of `letters`, `right` in sympy."""

    left: str
    right: Any
    when: str = ""
    relation: str = "="

    @property
    def latex(self) -> str:
        """For an aligned environment."""
        sign = {"<=": r"\le", ">=": r"\ge", "~": r"\approx"}.get(self.relation, self.relation)
        condition = rf"\quad {latex_of(_EULER.sub('e', self.when))}" if self.when else ""
        return f"{latex_of(self.left)} &{sign} {latex_formula(self.right)}{condition}"

    def __str__(self) -> str:
        condition = f"   {self.when}" if self.when else ""
        return f"{self.left} {self.relation} {text_formula(self.right)}{condition}"


class Comparison(NamedTuple):
    """What a check compares: a number that the step says and the same from elsewhere. `relation` is "=" or "<=";
    `scale` is the size that the digits count from where both may vanish."""

    what: str
    found: Any
    expected: Any
    relation: str = "="
    scale: Any = mpmath.mpf(10) ** -12


_EULER = re.compile(r"\bE\b")
"""What sympy calls Euler's number."""

Check = Callable[[Any], Iterable[Comparison]]
"""Takes a scene, and yields what is compared."""


@dataclass(frozen=True)
class Step:
    """One step.

    `title` names it within its derivation; `lines` are its formulas, the first of them the result; `reason` is the
    rule or theorem, its formulas between backticks; `against` says what the check compares with. `letters` are
    abbreviations that the lines use, with their meanings. `stopped` is the stage that ran out of its budget or
    found no closed form, if one did: the formulas then stand unevaluated, with numeric evaluation behind them.
    """

    title: str
    lines: tuple[Line, ...]
    reason: str
    check: Check = field(repr=False)
    against: str = ""
    letters: tuple[tuple[sympy.Symbol, sympy.Expr], ...] = ()
    stopped: StageStopped | None = None

    @property
    def expression(self) -> Any:
        """The right side of the first line as a sympy expression, without abbreviations."""
        return spelled_out(self.lines[0].right, self.letters)

    @property
    def used_letters(self) -> tuple[tuple[sympy.Symbol, sympy.Expr], ...]:
        """The abbreviations that the lines use, directly or through another one."""
        used = set().union(*(sympy.sympify(line.right).free_symbols for line in self.lines))
        used |= {letter for letter, _ in self.letters if any(_mentions(line, letter) for line in self.lines)}
        for letter, meaning in self.letters:
            if letter in used:
                used |= meaning.free_symbols
        shown = {line.left for line in self.lines}
        return tuple((a, b) for a, b in self.letters if a in used and str(a) not in shown)

    @property
    def latex(self) -> str:
        """The lines as one aligned block, without dollar signs."""
        rows = [line.latex for line in self.lines]
        rows += [f"{latex_formula(letter)} &:= {latex_formula(meaning)}" for letter, meaning in self.used_letters]
        return r"\begin{aligned} " + r" \\[0.4em] ".join(rows) + r" \end{aligned}"

    def __str__(self) -> str:
        rows = [str(line) for line in self.lines]
        rows += [f"where {letter} = {text_formula(meaning)}" for letter, meaning in self.used_letters]
        rows.append(f"[{prose_text(self.reason)}]")
        if self.stopped:
            rows.append(f"stopped: {self.stopped}")
        return "\n".join([self.title, *(f"    {row}" for row in rows)])

    def _repr_markdown_(self) -> str:
        return self._markdown(self.title)

    def _markdown(self, heading: str) -> str:
        parts = [f"**{heading}**", f"$$\n{self.latex}\n$$", f"*{prose_latex(self.reason)}*"]
        if self.stopped:
            parts.append(f"*Stopped:* {self.stopped}")
        return "\n\n".join(parts)


def spelled_out(expression, letters: Iterable[tuple]) -> Any:
    """The expression without these letters; their meanings may use one another."""
    meanings = dict(letters)
    expression = sympy.sympify(expression)
    for _ in meanings:
        if not (expression.free_symbols | expression.atoms(AppliedUndef)) & set(meanings):
            break
        expression = expression.xreplace(meanings)
    return expression


def _mentions(line: Line, letter: sympy.Symbol) -> bool:
    if not letter.is_Symbol:
        return False
    return re.search(rf"(?<![A-Za-z]){letter.name}(?![A-Za-z0-9])", f"{line.left} {line.when}") is not None


class Checked(NamedTuple):
    """The outcome of one step's check: how many comparisons, and the digits to which the worst one agreed."""

    title: str
    against: str
    comparisons: int
    digits: float


@dataclass(frozen=True)
class CheckReport:
    """What `Derivation.check` found; it exists only if every step passed."""

    digits: int
    rows: tuple[Checked, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Checked]:
        return iter(self.rows)

    def __str__(self) -> str:
        return "\n".join(f"{_digits_text(row):>9}  {row.title} (against {row.against})" for row in self.rows)

    def _repr_html_(self) -> str:
        rows = [(row.title, row.against, str(row.comparisons), _digits_text(row)) for row in self.rows]
        return html_table(("step", "checked against", "comparisons", "agreement"), rows)


def _digits_text(row: Checked) -> str:
    return "exact" if row.digits == mpmath.inf else f"{int(row.digits)} digits"


class Derivation:
    """An ordered, checked tuple of steps about one mechanism or composition in one direction.

    `subject` says what it is about. Iteration, `len`, `derivation[0]` and `derivation["title"]` give the steps.
    All checks are run, to 30 digits, when it is made; those beyond 20 s of CPU time are left out and named
    (`unchecked`).

    Raises StepFailedError, naming the step and both numbers, if one of them fails.
    """

    def __init__(
        self, subject: str, steps: Iterable[Step], scene: Callable[[int, Random], Any], note: str = ""
    ) -> None:
        self.subject, self.note = subject, note
        self.steps = tuple(steps)
        self._scene = scene
        titles = [step.title for step in self.steps]
        if len(set(titles)) != len(titles):
            raise ValueError(f"titles of steps must differ: {titles}")
        self.checked = self._check_within(SECONDS_WHEN_MADE, DIGITS_WHEN_MADE, 1, SECONDS_FOR_ONE)

    def check(self, digits: int = 50, draws: int = 2) -> CheckReport:
        """Check every step again, to so many digits, at `draws` random admissible parameters each.

        The draws depend on the digits, so that a check at 50 digits does not repeat the one at 30.

        Raises StepFailedError if a step fails, ParameterError for digits or draws below 1.
        """
        digits, draws = (max(0, count(value, name)) for value, name in ((digits, "digits"), (draws, "draws")))
        for value, name in ((digits, "digits"), (draws, "draws")):
            if value < 1:
                raise ParameterError(name, value, ">= 1")
        return self._check_within(math.inf, digits, draws)

    def _check_within(self, seconds: float, digits: int, draws: int, one: float = math.inf) -> CheckReport:
        """`check` within so much CPU time, after which no further step begins; `one` step has so much at most."""
        rows, ends = [], time.process_time() + seconds
        with progress(total=draws * len(self), unit="check", what="derivation") as bar:
            for draw in range(draws):
                seed = hashlib.sha256(f"{self.subject} {digits} {draw}".encode()).hexdigest()
                found = []
                with mpmath.workdps(digits + GUARD_DIGITS):
                    random = Random(seed)
                    scene = self._scene(digits, random)
                    for step in self.steps:
                        if time.process_time() > ends:
                            break
                        try:
                            found.append(within(one, f"the check of {step.title!r}", self._patient, step, scene, seed))
                        except BudgetError:
                            break
                        bar.update()
                rows.append(found)
        together = [
            Checked(several[0].title, several[0].against, sum(row.comparisons for row in several), worst)
            for several in zip(*rows, strict=True)
            for worst in [min(row.digits for row in several)]
        ]
        return CheckReport(digits, tuple(together))

    def _patient(self, step: Step, scene, seed: str) -> Checked:
        """One check; one that fails is made again: were it only the quadrature's digits?"""
        before = scene.random.getstate()
        try:
            return _checked(step, scene, self.subject)
        except StepFailedError:
            return self._checked_again(step, scene.digits, seed, before)

    def _checked_again(self, step: Step, digits: int, seed: str, state: tuple) -> Checked:
        """The same check at the same parameters and points, at twice the working precision."""
        with mpmath.workdps(2 * (digits + GUARD_DIGITS)):
            random = Random(seed)
            scene = self._scene(digits, random)
            random.setstate(state)
            return _checked(step, scene, self.subject)

    @property
    def unchecked(self) -> tuple[Step, ...]:
        """The steps that were not reached within the time for checks; `check` takes all the time it needs."""
        return self.steps[len(self.checked) :]

    @property
    def stopped(self) -> tuple[Step, ...]:
        """The steps in which a stage found no closed form or ran out of its budget."""
        return tuple(step for step in self.steps if step.stopped)

    def __len__(self) -> int:
        return len(self.steps)

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def __getitem__(self, key: int | str) -> Step:
        if isinstance(key, str):
            for step in self.steps:
                if step.title.lower() == key.strip().lower():
                    return step
            raise KeyError(f"no step {key!r}; there are: {', '.join(step.title for step in self.steps)}")
        return self.steps[key]

    def __repr__(self) -> str:
        return f"<Derivation: {self.subject}, {len(self)} steps>"

    def __str__(self) -> str:
        blocks = [f"{self.subject}" + (f"\n{self.note}" if self.note else "")]
        blocks += [f"{place}. {step}" for place, step in enumerate(self.steps, 1)]
        return "\n\n".join([*blocks, self._how_checked()])

    def _repr_markdown_(self) -> str:
        blocks = [f"#### `{self.subject}`"] + ([self.note] if self.note else [])
        blocks += [step._markdown(f"{place}. {step.title}") for place, step in enumerate(self.steps, 1)]
        return "\n\n".join([*blocks, f"<small>{self._how_checked()}</small>"])

    def _how_checked(self) -> str:
        comparisons = sum(row.comparisons for row in self.checked)
        how_many = f"{len(self.checked)} of {len(self)}" if self.unchecked else f"All {len(self)}"
        left = ", ".join(step.title for step in self.unchecked)
        return (
            f"{how_many} steps checked to {self.checked.digits} digits: {comparisons} comparisons with "
            "quadratures, sums or the mechanism's own page."
        ) + (f" Not checked within {SECONDS_WHEN_MADE:g} s: {left}; check() does that." if left else "")


def _checked(step: Step, scene, subject: str) -> Checked:
    worst, number = mpmath.inf, 0
    for comparison in step.check(scene):
        number += 1
        agreement = _agreement(comparison)
        if not agreement >= scene.digits:
            raise StepFailedError(_failure(step, comparison, scene, subject))
        worst = min(worst, agreement)
    if number == 0:
        raise StepFailedError(f"{subject}, step {step.title!r}: its check compared nothing")
    return Checked(step.title, step.against, number, worst)


def _agreement(comparison: Comparison):
    """Digits to which both sides agree, relative to the larger one (or to `scale` where both are smaller)."""
    found, expected = comparison.found, comparison.expected
    if mpmath.isnan(found) or mpmath.isnan(expected):
        return -mpmath.inf
    if found == expected or (comparison.relation == "<=" and found <= expected):
        return mpmath.inf
    if mpmath.isinf(found) or mpmath.isinf(expected):
        return -mpmath.inf
    scale = max(abs(found), abs(expected), comparison.scale)
    return -mpmath.log10(abs(found - expected) / scale)


def _failure(step: Step, comparison: Comparison, scene, subject: str) -> str:
    found, expected = (mpmath.nstr(value, 20) for value in (comparison.found, comparison.expected))
    return (
        f"{subject}, step {step.title!r}: {comparison.what} is {found} by the step, "
        f"{'at most ' if comparison.relation == '<=' else ''}{expected} by {step.against or 'its check'} ({scene})"
    )
