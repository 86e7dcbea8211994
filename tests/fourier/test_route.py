"""The public calls: what they refuse before any work, edge values that are no errors, settings by hand."""

import math
from decimal import Decimal
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import sympy
from mpmath import mpf

import dplab.fourier.route
from dplab import Composition, DplabError, Gaussian, Laplace, PoissonSubsampled, RandomizedResponse, fourier
from dplab.core.errors import ParameterError, ParameterTypeError, UnboundSymbolError

from .exact import atoms_delta, gaussian_delta

SAMPLED = 100 * PoissonSubsampled(Gaussian(1), "0.05")
CALLS = {
    "delta": fourier.delta,
    "log_delta": fourier.log_delta,
    "epsilon": fourier.epsilon,
    "curve": lambda composition, eps, *args, **settings: fourier.curve(composition, [eps], *args, **settings),
}
OF_EPS = ["delta", "log_delta", "curve"]


@pytest.fixture
def no_work(monkeypatch):
    """Any step beyond the checks fails."""

    def refuse(*args, **kwargs):
        raise AssertionError("work was started before the input was checked")

    monkeypatch.setattr(dplab.fourier.route, "OneDirection", refuse)


# --- bad input: an error that names the parameter, before any work ------------------------------------

BAD_EPS = [math.nan, "nan", "abc(", "1/0", None, [1], 1j, sympy.I, sympy.nan, Decimal("nan"), b"1", True]
BAD_DELTA = [-0.1, 1.5, "-1e-9", "1.0000000001", math.nan, math.inf, -math.inf, "inf", None, "1/0", [0.1], True]


@pytest.mark.parametrize("eps", BAD_EPS, ids=repr)
@pytest.mark.parametrize("call", OF_EPS)
def test_bad_eps(no_work, call, eps):
    with pytest.raises(ParameterError, match=r"^eps"):
        CALLS[call](SAMPLED, eps)


@pytest.mark.parametrize("delta", BAD_DELTA, ids=repr)
def test_bad_delta(no_work, delta):
    with pytest.raises(ParameterError, match=r"^delta"):
        fourier.epsilon(SAMPLED, delta)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("direction", ["sideways", "", None, 1, "Forward", ["forward"]], ids=repr)
@pytest.mark.parametrize("composition", [SAMPLED, 3 * Gaussian(1)], ids=str)  # a symmetric one needs no direction
def test_bad_direction(no_work, call, direction, composition):
    with pytest.raises(ParameterError, match=r"^direction"):
        CALLS[call](composition, 0.5, direction)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("composition", [None, 3, "Gaussian(1)", Gaussian, [Gaussian(1)]], ids=repr)
def test_what_is_no_composition(no_work, call, composition):
    with pytest.raises(ParameterTypeError, match=r"^composition"):
        CALLS[call](composition, 0.5)


@pytest.mark.parametrize("call", CALLS)
def test_symbols_are_named(no_work, call):
    composition = 5 * PoissonSubsampled(Gaussian("sigma"), "q") + Laplace("b")
    with pytest.raises(UnboundSymbolError, match="b, q, sigma") as caught:
        CALLS[call](composition, 0.5)
    assert isinstance(caught.value, ValueError)
    with pytest.raises(UnboundSymbolError, match="x"):
        CALLS[call](SAMPLED, "x/2")


SETTINGS = [
    ("rtol", [0, -1e-3, math.nan, math.inf, "x y", None]),
    ("dx", [0, -1, math.nan, math.inf, "inf", True, [1]]),
    ("tilt", [0, -1, math.nan, math.inf, "abc(", [1]]),
    ("n", [0, 7, 9, 2.0, -8, "16", True, math.inf, 2**40]),
    ("max_size", [0, -1, 3, 2.5, "big", True]),
]


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in SETTINGS for value in values], ids=str)
@pytest.mark.parametrize("call", CALLS)
def test_bad_settings(no_work, call, name, value):
    name = "atol" if name == "rtol" and call == "epsilon" else name
    with pytest.raises(ParameterError, match=rf"^{name}"):
        CALLS[call](SAMPLED, 0.5, **{name: value})


@pytest.mark.parametrize("k", [-1, 2.5, "3", None, math.nan, True], ids=repr)
def test_bad_counts_never_reach_the_route(k):
    with pytest.raises((ParameterError, TypeError)):
        fourier.delta(k * Gaussian(1), 1)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Gaussian(-1),
        lambda: Gaussian(math.nan),
        lambda: Gaussian(math.inf),
        lambda: Laplace(-0.1),
        lambda: Laplace("inf"),
        lambda: PoissonSubsampled(Gaussian(1), 1.01),
        lambda: PoissonSubsampled(Gaussian(1), -0.01),
        lambda: PoissonSubsampled(Gaussian(1), math.nan),
        lambda: RandomizedResponse(0.5),
        lambda: RandomizedResponse(1),
        lambda: RandomizedResponse.from_eps(0),
    ],
)
def test_bad_mechanisms_never_reach_the_route(make):
    with pytest.raises(ParameterError):
        fourier.delta(make(), 1)


def test_errors_are_dplab_errors_and_value_errors():
    for call in (
        lambda: fourier.delta(SAMPLED, math.nan),
        lambda: fourier.epsilon(SAMPLED, 2),
        lambda: fourier.delta(SAMPLED, 1, "up"),
    ):
        with pytest.raises(DplabError) as caught:
            call()
        assert isinstance(caught.value, ValueError)


# --- edge values that are no errors --------------------------------------------------------------------


def ends(bracket) -> tuple[float, float]:
    return bracket.lower, bracket.upper


@pytest.mark.parametrize(
    "lossless",
    [
        Composition(),
        0 * Gaussian(1),
        7 * Gaussian(2, sensitivity=0),
        7 * Laplace(0, sensitivity=0),
        3 * PoissonSubsampled(Gaussian(1), 0),
        3 * PoissonSubsampled(Gaussian(0), 0),
    ],
    ids=str,
)
@pytest.mark.parametrize("direction", ["forward", "backward", "both"])
def test_perfect_privacy(lossless, direction):
    assert ends(fourier.delta(lossless, 0, direction)) == (0.0, 0.0)
    assert ends(fourier.delta(lossless, 3, direction)) == (0.0, 0.0)
    assert ends(fourier.delta(lossless, math.inf, direction)) == (0.0, 0.0)
    assert ends(fourier.log_delta(lossless, 1, direction)) == (-math.inf, -math.inf)
    assert ends(fourier.epsilon(lossless, 0, direction)) == (0.0, 0.0)
    assert ends(fourier.epsilon(lossless, "1e-9", direction)) == (0.0, 0.0)
    with mpmath.workdps(30):
        assert fourier.delta(lossless, -1, direction).contains(-mpmath.expm1(-1))


@pytest.mark.parametrize("noiseless", [Gaussian(0), Laplace(0), 3 * Gaussian(0) + 2 * Laplace(1)], ids=str)
def test_no_noise_is_no_privacy(noiseless):
    for eps in (-5, 0, 1, 1000, math.inf, -math.inf):
        assert ends(fourier.delta(noiseless, eps)) == (1.0, 1.0)
    assert ends(fourier.log_delta(noiseless, 2)) == (0.0, 0.0)
    assert ends(fourier.epsilon(noiseless, "0.999999")) == (math.inf, math.inf)
    assert ends(fourier.epsilon(noiseless, 1)) == (0.0, 0.0)


@pytest.mark.parametrize("k", [1, 2, 5, 1000])
@pytest.mark.parametrize("q", ["0.1", "1e-7", "0.999999"])
def test_a_sample_without_noise_has_a_closed_form(k, q):
    """remove: delta(inf) = 1 - (1-q)^k and one loss k log(1-q) below 0; add: one loss -k log(1-q)."""
    composition = k * PoissonSubsampled(Gaussian(0), q)
    with mpmath.workdps(40):
        exact_q = mpf(q)
        infinite = -mpmath.expm1(k * mpmath.log1p(-exact_q))
        for eps in ("0", "0.5", "3"):
            bracket = fourier.delta(composition, eps, "remove")
            assert bracket.contains(infinite)
            assert bracket.relative_width < 1e-8
            above = max(-mpmath.expm1(mpf(eps) + k * mpmath.log1p(-exact_q)), mpf(0))
            bracket = fourier.delta(composition, eps, "add")
            assert bracket.contains(above)
        assert fourier.delta(composition, math.inf, "remove").contains(infinite)
        assert ends(fourier.delta(composition, math.inf, "add")) == (0.0, 0.0)
        inside = k * mpmath.log1p(-exact_q) - 1
        assert fourier.delta(composition, str(inside), "remove").contains(
            infinite + (1 - exact_q) ** k * -mpmath.expm1(-1)
        )


@pytest.mark.parametrize("base", [Gaussian(2), Laplace(1), RandomizedResponse("0.7")], ids=str)
def test_q_one_is_the_mechanism_itself(base):
    for way in ("remove", "add", "both"):
        for k in (1, 20):
            whole, plain = (fourier.delta(k * pair, 1, way) for pair in (PoissonSubsampled(base, 1), base))
            assert ends(whole) == ends(plain)
    assert ends(fourier.epsilon(9 * PoissonSubsampled(base, 1), "1e-4")) == ends(fourier.epsilon(9 * base, "1e-4"))


@pytest.mark.parametrize(
    "composition", [SAMPLED, 5 * Gaussian(2), 9 * RandomizedResponse("0.7"), 4 * Laplace(1)], ids=str
)
def test_infinite_eps(composition):
    assert ends(fourier.delta(composition, math.inf)) == (0.0, 0.0)
    assert ends(fourier.delta(composition, -math.inf)) == (1.0, 1.0)
    assert ends(fourier.delta(composition, "inf")) == (0.0, 0.0)
    assert ends(fourier.delta(composition, sympy.oo)) == (0.0, 0.0)
    assert ends(fourier.log_delta(composition, math.inf)) == (-math.inf, -math.inf)
    curve = fourier.curve(composition, [-math.inf, 0, math.inf])
    assert curve.lower[0] == 1.0
    assert curve.upper[-1] == 0.0


@pytest.mark.parametrize("eps", ["-0.01", -1, "-7.5", -40, -800, "-1e6"])
def test_negative_eps(eps):
    """delta(eps) >= 1 - e^eps, and Gaussian delta in closed form."""
    for k in (1, 12):
        with mpmath.workdps(60):
            true = gaussian_delta(mpmath.sqrt(k) / 2, mpf(eps)) if mpf(eps) > -100 else 1 - mpmath.exp(mpf(eps))
            bracket = fourier.delta(k * Gaussian(2), eps)
            assert bracket.contains(true) or mpf(eps) <= -100
        assert bracket.lower >= -math.expm1(float(eps)) * (1 - 4e-15)
        assert bracket.relative_width < 1e-3
        assert bracket.upper <= 1
    for composition in (SAMPLED, 4 * Laplace(1), 6 * RandomizedResponse("0.6")):
        bracket = fourier.delta(composition, eps)
        assert bracket.upper <= 1
        assert bracket.lower >= -math.expm1(float(eps)) * (1 - 4e-15)


@pytest.mark.parametrize("eps", [1e4, 1e8, 1e300])
def test_eps_beyond_everything(eps):
    for composition in (SAMPLED, 3 * Gaussian(1)):
        bracket = fourier.delta(composition, eps, max_size=2**14)
        assert bracket.lower == 0.0
        assert bracket.upper < (1e-200 if eps < 1e200 else 1.1)
    assert ends(fourier.delta(4 * Laplace(1), eps)) == (0.0, 0.0)


def test_parameters_of_every_kind_mean_the_same():
    expected = ends(fourier.delta(20 * Gaussian("2.5"), "0.1"))
    for sigma in (2.5, Fraction(5, 2), Decimal("2.5"), sympy.Rational(5, 2), np.float64(2.5), np.float32(2.5)):
        assert ends(fourier.delta(20 * Gaussian(sigma), "0.1")) == expected
    for eps in (0.1, Fraction(1, 10), Decimal("0.1"), sympy.Rational(1, 10), np.float64(0.1), mpf("0.1")):
        assert ends(fourier.delta(20 * Gaussian("2.5"), eps)) == expected


def test_a_single_mechanism_is_a_composition():
    assert ends(fourier.delta(Gaussian(1), 1)) == ends(fourier.delta(1 * Gaussian(1), 1))


def test_synonyms_of_directions():
    for one, other in (("remove", "forward"), ("add", "backward")):
        assert ends(fourier.delta(SAMPLED, 1, one)) == ends(fourier.delta(SAMPLED, 1, other))


# --- log delta -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("k", "eps"), [(1, 1), (50, 3), (50, 60), (5000, 25)])
def test_log_delta_is_the_logarithm(k, eps):
    sigma = 50 if k == 5000 else 3
    with mpmath.workdps(80):
        true = mpmath.log(gaussian_delta(mpmath.sqrt(k) / sigma, eps))
        bracket = fourier.log_delta(k * Gaussian(sigma), eps)
        assert bracket.contains(true)
    assert bracket.quantity == "log delta"
    assert bracket.width < 2e-3


def test_log_delta_below_the_smallest_float():
    pair = RandomizedResponse("0.6")
    with mpmath.workdps(60):
        true = mpmath.log(atoms_delta(pair, False, 5000, mpf("2026.5")))
        assert true < -1000
        bracket = fourier.log_delta(5000 * pair, "2026.5")
        assert bracket.contains(true)
    assert bracket.width < 1e-3
    assert fourier.delta(5000 * pair, "2026.5").upper > 0


# --- by hand -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tight():
    return fourier.delta(SAMPLED, 1, "remove", rtol=1e-6)


@pytest.mark.parametrize("settings", [
    {"dx": "1e-3"}, {"dx": 0.01}, {"dx": 0.2}, {"dx": 3}, {"dx": "1e4"},
    {"n": 8}, {"n": 64}, {"n": 1000}, {"n": 2 * 1009}, {"n": 2**16},
    {"tilt": "1e-9"}, {"tilt": 0.01}, {"tilt": 2}, {"tilt": 40}, {"tilt": 5000}, {"tilt": "1e12"},
    {"tilt": "1e200", "max_size": 2**16},
    {"max_size": 64}, {"max_size": 1000},
    {"dx": 0.01, "n": 4096, "tilt": 3}, {"dx": 1, "n": 8, "tilt": 100}, {"dx": "1e-5", "n": 8, "tilt": "1e-6"},
], ids=str)  # fmt: skip
def test_settings_by_hand_never_make_a_bracket_wrong(settings, tight):
    bracket = fourier.delta(SAMPLED, 1, "remove", **settings)
    assert bracket.lower <= tight.upper
    assert tight.lower <= bracket.upper
    assert bracket.reached == (bracket.relative_width <= 1e-3)
    used = bracket.budget.settings
    for name in ("dx", "n", "tilt"):
        if name in settings and not ("dx" in settings and name == "dx" and float(settings["dx"]) < 1e-4):
            assert used[name] == pytest.approx(float(settings[name]), rel=1e-12)


@pytest.mark.parametrize("settings", [{"n": 32}, {"dx": 0.5}, {"tilt": "1e-3"}, {"tilt": 300}], ids=str)
def test_eps_by_hand(settings):
    good = fourier.epsilon(SAMPLED, "1e-5", "remove")
    bracket = fourier.epsilon(SAMPLED, "1e-5", "remove", **settings)
    assert bracket.lower <= good.upper
    assert good.lower <= bracket.upper


def test_a_fine_dx_by_hand_helps():
    widths = [fourier.delta(SAMPLED, 1, "remove", dx=dx).relative_width for dx in ("0.02", "0.01", "0.005")]
    assert widths[0] > 3 * widths[1] > 9 * widths[2]


# --- violations found by random search: hand settings far off --------------------------------------------


@pytest.mark.parametrize(
    ("composition", "eps", "settings"),
    [
        (3 * Gaussian(1), 1, {"dx": "1e5"}),
        (3 * Gaussian(1), 1, {"dx": "1e200"}),
        (3 * Gaussian(1), 1, {"tilt": "1e12"}),
        (1151 * Gaussian("57.72"), "-0.237672", {"tilt": "306.9", "dx": "0.004812", "n": 29056}),
        (
            643546 * PoissonSubsampled(RandomizedResponse("0.6918"), "0.9995668"),
            201856,
            {"tilt": "4.96", "dx": "3.128", "n": 9192},
        ),
    ],
    ids=str,
)  # fmt: skip
def test_far_off_settings_found_by_random_search(composition, eps, settings):
    wide = fourier.delta(composition, eps, "forward", max_size=2**18, **settings)
    good = fourier.delta(composition, eps, "forward")
    assert good.reached
    assert wide.lower <= good.upper
    assert good.lower <= wide.upper
