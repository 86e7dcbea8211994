"""Algorithm 1 of Koskela et al. (2021), to be read aloud.

X_n: x_i = -L + i dx, dx = 2L/n, n even.  a: PLD masses on X_n.  D swaps halves, F is the FFT.

    C^k = D F^{-1}( F(D a)^k )        delta(eps) ~ 1 - (1 - delta(inf))^k + sum_{x_l > eps} (1 - e^{eps - x_l}) C^k_l

What it returns is no bound: the grid, the mass that wraps around, and float64 each add an error. `dplab.fourier.delta`
is the same idea with all three bounded.
"""

import numpy as np

from ..core.directions import parse_direction
from ..core.errors import ParameterError
from ..core.pair import Pair
from ..core.parameters import count
from ..core.pld import PLD
from .intervals import Interval
from .onestep import OneStep


def algorithm_1(a: np.ndarray, k: int, L: float, eps: float, mass_at_infinity: float = 0.0) -> float:
    """delta(eps) of the k-fold composition of a grid PLD, about.

    a: masses on x_i = -L + i dx, i = 0 .. n-1 (n even); k >= 0; L > 0 and eps in nats.
    Raises ParameterError if a has odd length or L <= 0.
    """
    n = len(a)
    if n % 2 or n == 0:
        raise ParameterError("len(a)", n, "even and positive")
    if not L > 0:
        raise ParameterError("L", L, "> 0")
    k = count(k)
    x = -L + np.arange(n) * (2 * L / n)
    swapped = np.fft.fftshift(a)
    composed = np.fft.fftshift(np.fft.ifft(np.fft.fft(swapped) ** k).real)
    above = x > eps
    finite = np.sum((1 - np.exp(eps - x[above])) * composed[above])
    return float(1 - (1 - mass_at_infinity) ** k + finite)


def rounded_masses(pair: Pair, L: float, n: int, side: str = "upper", direction: str = "forward"):
    """Masses of a PLD on the grid X_n, every loss rounded to a grid point: (a, mass at infinity).

    side "upper": to the right; what lies above the grid goes to infinity, what lies below to the first point.
    side "lower": to the left; what lies above goes to the last point, what lies below is dropped.
    Source: Koskela et al. (2021), Lemma 5: delta^L(eps) <= delta(eps) <= delta^R(eps).
    Raises ParameterError for an odd n, L <= 0, an unknown side, or direction "both".
    """
    if side not in ("upper", "lower"):
        raise ParameterError("side", side, 'one of "upper", "lower"')
    if count(n, "n") % 2 or n == 0:
        raise ParameterError("n", n, "even and positive")
    if not L > 0:
        raise ParameterError("L", L, "> 0")
    facing = parse_direction(direction)
    if facing == "both":
        raise ParameterError("direction", direction, 'one of "forward", "backward": a grid PLD faces one way')
    x = -L + np.arange(n) * (2 * L / n)
    reduced = pair.reduced()
    if reduced is None:  # nothing is lost: all mass at loss 0
        return (np.arange(n) == n // 2).astype(float), 0.0
    step = OneStep(PLD(reduced, facing == "backward"))
    above = step.continuous(Interval.exactly(x)).p.mid
    for loss, mass in step.atoms:
        above = above + np.where(x < loss.mid, mass.mid, 0.0)
    below = step.below(Interval.exactly(x[:1])).mid[0]
    total = above[0] + below + sum(mass.mid for loss, mass in step.atoms if loss.mid <= x[0])
    infinity = float(step.infinity.mid)
    cells = above[:-1] - above[1:]
    if side == "upper":
        return np.concatenate([[total - above[0]], cells]), infinity + float(above[-1])
    return np.concatenate([cells, [above[-1]]]), infinity
