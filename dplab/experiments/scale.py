"""`python -m dplab.experiments.scale` (`make scale`): how dplab's time grows with the size of a question.

CPU seconds of `dplab.fourier` against the number of steps k, the transform's size n, the number of distinct
mechanisms, and the number of eps points; each the median of `--repeat` calls after one that warms up. Written to
`--out` as JSON, Markdown and SVG, with the exponent over the last two decades of each line.
"""

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tqdm import tqdm

from .. import clt, fourier
from ..core.composition import Composition
from ..core.pair import Pair
from ..mechanisms import Gaussian, Laplace, RandomizedResponse
from . import machine
from .questions import sampled, training_runs


@dataclass(frozen=True)
class Point:
    """One question: its size, and the call that is timed."""

    size: int
    ask: Callable[[], Any]


@dataclass(frozen=True)
class Line:
    """Questions of growing size; `expected` is the exponent that they should not exceed."""

    panel: str
    label: str
    expected: float
    points: tuple[Point, ...]


@dataclass
class Grown:
    """What was measured of a line: size, CPU seconds, transform sizes, and whether the accuracy was reached."""

    panel: str
    label: str
    expected: float
    sizes: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    transforms: list[int | None] = field(default_factory=list)
    reached: list[bool] = field(default_factory=list)

    @property
    def pairs(self) -> list[tuple[float, float]]:
        """(size, seconds), for the picture."""
        return [(float(size), second) for size, second in zip(self.sizes, self.seconds, strict=True)]

    @property
    def exponent(self) -> float:
        """Over the last two decades."""
        from ..plots.scaling import exponent

        return exponent(self.pairs)


PANELS = {
    "steps": "steps k, total privacy held",
    "fixed": "steps k, each the same",
    "n": "transform size n",
    "mechanisms": "distinct mechanisms",
    "points": "eps points",
}


def lines(largest: int = 10**7) -> list[Line]:
    """Every line, up to a largest size (for a quick look, smaller).

    The steps' questions are delta where it is about 1e-6, to relative width 1e-3. Second-order grids err by about
    k dx^2 times the tilt. With the total privacy held (the noise grows with sqrt(k)) the window and the tilt stay,
    dx shrinks and n grows with sqrt(k). With each step the same the window grows with sqrt(k), the tilt falls with it,
    dx shrinks with k^(1/4), so n grows with k^(3/4) once the tilt is well below 1.
    """
    powers = [10**j for j in range(8) if 10**j <= largest]
    counts = [m for m in (1, 3, 10, 30, 100, 300, 1000) if m <= largest]
    sizes = [2**j for j in range(10, 23, 2) if 2**j <= max(largest, 2**12)]
    return [
        Line("steps", "Gaussian, σ=√k", 0.5, tuple(_steps(lambda k: Gaussian(f"sqrt({k})"), powers))),
        Line("steps", "σ=4, q=1/√k", 0.5, tuple(_steps(lambda k: sampled(4, f"1/sqrt({k})"), powers))),
        Line("steps", "σ=1, q=1/√(10k)", 0.5, tuple(_steps(lambda k: sampled(1, f"1/sqrt({10 * k})"), powers))),
        Line("steps", "Laplace, b=√k", 0.5, tuple(_steps(lambda k: Laplace(f"sqrt({k})"), powers))),
        Line(
            "steps", "rand. response", 0.5, tuple(_steps(lambda k: RandomizedResponse.from_eps(f"1/sqrt({k})"), powers))
        ),
        Line("fixed", "Gaussian, σ=50", 0.75, tuple(_steps(lambda k: Gaussian(50), powers))),
        Line("fixed", "σ=4, q=0.01", 0.75, tuple(_steps(lambda k: sampled(4, "0.01"), powers))),
        Line("fixed", "σ=1, q=0.01", 0.75, tuple(_steps(lambda k: sampled(1, "0.01"), powers))),
        Line("fixed", "Laplace, b=10", 0.75, tuple(_steps(lambda k: Laplace(10), powers))),
        Line("n", "n and dx by hand", 1.1, tuple(_by_hand(sizes))),
        Line("mechanisms", "10⁴ steps in all", 1.0, tuple(_mechanisms(counts, 10_000))),
        Line("points", "subsampled Gaussian", 1.0, tuple(_curve(10_000 * sampled(4, "0.01"), 3.0, counts))),
        Line("points", "Gaussian, down to 1e-214", 1.0, tuple(_curve(5000 * Gaussian(50), 45.0, counts))),
    ]


def _steps(pair: Callable[[int], Pair], powers: list[int]) -> Iterator[Point]:
    for k in powers:
        composition = k * pair(k)
        eps = max(float(clt.epsilon(composition, "1e-6")), 0.01)
        yield Point(k, lambda c=composition, e=eps: fourier.delta(c, e))  # type: ignore[misc]


def _by_hand(sizes: list[int]) -> Iterator[Point]:
    composition = 10_000 * sampled(4, "0.01")
    for n in sizes:
        yield Point(n, lambda n=n: fourier.delta(composition, 1, n=n, dx=20 / n))  # type: ignore[misc]


def _mechanisms(counts: list[int], steps: int) -> Iterator[Point]:
    for m in counts:
        composition = training_runs(m, steps // m)
        yield Point(m, lambda c=composition: fourier.delta(c, 5))  # type: ignore[misc]


def _curve(composition: Composition, highest: float, counts: list[int]) -> Iterator[Point]:
    for m in counts:
        epss = [highest * (i + 1) / m for i in range(m)]
        yield Point(m, lambda e=epss: fourier.curve(composition, e))  # type: ignore[misc]


def measure(line: Line, repeat: int, patience: float, tick: Callable[[], object]) -> Grown:
    """CPU seconds of each point; one that takes longer than `patience` is not repeated, and ends the line if it takes
    ten times that."""
    grown = Grown(line.panel, line.label, line.expected)
    line.points[0].ask()
    for number, point in enumerate(line.points):
        times = []
        for _ in range(repeat):
            start = time.process_time()
            answer = point.ask()
            times.append(time.process_time() - start)
            if times[-1] > patience:
                break
        brackets = list(answer) if hasattr(answer, "__iter__") else [answer]
        grown.sizes.append(point.size)
        grown.seconds.append(statistics.median(times))
        transform = brackets[0].budget.settings.get("n")
        grown.transforms.append(None if transform is None else int(transform))
        grown.reached.append(all(bracket.reached for bracket in brackets))
        tick()
        if times[-1] > 10 * patience:
            for _ in line.points[number + 1 :]:
                tick()
            break
    return grown


def svg(found: list[Grown]) -> str:
    """A picture with a panel for each kind of size."""
    from ..plots.scaling import draw_scaling
    from ..plots.style import new_figure
    from ..plots.svg import to_svg

    panels = [panel for panel in PANELS if any(len(one.sizes) > 1 for one in found if one.panel == panel)]
    figure, axes = new_figure(columns=len(panels), width=5.6 * len(panels), height=4.8)
    sentences = []
    for ax, panel in zip(axes, panels, strict=True):
        drawn = [one for one in found if one.panel == panel and len(one.sizes) > 1]
        guide = drawn[0].expected if panel in ("steps", "fixed") else 1.0
        sentences.append(draw_scaling(ax, {one.label: one.pairs for one in drawn}, x=PANELS[panel], guide=guide))
    return to_svg(figure, "How time grows with the size of the question", " ".join(sentences))


def table(found: list[Grown]) -> str:
    """Markdown: the exponents, then every point."""
    rows = ["| against | what | exponent | at most |", "| --- | --- | --- | --- |"]
    for one in found:
        shown = f"{one.exponent:.2f}" if len(one.sizes) > 1 else "?"
        rows.append(f"| {PANELS[one.panel]} | {one.label} | {shown} | {one.expected:g} |")
    for one in found:
        rows += ["", f"**{one.label}**, against {PANELS[one.panel]}", ""]
        rows += ["| size | CPU seconds | n | accuracy reached |", "| --- | --- | --- | --- |"]
        for size, seconds, n, reached in zip(one.sizes, one.seconds, one.transforms, one.reached, strict=True):
            rows.append(
                f"| {size:,} | {seconds:.4f} | {'' if n is None else f'{n:,}'} | {'yes' if reached else 'no'} |"
            )
    return "\n".join(rows) + "\n"


def main(argv: list[str] | None = None) -> int:
    """Measure every line and write the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=3, metavar="N", help="calls for each point (3)")
    parser.add_argument("--only", choices=list(PANELS), help="one kind of size only")
    parser.add_argument("--largest", type=int, default=10**7, metavar="X", help="no sizes beyond this one (1e7)")
    parser.add_argument("--patience", type=float, default=10, metavar="S", help="slower points are not repeated (10)")
    parser.add_argument("--out", type=Path, default=Path("build/scale"), metavar="DIR", help="where the results go")
    arguments = parser.parse_args(argv)
    chosen = [line for line in lines(arguments.largest) if arguments.only in (None, line.panel)]
    found = []
    with tqdm(total=sum(len(line.points) for line in chosen), disable=None, unit="point") as bar:
        for line in chosen:
            bar.set_postfix_str(f"{line.panel}: {line.label}")
            grown = measure(line, arguments.repeat, arguments.patience, bar.update)
            found.append(grown)
            shown = f"{grown.exponent:.2f}" if len(grown.sizes) > 1 else "?"
            times = " ".join(f"{seconds:.3f}" for seconds in grown.seconds)
            tqdm.write(
                f"{PANELS[grown.panel]:<28} {grown.label:<25} exponent {shown}, at most {grown.expected:g}; {times}"
            )
    arguments.out.mkdir(parents=True, exist_ok=True)
    data = {"machine": machine.description(), "lines": [vars(one) for one in found]}
    (arguments.out / "scale.json").write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    (arguments.out / "scale.md").write_text("# Scale\n\nMade by `make scale`.\n\n" + table(found), encoding="utf-8")
    (arguments.out / "scale.svg").write_text(svg(found), encoding="utf-8")
    print(f"written to {arguments.out}: scale.json, scale.md, scale.svg")
    return 0


if __name__ == "__main__":
    sys.exit(main())
