"""The smallest and the largest value of a PLD's density on intervals, and where it turns: strict, by its derivative.

Where the enclosed derivative has one sign on an interval, the extremes lie at its ends. The few intervals where it has
not (around stationary points, and where the enclosure is too wide to tell) are cut into pieces, and what is left in
the end is enclosed as it stands. Nothing is assumed about how often omega turns: omega of the subsampled Gaussian has
one stationary point for sigma > 1/sqrt(2), and three at sigma = .3, q = .25.
"""

from dataclasses import dataclass

import numpy as np

from ..core.errors import NoEnclosureError
from ..core.pld import PLD
from .duals import Dual, DualTable
from .intervals import Interval
from .onestep import FN
from .rounding import down, up

DN = DualTable()
_PARTS, _ROUNDS = 8, 4
_NEGLIGIBLE = 1e-290  # a density below it is not worth cutting for
_MOST = 2**15  # pieces in all


@dataclass(frozen=True)
class Extremes:
    """Bounds of omega on intervals, one a row: `least` <= omega <= `greatest`, tight where `turns` is False.

    `greatest` is inf where no bound is known.
    """

    least: np.ndarray
    greatest: np.ndarray
    turns: np.ndarray


def density_extremes(pld: PLD, left: np.ndarray, right: np.ndarray) -> Extremes:
    """Bounds of the density of the continuous part on [left, right], inside its support (up to rounding)."""
    least, greatest, sign = _at_once(pld, left, right)
    turns = sign == 0
    owner = np.nonzero(turns & (greatest > _NEGLIGIBLE))[0]
    lower, upper, owners = left[owner], right[owner], owner
    settled: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    for round_ in range(_ROUNDS):
        if not len(owners) or len(owners) * _PARTS > _MOST:
            break
        edges = lower[:, None] + (upper - lower)[:, None] * np.linspace(0.0, 1.0, _PARTS + 1)
        edges[:, -1] = upper
        lower, upper = edges[:, :-1].ravel(), edges[:, 1:].ravel()
        owners = np.repeat(owners, _PARTS)
        low, high, sign = _at_once(pld, lower, upper)
        again = (sign == 0) & (high > _NEGLIGIBLE) & (round_ < _ROUNDS - 1)
        again &= len(owners[again]) * _PARTS <= _MOST
        settled.append((owners[~again], low[~again], high[~again]))
        lower, upper, owners = lower[again], upper[again], owners[again]
    if settled:
        where, low, high = (np.concatenate(column) for column in zip(*settled, strict=True))
        finest_low, finest_high = np.full(len(left), np.inf), np.zeros(len(left))
        np.minimum.at(finest_low, where, low)
        np.maximum.at(finest_high, where, high)
        cut = np.unique(where)
        least[cut], greatest[cut] = finest_low[cut], finest_high[cut]
    return Extremes(least, greatest, turns)


def stationary_points(pld: PLD, low: float, high: float, cells: int = 512, width: float = 1e-9) -> list[Interval]:
    """Enclosures of the losses in [low, high] where the density turns round, as wide as `width` or rounding allows.

    Each holds at least one stationary point, proven by a change of the derivative's sign.
    """
    ends = pld.support(FN)
    if ends is None:
        return []
    lower, upper = (e if isinstance(e, Interval) else Interval.exactly(e) for e in ends)
    edges = np.linspace(max(low, float(lower.hi)), min(high, float(upper.lo)), cells + 1)
    sign = _at_once(pld, edges[:-1], edges[1:])[2]
    while True:
        wide = (sign == 0) & (np.diff(edges) > np.maximum(width, 8e-16 * np.abs(edges[1:])))
        if not wide.any() or len(edges) > _MOST:
            break
        middle = 0.5 * (edges[:-1] + edges[1:])[wide]
        signs = np.repeat(sign, np.where(wide, 2, 1))
        edges = np.sort(np.concatenate([edges, middle]))
        fresh = np.repeat(wide, np.where(wide, 2, 1))
        signs[fresh] = _at_once(pld, edges[:-1][fresh], edges[1:][fresh])[2]
        sign = signs
    known = np.nonzero(sign)[0]
    change = np.nonzero(sign[known[:-1]] != sign[known[1:]])[0]
    return [Interval(float(edges[known[i] + 1]), float(edges[known[i + 1]])) for i in change]


def _at_once(pld: PLD, left: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Bounds of omega on each interval without cutting it, and the sign of its derivative (0: not known)."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore", under="ignore"):
        whole = _with_slope(pld, Interval(left, right))
        at_left, at_right = (pld.density(FN, Interval.exactly(x)) for x in (left, right))
        shape = np.shape(left)
        value, slope = (_cleaned(x, shape) for x in (whole.value, whole.slope))
        ends_low = np.minimum(_cleaned(at_left, shape).lo, _cleaned(at_right, shape).lo)
        ends_high = np.maximum(_cleaned(at_left, shape).hi, _cleaned(at_right, shape).hi)
        steepest = np.maximum(np.abs(slope.lo), np.abs(slope.hi))
        reach = up(up(0.5 * (right - left)) * steepest)  # omega differs from that at the nearer end by at most this
        reach = np.where(np.isnan(reach), np.inf, reach)
    rising, falling = slope.lo >= 0, slope.hi <= 0
    monotone = rising | falling
    least = np.where(monotone, ends_low, np.maximum(value.lo, down(ends_low - reach)))
    greatest = np.where(monotone, ends_high, np.minimum(value.hi, up(ends_high + reach)))
    sign = np.where(rising, 1, np.where(falling, -1, 0))
    return np.maximum(least, 0.0), np.maximum(greatest, 0.0), sign


def _with_slope(pld: PLD, x: Interval) -> Dual:
    """omega on each interval with its derivative; without (-inf, inf) where a pair of your own has none here."""
    try:
        return pld.density(DN, Dual.variable(x))
    except NoEnclosureError:
        everything = np.full(np.shape(x.lo), np.inf)
        return Dual(pld.density(FN, x), Interval(-everything, everything))


def _cleaned(x: Interval, shape: tuple[int, ...]) -> Interval:
    """The interval with full shape, and without what is no number."""
    low, high = np.broadcast_to(x.lo, shape), np.broadcast_to(x.hi, shape)
    return Interval(np.where(np.isnan(low), -np.inf, low), np.where(np.isnan(high), np.inf, high))
