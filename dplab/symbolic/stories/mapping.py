"""Poisson subsampling: the map that it is on losses, what becomes of composition, where the density is stationary."""

import mpmath
import sympy

from ...core.display import text_formula
from ...mechanisms import PoissonSubsampled
from ..derivation import Comparison, Line, Step
from ..outputs import bisected
from ..scene import PAGE, Scene
from ..worker import StageStopped
from . import common
from .setting import EPS, C, K, S, Setting, T, X, Z
from .writing import cases

U = sympy.Symbol("u", real=True)
STOPPED = StageStopped(
    "moment generating function", "a power of a sum under the integral has no elementary antiderivative"
)


def map_step(setting: Setting, q) -> Step:
    """phi, its inverse, and the derivative of that."""
    phi = sympy.log(1 - q + q * sympy.exp(U))
    inverse = sympy.log((sympy.exp(S) - (1 - q)) / q)
    slope = sympy.exp(S) / (sympy.exp(S) - (1 - q))

    def check(scene: Scene):
        u = scene.draw(-3, 3)
        s = scene.number(phi, u=u)
        yield Comparison("u(phi(u))", scene.number(inverse, s=s), u)
        yield Comparison("phi(u)", s, PAGE.log_mix(u, scene.number(q)))
        derivative = mpmath.diff(lambda v: scene.number(phi, u=v), u)
        yield Comparison("du/ds", scene.number(slope, s=s), 1 / derivative)

    lines = (
        Line("phi(u)", phi),
        Line("u(s)", inverse, "for s > log(1 - q)"),
        Line("u'(s)", slope),
    )
    sides = " Seen from the other side, s changes its sign." if setting.backward else ""
    reason = (
        "Sampling moves each loss `u` to `phi(u)` and weighs it with `q P + (1-q) Q`; `phi` increases, and no loss "
        f"falls below `log(1 - q)` (Koskela et al. 2021, section 6).{sides}"
    )
    return Step("Sampling as a map on PLDs", lines, reason, check, "the function table and numeric derivatives")


def stationary_step(setting: Setting, q) -> Step:
    """Where omega of the subsampled Gaussian is stationary, as an equation for the outcome t."""
    pair, fn = setting.pair, setting.fn
    assert isinstance(pair, PoissonSubsampled)
    sigma, shift = (common.parameter(pair.mechanism, name, fn) for name in ("sigma", "sensitivity"))
    logistic = q / (q + (1 - q) * sympy.exp(-shift * (T - shift / 2) / sigma**2))
    factor = 1 if setting.backward else 2
    # slope of t + shift - factor shift w: at least 1 - factor shift^2/(4 sigma^2)
    threshold = shift / 2 if setting.backward else shift / sympy.sqrt(2)
    lines = (
        Line(f"{'' if factor == 1 else '2 '}{'' if shift == 1 else text_formula(shift) + ' '}w(t)", T + shift),
        Line("w(t)", logistic),
        Line("sigma", threshold, "leaves one solution", ">="),
    )

    def check(scene: Scene):
        def gap(t):
            return t + scene.number(shift) - factor * scene.number(shift) * scene.number(logistic, t=t)

        reach = scene.number(shift) * mpmath.mpf("1.01")
        t = bisected(lambda x: gap(x) < 0, -reach, reach)
        (piece,) = scene.twin.pieces

        def height(t):
            return mpmath.log(scene.page.density(PAGE, mpmath.log(piece[1](t) / piece[2](t))))

        slope = mpmath.diff(height, t)
        yield Comparison("the slope of log omega there", slope, mpmath.mpf(0), scale=mpmath.mpf(1))
        t = scene.draw(-3, 3)
        least = 1 - factor * scene.number(shift) ** 2 / (4 * scene.number(sigma) ** 2)
        yield Comparison("the least slope of the equation", least, mpmath.diff(gap, t), "<=")

    reason = (
        f"`omega(s)` is proportional to `e^{{-t^2/(2 sigma^2)}} e^{{{'s' if setting.backward else '2s'} - u}}`, whose "
        "logarithm is differentiated in the outcome t; "
        "for smaller `sigma` there may be three solutions: count them"
    )
    return Step("Stationary point", lines, reason, check, "numeric derivative of the page's density")


def profile_steps(setting: Setting, q, masses: tuple, own_letters: tuple = ()) -> list[Step]:
    """delta is q delta_0(u), and from the other side h'(x) = 1 - x + x h(1/x); then the trade-off function.

    `masses` are P and Q of the mechanism itself where its loss is above u, in its own letters.
    """
    start = sympy.log(1 - q)
    p_above, q_above = masses
    own = p_above - sympy.exp(U) * q_above

    def profile(variable, x, side, at):
        letters = (*own_letters, (U, sympy.log((side - (1 - q)) / q)))
        if setting.backward:
            return cases((1 - x + x * q * own, variable, at(-start)), otherwise=sympy.S.Zero), letters
        return cases((1 - x, variable, at(start)), otherwise=q * own), letters

    growth = sympy.exp(EPS)
    delta, letters = profile(EPS, growth, 1 / growth if setting.backward else growth, lambda s: s)
    h, letters_h = profile(X, X, 1 / X if setting.backward else X, sympy.exp)
    reason = "`e^eps - (1-q) = q e^u`, so `P - e^eps Q` of the mixture is `q (P - e^u Q)`: delta is `q delta_0(u)`"
    if setting.backward:
        reason += "; from the other side `delta'(eps) = 1 - e^eps + e^eps delta(-eps)`"
    side = sympy.exp(-C if setting.backward else C)
    mixed_above = q * p_above + (1 - q) * q_above
    curve = (q_above, 1 - mixed_above) if setting.backward else (1 - mixed_above, q_above)
    return [
        common.delta_step(setting, [Line("delta(eps)", delta)], reason, letters),
        common.h_step(setting, h, letters_h),
        common.tradeoff_parametric(
            setting,
            *curve,
            letters=(*own_letters, (U, sympy.log((side - (1 - q)) / q))),
        ),
    ]


def composition_step(setting: Setting) -> Step:
    """The recursion delta_k(eps) = E delta_{k-1}(eps - s), which has no closed form."""
    delta = sympy.Function("delta_")
    omega = sympy.Function("omega")
    recursion = sympy.Integral(delta(EPS - S) * omega(S), (S, -sympy.oo, sympy.oo))
    lines = (
        Line("delta_k(eps)", recursion.replace(delta, sympy.Function("delta_{k-1}"))),
        Line("M_k(z)", sympy.Function("M")(Z) ** K),
    )

    def check(scene: Scene):
        eps = scene.loss()
        forward = common.two_steps(scene, eps)
        backward = common.two_steps(scene.turned(), -eps)
        # h of the two directions: h'(x) = 1 - x + x h(1/x)
        turned = 1 - mpmath.exp(eps) + mpmath.exp(eps) * backward
        yield Comparison("delta of two steps, from both sides", forward, turned)

    reason = (
        "Composition convolves PLDs and multiplies M (Theorem 3 of Koskela et al. 2021); the convolution is not "
        "closed: "
        "dplab.reference inverts `M(z)^k`, dplab.fourier brackets it"
    )
    return Step(
        "k-fold composition",
        lines,
        reason,
        check,
        "the other direction, by quadrature",
        stopped=StageStopped("convolution", "this PLD convolved with itself has no closed form"),
    )
