"""Exact parameter values that are not rational: a tiny expression tree, read from text by a whitelist.

A tree is a nested tuple: ("num", Fraction), ("name", "sigma"), ("+", a, b), ("*", a, b), ("/", a, b), ("-", a, b),
("neg", a), ("**", a, b), ("sqrt", a), ("exp", a), ("log", a), ("pi",). In densities also ("besseli", n, x) and the
like, ("<", a, b), ("and", a, b), ("true",), ("piecewise", value, condition, ...). Nothing is ever evaluated as Python.
"""

import ast
import keyword
import operator
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .errors import ParameterError
from .grammar import DENSITY, PARAMETER, PIECEWISE, Grammar

FUNCTIONS = tuple(PARAMETER.calls)
CONSTANTS = ("pi",)
MAX_TEXT = PARAMETER.most_text
MAX_DEPTH = PARAMETER.most_depth
MAX_EXPONENT = 1000
MAX_BITS = 20_000
MAX_NUMBER_BITS = 100_000
"""A little more than three numbers with exponents of four digits make together."""
MAX_NODES = PARAMETER.most_nodes

_DECIMAL = re.compile(r"(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,4})?")

_BINARY = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**"}
_COMPARED = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
_LEVEL = {"+": 1, "-": 1, "neg": 2, "*": 2, "/": 2, "**": 3}


@dataclass(frozen=True)
class Expression:
    """An exact value built from numbers, symbols, + - * / **, sqrt, exp, log and pi."""

    tree: tuple

    @property
    def free_symbols(self) -> frozenset[str]:
        """Names of the symbols that have no value yet."""
        return frozenset(_names(self.tree))

    def evaluate(self, fn, values=None):
        """The value in the arithmetic of a function table; `values` maps symbol names to numbers of it."""
        return _evaluate(self.tree, fn, values or {})

    def substitute(self, values: dict) -> "Expression":
        """The expression with symbols replaced by the trees of exact values."""
        return Expression(_substitute(self.tree, values))

    def __str__(self) -> str:
        return _text(self.tree, 0)

    def __repr__(self) -> str:
        return str(self)


def parse(text: str, name: str, grammar: Grammar = PARAMETER) -> Expression:
    """Read an expression such as "1/sqrt(10)" or "sigma", or a density in the grammar of densities.

    Raises ParameterError that names the offending part.
    """
    if len(text) > grammar.most_text:
        raise _refusal(name, text, grammar, f"It is longer than {grammar.most_text} characters.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python's own remarks on odd syntax
            body = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise _refusal(name, text, grammar, f"It is not a formula{_slip(text)}.") from None
    return Expression(_Reader(text.strip(), name, grammar).value(body, 0))


_NO_SIGN = re.compile(r"\d(?![eE][+-]?\d)[A-Za-z(]|\)\s*[A-Za-z0-9(]")


def _slip(text: str) -> str:
    """The usual slip in a text that is no formula, if it is one of these."""
    opened, closed = text.count("("), text.count(")")
    if opened != closed:
        return f": it has {opened} ( and {closed} )"
    between = _NO_SIGN.search(text)
    return f": a product needs its *, between {between[0][0]!r} and {between[0][-1]!r}" if between else ""


def _refusal(name: str, text: str, grammar: Grammar, part: str) -> ParameterError:
    what = "a formula in the variable" if grammar.conditions else "a number, a symbol, or a formula of these"
    return ParameterError(name, text, f"{what}, with {grammar.allowed}", found=part)


class _Reader:
    """Turns Python's syntax tree of a text into our own, node by node."""

    def __init__(self, text: str, name: str, grammar: Grammar):
        self.text, self.name, self.grammar = text, name, grammar
        self.nodes = 0

    def refuse(self, part: str) -> ParameterError:
        return _refusal(self.name, self.text, self.grammar, part)

    def source(self, node: ast.AST) -> str:
        """The first 40 characters of a part, as it was written (to write a deep one anew would need deep recursion)."""
        return (self.segment(node) or type(node).__name__)[:40]

    def segment(self, node: Any) -> str | None:
        """The text of a part; cut out directly where places in bytes and in characters are the same."""
        if not hasattr(node, "lineno"):
            return None
        if self.text.isascii() and "\n" not in self.text:
            return self.text[node.col_offset : node.end_col_offset]
        return ast.get_source_segment(self.text, node)

    def folded(self, tree: tuple) -> tuple:
        try:
            return fold(tree)
        except (ZeroDivisionError, OverflowError) as error:
            raise self.refuse(str(error)) from None

    def value(self, node: ast.expr, depth: int) -> tuple:
        """The tree of a node that stands for a number."""
        self._count(depth)
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            source = (self.segment(node) or repr(node.value)).replace("_", "")
            if not _DECIMAL.fullmatch(source):
                raise self.refuse(f"{source[:40]!r} is not a decimal number, or has an exponent of five digits.")
            return ("num", Fraction(source))
        if isinstance(node, ast.Name):
            if node.id.startswith("_") or self.grammar.canonical(node.id) in (*self.grammar.calls, PIECEWISE):
                raise self.refuse(f"The name {node.id!r} is not allowed here.")
            return (node.id,) if node.id in CONSTANTS else ("name", node.id)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return self.folded(("neg", self.value(node.operand, depth + 1)))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.UAdd):
            return self.value(node.operand, depth + 1)
        if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
            left, right = self.value(node.left, depth + 1), self.value(node.right, depth + 1)
            if isinstance(node.op, ast.Pow) and right[0] == "num" and abs(right[1]) > MAX_EXPONENT:
                raise self.refuse(f"An exponent is larger than {MAX_EXPONENT}.")
            return self.folded((_BINARY[type(node.op)], left, right))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            called = self.grammar.canonical(node.func.id)
            if called in self.grammar.calls:
                return self._call(called, node, depth)
            if called == PIECEWISE and self.grammar.conditions:
                return self._piecewise(node, depth)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            raise self.refuse(f"{node.func.id[:40]!r} in {self.source(node)!r} is not allowed: no function known here.")
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitXor):
            raise self.refuse(f"{self.source(node)!r}: a power is written **, not ^.")
        raise self.refuse(f"{self.source(node)!r} is not allowed.")

    def condition(self, node: ast.expr, depth: int) -> tuple:
        """The tree of a comparison, of several joined by and/or (or & and |), or of True."""
        self._count(depth)
        if isinstance(node, ast.Constant) and node.value is True:
            return ("true",)
        joined = None
        if isinstance(node, ast.BoolOp):
            joined, parts = ("and" if isinstance(node.op, ast.And) else "or"), node.values
        elif isinstance(node, ast.BinOp) and isinstance(node.op, (ast.BitAnd, ast.BitOr)):
            joined, parts = ("and" if isinstance(node.op, ast.BitAnd) else "or"), [node.left, node.right]
        if joined:
            first, *rest = [self.condition(part, depth + 1) for part in parts]
            for other in rest:
                first = (joined, first, other)
            return first
        if isinstance(node, ast.Compare) and all(type(op) in _COMPARED for op in node.ops):
            sides = [self.value(side, depth + 1) for side in (node.left, *node.comparators)]
            chain = [(_COMPARED[type(op)], a, b) for op, a, b in zip(node.ops, sides, sides[1:], strict=False)]
            first, *rest = chain
            for other in rest:
                first = ("and", first, other)
            return first
        raise self.refuse(f"{self.source(node)!r} is no condition.")

    def _count(self, depth: int) -> None:
        self.nodes += 1
        if depth > self.grammar.most_depth:
            raise self.refuse(f"It is nested deeper than {self.grammar.most_depth}.")
        if self.nodes > self.grammar.most_nodes:
            raise self.refuse(f"It has more than {self.grammar.most_nodes} parts.")

    def _call(self, called: str, node: ast.Call, depth: int) -> tuple:
        least, most = self.grammar.calls[called]
        if not least <= len(node.args) <= most or node.keywords:
            counted = "one argument" if most == 1 else f"{least} to {most} arguments"
            raise self.refuse(f"{called} takes {counted}.")
        return (called, *(self.value(argument, depth + 1) for argument in node.args))

    def _piecewise(self, node: ast.Call, depth: int) -> tuple:
        parts: list[tuple] = []
        for branch in node.args:
            if not isinstance(branch, ast.Tuple) or len(branch.elts) != 2:
                raise self.refuse("piecewise takes pairs (value, condition).")
            parts += [self.value(branch.elts[0], depth + 1), self.condition(branch.elts[1], depth + 1)]
        if not parts or node.keywords:
            raise self.refuse("piecewise takes pairs (value, condition).")
        return (PIECEWISE, *parts)


def fold(tree: tuple) -> tuple:
    """A node whose parts are rational numbers as one number, other nodes as they are.

    Raises ZeroDivisionError, and OverflowError for numbers of more than MAX_BITS bits.
    """
    kind, *parts = tree
    if kind not in _EXACT or any(part[0] != "num" for part in parts):
        return tree
    numbers = [part[1] for part in parts]
    if (kind == "/" and numbers[1] == 0) or (kind == "**" and numbers[0] == 0 > numbers[1]):
        raise ZeroDivisionError("It divides by zero.")
    if kind == "**":
        if numbers[1].denominator != 1:
            return tree
        numbers[1] = numbers[1].numerator
        if _bits(numbers[0]) * abs(numbers[1]) > MAX_BITS:
            raise OverflowError("A power in it is too large.")
    value = _EXACT[kind](*numbers)
    if _bits(value) > MAX_NUMBER_BITS:
        raise OverflowError("A number in it has too many digits.")
    return ("num", value)


_EXACT: dict[str, Callable[..., Fraction]] = {
    "neg": operator.neg,
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "**": operator.pow,
}


def _bits(value: Fraction) -> int:
    return max(value.numerator.bit_length(), value.denominator.bit_length())


def from_sympy(value, name: str, grammar: Grammar = PARAMETER) -> Expression:
    """Translate a sympy expression node by node; nothing is evaluated.

    Raises ParameterError for a node outside the whitelist.
    """
    nodes = 0
    known = _SYMPY_CALLS if grammar.conditions else {}

    def refuse(node) -> ParameterError:
        listed = f"+, *, **, {grammar.allowed}"
        if grammar.conditions:
            part = f"{str(node)[:40]!r} ({type(node).__name__}) is not allowed."
            return ParameterError(name, value, f"a formula in the variable, with {grammar.allowed}", found=part)
        return ParameterError(name, node, f"a sympy number, symbol, or a formula of {listed}")

    def walk(node) -> tuple:
        nonlocal nodes
        nodes += 1
        if nodes > grammar.most_nodes:
            raise ParameterError(name, value, f"a formula of at most {grammar.most_nodes} parts")
        kind = type(node).__name__
        if kind in known:
            return _from_sympy_call(known[kind], node, walk, refuse)
        if node.is_Rational and node.is_finite:
            return ("num", Fraction(int(node.p), int(node.q)))
        if node.is_Float and node.is_finite:
            if not _DECIMAL.fullmatch(str(abs(node))):
                raise refuse(node)
            return ("num", Fraction(str(node)))
        if node.is_Symbol:
            if not is_name(node.name, grammar):
                raise ParameterError(name, node, "a symbol whose name is an identifier that formulas may use")
            return ("name", node.name)
        if kind == "Pi":
            return ("pi",)
        if kind == "Exp1":
            return ("exp", ("num", Fraction(1)))
        if node.is_Pow:
            base, exponent = node.args
            if exponent.is_Rational and (exponent.p, exponent.q) == (1, 2):
                return ("sqrt", walk(base))
            return fold(("**", walk(base), walk(exponent)))
        if kind in ("exp", "log") and len(node.args) == 1:
            return (kind, walk(node.args[0]))
        if node.is_Add or node.is_Mul:
            sign = "+" if node.is_Add else "*"
            first, *rest = [walk(a) for a in node.args]
            for term in rest:
                first = fold((sign, first, term))
            return first
        raise refuse(node)

    try:
        return Expression(walk(value))
    except (ZeroDivisionError, OverflowError) as error:
        raise ParameterError(name, value, "a finite number of moderate size", str(error)) from None


_SYMPY_CALLS = {
    **{name: name for name in ("sign", "erf", "erfc", "cosh", "sinh", "tanh", "sech", "atan", "gamma", "factorial")},
    **{name: name for name in ("binomial", "besseli", "floor")},
    **{"Abs": "abs", "Heaviside": "heaviside", "DiracDelta": "dirac", "Min": "min", "Max": "max"},
    **{"Piecewise": PIECEWISE, "And": "and", "Or": "or", "BooleanTrue": "true"},
    **{"StrictLessThan": "<", "LessThan": "<=", "StrictGreaterThan": ">", "GreaterThan": ">="},
}


def _from_sympy_call(called: str, node, walk: Callable, refuse: Callable) -> tuple:
    if called == PIECEWISE:
        return (PIECEWISE, *(walk(part) for branch in node.args for part in branch.args))
    if called in ("and", "or"):
        first, *rest = [walk(part) for part in node.args]
        for other in rest:
            first = (called, first, other)
        return first
    arguments = node.args[:1] if called == "heaviside" else node.args
    if called in DENSITY.calls:
        least, most = DENSITY.calls[called]
        if not least <= len(arguments) <= most:
            raise refuse(node)
    return (called, *(walk(part) for part in arguments))


def is_name(text: str, grammar: Grammar = PARAMETER) -> bool:
    """Whether a symbol may be called so: an identifier that is no keyword, function or constant of formulas."""
    reserved = keyword.iskeyword(text) or text in grammar.calls or text in CONSTANTS
    reserved = reserved or (grammar.conditions and text == PIECEWISE)
    return text.isidentifier() and not text.startswith("_") and not reserved


def _names(tree: tuple):
    if tree[0] == "name":
        yield tree[1]
    for part in tree[1:]:
        if isinstance(part, tuple):
            yield from _names(part)


def _substitute(tree: tuple, values: dict) -> tuple:
    if tree[0] == "name":
        value = values.get(tree[1])
        if value is None:
            return tree
        return value.tree if isinstance(value, Expression) else ("num", value)
    return fold(tuple(_substitute(part, values) if isinstance(part, tuple) else part for part in tree))


def _evaluate(tree: tuple, fn, values: dict):
    kind = tree[0]
    if kind == "num":
        return fn.rational(tree[1].numerator, tree[1].denominator)
    if kind == "name":
        return values[tree[1]] if tree[1] in values else fn.symbol(tree[1])
    if kind == "pi":
        return fn.pi
    parts = [_evaluate(part, fn, values) for part in tree[1:]]
    if kind not in _LEVEL:
        return getattr(fn, _METHODS.get(kind, kind))(*parts)
    if kind == "neg":
        return -parts[0]
    left, right = parts
    if kind == "+":
        return left + right
    if kind == "-":
        return left - right
    if kind == "*":
        return left * right
    if kind == "/":
        return left / right
    return fn.exp(right * fn.log(left)) if tree[2][0] != "num" else fn.power(left, tree[2][1])


_METHODS = {"<": "less", "<=": "at_most", ">": "more", ">=": "at_least", "and": "both", "or": "either"}
"""What the table of a density's grammar calls the conditions."""


def _text(tree: tuple, level: int) -> str:
    kind = tree[0]
    if kind == "num":
        plain = str(tree[1])
        needs = level > 0 and ("/" in plain or plain.startswith("-"))
    elif kind == "name":
        return tree[1]
    elif kind == "pi":
        return "pi"
    elif kind == "true":
        return "True"
    elif kind == PIECEWISE:
        branches = zip(tree[1::2], tree[2::2], strict=True)
        return f"{kind}({', '.join(f'({_text(value, 0)}, {_text(at, 0)})' for value, at in branches)})"
    elif kind in _METHODS:
        left, right = (_text(part, 0) for part in tree[1:])
        return f"({left}) {kind} ({right})" if kind in ("and", "or") else f"{left} {kind} {right}"
    elif kind not in _LEVEL:
        return f"{kind}({', '.join(_text(part, 0) for part in tree[1:])})"
    else:
        own = _LEVEL[kind]
        if kind == "neg":
            plain = "-" + _text(tree[1], own + 1)
        else:
            left = _text(tree[1], own + (kind == "**"))
            right = _text(tree[2], own + (kind != "**"))
            plain = f"{left}{kind}{right}" if kind in ("**", "*", "/") else f"{left} {kind} {right}"
        needs = own < level
    return f"({plain})" if needs else plain
