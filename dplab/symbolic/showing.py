"""The gallery: one table of omega, M(z), delta(eps), f(alpha) and delta(inf), generated from the derivations."""

import html
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ..core.composition import Composition
from ..core.directions import single_directions
from ..core.pair import Pair
from ..mechanisms import Gaussian, Laplace, RandomizedResponse
from .derivation import Derivation, Line, Step
from .deriving import derive

COLUMNS = {
    "omega(s)": "Privacy loss distribution",
    "M(z)": "Moment generating function",
    "delta(eps)": "Tight delta",
    "f(alpha)": "Trade-off function",
}


def specimens() -> list[Pair]:
    """Every mechanism once, with symbols where its parameters may be symbols."""
    return [RandomizedResponse("p"), Gaussian("sigma"), Laplace("b")]


@dataclass(frozen=True)
class Gallery:
    """A table with one row for each derivation; `rows` maps subjects to steps by column."""

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

    def rows(self) -> list[tuple[str, list[Step]]]:
        """Subject and the steps of each column."""
        return [(d.subject, [d[title] for title in COLUMNS.values()]) for d in self.derivations]

    def __str__(self) -> str:
        blocks = []
        for subject, steps in self.rows():
            lines = [f"    {line}" for step in steps for line in _main_lines(step)]
            letters = dict.fromkeys(str(pair) for step in steps for pair in _where(step))
            blocks.append("\n".join([subject, *lines, *(f"    where {letter}" for letter in letters)]))
        return "\n\n".join(blocks)

    def _repr_html_(self) -> str:
        head = "".join(f"<th scope='col' style='text-align:left'>{name}</th>" for name in ("mechanism", *COLUMNS))
        rows = []
        for subject, steps in self.rows():
            cells = [f"<th scope='row' style='text-align:left'>{html.escape(subject)}</th>"]
            cells += [f"<td style='text-align:left'>{_cell(step)}</td>" for step in steps]
            rows.append(f"<tr>{''.join(cells)}</tr>")
        return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"

    def _repr_markdown_(self) -> str:
        return self._repr_html_()


def _main_lines(step: Step) -> list[Line]:
    """The first line and those that continue it (atoms, the mass at infinity); not what is only by the way."""
    if step.title == COLUMNS["omega(s)"]:
        return list(step.lines)
    return list(step.lines[:1])


def _where(step: Step) -> list[str]:
    return [str(Line(letter.name, meaning)) for letter, meaning in step.used_letters]


def _cell(step: Step) -> str:
    rows = r" \\ ".join(html.escape(line.latex) for line in _main_lines(step))
    return rf"$\begin{{aligned}} {rows} \end{{aligned}}$"


def gallery(mechanisms: Iterable[Composition | Pair] | None = None, direction: str = "forward") -> Gallery:
    """omega, M(z), delta(eps), f(alpha) and delta(inf) of all mechanisms (or of those given), from their derivations.

    `direction` "both" shows each direction where the two differ.

    >>> print(gallery([Laplace("b")]))
    Laplace(b=b), forward (P over Q)
        omega(s) = exp(s/2 - e0/2)/4   for -e0 < s < e0
        mass at e0 = 1/2
        mass at -e0 = exp(-e0)/2
        delta(inf) = 0
        M(z) = (z*exp(-e0*(1 + z)) + (1 + z)*exp(e0*z))/(1 + 2*z)
        delta(eps) = Piecewise((1 - exp(eps), eps < -e0), (1 - exp(eps/2 - e0/2), eps < e0), (0, True))
        f(alpha) = Piecewise((1 - alpha*exp(e0), alpha < exp(-e0)/2), (exp(-e0)/(4*alpha), alpha < 1/2), ((1 - alpha)*exp(-e0), True))
        where e0 = 1/b
    """  # noqa: E501
    chosen = specimens() if mechanisms is None else list(mechanisms)
    return Gallery(
        tuple(
            derive(mechanism, side)
            for mechanism in chosen
            for side in single_directions(direction, Composition.of(mechanism).symmetric)
        )
    )
