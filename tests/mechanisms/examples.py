"""One or more examples of every mechanism, each with its output distributions written from the textbook.

What the mechanism's page says about losses, tails and M(z) is compared with these densities, which share no code
with it. A new mechanism needs one entry here and gets the whole contract.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass, field

import mpmath
from mpmath import mpf

from dplab import (
    ApproximateDP,
    Binomial,
    DiscreteGaussian,
    DiscreteLaplace,
    ExponentialCounting,
    Gaussian,
    KaryRandomizedResponse,
    Laplace,
    PoissonSubsampled,
    Product,
    RandomizedResponse,
)
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


def _logistic(shift=1):
    def around(center):
        return lambda t: mpmath.sech((t - center) / 2) ** 2 / 4

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


def _kary(eps, m):
    def points():
        large = mpmath.exp(mpmath.mpmathify(eps))
        p0, p1 = large / (large + m - 1), 1 / (large + m - 1)
        return [(p0, p1), (p1, p0), *[(p1, p1)] * (m - 2)]

    return points


def _counting(eps, m, n):
    """Weights of both answers with and without the record, normalised."""

    def points():
        e = mpmath.exp(mpmath.mpmathify(eps))
        x, y = (e**m, e ** (n - m)), (e ** (m - 1), e ** (n - m))
        return [(a / sum(x), b / sum(y)) for a, b in zip(x, y, strict=True)]

    return points


def _approximate(eps, delta):
    def points():
        e, rest = mpmath.exp(mpmath.mpmathify(eps)), 1 - mpmath.mpmathify(delta)
        return [
            (1 - rest, mpf(0)),
            (rest * e / (1 + e), rest / (1 + e)),
            (rest / (1 + e), rest * e / (1 + e)),
            (mpf(0), 1 - rest),
        ]

    return points


def _counts(mass, shift, outcomes):
    """Point masses of whole-valued noise around 0 and around `shift`."""

    def points():
        return [(mass(t), mass(t - shift)) for t in outcomes]

    return points


def _binomial(n, p):
    def mass(j):
        rate = mpmath.mpmathify(p)
        return mpmath.binomial(n, j) * rate**j * (1 - rate) ** (n - j) if 0 <= j <= n else mpf(0)

    return mass


def _geometric(b):
    def mass(t):
        a = mpmath.exp(-1 / mpmath.mpmathify(b))
        return (1 - a) / (1 + a) * a ** abs(t)

    return mass


def _discrete_gaussian(sigma):
    def weight(t):
        return mpmath.exp(-t * t / (2 * mpmath.mpmathify(sigma) ** 2))

    @functools.lru_cache
    def total(_digits):
        return mpmath.fsum(weight(t) for t in range(-60, 61))  # e^-288 of the middle and less is left out

    return lambda t: weight(t) / total(mpmath.mp.dps)


def _mirrored(points):
    """P is the noise around `shift`, Q around 0."""
    return lambda: [(b, a) for a, b in points()]


def _both(*factors):
    def points():
        product = [(mpf(1), mpf(1))]
        for factor in factors:
            product = [(a * c, b * d) for a, b in product for c, d in factor()]
        return product

    return points


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
    _line(Pair.from_text("exp(-(t - 1))/(1 + exp(-(t - 1)))**2", "exp(-t)/(1 + exp(-t))**2"), _logistic(), 0.5, 2),
    Example(
        Pair.from_text(
            "piecewise(((1/3)*(2/3)**(t - 1), t >= 1), (0, True))", "(1/3)*(2/3)**t", "t", (0, "inf"), discrete=True
        ),
        points=lambda: [(mpf(0), mpf(1) / 3), (mpf(1), mpf(2) / 3)],
    ),
    Example(
        Pair.from_tables({"a": "1/2", "b": "1/3", "c": "1/6"}, {"a": "1/6", "b": "1/3", "c": "1/2"}),
        points=lambda: [(mpf(1) / 2, mpf(1) / 6), (mpf(1) / 3, mpf(1) / 3), (mpf(1) / 6, mpf(1) / 2)],
    ),
    Example(KaryRandomizedResponse(1, 5), points=_kary(1, 5)),
    Example(KaryRandomizedResponse("0.01", 1000), points=_kary("0.01", 1000)),
    Example(KaryRandomizedResponse(2, 2), points=_kary(2, 2)),
    Example(ExponentialCounting("0.5", 3, 10), points=_counting("0.5", 3, 10)),
    Example(ExponentialCounting("0.1", 100, 100), points=_counting("0.1", 100, 100)),
    Example(ExponentialCounting(2, 1, 7), points=_counting(2, 1, 7)),
    Example(ApproximateDP("0.5", "1e-3"), points=_approximate("0.5", "1e-3")),
    Example(ApproximateDP(0, "0.25"), points=_approximate(0, "0.25")),
    Example(
        PoissonSubsampled(ApproximateDP("0.5", "0.1"), "0.2"), points=_sampled_points(_approximate("0.5", "0.1"), "0.2")
    ),
    Example(DiscreteLaplace(2), points=_mirrored(_counts(_geometric(2), 1, range(-140, 142)))),
    Example(DiscreteLaplace("0.7", 3), points=_mirrored(_counts(_geometric("0.7"), 3, range(-60, 64)))),
    Example(
        PoissonSubsampled(DiscreteLaplace(1, 2), "0.3"),
        points=_sampled_points(_mirrored(_counts(_geometric(1), 2, range(-80, 83))), "0.3"),
    ),
    Example(Binomial(20, "0.5"), points=_counts(_binomial(20, "0.5"), 1, range(22))),
    Example(Binomial(12, "0.3", 2), points=_counts(_binomial(12, "0.3"), 2, range(15))),
    Example(
        PoissonSubsampled(Binomial(12, "0.3", 2), "0.2"),
        points=_sampled_points(_counts(_binomial(12, "0.3"), 2, range(15)), "0.2"),
    ),
    Example(DiscreteGaussian(1), points=_mirrored(_counts(_discrete_gaussian(1), 1, range(-14, 16)))),
    Example(DiscreteGaussian("0.3", 2), points=_mirrored(_counts(_discrete_gaussian("0.3"), 2, range(-8, 11)))),
    Example(DiscreteGaussian("2.5", 3), points=_mirrored(_counts(_discrete_gaussian("2.5"), 3, range(-32, 36)))),
    Example(
        PoissonSubsampled(DiscreteGaussian(1), "0.25"),
        points=_sampled_points(_mirrored(_counts(_discrete_gaussian(1), 1, range(-14, 16))), "0.25"),
    ),
    Example(
        Product(Binomial(6, "0.4"), KaryRandomizedResponse(1, 3)),
        points=_both(_counts(_binomial(6, "0.4"), 1, range(8)), _kary(1, 3)),
    ),
    Example(
        PoissonSubsampled(Product(Binomial(5, "0.5"), Binomial(5, "0.5")), "0.3"),
        points=_sampled_points(_both(*[_counts(_binomial(5, "0.5"), 1, range(7))] * 2), "0.3"),
    ),
]

NOISELESS = [
    (Gaussian(0), 1, 1),
    (Laplace(0), 1, 1),
    (DiscreteLaplace(0), 1, 1),
    (DiscreteGaussian(0, 2), 1, 1),
    (Binomial(10, "0.5", 11), 1, 1),
    (Binomial(10, 0), 1, 1),
    (Binomial(10, 1), 1, 1),
    (Binomial(10, "0.25", 10), "0.99999904632568359375", "0.94368648529052734375"),
    (ApproximateDP(1, 1), 1, 1),
    (Product(ApproximateDP(0, "0.5"), ApproximateDP(0, "0.25")), "0.625", "0.625"),
    (PoissonSubsampled(Gaussian(0), "0.25"), "0.25", 0),
    (PoissonSubsampled(Laplace(0), "0.25"), "0.25", 0),
]
"""Pairs without noise: the mass at infinity in the forward and in the backward direction."""
