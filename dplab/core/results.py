"""The four kinds of number, four types, never mixed.

`Exact` is a closed form, `Reference` a high-precision value with an agreement-based error estimate, `Bracket` a
strict lower and upper bound with the budget of its width, `Approximation` a value that bounds nothing.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from .budget import ErrorBudget
from .display import html_table, latex_formula, latex_number, number, outward_text, text_formula

Quantity = Literal["delta", "log delta", "eps", "M"]

_LATEX = {"delta": r"\delta", "log delta": r"\log\delta", "eps": r"\varepsilon", "M": "M(z)"}


@dataclass(frozen=True)
class Exact:
    """A closed form: `expression` is a sympy expression, `reason` the rule or theorem that gave it.

    `written` is the same in the letters of `definitions`, pairs (letter, what it stands for), as a person would put
    it on paper: q (Phi(...) - e^g Phi(...)) where g = log(...). It is what a notebook shows.
    """

    expression: Any
    quantity: Quantity = "delta"
    reason: str = ""
    written: Any = None
    definitions: tuple[tuple[Any, Any], ...] = ()

    @property
    def free_symbols(self) -> frozenset[str]:
        """Names of the symbols that `evaluate` needs."""
        return frozenset(symbol.name for symbol in self.expression.free_symbols)

    def evaluate(self, digits: int = 15, **values):
        """The value as an mpf with `digits` correct significant digits (nats for eps).

        Symbols get their values by name, each read exactly: `evaluate(40, sigma="1/3", eps=0.1)`. The working
        precision is raised until interval arithmetic confirms the digits, so cancellation costs time, not digits.

        Raises UnboundSymbolError if a symbol has no value, ParameterError for a value that is no number or has the
        wrong sign, PrecisionError if the digits are out of reach.
        """
        from .evaluation import evaluate_expression
        from .parameters import count, exact

        exact_values = {name: exact(value, name) for name, value in values.items()}
        return evaluate_expression(self.expression, max(1, count(digits, "digits")), exact_values)

    def __str__(self) -> str:
        shown = self.expression if self.written is None else self.written
        where = "".join(f", where {letter} = {text_formula(meaning)}" for letter, meaning in self.definitions)
        return f"{self.quantity} = {text_formula(shown)}{where}"

    def _repr_latex_(self) -> str:
        shown = self.expression if self.written is None else self.written
        lines = [(_LATEX[self.quantity], latex_formula(shown))]
        lines += [(latex_formula(letter), latex_formula(meaning)) for letter, meaning in self.definitions]
        if len(lines) <= 2:
            body = r" \quad\text{where } ".join(f"{left} = {right}" for left, right in lines)
        else:
            rows = r" \\ ".join(f"{left} &= {right}" for left, right in lines)
            body = rf"\begin{{aligned}} {rows} \end{{aligned}}"
        return rf"$\displaystyle {body}$"


@dataclass(frozen=True)
class Reference:
    """A high-precision value: `value` (mpf), `error` (estimate of its absolute error, from two independent runs),
    `method` (how it was computed), `digits` (asked for)."""

    value: Any
    error: Any
    method: str
    digits: int
    quantity: Quantity = "delta"
    direction: str = "both"

    @property
    def reached(self) -> bool:
        """True if the error estimate is within the digits asked for."""
        return self.error == 0 or self.error <= abs(self.value) * 10 ** (-self.digits)

    def __float__(self) -> float:
        return float(self.value)

    def __str__(self) -> str:
        import mpmath

        shown = mpmath.nstr(self.value, self.digits, min_fixed=-4, max_fixed=8)
        return f"{self.quantity} = {shown} (error about {mpmath.nstr(self.error, 2)}; {self.method})"

    def _repr_latex_(self) -> str:
        import mpmath

        shown = mpmath.nstr(self.value, self.digits, min_fixed=-4, max_fixed=8)
        mantissa, _, exponent = shown.partition("e")
        power = rf" \times 10^{{{int(exponent)}}}" if exponent else ""
        return f"${_LATEX[self.quantity]} = {mantissa}{power}$"


@dataclass(frozen=True)
class Bracket:
    """Strict bounds: lower <= true value <= upper, rounding included.

    `budget` says what the width is made of. `reached` is False if the accuracy asked for was out of reach; `note`
    then says what would help, and otherwise what is worth knowing (why eps is 0 or infinite).
    Comparisons are certain: `bracket < x` only if the whole bracket lies below x.
    """

    lower: float
    upper: float
    budget: ErrorBudget
    quantity: Quantity = "delta"
    direction: str = "both"
    reached: bool = True
    note: str = ""

    def __post_init__(self):
        if not self.lower <= self.upper:
            raise ArithmeticError(f"a bracket needs lower <= upper, got [{self.lower!r}, {self.upper!r}]")

    @property
    def width(self) -> float:
        """upper - lower (0 if both are the same infinity)."""
        return 0.0 if self.lower == self.upper else self.upper - self.lower

    @property
    def relative_width(self) -> float:
        """(upper - lower)/|upper|; 0 if the ends agree, inf if upper is 0 or infinite."""
        if not self.width:
            return 0.0
        return self.width / abs(self.upper) if 0 < abs(self.upper) < math.inf else math.inf

    def contains(self, value) -> bool:
        """Whether the value lies inside; compared exactly, whatever its type."""
        return bool(self.lower <= value <= self.upper)

    def judge(self, claim) -> Literal["below", "above", "undecided"]:
        """Where a claimed value lies: certainly below, certainly above the true value, or undecided."""
        if claim < self.lower:
            return "below"
        return "above" if claim > self.upper else "undecided"

    def __lt__(self, other) -> bool:
        return bool(self.upper < (other.lower if isinstance(other, Bracket) else other))

    def __gt__(self, other) -> bool:
        return bool(self.lower > (other.upper if isinstance(other, Bracket) else other))

    def __le__(self, other) -> bool:
        return bool(self.upper <= (other.lower if isinstance(other, Bracket) else other))

    def __ge__(self, other) -> bool:
        return bool(self.lower >= (other.upper if isinstance(other, Bracket) else other))

    def __str__(self) -> str:
        low, high = outward_text(self.lower, self.upper)
        return f"{self.quantity} in [{low}, {high}]" + (f" ({self.note})" if self.note else "")

    def _repr_html_(self) -> str:
        low, high = outward_text(self.lower, self.upper)
        rows = [(self.quantity, low, high, number(self.width, 3), "yes" if self.reached else "no")]
        return html_table(("strict bounds on", "lower", "upper", "width", "accuracy reached"), rows, self.note)


@dataclass(frozen=True)
class Approximation:
    """A value that bounds nothing: it may lie on either side of the truth."""

    value: float
    method: str
    quantity: Quantity = "delta"
    direction: str = "both"
    details: dict = field(default_factory=dict, hash=False)

    def __float__(self) -> float:
        return float(self.value)

    def __str__(self) -> str:
        return f"{self.quantity} ~ {number(self.value, 6)} ({self.method}; no bound)"

    def _repr_latex_(self) -> str:
        return f"${_LATEX[self.quantity]} \\approx {latex_number(self.value, 6)}$"


@dataclass(frozen=True)
class Curve:
    """A result at each of several eps: `eps` (floats) and `values` (one route's number type), of equal length."""

    eps: tuple[float, ...]
    values: tuple[Any, ...]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values)

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, index: int):
        return self.values[index]

    @property
    def lower(self) -> list[float]:
        """Lower ends (brackets) or the values themselves."""
        return [v.lower if isinstance(v, Bracket) else float(v) for v in self.values]

    @property
    def upper(self) -> list[float]:
        """Upper ends (brackets) or the values themselves."""
        return [v.upper if isinstance(v, Bracket) else float(v) for v in self.values]

    def _repr_html_(self) -> str:
        rows = [(number(e, 6), str(v)) for e, v in zip(self.eps, self.values, strict=True)]
        return html_table(("eps", "delta"), rows)


def trivial_bracket(lower: float, upper: float, reason: str, **keywords) -> Bracket:
    """A bracket known without any grid (perfect privacy, eps = inf ...)."""
    keywords.setdefault("note", reason)
    width = 0.0 if lower == upper or math.isinf(upper) else upper - lower
    from .budget import Part

    return Bracket(lower, upper, ErrorBudget((Part("exact", width, reason),), {}), **keywords)
