"""What a mechanism puts out, in floats and for pictures: the two distributions of the outcome, and test sets in them.

A law is a `Line` (outcomes are real numbers with a density) or a `Table` (finitely many outcomes with names). A test
set S is a list of intervals (from, to) on a line and a list of names in a table.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import mpmath
import numpy as np

from ..core.errors import NoClosedFormError, ParameterError, UnboundSymbolError
from ..core.functions import MpmathTable
from ..core.pair import Pair
from ..core.parameters import approximate, evaluate, privacy_parameter, require_numbers
from ..mechanisms import Gaussian, Laplace, PoissonSubsampled, RandomizedResponse

TestSet: TypeAlias = Sequence[Any]
_FN = MpmathTable()
_MOST_NAMED = 400
_SAMPLES = 8001
_REACH = 3.0
"""Standard deviations (times sqrt(2) for the longer tails of Laplace) around the two centres that a picture shows."""


class Masses(NamedTuple):
    """P(S) and Q(S)."""

    p: float
    q: float


@dataclass(frozen=True)
class Line:
    """Outcomes on the real line. `p`, `q`: densities; `loss`: log(p/q); `p_below`, `q_below`: distribution functions
    (all of them vectorised; the loss is infinite where only one of the two can be, and nan where neither can);
    `window`: the range that a picture shows; `grid`: points that hold all the mass, if the window does not."""

    p: Callable
    q: Callable
    loss: Callable
    p_below: Callable
    q_below: Callable
    window: tuple[float, float]
    grid: np.ndarray | None = None

    def swapped(self) -> "Line":
        """The other direction: Q over P."""
        return Line(self.q, self.p, lambda t: -self.loss(t), self.q_below, self.p_below, self.window, self.grid)

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


def need_numbers(pair: Pair) -> None:
    """Raise UnboundSymbolError if a parameter of the mechanism has no value: it cannot be drawn."""
    if pair.free_symbols:
        raise UnboundSymbolError(pair.free_symbols, "a picture")


def outcomes(pair: Pair, backward: bool = False) -> Line | Table:
    """The two output distributions of a mechanism as the textbook writes them.

    >>> outcomes(RandomizedResponse("0.75"))
    Table(names=('yes', 'no'), p=(0.75, 0.25), q=(0.25, 0.75))

    Raises UnboundSymbolError if a parameter is a symbol, NoClosedFormError for a mechanism without outcomes to draw.
    """
    need_numbers(pair)
    law = _forward(pair)
    return law.swapped() if backward else law


def known_by_densities(pair: Pair) -> bool:
    """Whether a mechanism was made of two densities, or is a sample of one that was."""
    return known_by_densities(pair.mechanism) if isinstance(pair, PoissonSubsampled) else _on_the_line(pair)


def _on_the_line(pair: Pair) -> bool:
    """Whether it has two densities of a real variable (not probabilities of whole numbers)."""
    variable: Any = getattr(pair, "variable", None)
    return hasattr(pair, "p_density") and not variable.is_integer


def without_inverse(pair: Pair) -> bool:
    """Whether the loss of a mechanism made of densities has a piece without a formula for its inverse."""
    own: Any = pair.mechanism if isinstance(pair, PoissonSubsampled) else pair
    if isinstance(own, PoissonSubsampled):
        return without_inverse(own)
    return hasattr(own, "p_density") and any(piece.inverse is None for piece in own.pieces)


def _forward(pair: Pair) -> Line | Table:
    if isinstance(pair, RandomizedResponse):
        p, other = (float(mass) for mass in pair.masses(_FN))
        return Table(("yes", "no"), (p, other), (other, p))
    if isinstance(pair, Gaussian | Laplace):
        return _additive(pair)
    if isinstance(pair, PoissonSubsampled):
        return _mixed(_forward(pair.mechanism), approximate(pair.arguments["q"]))
    if known_by_densities(pair):
        return _own(pair)
    if pair.support(_FN) is None:
        return _listed(pair)
    raise NoClosedFormError(f"outcomes: nothing is known here about what {pair!r} puts out; its loss can be drawn")


def _listed(pair: Pair) -> Table:
    """Outcomes by their number where they have one, else one for each loss; what only P or only Q can produce apart."""
    common = getattr(pair, "common_outcomes", None)
    with mpmath.workdps(15):
        if common is not None and len(common) <= _MOST_NAMED:
            page: Any = pair
            counted = [(j, page.outcome_masses(_FN, j)) for j in common]
            rows = [(str(j), float(masses.p), float(masses.q)) for j, masses in counted]
        else:
            atoms = sorted(pair.atoms(_FN), key=lambda atom: atom.loss)
            rows = [(f"s={float(a.loss) + 0.0:.2g}", float(a.p), float(a.q)) for a in atoms]
        infinite, missing = float(pair.mass_at_infinity(_FN)), float(pair.mass_at_minus_infinity(_FN))
    rows = _seen(rows)
    rows = [("P only", infinite, 0.0)] * (infinite > 0) + rows + [("Q only", 0.0, missing)] * (missing > 0)
    return _table(rows)


def _seen(rows: list[tuple[str, float, float]]) -> list[tuple[str, float, float]]:
    """Without outcomes too rare to be drawn."""
    most = max((max(p, q) for _, p, q in rows), default=0.0)
    return [(name, p, q) for name, p, q in rows if max(p, q) > 1e-5 * most]


def _table(rows: list[tuple[str, float, float]]) -> Table:
    names, p, q = zip(*rows, strict=True)
    return Table(names, p, q)


def _own(pair: Any) -> Line | Table:
    """A pair given by two sympy densities."""
    import sympy

    t = pair.variable
    p, q = (sympy.lambdify(t, density, ["scipy", "numpy"]) for density in (pair.p_density, pair.q_density))
    low, high = (float(evaluate(end, _FN)) for end in pair.arguments["support"])
    ends = low, high
    if t.is_integer:
        return _lattice(p, q, ends)
    return sampled_line(_vectorised(p), _vectorised(q), ends)


def _vectorised(function: Callable) -> Callable:
    """A lambdified density: constants become arrays, and what floats cannot tell is no density."""

    def density(t):
        with np.errstate(all="ignore"):
            values = np.asarray(function(np.asarray(t, float)), float)
        return np.nan_to_num(np.broadcast_to(values, np.shape(t)), nan=0.0, posinf=0.0, neginf=0.0)

    return density


def sampled_line(p: Callable, q: Callable, ends: tuple[float, float]) -> Line:
    """A line known only by its two densities (vectorised) between two ends: the rest from 8,001 points.

    The points are dense around 0 and thin out like a logarithm. The picture shows all but one and a half per cent at
    either end.
    """
    reach = 40.0
    low, high = (max(ends[0], -1e6), min(ends[1], 1e6))
    u = np.linspace(math.asinh(reach * low), math.asinh(reach * high), _SAMPLES)
    t = np.sinh(u) / reach
    below_p, below_q = (_cumulated(t, density(t)) for density in (p, q))
    both = (below_p + below_q) / 2
    left, right = (float(np.interp(share, both, t)) for share in (0.015, 0.985))
    margin = 0.04 * (right - left)
    held = t[(both > 1e-7) & (both < 1 - 1e-7)]

    def loss(at):
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.log(p(at)) - np.log(q(at))

    return Line(
        p, q, loss, lambda at: np.interp(at, t, below_p), lambda at: np.interp(at, t, below_q),
        (left - margin, right + margin), held,
    )  # fmt: skip


def _cumulated(t: np.ndarray, density: np.ndarray) -> np.ndarray:
    steps = np.diff(t) * (density[1:] + density[:-1]) / 2
    below = np.concatenate([[0.0], np.cumsum(steps)])
    return below / max(float(below[-1]), 1e-300)


def _lattice(p: Callable, q: Callable, ends: tuple[float, float]) -> Table:
    """Whole outcomes, as many as carry the mass."""
    low, high = max(ends[0], -_MOST_NAMED), min(ends[1], _MOST_NAMED)
    rows = [(str(j), float(p(j)), float(q(j))) for j in range(math.ceil(low), math.floor(high) + 1)]
    return _table(_seen(rows))


def _additive(pair: "Gaussian | Laplace") -> Line | Table:
    """Noise around Delta against noise around 0."""
    shift = approximate(pair.arguments["sensitivity"])
    if pair.noiseless:
        return Table(("t = Δ", "t = 0"), (1.0, 0.0), (0.0, 1.0))
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
        law.q_below, law.window, law.grid,
    )  # fmt: skip
