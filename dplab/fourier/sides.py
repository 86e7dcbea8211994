"""One side of a bracket: the certified grid PLDs of a composition, composed, as a function of eps."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..core.progress import counted
from .choices import GRIDS
from .intervals import U
from .onestep import OneStep
from .planning import Plan
from .splitting import SplitSum
from .tilted import TiltedSum
from .wide import exp_of, is_wide, log_of, widened

_TINY = -600.0
_MANY = 16


@dataclass(frozen=True)
class SideValue:
    """A bound of delta at one eps, and what it is made of, all but `bound` in units of e^{log_unit}.

    `unclipped` is the bound before a negative lower end is raised to 0. `proper_infinity` is the part of `infinity`
    that the mechanisms have themselves; the rest was cut off the grids. `log_unit` is 0 unless delta is tiny.
    """

    bound: float
    log_bound: float
    unclipped: float
    central: float
    rounding: float
    periodisation: float
    infinity: float
    proper_infinity: float
    log_unit: float = 0.0

    def in_units(self, log_unit: float) -> "SideValue":
        """The same in other units."""
        if log_unit == self.log_unit:
            return self
        factor = math.exp(min(self.log_unit - log_unit, 700.0))
        names = ("unclipped", "central", "rounding", "periodisation", "infinity", "proper_infinity")
        return replace(self, log_unit=log_unit, **{name: factor * getattr(self, name) for name in names})


class Side:
    """The upper (sign = +1) or lower (sign = -1) bound of delta(eps) for one direction and one plan."""

    def __init__(self, parts: list[tuple[OneStep, int]], plan: Plan, sign: int):
        self.sign = sign
        chosen = GRIDS[plan.grid]
        make, grids = (chosen.upper, plan.upper) if sign > 0 else (chosen.lower, plan.lower)
        pairs, what = list(zip(parts, grids, strict=True)), "upper grids" if sign > 0 else "lower grids"
        with counted(pairs, long=len(pairs) > _MANY, unit="mechanism", what=what) as pairs:
            self.plds = [(make(step, grid, plan.tilt, plan.spare), k) for (step, k), grid in pairs]
        self.shift = math.fsum(k * pld.shift for pld, k in self.plds) * (1 + 8 * U)
        self.log_scale = math.fsum(k * pld.log_scale for pld, k in self.plds) * (1 + 8 * U)
        self.sum: TiltedSum | SplitSum = (
            TiltedSum(self.plds, plan.tilt, plan.window, plan.n)
            if plan.splitting is None
            else SplitSum(self.plds, plan.splitting, plan.windows)
        )
        self.infinity = self._infinity()
        own = [(float(step.infinity.hi if sign > 0 else step.infinity.lo), k) for step, k in parts]
        log_rest = math.fsum(k * (math.log1p(-mass) if mass < 1 else -math.inf) for mass, k in own)
        self.proper_infinity = min(self.infinity, -math.expm1(log_rest) * (1 + sign * 32 * U))

    def _infinity(self) -> Any:
        """Mass at infinity of the composition: prod T^k - prod (T - delta(inf))^k, T the total mass, at least 1."""
        excess = math.fsum(k * pld.log_excess for pld, k in self.plds) * (1 + self.sign * 8 * U)
        lost = [(math.exp(-pld.log_excess) * pld.infinity, k) for pld, k in self.plds]
        wide = any(is_wide(mass) for mass, _ in lost)
        add, log1p, expm1 = (sum, np.log1p, np.expm1) if wide else (math.fsum, math.log1p, math.expm1)
        survival = add(k * log1p(widened(-mass, wide)) if mass < 1 else -math.inf for mass, k in lost)
        total = math.exp(min(excess, 700.0)) if survival < 0 else 1.0
        return -expm1(survival) * total * (1 + self.sign * 32 * U)

    def at(self, eps: float, eps_error: float) -> SideValue:
        """The bound at eps, valid for every true eps within `eps_error` of it."""
        moved = eps - self.sign * (self.shift + eps_error + self.sum.position_error(eps))
        found = self.sum.evaluate(moved)
        errors = found.rounding + found.periodisation
        kernel = max(found.value + self.sign * errors, 0.0)
        slack = self.sign * (found.log_slack + 8 * U)
        log_finite = float(found.log_factor) + float(slack) + math.log(kernel) if kernel > 0 else -math.inf
        if math.isnan(log_finite):  # beyond float64: nothing is known
            log_finite = self.sign * math.inf
        log_infinity = log_of(self.infinity)
        log_bound = _log_add(log_finite, log_infinity) + self.sign * (self.log_scale + 8 * U)
        tiny = -math.inf < found.log_factor < _TINY and log_infinity < _TINY
        unit = float(max(found.log_factor, log_infinity)) if tiny else 0.0
        factor = math.exp(min(found.log_factor - unit, 700.0))
        bound, scaled = (math.exp(log) if log < 700 else math.inf for log in (log_bound, log_bound - unit))
        infinity, proper = (
            exp_of(log_of(mass) - unit, wide=False) if tiny else float(mass)
            for mass in (self.infinity, self.proper_infinity)
        )
        return SideValue(
            bound=bound,
            log_bound=log_bound,
            unclipped=scaled if kernel > 0 else scaled + factor * (found.value + self.sign * errors),
            central=factor * max(found.value, 0.0),
            rounding=factor * found.rounding,
            periodisation=factor * found.periodisation,
            infinity=infinity,
            proper_infinity=proper,
            log_unit=unit,
        )


def _log_add(a: float, b: float) -> float:
    high, low = max(a, b), min(a, b)
    return high if low == -math.inf else high + math.log1p(math.exp(low - high))
