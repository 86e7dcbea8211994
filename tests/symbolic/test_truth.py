"""Closed forms against the known values, and against the mechanisms' pages in 60-digit arithmetic."""

import itertools
import json
from math import comb
from pathlib import Path

import mpmath
import pytest
from mpmath import mpf

from dplab import Composition, Gaussian, Laplace, PoissonSubsampled, RandomizedResponse, symbolic
from dplab.core.errors import NoClosedFormError
from dplab.core.functions import MpmathTable
from dplab.core.pld import PLD

FN = MpmathTable()
TRUTH = json.loads((Path(__file__).parents[1] / "data" / "truth.json").read_text())
ENTRIES = TRUTH if isinstance(TRUTH, list) else TRUTH["values"]

MAKERS = {
    "randomized_response": lambda entry: RandomizedResponse(entry["p"]),
    "gaussian": lambda entry: Gaussian(entry["sigma"]),
    "laplace": lambda entry: Laplace(entry["b"]),
    "poisson_subsampled_randomized_response": lambda entry: PoissonSubsampled(
        RandomizedResponse(entry["p"]), entry["q"]
    ),
}


def closed(entry) -> bool:
    return entry["mechanism"] in MAKERS and entry["quantity"] == "delta" and entry["k"] * ("b" in entry) <= 20


def relative(found, expected):
    with mpmath.workdps(80):
        return abs(found / mpf(expected) - 1)


@pytest.mark.parametrize(
    "entry", [e for e in ENTRIES if closed(e)], ids=lambda e: f"{e['name']} k={e['k']} eps={e['eps']}"
)
def test_known_values_to_all_their_digits(entry):
    composition = entry["k"] * MAKERS[entry["mechanism"]](entry)
    direction = entry.get("direction", "both")
    found = symbolic.delta(composition, entry["eps"], direction)
    # the truth is rounded to 40 digits
    assert relative(found.evaluate(45), entry["value"]) < mpf(10) ** -39
    logarithm = symbolic.log_delta(composition, entry["eps"], direction).evaluate(45)
    with mpmath.workdps(50):
        assert relative(mpmath.exp(logarithm), entry["value"]) < mpf(10) ** -39


# Real reports on other accountants, finder's values: google/dp-accounting (K3-09), (K2-05); K7-01 and K4-01 sums of
# Gaussians, K5-03 no noise.
def test_case_k3_09_large_pure_dp():
    composition = 5 * RandomizedResponse.from_eps(800)
    assert relative(symbolic.delta(composition, "3999.5").evaluate(30), "0.393469340287366576") < mpf("1e-17")
    assert symbolic.delta(composition, 4000).evaluate(30) == 0
    assert 1 - symbolic.delta(composition, 3000).evaluate(600) < mpmath.exp(-790)


def test_case_k2_05_many_small_pure_dp_steps():
    composition = 1000 * RandomizedResponse.from_eps("0.01")
    assert relative(symbolic.delta(composition, "0.5").evaluate(30), "0.00975376045682500188") < mpf("1e-17")


def test_case_k7_01_heterogeneous_gaussians():
    composition = 10 * Gaussian(1) + 20 * Gaussian(2) + 40 * Gaussian(4)
    assert relative(symbolic.delta(composition, 8).evaluate(30), "0.478321404140411274") < mpf("1e-17")


def test_case_k5_03_sampling_no_noise():
    composition = 5 * PoissonSubsampled(Gaussian(0), "0.1")
    assert relative(symbolic.delta(composition, 1, "remove").evaluate(30), "0.40951") < mpf("1e-29")
    assert symbolic.delta(composition, 1, "add").evaluate(30) == 0
    assert symbolic.epsilon(composition, "0.01").evaluate(30) == mpmath.inf


STEPS = [
    RandomizedResponse("0.83"),
    RandomizedResponse.from_eps("0.4"),
    Gaussian("0.7"),
    Gaussian(20),
    Laplace("0.6"),
    Laplace(3, sensitivity=2),
    PoissonSubsampled(RandomizedResponse("0.83"), "0.02"),
    PoissonSubsampled(Gaussian("0.7"), "0.3"),
    PoissonSubsampled(Gaussian(4), "1e-6"),
    PoissonSubsampled(Laplace("0.6"), "0.01"),
    PoissonSubsampled(Gaussian(0), "0.2"),
]


def from_tails(pld: PLD, eps):
    """delta(eps) from the page's tails, atoms and masses, with numbers."""
    p, q = pld.mass_at_infinity(FN), mpf(0)
    for atom in pld.atoms(FN):
        if atom.loss > eps:
            p, q = p + atom.p, q + atom.q
    ends = pld.support(FN)
    if ends is not None and eps < ends[1]:
        masses = pld.above(FN, eps) if eps > ends[0] else pld.continuous_mass(FN)
        p, q = p + masses[0], q + masses[1]
    return p - mpmath.exp(eps) * q


@pytest.mark.parametrize("pair", STEPS, ids=str)
@pytest.mark.parametrize("backward", [False, True], ids=["forward", "backward"])
def test_one_step_is_what_the_page_says(pair, backward):
    direction = "backward" if backward else "forward"
    form = symbolic.delta(pair, "eps", direction)
    for eps in ("-2", "-0.3", "-1e-7", "0", "3e-8", "0.21", "1.7", "4"):
        with mpmath.workdps(70):
            expected = from_tails(PLD(pair, backward), mpf(eps))
        found = symbolic.delta(pair, eps, direction).evaluate(45)
        assert abs(found - expected) <= mpf(10) ** -44 * (abs(expected) + mpf(10) ** -15)
        symbol = form.evaluate(45, eps=eps)
        assert abs(symbol - expected) <= mpf(10) ** -44 * (abs(expected) + mpf(10) ** -15)


SYMBOLIC = [
    (RandomizedResponse("p"), {"p": "0.83"}),
    (RandomizedResponse.from_eps("e0"), {"e0": "0.4"}),
    (Gaussian("sigma", "Delta"), {"sigma": "0.7", "Delta": "1.5"}),
    (Laplace("b"), {"b": "0.6"}),
    (PoissonSubsampled(RandomizedResponse("p"), "q"), {"p": "0.83", "q": "0.02"}),
    (PoissonSubsampled(Gaussian("sigma"), "q"), {"sigma": "0.7", "q": "0.3"}),
    (PoissonSubsampled(Laplace("b"), "q"), {"b": "0.6", "q": "0.3"}),
    (PoissonSubsampled(Gaussian(0), "q"), {"q": "0.3"}),
    (3 * RandomizedResponse("p"), {"p": "0.7"}),
    (2 * PoissonSubsampled(RandomizedResponse("p"), "q"), {"p": "0.83", "q": "0.2"}),
    (9 * RandomizedResponse("p") + 2 * RandomizedResponse.from_eps("e0"), {"p": "0.7", "e0": "0.1"}),
    (4 * Gaussian("sigma") + Gaussian("tau"), {"sigma": 3, "tau": "2.5"}),
    (3 * Laplace("b") + Laplace("c"), {"b": 2, "c": 5}),
    (2 * RandomizedResponse("p") + Laplace("b"), {"p": "0.6", "b": 2}),
    (7 * RandomizedResponse("p") + 2 * Gaussian("sigma"), {"p": "0.6", "sigma": 2}),
]


@pytest.mark.parametrize(("composition", "values"), SYMBOLIC, ids=lambda value: str(value))
@pytest.mark.parametrize("direction", ["remove", "add", "both"])
def test_binding_before_and_after_is_the_same(composition, values, direction):
    form = symbolic.delta(composition, "eps", direction)
    for eps in ("-0.7", "0", "0.11", "1.3"):
        after = form.evaluate(40, eps=eps, **values)
        before = symbolic.delta(composition.bind(**values), eps, direction).evaluate(40)
        assert abs(after - before) <= mpf(10) ** -39 * abs(before)


# --- compositions, by means that share nothing with the symbolic route ------------------------------


def enumerated(parts, eps):
    """delta(eps) by running through all sequences of outcomes; parts are lists of (mass of P, mass of Q)."""
    total = mpf(0)
    for outcome in itertools.product(*parts):
        p, q = mpmath.fprod(o[0] for o in outcome), mpmath.fprod(o[1] for o in outcome)
        total += max(p - mpmath.exp(eps) * q, mpf(0))
    return total


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5, 8])
@pytest.mark.parametrize("eps", ["-1", "0", "0.4", "2"])
def test_randomised_response_by_enumeration(k, eps):
    with mpmath.workdps(50):
        p, q = mpf("0.6"), mpf("0.3")
        plain = [(p, 1 - p), (1 - p, p)]
        sampled = [(q * a + (1 - q) * b, b) for a, b in plain]
        other = [(mpf("0.9"), mpf("0.1")), (mpf("0.1"), mpf("0.9"))]
        expected = enumerated([plain] * k, mpf(eps))
        mixed = enumerated([sampled] * k + [other] * 2, mpf(eps))
        mixed_add = enumerated([[(b, a) for a, b in sampled]] * k + [other] * 2, mpf(eps))
    pair = RandomizedResponse("0.6")
    composition = k * PoissonSubsampled(pair, "0.3") + 2 * RandomizedResponse("0.9")
    assert abs(symbolic.delta(k * pair, eps).evaluate(40) - expected) < mpf(10) ** -39
    assert abs(symbolic.delta(composition, eps, "remove").evaluate(40) - mixed) < mpf(10) ** -39
    assert abs(symbolic.delta(composition, eps, "add").evaluate(40) - mixed_add) < mpf(10) ** -39
    assert abs(symbolic.delta(composition, eps).evaluate(40) - max(mixed, mixed_add)) < mpf(10) ** -39


SUMS = [
    (2, [2, 2], "0.37"),
    (2, [2, 2, 2, 2], "-0.81"),
    ("0.8", [2, 3, 3], "0.37"),
    (3, ["0.8", 2, "0.8"], "1.9"),
]


@pytest.mark.parametrize(("last", "before", "eps"), SUMS)
def test_laplace_sums_by_direct_convolution(last, before, eps):
    """delta of k steps is the mean of delta of k - 1 steps over the k-th loss: integrated, not derived."""
    earlier = sum(Laplace(b) for b in before)
    form = symbolic.delta(earlier, "eps")
    with mpmath.workdps(25):
        x, e0 = mpf(eps), 1 / mpf(last)
        sums = [sum(signs) for signs in itertools.product(*((-1 / mpf(b), 1 / mpf(b)) for b in before))]
        knots = sorted({-e0, e0, *(x - s for s in sums if -e0 < x - s < e0)})

        def earlier_delta(y):
            return form.evaluate(22, eps=mpmath.nstr(y, 30))

        atoms = earlier_delta(x - e0) / 2 + mpmath.exp(-e0) / 2 * earlier_delta(x + e0)
        spread = mpmath.quad(
            lambda s: mpmath.exp((s - e0) / 2) / 4 * earlier_delta(x - s), knots, method="gauss-legendre", maxdegree=3
        )
        found = symbolic.delta(earlier + Laplace(last), eps).evaluate(25)
        assert abs(found - atoms - spread) < mpf("1e-18")


@pytest.mark.parametrize("sigma", ["0.9", "4"])
def test_atoms_with_a_gaussian(sigma):
    """The hockey stick of the product pair, integrated over the Gaussian's outcome for every answer."""
    composition = 6 * RandomizedResponse("0.7") + Gaussian(sigma)
    found = symbolic.delta(composition, "0.8").evaluate(25)
    with mpmath.workdps(25):
        p, width, growth = mpf("0.7"), mpf(sigma), mpmath.exp(mpf("0.8"))
        total = mpf(0)
        for j in range(7):
            a, b = comb(6, j) * p**j * (1 - p) ** (6 - j), comb(6, j) * (1 - p) ** j * p ** (6 - j)
            start = mpf("0.5") + width**2 * mpmath.log(growth * b / a)
            ends = [start, max(start, mpf(0)) + 3 * width, max(start, mpf(0)) + 15 * width + 1]
            total += mpmath.quad(
                lambda t, a=a, b=b: a * mpmath.npdf(t, 1, width) - growth * b * mpmath.npdf(t, 0, width), ends
            )
        assert abs(found - total) < mpf("1e-18")


def test_the_max_is_of_compositions():
    composition = 40 * PoissonSubsampled(RandomizedResponse("0.9"), "0.1")
    sides = [symbolic.delta(composition, "1.5", way).evaluate(40) for way in ("remove", "add")]
    assert sides[0] != sides[1]
    assert symbolic.delta(composition, "1.5").evaluate(40) == max(sides)
    for eps in ("-3", "-1", "0", "2", "4"):
        form = symbolic.delta(composition, "eps").evaluate(30, eps=eps)
        assert abs(form - symbolic.delta(composition, eps).evaluate(30)) < mpf(10) ** -29


@pytest.mark.parametrize(
    ("composition", "stage"),
    [
        (2 * PoissonSubsampled(Gaussian(1), "0.1"), "convolution"),
        (Gaussian(1) + Laplace(1), "convolution"),
        (PoissonSubsampled(Gaussian(1), "0.1") + Laplace(1), "convolution"),
        (1000 * Laplace(10), "residues"),
    ],
    ids=str,
)
def test_where_there_is_no_closed_form_the_stage_is_named(composition, stage):
    with pytest.raises(NoClosedFormError, match=f"^{stage}: .*dplab.reference"):
        symbolic.delta(composition, 1)


def test_nothing_released_and_nothing_lost():
    for lossless in (Composition(), 0 * Gaussian(1), Gaussian(1, 0), PoissonSubsampled(Laplace(1), 0)):
        assert symbolic.delta(lossless, 1).expression == 0
        assert symbolic.delta(lossless, 0).expression == 0
        assert relative(symbolic.delta(lossless, -1).evaluate(20), 1 - mpmath.exp(-1)) < mpf("1e-14")
        assert symbolic.epsilon(lossless, 0).expression == 0
