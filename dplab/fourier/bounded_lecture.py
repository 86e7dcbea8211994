"""Algorithm 1 with its error: the lecture's ten lines, and everything they lose bounded, float64 included.

What is bounded, and how:

* rounding of the losses: masses moved left and right, taken from enclosures of the tails (Lemma 5);
* the window: the mass that leaves it, by Chernoff on each side, or by Theorem 10 (`wrapping`);
* float64: each transform by 5 u log2 n times the sum of its inputs' moduli per output, the k-th power frequency by
  frequency, the kernel and the final sum by intervals (u = 2^-53; n with prime factors above 5: 4 sqrt n times more).

`dplab.fourier.delta` is the accountant for use; this one is for looking at.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..core.budget import ErrorBudget, Part
from ..core.directions import parse_direction
from ..core.errors import ParameterError
from ..core.pair import Pair
from ..core.parameters import count, evaluate, privacy_parameter, require_numbers
from ..core.pld import PLD
from ..core.results import Bracket
from .chernoff import lecture_grid, one_direction, positive_number
from .columns import Columns
from .intervals import Interval, IntervalTable, U, maximum
from .onestep import FN, OneStep
from .rounding import down, up
from .tilted import _is_smooth, _power
from .wrapping import _rows, best_one_sided, best_theorem_10

Wrap = Literal["one-sided", "theorem 10"]
_TRANSFORMS = "float64 in both transforms and the power: 5 u log2 n per output"
_INFINITE = "delta(inf) and its k-th power, enclosed"


@dataclass(frozen=True)
class Composed:
    """C^k: `masses` of the periodised k-fold sum on x_i, each right within `error` (float64's share alone).

    Where the power leaves float64's range, `error` is inf.
    """

    x: np.ndarray
    masses: np.ndarray
    error: float


def compose(a, k, L: float) -> Composed:
    """C^k = D F^{-1}(F(D a)^k) with a bound of its rounding error; heterogeneous: the product of the powers.

    a: masses on x_i = -L + i 2L/n, and k >= 0; or sequences of such rows and of counts.
    Raises ParameterError as `alphas` does.
    """
    rows, counts = _rows(a, k)
    grids = [lecture_grid(row, L) for row in rows]
    x, n = grids[0][1], len(grids[0][1])
    stages = 5 * math.log2(n) * (1 if _is_smooth(n) else 4 * math.sqrt(n))
    total = np.ones(n // 2 + 1, dtype=complex)
    relative, log_size = np.zeros(n // 2 + 1), np.zeros(n // 2 + 1)
    unresolved = np.zeros(n // 2 + 1, dtype=bool)
    for (masses, _), k_j in zip(grids, counts, strict=True):
        k_j = count(k_j)
        if k_j == 0:
            continue
        phi = np.fft.rfft(np.fft.ifftshift(masses))
        gamma = (stages + 2) * U * float(masses.sum()) + 1e-300
        size = np.maximum(np.abs(phi) * (1 + 4 * U), gamma)
        unresolved |= np.abs(phi) < gamma
        relative += k_j * np.log1p(gamma / size) + math.sqrt(5) * U * (k_j + 2)
        log_size += k_j * np.log(size)
        with np.errstate(over="ignore", invalid="ignore"):  # seen below
            total = total * _power(phi, k_j)
    largest = np.exp(np.minimum(log_size + relative + 1e-9, 700.0))
    errors = np.where(unresolved, 2 * largest, largest * -np.expm1(-relative) + 8 * U * largest)
    weights = np.full(n // 2 + 1, 2.0 / n)
    weights[[0, -1]] = 1.0 / n
    if not np.all(np.isfinite(total)):
        return Composed(x, np.zeros(n), math.inf)
    error = float(weights @ errors + (stages + 2) * U * (weights @ largest)) * (1 + 1e-9) + 1e-300
    return Composed(x, np.fft.fftshift(np.fft.irfft(total, n)), error)


def algorithm_1_with_error(
    a, k, L: float, eps, mass_at_infinity: float = 0.0, *, wrap: Wrap = "one-sided", lam=None
) -> Bracket:
    """Strict bounds of delta(eps) for k steps of a *grid* PLD, by Algorithm 1.

    a: masses on x_i = -L + i 2L/n (taken exactly as the floats they are), and k; or sequences of such rows and of
    counts, `mass_at_infinity` then too. eps: any real number in nats. wrap: how what leaves the window is bounded,
    "one-sided" (the sharper way) or "theorem 10"; lam: at this lambda, not at the best one.
    Returns a Bracket around the exact delta of these masses; its budget has the wrap-around's and float64's parts.
    Raises ParameterError for what `alphas` refuses, an infinity outside [0, 1], or another `wrap`.
    Source: Koskela et al. (2021), Algorithm 1 and Theorem 10; Koskela and Honkela (2021), Theorem 7.

    >>> coin = [0, 0, 0, 0.25, 0, 0.75, 0, 0]  # losses -1 and 1 on -4, -3, ..., 3
    >>> bracket = algorithm_1_with_error(coin, 3, L=4, eps=0)  # 0.421875 (1 - e^-3) + 0.421875 (1 - e^-1)
    >>> bracket.contains(0.6675469412880956), bracket.width < 1e-12
    (True, True)
    """
    found = _Side(a, k, L, _eps(eps), mass_at_infinity, wrap, lam)
    parts = [
        *_wrap_parts(found, found, wrap),
        Part("rounding", 2 * found.transforms, _TRANSFORMS),
        Part("mass at infinity", 2 * found.infinite_part, _INFINITE),
    ]
    parts.append(Part("evaluation", _rest(found, found, parts), "float64 in kernel and final sum; eps to float64"))
    return _bracket(found.low, found.high, parts, found.settings)


class _Side:
    """One grid PLD composed: the central value and what surrounds it."""

    def __init__(self, a, k, L: float, eps: Interval, infinity, wrap: Wrap, lam):
        if wrap not in ("one-sided", "theorem 10"):
            raise ParameterError("wrap", wrap, 'one of "one-sided", "theorem 10"')
        rows, counts = _rows(a, k)
        infinities = list(infinity) if isinstance(infinity, Sequence) else [infinity] * len(counts)
        for mass in infinities:
            if not 0 <= mass <= 1:
                raise ParameterError("mass_at_infinity", mass, "in [0, 1]")
        composed = compose(rows, counts, L)
        self.infinity = _infinity(infinities, counts)
        self.settings: dict[str, object] = {}
        self._sum(composed, eps)
        self.central = float(self.infinity.mid) + self.value
        if sum(counts):
            self._wrapped(rows, counts, L, wrap, lam)
        else:
            self.above = self.below = 0.0
            self.wrapped = (0.0, 0.0, 0.0)
        n = len(composed.x)
        self.settings = {"dx": 2 * float(L) / n, "n": n, "L": float(L), **self.settings}
        self.low = self.central - self.below - self.rounding
        self.high = self.central + self.above + self.rounding

    def _sum(self, composed: Composed, eps: Interval) -> None:
        """The final sum of kernel times masses, and float64's part in it."""
        x, masses, error = composed.x, composed.masses, composed.error
        n = len(x)
        self.infinite_part = 0.5 * (float(self.infinity.hi) - float(self.infinity.lo))
        if not math.isfinite(error):  # beyond float64: nothing is known
            self.value, self.evaluation, self.transforms, self.rounding = 0.0, 0.0, math.inf, math.inf
            return
        points = Interval(x - 4 * U * np.abs(x), x + 4 * U * np.abs(x))
        kernel = maximum(-FN.expm1(eps - points), 0.0)
        middle = 0.5 * (kernel.lo + kernel.hi)
        self.value = math.fsum(middle * masses)
        sizes = np.abs(masses)
        self.transforms = math.fsum(kernel.hi) * error * (1 + n * U)
        evaluated = (0.5 * (kernel.hi - kernel.lo) + 2 * U * kernel.hi) @ (sizes + error)
        self.evaluation = float(evaluated) * (1 + n * U) + 4 * U * (abs(self.value) + float(self.infinity.hi)) + 1e-300
        self.rounding = (self.transforms + self.evaluation + self.infinite_part) * (1 + 8 * U)

    def _wrapped(self, rows, counts, L: float, wrap: Wrap, lam) -> None:
        if wrap == "theorem 10":
            theorem = best_theorem_10(rows, counts, L, lam)
            self.wrapped = (theorem.tail, theorem.truncation, theorem.periodisation)
            self.above = self.below = math.fsum(self.wrapped) * (1 + 4 * U)
            self.settings = {"lambda": theorem.lam}
            return
        sharper = best_one_sided(rows, counts, L, lam)
        most = math.exp(min(_log_total(rows, counts), 700.0)) * (1 + 1e-9)
        self.above, self.below = (min(size * (1 + 1e-12), most) for size in (sharper.above, sharper.below))
        self.wrapped = (self.above, 0.0, self.below)
        self.settings = {"lambda above": sharper.lam_above, "lambda below": sharper.lam_below}


def _wrap_parts(lower: _Side, upper: _Side, wrap: Wrap, cut: float = 0.0) -> list[Part]:
    """What widens the upper and the lower end because of the window; `cut`: mass above the grid, sent to infinity."""
    if wrap == "theorem 10":
        tail, truncation, periodisation = (a + b for a, b in zip(lower.wrapped, upper.wrapped, strict=True))
        return [
            Part("tail", tail + cut, "Theorem 10: mass of the sum above the window, on both sides"),
            Part("truncation", truncation, "Theorem 10: partial sums outside the window, on both sides"),
            Part("periodisation", periodisation, "Theorem 10: mass that comes back into the window, on both sides"),
        ]
    return [
        Part("tail", upper.above + cut, "mass of the sum above the window, lost there: e^(k alpha+ - lambda L)"),
        Part("truncation", 0.0, "none: partial sums are never cut off, only whole sums come back elsewhere"),
        Part("periodisation", lower.below, "mass below the window that comes back above: e^(k alpha- - lambda L)"),
    ]


def algorithm_1_bracket(
    pair: Pair, k: int, L: float, n: int, eps, direction: str = "forward", *, wrap: Wrap = "one-sided", lam=None
) -> Bracket:
    """Strict bounds of delta(eps) for k releases of a mechanism, by the paper's Algorithm 1 on the grid X_n.

    Every loss is rounded to a grid point, left for the lower and right for the upper bound (Lemma 5), both composed by
    plain, untilted FFTs in the window [-L, L), and all errors are added. Arguments: as for `rounded_masses` and
    `algorithm_1_with_error`; k >= 1; the default direction is one, not both.
    Returns a Bracket whose budget adds up to upper - lower before clipping to [0, 1].

    >>> from dplab import Gaussian
    >>> bracket = algorithm_1_bracket(Gaussian(sigma=5), 10, L=8, n=2**14, eps=1)
    >>> bracket.lower < 0.0244224 < bracket.upper, bracket.width < 1e-3
    (True, True)
    """
    k = count(k)
    if k == 0:
        raise ParameterError("k", k, ">= 1", "Nothing is composed, so there is nothing to bound.")
    at = _eps(eps)
    sides = {side: outward_masses(pair, L, n, side, direction) for side in ("lower", "upper")}
    low, high = (_Side(sides[side].masses, k, L, at, sides[side].infinity, wrap, lam) for side in ("lower", "upper"))
    proper = sides["lower"].proper_infinity
    exact_high = float(_infinity([min(float(proper.hi), 1.0)], [k]).hi)
    cut = max(float(high.infinity.mid) - exact_high, 0.0)
    spread = max(exact_high - float(low.infinity.mid), 0.0) + high.infinite_part + low.infinite_part
    parts = [
        Part("grid", high.value - low.value, "losses rounded left and right by up to dx (Lemma 5): first order"),
        *_wrap_parts(low, high, wrap, cut),
        Part("rounding", high.transforms + low.transforms, _TRANSFORMS),
        Part("mass at infinity", spread, _INFINITE),
    ]
    reason = "float64 in masses, kernel and final sum; parameters to float64"
    parts.append(Part("evaluation", _rest(low, high, parts), reason))
    return _bracket(low.low, high.high, parts, high.settings | {"k": k}, parse_direction(direction))


def _rest(low: _Side, high: _Side, parts: Sequence[Part]) -> float:
    """What the other parts leave of upper - lower: kernel, final sum, and the rounding of adding up."""
    rest = high.high - low.low - math.fsum(part.size for part in parts)
    return rest if math.isfinite(rest) else low.evaluation + high.evaluation


def _bracket(low: float, high: float, parts, settings, direction: str = "forward") -> Bracket:
    budget = ErrorBudget(tuple(parts), settings)
    lower, upper = max(float(down(low)), 0.0), min(float(up(high)), 1.0)
    return Bracket(min(lower, upper), upper, budget, "delta", direction)


@dataclass(frozen=True)
class Outward:
    """Grid masses that bound a PLD: `masses` and `infinity`; `proper_infinity` encloses delta(inf) itself."""

    masses: np.ndarray
    infinity: float
    proper_infinity: Interval


def outward_masses(pair: Pair, L: float, n: int, side: str, direction: str = "forward") -> Outward:
    """`rounded_masses` with float64's errors on the safe side: every mass too large (upper) or too small (lower).

    Both the finite part of delta and delta(inf) grow with every mass, composed or not, so that is a bound.
    Arguments and errors as for `rounded_masses`.
    """
    if side not in ("upper", "lower"):
        raise ParameterError("side", side, 'one of "upper", "lower"')
    half, n = positive_number(L, "L"), count(n, "n")
    if n % 2 or n == 0:
        raise ParameterError("n", n, "even and positive")
    facing = one_direction(direction)
    x = Interval.exactly(np.arange(-(n // 2), n // 2)) * (2 * half / n)
    reduced = pair.reduced()
    if reduced is None:
        return Outward((np.arange(n) == n // 2).astype(float), 0.0, Interval.exactly(0.0))
    require_numbers("dplab.fourier", *pair.arguments.values())
    step = OneStep(PLD(reduced, facing == "backward"))
    upper = side == "upper"
    above, below = step.continuous(x)[0], step.below(x)
    direct, other = above[:-1] - above[1:], below[1:] - below[:-1]
    cells = np.minimum(direct.hi, other.hi) if upper else np.maximum(np.maximum(direct.lo, other.lo), 0.0)
    masses, infinity = np.zeros(n), float(step.infinity.hi if upper else step.infinity.lo)
    if upper:
        masses[1:] += np.maximum(cells, 0.0)
        masses[0] += float(below.hi[0])
        infinity += float(above.hi[-1])
    else:
        masses[:-1] += cells
        masses[-1] += float(above.lo[-1])
    infinity += _place_atoms(masses, x, step.columns, upper) + (step.unlisted if upper else 0.0)
    slack = (16 + len(step.columns)) * U
    masses = masses * (1 + slack) if upper else masses * (1 - slack)
    return Outward(masses, min(infinity * (1 + slack), 1.0) if upper else infinity, step.infinity)


def _place_atoms(masses: np.ndarray, x: Interval, atoms: Columns, upper: bool) -> float:
    """Puts atoms on the grid points right (upper) or left (lower) of them; returns what goes to infinity."""
    if upper:
        place = np.searchsorted(x.lo, atoms.loss.hi)  # the first node certainly not below the atom
        inside = place < len(masses)
        np.add.at(masses, place[inside], atoms.p.hi[inside])
        return float(np.sum(atoms.p.hi[~inside]))
    place = np.searchsorted(x.hi, atoms.loss.lo, side="right") - 1
    inside = place >= 0
    np.add.at(masses, place[inside], atoms.p.lo[inside])
    return 0.0


def _eps(eps) -> Interval:
    parameter = privacy_parameter(eps)
    if isinstance(parameter, float):
        raise ParameterError("eps", eps, "a finite number", "At infinity delta is the mass at infinity.")
    require_numbers("dplab.fourier", parameter)
    return evaluate(parameter, IntervalTable())


def _infinity(infinities: Sequence[float], counts: Sequence[int]) -> Interval:
    """1 - prod (1 - delta_j(inf))^{k_j}, enclosed."""
    if not any(mass for mass, k in zip(infinities, counts, strict=True) if k):
        return Interval.exactly(0.0)
    log_mass = Interval.exactly(0.0)
    for mass, k in zip(infinities, counts, strict=True):
        if k and mass >= 1:
            return Interval.exactly(1.0)
        log_mass = log_mass + FN.log1p(Interval.exactly(-float(mass))) * k
    return (-FN.expm1(log_mass)).clipped(0.0, 1.0)


def _log_total(rows, counts) -> float:
    totals = [float(np.sum(row)) * (1 + len(row) * U) for row in rows]
    return math.fsum(
        k * math.log(total) if total > 0 else -math.inf for total, k in zip(totals, counts, strict=True) if k
    )
