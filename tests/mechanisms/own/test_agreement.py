"""Densities of built-in mechanisms typed by hand give what the built-in mechanisms give; symbols, atoms, supports."""

import mpmath
import pytest
import sympy
from mpmath import mpf

from dplab import Gaussian, Laplace, Pair, PoissonSubsampled, fourier, reference, symbolic
from dplab.core.errors import NoEnclosureError, UnboundSymbolError
from dplab.core.functions import MpmathTable

FN = MpmathTable()
t = sympy.Symbol("t", real=True)
b, sigma = sympy.symbols("b sigma", positive=True)


def laplace(scale):
    density = sympy.exp(-abs(t) / scale) / (2 * scale)
    return Pair.from_densities(density.subs(t, t - 1), density, t)


def gaussian(sd):
    density = sympy.exp(-(t**2) / (2 * sd**2)) / (sd * sympy.sqrt(2 * sympy.pi))
    return Pair.from_densities(density.subs(t, t - 1), density, t)


@pytest.mark.parametrize(("typed", "built"), [(laplace(2), Laplace(2)), (gaussian(3), Gaussian(3))], ids=["L", "G"])
def test_typed_and_built_agree(typed, built):
    for eps in ("0.2", "-0.1", 0):
        assert abs(reference.delta(typed, eps).value - reference.delta(built, eps).value) < mpf(10) ** -38
        closed = symbolic.delta(typed, eps).expression - symbolic.delta(built, eps).expression
        assert abs(closed.evalf(40)) < 1e-35
    for composition in (lambda pair: 40 * pair, lambda pair: 100 * PoissonSubsampled(pair, "0.1")):
        one, other = (fourier.delta(composition(pair), "0.5") for pair in (typed, built))
        assert abs(one.lower / other.lower - 1) < 1e-3
        assert one.lower <= other.upper
        assert other.lower <= one.upper
    truth = reference.delta(40 * built, "0.5")
    assert fourier.delta(40 * typed, "0.5").contains(truth.value)


def test_symbols_stay_symbols_and_bind():
    pair = laplace(b)
    assert pair.free_symbols == {"b"}
    shown = symbolic.delta(pair, "eps", "forward").expression
    built = symbolic.delta(Laplace("b"), "eps", "forward").expression
    for scale, eps in ((2, "1/5"), (sympy.Rational(1, 3), 1)):
        values = {symbol: (scale if symbol.name == "b" else sympy.Rational(eps)) for symbol in shown.free_symbols}
        others = {symbol: (scale if symbol.name == "b" else sympy.Rational(eps)) for symbol in built.free_symbols}
        assert abs((shown.subs(values) - built.subs(others)).evalf(30)) < 1e-25
    assert pair.bind(b=2) == laplace(2)
    with pytest.raises(UnboundSymbolError, match="b"):
        reference.delta(pair, 1)


def test_a_symbolic_gaussian_has_its_closed_form():
    found = symbolic.delta(gaussian(sigma), "eps", "forward").expression
    built = symbolic.delta(Gaussian("sigma"), "eps", "forward").expression
    values = dict.fromkeys(found.free_symbols | built.free_symbols, sympy.Rational(7, 5))
    assert abs((found - built).subs(values).evalf(30)) < 1e-25


def test_atoms_and_a_density_together():
    """Half the time nothing but 0 is said, and 0 may also be heard from the other side."""
    p = sympy.DiracDelta(t) / 2 + sympy.exp(-abs(t - 1)) / 4
    q = sympy.DiracDelta(t) / 4 + 3 * sympy.exp(-abs(t)) / 8 + 0
    pair = Pair.from_densities(p, q, t)
    losses = [atom.loss for atom in pair.atoms(FN)]
    assert any(abs(loss - mpmath.log(2)) < 1e-14 for loss in losses)
    eps = mpf("0.1")

    def excess(at):
        return mpmath.exp(-abs(at - 1)) / 4 - mpmath.exp(eps) * 3 * mpmath.exp(-abs(at)) / 8

    root = (1 + eps + mpmath.log(mpf(3) / 2)) / 2
    true = max(mpf("0.5") - mpmath.exp(eps) / 4, 0) + mpmath.quad(excess, [root, 1, 40])
    assert abs(reference.delta(pair, "0.1", "forward").value - true) < 1e-13
    assert fourier.delta(pair, "0.1", "forward").contains(reference.delta(pair, "0.1", "forward").value)


def test_an_atom_of_one_alone_is_mass_at_infinity():
    pair = Pair.from_densities(sympy.DiracDelta(t - 3) / 4 + 3 * sympy.exp(-abs(t)) / 8, sympy.exp(-abs(t)) / 2, t)
    assert pair.mass_at_infinity(FN) == mpf("0.25")
    (atom,) = pair.atoms(FN)
    assert abs(atom.p - mpf("0.75")) < 1e-14


def test_equal_densities_lose_nothing():
    pair = Pair.from_text("exp(-abs(t))/2", "exp(-abs(t))/2")
    assert pair.reduced() is None
    assert reference.delta(100 * pair, 0).value == 0


def test_a_half_line():
    """Exponential waiting times: rate 2 against rate 1."""
    pair = Pair.from_text("2*exp(-2*t)", "exp(-t)", support=(0, "inf"))
    ends = pair.support(FN)
    assert ends[0] == -mpmath.inf
    assert abs(ends[1] - mpmath.log(2)) < 1e-14
    true = mpmath.quad(
        lambda s: max(2 * mpmath.exp(-2 * s) - mpmath.exp("0.2") * mpmath.exp(-s), 0), [0, mpmath.log(2) - mpf("0.2")]
    )
    assert abs(reference.delta(pair, "0.2", "forward").value - true) < 1e-14
    assert fourier.delta(pair, "0.2", "forward").contains(reference.delta(pair, "0.2", "forward").value)


def test_without_an_antiderivative_the_bracket_refuses_and_says_why():
    quartic = Pair.from_text("2*exp(-(t - 1)**4)/gamma(1/4)", "2*exp(-t**4)/gamma(1/4)")
    with pytest.raises(NoEnclosureError, match="no closed antiderivative"):
        fourier.delta(quartic, "0.3")
    found = symbolic.delta(quartic, "0.3", "forward")
    assert "antiderivative" in found.reason
    with mpmath.workdps(30):
        scale = 2 / mpmath.gamma(mpf(1) / 4)

        def excess(s):
            return scale * (mpmath.exp(-((s - 1) ** 4)) - mpmath.exp(mpf("0.3") - s**4))

        root = mpmath.findroot(excess, mpf("0.55"))
        true = mpmath.quad(excess, [root, 1, 2, 5])
    assert abs(found.evaluate(20) - true) < 1e-18
    assert abs(reference.delta(quartic, "0.3", "forward", digits=20).value - true) < 1e-18


def test_an_endless_loss_has_no_largest():
    """Poisson against its shift: log(t/3) grows without end, so delta = 0 is never reached."""
    pair = Pair.from_text(
        "piecewise((exp(-3)*3**(t - 1)/factorial(t - 1), t >= 1), (0, True))",
        "exp(-3)*3**t/factorial(t)", "t", (0, "inf"), discrete=True,
    )  # fmt: skip
    assert reference.epsilon(pair, 0, "forward").value == mpmath.inf
    assert abs(reference.delta(pair, -2, "forward").value - (1 - mpmath.exp(-2) * (1 - mpmath.exp(-3)))) < 1e-14
    assert fourier.epsilon(pair, 0, "forward").upper == mpmath.inf


@pytest.mark.parametrize(
    ("p", "q", "p_parts", "q_parts"),
    [
        ("(exp(-(t - 2)**2/2) + 3*exp(-t**2/2))/(4*sqrt(2*pi))", "exp(-t**2/2)/sqrt(2*pi)",
         ((0.25, 2), (0.75, 0)), ((1, 0),)),
        ("(exp(-(t + 1)**2/2) + exp(-(t - 2)**2/2))/(2*sqrt(2*pi))",
         "(exp(-(t + 1)**2/2) + 2*exp(-(t - 1)**2/2))/(3*sqrt(2*pi))",
         ((0.5, -1), (0.5, 2)), ((mpf(1) / 3, -1), (mpf(2) / 3, 1))),
    ],
    ids=["one mixed", "both mixed"],
)  # fmt: skip
def test_mixtures_of_gaussians_have_narrow_brackets(p, q, p_parts, q_parts):
    """Far out both terms of the mixture vanish in float64; the loss does not."""

    def density(parts, at):
        return sum(mpf(weight) * mpmath.npdf(at, mean) for weight, mean in parts)

    pair = Pair.from_text(p, q)
    ends = [mpf(i) / 2 for i in range(-24, 25)]
    for direction in ("forward", "backward"):
        one, other = (p_parts, q_parts) if direction == "forward" else (q_parts, p_parts)
        true = mpmath.quad(lambda at: max(density(one, at) - density(other, at), 0), ends)  # noqa: B023
        bracket = fourier.delta(pair, 0, direction)
        assert bracket.lower - 1e-4 <= true <= bracket.upper + 1e-4  # the quadrature has a corner
        assert bracket.upper - bracket.lower < 1e-3 * bracket.upper
        assert bracket.contains(reference.delta(pair, 0, direction).value)


@pytest.mark.parametrize("law", ["exp(-abs({t}))/2", "exp(-{t})/(1 + exp(-{t}))**2"], ids=["Laplace", "logistic"])
def test_a_closed_form_at_a_number_is_that_of_its_region(law):
    """Sampled, the losses' ends are near 0: most eps lie outside, where the sampling map has no inverse; an eps of 1
    or -1 is also a number in the formulas themselves."""
    pair = PoissonSubsampled(Pair.from_text(law.replace("{t}", "(t - 1)"), law.replace("{t}", "t")), "0.1")
    for direction in ("forward", "backward"):
        for eps in ("0.7", "-0.4", 1, -1, "0.03", 0):
            found = symbolic.delta(pair, eps, direction).evaluate(30)
            assert abs(found - reference.delta(pair, eps, direction, digits=30).value) < mpf(10) ** -28
