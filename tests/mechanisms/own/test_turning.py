"""Losses whose turning points no formula gives: found wherever they lie, and bracketed safely where they are not."""

import mpmath
import pytest
import sympy
from mpmath import mpf

from dplab import Pair, fourier, reference
from dplab.core.errors import ParameterError
from dplab.mechanisms.own import analysis

HALF = mpf("0.5")
TWO_HUMPS = ("(exp(-(t + 3)**2) + exp(-(t - 3)**2))/(2*sqrt(pi))", "exp(-t)/(1 + exp(-t))**2")
ON_THE_SCAN = {
    "at 1": ("1/(1 + t)**2", "2*t/(1 + t**2)**2", (0, "oo"), 1),
    "Weibull": ("3*t**2*exp(-t**3)", "exp(-t)", (0, "oo"), 1),
    "root": ("exp(-sqrt(t))/(2*sqrt(t))", "exp(-t)", (0, "oo"), 1),
    "at 2": ("(2/(1 + t)**3 + exp(-t))/2", "exp(-t)", (0, "oo"), 2),
}


@pytest.mark.parametrize("name", ON_THE_SCAN)
def test_a_zero_of_the_slope_on_a_point_of_the_scan_is_not_overlooked(name):
    p, q, support, at = ON_THE_SCAN[name]
    pair = Pair.from_text(p, q, support=support)
    assert [piece.upper for piece in pair.pieces][:-1] == [at]
    assert pair.pieces[0].increasing != pair.pieces[1].increasing


def test_delta_of_a_loss_that_turns_at_one():
    """1/(1 + t)^2 over 2t/(1 + t^2)^2: the loss is larger than 1/2 left of one root of a quartic and right of its
    reciprocal."""
    pair = Pair.from_text("1/(1 + t)**2", "2*t/(1 + t**2)**2", support=(0, "oo"))
    with mpmath.workdps(25):
        growth = mpmath.exp(HALF)
        root = mpmath.findroot(
            lambda t: (1 + t * t) ** 2 - 2 * growth * t * (1 + t) ** 2, (mpf("0.01"), mpf("0.9")), solver="anderson"
        )
        above_p = 1 - 1 / (1 + root) + 1 / (1 + 1 / root)
        above_q = root**2 / (1 + root**2) + 1 / (1 + 1 / root**2)
        true = above_p - growth * above_q
        bracket = fourier.delta(pair, "0.5", "forward")
        assert bracket.lower <= true <= bracket.upper
        assert bracket.relative_width < 1e-9
        assert abs(reference.delta(pair, "0.5", "forward", digits=20).value - true) < mpf(10) ** -18


@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize("k", [1, 2])
def test_a_bracket_is_right_even_where_two_turning_points_were_overlooked(monkeypatch, direction, k):
    eps = "0.5"
    true = reference.delta(k * Pair.from_text(*TWO_HUMPS), eps, direction, digits=10 if k == 1 else 5).value
    found = analysis.numeric_turning_points
    monkeypatch.setattr(analysis, "numeric_turning_points", lambda panel: found(panel)[2:])
    analysis.analysed.cache_clear()
    try:
        pair = Pair.from_text(*TWO_HUMPS)
        assert len(pair.pieces) == 2  # of four
        bracket = fourier.delta(k * pair, eps, direction)
    finally:
        analysis.analysed.cache_clear()
    assert bracket.lower <= true <= bracket.upper
    assert bracket.relative_width > 0.1


def test_where_an_odd_number_was_overlooked_the_pair_is_refused(monkeypatch):
    monkeypatch.setattr(analysis, "numeric_turning_points", lambda panel: [])
    analysis.analysed.cache_clear()
    try:
        with pytest.raises(ParameterError, match="turning points"):
            Pair.from_text(*TWO_HUMPS)
    finally:
        analysis.analysed.cache_clear()


def test_a_slope_that_has_cancelled_far_out_does_not_turn():
    """Laplace noise on two points over half a logistic law: the loss tends to a constant, its slope to e^-t."""
    laplace = "(exp(-abs(t - 1)) + exp(-abs(t + 1)))/4"
    pair = Pair.from_text(laplace, "(exp(-t**2/2)/sqrt(2*pi) + exp(-t)/(1 + exp(-t))**2)/2")
    inner = [piece.upper for piece in pair.pieces][:-1]
    assert len(inner) == 7
    assert 0 in inner


@pytest.mark.parametrize(
    ("p", "q", "zeros"),
    [
        ("(t - 3/10)**2*exp(-(t - 3/10)**2/2)/sqrt(2*pi)", "exp(-t)/(1 + exp(-t))**2", ["3/10"]),
        ("1/2 + t**2*3/2 - t*0", "3*(1 - 2*t)**2", ["1/2"]),
    ],
)
def test_a_density_that_touches_zero_is_cut_there(p, q, zeros):
    support = (0, 1) if "3*(1" in q else None
    pair = Pair.from_text(p, q, **({"support": support} if support else {}))
    assert [cell.upper for cell in pair.analysis.cells[:-1]] == [sympy.Rational(zero) for zero in zeros]
    bracket = fourier.delta(pair, "0.5", "forward")
    true = reference.delta(pair, "0.5", "forward", digits=15).value
    assert bracket.lower <= true <= bracket.upper
    assert bracket.relative_width < 1e-6


def test_a_loss_that_is_flat_far_out_keeps_a_narrow_bracket():
    """Towards both infinities the loss tends to -log 2, so slowly that its slope has no certain sign there."""
    student = "2/(pi*sqrt(3)*(1 + {}**2/3)**2)"
    pair = Pair.from_text(
        f"(exp(-t**2/2)/sqrt(2*pi) + {student.format('(t - 1)')})/2", student.format("t"), support=("-oo", "oo")
    )
    bracket = fourier.delta(10 * pair, "0.5", "forward")
    assert bracket.reached
    one = fourier.delta(pair, "0.5", "forward")
    assert one.lower <= reference.delta(pair, "0.5", "forward", digits=15).value <= one.upper


def test_the_scan_keeps_off_an_end_that_rounding_moved():
    """1/20 and 3/10 - 1/4 are two numbers in binary; the loss is infinite at that end."""
    pair = Pair.from_text("4/5*exp(-4/5*t - exp(-4/5*t))", "3*max(0, 1 - (4*t - 6/5)**2)")
    inner = [piece for piece in pair.pieces]
    assert [str(end) for end in (inner[0].lower, inner[-1].upper)] == ["1/20", "11/20"]
    assert [piece.increasing for piece in inner] == [False, True]
