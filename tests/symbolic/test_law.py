"""PLDs and M(z) as sympy objects: checked by integrating what is shown."""

import mpmath
import pytest
import sympy
from mpmath import mpf

from dplab import Composition, Gaussian, Laplace, PoissonSubsampled, RandomizedResponse, symbolic
from dplab.core.errors import NoClosedFormError, ParameterError
from dplab.core.functions import MpmathTable
from dplab.core.pld import PLD

S, Z = sympy.symbols("s z", real=True)
FN = MpmathTable()
LAWS = [
    RandomizedResponse("0.83"),
    3 * RandomizedResponse("0.83"),
    Gaussian("0.7"),
    4 * Gaussian(3) + Gaussian(2),
    Laplace("0.6"),
    PoissonSubsampled(RandomizedResponse("0.83"), "0.2"),
    PoissonSubsampled(Gaussian("0.7"), "0.3"),
    PoissonSubsampled(Laplace("0.6"), "0.3"),
    PoissonSubsampled(Gaussian(0), "0.3"),
]


def expectation(law, weight):
    """The integral of a weight over the law, atoms and density as shown; weights may have a kink at 1/4."""
    total = sum(mpf(sympy.N(atom.p, 25)) * weight(mpf(sympy.N(atom.loss, 25))) for atom in law.atoms)
    if law.support is sympy.S.EmptySet:
        return total
    spelled_out = sympy.lambdify(law.variable, law.density.xreplace(dict(law.definitions)), "mpmath")
    low, high = (
        mpf(60) * sympy.sign(end) if end.is_infinite else mpf(sympy.N(end, 25)) for end in law.support.args[:2]
    )
    cuts = [mpf(i) / 4 for i in range(-20, 21)]
    return total + mpmath.quad(
        lambda s: spelled_out(s) * weight(s), [low, *(cut for cut in cuts if low < cut < high), high]
    )


@pytest.mark.parametrize("composition", LAWS, ids=str)
@pytest.mark.parametrize("direction", ["remove", "add"])
def test_masses(composition, direction):
    law = symbolic.pld(composition, direction)
    with mpmath.workdps(25):
        mass = expectation(law, lambda s: mpf(1))
        other = expectation(law, lambda s: mpmath.exp(-s))
        assert abs(mass - mpf(sympy.N(law.mass, 25))) < mpf("1e-15")
        assert abs(other - 1 + mpf(sympy.N(law.mass_at_minus_infinity, 25))) < mpf("1e-15")
    assert sympy.simplify(law.mass + law.mass_at_infinity - 1) == 0


@pytest.mark.parametrize("composition", LAWS, ids=str)
def test_delta_is_the_integral_over_the_law(composition):
    """Lemma 2."""
    law = symbolic.pld(composition, "remove")
    with mpmath.workdps(25):
        eps = mpf("0.25")  # a cut of the quadrature
        direct = expectation(law, lambda s: max(mpf(0), 1 - mpmath.exp(eps - s)))
        infinite = mpf(sympy.N(law.mass_at_infinity, 25))
        assert abs(symbolic.delta(composition, "0.25", "remove").evaluate(25) - direct - infinite) < mpf("1e-12")


@pytest.mark.parametrize("pair", [Gaussian("sigma"), Laplace("b"), PoissonSubsampled(Gaussian("sigma"), "q")], ids=str)
def test_mirror_identity_of_the_shown_densities(pair):
    here, there = symbolic.pld(pair, "remove"), symbolic.pld(pair, "add")
    values = {"sigma": sympy.Rational(7, 10), "b": sympy.Rational(3, 5), "q": sympy.Rational(3, 10)}
    for point in (sympy.Rational(-1, 5), sympy.Rational(1, 7), sympy.Rational(1, 3)):
        left, right = there.density_at(point), sympy.exp(point) * here.density_at(-point)
        bound = {s: values[s.name] for s in (left - right).free_symbols}
        assert abs(sympy.N((left - right).subs(bound), 25)) < 1e-22
        assert sympy.N(left.subs(bound)) > 0


def test_what_a_law_shows():
    law = symbolic.pld(Laplace("b"))
    b = sympy.Symbol("b", positive=True)
    assert [atom.loss for atom in law.atoms] == [1 / b, -1 / b]
    assert law.support == sympy.Interval.open(-1 / b, 1 / b)
    assert law.density == sympy.exp(S / 2 - 1 / (2 * b)) / 4
    assert (law.mass, law.mass_at_infinity) == (1, 0)
    assert str(law).splitlines() == [
        "atom of mass 1/2 at 1/b",
        "atom of mass exp(-1/b)/2 at -1/b",
        "density exp(s/2 - 1/(2*b))/4 for -1/b < s < 1/b",
        "delta(inf) = 0",
    ]
    shown = symbolic.pld(PoissonSubsampled(Gaussian("sigma"), "q"))._repr_latex_()
    assert r"\omega(s) &= " in shown
    assert r"g &= \log{\left(\frac{e^{s} - (1 - q)}{q} \right)}" in shown
    assert shown.count("$$") == 2
    assert symbolic.pld(Gaussian(0)).mass_at_infinity == 1
    assert "delta(inf) = 1" in str(symbolic.pld(Gaussian(0)))


def test_density_outside_the_support_is_zero():
    law = symbolic.pld(Laplace(1))
    assert law.density_at(sympy.Integer(2)) == 0
    assert law.density_at(sympy.Integer(0)) == sympy.exp(sympy.Rational(-1, 2)) / 4


def test_the_variable_can_be_renamed():
    assert symbolic.pld(Gaussian(1), variable="x").density.free_symbols == {sympy.Symbol("x", real=True)}


def test_nothing_released_is_an_atom_at_zero():
    law = symbolic.pld(Composition())
    assert [tuple(atom) for atom in law.atoms] == [(0, 1, 1)]


def test_long_convolutions_name_the_stage():
    for composition in (20 * RandomizedResponse(0.75), 2 * Laplace(1), Gaussian(1) + Laplace(1)):
        with pytest.raises(NoClosedFormError, match=r"^convolution: "):
            symbolic.pld(composition)


@pytest.mark.parametrize("question", [symbolic.pld, symbolic.mgf])
def test_one_direction_must_be_chosen_where_they_differ(question):
    with pytest.raises(ParameterError, match=r"^direction = 'both'.*two laws differ"):
        question(PoissonSubsampled(RandomizedResponse(0.75), "0.1"), direction="both")
    question(Gaussian(1), direction="both")


WITH_MGF = [
    RandomizedResponse("0.83"),
    7 * Gaussian(3) + 2 * Laplace("0.6"),
    PoissonSubsampled(RandomizedResponse("0.83"), "0.2"),
    PoissonSubsampled(Gaussian(0), "0.3"),
    Gaussian(0),
    Composition(),
]


@pytest.mark.parametrize("composition", WITH_MGF, ids=str)
@pytest.mark.parametrize("direction", ["remove", "add"])
def test_mgf_is_the_product_over_the_pages(composition, direction):
    form = symbolic.mgf(composition, direction=direction)
    for z in ("-1.3", "-1", "-0.2", "0", "0.7", "3"):
        with mpmath.workdps(50):
            expected = mpf(1)
            for pair, k in Composition.of(composition).parts:
                expected *= _moment(PLD(pair, direction == "add"), mpf(z)) ** k
        found = form.evaluate(40, z=z)
        assert abs(found - expected) <= mpf("1e-39") * abs(expected)
        assert abs(symbolic.mgf(composition, z, direction).evaluate(40) - expected) <= mpf("1e-39") * abs(expected)


def _moment(pld, z):
    if pld.support(FN) is None:
        return sum((atom.p * mpmath.exp(z * atom.loss) for atom in pld.atoms(FN)), mpf(0))
    return pld.mgf(FN, z)


@pytest.mark.parametrize("pair", [Gaussian("0.7"), Laplace("0.6")], ids=str)
@pytest.mark.parametrize("order", [-1, 0, 1, 2, 5])
def test_subsampled_moments_of_whole_order(pair, order):
    """The moments accountant's sum, against the integral over the PLD in its smooth coordinate."""
    sampled = PoissonSubsampled(pair, "0.2")
    found = symbolic.mgf(sampled, order).evaluate(30)
    with mpmath.workdps(30):
        pld = PLD(sampled)
        lower, upper, center, scale = pld.coordinate(FN)
        if mpmath.isinf(lower):
            lower, upper = center - 30 * scale, center + 30 * scale
        ends = [lower + (upper - lower) * i / 10 for i in range(11)]
        direct = mpmath.quad(
            lambda u: pld.coordinate_densities(FN, u).p * mpmath.exp(order * pld.coordinate_loss(FN, u)), ends
        ) + sum(atom.p * mpmath.exp(order * atom.loss) for atom in pld.atoms(FN))
        assert abs(found / direct - 1) < mpf("1e-20")
    assert symbolic.mgf(sampled, -1 - order, "add").evaluate(30) == found


def test_case_k1_06_whole_order_of_a_subsampled_gaussian():
    """meta: log A(59) of q=0.4, sigma=12 (a real report on another accountant; the finder's value)."""
    value = symbolic.mgf(PoissonSubsampled(Gaussian(12), "0.4"), 58).evaluate(30)
    with mpmath.workdps(30):
        assert abs(mpmath.log(value) / mpf("2.10965411410761266") - 1) < mpf("1e-17")


@pytest.mark.parametrize(
    ("z", "direction"), [("z", "remove"), ("0.5", "remove"), (-3, "remove"), (2, "add"), (500, "remove")]
)
def test_subsampled_moments_of_other_orders_are_not_closed(z, direction):
    with pytest.raises(NoClosedFormError, match=r"^moment generating function: .*dplab.reference"):
        symbolic.mgf(PoissonSubsampled(Gaussian(1), "0.1"), z, direction)
