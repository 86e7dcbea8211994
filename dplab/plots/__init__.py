"""Floor 3, the pictures: one vocabulary of colours and lines for every figure, static or under a slider.

A plot function takes an Axes and data, draws, and returns a sentence that describes the picture: its alt text. Nothing
here touches pyplot or its global state. `python -m dplab.plots.overview FILE.svg` draws README's picture.
"""

from importlib import import_module

_HOMES = {
    "draw_check": "checks",
    "draw_parts": "parts",
    "draw_lines": "lines",
    "draw_periodic": "windows",
    "draw_outside": "windows",
    "draw_swap": "windows",
    "draw_wrapped": "windows",
    "wrapped": "windows",
    "draw_budget": "budgets",
    "draw_convolution": "convolving",
    "draw_delta": "curves",
    "draw_directions": "envelopes",
    "draw_growth": "convolving",
    "draw_hockey_stick": "hockey",
    "draw_loss_map": "maps",
    "draw_sampling_map": "maps",
    "draw_sum": "convolving",
    "draw_test_lines": "envelopes",
    "draw_mirror": "losses",
    "draw_pld": "losses",
    "draw_rates": "rates",
    "draw_residuals": "residuals",
    "draw_scaling": "scaling",
    "Picture": "svg",
    "picture": "svg",
    "to_svg": "svg",
    "ROUTES": "style",
    "RouteStyle": "style",
    "new_figure": "style",
    "route_style": "style",
    "route_styles": "style",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str):
    if name not in _HOMES:
        raise AttributeError(f"module 'dplab.plots' has no attribute {name!r}")
    value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value
    return value
