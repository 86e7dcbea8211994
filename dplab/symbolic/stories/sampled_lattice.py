"""Poisson subsampling of mechanisms on whole numbers: delta_0, the mechanism's own delta, does most of the work."""

from collections.abc import Callable

import mpmath
import sympy

from ...mechanisms import PoissonSubsampled
from ..derivation import Comparison, Line, Step, spelled_out
from ..outputs import Lattice
from ..scene import Scene
from ..worker import StageStopped
from . import bounds, common
from .lattice import Law, masses_above
from .mapping import U, composition_step, map_step, profile_steps
from .setting import LAM, A, J, Setting, Z

ZERO = sympy.S.Zero


def sampled_lattice(outputs_of: Callable, law_of: Callable[..., Law]) -> tuple[Callable, Callable]:
    """Output distributions and story of a mechanism on whole numbers, sampled."""

    def outputs(pair: PoissonSubsampled, fn) -> Lattice:
        return outputs_of(pair.mechanism, fn).sampled(pair.q(fn))

    def story(setting: Setting) -> list[Step]:
        assert isinstance(setting.pair, PoissonSubsampled)
        q = setting.pair.q(setting.fn)
        return _steps(setting, law_of(setting.pair.mechanism, setting.fn, False), q)

    return outputs, story


def _steps(setting: Setting, law: Law, q) -> list[Step]:
    back, letters = setting.backward, law.letters
    mixed = q * law.p + (1 - q) * law.q
    infinite = ZERO if back else q * law.infinite
    mgf = _expectation(setting, law, q, lambda first, second, z: first ** (z + 1) * second**-z)
    kappa = sympy.Symbol("kappa1", real=True)
    phi = sympy.log(1 - q + q * sympy.exp(law.loss)) * (-1 if back else 1)
    first = law.q if back else mixed
    extra = (law.missing if back else (1 - q) * law.missing, sympy.log(1 - q) * (-1 if back else 1))
    moments = [
        (sympy.Sum(first * phi**n, (J, law.first, law.last)) + extra[0] * extra[1] ** n) / (1 - infinite)
        for n in (1, 2)
    ]
    stopped = StageStopped("cumulants", "left as sums over the outcomes")
    return [
        _output_step(setting, law, mixed),
        map_step(setting, q),
        _pld_step(setting, law, first, phi, extra, infinite),
        common.mgf_step(
            setting, [Line("M(z)", mgf(Z))], "The sum of `f^{z+1} g^{-z}` over the outcomes", letters=letters
        ),
        common.cumulant_step(
            setting,
            moments[0],
            moments[1] - kappa**2,
            reason="`kappa1 = E s`, `kappa2 = E s^2 - kappa1^2`, given that the loss is finite",
            letters=((kappa, moments[0]), *letters),
            stopped=stopped,
        ),
        common.renyi_step(setting, sympy.log(mgf(A - 1)) / (A - 1), letters=letters),
        common.alpha_step(setting, sympy.log(mgf(LAM)), sympy.log(mgf(-LAM)), letters=letters),
        *profile_steps(setting, q, masses_above(law, U), law.letters),
        composition_step(setting),
        bounds.chernoff_step(setting, mgf(LAM), infinite=infinite, letters=letters),
        bounds.total_error_step(setting),
        bounds.periodisation_step(setting),
    ]


def _expectation(setting: Setting, law: Law, q, of: Callable) -> Callable:
    mixed = q * law.p + (1 - q) * law.q
    sides = (law.q, mixed) if setting.backward else (mixed, law.q)
    lacking = (law.missing, (1 - q) * law.missing)
    alone = lacking if setting.backward else lacking[::-1]

    def mean(z) -> sympy.Expr:
        total = sympy.Sum(of(*sides, z), (J, law.first, law.last))
        return total if law.missing == 0 else total + of(*alone, z)

    return mean


def _output_step(setting: Setting, law: Law, mixed) -> Step:
    reason = "A record takes part with probability `q`: with it the output is the mixture, without it never"
    step = common.output_step(setting, [Line("P(j)", mixed), Line("Q(j)", law.q)], reason)
    return Step(step.title, step.lines, step.reason, step.check, step.against, law.letters)


def _pld_step(setting: Setting, law: Law, mass, loss, extra, infinite) -> Step:
    where = common.whole_range(law.first, law.last)
    sign = "-" if setting.backward else ""
    lines = [Line(f"mass at {sign}phi(u(j))", mass, where), Line("u(j)", law.loss)]
    if law.missing != 0:
        lines.append(Line(f"mass at {sign}log(1 - q)", extra[0]))
    lines.append(Line("delta(inf)", infinite))
    mass, loss = (spelled_out(part, law.letters) for part in (mass, loss))

    def check(scene: Scene):
        for c in (scene.loss(), scene.loss()):
            found = scene.number(infinite) + scene.sum_where(mass, loss, law.first, law.last, c)
            if scene.number(extra[1]) > c:
                found += scene.number(extra[0])
            yield Comparison(f"P(s > {mpmath.nstr(c, 5)})", found, scene.twin.above(c)[0])

    reason = (
        "The map on PLDs, outcome by outcome; what P alone cannot produce has the loss `log(1 - q)` once it is mixed "
        "(Koskela et al. 2021, appendix E)"
    )
    return Step("Privacy loss distribution", tuple(lines), reason, check, common.MASSES, law.letters)
