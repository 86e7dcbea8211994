"""What a mechanism puts out, in floats and for pictures: the two distributions of the outcome, and test sets in them.

A law is a `Line` (outcomes are real numbers with a density) or a `Table` (finitely many outcomes with names). A test
set S is a list of intervals (from, to) on a line and a list of names in a table.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ..core.errors import NoClosedFormError, ParameterError
from ..core.functions import MpmathTable
from ..core.pair import Pair
from ..core.parameters import approximate, privacy_parameter, require_numbers
from ..mechanisms import Gaussian, Laplace, PoissonSubsampled, RandomizedResponse

TestSet: TypeAlias = Sequence[Any]
_FN = MpmathTable()
_REACH = 3.0
"""Standard deviations (times sqrt(2) for the longer tails of Laplace) around the two centres that a picture shows."""


class Masses(NamedTuple):
    """P(S) and Q(S)."""

    p: float
    q: float


@dataclass(frozen=True)
class Line:
    """Outcomes on the real line. `p`, `q`: densities; `loss`: log(p/q); `p_below`, `q_below`: distribution functions
    (all of them vectorised); `window`: the range that a picture shows."""

    p: Callable
    q: Callable
    loss: Callable
    p_below: Callable
    q_below: Callable
    window: tuple[float, float]

    def swapped(self) -> "Line":
        """The other direction: Q over P."""
        return Line(self.q, self.p, lambda t: -self.loss(t), self.q_below, self.p_below, self.window)

    def masses(self, chosen: TestSet) -> Masses:
        """P(S) and Q(S) of a list of disjoint intervals."""
        ends = np.array([tuple(map(float, interval)) for interval in chosen]).reshape(-1, 2)
        p, q = (float(np.sum(below(ends[:, 1]) - below(ends[:, 0]))) for below in (self.p_below, self.q_below))
        return Masses(p, q)

    def best(self, eps: float) -> list[tuple[float, float]]:
        """The outcomes with loss above eps, by a scan and bisection: the test set of Neyman and Pearson."""
        low, high = self.window
        middle, reach = (low + high) / 2, 4 * (high - low)
        t = np.linspace(middle - reach, middle + reach, 4001)
        inside = self.loss(t) > eps
        ends = [-math.inf] if inside[0] else []
        for place in np.flatnonzero(inside[1:] != inside[:-1]):
            ends.append(self._crossing(eps, t[place], t[place + 1]))
        ends += [math.inf] if inside[-1] else []
        return list(zip(ends[::2], ends[1::2], strict=True))

    def _crossing(self, eps: float, left: float, right: float) -> float:
        side = self.loss(np.array([left]))[0] > eps
        for _ in range(50):
            middle = (left + right) / 2
            if (self.loss(np.array([middle]))[0] > eps) == side:
                left = middle
            else:
                right = middle
        return float((left + right) / 2)


@dataclass(frozen=True)
class Table:
    """Finitely many outcomes: their names, and their probabilities under P and Q."""

    names: tuple[str, ...]
    p: tuple[float, ...]
    q: tuple[float, ...]

    def swapped(self) -> "Table":
        """The other direction: Q over P."""
        return Table(self.names, self.q, self.p)

    def masses(self, chosen: TestSet) -> Masses:
        """P(S) and Q(S) of a list of names. Raises ParameterError for a name that is no outcome."""
        unknown = [name for name in chosen if name not in self.names]
        if unknown:
            raise ParameterError("chosen", unknown[0], f"names of outcomes: {', '.join(self.names)}")
        places = [self.names.index(name) for name in chosen]
        return Masses(math.fsum(self.p[i] for i in places), math.fsum(self.q[i] for i in places))

    def best(self, eps: float) -> list[str]:
        """The outcomes with loss above eps: the test set of Neyman and Pearson."""
        x = exp_of(eps)
        return [name for name, p, q in zip(self.names, self.p, self.q, strict=True) if p > x * q]


def eps_of(eps) -> float:
    """eps as a float, for a picture; it may be infinite.

    Raises ParameterError for what is no number, UnboundSymbolError for a symbol.
    """
    value = privacy_parameter(eps)
    require_numbers("a picture", value)
    return float(approximate(value))


def exp_of(eps: float) -> float:
    """e^eps, or the largest float's neighbourhood where that overflows.

    >>> exp_of(0.0), exp_of(1e6) > 1e304
    (1.0, True)
    """
    return math.exp(min(eps, 702.0))


def outcomes(pair: Pair, backward: bool = False) -> Line | Table:
    """The two output distributions of a mechanism as the textbook writes them.

    >>> outcomes(RandomizedResponse("0.75"))
    Table(names=('yes', 'no'), p=(0.75, 0.25), q=(0.25, 0.75))

    Raises UnboundSymbolError if a parameter is a symbol, NoClosedFormError for a mechanism without outcomes to draw.
    """
    require_numbers("a picture", *pair.arguments.values())
    law = _forward(pair)
    return law.swapped() if backward else law


def _forward(pair: Pair) -> Line | Table:
    if isinstance(pair, RandomizedResponse):
        p, other = (float(mass) for mass in pair.masses(_FN))
        return Table(("yes", "no"), (p, other), (other, p))
    if isinstance(pair, Gaussian | Laplace):
        return _additive(pair)
    if isinstance(pair, PoissonSubsampled):
        return _mixed(_forward(pair.mechanism), approximate(pair.arguments["q"]))
    raise NoClosedFormError(f"outcomes: nothing is known here about what {pair!r} puts out; its loss can be drawn")


def _additive(pair: "Gaussian | Laplace") -> Line | Table:
    """Noise around Delta against noise around 0."""
    shift = approximate(pair.arguments["sensitivity"])
    if pair.noiseless:
        return Table(("the value with the record", "the value without"), (1.0, 0.0), (0.0, 1.0))
    if isinstance(pair, Gaussian):
        from scipy.special import ndtr

        width = approximate(pair.arguments["sigma"])
        reach = _REACH * width

        def density(t):
            return np.exp(-0.5 * (t / width) ** 2) / (width * math.sqrt(2 * math.pi))

        def below(t):
            return ndtr(t / width)

        def loss(t):
            return shift * (t - shift / 2) / width**2

    else:
        width = approximate(pair.arguments["b"])
        reach = _REACH * math.sqrt(2) * width

        def density(t):
            return np.exp(-np.abs(t) / width) / (2 * width)

        def below(t):
            half = np.exp(-np.abs(t) / width) / 2
            return np.where(t > 0, 1 - half, half)

        def loss(t):
            return (np.abs(t) - np.abs(t - shift)) / width

    return Line(lambda t: density(t - shift), density, loss, lambda t: below(t - shift), below, (-reach, shift + reach))


def _mixed(law: Line | Table, rate: float) -> Line | Table:
    """rate P + (1 - rate) Q against Q."""
    if isinstance(law, Table):
        return Table(law.names, tuple(rate * p + (1 - rate) * q for p, q in zip(law.p, law.q, strict=True)), law.q)

    def mixed(p: Callable, q: Callable) -> Callable:
        return lambda t: rate * p(t) + (1 - rate) * q(t)

    return Line(
        mixed(law.p, law.q), law.q, lambda t: np.log1p(rate * np.expm1(law.loss(t))), mixed(law.p_below, law.q_below),
        law.q_below, law.window,
    )  # fmt: skip
