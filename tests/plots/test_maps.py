"""Laws pushed through maps, and the mirror identity: what is drawn is what the formulas say."""

import math

import numpy as np
import pytest

from dplab import Gaussian, Laplace, PoissonSubsampled, RandomizedResponse
from dplab.core.errors import ParameterError, UnboundSymbolError
from dplab.plots import draw_loss_map, draw_mirror, draw_pld, draw_sampling_map, new_figure

PAIRS = [Gaussian(1), Laplace("0.7"), RandomizedResponse("0.8"), Laplace(0)]


@pytest.fixture
def ax():
    return new_figure()[1][0]


def curve(ax):
    """The map itself: the line with the most points."""
    return max(ax.lines, key=lambda line: len(line.get_xdata())).get_data()


def test_the_loss_of_laplace_is_a_ramp(ax):
    sentence = draw_loss_map(ax, Laplace(1), (0.25, 0.5))
    t, s = curve(ax)
    assert s == pytest.approx(np.clip(2 * t - 1, -1, 1), abs=1e-12)
    mass = (math.exp(-0.5) - math.exp(-0.75)) / 2
    assert f"Outcomes from 0.25 to 0.5, of mass {mass:.3g} under P, have losses from -0.5 to 0" in sentence


def test_backward_the_loss_has_the_other_sign(ax):
    draw_loss_map(ax, Gaussian(2), backward=True)
    t, s = curve(ax)
    assert s == pytest.approx((0.5 - t) / 4, abs=1e-12)


@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize("pair", PAIRS, ids=repr)
def test_sampling_moves_losses(ax, pair, backward):
    sentence = draw_sampling_map(ax, pair, "0.25", backward=backward)
    s, phi = curve(ax)
    sign = -1 if backward else 1
    assert sign * phi == pytest.approx(np.log(0.75 + 0.25 * np.exp(s)), abs=1e-12)
    assert ("add" if backward else "remove") in sentence


def test_outcomes_that_p_lacks_become_an_atom(ax):
    sentence = draw_sampling_map(ax, Laplace(0), "0.25")
    assert "An atom of mass 0.75 comes from s = −∞. Mass at infinity 0.25." in sentence
    other = draw_sampling_map(new_figure()[1][0], Laplace(0), "0.25", backward=True)
    assert "An atom of mass 1 comes from s = −∞. No mass at infinity." in other


def test_a_rate_out_of_range_or_a_symbol_is_refused(ax):
    with pytest.raises(ParameterError, match="q = 2"):
        draw_sampling_map(ax, Gaussian(1), 2)
    with pytest.raises(UnboundSymbolError, match="rate"):
        draw_sampling_map(ax, Gaussian(1), "rate")


@pytest.mark.parametrize("pair", [Gaussian(1), Laplace(1), PoissonSubsampled(Gaussian(1), "0.3"), PAIRS[2]], ids=repr)
def test_the_mirror_points_lie_on_the_other_law(ax, pair):
    draw_mirror(ax, pair)
    for axes in ax.figure.axes:
        hollow = [line for line in axes.lines if line.get_markerfacecolor() == "none"]
        lines = [line for line in axes.lines if line.is_dashed() and line.get_color() == "#D55E00"]
        for points in hollow:
            for x, y in zip(*points.get_data(), strict=True):
                if points.get_marker() == "o":
                    (other,) = lines
                    assert y == pytest.approx(np.interp(x, *other.get_data()), abs=0.02 * max(other.get_ydata()))
                else:
                    heads = [line for line in axes.lines if line.get_color() == "#D55E00" and line.get_marker() == "o"]
                    stems = [point for line in heads for point in zip(*line.get_data(), strict=True)]
                    assert any(abs(a - x) < 1e-12 and b == pytest.approx(y) for a, b in stems)


def test_masses_at_infinity_are_named(ax):
    draw_mirror(ax, PoissonSubsampled(Gaussian(0), "0.3"))
    assert "P/Q, δ(∞) = 0.3" in [text.get_text() for text in ax.get_legend().get_texts()]


def test_what_counts_in_delta_is_shaded(ax):
    draw_pld(ax, Gaussian(1), eps=0.5)
    shaded = ax.collections[-1].get_paths()[0].vertices
    x, y = shaded[:, 0], shaded[:, 1]
    area = abs(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1))) / 2
    assert area == pytest.approx(0.2384217081, abs=1e-3)  # Phi(0) - sqrt(e) Phi(-1)
