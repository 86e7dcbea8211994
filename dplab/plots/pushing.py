"""Densities pushed through the loss function numerically: omega of a pair that is known by its two densities only."""

from itertools import pairwise

import numpy as np

from .outcomes import Line

_OUTCOMES = 6001
_FLAT = 1e-9
"""A step of the loss this small, against its range, is a constant: an atom, which is not part of the density."""
_TAIL = 1e-3


def pushed(law: Line, points: int) -> list[tuple[float, float]]:
    """The points (loss, omega) of the continuous part, all branches of the loss added up; empty without one.

    >>> from dplab import Laplace
    >>> from dplab.plots.outcomes import outcomes
    >>> losses, omega = zip(*pushed(outcomes(Laplace(1)), 101))
    >>> round(float(np.interp(0, losses, omega)), 4)  # e^{-1/2}/4
    0.1516
    """
    t = _points(law)
    s, p = law.loss(t), law.p(t)
    step, width = np.diff(np.where(np.isfinite(s), s, np.nan)), np.diff(t)
    finite = s[np.isfinite(s)]
    if not len(finite) or np.ptp(finite) == 0:
        return []
    moving = np.abs(np.nan_to_num(step, nan=0.0)) > _FLAT * np.ptp(finite)
    if not np.any(moving):
        return []
    x = np.linspace(*_shown((s[1:] + s[:-1])[moving] / 2, ((p[1:] + p[:-1]) * width)[moving]), points)
    omega = np.zeros(len(x))
    sign = np.where(moving, np.sign(np.nan_to_num(step, nan=0.0)), 0.0)
    borders = [0, *(np.flatnonzero(np.diff(sign)) + 1), len(sign)]
    for first, last in pairwise(borders):
        if sign[first] == 0:
            continue
        middle = (s[first:last] + s[first + 1 : last + 1]) / 2
        mass = (p[first:last] + p[first + 1 : last + 1]) / 2 * width[first:last]
        height = mass / np.abs(step[first:last])
        if len(height) > 1:  # a step in which a constant part ends holds some of its atom's mass
            if first and sign[first - 1] == 0:
                height[0] = height[1]
            if last < len(sign) and sign[last] == 0:
                height[-1] = height[-2]
        edges = [s[first], *middle, s[last]]
        heights = [height[0], *height, height[-1]]
        if sign[first] < 0:
            edges, heights = edges[::-1], heights[::-1]
        omega += np.interp(x, edges, heights, left=0.0, right=0.0)
    return list(zip(x.tolist(), omega.tolist(), strict=True))


def _points(law: Line) -> np.ndarray:
    return np.linspace(*law.window, _OUTCOMES) if law.grid is None else law.grid


def pushed_above(law: Line, x: np.ndarray) -> np.ndarray:
    """P(s > x) of the continuous part of the loss, finite losses only."""
    t = _points(law)
    s, below = law.loss(t), law.p_below(t)
    with np.errstate(invalid="ignore"):
        step, middle = np.abs(np.diff(s)), (s[1:] + s[:-1]) / 2
    finite = s[np.isfinite(s)]
    if not len(finite):
        return np.zeros(len(x))
    moving = np.isfinite(step) & (step > _FLAT * np.ptp(finite))
    if not np.any(moving):
        return np.zeros(len(x))
    order = np.argsort(middle[moving])
    losses, masses = middle[moving][order], np.diff(below)[moving][order]
    above = np.concatenate([np.cumsum(masses[::-1])[::-1], [0.0]])
    return np.interp(x, [*losses, losses[-1] + 1e-12], above)


def pushed_hockey_stick(law: Line, x: np.ndarray) -> np.ndarray:
    """h(x): the mass of P that sticks out of x Q, cell by cell."""
    t = _points(law)
    p, q = (np.diff(below(t)) for below in (law.p_below, law.q_below))
    return np.array([float(np.sum(np.maximum(p - at * q, 0.0))) for at in x])


def _shown(losses: np.ndarray, masses: np.ndarray) -> tuple[float, float]:
    """The losses between which all but two thousandths of the mass lie."""
    order = np.argsort(losses)
    below = np.cumsum(masses[order])
    places = np.searchsorted(below, (_TAIL * below[-1], (1 - _TAIL) * below[-1]))
    low, high = losses[order][np.minimum(places, len(order) - 1)]
    return float(low), float(high)
