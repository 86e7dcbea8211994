"""The formula parser: a whitelist that evaluates nothing."""

import builtins
from fractions import Fraction

import mpmath
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from dplab.core.errors import ParameterError, ParameterTypeError
from dplab.core.expression import FUNCTIONS, MAX_TEXT, Expression, parse
from dplab.core.functions import CautiousTable, MpmathTable

ATTACKS = [
    "__import__('os').system('true')",
    "().__class__.__bases__[0]",
    "x.real",
    "(1).__class__",
    "lambda: 1",
    "lambda x: x",
    "[1]",
    "[x for x in (1,)]",
    "{1: 2}",
    "f'{1}'",
    "'text'",
    "b'1'",
    "x if y else z",
    "x and y",
    "not x",
    "~x",
    "x < y",
    "x := 1",
    "(x := 1)",
    "x = 1",
    "x; y",
    "x\ny",
    "import os",
    "eval(1)",
    "exec(1)",
    "open(1)",
    "sin(x)",
    "sqrt(1, 2)",
    "sqrt()",
    "sqrt(x=1)",
    "sqrt(*x)",
    "sqrt",
    "exp + 1",
    "_x",
    "__name__",
    "x[0]",
    "x // y",
    "x % y",
    "x @ y",
    "x | y",
    "x << 2",
    "...",
    "None",
    "True",
    "1j",
    "0x10",
    "1_0.0_1e99999",
    "2**1001",
    "x**-1001",
    "2**(500*3)",
    "1" * (MAX_TEXT + 1),
    "(" * 90 + "1" + ")" * 90 + ")",
    "-" * 150 + "x",
    "sqrt(" * 30 + "x" + ")" * 30,
    "",
    "   ",
    "\0",
    "1 2",
    "2 x",
    "await x",
    "yield",
    "#",
    "x#",
    "é.é",
]


@pytest.mark.parametrize("text", ATTACKS, ids=lambda text: repr(text)[:40])
def test_what_is_refused(text):
    if text == "x#":  # a comment after a name is harmless
        assert parse(text, "p").free_symbols == {"x"}
        return
    with pytest.raises(ParameterError, match=r"^p = "):
        parse(text, "p")


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("x.real + 1", "x.real"),
        ("1 + eval(x)", r"eval\(x\)"),
        ("2*sqrt(1, 2)", "sqrt takes one argument"),
        ("_x + 1", "'_x'"),
        ("2**1001", "larger than 1000"),
        ("x // 2", "x // 2"),
        ("x" * 500, "longer than 200"),
        ("sqrt(" * 30 + "x" + ")" * 30, "deeper than 20"),
        ("2 +", "not a formula"),
    ],
)
def test_the_offending_part_is_named(text, part):
    with pytest.raises(ParameterError, match=part):
        parse(text, "p")


def test_what_is_allowed():
    table, values = MpmathTable(), {"x": mpmath.mpf(2), "y": mpmath.mpf(3)}
    for text in (
        "1 + x*y - y/x",
        "-x**2",
        "(-x)**2",
        "2**-x",
        "x**y",
        "sqrt(x) + exp(-y)*log(pi)",
        "1_000*x",
        "+x - -y",
    ):
        expected = mpmath.mpf(sympy.N(sympy.parse_expr(text.replace("_", "")).subs({"x": 2, "y": 3}), 30))
        assert abs(parse(text, "p").evaluate(table, values) - expected) < mpmath.mpf("1e-12")


names = st.sampled_from(["x", "sigma", "eps0", "q_1"])
numbers = st.fractions(min_value=0, max_value=1000, max_denominator=1000).map(lambda value: ("num", value))
trees = st.recursive(
    st.one_of(numbers, names.map(lambda name: ("name", name)), st.just(("pi",))),
    lambda inner: st.one_of(
        st.tuples(st.sampled_from("+-*/"), inner, inner),
        st.tuples(st.just("neg"), inner),
        st.tuples(st.sampled_from(FUNCTIONS), inner),
        st.tuples(st.just("**"), inner, st.integers(-5, 5).map(lambda n: ("num", Fraction(n)))),
    ),
    max_leaves=6,
)


@given(trees)
def test_printing_and_parsing_are_inverse(tree):
    """What was parsed once is printed so that it parses to the very same tree."""
    try:
        first = parse(str(Expression(tree)), "p")
    except ParameterError:
        return  # divides by zero
    assert parse(str(first), "p") == first
    assert hash(parse(str(first), "p")) == hash(first)


@given(trees)
def test_parsing_keeps_the_value(tree):
    values = {name: mpmath.mpf(value) for name, value in (("x", 0.3), ("sigma", 2), ("eps0", 0.7), ("q_1", 0.1))}
    with mpmath.workdps(50):
        try:
            direct = Expression(tree).evaluate(CautiousTable(), values)
            parsed = parse(str(Expression(tree)), "p").evaluate(CautiousTable(), values)
        except (ZeroDivisionError, OverflowError, ParameterError):
            return
        if mpmath.isfinite(direct):
            assert abs(direct - parsed) <= mpmath.mpf(10) ** -25 * (1 + abs(direct))


SNIPPETS = [
    *ATTACKS,
    "x",
    "1",
    "1e5",
    "+",
    "-",
    "*",
    "/",
    "**",
    "(",
    ")",
    ",",
    ".",
    "sqrt(",
    "exp(",
    "log(",
    "pi",
    " ",
    "e9",
]


@settings(max_examples=300)
@given(st.one_of(st.text(max_size=60), st.lists(st.sampled_from(SNIPPETS), max_size=8).map("".join)))
def test_fuzz_nothing_is_evaluated_and_only_named_errors_come_out(text):
    called = []
    with pytest.MonkeyPatch.context() as patch:
        for name in ("eval", "exec", "open"):
            patch.setattr(builtins, name, _tripwire(name, called, getattr(builtins, name)))
        try:
            result = parse(text, "p")
        except (ParameterError, ParameterTypeError):
            result = None
    assert not called
    if result is not None:
        assert _kinds(result.tree) <= {"num", "name", "pi", "neg", "+", "-", "*", "/", "**", *FUNCTIONS}


def _tripwire(name, called, original):
    def wrapper(*args, **keywords):
        called.append(name)
        return original(*args, **keywords)

    return wrapper


def _kinds(tree) -> set:
    inner = [_kinds(part) for part in tree[1:] if isinstance(part, tuple)]
    return {tree[0]}.union(*inner)
