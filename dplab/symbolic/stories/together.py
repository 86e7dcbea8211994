"""Compositions and products: losses add, M multiplies, and delta is written down where the sum's law is closed."""

import mpmath
import sympy

from ...core.composition import Composition
from ...core.errors import NoClosedFormError
from ..compositions import Kinds, closed_delta
from ..derivation import Comparison, Line, Step, spelled_out
from ..numeric import function
from ..quadrature import integrate
from ..scene import Scene
from ..table import SympyTable
from ..worker import StageStopped
from .bounds import KERNEL
from .setting import EPS, LAM, A, L, X, Z

ZERO = sympy.S.Zero
MOST_POINTS = 4000
"""Up to so many distinct sums of losses are convolved by brute force."""
MOST_KINKS = 60


class Parts:
    """The parts of a composition: their steps on their own, and how often each occurs."""

    def __init__(self, composition: Composition, backward: bool, steps: list[dict[str, Step]]):
        self.composition, self.backward, self.steps = composition, backward, steps
        self.times = [k for _, k in composition.parts]
        letters = [steps_of["Moment generating function"].letters for steps_of in steps]
        self.letters = letters[0] if len(steps) == 1 else ()
        """One part keeps its abbreviations; those of several could clash and are written out."""

    def each(self, title: str, line: int = 0) -> list[sympy.Expr]:
        """The formula of a step for each part."""
        found = []
        for steps in self.steps:
            step = steps[title]
            formula = step.lines[line].right
            found.append(formula if self.letters else spelled_out(formula, step.letters))
        return found

    @property
    def open_stage(self) -> StageStopped | None:
        """The stage that stopped at a part's M(z), if one did."""
        return next((s["Moment generating function"].stopped for s in self.steps
                     if s["Moment generating function"].stopped), None)  # fmt: skip

    def mgf(self) -> sympy.Expr:
        """The product of the M_j(z)^k_j."""
        factors = self.each("Moment generating function")
        return sympy.Mul(*(factor**k for factor, k in zip(factors, self.times, strict=True)))


class Together:
    """Scenes of all parts at the same numbers."""

    def __init__(self, scenes: list[Scene], times: list[int]):
        self.scenes, self.times = scenes, times
        self.digits, self.random = scenes[0].digits, scenes[0].random
        self.values = {symbol: value for scene in scenes for symbol, value in scene.values.items()}

    def __str__(self) -> str:
        return "; ".join(dict.fromkeys(map(str, self.scenes)))

    def number(self, expression, **letters):
        """The value of an expression at the numbers of all parts."""
        merged = self.scenes[0]
        kept, merged.values = merged.values, self.values
        try:
            return merged.number(expression, **letters)
        finally:
            merged.values = kept

    def moment(self, z):
        """The product of the parts' moments, each a quadrature or a sum."""
        return mpmath.fprod(
            scene.twin.moment(lambda s: mpmath.exp(z * s)) ** k
            for scene, k in zip(self.scenes, self.times, strict=True)
        )

    def infinite(self):
        """1 - prod (1 - delta_j(inf))^k_j."""
        masses = [(1 - scene.twin.infinite()[0]) ** k for scene, k in zip(self.scenes, self.times, strict=True)]
        return 1 - mpmath.fprod(masses)

    def spread(self) -> tuple:
        """Mean and standard deviation of the sum, given that it is finite."""
        mean = variance = mpmath.mpf(0)
        for scene, k in zip(self.scenes, self.times, strict=True):
            mass = scene.twin.moment(lambda s: mpmath.mpf(1))
            first = scene.twin.moment(lambda s: s) / mass
            mean += k * first
            variance += k * scene.twin.moment(lambda s, first=first: (s - first) ** 2) / mass
        return mean, mpmath.sqrt(variance)

    def scale(self) -> tuple:
        """Mean and standard deviation, the latter 1 where there is only one loss, up to rounding."""
        mean, deviation = self.spread()
        return mean, deviation if deviation > (1 + abs(mean)) * mpmath.sqrt(mpmath.eps) else mpmath.mpf(1)

    def power(self):
        """A random lambda of the size of one over the standard deviation."""
        highest = min(scene.twin.powers[1] for scene in self.scenes)
        return min(highest, 2 / self.scale()[1]) * mpmath.mpf(self.random.randint(3000, 9000)) / 10_000

    def convolved(self) -> list[tuple] | None:
        """All (P, Q) masses of sums of few atoms; None where there are too many, or densities."""
        total = [(mpmath.mpf(1), mpmath.mpf(1))]
        for scene, k in zip(self.scenes, self.times, strict=True):
            if not hasattr(scene.twin, "merged"):
                return None
            for _ in range(k):
                points = scene.twin.merged()
                found: dict = {}
                for p1, q1 in total:
                    for p2, q2 in points:
                        p, q = p1 * p2, q1 * q2
                        key = mpmath.nstr(mpmath.log(p / q), mpmath.mp.dps // 2, min_fixed=-5) if p and q else bool(p)
                        before = found.get(key, (0, 0))
                        found[key] = (before[0] + p, before[1] + q)
                total = list(found.values())
                if len(total) * len(points) > MOST_POINTS:
                    return None
        return total


def together_story(parts: Parts) -> list[Step]:
    """The steps for several parts, or for several steps of one."""
    mgf, infinite = parts.mgf(), _infinite(parts)
    return [
        _mgf_step(parts, mgf),
        _infinite_step(parts, infinite),
        _cumulant_step(parts),
        _renyi_step(parts, mgf),
        *_delta_steps(parts),
        _chernoff_step(parts, mgf, infinite),
        _window_step(parts, mgf),
    ]


AGAINST = "quadratures and sums for each part"


def _mgf_step(parts: Parts, mgf) -> Step:
    spelled = spelled_out(mgf, parts.letters)

    def check(scene: Together):
        lam = scene.power()
        z = mpmath.mpc(lam, lam)
        found, expected = scene.number(spelled, z=z), scene.moment(z)
        yield Comparison("the real part of M(z)", mpmath.re(found), mpmath.re(expected), scale=abs(expected))
        yield Comparison("its imaginary part", mpmath.im(found), mpmath.im(expected), scale=abs(expected))

    reason = "Composition convolves PLDs (Koskela et al. 2021, Theorem 3), so M multiplies"
    return Step("Moment generating function", (Line("M(z)", mgf),), reason, check, AGAINST, parts.letters,
                parts.open_stage)  # fmt: skip


def _infinite(parts: Parts) -> sympy.Expr:
    masses = []
    for steps in parts.steps:
        step = steps["Privacy loss distribution"]
        line = next(line for line in step.lines if line.left == "delta(inf)")
        masses.append(spelled_out(line.right, step.letters))
    return 1 - sympy.Mul(*((1 - mass) ** k for mass, k in zip(masses, parts.times, strict=True)))


def _infinite_step(parts: Parts, infinite) -> Step:
    def check(scene: Together):
        yield Comparison("delta(inf)", scene.number(infinite), scene.infinite())

    reason = "The sum is finite only if every loss is"
    return Step("Mass at infinity", (Line("delta(inf)", infinite),), reason, check, AGAINST)


def _cumulant_step(parts: Parts) -> Step:
    sums = []
    for line in (0, 1):
        terms = [spelled_out(steps["Cumulants"].lines[line].right, steps["Cumulants"].letters) for steps in parts.steps]
        sums.append(sympy.Add(*(k * term for term, k in zip(terms, parts.times, strict=True))))

    def check(scene: Together):
        mean, deviation = scene.spread()
        yield Comparison("the mean", scene.number(sums[0]), mean)
        yield Comparison("the variance", scene.number(sums[1]), deviation**2)

    stopped = StageStopped("cumulants", "left as integrals") if sums[0].has(sympy.Integral, sympy.Sum) else None
    lines = (Line("kappa1", sums[0]), Line("kappa2", sums[1]))
    return Step("Cumulants", lines, "Cumulants add", check, AGAINST, stopped=stopped)


def _renyi_step(parts: Parts, mgf) -> Step:
    divergence = sympy.log(mgf.xreplace({Z: A - 1})) / (A - 1)
    spelled = spelled_out(divergence, parts.letters)

    def check(scene: Together):
        lam = scene.power()
        yield Comparison("the divergence", scene.number(spelled, a=1 + lam), mpmath.log(scene.moment(lam)) / lam)

    lines = (Line("D_a", divergence), Line("alpha+(lambda)", sympy.log(mgf.xreplace({Z: LAM}))))
    reason = "Rényi divergences of the same order add, and so do the `alpha+` (Mironov 2017)"
    return Step("Rényi divergence", lines, reason, check, AGAINST, parts.letters, parts.open_stage)


def _delta_steps(parts: Parts) -> list[Step]:
    fn = SympyTable()
    try:
        kinds = Kinds(parts.composition, parts.backward, fn)
        delta, reason = closed_delta(kinds, EPS)
        infinite = kinds.infinite
    except NoClosedFormError as error:
        stage, _, why = str(error).partition(": ")
        return [_open_delta_step(parts, StageStopped(stage, why))]
    letters = fn.definitions(delta)
    spelled = fn.spelled_out(delta)
    del infinite

    def check(scene: Together):
        points = scene.convolved()
        mean, deviation = scene.scale()
        if points is not None:
            eps = mean + deviation * mpmath.mpf(scene.random.randint(-2000, 2000)) / 1000
            growth = mpmath.exp(eps)
            expected = mpmath.fsum(max(p - growth * q, 0) for p, q in points)
            yield Comparison(f"delta({mpmath.nstr(eps, 5)})", scene.number(spelled, eps=eps), expected)
            return
        yield from _mellin(scene, spelled, mean, deviation, parts)

    step = Step(
        "Tight delta", (Line("delta(eps)", delta),), reason, check,
        "all sums of losses, or the transform of delta, M(z)/(z (z+1))", tuple(letters),
    )  # fmt: skip
    return [step, _h_step(spelled)]


def _mellin(scene: Together, delta, mean, deviation, parts: Parts):
    """The integral of (delta(eps) - delta(inf)) e^{z eps} is M(z)/(z (z+1))."""
    z = scene.power()
    infinite = scene.infinite()
    profile = function(delta, [EPS], scene.values)
    kinks = {mpmath.mpf(0)}
    for part, k in zip(scene.scenes, scene.times, strict=True):
        atoms = [atom.loss for atom in part.page_atoms]
        if not atoms or not kinks:
            continue
        for _ in range(k):
            kinks = {kink + loss for kink in kinks for loss in atoms}
            kinks = set({mpmath.nstr(kink, 25): kink for kink in kinks}.values())
            if len(kinks) > MOST_KINKS:
                kinks = set()
                break
    middle = [mean + j * deviation for j in (-10, -4, 0, 4, 10)]
    if not any(part.page_atoms for part in scene.scenes):
        kinks = set()
    cuts = [-mpmath.inf, *sorted({*middle, *kinks}), mpmath.inf]
    found = integrate(lambda eps: (profile(eps) - infinite) * mpmath.exp(z * eps), cuts)
    yield Comparison("the integral of delta e^{z eps}", found, scene.moment(z) / (z * (z + 1)))


def _open_delta_step(parts: Parts, stopped: StageStopped) -> Step:
    y, c = sympy.Symbol("y", real=True), sympy.Symbol("c", positive=True)
    point = c + sympy.I * y
    integrand = sympy.Function("M")(point) * sympy.exp(-point * EPS) / (point * (point + 1))
    contour = sympy.Integral(integrand, (y, -sympy.oo, sympy.oo)) / (2 * sympy.pi)

    def check(scene: Together):
        """The kernel's own transform: for one known loss s the integral is (1 - e^{eps - s})_+ ."""
        s, eps, z = mpmath.mpf(1), scene.power() / 4 - 1, scene.power()
        found = integrate(lambda u: max(-mpmath.expm1(u - s), 0) * mpmath.exp(z * u), [-mpmath.inf, eps, s])
        yield Comparison("the transform of the kernel", found, mpmath.exp(z * s) / (z * (z + 1)))

    reason = (
        "`(1 - e^{eps - s})` where positive is the inverse transform of `e^{z s}/(z (z+1))`: one integral behind every "
        "accountant; dplab.reference evaluates it, dplab.fourier brackets it"
    )
    lines = (Line("delta(eps)", sympy.Symbol("delta(inf)") + contour, "for any c > 0"),)
    return Step("Tight delta", lines, reason, check, "quadrature of the kernel", stopped=stopped)


def _h_step(delta) -> Step:
    h = delta.xreplace({EPS: sympy.log(X)})

    def check(scene: Together):
        mean, deviation = scene.scale()
        x = mpmath.exp(mean + deviation * mpmath.mpf(scene.random.randint(-1500, 1500)) / 1000)
        values = [scene.number(h, x=x * factor) for factor in (mpmath.mpf("0.9"), 1, mpmath.mpf("1.1"))]
        yield Comparison("the middle of a chord of h, from below,", values[1], (values[0] + values[2]) / 2, "<=")
        yield Comparison("1 - x", 1 - x, values[1] + mpmath.eps, "<=")

    return Step("In x = e^eps", (Line("h(x)", h),), "`h(x) = delta(log x)` is convex and does not increase", check,
                "chords")  # fmt: skip


def _chernoff_step(parts: Parts, mgf, infinite) -> Step:
    bound = mgf.xreplace({Z: LAM}) * sympy.exp(-LAM * EPS) * KERNEL + infinite
    spelled = spelled_out(bound, parts.letters)

    def check(scene: Together):
        lam = scene.power()
        mean, deviation = scene.scale()
        eps = mean + deviation
        found = scene.number(spelled, **{"lambda": lam}, eps=eps)
        expected = scene.moment(lam) * mpmath.exp(-lam * eps) * lam**lam / (1 + lam) ** (1 + lam) + scene.infinite()
        yield Comparison("the bound", found, expected)

    lines = (Line("delta(eps)", bound, "for lambda > 0", "<="), Line("(log M)'(lambda*)", EPS))
    reason = (
        "Markov on `e^{lambda s}`, with the kernel's sup (Balle et al. 2020); smallest near the saddle point `lambda*`"
    )
    return Step("Chernoff bound", lines, reason, check, AGAINST, parts.letters, parts.open_stage)


def _window_step(parts: Parts, mgf) -> Step:
    sides = [mgf.xreplace({Z: sign * LAM}) * sympy.exp(-LAM * L) for sign in (1, -1)]
    spelled = [spelled_out(side, parts.letters) for side in sides]

    def check(scene: Together):
        lam = scene.power() * min(1, -max(part.twin.powers[0] for part in scene.scenes) / 3)
        half = scene.scale()[1] * 4
        for name, side, sign in (("delta - delta~", spelled[0], 1), ("delta~ - delta", spelled[1], -1)):
            found = scene.number(side, **{"lambda": lam}, L=half)
            yield Comparison(name, found, scene.moment(sign * lam) * mpmath.exp(-lam * half))

    lines = (Line("delta - delta~", sides[0], "", "<="), Line("delta~ - delta", sides[1], "for lambda > 0", "<="))
    reason = (
        "Only mass of the sum outside the window `[-L, L)` wraps round in the FFT; Chernoff on each side (Koskela and "
        "Honkela 2021, Theorem 7)"
    )
    return Step("Periodisation bound", lines, reason, check, AGAINST, parts.letters, parts.open_stage)
