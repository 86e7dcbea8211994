"""Answers of grids that bound nothing (`point`): the same composition, without the bounds; `Approximation`s.

How much of the mass the grid has caught is in `details`: away from 1, it is too coarse for the density.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from ..core.directions import Direction
from ..core.results import Approximation, Quantity
from .accountant import OneDirection, Point
from .choices import GRIDS
from .costs import affordable
from .inversion import root
from .planning import Plan, Settings
from .point import nearest_atoms
from .scout import Saddle
from .sides import Side

_TRIES = 6


@dataclass(frozen=True)
class _Planned:
    """A composition of grid PLDs that bound nothing, made for one saddle."""

    saddle: Saddle
    plan: Plan
    side: Side
    log_caught: float

    @property
    def details(self) -> dict:
        """Settings, and the mass that the grid has, where it matters at this tilt, over the mass that there is."""
        caught = math.exp(min(self.log_caught, 700.0))
        return {"dx": self.plan.dx, "n": self.plan.n, "tilt": self.plan.tilt, "mass caught": caught}

    def log_delta(self, eps: float) -> float:
        """log of the value at eps."""
        found = self.side.sum.evaluate(eps)
        finite = found.log_factor + math.log(found.value) if found.value > 0 else -math.inf
        infinite = math.log(self.side.infinity) if self.side.infinity > 0 else -math.inf
        return float(np.logaddexp(finite, infinite))


def approximate_curve(
    ways: Mapping[Direction, OneDirection],
    points: Iterable[Point],
    rtol: float,
    settings: Settings,
    direction: str,
    log: bool = False,
) -> list[Approximation]:
    """delta (or its logarithm) at each point, the larger of the directions; plans are kept while they serve."""
    columns = [_one_way(way, list(points), rtol, settings) for way in ways.values()]
    answers = []
    for values in zip(*columns, strict=True):
        log_delta, details = max(values, key=lambda value: value[0])
        shown = log_delta if log else math.exp(min(log_delta, 700.0))
        answers.append(_answer(shown, details, settings, "log delta" if log else "delta", direction))
    return answers


def approximate_epsilon(
    ways: Mapping[Direction, OneDirection], delta: float, atol: float, settings: Settings, direction: str
) -> Approximation:
    """The smallest eps >= 0 whose approximate delta is at most `delta`; the larger of the directions."""
    found = [_epsilon_one_way(way, delta, atol, settings) for way in ways.values()]
    value, details = max(found, key=lambda pair: pair[0])
    return _answer(max(value, 0.0), details, settings, "eps", direction)


def _one_way(way: OneDirection, points: list[Point], rtol: float, settings: Settings) -> list[tuple[float, dict]]:
    answers: dict[int, tuple[float, dict]] = {}
    planned = None
    for index in sorted(range(len(points)), key=lambda i: points[i].eps):
        known = way.without_grid(points[index], settings)
        if known is not None:
            answers[index] = known.upper.log_bound, {}
            continue
        eps = points[index].eps
        if planned is None or abs(eps - planned.saddle.eps) > planned.saddle.deviation:
            planned = _planned(way, way.scout.saddle(eps), rtol, settings)
        answers[index] = planned.log_delta(eps), planned.details
    return [answers[index] for index in range(len(points))]


def _planned(way: OneDirection, saddle: Saddle, rtol: float, settings: Settings) -> _Planned:
    """A grid fine enough to hold about all the mass: point masses miss what is narrower than a cell."""
    for tries in range(_TRIES):
        plan = affordable(way.parts, way.scout, saddle, rtol, settings, 1.0, refuse=tries == 0)
        side = Side(way.parts, plan, +1)
        planned = _Planned(saddle, plan, side, _log_caught(way, plan, side))
        if abs(planned.log_caught) <= rtol or plan.capped or settings.fixed or tries == _TRIES - 1:
            break
        settings = replace(settings, dx=plan.dx / 4, planned_dx=True)
    return planned


def _log_caught(way: OneDirection, plan: Plan, side: Side) -> float:
    """log of the composition's tilted mass on its grids over what the cells of those grids hold."""
    total = 0.0
    for (step, k), (made, _), grid in zip(way.parts, side.plds, plan.upper, strict=True):
        weights = np.exp(plan.tilt * (grid.nodes - grid.nodes[-1]))
        cells = -0.5 * np.diff(step.continuous(grid.at()).p.mid)
        held = np.append(cells, 0.0) + np.append(0.0, cells) + nearest_atoms(step, grid)
        ratio = float(made.masses @ weights) / max(float(held @ weights), 1e-300)
        total += k * math.log(ratio) if ratio > 0 else -math.inf
    return total


def _epsilon_one_way(way: OneDirection, delta: float, atol: float, settings: Settings) -> tuple[float, dict]:
    if not way.parts or delta >= 1:
        return 0.0, {}
    if delta <= way.infinity[1]:
        return (float(way.largest_loss().hi) if delta == way.infinity[0] else math.inf), {}
    saddle = way.scout.saddle_for(math.log(delta - way.infinity[1]))
    if saddle.eps < 0:
        saddle = way.scout.saddle(0.0)
    planned = _planned(way, saddle, min(0.5, atol * saddle.tilt), settings)
    return root(planned.side, math.log(delta), saddle.eps, 1 / saddle.tilt, atol, +1), planned.details


def _answer(value: float, details: dict, settings: Settings, quantity: Quantity, direction: str) -> Approximation:
    chosen = GRIDS[settings.grid]
    return Approximation(value, f"{chosen.name} grid, {chosen.reason}", quantity, direction, details)
