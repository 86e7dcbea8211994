"""How far every route is from the truth, relatively, on an axis that reaches down to 1e-50.

Three different quantities share the axis because each answers "how many digits can I trust?": the half-width of a
bracket, the error of an approximation, and the disagreement of two independent runs of the reference.
"""

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

import mpmath

from ..core.results import Bracket, Curve, Reference
from .curves import ends
from .scale import log10, log_axis
from .style import GREY, ROUTES, TEXT, legend, name_axes, route_styles
from .words import in_words, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FLOOR = -50.0
_DIGITS = 250  # of the subtraction value - truth; references have at most 200
FLOAT64 = math.log10(2.0**-53)
_MEANING = {
    "symbolic": "closed form − reference",
    "reference": "reference: two runs apart",
    "fourier": "FFT bracket: half its width",
    "clt": "CLT − truth",
}


def deviation(value, truth):
    """The relative deviation that speaks for one value, in the arithmetic of the truth.

    Half-width over truth for a bracket, error estimate over value for a reference, |value - truth|/truth otherwise.
    """
    if isinstance(value, Bracket):
        low, high = ends(value)
        return (high - low) / 2 / abs(truth) if truth else 0.0
    if isinstance(value, Reference):
        return value.error / abs(value.value) if value.value else 0.0
    return abs(ends(value)[0] - truth) / abs(truth) if truth else 0.0


def deviations(curves: Mapping[str, Curve]) -> dict[str, list[tuple[float, float]]]:
    """(eps, log10 of the deviation) of every route, wherever the truth is known.

    The truth is the reference where there is one at that eps, else the middle of the bracket.
    """
    found = {}
    with mpmath.workdps(_DIGITS):
        truths = _truths(curves)
        for route in dict.fromkeys([*(name for name in ROUTES if name in curves), *curves]):
            pairs = zip(curves[route].eps, curves[route].values, strict=True)
            known = [(eps, value) for eps, value in pairs if eps in truths and math.isfinite(eps)]
            if known:
                found[route] = [(eps, log10(deviation(value, truths[eps]))) for eps, value in known]
    return found


def _truths(curves: Mapping[str, Curve]) -> dict[float, object]:
    truths: dict[float, object] = {}
    for route in ("fourier", "reference"):
        curve = curves.get(route, Curve((), ()))
        for eps, value in zip(curve.eps, curve.values, strict=True):
            low, high = ends(value)
            if high > 0:
                truths[eps] = (low + high) / 2
    return truths


def draw_residuals(
    ax: "Axes", curves: Mapping[str, Curve], *, floor: float = FLOOR, title: str = "relative deviation from the truth"
) -> str:
    """Draw `deviations(curves)` on a log axis from 10^floor to 1 or above; returns the describing sentence.

    What is exactly zero, or below the floor, sits on the floor as a filled marker.
    """
    found = deviations(curves)
    top = max([0.0, *(y for points in found.values() for _, y in points if math.isfinite(y))])
    styles = route_styles(found)
    for route, points in found.items():
        style = styles[route]
        shown = [(eps, max(y, floor)) for eps, y in points]
        keywords = style.points if len(points) <= 16 else style.line
        ax.plot(*zip(*shown, strict=True), label=_MEANING.get(route, style.label), clip_on=False, zorder=3, **keywords)
        sunk = [eps for eps, y in points if y <= floor]
        if sunk:
            ax.plot(sunk, [floor] * len(sunk), style.marker, color=style.colour, markersize=8, clip_on=False, zorder=4)
    log_axis(ax, floor - 0.02 * (top - floor), top + 1, most=8)
    if floor < FLOAT64:
        ax.axhline(FLOAT64, color=GREY, linewidth=1, linestyle=(0, (1, 2)))
        ax.annotate(
            "float64 ends here",
            (0.02, FLOAT64),
            xycoords=("axes fraction", "data"),
            fontsize=TEXT - 1,
            xytext=(0, 4),
            textcoords="offset points",
            color=GREY,
        )
    name_axes(ax, "ε (nats)", title)
    _place_legend(ax, [max(y, floor) for points in found.values() for _, y in points], floor, top + 1)
    return _sentence(found, floor)


def _place_legend(ax: "Axes", levels: list[float], floor: float, top: float) -> None:
    """In the middle of the widest gap between the lines."""
    marks = sorted({floor, top, *levels})
    low, high = max(pairwise(marks), key=lambda pair: pair[1] - pair[0], default=(floor, top))
    legend(ax, loc="center right", bbox_to_anchor=(1.0, ((low + high) / 2 - floor) / (top - floor)))


def _sentence(found: Mapping[str, list], floor: float) -> str:
    if not found:
        return "An empty picture: the truth is not known at any finite ε."
    parts = [f"{_MEANING.get(route, route)} {_range([y for _, y in points], floor)}" for route, points in found.items()]
    return f"Relative deviations on a logarithmic axis: {in_words(parts)}."


def _range(logs: list[float], floor: float) -> str:
    low, high = min(logs), max(logs)
    below = f"below 1e{floor:g}"
    if high <= floor:
        return below
    texts = [below if x <= floor else short(10.0**x, 2) for x in (low, high)]
    return texts[0] if texts[0] == texts[1] else f"between {texts[0]} and {texts[1]}"
