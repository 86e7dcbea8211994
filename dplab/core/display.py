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

    names = {symbol: _latex_letter(symbol.name) for symbol in expression.atoms(sympy.Symbol)}
    settings = {"symbol_names": {symbol: name for symbol, name in names.items() if name}}
    shown = _latex_printer()(settings).doprint(_as_written(expression, r"\sqrt{2 \pi}", latex_formula))
    for name, letter in (("delta", r"\delta"), ("-phi", r"-\varphi")):  # functions whose names sympy does not know
        shown = shown.replace(rf"\operatorname{{{name}}}", letter)
    return shown


def text_formula(expression) -> str:
    """A sympy expression as text that sympy's own syntax would read, terms in the order of `latex_formula`."""
    from sympy.printing.str import StrPrinter

    return _reading_order(StrPrinter)().doprint(_as_written(expression, "sqrt(2*pi)", text_formula))


def _as_written(expression, root: str, show) -> Any:
    """Three things a person writes otherwise than sympy, put into symbols that print so.

    sqrt(2)/(2 sqrt(pi)) is 1/sqrt(2 pi); e0 (-1 - z) is -e0 (1 + z); (1 + x)^(-1 - x) is 1/(1 + x)^(1 + x).
    """
    import sympy

    def all_negative(node) -> bool:
        return node.is_Add and all(term.could_extract_minus_sign() for term in node.args)

    def flipped(node):
        turned = [-part if all_negative(part) else part for part in node.args]
        minus = sum(map(all_negative, node.args)) % 2 == 1
        return -sympy.Mul(*turned) if minus else sympy.Mul(*turned)

    def below(node):
        return 1 / sympy.Symbol(show(sympy.Pow(node.base, -node.exp)), positive=True)

    def rest_of_rate(node):
        """e^x - 1 + q, as e^x - (1 - q)."""
        rate = next(term for term in node.args if term.is_Symbol and term.name.startswith("q"))
        return sympy.Add(*node.args, 1, -rate) - sympy.Symbol(f"(1 - {show(rate)})", positive=True)

    def is_above_rest(node) -> bool:
        symbols = [term for term in node.args if term.is_Symbol and term.name.startswith("q")]
        return node.is_Add and len(node.args) == 3 and -1 in node.args and len(symbols) == 1

    expression = expression.replace(is_above_rest, rest_of_rate)
    expression = expression.replace(lambda node: node.is_Mul and any(map(all_negative, node.args)), flipped)
    expression = expression.replace(
        lambda node: node.is_Pow and not node.base.is_Number and all_negative(node.exp), below
    )
    if expression.has(sympy.pi):
        split, joined = sympy.sqrt(2) / sympy.sqrt(sympy.pi), sympy.Symbol(root, positive=True)
        expression = expression.replace(
            lambda node: node.is_Mul and {sympy.sqrt(2), 1 / sympy.sqrt(sympy.pi)} <= set(node.args),
            lambda node: 2 * node / split / joined,
        )
    return expression


@cache
def _reading_order(base: Any) -> Any:
    """A printer that starts a sum with what is added, 1 - e^x, not -e^x + 1; and keeps 1 - q + q e^x together."""

    def ordered(self, expression, order=None):
        terms = base._as_ordered_terms(self, expression, order)

        def is_rate(term):
            return term.could_extract_minus_sign() and (-term).is_Symbol and any(-term in t.free_symbols for t in mixed)

        mixed = [term for term in terms if term.is_Mul and not term.could_extract_minus_sign()]
        return sorted(
            terms,
            key=lambda term: (
                (term in mixed) if any(map(is_rate, terms)) and 1 in terms else term.could_extract_minus_sign(),
                not term.is_Number,
            ),
        )

    return type(f"Reading{base.__name__}", (base,), {"_as_ordered_terms": ordered})


@cache
def _latex_printer() -> Any:
    """Exponents in one line, e^{(s - e0)/2}: a fraction in the air cannot be read."""
    import sympy
    from sympy.printing.latex import LatexPrinter
    from sympy.simplify.radsimp import fraction

    reading: Any = _reading_order(LatexPrinter)

    class Inline(reading):
        def _print_Mul(self, expression):
            numerator, denominator = fraction(expression, exact=True)
            if denominator == 1:
                return super()._print_Mul(expression)
            sign = ""
            if numerator.could_extract_minus_sign() and not numerator.is_Add:
                sign, numerator = "-", -numerator
            above, below = self._print(numerator), self._print(denominator)
            above = rf"({above})" if numerator.is_Add else above
            below = rf"({below})" if denominator.is_Add or denominator.is_Mul else below
            return f"{sign}{above}/{below}"

        def _print_Pow(self, expression):
            if expression.exp.is_Rational and expression.exp.is_negative:
                return self._print_Mul(expression)
            return super()._print_Pow(expression)

        def _print_Rational(self, expression):
            return str(expression)

        def _print_exp(self, expression, exp=None):
            return powers(self, expression, exp)

    def powers(printer, expression, exp):
        content, rest = expression.args[0].primitive()
        together = sympy.Mul(content, rest, evaluate=False) if content != 1 and rest.is_Add else expression.args[0]
        settings = {name: printer._settings[name] for name in LatexPrinter._default_settings}
        shown = f"e^{{{Inline(settings)._print(together)}}}"
        return shown if exp is None else rf"\left({shown}\right)^{{{exp}}}"

    class Latex(reading):
        def _print_exp(self, expression, exp=None):
            return powers(self, expression, exp)

        def _print_And(self, expression):
            chain = _chain(expression)
            return super()._print_And(expression) if chain is None else "".join(map(self._link, chain))

        def _link(self, part):
            return {sympy.StrictLessThan: " < ", sympy.LessThan: r" \leq "}.get(part) or self._print(part)

    return Latex


def _chain(condition) -> tuple | None:
    """low < s and s < high as (low, <, s, <, high), each sign a class of sympy's; None for another condition."""
    import sympy

    less = (sympy.StrictLessThan, sympy.LessThan)
    sides = [part if isinstance(part, less) else getattr(part, "reversed", part) for part in condition.args]
    if len(sides) != 2 or not all(isinstance(side, less) for side in sides):
        return None
    for low, high in (sides, sides[::-1]):
        if low.rhs.is_Symbol and low.rhs == high.lhs:
            return low.lhs, type(low), low.rhs, type(high), high.rhs
    return None


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
        shown = number(lower) if math.isinf(lower) else repr(float(lower) + 0.0)  # no "-0.0"
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
