"""Directions: which of the two neighbours is P.

`forward` is P over Q as the mechanism's page writes the pair (X/Y); for sampling that is "remove". `backward` is
Q over P, "add". `both` is the max of the two *compositions*, never a composition of maxima.
"""

from typing import Literal

from .errors import ParameterError

Direction = Literal["forward", "backward", "both"]

_SYNONYMS: dict[str, Direction] = {
    "forward": "forward",
    "remove": "forward",
    "backward": "backward",
    "add": "backward",
    "both": "both",
}


def parse_direction(direction: str) -> Direction:
    """The canonical name of a direction.

    >>> parse_direction("remove")
    'forward'

    Raises ParameterError for any other word.
    """
    try:
        return _SYNONYMS[direction]
    except (KeyError, TypeError):
        raise ParameterError(
            "direction", direction, 'one of "forward" (= "remove"), "backward" (= "add"), "both"'
        ) from None


def single_directions(direction: str, symmetric: bool) -> tuple[Direction, ...]:
    """The directions that have to be computed: one where the mirror image is the same law."""
    parsed = parse_direction(direction)
    if symmetric:
        return ("forward",)
    return ("forward", "backward") if parsed == "both" else (parsed,)
