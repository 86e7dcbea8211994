"""How numbers and tables are printed, in terminals and notebooks."""

import math
import re
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cache
from typing import Any


def number(value: float, digits: int = 10) -> str:
    """A float in at most `digits` significant digits.

    >>> number(4.2434842524821e-06, 6), number(float("inf"), 6)
    ('4.24348e-06', '∞')
    """
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    return f"{value:.{digits}g}"


def latex_number(value: float, digits: int = 10) -> str:
    """A float as LaTeX, with a power of ten instead of an e.

    >>> latex_number(4.25e-06, 3)
    '4.25 \\\\times 10^{-6}'
    """
    if math.isinf(value):
        return r"\infty" if value > 0 else r"-\infty"
    mantissa, _, exponent = f"{value:.{digits}g}".partition("e")
    return rf"{mantissa} \times 10^{{{int(exponent)}}}" if exponent else mantissa


def latex_formula(expression) -> str:
    """A sympy expression as LaTeX in the paper's letters: eps is \\varepsilon, eps0 is \\varepsilon_{0}."""
    import sympy
    from sympy.printing.latex import LatexPrinter

    names = {symbol: _latex_letter(symbol.name) for symbol in expression.atoms(sympy.Symbol)}
    settings = {"symbol_names": {symbol: name for symbol, name in names.items() if name}}
    return _reading_order(LatexPrinter)(settings).doprint(_joined_roots(expression, r"\sqrt{2 \pi}"))


def text_formula(expression) -> str:
    """A sympy expression as text that sympy's own syntax would read, terms in the order of `latex_formula`."""
    from sympy.printing.str import StrPrinter

    return _reading_order(StrPrinter)().doprint(_joined_roots(expression, "sqrt(2*pi)"))


def _joined_roots(expression, root: str) -> Any:
    """sqrt(2)/(2 sqrt(pi)) as 1/sqrt(2 pi), in which the root is a symbol of that name."""
    import sympy

    if not expression.has(sympy.pi):
        return expression
    split, joined = sympy.sqrt(2) / sympy.sqrt(sympy.pi), sympy.Symbol(root, positive=True)
    return expression.replace(
        lambda node: node.is_Mul and {sympy.sqrt(2), 1 / sympy.sqrt(sympy.pi)} <= set(node.args),
        lambda node: 2 * node / split / joined,
    )


@cache
def _reading_order(base: Any) -> Any:
    """A printer that starts a sum with what is added: 1 - e^x, not -e^x + 1."""

    def ordered(self, expression, order=None):
        terms = base._as_ordered_terms(self, expression, order)
        return sorted(terms, key=lambda term: (term.could_extract_minus_sign(), not term.is_Number))

    return type(f"Reading{base.__name__}", (base,), {"_as_ordered_terms": ordered})


def _latex_letter(name: str) -> str:
    """The paper's epsilon, and words as subscripts; "" for the names that sympy knows how to write."""
    found = re.fullmatch(r"(eps|delta)(\d*|_\d+|_[a-z]{2,})", name)
    if found is None:
        return ""
    letter, rest = {"eps": r"\varepsilon", "delta": r"\delta"}[found[1]], found[2].lstrip("_")
    below = rest if rest.isdigit() else rf"\text{{{rest}}}"
    return rf"{letter}_{{{below}}}" if rest else letter


def outward_text(lower: float, upper: float, extra: int = 2) -> tuple[str, str]:
    """Both ends of a bracket in as many digits as tell them apart, rounded outwards.

    >>> outward_text(1.23456789, 1.23456999)
    ('1.2345678', '1.2345700')
    """
    if lower == upper:
        shown = number(lower) if math.isinf(lower) else repr(float(lower))
        return shown, shown
    digits = 12
    scale = max((abs(end) for end in (lower, upper) if math.isfinite(end)), default=0.0)
    if math.isfinite(upper - lower):
        digits = min(17, max(3, extra + math.ceil(-math.log10((upper - lower) / scale))))
    exponent = math.floor(math.log10(scale)) - digits + 1 if scale else 0
    return _directed(lower, exponent, math.floor), _directed(upper, exponent, math.ceil)


def _directed(value: float, exponent: int, rounding) -> str:
    if math.isinf(value):
        return number(value)
    if value == 0:
        return "0"
    unit = Fraction(10) ** exponent
    steps = rounding(Fraction(value) / unit)
    if -5 <= exponent <= 0 or exponent < 0 <= exponent + len(str(abs(steps))) + 4:
        sign = "-" if steps < 0 else ""
        text = str(abs(steps)).rjust(1 - exponent, "0")
        return f"{sign}{text[:exponent]}.{text[exponent:]}" if exponent < 0 else sign + text
    text = str(abs(steps))
    shift = exponent + len(text) - 1
    mantissa = f"{text[0]}.{text[1:]}" if len(text) > 1 else text
    return f"{'-' if steps < 0 else ''}{mantissa}e{shift:+03d}"


def html_table(header: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> str:
    """A small table, left-aligned; all text is escaped."""
    import html

    left = "style='text-align:left;padding:2px 14px 2px 4px'"
    head = "".join(f"<th scope='col' {left}>{html.escape(cell)}</th>" for cell in header)
    body = "".join("<tr>" + "".join(f"<td {left}>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    below = f"<caption style='caption-side:bottom;text-align:left'>{html.escape(caption)}</caption>" if caption else ""
    return f"<table>{below}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
