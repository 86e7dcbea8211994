"""Bricks of all stories: a formula goes in, a step with its reason and its brute-force check comes out."""

from collections.abc import Sequence
from itertools import pairwise

import mpmath
import sympy

from ...core.display import text_formula
from ...core.parameters import evaluate
from ..derivation import Comparison, Line, Step, spelled_out
from ..numeric import function
from ..quadrature import integrate
from ..scene import PAGE, Scene
from .setting import S, Setting, T

DENSITIES = "quadrature of the densities"
MASSES = "sums over the outcomes"


def source_of(setting: Setting) -> str:
    """Where the brute-force numbers of a setting come from."""
    return DENSITIES if hasattr(setting.outputs, "pieces") else MASSES


def output_step(setting: Setting, lines: Sequence[Line], reason: str) -> Step:
    """The output distributions: both have mass 1, and the page has the same masses at infinity."""

    def check(scene: Scene):
        for name, total in zip((setting.first, setting.second), scene.twin.totals(), strict=True):
            yield Comparison(f"the mass of {name}", total, mpmath.mpf(1))
        infinite = scene.twin.infinite()
        yield Comparison("the mass at infinity", infinite[0], scene.page.mass_at_infinity(PAGE))
        yield Comparison("the mass at -infinity", infinite[1], scene.page.mass_at_minus_infinity(PAGE))

    return Step("Output distributions", tuple(lines), reason, check, f"{source_of(setting)} and the mechanism's page")


def parameter(pair, name: str, fn) -> sympy.Expr:
    """A parameter of a mechanism in sympy."""
    return evaluate(pair.arguments[name], fn)


def loss_step(setting: Setting, lines: Sequence[Line], reason: str, variable=T) -> Step:
    """s(t) on each piece of the line equals the logarithm of the ratio of the densities there.

    The lines' right sides belong to the pieces in order (one line: one formula everywhere).
    """

    def check(scene: Scene):
        for place, (cuts, p, q) in enumerate(scene.twin.pieces):
            formula = function(lines[min(place, len(lines) - 1)].right, [variable], scene.values)
            for low, high in pairwise(cuts):
                t = scene.draw(low, high)
                yield Comparison(f"s({mpmath.nstr(t, 5)})", formula(t), mpmath.log(p(t) / q(t)))

    return Step("Privacy loss", tuple(lines), reason, check, "the densities themselves")


def branch_step(setting: Setting, lines: Sequence[Line], reason: str) -> Step:
    """t(s) of the page's loss is t again, and its derivative that of the inverse."""

    def check(scene: Scene):
        inverse = function(lines[0].right, [S], scene.values)
        slope = function(lines[1].right, [S], scene.values)
        for cuts, p, q in scene.twin.pieces:
            t = scene.draw(cuts[0], cuts[-1])
            s = mpmath.log(p(t) / q(t))
            if lines[0].when and not _strictly_inside(scene, s):
                continue
            yield Comparison("t(s(t))", inverse(s), t)
            yield Comparison("|t'(s)|", slope(s), abs(mpmath.diff(inverse, s)))

    return Step("Monotone pieces", tuple(lines), reason, check, "the densities themselves")


def _strictly_inside(scene: Scene, s) -> bool:
    ends = scene.page.support(PAGE)
    margin = mpmath.mpf(10) ** -6  # a constant piece has its loss at an end, up to rounding
    return ends is not None and ends[0] + margin < s < ends[1] - margin


def pld_step(
    setting: Setting,
    lines: Sequence[Line],
    reason: str,
    density,
    ends,
    atoms,
    infinite,
    letters=(),
    stopped=None,
    splits=(),
) -> Step:
    """omega: at random c, P(s > c) by this density and these atoms equals P of the outcomes with loss above c."""
    spelled = spelled_out(density, letters)

    def check(scene: Scene):
        for c in (scene.loss(),) if splits else (scene.loss(), scene.loss()):
            found = scene.number(infinite) + sum(scene.number(atom.p) for atom in atoms if scene.number(atom.loss) > c)
            if ends is not None:
                usual = [*scene.twin.range(), *splits]
                # a density of several pieces is infinite where one of them begins: half the digits are lost there
                with mpmath.workdps(mpmath.mp.dps * (2 if splits else 1)):
                    found += _mass_above(scene, spelled, ends, c, usual)
            yield Comparison(f"P(s > {mpmath.nstr(c, 5)})", found, scene.twin.above(c)[0])

    return Step("Privacy loss distribution", tuple(lines), reason, check, source_of(setting), tuple(letters), stopped)


def _mass_above(scene: Scene, density, ends, c, usual: Sequence):
    """The integral of a density in s from c to the end of its support, cut at usual values of the loss."""
    low, high = (scene.number(end) for end in ends)
    usual = [point if isinstance(point, mpmath.mpf) else scene.number(point) for point in usual]
    omega = function(density, [S], scene.values)
    start = max(low, c)
    if start >= high:
        return mpmath.mpf(0)
    high = _last_that_counts(omega, max([start, *usual]), high, scene.digits)
    cuts = [start, *sorted({point for point in usual if start < point < high}), high]
    return mpmath.fsum(_clipped_integral(omega, a, b, scene.digits + 8) for a, b in pairwise(cuts))


def _last_that_counts(omega, start, high, digits):
    """Where a density has vanished; far beyond that its formula may cancel to nothing but rounding."""
    reach = mpmath.mpf(1)
    for _ in range(40 if mpmath.isinf(high) else 0):
        value = omega(start + reach)
        with mpmath.workdps(3 * mpmath.mp.dps // 2):
            if abs(value - omega(start + reach)) > abs(value) / 1000:
                return start + reach * 4 / 5
        if abs(value) * reach < mpmath.mpf(10) ** (-digits - 10):
            return start + reach
        reach *= mpmath.mpf(5) / 4
    return high


def _clipped_integral(omega, low, high, digits):
    """At a node nearer to an end than rounding allows a formula's logarithms and quotients have no meaning."""
    inner = [
        end if mpmath.isinf(end) else end + sign * (1 + abs(end)) * mpmath.eps * 64
        for end, sign in ((low, 1), (high, -1))
    ]

    def at(s):
        value = omega(min(max(s, inner[0]), inner[1]))
        return mpmath.mpf(0) if mpmath.isnan(value) else value  # far out, infinity over infinity

    return integrate(at, [low, high], digits)


def mirror_step(setting: Setting, lines: Sequence[Line], density, ends, atoms, letters=(), splits=()) -> Step:
    """The other direction's omega: its Q(s > c), by these formulas, is the mass of {-s > c} under the second."""
    spelled = spelled_out(density, letters)

    def check(scene: Scene):
        c = scene.loss()
        found = sum((scene.number(atom.p) for atom in atoms if scene.number(atom.loss) > c), mpmath.mpf(0))
        if ends is not None:
            usual = [*(-point for point in scene.twin.range()), *splits]
            with mpmath.workdps(mpmath.mp.dps * (2 if splits else 1)):
                found += _mass_above(scene, spelled, ends, c, usual)
        everything = scene.twin.totals()[1]
        missing = scene.twin.infinite()[1]
        below = everything - scene.twin.above(-c)[1] - missing
        yield Comparison(f"the mass above {mpmath.nstr(c, 5)} in the other direction", found, below)

    reason = "Mirror identity: seen from the other side a loss s becomes -s and its mass is multiplied by `e^{-s}`"
    return Step("The other direction", tuple(lines), reason, check, source_of(setting), tuple(letters))


def mgf_step(setting: Setting, lines: Sequence[Line], reason: str, title="Moment generating function", **more) -> Step:
    """M(z): at a random complex z, the integral of e^{zs}."""
    expression = spelled_out(lines[0].right, more.get("letters", ()))

    def check(scene: Scene):
        z = mpmath.mpc(scene.power(scene.random.choice((-1, 1))) / 2, scene.draw(-3, 3))
        found, expected = scene.number(expression, z=z), scene.twin.moment(lambda s: mpmath.exp(z * s))
        yield Comparison("the real part of M(z)", mpmath.re(found), mpmath.re(expected))
        yield Comparison("the imaginary part of M(z)", mpmath.im(found), mpmath.im(expected))

    return Step(title, tuple(lines), reason, check, source_of(setting), **more)


def cumulant_step(setting: Setting, mean, variance, third=None, reason: str = "", **more) -> Step:
    """Mean, variance and third cumulant of the loss (given that it is finite)."""
    letters = more.get("letters", ())
    mean_, variance_, third_ = (spelled_out(value, letters) for value in (mean, variance, third or 0))
    lines = [Line("kappa1", mean), Line("kappa2", variance)] + ([] if third is None else [Line("kappa3", third)])

    def check(scene: Scene):
        mass = scene.twin.moment(lambda s: mpmath.mpf(1))
        if scene.twin.moments < (2 if third is None else 3):  # heavy tails of a pair of one's own
            infinite = scene.twin.infinite()[0]
            yield Comparison("the mass of finite losses", 1 - infinite, scene.twin.totals()[0] - infinite)
            if scene.twin.moments:
                yield Comparison("the mean of the loss", scene.number(mean_), scene.twin.moment(lambda s: s) / mass)
            return
        first = scene.twin.moment(lambda s: s) / mass
        second = scene.twin.moment(lambda s: (s - first) ** 2) / mass
        yield Comparison("the mean of the loss", scene.number(mean_), first)
        yield Comparison("the variance of the loss", scene.number(variance_), second)
        if third is not None:
            expected = scene.twin.moment(lambda s: (s - first) ** 3) / mass
            yield Comparison("the third cumulant", scene.number(third_), expected, scale=second ** mpmath.mpf("1.5"))

    reason = reason or "Derivatives of `log M(z)` at `z = 0`"
    return Step("Cumulants", tuple(lines), reason, check, source_of(setting), **more)


def renyi_step(setting: Setting, divergence, reason: str = "", **more) -> Step:
    """D_a of first over second: log of the integral of P^a Q^{1-a}, over a - 1."""
    spelled = spelled_out(divergence, more.get("letters", ()))

    def check(scene: Scene):
        order = 1 + scene.power()
        moment = scene.twin.moment(lambda s: mpmath.exp((order - 1) * s))
        found = scene.number(spelled, a=order)
        yield Comparison(f"the divergence of order {mpmath.nstr(order, 5)}", found, mpmath.log(moment) / (order - 1))

    reason = reason or (
        "`D_a = log M(a-1)/(a-1)`; `log M(lambda)` is the moments accountant's `alpha(lambda)` (Mironov 2017)"
    )
    title = "Rényi divergence"
    return Step(
        title, (Line(f"D_a({setting.first}||{setting.second})", divergence),), reason, check, source_of(setting), **more
    )


def alpha_step(setting: Setting, plus, minus, **more) -> Step:
    """alpha+ and alpha-, the logarithms of E e^{lambda s} and E e^{-lambda s}."""
    letters = more.get("letters", ())
    sides = (("alpha+", spelled_out(plus, letters), 1), ("alpha-", spelled_out(minus, letters), -1))

    def check(scene: Scene):
        lam = scene.order() or abs(scene.power())
        for name, formula, sign in sides:
            if not scene.twin.powers[max(sign, 0)]:
                continue  # infinite for every lambda
            moment = scene.twin.moment(lambda s, sign=sign: mpmath.exp(sign * lam * s))
            yield Comparison(name, scene.number(formula, **{"lambda": lam}), mpmath.log(moment))

    lines = (Line("alpha+(lambda)", plus), Line("alpha-(lambda)", minus))
    reason = (
        "`alpha+(lambda) = log M(lambda)`, `alpha-(lambda) = log M(-lambda)`: what the bounds of the Fourier "
        "accountant are made of"
    )
    return Step("alpha+ and alpha-", lines, reason, check, source_of(setting), **more)


def delta_step(setting: Setting, lines: Sequence[Line], reason: str, letters=(), title="Tight delta", **more) -> Step:
    """delta(eps) equals the integral of max(P - e^eps Q, 0)."""
    spelled = spelled_out(lines[0].right, letters)

    def check(scene: Scene):
        for eps in (scene.loss(), scene.loss(mpmath.mpf(13) / 10)):
            found, expected = scene.number(spelled, eps=eps), scene.twin.hockey_stick(eps)
            yield Comparison(f"delta({mpmath.nstr(eps, 5)})", found, expected)

    return Step(title, tuple(lines), reason, check, source_of(setting), letters=tuple(letters), **more)


def h_step(setting: Setting, h, letters=(), slope: str = "", **more) -> Step:
    """h(x) = delta(log x), with its two trivial bounds."""
    spelled = spelled_out(h, letters)

    def check(scene: Scene):
        x = mpmath.exp(scene.loss())
        found = scene.number(spelled, x=x)
        yield Comparison(f"h({mpmath.nstr(x, 5)})", found, scene.twin.hockey_stick(mpmath.log(x)))
        step = mpmath.mpf(10) ** (-scene.digits // 3)
        wide = [scene.number(spelled, x=x * (1 + sign * step)) for sign in (-1, 1)]
        yield Comparison("the middle of a chord of h, from below,", found, sum(wide) / 2, "<=")
        yield Comparison("1 - x", 1 - x, found + mpmath.eps, "<=")

    reason = (
        "`h(x) = delta(log x)` is convex and does not increase; `h(0) = 1`, `h(x) >= 1 - x`, and its slope at x is "
        f"`-{setting.second}(s > log x)`"
    )
    return Step("In x = e^eps", (Line("h(x)", h),), reason, check, source_of(setting), letters=tuple(letters), **more)


def tradeoff_step(setting: Setting, lines: Sequence[Line], reason: str = "", **more) -> Step:
    """f(alpha): at the errors of a likelihood-ratio test (reject the first where s <= c), f is its type II error."""
    formula = spelled_out(lines[0].right, more.get("letters", ()))

    def check(scene: Scene):
        for c in (scene.loss(), scene.loss()):
            p, q = scene.twin.above(c)
            alpha = scene.twin.totals()[0] - p
            found = scene.number(formula, alpha=alpha)
            # alpha is a difference from 1, so that a small f has lost digits
            yield Comparison(f"f({mpmath.nstr(alpha, 5)})", found, q, scale=mpmath.mpf(10) ** -6)

    reason = reason or (
        "Neyman-Pearson: reject where `s <= c`; `alpha` is the mass of that under the first distribution, "
        "f the second's mass of the rest"
    )
    return Step("Trade-off function", tuple(lines), reason, check, source_of(setting), **more)


def tradeoff_parametric(setting: Setting, alpha, beta, reason: str = "", letters=(), **more) -> Step:
    """The trade-off function as a curve (alpha(c), f(alpha(c)))."""
    spelled = [spelled_out(side, letters) for side in (alpha, beta)]

    def check(scene: Scene):
        c = scene.loss()
        p, q = scene.twin.above(c)
        yield Comparison("alpha(c)", scene.number(spelled[0], c=c), scene.twin.totals()[0] - p)
        yield Comparison("f(alpha(c))", scene.number(spelled[1], c=c), q)

    lines = (Line("alpha(c)", alpha), Line("f(alpha(c))", beta))
    reason = reason or "Neyman-Pearson: reject where `s <= c`, for every c"
    return Step("Trade-off function", lines, reason, check, source_of(setting), letters=tuple(letters), **more)


def page_delta(scene: Scene, eps):
    """delta of one step from the tails of the mechanism's page."""
    page = scene.page
    p, q = page.mass_at_infinity(PAGE), mpmath.mpf(0)
    for atom in scene.page_atoms:
        if atom.loss > eps:
            p, q = p + atom.p, q + atom.q
    ends = page.support(PAGE)
    if ends is not None and eps < ends[1]:
        masses = page.above(PAGE, eps) if eps > ends[0] else page.continuous_mass(PAGE)
        p, q = p + masses[0], q + masses[1]
    return p - mpmath.exp(eps) * q


def two_steps(scene: Scene, eps):
    """delta of two steps: the mean over the second loss of delta of one, from the page."""
    page = scene.page
    atoms, ends = scene.page_atoms, page.support(PAGE)
    knots = [atom.loss for atom in atoms] + [end for end in ends or () if not mpmath.isinf(end)]
    kinks = sorted({eps - knot for knot in knots})
    if ends is None or not atoms:
        finite = scene.twin.moment(lambda s: page_delta(scene, eps - s), kinks)
    else:
        cuts = [ends[0], *(c for c in kinks if ends[0] < c < ends[1]), ends[1]]
        finite = integrate(lambda s: page.density(PAGE, s) * page_delta(scene, eps - s), cuts)
        finite += sum(atom.p * page_delta(scene, eps - atom.loss) for atom in atoms)
    return page.mass_at_infinity(PAGE) + finite


def interval(name, low, high) -> str:
    """A condition on a variable, without ends that are infinite."""
    low, high = (text_formula(sympy.sympify(end)) if sympy.sympify(end).is_finite else "" for end in (low, high))
    if not low and not high:
        return f"for all real {name}"
    return f"for {low + ' < ' if low else ''}{name}{' < ' + high if high else ''}"


def whole_range(first, last) -> str:
    """A condition on a whole number between two ends, both included."""
    if first == -sympy.oo:
        return "for all whole j"
    return f"for {text_formula(sympy.sympify(first))} <= j <= {text_formula(sympy.sympify(last))}"
