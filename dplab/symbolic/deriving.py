"""`derive`: the whole chain from two output distributions to everything that follows from them."""

from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

from ..core.composition import Composition
from ..core.deadline import within
from ..core.directions import parse_direction
from ..core.errors import ParameterError
from ..core.pair import Pair
from .derivation import Derivation, Step
from .overlap import simplest
from .purse import ONE_FORMULA, purse
from .scene import Scene, admissible
from .stories.registry import plain, story_of
from .stories.setting import Setting
from .stories.together import Parts, Together, together_story
from .table import SympyTable
from .worker import DEFAULT_BUDGET

TIDYING, ALL_STEPS = 12.0, 60.0
"""Seconds of CPU time for formulas that cannot be tidied in time, and for making all steps."""


def derive(composition, direction: str = "forward", budget: float = DEFAULT_BUDGET) -> Derivation:
    """The derivation of a mechanism: loss, PLD, M(z), delta(eps), trade-off function, composition and bounds.

    `composition` is a mechanism or a sum of multiples of them, with numbers or symbols as parameters; `direction` is
    "forward" (= "remove") or "backward" (= "add"). Every step is checked to 30 digits, against quadratures or sums,
    when it is made.

    `budget` is what a search for an integral may spend (seconds of CPU, in a process of its own): one that is out of
    budget is named in the step that needed it, whose formula then stands unevaluated. Formulas that cannot be tidied
    within seconds stand as they came; `note` says how many.

    >>> from dplab import Gaussian
    >>> print(derive(Gaussian("sigma"))["Privacy loss"].lines[0])
    s(t) = (t - 1/2)/sigma**2

    Raises ParameterError for direction "both", StepFailedError if a step fails its check, BudgetError if the steps
    cannot be made within a minute.
    """
    reduced = Composition.of(composition).reduced()
    name = parse_direction(direction)
    if name == "both":
        raise ParameterError("direction", direction, '"forward" or "backward"', "Each direction has its derivation.")
    if not reduced.parts:
        raise ParameterError("composition", composition, "a mechanism that loses something", "Nothing is lost here.")
    side = "Q over P" if name == "backward" else "P over Q"
    with purse(TIDYING) as spent:
        what = f"the derivation of {reduced!r}"
        story = within(ALL_STEPS + budget, what, _told, reduced, name == "backward", budget)
    note = story.note
    if spent.untidied:
        note += f" Formulas not tidied within {ONE_FORMULA:g} s, which stand as they came: {spent.untidied}."
    return Derivation(f"{story.subject!r}, {name} ({side})", story.steps, story.scene, note.strip())


class _Told(NamedTuple):
    """What the steps are about, the steps, the scene of their checks, and what is to be said of them."""

    subject: Pair | Composition
    steps: list[Step]
    scene: Callable[[int, Random], Any]
    note: str


def _told(reduced: Composition, backward: bool, budget: float) -> _Told:
    alone = simplest(reduced)
    settings = [_setting(pair, backward, budget) for pair, _ in alone.parts]
    stories = [story_of(setting.pair)[1](setting) for setting in settings]
    pairs = [setting.pair for setting in settings]

    def scenes(digits: int, random: Random) -> list[Scene]:
        values = admissible(pairs, random)
        return [
            Scene(
                s.pair,
                backward,
                s.outputs,
                {n: v for n, v in values.items() if n in s.pair.free_symbols},
                digits,
                random,
            )
            for s in settings
        ]

    if len(pairs) == 1 and alone.parts[0][1] == 1:
        subject = pairs[0] if alone == reduced else reduced
        note = "" if alone == reduced else f"One part decides everything: P and Q of {pairs[0]!r} do not overlap."
        return _Told(subject, stories[0], lambda *drawn: scenes(*drawn)[0], note)
    parts = Parts(reduced, backward, [{step.title: step for step in steps} for steps in stories])
    return _Told(
        reduced,
        together_story(parts),
        lambda *drawn: Together(scenes(*drawn), parts.times),
        "Each part has a derivation of its own.",
    )


def _setting(pair: Pair, backward: bool, budget: float) -> Setting:
    fn, pair = SympyTable(), plain(pair)
    outputs = story_of(pair)[0](pair, fn)
    return Setting(pair, backward, outputs.swapped() if backward else outputs, fn, budget)
