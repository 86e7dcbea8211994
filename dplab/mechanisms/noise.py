"""What additive noise mechanisms share: only the ratio of scale and sensitivity matters."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar

from ..core.pair import Pair
from ..core.parameters import LARGEST, SMALLEST


class AdditiveNoise:
    """What pairs of noise on a query share: without noise the two outputs never overlap."""

    arguments: Mapping[str, Any]
    noise_name: ClassVar[str]
    """The parameter that is the scale of the noise."""
    move_name: ClassVar[str] = "sensitivity"
    """The parameter by which the query moves."""

    @property
    def noiseless(self) -> bool:
        """True for noise of scale 0: the two outputs never overlap."""
        return self.arguments[self.noise_name] == 0 and self.arguments[self.move_name] != 0

    def mass_at_infinity(self, fn):
        """1 without noise, else 0."""
        return fn.rational(int(self.noiseless), 1)

    mass_at_minus_infinity = mass_at_infinity


class NoiseOnCounts(AdditiveNoise):
    """Noise on the whole numbers; the query moves by the whole number `shift`."""

    move_name = "shift"

    @property
    def shift(self) -> int:
        """By how much the query moves."""
        return int(self.arguments["shift"])

    def reduced(self):
        """None for shift 0."""
        return None if self.arguments["shift"] == 0 else self


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
