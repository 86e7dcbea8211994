"""What is no density, no table, or no formula is refused with a message that says what was found, and where."""

import contextlib

import pytest
import sympy
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from dplab import Pair
from dplab.core.errors import DplabError, ParameterError, ParameterTypeError, SchemaError
from dplab.core.expression import parse
from dplab.core.grammar import DENSITY

LAPLACE = "exp(-abs(t))/2"
NORMAL = "exp(-t**2/2)/sqrt(2*pi)"
t = sympy.Symbol("t", real=True)
w, unsigned = sympy.Symbol("w", positive=True), sympy.Symbol("b")


@pytest.mark.parametrize(
    ("p", "q", "options", "found"),
    [
        ("(1 - abs(t))*exp(-abs(t))", LAPLACE, {}, r"P = '-0\.\d+ at t = -.*nowhere negative"),
        ("exp(-(t - 1)**2/2)/2.5", NORMAL, {}, "P = 'total mass 1.00265.*sum to 1.*from -oo to oo"),
        ("exp(t)", NORMAL, {}, "P = 'total mass infinite"),
        ("1", "2*t", {"support": (0, 2)}, "P = 'total mass 2.0.*from 0 to 2"),
        ("1", "2*t + 1", {"support": (0, 1)}, "Q = 'total mass 2.0"),
        ("0", LAPLACE, {}, "P = 'total mass 0"),
        ("sqrt(t)", LAPLACE, {}, "finite real number"),
        ("1/(1 + erf(t))", LAPLACE, {}, "finite real number"),
        ("1", "2*t", {"support": (1, 0)}, "support.*lower < upper"),
        ("1", "2*t", {"support": "reals"}, "support.*two ends"),
        ("1", "2*t", {"support": (0, 1, 2)}, "support.*two ends"),
        ("piecewise((1, t**3 - t < 1), (0, True))", LAPLACE, {}, r"t\*\*3.*linear or quadratic"),
        ("dirac(t**2)", LAPLACE, {}, r"DiracDelta\(t\*\*2\)"),
        ("floor(t**2)*exp(-t)", LAPLACE, {}, r"floor\(t\*\*2\)"),
        (LAPLACE, LAPLACE, {"variable": "exp"}, "variable = 'exp'"),
        (LAPLACE, LAPLACE, {"variable": "_t"}, "variable = '_t'"),
        ("(1/3)*(2/3)**t", "(1/2)*(2/3)**t", {"support": (0, "inf"), "discrete": True}, "Q = 'total mass 1.5"),
        ("(1/3)*(2/3)**t", "r*(1 - r)**t", {"support": (0, "inf"), "discrete": True}, "r = 'r'.*a number"),
        ("6/(pi*(t + 1))**2", "(1/2)**(t + 1)", {"support": (0, "inf"), "discrete": True}, "fall at least geometric"),
        ("1", "1", {"support": ("1/2", 3), "discrete": True}, "support = '1/2'.*two integers"),
        ("t*exp(-b*t)", "exp(-t)", {"support": (0, "inf")}, "P = 'total mass b"),
    ],
)
def test_what_is_no_density(p, q, options, found):
    with pytest.raises(ParameterError, match=found):
        Pair.from_text(p, q, **options)


def test_parameters_without_a_sign():
    with pytest.raises(ParameterError, match=r"b = b: must be a symbol declared positive.*parameter of P"):
        Pair.from_densities(sympy.exp(-abs(t - 1) / unsigned) / 2 / unsigned, sympy.exp(-abs(t)) / 2, t)


def test_corners_whose_order_depends_on_a_parameter():
    def box(center):
        return sympy.Piecewise((1 / (2 * w), abs(t - center) < w), (0, True))

    with pytest.raises(ParameterError, match="not known whether 1 - w lies left of w"):
        Pair.from_densities(box(1), box(0), t)
    wide = sympy.Symbol("a", positive=True) + sympy.Rational(1, 2)
    pair = Pair.from_densities(box(1).subs(w, wide), box(0).subs(w, wide), t)
    assert sympy.simplify(pair.analysis.infinite - 1 / (2 * wide)) == 0


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("t.real", r"'t\.real' is not allowed"),
        ("1 + t.__class__", r"t\.__class__"),
        ("__import__('os').system('true')", "__import__"),
        ("lambda: 1", "lambda: 1"),
        ("eval(t)", r"eval\(t\)"),
        ("sin(t)", r"sin\(t\)"),
        ("_x", "'_x'"),
        ("exp", "'exp'"),
        ("exp(t, 1)", "exp takes one argument"),
        ("max(t)", "max takes 2 to 8 arguments"),
        ("besseli(1, 2, 3)", "besseli takes 2 to 2"),
        ("t**2000", "larger than 1000"),
        ("2**(1000*1000)", "larger than 1000"),
        ("((9**999)**999)**999", "power in it is too large"),
        ("t if t else 1", "is not allowed"),
        ("t < 1", "is not allowed"),
        ("piecewise(1, t < 1)", "pairs"),
        ("piecewise((1, t))", "no condition"),
        ("piecewise((1, t == 1))", "no condition"),
        ("piecewise()", "pairs"),
        ("t[0]", r"t\[0\]"),
        ("'text'", "'text'"),
        ("t +", "not a formula"),
        ("+".join("t" * 900), "deeper than 60"),
        ("exp(" * 80 + "t" + ")" * 80, "deeper than 60"),
        ("t" * 2001, "longer than 2000"),
    ],
)
def test_the_offending_part_of_a_text_is_named_before_what_is_allowed(text, part):
    with pytest.raises(ParameterError, match=f": .*({part}).* It must be a formula"):
        Pair.from_text(text, LAPLACE)


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="t12+-*/().,<>= expabslogTruemaxpiw_'\"[]", max_size=40))
def test_no_text_does_anything_but_parse_or_be_refused(text):
    with contextlib.suppress(ParameterError):
        tree = parse(text, "P", DENSITY)
        assert parse(str(tree), "P", DENSITY).free_symbols == tree.free_symbols


@pytest.mark.exhaustive
@settings(max_examples=60, deadline=None, phases=[Phase.generate])
@given(
    st.recursive(
        st.sampled_from(["t", "1", "1/3", "a", "pi"]),
        lambda inner: st.one_of(
            st.builds("({} {} {})".format, inner, st.sampled_from(["+", "-", "*", "/"]), inner),
            st.builds("{}({})".format, st.sampled_from(["exp", "abs", "erf", "cosh", "atan", "sqrt", "log"]), inner),
            st.builds("piecewise(({}, {} < 1), ({}, True))".format, inner, inner, inner),
        ),
        max_leaves=8,
    )
)
def test_any_formula_makes_a_pair_or_is_refused_by_a_named_error(text):
    with contextlib.suppress(DplabError):
        pair = Pair.from_text(text, LAPLACE)
        assert Pair.from_json(pair.to_json()) == pair


@pytest.mark.parametrize("value", [3, None, sympy.exp(-abs(t)), b"1"])
def test_only_text_is_text(value):
    with pytest.raises(ParameterTypeError, match="text"):
        Pair.from_text(value, LAPLACE)


@pytest.mark.parametrize(
    ("data", "error"),
    [
        ({"type": "DensityPair", "p": "t.real", "q": LAPLACE}, ParameterError),
        ({"type": "DensityPair", "p": LAPLACE, "z": "1"}, SchemaError),
        ({"type": "DensityPair", "p": LAPLACE}, SchemaError),
        ({"type": "DensityPair", "p": LAPLACE, "q": None}, ParameterError),
        ({"type": "IntegerPair", "p": "__import__('os')", "q": "1"}, ParameterError),
        ({"type": "TablePair", "p": ["1"]}, SchemaError),
        ({"type": "TablePair", "p": ["1/0"], "q": ["1"]}, ParameterError),
    ],
)
def test_bad_json(data, error):
    with pytest.raises(error):
        Pair.from_json(data)
