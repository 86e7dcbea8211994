"""Calibration: the border found where formulas put it, both neighbours proven, wrong questions refused."""

import math
from fractions import Fraction

import mpmath
import pytest
from mpmath import mpf

import dplab
from dplab import Gaussian, Laplace, PoissonSubsampled, RandomizedResponse, calibrate, reference
from dplab.calibration import Calibration
from dplab.calibration.verdicts import CalibrationError, NotMonotoneError
from dplab.core.errors import DplabError, ParameterError, ParameterTypeError


def gaussian_delta(mu, eps):
    """delta of mu-GDP [Balle and Wang 2018]."""
    return mpmath.ncdf(mu / 2 - eps / mu) - mpmath.exp(eps) * mpmath.ncdf(-mu / 2 - eps / mu)


def coin_delta(p, k: int, eps):
    """delta of k randomised responses, by the binomial sum."""
    loss = mpmath.log(p / (1 - p))
    terms = ((2 * j - k) * loss for j in range(k + 1))
    return mpmath.fsum(
        mpmath.binomial(k, j) * p**j * (1 - p) ** (k - j) * -mpmath.expm1(eps - s)
        for j, s in enumerate(terms)
        if s > eps
    )


def assert_proven(found: Calibration, delta) -> None:
    assert Fraction(found.bracket.upper) <= Fraction(delta)
    assert Fraction(found.unsafe_bracket.lower) > Fraction(delta)


@pytest.mark.parametrize(
    ("k", "eps", "delta", "tol"),
    [
        (1, 1, "1e-5", "1e-2"),
        (1, 1, "1e-5", "1e-10"),
        (1, 5, "1e-30", "1e-4"),
        (100, "0.5", "1e-6", "1e-4"),
        (100, "0.5", "1e-6", "0.1"),
        (3, -1, "0.9", "1e-5"),
    ],
)
def test_sigma_of_the_gaussian(k, eps, delta, tol):
    found = calibrate(lambda sigma: k * Gaussian(sigma), eps, delta, tol=tol)
    assert_proven(found, delta)
    assert found.reached
    assert 0 < found.value - found.unsafe <= Fraction(tol) * found.value
    with mpmath.workdps(60):
        for sigma, safe in ((found.value, True), (found.unsafe, False)):
            mu = mpmath.sqrt(k) * sigma.denominator / sigma.numerator
            assert (
                gaussian_delta(mu, mpf(Fraction(str(eps)).numerator) / Fraction(str(eps)).denominator) <= mpf(delta)
            ) is safe


def test_a_whole_number_has_its_neighbour():
    p, eps, delta = Fraction(6, 10), 3, Fraction("1e-4")
    found = calibrate(lambda k: k * RandomizedResponse("0.6"), eps, delta)
    assert isinstance(found.value, int)
    assert found.unsafe == found.value + 1
    with mpmath.workdps(40):
        exact = [coin_delta(mpf(p.numerator) / p.denominator, k, eps) for k in range(30)]
    assert found.value == max(k for k in range(30) if exact[k] <= mpf("1e-4"))


def test_no_step_at_all_may_be_the_answer():
    found = calibrate(lambda k: k * Gaussian(1), 1, "1e-5")
    assert (found.value, found.unsafe) == (0, 1)


def test_a_rate_is_safe_downwards_and_ends_at_one():
    found = calibrate(lambda q: 10 * PoissonSubsampled(Gaussian(10), q), 1, "1e-5")
    assert_proven(found, "1e-5")
    assert 0 < found.unsafe - found.value <= Fraction("1e-4")
    always = calibrate(lambda q: 3 * PoissonSubsampled(Laplace(0), q), 1, "1e-5")  # delta = 1 - (1-q)^3
    border = -mpmath.expm1(mpmath.log1p(mpf("-1e-5")) / 3)
    assert float(always.value) < border < float(always.unsafe)


def test_both_neighbours_against_the_reference():
    found = calibrate(lambda sigma: 1000 * PoissonSubsampled(Gaussian(sigma), q="0.01"), eps=1, delta=1e-5)
    for sigma, safe in ((found.value, True), (found.unsafe, False)):
        true = reference.delta(1000 * PoissonSubsampled(Gaussian(sigma), q="0.01"), 1, digits=12)
        assert (true.value + true.error < mpf("1e-5")) is safe
        assert true.error < mpf("1e-12")


def test_delta_zero_is_the_largest_loss():
    found = calibrate(lambda b: Laplace(b), 1, 0)
    assert found.value > 1 > found.unsafe
    assert found.bracket.upper == 0


def test_directions():
    remove, add, both = (
        calibrate(lambda s: 20 * PoissonSubsampled(Gaussian(s), "0.1"), 1, "1e-5", way, tol="1e-2")
        for way in ("remove", "add", "both")
    )
    assert both.value == max(remove.value, add.value)
    assert remove.value != add.value


def test_what_cannot_be_told_apart_is_said():
    """delta - wanted far below float64's resolution: three values of which the middle one is undecided."""
    found = calibrate(lambda sigma: Gaussian(sigma), 1, "1e-5", tol="1e-18")
    assert_proven(found, "1e-5")
    assert not found.reached
    assert "cannot be told" in found.note
    assert "cannot be told" in str(found)
    assert found.value - found.unsafe < Fraction("1e-8")


def test_what_it_prints():
    found = calibrate(lambda sigma: Gaussian(sigma), 1, "1e-5")
    assert "\n" not in str(found)
    assert str(found).startswith("sigma = 3.7307 is safe for eps = 1, delta = 1e-5")
    assert "3.7306 is not" in str(found)
    html = found._repr_html_()
    assert html.count("<tr>") == 3
    assert "3.7307" in html
    assert "not safe" in html
    assert float(found) == 3.7307


def test_it_is_a_public_name():
    assert dplab.calibrate is calibrate
    assert "calibrate" in dir(dplab)
    assert "calibrate" in dplab.__all__


# --- questions without an answer ----------------------------------------------------------------------


def test_no_value_is_safe():
    with pytest.raises(CalibrationError, match=r"no value .* is safe.*delta is at least"):
        calibrate(lambda sigma: 10 * Gaussian(sigma), 1, "1e-5", between=("0.5", 1))


def test_every_value_is_safe():
    with pytest.raises(CalibrationError, match="every value looked at is safe, from sigma = 50 to sigma = 100"):
        calibrate(lambda sigma: 10 * Gaussian(sigma), 1, "1e-5", between=(50, 100))
    with pytest.raises(CalibrationError, match="every value"):
        calibrate(lambda q: PoissonSubsampled(Gaussian(100), q), 1, "1e-5")
    assert issubclass(CalibrationError, DplabError)


def test_not_monotone_is_noticed():
    with pytest.raises(NotMonotoneError, match="not monotone in x"):
        calibrate(lambda x: Gaussian(1 + (x - 3) * (x - 3)), 1, "1e-1", between=(0, 10))


def test_errors_of_the_family_pass_through():
    with pytest.raises(ParameterError, match=r"^p"):
        calibrate(lambda p: RandomizedResponse(p * 0), 1, "1e-5")
    with pytest.raises(ZeroDivisionError):
        calibrate(lambda sigma: Gaussian(sigma / 0), 1, "1e-5")
    with pytest.raises(ParameterTypeError, match="composition"):
        calibrate(lambda sigma: 3, 1, "1e-5")


BAD = [
    ({"family": 3}, "family"),
    ({"eps": "nan"}, "eps"),
    ({"eps": math.nan}, "eps"),
    ({"delta": 2}, "delta"),
    ({"delta": -0.1}, "delta"),
    ({"tol": 0}, "tol"),
    ({"tol": "0.6"}, "tol"),
    ({"between": (1,)}, "between"),
    ({"between": (2, 1)}, "between"),
    ({"between": ("a(", 1)}, "between"),
    ({"between": 5}, "between"),
    ({"direction": "sideways"}, "direction"),
]


@pytest.mark.parametrize(("wrong", "name"), BAD, ids=repr)
def test_bad_arguments_are_named_before_any_work(wrong, name):
    def family(sigma):
        raise AssertionError("work was started before the input was checked")

    arguments = {"family": family, "eps": 1, "delta": "1e-5", **wrong}
    with pytest.raises(ParameterError, match=rf"^{name}"):
        calibrate(**arguments)


def test_whole_numbers_want_a_whole_range():
    with pytest.raises(ParameterError, match=r"^between"):
        calibrate(lambda k: k * Gaussian(10), 1, "0.1", between=(1, "2.5"))
