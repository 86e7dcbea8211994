"""A mechanism of one's own, typed as two formulas, with a live preview of its loss and of both directions."""

import html
import re
from collections.abc import Iterator

from ..core.display import html_table, text_formula
from ..core.errors import ParameterError
from ..core.pair import Pair
from ..plots.words import in_words
from .controls import dropdown, typed
from .explorer import Explorer, Shown
from .losing import figure_of_two, loss_picture

EXAMPLES: dict[str, tuple[str, str, str, bool]] = {
    "Laplace": ("exp(-abs(t - 1))/2", "exp(-abs(t))/2", "", False),
    "logistic": ("exp(-(t - 1))/(1 + exp(-(t - 1)))**2", "exp(-t)/(1 + exp(-t))**2", "", False),
    "Cauchy: not monotone": ("1/(pi*(1 + (t - 1)**2))", "1/(pi*(1 + t**2))", "", False),
    "uniform: mass at infinity": ("heaviside(t - 1/4)*heaviside(5/4 - t)", "heaviside(t)*heaviside(1 - t)", "", False),
    "truncated Laplace": (
        "exp(-abs(t - 1))*heaviside(t + 1)*heaviside(3 - t)/(2 - 2*exp(-2))",
        "exp(-abs(t))*heaviside(t + 2)*heaviside(2 - t)/(2 - 2*exp(-2))",
        "",
        False,
    ),
    "two exponentials": ("2*exp(-2*t)", "exp(-t)", "0, inf", False),
    "two peaks each": ("(exp(-abs(t - 2)) + exp(-abs(t)))/4", "(exp(-abs(t - 1)) + exp(-abs(t + 1)))/4", "", False),
    "Gaussians, mixed": ("(exp(-(t - 2)**2/2) + 3*exp(-t**2/2))/(4*sqrt(2*pi))", "exp(-t**2/2)/sqrt(2*pi)", "", False),
    "geometric, whole numbers": ("(1/2)**t/2", "2*(1/3)**t/3", "0, inf", True),
    "Poisson, whole numbers": ("3**t*exp(-3)/factorial(t)", "2**t*exp(-2)/factorial(t)", "0, inf", True),
}
"""Pairs to start from: P, Q, the support (empty: everything), and whether outcomes are whole numbers."""
TYPING = 0.4
"""Seconds that a typed formula waits for the next key."""
FIELDS = ("p", "q", "support", "whole")
KINDS = [("real numbers, with densities", False), ("whole numbers, with probabilities", True)]


def own_pair(p: str, q: str, support: str = "", whole: bool = False) -> Pair:
    """The pair of two formulas in t; `support` is empty (everything), or two ends with a comma between.

    whole: outcomes are whole numbers and the formulas their probabilities; else real numbers with densities.

    >>> own_pair("2*exp(-2*t)", "exp(-t)", "0, inf").arguments["support"]
    (0, inf)

    Raises ParameterError that names the part that is not allowed, or says why a formula is no density.
    """
    if not support.strip():
        return Pair.from_text(p, q, discrete=whole)
    ends = tuple(end.strip() for end in support.split(","))
    if len(ends) != 2 or not all(ends):
        raise ParameterError("support", support, 'empty, or two ends with a comma between, such as "0, inf"')
    return Pair.from_text(p, q, support=ends, discrete=whole)


def own_pair_picture(
    p: str, q: str, support: str = "", whole: bool = False, *, quick: bool = False, figure=None
) -> Shown:
    """The loss of a typed pair and both its PLDs: the picture; its values, and what was found on the way.

    quick: without values of delta. figure: one to be drawn on again. Errors as for `own_pair`.
    """
    pair = own_pair(p, q, support, whole)
    picture, values = loss_picture(pair, quick=quick, name=f"P(t) = {p}, Q(t) = {q}", figure=figure)
    return picture, values + _found(pair)


def _found(pair) -> str:
    """The monotone pieces of the loss with their inverses, and the stages that found no closed form."""
    rows = []
    for piece in pair.pieces:
        inverse = "by bisection" if piece.inverse is None else f"t = {text_formula(piece.inverse)}"
        rows.append(
            ("rises" if piece.increasing else "falls", text_formula(piece.loss), re.sub(r"\bx\b", "s", inverse))
        )
    rows += [("of whole t", text_formula(loss), "") for loss in getattr(pair, "loss_formulas", ())]
    table = html_table(("the loss", "s(t)", "its inverse"), rows) if rows else "<p>The loss is constant in pieces.</p>"
    stages = getattr(pair, "stages", ())
    notes = f"<p>No closed form: {html.escape(in_words(stages))}.</p>" if stages else ""
    return table + notes


def own_pair_widget(example: str = "Laplace") -> Explorer:
    """Fields for two formulas in t, with a live preview: typing is debounced, errors are shown where one types.

    The menu of examples fills the fields; everything can be edited from there.

    Raises ParameterError for an example that does not exist.
    """
    if example not in EXAMPLES:
        raise ParameterError("example", example, f"one of {', '.join(EXAMPLES)}")
    figure = figure_of_two()
    p, q, support, whole = EXAMPLES[example]
    controls = {
        "example": dropdown("start from", list(EXAMPLES), example, tooltip="Fills the fields below"),
        "whole": dropdown("outcomes", KINDS, whole, tooltip="What the two formulas are"),
        "support": typed("from, to", support, tooltip='The outcomes, such as "0, inf"; empty for all'),
        "p": typed("P(t)", p, tooltip="The density of t if the record is there"),
        "q": typed("Q(t)", q, tooltip="The density of t if it is not"),
    }
    for name in ("p", "q"):
        controls[name].layout.width = "690px"

    def fill(change) -> None:
        for name, value in zip(FIELDS, EXAMPLES[change.new], strict=True):
            controls[name].value = value

    controls["example"].observe(fill, names="value")

    def draw(example, **fields) -> Shown:
        return own_pair_picture(**fields, quick=True, figure=figure)

    def refine(example, **fields) -> Iterator[Shown]:
        yield own_pair_picture(**fields, figure=figure)

    return Explorer(draw, controls, refine=refine, delay=TYPING, longest=4 * TYPING, progress="deriving ...")
