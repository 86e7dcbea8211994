"""Laws on the integers whose losses lie on a lattice, against sums over all outcomes of the composition."""

import mpmath
import pytest
from mpmath import mpf

from dplab import Pair, fourier, reference
from dplab.core.functions import MpmathTable

from .laws import GEOMETRICS, POISSONS

FN = MpmathTable()
SHIFTED = Pair.from_text(
    "piecewise((exp(-3)*3**(t - 1)/factorial(t - 1), t >= 1), (0, True))", "exp(-3)*3**t/factorial(t)",
    "t", (0, "inf"), discrete=True,
)  # fmt: skip


def _geometric(k, r, n):
    """n failures in k trials: negative binomial."""
    return mpmath.binomial(n + k - 1, n) * (1 - r) ** k * r**n


def _poisson(k, mean, n):
    return mpmath.exp(n * mpmath.log(k * mean) - k * mean - mpmath.loggamma(n + 1))


def _delta(law, one, other, k, eps, most):
    """The total of the k outcomes is sufficient, and its law is known."""
    total = (law(k, one, n) - mpmath.exp(eps) * law(k, other, n) for n in range(most))
    return mpmath.fsum(max(excess, mpf(0)) for excess in total)


@pytest.mark.parametrize("way", ["forward", "backward"])
@pytest.mark.parametrize(("k", "eps"), [(2, "0.1"), (20, "2"), (300, "20")])
@pytest.mark.parametrize("pair", [GEOMETRICS, POISSONS], ids=["geometric", "Poisson"])
def test_the_total_is_sufficient(pair, k, eps, way):
    with mpmath.workdps(30):
        if pair is GEOMETRICS:
            laws, parameters = _geometric, (mpf(3) / 5, mpf(1) / 2)
        else:
            laws, parameters = _poisson, (mpf(3), mpf(4))
        if way == "backward":
            parameters = parameters[::-1]
        true = _delta(laws, *parameters, k, mpf(eps), 300 + 6 * k)
        found = reference.delta(k * pair, eps, way, digits=15)
        assert abs(found.value - true) <= found.error + mpf(10) ** -22
        assert found.error < mpf(10) ** -15
        bracket = fourier.delta(k * pair, eps, way)
        assert bracket.lower <= true <= bracket.upper
        assert bracket.relative_width < 1e-9


def test_lattices_found():
    with mpmath.workdps(30):
        offset, spacing = GEOMETRICS.lattice(FN)
        assert abs(offset - mpmath.log(mpf("0.8"))) < mpf(10) ** -28
        assert abs(spacing - mpmath.log(mpf("1.2"))) < mpf(10) ** -28
        assert abs(POISSONS.lattice(FN)[1] + mpmath.log(mpf("0.75"))) < mpf(10) ** -28
    assert SHIFTED.lattice(FN) is None  # log t - log 3


def test_bessel_functions_below_every_float():
    """Skellam with means 2 and 1/2 grows by 2^t against I_t(2), which is 0 in floats where the masses are not yet."""
    pair = Pair.from_text(
        "exp(-2.5)*2**(t - 1)*besseli(abs(t - 1), 2)", "exp(-2.5)*2**t*besseli(abs(t), 2)", "t", discrete=True
    )

    def law(n, k):
        """The total of k steps is Skellam again."""
        return mpmath.exp(-mpf(5) / 2 * k) * mpf(2) ** n * mpmath.besseli(abs(n), 2 * k)

    with mpmath.workdps(30):
        eps = mpf(1) / 2
        one = mpmath.fsum(max(law(n - 1, 1) - mpmath.exp(eps) * law(n, 1), mpf(0)) for n in range(-90, 120))
        bracket = fourier.delta(pair, "0.5", "forward")
        assert bracket.lower <= one <= bracket.upper
        assert bracket.relative_width < 1e-11
        losses = {n: mpmath.log(law(n - 1, 1) / law(n, 1)) for n in range(-40, 60)}
        two = mpmath.fsum(
            law(a - 1, 1) * law(b - 1, 1) * -mpmath.expm1(eps - losses[a] - losses[b])
            for a in losses
            for b in losses
            if losses[a] + losses[b] > eps
        )
        bracket = fourier.delta(2 * pair, "0.5", "forward")
        assert bracket.lower <= two + mpf(10) ** -20
        assert two <= bracket.upper
        assert bracket.relative_width < 2e-3
