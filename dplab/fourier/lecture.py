"""Algorithm 1 of Koskela et al. (2021), to be read aloud.

X_n: x_i = -L + i dx, dx = 2L/n, n even.  a: PLD masses on X_n.  D swaps halves, F is the FFT.

    C^k = D F^{-1}( F(D a)^k )        delta(eps) ~ 1 - (1 - delta(inf))^k + sum_{x_l > eps} (1 - e^{eps - x_l}) C^k_l

What it returns is no bound: the grid, the mass that wraps around, and float64 each add an error. `dplab.fourier.delta`
is the same idea with all three bounded.
"""

from typing import NamedTuple

import numpy as np

from ..core.directions import parse_direction
from ..core.errors import ParameterError, UnboundSymbolError
from ..core.pair import Pair
from ..core.parameters import count
from ..core.pld import PLD
from .choices import named_grid
from .grids import Grid, merge, supporting_lines
from .minmax import extreme_cells
from .onestep import OneStep
from .point import point_masses
from .rounding_grid import exact_cells, moved_masses
from .split_merge import split_masses


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


class GridMasses(NamedTuple):
    """A PLD on a grid: nodes x_i = -L + i dx, the mass at each, the mass at infinity."""

    x: np.ndarray
    masses: np.ndarray
    infinity: float


def grid_masses(
    pair: Pair, L: float, n: int, grid: str = "round", side: str = "upper", direction: str = "forward"
) -> GridMasses:
    """Masses of a PLD on the grid X_n by the formulas of a named grid, in plain float64.

    L > 0 in nats; n even, at least 4. grid: "round" (losses move to the node on the right or left), "minmax" (dx times
    max or min of omega on a cell; the upper total exceeds 1), "split-merge" (second order), or "point" (omega(x_i) dx,
    which has no side and bounds nothing). side "upper": delta(eps) of the grid PLD lies above the true one, also
    after composition; "lower": below. Up to float64's rounding: `dplab.fourier.delta` bounds that too.
    Source: Koskela et al. (2021), Lemma 5 and section 6.3; Doroshenko et al. (2022) for "split"; Koskela, Jälkö,
    Honkela (2020) for "point".
    Raises ParameterError for a bad n, L <= 0, an unknown grid or side, or direction "both".

    >>> from dplab import Gaussian
    >>> totals = [float(grid_masses(Gaussian(1), 16, 64, "minmax", side).masses.sum()) for side in ("lower", "upper")]
    >>> totals[0] < 1 < totals[1]
    True
    """
    if side not in ("upper", "lower"):
        raise ParameterError("side", side, 'one of "upper", "lower"')
    named_grid(grid)
    if count(n, "n") % 2 or n < 4:
        raise ParameterError("n", n, "even and at least 4")
    if not 0 < L < np.inf:
        raise ParameterError("L", L, "> 0 and finite")
    facing = parse_direction(direction)
    if facing == "both":
        raise ParameterError("direction", direction, 'one of "forward", "backward": a grid PLD faces one way')
    if pair.free_symbols:
        raise UnboundSymbolError(pair.free_symbols, "dplab.fourier")
    nodes = Grid(-float(L), 2 * float(L) / n, 0, n)
    reduced = pair.reduced()
    if reduced is None:  # nothing is lost: all mass at loss 0
        return GridMasses(nodes.nodes, (np.arange(n) == n // 2).astype(float), 0.0)
    step = OneStep(PLD(reduced, facing == "backward"))
    masses, infinity = _masses(step, nodes, grid, +1 if side == "upper" else -1)
    return GridMasses(nodes.nodes, masses, infinity)


def _masses(step: OneStep, nodes: Grid, grid: str, sign: int) -> tuple[np.ndarray, float]:
    if grid == "point":
        return point_masses(step, nodes)
    if grid == "split-merge":
        made = split_masses(step, nodes) if sign > 0 else merge(step, supporting_lines(step, nodes))
        return made.masses, made.infinity
    above = step.continuous(nodes.at()).p.mid
    return moved_masses(step, nodes, above, sign, extreme_cells if grid == "minmax" else exact_cells, near=1e-9)


def rounded_masses(pair: Pair, L: float, n: int, side: str = "upper", direction: str = "forward"):
    """Masses of a PLD on the grid X_n, every loss rounded to a grid point: (a, mass at infinity).

    side "upper": to the right; what lies above the grid goes to infinity, what lies below to the first point.
    side "lower": to the left; what lies above goes to the last point, what lies below is dropped.
    Source: Koskela et al. (2021), Lemma 5: delta^L(eps) <= delta(eps) <= delta^R(eps).
    Arguments and errors as for `grid_masses`.
    """
    made = grid_masses(pair, L, n, "round", side, direction)
    return made.masses, made.infinity
