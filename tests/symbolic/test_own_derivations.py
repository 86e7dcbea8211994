"""Derivations of pairs of one's own: what is closed is found, what is not is named, and every number is checked."""

import mpmath
import pytest
import sympy
from mpmath import mpf

from dplab import Pair, PoissonSubsampled, symbolic
from dplab.core.errors import ParameterError
from dplab.mechanisms.own.programs import acot, upper_normal
from dplab.symbolic.borders import borders
from dplab.symbolic.calculus import exponential
from dplab.symbolic.derivation import spelled_out
from dplab.symbolic.masses import Masses
from dplab.symbolic.numeric import number
from dplab.symbolic.outputs import Line, Piece
from dplab.symbolic.worker import Running, StageStopped

T, EPS = sympy.symbols("t eps", real=True)
Z = sympy.Symbol("z")

QUICK = {
    "uniform": ("heaviside(t - 1/4)*heaviside(5/4 - t)", "heaviside(t)*heaviside(1 - t)", None),
    "laplace": ("exp(-abs(t - 1)/b)/(2*b)", "exp(-abs(t)/b)/(2*b)", None),
    "gaussian": ("exp(-(t - 1)**2/2)/sqrt(2*pi)", "exp(-t**2/2)/sqrt(2*pi)", None),
    "truncated laplace": ("exp(-abs(t - 1))/(2 - exp(-1) - exp(-2))", "exp(-abs(t))/(2 - exp(-2) - exp(-1))", (-1, 2)),
    "with an atom": ("dirac(t)/4 + 3*exp(-t)*heaviside(t)/4", "dirac(t)/2 + exp(-t)*heaviside(t)/2", None),
}
SLOW = {
    "two widths": ("exp(-(t - 1)**2/2)/sqrt(2*pi)", "exp(-t**2/8)/sqrt(8*pi)", None),
    "logistic": ("exp(-(t - 1))/(1 + exp(-(t - 1)))**2", "exp(-t)/(1 + exp(-t))**2", None),
    "cauchy": ("1/(pi*(1 + (t - 1)**2))", "1/(pi*(1 + t**2))", None),
    "triangular": ("max(0, 1 - abs(t - 1/2))", "max(0, 1 - abs(t))", None),
    "sech": ("sech(t - 1)/pi", "sech(t)/pi", None),
    "mixture": (
        "exp(-(t - 1)**2/2)/(2*sqrt(2*pi)) + exp(-(t - 1)**2/8)/(4*sqrt(2*pi))",
        "exp(-t**2/2)/(2*sqrt(2*pi)) + exp(-t**2/8)/(4*sqrt(2*pi))",
        None,
    ),
}


def made(p, q, support):
    return Pair.from_text(p, q, support=support)


@pytest.mark.parametrize("name", QUICK)
@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_closed_chains(name, direction):
    derivation = symbolic.derive(made(*QUICK[name]), direction)
    assert all(row.digits >= 30 for row in derivation.checked)
    assert {step.stopped.stage for step in derivation.stopped} <= {"cumulants", "convolution"}


@pytest.mark.long
@pytest.mark.parametrize("name", SLOW)
@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_open_chains_name_the_stage_that_stopped(name, direction):
    derivation = symbolic.derive(made(*SLOW[name]), direction, budget=0.5)
    assert all(row.digits >= 30 for row in derivation.checked)
    stopped = derivation["Moment generating function"].stopped
    assert (stopped is None) == (name in ("two widths", "logistic"))
    assert (derivation["Tight delta"].stopped is None) == (name != "mixture")


WRITTEN = [
    (
        "logistic",
        {
            "omega": "exp(1/2 + s/2)/(2*E - 2)",
            "M": "(exp(1 + 2*z) - 1)*exp(-z)/((E - 1)*(1 + 2*z))",
            "delta": "Piecewise((1 - exp(eps), eps <= -1), ((exp(1/2) - exp(eps/2))**2/(E - 1), eps < 1), (0, True))",
            "h": "Piecewise((1 - x, x <= exp(-1)), ((exp(1/2) - sqrt(x))**2/(E - 1), x < E), (0, True))",
        },
    ),
    (
        "triangular",
        {
            "delta": "Piecewise(((15*exp(eps) - 8 - 8*exp(2*eps))/(8*exp(eps) - 8), eps <= -log(2)), "
            "((8 - exp(eps))/(8 + 8*exp(eps)), eps <= log(2)), (exp(eps)/(8*exp(eps) - 8), True))"
        },
    ),
    (
        "beta",
        {
            "omega": "2*(3 - exp(s))*exp(2*s)/9",
            "M": "6*exp(z*log(3))/((2 + z)*(3 + z))",
            "kappa1": "log(3) - 5/6",
            "kappa2": "13/36",
            "delta": "Piecewise(((3 - exp(eps))**3/27, eps < log(3)), (0, True))",
        },
    ),
]
STEPS = {
    "omega": ("Privacy loss distribution", 0), "M": ("Moment generating function", 0), "kappa1": ("Cumulants", 0),
    "kappa2": ("Cumulants", 1), "delta": ("Tight delta", 0), "h": ("In x = e^eps", 0),
}  # fmt: skip


@pytest.mark.parametrize(("name", "formulas"), WRITTEN)
def test_results_are_written_as_a_person_would(name, formulas):
    """Terms of several pieces cancel, and cases are those of eps, one formula each."""
    law = {**SLOW, "beta": ("6*t*(1 - t)", "2*t", (0, 1))}[name]
    derivation = symbolic.derive(made(*law))
    for what, expected in formulas.items():
        title, line = STEPS[what]
        assert str(derivation[title].lines[line]).split(" = ", 1)[1].split("   for ")[0] == expected, what


def test_a_formula_has_a_value_where_pieces_meet():
    """The losses of two of a Cauchy pair's three pieces end at 0, where their outcomes run to infinity."""
    derivation = symbolic.derive(made(*SLOW["cauchy"]))
    step = derivation["Tight delta"]
    delta = sympy.lambdify(EPS, spelled_out(step.lines[0].right, step.letters), "mpmath")
    with mpmath.workdps(30):
        exact = 2 * mpmath.atan(mpf(1) / 2) / mpmath.pi
        assert abs(delta(mpf(0)) - exact) < mpf(10) ** -28
        assert abs(delta(mpf(10) ** -20) - exact) < mpf(10) ** -15
        assert abs(delta(-(mpf(10) ** -20)) - exact) < mpf(10) ** -15


def test_tables():
    derivation = symbolic.derive(Pair.from_tables(["1/2", "1/4", "1/4", 0], ["1/4", "1/4", "1/4", "1/4"]))
    assert derivation["Privacy loss distribution"].lines[-1].right == 0
    with mpmath.workdps(40):
        assert number(derivation["Tight delta"].expression, {sympy.Symbol("eps", real=True): mpf("0.1")}) > 0


def test_sampled_pairs_of_your_own():
    for pair in (made(*QUICK["uniform"]), Pair.from_tables(["0.6", "0.4", 0], ["0.3", "0.3", "0.4"])):
        for direction in ("forward", "backward"):
            derivation = symbolic.derive(PoissonSubsampled(pair, "0.2"), direction)
            assert all(row.digits >= 30 for row in derivation.checked)


def test_the_laplace_pair_in_text_is_the_laplace_mechanism():
    from dplab import Laplace

    own = symbolic.derive(made(*QUICK["laplace"]))
    page = symbolic.derive(Laplace("b"))
    with mpmath.workdps(40):
        for title, symbol in (("Moment generating function", Z), ("Tight delta", sympy.Symbol("eps", real=True))):
            values = {symbol: mpf("0.31"), sympy.Symbol("b", positive=True): mpf("1.7")}
            found, expected = (number(d[title].expression, values) for d in (own, page))
            assert abs(found - expected) < mpf(10) ** -35


# --- stages ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("exponent", "low", "high"),
    [
        (-3 * T, 0, sympy.oo),
        (2 * T - 1, -sympy.oo, 1),
        (sympy.Integer(-1), 0, 2),
        (-((T - 1) ** 2), -sympy.oo, sympy.oo),
        (-2 * T**2 + T + 3, -1, sympy.oo),
        (-(T**2) / 3 + 5, 0, 1),
    ],
)
def test_completing_the_square(exponent, low, high):
    found = exponential(exponent, T, sympy.sympify(low), sympy.sympify(high))
    with mpmath.workdps(30):
        ends = [number(sympy.sympify(end), {}) for end in (low, high)]
        expected = mpmath.quad(lambda t: mpmath.exp(number(exponent, {T: t})), ends)
        assert abs(number(found, {}) / expected - 1) < mpf(10) ** -25


def test_what_is_no_square_is_refused():
    assert exponential(T**3, T, sympy.S.Zero, sympy.S.One) is None
    assert exponential(sympy.log(T), T, sympy.S.Zero, sympy.S.One) is None


def run_stage(stage: str, function: str, *arguments, budget):
    """What a worker answers."""
    with Running(stage, function, *arguments, budget=budget) as running:
        return running.result()


def test_a_stage_that_runs_away_is_ended():
    endless = [((sympy.cosh(T - 1) / sympy.cosh(T)) ** (Z + 1) / sympy.cosh(T), T, -sympy.oo, sympy.oo)]
    stopped = run_stage("moments", "calculus:in_worker", endless, budget=0.2)
    assert isinstance(stopped, StageStopped)
    assert stopped.stage == "moments"
    assert str(stopped) == "moments: its budget of 0.2 s ran out"


def test_a_stage_that_fails_says_why():
    stopped = run_stage("moments", "calculus:no_such_function", budget=1)
    assert isinstance(stopped, StageStopped)
    assert "AttributeError" in stopped.reason


def test_a_stage_that_succeeds_gives_its_value():
    found = run_stage("moments", "calculus:in_worker", [(T**2 * sympy.exp(-T), T, sympy.S.Zero, sympy.oo)], budget=20)
    assert found == 2


@pytest.mark.parametrize("budget", [0, -1, True, "2", float("nan"), 10**9])
def test_bad_budgets(budget):
    with pytest.raises(ParameterError, match="budget"):
        run_stage("moments", "calculus:in_worker", [], budget=budget)


# --- laws whose mass is anywhere ---------------------------------------------------------------------


@pytest.mark.parametrize("rate", ["1", "1000", "1/1000"])
@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_a_half_line_on_which_a_high_moment_is_infinite(rate, direction):
    """Nothing but the end 0 says where the mass is, and M(-3) is infinite."""
    pair = Pair.from_text(f"2*{rate}*exp(-2*{rate}*t)", f"{rate}*exp(-{rate}*t)", "t", (0, "inf"))
    derivation = symbolic.derive(pair, direction)
    assert all(row.digits >= 30 for row in derivation.checked)


@pytest.mark.long
def test_a_loss_that_turns_where_little_mass_is():
    """The loss turns near -4 and 5; a twin that looks at every twelfth unit only misses the dip."""
    law = "9*exp(-{t}**2/2)/(10*sqrt(2*pi)) + exp(-{t}**2/50)/(50*sqrt(2*pi))"
    pair = Pair.from_text(law.replace("{t}", "(t - 1)"), law.replace("{t}", "t"))
    derivation = symbolic.derive(pair, budget=0.5)
    assert all(row.digits >= 30 for row in derivation.checked)


@pytest.mark.long
@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_masses_at_infinity_in_functions_of_the_analysis(direction):
    """What is cut off a Gaussian or a Cauchy law is written in its own tails, which need numbers."""
    for density in ("exp(-t**2/2)/(sqrt(2*pi)*erf(2/sqrt(2)))", "1/(2*atan(2)*(1 + t**2))"):
        law = f"piecewise(({density}, abs(t) <= 2), (0, True))"
        pair = Pair.from_text(law.replace("t**2", "(t - 1)**2").replace("abs(t)", "abs(t - 1)"), law)
        with mpmath.workdps(40):
            expected = number(pair.analysis.infinite, {})
            q = Pair.from_text(law, law.replace("t**2", "(t - 1)**2").replace("abs(t)", "abs(t - 1)"))
            assert abs(number(q.analysis.missing, {}) - expected) < mpf(10) ** -35
        derivation = symbolic.derive(pair, direction, budget=0.5)
        assert all(row.digits >= 30 for row in derivation.checked)


@pytest.mark.parametrize("x", ["-1.5", "0.25", "3"])
def test_tails_of_the_analysis_as_numbers(x):
    with mpmath.workdps(40):
        at, value = sympy.Rational(x), mpf(x)
        assert abs(number(upper_normal(at), {}) - (1 - mpmath.ncdf(value))) < mpf(10) ** -38
        assert abs(mpmath.cot(number(acot(at), {})) - value) < mpf(10) ** -37
        assert 0 < number(acot(at), {}) < mpmath.pi


def test_the_numbers_find_a_dip_in_a_wide_interval():
    x = sympy.Symbol("t", real=True)
    wide = sympy.exp(-((x - 1) ** 2) / 2) * 9 / 10 + sympy.exp(-((x - 1) ** 2) / 50) / 50
    narrow = wide.xreplace({x: x + 1})
    with mpmath.workdps(30):
        twin = Line(x, (Piece(-sympy.oo, sympy.oo, wide, narrow),), (wide, narrow), (-1, 0, 1)).twin({})
        (cuts, p, q), c = twin.pieces[0], mpf("-0.6")
        ends = borders(cuts, p, q, mpmath.exp(c))[0]
        assert len(ends) == 5  # far out the loss is near (t - 1/2)/25
        assert all(abs(mpmath.log(p(t) / q(t)) - c) < mpf(10) ** -20 for t in ends[1:-1])


def test_ranges_where_every_mass_is_small():
    masses = Masses([(mpf(1) - mpf(10) ** -12, mpf(10) ** -12), (mpf(10) ** -12, mpf(1) - mpf(10) ** -12)])
    low, high = masses.range()
    assert -low == high > 27
