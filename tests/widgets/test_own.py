"""The preview of a typed mechanism: every example, mistakes shown in place, typing debounced."""

import asyncio
import time

import pytest

from dplab import fourier
from dplab.core.errors import DplabError, ParameterError
from dplab.widgets import own_pair, own_pair_picture, own_pair_widget
from dplab.widgets.own import EXAMPLES, FIELDS


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_has_its_preview(example):
    start = time.process_time()
    picture, text = own_pair_picture(*EXAMPLES[example], quick=True)
    assert time.process_time() - start < 4, "about 0.5 s on a quiet machine"
    assert picture.svg.startswith("<svg")
    assert "P over Q" in text
    full = own_pair_picture(*EXAMPLES[example])[1]
    assert "…" not in full


def test_the_values_are_those_of_the_pair():
    _, text = own_pair_picture(*EXAMPLES["Laplace"])
    assert "0.39347" in text  # 1 - e^{-1/2}
    assert "t = 1/2 + s/2" in text
    _, text = own_pair_picture(*EXAMPLES["uniform: mass at infinity"])
    assert text.count("0.25") == 6


def test_a_support_is_two_ends():
    pair = own_pair("2*exp(-2*t)", "exp(-t)", "0, inf")
    bracket = fourier.delta(pair, 0)
    assert bracket.lower <= 0.25 <= bracket.upper
    for support in ("0", "0, ", "0, 1, 2"):
        with pytest.raises(ParameterError, match="two ends"):
            own_pair("2*exp(-2*t)", "exp(-t)", support)


def test_whole_numbers_are_typed_as_probabilities():
    _, text = own_pair_picture("(1/2)**t/2", "2*(1/3)**t/3", "0, inf", True)
    assert "0.16667" in text  # 1/6: the mass of P beyond t = 0 is 1/2, of Q 1/3
    assert "finite losses" in text
    with pytest.raises(ParameterError):
        own_pair("(1/2)**t/2", "2*(1/3)**t/3", "1, inf", True)  # it sums to 1 from 0 on only


@pytest.mark.parametrize(
    ("formula", "named"),
    [
        ("exp(-t**2", "exp(-t**2"),
        ("__import__('os')", "__import__"),
        ("foo(t)", "foo"),
        ("exp(-t**2)", "1.77245"),
        ("t*exp(-t**2/2)/sqrt(2*pi)", "negative"),
        ("", "not a formula"),
    ],
)
def test_mistakes_are_named_and_the_picture_stays(formula, named):
    with pytest.raises(DplabError):
        own_pair(formula, "exp(-abs(t))/2")
    widget = own_pair_widget("Laplace")
    before = widget.picture.value
    widget.controls["p"].value = formula
    assert 'role="alert"' in widget.error.value
    assert named in widget.error.value.replace("&#x27;", "'")
    assert "Traceback" not in widget.error.value
    assert widget.picture.value == before
    widget.controls["p"].value = EXAMPLES["Laplace"][0]
    assert widget.error.value == ""


def test_an_example_fills_the_fields():
    widget = own_pair_widget("Laplace")
    widget.controls["example"].value = "two exponentials"
    assert [widget.controls[name].value for name in FIELDS] == list(EXAMPLES["two exponentials"])
    assert widget.error.value == ""
    assert "2*exp(-2*t)" in widget.picture.value
    with pytest.raises(ParameterError, match="example"):
        own_pair_widget("Levy")


def test_typing_waits_for_a_pause_and_says_so():
    async def session():
        widget = own_pair_widget("logistic")
        before = widget.picture.value
        for end in range(5):
            widget.controls["p"].value = "exp(-abs(t - 1))/2"[: 14 + end]
        widget.controls["q"].value = "exp(-abs(t))/2"
        waiting = widget.text.value, widget.picture.value == before
        await asyncio.sleep(2.5)
        return waiting, widget.picture.value != before, widget.error.value

    with asyncio.Runner() as runner:
        (text, unchanged), changed, error = runner.run(session())
    assert "deriving ..." in text
    assert unchanged
    assert changed
    assert error == ""
