"""Composition under one's fingers: the law of k losses, one point of a convolution, and the map of sampling."""

from collections.abc import Iterator

from ..core.composition import Composition
from ..core.display import html_table, outward_text
from ..core.errors import ParameterError
from ..core.pair import Pair
from ..core.parameters import count
from ..fourier.route import delta as fourier_delta
from ..plots.convolving import draw_convolution, draw_sum
from ..plots.maps import draw_sampling_map
from ..plots.outcomes import eps_of
from ..plots.style import dress
from ..plots.sums import sum_law
from ..plots.svg import Picture, to_svg
from ..plots.words import short
from .choosing import CHOICES, direction_control, mechanism_controls, mechanism_of
from .controls import choice_slider
from .explorer import Explorer, Shown

MECHANISMS = ("Gaussian", "Laplace", "randomised response", "subsampled Gaussian", "subsampled Laplace")
SMOOTH = ("Gaussian", "subsampled Gaussian")
"""Losses with a density and no atoms."""
BASES = ("Gaussian", "Laplace", "randomised response")
STEPS = (1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50, 100, 200, 500, 1000)
EPSILONS = ("0", "0.25", "0.5", "1", "1.5", "2", "3", "4", "5", "6", "8", "10", "15", "20")
POINTS = [(f"{i / 4:g}".replace("-", "−"), i / 4) for i in range(-8, 25)]
RATES = ("0.01", "0.05", "0.1", "0.2", "0.3", "0.5", "0.7", "0.9", "0.99")
ONE, TWO = (8.6, 4.6), (12.5, 4.8)
QUICK, CAREFUL = {"rtol": 0.1, "max_size": 2**17}, {"rtol": 1e-4, "max_size": 2**20}
"""The bracket's relative width and largest grid: while a slider moves, and when the hand rests."""


def _figure(size: tuple[float, float]):
    from matplotlib.figure import Figure

    return Figure(figsize=size, facecolor="white")


def composition_picture(composition, eps, *, direction: str = "forward", quick: bool = False, figure=None) -> Shown:
    """The law of the composed loss, with what counts in delta(eps) shaded: the picture, and its values.

    quick: a wider bracket of delta. figure: one to be drawn on again.

    >>> from dplab import RandomizedResponse
    >>> composition_picture(10 * RandomizedResponse("0.6"), "1.5")[0].title
    '10 * RandomizedResponse(p=0.6): the privacy loss'
    """
    figure = figure or _figure(ONE)
    composed, e = Composition.of(composition), eps_of(eps)
    (ax,) = dress(figure, 1, keep=True)
    description = draw_sum(ax, composed, eps=e, normal=True, backward=direction == "backward")
    title = f"{composed!r}: the privacy loss"
    shown = Picture(to_svg(figure, title, description), title, description)
    return shown, _values(composed, eps, direction, QUICK if quick else CAREFUL)


def _values(composed: Composition, eps, direction: str, effort: dict) -> str:
    law = sum_law(composed, direction == "backward")
    bracket = fourier_delta(composed, eps, direction=direction, **effort)
    low, high = outward_text(bracket.lower, bracket.upper)
    row = (str(eps), f"[{low}, {high}]", short(law.mean, 4), short(law.deviation, 4), short(law.shape.infinite, 4))
    header = ("ε", "δ(ε), a strict bracket", "mean of the loss", "standard deviation", "δ(∞)")
    return html_table(header, [row], f"{composed!r}, {direction}")


def composition_widget(mechanism: str = "randomised response", *, k: int = 1, eps="1", **start) -> Explorer:
    """Sliders on the law of a k-fold loss: mechanism, noise, k, direction and eps.

    start: values of sigma, b, p or q to start with; all of them must be on the sliders.
    """
    figure = _figure(ONE)
    controls = mechanism_controls(mechanism, MECHANISMS, **start) | {
        "k": choice_slider("k", STEPS, k, tooltip="How many releases are composed"),
        "direction": direction_control(),
        "eps": choice_slider("eps", EPSILONS, eps, tooltip="ε in nats"),
    }

    def draw(mechanism, k, direction, eps, **parameters) -> Shown:
        pair = mechanism_of(mechanism, **parameters)
        return composition_picture(k * pair, eps, direction=direction, quick=True, figure=figure)

    def refine(mechanism, k, direction, eps, **parameters) -> Iterator[Shown]:
        yield composition_picture(k * mechanism_of(mechanism, **parameters), eps, direction=direction, figure=figure)

    def visible(mechanism, **others) -> list[str]:
        return ["mechanism", *CHOICES[mechanism].parameters, "k", "direction", "eps"]

    return Explorer(draw, controls, refine=refine, visible=visible)


def convolution_picture(pair: Pair, k: int, s, *, direction: str = "forward", figure=None) -> Shown:
    """How the k-fold law at one loss s comes from the (k-1)-fold law: the picture, and its values.

    k: at least 2. figure: one to be drawn on again.

    Raises ParameterError for k < 2, NoClosedFormError for a loss with atoms.
    """
    if count(k) < 2:
        raise ParameterError("k", k, ">= 2", "A convolution has two factors.")
    figure = figure or _figure(TWO)
    left, right = dress(figure, 2, keep=True)
    description = draw_convolution(left, right, (k - 1) * pair, pair, float(s), backward=direction == "backward")
    title = f"{k} releases of {pair!r}: one point of the convolution"
    return Picture(to_svg(figure, title, description), title, description), ""


def convolution_widget(mechanism: str = "subsampled Gaussian", *, k: int = 2, s=1.0, **start) -> Explorer:
    """Sliders on one point of a convolution: the law of k - 1 losses with one more, at the sum s.

    start: values of sigma or q to start with; all of them must be on the sliders.
    """
    figure = _figure(TWO)
    controls = mechanism_controls(mechanism, SMOOTH, **start) | {
        "k": choice_slider("k", tuple(range(2, 13)), k, tooltip="How many releases are composed"),
        "direction": direction_control(),
        "s": choice_slider("s", POINTS, s, tooltip="The loss of all releases together, in nats"),
    }

    def draw(mechanism, k, direction, s, **parameters) -> Shown:
        return convolution_picture(mechanism_of(mechanism, **parameters), k, s, direction=direction, figure=figure)

    def visible(mechanism, **others) -> list[str]:
        return ["mechanism", *CHOICES[mechanism].parameters, "k", "direction", "s"]

    return Explorer(draw, controls, visible=visible)


def sampling_picture(pair: Pair, q, *, figure=None) -> Shown:
    """What Poisson sampling does to a loss, remove on the left and add on the right: the picture, and its values.

    figure: one to be drawn on again.

    >>> from dplab import RandomizedResponse
    >>> sampling_picture(RandomizedResponse("0.75"), "0.5")[0].title
    'RandomizedResponse(p=0.75), sampled at q = 0.5: the loss of removing and of adding'
    """
    figure = figure or _figure(TWO)
    left, right = dress(figure, 2, keep=True)
    description = f"{draw_sampling_map(left, pair, q)} {draw_sampling_map(right, pair, q, backward=True)}"
    title = f"{pair!r}, sampled at q = {q}: the loss of removing and of adding"
    return Picture(to_svg(figure, title, description), title, description), ""


def sampling_widget(mechanism: str = "Gaussian", *, q="0.3", **start) -> Explorer:
    """Sliders on the map of sampling: the mechanism that is sampled, its noise, and the rate q.

    start: values of sigma, b or p to start with; all of them must be on the sliders.
    """
    figure = _figure(TWO)
    controls = mechanism_controls(mechanism, BASES, **start) | {
        "q": choice_slider("q", RATES, q, tooltip="Poisson sampling rate"),
    }

    def draw(mechanism, q, **parameters) -> Shown:
        return sampling_picture(mechanism_of(mechanism, **parameters), q, figure=figure)

    def visible(mechanism, **others) -> list[str]:
        return ["mechanism", *CHOICES[mechanism].parameters, "q"]

    return Explorer(draw, controls, visible=visible)
