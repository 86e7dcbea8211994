"""Routes side by side: the same question put to every route, one table and one picture.

`compare(composition, eps=[0.5, 1, 2])` asks the closed form, the 40-digit reference, the FFT bracket and the CLT, and
says where they agree. A reference outside a bracket would be a bug in the mathematics, and is reported as one; the
CLT's distance from the truth is a fact about the CLT. A route that does not apply says why, instead of failing.
"""

import csv
import html
import io
import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

from .core.composition import Composition
from .core.directions import parse_direction
from .core.display import html_table, outward_text
from .core.errors import DplabError, ParameterError, UnboundSymbolError
from .core.parameters import Parameter, approximate, count, parameter_text, privacy_parameter, require_numbers
from .core.progress import progress
from .core.results import Approximation, Bracket, Curve, Exact, Reference
from .plots.curves import draw_delta
from .plots.residuals import draw_residuals
from .plots.style import new_figure, route_style
from .plots.svg import Picture, to_svg
from .plots.words import percent, short

ROUTE_NAMES = ("symbolic", "reference", "fourier", "clt")
FORMATS = ("svg", "png", "pdf")
_HEADER = ("ε", "route", "δ(ε)", "error or width", "time")
_FIELDS = ("composition", "direction", "eps", "route", "kind", "value", "lower", "upper", "error", "seconds", "note")
_CURVE_POINTS = 81


@dataclass(frozen=True)
class Row:
    """One route's answer at one eps.

    `value` is the route's own number type, or None where the route does not apply (`note` says why); `seconds` is the
    time of that one call, imports excluded.
    """

    route: str
    eps: Parameter | float
    value: Exact | Reference | Bracket | Approximation | None
    seconds: float
    note: str = ""
    digits: int = 40

    @property
    def kind(self) -> str:
        """Exact, Reference, Bracket, Approximation, or "none"."""
        return type(self.value).__name__ if self.value is not None else "none"

    @property
    def eps_text(self) -> str:
        """eps as it was meant: "0.01", "1/3", "∞"."""
        return short(self.eps) if isinstance(self.eps, float) else parameter_text(self.eps)

    @cached_property
    def number(self) -> Any:
        """The value as a number (a closed form evaluated to `digits`); None for a bracket, which is two numbers."""
        if isinstance(self.value, Exact):
            return self.value.evaluate(self.digits)
        return None if self.value is None or isinstance(self.value, Bracket) else self.value.value

    @property
    def value_text(self) -> str:
        """The value in as many digits as it has."""
        if isinstance(self.value, Bracket):
            return "[{}, {}]".format(*outward_text(self.value.lower, self.value.upper))
        if self.value is None:
            return "—"
        if isinstance(self.value, Approximation):
            return f"≈ {short(self.value.value, 6)}"
        return _digits(self.number, self.digits)

    @property
    def error_text(self) -> str:
        """What is known about the error, in the terms of the number type."""
        match self.value:
            case Exact():
                return "closed form"
            case Reference(error=error):
                return f"± {short(error, 2)}" if error else "exact sum"
            case Bracket():
                wide = f"{percent(self.value.relative_width)} wide"
                return wide if self.value.reached else f"{wide} (wider than asked)"
            case Approximation():
                return "bounds nothing"
        return "does not apply"

    def fields(self) -> dict[str, str]:
        """The row as text in full precision, as `to_csv` writes it."""
        value = self.value
        lower, upper = (repr(value.lower), repr(value.upper)) if isinstance(value, Bracket) else ("", "")
        number = "" if self.number is None else self.value_text
        if isinstance(value, Approximation):
            number = repr(float(value.value))
        error = _digits(value.error, 6) if isinstance(value, Reference) else ""
        if isinstance(value, Bracket):
            error = repr(value.width)
        return {
            "eps": self.eps_text.replace("∞", "inf"), "route": self.route, "kind": self.kind, "value": number,
            "lower": lower, "upper": upper, "error": error, "seconds": f"{self.seconds:.6f}", "note": self.note,
        }  # fmt: skip


def compare(
    composition,
    eps: object = (0.5, 1, 2),
    direction: str = "both",
    digits: int = 40,
    routes: Sequence[str] | None = None,
) -> "Comparison":
    """Ask every route for delta(eps) and put the answers side by side.

    composition: a mechanism or a sum of multiples of mechanisms. eps: one value or several, in nats (inf asks for
    delta(inf)). digits: of the reference, 1 to 200. routes: some of "symbolic", "reference", "fourier", "clt"; all by
    default. Shows a progress bar if it takes more than two seconds.

    >>> from dplab import RandomizedResponse
    >>> print(compare(RandomizedResponse(0.75), eps=0.5, routes=["reference"], digits=20).rows[0].value_text)
    0.33781968232496796329

    Raises ParameterError (a ValueError) before any work for bad input, UnboundSymbolError if a parameter is a symbol.
    """
    c = Composition.of(composition)
    parsed = parse_direction(direction)
    wanted = _routes(routes)
    asked = _eps_list(eps)
    if not 1 <= count(digits, "digits") <= 200:
        raise ParameterError("digits", digits, "between 1 and 200")
    if c.free_symbols:
        raise UnboundSymbolError(c.free_symbols, "compare")
    rows = _ask(c, asked, parsed, digits, wanted)
    return Comparison(c, parsed, digits, tuple(rows), _curves(c, asked, parsed, wanted))


def _routes(routes: Sequence[str] | None) -> tuple[str, ...]:
    if routes is None:
        return ROUTE_NAMES
    names = [routes] if isinstance(routes, str) else list(routes)
    for name in names:
        if name not in ROUTE_NAMES:
            raise ParameterError("routes", name, f"some of {', '.join(ROUTE_NAMES)}")
    if not names:
        raise ParameterError("routes", routes, "at least one route")
    return tuple(name for name in ROUTE_NAMES if name in names)


def _eps_list(eps: object) -> list[Parameter | float]:
    several = isinstance(eps, Iterable) and not isinstance(eps, str) and not hasattr(eps, "free_symbols")
    values = list(eps) if several else [eps]  # type: ignore[call-overload]
    if not values:
        raise ParameterError("eps", eps, "at least one value")
    parsed = [privacy_parameter(v, f"eps[{i}]" if several else "eps") for i, v in enumerate(values)]
    require_numbers("compare", *parsed)
    return parsed


def _ask(c: Composition, asked: list, direction: str, digits: int, routes: tuple[str, ...]) -> list[Row]:
    modules = {name: import_module(f"{__package__}.{name}") for name in routes}
    answers: dict[tuple[int, str], Row] = {}
    cheap_first = sorted(routes, key=lambda name: name == "reference")
    with progress(total=len(asked) * len(routes), unit="value", what="compare") as bar:
        for name in cheap_first:
            for place, eps in enumerate(asked):
                answers[place, name] = _one(modules[name], name, c, eps, direction, digits)
                bar.update()
    return [answers[place, name] for place in range(len(asked)) for name in routes]


def _one(module, name: str, c: Composition, eps, direction: str, digits: int) -> Row:
    extra = {"digits": digits} if name == "reference" else {}
    start = time.perf_counter()
    try:
        value, note = module.delta(c, eps, direction=direction, **extra), ""
    except DplabError as error:  # input was checked before: what is left is "this route cannot answer that"
        value, note = None, str(error)
    return Row(name, eps, value, time.perf_counter() - start, note or getattr(value, "note", ""), digits)


def _curves(c: Composition, asked: list, direction: str, routes: tuple[str, ...]) -> dict[str, Curve]:
    grid = _grid([approximate(eps) for eps in asked])
    curves: dict[str, Curve] = {}
    for name in ("fourier", "clt"):
        if name in routes and grid:
            try:
                curves[name] = import_module(f"{__package__}.{name}").curve(c, grid, direction=direction)
            except DplabError:
                continue  # the table has said why
    return curves


def _grid(eps: list[float]) -> list[float]:
    finite = sorted(value for value in eps if math.isfinite(value))
    if not finite:
        return []
    low, high = finite[0], finite[-1]
    if low == high:
        low, high = low - max(abs(low) / 2, 0.5), high + max(abs(high) / 2, 0.5)
        low = max(low, 0.0) if finite[0] >= 0 else low
    steps = (low + (high - low) * i / (_CURVE_POINTS - 1) for i in range(_CURVE_POINTS))
    return sorted({*(float(f"{step:.6g}") for step in steps), *finite})


def _digits(number, digits: int) -> str:
    import mpmath

    with mpmath.workdps(digits + 5):  # mpf() rounds to the working precision
        return mpmath.nstr(mpmath.mpf(number), digits, min_fixed=-4, max_fixed=8)


@dataclass(frozen=True)
class Comparison:
    """The answers of several routes to one question.

    `rows` are in the order of eps, then of the routes. In a notebook it shows a table, the findings and a picture; in
    a terminal a table and the findings.
    """

    composition: Composition
    direction: str
    digits: int
    rows: tuple[Row, ...]
    curves: dict[str, Curve]

    @cached_property
    def findings(self) -> tuple[str, ...]:
        """Where the routes agree and where not, a sentence for each eps; a contradiction starts with "DISAGREEMENT".

        A route that does not apply says why, once.
        """
        by_eps: dict[Any, dict[str, Row]] = {}
        for row in self.rows:
            by_eps.setdefault(row.eps, {})[row.route] = row
        judged = [sentence for group in by_eps.values() for sentence in _judge(group)]
        missing = [f"{route_style(r.route).label}: {r.note}" for r in self.rows if r.value is None]
        return tuple(dict.fromkeys([*judged, *missing]))

    @property
    def agrees(self) -> bool:
        """True if no two routes contradict each other (the CLT claims nothing, so it cannot)."""
        return not any(sentence.startswith("DISAGREEMENT") for sentence in self.findings)

    def table(self) -> list[tuple[str, ...]]:
        """(eps, route, value, error or width, time) as text."""
        return [
            (row.eps_text, route_style(row.route).label, row.value_text, row.error_text, _time(row.seconds))
            for row in self.rows
        ]

    def to_csv(self, path: str | Path | None = None) -> str:
        """The rows as CSV text in full precision; also written to `path` if one is given."""
        buffer = io.StringIO()
        writer = csv.DictWriter(buffer, _FIELDS, lineterminator="\n")
        writer.writeheader()
        for row in self.rows:
            writer.writerow({"composition": repr(self.composition), "direction": self.direction, **row.fields()})
        if path is not None:
            Path(path).write_text(buffer.getvalue(), encoding="utf-8")
        return buffer.getvalue()

    @cached_property
    def picture(self) -> Picture:
        """delta(eps) of every route, and beside it how far each is from the truth."""
        figure, description = self._draw()
        return Picture(to_svg(figure, self._title, description), self._title, description)

    def save(self, path: str | Path) -> None:
        """Write the picture; the suffix chooses svg (with alt text), png or pdf.

        Raises ParameterError for another suffix.
        """
        kind = Path(path).suffix.lstrip(".").lower()
        if kind not in FORMATS:
            raise ParameterError("path", str(path), "a file name that ends in .svg, .png or .pdf")
        if kind == "svg":
            Path(path).write_text(self.picture.svg, encoding="utf-8")
        else:
            self._draw()[0].savefig(path, format=kind, dpi=160)

    @property
    def _title(self) -> str:
        return f"{self.composition!r}: every route on one picture"

    def _draw(self):
        figure, (left, right) = new_figure(columns=2, width=12.5, height=4.8)
        curves = dict(self.curves)
        for name in ("symbolic", "reference"):
            found = [row for row in self.rows if row.route == name and row.value is not None]
            values = tuple(row.number if name == "symbolic" else row.value for row in found)
            if values:
                curves[name] = Curve(tuple(approximate(row.eps) for row in found), values)
        return figure, f"{draw_delta(left, curves)} {draw_residuals(right, curves, floor=-max(50, self.digits + 10))}"

    def __str__(self) -> str:
        table = [_HEADER, *self.table()]
        widths = [max(len(line[column]) for line in table) for column in range(len(_HEADER))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in table]
        return "\n".join([f"{self.composition!r}, direction {self.direction}", *lines, *self.findings])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        marked = "".join(
            f"<li{' style=color:#b00020' if s.startswith('DISAGREEMENT') else ''}>{html.escape(s)}</li>"
            for s in self.findings
        )
        caption = f"{self.composition!r}, direction {self.direction}"
        return f"{html_table(_HEADER, self.table(), caption)}<ul>{marked}</ul>{self.picture.svg}"


def _time(seconds: float) -> str:
    if seconds < 0.9995:
        return f"{1000 * seconds:.2g} ms" if seconds < 0.0995 else f"{1000 * seconds:.0f} ms"
    return f"{seconds:.3g} s"


def _judge(group: dict[str, Row]) -> list[str]:
    """What the answers at one eps say about each other."""
    import mpmath

    answered = {name: row for name, row in group.items() if row.value is not None}
    reference, symbolic, bracket, clt = (answered.get(n) for n in ("reference", "symbolic", "fourier", "clt"))
    said = []
    with mpmath.workdps(max(row.digits for row in group.values()) + 20):
        if reference and symbolic:
            said.append(_closed_form(symbolic, reference))
        truth = reference or symbolic
        if bracket and truth:
            said.append(_inside(bracket, truth))
        if clt:
            said.append(_approximation(clt, truth, bracket))
    at = f"ε = {next(iter(group.values())).eps_text}"
    clashes = [f"DISAGREEMENT at {at}: {text}." for clash, text in said if clash]
    agreed = "; ".join(text for clash, text in said if not clash)
    return [*clashes, *([f"{at}: {agreed}."] if agreed else [])]


def _closed_form(symbolic: Row, reference: Row) -> tuple[bool, str]:
    """Whether the closed form and the reference are the same number, to the digits asked for: (clash, text)."""
    import mpmath

    gap, size = abs(symbolic.number - reference.number), abs(reference.number)
    allowed = 10 * (reference.value.error + size * mpmath.mpf(10) ** -reference.digits)  # type: ignore[union-attr]
    if gap > allowed:
        return True, f"the closed form and the reference differ by {short(gap)}, more than the reference's error allows"
    return False, f"the closed form and the reference agree to {reference.digits} digits"


def _inside(bracket: Row, truth: Row) -> tuple[bool, str]:
    """Whether the truth lies inside the bracket: surely, surely not, or too close to an end to tell: (clash, text)."""
    import mpmath

    value, number = bracket.value, mpmath.mpf(truth.number)
    error = getattr(truth.value, "error", 0)
    low, high = mpmath.mpf(value.lower), mpmath.mpf(value.upper)  # type: ignore[union-attr]
    name = route_style(truth.route).label
    if low <= number - error and number + error <= high:
        return False, f"the {name} lies inside the FFT bracket, which is {bracket.error_text}"
    if number + error < low or number - error > high:
        where = f"{short(number, 12)} lies outside the FFT bracket {bracket.value_text}"
        return True, f"the {name} {where}: one of the two has a bug, please report it with this line"
    return False, f"the {name} is too close to an end of the FFT bracket to tell whether it lies inside"


def _approximation(clt: Row, truth: Row | None, bracket: Row | None) -> tuple[bool, str]:
    """How far the CLT is off, as far as that can be known; it never clashes, because it claims nothing."""
    import mpmath

    value = mpmath.mpf(clt.number)
    known = mpmath.mpf(truth.number) if truth else 0
    if known and value:
        ratio = value / known
        off = percent(float(abs(ratio - 1))) if 0.1 < ratio < 10 else f"a factor {short(max(ratio, 1 / ratio))}"
        return False, f"the CLT is {off} {'too low' if ratio < 1 else 'too high'} and bounds nothing"
    where = ""
    if bracket:
        low, high = bracket.value.lower, bracket.value.upper  # type: ignore[union-attr]
        side = "inside" if low <= value <= high else "below" if value < low else "above"
        where = f", {side} the FFT bracket,"
    return False, f"the CLT gives {short(value)}{where} and bounds nothing"
