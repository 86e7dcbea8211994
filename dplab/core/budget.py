"""The error budget of a bracket: what its width is made of, part by part."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from .display import number


@dataclass(frozen=True)
class Part:
    """One source of width: a name, its size in the bracket's own unit, and why it is a bound (the theorem)."""

    name: str
    size: float
    reason: str


@dataclass(frozen=True)
class ErrorBudget:
    """The parts of upper - lower before both ends are clipped to the trivial bounds.

    The sizes add up to the width. `settings` records what was chosen: dx, n, tilt, window.
    """

    parts: tuple[Part, ...]
    settings: Mapping[str, object]

    @property
    def total(self) -> float:
        """Sum of all parts."""
        return math.fsum(part.size for part in self.parts)

    def __iter__(self) -> Iterator[Part]:
        return iter(self.parts)

    def __getitem__(self, name: str) -> float:
        for part in self.parts:
            if part.name == name:
                return part.size
        raise KeyError(name)

    def __hash__(self) -> int:
        return hash(self.parts)

    def scaled(self, factor: float) -> "ErrorBudget":
        """The same budget in another unit (eps instead of delta: the factor is 1/|slope|)."""
        return ErrorBudget(tuple(Part(p.name, p.size * factor, p.reason) for p in self.parts), self.settings)

    def with_part(self, part: Part) -> "ErrorBudget":
        """The budget with one more part."""
        return ErrorBudget((*self.parts, part), self.settings)

    def rows(self) -> list[tuple[str, str, str, str]]:
        """(name, size, share, reason) as text, for tables."""
        total = self.total or 1.0
        shares = [_share(p.size / total) if math.isfinite(total) else "" for p in self.parts]
        return [(p.name, number(p.size, 3), share, p.reason) for p, share in zip(self.parts, shares, strict=True)]

    def __str__(self) -> str:
        lines = [f"{name:<16}{size:>12}{share:>9}  {reason}" for name, size, share, reason in self.rows()]
        settings = ", ".join(f"{key} = {_setting(value)}" for key, value in self.settings.items())
        return "\n".join([*lines, f"{'sum':<16}{number(self.total, 3):>12}", *([settings] if settings else [])])

    @property
    def description(self) -> str:
        """The stacked picture in words."""
        positive = [part for part in self.parts if part.size > 0]
        whole = math.fsum(part.size for part in positive)
        if not 0 < whole < math.inf:
            return f"Error budget: width {number(self.total, 3)}."
        shares = [f"{part.name} {_percent(part.size / whole)}" for part in positive if part.size > 1e-4 * whole]
        return f"Error budget: width {number(self.total, 3)}, of which {', '.join(shares)}."

    def _repr_html_(self) -> str:
        """A stacked bar of the shares, and the table that is its legend."""
        import hashlib
        import html

        from .stacked import part_looks, stacked_bar, swatch

        looks = part_looks([part.name for part in self.parts])
        key = hashlib.sha256(f"{self.parts}".encode()).hexdigest()[:8]
        left = "style='text-align:left'"
        rows = ""
        for place, (name, size, share, reason) in enumerate(self.rows()):
            cells = [swatch(looks[name], f"{key}{place}") + html.escape(name), *map(html.escape, (size, share, reason))]
            rows += "<tr>" + "".join(f"<td {left}>{cell}</td>" for cell in cells) + "</tr>"
        rows += f"<tr><td {left}>upper − lower</td><td {left}>{number(self.total, 3)}</td><td></td><td></td></tr>"
        names = ("part", "size", "share", "why it is a bound")
        head = "".join(f"<th scope='col' {left}>{name}</th>" for name in names)
        settings = html.escape(", ".join(f"{key} = {_setting(value)}" for key, value in self.settings.items()))
        below = f"<caption style='caption-side:bottom;text-align:left'>{settings}</caption>" if settings else ""
        bar = stacked_bar([(part.name, part.size) for part in self.parts], self.description)
        return f"{bar}<table>{below}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _share(ratio: float) -> str:
    """A percentage that does not call a small part nothing."""
    value = 100 * ratio
    if value == 0:
        return "0 %"
    return f"{value:.1f} %" if abs(value) >= 0.05 else f"{value:.1g} %".replace("e-0", "e-")


def _percent(ratio: float) -> str:
    value = 100 * ratio
    return f"{value:.0f} %" if value >= 10 else f"{value:.2g} %"


def _setting(value: object) -> str:
    return number(value, 6) if isinstance(value, float) else str(value)
