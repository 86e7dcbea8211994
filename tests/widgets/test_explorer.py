"""The one helper: it debounces, shows errors in place, keeps the last good picture, and its callbacks are functions."""

import asyncio

import ipywidgets
import pytest

from dplab.core.errors import ParameterError
from dplab.plots import Picture
from dplab.widgets import Debounce, Explorer, choice_slider, dropdown, range_slider, typed


def shown(text: str):
    return Picture(f'<svg role="img"><title>{text}</title></svg>', text, f"a picture of {text}"), f"<b>{text}</b>"


class Drawing:
    """A drawing function that remembers its calls and objects to some values."""

    def __init__(self):
        self.calls = []

    def __call__(self, x):
        self.calls.append(x)
        if x == 13:
            raise ParameterError("x", x, "any other number")
        if x == 14:
            raise ZeroDivisionError("by <zero>")
        return shown(f"x = {x}")


@pytest.fixture
def draw():
    return Drawing()


@pytest.fixture
def slider():
    return ipywidgets.IntSlider(value=1, max=100)


# ---------------------------------------------------------------- without a loop: plain functions


def test_a_change_draws_at_once(draw, slider):
    explorer = Explorer(draw, {"x": slider})
    slider.value = 7
    assert draw.calls == [1, 7]
    assert "x = 7" in explorer.picture.value
    assert explorer.values == {"x": 7}


def test_values_stand_beneath_the_picture_for_screen_readers(draw, slider):
    explorer = Explorer(draw, {"x": slider})
    assert 'aria-live="polite"' in explorer.text.value
    assert "<b>x = 1</b>" in explorer.text.value


def test_errors_are_shown_in_place_and_the_picture_stays(draw, slider):
    explorer = Explorer(draw, {"x": slider})
    slider.value = 13
    assert 'role="alert"' in explorer.error.value
    assert "x = 13: must be any other number" in explorer.error.value
    assert "Traceback" not in explorer.error.value
    assert "x = 1" in explorer.picture.value
    slider.value = 2
    assert explorer.error.value == ""


def test_a_bug_is_shown_too_with_its_traceback_and_escaped(draw, slider):
    explorer = Explorer(draw, {"x": slider})
    slider.value = 14
    assert "ZeroDivisionError: by &lt;zero&gt;" in explorer.error.value
    assert "Traceback" in explorer.error.value


def test_an_error_at_the_start_is_shown(draw):
    explorer = Explorer(draw, {"x": ipywidgets.IntSlider(value=13, max=100)})
    assert 'role="alert"' in explorer.error.value


def test_refinement_runs_on_demand_and_its_errors_are_shown(draw, slider):
    def refine(x):
        yield shown("better")
        if x == 5:
            raise ParameterError("x", x, "something else")
        yield shown("best")

    explorer = Explorer(draw, {"x": slider}, refine=refine)
    assert "best" in explorer.picture.value  # the first picture is complete
    slider.value = 2
    assert "x = 2" in explorer.picture.value
    explorer.finish()
    assert "best" in explorer.picture.value
    slider.value = 5
    explorer.finish()
    assert "better" in explorer.picture.value
    assert 'role="alert"' in explorer.error.value


def test_only_the_controls_that_matter_are_shown(draw, slider):
    other = ipywidgets.IntSlider(value=1)
    Explorer(lambda x, y: shown(f"{x}"), {"x": slider, "y": other}, visible=lambda x, y: ["x", "y"] if x > 5 else ["x"])
    assert other.layout.display == "none"
    slider.value = 6
    assert other.layout.display is None


def test_pages_without_widgets_get_the_picture(draw, slider):
    data, _ = Explorer(draw, {"x": slider})._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in data
    assert data["text/html"].startswith("<svg")
    assert data["text/plain"] == "a picture of x = 1"


def test_no_output_widget_anywhere(draw, slider):
    explorer = Explorer(draw, {"x": slider})
    kinds = {type(child) for child in explorer.children}
    assert kinds == {ipywidgets.Box, ipywidgets.HTML}


# ---------------------------------------------------------------- with a loop: debounced


def run(coroutine):
    """In a loop of its own that is gone afterwards."""
    with asyncio.Runner() as runner:
        return runner.run(coroutine)


def test_a_burst_draws_once(draw, slider):
    async def burst():
        Explorer(draw, {"x": slider}, delay=0.02, longest=1)
        for x in range(2, 32):
            slider.value = x
        assert draw.calls == [1]
        await asyncio.sleep(0.1)

    run(burst())
    assert draw.calls == [1, 31]


def test_a_long_drag_keeps_drawing(draw, slider):
    async def drag():
        Explorer(draw, {"x": slider}, delay=0.05, longest=0.1)
        for x in range(2, 32):
            slider.value = x
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.2)

    run(drag())
    assert 3 <= len(draw.calls) <= 12
    assert draw.calls[-1] == 31


def test_a_change_drops_the_refinement_of_the_old_picture(draw, slider):
    refined = []

    def refine(x):
        refined.append(x)
        yield shown("better")

    async def session():
        explorer = Explorer(draw, {"x": slider}, refine=refine, delay=0.01, pause=0.05)
        slider.value = 2
        await asyncio.sleep(0.03)
        slider.value = 3
        await asyncio.sleep(0.2)
        return explorer.picture.value

    assert "better" in run(session())
    assert refined == [1, 3]


def test_typed_input_says_that_it_is_at_work(draw):
    field = typed("formula", "1")

    async def session():
        explorer = Explorer(lambda x: draw(x), {"x": field}, delay=0.02, progress="computing ...")
        field.value = "2"
        waiting = explorer.text.value
        await asyncio.sleep(0.1)
        return waiting, explorer.text.value

    waiting, done = run(session())
    assert "computing ..." in waiting
    assert "x = 2" in done


def test_debounce_can_be_cancelled():
    async def session():
        calls = []
        debounce = Debounce(lambda: calls.append(1), 0.01)
        debounce()
        assert debounce.waiting
        debounce.cancel()
        await asyncio.sleep(0.03)
        return calls

    assert run(session()) == []


# ---------------------------------------------------------------- controls


def test_sliders_step_through_readable_values():
    slider = choice_slider("k", (1, 1000, 10_000), 1000, tooltip="steps")
    assert [label for label, _ in slider.options] == ["1", "1 000", "10 000"]
    slider.index += 1
    assert slider.value == 10_000
    assert slider.tooltip == "steps"
    assert choice_slider("q", ("0.01", "0.1", "1")).value == "0.1"


def test_a_range_and_a_menu():
    assert range_slider("eps", (0, 1, 2)).value == (0, 2)
    assert range_slider("eps", (0, 1, 2), (1, 2)).value == (1, 2)
    menu = dropdown("mechanism", {"Gaussian": 1, "Laplace": 2})
    assert menu.value == "Gaussian"
    assert menu.description == "mechanism"
