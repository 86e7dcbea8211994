"""The widgets of the definition: plain functions, the static picture, every setting draws, errors are shown."""

import math
import statistics
import time

import pytest

from dplab import Gaussian, Laplace, PoissonSubsampled, RandomizedResponse
from dplab.core.errors import ParameterError, UnboundSymbolError
from dplab.plots import Picture
from dplab.widgets import hockey_picture, hockey_widget, neyman_pearson_picture, neyman_pearson_widget
from dplab.widgets.choosing import CHOICES, mechanism_controls, mechanism_of
from dplab.widgets.defining import MECHANISMS, intervals

INF = math.inf


def shown(widget) -> list[str]:
    return [name for name, control in widget.controls.items() if control.layout.display is None]


@pytest.mark.parametrize(
    ("mechanism", "expected"),
    [
        ("Gaussian", Gaussian(2)),
        ("Laplace", Laplace(3)),
        ("randomised response", RandomizedResponse("0.6")),
        ("subsampled Gaussian", PoissonSubsampled(Gaussian(2), "0.1")),
    ],
)
def test_the_controls_describe_a_pair(mechanism, expected):
    assert mechanism_of(mechanism, sigma="2", b="3", p="0.6", q="0.1") == expected


def test_intervals_and_their_complements():
    assert intervals((0, 2), True) == [(0, 2)]
    assert intervals((1, 1), True) == []
    assert intervals((-INF, 2), False) == [(2, INF)]


def test_the_widget_shows_the_static_picture():
    widget = neyman_pearson_widget("Gaussian", eps="1", ends=(-1.0, 1.5))
    static, table = neyman_pearson_picture(Gaussian(1), "1", [(-1.0, 1.5)])
    assert isinstance(static, Picture)
    assert static.svg == widget.picture.value
    assert table in widget.text.value


@pytest.mark.parametrize("make", [hockey_widget, neyman_pearson_widget])
def test_every_mechanism_draws_and_shows_its_own_controls(make):
    widget = make()
    for mechanism in MECHANISMS:
        widget.controls["mechanism"].value = mechanism
        for direction in ("forward", "backward"):
            widget.controls["direction"].value = direction
            assert widget.error.value == ""
            assert repr(mechanism_of(mechanism)).partition("(")[0] in widget.picture.value
        assert set(CHOICES[mechanism].parameters) < set(shown(widget))
        assert "b" in shown(widget) or mechanism != "Laplace"
    finite = neyman_pearson_widget("randomised response")
    assert "answers" in shown(finite)
    assert "ends" not in shown(finite)


def test_a_mechanism_drawn_after_another_leaves_nothing_behind():
    widget = neyman_pearson_widget("Gaussian")
    first = widget.picture.value
    for mechanism in ("randomised response", "Laplace", "Gaussian"):
        widget.controls["mechanism"].value = mechanism
    assert widget.picture.value == first


def test_moving_an_end_moves_the_line():
    widget = neyman_pearson_widget("Gaussian", eps="0.5", ends=(0.0, 2.0))
    assert "−0.1042" in widget.text.value
    widget.controls["ends"].value = (1.0, INF)
    assert widget.text.value.count("<td") == 10
    assert widget.text.value.count("{t &gt; 1}") == 2  # chosen by hand, and the best one
    widget.controls["inside"].value = False
    assert "{t ≤ 1}" in widget.text.value


def test_what_makes_no_sense_is_refused():
    with pytest.raises(ParameterError, match="eps"):
        hockey_picture(Gaussian(1), "1 +")
    with pytest.raises(UnboundSymbolError, match="soon"):
        hockey_picture(Gaussian(1), "soon")
    with pytest.raises(ParameterError, match="chosen"):
        neyman_pearson_picture(RandomizedResponse("0.75"), 0, ["maybe"])
    with pytest.raises(Exception, match="Invalid selection"):
        hockey_widget(sigma="1.234")
    with pytest.raises(ParameterError, match="sliders are sigma, b, p, q"):
        hockey_widget(gamma="1")
    with pytest.raises(ParameterError, match="one of Gaussian"):
        hockey_widget("Cauchy")
    with pytest.raises(ParameterError, match="mechanism"):
        mechanism_of("Cauchy")
    assert list(mechanism_controls("Laplace", ["Laplace"])) == ["mechanism", "b"]


@pytest.mark.parametrize("make", [hockey_widget, neyman_pearson_widget])
def test_it_answers_fast_enough_to_be_played_with(make):
    widget = make("subsampled Gaussian")
    times = []
    for eps in ("0.25", "0.5", "0.75", "1", "1.25"):
        start = time.process_time()
        widget.controls["eps"].value = eps
        times.append(time.process_time() - start)
    assert statistics.median(times) < 1, "0.05 s on a quiet machine"
