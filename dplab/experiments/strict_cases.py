"""Random questions for the strictness run: case number -> composition, eps, direction, always the same.

Strata: the family of mechanisms goes round with the case number; log k is uniform from 1 to 10^6, and eps is where
the rough law puts a log delta that is uniform down to 1e-250, or now and then anywhere from -1 to 100.
"""

import math
import random
from dataclasses import dataclass
from fractions import Fraction

from ..core.composition import Composition
from ..core.pair import Pair
from ..fourier.accountant import OneDirection
from ..mechanisms import Gaussian, Laplace, PoissonSubsampled, RandomizedResponse

MOST_STEPS = 10**6
LEAST_LOG_DELTA = math.log(1e-250)
LEAST_EPS, MOST_EPS = -1.0, 100.0
_ANYWHERE = 0.1  # the share of cases whose eps has nothing to do with delta


@dataclass(frozen=True)
class Case:
    """One question: delta(eps) of a composition in one direction or both."""

    number: int
    family: str
    composition: Composition
    eps: str
    direction: str


def _decimal(value: float, digits: int = 4) -> str:
    return f"{value:.{digits}g}"


def _between(rng: random.Random, low: float, high: float) -> str:
    """A decimal, uniform on a logarithmic scale."""
    return _decimal(math.exp(rng.uniform(math.log(low), math.log(high))))


def _gaussian(rng) -> Pair:
    return Gaussian(_between(rng, 0.3, 100))


def _laplace(rng) -> Pair:
    return Laplace(_between(rng, 0.3, 100))


def _randomized_response(rng) -> Pair:
    return RandomizedResponse.from_eps(_between(rng, 0.01, 4))


def _sampled(base):
    def make(rng) -> Pair:
        return PoissonSubsampled(base(rng), _between(rng, 1e-4, 0.9))

    return make


SINGLE = {
    "Gaussian": _gaussian,
    "Laplace": _laplace,
    "randomised response": _randomized_response,
    "subsampled Gaussian": _sampled(_gaussian),
    "subsampled Laplace": _sampled(_laplace),
    "subsampled randomised response": _sampled(_randomized_response),
}
FAMILIES = (*SINGLE, "subsampled Gaussian", "heterogeneous")


def case(number: int) -> Case:
    """The case of this number (0, 1, 2, ...)."""
    rng = random.Random(f"dplab strictness {number}")
    family = FAMILIES[number % len(FAMILIES)]
    if family == "heterogeneous":
        makers = [rng.choice(list(SINGLE.values())) for _ in range(rng.randint(2, 4))]
        composition = Composition((make(rng), _steps(rng, MOST_STEPS / len(makers))) for make in makers)
    else:
        composition = _steps(rng, MOST_STEPS) * SINGLE[family](rng)
    direction = rng.choice(("forward", "backward", "both"))
    return Case(number, family, composition, _eps(rng, composition, direction), direction)


def _steps(rng, most: float) -> int:
    return max(1, round(math.exp(rng.uniform(0.0, math.log(most)))))


def _eps(rng, composition: Composition, direction: str) -> str:
    log_delta, anywhere = rng.uniform(LEAST_LOG_DELTA, math.log(0.9)), rng.random() < _ANYWHERE
    freely = _decimal(rng.uniform(LEAST_EPS, MOST_EPS))
    if anywhere:
        return freely
    way = OneDirection(composition.reduced(), direction == "backward")
    eps, largest = way.scout.saddle_for(log_delta).eps, float(way.largest_loss().lo)
    if eps > largest * (1 - 1e-6):  # where losses are bounded, delta ends in a jump or falls to 0 very fast
        eps = largest * (1 - 10 ** rng.uniform(-5, -0.5))
    return _decimal(min(max(eps, LEAST_EPS), MOST_EPS), 9) if math.isfinite(eps) else freely


def exact_eps(found: Case) -> Fraction:
    """The case's eps as a fraction."""
    return Fraction(found.eps)
