"""README's picture: `python -m dplab.plots.overview notebooks/img/overview.svg` draws it anew (a few seconds).

A training run of 10,000 steps by three routes; beside it, how far each is from the truth.
"""

import sys
from pathlib import Path

from .. import clt, fourier, reference
from ..core.composition import Composition
from ..core.results import Curve
from ..mechanisms import Gaussian, PoissonSubsampled
from .curves import draw_delta
from .residuals import draw_residuals
from .style import new_figure
from .svg import to_svg

TITLE = "Three accountants, one truth: 10,000 steps of the subsampled Gaussian, σ = 4, q = 0.01"
DEFAULT = Path("notebooks/img/overview.svg")


def overview(composition: Composition, highest: float = 2.0, digits: int = 40) -> str:
    """The SVG: delta(eps) by every numeric route for eps from 0 to `highest`, and the residuals down to 1e-50."""
    points = [float(f"{highest * i / 40:.6g}") for i in range(41)]
    few = points[::5]
    curves = {
        "fourier": fourier.curve(composition, points),
        "clt": clt.curve(composition, points),
        "reference": Curve(tuple(few), tuple(reference.delta(composition, eps, digits=digits) for eps in few)),
    }
    figure, (left, right) = new_figure(columns=2, width=12.5, height=4.8)
    description = f"{draw_delta(left, curves)} {draw_residuals(right, curves)}"
    return to_svg(figure, TITLE, description)


def main(arguments: list[str]) -> None:
    """Write the picture to the path given, or to notebooks/img/overview.svg."""
    path = Path(arguments[0]) if arguments else DEFAULT
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(overview(10_000 * PoissonSubsampled(Gaussian(sigma=4), q="0.01")), encoding="utf-8")
    print(f"wrote {path}")


if __name__ == "__main__":
    main(sys.argv[1:])
