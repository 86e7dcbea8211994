"""The central limit route: known values, limits, order, and what it says of itself."""

import math
import time

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mpf

from dplab import Approximation, Composition, Gaussian, Laplace, PoissonSubsampled, RandomizedResponse, clt
from dplab.core.errors import ParameterError, ParameterTypeError, UnboundSymbolError

METHODS = ["gdp", "limit", "moments", "normal"]
every_method = pytest.mark.parametrize("method", METHODS)
W1 = 1000 * PoissonSubsampled(Gaussian(1), "0.01")


def gdp_delta(mu, eps):
    """Phi(-eps/mu + mu/2) - e^eps Phi(-eps/mu - mu/2) in 40 digits [DRS22, Corollary 2.13]."""
    with mpmath.workdps(40):
        mu, eps = mpf(mu), mpf(eps)
        return mpmath.ncdf(mu / 2 - eps / mu) - mpmath.exp(eps) * mpmath.ncdf(-mu / 2 - eps / mu)


# --- known values ----------------------------------------------------------------------------------


def test_drs_example_ten_steps_of_pure_dp():
    """MATH.md section 7: the limit theorem has mu = 1; eps is 40 digits of mu-GDP inverted."""
    composition = 10 * RandomizedResponse.from_eps("1/sqrt(10)")
    answer = clt.epsilon(composition, "1e-3", method="limit")
    assert answer.value == pytest.approx(3.138670548582939208580754770003200849168, rel=1e-14)
    assert answer.details["mu"] == pytest.approx(1, rel=1e-15)
    # Theorem 3.4 at finite n: 2 sqrt(n) sinh(eps0/2)
    expected = 2 * math.sqrt(10) * math.sinh(1 / math.sqrt(10) / 2)
    assert clt.epsilon(composition, "1e-3").details["mu"] == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize(
    ("composition", "delta", "mu", "eps", "digits"),
    [
        # PEERS.md: what published GDP accountants say (three decimals given)
        (W1, "1e-5", 0.01 * math.sqrt(1000 * math.expm1(1)), 1.618, 5e-4),
        (
            10_000 * PoissonSubsampled(Gaussian("0.8"), "0.004"),
            "1e-6",
            0.4 * math.sqrt(math.expm1(1 / 0.64)),
            3.674,
            5e-4,
        ),
        # case K8-05, meta-pytorch/opacus issue 384
        (1000 * PoissonSubsampled(Gaussian("0.5"), "0.001"), "1e-5", 0.231512742701442331, 0.851524847545105389, 1e-14),
    ],
    ids=["W1", "W2", "K8-05"],
)
def test_subsampling_limit(composition, delta, mu, eps, digits):
    answer = clt.epsilon(composition, delta)
    assert answer.details["mu"] == pytest.approx(mu, rel=1e-14)
    assert answer.value == pytest.approx(eps, abs=digits)
    for direction in ("remove", "add"):
        assert clt.epsilon(composition, delta, direction).value == answer.value


@every_method
@pytest.mark.parametrize(("sigma", "k", "eps"), [(1, 1, 1), (50, 5000, 1), (50, 5000, 20), (0.5, 1, 0), (1, 1, -1)])
def test_gaussians_are_gdp_whatever_the_method(sigma, k, eps, method):
    composition = k * Gaussian(sigma)
    expected = gdp_delta(mpmath.sqrt(k) / mpf(sigma), eps)
    assert clt.delta(composition, eps, method=method).value == pytest.approx(float(expected), rel=2e-13)
    logarithm = clt.log_delta(composition, eps, method=method).value
    assert logarithm == pytest.approx(float(mpmath.log(expected)), rel=2e-14)


def test_mixed_gaussians():
    """Case K7-01."""
    composition = 10 * Gaussian(1) + 20 * Gaussian(2) + 40 * Gaussian(4)
    assert clt.delta(composition, 8).details["mu"] == pytest.approx(4.18330013267037774, rel=1e-15)
    assert clt.epsilon(composition, "1e-5").value == pytest.approx(25.9045517390171744, rel=1e-14)


def test_normal_method_is_the_formula():
    composition = 100 * Laplace(10)
    answer = clt.delta(composition, "0.7", method="normal")
    m, v = mpf(answer.details["mean"]), mpf(answer.details["variance"])
    with mpmath.workdps(40):
        h, eps = mpmath.sqrt(v), mpf("0.7")
        expected = mpmath.ncdf((m - eps) / h) - mpmath.exp(eps - m + v / 2) * mpmath.ncdf((m - v - eps) / h)
    assert answer.value == pytest.approx(float(expected), rel=1e-13)


def test_details_are_of_the_composition():
    one, many = (clt.delta(k * Laplace(10), 1).details for k in (1, 400))
    assert many["mean"] == pytest.approx(400 * one["mean"], rel=1e-14)
    assert many["variance"] == pytest.approx(400 * one["variance"], rel=1e-14)
    assert many["mu"] == pytest.approx(2 * many["mean"] / math.sqrt(many["variance"]), rel=1e-14)
    assert many["mu"] == pytest.approx(20 * one["mu"], rel=1e-14)


def test_kinds_of_parts_add_their_squares():
    sampled, plain = 300 * PoissonSubsampled(Gaussian(2), "0.05"), 20 * Laplace(5)
    mus = [clt.delta(c, 1).details["mu"] for c in (sampled, plain, sampled + plain)]
    assert mus[2] == pytest.approx(math.hypot(*mus[:2]), rel=1e-14)


@every_method
@pytest.mark.parametrize("k", [16, 100, 400, 1600])
def test_the_limit_is_reached_at_rate_one_over_k(k, method):
    """DRS22, Theorem 3.7, against the exact binomial sum; the constant moves with the lattice, up to 0.14."""
    composition = k * RandomizedResponse.from_eps(f"1/{math.isqrt(k)}")
    exact = _binomial_delta(k, mpf(1) / math.isqrt(k), mpf("0.8"))
    assert abs(clt.delta(composition, "0.8", method=method).value - float(exact)) < 0.2 / k


def _binomial_delta(k, eps0, eps):
    with mpmath.workdps(40):
        p = 1 / (1 + mpmath.exp(-eps0))
        terms = (
            mpmath.binomial(k, j) * max(0, p**j * (1 - p) ** (k - j) - mpmath.exp(eps) * (1 - p) ** j * p ** (k - j))
            for j in range(k + 1)
        )
        return mpmath.fsum(terms)


# --- what it says of itself ------------------------------------------------------------------------


@every_method
def test_answers_are_approximations(method):
    for answer in (
        clt.delta(Gaussian(1), 1, method=method),
        clt.log_delta(Gaussian(1), 1, method=method),
        clt.epsilon(Gaussian(1), "1e-5", method=method),
        *clt.curve(Gaussian(1), [0, 1], method=method),
    ):
        assert type(answer) is Approximation
        assert answer.method == method
        assert "no bound" in str(answer)
        assert {"mu", "mean", "variance", "mass_at_infinity"} <= set(answer.details)
    assert clt.epsilon(Gaussian(1), "1e-5", "add").direction == "backward"


def test_it_is_no_bound():
    """The truth of W1 is 1.82823667 (MATH.md); of ten pure-DP steps 2.88967: it errs to either side."""
    assert clt.epsilon(W1, "1e-5").value < 1.82
    assert clt.epsilon(10 * RandomizedResponse.from_eps("1/sqrt(10)"), "1e-3").value > 2.9


# --- order and limits ------------------------------------------------------------------------------

COMPOSITIONS = [
    5 * Gaussian(3),
    30 * RandomizedResponse("0.55"),
    9 * Laplace(2),
    W1,
    40 * PoissonSubsampled(Laplace(1), "0.1"),
    3 * PoissonSubsampled(Gaussian(0), "0.01") + 2 * Gaussian(1),
]


@given(
    st.sampled_from(COMPOSITIONS),
    st.sampled_from(["gdp", "moments", "normal"]),
    st.sampled_from(["remove", "add", "both"]),
    st.lists(st.floats(-3, 30), min_size=3, max_size=3, unique=True),
)
def test_delta_is_a_convex_falling_curve_between_its_bounds(composition, method, direction, epss):
    epss = sorted(epss)
    values = [value.value for value in clt.curve(composition, epss, direction, method)]
    assert all(max(0, -math.expm1(eps)) * (1 - 1e-12) <= v <= 1 for eps, v in zip(epss, values, strict=True))
    assert values[0] >= values[1] * (1 - 1e-12) >= values[2] * (1 - 1e-12) ** 2
    x = [math.exp(eps) for eps in epss]
    if x[0] < x[1] < x[2]:
        chord = values[0] + (values[2] - values[0]) * (x[1] - x[0]) / (x[2] - x[0])
        assert values[1] <= chord + 1e-12 * values[0]


@given(
    st.sampled_from(COMPOSITIONS),
    st.sampled_from(["gdp", "moments", "normal"]),
    st.sampled_from(["remove", "add", "both"]),
    st.floats(1e-250, 0.9),
)
def test_epsilon_inverts_delta(composition, method, direction, delta):
    eps = clt.epsilon(composition, delta, direction, method).value
    if eps == 0:
        assert clt.delta(composition, 0, direction, method).value <= delta * (1 + 1e-12)
    elif eps == math.inf:
        assert delta <= clt.delta(composition, math.inf, direction, method).value
    else:
        reached = clt.log_delta(composition, eps, direction, method).value
        assert reached == pytest.approx(math.log(delta), abs=1e-9)


@given(
    st.sampled_from(COMPOSITIONS[:4]), st.sampled_from(METHODS[:1] + METHODS[2:]), st.integers(2, 50), st.floats(0, 9)
)
def test_more_steps_lose_more(composition, method, times, eps):
    one, many = (clt.log_delta(c, eps, method=method).value for c in (composition, times * composition))
    assert many > one


def test_both_is_the_larger_direction():
    for method in METHODS:
        ways = [clt.delta(W1, 1, way, method).value for way in ("remove", "add", "both")]
        assert ways[2] == max(ways[:2])
    assert clt.delta(W1, 1, "remove", "normal").value != clt.delta(W1, 1, "add", "normal").value


@every_method
def test_order_of_parts_does_not_matter(method):
    a, b = 3 * Gaussian(2), 20 * PoissonSubsampled(Gaussian(1), "0.1")
    assert clt.delta(a + b, 1, method=method).value == clt.delta(b + a, 1, method=method).value


def test_eps_of_either_sign_and_infinite():
    assert clt.delta(Gaussian(1), math.inf).value == 0
    assert clt.delta(Gaussian(1), "-inf").value == 1
    assert clt.log_delta(Gaussian(1), math.inf).value == -math.inf
    assert clt.log_delta(Gaussian(1), -math.inf).value == 0
    assert clt.delta(Gaussian(1), "-1/2").value > -math.expm1(-0.5)


def test_a_normal_law_that_is_no_loss_keeps_to_the_least_delta():
    """mean < variance/2: E e^-s > 1, and the normal formula falls below 1 - e^eps, which no pair of laws does."""
    answer = clt.delta(W1, -1, "remove", "normal")
    assert answer.details["mean"] < answer.details["variance"] / 2
    for eps in (-1, "-0.01", "-3"):
        least = -math.expm1(float(eps))
        assert clt.delta(W1, eps, "remove", "normal").value >= least * (1 - 1e-15)
        assert clt.log_delta(W1, eps, "remove", "normal").value >= math.log(least)


@every_method
@pytest.mark.parametrize(
    "lossless",
    [Composition(), 0 * Gaussian(1), Gaussian(1, sensitivity=0), PoissonSubsampled(Gaussian(1), 0)],
    ids=str,
)
def test_nothing_lost(lossless, method):
    assert clt.delta(lossless, 0, method=method).value == 0
    assert clt.delta(lossless, 1, method=method).value == 0
    assert clt.delta(lossless, -1, method=method).value == pytest.approx(-math.expm1(-1), rel=1e-14)
    for delta in (0, "1e-5", 1):
        assert clt.epsilon(lossless, delta, method=method).value == 0


@every_method
def test_no_noise(method):
    assert clt.delta(Gaussian(0), 10, method=method).value == 1
    assert clt.epsilon(Gaussian(0), "0.999", method=method).value == math.inf
    assert clt.epsilon(Gaussian(0), 1, method=method).value == 0


@pytest.mark.parametrize("method", ["gdp", "moments", "normal"])
@pytest.mark.parametrize("k", [1, 5])
def test_sampling_no_noise_is_exact(method, k):
    """The finite loss has no variance, so nothing is approximated: case K5-03."""
    composition = k * PoissonSubsampled(Gaussian(0), "0.1")
    infinite = 1 - 0.9**k
    for eps in (0, 0.5, 3):
        assert clt.delta(composition, eps, "remove", method).value == pytest.approx(infinite, rel=1e-14)
        exact_add = max(0.0, 1 - 0.9**k * math.exp(eps))
        assert clt.delta(composition, eps, "add", method).value == pytest.approx(exact_add, rel=1e-13)
    assert clt.epsilon(composition, "0.01", method=method).value == math.inf
    assert clt.epsilon(composition, "0.01", "add", method).value == pytest.approx(math.log(0.99 / 0.9**k), rel=1e-13)


def test_mass_at_infinity_is_added():
    composition = 3 * PoissonSubsampled(Gaussian(0), "0.01") + 2 * Gaussian(1)
    infinite = 1 - 0.99**3
    shift = 3 * math.log(0.99)
    plain = float(gdp_delta(mpmath.sqrt(2), 1 - shift))
    expected = infinite + (1 - infinite) * plain
    assert clt.delta(composition, 1, "remove").value == pytest.approx(expected, rel=1e-13)
    assert clt.epsilon(composition, infinite / 2).value == math.inf
    assert clt.delta(composition, 1).details["mass_at_infinity"] == pytest.approx(infinite, rel=1e-14)
    assert clt.delta(composition, 500).value == pytest.approx(infinite, rel=1e-14)


def test_a_tiny_mass_at_infinity_survives():
    """Case K1-04: 1 - (1 - 1e-20)^1000 is not 0."""
    composition = 1000 * PoissonSubsampled(Gaussian(0), "1e-20")
    assert clt.delta(composition, 1, "remove").value == pytest.approx(9.99999999999999995e-18, rel=1e-15)


def test_full_sampling_is_the_mechanism():
    for pair in (Gaussian(1), Laplace(1), RandomizedResponse(0.75)):
        for method in ("gdp", "moments", "normal"):
            whole, sampled = (clt.delta(p, 0.3, method=method).value for p in (pair, PoissonSubsampled(pair, 1)))
            assert whole == sampled


@every_method
def test_delta_zero_and_one(method):
    assert clt.epsilon(Gaussian(1), 0, method=method).value == math.inf
    assert clt.epsilon(Gaussian(1), 1, method=method).value == 0


def test_extreme_parameters():
    sharp = 1000 * PoissonSubsampled(Gaussian("0.03"), "1e-6")
    assert clt.epsilon(sharp, "1e-6").value == math.inf  # chi^2 is e^1111
    assert 0 < clt.epsilon(sharp, "1e-6", method="normal").value < 1e4
    assert clt.epsilon(10**7 * Gaussian(10**6), "1e-250").value > 0
    assert clt.delta(Gaussian("1e-6"), 5).value == 1


def test_a_curve_is_fast_after_the_moments():
    epss = [i / 10 for i in range(200)]
    for composition, method in ((W1, "gdp"), (W1, "normal"), (1000 * Laplace(50), "normal")):
        clt.delta(composition, 1, method=method)
        times = []
        for _ in range(5):
            start = time.perf_counter()
            curve = clt.curve(composition, epss, method=method)
            times.append(time.perf_counter() - start)
        assert min(times) < 0.05
        assert len(curve) == 200
        assert curve[37].value == clt.delta(composition, "3.7", method=method).value


# --- bad input -------------------------------------------------------------------------------------


@pytest.mark.parametrize("question", [clt.delta, clt.log_delta, lambda c, eps: clt.curve(c, [0, eps])])
@pytest.mark.parametrize("eps", [math.nan, "nan", None, True, 1j, "eval(1)", [1]])
def test_eps(question, eps):
    with pytest.raises(ParameterError, match=r"^eps = "):
        question(W1, eps)


@pytest.mark.parametrize("delta", [-1e-9, 1.5, math.nan, math.inf, None, "x.real"])
def test_delta(delta):
    with pytest.raises(ParameterError, match=r"^delta = "):
        clt.epsilon(W1, delta)


@pytest.mark.parametrize("direction", ["sideways", None, 1])
def test_direction(direction):
    for question in (clt.delta, clt.epsilon):
        with pytest.raises(ParameterError, match=r"^direction = "):
            question(Gaussian(1), "0.1", direction)


@pytest.mark.parametrize("method", ["GDP", "", None, "edgeworth"])
def test_method(method):
    with pytest.raises(ParameterError, match=r"^method = "):
        clt.delta(W1, 1, method=method)


def test_limit_theorems_do_not_cover_everything():
    with pytest.raises(ParameterError, match="No limit theorem for Laplace"):
        clt.delta(Laplace(1), 1, method="limit")


@pytest.mark.parametrize("composition", [None, 1, "Gaussian(1)"])
def test_composition(composition):
    with pytest.raises(ParameterTypeError, match=r"^composition = "):
        clt.delta(composition, 1)


def test_symbols_are_named():
    with pytest.raises(UnboundSymbolError, match=r"q, sigma"):
        clt.delta(PoissonSubsampled(Gaussian("sigma"), "q"), 1)
    with pytest.raises(UnboundSymbolError, match="eps"):
        clt.delta(Gaussian(1), "eps")
    with pytest.raises(UnboundSymbolError, match="delta0"):
        clt.epsilon(Gaussian(1), "delta0")
