"""From a figure to an SVG that a screen reader can read: role="img", a title, a description.

Text stays text (`svg.fonttype` none), so labels can be selected and searched, and files stay small.
"""

import hashlib
import html
import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .style import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_HEAD = re.compile(r"<svg[^>]*>", re.DOTALL)
_METADATA = re.compile(r"\s*<metadata>.*?</metadata>", re.DOTALL)


def to_svg(figure: "Figure", title: str, description: str) -> str:
    """The figure as one `<svg>` element with alt text, ready for a page, `widgets.HTML` or a file.

    Identifiers inside depend on title and description, so that two pictures on one page do not share any.
    """
    import matplotlib

    key = hashlib.sha256(f"{title}\n{description}".encode()).hexdigest()[:10]
    buffer = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": key}):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    text = _METADATA.sub("", text[text.index("<svg") :], count=1)
    width, height = (72 * inches for inches in figure.get_size_inches())
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" role="img" '
        f'aria-labelledby="t{key} d{key}" viewBox="0 0 {width:g} {height:g}" width="{width:g}pt" height="{height:g}pt" '
        f'style="display:block;max-width:100%;height:auto;background:white">'
        f'<title id="t{key}">{html.escape(title)}</title><desc id="d{key}">{html.escape(description)}</desc>'
    )
    return _HEAD.sub(lambda match: head, text, count=1).strip()


@dataclass(frozen=True)
class Picture:
    """A finished picture: its SVG, its title, and the sentence that describes it.

    In a notebook it shows itself; in a terminal it reads itself out.
    """

    svg: str
    title: str
    description: str

    def __str__(self) -> str:
        return f"{self.title}: {self.description}"

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        return {"text/html": self.svg, "text/plain": str(self)}


def picture(
    draw: "Callable[..., str]", *args, title: str, width: float = 8.6, height: float = 4.6, **keywords
) -> Picture:
    """A plot function applied to fresh axes: `picture(draw_delta, curves, title="...")`.

    `draw` is called as draw(axes, *args, **keywords) and returns the description. Width and height in inches.
    """
    figure, axes = new_figure(width=width, height=height)
    description = draw(axes[0], *args, **keywords)
    return Picture(to_svg(figure, title, description), title, description)
