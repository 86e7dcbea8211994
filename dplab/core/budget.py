"""The error budget of a bracket: what its width is made of, part by part."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from .display import html_table, number


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
        total = self.total or math.inf
        return [(p.name, number(p.size, 3), f"{100 * p.size / total:.1f} %", p.reason) for p in self.parts]

    def __str__(self) -> str:
        lines = [f"{name:<16}{size:>12}{share:>9}  {reason}" for name, size, share, reason in self.rows()]
        settings = ", ".join(f"{key} = {_setting(value)}" for key, value in self.settings.items())
        return "\n".join([*lines, f"{'sum':<16}{number(self.total, 3):>12}", *([settings] if settings else [])])

    def _repr_html_(self) -> str:
        settings = ", ".join(f"{key} = {_setting(value)}" for key, value in self.settings.items())
        return html_table(("part", "size", "share", "why it is a bound"), self.rows(), caption=settings)


def _setting(value: object) -> str:
    return number(value, 6) if isinstance(value, float) else str(value)
