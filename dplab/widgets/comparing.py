"""Sliders on the comparison of routes: delta(eps) of one mechanism, composed and subsampled, and who is how far off."""

import time
from collections.abc import Iterator
from functools import lru_cache

import mpmath

from ..core.composition import Composition
from ..core.display import html_table, outward_text
from ..core.errors import DplabError
from ..core.functions import MpmathTable
from ..core.pair import Pair
from ..core.results import Bracket, Curve, Reference
from ..mechanisms import Gaussian, Laplace, PoissonSubsampled, RandomizedResponse
from ..plots.curves import draw_delta
from ..plots.residuals import draw_residuals
from ..plots.style import dress
from ..plots.svg import Picture, to_svg
from ..plots.words import short
from .controls import choice_slider, dropdown, range_slider
from .explorer import Explorer, Shown

FEW, POINTS, KINKED = 13, 25, 97
"""Points of a curve: under a moving slider; when the hand rests; for sums of atoms, which have kinks and are cheap."""
REFERENCES = 5
DIGITS = 20
QUICK, CAREFUL = {"rtol": 0.1, "max_size": 2**17}, {"rtol": 0.01, "max_size": 2**20}
"""The bracket's relative width and largest grid: while a slider moves, and when the hand rests."""
PATIENCE = 1.5
"""Seconds; where one reference takes longer, the picture does without the others."""
MECHANISMS = {"Gaussian": "sigma", "Laplace": "b", "randomised response": "p"}
SIGMAS = ("0.3", "0.5", "0.7", "0.8", "1", "1.5", "2", "3", "4", "6", "10", "20", "50", "100")
SCALES = ("0.5", "1", "2", "5", "10", "20", "50", "100")
TRUTHS = ("0.501", "0.505", "0.51", "0.52", "0.55", "0.6", "0.7", "0.75", "0.8", "0.9", "0.99")
RATES = ("0.0001", "0.001", "0.002", "0.004", "0.01", "0.02", "0.05", "0.1", "0.2", "0.5", "1")
STEPS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 1_000_000)
EPSILONS = (0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2, 2.5, 3, 4, 5, 6, 8, 10, 12, 15, 20, 30, 40, 50)


def composed(mechanism: str, sigma, b, p, q, k) -> Composition:
    """The composition that the sliders describe; parameters of the other mechanisms are ignored.

    >>> composed("Laplace", "4", "10", "0.75", "1", 1000)
    1000 * Laplace(b=10)
    """
    base: Pair = {
        "Gaussian": lambda: Gaussian(sigma),
        "Laplace": lambda: Laplace(b),
        "randomised response": lambda: RandomizedResponse(p),
    }[mechanism]()
    return k * (PoissonSubsampled(base, q) if str(q) != "1" else base)


def compare_picture(composition, eps: tuple = (0.0, 4.0), *, quick: bool = False, figure=None) -> Shown:
    """The widget's picture as a plain function: all numeric routes on eps = (low, high), and the values as a table.

    quick: the picture under a moving slider, without references and with a wider bracket. figure: one to
    be drawn on again.

    >>> from dplab import RandomizedResponse
    >>> picture, table = compare_picture(RandomizedResponse(0.75), eps=(0, 1))
    >>> picture.title
    'RandomizedResponse(p=0.75): δ(ε) by every route'
    """
    c = Composition.of(composition)
    if quick:
        return _render(c, _fast(c, eps, QUICK), {}, figure)
    *_, last = _better(c, eps, figure)
    return last


def _better(c: Composition, eps: tuple, figure) -> Iterator[Shown]:
    """Better and better pictures: a narrower bracket, then the references one by one."""
    routes = _fast(c, eps, CAREFUL)
    yield _render(c, routes, {}, figure)
    found: dict[float, Reference] = {}
    reached = {e: bracket.reached for e, bracket in zip(routes["fourier"].eps, routes["fourier"], strict=True)}
    for e in _points(eps, REFERENCES):
        if not reached.get(e, False):  # what is hard for one route is slow for the other
            continue
        start = time.perf_counter()
        value = _reference(c, e)
        if value is not None:
            found[e] = value
            yield _render(c, routes, found, figure)
        if time.perf_counter() - start > PATIENCE:
            return


def compare_widget(
    mechanism: str = "Gaussian", *, sigma="4", b="10", p="0.75", q="0.01", k=10_000, eps=(0, 2)
) -> Explorer:
    """Sliders for the mechanism, its noise, the sampling rate q, the number of steps k and the range of eps.

    The FFT bracket and the CLT follow the sliders; 20-digit references appear when the hand rests. The
    arguments are the values that it starts with, each one of the slider's own.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12.5, 4.8), facecolor="white")
    controls = {
        "mechanism": dropdown("mechanism", MECHANISMS, mechanism, tooltip="What is released in every step"),
        "sigma": choice_slider("sigma", SIGMAS, sigma, tooltip="Standard deviation over sensitivity"),
        "b": choice_slider("b", SCALES, b, tooltip="Scale of the Laplace noise over sensitivity"),
        "p": choice_slider("p", TRUTHS, p, tooltip="Probability of the true answer"),
        "q": choice_slider("q", RATES, q, tooltip="Poisson sampling rate; 1 is no sampling"),
        "k": choice_slider("k", STEPS, k, tooltip="How many releases are composed"),
        "eps": range_slider("eps", EPSILONS, eps, tooltip="The ε axis of both pictures, in nats"),
    }

    def draw(mechanism, sigma, b, p, q, k, eps) -> Shown:
        return compare_picture(composed(mechanism, sigma, b, p, q, k), eps, quick=True, figure=figure)

    def refine(mechanism, sigma, b, p, q, k, eps) -> Iterator[Shown]:
        return _better(composed(mechanism, sigma, b, p, q, k), eps, figure)

    def visible(mechanism, **others) -> list[str]:
        return ["mechanism", MECHANISMS[mechanism], "q", "k", "eps"]

    return Explorer(draw, controls, refine=refine, visible=visible)


def _points(eps: tuple, count: int) -> list[float]:
    """Evenly spaced eps, written in few digits; one in the middle if the range is empty."""
    low, high = (float(end) for end in eps)
    if count < 2 or high <= low:
        return [low if high <= low else (low + high) / 2]
    return [float(f"{low + (high - low) * i / (count - 1):.8g}") for i in range(count)]


def _fast(c: Composition, eps: tuple, effort: dict) -> dict[str, Curve]:
    from .. import clt, fourier

    smooth = any(pair.support(MpmathTable()) for pair, _ in c.parts)
    points = _points(eps, KINKED if not smooth else FEW if effort is QUICK else POINTS)
    return {"fourier": fourier.curve(c, points, **effort), "clt": clt.curve(c, points)}


@lru_cache(256)
def _reference(c: Composition, eps: float) -> Reference | None:
    from .. import reference

    try:
        return reference.delta(c, eps, digits=DIGITS)
    except DplabError:  # the picture does without it
        return None


def _render(c: Composition, routes: dict[str, Curve], found: dict[float, Reference], figure) -> Shown:
    from matplotlib.figure import Figure

    figure = figure or Figure(figsize=(12.5, 4.8), facecolor="white")
    left, right = dress(figure, 2, keep=True)
    curves = routes | ({"reference": Curve(tuple(found), tuple(found.values()))} if found else {})
    description = f"{draw_delta(left, curves)} {draw_residuals(right, curves, floor=-(DIGITS + 10.0))}"
    title = f"{c!r}: δ(ε) by every route"
    return Picture(to_svg(figure, title, description), title, description), _values(c, routes, found)


def _values(c: Composition, routes: dict[str, Curve], found: dict[float, Reference]) -> str:
    """A small table beneath the picture: each route at a few eps."""
    fourier, clt = routes["fourier"], routes["clt"]
    last = len(fourier.eps) - 1
    rows = []
    for place in dict.fromkeys(round(last * i / (REFERENCES - 1)) for i in range(REFERENCES)):
        eps, bracket = fourier.eps[place], fourier.values[place]
        known = found.get(eps)
        rows.append((short(eps), _bracket(bracket), f"≈ {short(clt.values[place].value, 4)}", _shown(known)))
    return html_table(("ε", "FFT bracket of δ", "CLT (no bound)", f"reference, {DIGITS} digits"), rows, repr(c))


def _bracket(bracket: Bracket) -> str:
    return "[{}, {}]".format(*outward_text(bracket.lower, bracket.upper))


def _shown(value: Reference | None) -> str:
    return "" if value is None else mpmath.nstr(value.value, DIGITS, min_fixed=-4, max_fixed=8)
