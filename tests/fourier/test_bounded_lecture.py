"""Algorithm 1 with its error: float64 against exact convolution, brackets against closed forms, budgets that add up."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from mpmath import mpf

from dplab import (
    Binomial,
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    Laplace,
    PoissonSubsampled,
    RandomizedResponse,
    fourier,
)
from dplab.core.errors import ParameterError, ParameterTypeError
from dplab.core.pld import PLD
from dplab.fourier import algorithm_1_bracket, algorithm_1_with_error, compose, outward_masses, rounded_masses

from .exact import FN, atoms_delta, below, continuous, gaussian_delta

PARTS = ["tail", "truncation", "periodisation", "rounding", "mass at infinity", "evaluation"]


def periodised(rows, counts):
    """The exact k-fold convolution modulo n, in fractions."""
    n = len(rows[0])
    law = [Fraction(int(i == n // 2)) for i in range(n)]
    for row, k in zip(rows, counts, strict=True):
        exact = [Fraction(float(m)) for m in row]
        for _ in range(k):
            new = [Fraction(0)] * n
            for i, p in enumerate(law):
                if p:
                    for j, m in enumerate(exact):
                        if m:
                            new[(i + j - n // 2) % n] += p * m
            law = new
    return law


@pytest.mark.parametrize("n", [2, 6, 14, 16, 30])
def test_float64_in_the_transforms_stays_within_its_bound(n):
    rng = np.random.default_rng(n)
    used = 0.0
    for trial in range(12):
        counts = [int(rng.integers(0, 5)) for _ in range(1 + trial % 2)]
        rows = [rng.random(n) ** rng.choice([1, 8]) * 10.0 ** -int(rng.integers(0, 5)) for _ in counts]
        found = compose(rows, counts, 1.0)
        worst = max(abs(Fraction(float(m)) - e) for m, e in zip(found.masses, periodised(rows, counts), strict=True))
        assert worst <= found.error
        used = max(used, float(worst) / found.error)
    assert used > 1e-3  # a bound a thousand times too large would say little


def test_long_powers_stay_within_their_bound():
    """k = 3000 of three losses, against the multinomial sum folded by hand."""
    k, n = 3000, 16
    p = [Fraction(1, 4), Fraction(1, 2), Fraction(1, 4)]  # losses -1, 0, 1: S_k + k is Bin(2k, 1/2)
    row = np.zeros(n)
    row[n // 2 - 1 : n // 2 + 2] = [float(x) for x in p]
    ways, term = [0] * n, 1
    for j in range(2 * k + 1):
        ways[(j - k + n // 2) % n] += term
        term = term * (2 * k - j) // (j + 1)
    exact = [Fraction(way, 4**k) for way in ways]
    found = compose(row, k, 1.0)
    worst = max(abs(Fraction(float(m)) - e) for m, e in zip(found.masses, exact, strict=True))
    assert worst <= found.error < 1e-9


def exact_delta(rows, counts, infinities, L, eps):
    """delta of grid masses taken as exact numbers, by convolution in 60 digits."""
    n = len(rows[0])
    with mpmath.workdps(60):
        law, steps, survive = [mpf(1)], 0, mpf(1)
        for row, k, infinity in zip(rows, counts, infinities, strict=True):
            for _ in range(k):
                new = [mpf(0)] * (len(law) + n - 1)
                for i, p in enumerate(law):
                    for j, m in enumerate(row):
                        new[i + j] += p * mpf(float(m))
                law, steps, survive = new, steps + 1, survive * (1 - mpf(infinity))
        dx = mpf(2 * L / n)
        losses = ((i - steps * (n // 2)) * dx for i in range(len(law)))
        terms = (p * -mpmath.expm1(mpf(eps) - x) for p, x in zip(law, losses, strict=True) if x > mpf(eps))
        return 1 - survive + mpmath.fsum(terms)


@pytest.mark.parametrize("wrap", ["one-sided", "theorem 10"])
def test_grid_masses_composed_lie_in_the_bracket(wrap):
    rng = np.random.default_rng(11)
    for trial in range(60):
        n, L = 2 * int(rng.integers(3, 9)), float(rng.choice([0.3, 2.0, 9.0]))
        several = trial % 2 == 1
        counts = [int(rng.integers(0, 4)) for _ in range(1 + several)]
        if not sum(counts):
            counts[0] = 1
        infinities = [float(rng.choice([0.0, 1e-9, 0.1])) for _ in counts]
        rows = [(1 - inf) * (w / w.sum()) for inf in infinities for w in [rng.random(n) ** 9]]
        eps = float(rng.uniform(-1.3, 1.3)) * L
        arguments = (rows, counts, L, eps, infinities) if several else (rows[0], counts[0], L, eps, infinities[0])
        bracket = algorithm_1_with_error(*arguments, wrap=wrap)
        assert bracket.lower <= exact_delta(rows, counts, infinities, L, eps) <= bracket.upper, trial
        assert [part.name for part in bracket.budget] == PARTS


def test_the_sharper_bracket_is_inside_the_other():
    a, infinity = rounded_masses(Gaussian(3), 6.0, 256)
    sharp, loose = (algorithm_1_with_error(a, 20, 6.0, 1, infinity, wrap=w) for w in ("one-sided", "theorem 10"))
    assert loose.lower <= sharp.lower
    assert sharp.upper <= loose.upper
    assert sharp.width < loose.width / 5


# ---------------------------------------------------------------- mechanisms


@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize(
    "pair",
    [Gaussian(1), Laplace("0.7"), RandomizedResponse("0.9"), PoissonSubsampled(Gaussian("0.6"), "0.2"), Gaussian(0)],
    ids=repr,
)
def test_outward_masses_enclose_each_cell(pair, direction):
    L, n = 4.0, 40
    pld = PLD(pair, direction == "backward")
    lower, upper = (outward_masses(pair, L, n, side, direction) for side in ("lower", "upper"))
    with mpmath.workdps(40):
        x = [(i - n // 2) * mpf(2 * L / n) for i in range(n)]
        tails = [continuous(pld, point)[0] for point in x]
        atoms = pld.atoms(FN)
        for i in range(n):
            left, right = (x[i - 1] if i else -mpmath.inf), x[i]
            mass = (tails[i - 1] - tails[i] if i else below(pld, x[0])[0]) + sum(
                a.p for a in atoms if left < a.loss <= right
            )
            assert upper.masses[i] >= mass - mpf(10) ** -30
            top = mpmath.inf if i == n - 1 else x[i + 1]
            after = (tails[i] - tails[i + 1] if i < n - 1 else tails[i]) + sum(
                a.p for a in atoms if x[i] <= a.loss < top
            )
            assert lower.masses[i] <= after + mpf(10) ** -30
        infinite = pld.mass_at_infinity(FN)
        assert lower.infinity <= infinite <= infinite + tails[-1] <= upper.infinity + mpf(10) ** -30
    near, infinity = rounded_masses(pair, L, n, "upper", direction)
    assert upper.masses == pytest.approx(near, abs=1e-13)
    assert upper.infinity == pytest.approx(infinity, abs=1e-13)


@pytest.mark.parametrize("wrap", ["one-sided", "theorem 10"])
@pytest.mark.parametrize("eps", ["-0.3", "0.7", "2"])
@pytest.mark.parametrize(
    ("sigma", "k", "L", "n"), [(3, 9, 8.0, 512), (1, 1, 12.0, 2**12), (20, 300, 6.0, 2**14), (2, 30, 3.0, 640)]
)
def test_gaussians(sigma, k, L, n, eps, wrap):
    bracket = algorithm_1_bracket(Gaussian(sigma), k, L, n, eps, wrap=wrap)
    assert bracket.lower <= gaussian_delta(mpmath.sqrt(k) / sigma, mpf(eps)) <= bracket.upper
    names = [part.name for part in bracket.budget]
    assert names == ["grid", *PARTS]
    if L > 4:  # where much wraps around, "left" may come out above "right"
        assert all(part.size >= -1e-18 for part in bracket.budget)


@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize("p", ["0.6", "0.9"])
@pytest.mark.parametrize("q", [None, "0.3"])
def test_randomised_response(p, q, direction):
    pair = RandomizedResponse(p) if q is None else PoissonSubsampled(RandomizedResponse(p), q)
    for k, eps in ((1, "0.1"), (7, "1.25"), (40, "3")):
        bracket = algorithm_1_bracket(pair, k, 40.0, 2**12, eps, direction)
        assert bracket.lower <= atoms_delta(pair, direction == "backward", k, mpf(eps)) <= bracket.upper


MANY_ATOMS = [
    DiscreteLaplace(2),
    DiscreteGaussian(3),
    Binomial(400, "0.5"),
    PoissonSubsampled(DiscreteGaussian(2), "0.1"),
]


@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize("pair", MANY_ATOMS, ids=repr)
def test_many_atoms_and_endless_losses(pair, direction):
    for k, eps in ((3, "0.4"), (60, "1.5")):
        bracket = algorithm_1_bracket(pair, k, 40.0, 2**12, eps, direction)
        truth = fourier.delta(k * pair, eps, direction)
        assert bracket.lower <= truth.lower
        assert truth.upper <= bracket.upper


def test_what_is_not_listed_goes_to_infinity():
    pair = DiscreteGaussian(3)
    upper, lower = (outward_masses(pair, 400.0, 2**12, side) for side in ("upper", "lower"))
    assert upper.infinity > 0  # the tail beyond the last listed atom
    assert lower.infinity == 0
    assert lower.masses.sum() < 1 < upper.masses.sum() + upper.infinity


def test_a_finer_grid_and_a_longer_window_narrow_what_they_should():
    widths = {n: algorithm_1_bracket(Gaussian(5), 10, 8, n, 1).budget["grid"] for n in (2**10, 2**11, 2**12)}
    assert widths[2**10] / widths[2**11] == pytest.approx(2, rel=0.05)  # first order
    assert widths[2**11] / widths[2**12] == pytest.approx(2, rel=0.05)
    tails = [algorithm_1_bracket(Gaussian(1), 4, L, int(64 * L), 1).budget["tail"] for L in (6.0, 9.0, 12.0)]
    assert tails[0] > 10 * tails[1] > 100 * tails[2]


def test_budgets_add_up():
    rng = np.random.default_rng(3)
    for _ in range(25):
        pair = [Gaussian(float(rng.uniform(1, 6))), Laplace(2), PoissonSubsampled(Gaussian(1), "0.1")][rng.integers(3)]
        k, L = int(rng.integers(1, 200)), float(rng.uniform(3, 20))
        n, eps = 2 * int(rng.integers(50, 2000)), round(float(rng.uniform(-1, 3)), 3)
        bracket = algorithm_1_bracket(pair, k, L, n, eps)
        if bracket.lower > 0 and bracket.upper < 1:
            assert bracket.budget.total == pytest.approx(bracket.width, rel=1e-12, abs=1e-16)
        else:
            assert bracket.budget.total >= bracket.width * (1 - 1e-12)


def test_nothing_lost_is_known_exactly():
    bracket = algorithm_1_bracket(Laplace(1, sensitivity=0), 5, 2, 64, eps="-1")
    assert bracket.contains(1 - math.exp(-1))
    assert bracket.budget["grid"] == bracket.budget["tail"] == 0.0
    assert bracket.width < 64 * 64 * 2.0**-53 * 10  # n outputs, each within a few u log2 n


def test_what_float64_cannot_hold_bounds_nothing_and_says_so():
    heavy = np.full(8, 0.5)  # total mass 4
    for steps in (400, 10**6):  # 4^400 is still a float, 4^(10^6) is not
        bracket = algorithm_1_with_error(heavy, steps, 1.0, 0.2)
        assert (bracket.lower, bracket.upper) == (0.0, 1.0)
        assert not any(math.isnan(part.size) for part in bracket.budget)
    assert compose(heavy, 10**6, 1.0).error == math.inf


@pytest.mark.parametrize("wrap", ["one-sided", "theorem 10"])
def test_a_useless_lambda_gives_a_useless_bracket_without_nan(wrap):
    bracket = algorithm_1_bracket(Gaussian(1), 1000, 4, 64, 1, wrap=wrap, lam=300)
    assert (bracket.lower, bracket.upper) == (0.0, 1.0)
    assert not any(math.isnan(part.size) for part in bracket.budget)
    assert "nan" not in bracket.budget._repr_html_()


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"k": 0}, ParameterError, "k = 0"),
        ({"k": 1.5}, ParameterTypeError, "k = 1.5"),
        ({"L": -1}, ParameterError, "L = -1"),
        ({"n": 7}, ParameterError, "n = 7"),
        ({"eps": math.inf}, ParameterError, "eps = inf"),
        ({"eps": math.nan}, ParameterError, "eps = nan"),
        ({"direction": "both"}, ParameterError, "faces one way"),
        ({"wrap": "none"}, ParameterError, "wrap = 'none'"),
    ],
)
def test_bad_input_is_named(change, error, words):
    good = {"pair": Gaussian(1), "k": 3, "L": 6, "n": 64, "eps": 1}
    with pytest.raises(error, match=words):
        algorithm_1_bracket(**(good | change))


def test_bad_masses_are_named():
    with pytest.raises(ParameterError, match="mass_at_infinity"):
        algorithm_1_with_error([0.5, 0.5], 2, 1.0, 0.5, 1.5)
    with pytest.raises(ParameterError, match="masses >= 0"):
        algorithm_1_with_error([0.5, -0.5], 2, 1.0, 0.5)


@pytest.mark.parametrize("wrap", ["one-sided", "theorem 10"])
def test_any_lambda_is_a_bound_and_the_chosen_one_is_the_best(wrap):
    best = algorithm_1_bracket(Gaussian(2), 8, 6, 512, 1, wrap=wrap)
    truth = gaussian_delta(mpmath.sqrt(2), 1)
    for lam in ("0.05", 1, 3, 20):
        bracket = algorithm_1_bracket(Gaussian(2), 8, 6, 512, 1, wrap=wrap, lam=lam)
        assert bracket.lower <= truth <= bracket.upper
        assert best.lower >= bracket.lower * (1 - 1e-6)
        assert best.upper <= bracket.upper * (1 + 1e-6)
    with pytest.raises(ParameterError, match="lam = 0"):
        algorithm_1_bracket(Gaussian(2), 8, 6, 512, 1, wrap=wrap, lam=0)
