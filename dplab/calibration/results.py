"""What a calibration gives: a safe value, an unsafe neighbour, and the brackets that prove both."""

from dataclasses import dataclass
from fractions import Fraction

from ..core.display import html_table, outward_text
from ..core.parameters import parameter_text
from ..core.results import Bracket


@dataclass(frozen=True)
class Calibration:
    """A parameter for a wanted (eps, delta).

    `value` is safe: `bracket.upper <= delta` proves it; `unsafe` is not: `unsafe_bracket.lower > delta` proves it.
    Both are exact (a Fraction with few decimals, or an int). `reached` is False if they lie further apart than was
    asked; `note` then says why. `evaluations` counts the brackets that were computed.
    """

    name: str
    value: Fraction | int
    unsafe: Fraction | int
    bracket: Bracket
    unsafe_bracket: Bracket
    eps: str
    delta: str
    reached: bool = True
    note: str = ""
    evaluations: int = 0

    def __float__(self) -> float:
        return float(self.value)

    @property
    def rows(self) -> list[tuple[str, str, str, str]]:
        """(value, lower, upper, verdict) as text, the safe one first."""
        both = ((self.value, self.bracket, "safe"), (self.unsafe, self.unsafe_bracket, "not safe"))
        return [(_text(value), *outward_text(b.lower, b.upper), verdict) for value, b, verdict in both]

    def __str__(self) -> str:
        (value, _, upper, _), (unsafe, lower, _, _) = self.rows
        text = (
            f"{self.name} = {value} is safe for eps = {self.eps}, delta = {self.delta} (delta <= {upper}); "
            f"{self.name} = {unsafe} is not (delta >= {lower})"
        )
        return text + (f"; {self.note}" if self.note else "")

    def _repr_html_(self) -> str:
        caption = f"wanted: eps = {self.eps}, delta = {self.delta}" + (f"; {self.note}" if self.note else "")
        return html_table((self.name, "delta, lower bound", "delta, upper bound", "verdict"), self.rows, caption)


def _text(value: Fraction | int) -> str:
    return parameter_text(Fraction(value))
