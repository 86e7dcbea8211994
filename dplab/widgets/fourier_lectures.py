"""The Fourier accountant under one's fingers: the wrap-around seen, and what makes up the error of Algorithm 1."""

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from ..core.display import html_table
from ..core.pair import Pair
from ..fourier.bounded_lecture import algorithm_1_bracket, compose, outward_masses
from ..fourier.chernoff import Alphas, alphas
from ..fourier.lecture import rounded_masses
from ..fourier.wrapping import one_sided, theorem_10
from ..mechanisms import Gaussian, Laplace, PoissonSubsampled, RandomizedResponse
from ..plots.lines import draw_lines
from ..plots.parts import draw_parts
from ..plots.style import dress
from ..plots.svg import Picture, to_svg
from ..plots.windows import draw_outside, draw_wrapped, wrapped
from ..plots.words import short
from .controls import choice_slider, dropdown
from .explorer import Explorer, Shown

PAIRS: dict[str, Pair] = {
    "Gaussian, sigma = 2": Gaussian(2),
    "Laplace, b = 2": Laplace(2),
    "randomised response, p = 0.65": RandomizedResponse("0.65"),
    "subsampled Gaussian, sigma = 0.7, q = 0.2": PoissonSubsampled(Gaussian("0.7"), "0.2"),
}
DX = 0.0625
HALF_WIDTHS = ("0.5", "1", "1.5", "2", "2.5", "3", "3.5", "4", "5", "6", "8", "10", "12", "16")
STEPS = (1, 2, 4, 6, 8, 12, 16, 24, 32)
EPSILONS = ("-1", "-0.5", "0", "0.5", "1", "1.5", "2", "3", "4", "6")

LAMBDAS = ("0.02", "0.05", "0.1", "0.2", "0.5", "1", "1.5", "2", "3", "4", "5", "6", "8", "10", "15", "20", "30", "50")
SIZES = tuple(2**power for power in range(6, 14))
WINDOWS = ("1", "1.5", "2", "3", "4", "5", "6", "8", "10", "12", "16", "24", "32")
MANY_STEPS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
WIDE, HIGH = 12.5, 4.8
_MOST_POINTS = 2**16
_CURVE = tuple(0.02 * 10 ** (step / 14) for step in range(49))  # 0.02 to 54


def _figure():
    from matplotlib.figure import Figure

    return Figure(figsize=(WIDE, HIGH), facecolor="white")


def wrap_picture(pair: Pair, k: int, L, eps, *, dx: float = DX, figure=None) -> Shown:
    """The law of the sum with its window, and what Algorithm 1 makes of it in the window: picture and values.

    The masses are rounded up on a grid of step dx. figure: one to be drawn on again.

    >>> wrap_picture(Gaussian(2), 8, 3, 1)[0].title
    'Gaussian(sigma=2), k = 8, L = 3, ε = 1: what leaves the window comes back'
    """
    half, at = float(L), float(eps)
    n = 2 * max(round(half / dx), 2)
    masses, infinity = rounded_masses(pair, half, n, "upper")
    pieces = wrapped(masses, k, half)
    figure = figure or _figure()
    left, right = dress(figure, 2, keep=True)
    description = f"{draw_outside(left, pieces)} {draw_wrapped(right, pieces, at)}"
    title = f"{pair!r}, k = {k}, L = {L}, ε = {eps}: what leaves the window comes back"
    true, seen = pieces.delta(at)
    lost = -((1 - infinity) ** k - 1)
    above, below = float(pieces.from_above.sum()), float(pieces.from_below.sum())
    header = ("δ of the grid masses", "what Algorithm 1 reads off", "error", "P(S ≥ L)", "P(S < −L)")
    cells = (short(true + lost, 5), short(seen + lost, 5), short(true - seen), short(above), short(below))
    caption = f"{n} points, dx = {short(2 * half / n)}: −P(S < −L) ≤ error ≤ P(S ≥ L)"
    return Picture(to_svg(figure, title, description), title, description), html_table(header, [cells], caption)


def wrap_widget(mechanism: str = "Gaussian, sigma = 2", *, k: int = 8, L: str = "3", eps: str = "1") -> Explorer:
    """Sliders on `wrap_picture`: shorten the window and watch the mass come back at the other end.

    Start values must be on the sliders.
    """
    figure = _figure()
    controls = {
        "mechanism": dropdown("mechanism", PAIRS, mechanism, tooltip="What is released in every step"),
        "L": choice_slider("L", HALF_WIDTHS, L, tooltip="Half the window's width, in nats"),
        "k": choice_slider("k", STEPS, k, tooltip="How many releases are composed"),
        "eps": choice_slider("eps", EPSILONS, eps, tooltip="ε in nats"),
    }

    def draw(mechanism, L, k, eps) -> Shown:
        return wrap_picture(PAIRS[mechanism], k, L, eps, figure=figure)

    return Explorer(draw, controls)


@lru_cache(64)
def _upper_masses(pair: Pair, L: float, n: int):
    return outward_masses(pair, L, n, "upper").masses


@lru_cache(64)
def _mass_outside(pair: Pair, k: int, L: float, n: int) -> float | None:
    """P(S outside [-L, L)) of the upper grid PLD, from a window so long that next to nothing wraps; None where that
    would take too many points or the mass drowns in float64's noise. For the eye: no bound."""
    masses = _upper_masses(pair, L, n)
    x = np.arange(-(n // 2), n // 2) * (2 * L / n)
    mean = float(masses @ x)
    spread = float(masses @ (x - mean) ** 2) ** 0.5
    longer = 2 * math.ceil((k * abs(mean) + 12 * k**0.5 * spread) / L) + 1  # odd: the window stays in the middle
    if longer * n > _MOST_POINTS:
        return None
    side = np.zeros((longer - 1) // 2 * n)
    composed = compose(np.concatenate([side, masses, side]), k, longer * L)
    outside = float(composed.masses[np.abs(composed.x + L / n) > L].sum())
    return outside if outside > 1e-13 else None


@lru_cache(8192)
def _upper_alphas(pair: Pair, L: float, n: int, lam: float) -> Alphas:
    return alphas(_upper_masses(pair, L, n), L, lam)


def wrap_bounds(pair: Pair, k: int, L: float, n: int, lams: Sequence[float]) -> dict[str, list[tuple[float, float]]]:
    """Theorem 10, its largest part, the sharper bound, and (where float64 can tell) the mass they bound, at several
    lambdas, for the upper grid PLD: label -> points.

    >>> found = wrap_bounds(Gaussian(2), 8, 6.0, 256, [1.0, 2.0])
    >>> [label for label in found]
    ['Theorem 10', 'its truncation part', 'sharper, above + below', 'true mass outside']
    """
    found = [_upper_alphas(pair, float(L), n, float(lam)) for lam in lams]
    theorem = [theorem_10(a.plus, a.minus, k, L, lam) for a, lam in zip(found, lams, strict=True)]
    sharper = [one_sided(a.plus, a.minus, k, L, lam) for a, lam in zip(found, lams, strict=True)]
    bounds = {
        "Theorem 10": [(t.lam, t.total) for t in theorem],
        "its truncation part": [(t.lam, t.truncation) for t in theorem],
        "sharper, above + below": [(s.lam_above, s.above + s.below) for s in sharper],
    }
    outside = _mass_outside(pair, k, float(L), n)
    return bounds if outside is None else bounds | {"true mass outside": [(float(lam), outside) for lam in lams]}


def error_picture(pair: Pair, k: int, L, n: int, eps, lam=None, *, wrap="one-sided", figure=None) -> Shown:
    """The bounds of the wrap-around against lambda, and the budget of Algorithm 1's bracket: picture and values.

    lam: the lambda to use; the best one without it. wrap: "one-sided" or "theorem 10". figure: to be drawn on again.

    >>> error_picture(Gaussian(2), 8, 6, 256, 1)[0].title
    'Gaussian(sigma=2), k = 8, L = 6, n = 256, ε = 1: the error of Algorithm 1'
    """
    figure = figure or _figure()
    bracket = algorithm_1_bracket(pair, k, L, n, eps, wrap=wrap, lam=lam)
    settings = bracket.budget.settings
    used = float(str(settings.get("lambda above", settings.get("lambda"))))
    series = wrap_bounds(pair, k, float(L), n, sorted({*_CURVE, used}))
    least = min(value for points in series.values() for _, value in points)
    limits = (min(max(least / 1e5, 1e-60), 1e-8), 1e2)  # the legend stands below the curves
    left, right = dress(figure, 2, keep=True)
    figure.subplots_adjust(left=0.07, wspace=0.42)
    lines = draw_lines(
        left,
        series,
        x="λ",
        y="mass that may leave the window",
        at=used,
        log_x=True,
        limits=limits,
        place="lower left",
    )
    description = f"{lines} {draw_parts(right, bracket.budget)}"
    title = f"{pair!r}, k = {k}, L = {L}, n = {n}, ε = {eps}: the error of Algorithm 1"
    values = f"{bracket._repr_html_()}{bracket.budget._repr_html_()}"
    return Picture(to_svg(figure, title, description), title, description), values


def error_widget(
    mechanism: str = "Gaussian, sigma = 2", *, lam: str = "2", L: str = "8", n: int = 1024, k: int = 10, eps: str = "1"
) -> Explorer:
    """Sliders on `error_picture`: lambda, L, n and k, and what each of them does to the parts of the error.

    Start values must be on the sliders.
    """
    figure = _figure()
    ways = [("sharper, one-sided", "one-sided"), ("Theorem 10", "theorem 10")]
    controls = {
        "mechanism": dropdown("mechanism", PAIRS, mechanism, tooltip="What is released in every step"),
        "wrap": dropdown("bound", ways, tooltip="How the mass that leaves the window is bounded"),
        "lam": choice_slider("lambda", LAMBDAS, lam, tooltip="The λ of Chernoff's bound, in 1/nats"),
        "L": choice_slider("L", WINDOWS, L, tooltip="Half the window's width, in nats"),
        "n": choice_slider("n", SIZES, n, tooltip="Grid points in the window"),
        "k": choice_slider("k", MANY_STEPS, k, tooltip="How many releases are composed"),
        "eps": choice_slider("eps", EPSILONS, eps, tooltip="ε in nats"),
    }

    def draw(mechanism, wrap, lam, L, n, k, eps) -> Shown:
        return error_picture(PAIRS[mechanism], k, L, n, eps, lam, wrap=wrap, figure=figure)

    return Explorer(draw, controls)
