"""What a reader sees: results in the paper's letters, and objects that sympy's other tools accept."""

import subprocess
import sys

import mpmath
import pytest
import sympy
from mpmath import mpf

from dplab import Gaussian, Laplace, PoissonSubsampled, RandomizedResponse, symbolic
from dplab.symbolic import Phi, SympyTable

SIGMA, B, P, Q = sympy.symbols("sigma b p q", positive=True)
EPS = sympy.Symbol("eps", real=True)

TEXT = [
    (Gaussian("sigma"), "Phi(1/(2*sigma) - eps*sigma) - exp(eps)*Phi(-eps*sigma - 1/(2*sigma))"),
    (
        Laplace("b"),
        "Piecewise((1 - exp(eps), eps <= -1/b), (1 - exp(eps/2 - 1/(2*b)), eps < 1/b), (0, True))",
    ),
    (
        RandomizedResponse("p"),
        "Piecewise((1 - exp(eps), eps <= -log(p/(1 - p))), (p - (1 - p)*exp(eps), eps < log(p/(1 - p))), (0, True))",
    ),
    (
        PoissonSubsampled(Gaussian("sigma"), "q"),
        "Piecewise((1 - exp(eps), eps <= log(1 - q)), "
        "(q*(Phi(1/(2*sigma) - g*sigma) - exp(g)*Phi(-g*sigma - 1/(2*sigma))), True)), "
        "where g = log((exp(eps) - (1 - q))/q)",
    ),
    (
        20 * RandomizedResponse("p"),
        "Sum(binomial(20, j)*Max(0, p**j*(1 - p)**(20 - j) - p**(20 - j)*(1 - p)**j*exp(eps)), (j, 0, 20))",
    ),
]


@pytest.mark.parametrize(("composition", "text"), TEXT, ids=lambda value: str(value)[:40])
def test_results_are_written_as_a_person_would(composition, text):
    assert str(symbolic.delta(composition, "eps", "remove")) == f"delta = {text}"


def test_latex():
    gaussian = symbolic.delta(Gaussian("sigma"), "eps")._repr_latex_()
    assert gaussian == (
        r"$\displaystyle \delta = \Phi\left(\frac{1}{2 \sigma} - \varepsilon \sigma\right) - e^{\varepsilon}"
        r" \Phi\left(- \varepsilon \sigma - \frac{1}{2 \sigma}\right)$"
    )
    sampled = symbolic.delta(PoissonSubsampled(Gaussian("sigma"), "q"), "eps", "add")._repr_latex_()
    assert r"\quad\text{where } g = \log{\left(\frac{e^{- \varepsilon} - (1 - q)}{q} \right)}" in sampled
    assert r"\begin{cases}" in sampled
    both = symbolic.delta(PoissonSubsampled(Gaussian("sigma"), "q"), "eps")
    assert r"\delta &= \max\left(" in both._repr_latex_()
    assert [letter.name for letter, _ in both.definitions] == ["delta_forward", "delta_backward", "g", "h"]
    assert both.free_symbols == {"eps", "sigma", "q"}
    assert r"\sum_{j=0}^{20}" in symbolic.delta(20 * RandomizedResponse("p"), "eps")._repr_latex_()
    assert symbolic.mgf(Gaussian("sigma"))._repr_latex_().startswith(r"$\displaystyle M(z) = e^{")


def test_gaussian_in_erfc_form_is_balle_and_wang():
    found = symbolic.delta(Gaussian("sigma"), "eps").expression.rewrite(sympy.erfc)
    low, high = ((EPS * SIGMA - sign / (2 * SIGMA)) / sympy.sqrt(2) for sign in (1, -1))
    expected = sympy.erfc(low) / 2 - sympy.exp(EPS) * sympy.erfc(high) / 2
    values = {SIGMA: sympy.Rational(7, 10), EPS: sympy.Rational(1, 3)}
    assert abs(sympy.N((found - expected).subs(values), 30)) < 1e-28
    assert not found.has(Phi)


def test_composed_gaussians_have_one_mu():
    form = symbolic.delta(9 * Gaussian("sigma"), "eps").expression
    assert form.has(Phi(3 / (2 * SIGMA) - EPS * SIGMA / 3))


def test_numbers_are_exact():
    assert symbolic.delta(RandomizedResponse(0.75), 0.5).expression == sympy.Rational(3, 4) - sympy.exp("1/2") / 4
    assert symbolic.delta(Laplace(10), 0).expression == 1 - sympy.exp(sympy.Rational(-1, 20))


def test_eps_may_be_anything_that_names_a_number_or_a_symbol():
    pair = Laplace("b")
    by_name = symbolic.delta(pair, "eps").expression
    assert symbolic.delta(pair, sympy.Symbol("eps")).expression == by_name
    assert symbolic.delta(pair, sympy.Symbol("eps", positive=True)).expression == by_name
    assert symbolic.delta(pair, "2*x").expression == by_name.subs(EPS, 2 * sympy.Symbol("x", real=True))
    assert symbolic.delta(Laplace(1), "log(2)/2").evaluate(20) > 0


def test_eps_and_a_parameter_of_the_same_name_are_the_same_number():
    """One step of eps-DP randomised response has delta(eps) = 0, for every eps > 0."""
    form = symbolic.delta(RandomizedResponse.from_eps("eps"), "eps")
    assert len(form.expression.free_symbols) <= 1
    assert form.evaluate(30, eps="0.7") == 0


def test_sympy_tools_work_on_the_results():
    form = symbolic.delta(Gaussian("sigma"), "eps").expression
    slope = sympy.diff(form, EPS)
    at = {SIGMA: 2, EPS: sympy.Rational(1, 2)}
    # delta' = -e^eps Q(s > eps)
    direct = -sympy.exp(EPS) * Phi(-1 / (2 * SIGMA) - EPS * SIGMA)
    assert abs(sympy.N((slope - direct).subs(at), 25)) < 1e-23
    compiled = sympy.lambdify((SIGMA, EPS), form, "mpmath")
    assert abs(compiled(mpf(1), mpf(1)) - mpf("0.126936737506643946")) < mpf("1e-15")
    assert abs(sympy.N(form.subs({SIGMA: 1, EPS: 1}), 20) - sympy.Float("0.1269367375066439458", 20)) < 1e-18


def test_phi():
    assert (Phi(0), Phi(sympy.oo), Phi(-sympy.oo)) == (sympy.S.Half, 1, 0)
    assert Phi(SIGMA).is_real
    assert Phi(SIGMA).is_positive
    assert Phi(SIGMA).diff(SIGMA) == sympy.exp(-(SIGMA**2) / 2) / sympy.sqrt(2 * sympy.pi)
    assert sympy.latex(Phi(SIGMA) ** 2) == r"\Phi\left(\sigma\right)^{2}"
    assert abs(Phi(sympy.Integer(1)).rewrite(sympy.erf).evalf(20) - Phi(sympy.Integer(1)).evalf(20)) < 1e-18


def test_the_function_table_names_losses_only_when_asked():
    table = SympyTable()
    s, q = table.symbol("g"), table.symbol("q")
    assert table.log_mix(s, q) == sympy.log(1 - q + q * sympy.exp(s))
    table.name_losses_of(s)
    letter = table.log_mix(s, 1 / q)
    assert letter.name == "h"  # g is taken
    assert table.log_mix(s, 1 / q) is letter
    assert table.spelled_out(letter) == sympy.log((sympy.exp(s) - 1 + q) / q)
    assert table.definitions(letter + 1) == ((letter, table.spelled_out(letter)),)
    assert table.definitions(s) == ()


@pytest.mark.parametrize("name", ["exp", "log", "sqrt", "log1p", "expm1", "normal_cdf", "log_normal_cdf"])
def test_the_function_table_agrees_with_mpmath(name):
    from dplab.core.functions import MpmathTable

    with mpmath.workdps(30):
        found = mpmath.mpmathify(sympy.N(getattr(SympyTable(), name)(sympy.Rational(3, 7)), 30))
        assert abs(found - getattr(MpmathTable(), name)(mpf(3) / 7)) < mpf("1e-27")


def test_no_numpy_is_imported():
    code = "import sys, dplab.symbolic as s, dplab as d; s.delta(d.Gaussian('sigma'), 'eps').evaluate(sigma=1, eps=1); "
    check = "print([m for m in ('numpy', 'scipy', 'matplotlib') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code + check], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
