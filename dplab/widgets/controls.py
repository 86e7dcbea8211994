"""Controls that say what they mean: readable values on uneven scales, every one operable from the keyboard.

A slider over 1e-8 ... 1 in equal steps cannot be aimed, and a log slider announces exponents. So a range is a list of
round values, written the way a person would, and each step of the slider is one of them.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import ipywidgets

_WIDTH = "330px"


def _look(description: str, tooltip: str) -> dict[str, Any]:
    return {
        "description": description,
        "tooltip": tooltip or description,
        "style": {"description_width": "90px"},
        "layout": {"width": _WIDTH, "margin": "2px 14px 2px 0"},
    }


def choice_slider(description: str, values: Sequence, value=None, *, tooltip: str = "") -> ipywidgets.SelectionSlider:
    """A slider over a list of values; arrow keys step through them.

    Values may be text ("0.01"), which keeps them exact on every route, or numbers. Without `value`, the middle one.
    """
    options = _options(values)
    chosen = value if value is not None else options[len(options) // 2][1]
    return ipywidgets.SelectionSlider(options=options, value=chosen, **_look(description, tooltip))


def range_slider(
    description: str, values: Sequence, value: tuple | None = None, *, tooltip: str = ""
) -> ipywidgets.SelectionRangeSlider:
    """A slider with two handles over a list of values; its value is the pair (low, high)."""
    options = _options(values)
    chosen = value if value is not None else (options[0][1], options[-1][1])
    return ipywidgets.SelectionRangeSlider(options=options, value=chosen, **_look(description, tooltip))


def dropdown(description: str, values: Iterable, value=None, *, tooltip: str = "") -> ipywidgets.Dropdown:
    """A menu of named values: (label, value) pairs or plain values."""
    options = _options(values)
    chosen = value if value is not None else options[0][1]
    return ipywidgets.Dropdown(options=options, value=chosen, **_look(description, tooltip))


def typed(description: str, value: str, *, tooltip: str = "") -> ipywidgets.Text:
    """A field for a formula or a number to be typed; use it in an explorer with a longer `delay`."""
    return ipywidgets.Text(value=value, **_look(description, tooltip))


def _options(values: Iterable) -> list[tuple[str, Any]]:
    return [value if isinstance(value, tuple) else (readable(value), value) for value in values]


def readable(value) -> str:
    """A value as a person would write it.

    >>> readable(10000), readable("0.001"), readable(0.5)
    ('10 000', '0.001', '0.5')
    """
    return f"{value:,}".replace(",", " ") if isinstance(value, int) else str(value)
