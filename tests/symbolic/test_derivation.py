"""Derivations: their checks can fail, their results agree with the other routes, and they read well."""

import dataclasses
import json
import random
from pathlib import Path

import mpmath
import pytest
import sympy
from mpmath import mpf

from dplab import (
    ApproximateDP,
    Binomial,
    DiscreteGaussian,
    DiscreteLaplace,
    ExponentialCounting,
    Gaussian,
    KaryRandomizedResponse,
    Laplace,
    PoissonSubsampled,
    RandomizedResponse,
    reference,
    symbolic,
)
from dplab.core.errors import DplabError, ParameterError, StepFailedError
from dplab.symbolic import SympyTable
from dplab.symbolic.derivation import Comparison, Derivation, Line, Step
from dplab.symbolic.numeric import number

PAIRS = [
    Gaussian("sigma"),
    Gaussian("0.6", "Delta"),
    Laplace("b", "Delta"),
    Laplace("0.7"),
    RandomizedResponse("p"),
    RandomizedResponse.from_eps("eps0"),
    RandomizedResponse("0.83"),
    PoissonSubsampled(Gaussian("sigma"), "q"),
    PoissonSubsampled(Laplace("b", "Delta"), "q"),
    PoissonSubsampled(RandomizedResponse("p"), "q"),
    KaryRandomizedResponse("eps0", 5),
    ExponentialCounting("eps0", 4, 10),
    ExponentialCounting("0.3", 8, 10),
    ApproximateDP("eps0", "delta0"),
    PoissonSubsampled(ApproximateDP("eps0", "delta0"), "q"),
    PoissonSubsampled(Binomial(12, "p", 2), "q"),
    PoissonSubsampled(DiscreteLaplace("b", 2), "0.2"),
    PoissonSubsampled(DiscreteGaussian("sigma"), "q"),
    Binomial(12, "p"),
    Binomial(10, "0.4", 3),
    DiscreteLaplace("b", 2),
    DiscreteLaplace("1.5", 9),
    DiscreteGaussian("sigma"),
    DiscreteGaussian("1.2", 2),
]


@pytest.mark.parametrize("direction", ["forward", pytest.param("backward", marks=pytest.mark.long)])
@pytest.mark.parametrize("pair", PAIRS, ids=repr)
def test_every_step_is_checked_when_made(pair, direction):
    derivation = symbolic.derive(pair, direction)
    assert len(derivation.checked) == len(derivation) >= 12
    assert all(row.digits >= 30 and row.comparisons for row in derivation.checked)
    closed = {"RandomizedResponse", "KaryRandomizedResponse", "ExponentialCounting", "ApproximateDP", "Gaussian"}
    closed |= {"Laplace", "DiscreteLaplace"}
    inner = pair.mechanism if isinstance(pair, PoissonSubsampled) else pair
    if type(inner).__name__ in closed and (inner is pair or not inner.support(SympyTable())):
        assert {step.stopped.stage for step in derivation.stopped} <= {"cumulants", "convolution"}
    assert all(step.stopped.stage and step.stopped.reason for step in derivation.stopped)


# --- what is planted is found -------------------------------------------------------------------------


def wrong(expression):
    """A formula that is wrong in the twentieth digit."""
    return expression * (1 + sympy.Rational(1, 10**20))


def test_a_wrong_formula_raises(monkeypatch):
    """The bricks are handed a formula off by 1e-20, as a story with an error in it would."""
    from dplab.symbolic.stories import common, gaussian

    for brick in ("mgf_step", "delta_step", "tradeoff_step"):
        original = getattr(common, brick)

        def off(setting, lines, *rest, original=original, **more):
            return original(setting, [lines[0]._replace(right=wrong(lines[0].right)), *lines[1:]], *rest, **more)

        with monkeypatch.context() as patch:
            patch.setattr(gaussian.common, brick, off)
            with pytest.raises(StepFailedError, match="by the step"):
                symbolic.derive(Gaussian(2))
    symbolic.derive(Gaussian(2))


@pytest.mark.parametrize(
    ("brick", "place"),
    [
        ("renyi_step", 0),
        ("alpha_step", 0),
        ("alpha_step", 1),
        ("cumulant_step", 0),
        ("cumulant_step", 1),
        ("h_step", 0),
    ],
)
@pytest.mark.parametrize("pair", [Gaussian(2), Laplace(2), RandomizedResponse("0.7")], ids=repr)
def test_a_wrong_argument_raises(monkeypatch, pair, brick, place):
    from dplab.symbolic.stories import common

    original = getattr(common, brick)

    def off(setting, *arguments, **more):
        changed = [wrong(a) if i == place else a for i, a in enumerate(arguments)]
        return original(setting, *changed, **more)

    monkeypatch.setattr(common, brick, off)
    with pytest.raises(StepFailedError):
        symbolic.derive(pair)


def test_a_check_that_compares_nothing_raises():
    derivation = symbolic.derive(RandomizedResponse("0.7"))
    silent = dataclasses.replace(derivation[0], check=lambda scene: [])
    with pytest.raises(StepFailedError, match="compared nothing"):
        Derivation("x", [silent], derivation._scene)


@pytest.mark.parametrize("value", [mpmath.nan, mpmath.inf, mpf(2), mpmath.fadd(1, mpf(10) ** -29, exact=True)])
def test_disagreement_of_every_kind_raises(value):
    derivation = symbolic.derive(RandomizedResponse("0.7"))
    step = dataclasses.replace(derivation[0], check=lambda scene: [Comparison("one", value, mpf(1))])
    with pytest.raises(StepFailedError, match="one is"):
        Derivation("x", [step], derivation._scene)


def test_an_inequality_must_hold():
    derivation = symbolic.derive(RandomizedResponse("0.7"))
    good = dataclasses.replace(derivation[0], check=lambda scene: [Comparison("bound", mpf(1), mpf(2), "<=")])
    assert len(Derivation("x", [good], derivation._scene)) == 1
    bad = dataclasses.replace(good, check=lambda scene: [Comparison("bound", mpf(2), mpf(1), "<=")])
    with pytest.raises(StepFailedError, match="at most"):
        Derivation("x", [bad], derivation._scene)


def test_the_slip_in_theorem_10_is_caught():
    """exp(a - 1) where the theorem has e^a - 1, as a published implementation has it."""
    from dplab.symbolic.stories import bounds

    right = bounds.GEOMETRIC
    slipped = right.replace(
        lambda node: node.is_Pow and node.exp == -1 and node.base.is_Add and node.base.has(bounds.PLUS),
        lambda node: sympy.exp(1 - bounds.PLUS),
    )
    assert slipped != right
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bounds, "GEOMETRIC", slipped)
        with pytest.raises(StepFailedError, match="the fractions"):
            symbolic.derive(RandomizedResponse("0.7"))


# --- against the other routes -------------------------------------------------------------------------

NUMBERS = [Gaussian("0.8"), Laplace("1.3"), RandomizedResponse("0.71")]


@pytest.mark.parametrize("pair", NUMBERS, ids=repr)
@pytest.mark.parametrize("eps", ["0.13", "0.6"])
def test_delta_agrees_with_the_reference_to_40_digits(pair, eps):
    step = symbolic.derive(pair)["Tight delta"]
    expected = reference.delta(pair, eps, digits=42)
    with mpmath.workdps(50):
        (symbol,) = step.expression.free_symbols
        found = number(step.expression, {symbol: mpf(eps)})
        assert abs(found / expected.value - 1) < mpf(10) ** -40


@pytest.mark.parametrize("pair", NUMBERS, ids=repr)
def test_mgf_agrees_with_the_symbolic_route(pair):
    step = symbolic.derive(pair)["Moment generating function"]
    with mpmath.workdps(50):
        (symbol,) = step.expression.free_symbols
        found = number(step.expression, {symbol: mpf("0.37")})
        assert abs(found / symbolic.mgf(pair, "0.37").evaluate(45) - 1) < mpf(10) ** -40


# --- as an object and as text -------------------------------------------------------------------------


def test_a_derivation_is_a_sequence_of_titled_steps():
    derivation = symbolic.derive(Laplace("b"))
    titles = [step.title for step in derivation]
    assert derivation[0].title == titles[0] == "Output distributions"
    assert derivation["tight delta"] is derivation["Tight delta"]
    with pytest.raises(KeyError, match="no step 'PLD'; there are: Output distributions"):
        derivation["PLD"]
    step = derivation["Privacy loss distribution"]
    assert isinstance(step.lines[0], Line)
    assert step.expression.free_symbols == {sympy.Symbol("s", real=True), sympy.Symbol("b", positive=True)}
    assert step.latex.startswith(r"\begin{aligned} \omega(s) &= ")
    assert step.reason


def test_text_and_markdown():
    derivation = symbolic.derive(Gaussian("sigma"))
    text = str(derivation)
    assert text.startswith("Gaussian(sigma=sigma), forward (P over Q)")
    assert "M(z) = exp(mu**2*z*(1 + z)/2)\n    where mu = 1/sigma" in text
    assert "All 17 steps checked to 30 digits" in text
    markdown = derivation._repr_markdown_()
    assert markdown.count("$$") == 2 * len(derivation)
    assert r"\sqrt{2 \pi}" in markdown
    assert repr(derivation) == "<Derivation: Gaussian(sigma=sigma), forward (P over Q), 17 steps>"
    report = derivation.checked
    assert "digits" in str(report)
    assert "<table>" in report._repr_html_()


def test_checking_again_at_more_digits():
    report = symbolic.derive(RandomizedResponse("p")).check(digits=80)
    assert report.digits == 80
    assert all(row.digits >= 80 for row in report)


def test_bad_questions():
    with pytest.raises(ParameterError, match="direction"):
        symbolic.derive(Gaussian(1), "both")
    with pytest.raises(ParameterError, match="digits"):
        symbolic.derive(RandomizedResponse("0.7")).check(digits=0)
    with pytest.raises(DplabError):
        symbolic.derive("Gaussian")


# --- known values -------------------------------------------------------------------------------------

TRUTH = json.loads((Path(__file__).parents[1] / "data" / "truth.json").read_text())
ENTRIES = [
    entry
    for entry in (TRUTH if isinstance(TRUTH, list) else TRUTH["values"])
    if entry["quantity"] == "delta" and entry["mechanism"] in ("randomized_response", "gaussian", "laplace")
]
MAKERS = {
    "randomized_response": lambda entry: RandomizedResponse(entry["p"]),
    "gaussian": lambda entry: Gaussian(entry["sigma"]),
    "laplace": lambda entry: Laplace(entry["b"]),
}


@pytest.mark.parametrize("entry", [e for e in ENTRIES if e["k"] <= 10], ids=lambda e: f"{e['name']} k={e['k']}")
def test_known_values(entry):
    derivation = symbolic.derive(entry["k"] * MAKERS[entry["mechanism"]](entry))
    expression = derivation["Tight delta"].expression
    with mpmath.workdps(50):
        (symbol,) = expression.free_symbols
        found = number(expression, {symbol: mpf(entry["eps"])})
        assert abs(found / mpf(entry["value"]) - 1) < mpf(10) ** -39


@pytest.mark.long
@pytest.mark.parametrize("seed", range(20))
def test_random_parameters_against_the_reference(seed):
    """Every mechanism with a closed delta, at random parameters and eps, to 40 digits."""
    draw = random.Random(seed)
    q, p, b = (f"0.{draw.randint(100, 900)}" for _ in range(3))
    pairs = [
        Gaussian(b),
        Laplace(b),
        RandomizedResponse(f"0.{draw.randint(510, 950)}"),
        KaryRandomizedResponse(b, draw.randint(3, 30)),
        ExponentialCounting(b, draw.randint(1, 9), 10),
        Binomial(draw.randint(3, 40), p),
        DiscreteLaplace(b, draw.randint(1, 4)),
        PoissonSubsampled(Gaussian(b), q),
        PoissonSubsampled(Laplace(b), q),
    ]
    pair, direction = draw.choice(pairs), draw.choice(["forward", "backward"])
    eps = f"{draw.choice(['', '-'])}0.{draw.randint(10, 99)}"
    expression = symbolic.derive(pair, direction)["Tight delta"].expression
    expected = reference.delta(pair, eps, digits=43, direction=direction).value
    with mpmath.workdps(55):
        (symbol,) = expression.free_symbols
        found = number(expression, {symbol: mpf(eps)})
        assert found == expected or abs(found - expected) <= mpf(10) ** -40 * abs(expected)


def test_exponentials_of_long_fractions_are_left_alone():
    """To factor a fraction in e^{833/1000} is to factor a polynomial of degree 833."""
    for pair in (ExponentialCounting("0.833", 4, 10), KaryRandomizedResponse("0.833", 7)):
        assert all(row.digits >= 30 for row in symbolic.derive(pair).checked)


def test_the_gallery_has_every_mechanism():
    from dplab.core.pair import Pair
    from dplab.symbolic.showing import specimens

    shown = {type(pair).__name__ for pair in specimens()}
    hidden = {
        "DensityPair",
        "IntegerPair",
        "TablePair",
        "Product",
        "Part",
    }  # one's own, and what is only several others
    known = {name for name, kind in Pair._registry.items() if kind.__module__.startswith("dplab.mechanisms.")}
    assert known - hidden <= shown


def test_the_gallery_as_table_and_text():
    table = symbolic.gallery([RandomizedResponse("p"), Laplace("b")])
    assert len(table) == 2
    assert table["Laplace"].subject.startswith("Laplace")
    page = table._repr_html_()
    assert page.count("<table") == page.count("overflow-x:auto") == 2  # no mechanism makes another one's block wide
    assert page.count("<tr>") == 2 * 6
    assert page.count(">where</th>") == 2
    assert all(page.count(f">${name}$</th>") == 2 for name in (r"\omega(s)", "M(z)", r"\delta(\infty)"))
    assert "where c = log(p/(1 - p))" in str(table)
    with pytest.raises(KeyError, match="no row"):
        table["Gaussian"]


def test_few_digits_of_a_quadrature_are_no_failure():
    """A check that fails is made again with twice the digits, at the same points; what is wrong stays wrong."""
    seen = []

    def check(scene):
        point = scene.draw(0, 1)
        seen.append((point, mpmath.mp.dps))
        lost = mpmath.mpf(10) ** (-0.6 * mpmath.mp.dps)
        yield Comparison("a number", point + 1 + lost + wrong, point + 1)

    wrong = 0
    base = symbolic.derive(Laplace(1))
    step = Step("One step", (Line("x", sympy.S.One),), "a reason", check, "itself")
    derivation = Derivation("a subject", [step], base._scene)
    assert [row.title for row in derivation.checked] == ["One step"]
    (first, digits), (again, more) = seen
    assert abs(again - first) < mpmath.mpf(10) ** -40
    assert more == 2 * digits
    wrong = mpmath.mpf(10) ** -20
    with pytest.raises(StepFailedError):
        Derivation("a subject", [step], base._scene)
