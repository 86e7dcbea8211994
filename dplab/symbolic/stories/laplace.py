"""The Laplace mechanism: the absolute values are split by hand, and every piece is an exponential."""

from math import comb

import mpmath
import sympy

from ...core.pair import Atom
from ...mechanisms import Laplace
from ..derivation import Comparison, Line, Step
from ..laplace_sums import laplace_sum
from ..numeric import function
from ..outputs import Line as Densities
from ..outputs import Piece
from ..scene import Scene
from . import bounds, common
from .setting import ALPHA, EPS, LAM, A, J, K, S, Setting, T, X, Z
from .writing import cases

E0 = sympy.Symbol("e0", positive=True)
HALF, ZERO = sympy.Rational(1, 2), sympy.S.Zero


def laplace_outputs(pair: Laplace, fn) -> Densities:
    """Laplace densities around Delta and 0, split at both."""
    b, shift = (common.parameter(pair, name, fn) for name in ("b", "sensitivity"))

    def around(center, sign):
        return sympy.exp(sign * (T - center) / b) / (2 * b)

    pieces = (
        Piece(-sympy.oo, ZERO, around(shift, 1), around(0, 1)),
        Piece(ZERO, shift, around(shift, 1), around(0, -1)),
        Piece(shift, sympy.oo, around(shift, -1), around(0, -1)),
    )
    whole = tuple(sympy.exp(-sympy.Abs(T - center) / b) / (2 * b) for center in (shift, 0))
    return Densities(T, pieces, whole, (-3 * b, shift + 3 * b))


def laplace_story(setting: Setting) -> list[Step]:
    """All steps for a Laplace density around Delta against the same around 0."""
    fn, pair = setting.fn, setting.pair
    assert isinstance(pair, Laplace)
    b, shift = (common.parameter(pair, name, fn) for name in ("b", "sensitivity"))
    sign = -1 if setting.backward else 1
    p, q = laplace_outputs(pair, fn).whole
    letters = ((E0, shift / b),)
    small = sympy.exp(-E0)
    density = sympy.exp((S - E0) / 2) / 4
    atoms = (Atom(shift / b, HALF, small / 2), Atom(-shift / b, sympy.exp(-shift / b) / 2, HALF))
    ends = (-shift / b, shift / b)
    mgf = ((Z + 1) * sympy.exp(Z * E0) + Z * sympy.exp(-(Z + 1) * E0)) / (2 * Z + 1)
    plus = sympy.log(mgf.xreplace({Z: LAM}))
    minus = sympy.log((LAM * sympy.exp((LAM - 1) * E0) + (LAM - 1) * sympy.exp(-LAM * E0)) / (2 * LAM - 1))
    mean = E0 - 1 + small
    variance = 3 - 2 * small * (1 + 2 * E0) - sympy.exp(-2 * E0)
    middle = 1 - sympy.exp((EPS - E0) / 2)
    root = sympy.exp(-E0 / 2)
    law = [
        Line("omega(s)", density, "for -e0 < s < e0"),
        Line("mass at e0", HALF),
        Line("mass at -e0", small / 2),
        Line("delta(inf)", ZERO),
    ]
    return [
        common.output_step(
            setting,
            [Line("P(t)", p), Line("Q(t)", q)],
            "The worst neighbours: the query's value moves by its sensitivity; Laplace noise of scale `b` either way",
        ),
        common.loss_step(
            setting,
            [
                Line("s(t)", -sign * shift / b, "for t < 0"),
                Line("s(t)", sign * (2 * T - shift) / b, f"for 0 <= t <= {shift}"),
                Line("s(t)", sign * shift / b, f"for t > {shift}"),
            ],
            "`|t|` and `|t - Delta|` split at 0 and `Delta`: constant outside, a straight line between",
        ),
        common.branch_step(
            setting,
            [Line("t(s)", (sign * b * S + shift) / 2, "for -e0 < s < e0"), Line("|t'(s)|", b / 2)],
            "One strictly monotone piece; the two constant ones become atoms",
        ),
        common.pld_step(
            setting,
            law,
            f"`{setting.first}(t(s)) |t'(s)|` between, and the masses of `t < 0` and `t > Delta`",
            density,
            ends,
            atoms,
            ZERO,
            letters,
        ),
        common.mirror_step(
            setting,
            [Line(f"omega_{setting.other_way}(s)", density, "for -e0 < s < e0, with the same atoms")],
            density,
            ends,
            atoms,
            letters,
        ),
        pieces_step(setting, letters),
        common.mgf_step(
            setting, [Line("M(z)", mgf)], "The three pieces added over their common denominator", letters=letters
        ),
        common.cumulant_step(setting, mean, variance, letters=letters),
        common.renyi_step(
            setting,
            sympy.log(A / (2 * A - 1) * sympy.exp((A - 1) * E0) + (A - 1) / (2 * A - 1) * sympy.exp(-A * E0)) / (A - 1),
            letters=letters,
        ),
        common.alpha_step(setting, plus, minus, letters=letters),
        common.delta_step(
            setting,
            [Line("delta(eps)", cases((1 - sympy.exp(EPS), EPS, -E0), (middle, EPS, E0), otherwise=ZERO))],
            f"Lemma 2 of Koskela et al. 2021: `delta = {setting.first}(s > eps) - e^eps {setting.second}(s > eps)`",
            letters,
        ),
        common.h_step(
            setting,
            cases((1 - X, X, small), (1 - root * sympy.sqrt(X), X, sympy.exp(E0)), otherwise=ZERO),
            letters,
        ),
        common.tradeoff_step(
            setting,
            [
                Line(
                    "f(alpha)",
                    cases(
                        (1 - sympy.exp(E0) * ALPHA, ALPHA, small / 2),
                        (small / (4 * ALPHA), ALPHA, HALF),
                        otherwise=small * (1 - ALPHA),
                    ),
                )
            ],
            "Neyman-Pearson: reject where `s <= c`; at the atoms the test is randomised, which draws straight lines",
            letters=letters,
        ),
        composition_step(setting, letters),
        bounds.chernoff_step(setting, mgf.xreplace({Z: LAM}), letters=letters),
        bounds.total_error_step(setting),
        bounds.periodisation_step(setting),
    ]


def pieces_step(setting: Setting, letters) -> Step:
    """The integral of P^{z+1} Q^{-z} over each of the three pieces."""
    outer_left = sympy.exp(-(Z + 1) * E0) / 2
    inner = (sympy.exp(Z * E0) - sympy.exp(-(Z + 1) * E0)) / (2 * (2 * Z + 1))
    outer_right = sympy.exp(Z * E0) / 2
    lines = (
        Line("E[e^{z s}; s = -e0]", outer_left),
        Line("E[e^{z s}; |s| < e0]", inner),
        Line("E[e^{z s}; s = e0]", outer_right),
    )

    def check(scene: Scene):
        z = mpmath.mpc(scene.draw(-2, 2), scene.draw(-2, 2))
        order = lines[::-1] if setting.backward else lines
        for line, panels in zip(order, scene.twin.by_piece, strict=True):
            parts = [
                panel.integral(lambda v: (mpmath.exp((z + 1) * mpmath.log(v[0]) - z * mpmath.log(v[1])),))[0]
                for panel in panels
            ]
            found = function(line.right.xreplace(dict(letters)), [Z], scene.values)(z)
            yield Comparison(f"the real part of {line.left}", mpmath.re(found), mpmath.re(sum(parts)))
            yield Comparison(f"the imaginary part of {line.left}", mpmath.im(found), mpmath.im(sum(parts)))

    return Step(
        "The three pieces of M",
        lines,
        "On each piece the integrand is one exponential in t",
        check,
        common.DENSITIES,
        letters,
    )


def composition_step(setting: Setting, letters) -> Step:
    """Two steps written out; k steps as a sum of residues."""
    two = _two_steps(E0)

    def check(scene: Scene):
        e0 = scene.number(dict(letters)[E0])
        eps = scene.draw(-2, 2) * e0
        expected = scene.twin.moment(lambda s: common.page_delta(scene, eps - s), [eps - e0, eps + e0])
        formula = two.xreplace(dict(letters))
        yield Comparison("delta of two steps", scene.number(formula, eps=eps), expected)
        general = laplace_sum([(dict(letters)[E0], 2)], EPS)
        yield Comparison("the residues for k = 2", scene.number(general, eps=eps), expected)
        k, z = 3, mpmath.mpc(scene.draw(0, 1), scene.draw(-2, 2))
        terms = (
            sum(
                comb(k, j) * (z + 1) ** j * z ** (k - j) * mpmath.exp((j * z - (k - j) * (z + 1)) * e0)
                for j in range(k + 1)
            )
            / (2 * z + 1) ** k
        )
        moment = scene.twin.moment(lambda s: mpmath.exp(z * s)) ** k
        yield Comparison("the expanded power", mpmath.re(terms), mpmath.re(moment))
        yield Comparison("the expanded power's imaginary part", mpmath.im(terms), mpmath.im(moment))

    expanded = (
        sympy.Sum(
            sympy.binomial(K, J) * (Z + 1) ** J * Z ** (K - J) * sympy.exp((J * (2 * Z + 1) - K * (Z + 1)) * E0),
            (J, 0, K),
        )
        / (2 * Z + 1) ** K
    )
    lines = (Line("delta_2(eps)", two), Line("M(z)^k", expanded))
    reason = (
        "M multiplies under composition (Theorem 3 of Koskela et al. 2021); in the contour integral of "
        "`M(z)^k e^{-z eps}/(z(z+1))` each term is closed round its poles -1/2, 0 and -1: `e^{(eps - k e0)/2}` times a "
        "polynomial between neighbouring knots `(2j - k) e0`"
    )
    return Step("k-fold composition", lines, reason, check, "the mean over the second loss, by quadrature", letters)


def _two_steps(e0) -> sympy.Expr:
    """delta of two steps on -2 e0 < eps < 2 e0, by hand from the residues at -1/2."""
    upper = 1 - sympy.exp((EPS - 2 * e0) / 2) * (1 + (2 * e0 - EPS) / 4)
    lower = 1 - sympy.exp((EPS - 2 * e0) / 2) * (1 + (2 * e0 + EPS) / 4)
    return cases((1 - sympy.exp(EPS), EPS, -2 * e0), (lower, EPS, ZERO), (upper, EPS, 2 * e0), otherwise=ZERO)
