"""The privacy loss under one's fingers: from outcomes to losses, both directions, and a mechanism of one's own."""

from collections.abc import Iterator

from ..core.display import html_table, outward_text
from ..core.pair import Pair
from ..core.pld import PLD
from ..fourier.route import delta as fourier_delta
from ..plots.losses import draw_mirror, shape
from ..plots.maps import draw_loss_map
from ..plots.outcomes import Line, outcomes
from ..plots.style import dress
from ..plots.svg import Picture, to_svg
from ..plots.words import short
from .choosing import CHOICES, mechanism_controls, mechanism_of
from .controls import range_slider
from .explorer import Explorer, Shown

SIZE = (12.5, 4.8)
ENDS = [(f"{i / 4:g}".replace("-", "−"), i / 4) for i in range(-20, 25)]


def loss_picture(
    pair: Pair, strip: tuple[float, float] | None = None, *, quick: bool = False, name: str = "", figure=None
) -> Shown:
    """The loss of every outcome with the PLD it makes, and the PLDs of both directions: the picture, and its values.

    strip: an interval of real outcomes to be carried over. quick: without values of delta. name: what the pair is
    called, if not by its own text. figure: one to be drawn on again.

    >>> from dplab import RandomizedResponse
    >>> loss_picture(RandomizedResponse("0.75"))[0].title
    'RandomizedResponse(p=0.75): from outcomes to losses, and both directions'

    Raises UnboundSymbolError if a parameter is a symbol.
    """
    figure = figure or figure_of_two()
    left, right = dress(figure, 2, keep=True)
    inside = strip if isinstance(outcomes(pair), Line) else None
    description = f"{draw_loss_map(left, pair, inside)} {draw_mirror(right, pair)}"
    title = f"{name or repr(pair)}: from outcomes to losses, and both directions"
    return Picture(to_svg(figure, title, description), title, description), _values(pair, quick, name or repr(pair))


def _values(pair: Pair, quick: bool, name: str) -> str:
    rows = []
    for facing, direction in (("P over Q", "forward"), ("Q over P", "backward")):
        law = shape(PLD(pair, direction == "backward"))
        losses = [loss for loss, _ in [*law.atoms, *law.density]]
        span = f"{short(min(losses))} to {short(max(losses))}" if losses else "none"
        atoms = "endless" if getattr(pair, "endless", False) else str(len(law.atoms))
        deltas = ["…", "…"] if quick else [_delta(pair, eps, direction) for eps in ("0", "1")]
        rows.append((facing, span, atoms, short(law.infinite, 4), *deltas))
    return html_table(("direction", "finite losses shown", "atoms", "δ(∞)", "δ(0)", "δ(1)"), rows, name)


def _delta(pair: Pair, eps: str, direction: str) -> str:
    bracket = fourier_delta(pair, eps, direction=direction)
    if bracket.width <= 1e-7 * bracket.upper or bracket.upper < 1e-15:
        return short(bracket.upper if bracket.upper > 1e-15 else 0.0, 5)
    return "[{}, {}]".format(*outward_text(bracket.lower, bracket.upper))


def figure_of_two():
    """A figure for two pictures side by side, to be drawn on again and again."""
    from matplotlib.figure import Figure

    return Figure(figsize=SIZE, facecolor="white")


def loss_widget(mechanism: str = "Gaussian", *, strip=(1.0, 1.5), **start) -> Explorer:
    """Sliders on the privacy loss of every mechanism: its parameters, and a strip of outcomes to be carried over.

    start: values of the parameters to start with; all of them, and the strip's ends, must be on the sliders.
    """
    figure = figure_of_two()
    controls = mechanism_controls(mechanism, CHOICES, **start) | {
        "strip": range_slider(
            "strip of t", ENDS, strip, tooltip="An interval of outcomes, carried over to their losses"
        ),
    }

    def draw(mechanism, strip, **parameters) -> Shown:
        return loss_picture(mechanism_of(mechanism, **parameters), strip, quick=True, figure=figure)

    def refine(mechanism, strip, **parameters) -> Iterator[Shown]:
        yield loss_picture(mechanism_of(mechanism, **parameters), strip, figure=figure)

    def visible(mechanism, strip, **parameters) -> list[str]:
        names = CHOICES[mechanism].parameters
        real = isinstance(outcomes(mechanism_of(mechanism, **parameters)), Line)
        return ["mechanism", *names, *(["strip"] if real else [])]

    return Explorer(draw, controls, refine=refine, visible=visible)
