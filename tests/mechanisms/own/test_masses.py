"""Antiderivatives that a density's constants must not hide."""

import mpmath
import pytest
from mpmath import mpf

from dplab import Pair, fourier


def _on_an_interval(at):
    total = f"(erf((4 - {at})/sqrt(2)) + erf(({at} + 3)/sqrt(2)))"
    return f"2*exp(-(t - {at})**2/2)/(sqrt(2*pi)*{total})"


@pytest.mark.parametrize("way", ["forward", "backward"])
def test_a_normalisation_that_is_a_sum(way):
    """Two normals on (-3, 4): multiplied out, their constants would look like functions of t."""
    pair = Pair.from_text(_on_an_interval(1), _on_an_interval(0), support=(-3, 4))
    assert pair.stages == ()
    with mpmath.workdps(25):
        middle, side = (mpf("0.5"), 1) if way == "forward" else (mpf("0.5"), -1)
        split = middle + side * mpf("0.3")  # the loss is +-(t - 1/2): both normals have the same total
        first, second = (1, 0) if way == "forward" else (0, 1)
        inside = sorted([split, mpf(4 if side > 0 else -3)])
        total = mpmath.ncdf(4) - mpmath.ncdf(-3)
        p, q = (mpmath.quad(lambda t, at=at: mpmath.npdf(t, at), inside) / total for at in (first, second))
        bracket = fourier.delta(pair, "0.3", way)
        assert bracket.lower <= p - mpmath.exp(mpf("0.3")) * q <= bracket.upper
        assert bracket.relative_width < 1e-12
