"""delta of a k-fold composition straight from two densities, in plain floats: an independent check of brackets.

Outcomes are cut finely, each slice's mass goes to a grid of losses, rounded down and rounded up, and the k-th power of
the two transforms gives a lower and an upper value, right up to the quadrature of the slices.
"""

import functools
import itertools

import mpmath
import numpy as np

STEP = 4e-4
SIZE = 2**20
SLICES = 24_000


def bounds(law, backward: bool, k: int, eps: float, rate: float = 1.0) -> tuple[float, float]:
    """A lower and an upper value of delta(eps) of k steps, each on a sample of the rate given."""
    f, g = masses(law)
    f = rate * f + (1 - rate) * g
    if backward:
        f, g = g, f
    both = (f > 0) & (g > 0)
    infinite = 1 - (1 - min(f[(f > 0) & (g <= 0)].sum(), 1.0)) ** k
    losses = np.log(f[both] / g[both])
    return tuple(infinite + _finite(losses, f[both], k, eps, side) for side in (np.floor, np.ceil))


@functools.cache
def masses(law) -> tuple[np.ndarray, np.ndarray]:
    """The masses of P and Q in fine slices."""
    if law.integers:
        return tuple(np.array([float(d(t)) for t in law.cuts]) for d in (law.p, law.q))
    ends = [c for c in law.cuts if mpmath.isfinite(c)]
    nodes, weights = np.polynomial.legendre.leggauss(40)
    count = max(4, SLICES // (40 * (len(ends) - 1)))
    points, sizes = [], []
    for a, b in itertools.pairwise(map(float, ends)):
        edges = np.linspace(a, b, count + 1)
        half = np.diff(edges)[:, None] / 2
        points.append(((edges[:-1] + edges[1:])[:, None] / 2 + half * nodes).ravel())
        sizes.append((half * weights).ravel())
    at, size = np.concatenate(points), np.concatenate(sizes)
    return tuple(np.array([float(d(mpmath.mpf(t))) for t in at]) * size for d in (law.p, law.q))


def _finite(losses: np.ndarray, masses: np.ndarray, k: int, eps: float, rounded) -> float:
    index = rounded(losses / STEP).astype(int)
    kept = np.abs(index) < SIZE // 2
    table = np.zeros(SIZE)
    np.add.at(table, index[kept] % SIZE, masses[kept])
    total = np.fft.irfft(np.fft.rfft(table) ** k, SIZE)
    grid = np.fft.fftfreq(SIZE, 1 / SIZE) * STEP
    return float(total[grid > eps] @ -np.expm1(eps - grid[grid > eps]))
