"""Every mechanism, in every direction, by every route: each route's number is what its type promises.

The known values are tests/data/truth.json (24 to 40 digits). An
entry joins as soon as its mechanism exists; every example of tests/mechanisms joins without new test code.
"""

import json
import math
from pathlib import Path

import mpmath
import pytest
from mpmath import mpf

import dplab
from dplab import Approximation, Bracket, Composition, Exact, Reference, clt, fourier, reference, symbolic
from dplab.core.errors import NoClosedFormError
from dplab.core.functions import MpmathTable
from dplab.mechanisms import DensityPair

from .mechanisms.examples import EXAMPLES, NOISELESS

TRUTH = json.loads((Path(__file__).parent / "data" / "truth.json").read_text())
for _entry in TRUTH:  # one value is right to 24 digits only: see tests/data/README.md
    if (_entry["mechanism"], _entry.get("k"), _entry.get("eps")) == ("laplace", 1000, "12"):
        _entry["digits"] = 24
WAYS = {None: "both", "X/Y": "forward", "Y/X": "backward", "X=Bin(n,p), Y=D+Bin(n,p)": "forward"}
ROUTES = {"reference": Reference, "fourier": Bracket, "clt": Approximation, "symbolic": Exact}


def _sampled(base):
    return lambda e: dplab.PoissonSubsampled(base(e), e["q"])


def _randomized_response(e):
    return dplab.RandomizedResponse(e["p"]) if "p" in e else dplab.RandomizedResponse.from_eps(e["eps0"])


def _multivariate(e):
    return dplab.Product(*[dplab.Binomial(e["n"], e["p"], e["shift"])] * e["d"])


MAKERS = {  # truth's name: (what it needs from dplab, how it is made)
    "randomized_response": ("RandomizedResponse", _randomized_response),
    "gaussian": ("Gaussian", lambda e: dplab.Gaussian(e["sigma"])),
    "gdp": ("Gaussian", lambda e: dplab.Gaussian(1, sensitivity=e["mu"])),
    "laplace": ("Laplace", lambda e: dplab.Laplace(e["b"])),
    "poisson_subsampled_gaussian": ("PoissonSubsampled", _sampled(lambda e: dplab.Gaussian(e["sigma"]))),
    "poisson_subsampled_randomized_response": ("PoissonSubsampled", _sampled(_randomized_response)),
    "exponential_counting": ("ExponentialCounting", lambda e: dplab.ExponentialCounting(e["eps_em"], e["m"], e["n"])),
    "discrete_laplace": ("DiscreteLaplace", lambda e: dplab.DiscreteLaplace(e["b"], e["shift"])),
    "discrete_gaussian": ("DiscreteGaussian", lambda e: dplab.DiscreteGaussian(e["sigma"], e["shift"])),
    "binomial": ("Binomial", lambda e: dplab.Binomial(e["n"], e["p"], e["shift"])),
    "approximate_dp": ("ApproximateDP", lambda e: dplab.ApproximateDP(e["eps0"], e["delta0"])),
    "poisson_subsampled_binomial_dd": ("Product", _sampled(_multivariate)),
}


def exists(entry) -> bool:
    if entry["mechanism"] == "composition":
        return all(exists(part) for part in entry["parts"])
    return hasattr(dplab, MAKERS[entry["mechanism"]][0])


def composition_of(entry) -> Composition:
    if entry["mechanism"] == "composition":
        return sum((composition_of(part) for part in entry["parts"]), Composition())
    return entry.get("k", 1) * MAKERS[entry["mechanism"]][1](entry)


def way_of(entry) -> str:
    stated = entry.get("direction") or (entry["parts"][0].get("direction") if "parts" in entry else None)
    return WAYS.get(stated, stated)


def title(entry) -> str:
    shown = {
        k: v
        for k, v in entry.items()
        if k not in ("name", "mechanism", "value", "digits", "route", "quantity", "parts")
    }
    return f"{entry['name']} {' '.join(f'{k}={v}' for k, v in shown.items())}"


KNOWN = [entry for entry in TRUTH if exists(entry)]
DELTAS = [entry for entry in KNOWN if entry["quantity"] == "delta"]
EPSILONS = [entry for entry in KNOWN if entry["quantity"] == "eps"]
known = pytest.mark.parametrize("entry", KNOWN, ids=title)
deltas = pytest.mark.parametrize("entry", DELTAS, ids=title)
epsilons = pytest.mark.parametrize("entry", EPSILONS, ids=title)


@pytest.fixture(autouse=True)
def sixty_digits():
    with mpmath.workdps(60):
        yield


def ask(route, entry, **options):
    question, at = (route.delta, entry["eps"]) if entry["quantity"] == "delta" else (route.epsilon, entry["delta"])
    return question(composition_of(entry), at, way_of(entry), **options)


def rounding(entry):
    """What writing the truth to its digits may have changed."""
    return abs(mpf(entry["value"])) * mpf(10) ** (1 - entry["digits"])


# --- the known values ---------------------------------------------------------------------------------


def test_the_known_values_are_all_there():
    assert len(TRUTH) == 35
    assert len(KNOWN) >= 20
    assert {entry["mechanism"] for entry in TRUTH} - {"composition"} == set(MAKERS)


@known
def test_references_agree_to_all_digits(entry):
    found = ask(reference, entry, digits=entry["digits"] + 3)
    assert isinstance(found, Reference)
    assert found.reached
    assert abs(found.value - mpf(entry["value"])) <= rounding(entry) + found.error


@known
def test_brackets_contain_the_truth_and_are_narrow(entry):
    found = ask(fourier, entry)
    assert isinstance(found, Bracket)
    assert found.contains(mpf(entry["value"]))
    assert found.reached
    if entry["quantity"] == "delta":
        assert found.relative_width <= 1e-3  # whatever its size: 1.8e-42 too
        assert 0 <= found.lower <= found.upper <= 1
    else:
        assert found.width <= 1e-4


@deltas
def test_brackets_of_the_logarithm_and_of_curves_contain_it_too(entry):
    truth, composition, way = mpf(entry["value"]), composition_of(entry), way_of(entry)
    assert fourier.log_delta(composition, entry["eps"], way).contains(mpmath.log(truth))
    (point,) = fourier.curve(composition, [entry["eps"]], way)
    assert point.contains(truth)


@deltas
def test_brackets_of_eps_contain_the_eps_that_has_this_delta(entry):
    found = fourier.epsilon(composition_of(entry), entry["value"], way_of(entry))
    assert found.contains(max(mpf(entry["eps"]), mpf(0)))
    assert found.width <= 1e-4


@epsilons
def test_brackets_of_delta_at_the_known_eps_contain_the_delta(entry):
    found = fourier.delta(composition_of(entry), entry["value"], way_of(entry))
    assert found.contains(mpf(entry["delta"]))
    assert found.relative_width <= 1e-3


@deltas
def test_a_tighter_request_is_met(entry):
    found = ask(fourier, entry, rtol=1e-5, max_size=2**24)
    assert found.contains(mpf(entry["value"]))
    if entry.get("k", 1) < 10**6:
        assert found.relative_width <= 1e-5
    else:  # a million steps: float64 masses on cells of 1e-7 stop just short of it, and the bracket says so
        assert found.relative_width <= 2e-5
        assert found.reached == (found.relative_width <= 1e-5)


@known
def test_central_limit_values_are_approximations(entry):
    found = ask(clt, entry)
    assert isinstance(found, Approximation)
    assert not isinstance(found, Bracket)
    assert not hasattr(found, "lower")
    assert "no bound" in str(found)
    assert math.isfinite(float(found))


def entry_has_no_closed_form(entry) -> bool:
    """Composed subsampled Gaussians, binomials and discrete Gaussians, mixed compositions, more Laplace steps than
    anybody would read, and a sum of 46,376 terms."""
    k, mechanism = entry.get("k", 1), entry["mechanism"]
    most = {"poisson_subsampled_gaussian": 1, "laplace": 64, "binomial": 1, "discrete_gaussian": 1}
    if mechanism == "discrete_laplace" and entry["shift"] > 1:
        return k > 10
    return mechanism == "composition" or k > most.get(mechanism, math.inf)


@deltas
def test_closed_forms_agree_to_all_digits_or_say_why_there_is_none(entry):
    if entry_has_no_closed_form(entry):
        with pytest.raises(NoClosedFormError, match=":"):  # it names the stage that stopped
            ask(symbolic, entry)
        return
    found = ask(symbolic, entry)
    assert isinstance(found, Exact)
    assert abs(found.evaluate(entry["digits"] + 5) - mpf(entry["value"])) <= rounding(entry)


def test_closed_forms_exist_where_they_should():
    """One step of anything, and compositions of two atoms or of Gaussians."""
    have = 0
    for entry in DELTAS:
        if entry["k"] == 1 if "k" in entry else False:
            assert isinstance(ask(symbolic, entry), Exact)
            have += 1
    assert have >= 5


# --- every example of a mechanism, against the reference ------------------------------------------------

PAIRS = [example.pair for example in EXAMPLES] + [pair for pair, *_ in NOISELESS]
every = pytest.mark.parametrize("pair", PAIRS, ids=str)
both_ways = pytest.mark.parametrize("way", ["forward", "backward"])


def eps_of_interest(pair, k: int, way: str) -> list:
    """An eps where delta is small, by the central limit, and a larger or a smaller one of the same order."""
    value = float(clt.epsilon(k * pair, "1e-4", way, method="moments"))
    if not (math.isfinite(value) and value > 0):
        return ["0.3"]
    return [f"{value:.3g}", f"{0.4 * value:.3g}"]


def assert_routes_agree(pair, k: int, way: str, eps):
    composition = k * pair
    true = reference.delta(composition, eps, way, digits=25)
    assert isinstance(true, Reference)
    # Integrals over a law of one's own do not know its analytic strip: fewer digits of several steps, which they say.
    digits = 20 if k == 1 or not isinstance(pair, DensityPair) else 10
    assert true.error <= mpf(10) ** -digits * abs(true.value)
    assert true.reached == (true.error <= mpf(10) ** -25 * abs(true.value))
    bracket = fourier.delta(composition, eps, way)
    assert bracket.lower <= true.value + true.error
    assert true.value - true.error <= bracket.upper
    if true.value > 1e-10:
        assert bracket.relative_width <= 1e-3
    assert isinstance(clt.delta(composition, eps, way), Approximation)
    try:
        closed = symbolic.delta(composition, eps, way)
    except NoClosedFormError:
        assert k > 1
        return
    assert abs(closed.evaluate(30) - true.value) <= true.error + mpf(10) ** -23 * abs(true.value)


@every
@both_ways
def test_one_step_by_all_routes(pair, way):
    for eps in (*eps_of_interest(pair, 1, way), "-0.4", 0):
        assert_routes_agree(pair, 1, way, eps)


@pytest.mark.parametrize("pair", [pair for pair in PAIRS if "1e-6" not in repr(pair)], ids=str)
@both_ways
@pytest.mark.long  # a few steps of a tiny loss (q = 1e-6) would take the reference many minutes
def test_several_steps_by_all_routes(pair, way):
    k = 2 if scattered(pair) else 8
    for eps in eps_of_interest(pair, k, way):
        assert_routes_agree(pair, k, way, eps)


def scattered(pair) -> bool:
    """Whether its loss takes many values on no lattice: a reference multiplies them out, which few steps allow."""
    return len(pair.atoms(MpmathTable())) > 10 and pair.lattice(MpmathTable()) is None


@every
@both_ways
def test_eps_and_delta_invert_each_other(pair, way):
    """eps(delta(eps)) is eps, as far as both brackets tell."""
    composition, eps = 2 * pair, 0.25
    at = fourier.delta(composition, eps, way)
    if at.lower <= 0 or fourier.delta(composition, math.inf, way).upper >= at.lower:
        return  # flat there: every loss is smaller, or delta is the mass at infinity
    found = fourier.epsilon(composition, at.upper, way), fourier.epsilon(composition, at.lower, way)
    assert found[0].lower <= eps <= found[1].upper


@every
def test_both_is_the_larger_direction_on_every_route(pair):
    for route in (reference, fourier, clt, symbolic):
        ways = [route.delta(pair, "0.3", way) for way in ("forward", "backward", "both")]
        if route is fourier:
            assert ways[2].upper >= max(ways[0].lower, ways[1].lower)
            assert ways[2].lower <= max(ways[0].upper, ways[1].upper)
            continue
        forward, backward, both = (w.evaluate(30) if route is symbolic else mpf(w.value) for w in ways)
        assert both == max(forward, backward)
