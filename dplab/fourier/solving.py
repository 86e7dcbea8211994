"""Strict inverses in interval arithmetic: where a loss is monotone, and which outcome has a given loss.

Floats guess, intervals prove: `certified` covers a piece by cells on which the enclosure of the slope has one sign, and
returns what is left (tiny cells at turning points, the far tails) with the range of the function; `solve` encloses t(x)
by two floats at which the enclosure of the loss lies certainly below and above x. Given the slope's sign between them,
t(x) lies there.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from ..core.certified import Certified, Gap
from .intervals import Interval

LADDER = 2.0 ** np.arange(-1070, 1000, 0.5)
FIRST_CELLS = 64
MOST_OF_A_FAMILY = 256
"""So many undecided parts of one first cell are enough: something is wrong with the whole of it."""
ROUNDS = 60
UNKNOWN = Interval(-np.inf, np.inf)
HOPELESS = 6
"""After so many halvings a cell on which the slope is still unbounded (it under- or overflows) is given up."""

GRID = 1024
SECANTS = 40


def certified(function: Callable, slope: Callable, ends: tuple, values: tuple, rising: bool) -> Certified:
    """The gaps of a function on the piece between two ends, and its range there, given what the range should be.

    `ends`, `values` are numbers, Intervals or infinite; `function` and `slope` map an Interval to one.
    """
    outer = float(_lo(ends[0])), float(_hi(ends[1]))
    cells = _undecided(slope, *outer, rising)
    reach = _extended(function(cells))
    merged = _closed(function, cells, *outer, rising)
    gaps = [gap for left, right in merged for gap in _named(function, cells, reach, left, right)]
    rims = [rim for ends_of_gap in merged for rim in ends_of_gap if outer[0] < rim < outer[1]]
    met = [_extended(function(Interval.exactly(rim))) for rim in rims]
    met += [gap.values for gap in gaps if np.isfinite(gap.values.hi - gap.values.lo)]
    low, high = (Interval(_lo(value), _hi(value)) for value in values)
    least = min(float(value.lo) for value in (low, high, *met))
    most = max(float(value.hi) for value in (low, high, *met))
    return Certified(tuple(gaps), Interval(least, max(least, low.hi)), Interval(min(most, high.lo), most))


def _extended(value: Interval) -> Interval:
    """Unbounded where it is no number."""
    return Interval(np.where(np.isnan(value.lo), -np.inf, value.lo), np.where(np.isnan(value.hi), np.inf, value.hi))


def _undecided(slope: Callable, low: float, high: float, rising: bool) -> Interval:
    """Cells outside which the slope certainly has its sign, from left to right."""
    edges = _edges(low, high)
    left, right, family = edges[:-1], edges[1:], np.arange(len(edges) - 1)
    kept_left, kept_right = [], []
    for round_ in range(ROUNDS):
        found = slope(Interval(left, right))
        low_, high_ = (np.broadcast_to(end, left.shape) for end in (found.lo, found.hi))  # it may be constant
        open_ = ~(low_ > 0 if rising else high_ < 0)
        left, right, family = left[open_], right[open_], family[open_]
        middle = np.where(np.isfinite(left) & np.isfinite(right), 0.5 * left + 0.5 * right, np.inf)
        given_up = (middle <= left) | (middle >= right) | (round_ == ROUNDS - 1)
        given_up |= ~np.isfinite(high_ - low_)[open_] & (round_ >= HOPELESS)
        given_up |= np.bincount(family, minlength=1)[family] > MOST_OF_A_FAMILY
        kept_left.append(left[given_up])
        kept_right.append(right[given_up])
        left, right, middle, family = (values[~given_up] for values in (left, right, middle, family))
        if not len(left):
            break
        left, right = np.concatenate([left, middle]), np.concatenate([middle, right])
        family = np.concatenate([family, family])
    starts, stops = np.concatenate(kept_left), np.concatenate(kept_right)
    order = np.argsort(starts)
    return Interval(starts[order], stops[order])


def _edges(low: float, high: float) -> np.ndarray:
    """Ends of the first cells: even ones, and two an octave from each end, as far as floats go."""
    if np.isfinite(low) and np.isfinite(high):
        near = LADDER[high - low > LADDER]
        found = [np.linspace(low, high, FIRST_CELLS + 1), low + near, high - near]
    elif np.isfinite(high):
        found = [np.array([-np.inf, high]), high - LADDER]
    elif np.isfinite(low):
        found = [np.array([low, np.inf]), low + LADDER]
    else:
        found = [np.array([-np.inf, 0.0, np.inf]), LADDER, -LADDER]
    edges = np.unique(np.concatenate(found))
    return edges[(edges >= low) & (edges <= high)]


def _closed(function: Callable, cells: Interval, low: float, high: float, rising: bool) -> list[tuple[float, float]]:
    """The cells grown together and widened until the function is certainly further on at the right rim of each than at
    its left one."""
    wider: list[tuple[float, float]] = []
    for left, right in _joined(cells):
        while True:
            while wider and left <= wider[-1][1]:  # they have grown together
                before = wider.pop()
                left, right = min(left, before[0]), max(right, before[1])
            if left <= low or right >= high:
                break
            at_left, at_right = (function(Interval.exactly(rim)) for rim in (left, right))
            if (at_right.lo >= at_left.hi) if rising else (at_right.hi <= at_left.lo):
                break
            step = max(right - left, 4 * np.spacing(max(abs(left), abs(right))))
            left, right = max(low, left - step), min(high, right + step)
        wider.append((left, right))
    return wider


def _joined(cells: Interval) -> Iterator[tuple[float, float]]:
    """Neighbouring cells as one."""
    if not len(cells.lo):
        return
    starts = np.concatenate([[True], cells.lo[1:] > np.maximum.accumulate(cells.hi)[:-1]])
    first = np.nonzero(starts)[0]
    yield from zip(cells.lo[first].tolist(), np.maximum.reduceat(cells.hi, first).tolist(), strict=True)


def _named(function: Callable, cells: Interval, reach: Interval, left: float, right: float) -> list[Gap]:
    """A gap with the values that the function takes in it; two where they are known on one side only."""
    inside = (cells.lo >= left) & (cells.hi <= right)
    low, high, starts, stops = reach.lo[inside], reach.hi[inside], cells.lo[inside], cells.hi[inside]
    rims = [rim for rim, cell in ((left, starts[0]), (right, np.max(stops))) if rim != cell]  # widened up to there
    met = [_extended(function(Interval.exactly(rim))) for rim in rims]
    known = np.isfinite(high - low)

    def gap(start: float, stop: float) -> Gap:
        least = min([*low[known], *(float(value.lo) for value in met)])
        most = max([*high[known], *(float(value.hi) for value in met)])
        return Gap(Interval(start, stop), Interval(least, most))

    count = int(known.sum())
    if known.all():
        return [gap(left, right)]
    if count and known[:count].all():
        cut = float(stops[count - 1])  # from there to the next cell the function may go anywhere
        return [gap(left, cut), Gap(Interval(cut, right), UNKNOWN)]
    if count and known[-count:].all():
        cut = float(starts[-count])
        return [Gap(Interval(left, cut), UNKNOWN), gap(cut, right)]
    return [Gap(Interval(left, right), UNKNOWN)]


def solve(function: Callable, x: Interval, low, high, rising: bool, gaps: Sequence[Interval] = ()) -> Interval:
    """Enclosures of the t in [low, high] with function(t) = x, for a function that is monotone there outside the gaps.

    Where a proof fails the enclosure is wide, up to [low, high] itself.
    """
    function = _enveloped(function, gaps)
    shape = np.shape(np.asarray(x.lo))
    target = Interval(np.atleast_1d(np.asarray(x.lo, dtype=float)), np.atleast_1d(np.asarray(x.hi, dtype=float)))
    if not rising:
        target = -target

    def loss(t: np.ndarray) -> Interval:
        value = function(Interval(t, t))
        return _extended(value if rising else -value)

    grid = _grid(float(_lo(low)), float(_hi(high)))
    at = loss(grid)
    sure_below = np.maximum.accumulate(np.where(np.isfinite(at.hi), at.hi, -np.inf))
    below = np.searchsorted(sure_below, target.lo, side="right") - 1
    below = np.searchsorted(sure_below, sure_below[np.maximum(below, 0)], side="left")  # where it was reached
    good = at.hi[below] <= target.lo
    lower = np.where(good, grid[below], _lo(low))
    sure_above = np.minimum.accumulate(np.where(np.isfinite(at.lo), at.lo, np.inf)[::-1])[::-1]
    above = np.searchsorted(sure_above, target.hi, side="left")
    above = np.minimum(above, len(grid) - 1)
    above = np.searchsorted(sure_above, sure_above[above], side="right") - 1
    good = at.lo[above] >= target.hi
    upper = np.where(good, grid[above], _hi(high))
    lower, upper = _narrowed(loss, target, lower, upper)
    return Interval(lower.reshape(shape), upper.reshape(shape))


def _enveloped(function: Callable, gaps: Sequence[Interval]) -> Callable:
    """The function, in a gap all values from one of its rims to the other: what is proved of these holds for all points
    outside the gap on that side."""
    if not gaps:
        return function
    rims = [[function(Interval.exactly(rim)) for rim in (gap.lo, gap.hi)] for gap in gaps]

    def enveloped(t: Interval) -> Interval:
        value = function(t)
        lo, hi = value.lo, value.hi
        for gap, (left, right) in zip(gaps, rims, strict=True):
            within = (t.hi > gap.lo) & (t.lo < gap.hi)
            lo = np.where(within, np.minimum(left.lo, right.lo), lo)
            hi = np.where(within, np.maximum(left.hi, right.hi), hi)
        return Interval(lo, hi)

    return enveloped


def _grid(low: float, high: float) -> np.ndarray:
    """Points of the piece, as dense near its ends as in the middle."""
    if np.isfinite(low) and np.isfinite(high):
        return low + (high - low) * (0.5 - 0.5 * np.cos(np.linspace(0, np.pi, GRID)))
    steps = np.concatenate([[0.0], 2.0 ** np.linspace(-40, 40, GRID)])
    if np.isfinite(high):
        return (high - steps)[::-1]
    if np.isfinite(low):
        return low + steps
    return np.concatenate([-steps[:0:-1], steps])


def _narrowed(loss: Callable, target: Interval, lower: np.ndarray, upper: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The enclosures, narrowed to a few ulps around a guess where the proof succeeds."""
    lower, upper = lower.astype(float), upper.astype(float)
    todo = np.isfinite(lower) & np.isfinite(upper)
    guess = _guess(loss, target.mid[todo], lower[todo], upper[todo])
    a, b = lower[todo], upper[todo]
    aim = target[todo]
    width = 4 * np.spacing(np.maximum(np.abs(guess), 1e-300))
    open_below, open_above = np.ones(len(guess), bool), np.ones(len(guess), bool)
    for _ in range(24):
        if not (open_below.any() or open_above.any()):
            break
        for side, is_open in ((-1, open_below), (1, open_above)):
            index = np.nonzero(is_open)[0]
            if not len(index):
                continue
            trial = np.clip(guess[index] + side * width[index], a[index], b[index])
            at = loss(trial)
            proved = at.hi <= aim.lo[index] if side < 0 else at.lo >= aim.hi[index]
            proved |= trial == (a[index] if side < 0 else b[index])
            done = index[proved]
            if side < 0:
                a[done] = trial[proved]
            else:
                b[done] = trial[proved]
            is_open[done] = False
        width = 4 * width
    lower[todo], upper[todo] = a, b
    return lower, upper


def _guess(loss: Callable, x: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Roots in plain floats: the Illinois rule with bisections in between."""
    left, right = a.copy(), b.copy()
    at_left, at_right = loss(left).mid - x, loss(right).mid - x
    guess = 0.5 * (left + right)
    side = np.zeros(len(x))
    before = np.full(len(x), np.inf)
    for step in range(SECANTS):
        with np.errstate(all="ignore"):
            secant = (left * at_right - right * at_left) / (at_right - at_left)
        middle = 0.5 * (left + right)
        use = np.isfinite(secant) & (secant > left) & (secant < right) & (step % 5 != 4)
        guess = np.where(use, secant, middle)
        near = 2 * np.spacing(np.maximum(np.abs(guess), 1e-300))
        if np.all((right - left <= 2 * near) | (np.abs(guess - before) <= near)):
            break
        before = guess
        value = loss(guess).mid - x
        up = value < 0
        at_right = np.where(up, np.where(side < 0, 0.5 * at_right, at_right), value)
        at_left = np.where(up, value, np.where(side > 0, 0.5 * at_left, at_left))
        left, right = np.where(up, guess, left), np.where(up, right, guess)
        side = np.where(up, -1.0, 1.0)
    return guess


def _lo(end) -> float:
    return float(end.lo) if isinstance(end, Interval) else float(end)


def _hi(end) -> float:
    return float(end.hi) if isinstance(end, Interval) else float(end)
