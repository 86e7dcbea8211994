"""What is certain of a function that should be monotone; interval arithmetic finds it, other arithmetics take it as
claimed."""

from typing import Any, NamedTuple


class Gap(NamedTuple):
    """A part of a piece on which a function is not certainly monotone, and the values it may take there."""

    where: Any
    values: Any


class Certified(NamedTuple):
    """What is certain of a function that should be monotone on a piece: outside the gaps it is, from the first point to
    the last. All its values lie between `low` and `high`, those in gaps where nothing is known of them aside."""

    gaps: tuple[Gap, ...]
    low: Any
    high: Any
