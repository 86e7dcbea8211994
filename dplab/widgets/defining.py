"""The definition under one's fingers: the hockey stick as an area, and test sets chosen by hand."""

import math

from ..core.display import html_table
from ..core.pair import Pair
from ..plots.envelopes import draw_test_lines
from ..plots.hockey import describe, draw_hockey_stick, gain, minus
from ..plots.outcomes import Table, TestSet, eps_of, exp_of, outcomes
from ..plots.style import dress
from ..plots.svg import Picture, to_svg
from ..plots.words import short
from .choosing import CHOICES, direction_control, mechanism_controls, mechanism_of
from .controls import choice_slider, dropdown, range_slider
from .explorer import Explorer, Shown

MECHANISMS = ("Gaussian", "Laplace", "randomised response", "subsampled Gaussian")
EPSILONS = ("-1", "-0.5", "-0.25", "0", "0.1", "0.25", "0.5", "0.75", "1", "1.25", "1.5", "2", "2.5", "3")
ENDS = [
    ("−∞", -math.inf),
    *((f"{i / 4:g}".replace("-", "−"), i / 4) for i in range(-16, 25)),
    ("∞", math.inf),
]
FINITE = {"nothing": (), "yes": ("yes",), "no": ("no",), "yes or no": ("yes", "no")}
SIZE = (12.5, 4.8)


def hockey_picture(pair: Pair, eps, *, direction: str = "forward", figure=None) -> Shown:
    """The hockey stick at eps as an area, and h(x) with the best test set's line: the picture, and its values.

    figure: one to be drawn on again.

    >>> from dplab import RandomizedResponse
    >>> hockey_picture(RandomizedResponse("0.75"), 0)[0].title
    'RandomizedResponse(p=0.75), ε = 0: the hockey stick and h(x)'
    """
    return _two_views(pair, eps, None, direction, figure, "the hockey stick and h(x)")


def neyman_pearson_picture(pair: Pair, eps, chosen: TestSet, *, direction: str = "forward", figure=None) -> Shown:
    """What a test set collects, as an area and as a line under h(x): the picture, and its values.

    chosen: a list of intervals, or of names of outcomes. figure: one to be drawn on again.

    >>> from dplab import RandomizedResponse
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


def _figure():
    from matplotlib.figure import Figure

    return Figure(figsize=SIZE, facecolor="white")


def hockey_widget(mechanism: str = "Gaussian", *, eps="0.5", **start) -> Explorer:
    """Sliders on the hockey stick: mechanism, noise, direction and eps.

    start: values of sigma, b, p or q to start with; all of them must be on the sliders.
    """
    figure = _figure()
    controls = mechanism_controls(mechanism, MECHANISMS, **start) | {
        "direction": direction_control(),
        "eps": choice_slider("eps", EPSILONS, eps, tooltip="ε in nats"),
    }

    def draw(mechanism, eps, direction, **parameters) -> Shown:
        return hockey_picture(mechanism_of(mechanism, **parameters), eps, direction=direction, figure=figure)

    def visible(mechanism, **others) -> list[str]:
        return ["mechanism", *CHOICES[mechanism].parameters, "direction", "eps"]

    return Explorer(draw, controls, visible=visible)


def neyman_pearson_widget(
    mechanism: str = "Gaussian", *, eps="0.5", ends=(0.0, 2.0), answers=("yes",), **start
) -> Explorer:
    """A test set chosen by hand: its two ends (or its outcomes, for randomised response), and what it collects.

    start: values of sigma, b, p or q to start with; all of them must be on the sliders. An end may be -inf or inf.
    """
    figure = _figure()
    controls = mechanism_controls(mechanism, MECHANISMS, **start) | {
        "direction": direction_control(),
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
            *CHOICES[mechanism].parameters,
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
