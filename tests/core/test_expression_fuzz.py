"""The formula parser under fire: only ParameterErrors that name the offending part, nothing evaluated, bounded work."""

import builtins
import random
import sys
from contextlib import contextmanager, suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dplab import Pair
from dplab.core.errors import DplabError, ParameterError
from dplab.core.expression import MAX_NUMBER_BITS, parse
from dplab.core.grammar import DENSITY, PARAMETER
from dplab.core.parameters import exact

GRAMMARS = [PARAMETER, DENSITY]
MOST_CALLS = 60_000
"""Function calls that one text may cost: some tens of milliseconds at most."""

DEEP = {
    "attributes": "t" + ".a" * 900,
    "subscripts": "t" + "[0]" * 600,
    "calls of calls": "t" + "()" * 900,
    "parentheses": "(" * 150 + "1" + ")" * 150,
    "many parentheses": "(" * 900 + "1" + ")" * 900,
    "functions": "sqrt(" * 100 + "t" + ")" * 100,
    "minus": "-" * 1900 + "t",
    "not": "not " * 400 + "t",
    "lambda": "lambda:" * 200 + "1",
    "comprehensions": "[" * 90 + "x for x in y" + "]" * 90,
    "conditionals": "t if t else " * 150 + "t",
    "sum": "+".join(["t"] * 950),
    "power tower": "2**" * 600 + "2",
    "comparisons": "t<" * 900 + "t",
    "strings": "'" + "a" * 1990 + "'",
    "one long name": "t" * 1999,
    "one long number": "9" * 1999,
    "longer than allowed": "1+" * 5000 + "1",
    "a million characters": "1" * 10**6,
    "large numbers": "*".join(["1e9999"] * 28),
    "small numbers": "/".join(["1e9999"] * 28),
    "sum of unlike fractions": "+".join(f"1e-9999/{10**9 + p}" for p in range(3, 90)),
    "nested f-strings": "f'{" * 50 + "1" + "}'" * 50,
    "starred": "exp(" + "*" * 500 + "t)",
    "brackets left open": "exp(" * 300,
    "line ends": "1\n" * 500,
    "backslashes": "\\" * 500,
}

LOOK_ALIKES = {
    "Cyrillic function": "\u0435\u0445\u0440(1)",
    "Greek question mark": "1;\u037e2",
    "superscript": "t\u00b2",
    "full-width digits": "\uff11 + 1",
    "zero-width space": "t\u200b + 1",
    "right-to-left mark": "t\u202e + 1",
    "minus sign": "1 \u2212 2",
    "multiplication sign": "2 \u00d7 t",
    "dunder in full width": "\uff3f\uff3fimport\uff3f\uff3f('os')",
    "null byte": "1\x00+1",
    "lone surrogate": "t\ud800",
    "private use": "\ue000",
}


@contextmanager
def watched():
    """Counts calls, and notes every use of what evaluates or reaches outside."""
    used: list[str] = []
    calls = 0

    def profile(frame, event, argument):
        nonlocal calls
        if event in ("call", "c_call"):
            calls += 1
        by_ast = argument is compile and frame.f_code.co_filename.endswith("ast.py")
        if event == "c_call" and argument in watched_functions and not by_ast:
            used.append(argument.__name__)

    watched_functions = [getattr(builtins, name) for name in ("eval", "exec", "compile", "__import__", "input")]
    outcome = {"used": used, "calls": lambda: calls}
    sys.setprofile(profile)
    try:
        yield outcome
    finally:
        sys.setprofile(None)


def fired(text: str, grammar) -> str | None:
    """The message of the refusal, None if the text was accepted; fails on anything else."""
    with watched() as seen:
        try:
            tree = parse(text, "p", grammar).tree
            message = None
        except ParameterError as error:
            tree, message = None, str(error)
    assert not seen["used"], seen["used"]
    assert seen["calls"]() < MOST_CALLS
    if tree is not None:
        assert all(_bits(number) <= MAX_NUMBER_BITS + 10 for number in _numbers(tree))
    else:
        assert message.startswith("p = ")
        assert len(message) < 1500
    return message


def _numbers(tree):
    stack = [tree]
    while stack:
        node = stack.pop()
        for part in node[1:]:
            if isinstance(part, tuple):
                stack.append(part)
            elif node[0] == "num":
                yield part


def _bits(number) -> int:
    return max(number.numerator.bit_length(), number.denominator.bit_length())


@pytest.mark.parametrize("grammar", GRAMMARS, ids=["parameter", "density"])
@pytest.mark.parametrize("name", DEEP)
def test_long_and_deep_texts(name, grammar):
    fired(DEEP[name], grammar)


@pytest.mark.parametrize("grammar", GRAMMARS, ids=["parameter", "density"])
@pytest.mark.parametrize("name", LOOK_ALIKES)
def test_look_alikes_are_refused(name, grammar):
    assert fired(LOOK_ALIKES[name], grammar) is not None


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("t.real + 1", "t.real"),
        ("1 + eval(t)", "eval(t)"),
        ("t.__class__.__mro__", "t.__class__.__mro__"),
        ("lambda t: t", "lambda t: t"),
        ("[t for t in (1, 2)]", "[t for t in (1, 2)]"),
        ("(t := 1) + 1", "t := 1"),
        ("f'{t}'", "f'{t}'"),
        ("1 + 'abc'", "'abc'"),
        ("t[0]", "t[0]"),
        ("2**1001", "1000"),
        ("_t + 1", "_t"),
        ("nosuch(t)", "nosuch(t)"),
        ("t" + ".a" * 900, "t.a.a.a"),
    ],
)
@pytest.mark.parametrize("grammar", GRAMMARS, ids=["parameter", "density"])
def test_the_offending_part_is_named(text, part, grammar):
    message = fired(text, grammar)
    assert message is not None
    assert part in message or "longer than" in message


TOKENS = [
    *"+-*/%@|&^~<>=!,.:;()[]{}\\'\"`$?#_",
    *("**", "//", "<<", ":=", "->", "...", "==", "<=", "\n", "\t", " ", "\x00"),
    *("t", "x", "sigma", "pi", "_", "__", "__class__", "__import__", "os", "self", "None", "True"),
    *("lambda", "for", "in", "if", "else", "and", "or", "not", "await", "yield", "import", "async", "del"),
    *("sqrt(", "exp(", "log(", "abs(", "erf(", "piecewise(", "binomial(", "besseli(", "dirac(", "max("),
    *("eval(", "exec(", "open(", "getattr(", "print(", "sympify(", "S(", "Function("),
    *("0", "1", "1.5", "1e9", "1e9999", "1e99999", "0x1F", "1j", "1_0", ".5", "5.", "007", "9" * 60),
    *("f'{", "b'", "'''", "\u00e9", "\u03c3", "\uff41", "\u0430", "\u00b2", "\u2212"),
]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("grammar", GRAMMARS, ids=["parameter", "density"])
def test_a_seeded_storm_of_tokens(seed, grammar):
    storm = random.Random(seed)
    accepted = 0
    for _ in range(150):
        text = "".join(storm.choice(TOKENS) for _ in range(storm.choice((2, 3, 5, 8, 13, 40))))
        accepted += fired(text, grammar) is None
    assert accepted < 100  # most of a storm is no formula


@pytest.mark.parametrize("seed", range(4))
def test_formulas_with_one_wound(seed):
    """A good formula with one character replaced, taken out or put in."""
    storm = random.Random(seed)
    good = ["exp(-(t - 1)**2/(2*sigma**2))/sqrt(2*pi)", "piecewise((1, t < 1), (t/2, True))", "1/(1 + exp(-t))"]
    for _ in range(150):
        text = storm.choice(good)
        place = storm.randrange(len(text))
        wound = storm.choice(TOKENS)
        kept = storm.choice((place, place + 1))
        fired(text[:place] + wound + text[kept:], DENSITY)


@settings(max_examples=200)
@given(st.text(max_size=80), st.sampled_from(GRAMMARS))
def test_any_text(text, grammar):
    fired(text, grammar)


@settings(max_examples=150)
@given(st.lists(st.sampled_from(TOKENS), max_size=15).map("".join))
def test_what_users_call_raises_only_our_errors(text):
    """A parameter, and the densities of a pair, given as text."""
    for ask in (lambda: exact(text, "p"), lambda: Pair.from_text(text, "exp(-t)*heaviside(t)")):
        with suppress(DplabError):
            ask()
