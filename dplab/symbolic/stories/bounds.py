"""Bounds on k-fold compositions that need M(z) only: Chernoff, Theorem 10, and the sharper periodisation bound."""

import mpmath
import sympy

from ..derivation import Comparison, Line, Step
from ..scene import Scene
from .common import page_delta
from .setting import EPS, LAM, K, L, Setting

PLUS = sympy.Symbol("alpha^+", real=True)
MINUS = sympy.Symbol("alpha^-", real=True)
KERNEL = LAM**LAM / (1 + LAM) ** (1 + LAM)
GEOMETRIC = (2 * sympy.exp((K + 1) * PLUS) - sympy.exp(K * PLUS) - sympy.exp(PLUS)) / (sympy.exp(PLUS) - 1) + (
    sympy.exp((K + 1) * MINUS) - sympy.exp(MINUS)
) / (sympy.exp(MINUS) - 1)
GRID_POINTS = 24
"""Of the coarse copy on which the two bounds are tried out by brute force."""


def chernoff_step(setting: Setting, mgf=None, best=None, at_best=None, infinite=sympy.S.Zero, letters=()) -> Step:
    """delta_k(eps) <= M(lambda)^k e^{-lambda eps} lambda^lambda/(1+lambda)^{1+lambda}, and the optimal lambda.

    `mgf` is M(lambda) or None where it is not closed; `best` is the lambda that minimises M^k e^{-lambda eps} where
    that is closed, `at_best` the minimum.
    """
    moment = sympy.Function("M")(LAM) if mgf is None else mgf
    bound = moment**K * sympy.exp(-LAM * EPS) * KERNEL
    if infinite != 0:
        bound = bound + 1 - (1 - infinite) ** K
    lines = [Line("delta_k(eps)", bound, "for lambda > 0", "<=")]
    if best is not None:
        lines += [Line("lambda*", best, "if that is > 0"), Line("min M(lambda)^k e^{-lambda eps}", at_best)]
    else:
        lines.append(Line("k (log M)'(lambda*)", EPS))

    spelled = [None if form is None else form.xreplace(dict(letters)) for form in (mgf, best, at_best)]

    def check(scene: Scene):
        def moment_at(lam):
            if mgf is not None:
                return scene.number(spelled[0], **{"lambda": lam})
            return scene.twin.moment(lambda s: mpmath.exp(lam * s))

        lam, eps = abs(scene.power()), scene.loss()
        if scene.twin.powers[1]:  # else M(lambda) is infinite
            value = moment_at(lam) * mpmath.exp(-lam * eps) * lam**lam / (1 + lam) ** (1 + lam)
            yield Comparison("delta(eps), for one step,", page_delta(scene, eps), value + scene.number(infinite), "<=")
        # the kernel's sup: (1 - e^{-u}) e^{-lambda u} is largest at u = log(1 + 1/lambda)
        u = mpmath.log1p(1 / lam)
        yield Comparison(
            "the kernel's sup", scene.number(KERNEL, **{"lambda": lam}), -mpmath.expm1(-u) * mpmath.exp(-lam * u)
        )
        if best is not None:
            k = scene.random.randint(2, 50)
            mean = k * scene.twin.moment(lambda s: s)
            spread = mpmath.sqrt(k) * (scene.twin.range()[1] - scene.twin.range()[0])
            eps = mean + spread * scene.draw(mpmath.mpf(1) / 10, 1)
            lam = scene.number(spelled[1], eps=eps, k=mpmath.mpf(k))
            total = scene.twin.moment(lambda s: mpmath.exp(lam * s))
            slope = scene.twin.moment(lambda s: s * mpmath.exp(lam * s)) / total
            yield Comparison("k (log M)'(lambda*)", k * slope, eps)
            found = scene.number(spelled[2], eps=eps, k=mpmath.mpf(k))
            yield Comparison("the minimum", mpmath.log(found), k * mpmath.log(total) - lam * eps)

    reason = (
        "Markov on `e^{lambda s}`, with the kernel's sup `lambda^lambda/(1+lambda)^{1+lambda}` (Balle et al. 2020); "
        "without it, the bound is smallest at the saddle point `lambda*`"
    )
    return Step(
        "Chernoff bound",
        tuple(lines),
        reason,
        check,
        "the mechanism's page and the moments of its outputs",
        tuple(letters),
    )


def total_error_step(setting: Setting) -> Step:
    """Theorem 10 of Koskela et al. 2021 in terms of alpha+, alpha-, k, L, lambda."""
    bound = GEOMETRIC * sympy.exp(-LAM * L) / (1 - sympy.exp(-LAM * L))
    index = sympy.Symbol("l", integer=True, positive=True)
    sums = sympy.exp(K * PLUS) + sympy.Sum(sympy.exp(index * PLUS) + sympy.exp(index * MINUS), (index, 1, K))
    lines = (
        Line("|delta - delta~|", bound, "for lambda > 0", "<="),
        Line("the bracket", sums, "", "="),
    )

    def check(scene: Scene):
        grid = Grid(scene)
        lam, k = scene.draw(1, 4) / grid.half, scene.random.randint(2, 4)
        plus, minus = grid.alpha(lam), grid.alpha(-lam)
        given = {"alpha^+": plus, "alpha^-": minus, "k": mpmath.mpf(k), "L": grid.half, "lambda": lam}
        yield Comparison("the fractions", scene.number(GEOMETRIC, **given), scene.number(sums, **{**given, "k": k}))
        error = abs(grid.delta(k, wrapped=False) - grid.delta(k, wrapped=True))
        yield Comparison("the error of the k-fold circular convolution", error, scene.number(bound, **given), "<=")

    reason = (
        "Koskela et al. 2021, Theorem 10, for `alpha+`, `alpha-` of the grid law; the fractions are geometric "
        "sums, 0/0 where "
        "`alpha = 0`"
    )
    return Step(
        "Total error of the FFT (Theorem 10)", lines, reason, check, "circular and plain convolution of a coarse copy"
    )


def periodisation_step(setting: Setting) -> Step:
    """The sharper bound: only mass of S_k outside the window wraps round."""
    above, below = (sympy.exp(K * side - LAM * L) for side in (PLUS, MINUS))
    lines = (
        Line("delta - delta~", above, "", "<="),
        Line("delta~ - delta", below, "for lambda > 0", "<="),
    )

    def check(scene: Scene):
        grid = Grid(scene)
        lam, k = scene.draw(1, 4) / grid.half, scene.random.randint(2, 4)
        given = {"alpha^+": grid.alpha(lam), "alpha^-": grid.alpha(-lam)}
        given |= {"k": mpmath.mpf(k), "L": grid.half, "lambda": lam}
        difference = grid.delta(k, wrapped=False) - grid.delta(k, wrapped=True)
        right, left = grid.outside(k)
        yield Comparison("delta - delta~", difference, right + mpmath.eps, "<=")
        yield Comparison("P(S_k >= L)", right, scene.number(above, **given), "<=")
        yield Comparison("delta~ - delta", -difference, left + mpmath.eps, "<=")
        yield Comparison("P(S_k < -L)", left, scene.number(below, **given), "<=")

    reason = (
        "The FFT computes the periodised law of S_k exactly, so `delta~ - P(S_k < -L) <= delta <= delta~ + P(S_k "
        ">= L)`; "
        "Chernoff on each side (Koskela and Honkela 2021, Theorem 7, without its last factor)"
    )
    return Step("Periodisation bound", lines, reason, check, "circular and plain convolution of a coarse copy")


class Grid:
    """A coarse copy of the loss on n points of [-L, L), rounded down, to convolve by brute force."""

    def __init__(self, scene: Scene):
        points = scene.twin.loss_points()
        low, high = min(s for s, _ in points), max(s for s, _ in points)
        self.half = (max(abs(low), abs(high)) or mpmath.mpf(1)) * scene.draw(mpmath.mpf(11) / 10, 2)
        self.n = GRID_POINTS
        self.dx = 2 * self.half / self.n
        self.masses: dict[int, mpmath.mpf] = {}
        for s, mass in points:
            i = int(mpmath.floor((s + self.half) / self.dx))
            self.masses[i] = self.masses.get(i, mpmath.mpf(0)) + mass
        self.eps = scene.draw(-self.half / 2, self.half / 2)

    def place(self, i: int):
        """The loss at grid index i, whether inside the window or not; k steps add k - 1 offsets of -L."""
        return -self.half + i * self.dx

    def alpha(self, lam):
        """log E e^{lambda s} of the grid law."""
        return mpmath.log(mpmath.fsum(m * mpmath.exp(lam * self.place(i)) for i, m in self.masses.items()))

    def _sum(self, k: int) -> dict[int, mpmath.mpf]:
        """The law of S_k by the integer j with S_k = j dx."""
        offset = self.n // 2
        single = {i - offset: mass for i, mass in self.masses.items()}
        total = {0: mpmath.mpf(1)}
        for _ in range(k):
            longer: dict[int, mpmath.mpf] = {}
            for i, a in total.items():
                for j, b in single.items():
                    longer[i + j] = longer.get(i + j, mpmath.mpf(0)) + a * b
            total = longer
        return total

    def delta(self, k: int, wrapped: bool):
        """delta(eps) of S_k, or of S_k modulo the window."""
        result = mpmath.mpf(0)
        for j, mass in self._sum(k).items():
            if wrapped:
                j = (j + self.n // 2) % self.n - self.n // 2
            if j * self.dx > self.eps:
                result += mass * -mpmath.expm1(self.eps - j * self.dx)
        return result

    def outside(self, k: int) -> tuple:
        """P(S_k >= L) and P(S_k < -L)."""
        law = self._sum(k)
        half = self.n // 2
        return (
            mpmath.fsum(mass for j, mass in law.items() if j >= half),
            mpmath.fsum(mass for j, mass in law.items() if j < -half),
        )
