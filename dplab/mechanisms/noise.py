"""What additive noise mechanisms share: only the ratio of scale and sensitivity matters."""

from fractions import Fraction

from ..core.pair import Pair
from ..core.parameters import LARGEST, SMALLEST


def at_unit_sensitivity(pair: Pair, scale: str) -> Pair | None:
    """The equal mechanism of sensitivity 1, so that equal laws are one part of a composition; None for sensitivity 0.

    `scale` names the parameter of the noise. Symbols and irrational numbers stay as they are, and so does what would
    leave the range of parameters.
    """
    noise, sensitivity = pair.arguments[scale], pair.arguments["sensitivity"]
    if sensitivity == 0:
        return None
    if sensitivity == 1 or not (isinstance(noise, Fraction) and isinstance(sensitivity, Fraction)):
        return pair
    ratio = noise / sensitivity
    return pair.from_arguments(**{scale: ratio}) if ratio == 0 or SMALLEST <= ratio <= LARGEST else pair
