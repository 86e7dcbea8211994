"""The mechanisms on whole numbers: what they refuse, their limits, JSON, and dpsgd."""

import json
import math

import mpmath
import numpy
import pytest
import sympy
from mpmath import mpf

from dplab import (
    ApproximateDP,
    Binomial,
    Composition,
    DiscreteGaussian,
    DiscreteLaplace,
    DplabError,
    ExponentialCounting,
    Gaussian,
    KaryRandomizedResponse,
    Laplace,
    PoissonSubsampled,
    Product,
    RandomizedResponse,
    dpsgd,
)
from dplab.core.errors import ParameterError, ParameterTypeError, SchemaError
from dplab.core.functions import MpmathTable
from dplab.core.pld import PLD
from dplab.core.whole_numbers import theta

FN = MpmathTable()
WHOLE = {
    "m": (lambda v: KaryRandomizedResponse(1, v), 2),
    "n": (lambda v: Binomial(v, "0.5"), 1),
    "shift": (lambda v: Binomial(10, "0.5", v), 0),
    "examples": (lambda v: dpsgd(1, 1, v, 1), 1),
    "batch_size": (lambda v: dpsgd(1, v, 10, 1), 1),
}
REAL = {
    "eps": [
        lambda v: KaryRandomizedResponse(v, 3),
        lambda v: ExponentialCounting(v, 1, 3),
        lambda v: ApproximateDP(v, 0),
    ],
    "delta": [lambda v: ApproximateDP(1, v)],
    "p": [lambda v: Binomial(5, v)],
    "b": [DiscreteLaplace],
    "sigma": [DiscreteGaussian],
    "noise_multiplier": [lambda v: dpsgd(v, 1, 10, 1)],
    "epochs": [lambda v: dpsgd(1, 1, 10, v)],
}


@pytest.fixture(autouse=True)
def thirty_digits():
    with mpmath.workdps(30):
        yield


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize(
    "value", [2.5, "1/3", -1, math.nan, math.inf, "k", sympy.Symbol("k"), None, True, [3], "sqrt(2)"]
)
def test_whole_parameters(name, value):
    make, least = WHOLE[name]
    with pytest.raises(ParameterError, match=rf"^{name} = ") as caught:
        make(value)
    assert isinstance(caught.value, DplabError)
    with pytest.raises(ParameterError, match=rf"^{name} = .*a whole number from {least}"):
        make(least - 1)


@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize("value", [-1, -1e-9, math.nan, math.inf, "nan", sympy.I])
def test_real_parameters(name, value):
    for make in REAL[name]:
        with pytest.raises(ParameterError, match=rf"^{name} = "):
            make(value)
        with pytest.raises(ParameterTypeError, match=rf"^{name} = "):
            make(None)


def test_pairs_of_numbers_that_do_not_fit():
    with pytest.raises(ParameterError, match=r"^m = 4: .*from 1 to 3"):
        ExponentialCounting(1, 4, 3)
    with pytest.raises(ParameterError, match=r"^m = 0"):
        ExponentialCounting(1, 0, 3)
    with pytest.raises(ParameterError, match=r"^batch_size = 11"):
        dpsgd(1, 11, 10, 1)
    with pytest.raises(ParameterError, match=r"^delta = 1.5"):
        ApproximateDP(1, 1.5)
    with pytest.raises(ParameterError, match=r"^p = 1.5"):
        Binomial(5, 1.5)
    with pytest.raises(ParameterTypeError, match=r"^mechanism = 3"):
        Product(Laplace(1), 3)
    with pytest.raises(ParameterError, match=r"^mechanisms = 0"):
        Product()


def test_whole_numbers_of_any_kind():
    assert Binomial(7, 0.5, 2) == Binomial(numpy.int64(7), "1/2", "2") == Binomial(sympy.Integer(7), 0.5, 2.0)
    assert hash(Binomial(7, 0.5)) == hash(Binomial("7", "0.5", 1))


@pytest.mark.parametrize(
    ("pair", "simplest"),
    [
        (KaryRandomizedResponse(0, 5), None),
        (KaryRandomizedResponse(1, 2), RandomizedResponse.from_eps(1)),
        (ExponentialCounting(0, 1, 3), None),
        (ApproximateDP(0, 0), None),
        (ApproximateDP("0.5", 0), RandomizedResponse.from_eps("0.5")),
        (ApproximateDP(0, "0.5"), ApproximateDP(0, "0.5")),
        (DiscreteLaplace(1, 0), None),
        (DiscreteLaplace(0, 0), None),
        (DiscreteGaussian(1, 0), None),
        (Binomial(5, "0.5", 0), None),
        (Product(Laplace(1)), Laplace(1)),
        (Product(Laplace(1), Binomial(5, "0.5", 0)), Laplace(1)),
        (Product(DiscreteGaussian(1, 0)), None),
        (Product(Gaussian(3), Gaussian(3), Gaussian(3)), Gaussian(3, "sqrt(3)")),
        (Product(Product(Laplace(1), Laplace(2)), Laplace(3)), Product(Laplace(3), Laplace(2), Laplace(1))),
        (PoissonSubsampled(DiscreteLaplace(2, 0), "0.5"), None),
        (PoissonSubsampled(ApproximateDP(1, 0), 1), RandomizedResponse.from_eps(1)),
    ],
    ids=str,
)
def test_edge_values_are_simpler_pairs(pair, simplest):
    assert pair.reduced() == simplest


def test_gaussians_together_are_one_gaussian():
    joint = Product(Gaussian(1), Gaussian(2), Gaussian(3, 2)).reduced()
    assert abs(joint.mu(FN) ** 2 - (1 + mpf(1) / 4 + mpf(4) / 9)) < mpf(10) ** -28
    assert Product(Gaussian(0), Gaussian(2)).reduced().noiseless


def test_a_product_is_the_composition_of_its_factors():
    product = Product(Laplace(1), Gaussian(2), Gaussian(2))
    assert Composition.of(product).reduced() == Laplace(1) + 2 * Gaussian(2)
    assert (3 * product).reduced() == 3 * Laplace(1) + 6 * Gaussian(2)
    assert product == Product(Gaussian(2), Laplace(1), Gaussian(2))  # coordinates have no order
    assert product != Product(Gaussian(2), Laplace(1))


def test_a_product_with_a_density_cannot_be_sampled():
    with pytest.raises(ParameterError, match="atoms only"):
        PoissonSubsampled(Product(Laplace(1), Gaussian(2)), "0.1")
    assert PoissonSubsampled(Product(Gaussian(2), Gaussian(2)), "0.1").reduced() == PoissonSubsampled(
        Gaussian(2, "sqrt(2)"), "0.1"
    )


@pytest.mark.parametrize(
    "pair",
    [
        KaryRandomizedResponse("log(3)", 4),
        ExponentialCounting("0.1", 50, 100),
        ApproximateDP("0.5", "1e-6"),
        Binomial(1000, "1/3", 20),
        DiscreteLaplace("2.5", 4),
        DiscreteGaussian("sigma", 3),
        Product(Binomial(30, "0.5"), Binomial(30, "0.5"), DiscreteLaplace(3)),
        PoissonSubsampled(Product(Binomial(30, "p"), KaryRandomizedResponse("e", 5)), "0.1"),
        Product(Product(Laplace(1), Laplace(2)), Laplace(3)),
    ],
    ids=str,
)
def test_json_and_hash(pair):
    text = (7 * pair).to_json()
    assert Composition.from_json(text) == 7 * pair
    assert hash(Composition.from_json(text)) == hash(7 * pair)
    assert json.loads(text)["parts"][0]["type"] == type(pair).__name__


@pytest.mark.parametrize(
    "part",
    [
        {"type": "Product"},
        {"type": "Product", "mechanisms": "Laplace"},
        {"type": "Product", "mechanisms": [{"type": "Laplace", "b": "1"}, "2"]},
        {"type": "Product", "mechanisms": [{"type": "Nothing"}]},
        {"type": "Binomial", "n": "10"},
        {"type": "Binomial", "n": "10.5", "p": "0.5"},
    ],
    ids=str,
)
def test_json_that_is_no_mechanism(part):
    text = json.dumps({"schema": "dplab.composition/1", "parts": [{"k": 1, **part}]})
    with pytest.raises((SchemaError, ParameterError)):
        Composition.from_json(text)


def test_symbols_are_bound_inside_products():
    pair = PoissonSubsampled(Product(Binomial(30, "p"), KaryRandomizedResponse("e", 5)), "q")
    assert pair.free_symbols == {"p", "e", "q"}
    bound = pair.bind(p="0.5", e=1, q="0.1")
    assert bound == PoissonSubsampled(Product(Binomial(30, "0.5"), KaryRandomizedResponse(1, 5)), "0.1")


def test_dpsgd():
    run = dpsgd(noise_multiplier=4, batch_size=600, examples=60_000, epochs=100)
    assert run == 10_000 * PoissonSubsampled(Gaussian(sigma=4), q="0.01")
    assert dpsgd(1, 256, 50_000, 1).steps == 196  # 195.3 steps and a part of one
    assert dpsgd(1, 256, 50_000, "0.001").steps == 1
    assert dpsgd("s", 10, 10, 2) == 2 * PoissonSubsampled(Gaussian("s"), 1)
    assert "Poisson" in dpsgd.__doc__
    with pytest.raises(ParameterTypeError, match=r"^epochs = "):
        dpsgd(1, 1, 10, "sqrt(2)")
    with pytest.raises(ParameterError, match=r"^epochs = .*1e12 steps"):
        dpsgd(1, 1, 10**9, 10**9)


@pytest.mark.parametrize("v", ["0.01", "0.15", "0.2", "1", "7.5", "1000"])
@pytest.mark.parametrize("a", [mpf(0), mpf("0.3"), mpf("-7.5"), mpmath.mpc("0.4", "0.7"), mpmath.mpc("2.5", "-1")])
def test_theta_is_its_sum(v, a):
    v = mpf(v)
    terms = [mpmath.exp(-((t - a) ** 2) / (2 * v)) for t in range(-1500, 1501)]
    assert abs(theta(a, v) - mpmath.fsum(terms)) < mpf(10) ** -27 * max(map(abs, terms)) * (1 + mpmath.sqrt(v))


@pytest.mark.parametrize("v", ["0.05", "1", "50"])
@pytest.mark.parametrize("m", [-200, -30, -3, -1, 0, 1, 5, 60])
def test_theta_above_is_accurate_in_its_tail(v, m):
    v = mpf(v)
    with mpmath.workdps(60):
        true = mpmath.fsum(mpmath.exp(-(mpf(t) ** 2) / (2 * v)) for t in range(m + 1, m + 1200))
    assert abs(FN.theta_above(mpf(m), v) / true - 1) < mpf(10) ** -26


@pytest.mark.parametrize("pair", [DiscreteGaussian(1), DiscreteGaussian("0.3", 2), DiscreteGaussian(20, 3)], ids=str)
@pytest.mark.parametrize("backward", [False, True])
def test_closed_tails_are_sums_over_the_atoms(pair, backward):
    for one in (pair, PoissonSubsampled(pair, "0.2")):
        pld = PLD(one, backward)
        atoms = pld.atoms(FN)
        low, high = pld.loss_ends(FN)
        for atom in sorted(atoms)[:: len(atoms) // 7]:
            x = atom.loss + pair.lattice(FN)[1] / 10
            if not low < x < high or min(atom.p, atom.q) < mpf(10) ** -150:
                continue
            tails = pld.atoms_above(FN, x)
            for side in (0, 1):
                true = mpmath.fsum(a[1 + side] for a in atoms if a.loss > x)
                assert abs(tails[side] - true) <= mpf(10) ** -26 * true


def test_a_lattice_holds_all_losses():
    for pair in (
        RandomizedResponse("0.75"),
        KaryRandomizedResponse(1, 5),
        ExponentialCounting("0.3", 2, 5),
        ApproximateDP("0.3", "0.1"),
        DiscreteLaplace(3, 4),
        DiscreteLaplace(3, 5),
        DiscreteGaussian(2, 3),
        DiscreteGaussian(2, 4),
    ):
        for backward in (False, True):
            pld = PLD(pair, backward)
            offset, spacing = pld.lattice(FN)
            places = [(atom.loss - offset) / spacing for atom in pld.atoms(FN)]
            assert max(abs(place - mpmath.nint(place)) for place in places) < mpf(10) ** -24


def test_no_digit_is_lost_where_one_answer_is_nearly_certain():
    """pi0 = 1 - 1e-50: the losses eps + beta and beta keep their digits."""
    pair = ExponentialCounting(1, 115, 115)
    for backward in (False, True):
        with mpmath.workdps(17):
            rough = PLD(pair, backward).atoms(FN)
        with mpmath.workdps(120):
            for atom, precise in zip(rough, PLD(pair, backward).atoms(FN), strict=True):
                for one, other in zip(atom, precise, strict=True):
                    assert abs(one / other - 1) < mpf(10) ** -14


def test_losses_of_many_coins_keep_their_digits():
    pair = Binomial(10**5, "0.5")
    for j in (50_000, 50_001, 50_100, 60_000):
        with mpmath.workdps(17):
            rough = pair.loss(FN, j)
        with mpmath.workdps(60):
            precise = mpmath.log(mpf(10**5 + 1 - j) / j)
            assert abs(rough - precise) <= mpf(10) ** -16 * abs(precise)
