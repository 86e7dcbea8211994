"""Strict inverses in interval arithmetic: where a loss is monotone, and which outcome has a given loss.

Floats guess, intervals prove: `monotone_gaps` covers a piece by cells on which the enclosure of the slope has one sign,
and returns what is left (tiny cells at turning points, the far tails); `solve` encloses t(x) by two floats at which the
enclosure of the loss lies certainly below and above x. Given the slope's sign between them, t(x) lies there.
"""

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from .intervals import Interval

LADDER = 2.0 ** np.arange(-3, 41, 0.5)
FIRST_CELLS = 64
MOST_CELLS = 200_000
ROUNDS = 48
HOPELESS = 6
"""After so many halvings a cell on which the slope is still unbounded (it under- or overflows) is given up."""

GRID = 1024
SECANTS = 40


def monotone_gaps(slope: Callable, fn, low, high, rising: bool) -> list[Interval]:
    """Intervals of t outside which the slope certainly has its sign between low and high (Interval or infinite)."""
    ends = tuple((float(_lo(end)), float(_hi(end))) for end in (low, high))
    return list(_gaps(slope, fn, *ends, rising))


@lru_cache(maxsize=256)
def _gaps(slope, fn, low: tuple, high: tuple, rising: bool) -> tuple[Interval, ...]:
    edges = _edges(low[0], high[1])
    left, right = edges[:-1], edges[1:]
    open_left, open_right = [], []
    for round_ in range(ROUNDS):
        found = slope(fn, Interval(left, right))
        sure = found.lo > 0 if rising else found.hi < 0
        left, right, hopeless = left[~sure], right[~sure], ~np.isfinite(found.hi - found.lo)[~sure]
        middle = 0.5 * left + 0.5 * right
        small = (middle <= left) | (middle >= right) | (round_ == ROUNDS - 1) | ~np.isfinite(right - left)
        small |= hopeless & (round_ >= HOPELESS)
        open_left.append(left[small])
        open_right.append(right[small])
        left, right, middle = left[~small], right[~small], middle[~small]
        if not len(left):
            break
        if 2 * len(left) > MOST_CELLS:
            open_left.append(left)
            open_right.append(right)
            break
        left, right = np.concatenate([left, middle]), np.concatenate([middle, right])
    starts, stops = np.concatenate(open_left), np.concatenate(open_right)
    order = np.argsort(starts)
    gaps: list[list[float]] = []
    for start, stop in zip(starts[order], stops[order], strict=True):
        if gaps and start <= gaps[-1][1]:
            gaps[-1][1] = max(gaps[-1][1], float(stop))
        else:
            gaps.append([float(start), float(stop)])
    return tuple(Interval(start, stop) for start, stop in gaps)


def _edges(low: float, high: float) -> np.ndarray:
    if np.isfinite(low) and np.isfinite(high):
        return np.linspace(low, high, FIRST_CELLS + 1)
    if np.isfinite(high):
        return np.concatenate([[-np.inf], (high - LADDER)[::-1], [high]])
    if np.isfinite(low):
        return np.concatenate([[low], low + LADDER, [np.inf]])
    return np.concatenate([[-np.inf], -LADDER[::-1], [0.0], LADDER, [np.inf]])


def solve(function: Callable, x: Interval, low, high, rising: bool) -> Interval:
    """Enclosures of the t in [low, high] with function(t) = x, for a function that is monotone there.

    Where a proof fails the enclosure is wide, up to [low, high] itself.
    """
    shape = np.shape(np.asarray(x.lo))
    target = Interval(np.atleast_1d(np.asarray(x.lo, dtype=float)), np.atleast_1d(np.asarray(x.hi, dtype=float)))
    if not rising:
        target = -target

    def loss(t: np.ndarray) -> Interval:
        value = function(Interval(t, t))
        value = value if rising else -value
        return Interval(np.where(np.isnan(value.lo), -np.inf, value.lo), np.where(np.isnan(value.hi), np.inf, value.hi))

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
