"""Poisson subsampling of several coordinates released together: the loss u of the product is the sum of theirs.

A few outcomes in all are listed, and everything is closed. Otherwise omega_0 is a convolution; delta is q delta_0(u)
with the composition's own delta_0 where that is closed, moments of whole order are sums of products, and the rest
stands unevaluated with numbers from the mechanism's page behind it.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import prod

import mpmath
import sympy

from ...core.composition import Composition
from ...core.errors import NoClosedFormError
from ...core.pld import PLD
from ...mechanisms import PoissonSubsampled, Product
from ..compositions import Kinds, closed_delta
from ..derivation import Comparison, Line, Step
from ..generating import composed_mgf
from ..masses import Masses
from ..outputs import Row, Table
from ..scene import Scene
from ..worker import StageStopped
from . import bounds, common, evaluated
from .finite import finite_story
from .mapping import U, map_step, mapped, mapped_open
from .own import MOMENT, composition_step
from .setting import LAM, A, S, Setting, Z

ZERO = sympy.S.Zero
N = sympy.Symbol("n", integer=True, positive=True)
J = sympy.Symbol("j", integer=True, nonnegative=True)
MOST_ROWS = 16
"""Up to so many outcomes of a product are listed one by one."""
MOST_POINTS = 60_000
"""Up to so many are multiplied out by brute force for the checks."""


@dataclass(frozen=True)
class Cartesian:
    """Independent coordinates, of which the mixture of P and Q (at `rate`) is one side; `mixed` says which."""

    coordinates: tuple
    rate: sympy.Expr
    mixed: int = 0

    def swapped(self) -> "Cartesian":
        """P and Q change places."""
        return replace(self, mixed=1 - self.mixed)

    def twin(self, values) -> Masses:
        """The numbers; outcomes of the same loss are one."""
        points, powers = [(mpmath.mpf(1), mpmath.mpf(1))], (mpmath.mpf(3), mpmath.mpf(3))
        for coordinate in self.coordinates:
            factor = coordinate.twin(values)
            several = factor.merged()
            if len(points) * len(several) > MOST_POINTS:
                raise NoClosedFormError("derivation: this product has too many outcomes to be checked by brute force")
            joint = [(p * a, q * b) for (p, q), (a, b) in itertools.product(points, several)]
            powers = tuple(min(one, abs(other)) for one, other in zip(powers, factor.powers, strict=True))
            points = Masses(joint).merged()
        q = sympy.sympify(self.rate)
        rate = values[q] if q.is_Symbol else mpmath.mpf(q.p) / q.q
        mixture = [(rate * a + (1 - rate) * b, b) for a, b in points]
        return Masses(mixture, powers) if self.mixed == 0 else Masses([pair[::-1] for pair in mixture], powers[::-1])


def sampled_product(pair: PoissonSubsampled, story_of: Callable) -> tuple[Callable, Callable]:
    """Output distributions and story of a sampled product; `story_of` finds those of a factor."""
    assert isinstance(pair.mechanism, Product)
    factors = pair.mechanism.factors
    outputs_of = [story_of(factor)[0] for factor in factors]

    def outputs(pair: PoissonSubsampled, fn):
        coordinates = [of(factor, fn) for of, factor in zip(outputs_of, factors, strict=True)]
        q = pair.q(fn)
        if not all(isinstance(one, Table) for one in coordinates) or prod(len(c.rows) for c in coordinates) > MOST_ROWS:
            return Cartesian(tuple(coordinates), q)
        rows = []
        for together in itertools.product(*(one.rows for one in coordinates)):
            p, rest = (sympy.Mul(*(row[side] for row in together)) for side in (1, 2))
            rows.append(Row(", ".join(row.name for row in together), q * p + (1 - q) * rest, rest))
        return Table(tuple(rows))

    def story(setting: Setting) -> list[Step]:
        return finite_story(setting) if isinstance(setting.outputs, Table) else _open_story(setting)

    return outputs, story


def _open_story(setting: Setting) -> list[Step]:
    pair, fn = setting.pair, setting.fn
    assert isinstance(pair, PoissonSubsampled)
    q = pair.q(fn)
    infinite = sympy.sympify(setting.page.mass_at_infinity(fn))
    return [
        _output_step(setting, q),
        map_step(setting, q),
        _law_step(setting, q, infinite),
        evaluated.mirror_step(
            setting, [Line(f"omega_{setting.other_way}(s)", sympy.exp(S) * sympy.Function("omega")(-S))]
        ),
        *_moment_steps(setting, q),
        *_profile(setting, q),
        composition_step(setting, infinite),
        bounds.chernoff_step(setting, infinite=infinite),
        bounds.total_error_step(setting),
        bounds.periodisation_step(setting),
    ]


def _factors(setting: Setting) -> list:
    assert isinstance(setting.pair, PoissonSubsampled)
    return list(setting.pair.mechanism.factors)  # type: ignore[attr-defined]


def _output_step(setting: Setting, q) -> Step:
    factors = _factors(setting)
    sides = [
        sympy.Mul(*(sympy.Function(f"{name}{i}")(sympy.Symbol(f"t{i}")) for i in range(1, len(factors) + 1)))
        for name in "PQ"
    ]
    lines = [Line("P", q * sides[0] + (1 - q) * sides[1]), Line("Q", sides[1])]
    names = "; ".join(f"coordinate {i}: {factor!r}" for i, factor in enumerate(factors, 1))
    reason = f"Independent noise in each coordinate, all of them from the same sample of rate `q` ({names})"
    return common.output_step(setting, lines, reason)


def _law_step(setting: Setting, q, infinite) -> Step:
    sign = "-" if setting.backward else ""
    own = sympy.Function("omega_0")(U)
    weight = sympy.exp(-U) if setting.backward else q + (1 - q) * sympy.exp(-U)
    lines = [Line(f"mass at {sign}phi(u)", weight * own)]
    lacking = sympy.sympify(setting.pair.mechanism.mass_at_minus_infinity(setting.fn))  # type: ignore[attr-defined]
    if lacking != 0:
        lines.append(Line(f"mass at {sign}log(1 - q)", lacking if setting.backward else (1 - q) * lacking))
    lines.append(Line("delta(inf)", infinite))
    reason = (
        "The loss of the product is the sum of its coordinates' losses: `omega_0` is their convolution (Koskela et "
        "al. 2021, Theorem 11), moved by `phi` (appendix E)"
    )
    stopped = StageStopped("convolution", "the law of the sum of all coordinates is not written out")
    return evaluated.law_step(setting, lines, stopped, reason)


def _moment_steps(setting: Setting, q) -> list[Step]:
    """M(z), cumulants and divergences as means, moments of whole order as sums of products."""
    weight = 1 - q + q * sympy.exp(U)
    mean = sympy.Function("E_Q")
    power = weight ** (-Z if setting.backward else Z + 1)
    stopped = StageStopped("moment generating function", "a mean under all coordinates together, not written out")
    source = common.MASSES

    def page_moment(scene: Scene, function: Callable):
        return sum((atom.p * function(atom.loss) for atom in scene.page_atoms), mpmath.mpf(0))

    def check_mgf(scene: Scene):
        z = mpmath.mpc(scene.power() / 2, scene.draw(-3, 3))
        found, expected = (
            of(lambda s: mpmath.exp(z * s)) for of in (lambda f: page_moment(scene, f), scene.twin.moment)
        )
        yield Comparison("the real part of M(z)", mpmath.re(found), mpmath.re(expected))
        yield Comparison("the imaginary part of M(z)", mpmath.im(found), mpmath.im(expected))

    def check_cumulants(scene: Scene):
        mass = 1 - scene.twin.infinite()[0]
        for n in (1, 2):
            found = page_moment(scene, lambda s, n=n: s**n) / mass
            yield Comparison(f"E s^{n}", found, scene.twin.moment(lambda s, n=n: s**n) / mass)

    def check_order(scene: Scene):
        for lam in (scene.order(), -scene.order()):
            found = page_moment(scene, lambda s, lam=lam: mpmath.exp(lam * s))
            expected = scene.twin.moment(lambda s, lam=lam: mpmath.exp(lam * s))
            yield Comparison("log M", mpmath.log(found), mpmath.log(expected), scale=mpmath.mpf(1))

    kappa, s = sympy.Symbol("kappa1", real=True), sympy.log(weight) * (-1 if setting.backward else 1)
    law = sympy.S.One if setting.backward else weight
    cumulants = (Line("kappa1", mean(s * law)), Line("kappa2", mean(s**2 * law) - kappa**2))
    logs = (Line("alpha+(lambda)", sympy.log(MOMENT(LAM))), Line("alpha-(lambda)", sympy.log(MOMENT(-LAM))))
    divergence = (Line(f"D_a({setting.first}||{setting.second})", sympy.log(MOMENT(A - 1)) / (A - 1)),)
    return [
        Step("Moment generating function", (Line("M(z)", mean(power)),),
             "The mean under Q of a power of `1 - q + q e^u`", check_mgf, source, stopped=stopped),
        *_whole_orders(setting, q),
        Step("Cumulants", cumulants, "`kappa1 = E s`, `kappa2 = E s^2 - kappa1^2`, as means under Q; the second "
             "holds where delta(inf) = 0", check_cumulants, source, stopped=stopped),
        Step("Rényi divergence", divergence, "`D_a = log M(a-1)/(a-1)`", check_order, source, stopped=stopped),
        Step("alpha+ and alpha-", logs, "`alpha+(lambda) = log M(lambda)`, `alpha-(lambda) = log M(-lambda)`",
             check_order, source, stopped=stopped),
    ]  # fmt: skip


def _whole_orders(setting: Setting, q) -> list[Step]:
    """Whole orders by the binomial theorem, where every coordinate's M is closed."""
    parts = [(PLD(pair, False), k) for pair, k in Composition([(f, 1) for f in _factors(setting)]).parts]
    if setting.pair.mechanism.mass_at_minus_infinity(setting.fn) != 0:  # type: ignore[attr-defined]
        return []
    try:
        own = composed_mgf(parts, setting.fn, J - 1)
    except NoClosedFormError:
        return []
    total = sympy.Sum(sympy.binomial(N, J) * (1 - q) ** (N - J) * q**J * own, (J, 0, N))
    infinite = setting.pair.mechanism.mass_at_infinity(setting.fn)  # type: ignore[attr-defined]
    if infinite != 0:
        return []

    def check(scene: Scene):
        for n in (2, 3):
            power = -n if setting.backward else n - 1
            expected = scene.twin.moment(lambda s, power=power: mpmath.exp(power * s))
            yield Comparison(f"the moment of order {n}", scene.number(total, n=n), expected)

    left = "M(-n)" if setting.backward else "M(n - 1)"
    reason = "The binomial theorem, and `M_0` is the product of the coordinates' (Abadi et al. 2016)"
    return [Step("Moments of whole order", (Line(left, total),), reason, check, common.MASSES)]


def _profile(setting: Setting, q) -> list[Step]:
    composition = Composition([(factor, 1) for factor in _factors(setting)])
    try:
        own = setting.fn.spelled_out(closed_delta(Kinds(composition, False, setting.fn), U)[0])
    except NoClosedFormError as error:
        stage, _, why = str(error).partition(": ")
        return evaluated.profile_steps(setting, mapped_open(setting, q), StageStopped(stage, why))
    delta, letters = mapped(setting, q, own)
    reason = "`e^eps - (1-q) = q e^u`, so delta is `q delta_0(u)`, with `delta_0` of the unsampled composition"
    _, h, tradeoff = evaluated.profile_steps(setting, delta)
    return [common.delta_step(setting, [Line("delta(eps)", delta)], reason, letters), h, tradeoff]
