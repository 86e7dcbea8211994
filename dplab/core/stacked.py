"""The error budget as one stacked bar in plain SVG: a bracket's width explains itself without a plotting library.

Each part keeps its colour and hatching wherever it is drawn (`dplab.plots.draw_budget` uses the same ones), so that
grey prints and colour-blind eyes can tell the parts apart. A log scale would be the wrong picture: parts of a sum are
compared as shares.
"""

import hashlib
import html
import math
from collections.abc import Sequence

PART_LOOKS: dict[str, tuple[str, str]] = {
    "grid": ("#0072B2", ""),
    "tail": ("#E69F00", "//"),
    "truncation": ("#F0E442", "||"),
    "periodisation": ("#009E73", "\\\\"),
    "rounding": ("#56B4E9", ".."),
    "mass at infinity": ("#CC79A7", "--"),
    "evaluation": ("#D55E00", "xx"),
    "direction": ("#6b6b6b", "++"),
}
"""Colour and hatching (in matplotlib's letters) of the parts that dplab's budgets have."""

_OTHER_LOOKS = (("#6b6b6b", "++"), ("#0072B2", "oo"), ("#E69F00", "**"), ("#009E73", "||"))
_WIDTH, _HEIGHT, _BAR = 640, 30, 26
_STROKES = {
    "//": "M0 8L8 0", "\\\\": "M0 0L8 8", "||": "M4 0V8", "--": "M0 4H8", "xx": "M0 8L8 0M0 0L8 8",
    "++": "M4 0V8M0 4H8",
    "..": "M3.5 3.5h1v1h-1z", "oo": "M2 4a2 2 0 1 0 4 0a2 2 0 1 0 -4 0", "**": "M4 1V7M1 4H7",
}  # fmt: skip


def part_looks(names: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Colour and hatching for each part name; unknown names get looks of their own.

    >>> part_looks(["grid", "dust"])["grid"]
    ('#0072B2', '')
    """
    unknown = [name for name in names if name not in PART_LOOKS]
    others = {name: _OTHER_LOOKS[place % len(_OTHER_LOOKS)] for place, name in enumerate(unknown)}
    return {name: PART_LOOKS.get(name) or others[name] for name in names}


def stacked_bar(sizes: Sequence[tuple[str, float]], description: str) -> str:
    """One bar of the positive sizes, as shares of their sum: an `<svg>` with alt text; "" where there is nothing."""
    positive = [(name, size) for name, size in sizes if size > 0]
    total = math.fsum(size for _, size in positive)
    if not 0 < total < math.inf:
        return ""
    key = hashlib.sha256(f"{sizes}{description}".encode()).hexdigest()[:10]
    looks = part_looks([name for name, _ in sizes])
    drawn, patterns, start = [], [], 0.0
    for place, (name, size) in enumerate(positive):
        width = _WIDTH * size / total
        colour, hatch = looks[name]
        fill = colour
        if hatch:
            fill = f"url(#h{key}{place})"
            patterns.append(_pattern(f"h{key}{place}", colour, hatch))
        drawn.append(f'<rect x="{start:.2f}" y="2" width="{width:.2f}" height="{_BAR}" fill="{fill}" stroke="white"/>')
        start += width
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="t{key} d{key}" '
        f'viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}" '
        f'style="display:block;max-width:100%;background:white">'
        f'<title id="t{key}">Error budget</title><desc id="d{key}">{html.escape(description)}</desc>'
        f"<defs>{''.join(patterns)}</defs>{''.join(drawn)}</svg>"
    )


def swatch(look: tuple[str, str], key: str) -> str:
    """A small square in a part's colour and hatching, for a table that serves as the legend."""
    colour, hatch = look
    pattern, fill = ("", colour) if not hatch else (_pattern(f"s{key}", colour, hatch), f"url(#s{key})")
    return (
        '<svg aria-hidden="true" width="14" height="14" style="vertical-align:-2px;margin-right:6px">'
        f'<defs>{pattern}</defs><rect width="14" height="14" fill="{fill}"/></svg>'
    )


def _pattern(key: str, colour: str, hatch: str) -> str:
    return (
        f'<pattern id="{key}" width="8" height="8" patternUnits="userSpaceOnUse"><rect width="8" height="8" '
        f'fill="{colour}"/><path d="{_STROKES[hatch]}" stroke="white" stroke-width="1.1" fill="none"/></pattern>'
    )
