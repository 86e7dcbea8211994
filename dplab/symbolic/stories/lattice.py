"""Mechanisms whose outcomes are whole numbers: the binomial, the discrete Laplace and the discrete Gaussian."""

from collections.abc import Callable
from dataclasses import dataclass

import mpmath
import sympy

from ...core.pair import Atom
from ..derivation import Comparison, Line, Step, spelled_out
from ..outputs import Lattice
from ..scene import Scene
from ..worker import StageStopped
from . import bounds, common
from .finite import finite_steps
from .setting import EPS, LAM, A, C, J, K, Setting, X, Z

ZERO, ONE, OO = sympy.S.Zero, sympy.S.One, sympy.oo
MOST_WRITTEN = 6
"""Up to so many atoms of the discrete Laplace are written out one by one."""


@dataclass(frozen=True)
class Law:
    """The masses of both distributions as functions of the outcome j, and the loss where both are positive.

    `first` and `last` are the common outcomes; `above` is the interval of outcomes with loss above x, as ends in x.
    """

    p: sympy.Expr
    q: sympy.Expr
    loss: sympy.Expr
    first: sympy.Expr
    last: sympy.Expr
    infinite: sympy.Expr
    missing: sympy.Expr
    above: Callable[[sympy.Expr], tuple] | None
    mgf: sympy.Expr
    letters: tuple = ()


# --- the binomial mechanism ---------------------------------------------------------------------------


def binomial_mass(n, j, p) -> sympy.Expr:
    """C(n,j) p^j (1-p)^(n-j)."""
    return sympy.binomial(n, j) * p**j * (1 - p) ** (n - j)


def binomial_outputs(pair, fn) -> Lattice:
    """Bin(n,p) and D + Bin(n,p)."""
    n, p, shift = (common.parameter(pair, name, fn) for name in ("n", "p", "shift"))
    return Lattice(
        J, binomial_mass(n, J, p), binomial_mass(n, J - shift, p), ZERO, n + shift, (ZERO, n), (shift, n + shift)
    )


def binomial_law(pair, fn, backward: bool) -> Law:
    """The law of the loss, in either direction."""
    n, p, shift = (common.parameter(pair, name, fn) for name in ("n", "p", "shift"))
    below = sympy.Sum(binomial_mass(n, J, p), (J, 0, shift - 1)) if shift > 1 else (1 - p) ** n
    beyond = sympy.Sum(binomial_mass(n, J, p), (J, n - shift + 1, n)) if shift > 1 else p**n
    loss = sympy.log(sympy.binomial(n, J) / sympy.binomial(n, J - shift)) + shift * sympy.log(p / (1 - p))
    above = None
    if shift == 1:
        loss = sympy.log((n + 1 - J) * p / (J * (1 - p)))

        def above(x):
            """Forward: j below (n+1) p/(p + (1-p) e^x); backward: j above the same with -x."""
            at = (n + 1) * p / (p + (1 - p) * sympy.exp(-x if backward else x))
            return (sympy.floor(at) + 1, n + 1) if backward else (ZERO, sympy.ceiling(at) - 1)

    power = -1 - Z if backward else Z
    mgf = sympy.Sum(
        sympy.binomial(n, J) ** (power + 1) * sympy.binomial(n, J - shift) ** -power
        * p ** (J + shift * power) * (1 - p) ** (n - J - shift * power),
        (J, shift, n),
    )  # fmt: skip
    masses = binomial_mass(n, J, p), binomial_mass(n, J - shift, p)
    if backward:
        return Law(*masses[::-1], -loss, shift, n, beyond, below, above, mgf)
    return Law(*masses, loss, shift, n, below, beyond, above, mgf)


# --- the discrete Gaussian ----------------------------------------------------------------------------

THETA = sympy.Symbol("theta", positive=True)


def discrete_gaussian_outputs(pair, fn) -> Lattice:
    """e^{-(j-D)^2/(2 sigma^2)} and e^{-j^2/(2 sigma^2)}, over their sum."""
    sigma, shift = (common.parameter(pair, name, fn) for name in ("sigma", "shift"))
    total = _theta(ZERO, sigma)
    return Lattice(J, _bell(J - shift, sigma) / total, _bell(J, sigma) / total, -OO, OO)


def _bell(j, sigma) -> sympy.Expr:
    return sympy.exp(-(j**2) / (2 * sigma**2))


def _theta(a, sigma) -> sympy.Expr:
    i = sympy.Symbol("i", integer=True)
    return sympy.Sum(_bell(i - a, sigma), (i, -OO, OO))


def discrete_gaussian_law(pair, fn, backward: bool) -> Law:
    """The law of the loss, in either direction."""
    sigma, shift = (common.parameter(pair, name, fn) for name in ("sigma", "shift"))
    loss = shift * (2 * J - shift) / (2 * sigma**2)
    masses = _bell(J - shift, sigma) / THETA, _bell(J, sigma) / THETA
    mgf = sympy.exp(Z * (Z + 1) * shift**2 / (2 * sigma**2)) * _theta((Z + 1) * shift, sigma) / THETA

    def above(x):
        at = sigma**2 * x / shift
        half = sympy.Rational(1, 2) * shift
        return (-OO, sympy.ceiling(half - at) - 1) if backward else (sympy.floor(half + at) + 1, OO)

    ordered = masses[::-1] if backward else masses
    letters = ((THETA, _theta(ZERO, sigma)),)
    return Law(*ordered, -loss if backward else loss, -OO, OO, ZERO, ZERO, above, mgf, letters)


# --- the discrete Laplace -----------------------------------------------------------------------------

RATIO = sympy.Symbol("r", positive=True)


def discrete_laplace_outputs(pair, fn) -> Lattice:
    """(1-r)/(1+r) r^|j-d| and (1-r)/(1+r) r^|j| with r = e^{-1/b}."""
    b, shift = (common.parameter(pair, name, fn) for name in ("b", "shift"))
    r = sympy.exp(-1 / b)
    share = (1 - r) / (1 + r)
    return Lattice(J, share * r ** sympy.Abs(J - shift), share * r ** sympy.Abs(J), -OO, OO)


def discrete_laplace_story(setting: Setting) -> list[Step]:
    """The tails are geometric sums and become the outermost two of d + 1 atoms."""
    b, shift = (common.parameter(setting.pair, name, setting.fn) for name in ("b", "shift"))
    d, r = int(shift), RATIO
    letters = ((r, sympy.exp(-1 / b)),)
    share = (1 - r) / (1 + r)
    atoms = [Atom(d / b, 1 / (1 + r), r**d / (1 + r))]
    atoms += [Atom(sympy.Integer(2 * t - d) / b, share * r ** (d - t), share * r**t) for t in range(d - 1, 0, -1)]
    atoms += [Atom(-d / b, r**d / (1 + r), 1 / (1 + r))]
    sign = -1 if setting.backward else 1
    loss = sign * (sympy.Abs(J) - sympy.Abs(J - shift)) / b
    head = [
        _output_step(setting, share * r ** sympy.Abs(J - shift), share * r ** sympy.Abs(J), letters, setting.backward),
        loss_step(setting, [Line("s(j)", loss)], loss),
    ]
    if len(atoms) > MOST_WRITTEN + 1:
        return [*head, *lattice_steps(setting, discrete_laplace_law(setting.pair, setting.fn, setting.backward))]
    return head + finite_steps(setting, atoms, letters)


def discrete_laplace_law(pair, fn, backward: bool) -> Law:
    """Outcomes below 0 counted as 0, those above d as d: the loss is the same there."""
    b, shift = (common.parameter(pair, name, fn) for name in ("b", "shift"))
    r = RATIO
    share = (1 - r) / (1 + r)
    ends = sympy.Eq(J, 0), sympy.Eq(J, shift)
    p = sympy.Piecewise(
        (r**shift / (1 + r), ends[0]), (1 / (1 + r), ends[1]), (share * r ** (shift - J), True), evaluate=False
    )
    q = sympy.Piecewise((1 / (1 + r), ends[0]), (r**shift / (1 + r), ends[1]), (share * r**J, True), evaluate=False)
    t = sympy.Symbol("i", integer=True)
    inner = sympy.Sum(share * r ** (shift - t) * sympy.exp(Z * (2 * t - shift) / b), (t, 1, shift - 1))
    mgf = (sympy.exp(Z * shift / b) + r**shift * sympy.exp(-Z * shift / b)) / (1 + r) + inner

    def above(x):
        at = (shift + (-b * x if backward else b * x)) / 2
        if backward:
            return ZERO, sympy.Min(shift, sympy.ceiling(at) - 1)
        return sympy.Max(0, sympy.floor(at) + 1), shift

    loss = (shift - 2 * J if backward else 2 * J - shift) / b
    masses = (q, p) if backward else (p, q)
    return Law(*masses, loss, ZERO, shift, ZERO, ZERO, above, mgf, ((r, sympy.exp(-1 / b)),))


# --- steps that all share -----------------------------------------------------------------------------


def lattice_story(law_of: Callable[..., Law]) -> Callable[[Setting], list[Step]]:
    """The story of a mechanism whose law is known as formulas in the outcome."""

    def story(setting: Setting) -> list[Step]:
        law = law_of(setting.pair, setting.fn, setting.backward)
        where = common.whole_range(law.first, law.last)
        p, q = (law.q, law.p) if setting.backward else (law.p, law.q)
        head = [
            _output_step(setting, p, q, law.letters, False),
            loss_step(setting, [Line("s(j)", law.loss, where)], law.loss),
        ]
        return [*head, *lattice_steps(setting, law)]

    return story


def _output_step(setting: Setting, p, q, letters, _backward: bool) -> Step:
    reason = "Whole-valued noise on a query that moves by its shift"
    step = common.output_step(setting, [Line("P(j)", p), Line("Q(j)", q)], reason)
    return Step(step.title, step.lines, step.reason, step.check, step.against, letters)


def loss_step(setting: Setting, lines: list[Line], loss) -> Step:
    """s of each outcome."""

    def check(scene: Scene):
        masses = [scene.mass_at(side) for side in (0, 1)]
        for j in scene.common_outcomes(3):
            yield Comparison(f"s({j})", scene.number(loss, j=j), mpmath.log(masses[0](j) / masses[1](j)))

    reason = f"`s = log({setting.first}/{setting.second})`, outcome by outcome"
    return Step("Privacy loss", tuple(lines), reason, check, "the masses themselves")


def lattice_steps(setting: Setting, law: Law, mgf_stopped: StageStopped | None = None) -> list[Step]:
    """What follows from the law of the loss; `mgf_stopped` says why M(z) is no closed form, where that is told."""
    letters = law.letters
    mean, square = (sympy.Sum(law.p * law.loss**n, (J, law.first, law.last)) / (1 - law.infinite) for n in (1, 2))
    kappa = sympy.Symbol("kappa1", real=True)
    p, q = masses_above(law, EPS)
    at_x, at_c = ([side.xreplace({EPS: new}) for side in (p, q)] for new in (sympy.log(X), C))
    stopped = StageStopped("cumulants", "left as sums over the outcomes")
    return [
        _pld_step(setting, law),
        _other_direction(setting, law),
        common.mgf_step(
            setting,
            [Line("M(z)", law.mgf)],
            "The sum of `f^{z+1} g^{-z}`, f and g the first and the second distribution",
            letters=letters,
            stopped=mgf_stopped,
        ),
        common.cumulant_step(
            setting,
            mean,
            square - kappa**2,
            reason="`kappa1 = E s`, `kappa2 = E s^2 - kappa1^2`, given that the loss is finite",
            letters=((kappa, mean), *letters),
            stopped=stopped,
        ),
        common.renyi_step(setting, sympy.log(law.mgf.xreplace({Z: A - 1})) / (A - 1), letters=letters),
        common.alpha_step(
            setting, *(sympy.log(law.mgf.xreplace({Z: sign * LAM})) for sign in (1, -1)), letters=letters
        ),
        common.delta_step(
            setting,
            [Line("delta(eps)", p - sympy.exp(EPS) * q)],
            "Lemma 2 of Koskela et al. 2021: the outcomes with loss above `eps`, and those that only the first has",
            letters,
        ),
        common.h_step(setting, at_x[0] - X * at_x[1], letters),
        common.tradeoff_parametric(setting, 1 - at_c[0], at_c[1], letters=letters),
        _composition_step(setting, law),
        bounds.chernoff_step(setting, law.mgf.xreplace({Z: LAM}), infinite=law.infinite, letters=letters),
        bounds.total_error_step(setting),
        bounds.periodisation_step(setting),
    ]


def masses_above(law: Law, x) -> tuple[sympy.Expr, sympy.Expr]:
    """First's and second's mass of {s > x}, mass at infinity included."""
    if law.above is None:
        holds = sympy.StrictGreaterThan(law.loss, x, evaluate=False)
        limits = (J, law.first, law.last)
        sides = [sympy.Sum(sympy.Piecewise((m, holds), (ZERO, True), evaluate=False), limits) for m in (law.p, law.q)]
        return law.infinite + sides[0], sides[1]
    low, high = law.above(x)
    if law.infinite == 0:
        return tuple(sympy.Sum(mass, (J, low, high)) for mass in (law.p, law.q))
    # the outcomes that only the first has continue the same range; the second has none there
    inner = (sympy.Max(low, law.first), sympy.Min(high, law.last))
    return law.infinite + sympy.Sum(law.p, (J, *inner)), sympy.Sum(law.q, (J, *inner))


def _pld_step(setting: Setting, law: Law) -> Step:
    where = common.whole_range(law.first, law.last)
    lines = (Line("mass at s(j)", law.p, where), Line("delta(inf)", law.infinite))
    mass, loss = (spelled_out(part, law.letters) for part in (law.p, law.loss))

    def check(scene: Scene):
        for c in (scene.loss(), scene.loss()):
            found = scene.number(law.infinite) + scene.sum_where(mass, loss, law.first, law.last, c)
            yield Comparison(f"P(s > {mpmath.nstr(c, 5)})", found, scene.twin.above(c)[0])

    reason = "Each outcome that both can produce is an atom of the loss"
    return Step("Privacy loss distribution", lines, reason, check, common.MASSES, law.letters)


def _other_direction(setting: Setting, law: Law) -> Step:
    where = common.whole_range(law.first, law.last)
    lines = (Line("mass at -s(j)", law.q, where), Line(f"delta_{setting.other_way}(inf)", law.missing))
    mass, loss = (spelled_out(part, law.letters) for part in (law.q, -law.loss))

    def check(scene: Scene):
        other = scene.turned()
        c = other.loss()
        found = scene.number(law.missing) + scene.sum_where(mass, loss, law.first, law.last, c)
        yield Comparison(f"the mass above {mpmath.nstr(c, 5)}", found, other.twin.above(c)[0])

    reason = "Mirror identity: seen from the other side a loss s becomes -s and its mass is multiplied by `e^{-s}`"
    return Step("The other direction", lines, reason, check, common.MASSES, law.letters)


def _composition_step(setting: Setting, law: Law) -> Step:
    first, second = (sympy.Symbol(name, integer=True) for name in ("i1", "i2"))
    growth = sympy.exp(EPS)
    body = sympy.Max(
        0,
        law.p.xreplace({J: first}) * law.p.xreplace({J: second})
        - growth * law.q.xreplace({J: first}) * law.q.xreplace({J: second}),
        evaluate=False,
    )
    limits = [(i, law.first, law.last) for i in (second, first)]
    double = sympy.Sum(body, *limits)
    delta = 1 - (1 - law.infinite) ** 2 + double if law.infinite != 0 else double
    power = law.mgf**K

    def check(scene: Scene):
        eps = scene.loss()
        points = scene.twin.merged()
        growth = mpmath.exp(eps)
        expected = mpmath.mpf(0)
        for p1, q1 in points:
            # the mean over one loss of the hockey stick of the other, outcome by outcome
            expected += sum((max(p1 * p2 - growth * q1 * q2, 0) for p2, q2 in points), mpmath.mpf(0))
        found = scene.twin.infinite()[0] + scene.twin.moment(lambda s: common.page_delta(scene, eps - s))
        yield Comparison("delta of two steps", found, expected)
        k, z = 3, scene.power() / 3
        moment = scene.twin.moment(lambda s: mpmath.exp(z * s))
        spelled = spelled_out(power, law.letters)
        yield Comparison("M(z)^3", scene.number(spelled, z=z, k=mpmath.mpf(k)), moment**k)

    lines = (Line("M(z)^k", power), Line("delta_2(eps)", delta))
    reason = (
        "Composition convolves PLDs and multiplies M (Theorem 3 of Koskela et al. 2021); each further step is one sum "
        "more, which dplab.reference and dplab.fourier do on the lattice"
    )
    stopped = StageStopped("convolution", "k steps are k nested sums; no closed form")
    return Step("k-fold composition", lines, reason, check, "all pairs of outcomes", law.letters, stopped)
