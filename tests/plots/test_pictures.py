"""Every plot function draws what it should and says what it drew; every SVG can be read out."""

import math
import re
import xml.etree.ElementTree as ET

import matplotlib
import mpmath
import pytest
from matplotlib.collections import PolyCollection

from dplab import Gaussian, Laplace, PoissonSubsampled, RandomizedResponse
from dplab.core.budget import ErrorBudget, Part
from dplab.core.errors import UnboundSymbolError
from dplab.core.pld import PLD
from dplab.core.results import Approximation, Bracket, Curve, Reference
from dplab.plots import (
    ROUTES,
    Picture,
    draw_budget,
    draw_delta,
    draw_pld,
    draw_rates,
    draw_residuals,
    new_figure,
    picture,
    route_style,
)
from dplab.plots.residuals import deviations
from dplab.plots.style import dress
from dplab.plots.svg import to_svg

EPS = tuple(i / 10 for i in range(31))
BUDGET = ErrorBudget((Part("grid", 3e-4, "split"), Part("rounding", 1e-4, "FFT")), {"dx": 1e-3})


def delta(eps):
    with mpmath.workdps(60):
        return mpmath.exp(-(mpmath.mpf(eps) ** 2) - 1)


@pytest.fixture
def curves():
    half = mpmath.mpf("1e-4")
    few = (0.0, 1.0, 2.0, 3.0)
    return {
        "clt": Curve(EPS, tuple(Approximation(float(delta(e)) * 1.1, "GDP") for e in EPS)),
        "reference": Curve(few, tuple(Reference(delta(e), delta(e) * mpmath.mpf("1e-45"), "test", 40) for e in few)),
        "fourier": Curve(
            EPS, tuple(Bracket(float(delta(e) * (1 - half)), float(delta(e) * (1 + half)), BUDGET) for e in EPS)
        ),
    }


@pytest.fixture
def ax():
    return new_figure()[1][0]


# ---------------------------------------------------------------- delta(eps)


def test_delta_draws_a_band_points_and_a_dashed_line(ax, curves):
    draw_delta(ax, curves)
    assert len([c for c in ax.collections if isinstance(c, PolyCollection)]) == 1
    lines = {line.get_label(): line for line in ax.lines}
    assert lines["reference"].get_linestyle() == "None"
    assert lines["reference"].get_marker() == "o"
    assert lines["CLT (no bound)"].is_dashed()
    assert lines["FFT bracket"].get_color() == ROUTES["fourier"].colour
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["FFT bracket", "reference", "CLT (no bound)"]


def test_delta_says_what_it_shows(ax, curves):
    sentence = draw_delta(ax, curves)
    assert "ε from 0 to 3" in sentence
    assert "Reference: from 0.368 to 4.54e-5." in sentence
    assert "at most 0.02 % wide" in sentence
    assert "At ε = 3 the CLT gives 1.1 times the true δ." in sentence


def test_values_below_the_smallest_float_are_drawn(ax):
    tiny = [mpmath.mpf(10) ** -(1000 * n) for n in (1, 2)]
    sentence = draw_delta(ax, {"reference": Curve((1.0, 2.0), tuple(Reference(t, t * 0, "test", 40) for t in tiny))})
    assert "from 1e-1000 to 1e-2000" in sentence
    assert list(ax.lines[0].get_ydata()) == pytest.approx([-1000, -2000])


@pytest.mark.parametrize("value", [Bracket(0.0, 0.0, BUDGET), Bracket(0.0, 1.0, BUDGET), Bracket(1.0, 1.0, BUDGET)])
def test_brackets_that_touch_the_trivial_bounds(ax, value):
    sentence = draw_delta(ax, {"fourier": Curve((0.0, 1.0), (value, value))})
    assert "ε from 0 to 1" in sentence
    assert all(math.isfinite(end) for end in ax.get_ylim())


def test_infinite_eps_is_left_out(ax, curves):
    only = {"fourier": Curve((math.inf,), (Bracket(0.1, 0.1, BUDGET),))}
    assert draw_delta(ax, only).startswith("An empty picture")
    assert draw_residuals(ax, only).startswith("An empty picture")


def test_an_unknown_route_keeps_its_name(ax, curves):
    assert "Somebody's accountant: from" in draw_delta(ax, {"somebody's accountant": curves["clt"]})


def test_routes_can_be_told_apart_without_colour():
    looks = [(str(style.dash), style.marker) for style in ROUTES.values()]
    assert len({marker for _, marker in looks}) == len(looks)
    assert len({style.colour for style in ROUTES.values()}) == len(looks)
    assert route_style("reference").label == "reference"


# ---------------------------------------------------------------- residuals


def test_residuals_are_the_three_quantities(curves):
    found = deviations(curves)
    assert [y for _, y in found["reference"]] == pytest.approx([-45] * 4)
    assert [y for _, y in found["fourier"]] == pytest.approx([-4] * 31, abs=1e-3)
    assert [y for _, y in found["clt"]] == pytest.approx([-1] * 31, abs=1e-3)


def test_a_closed_form_is_compared_in_high_precision():
    truth = Reference(delta(1), mpmath.mpf(0), "test", 50)
    with mpmath.workdps(60):
        close = truth.value * (1 + mpmath.mpf("1e-42"))
    found = deviations({"reference": Curve((1.0,), (truth,)), "symbolic": Curve((1.0,), (close,))})
    assert found["symbolic"][0][1] == pytest.approx(-42, abs=0.01)


def test_residuals_without_a_reference_use_the_middle_of_the_bracket(curves):
    found = deviations({name: curves[name] for name in ("fourier", "clt")})
    assert found["clt"][10][1] == pytest.approx(-1, abs=1e-3)


def test_residuals_draw_down_to_the_floor(ax, curves):
    exact = Curve((0.0, 1.0), tuple(Reference(delta(e), mpmath.mpf(0), "exact sum", 40) for e in (0.0, 1.0)))
    sentence = draw_residuals(ax, {**curves, "reference": exact})
    assert -52 < ax.get_ylim()[0] <= -50
    assert "reference: two runs apart below 1e-50" in sentence
    assert "CLT − truth 0.1" in sentence


# ---------------------------------------------------------------- PLD and budget


def test_a_density_with_atoms_has_two_axes(ax):
    sentence = draw_pld(ax, Laplace(b=2))
    assert len(ax.figure.axes) == 2
    assert "2 atoms" in sentence
    assert "mass 0.5 at loss 0.5" in sentence
    assert "No mass at infinity" in sentence


def test_backward_is_another_picture(ax):
    pair = PoissonSubsampled(Gaussian(1), "0.1")
    forward, backward = draw_pld(ax, PLD(pair)), draw_pld(new_figure()[1][0], PLD(pair, backward=True))
    assert forward != backward


def test_the_density_integrates_to_one(ax):
    draw_pld(ax, PoissonSubsampled(Gaussian(1), "0.1"))
    x, y = ax.lines[0].get_data()
    mass = sum((b - a) * (fa + fb) / 2 for a, b, fa, fb in zip(x[:-1], x[1:], y[:-1], y[1:], strict=True))
    assert mass == pytest.approx(1, abs=1e-2)


def test_mass_at_infinity_is_drawn_and_named(ax):
    sentence = draw_pld(ax, PoissonSubsampled(Gaussian(0), "0.1"))
    assert "Mass 0.1 at infinity" in sentence
    assert any("δ(∞) = 0.1" in text.get_text() for text in ax.texts)


def test_only_mass_at_infinity(ax):
    assert draw_pld(ax, Gaussian(0)).endswith("nothing at finite losses. Mass 1 at infinity.")


def test_a_symbolic_pair_has_no_picture(ax):
    with pytest.raises(UnboundSymbolError, match="sigma"):
        draw_pld(ax, PoissonSubsampled(Gaussian("sigma"), "0.1"))


def test_budget_bars_fill_the_axis(ax):
    sentence = draw_budget(ax, {"coarse": BUDGET, "fine": BUDGET.scaled(1e-3)})
    ends = sorted(bar.get_x() + bar.get_width() for bar in ax.patches)
    assert ends == pytest.approx([75, 75, 100, 100])
    assert sentence == (
        "Error budget: coarse, width 4e-4, of which grid 75 % and rounding 25 %; "
        "fine, width 4e-7, of which grid 75 % and rounding 25 %."
    )
    assert len({bar.get_hatch() for bar in ax.patches}) == 2


def test_a_part_without_bound_takes_the_whole_bar(ax):
    sentence = draw_budget(ax, ErrorBudget((Part("grid", 1.0, ""), Part("tail", math.inf, "")), {}))
    assert sentence == "Error budget: width ∞, of which tail 100 %."
    assert [bar.get_width() for bar in ax.patches] == [0, 100]


def test_an_empty_budget(ax):
    assert draw_budget(ax, ErrorBudget((Part("exact", 0.0, ""),), {})) == "Error budget: width 0."


# ---------------------------------------------------------------- SVG


def test_svg_has_role_title_and_description(curves):
    shown = picture(draw_delta, curves, title='δ <of> "everything" & more')
    root = ET.fromstring(shown.svg)
    assert root.get("role") == "img"
    named = {child.get("id"): child.text for child in root}
    assert [named[key] for key in root.get("aria-labelledby").split()] == [shown.title, shown.description]
    assert root[0].tag.endswith("title")
    assert "<metadata" not in shown.svg
    assert "<?xml" not in shown.svg


def test_text_stays_text(curves):
    assert "FFT bracket</text>" in picture(draw_delta, curves, title="t").svg


def test_svg_is_the_same_each_time_and_ids_differ_between_pictures(curves):
    first, again = (picture(draw_delta, curves, title="a").svg for _ in range(2))
    other = picture(draw_delta, curves, title="b").svg
    assert first == again
    clips = [set(re.findall(r'clipPath id="(\w+)"', text)) for text in (first, other)]
    assert clips[0]
    assert not clips[0] & clips[1]


def test_a_picture_shows_itself_and_reads_itself_out():
    bundle = picture(draw_pld, RandomizedResponse(0.75), title="loss")._repr_mimebundle_()
    assert bundle["text/html"].startswith("<svg")
    assert bundle["text/plain"].startswith("loss: Privacy loss distribution: 2 atoms")
    assert isinstance(picture(draw_pld, Laplace(1), title="x"), Picture)


def test_pictures_leave_no_global_state(curves):
    before = dict(matplotlib.rcParams)
    picture(draw_delta, curves, title="t")
    assert dict(matplotlib.rcParams) == before
    import sys

    assert "matplotlib.pyplot" not in sys.modules or not sys.modules["matplotlib.pyplot"].get_fignums()


# ---------------------------------------------------------------- rates


def test_rates_fit_the_slope(ax):
    series = {"first order": [(k, 3 / k) for k in (10, 100, 1000)], "half": [(k, k**-0.5) for k in (10, 100, 1000)]}
    sentence = draw_rates(ax, series)
    assert "first order from 0.3 to 0.003, slope -1.00 and half" in sentence
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "first order: slope −1.00",
        "half: slope −0.50",
    ]


def test_a_figure_drawn_on_again_shows_only_the_new_picture(curves):
    figure = new_figure(columns=2)[0]
    pictures = []
    for shown in (curves, {"clt": curves["clt"]}, curves):
        left, right = dress(figure, 2, keep=True)
        description = draw_delta(left, shown) + draw_residuals(right, shown)
        pictures.append(to_svg(figure, "t", description))
    assert pictures[0] == pictures[2]
    assert pictures[0] != pictures[1]
