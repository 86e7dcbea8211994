"""Pairs that do not overlap: every outcome tells P and Q apart, the loss is infinite, and delta is 1 at every eps.

Noise of width zero, tables and densities with disjoint supports, a shift beyond all outcomes.
"""

import mpmath
import sympy

from ..derivation import Comparison, Line, Step
from ..outputs import Lattice, Row, Table
from ..scene import Scene
from . import common
from .setting import Setting

ZERO, ONE = sympy.S.Zero, sympy.S.One
CERTAIN = Table((Row("P's outcomes", ONE, ZERO), Row("Q's outcomes", ZERO, ONE)))
"""Which side an outcome belongs to is all that matters."""


def apart_story(setting: Setting) -> list[Step]:
    """All that there is to say."""
    first, second, other = setting.first, setting.second, setting.other_way

    def check_law(scene: Scene):
        infinite = scene.twin.infinite()
        yield Comparison(f"{first}({second} = 0)", infinite[0], mpmath.mpf(1))
        yield Comparison(f"{second}({first} = 0)", infinite[1], mpmath.mpf(1))

    def check_moment(scene: Scene):
        z = mpmath.mpc(scene.draw(-3, 3), scene.draw(-3, 3))
        yield Comparison("M(z)", mpmath.mpf(0), abs(scene.twin.moment(lambda s: mpmath.exp(z * s))))

    def check_delta(scene: Scene):
        eps = scene.draw(-9, 9)
        yield Comparison(f"delta({mpmath.nstr(eps, 5)})", mpmath.mpf(1), scene.twin.hockey_stick(eps))

    def check_test(scene: Scene):
        p, q = scene.twin.above(scene.draw(-9, 9))
        yield Comparison("alpha", scene.twin.totals()[0] - p, mpmath.mpf(0))
        yield Comparison("f(alpha)", q, mpmath.mpf(0))

    def step(title: str, lines: list[Line], reason: str, check) -> Step:
        return Step(title, tuple(lines), reason, check, common.source_of(setting))

    return [
        common.output_step(
            setting,
            _outcomes(setting),
            f"No outcome of {first} is one of {second}: one look at the output tells the two neighbours apart",
        ),
        step(
            "Privacy loss",
            [Line("s", sympy.oo, f"where {first} > 0"), Line("s", -sympy.oo, f"where {second} > 0")],
            f"`s = log({first}/{second})`, and one of the two is 0",
            check_law,
        ),
        step(
            "Privacy loss distribution",
            [Line("omega(s)", ZERO, "for all real s"), Line("delta(inf)", ONE)],
            f"omega is the law of s where {second} is positive, and there {first} has no mass",
            check_law,
        ),
        step(
            "The other direction",
            [Line(f"omega_{other}(s)", ZERO, "for all real s"), Line(f"delta_{other}(inf)", ONE)],
            "Not to overlap is the same from both sides",
            check_law,
        ),
        step("Moment generating function", [Line("M(z)", ZERO)], "A mean over no finite loss at all", check_moment),
        step(
            "Tight delta",
            [Line("delta(eps)", ONE, "for all real eps")],
            "Lemma 2 of Koskela et al. 2021: all of delta is `delta(inf)`. Nothing is kept private, and no eps is "
            "large enough",
            check_delta,
        ),
        step("In x = e^eps", [Line("h(x)", ONE)], "`h(x) = delta(log x)`", check_delta),
        step(
            "Trade-off function",
            [Line("f(alpha)", ZERO)],
            f"Reject {first} where {first} is 0: this test never errs",
            check_test,
        ),
        step(
            "k-fold composition",
            [Line("delta_k(eps)", ONE)],
            "`1 - (1 - delta(inf))^k`, and the same with any other mechanism beside it",
            check_delta,
        ),
    ]  # fmt: skip


def _outcomes(setting: Setting) -> list[Line]:
    outputs, names = setting.outputs, (setting.first, setting.second)
    if isinstance(outputs, Table):
        sides = ((names[0], 1), (names[1], 2))
        return [Line(f"{name}({row.name})", row[side]) for name, side in sides for row in outputs.rows]
    if isinstance(outputs, Lattice):
        ranges = (outputs.p_range, outputs.q_range)
        masses = (outputs.p, outputs.q)
        whens = ["" if ends is None else common.whole_range(*ends) for ends in ranges]
        return [Line(f"{name}(j)", mass, when) for name, mass, when in zip(names, masses, whens, strict=True)]
    return [Line(f"{name}({outputs.t})", side) for name, side in zip(names, outputs.whole, strict=True)]
