"""Laws on the integers whose losses lie on a lattice, against sums over all outcomes of the composition."""

import mpmath
import pytest
from mpmath import mpf

from dplab import Pair, fourier, reference
from dplab.core.functions import MpmathTable

FN = MpmathTable()
GEOMETRICS = Pair.from_text("2/5*(3/5)**t", "1/2**(t + 1)", "t", (0, "inf"), discrete=True)
POISSONS = Pair.from_text(
    "piecewise((exp(-3)*3**t/factorial(t), t >= 0), (0, True))",
    "piecewise((exp(-4)*4**t/factorial(t), t >= 0), (0, True))", "t", discrete=True,
)  # fmt: skip
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
