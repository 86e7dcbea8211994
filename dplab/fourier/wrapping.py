"""What Algorithm 1 loses because its window [-L, L) is finite: Theorem 10, part by part, and the sharper bound.

The transform is periodic, so a loss that leaves the window comes back at the other end. With alpha+, alpha- of one
step (`chernoff`), k steps and any lam > 0:

* Theorem 10 [Koskela et al. 2021] bounds |delta - delta~| by
  (e^{k alpha+} + sum_{l=1..k} e^{l alpha+} + sum_{l=1..k} e^{l alpha-}) e^{-lam L}/(1 - e^{-lam L});
* only sums that end outside come back elsewhere [Koskela, Honkela 2021, Theorem 7, sharpened], so
  delta~ - e^{k alpha- - lam L} <= delta <= delta~ + e^{k alpha+ - lam L}, with a lam of its own on each side.

The paper writes the sums as fractions, (2 e^{(k+1) a} - e^{k a} - e^a)/(e^a - 1), which are 0/0 at a = 0. Steps may
differ: alpha's and counts are then sequences, in the order of the steps.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..core.errors import ParameterError
from ..core.parameters import count
from .chernoff import alphas, positive_number
from .intervals import U

Numbers = float | Sequence[float]
_LEAST_LAMBDA, _MOST_LAMBDA = 1e-4, 1e5  # times 1/L
_SEARCH = 44


@dataclass(frozen=True)
class Theorem10:
    """Theorem 10's bound of |delta - delta~| as three parts that add up to it, each a bound of something by itself.

    tail: mass of S_k above the window. truncation: mass of which a partial sum S_l, l < k, is outside the window, what
    convolving *truncated* densities would lose. periodisation: the rest of the theorem's bound; covers the mass that
    comes back into the window. (The theorem states the sum; where to cut it is dplab's choice.)
    `lam` is the lambda used. Parts too large for a float are inf; `log_total` is not.
    """

    tail: float
    truncation: float
    periodisation: float
    log_total: float
    lam: float

    @property
    def total(self) -> float:
        """The bound: of |delta - delta~|."""
        return _exp(self.log_total)


@dataclass(frozen=True)
class OneSided:
    """delta~ - `below` <= delta <= delta~ + `above`: mass that leaves the window below comes back above, and raises
    delta~; mass that leaves it above lowers delta~. `lam_below`, `lam_above` are the lambdas used."""

    below: float
    above: float
    log_below: float
    log_above: float
    lam_below: float
    lam_above: float


def theorem_10(alpha_plus: Numbers, alpha_minus: Numbers, k: int | Sequence[int], L: float, lam: float) -> Theorem10:
    """Theorem 10 of Koskela et al. (2021) at one lambda.

    alpha_plus, alpha_minus: of one step (nats, any sign); k >= 1; L > 0 in nats; lam > 0.
    Raises ParameterError out of these ranges, or for sequences of different lengths.

    >>> bound = theorem_10(alpha_plus=0.02, alpha_minus=-0.01, k=100, L=8, lam=1.5)
    >>> round(bound.total, 9), round(bound.tail, 9)  # e^{100 * 0.02 - 12} is the tail
    (0.002414344, 4.54e-05)
    """
    plus, minus, counts = _steps(alpha_plus, alpha_minus, k)
    half, lam = positive_number(L, "L"), positive_number(lam, "lam")
    decay = lam * half
    repeats = -math.log(-math.expm1(-decay))  # log 1/(1 - e^{-lam L})
    before_plus, end_plus = _log_partial_sums(plus, counts)
    before_minus, end_minus = _log_partial_sums(minus, counts)
    tail = end_plus - decay
    truncation = _log_add(before_plus, before_minus) - decay
    again = _log_add(_log_add(before_plus, end_plus), before_minus) - 2 * decay + repeats
    periodisation = _log_add(_log_add(end_plus, end_minus) - decay + repeats, again)
    parts = _exp(tail), _exp(truncation), _exp(periodisation)
    log_total = _log_add(_log_add(tail, truncation), periodisation)
    whole = math.fsum(parts)
    if 1e-290 < whole < math.inf:
        log_total = math.log(whole)
    return Theorem10(*parts, log_total, lam)


def one_sided(alpha_plus: Numbers, alpha_minus: Numbers, k: int | Sequence[int], L: float, lam: float) -> OneSided:
    """The sharper bound at one lambda: e^{k alpha- - lam L} below, e^{k alpha+ - lam L} above.

    Arguments and errors as for `theorem_10`.

    >>> bound = one_sided(alpha_plus=0.02, alpha_minus=-0.01, k=100, L=8, lam=1.5)
    >>> round(bound.log_above, 12), round(bound.log_below, 12)  # 100 * 0.02 - 12, -100 * 0.01 - 12
    (-10.0, -13.0)
    """
    plus, minus, counts = _steps(alpha_plus, alpha_minus, k)
    half, lam = positive_number(L, "L"), positive_number(lam, "lam")
    below, above = (_log_end(alpha, counts) - lam * half for alpha in (minus, plus))
    return OneSided(_exp(below), _exp(above), below, above, lam, lam)


def best_theorem_10(a, k, L: float, lam: float | None = None) -> Theorem10:
    """Theorem 10 for grid masses, at the lambda that makes it smallest (or at `lam`).

    a: masses on x_i = -L + i 2L/n, and k; or sequences of such rows and of counts. Errors as for `alphas`.
    """
    rows, counts = _rows(a, k)
    half = positive_number(L, "L")

    def bound(lam: float) -> Theorem10:
        steps = [alphas(row, half, lam) for row in rows]
        return theorem_10([s.plus for s in steps], [s.minus for s in steps], counts, half, lam)

    return bound(_least(lambda lam: bound(lam).log_total, half) if lam is None else lam)


def best_one_sided(a, k, L: float, lam: float | None = None) -> OneSided:
    """The sharper bound for grid masses, each side at the lambda that makes it smallest (or both at `lam`).

    Arguments and errors as for `best_theorem_10`.
    """
    rows, counts = _rows(a, k)
    half = positive_number(L, "L")

    def bound(lam: float) -> OneSided:
        steps = [alphas(row, half, lam) for row in rows]
        return one_sided([s.plus for s in steps], [s.minus for s in steps], counts, half, lam)

    if lam is not None:
        return bound(lam)
    lam_below = _least(lambda lam: bound(lam).log_below, half)
    lam_above = _least(lambda lam: bound(lam).log_above, half)
    below, above = bound(lam_below), bound(lam_above)
    return OneSided(below.below, above.above, below.log_below, above.log_above, lam_below, lam_above)


def _least(log_bound: Callable[[float], float], half: float) -> float:
    """Golden-section search over log lam: the logarithm of either bound is convex in lam."""
    low, high = math.log(_LEAST_LAMBDA / half), math.log(_MOST_LAMBDA / half)
    golden = (math.sqrt(5) - 1) / 2
    left, right = high - golden * (high - low), low + golden * (high - low)
    at_left, at_right = log_bound(math.exp(left)), log_bound(math.exp(right))
    for _ in range(_SEARCH):
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - golden * (high - low)
            at_left = log_bound(math.exp(left))
        else:
            low, left, at_left = left, right, at_right
            right = low + golden * (high - low)
            at_right = log_bound(math.exp(right))
        if high - low < 1e-4:
            break
    return math.exp(left if at_left <= at_right else right)


def _steps(alpha_plus: Numbers, alpha_minus: Numbers, k) -> tuple[list[float], list[float], list[int]]:
    several = isinstance(k, Sequence) and not isinstance(k, str)
    counts = [count(one, "k") for one in (k if several else (k,))]
    found = []
    for value, name in ((alpha_plus, "alpha_plus"), (alpha_minus, "alpha_minus")):
        listed = list(value) if isinstance(value, Sequence) else [value]
        if len(listed) != len(counts):
            raise ParameterError(name, value, f"{len(counts)} numbers, one for each count in k")
        for number in listed:
            if not isinstance(number, (int, float)) or math.isnan(number) or number == math.inf:
                raise ParameterError(name, number, "a real number (nats), or -inf for no mass at all")
        found.append([float(number) for number in listed])
    if sum(counts) == 0:
        raise ParameterError("k", k, ">= 1", "Nothing is composed, so nothing leaves the window.")
    return found[0], found[1], counts


def _rows(a, k):
    several = isinstance(k, Sequence) and not isinstance(k, str)
    rows, counts = (list(a), list(k)) if several else ([a], [k])
    if len(rows) != len(counts):
        raise ParameterError("a", len(rows), f"{len(counts)} rows of masses, one for each count in k")
    if len({len(row) for row in rows}) > 1:
        raise ParameterError("a", [len(row) for row in rows], "rows of equal length: one grid serves all")
    return rows, counts


def _log_end(alpha: Sequence[float], counts: Sequence[int]) -> float:
    """sum k_j alpha_j, rounded up."""
    terms = [k * value for value, k in zip(alpha, counts, strict=True) if k]
    return math.fsum(terms) + 4 * U * math.fsum(abs(term) for term in terms if term > -math.inf)


def _log_partial_sums(alpha: Sequence[float], counts: Sequence[int]) -> tuple[float, float]:
    """log sum_{l=1..k-1} e^{A_l} and A_k, A_l the sum of the alphas of the first l steps."""
    used = [(value, k) for value, k in zip(alpha, counts, strict=True) if k]
    total, reached = -math.inf, 0.0
    for place, (value, k) in enumerate(used):
        inner = k - 1 if place == len(used) - 1 else k
        total = _log_add(total, reached + _log_geometric(value, inner))
        reached += k * value
    return total, _log_end(alpha, counts)


def _log_geometric(alpha: float, k: int) -> float:
    """log sum_{l=1..k} e^{l alpha}, through ratios in (0, 1] only."""
    if k == 0 or alpha == -math.inf:
        return -math.inf
    if k * abs(alpha) < 1e-15:
        return math.log(k) + 1e-15
    ratio = math.expm1(-k * abs(alpha)) / math.expm1(-abs(alpha))
    return (k if alpha > 0 else 1) * alpha + math.log(ratio) + 16 * U


def _log_add(a: float, b: float) -> float:
    high, low = max(a, b), min(a, b)
    return high if low == -math.inf else high + math.log1p(math.exp(low - high))


def _exp(x: float) -> float:
    return math.exp(x) if x < 709 else math.inf
