"""Steps whose formulas stand unevaluated: the numbers behind them come from the pair's page and are checked all the
same, against quadratures of the densities."""

import mpmath
import sympy

from ..derivation import Comparison, Line, Step
from ..scene import PAGE, Scene
from ..worker import StageStopped
from . import common
from .setting import ALPHA, Setting, X

TAILS = StageStopped("tails", "P(s > eps) and Q(s > eps) have no closed form here; they are evaluated by quadrature")


def page_above(scene: Scene, c) -> tuple:
    """First's and second's mass of {s > c} from the page, mass at infinity included."""
    page = scene.page
    p, q = page.mass_at_infinity(PAGE), mpmath.mpf(0)
    for atom in scene.page_atoms:
        if atom.loss > c:
            p, q = p + atom.p, q + atom.q
    ends = page.support(PAGE)
    if ends is not None and c < ends[1]:
        masses = page.above(PAGE, c) if c > ends[0] else page.continuous_mass(PAGE)
        p, q = p + masses[0], q + masses[1]
    return p, q


def law_step(setting: Setting, lines, stopped: StageStopped, reason: str, letters: tuple = ()) -> Step:
    """omega as a formula in the inverse that has no formula."""

    def check(scene: Scene):
        for c in (scene.loss(), scene.loss()):
            yield Comparison(f"P(s > {mpmath.nstr(c, 5)})", page_above(scene, c)[0], scene.twin.above(c)[0])

    source = common.source_of(setting)
    return Step("Privacy loss distribution", tuple(lines), reason, check, source, letters, stopped)


def mirror_step(setting: Setting, lines) -> Step:
    """The other direction by the mirror identity."""

    def check(scene: Scene):
        other = scene.turned()
        c = other.loss()
        yield Comparison(f"the mass above {mpmath.nstr(c, 5)}", page_above(other, c)[0], other.twin.above(c)[0])

    reason = "Mirror identity: seen from the other side a loss s becomes -s and its mass is multiplied by `e^{-s}`"
    return Step("The other direction", tuple(lines), reason, check, common.source_of(setting))


def profile_steps(setting: Setting, delta: sympy.Expr, stopped: StageStopped = TAILS) -> list[Step]:
    """delta(eps), h(x) and the trade-off function, numerically."""
    name, source = sympy.Function("delta"), common.source_of(setting)

    def check_delta(scene: Scene):
        for eps in (scene.loss(), scene.loss(mpmath.mpf(13) / 10)):
            p, q = page_above(scene, eps)
            yield Comparison(f"delta({mpmath.nstr(eps, 5)})", p - mpmath.exp(eps) * q, scene.twin.hockey_stick(eps))

    def check_h(scene: Scene):
        c = scene.loss()
        slope = (scene.twin.hockey_stick(c + scene.width) - scene.twin.hockey_stick(c)) / (
            mpmath.exp(c + scene.width) - mpmath.exp(c)
        )
        yield Comparison("the slope of a chord of h", -page_above(scene, c)[1], slope, "<=")

    def check_f(scene: Scene):
        c = scene.loss()
        p, q = page_above(scene, c)
        found = scene.twin.above(c)
        yield Comparison("alpha(c)", 1 - p, scene.twin.totals()[0] - found[0])
        yield Comparison("f(alpha(c))", q, found[1])

    return [
        Step("Tight delta", (Line("delta(eps)", delta),), "The definition: the hockey stick", check_delta, source,
             stopped=stopped),
        Step("In x = e^eps", (Line("h(x)", name(sympy.log(X))),), "`h` is convex; its slope is "
             f"`-{setting.second}(s > log x)`", check_h, source, stopped=stopped),
        Step(
            "Trade-off function",
            (Line("f(alpha)", sympy.Function("max_x")(1 - X * ALPHA - sympy.Function("h'")(X))),),
            f"Duality: `f(alpha) = max (1 - h'(x) - x alpha)` over x > 0, h' that of the other direction; at the test "
            f"that rejects where `s <= c`, `alpha = {setting.first}(s <= c)` and `f = {setting.second}(s > c)`",
            check_f, source, stopped=stopped,
        ),
    ]  # fmt: skip
