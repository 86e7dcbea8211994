"""The public face of the fourier route: delta, log_delta, epsilon, curve."""

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from ..core.composition import Composition
from ..core.directions import Direction, parse_direction, single_directions
from ..core.errors import ParameterError, UnboundSymbolError
from ..core.parameters import (
    Parameter,
    approximate,
    checked,
    count,
    evaluate,
    positive,
    privacy_parameter,
    require_numbers,
    symbols_of,
)
from ..core.results import Bracket, Curve
from .accountant import Found, OneDirection, Point, combine
from .approximations import approximate_curve, approximate_epsilon
from .choices import DEFAULT_GRID, GRIDS, named_grid
from .costs import Cost, combined, cost_of
from .intervals import IntervalTable
from .inversion import combine_ranges, epsilon_ranges, question_for
from .planning import DEFAULT_MAX_MEMORY, DEFAULT_MAX_SIZE, Settings
from .shaping import shaped
from .split_planning import plan_for


def delta(
    composition,
    eps,
    direction: str = "both",
    *,
    rtol: float = 1e-3,
    dx=None,
    n: int | None = None,
    tilt=None,
    max_size: int = DEFAULT_MAX_SIZE,
    max_memory=DEFAULT_MAX_MEMORY,
    grid: str = DEFAULT_GRID,
) -> Bracket:
    """Strict lower and upper bounds of the tight delta(eps), rounding included.

    composition: a mechanism or a sum of multiples of mechanisms. eps: any real number in nats, or inf.
    direction: "forward" ("remove"), "backward" ("add"), or "both", the max of the two compositions.
    rtol: the relative width asked for; grid step `dx`, transform size `n` and `tilt` are chosen for it, or fixed by
    hand. max_size caps the sizes; a bracket that misses rtol comes back wider, with `reached` False and a note.
    max_memory: in bytes; what would need more (see `cost`) is refused before it is begun.
    grid: "split-merge" (error of second order in dx), "round" or "minmax" (first order, as in the paper), or "point".

    Returns a Bracket with `.lower`, `.upper`, `.budget`; for grid "point", which bounds nothing, an Approximation.
    Raises ParameterError for values out of range, UnboundSymbolError if parameters are symbols, MemoryLimitError.
    Source: Koskela et al. (2021), Algorithm 1; Doroshenko et al. (2022) for the upper grid; tilting, lower grid and
    rounding bounds are dplab's own.

    >>> from dplab import Gaussian, PoissonSubsampled
    >>> bracket = delta(10_000 * PoissonSubsampled(Gaussian(sigma=4), q=0.01), eps=1)
    >>> bracket.lower < 4.2434842524821632e-06 < bracket.upper
    True
    """
    return _curve(composition, [eps], direction, rtol, _settings(dx, n, tilt, max_size, max_memory, grid), log=False)[0]


def log_delta(
    composition,
    eps,
    direction: str = "both",
    *,
    rtol: float = 1e-3,
    dx=None,
    n: int | None = None,
    tilt=None,
    max_size: int = DEFAULT_MAX_SIZE,
    max_memory=DEFAULT_MAX_MEMORY,
    grid: str = DEFAULT_GRID,
) -> Bracket:
    """Strict bounds of the natural logarithm of delta(eps), also where delta is below the smallest float.

    Down to about -11,000 where the machine's long double has a wider exponent than its float64 (x86 Linux), to about
    -600 elsewhere; below that the bracket is wide, and says so. Arguments and errors as for `delta`; the width is about
    the relative width of delta.
    """
    return _curve(composition, [eps], direction, rtol, _settings(dx, n, tilt, max_size, max_memory, grid), log=True)[0]


def curve(
    composition,
    epss: Iterable,
    direction: str = "both",
    *,
    rtol: float = 1e-3,
    dx=None,
    n: int | None = None,
    tilt=None,
    max_size: int = DEFAULT_MAX_SIZE,
    max_memory=DEFAULT_MAX_MEMORY,
    grid: str = DEFAULT_GRID,
) -> Curve:
    """Strict bounds of delta at several eps, sharing transforms between neighbours.

    Both sides are non-increasing, and convex in e^eps (up to the last digits of a float), as delta is; chords of the
    neighbours' bounds enter for that. Arguments and errors as for `delta`. Returns a Curve of Brackets in the order of
    `epss`.
    """
    epss = list(epss)
    settings = _settings(dx, n, tilt, max_size, max_memory, grid)
    values = _curve(composition, epss, direction, rtol, settings, log=False)
    if GRIDS[settings.grid].strict:
        values = shaped([_point(eps) for eps in epss], values)
    return Curve(tuple(approximate(privacy_parameter(e)) for e in epss), tuple(values))


def epsilon(
    composition,
    delta,
    direction: str = "both",
    *,
    atol: float = 1e-4,
    dx=None,
    n: int | None = None,
    tilt=None,
    max_size: int = DEFAULT_MAX_SIZE,
    max_memory=DEFAULT_MAX_MEMORY,
    grid: str = DEFAULT_GRID,
) -> Bracket:
    """Strict bounds of eps(delta), the smallest eps >= 0 for which the composition is (eps, delta)-DP.

    delta: in [0, 1]. atol: the width asked for, in nats. Other arguments and errors as for `delta`.
    eps = 0 if delta >= delta(0) (a convention), inf if delta is below the mass at infinity; the note says so.

    >>> from dplab import Gaussian
    >>> bracket = epsilon(1000 * Gaussian(sigma=50), delta="1e-5")
    >>> bracket.width < 1e-4
    True
    """
    composition = _checked(composition)
    settings = _settings(dx, n, tilt, max_size, max_memory, grid)
    wanted = checked(delta, "delta", "in [0, 1]", lambda v: 0 <= v <= 1)
    require_numbers("dplab.fourier", wanted)
    tolerance = _positive(atol, "atol")
    target, relative_error = approximate(wanted), 0.0
    if not (isinstance(wanted, Fraction) and Fraction(target) == wanted):
        relative_error = 2.0**-52
    names = single_directions(direction, composition.symmetric)
    ways = {name: OneDirection(composition, name == "backward") for name in names}
    if not GRIDS[settings.grid].strict:
        answer: Any = approximate_epsilon(ways, target, tolerance, settings, parse_direction(direction))
        return answer
    ranges = epsilon_ranges(ways, target, relative_error, tolerance, settings)
    return combine_ranges(ranges, tolerance, parse_direction(direction))


def cost(
    composition,
    eps=None,
    delta=None,
    direction: str = "both",
    *,
    rtol: float = 1e-3,
    atol: float = 1e-4,
    dx=None,
    n: int | None = None,
    tilt=None,
    max_size: int = DEFAULT_MAX_SIZE,
    grid: str = DEFAULT_GRID,
) -> Cost:
    """What `delta` at this eps, or `epsilon` at this delta, will need: memory in bytes and CPU seconds, about.

    Give eps or delta, not both; the other arguments as there. Nothing large is allocated. Second tries, which some
    questions need, are not counted; memory is right within a factor of two, time on another machine is what it is.
    Raises as `delta` does.

    >>> from dplab import Gaussian, PoissonSubsampled
    >>> needs = cost(10_000 * PoissonSubsampled(Gaussian(sigma=4), q=0.01), eps=1, rtol=1e-6)
    >>> 3e7 < needs.memory < 1.4e8
    True
    """
    composition = _checked(composition)
    if (eps is None) == (delta is None):
        raise ParameterError("eps", eps, "given if delta is not, and not given if it is")
    settings = _settings(dx, n, tilt, max_size, DEFAULT_MAX_MEMORY, grid)
    point = None if eps is None else _point(eps)
    target = float(approximate(checked(delta, "delta", "in [0, 1]", lambda v: 0 <= v <= 1))) if eps is None else 0.0
    relative, absolute = (_positive(v, k) for v, k in ((rtol, "rtol"), (atol, "atol")))
    found = {}
    for name in single_directions(direction, composition.symmetric):
        way = OneDirection(composition, name == "backward")
        if point is None:
            asked = question_for(way, target, absolute, settings)
        else:
            asked = None if way.without_grid(point, settings) else (*way.look(point.eps, settings), relative)
        if asked is None:
            found[name] = Cost(0, 0.0)
        else:
            found[name] = cost_of(way.parts, asked[0], plan_for(way.parts, *asked, settings))
    return combined(found.values())


def _curve(composition, epss, direction: str, rtol, settings: Settings, log: bool) -> list[Any]:
    composition = _checked(composition)
    points = [_point(eps) for eps in epss]
    tolerance = _positive(rtol, "rtol")
    names = single_directions(direction, composition.symmetric)
    ways = {name: OneDirection(composition, name == "backward") for name in names}
    asked = parse_direction(direction)
    if not GRIDS[settings.grid].strict:
        return approximate_curve(ways, points, tolerance, settings, asked, log)
    found = _strongest_first(ways, points, tolerance, settings)
    return [
        combine({name: values[i] for name, values in found.items()}, point, tolerance, asked, log)
        for i, point in enumerate(points)
    ]


def _strongest_first(
    ways: dict[Direction, OneDirection], points: list[Point], rtol: float, settings: Settings
) -> dict[Direction, list[Found]]:
    """Both directions, the one that looks larger first: the other need only be known to be smaller."""
    if len(ways) == 1:
        return {name: way.at(points, [rtol] * len(points), settings) for name, way in ways.items()}
    guesses = {name: [way.log_estimate(point) for point in points] for name, way in ways.items()}
    first, second = sorted(ways, key=lambda name: -sum(guesses[name]))
    found = {first: ways[first].at(points, [rtol] * len(points), settings)}
    rtols = []
    for known, guess in zip(found[first], guesses[second], strict=True):
        room = known.lower.log_bound - guess
        rtols.append(rtol if room < rtol or math.isnan(room) else max(rtol, min(0.5 * math.expm1(min(room, 1.0)), 0.5)))
    found[second] = ways[second].at(points, rtols, settings)
    again = [
        i
        for i, (known, weak) in enumerate(zip(found[first], found[second], strict=True))
        if weak.upper.log_bound > known.lower.log_bound and rtols[i] > rtol
    ]
    if again:
        better = ways[second].at([points[i] for i in again], [rtol] * len(again), settings)
        for i, value in zip(again, better, strict=True):
            found[second][i] = value
    return found


def _checked(composition) -> Composition:
    composition = Composition.of(composition)
    if composition.free_symbols:
        raise UnboundSymbolError(composition.free_symbols, "dplab.fourier")
    return composition.reduced()


def _point(eps) -> Point:
    parameter: Parameter | float = privacy_parameter(eps)
    if isinstance(parameter, float):
        return Point(parameter)
    require_numbers("dplab.fourier", parameter)
    enclosure = evaluate(parameter, IntervalTable())
    value = float(enclosure.mid)
    return Point(value, max(float(enclosure.hi) - value, value - float(enclosure.lo)))


def _positive(value, name: str) -> float:
    """A number > 0, about; a symbol's name is none."""
    parameter = positive(value, name)
    if symbols_of(parameter):
        raise ParameterError(name, value, "a number > 0")
    return float(approximate(parameter))


def _settings(dx, n, tilt, max_size, max_memory, grid) -> Settings:
    named_grid(grid)
    if n is not None:
        n = count(n, "n")
        if n < 8 or n % 2:
            raise ParameterError("n", n, "an even integer >= 8")
    max_size = count(max_size, "max_size")
    if max_size < 64:
        raise ParameterError("max_size", max_size, ">= 64")
    if n is not None and n > max_size:
        raise ParameterError("n", n, f"at most max_size = {max_size}")
    step = None if dx is None else _positive(dx, "dx")
    theta = None if tilt is None else _positive(tilt, "tilt")
    if step is not None and not math.isfinite(step):
        raise ParameterError("dx", dx, "finite")
    memory = _positive(max_memory, "max_memory")
    return Settings(step, n, theta, max_size, grid, memory)
