"""Two steps against residues, two-dimensional integrals, and the order of the steps."""

from fractions import Fraction

import mpmath
import pytest

from dplab import Composition, Gaussian, Laplace, Pair, PoissonSubsampled, reference
from dplab.core.pld import PLD
from dplab.reference.convolution import turns_known, two_steps
from dplab.reference.law import Law


@pytest.mark.parametrize("eps", ["-1.5", "-0.3", "0", "0.5", "1.99"])
def test_two_laplace_steps(eps):
    found = two_steps(Law.of(2 * Laplace(1), "forward"), Fraction(eps), 30)
    exact = reference.delta(2 * Laplace(1), eps)
    assert exact.method == "residues"
    assert abs(found.value - exact.value) <= 2 * (found.error + exact.error)
    assert found.error <= exact.value * mpmath.mpf(10) ** -30


def test_two_gaussians():
    found = two_steps(Law.of(Gaussian(1) + Gaussian(2), "forward"), Fraction(1, 2), 30)
    exact = reference.delta(Gaussian(1) + Gaussian(2), "0.5")
    assert abs(found.value - exact.value) <= 2 * (found.error + exact.error)


@pytest.mark.parametrize("backward", [False, True])
def test_against_the_definition_in_two_dimensions(backward):
    """sum over both outcomes of max(P1 P2 - e^eps Q1 Q2, 0), by a plain two-dimensional rule (6 digits)."""
    q, eps, n, reach = 0.3, 0.2, 600, 9.0
    step = 2 * reach / n
    points = [-reach + 0.5 + (i + 0.5) * step for i in range(n)]
    normal = [float(mpmath.npdf(t)) * step for t in points]
    shifted = [float(mpmath.npdf(t, 1)) * step for t in points]
    mixed = [q * a + (1 - q) * b for a, b in zip(shifted, normal, strict=True)]
    first, second = (normal, mixed) if backward else (mixed, normal)
    factor = float(mpmath.exp(eps))
    total = 0.0
    for a, b in zip(first, second, strict=True):
        total += sum(max(a * c - factor * b * d, 0.0) for c, d in zip(first, second, strict=True))
    composition = 2 * PoissonSubsampled(Gaussian(1), "0.3")
    found = reference.delta(composition, "0.2", "add" if backward else "remove", digits=15)
    assert found.method == "convolution of two steps"
    assert abs(float(found.value) - total) < 1e-4 * total


def test_both_orders():
    one, other = PoissonSubsampled(Laplace(1), "0.2"), Laplace(3)
    a = two_steps(Law.of(one + other, "backward"), Fraction(1, 10), 25)
    parts = tuple(reversed(Law.of(one + other, "backward").parts))
    b = two_steps(Law(parts), Fraction(1, 10), 25)
    assert abs(a.value - b.value) <= 2 * (a.error + b.error)


def test_losses_whose_turns_are_known():
    assert turns_known(PLD(PoissonSubsampled(Gaussian(1), "0.1"), backward=True))
    assert turns_known(PLD(Laplace(2)))


@pytest.mark.long
def test_a_hundred_digits():
    found = reference.delta(Composition([(PoissonSubsampled(Laplace(1), "0.1"), 2)]), "0.05", "remove", digits=100)
    assert found.reached


def test_a_bounded_coordinate_with_atoms():
    """Two Laplace laws cut to (-3, 3) and (-2, 4): a density between two atoms, and mass at infinity."""
    shifted, plain = (
        f"piecewise((exp(-abs(t - {at}))/(2*(1 - exp(-3))), abs(t - {at}) <= 3), (0, True))" for at in (1, 0)
    )
    found = reference.delta(2 * Pair.from_text(shifted, plain), "0.5", "forward", digits=15)
    assert found.method == "convolution of two steps"
    assert found.error < 1e-15

    def h(x):
        """One step's delta for -1 < x < 1: outcomes right of (x + 1)/2, those right of 3 at infinity."""
        c, inside = 2 * (1 - mpmath.exp(-3)), max((x + 1) / 2, mpmath.mpf(0))
        p = (2 - mpmath.exp(inside - 1) - mpmath.exp(-3)) / c
        return p - mpmath.exp(x) * (mpmath.exp(-inside) - mpmath.exp(-3)) / c

    with mpmath.workdps(20):
        eps, c = mpmath.mpf("0.5"), 2 * (1 - mpmath.exp(-3))
        infinite = (mpmath.exp(-2) - mpmath.exp(-3)) / c
        upper = (1 - mpmath.exp(-2)) / c  # P of 1 < t < 3, where the loss is 1
        lower = (mpmath.exp(-1) - mpmath.exp(-3)) / c  # P of -2 < t < 0, where it is -1
        total = infinite + upper * h(eps - 1) + lower * infinite  # eps + 1 is above all finite losses
        kink = mpmath.mpf("0.25")  # eps - (2t - 1) = 1
        total += mpmath.quad(lambda t: mpmath.exp(t - 1) / c * h(eps - 2 * t + 1), [kink, 1])
        total += infinite * (mpmath.exp(kink - 1) - mpmath.exp(-1)) / c
        assert abs(found.value - total) < mpmath.mpf(10) ** -15


def test_a_bounded_loss_that_is_flat_far_out():
    """Hyperbolic secants: the loss of huge outcomes is rounding; 20 digits, by a double integral of another kind."""
    pair = Pair.from_text("1/(2*cosh(pi*(t - 0.7)/2))", "1/(2*cosh(pi*t/2))")
    assert turns_known(PLD(pair))
    found = reference.delta(2 * pair, "0.5", "forward", digits=12)
    assert found.method == "convolution of two steps"
    with mpmath.workdps(25):
        shift, half = mpmath.mpf("0.7"), mpmath.pi / 2

        def h(x):
            """delta of one step: the loss rises, log cosh(half t) - log cosh(half (t - 0.7))."""
            lift = mpmath.exp(x)
            e = mpmath.exp(half * shift)
            square = (lift * e - 1) / (1 - lift / e)  # e^{pi t} where the loss is x
            if square <= 0:
                return -mpmath.expm1(x) if x < 0 else mpmath.mpf(0)
            t = mpmath.log(square) / mpmath.pi
            beyond = [2 / mpmath.pi * mpmath.atan(mpmath.exp(-half * (t - at))) for at in (shift, 0)]
            return beyond[0] - lift * beyond[1]

        def integrand(t):
            loss = mpmath.log(mpmath.cosh(half * t)) - mpmath.log(mpmath.cosh(half * (t - shift)))
            return mpmath.sech(half * (t - shift)) / 2 * h(mpmath.mpf("0.5") - loss)

        flat = half * shift - mpmath.mpf("0.5")  # losses below 1/2 - half shift leave nothing to the second step
        lift, e = mpmath.exp(-flat), mpmath.exp(half * shift)
        kink = mpmath.log((lift * e - 1) / (1 - lift / e)) / mpmath.pi
        total = mpmath.quad(integrand, [kink, kink + 1, 3, 6, 12, 40])
        assert abs(found.value - total) < mpmath.mpf(10) ** -12


@pytest.mark.parametrize(
    ("composition", "eps", "true"),
    [
        # by direct quadrature over the first outcome, 45 standard deviations out
        (2 * PoissonSubsampled(Gaussian("17.63"), "0.003517"), "0.00652178997", "-2117.984229786730904259524"),
    ],
)
def test_a_delta_made_far_out(composition, eps, true):
    found = two_steps(Law.of(composition, "backward"), Fraction(eps), 12)
    with mpmath.workdps(30):
        assert abs(mpmath.log(found.value) - mpmath.mpf(true)) < mpmath.mpf(10) ** -12
        assert found.error <= found.value * mpmath.mpf(10) ** -12
