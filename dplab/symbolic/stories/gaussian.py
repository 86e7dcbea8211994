"""The Gaussian mechanism: everything by completing the square."""

import mpmath
import sympy

from ...mechanisms import Gaussian
from ..compositions import gaussian_delta
from ..derivation import Comparison, Line, Step
from ..normal_cdf import Phi, PhiInverse
from ..numeric import function
from ..outputs import Line as Densities
from ..outputs import Piece
from ..scene import PAGE, Scene
from . import bounds, common
from .setting import ALPHA, EPS, LAM, A, K, S, Setting, T, X, Z

MU = sympy.Symbol("mu", positive=True)


def normal_density(t, mean, sigma) -> sympy.Expr:
    """exp(-(t - mean)^2/(2 sigma^2))/(sqrt(2 pi) sigma)."""
    return sympy.exp(-((t - mean) ** 2) / (2 * sigma**2)) / (sympy.sqrt(2 * sympy.pi) * sigma)


def gaussian_outputs(pair: Gaussian, fn) -> Densities:
    """N(Delta, sigma^2) and N(0, sigma^2)."""
    sigma, shift = (common.parameter(pair, name, fn) for name in ("sigma", "sensitivity"))
    p, q = normal_density(T, shift, sigma), normal_density(T, 0, sigma)
    piece = Piece(-sympy.oo, sympy.oo, p, q)
    return Densities(T, (piece,), (p, q), (-4 * sigma, shift / 2, shift + 4 * sigma))


def gaussian_story(setting: Setting) -> list[Step]:
    """All steps for N(Delta, sigma^2) against N(0, sigma^2)."""
    fn, pair = setting.fn, setting.pair
    assert isinstance(pair, Gaussian)
    sigma, shift = (common.parameter(pair, name, fn) for name in ("sigma", "sensitivity"))
    mu, sign = shift / sigma, -1 if setting.backward else 1
    p, q = gaussian_outputs(pair, fn).whole
    zero = sympy.S.Zero
    density = sympy.exp(-((S - mu**2 / 2) ** 2) / (2 * mu**2)) / (sympy.sqrt(2 * sympy.pi) * mu)
    written = sympy.exp(-((S - MU**2 / 2) ** 2) / (2 * MU**2)) / (sympy.sqrt(2 * sympy.pi) * MU)
    ends = (-sympy.oo, sympy.oo)
    letters = ((MU, mu),)
    mgf = sympy.exp(Z * (Z + 1) * MU**2 / 2)
    return [
        common.output_step(
            setting,
            [Line("P(t)", p), Line("Q(t)", q)],
            "The worst neighbours: the query's value moves by its sensitivity; noise `N(0, sigma^2)` either way",
        ),
        common.loss_step(
            setting,
            [Line("s(t)", sign * shift * (T - shift / 2) / sigma**2)],
            f"`s = log({setting.first}/{setting.second})`: the squares of t cancel and a straight line remains",
        ),
        common.branch_step(
            setting,
            [Line("t(s)", sign * sigma**2 * S / shift + shift / 2), Line("|t'(s)|", sigma**2 / shift)],
            f"The loss {'decreases' if setting.backward else 'increases'} strictly: one branch",
        ),
        common.pld_step(
            setting,
            [Line("omega(s)", written, "for all real s"), Line("delta(inf)", zero)],
            f"`omega(s) = {setting.first}(t(s)) |t'(s)|`; completing the square gives `N(mu^2/2, mu^2)`",
            density,
            ends,
            (),
            zero,
            letters,
        ),
        common.mirror_step(
            setting,
            [Line(f"omega_{setting.other_way}(s)", written), Line("e^s omega(-s)", written)],
            density,
            ends,
            (),
            letters,
        ),
        square_step(setting, sigma, shift),
        common.mgf_step(
            setting,
            [Line("M(z)", mgf)],
            "The square is a normal density with integral 1; the rest does not depend on t",
            letters=letters,
        ),
        common.cumulant_step(
            setting, MU**2 / 2, MU**2, zero, "`log M(z)` is quadratic: all further cumulants are 0", letters=letters
        ),
        common.renyi_step(setting, A * MU**2 / 2, letters=letters),
        common.alpha_step(setting, LAM * (LAM + 1) * MU**2 / 2, LAM * (LAM - 1) * MU**2 / 2, letters=letters),
        common.delta_step(
            setting,
            [
                Line("delta(eps)", gaussian_delta(MU, EPS)),
                Line("P(s > eps)".replace("P", setting.first), Phi(MU / 2 - EPS / MU)),
                Line("P(s > eps)".replace("P", setting.second), Phi(-MU / 2 - EPS / MU)),
            ],
            f"Lemma 2 of Koskela et al. 2021: `delta = delta(inf) + {setting.first}(s > eps) - e^eps "
            f"{setting.second}(s > eps)`; "
            "Balle and Wang 2018, Theorem 5",
            letters,
        ),
        common.h_step(setting, Phi(MU / 2 - sympy.log(X) / MU) - X * Phi(-MU / 2 - sympy.log(X) / MU), letters),
        common.tradeoff_step(
            setting,
            [Line("f(alpha)", Phi(PhiInverse(1 - ALPHA) - MU))],
            "Neyman-Pearson on `s <= c`, with c eliminated: `G_mu` of Dong, Roth, Su 2022",
            letters=letters,
        ),
        composition_step(setting, letters),
        bounds.chernoff_step(
            setting,
            sympy.exp(LAM * (LAM + 1) * MU**2 / 2),
            EPS / (K * MU**2) - sympy.Rational(1, 2),
            sympy.exp(-((EPS - K * MU**2 / 2) ** 2) / (2 * K * MU**2)),
            letters=letters,
        ),
        bounds.total_error_step(setting),
        bounds.periodisation_step(setting),
    ]


def square_step(setting: Setting, sigma, shift) -> Step:
    """P^{z+1} Q^{-z} as a normal density times a factor without t."""
    mean = (-Z if setting.backward else Z + 1) * shift
    factor = Z * (Z + 1) * shift**2 / (2 * sigma**2)
    product = normal_density(T, mean, sigma) * sympy.exp(factor)
    exponent = -((T - mean) ** 2) / (2 * sigma**2) + factor

    def check(scene: Scene):
        (piece,) = scene.twin.pieces
        t, z = scene.draw(-3, 3), mpmath.mpc(scene.draw(-2, 2), scene.draw(-2, 2))
        first, second = mpmath.log(piece[1](t)), mpmath.log(piece[2](t))
        expected = mpmath.exp((z + 1) * first - z * second)
        found = function(product, [T, Z], scene.values)(t, z)
        yield Comparison("the real part of the product", mpmath.re(found), mpmath.re(expected))
        yield Comparison("the imaginary part of the product", mpmath.im(found), mpmath.im(expected))

    name = f"{setting.first}^{{z+1}} {setting.second}^{{-z}}"
    lines = (Line(name, product), Line("the exponent", exponent))
    return Step("Completing the square", lines, "The exponent is quadratic in t", check, "the densities themselves")


def composition_step(setting: Setting, letters) -> Step:
    """k steps are one step with mu sqrt(k): the two-fold delta is the mean over the second loss of the first's."""
    scaled = sympy.sqrt(K) * MU

    def check(scene: Scene):
        eps = 2 * scene.loss()
        formula = gaussian_delta(scaled, EPS).xreplace(dict(letters))
        expected = scene.twin.moment(lambda s: common.page_delta(scene, eps - s))
        yield Comparison("delta of two steps", scene.number(formula, eps=eps, k=mpmath.mpf(2)), expected)
        k, z = scene.random.randint(2, 9), scene.draw(-2, 2)
        found = scene.number(
            sympy.exp(Z * (Z + 1) * MU**2 / 2).xreplace({MU: scaled}).xreplace(dict(letters)), z=z, k=mpmath.mpf(k)
        )
        yield Comparison("M(z)^k", found, scene.page.mgf(PAGE, z) ** k)

    lines = (
        Line("delta_k(eps)", gaussian_delta(scaled, EPS)),
        Line("M(z)^k", sympy.exp(K * Z * (Z + 1) * MU**2 / 2)),
        Line("f_k(alpha)", Phi(PhiInverse(1 - ALPHA) - scaled)),
    )
    reason = "Composition convolves PLDs (Theorem 3 of Koskela et al. 2021): normal laws add, `mu` becomes `mu k^{1/2}`"
    against = "the mean over the second loss, by quadrature"
    return Step("k-fold composition", lines, reason, check, against, letters)
