"""`derive`: the whole chain from two output distributions to everything that follows from them."""

from random import Random

from ..core.composition import Composition
from ..core.directions import parse_direction
from ..core.errors import NoClosedFormError, ParameterError
from .derivation import Derivation
from .scene import Scene, admissible
from .stories.registry import story_of
from .stories.setting import Setting
from .table import SympyTable
from .worker import DEFAULT_BUDGET


def derive(composition, direction: str = "forward", budget: float = DEFAULT_BUDGET) -> Derivation:
    """The derivation of a mechanism: loss, PLD, M(z), delta(eps), trade-off function, composition and bounds.

    `composition` is a mechanism, with numbers or symbols as parameters; `direction` is "forward" (= "remove") or
    "backward" (= "add"). Every step is checked to 30 digits against quadratures or sums when it is made.

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
    if len(reduced.parts) != 1 or reduced.parts[0][1] != 1:
        raise NoClosedFormError("derivation: of compositions only k-fold single mechanisms")
    pair = reduced.parts[0][0]
    backward = name == "backward"
    find_outputs, story = story_of(pair)
    fn = SympyTable()
    outputs = find_outputs(pair, fn)
    setting = Setting(pair, backward, outputs.swapped() if backward else outputs, fn, budget)

    def scene(digits: int, random: Random) -> Scene:
        return Scene(pair, backward, setting.outputs, admissible(pair, random), digits, random)

    side = "Q over P" if backward else "P over Q"
    return Derivation(f"{pair!r}, {name} ({side})", story(setting), scene)
