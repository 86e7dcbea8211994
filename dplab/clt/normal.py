"""log delta of a normal privacy loss in float64, accurate in both tails.

For S ~ N(m, v), h = sqrt(v), t = (eps - m)/h, with Mills' ratio R(t) = (1 - Phi(t))/phi(t):

    delta = E[(1 - e^{eps-S})_+] = Phi(-t) - e^{eps-m+v/2} Phi(-t-h) = phi(t) (R(t) - R(t+h)).

R falls smoothly, so the difference loses no digits if it is integrated where h is small: -R'(t) = 1 - t R(t).
"""

import math

ROOT_TAU = math.sqrt(2 * math.pi)
LOG_ROOT_TAU = math.log(ROOT_TAU)
FAR_LEFT = -35.0
NEAR = 4.0
_NODES = (
    (0.019855071751231884, 0.05061426814518813),
    (0.10166676129318664, 0.11119051722668724),
    (0.2372337950418355, 0.15685332293894363),
    (0.4082826787521751, 0.18134189168918100),
)  # Gauss-Legendre of order 8 on [0, 1], left half


def mills(t: float) -> float:
    """(1 - Phi(t))/phi(t), for t >= -37.

    >>> round(mills(0.0), 12) == round(math.sqrt(math.pi / 2), 12)
    True
    """
    if t < NEAR:
        return ROOT_TAU / 2 * math.exp(t * t / 2) * math.erfc(t / math.sqrt(2))
    return 1 / (t + _fraction(t))


def mills_slope(t: float) -> float:
    """-R'(t) = 1 - t R(t) > 0."""
    if t < NEAR:
        return 1 - t * mills(t)
    rest = _fraction(t)
    return rest / (t + rest)


def _fraction(t: float) -> float:
    """1/(t + 2/(t + 3/(t + ...))), so that R(t) = 1/(t + it)."""
    value = 0.0
    for n in range(8 + int(700 / (t * t)), 0, -1):  # enough for 16 digits, checked against mpmath
        value = n / (t + value)
    return value


def log_normal_delta(mean: float, variance: float, eps: float) -> float:
    """log delta(eps) for a loss N(mean, variance); -inf where delta is 0.

    >>> round(math.exp(log_normal_delta(0.5, 1.0, 1.0)), 12)  # the Gaussian mechanism with sigma = 1
    0.126936737507
    """
    if eps == math.inf:
        return -math.inf
    if eps == -math.inf:
        return 0.0
    if mean == math.inf:
        return 0.0
    if variance <= 0:
        return math.log(-math.expm1(eps - mean)) if eps < mean else -math.inf
    h = math.sqrt(variance)
    t = (eps - mean) / h
    if t < FAR_LEFT:  # Phi(-t) is 1 in float64
        return math.log(-math.expm1(h * (t + h / 2))) if t + h < FAR_LEFT / 4 else -0.0
    drop = _mills_drop(t, h)
    return -t * t / 2 - LOG_ROOT_TAU + math.log(drop) if drop > 0 else -math.inf


def _mills_drop(t: float, h: float) -> float:
    """R(t) - R(t + h) for t >= FAR_LEFT, h > 0."""
    here, there = mills(t), mills(t + h)
    if there < 0.9 * here:
        return here - there
    halves = (w * (mills_slope(t + h * x) + mills_slope(t + h * (1 - x))) for x, w in _NODES)
    return h * math.fsum(halves)
