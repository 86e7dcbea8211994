"""Bug reports on other accountants, by their ids: what dplab answers."""

import mpmath
import pytest

from dplab import Composition, Gaussian, Laplace, PoissonSubsampled, RandomizedResponse, reference
from dplab.core.functions import MpmathTable
from dplab.core.pld import PLD

from .known import cases

CASES = cases()


def sampled(q, sigma, steps) -> Composition:
    return steps * PoissonSubsampled(Gaussian(sigma=sigma), q=q)


def agrees(found, expected: str, digits: int) -> bool:
    with mpmath.workdps(digits + 20):
        value = mpmath.mpf(expected)
        if mpmath.isinf(value) or value == 0:
            return bool(found.value == value)
        return bool(abs(found.value - value) <= abs(value) * mpmath.mpf(10) ** (1 - digits))


def epsilon(composition, delta, direction="both"):
    return reference.epsilon(composition, delta, direction, digits=20)


def delta(composition, eps, direction="both"):
    return reference.delta(composition, eps, direction, digits=20)


@pytest.mark.parametrize("direction", ["remove", "add"])
@pytest.mark.parametrize("case_id", [pytest.param("K1-01", marks=pytest.mark.long), "K2-03", "K3-01"])
def test_eps_of_delta(case_id, direction):
    case = CASES[case_id]
    given = case["input"]
    composition = sampled(given["q"], given["sigma"], given["T"])
    deltas, expected = given["delta"], case["expected"][f"eps_{direction}"]
    if isinstance(deltas, str):
        deltas, expected = [deltas], [expected]
    for wanted, eps in zip(deltas, expected, strict=True):
        assert agrees(epsilon(composition, wanted, direction), eps, case["digits"])


def test_k2_05_pure_dp():
    expected = CASES["K2-05"]["expected"]
    composition = 1000 * RandomizedResponse.from_eps("0.01")
    assert agrees(delta(composition, "0.5"), expected["delta(0.5)"], 18)
    assert agrees(epsilon(composition, "1e-6"), expected["eps(1e-6)"], 18)


def test_k2_07_four_times_the_steps():
    given, expected = CASES["K2-07"]["input"], CASES["K2-07"]["expected"]
    few, many = (epsilon(sampled(given["q"], given["sigma"], k), given["delta"], "remove") for k in given["T"])
    assert agrees(few, expected["eps_remove"][0], 18)
    assert agrees(many, expected["eps_remove"][1], 18)


def test_k3_07_tails_of_the_loss():
    given, expected = CASES["K3-07"]["input"], CASES["K3-07"]["expected"]
    pair = PoissonSubsampled(Gaussian(sigma=given["sigma"]), q=given["q"])
    fn = MpmathTable()
    with mpmath.workdps(30):
        lower, _ = PLD(pair).support(fn)
        for text in given["t"]:
            t = mpmath.mpf(text)
            below = PLD(pair).below(fn, t).p if t > lower else mpmath.mpf(0)
            value = mpmath.mpf(expected[f"cdf({text})"])
            assert abs(below - value) <= value * mpmath.mpf(10) ** -17


def test_k3_09_losses_too_large_for_exp():
    expected = CASES["K3-09"]["expected"]
    composition = 5 * RandomizedResponse.from_eps(800)
    assert agrees(delta(composition, "3999.5"), expected["delta(3999.5)"], 18)
    assert delta(composition, 4000).value == 0
    almost_one = reference.delta(composition, 3000, digits=20)
    assert float(almost_one) == 1.0


def test_k5_01_q_one_is_the_mechanism():
    case = CASES["K5-01"]
    composition = sampled("1", "2", 10)
    found = [epsilon(composition, "1e-5", direction) for direction in ("remove", "add")]
    assert all(agrees(one, case["expected"]["eps"], 18) for one in found)


def test_k5_03_no_noise():
    assert epsilon(sampled(1, 0, 1), "0.5").value == mpmath.inf
    assert agrees(delta(sampled("0.1", 0, 1), 0, "remove"), "0.1", 20)
    assert agrees(delta(sampled("0.1", 0, 5), 3, "remove"), "0.40951", 20)
    assert epsilon(sampled("0.1", 0, 5), "0.01").value == mpmath.inf
    assert delta(sampled("0.1", 0, 5), "0.6", "add").value == 0
    assert delta(sampled("0.1", 0, 5), "-5*log(9/10)", "add").value == 0


def test_k6_01_delta_above_delta_at_zero():
    expected = CASES["K6-01"]["expected"]
    composition = sampled("0.01", "1", 100)
    assert agrees(delta(composition, 0, "add"), expected["delta(0)"], 15)
    found = epsilon(composition, "0.06")
    assert found.value == 0
    assert "0 by convention" in found.method


def test_k6_03_delta_at_zero():
    expected = CASES["K6-03"]["expected"]
    assert agrees(delta(Gaussian(sigma=1), 0), expected["delta(0) at sigma=1"], 18)
    assert agrees(delta(Gaussian(sigma=expected["sigma_min"]), 0), "1e-6", 17)


def test_k6_05_delta_zero():
    expected = CASES["K6-05"]["expected"]["eps"]
    found = [
        epsilon(Gaussian(sigma=1), 0),
        epsilon(3 * Laplace(b=2), 0),
        epsilon(sampled("0.01", 1, 100), 0, "add"),
        epsilon(sampled("0.01", 1, 100), 0, "remove"),
    ]
    assert all(agrees(one, eps, 18) for one, eps in zip(found, expected, strict=True))


def test_k6_09_small_deltas_of_one_step():
    expected = CASES["K6-09"]["expected"]
    composition = sampled("0.00105", "1", 1)
    assert agrees(delta(composition, 0), expected["delta(0)"], 18)
    assert agrees(epsilon(composition, "1e-3"), expected["eps(1e-3)"], 18)
    assert agrees(epsilon(composition, "1e-4"), expected["eps(1e-4)"], 18)


def test_k7_01_gaussians_add_up():
    expected = CASES["K7-01"]["expected"]
    composition = Composition([(Gaussian(sigma=s["sigma"]), s["T"]) for s in CASES["K7-01"]["input"]["steps"]])
    assert agrees(epsilon(composition, "1e-5"), expected["eps(1e-5)"], 18)
    assert agrees(delta(composition, 8), expected["delta(8)"], 18)


@pytest.mark.parametrize("direction", ["remove", "add"])
def test_k7_03_two_blocks(direction):
    case = CASES["K7-03"]
    one, two = (sampled(block["q"], block["sigma"], block["T"]) for block in case["input"]["blocks"])
    assert one + two == two + one
    assert agrees(epsilon(one + two, "1e-5", direction), case["expected"][f"eps_{direction}"], 18)
