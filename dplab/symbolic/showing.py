"""The gallery: omega, M(z), delta(eps), f(alpha) and delta(inf) of each mechanism, generated from the derivations."""

import html
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ..core.composition import Composition
from ..core.directions import single_directions
from ..core.pair import Pair
from ..core.progress import progress
from ..mechanisms import (
    ApproximateDP,
    Binomial,
    DiscreteGaussian,
    DiscreteLaplace,
    ExponentialCounting,
    Gaussian,
    KaryRandomizedResponse,
    Laplace,
    PoissonSubsampled,
    RandomizedResponse,
)
from .derivation import Derivation, Line, Step
from .deriving import derive
from .letters import latex_of
from .stories.setting import EPS, C, S, X

COLUMNS = {
    "omega(s)": "Privacy loss distribution",
    "M(z)": "Moment generating function",
    "delta(eps)": "Tight delta",
    "f(alpha)": "Trade-off function",
    "delta(inf)": "Privacy loss distribution",
}


VARIABLES = {EPS, C, S, X}


def specimens() -> list[Pair]:
    """Every mechanism once, with symbols where its parameters may be symbols."""
    return [
        RandomizedResponse("p"),
        KaryRandomizedResponse("eps0", 5),
        ApproximateDP("eps0", "delta0"),
        ExponentialCounting("eps0", 4, 10),
        Gaussian("sigma"),
        Laplace("b"),
        Binomial(20, "p"),
        DiscreteLaplace("b", 2),
        DiscreteGaussian("sigma"),
        PoissonSubsampled(RandomizedResponse("p"), "q"),
        PoissonSubsampled(Gaussian("sigma"), "q"),
        PoissonSubsampled(Laplace("b"), "q"),
    ]


@dataclass(frozen=True)
class Gallery:
    """A block for each derivation; `rows` maps subjects to steps by formula."""

    derivations: tuple[Derivation, ...]

    def __iter__(self) -> Iterator[Derivation]:
        return iter(self.derivations)

    def __len__(self) -> int:
        return len(self.derivations)

    def __getitem__(self, subject: str) -> Derivation:
        for derivation in self.derivations:
            if derivation.subject.startswith(subject):
                return derivation
        raise KeyError(f"no row {subject!r}; there are: {', '.join(d.subject for d in self.derivations)}")

    def rows(self) -> list[tuple[str, dict[str, Step]]]:
        """Subject and the step of each formula."""
        return [(d.subject, {column: d[title] for column, title in COLUMNS.items()}) for d in self.derivations]

    def __str__(self) -> str:
        blocks = []
        for subject, steps in self.rows():
            lines = [f"    {line}" for column, step in steps.items() for line in _main_lines(column, step)]
            letters = dict.fromkeys(str(line) for step in steps.values() for line in _where(step))
            blocks.append("\n".join([subject, *lines, *(f"    where {letter}" for letter in letters)]))
        return "\n\n".join(blocks)

    def _repr_html_(self) -> str:
        return "".join(_block(subject, steps) for subject, steps in self.rows())

    def _repr_markdown_(self) -> str:
        return self._repr_html_()


def _main_lines(column: str, step: Step) -> list[Line]:
    """Of the law all but the mass at infinity, which has a column; of a curve both coordinates; else the first line."""
    infinite = [line for line in step.lines if line.left == "delta(inf)"]
    if column == "delta(inf)":
        return infinite
    if column == "omega(s)":
        return [line for line in step.lines if line not in infinite]
    return list(step.lines[: 2 if step.lines[0].left == "alpha(c)" else 1])


def _where(step: Step) -> list[Line]:
    """The abbreviations; one that depends on a variable is written as its function, since u(s) is not u(eps)."""
    lines = []
    for letter, meaning in step.used_letters:
        of = sorted(symbol.name for symbol in meaning.free_symbols & VARIABLES)
        lines.append(Line(f"{letter.name}({of[0]})" if of else letter.name, meaning))
    return lines


def _block(subject: str, steps: dict[str, Step]) -> str:
    """One mechanism: a line for each formula, its abbreviations below; wide formulas scroll by themselves."""
    letters = dict.fromkeys(line.latex for step in steps.values() for line in _where(step))
    rows = [(f"${latex_of(column)}$", _cell(column, step)) for column, step in steps.items()]
    if letters:
        rows.append(("where", _aligned(letters)))
    left = "style='text-align:left;vertical-align:top;padding:3px 14px 3px 4px"
    body = "".join(
        f"<tr><th scope='row' {left};font-weight:normal;white-space:nowrap'>{name}</th><td {left}'>{cell}</td></tr>"
        for name, cell in rows
    )
    bold = "style='text-align:left;font-weight:bold;padding:4px;white-space:nowrap'"
    title = f"<caption {bold}>{html.escape(subject)}</caption>"
    table = f"<table style='margin:0 0 1.2em 0'>{title}<tbody>{body}</tbody></table>"
    return f"<div style='overflow-x:auto;overflow-y:hidden;max-width:100%'>{table}</div>"


def _cell(column: str, step: Step) -> str:
    """The formulas of a cell; a left side that repeats the name of its row is left out."""
    lines = _main_lines(column, step)
    return _aligned(line.latex if line.left != column else "&" + line.latex.split("=", 1)[1] for line in lines)


def _aligned(rows: Iterable[str]) -> str:
    return r"$\begin{aligned} " + r" \\[0.3em] ".join(map(html.escape, rows)) + r" \end{aligned}$"


def gallery(mechanisms: Iterable[Composition | Pair] | None = None, direction: str = "forward") -> Gallery:
    """omega, M(z), delta(eps), f(alpha) and delta(inf) of all mechanisms (or of those given), from their derivations.

    `direction` "both" shows each direction where the two differ.

    >>> print(gallery([Laplace("b")]))
    Laplace(b=b), forward (P over Q)
        omega(s) = exp(s/2 - e0/2)/4   for -e0 < s < e0
        mass at e0 = 1/2
        mass at -e0 = exp(-e0)/2
        M(z) = (z*exp(-e0*(1 + z)) + (1 + z)*exp(e0*z))/(1 + 2*z)
        delta(eps) = Piecewise((1 - exp(eps), eps < -e0), (1 - exp(eps/2 - e0/2), eps < e0), (0, True))
        f(alpha) = Piecewise((1 - alpha*exp(e0), alpha < exp(-e0)/2), (exp(-e0)/(4*alpha), alpha < 1/2), ((1 - alpha)*exp(-e0), True))
        delta(inf) = 0
        where e0 = 1/b
    """  # noqa: E501
    chosen = specimens() if mechanisms is None else list(mechanisms)
    asked = [
        (mechanism, side)
        for mechanism in chosen
        for side in single_directions(direction, Composition.of(mechanism).symmetric)
    ]
    with progress(asked, unit="derivation", what="gallery") as bar:
        return Gallery(tuple(derive(mechanism, side) for mechanism, side in bar))
