"""alpha+ and alpha-: the two numbers that bound, by Chernoff, how much mass leaves a window.

    alpha+(lam) = log E e^{lam s},   alpha-(lam) = log E e^{-lam s},   lam > 0,

of one step; E is a sum over masses that need not add up to 1. k steps have k times these, and so

    P(S_k >= L) <= e^{k alpha+ - lam L},   P(S_k <= -L) <= e^{k alpha- - lam L}.
"""

import math
from typing import NamedTuple

import numpy as np

from ..core.directions import parse_direction
from ..core.errors import ParameterError
from ..core.pair import Pair
from ..core.parameters import approximate, checked, require_numbers
from ..core.pld import PLD
from .intervals import Interval
from .onestep import FN, OneStep
from .sums import log_exp_sum

_CELLS = 2**14
_REACH = 38.0


class Alphas(NamedTuple):
    """alpha+ and alpha- at one lambda, in nats; -inf where there is no mass at all."""

    plus: float
    minus: float


def alphas(a, L: float, lam: float) -> Alphas:
    """alpha+ and alpha- of the grid masses a_i on x_i = -L + i dx, dx = 2L/n: upper bounds, a few ulps above.

    a: non-negative masses, an even number of them; L in nats; lam > 0 in 1/nats.
    Raises ParameterError for masses that are none, L <= 0 or lam <= 0.
    Source: Koskela et al. (2021), section 5.

    >>> round(alphas([0, 0, 0.5, 0.5], L=2, lam=1).plus, 9)  # masses at 0 and 1: log((1 + e)/2)
    0.620114507
    """
    masses, x = lecture_grid(a, L)
    lam = positive_number(lam, "lam")
    return Alphas(_log_mgf(masses, x, lam), _log_mgf(masses, x, -lam))


def lecture_grid(a, L) -> tuple[np.ndarray, np.ndarray]:
    """Masses and points x_i = (i - n/2) dx of a grid PLD of the lecture, checked."""
    masses = np.asarray(a, dtype=float)
    if masses.ndim != 1 or len(masses) == 0 or len(masses) % 2:
        raise ParameterError("a", np.shape(masses), "one row of masses of even, positive length")
    if not np.all((masses >= 0) & (masses < np.inf)):
        worst = masses[~((masses >= 0) & (masses < np.inf))][0]
        raise ParameterError("a", float(worst), "finite masses >= 0")
    half = positive_number(L, "L")
    n = len(masses)
    return masses, np.arange(-(n // 2), n // 2) * (2 * half / n)


def positive_number(value, name: str) -> float:
    """The float of a parameter > 0."""
    parameter = checked(value, name, "> 0", lambda v: v > 0)
    require_numbers("dplab.fourier", parameter)
    return approximate(parameter)


def one_direction(direction: str) -> str:
    """The canonical name of a direction that is not "both"."""
    facing = parse_direction(direction)
    if facing == "both":
        raise ParameterError("direction", direction, 'one of "forward", "backward": a PLD faces one way')
    return facing


def _log_mgf(masses: np.ndarray, x: np.ndarray, z: float) -> float:
    """An upper bound of log sum a_i e^{z x_i}."""
    value, slack = log_exp_sum(masses, x, z)
    return value + slack


def alphas_of(pair: Pair, lam: float, direction: str = "forward") -> Alphas:
    """alpha+ and alpha- of a mechanism's own PLD, from M(lam) and M(-lam): good to about 1e-9, no bounds.

    The mass at infinity is left out, as in the paper. Raises ParameterError for lam <= 0 and for direction "both",
    UnboundSymbolError for symbols.

    >>> from dplab import Gaussian
    >>> alphas_of(Gaussian(sigma=1), lam=2)  # lam (lam + 1)/2 and lam (lam - 1)/2
    Alphas(plus=3.0, minus=1.0)
    """
    lam = positive_number(lam, "lam")
    facing = one_direction(direction)
    require_numbers("dplab.fourier", *pair.arguments.values())
    reduced = pair.reduced()
    if reduced is None:
        return Alphas(0.0, 0.0)
    pld = PLD(reduced, facing == "backward")
    return Alphas(_log_m(pld, lam), _log_m(pld, -lam))


def _log_m(pld: PLD, z: float) -> float:
    """log M(z): the closed form, or cells of which P- and Q-mass are known."""
    import mpmath

    from ..core.functions import MpmathTable

    with mpmath.workdps(30):
        closed = pld.mgf(MpmathTable(), mpmath.mpf(z))
        if closed is not None:
            return float(mpmath.log(closed)) if closed > 0 else -math.inf
    step = OneStep(pld)
    exponents, weights = _cells(step, z)
    exponents = np.concatenate([exponents, z * step.columns.loss.mid])
    weights = np.concatenate([weights, step.columns.p.mid])
    peak = float(exponents.max(where=weights > 0, initial=-math.inf))
    return peak + math.log(float(weights @ np.exp(np.minimum(exponents - peak, 0.0)))) if weights.any() else -math.inf


def _cells(step: OneStep, z: float) -> tuple[np.ndarray, np.ndarray]:
    """Exponents and weights of the continuous part's M(z).

    In a cell with P-mass p and Q-mass r, E_Q e^{(z+1) s} is at least its value with all mass at s = log(p/r) (Jensen)
    and at most that with the mass split between both ends; two thirds of the one and one of the other err by dx^4.
    """
    edges = _edges(step.pld)
    if not len(edges):
        return np.empty(0), np.empty(0)
    tails = step.continuous(Interval.exactly(edges))
    p_tail, s_tail = tails.p.mid, tails.s.mid
    below, q_below = step.below(Interval.exactly(edges)).mid, step.q_below(Interval.exactly(edges)).mid
    dx = np.diff(edges)
    right = p_tail[:-1] < 0.5  # the smaller tail has the digits
    p = np.maximum(np.where(right, p_tail[:-1] - p_tail[1:], below[1:] - below[:-1]), 0.0)
    from_below = np.exp(np.minimum(edges[:-1], 700)) * (q_below[1:] - q_below[:-1])
    scaled = np.where(right, s_tail[:-1] - np.exp(-dx) * s_tail[1:], from_below)  # e^{x_i} r
    scaled = np.clip(scaled, np.exp(-dx) * p, p)
    with np.errstate(invalid="ignore", divide="ignore"):
        inside = np.where(p > 0, np.log(p / scaled), 0.0)
    up = (p - scaled) / -np.expm1(-dx)
    exponents = np.concatenate([z * (edges[:-1] + inside), z * edges[:-1], z * edges[1:]])
    return exponents, np.concatenate([2 * p / 3, (p - up) / 3, up / 3])


def _edges(pld: PLD) -> np.ndarray:
    """Losses at equal steps of the coordinate: dense where the mass is, and out to tails of 1e-300."""
    coordinate = pld.coordinate(FN)
    if pld.support(FN) is None or coordinate is None:
        return np.empty(0)
    lower, upper, center, scale = (
        float(Interval(end.lo, end.hi).mid) if isinstance(end, Interval) else float(end) for end in coordinate
    )
    u = np.linspace(max(lower, center - _REACH * scale), min(upper, center + _REACH * scale), _CELLS + 1)
    losses = pld.coordinate_loss(FN, Interval.exactly(u)).mid
    return np.unique(losses[np.isfinite(losses)])


def after_rounding(omega: Alphas, lam: float, dx: float, side: str = "upper") -> Alphas:
    """The MGF lemma: bounds of a rounded grid PLD's alphas, from those of omega, without making the grid.

    Every loss moves by at most dx, to the right (side "upper") or to the left ("lower"), so that only one of the two
    grows, by at most lam dx. Holds while the grid covers the support: mass that is gathered at an end moves further.
    Source: Koskela et al. (2021), Lemma 5 and section 5.

    >>> after_rounding(Alphas(plus=3.0, minus=1.0), lam=2, dx=0.01)
    Alphas(plus=3.02, minus=1.0)
    """
    grown = positive_number(lam, "lam") * positive_number(dx, "dx")
    if side == "upper":
        return Alphas(omega.plus + grown, omega.minus)
    if side == "lower":
        return Alphas(omega.plus, omega.minus + grown)
    raise ParameterError("side", side, 'one of "upper", "lower"')
