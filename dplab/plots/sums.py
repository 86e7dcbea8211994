"""The law of a sum of privacy losses, in floats and for pictures: composition as convolution.

Atoms are convolved among themselves; what has a density goes through one FFT on a grid in whose cells the masses keep
their mean, so that nothing drifts when many are added. No bound of any kind: `dplab.fourier` has those.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import mpmath
import numpy as np

from ..clt.moments import moments
from ..core.composition import Composition
from ..core.functions import MpmathTable
from ..core.pld import PLD
from ..fourier.intervals import Interval
from ..fourier.onestep import OneStep
from .losses import Shape
from .outcomes import Line, need_numbers, outcomes, without_inverse
from .pushing import pushed_above

_SIZES = 2**12, 2**16
_PER_WIDTH = 24
"""Grid points per standard deviation of the narrowest part, if the largest size allows."""
_WIDTHS = 9.0
"""Half the grid, in standard deviations of the sum."""
_SHOWN = 4.5
_NOTHING = 1e-13
_UNSEEN = 1e-3
"""Atoms of a smaller mass, all together, are left out beside a density."""
_SMALLEST = 1e-9
"""Tails of one release beyond this mass are left out of the grid."""


class Points(NamedTuple):
    """Atoms: losses in increasing order, and their masses."""

    loss: np.ndarray
    mass: np.ndarray


class SumLaw(NamedTuple):
    """`shape`: atoms, density, mass at infinity (see `draw_shape`); mean and standard deviation of the finite part."""

    shape: Shape
    mean: float
    deviation: float

    def delta(self, eps: float) -> float:
        """delta(eps) of what is drawn, by Lemma 2: good for a picture."""
        total = self.shape.infinite + sum(m * -math.expm1(eps - s) for s, m in self.shape.atoms if s > eps)
        if not self.shape.density:
            return total
        x, omega = np.array(self.shape.density).T
        return total + float(np.trapezoid(omega * -np.expm1(np.minimum(eps - x, 0)), x))


def sum_law(composition, backward: bool = False, widths: float = _SHOWN) -> SumLaw:
    """The law of the loss of a composition, shown up to `widths` standard deviations around its mean.

    >>> from dplab import RandomizedResponse
    >>> [round(mass, 12) for _, mass in sum_law(2 * RandomizedResponse("0.75")).shape.atoms]
    [0.0625, 0.375, 0.5625]

    Raises UnboundSymbolError if a parameter is a symbol.
    """
    whole = Composition.of(composition)
    for pair, _ in whole.parts:
        need_numbers(pair)
    parts = whole.plds(backward)
    fn = MpmathTable()
    known = [(moments(pld), k) for pld, k in parts]
    mean = math.fsum(k * float(m.mean) for m, k in known)
    deviation = math.sqrt(math.fsum(k * float(m.variance) for m, k in known))
    with mpmath.workdps(15):
        infinite = 0.0 - math.expm1(math.fsum(k * _log1m(m.infinite) for m, k in known))
        points = [(_points(pld, fn), k) for pld, k in parts]
    atoms = _convolved([_power(p, k) for p, k in points]) if all(len(p.loss) for p, _ in points) else _none()
    density: list[tuple[float, float]] = []
    if deviation and any(pld.support(fn) for pld, _ in parts):
        density = _continuous(parts, [p for p, _ in points], mean, deviation, widths)
    kept = (atoms.mass > _NOTHING) & (np.abs(atoms.loss - mean) <= max(2 * widths * deviation, 1e-9))
    if density and float(np.sum(atoms.mass)) < _UNSEEN:
        kept[:] = False
    listed = list(zip(atoms.loss[kept].tolist(), atoms.mass[kept].tolist(), strict=True))
    return SumLaw(Shape(listed, density, infinite), mean, deviation)


def _log1m(mass) -> float:
    return float(mpmath.log1p(-mass)) if mass < 1 else -math.inf


def _none() -> Points:
    return Points(np.zeros(0), np.zeros(0))


def _points(pld: PLD, fn: MpmathTable) -> Points:
    atoms = sorted((float(atom.loss), float(atom.p)) for atom in pld.atoms(fn) if atom.p)
    return Points(*map(np.array, zip(*atoms, strict=True))) if atoms else _none()


def _merged(loss: np.ndarray, mass: np.ndarray) -> Points:
    """In order, equal losses (up to rounding) taken together, without what nobody could see."""
    if not len(loss):
        return _none()
    order = np.argsort(loss, kind="stable")
    loss, mass = loss[order], mass[order]
    scale = max(abs(loss[0]), abs(loss[-1]), 1e-300)
    first = np.concatenate([[True], np.diff(loss) > 1e-11 * scale])
    group = np.cumsum(first) - 1
    total = np.bincount(group, mass)
    keep = total > _NOTHING * 1e-3
    return Points(loss[first][keep], total[keep])


def _convolved(factors: Sequence[Points]) -> Points:
    result = Points(np.zeros(1), np.ones(1))
    for factor in factors:
        loss = np.add.outer(result.loss, factor.loss).ravel()
        result = _merged(loss, np.multiply.outer(result.mass, factor.mass).ravel())
    return result


def _power(points: Points, k: int) -> Points:
    """k independent copies, by repeated squaring."""
    result, square = Points(np.zeros(1), np.ones(1)), points
    while k and len(square.loss):
        if k & 1:
            result = _convolved([result, square])
        k >>= 1
        if k:
            square = _convolved([square, square])
    return result


def _continuous(parts, points: list[Points], mean: float, deviation: float, widths: float) -> list[tuple[float, float]]:
    """The density of the sum: everything convolved on one grid, less the product of the atoms."""
    steps = [OneStep(pld) for pld, _ in parts]
    ranges = [_range(step, p) for step, p in zip(steps, points, strict=True)]
    width = 1.05 * max(2 * _WIDTHS * deviation, *(high - low for low, high in ranges))
    narrowest = min(math.sqrt(float(moments(pld).variance)) for pld, _ in parts if moments(pld).variance > 0)
    size = _SIZES[0]
    while size < _SIZES[1] and width / size > narrowest / _PER_WIDTH:
        size *= 2
    dx = width / size
    full, atomic, offset = np.ones(size // 2 + 1, complex), np.ones(size // 2 + 1, complex), 0.0
    for (_, k), step, p, (low, high) in zip(parts, steps, points, ranges, strict=True):
        masses = np.zeros(size)
        _spread(p, low, dx, masses)
        transform = np.fft.rfft(masses)
        atomic *= transform**k
        if step.support is not None:
            count = min(size, math.ceil((high - low) / dx) + 2)
            edges = low + (np.arange(count + 1) - 0.5) * dx
            above = _above(step, edges)
            masses[:count] += above[:-1] - above[1:]
            transform = np.fft.rfft(masses)
        full *= transform**k
        offset += k * low
    values = np.fft.irfft(full - atomic, size) / dx
    first = round((mean - width / 2 - offset) / dx)
    x = offset + (first + np.arange(size)) * dx
    values = np.roll(values, -first)
    low, high = _ends(steps, parts)
    shown = (np.abs(x - mean) <= widths * deviation) & (x >= low) & (x <= high)
    every = max(1, int(np.count_nonzero(shown)) // 400)
    return list(zip(x[shown][::every].tolist(), np.maximum(values[shown][::every], 0).tolist(), strict=True))


def _spread(points: Points, low: float, dx: float, masses: np.ndarray) -> None:
    """Each atom on its two neighbours in the grid, so that its mean is kept."""
    place = (points.loss - low) / dx
    left = np.floor(place).astype(int)
    np.add.at(masses, left, points.mass * (1 - (place - left)))
    np.add.at(masses, left + 1, points.mass * (place - left))


def _range(step: OneStep, points: Points) -> tuple[float, float]:
    """Where one release's losses lie, but for a mass of no account."""
    ends = points.loss.tolist()
    if step.support is not None:
        low, high = (float(end.mid) for end in step.support)
        ends += [_reach(step, -1) if math.isinf(low) else low, _reach(step, 1) if math.isinf(high) else high]
    return min(ends), max(ends)


def _reach(step: OneStep, sign: int) -> float:
    """A loss beyond which almost nothing of the continuous part lies."""
    x = sign * np.geomspace(1e-6, 1e6, 2000)
    above = _above(step, x)
    beyond = above if sign > 0 else float(step.continuous_mass.p.mid) - above
    far = np.flatnonzero(beyond - np.min(beyond) < _SMALLEST)  # a numeric law has lost some of its tails
    return float(x[far[0]]) if len(far) else float(x[-1])


def _above(step: OneStep, x: np.ndarray) -> np.ndarray:
    """P(s > x) of the continuous part."""
    if without_inverse(step.pld.pair):
        law = outcomes(step.pld.pair, step.pld.backward)
        if isinstance(law, Line):
            return pushed_above(law, x)
    return step.continuous(Interval.exactly(x))[0].mid


def _ends(steps: list[OneStep], parts) -> tuple[float, float]:
    """The ends of what the sum can reach."""
    low = math.fsum(k * float(step.smallest.mid) for step, (_, k) in zip(steps, parts, strict=True))
    high = math.fsum(k * float(step.largest.mid) for step, (_, k) in zip(steps, parts, strict=True))
    return low, high
