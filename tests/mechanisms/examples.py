"""One or more examples of every mechanism, each with its output distributions written from the textbook.

What the mechanism's page says about losses, tails and M(z) is compared with these densities, which share no code
with it. A new mechanism needs one entry here and gets the whole contract.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import mpmath
from mpmath import mpf

from dplab import Gaussian, Laplace, PoissonSubsampled, RandomizedResponse
from dplab.core.pair import Pair


@dataclass(frozen=True)
class Example:
    """A pair, the densities of P and Q on the line (with the points where they have kinks), or their point masses."""

    pair: Pair
    p: Callable | None = None
    q: Callable | None = None
    cuts: tuple = ()
    points: Callable = field(default=list)

    @property
    def id(self) -> str:
        """The pair, as text."""
        return repr(self.pair)


def _gaussian(sigma, shift=1):
    return (
        lambda t: mpmath.npdf(t, mpf(shift), mpmath.mpmathify(sigma)),
        lambda t: mpmath.npdf(t, 0, mpmath.mpmathify(sigma)),
    )


def _laplace(b, shift=1):
    def around(center):
        return lambda t: mpmath.exp(-abs(t - center) / mpmath.mpmathify(b)) / (2 * mpmath.mpmathify(b))

    return around(mpf(shift)), around(mpf(0))


def _sampled(densities, q):
    p0, q0 = densities
    return lambda t: mpmath.mpmathify(q) * p0(t) + (1 - mpmath.mpmathify(q)) * q0(t), q0


def _line(pair, densities, center, width) -> Example:
    """Cuts for the quadrature at whole numbers, where the examples' densities have their kinks, and further out."""
    inner = [mpf(0), mpf(1)]
    outer = [center - 40 * width, center - 5 * width, center + 5 * width, center + 40 * width]
    return Example(pair, *densities, cuts=tuple(sorted({mpmath.mpmathify(c) for c in (*inner, *map(mpf, outer))})))


def _binary(p):
    def points():
        value = mpmath.mpmathify(p() if callable(p) else p)
        return [(value, 1 - value), (1 - value, value)]

    return points


def _sampled_points(points, q):
    def mixed():
        rate = mpmath.mpmathify(q)
        return [(rate * a + (1 - rate) * b, b) for a, b in points()]

    return mixed


LN3 = RandomizedResponse.from_eps("log(3)")

EXAMPLES = [
    Example(RandomizedResponse("0.75"), points=_binary("0.75")),
    Example(RandomizedResponse("0.500001"), points=_binary("0.500001")),
    Example(LN3, points=_binary("0.75")),
    Example(PoissonSubsampled(RandomizedResponse("0.75"), "0.1"), points=_sampled_points(_binary("0.75"), "0.1")),
    _line(Gaussian(1), _gaussian(1), 0.5, 1),
    _line(Gaussian("0.3", sensitivity=2), _gaussian("0.3", 2), 1, 1),
    _line(PoissonSubsampled(Gaussian("0.8"), "0.125"), _sampled(_gaussian("0.8"), "0.125"), 0.5, 1),
    _line(PoissonSubsampled(Gaussian(4), "1e-6"), _sampled(_gaussian(4), "1e-6"), 0.5, 4),
    _line(PoissonSubsampled(Gaussian(2), "0.9"), _sampled(_gaussian(2), "0.9"), 0.5, 2),
    _line(Laplace(1), _laplace(1), 0.5, 2),
    _line(Laplace("0.25"), _laplace("0.25"), 0.5, 1),
    _line(PoissonSubsampled(Laplace(2), "0.3"), _sampled(_laplace(2), "0.3"), 0.5, 4),
    _line(Pair.from_text("exp(-abs(t - 1)/2)/4", "exp(-abs(t)/2)/4"), _laplace(2), 0.5, 4),
    Example(
        Pair.from_tables({"a": "1/2", "b": "1/3", "c": "1/6"}, {"a": "1/6", "b": "1/3", "c": "1/2"}),
        points=lambda: [(mpf(1) / 2, mpf(1) / 6), (mpf(1) / 3, mpf(1) / 3), (mpf(1) / 6, mpf(1) / 2)],
    ),
]

NOISELESS = [
    (Gaussian(0), 1, 1),
    (Laplace(0), 1, 1),
    (PoissonSubsampled(Gaussian(0), "0.25"), "0.25", 0),
    (PoissonSubsampled(Laplace(0), "0.25"), "0.25", 0),
]
"""Pairs without noise: the mass at infinity in the forward and in the backward direction."""
