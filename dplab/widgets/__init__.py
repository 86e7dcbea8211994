"""Floor 4, the explorers: controls and one picture, drawn by the plot functions that the static pages use.

`Explorer` is the one helper behind every widget; `compare_widget()` puts sliders on `compare`'s picture.
"""

from importlib import import_module

_HOMES = {
    "Debounce": "debounce",
    "Explorer": "explorer",
    "choice_slider": "controls",
    "dropdown": "controls",
    "range_slider": "controls",
    "typed": "controls",
    "compare_picture": "comparing",
    "compare_widget": "comparing",
    "composition_picture": "composing",
    "composition_widget": "composing",
    "convolution_picture": "composing",
    "convolution_widget": "composing",
    "error_picture": "fourier_lectures",
    "error_widget": "fourier_lectures",
    "wrap_bounds": "fourier_lectures",
    "wrap_picture": "fourier_lectures",
    "wrap_widget": "fourier_lectures",
    "hockey_picture": "defining",
    "hockey_widget": "defining",
    "loss_picture": "losing",
    "loss_widget": "losing",
    "neyman_pearson_picture": "defining",
    "neyman_pearson_widget": "defining",
    "own_pair": "own",
    "own_pair_picture": "own",
    "own_pair_widget": "own",
    "sampling_picture": "composing",
    "sampling_widget": "composing",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str):
    if name not in _HOMES:
        raise AttributeError(f"module 'dplab.widgets' has no attribute {name!r}")
    value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value
    return value
