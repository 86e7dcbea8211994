"""Runs of integers on which two probabilities are smooth formulas, their losses, sums and remainders."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise

import mpmath
import sympy

from ...core.errors import NoClosedFormError, ParameterError
from ...core.functions import MpmathTable
from .cells import _Resolver, _switches, _zeros
from .formulas import to_sympy, variable_symbol
from .integers import whole_end
from .losses import log_of
from .programs import Program
from .series import at_most, closed_sum, log_probability, ratio_bound, simpler, typical, with_loggamma
from .signs import ordered, sign
from .tails import value

FN = MpmathTable()
EDGE = 40
"""So many integers at each finite end are looked at one by one for zeros of a formula."""
MOST_INTEGERS = 200_000
INTERVAL_CUT = mpmath.mpf(10) ** -305
SPARE = 40
"""So many digits beyond the working precision are listed."""


@dataclass(frozen=True, eq=False)
class Run:
    """Integers first..last (perhaps infinite) with one formula each; loss None where only one of them is positive."""

    variable: sympy.Symbol
    first: float | int
    last: float | int
    p: sympy.Expr
    q: sympy.Expr
    loss: sympy.Expr | None

    @cached_property
    def log_p(self) -> Program:
        """log p as a program in t."""
        return Program(log_probability(self.p, self.variable, self.sample), self.variable)

    @cached_property
    def log_q(self) -> Program:
        """log q as a program in t."""
        return Program(log_probability(self.q, self.variable, self.sample), self.variable)

    @cached_property
    def loss_program(self) -> Program:
        """The loss as a program in t."""
        return Program(self.loss, self.variable)

    @property
    def sample(self) -> sympy.Integer:
        """An integer of the run."""
        return sympy.Integer(typical(self.first, self.last))

    @property
    def constant(self) -> bool:
        """Whether the loss takes one value."""
        return self.loss is not None and not self.loss.has(self.variable)

    @property
    def finite(self) -> bool:
        """Whether the run ends on both sides."""
        return math.isfinite(self.first) and math.isfinite(self.last)

    def total(self, fn, side: str):
        """The sum of one probability over the run."""
        density = self.p if side == "p" else self.q
        if density == 0:
            return fn.rational(0, 1)
        closed = closed_sum(density, self.variable, self.first, self.last)
        if closed is not None:
            return value(fn, closed)
        if not self.finite:
            raise NoClosedFormError(f"sum: {density} over infinitely many integers has no closed form here")
        total = fn.rational(0, 1)
        for t in range(int(self.first), int(self.last) + 1):
            total = total + self.probability(fn, side, t)
        return total

    def probability(self, fn, side: str, t: int):
        """p or q at t."""
        return fn.exp((self.log_p if side == "p" else self.log_q)(fn, fn.rational(t, 1)))

    def beyond(self, t: int, step: int):
        """A bound of both sums over t + step, t + 2 step, ... by a geometric series; inf if none holds yet."""
        bound = mpmath.mpf(0)
        for side, density in (("p", self.p), ("q", self.q)):
            ratio = ratio_bound(density, self.variable, step)
            largest = at_most(ratio, self.variable, t + step, step)
            if largest is None or largest >= 1:
                return mpmath.inf
            following = self.probability(FN, side, t + step)
            bound = max(bound, following / (1 - largest))
        return bound


@dataclass(frozen=True, eq=False)
class Lattice:
    """What is known of two laws on the integers."""

    variable: sympy.Symbol
    p: sympy.Expr
    q: sympy.Expr
    runs: tuple[Run, ...]
    notes: tuple[str, ...] = ()

    def loss_at(self, fn, t: int):
        """The loss at t."""
        for run in self.runs:
            if run.first <= t <= run.last and run.loss is not None:
                return run.loss_program(fn, fn.rational(t, 1))
        raise ParameterError("t", t, "an integer to which both P and Q give positive probability")

    def apart(self, fn, side: str):
        """Mass of one law where the other has none; in intervals with what was cut off, which may be there or not."""
        total = fn.rational(0, 1)
        for run in self.runs:
            if run.loss is None:
                total = total + run.total(fn, side)
        rest = self.remainder(fn)
        return total + fn.up_to(rest) if rest else total

    def remainder(self, fn):
        """A bound of the mass beyond the integers that are listed, for tables that keep such bounds; else 0."""
        if not fn.keeps_remainders:
            return mpmath.mpf(0)
        with mpmath.workdps(30):
            return mpmath.fsum(_ends_of(run, fn)[2] for run in self._listed())

    def open_ends(self) -> tuple[bool, bool]:
        """Whether the loss falls, and whether it rises, for ever along some infinite run."""
        falls = rises = False
        for run in self._listed():
            first, last, _ = _ends_of(run, FN)
            for end, inner, far in ((first, first + 1, run.first), (last, last - 1, run.last)):
                if math.isinf(far):
                    outer = _near(run.loss, run.variable, end) > _near(run.loss, run.variable, inner)
                    falls, rises = falls or not outer, rises or bool(outer)
        return falls, rises

    @cached_property
    def spaced(self) -> tuple[sympy.Expr, sympy.Expr] | None:
        """(a, b) if every finite loss is a plus a whole multiple of b > 0, as where losses are a + b t; else None."""
        t = self.variable
        lines = [(run.loss.subs(t, 0), sympy.diff(run.loss, t)) for run in self._listed() if run.loss is not None]
        if not lines or any(slope.has(t) or not start.is_finite for start, slope in lines):
            return None
        start, spacing = lines[0][0], sympy.Abs(lines[0][1])
        steps = [slope for _, slope in lines[1:]] + [other - start for other, _ in lines[1:]]
        steps += [run.loss - start for run in self.runs if run.loss is not None and run.constant]
        return (start, spacing) if all(_multiple(step, spacing) for step in steps) else None

    def _listed(self) -> list[Run]:
        return [run for run in self.runs if run.loss is not None and not run.constant]

    def atoms(self, fn) -> list[tuple]:
        """(loss, p, q) from the largest loss down."""
        if fn.symbolic and any(not run.finite for run in self._listed()):
            raise NoClosedFormError("atoms: the loss takes infinitely many values; see the sum over the integers")
        rows = []
        for run in self.runs:
            if run.loss is None:
                continue
            if run.constant:
                at = value(fn, run.loss)
                rows.append((_near(run.loss, run.variable, 0), (at, run.total(fn, "p"), run.total(fn, "q"))))
                continue
            first, last, _ = _ends_of(run, fn)
            for t in range(first, last + 1):
                index = fn.rational(t, 1)
                row = (run.loss_program(fn, index), run.probability(fn, "p", t), run.probability(fn, "q", t))
                rows.append((_near(run.loss, run.variable, t), row))
        rows.sort(key=lambda row: -row[0])
        return _merged([row for _, row in rows], [near for near, _ in rows])


def _multiple(value: sympy.Expr, spacing: sympy.Expr) -> bool:
    """Whether a value is a whole multiple of the spacing, to 60 digits."""
    return sign(value - sympy.Integer(round(sympy.N(value / spacing, 60))) * spacing) == 0


def _merged(rows: list[tuple], near: list) -> list[tuple]:
    """Rows whose losses agree to 40 digits as one."""
    result: list[tuple] = []
    before = None
    for row, at in zip(rows, near, strict=True):
        if before is not None and abs(at - before) < mpmath.mpf(10) ** -40:
            last = result[-1]
            result[-1] = (last[0], last[1] + row[1], last[2] + row[2])
        else:
            result.append(row)
        before = at
    return result


@lru_cache(maxsize=100_000)
def _near(loss: sympy.Expr, variable: sympy.Symbol, t: int):
    with mpmath.workdps(50):
        return _program(loss, variable)(FN, mpmath.mpf(t))


@lru_cache(maxsize=256)
def _program(loss: sympy.Expr, variable: sympy.Symbol) -> Program:
    return Program(loss, variable)


def _ends_of(run: Run, fn) -> tuple[int, int, mpmath.mpf]:
    """The first and the last integer that are listed, and a bound of the mass beyond."""
    cut = INTERVAL_CUT if fn.keeps_remainders else mpmath.mpf(10) ** (-mpmath.mp.dps - SPARE)
    return _cut_ends(run, cut)


@lru_cache(maxsize=512)
def _cut_ends(run: Run, cut) -> tuple[int, int, mpmath.mpf]:
    with mpmath.workdps(30):
        start = typical(run.first, run.last)
        first, rest = (int(run.first), mpmath.mpf(0)) if math.isfinite(run.first) else _walk(run, start, -1, cut)
        last, more = (int(run.last), mpmath.mpf(0)) if math.isfinite(run.last) else _walk(run, start, 1, cut)
        return first, last, (rest + more) * (1 + mpmath.mpf(10) ** -20)


def _walk(run: Run, start: int, step: int, cut) -> tuple[int, mpmath.mpf]:
    """The first integer from the start outwards beyond which there is less mass than the cut."""
    reach = 1
    while reach <= MOST_INTEGERS:
        beyond = run.beyond(start + step * reach, step)
        if beyond <= cut:
            low, high = reach // 2, reach
            while low + 1 < high:
                middle = (low + high) // 2
                low, high = (low, middle) if run.beyond(start + step * middle, step) <= cut else (middle, high)
            return start + step * high, run.beyond(start + step * high, step)
        reach *= 2
    begin = "The outcomes go down to -inf; if they begin, say where: support=(0, 'inf')."
    raise ParameterError(
        "densities", f"more than {MOST_INTEGERS} integers with mass above {mpmath.nstr(cut, 3)}",
        "laws whose tails fall at least geometrically",
        "" if math.isfinite(run.first) else begin,
    )  # fmt: skip


# --- analysis -----------------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def lattice(p, q, variable: str, lower, upper) -> Lattice:
    """The runs of two laws on the integers of an interval.

    Raises ParameterError for what is no distribution.
    """
    t = variable_symbol(variable, integer=True)
    whole = [to_sympy(density, variable, integer=True) for density in (p, q)]
    first, last = whole_end(lower), whole_end(upper)
    if first > last:
        raise ParameterError("support", f"({first}, {last})", "integers from a lower to an upper end")
    corners = [corner for d in whole for switch in _switches(d) for corner in _zeros(switch, t)]
    cuts = {math.floor(float(corner)) for corner in ordered(corners, "corners")}
    starts = sorted({cut + shift for cut in cuts for shift in (0, 1)} | ({first} if math.isfinite(first) else set()))
    starts = [start for start in starts if first <= start <= last]
    edges = [*([] if math.isfinite(first) else [-math.inf]), *starts, last + 1]
    runs: list[Run] = []
    for left, right in pairwise(edges):
        runs += _runs(whole, t, left, right - 1)
    runs = _joined(runs)
    for run in runs:
        _check_signs(run)
    found = Lattice(t, whole[0], whole[1], tuple(runs), _notes(runs))
    _check_totals(found)
    return found


def _notes(runs: list[Run]) -> tuple[str, ...]:
    return tuple(
        f"the loss {run.loss} takes infinitely many values: tails are sums"
        for run in runs
        if run.loss is not None and not run.constant and not run.finite
    )


def _runs(whole: list[sympy.Expr], t: sympy.Symbol, first, last) -> list[Run]:
    """The run from first to last, integers near its ends where a formula vanishes apart."""
    resolve = _Resolver(t, sympy.Integer(typical(first, last)))
    p, q = (resolve(density) for density in whole)
    single: list[Run] = []
    for _ in range(EDGE):
        if not (math.isfinite(first) and first <= last):
            break
        at = [sympy.sympify(d.subs(t, first)) for d in (p, q)]
        if first != last and all(v != 0 and v.is_finite is not False for v in at):
            break
        single.append(_run(t, first, first, *(sympy.S.Zero if v.is_finite is False else v for v in at)))
        first += 1
    trailing: list[Run] = []
    for _ in range(EDGE):
        if not (math.isfinite(last) and first <= last):
            break
        at = [sympy.sympify(d.subs(t, last)) for d in (p, q)]
        if all(v != 0 and v.is_finite is not False for v in at):
            break
        trailing.insert(0, _run(t, last, last, *(sympy.S.Zero if v.is_finite is False else v for v in at)))
        last -= 1
    middle = [_run(t, first, last, p, q)] if first <= last else []
    return [*single, *middle, *trailing]


def _run(t: sympy.Symbol, first, last, p: sympy.Expr, q: sympy.Expr) -> Run:
    if p == 0 or q == 0:
        return Run(t, first, last, p, q, None)
    if not p.has(t) and not q.has(t):
        loss = sympy.expand_log(sympy.log(sympy.simplify(p / q)), force=True)
        return Run(t, first, last, p, q, loss)
    ratio = simpler(p / q)
    loss = with_loggamma(log_of(ratio, t, sympy.Integer(typical(first, last))))
    loss = sympy.expand(loss, log=False)
    return Run(t, first, last, p, q, loss)


def _joined(runs: list[Run]) -> list[Run]:
    """Neighbouring single integers with mass under one law only, and empty ones, put together."""
    return [run for run in runs if run.p != 0 or run.q != 0]


def _check_signs(run: Run) -> None:
    near = typical(run.first, run.last)
    step = -1 if math.isinf(run.first) and math.isfinite(run.last) else 1
    for i in range(EDGE):
        t = near + step * i
        if not run.first <= t <= run.last:
            break
        for name, density in (("P", run.p), ("Q", run.q)):
            at = sympy.sympify(density.subs(run.variable, t)).evalf(20)
            if not at.is_real or at < 0:
                raise ParameterError(name, f"{at.evalf(6)} at {run.variable} = {t}", "nowhere negative")


def _check_totals(found: Lattice) -> None:
    with mpmath.workdps(30):
        for name, side in (("P", "p"), ("Q", "q")):
            total = mpmath.mpf(0)
            for run in found.runs:
                if (run.p if side == "p" else run.q) != 0:
                    total += _sum(run, side)
            if abs(total - 1) > mpmath.mpf(10) ** -25:
                raise ParameterError(
                    name, f"total mass {mpmath.nstr(total, 20)}", "a distribution: it must sum to 1",
                    "It was summed over the integers of the support.",
                )  # fmt: skip


def _sum(run: Run, side: str):
    try:
        return run.total(FN, side)
    except NoClosedFormError:
        first, last, _ = _cut_ends(run, mpmath.mpf(10) ** -40)
    return mpmath.fsum(run.probability(FN, side, t) for t in range(first, last + 1))
