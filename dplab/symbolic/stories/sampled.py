"""Poisson subsampling as a map on PLDs, for mechanisms whose loss has a density.

With u the loss of the mechanism itself, the mixture q P + (1-q) Q has the loss phi(u) = log(1 - q + q e^u) over Q; so
e^s - (1-q) = q e^u, and delta, h and the trade-off function follow from the mechanism's own by substitution.
"""

from collections.abc import Callable
from dataclasses import dataclass

import mpmath
import sympy

from ...core.display import text_formula
from ...core.pair import Atom
from ...mechanisms import Gaussian, Laplace, PoissonSubsampled
from ..compositions import gaussian_delta
from ..derivation import Comparison, Line, Step
from ..normal_cdf import Phi, PhiInverse
from ..numeric import function
from ..outputs import Line as Densities
from ..outputs import Piece
from ..scene import Scene
from ..worker import StageStopped
from . import bounds, common
from .gaussian import MU, gaussian_outputs, normal_density
from .laplace import E0, laplace_outputs
from .mapping import MAPPED, STOPPED, composition_step, map_step, moved_density, stationary_step, turned, unsampled
from .setting import ALPHA, EPS, LAM, C, S, Setting, T, X, Z
from .writing import cases, through

U = sympy.Symbol("u", real=True)
G = sympy.Symbol("g", real=True)
Y = sympy.Symbol("y", real=True)
N = sympy.Symbol("n", integer=True, positive=True)
J = sympy.Symbol("j", integer=True, nonnegative=True)
ZERO = sympy.S.Zero


@dataclass(frozen=True)
class Base:
    """What the mechanism on the sample is like, in its own letters; its law is the same in both directions.

    `density` is omega of its loss u between the ends (-top, top), `atoms` are (loss, mass under P, mass under Q),
    `mean` is the expectation under Q of a function of u; `delta` a function of u between the ends, `above` Q(loss > u)
    there, `tradeoff` a function of alpha, `mgf` of z, `loss` the formula of u in the outcome t.
    """

    outputs: Densities
    letters: tuple
    density: sympy.Expr
    mean: Callable[[Callable[[sympy.Expr], sympy.Expr]], sympy.Expr]
    delta: Callable[[sympy.Expr], sympy.Expr]
    above: sympy.Expr
    tradeoff: sympy.Expr
    mgf: Callable[[sympy.Expr], sympy.Expr]
    loss: sympy.Expr
    top: sympy.Expr | None = None
    atoms: tuple[Atom, ...] = ()


def _gaussian(pair: Gaussian, fn) -> Base:
    sigma, shift = (common.parameter(pair, name, fn) for name in ("sigma", "sensitivity"))
    normal = sympy.exp(-(Y**2) / 2) / sympy.sqrt(2 * sympy.pi)
    return Base(
        gaussian_outputs(pair, fn),
        ((MU, shift / sigma),),
        sympy.exp(-((U - MU**2 / 2) ** 2) / (2 * MU**2)) / (sympy.sqrt(2 * sympy.pi) * MU),
        lambda of: sympy.Integral(of(MU * Y - MU**2 / 2) * normal, (Y, -sympy.oo, sympy.oo)),
        lambda u: gaussian_delta(MU, u),
        Phi(-MU / 2 - U / MU),
        Phi(PhiInverse(1 - ALPHA) - MU),
        lambda z: sympy.exp(z * (z + 1) * MU**2 / 2),
        shift * (T - shift / 2) / sigma**2,
    )


def _laplace(pair: Laplace, fn) -> Base:
    b, shift = (common.parameter(pair, name, fn) for name in ("b", "sensitivity"))
    half, small = sympy.Rational(1, 2), sympy.exp(-E0)

    def mean(of):
        spread = sympy.Integral(of(U) * sympy.exp(-(U + E0) / 2) / 4, (U, -E0, E0))
        return of(-E0) / 2 + spread + small * of(E0) / 2

    return Base(
        laplace_outputs(pair, fn),
        ((E0, shift / b),),
        sympy.exp((U - E0) / 2) / 4,
        mean,
        lambda u: 1 - sympy.exp((u - E0) / 2),
        sympy.exp(-(E0 + U) / 2) / 2,
        cases(
            (1 - sympy.exp(E0) * ALPHA, ALPHA, small / 2),
            (small / (4 * ALPHA), ALPHA, half),
            otherwise=small * (1 - ALPHA),
        ),
        lambda z: ((z + 1) * sympy.exp(z * E0) + z * sympy.exp(-(z + 1) * E0)) / (2 * z + 1),
        sympy.Max(-shift / b, sympy.Min(shift / b, (2 * T - shift) / b)),
        E0,
        (Atom(E0, half, small / 2), Atom(-E0, small / 2, half)),
    )


BASES: dict[type, Callable] = {Gaussian: _gaussian, Laplace: _laplace}


def sampled_outputs(pair: PoissonSubsampled, fn) -> Densities:
    """q P + (1-q) Q and Q."""
    base, q = BASES[type(pair.mechanism)](pair.mechanism, fn), pair.q(fn)
    pieces = tuple(
        Piece(piece.lower, piece.upper, q * piece.p + (1 - q) * piece.q, piece.q) for piece in base.outputs.pieces
    )
    p, rest = base.outputs.whole
    return Densities(T, pieces, (q * p + (1 - q) * rest, rest), base.outputs.typical)


def sampled_story(setting: Setting) -> list[Step]:
    """All steps for q P + (1-q) Q against Q, or the other way round."""
    fn, pair = setting.fn, setting.pair
    assert isinstance(pair, PoissonSubsampled)
    assert isinstance(setting.outputs, Densities)
    base, q = BASES[type(pair.mechanism)](pair.mechanism, fn), pair.q(fn)
    first, second = setting.outputs.whole[::-1] if setting.backward else setting.outputs.whole
    inverse = unsampled(q, turned(setting, sympy.exp(S)))
    letters = (*base.letters, (U, inverse))
    atoms = setting.page.atoms(fn)
    steps = [
        common.output_step(
            setting,
            [Line("P(t)", first), Line("Q(t)", second)],
            "A record takes part with probability `q`: with it the output is the mixture, without it never",
        ),
        _loss_step(setting, base, q),
        map_step(setting, q),
        _pld_step(setting, base, q, letters, atoms),
        _other_direction(setting, base, q, atoms),
        _mgf_step(setting, base, q),
        _moment_step(setting, base, q),
        _cumulant_step(setting, base, q),
        _alpha_step(setting, base, q),
        _delta_step(setting, base, q),
        _h_step(setting, base, q),
        _tradeoff_step(setting, base, q),
        composition_step(setting),
        bounds.chernoff_step(setting),
        bounds.total_error_step(setting),
        bounds.periodisation_step(setting),
    ]
    if isinstance(pair.mechanism, Gaussian):
        steps.insert(5, stationary_step(setting, q))
    return steps


def _loss_step(setting: Setting, base: Base, q) -> Step:
    mixed = sympy.log(1 - q + q * sympy.exp(U))

    def check(scene: Scene):
        whole = (-mixed if setting.backward else mixed).xreplace({U: base.loss})
        formula = function(whole, [T], scene.values)
        for cuts, p, q_ in scene.twin.pieces:
            t = scene.draw(cuts[0], cuts[-1])
            yield Comparison(f"s({mpmath.nstr(t, 5)})", formula(t), mpmath.log(p(t) / q_(t)))

    lines = (Line("s(t)", -mixed if setting.backward else mixed), Line("u(t)", base.loss))
    reason = (
        f"`s = log({setting.first}/{setting.second})`; the mixture over Q is `1 - q + q e^u`, with `u` the loss of the "
        "mechanism itself"
    )
    return Step("Privacy loss", lines, reason, check, "the densities themselves")


def _pld_step(setting: Setting, base: Base, q, letters, atoms) -> Step:
    pair, fn = setting.pair, setting.fn
    assert isinstance(pair, PoissonSubsampled)
    ends = setting.page.support(fn)
    infinite = setting.page.mass_at_infinity(fn)
    if isinstance(pair.mechanism, Gaussian):
        density, letters = _paper_density(pair.mechanism, setting.backward, q, fn)
        reason = (
            "`omega(s) = f(g(s)) |g'(s)|`, f the first density, g the outcome with loss s (Koskela et al. 2021, 6.3)"
        )
    else:
        density = moved_density(q, base.density, setting.backward)
        reason = "The map on PLDs: `omega_0(u) (q + (1-q) e^{-u}) u'(s)`, with `omega_0` the mechanism's own"
    lines = [Line("omega(s)", density, _range(base, q, setting.backward))]
    lines += _atom_lines(base, q, setting.backward)
    lines.append(Line("delta(inf)", infinite))
    return common.pld_step(setting, lines, reason, density, ends, atoms, infinite, letters)


def _range(base: Base, q, backward: bool) -> str:
    if base.top is not None:
        return "for -phi(e0) < s < -phi(-e0)" if backward else "for phi(-e0) < s < phi(e0)"
    end = text_formula(sympy.log(1 - q))
    return f"for s < -{end}" if backward else f"for s > {end}"


def _atom_lines(base: Base, q, backward: bool) -> list[Line]:
    sign = "-" if backward else ""
    return [
        Line(f"mass at {sign}phi({text_formula(atom.loss)})", atom.q if backward else q * atom.p + (1 - q) * atom.q)
        for atom in base.atoms
    ]


def _paper_density(mechanism: Gaussian, backward: bool, q, fn) -> tuple[sympy.Expr, tuple]:
    """omega of the subsampled Gaussian in terms of g(s), as the paper writes it."""
    sigma, shift = (common.parameter(mechanism, name, fn) for name in ("sigma", "sensitivity"))
    side = -S if backward else S
    rest = sympy.exp(side) - (1 - q)
    g = sigma**2 * sympy.log(rest / q) / shift + shift / 2
    shape = normal_density(G, 0, sigma)
    if not backward:
        with_record, without = (sympy.exp(-((G - at) ** 2) / (2 * sigma**2)) for at in (shift, 0))
        shape = (q * with_record + (1 - q) * without) / (sympy.sqrt(2 * sympy.pi) * sigma)
    return shape * sigma**2 * sympy.exp(side) / (shift * rest), ((G, g),)


def _other_direction(setting: Setting, base: Base, q, atoms) -> Step:
    pair, fn = setting.pair, setting.fn
    assert isinstance(pair, PoissonSubsampled)
    low, high = setting.page.support(fn) or (ZERO, ZERO)
    mirrored = [Atom(-atom.loss, atom.q, atom.p) for atom in atoms]
    if isinstance(pair.mechanism, Gaussian):
        density, letters = _paper_density(pair.mechanism, not setting.backward, q, fn)
    else:
        inverse = unsampled(q, sympy.exp(S if setting.backward else -S))
        density = moved_density(q, base.density, not setting.backward)
        letters = (*base.letters, (U, inverse))
    lines = [Line(f"omega_{setting.other_way}(s)", density, _range(base, q, not setting.backward))]
    lines += _atom_lines(base, q, not setting.backward)
    return common.mirror_step(setting, lines, density, (-high, -low), mirrored, letters)


def _power(setting: Setting, q, z) -> Callable:
    """e^{zs} dP/dQ for the first distribution, or e^{zs} for the second, as a function of u under Q."""
    return lambda u: (1 - q + q * sympy.exp(u)) ** (-z if setting.backward else z + 1)


def _mgf_step(setting: Setting, base: Base, q) -> Step:
    mgf = base.mean(_power(setting, q, Z))
    reason = "An expectation under Q: the mixture over Q is `1 - q + q e^u`, and `e^{z s}` is a power of it"
    return common.mgf_step(setting, [Line("M(z)", mgf)], reason, letters=base.letters, stopped=STOPPED)


def _moment_step(setting: Setting, base: Base, q) -> Step:
    """Whole orders: the binomial theorem."""
    total = sympy.Sum(sympy.binomial(N, J) * (1 - q) ** (N - J) * q**J * base.mgf(J - 1), (J, 0, N))
    spelled = total.xreplace(dict(base.letters))
    left = "M(-n)" if setting.backward else "M(n - 1)"
    lines = (
        Line(left, total),
        *(() if setting.backward else (Line("D_n(P||Q)", sympy.log(sympy.Symbol("M(n - 1)")) / (N - 1), "for n > 1"),)),
    )

    def check(scene: Scene):
        for n in (2, scene.random.randint(3, 6)):
            power = -n if setting.backward else n - 1
            expected = scene.twin.moment(lambda s, power=power: mpmath.exp(power * s))
            yield Comparison(f"the moment of order {n}", scene.number(spelled, n=n), expected)

    reason = (
        "The binomial theorem for a whole power of `1 - q + q e^u`: the moments accountant (Abadi et al. 2016), "
        "`M(z) = M_{Q/P}(-1 - z)`"
    )
    return Step("Moments of whole order", lines, reason, check, common.DENSITIES, base.letters)


def _cumulant_step(setting: Setting, base: Base, q) -> Step:
    def loss(u):
        return sympy.log(1 - q + q * sympy.exp(u)) * (-1 if setting.backward else 1)

    def weight(u):
        return sympy.S.One if setting.backward else 1 - q + q * sympy.exp(u)

    mean = base.mean(lambda u: loss(u) * weight(u))
    square = base.mean(lambda u: loss(u) ** 2 * weight(u))
    kappa = sympy.Symbol("kappa1", real=True)
    return common.cumulant_step(
        setting,
        mean,
        square - kappa**2,
        reason="`kappa1 = E s`, `kappa2 = E s^2 - kappa1^2`, as expectations under Q",
        letters=((kappa, mean), *base.letters),
        stopped=StageStopped("cumulants", "a logarithm of a sum under the integral has no elementary antiderivative"),
    )


def _alpha_step(setting: Setting, base: Base, q) -> Step:
    plus, minus = (sympy.log(base.mean(_power(setting, q, side))) for side in (LAM, -LAM))
    return common.alpha_step(setting, plus, minus, letters=base.letters, stopped=STOPPED)


def _between(setting: Setting, base: Base, q, variable, of) -> sympy.Expr:
    """delta with its trivial ends, `of` being how a loss s is written in the variable (s itself, or e^s)."""
    x = sympy.exp(variable) if of(ZERO) == 0 else variable
    top = ZERO if base.top is None else base.top
    phi = [sympy.log(1 - q + q * sympy.exp(sign * top)) for sign in (1, -1)]
    if base.top is None:
        phi[1] = sympy.log(1 - q)
    inside = q * x * sympy.exp(U) * base.delta(-U) if setting.backward else q * base.delta(U)
    below, end = (-phi[0], -phi[1]) if setting.backward else (phi[1], phi[0])
    pieces = []
    if not (setting.backward and base.top is None):
        pieces.append((1 - x, variable, of(below)))
    if not setting.backward and base.top is None:
        return cases(*pieces, otherwise=inside)
    return cases(*pieces, (inside, variable, of(end)), otherwise=ZERO)


def _delta_step(setting: Setting, base: Base, q) -> Step:
    inverse = unsampled(q, turned(setting, sympy.exp(EPS)))
    delta = _between(setting, base, q, EPS, lambda s: s)
    if setting.backward:
        reason = (
            "`e^{-eps} - (1-q) = q e^u`, so `Q - e^eps P` is `q e^{eps + u} (Q - e^{-u} P)` of the mechanism itself: "
            "delta is `q e^{eps + u} delta_0(-u)`"
        )
    else:
        reason = MAPPED
    return common.delta_step(setting, [Line("delta(eps)", delta)], reason, (*base.letters, (U, inverse)))


def _h_step(setting: Setting, base: Base, q) -> Step:
    inverse = unsampled(q, turned(setting, X))
    return common.h_step(setting, _between(setting, base, q, X, sympy.exp), (*base.letters, (U, inverse)))


def _tradeoff_step(setting: Setting, base: Base, q) -> Step:
    if setting.backward:
        lines = [Line("f(alpha)", through(lambda f: q * f + (1 - q) * (1 - ALPHA), base.tradeoff))]
        reason = (
            "Under Q a test has the same size; under the mixture its power is that against P with probability q, "
            "and `alpha` otherwise: `f = q f_0 + (1-q)(1 - alpha)` (Dong, Roth, Su 2022)"
        )
        return common.tradeoff_step(setting, lines, reason, letters=base.letters)
    # forward: P over Q of the mechanism, as a curve in the threshold c; delta_0 gives both tails
    inverse = unsampled(q, sympy.exp(C))
    q_above = base.above
    p_above = base.delta(U) + sympy.exp(U) * q_above
    return common.tradeoff_parametric(
        setting,
        1 - q * p_above - (1 - q) * q_above,
        q_above,
        "Neyman-Pearson: reject where `s <= c`, for every c inside the support; the inverse function of the other "
        "direction's `q f_0 + (1-q)(1 - alpha)`",
        letters=(*base.letters, (U, inverse)),
    )
