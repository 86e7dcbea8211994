"""Pairs given by two densities of one's own: the same chain, stage by stage, with what was found at each.

Where a stage has no closed form its formula stands unevaluated, the numbers behind it come from quadrature, and the
step says which stage stopped.
"""

import mpmath
import sympy

from ...core.errors import DplabError
from ...mechanisms.own import tails
from ..calculus import Search, exponential
from ..derivation import Comparison, Line, Step
from ..numeric import number
from ..scene import PAGE, Scene
from ..tidy import short, tidied
from ..worker import StageStopped
from . import bounds, common, evaluated
from .own_curve import MOST_WRITTEN, Tails
from .own_law import Own, ends_of, law_lines, near_end, splits_of
from .setting import EPS, LAM, A, C, K, S, Setting, X, Z

ZERO = sympy.S.Zero
E = sympy.exp
MOMENT = sympy.Function("M")
MOST_EXPONENTIALS = 12
"""An omega of more terms is left to sympy's search."""


def own_story(setting: Setting) -> list[Step]:
    """All steps for two densities of one's own."""
    own = Own(setting)
    squares, search = _moment_parts(own)
    with search:  # it thinks while the other steps are made
        steps = [_output_step(own)]
        if own.found.panels:
            steps += [loss_step(own), branch_step(own)]
        steps += [pld_step(own), mirror_step(own)]
        profile = _profile(own)
        mgf = mgf_step(own, squares, search)
    closed = mgf.stopped is None
    steps += [mgf, *moments(own, mgf.lines[0].right, closed)]
    steps += [*profile, composition_step(setting, own.infinite, mgf.lines[0].right if closed else None)]
    steps.append(bounds.chernoff_step(setting, _at(mgf, LAM) if closed else None, infinite=own.infinite))
    return [*steps, bounds.total_error_step(setting), bounds.periodisation_step(setting)]


def _at(mgf: Step, z) -> sympy.Expr:
    return mgf.lines[0].right.xreplace({Z: z})


def _output_step(own: Own) -> Step:
    lines = [Line(f"P({own.t})", own.found.p), Line(f"Q({own.t})", own.found.q)]
    return common.output_step(own.setting, lines, "As they were given; cut where a density has a corner or vanishes")


def loss_step(own: Own) -> Step:
    """s(t) on each panel."""
    lines = [
        Line(f"s({own.t})", own.loss(panel), common.interval(own.t, panel.cell.lower, panel.cell.upper))
        for panel in own.found.panels
    ]
    constant = " Where the loss is constant it is an atom." if own.atoms else ""
    reason = f"`s = log({own.setting.first}/{own.setting.second})` where both are positive.{constant}"
    panels = own.found.panels

    def check(scene: Scene):
        for panel, line in zip(panels, lines, strict=True):
            t = scene.inside(panel.cell.lower, panel.cell.upper)
            p, q = (scene.number(side, **{own.t.name: t}) for side in own.sides(panel))
            found = scene.number(line.right, **{own.t.name: t})
            yield Comparison(f"s({mpmath.nstr(t, 5)})", found, mpmath.log(p / q))

    return Step("Privacy loss", tuple(lines), reason, check, "the densities themselves")


def branch_step(own: Own) -> Step:
    """The monotone pieces of the loss, each with its inverse if that is closed."""
    lines, stopped = [], None
    pieces = own.found.pieces
    for place, piece in enumerate(pieces, 1):
        name = "t(s)" if len(pieces) == 1 else f"t{place}(s)"
        low, high = own.range(piece)
        formula = own.outcome(piece, S)
        if formula is None:
            unsolved = StageStopped("inverse", f"{name} solves s(t) = s; no closed solution was found")
            stopped = own.explained(unsolved, "inverse", "turning points")
            formula = sympy.Function("s^{-1}")(S)
        lines.append(Line(name, formula, common.interval("s", low, high)))

    def check(scene: Scene):
        for piece, line in zip(pieces, lines, strict=True):
            t = scene.inside(near_end(piece.lower), near_end(piece.upper))
            s = scene.number(own.loss(piece.panel), **{own.t.name: t})
            if piece.inverse is None:  # where the loss is flat its outcome has few digits, but the right loss
                there = tails.outcome(PAGE, piece, -s if own.back else s)
                yield Comparison(
                    "s at the numeric inverse", scene.number(own.loss(piece.panel), **{own.t.name: there}), s
                )
            else:
                yield Comparison(f"{line.left} at s(t)", scene.number(line.right, s=s), t)

    count = "one piece" if len(pieces) == 1 else f"{len(pieces)} pieces"
    reason = f"The loss is strictly monotone on {count}; found by: {', '.join(dict.fromkeys(p.stage for p in pieces))}"
    return Step("Monotone pieces", tuple(lines), reason, check, "the loss itself", stopped=stopped)


def pld_step(own: Own) -> Step:
    """omega, in terms of what has no formula where it is not closed."""
    found, ends = own.density, ends_of(own)
    density, letters = found or own.open_density()
    lines = law_lines(own, "omega", density, ends, own.atoms, own.infinite)
    if found is None:
        return evaluated.law_step(own.setting, lines, own.law_open, own.law_reason, letters)
    splits = splits_of(own)
    return common.pld_step(
        own.setting, lines, own.law_reason, density, ends, own.atoms, own.infinite, letters, splits=splits
    )


def mirror_step(own: Own) -> Step:
    """omega of the other direction."""
    turned, name = own.turned(), f"omega_{own.setting.other_way}"
    found, ends = turned.density, ends_of(turned)
    if found is None:
        return evaluated.mirror_step(own.setting, [Line(f"{name}(s)", E(S) * sympy.Function("omega")(-S))])
    density, letters = found
    lines = law_lines(turned, name, density, ends, turned.atoms, turned.infinite)
    return common.mirror_step(own.setting, lines, density, ends, turned.atoms, letters, splits=splits_of(turned))


def _moment_parts(own: Own) -> tuple[list[sympy.Expr], Search]:
    """M(z) panel by panel: what completing the square gives, and sympy's search for the rest."""
    squares, integrals = [], []
    for panel in own.found.panels:
        first, second = (sympy.expand_log(sympy.log(side), force=True) for side in own.sides(panel))
        limits = (own.t, panel.cell.lower, panel.cell.upper)
        value = exponential((Z + 1) * first - Z * second, *limits)
        if value is None:
            integrals.append((E(Z * own.loss(panel)) * own.sides(panel)[0], *limits))
        else:
            squares.append(value)
    return squares, Search("moment generating function", integrals, own.setting.budget)


def mgf_step(own: Own, squares: list[sympy.Expr], search: Search) -> Step:
    """M(z): exponents of degree at most two by completing the square; a law that is a sum of exponentials; else sympy
    within its budget."""
    total = sum((atom.p * E(Z * atom.loss) for atom in own.atoms), ZERO) + sympy.Add(*squares)
    stopped, reason = None, "The exponent of `f^{z+1} g^{-z}` is at most quadratic in t: complete the square"
    if search.integrals and (found := _mgf_of_law(own)) is not None:
        total += found
        reason = "`omega(s)` is a sum of exponentials, and so is `e^{z s} omega(s)`"
    elif search.integrals:
        found = search.result()
        definition = sum((sympy.Integral(body, tuple(limits)) for body, *limits in search.integrals), ZERO)
        if not isinstance(found, StageStopped) and not _agree(found, definition):
            found = StageStopped("moment generating function", "sympy's antiderivative differs from a quadrature")
        if isinstance(found, StageStopped):
            stopped, reason = found, "The definition: the mean of `e^{z s}`"
            found = definition
        else:
            reason = "sympy's antiderivative, compared with a quadrature"
        total += found
    elif not squares:
        reason = "One term for each atom"
    return common.mgf_step(own.setting, [Line("M(z)", total if stopped else short(total))], reason, stopped=stopped)


def _agree(found: sympy.Expr, definition: sympy.Expr) -> bool:
    """Whether two formulas of M agree between -1 and 0, where it is always finite; parameters are left to the check."""
    if definition.free_symbols - {Z}:
        return True
    with mpmath.workdps(30):
        for z in (mpmath.mpf(-1) / 3, mpmath.mpc(-1, 16) / 16):
            try:
                one, other = (number(formula, {Z: z}) for formula in (found, definition))
            except (ArithmeticError, ValueError, DplabError):
                return False
            if not abs(one - other) <= mpmath.mpf(10) ** -15 * abs(other):
                return False
    return True


def _mgf_of_law(own: Own) -> sympy.Expr | None:
    """The integral of e^{z s} omega(s) where omega is one sum of exponentials; None where it is not."""
    found, ends = own.density, ends_of(own)
    if found is None or ends is None or len(own.found.pieces) != 1 or found[1]:
        return None
    terms = sympy.Add.make_args(sympy.expand(found[0], log=False, power_base=False))
    total = ZERO
    for term in terms if len(terms) <= MOST_EXPONENTIALS else ():
        weight, power = sympy.powsimp(term).as_independent(S, as_Add=False)
        exponent = power.exp if isinstance(power, sympy.exp) else sympy.log(power)
        rate = sympy.diff(exponent, S)
        if rate.has(S):
            return None
        rest = weight * E(exponent - rate * S)
        low, high = (E((rate + Z) * end) if end.is_finite else ZERO for end in ends)
        total += rest * (high - low) / (rate + Z)
    return total if total != 0 else None


def moments(own: Own, mgf, closed: bool) -> list[Step]:
    """Cumulants, Rényi divergence and alpha+-, the last two in terms of M where that is not closed."""
    cumulants = (_closed_cumulants(own, mgf) if closed else None) or _cumulants(own)
    stopped = None if closed else StageStopped("moment generating function", "unevaluated, see above")
    written = {z: mgf.xreplace({Z: z}) for z in (A - 1, LAM, -LAM)}
    at = written if closed else {z: MOMENT(z) for z in written}
    letters = () if closed else tuple((at[z], written[z]) for z in written)
    renyi = common.renyi_step(own.setting, sympy.log(at[A - 1]) / (A - 1), stopped=stopped, letters=letters)
    plus, minus = (sympy.log(at[sign * LAM]) for sign in (1, -1))
    return [cumulants, renyi, common.alpha_step(own.setting, plus, minus, stopped=stopped, letters=letters)]


def _cumulants(own: Own) -> Step:
    mass = 1 - own.infinite
    mean = tidied(own.expectation(lambda s: s) / mass)
    kappa = sympy.Symbol("kappa1", real=True)
    square = own.expectation(lambda s: s**2)
    return common.cumulant_step(
        own.setting,
        mean,
        square / mass - kappa**2,
        reason="`kappa1 = E s`, `kappa2 = E s^2 - kappa1^2`, given that the loss is finite",
        letters=((kappa, mean),),
        stopped=StageStopped("cumulants", "left as integrals") if mean.has(sympy.Integral) else None,
    )


def _closed_cumulants(own: Own, mgf) -> Step | None:
    """The derivatives of log M at 0; None where its formula has a hole there, or they are thickets."""
    first = sympy.diff(mgf, Z)
    at_zero = [formula.subs(Z, 0) for formula in (mgf, first, sympy.diff(first, Z))]
    if any(value.has(sympy.nan, sympy.zoo, sympy.oo) or sympy.count_ops(value) > MOST_WRITTEN for value in at_zero):
        return None
    kappa = sympy.Symbol("kappa1", real=True)
    mean, square = (short(value / at_zero[0]) for value in at_zero[1:])
    variance = short(square - mean**2)
    if sympy.count_ops(variance) <= MOST_WRITTEN / 2:
        return common.cumulant_step(own.setting, mean, variance)
    return common.cumulant_step(own.setting, mean, square - kappa**2, letters=((kappa, mean),))


def _profile(own: Own) -> list[Step]:
    tails = Tails.of(own, EPS)
    if tails is None:
        stick = sympy.Integral(
            sympy.Max(
                ZERO, sympy.Function(own.setting.first)(own.t) - E(EPS) * sympy.Function(own.setting.second)(own.t)
            ),
            own.t,
        )
        return evaluated.profile_steps(own.setting, stick, own.explained(evaluated.TAILS, "antiderivative", "inverse"))
    first, second = own.setting.first, own.setting.second
    reason = (
        f"Lemma 2 of Koskela et al. 2021: delta is `{first}(s > eps)`, `{second}(s > eps)`, the second times `e^eps`, "
        "from the tails at `t(eps)`"
    )
    p, q = names = [sympy.Symbol(f"{name}_above", real=True) for name in (first, second)]
    delta, h, errors = tails.curve(), tails.curve_in_exp(X), tails.errors(C)
    of_delta: tuple = ()
    of_h: tuple = ()
    of_errors: tuple = ()
    if delta is None or h is None or sympy.count_ops(delta) > MOST_WRITTEN:
        delta, of_delta = p - E(EPS) * q, tuple(zip(names, tails.masses(), strict=True))
        h, of_h = p - X * q, tuple(zip(names, tails.masses_in_exp(X), strict=True))
    if sum(map(sympy.count_ops, errors)) > MOST_WRITTEN:
        errors, of_errors = (1 - p, q), tuple(zip(names, tails.masses(C), strict=True))
    letters = [
        (*names_of, *tails.letters(x)) for names_of, x in ((of_delta, EPS), (of_h, sympy.log(X)), (of_errors, C))
    ]
    return [
        common.delta_step(own.setting, [Line("delta(eps)", delta)], reason, letters[0]),
        common.h_step(own.setting, h, letters[1]),
        common.tradeoff_parametric(own.setting, *errors, letters=letters[2]),
    ]


def composition_step(setting: Setting, infinite, mgf=None) -> Step:
    """The recursion, checked at its first step: delta_0(eps) = max(0, 1 - e^eps); `mgf` is M(z) where it is closed."""
    recursion = sympy.Integral(
        sympy.Function("delta_{k-1}")(EPS - S) * sympy.Function("omega")(S), (S, -sympy.oo, sympy.oo)
    )
    if infinite != 0:
        recursion = infinite + recursion
    lines = (Line("delta_k(eps)", recursion), Line("M_k(z)", (MOMENT(Z) if mgf is None else mgf) ** K))

    def check(scene: Scene):
        eps = scene.loss()
        mean = scene.twin.moment(lambda s: max(mpmath.mpf(0), -mpmath.expm1(eps - s)), [eps])
        found = scene.twin.infinite()[0] + mean
        yield Comparison("delta of one step by the recursion", found, scene.twin.hockey_stick(eps))

    reason = "Composition convolves PLDs and multiplies M (Theorem 3 of Koskela et al. 2021)"
    stopped = StageStopped("convolution", "this PLD is not convolved with itself here; dplab.reference inverts M(z)^k")
    return Step("k-fold composition", lines, reason, check, common.source_of(setting), stopped=stopped)
