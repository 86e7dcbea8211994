"""Theorem 10 and the sharper bound against brute force: thousands of small grid PLDs, composed exactly and wrapped."""

import math
from dataclasses import dataclass

import mpmath
import numpy as np
import pytest

from dplab.core.errors import ParameterError, ParameterTypeError
from dplab.fourier import alphas, best_one_sided, best_theorem_10, one_sided, theorem_10

CASES = 3000


@dataclass(frozen=True)
class Case:
    """Rows of masses on x_i = -L + i dx, the counts of steps of each, and eps; everything below is by convolution."""

    rows: list
    counts: list
    L: float
    eps: float

    @property
    def n(self) -> int:
        return len(self.rows[0])

    @property
    def dx(self) -> float:
        return 2 * self.L / self.n

    def steps(self):
        """The row of each single step, in order."""
        return [row for row, k in zip(self.rows, self.counts, strict=True) for _ in range(k)]

    def sums(self):
        """Laws of S_1, ..., S_k: index j of S_i stands for the loss (j - i n/2) dx."""
        law, laws = np.ones(1), []
        for row in self.steps():
            law = np.convolve(law, row)
            laws.append(law)
        return laws

    def losses(self, law, steps: int):
        return (np.arange(len(law)) - steps * (self.n // 2)) * self.dx

    def kernel(self, x):
        return np.where(x > self.eps, -np.expm1(np.minimum(self.eps - x, 0.0)), 0.0)

    def true(self) -> float:
        law = self.sums()[-1]
        return float(law @ self.kernel(self.losses(law, sum(self.counts))))

    def wrapped(self) -> float:
        """What Algorithm 1 computes: the same, each loss brought back into the window."""
        law, k = self.sums()[-1], sum(self.counts)
        index = (np.arange(len(law)) - k * (self.n // 2) + self.n // 2) % self.n - self.n // 2
        return float(law @ self.kernel(index * self.dx))

    def truncated(self) -> float:
        """Partial sums that leave the window are lost for good."""
        law, n = None, self.n
        for row in self.steps():
            law = row if law is None else np.convolve(law, row)[n // 2 : n // 2 + n]
        return float(law @ self.kernel((np.arange(n) - n // 2) * self.dx))

    def above(self, steps: int) -> float:
        law = self.sums()[steps - 1]
        return float(law[self.losses(law, steps) >= self.L - 1e-9].sum())

    def below(self, steps: int) -> float:
        law = self.sums()[steps - 1]
        return float(law[self.losses(law, steps) < -self.L - 1e-9].sum())


def random_case(seed: int, several: bool) -> Case:
    rng = np.random.default_rng(seed)
    n = 2 * int(rng.integers(3, 13))
    parts = int(rng.integers(2, 4)) if several else 1
    rows = []
    for _ in range(parts):
        row = rng.random(n) ** rng.choice([1.0, 6.0]) * np.exp(-rng.exponential(3) * np.abs(np.linspace(-1, 1, n)))
        row[rng.random(n) < rng.choice([0.0, 0.7])] = 0.0
        row[int(rng.integers(n))] += 0.1
        rows.append(row / row.sum() * rng.choice([1.0, 0.97, 1.02]))  # lower and upper grid measures need not be laws
    counts = [int(rng.integers(1, 4 if several else 8)) for _ in range(parts)]
    L = float(rng.choice([0.1, 1.0, 4.0])) * (0.5 + rng.random())
    return Case(rows, counts, L, float(rng.uniform(-1.2, 1.2)) * L)


def bounds(case: Case, lam: float):
    steps = [alphas(row, case.L, lam) for row in case.rows]
    arguments = [a.plus for a in steps], [a.minus for a in steps], case.counts, case.L, lam
    return theorem_10(*arguments), one_sided(*arguments)


@pytest.mark.parametrize("several", [False, True])
def test_the_true_error_is_within_both_bounds_and_the_sharper_one_is_sharper(several):
    closest = 0.0
    for seed in range(CASES // 2):
        case = random_case(seed, several)
        lam = math.exp(np.random.default_rng(seed).uniform(-3, 3)) / case.L
        theorem, sharper = bounds(case, lam)
        error = case.true() - case.wrapped()
        assert -sharper.below - 1e-13 <= error <= sharper.above + 1e-13, seed
        assert sharper.above + sharper.below < theorem.total * (1 + 1e-12), seed
        assert case.above(sum(case.counts)) <= sharper.above * (1 + 1e-12) + 1e-15
        assert case.below(sum(case.counts)) <= sharper.below * (1 + 1e-12) + 1e-15
        closest = max(closest, abs(error) / (sharper.above if error > 0 else sharper.below))
    assert closest > 0.5  # the cases do put the bound to the test


@pytest.mark.parametrize("several", [False, True])
def test_each_part_of_theorem_10_bounds_what_it_is_called_after(several):
    for seed in range(CASES // 6):
        case = random_case(seed, several)
        k = sum(case.counts)
        theorem, _ = bounds(case, math.exp(np.random.default_rng(seed).uniform(-2, 2)) / case.L)
        assert case.above(k) <= theorem.tail * (1 + 1e-12) + 1e-15
        inside = case.true() - case.truncated()
        assert -1e-14 <= inside <= theorem.tail + theorem.truncation + 1e-13
        partial = sum(case.above(j) + case.below(j) for j in range(1, k))
        assert partial <= theorem.truncation * (1 + 1e-12) + 1e-15
        assert case.above(k) + case.below(k) <= theorem.periodisation * (1 + 1e-12) + 1e-15
        assert math.fsum((theorem.tail, theorem.truncation, theorem.periodisation)) == pytest.approx(theorem.total)


def as_printed(a_plus, a_minus, k, L, lam):
    """Theorem 10 as the paper prints it, in 50 digits."""
    with mpmath.workdps(50):
        a, b, lam, L = (mpmath.mpf(v) for v in (a_plus, a_minus, lam, L))
        plus = (2 * mpmath.exp((k + 1) * a) - mpmath.exp(k * a) - mpmath.exp(a)) / mpmath.expm1(a)
        minus = (mpmath.exp((k + 1) * b) - mpmath.exp(b)) / mpmath.expm1(b)
        return (plus + minus) * mpmath.exp(-lam * L) / -mpmath.expm1(-lam * L)


@pytest.mark.parametrize(
    ("a_plus", "a_minus"), [(0.02, -0.01), (-0.3, 0.4), (2.5, 1e-9), (-1e-12, 1e-12), (30.0, -30.0)]
)
@pytest.mark.parametrize("k", [1, 2, 17, 1000])
@pytest.mark.parametrize(("L", "lam"), [(8.0, 1.5), (0.1, 0.3), (300.0, 2.0)])
def test_it_is_the_formula_of_the_paper(a_plus, a_minus, k, L, lam):
    found = theorem_10(a_plus, a_minus, k, L, lam)
    assert found.log_total == pytest.approx(
        float(mpmath.log(as_printed(a_plus, a_minus, k, L, lam))), rel=1e-12, abs=1e-9
    )


@pytest.mark.parametrize("k", [1, 3, 10**6])
def test_alpha_zero_is_not_zero_over_zero(k):
    found = theorem_10(0.0, 0.0, k, L=2, lam=1)
    assert found.total == pytest.approx((1 + 2 * k) * math.exp(-2) / -math.expm1(-2), rel=1e-13)
    near = theorem_10(1e-18, -1e-18, k, L=2, lam=1)
    assert near.total == pytest.approx(found.total, rel=1e-9)


def test_steps_in_one_go_or_one_by_one_are_the_same():
    together = theorem_10(0.2, 0.1, 5, L=6, lam=1.1)
    single = theorem_10([0.2] * 3 + [0.2] * 2, [0.1] * 5, [1] * 5, L=6, lam=1.1)
    assert single.total == pytest.approx(together.total, rel=1e-12)
    assert single.truncation == pytest.approx(together.truncation, rel=1e-12)


def test_nothing_overflows_and_huge_bounds_are_infinite():
    found = theorem_10(50.0, 1.0, 1000, L=1, lam=1)
    assert found.total == math.inf
    assert found.log_total == pytest.approx(50_000 - 1 + math.log(2), abs=1)
    assert one_sided(50.0, 1.0, 1000, L=1, lam=1).above == math.inf
    assert theorem_10(-math.inf, 0.1, 3, L=5, lam=1).tail == 0.0


def test_the_best_lambda_is_best_on_a_fine_scan():
    for seed in range(20):
        case = random_case(seed, seed % 2 == 1)
        scan = [bounds(case, lam) for lam in np.geomspace(1e-3, 1e3, 120) / case.L]
        best = best_theorem_10(case.rows, case.counts, case.L)
        assert best.log_total <= min(t.log_total for t, _ in scan) + 1e-3
        sharper = best_one_sided(case.rows, case.counts, case.L)
        assert sharper.log_above <= min(s.log_above for _, s in scan) + 1e-3
        assert sharper.log_below <= min(s.log_below for _, s in scan) + 1e-3
        error = case.true() - case.wrapped()
        assert -sharper.below - 1e-13 <= error <= sharper.above + 1e-13


# ---------------------------------------------------------------- a published slip


def with_the_slip(a_plus, a_minus, k, L, lam):
    """Theorem 10 with e^{a - 1} in place of e^a - 1, as a published implementation has it."""
    plus = (2 * math.exp((k + 1) * a_plus) - math.exp(k * a_plus) - math.exp(a_plus)) / math.exp(a_plus - 1)
    minus = (math.exp((k + 1) * a_minus) - math.exp(a_minus)) / math.exp(a_minus - 1)
    return (plus + minus) * math.exp(-lam * L) / (1 - math.exp(-lam * L))


def test_the_slip_is_caught_by_the_property_that_the_theorem_passes():
    violated = negative = 0
    for seed in range(CASES // 2):
        case = random_case(seed, several=False)
        lam = math.exp(np.random.default_rng(seed).uniform(-3, 3)) / case.L
        a = alphas(case.rows[0], case.L, lam)
        wrong = with_the_slip(a.plus, a.minus, case.counts[0], case.L, lam)
        violated += abs(case.true() - case.wrapped()) > wrong + 1e-13
        negative += wrong < 0
    assert violated > 20
    assert negative > 20


def test_the_slip_makes_a_lower_bound_that_lies_above_the_truth():
    """sigma = 2, q = 0.01, k = 1000, L = 4, eps = 0.5, lambda = L/2: truth 1.2e-4, the "lower bound" 1.8e-3.

    The lower grid takes the least density of each cell. On a coarse grid little of its mass is left after 1000 steps,
    so that both alphas are negative, and with them the slip's bound.
    """
    from dplab import Gaussian, PoissonSubsampled, fourier

    step, k, L, n, lam = PoissonSubsampled(Gaussian(2), "0.01"), 1000, 4.0, 2**10, 2.0
    truth = fourier.delta(k * step, eps="0.5", direction="forward")
    assert 1.2e-4 < truth.lower < truth.upper < 1.22e-4
    x = np.arange(-n // 2, n // 2) * (2 * L / n)
    least = np.minimum(density(x), density(x + 2 * L / n)) * (2 * L / n)
    a = alphas(least, L, lam)
    assert a.plus < 0
    assert a.minus < 0
    value = fourier.algorithm_1(least, k, L, 0.5)
    assert value - with_the_slip(a.plus, a.minus, k, L, lam) > 10 * truth.upper
    assert value - theorem_10(a.plus, a.minus, k, L, lam).total < truth.lower


def density(s):
    """omega of the subsampled Gaussian, sigma = 2, q = 0.01, record removed (unimodal: sigma > 1/sqrt 2)."""
    sigma, q = 2.0, 0.01
    inside = s > math.log1p(-q) + 1e-12
    u = np.where(inside, np.expm1(np.where(inside, s, 0.0)) + q, 1.0)
    t = sigma**2 * np.log(u / q) + 0.5
    law = (q * np.exp(-((t - 1) ** 2) / (2 * sigma**2)) + (1 - q) * np.exp(-(t**2) / (2 * sigma**2))) / math.sqrt(
        2 * math.pi * sigma**2
    )
    return np.where(inside, law * sigma**2 * np.exp(np.where(inside, s, 0.0)) / u, 0.0)


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"L": 0}, ParameterError, "L = 0"),
        ({"L": float("nan")}, ParameterError, "L = nan"),
        ({"lam": -1}, ParameterError, "lam = -1"),
        ({"k": 0}, ParameterError, "k = 0"),
        ({"k": 2.5}, ParameterTypeError, "k = 2.5"),
        ({"k": [1, 2]}, ParameterError, "one for each count"),
        ({"alpha_plus": float("nan")}, ParameterError, "alpha_plus = nan"),
        ({"alpha_minus": "0.1"}, ParameterError, "alpha_minus = '0.1'"),
    ],
)
@pytest.mark.parametrize("bound", [theorem_10, one_sided])
def test_bad_input_is_named(bound, change, error, words):
    good = {"alpha_plus": 0.1, "alpha_minus": 0.1, "k": 3, "L": 2.0, "lam": 1.0}
    with pytest.raises(error, match=words.replace("[", r"\[")):
        bound(**(good | change))


def test_rows_and_counts_must_match():
    with pytest.raises(ParameterError, match="2 rows"):
        best_theorem_10([[0.5, 0.5]], [1, 2], 1.0)
    with pytest.raises(ParameterError, match="equal length"):
        best_one_sided([[0.5, 0.5], [0.25] * 4], [1, 2], 1.0)
