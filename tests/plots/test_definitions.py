"""The pictures of the definition: the hockey stick as an area, test sets as lines under h, both directions."""

import math

import mpmath
import numpy as np
import pytest

from dplab import Gaussian, Laplace, PoissonSubsampled, RandomizedResponse
from dplab.core.errors import ParameterError
from dplab.core.pld import PLD
from dplab.plots import draw_directions, draw_hockey_stick, draw_test_lines, new_figure
from dplab.plots.envelopes import h_values
from dplab.plots.hockey import describe

INF = math.inf
SAMPLED = PoissonSubsampled(Gaussian(1), "0.3")


@pytest.fixture
def ax():
    return new_figure()[1][0]


def area(collection) -> float:
    """The area of a filled polygon, by the shoelace formula."""
    total = 0.0
    for path in collection.get_paths():
        x, y = path.vertices[:, 0], path.vertices[:, 1]
        total += abs(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1))) / 2
    return total


def test_the_shaded_area_is_delta(ax):
    draw_hockey_stick(ax, Laplace(1), "0.25")
    truth = 1 - math.exp((0.25 - 1) / 2)
    (shaded,) = ax.collections
    assert area(shaded) == pytest.approx(truth, rel=0.03)  # the picture ends before the tail does
    assert f"δ(ε) = {truth:.3g}" in ax.get_title(loc="left")


def test_gain_and_loss_are_drawn_apart(ax):
    sentence = draw_hockey_stick(ax, Gaussian(1), "0.5", chosen=[(0, 2)])
    gained, lost = ax.collections
    assert lost.get_hatch()
    assert not gained.get_hatch()
    phi = mpmath.ncdf
    value = float((phi(1) - phi(-1)) - mpmath.exp("0.5") * (phi(2) - phi(0)))
    assert area(gained) - area(lost) == pytest.approx(value, abs=1e-3)
    assert "{0 < t ≤ 2} has P(S) = 0.683, Q(S) = 0.477: P(S) − e^ε Q(S) = −0.104." in sentence


def test_backward_exchanges_the_two(ax):
    sentence = draw_hockey_stick(ax, SAMPLED, "0.1", backward=True)
    assert sentence.startswith("Q and e^ε P over the outcomes")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["Q(t)", "eᵋ P(t)"]


def test_finite_outcomes_are_bars_with_names(ax):
    draw_hockey_stick(ax, RandomizedResponse("0.75"), 0, chosen=["no"])
    assert [label.get_text() for label in ax.get_xticklabels()] == ["yes", "no"]
    assert len(ax.patches) == 4
    assert "= −0.5" in ax.get_title(loc="left")


@pytest.mark.parametrize("eps", [-3, 0, 30, 800])
@pytest.mark.parametrize("pair", [Gaussian("0.5"), Laplace(2), RandomizedResponse("0.9"), SAMPLED], ids=repr)
def test_extreme_eps_draw(ax, pair, eps):
    assert "Q(S)" in draw_hockey_stick(ax, pair, eps)
    assert all(math.isfinite(end) for end in ax.get_ylim())


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        ([(-INF, INF)], "{all t}"),
        ([(-INF, -1), (2, INF)], "{t ≤ −1 or t > 2}"),
        (["yes", "no"], "{yes, no}"),
        ([], "{} (empty)"),
    ],
)
def test_sets_in_words(chosen, words):
    assert describe(chosen) == words


def test_h_of_laplace_in_closed_form():
    x = np.array([0.0, 0.5, 1.0, 2.0, 3.0])
    expected = [1, *(1 - math.exp((math.log(v) - 1) / 2) for v in x[1:4]), 0]
    assert h_values(PLD(Laplace(1)), x) == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize("pair", [Gaussian(1), SAMPLED, Laplace("0.5"), PoissonSubsampled(Laplace(0), "0.4")], ids=repr)
def test_h_backward_is_h_forward_turned_round(pair):
    x = np.linspace(0.05, 6, 50)
    turned = 1 - x + x * h_values(PLD(pair), 1 / x)
    assert h_values(PLD(pair, backward=True), x) == pytest.approx(turned, abs=1e-12)


def test_no_line_crosses_h(ax):
    sets = {"a": [(0, 2)], "b": [(1.2, INF)], "c": [(-INF, INF)]}
    sentence = draw_test_lines(ax, Gaussian(1), "0.5", sets)
    lines = {line.get_label(): line.get_data() for line in ax.lines}
    x, h = lines["h(x) = δ(log x)"]
    named = [label for label in lines if label[:2] in ("a:", "b:", "c:")]
    assert len(named) == 3
    for label in [*named, "the best set's line"]:
        assert np.all(np.interp(x, *lines[label]) <= h + 1e-12), label
    assert sentence.count("below h") == 3
    assert sentence.endswith("the best set {t > 1} touches h.")


def test_the_best_set_is_named_once(ax):
    sets = {"nothing": [], "yes": ["yes"], "no": ["no"], "both": ["yes", "no"]}
    sentence = draw_test_lines(ax, RandomizedResponse("0.75"), "0.5", sets)
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["nothing: 0", "yes: 0.75 − 0.25 x", "no: 0.25 − 0.75 x", "both: 1 − x", "h(x) = δ(log x)"]
    assert "yes = {yes} reaches 0.338, touching h" in sentence
    assert sentence.count("touching") == 1


def test_names_that_are_no_outcomes_are_refused(ax):
    with pytest.raises(ParameterError, match="maybe"):
        draw_test_lines(ax, RandomizedResponse("0.75"), 0, {"S": ["maybe"]})


def test_directions_differ_where_they_should(ax):
    sentence = draw_directions(ax, PoissonSubsampled(Gaussian(0), "0.25"), highest=3)
    assert sentence.endswith("At x = 1: P over Q 0.25, Q over P 0.25; at x = 3: 0.25 and 0.")
    sentence = draw_directions(new_figure()[1][0], Gaussian(1), highest=3)
    at_end = sentence.rpartition(": ")[2].rstrip(".").split(" and ")
    assert at_end[0] == at_end[1]
