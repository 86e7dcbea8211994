"""The main picture: delta(eps) on a logarithmic axis, every route in its own style."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..core.results import Approximation, Bracket, Curve
from .scale import log10, log_axis
from .style import ROUTES, RouteStyle, legend, name_axes, route_style, route_styles
from .words import percent, short, span

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_MARKERS = 16


def draw_delta(ax: "Axes", curves: Mapping[str, Curve], *, title: str = "δ(ε)") -> str:
    """Draw delta(eps) of several routes: `{"reference": Curve, "fourier": Curve, "clt": Curve, ...}`.

    A curve of brackets becomes a filled band between two thin lines, a few references become hollow points, anything
    else a line. Returns the sentence that describes the picture.

    >>> from dplab.core.results import Approximation, Curve
    >>> from dplab.plots import new_figure
    >>> figure, (ax,) = new_figure()
    >>> draw_delta(ax, {"clt": Curve((0.0, 1.0), (Approximation(0.4, "GDP"), Approximation(0.1, "GDP")))})
    'δ(ε) on a logarithmic axis, ε from 0 to 1. CLT (no bound): from 0.4 to 0.1.'
    """
    drawn = {route: _finite(curves[route]) for route in _ordered(curves)}
    drawn = {route: points for route, points in drawn.items() if points}
    low, high = _limits(drawn)
    styles = route_styles(drawn)
    for route, points in drawn.items():
        _draw_route(ax, styles[route], points, low)
    log_axis(ax, low, high)
    everywhere = [eps for points in drawn.values() for eps, _ in points]
    name_axes(ax, "ε (nats)", title)
    legend(ax, loc=_free_corner(drawn, low, high))
    return _sentence(drawn, everywhere)


def _ordered(curves: Mapping[str, Curve]) -> list[str]:
    """Bands first and lines on top; a legend reads in this order too."""
    order = {"fourier": -1, **{name: place for place, name in enumerate(ROUTES) if name != "fourier"}}
    return sorted(curves, key=lambda route: order.get(route, len(order)))


def _finite(curve: Curve) -> list[tuple[float, object]]:
    return [(eps, value) for eps, value in zip(curve.eps, curve.values, strict=True) if math.isfinite(eps)]


def ends(value) -> tuple:
    """The two ends of a value of any number type; equal for all but brackets."""
    if isinstance(value, Bracket):
        return value.lower, value.upper
    number = getattr(value, "value", value)
    return number, number


def _limits(drawn: Mapping[str, list]) -> tuple[float, float]:
    """log10 limits of the y axis, from the routes that can be trusted; an approximation may leave below."""
    trusted = [v for points in drawn.values() for _, v in points if not isinstance(v, Approximation)]
    values = trusted or [v for points in drawn.values() for _, v in points]
    logs = [log10(end) for value in values for end in ends(value)]
    uppers = [log10(ends(value)[1]) for value in values]
    finite = [x for x in logs if math.isfinite(x)]
    if not finite:
        return -12.0, 0.0
    low, high = min([x for x in uppers if math.isfinite(x)] or finite), max(finite)
    low = min(low, high - 0.7)  # a flat curve should look flat
    margin = 0.05 * (high - low)
    return low - margin, high + margin


def _free_corner(drawn: Mapping[str, list], low: float, high: float) -> str:
    """Upper right unless a curve runs through it."""
    for points in drawn.values():
        right = points[int(0.6 * len(points))][1]
        if log10(ends(right)[1]) > high - 0.35 * (high - low):
            return "lower left"
    return "upper right"


def _draw_route(ax: "Axes", style: RouteStyle, points: list, low: float) -> None:
    floor = low - 5
    eps = [e for e, _ in points]
    lower = [max(log10(ends(value)[0]), floor) for _, value in points]
    upper = [max(log10(ends(value)[1]), floor) for _, value in points]
    few = len(points) <= _MOST_MARKERS
    if all(isinstance(value, Bracket) for _, value in points):
        band = {"color": style.colour, "alpha": 0.35, "linewidth": 0}
        ax.fill_between(eps, lower, upper, **band)
        edge = {"color": style.colour, "linewidth": 1.4, "marker": style.marker if few else "", "markersize": 4}
        ax.plot(eps, lower, label=style.label, **edge)
        ax.plot(eps, upper, **edge)
    elif few and not isinstance(points[0][1], Approximation):
        ax.plot(eps, upper, label=style.label, clip_on=False, zorder=3, **{**style.points, "linestyle": ""})
    else:
        ax.plot(eps, upper, label=style.label, **style.line)


def _sentence(drawn: Mapping[str, list], everywhere: list[float]) -> str:
    if not everywhere:
        return "An empty picture: no route has a value at a finite ε."
    parts = [f"δ(ε) on a logarithmic axis, ε {span(min(everywhere), max(everywhere))}."]
    for route, points in drawn.items():
        label, first, last = route_style(route).label, points[0][1], points[-1][1]
        text = f"{label}: {span(ends(first)[1], ends(last)[1])}"
        if isinstance(first, Bracket):
            widest = max(value.relative_width for _, value in points)
            text = f"{label}: upper end {span(first.upper, last.upper)}, at most {percent(widest)} wide"
        parts.append(text[0].upper() + text[1:] + ".")
    return " ".join([*parts, *_off(drawn)])


def _off(drawn: Mapping[str, list]) -> list[str]:
    """How far the CLT is off at the last eps that it shares with a trusted route."""
    trusted = dict(drawn.get("fourier", [])) | dict(drawn.get("reference", []))
    for eps, value in reversed(drawn.get("clt", [])):
        low, high = ends(trusted[eps]) if eps in trusted else (0, 0)
        if low and value.value:
            ratio = float(value.value) / float((low + high) / 2)
            return [f"At ε = {short(eps)} the CLT gives {short(ratio)} times the true δ."]
    return []
