"""One release in 60-digit arithmetic, and the h of a grid PLD from its definition: what the float64 code must enclose.

h(x) = delta at eps = x. Nothing here comes from dplab.fourier.
"""

from bisect import bisect_right

import mpmath
from mpmath import mpf

from dplab import Gaussian, Laplace, PoissonSubsampled, RandomizedResponse
from dplab.core.functions import MpmathTable
from dplab.core.pld import PLD

FN = MpmathTable()

MECHANISMS = [
    RandomizedResponse("0.75"),
    RandomizedResponse("0.5000001"),
    RandomizedResponse.from_eps(30),
    Gaussian(1),
    Gaussian("0.03"),
    Gaussian(50),
    Gaussian("1.5", sensitivity=2),
    Laplace(1),
    Laplace("0.05"),
    Laplace(30, sensitivity="0.7"),
    PoissonSubsampled(Gaussian(1), "0.01"),
    PoissonSubsampled(Gaussian("0.03"), "0.1"),
    PoissonSubsampled(Gaussian(4), "1e-6"),
    PoissonSubsampled(Gaussian(2), "0.999999"),
    PoissonSubsampled(Laplace("0.2"), "0.05"),
    PoissonSubsampled(Laplace(10), "1e-6"),
    PoissonSubsampled(Laplace(2), "0.97"),
    PoissonSubsampled(RandomizedResponse("0.9"), "0.1"),
]
NOISELESS = [Gaussian(0), PoissonSubsampled(Gaussian(0), "0.25"), PoissonSubsampled(Laplace(0), "0.999")]

PLDS = [PLD(pair) for pair in MECHANISMS + NOISELESS]
PLDS += [PLD(pair, True) for pair in MECHANISMS + NOISELESS if not pair.symmetric or pair in (Gaussian(1), Laplace(1))]


def name(pld: PLD) -> str:
    return f"{pld.pair!r} {'backward' if pld.backward else 'forward'}"


def continuous(pld: PLD, x):
    """P(s > x) and Q(s > x) of the continuous part, anywhere."""
    support = pld.support(FN)
    if support is None or x >= support[1]:
        return mpf(0), mpf(0)
    if x <= support[0]:
        return tuple(pld.continuous_mass(FN))
    return tuple(pld.above(FN, x))


def below(pld: PLD, x):
    """P(s <= x) and Q(s <= x) of the continuous part, anywhere, without cancellation."""
    support = pld.support(FN)
    if support is None or x <= support[0]:
        return mpf(0), mpf(0)
    if x >= support[1]:
        return tuple(pld.continuous_mass(FN))
    return tuple(pld.below(FN, x))


def curve(pld: PLD, x):
    """h(x)."""
    p, q = continuous(pld, x)
    total = pld.mass_at_infinity(FN) + p - mpmath.exp(x) * q
    for atom in pld.atoms(FN):
        if atom.loss > x:
            total += atom.p - mpmath.exp(x) * atom.q
    return total


class GridCurve:
    """h of a dplab grid PLD: its mass at infinity and sum a_i (1 - e^{x - x_i})_+ over its exact nodes."""

    def __init__(self, pld):
        grid = pld.grid
        self.digits = 60 + int(grid.size * grid.dx / 2) + int(abs(grid.offset + grid.first * grid.dx) / 2)
        with mpmath.workdps(self.digits):
            self.infinity = mpf(pld.infinity)
            self.nodes = [mpf(grid.offset) + (grid.first + i) * mpf(grid.dx) for i in range(grid.size)]
            p = q = mpf(0)
            self.above = []  # (mass, mass times e^{-loss}) of the nodes from i on
            for node, mass in zip(reversed(self.nodes), reversed(pld.masses.tolist()), strict=True):
                if mass:
                    p, q = p + mpf(mass), q + mpf(mass) * mpmath.exp(-node)
                self.above.append((p, q))
            self.above.reverse()

    def __call__(self, x):
        with mpmath.workdps(self.digits):
            i = bisect_right(self.nodes, x)
            if i == len(self.nodes):
                return self.infinity
            p, q = self.above[i]
            return self.infinity + p - mpmath.exp(x) * q

    @property
    def total(self):
        """h at x = -inf."""
        return self.infinity + self.above[0][0]


def dominated(pld, sign: int):
    """The bound of h(x) that a certified grid PLD stands for (sign +1: upper, -1: lower), as a function of x."""
    h = GridCurve(pld)
    factor, shift = mpmath.exp(sign * mpf(pld.log_scale)), sign * mpf(pld.shift)
    return lambda x: factor * h(x - shift)


def typical_losses(pld: PLD) -> tuple[float, float]:
    """Losses that bracket most of the mass: about eight standard deviations of a Gaussian part, or all atoms."""
    ends = [float(a.loss) for a in pld.atoms(FN)]
    coordinate = pld.coordinate(FN)
    if coordinate is not None:
        lower, upper, center, scale = coordinate
        if mpmath.isinf(lower):
            lower, upper = center - 9 * scale, center + 9 * scale
        else:
            lower, upper = lower + (upper - lower) / 10**6, upper - (upper - lower) / 10**6
        ends += [float(pld.coordinate_loss(FN, u)) for u in (lower, upper)]
    return min(ends, default=0.0), max(ends, default=0.0)


# --- compositions whose delta is known in closed form -------------------------------------------------


def gaussian_delta(mu, eps):
    """delta of mu-GDP [Balle and Wang 2018]; k Gaussian steps have mu sqrt(k)."""
    mu, eps = mpmath.mpmathify(mu), mpmath.mpmathify(eps)
    above = (
        mpmath.ncdf(mu / 2 - eps / mu)
        if eps / mu - mu / 2 < 5
        else mpmath.erfc((eps / mu - mu / 2) / mpmath.sqrt(2)) / 2
    )
    return above - mpmath.exp(eps) * mpmath.erfc((eps / mu + mu / 2) / mpmath.sqrt(2)) / 2


def atoms_delta(pair, backward: bool, k: int, eps):
    """delta of k steps of a pair with one or two finite atoms, by a binomial sum."""
    pld = PLD(pair, backward)
    eps = mpmath.mpmathify(eps)
    atoms = [*pld.atoms(FN)]
    one = atoms[0]
    two = atoms[1] if len(atoms) > 1 else None
    finite = 1 - pld.mass_at_infinity(FN)
    total = 1 - finite**k
    for j in range(k + 1) if two is not None else (k,):
        loss = j * one.loss + ((k - j) * two.loss if two else 0)
        if loss > eps:
            mass = mpmath.binomial(k, j) * one.p**j * (two.p ** (k - j) if two else 1)
            total -= mass * mpmath.expm1(eps - loss)
    return total
