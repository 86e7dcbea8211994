"""What a question costs, known before anything large is allocated: memory and time from the plan alone.

The peak is the larger of two phases: intervals on the nodes of one grid PLD (`_NODE` bytes a node), and the
transforms (8 bytes a point and part, and some), plus the frequencies that are still significant in the k-th power:
few, unless atoms keep the transform from falling. The numbers were measured (tests compare them with the allocator's
own count); times are those of one core of a small server, and good to a factor of three.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from ..core.display import html_table, number
from ..core.errors import MemoryLimitError
from .coarse import cumulants
from .onestep import OneStep
from .planning import Plan, Settings
from .scout import Saddle, Scout
from .split_planning import plan_for

_NODE = {"split-merge": 235, "round": 235, "minmax": 400, "point": 235}
_WIDE = (2, 9)  # times the bytes and the time of a node whose masses have the type with a wider exponent
_NODE_TIME = {"split-merge": 3e-6, "round": 3e-6, "minmax": 8e-6, "point": 3e-6}
_POINT, _TRANSFORM, _FREQUENCY, _KEPT_NODE = 12.5, 8.0, 190.0, 24.0
_POINT_TIME, _FREQUENCY_TIME, _START_TIME = 4e-9, 4e-7, 0.02
_BASE = 2.5e5
_SIGNIFICANT = 46.0  # see `tilted`
_LOOKS = 12


@dataclass(frozen=True)
class Cost:
    """Estimates for one question: peak `memory` in bytes (on top of what the program holds already), CPU `seconds`,
    and the plan's size: transform length `n`, `nodes` of all one-step grids, distinct `parts`, `dx`, `tilt`.

    A question answered without a grid costs about nothing: n = 0.
    """

    memory: int
    seconds: float
    n: int = 0
    nodes: int = 0
    parts: int = 0
    dx: float = 0.0
    tilt: float = 0.0

    def __str__(self) -> str:
        if not self.n:
            return "no grid is needed: less than 1 MB, less than 0.1 s"
        return (
            f"about {megabytes(self.memory)} and {number(self.seconds, 2)} s: {self.n} points, {self.nodes} nodes in "
            f"{self.parts} grid{'s' if self.parts != 1 else ''}, dx = {number(self.dx, 3)}"
        )

    def _repr_html_(self) -> str:
        row = (megabytes(self.memory), f"{number(self.seconds, 2)} s", *map(str, (self.n, self.nodes, self.parts)))
        return html_table(("memory, about", "CPU time, about", "n", "nodes", "parts"), [(*row,)])


def cost_of(parts: list[tuple[OneStep, int]], scout: Scout, plan: Plan) -> Cost:
    """The cost of both sides of one plan."""
    grid = plan.grid
    sizes = [g.size for g in plan.upper]
    windows = [w[1] for w in plan.windows if w is not None] if plan.splitting is not None else [plan.n]
    halves = 2 if plan.splitting is not None else 1
    n, total = max(windows), sum(sizes)
    frequencies = 0.5 * n * _kept_share(parts, scout, plan)
    size, slower = _WIDE if plan.wide else (1, 1)
    on_nodes = size * (_NODE[grid] * max(sizes) + 16 * total)
    on_points = n * (_POINT + _TRANSFORM * halves * len(parts)) + _FREQUENCY * frequencies + _KEPT_NODE * total
    seconds = _START_TIME * (1 + len(parts)) + slower * _NODE_TIME[grid] * total
    seconds += _POINT_TIME * sum(windows) * math.log2(n) * halves * len(parts) + _FREQUENCY_TIME * frequencies
    return Cost(int(_BASE + max(on_nodes, on_points)), seconds, n, total, len(parts), float(plan.dx), float(plan.tilt))


def _kept_share(parts, scout: Scout, plan: Plan) -> float:
    """About the share of the frequencies at which the transform of the sum is still significant."""
    log_atoms = 0.0
    for (step, k), (law, _) in zip(parts, scout.laws, strict=True):
        if not len(step.columns):
            return _smooth_share(scout, plan)
        with np.errstate(over="ignore", divide="ignore"):
            tilted = np.log(step.columns.p.mid) + plan.tilt * step.columns.loss.mid
            share = np.logaddexp.reduce(tilted) - law.log_mgf(plan.tilt)
        log_atoms += k * min(float(share), 0.0)
    return 1.0 if log_atoms > -_SIGNIFICANT else _smooth_share(scout, plan)


def _smooth_share(scout: Scout, plan: Plan) -> float:
    deviation = math.sqrt(max(cumulants(scout.laws, plan.tilt)[2], 1e-300))
    return min(2 * math.sqrt(2 * _SIGNIFICANT) / deviation * plan.dx / math.pi, 1.0)


def affordable(
    parts: list[tuple[OneStep, int]],
    scout: Scout,
    saddle: Saddle,
    rtol: float,
    settings: Settings,
    nearby: float = 0.0,
    wanted: tuple[str, float] | None = None,
    refuse: bool = True,
) -> Plan:
    """The plan for a question, if it fits in `settings.max_memory`; `wanted` is the accuracy in the caller's words.

    Raises MemoryLimitError with the accuracy that fits; with `refuse` False (a second try) the finest plan that fits.
    """
    plan = plan_for(parts, scout, saddle, rtol, settings, nearby)
    need = cost_of(parts, scout, plan).memory
    if need <= settings.max_memory:
        return plan

    def needs(factor: float) -> int:
        by_hand = settings.dx is not None and settings.fixed
        changed = replace(settings, dx=settings.dx * factor) if settings.dx and by_hand else settings
        loose = rtol if by_hand else rtol * factor
        return cost_of(parts, scout, plan_for(parts, scout, saddle, loose, changed, nearby)).memory

    if not refuse:
        size = max(64, int(plan.n * 0.9 * settings.max_memory / need))
        return plan_for(parts, scout, saddle, rtol, replace(settings, max_size=min(size, settings.max_size)), nearby)
    name, value = ("dx", settings.dx) if settings.fixed and settings.dx is not None else wanted or ("rtol", rtol)
    raise MemoryLimitError(_refusal(need, settings, name, value, needs))


def _refusal(need: int, settings: Settings, name: str, value: float, needs) -> str:
    """The message: what it would take, what is allowed, and which accuracy fits."""
    says = f"this needs about {megabytes(need)}, more than max_memory = {megabytes(settings.max_memory)}"
    if settings.n is not None:
        return f"{says}; n = {settings.n} was set by hand: a smaller one, or a larger max_memory, is needed"
    low, high = 0.0, math.log(1e9)  # of the factor by which the accuracy is given up
    if needs(math.exp(high)) > settings.max_memory:
        return f"{says}; no accuracy fits: a larger max_memory is needed"
    for _ in range(_LOOKS):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if needs(math.exp(middle)) <= settings.max_memory else (middle, high)
    fits = float(f"{value * math.exp(high) * 1.05:.1e}")
    return f"{says}; {name} = {fits:.1e} fits"


def combined(costs: Iterable[Cost]) -> Cost:
    """Several directions one after the other: the larger memory, the sum of the times."""
    every = list(costs)
    return replace(max(every, key=lambda cost: cost.memory), seconds=math.fsum(cost.seconds for cost in every))


def megabytes(size: float) -> str:
    """A size for people."""
    return f"{number(size / 1e6, 3)} MB" if size < 1e9 else f"{number(size / 1e9, 3)} GB"
