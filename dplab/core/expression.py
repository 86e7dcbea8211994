"""Exact parameter values that are not rational: a tiny expression tree, read from text by a whitelist.

A tree is a nested tuple: ("num", Fraction), ("name", "sigma"), ("+", a, b), ("*", a, b), ("/", a, b), ("-", a, b),
("neg", a), ("**", a, b), ("sqrt", a), ("exp", a), ("log", a), ("pi",). Nothing is ever evaluated as Python.
"""

import ast
import keyword
import operator
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from .errors import ParameterError

FUNCTIONS = ("sqrt", "exp", "log")
CONSTANTS = ("pi",)
MAX_TEXT = 200
MAX_DEPTH = 20
MAX_EXPONENT = 1000
MAX_BITS = 20_000
MAX_NODES = 200

_DECIMAL = re.compile(r"(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,4})?")

_BINARY = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**"}
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


def parse(text: str, name: str) -> Expression:
    """Read an expression such as "1/sqrt(10)" or "sigma".

    Raises ParameterError that names the offending part.
    """

    def refuse(part: str) -> ParameterError:
        return ParameterError(
            name, text, f"a number, a symbol, or a formula of these with {', '.join(FUNCTIONS)}, pi", part
        )

    if len(text) > MAX_TEXT:
        raise refuse(f"It is longer than {MAX_TEXT} characters.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python's own remarks on odd syntax
            body = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise refuse("It is not a formula.") from None

    def folded(tree: tuple) -> tuple:
        try:
            return fold(tree)
        except (ZeroDivisionError, OverflowError) as error:
            raise refuse(str(error)) from None

    def walk(node: ast.expr, depth: int) -> tuple:
        if depth > MAX_DEPTH:
            raise refuse(f"It is nested deeper than {MAX_DEPTH}.")
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            source = (ast.get_source_segment(text.strip(), node) or repr(node.value)).replace("_", "")
            if not _DECIMAL.fullmatch(source):
                raise refuse(f"{source[:40]!r} is not a decimal number, or has an exponent of five digits.")
            return ("num", Fraction(source))
        if isinstance(node, ast.Name):
            if node.id.startswith("_") or node.id in FUNCTIONS:
                raise refuse(f"The name {node.id!r} is not allowed here.")
            return (node.id,) if node.id in CONSTANTS else ("name", node.id)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return folded(("neg", walk(node.operand, depth + 1)))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.UAdd):
            return walk(node.operand, depth + 1)
        if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
            left, right = walk(node.left, depth + 1), walk(node.right, depth + 1)
            if isinstance(node.op, ast.Pow) and right[0] == "num" and abs(right[1]) > MAX_EXPONENT:
                raise refuse(f"An exponent is larger than {MAX_EXPONENT}.")
            return folded((_BINARY[type(node.op)], left, right))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS:
            if len(node.args) != 1 or node.keywords:
                raise refuse(f"{node.func.id} takes one argument.")
            return (node.func.id, walk(node.args[0], depth + 1))
        raise refuse(f"{ast.unparse(node)[:40]!r} is not allowed.")

    return Expression(walk(body, 0))


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
    return ("num", _EXACT[kind](*numbers))


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


def from_sympy(value, name: str) -> Expression:
    """Translate a sympy expression node by node; nothing is evaluated.

    Raises ParameterError for a node outside the whitelist.
    """
    nodes = 0

    def refuse(node) -> ParameterError:
        return ParameterError(name, node, "a sympy number, symbol, or a formula of +, *, **, sqrt, exp, log, pi")

    def walk(node) -> tuple:
        nonlocal nodes
        nodes += 1
        if nodes > MAX_NODES:
            raise ParameterError(name, value, f"a formula of at most {MAX_NODES} parts")
        kind = type(node).__name__
        if node.is_Rational and node.is_finite:
            return ("num", Fraction(int(node.p), int(node.q)))
        if node.is_Float and node.is_finite:
            if not _DECIMAL.fullmatch(str(abs(node))):
                raise refuse(node)
            return ("num", Fraction(str(node)))
        if node.is_Symbol:
            if not is_name(node.name):
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


def is_name(text: str) -> bool:
    """Whether a symbol may be called so: an identifier that is no keyword, function or constant of formulas."""
    reserved = keyword.iskeyword(text) or text in FUNCTIONS or text in CONSTANTS
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
    if kind in FUNCTIONS:
        return getattr(fn, kind)(parts[0])
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


def _text(tree: tuple, level: int) -> str:
    kind = tree[0]
    if kind == "num":
        plain = str(tree[1])
        needs = level > 0 and ("/" in plain or plain.startswith("-"))
    elif kind == "name":
        return tree[1]
    elif kind == "pi":
        return "pi"
    elif kind in FUNCTIONS:
        return f"{kind}({_text(tree[1], 0)})"
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
