"""Whether two expressions are densities: nowhere negative, each summing to 1, on supports that fit."""

import mpmath
import sympy

from ...core.errors import ParameterError
from ...core.functions import MpmathTable
from .cells import Cell, PointMass
from .masses import Mass
from .programs import Program

SAMPLES = 24
LARGE = 1000
CLOSE = mpmath.mpf(10) ** -25


def check_densities(cells: list[Cell], masses: list[tuple[Mass, Mass]], points: tuple, t: sympy.Symbol) -> None:
    """Raise ParameterError that says what was found and where, if P or Q is no density."""
    for side, name in ((0, "P"), (1, "Q")):
        densities = [(cell.q if side else cell.p) for cell in cells]
        _check_sign(name, densities, cells, points[side], t)
        _check_total(name, densities, cells, [pair[side] for pair in masses], points[side], t)


def _check_sign(name: str, densities: list, cells: list[Cell], points: list[PointMass], t: sympy.Symbol) -> None:
    for point in points:
        if point.mass.is_negative or (not point.mass.free_symbols and point.mass.evalf(20) < 0):
            raise ParameterError(name, f"mass {point.mass} at {t} = {point.at}", "nowhere negative")
    fn = MpmathTable()
    for density, cell in zip(densities, cells, strict=True):
        if density == 0:
            continue
        values = _values_of_parameters(density, cell)
        program = Program(density.subs(values), t)
        with mpmath.workdps(20):
            for at in _samples(cell, values):
                shown = mpmath.nstr(at, 6)
                try:
                    found = program(fn, at)
                except (ArithmeticError, ValueError):
                    found = mpmath.nan
                if isinstance(found, mpmath.mpc) or not mpmath.isfinite(found):
                    raise ParameterError(name, f"{found} at {t} = {shown}", "a finite real number everywhere")
                if found < 0:
                    raise ParameterError(
                        name, f"{mpmath.nstr(found, 6)} at {t} = {shown}", "nowhere negative",
                        "A density is >= 0 on the whole support.",
                    )  # fmt: skip


def _values_of_parameters(density: sympy.Expr, cell: Cell) -> dict:
    """1 for every parameter: the order of the corners is the same for all positive values."""
    symbols = density.free_symbols | cell.lower.free_symbols | cell.upper.free_symbols
    return {symbol: sympy.S.One for symbol in symbols if symbol.is_positive}


def _samples(cell: Cell, values: dict) -> list:
    lower, upper, sample = (end.subs(values) for end in (cell.lower, cell.upper, cell.sample))
    if lower.is_infinite or upper.is_infinite:
        middle = _number(sample)
        sides = ([-1] if lower.is_infinite else []) + ([1] if upper.is_infinite else [])
        near = [0] if len(sides) == 2 else [-mpmath.mpf(i) / 10 for i in range(1, 10)]
        steps = [mpmath.mpf(5) / 4] * SAMPLES
        reaches = [mpmath.mpf(1) / 8 * step**i for i, step in enumerate(steps)]
        if len(sides) == 1:
            near = [-side * n for side in sides for n in (abs(v) for v in near)]
        return [middle + mpmath.mpf(v) for v in near] + [middle + side * r for side in sides for r in reaches]
    low, high = _number(lower), _number(upper)
    return [low + (high - low) * (2 * i + 1) / (4 * SAMPLES) for i in range(2 * SAMPLES)]


def _number(value: sympy.Expr):
    return mpmath.mpf(str(value.evalf(30)))


def _check_total(
    name: str, densities: list, cells: list[Cell], masses: list[Mass], points: list[PointMass], t: sympy.Symbol
) -> None:
    total, rest = sympy.Add(*(point.mass for point in points)), mpmath.mpf(0)
    fn = MpmathTable()
    for density, cell, mass in zip(densities, cells, masses, strict=True):
        if mass.total is not None:
            total += mass.total
            continue
        if density.free_symbols - {t}:
            raise ParameterError(
                name, str(density), f"a formula in {t} alone",
                f"{_letters(name, density, t)}. With parameters it would need a closed antiderivative, and none was "
                "found.",
            )  # fmt: skip
        with mpmath.workdps(30):
            rest += _integral(fn, density, t, cell)
    if total.free_symbols:
        difference = sympy.simplify(total - 1)
        if difference != 0:
            raise ParameterError(
                name, f"total mass {sympy.simplify(total)}", "a density: it must sum to 1 whatever its letters are",
                f"{_letters(name, total, t)}: a letter written differently, a factor left out?",
            )  # fmt: skip
        return
    with mpmath.workdps(30):
        value = Program(total, t)(fn, mpmath.mpf(0)) + rest
        if abs(value - 1) > CLOSE:
            shown = mpmath.nstr(value, 20) if abs(value) < LARGE else "infinite, or far above 1"
            raise ParameterError(
                name, f"total mass {shown}", "a density: it must sum to 1",
                "Divide it by its integral over the support, exactly: a rounded constant will not do. " + _where(cells),
            )  # fmt: skip


def _integral(fn: MpmathTable, density: sympy.Expr, t: sympy.Symbol, cell: Cell):
    """The mass of a cell, a finite one from either end in the distance from it: a density may be infinite there."""
    if cell.lower.is_infinite or cell.upper.is_infinite:
        program = Program(density, t)
        return fn.integral(lambda at: program(fn, at), _limit(cell.lower), _limit(cell.upper))
    half, total = (cell.upper - cell.lower) / 2, mpmath.mpf(0)
    for away in (density.subs(t, cell.lower + t), density.subs(t, cell.upper - t)):
        program = Program(away, t)
        total += fn.integral(lambda at, program=program: program(fn, at), mpmath.mpf(0), _limit(half))
    return total


def _letters(name: str, formula: sympy.Expr, t: sympy.Symbol) -> str:
    """Which letters a formula has beside the variable, in words."""
    names = sorted(symbol.name for symbol in formula.free_symbols - {t})
    listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    many, are = ("s", "are positive parameters") if len(names) > 1 else ("", "is a positive parameter")
    return f"Beside the variable {t}, {name} has the letter{many} {listed}, which {are}"


def _where(cells: list[Cell]) -> str:
    found = f"It was integrated from {cells[0].lower} to {cells[-1].upper}"
    if cells[0].lower.is_infinite or cells[-1].upper.is_infinite:
        return f"{found}; if the outcomes are fewer, give their ends, such as support=(0, 'inf')."
    return f"{found}."


def _limit(end: sympy.Expr):
    if end.is_infinite:
        return mpmath.inf if end is sympy.oo else -mpmath.inf
    return _number(end)
