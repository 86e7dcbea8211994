"""The definition under one's fingers: the hockey stick as an area, and test sets chosen by hand."""

import math

from ..core.display import html_table
from ..core.pair import Pair
from ..mechanisms import Gaussian, Laplace, PoissonSubsampled, RandomizedResponse
from ..plots.envelopes import draw_test_lines
from ..plots.hockey import describe, draw_hockey_stick, gain, minus
from ..plots.outcomes import Table, TestSet, eps_of, exp_of, outcomes
from ..plots.style import dress
from ..plots.svg import Picture, to_svg
from ..plots.words import short
from .controls import choice_slider, dropdown, range_slider
from .explorer import Explorer, Shown

MECHANISMS = {
    "Gaussian": ("sigma",),
    "Laplace": ("b",),
    "randomised response": ("p",),
    "subsampled Gaussian": ("sigma", "q"),
}
SIGMAS = ("0.5", "0.7", "1", "1.5", "2", "3", "5")
SCALES = ("0.3", "0.5", "0.7", "1", "1.5", "2", "3", "5")
TRUTHS = ("0.51", "0.55", "0.6", "0.65", "0.7", "0.75", "0.8", "0.9", "0.99")
RATES = ("0.01", "0.05", "0.1", "0.2", "0.3", "0.5", "0.8")
EPSILONS = ("-1", "-0.5", "-0.25", "0", "0.1", "0.25", "0.5", "0.75", "1", "1.25", "1.5", "2", "2.5", "3")
ENDS = [
    ("−∞", -math.inf),
    *((f"{i / 4:g}".replace("-", "−"), i / 4) for i in range(-16, 25)),
    ("∞", math.inf),
]
FINITE = {"nothing": (), "yes": ("yes",), "no": ("no",), "yes or no": ("yes", "no")}
DIRECTIONS = [("P over Q (remove)", "forward"), ("Q over P (add)", "backward")]
SIZE = (12.5, 4.8)


def mechanism_of(mechanism: str, sigma="1", b="1", p="0.75", q="0.3") -> Pair:
    """The pair that the controls describe; parameters of the other mechanisms are ignored.

    >>> mechanism_of("subsampled Gaussian", sigma="2", q="0.1")
    PoissonSubsampled(Gaussian(sigma=2), q=0.1)
    """
    if mechanism == "Laplace":
        return Laplace(b)
    if mechanism == "randomised response":
        return RandomizedResponse(p)
    return PoissonSubsampled(Gaussian(sigma), q) if mechanism == "subsampled Gaussian" else Gaussian(sigma)


def hockey_picture(pair: Pair, eps, *, direction: str = "forward", figure=None) -> Shown:
    """The hockey stick at eps as an area, and h(x) with the best test set's line: the picture, and its values.

    figure: one to be drawn on again.

    >>> hockey_picture(RandomizedResponse("0.75"), 0)[0].title
    'RandomizedResponse(p=0.75), ε = 0: the hockey stick and h(x)'
    """
    return _two_views(pair, eps, None, direction, figure, "the hockey stick and h(x)")


def neyman_pearson_picture(pair: Pair, eps, chosen: TestSet, *, direction: str = "forward", figure=None) -> Shown:
    """What a test set collects, as an area and as a line under h(x): the picture, and its values.

    chosen: a list of intervals, or of names of outcomes. figure: one to be drawn on again.

    >>> picture, table = neyman_pearson_picture(RandomizedResponse("0.75"), 0, ["yes"])
    >>> "0.5" in table
    True
    """
    return _two_views(pair, eps, list(chosen), direction, figure, "a test set and its line")


def _two_views(pair: Pair, eps, chosen: TestSet | None, direction: str, figure, what: str) -> Shown:
    from matplotlib.figure import Figure

    figure = figure or Figure(figsize=SIZE, facecolor="white")
    left, right = dress(figure, 2, keep=True)
    backward = direction == "backward"
    tests = None if chosen is None else {"S": chosen}
    description = (
        f"{draw_hockey_stick(left, pair, eps, chosen=chosen, backward=backward)} "
        f"{draw_test_lines(right, pair, eps, tests, backward=backward)}"
    )
    title = f"{pair!r}, ε = {minus(str(eps))}: {what}"
    return Picture(to_svg(figure, title, description), title, description), _values(pair, eps, chosen, backward)


def _values(pair: Pair, eps, chosen: TestSet | None, backward: bool) -> str:
    """The test sets side by side as a small table."""
    law, e = outcomes(pair, backward), eps_of(eps)
    first, second = ("Q", "P") if backward else ("P", "Q")
    best = law.best(e)
    rows = [] if chosen is None else [("S, chosen by hand", chosen)]
    cells = []
    for name, kept in [*rows, ("the best set, with the tight δ(ε)", best)]:
        masses = law.masses(kept)
        reached = minus(short(gain(masses, e), 4))
        cells.append((name, describe(kept), short(masses.p, 4), short(masses.q, 4), reached))
    header = ("test set", "outcomes", f"{first}(S)", f"{second}(S)", f"{first}(S) − e^ε {second}(S)")
    return html_table(header, cells, f"{pair!r}, ε = {minus(str(eps))}, e^ε = {short(exp_of(e), 4)}")


def _mechanism_controls(mechanism: str, sigma, b, p, q) -> dict:
    return {
        "mechanism": dropdown("mechanism", MECHANISMS, mechanism, tooltip="What is released"),
        "sigma": choice_slider("sigma", SIGMAS, sigma, tooltip="Standard deviation over sensitivity"),
        "b": choice_slider("b", SCALES, b, tooltip="Scale of the Laplace noise over sensitivity"),
        "p": choice_slider("p", TRUTHS, p, tooltip="Probability of the true answer"),
        "q": choice_slider("q", RATES, q, tooltip="Poisson sampling rate"),
    }


def _figure():
    from matplotlib.figure import Figure

    return Figure(figsize=SIZE, facecolor="white")


def hockey_widget(mechanism: str = "Gaussian", *, eps="0.5", sigma="1", b="1", p="0.75", q="0.3") -> Explorer:
    """Sliders on the hockey stick: mechanism, noise, direction and eps. Start values must be on the sliders."""
    figure = _figure()
    controls = _mechanism_controls(mechanism, sigma, b, p, q) | {
        "direction": dropdown("direction", DIRECTIONS, tooltip="Which of the two neighbours comes first"),
        "eps": choice_slider("eps", EPSILONS, eps, tooltip="ε in nats"),
    }

    def draw(mechanism, eps, direction, **parameters) -> Shown:
        return hockey_picture(mechanism_of(mechanism, **parameters), eps, direction=direction, figure=figure)

    def visible(mechanism, **others) -> list[str]:
        return ["mechanism", *MECHANISMS[mechanism], "direction", "eps"]

    return Explorer(draw, controls, visible=visible)


def neyman_pearson_widget(
    mechanism: str = "Gaussian", *, eps="0.5", sigma="1", b="1", p="0.75", q="0.3", ends=(0.0, 2.0), answers=("yes",)
) -> Explorer:
    """A test set chosen by hand: its two ends (or its outcomes, for randomised response), and what it collects.

    Start values must be on the sliders; an end may be -inf or inf.
    """
    figure = _figure()
    controls = _mechanism_controls(mechanism, sigma, b, p, q) | {
        "direction": dropdown("direction", DIRECTIONS, tooltip="Which of the two neighbours comes first"),
        "eps": choice_slider("eps", EPSILONS, eps, tooltip="ε in nats"),
        "ends": range_slider("S from, to", ENDS, ends, tooltip="The two ends of the interval of outcomes"),
        "inside": dropdown("S is", [("the outcomes between", True), ("all the others", False)]),
        "answers": dropdown("S is", list(FINITE.items()), answers, tooltip="The answers in the test set"),
    }

    def draw(mechanism, eps, direction, ends, inside, answers, **parameters) -> Shown:
        pair = mechanism_of(mechanism, **parameters)
        chosen = answers if isinstance(outcomes(pair), Table) else intervals(ends, inside)
        return neyman_pearson_picture(pair, eps, chosen, direction=direction, figure=figure)

    def visible(mechanism, **others) -> list[str]:
        finite = mechanism == "randomised response"
        return [
            "mechanism",
            *MECHANISMS[mechanism],
            "direction",
            "eps",
            *(["answers"] if finite else ["ends", "inside"]),
        ]

    return Explorer(draw, controls, visible=visible)


def intervals(ends: tuple[float, float], inside: bool) -> list[tuple[float, float]]:
    """The interval between two ends, or everything else.

    >>> intervals((0, 2), inside=False)
    [(-inf, 0), (2, inf)]
    """
    low, high = ends
    if inside:
        return [(low, high)] if low < high else []
    return [(a, b) for a, b in ((-math.inf, low), (high, math.inf)) if a < b]
