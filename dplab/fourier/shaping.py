"""Curves that are monotone and convex in x = e^eps by construction, like delta itself, and bounds still.

h(x) = delta(log x) is convex and non-increasing with h(0) = 1. So of bounds at some points

* upper: the greatest convex minorant of the points (a chord of upper bounds lies above h);
* lower: first raised to what convexity forces from elsewhere (beyond two points h lies above the line through the
  upper bound of the far one and the lower bound of the near one), then the greatest convex minorant of that.

All in ratios of differences of e^eps through expm1, so that delta = 1e-200 keeps its digits; each value is rounded to
the safe side, so chords hold up to a few ulps. Points whose positions float64 does not tell apart count as one.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from ..core.budget import Part
from ..core.results import Bracket
from .accountant import Point
from .intervals import U
from .rounding import down, up

_MORE, _LESS = 1 + 32 * U, 1 - 32 * U


@dataclass
class _Place:
    """Points at one position, an eps between `low` and `high`, and the bounds of h there."""

    low: float
    high: float
    members: list[int]
    lower: float = 0.0
    upper: float = 1.0


def shaped(points: Sequence[Point], brackets: Sequence[Bracket]) -> list[Bracket]:
    """The brackets of delta at `points`, tightened and loosened so that both sides are monotone and convex."""
    places = _places(points)
    for place in places:
        place.lower = min(brackets[i].lower for i in place.members)
        place.upper = max(brackets[i].upper for i in place.members)
    _make_monotone(places)
    finite = [place for place in places if place.low < math.inf]
    raised = _raised(finite)
    chords = _upper_minorant(finite)
    for place, lower, upper in zip(finite, raised, chords, strict=True):
        place.lower, place.upper = min(lower, place.upper), upper
    for place, lower in zip(finite, _lower_minorant(finite), strict=True):
        place.lower = min(lower, place.upper)
    _make_monotone(places)
    answers = list(brackets)
    for place in places:
        for i in place.members:
            answers[i] = _replaced(brackets[i], place.lower, place.upper)
    return answers


def _places(points: Sequence[Point]) -> list[_Place]:
    places: list[_Place] = []
    ends = [
        (float(down(p.eps - p.eps_error)), float(up(p.eps + p.eps_error))) if p.eps_error else (p.eps, p.eps)
        for p in points
    ]
    for i in sorted(range(len(points)), key=lambda i: ends[i]):
        low, high = ends[i]
        if places and low <= places[-1].high:
            places[-1].members.append(i)
            places[-1].high = max(places[-1].high, high)
        else:
            places.append(_Place(low, high, [i]))
    return places


def _make_monotone(places: list[_Place]) -> None:
    for left, right in pairwise(places):
        right.upper = min(right.upper, left.upper)
    for right, left in pairwise(reversed(places)):
        left.lower = max(left.lower, right.lower)


def _share(inner: float, left: float, right: float) -> float:
    """(e^right - e^inner)/(e^right - e^left) for left < inner < right; left may be -inf."""
    return math.expm1(inner - right) / math.expm1(left - right)


def _minorant(places: list[_Place], values: list[float]) -> list[int]:
    """Indices of the vertices of the greatest convex minorant; about, within rounding."""
    vertices: list[int] = []
    for i, place in enumerate(places):
        while len(vertices) > 1:
            a, b = vertices[-2:]
            share = _share(places[b].low, places[a].low, place.low)
            if values[b] < values[i] + share * (values[a] - values[i]):
                break
            vertices.pop()
        vertices.append(i)
    return vertices


def _upper_minorant(places: list[_Place]) -> list[float]:
    start = _Place(-math.inf, -math.inf, [], 1.0, 1.0)  # h(0) = 1
    extended = [start, *places] if places and places[0].low > -math.inf else places
    values = [place.upper for place in extended]
    result = list(values)
    for a, b in pairwise(_minorant(extended, values)):
        for i in range(a + 1, b):
            share = _share(extended[i].low, extended[a].high, extended[b].high)
            chord = values[b] + share * (values[a] - values[b]) * _MORE
            result[i] = min(values[i], float(up(chord)))
    return result[len(extended) - len(places) :]


def _lower_minorant(places: list[_Place]) -> list[float]:
    values = [place.lower for place in places]
    result = list(values)
    for a, b in pairwise(_minorant(places, values)):
        for i in range(a + 1, b):
            share = _share(places[i].high, places[a].low, places[b].low)
            chord = values[b] + share * (values[a] - values[b]) * _LESS
            result[i] = min(values[i], max(float(down(chord)), 0.0))
    return result


def _raised(places: list[_Place]) -> list[float]:
    """Lower bounds that convexity gives from elsewhere: from the left and from the right, by the best pair each."""
    low, high = (np.array([getattr(place, name) for place in places]) for name in ("low", "high"))
    lower, upper = (np.array([getattr(place, name) for place in places]) for name in ("lower", "upper"))
    best = lower.copy()
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        for b in range(len(places)):
            if b + 1 < len(places):  # beyond b, from (x_a, upper_a) or (0, 1) through (x_b, lower_b)
                drops = (np.append(upper[:b], 1.0) - lower[b]) / -np.expm1(np.append(high[:b], -np.inf) - low[b])
                if low[b] > -math.inf:
                    drop = max(float(np.min(drops)) * _MORE, 0.0)
                    line = lower[b] - drop * np.expm1(high[b + 1 :] - low[b]) * _MORE
                    best[b + 1 :] = np.fmax(best[b + 1 :], down(line))
            if 0 < b < len(places) - 1:  # before b, from (x_c, upper_c) through (x_b, lower_b)
                rises = (lower[b] - upper[b + 1 :]) / np.expm1(high[b + 1 :] - low[b])
                rise = max(float(np.max(rises)) * _LESS, 0.0)
                line = lower[b] + rise * -np.expm1(high[:b] - low[b]) * _LESS
                best[:b] = np.fmax(best[:b], down(line * _LESS))
    return [float(value) for value in best]


def _replaced(bracket: Bracket, lower: float, upper: float) -> Bracket:
    if (lower, upper) == (bracket.lower, bracket.upper):
        return bracket
    change = (upper - lower) - (bracket.upper - bracket.lower)
    part = Part("shape", change, "delta is non-increasing and convex in e^eps: bounds taken from neighbours")
    return replace(bracket, lower=lower, upper=upper, budget=bracket.budget.with_part(part))
