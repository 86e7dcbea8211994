"""`derive`: the whole chain from two output distributions to everything that follows from them."""

from random import Random

from ..core.composition import Composition
from ..core.directions import parse_direction
from ..core.errors import ParameterError
from ..core.pair import Pair
from .derivation import Derivation
from .overlap import simplest
from .scene import Scene, admissible
from .stories.registry import plain, story_of
from .stories.setting import Setting
from .stories.together import Parts, Together, together_story
from .table import SympyTable
from .worker import DEFAULT_BUDGET


def derive(composition, direction: str = "forward", budget: float = DEFAULT_BUDGET) -> Derivation:
    """The derivation of a mechanism: loss, PLD, M(z), delta(eps), trade-off function, composition and bounds.

    `composition` is a mechanism or a sum of multiples of them, with numbers or symbols as parameters; `direction` is
    "forward" (= "remove") or "backward" (= "add"). Every step is checked to 30 digits, against quadratures or sums,
    when it is made.

    `budget` is what a stage may spend (seconds of CPU) where nothing bounds its work beforehand: it runs in a process
    of its own, and one that is out of budget is named in the step that needed it, whose formula then stands
    unevaluated.

    >>> from dplab import Gaussian
    >>> print(derive(Gaussian("sigma"))["Privacy loss"].lines[0])
    s(t) = (t - 1/2)/sigma**2

    Raises ParameterError for direction "both", StepFailedError if a step fails its check.
    """
    reduced = Composition.of(composition).reduced()
    name = parse_direction(direction)
    if name == "both":
        raise ParameterError("direction", direction, '"forward" or "backward"', "Each direction has its derivation.")
    if not reduced.parts:
        raise ParameterError("composition", composition, "a mechanism that loses something", "Nothing is lost here.")
    backward = name == "backward"
    side = "Q over P" if backward else "P over Q"
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
        return Derivation(f"{subject!r}, {name} ({side})", stories[0], lambda *drawn: scenes(*drawn)[0], note)
    parts = Parts(reduced, backward, [{step.title: step for step in steps} for steps in stories])
    return Derivation(
        f"{reduced!r}, {name} ({side})",
        together_story(parts),
        lambda *drawn: Together(scenes(*drawn), parts.times),
        note="Each part has a derivation of its own.",
    )


def _setting(pair: Pair, backward: bool, budget: float) -> Setting:
    fn, pair = SympyTable(), plain(pair)
    outputs = story_of(pair)[0](pair, fn)
    return Setting(pair, backward, outputs.swapped() if backward else outputs, fn, budget)
