"""The widgets of composition: plain functions, static pictures, every setting draws, the bracket narrows at rest."""

import statistics
import time

import pytest

from dplab import Gaussian, Laplace, RandomizedResponse
from dplab.core.errors import NoClosedFormError, ParameterError
from dplab.widgets import (
    composition_picture,
    composition_widget,
    convolution_picture,
    convolution_widget,
    sampling_picture,
    sampling_widget,
)
from dplab.widgets.composing import BASES, MECHANISMS, SMOOTH


def test_the_widget_shows_the_static_picture():
    widget = composition_widget("randomised response", k=10, eps="1.5", p="0.6")
    static, table = composition_picture(10 * RandomizedResponse("0.6"), "1.5")
    assert static.svg == widget.picture.value
    assert table in widget.text.value


def test_a_step_of_k_draws_at_once_and_narrows_later():
    widget = composition_widget("subsampled Gaussian", k=10)
    before = widget.picture.value
    widget.controls["k"].value = 15
    quick = widget.text.value
    assert widget.picture.value != before
    widget.finish()
    assert widget.text.value != quick
    assert widget.error.value == ""


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_every_mechanism_composes(mechanism):
    widget = composition_widget(mechanism)
    for k in (2, 50, 1000):
        widget.controls["k"].value = k
        assert widget.error.value == ""
        assert f"{k} * " in widget.picture.value
    widget.controls["direction"].value = "backward"
    assert widget.error.value == ""


@pytest.mark.parametrize("mechanism", SMOOTH)
def test_every_point_of_a_convolution_draws(mechanism):
    widget = convolution_widget(mechanism)
    for s in (-2.0, 0.0, 6.0):
        widget.controls["s"].value = s
        assert widget.error.value == ""
    widget.controls["k"].value = 12
    assert "12 releases of" in widget.picture.value


@pytest.mark.parametrize("mechanism", BASES)
def test_every_mechanism_is_sampled(mechanism):
    widget = sampling_widget(mechanism)
    for q in ("0.01", "0.99"):
        widget.controls["q"].value = q
        assert widget.error.value == ""
        assert f"sampled at q = {q}" in widget.picture.value


def test_what_makes_no_sense_is_refused():
    with pytest.raises(ParameterError, match="k = 1"):
        convolution_picture(Gaussian(1), 1, 0)
    with pytest.raises(NoClosedFormError, match="atoms"):
        convolution_picture(Laplace(1), 2, 0)
    with pytest.raises(ParameterError, match="q = '2'"):
        sampling_picture(Gaussian(1), "2")


@pytest.mark.parametrize("make", [composition_widget, convolution_widget, sampling_widget])
def test_it_answers_fast_enough_to_be_played_with(make):
    widget = make()
    control = next(widget.controls[name] for name in ("k", "q") if name in widget.controls)
    times = []
    for _, value in control.options[1:6]:
        start = time.process_time()
        control.value = value
        times.append(time.process_time() - start)
    assert statistics.median(times) < 1, "0.04 to 0.09 s on a quiet machine"
