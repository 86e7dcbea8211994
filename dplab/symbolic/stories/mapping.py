"""Poisson subsampling: the map that it is on losses, what becomes of composition, where the density is stationary."""

from collections.abc import Callable

import mpmath
import sympy

from ...core.display import text_formula
from ...mechanisms import PoissonSubsampled
from ..borders import bisected
from ..derivation import Comparison, Line, Step
from ..scene import PAGE, Scene
from ..tidy import short
from ..worker import StageStopped
from . import common
from .setting import EPS, C, K, S, Setting, T, X, Z
from .writing import cases, through

U = sympy.Symbol("u", real=True)
GROWTH = sympy.exp(EPS)
MAPPED = "`e^eps - (1-q) = q e^u`, so `P - e^eps Q` of the mixture is `q (P - e^u Q)`: delta is `q delta_0(u)`"
STOPPED = StageStopped(
    "moment generating function", "a power of a sum under the integral has no elementary antiderivative"
)


def unsampled(q, growth) -> sympy.Expr:
    """u, the mechanism's own loss, where e^s of the mixture over Q is `growth`: the inverse of phi."""
    return sympy.log((growth - (1 - q)) / q)


def turned(setting: Setting, growth) -> sympy.Expr:
    """e^s of the mixture over Q, where in this direction it is `growth`."""
    return 1 / growth if setting.backward else growth


def moved_density(q, own, backward: bool) -> sympy.Expr:
    """omega(s) of the mixture over Q, or of Q over it, with u for the mechanism's own loss and `own` for omega_0(u)."""
    return own * (sympy.exp(-S - 2 * U) if backward else sympy.exp(2 * (S - U))) / q


def map_step(setting: Setting, q) -> Step:
    """phi, its inverse, and the derivative of that."""
    phi = sympy.log(1 - q + q * sympy.exp(U))
    inverse = unsampled(q, sympy.exp(S))
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


def mapped(setting: Setting, q, own, variable=EPS, growth=GROWTH, at: Callable = lambda s: s) -> tuple:
    """The mixture's delta(eps), or what it is in another variable, and the meaning of u in it.

    `own` is the mechanism's delta_0(u). Forward it is q delta_0(u), from the other side 1 - x + x h(1/x).
    """
    start, letters = sympy.log(1 - q), ((U, unsampled(q, turned(setting, growth))),)
    if not setting.backward:
        return cases((1 - growth, variable, at(start)), otherwise=through(lambda delta: q * delta, own)), letters
    inside = through(lambda delta: 1 - growth + growth * q * delta, own)
    if not isinstance(inside, sympy.Piecewise):
        return cases((inside, variable, at(-start)), otherwise=sympy.S.Zero), letters
    beyond = sympy.GreaterThan(variable, at(-start), evaluate=False)
    return sympy.Piecewise((sympy.S.Zero, beyond), *inside.args, evaluate=False), letters


def mapped_open(setting: Setting, q) -> sympy.Expr:
    """The mixture's delta(eps) where the mechanism's own has no formula: in terms of delta_0, valid inside the range
    of losses."""
    delta = q * sympy.Function("delta_0")(unsampled(q, turned(setting, GROWTH)))
    return 1 - GROWTH + GROWTH * delta if setting.backward else delta


def profile_steps(setting: Setting, q, masses: tuple, own_letters: tuple = (), own=None) -> list[Step]:
    """delta by the map, h in x = e^eps, and the trade-off function.

    `masses` are P and Q of the mechanism itself where its loss is above u, in its own letters; `own` is its delta(u),
    if that is known in a better form.
    """
    p_above, q_above = masses
    own = p_above - sympy.exp(U) * q_above if own is None else own
    delta, letters = mapped(setting, q, own)
    h, letters_h = mapped(setting, q, own, X, X, sympy.exp)
    reason = MAPPED
    if setting.backward:
        reason += "; from the other side `delta'(eps) = 1 - e^eps + e^eps delta(-eps)`"
    mixed_below = through(lambda p, of_q: short(1 - q * p - (1 - q) * of_q), p_above, q_above)
    curve = (q_above, mixed_below) if setting.backward else (mixed_below, q_above)
    return [
        common.delta_step(setting, [Line("delta(eps)", delta)], reason, (*own_letters, *letters)),
        common.h_step(setting, h, (*own_letters, *letters_h)),
        common.tradeoff_parametric(
            setting, *curve, letters=(*own_letters, (U, unsampled(q, turned(setting, sympy.exp(C)))))
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
