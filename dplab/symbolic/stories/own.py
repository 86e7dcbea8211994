"""Pairs given by two densities of one's own: the same chain, stage by stage, with what was found at each.

Where a stage has no closed form its formula stands unevaluated, the numbers behind it come from quadrature, and the
step says which stage stopped.
"""

from collections.abc import Callable

import mpmath
import sympy

from ...core.display import text_formula
from ...core.pair import Atom
from ...mechanisms.own import tails
from ...mechanisms.own.analysis import Panel, Piece
from ...mechanisms.own.analysis import X as INVERSE_OF
from ...mechanisms.own.cells import split_atoms
from ...mechanisms.own.densities import DensityPair
from ...mechanisms.own.programs import acot, upper_normal
from ...mechanisms.own.turning import Turning
from ..calculus import Search, exponential
from ..derivation import Comparison, Line, Step
from ..normal_cdf import Phi
from ..outputs import Line as Densities
from ..outputs import Piece as Interval
from ..outputs import Row
from ..scene import PAGE, Scene
from ..worker import StageStopped
from . import bounds, common, evaluated
from .setting import EPS, LAM, A, C, K, S, Setting, X, Z

ZERO = sympy.S.Zero
E = sympy.exp
MOMENT = sympy.Function("M")
MOST_SUBSTITUTED = 60
"""An outcome is put into a formula up to so many operations; beyond, it keeps its letter."""


def own_outputs(pair: DensityPair, fn) -> Densities:
    """The cells of the analysis, and the outcomes with positive probability."""
    found, t = pair.analysis, pair.variable
    intervals = tuple(Interval(cell.lower, cell.upper, cell.p, cell.q) for cell in found.cells)
    points = [split_atoms(density, t, name)[1] for density, name in ((found.p, "P"), (found.q, "Q"))]
    places = sorted({point.at for side in points for point in side}, key=sympy.default_sort_key)
    rows = tuple(
        Row(str(at), *(sympy.Add(*(point.mass for point in side if point.at == at)) for side in points))
        for at in places
    )
    ends = {end for cell in found.cells for end in (cell.lower, cell.upper) if end.is_finite}
    typical = tuple(sorted(ends, key=sympy.default_sort_key))
    if not typical:
        typical = (sympy.Integer(-1), ZERO, sympy.Integer(1))
    return Densities(t, intervals, (found.p, found.q), typical, rows)


class Own:
    """The analysis of a pair, turned into one direction."""

    def __init__(self, setting: Setting):
        assert isinstance(setting.pair, DensityPair)
        self.setting, self.pair, self.back = setting, setting.pair, setting.backward
        self.found, self.t = self.pair.analysis, self.pair.variable
        self.infinite, self.missing = self.found.infinite, self.found.missing
        self.atoms = [Atom(a.loss, a.p, a.q) for a in self.found.atoms]
        if self.back:
            self.infinite, self.missing = self.missing, self.infinite
            self.atoms = [Atom(-a.loss, a.q, a.p) for a in self.found.atoms[::-1]]

    def sides(self, panel: Panel) -> tuple[sympy.Expr, sympy.Expr]:
        """First and second density on a panel."""
        return (panel.cell.q, panel.cell.p) if self.back else (panel.cell.p, panel.cell.q)

    def loss(self, panel: Panel) -> sympy.Expr:
        """s(t) on a panel."""
        return -panel.loss if self.back else panel.loss

    def range(self, piece: Piece) -> tuple:
        """The smallest and the largest loss on a piece."""
        ends = tuple(_plain(end) for end in (piece.low, piece.high))
        return (-ends[1], -ends[0]) if self.back else ends

    def outcome(self, piece: Piece, s) -> sympy.Expr | None:
        """The outcome with loss s on a piece; None without a closed inverse."""
        return None if piece.inverse is None else piece.inverse.xreplace({INVERSE_OF: -s if self.back else s})

    @property
    def numeric(self) -> bool:
        """Whether some end or inverse is known numerically only."""
        return any(piece.inverse is None for piece in self.found.pieces)

    def expectation(self, of: Callable, weight: int = 0) -> sympy.Expr:
        """The unevaluated mean of a function of s under the first (weight 0) or second distribution."""
        total = sum((atom[1 + weight] * of(atom.loss) for atom in self.atoms), ZERO)
        for panel in self.found.panels:
            body = of(self.loss(panel)) * self.sides(panel)[weight]
            total += sympy.Integral(body, (self.t, panel.cell.lower, panel.cell.upper))
        return total


def _plain(end) -> sympy.Expr:
    return sympy.Float(end.near, 12) if isinstance(end, Turning) else end


def _readable(mass: sympy.Expr) -> sympy.Expr:
    """The analysis' own functions in those of the symbolic route."""
    return mass.replace(upper_normal, lambda x: Phi(-x)).replace(acot, lambda x: sympy.pi / 2 - sympy.atan(x))


def own_story(setting: Setting) -> list[Step]:
    """All steps for two densities of one's own."""
    own = Own(setting)
    squares, search = _moment_parts(own)
    with search:  # it thinks while the other steps are made
        steps = [_output_step(own)]
        if own.found.panels:
            steps += [_loss_step(own), _branch_step(own)]
        steps += [_pld_step(own), _mirror_step(own)]
        profile = _profile(own)
        mgf = _mgf_step(own, squares, search)
    closed = mgf.stopped is None
    steps += [mgf, *_moments(own, mgf.lines[0].right, closed)]
    steps += [*profile, _composition_step(own, mgf.lines[0].right, closed)]
    steps.append(bounds.chernoff_step(setting, _at(mgf, LAM) if closed else None, infinite=own.infinite))
    return [*steps, bounds.total_error_step(setting), bounds.periodisation_step(setting)]


def _at(mgf: Step, z) -> sympy.Expr:
    return mgf.lines[0].right.xreplace({Z: z})


def _output_step(own: Own) -> Step:
    lines = [Line(f"P({own.t})", own.found.p), Line(f"Q({own.t})", own.found.q)]
    return common.output_step(own.setting, lines, "As they were given; cut where a density has a corner or vanishes")


def _loss_step(own: Own) -> Step:
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


def _branch_step(own: Own) -> Step:
    lines, stopped = [], None
    pieces = own.found.pieces
    for number, piece in enumerate(pieces, 1):
        name = "t(s)" if len(pieces) == 1 else f"t{number}(s)"
        low, high = own.range(piece)
        formula = own.outcome(piece, S)
        if formula is None:
            stopped = StageStopped("inverse", f"{name} solves s(t) = s; no closed solution was found")
            formula = sympy.Function("s^{-1}")(S)
        lines.append(Line(name, formula, common.interval("s", low, high)))

    def check(scene: Scene):
        for piece, line in zip(pieces, lines, strict=True):
            t = scene.inside(_plain(piece.lower), _plain(piece.upper))
            s = scene.number(own.loss(piece.panel), **{own.t.name: t})
            if piece.inverse is None:
                expected = tails.outcome(PAGE, piece, -s if own.back else s)
                yield Comparison("the numeric inverse", expected, t)
            else:
                yield Comparison(f"{line.left} at s(t)", scene.number(line.right, s=s), t)

    count = "one piece" if len(pieces) == 1 else f"{len(pieces)} pieces"
    reason = f"The loss is strictly monotone on {count}; found by: {', '.join(dict.fromkeys(p.stage for p in pieces))}"
    return Step("Monotone pieces", tuple(lines), reason, check, "the loss itself", stopped=stopped)


def _density(own: Own, s) -> tuple[sympy.Expr, tuple] | None:
    """omega at s: first density over |s'(t)| at each outcome with this loss; None without closed inverses.

    An outcome whose formula would make a thicket of it keeps a letter; these come with their meanings.
    """
    total, letters = [], []
    pieces = own.found.pieces
    x = {INVERSE_OF: -s if own.back else s}
    for number, piece in enumerate(pieces, 1):
        t = piece.inverse
        if t is None:
            return None
        slope = sympy.diff(piece.loss, own.t) * (1 if piece.increasing else -1)
        there = common.tidied(own.sides(piece.panel)[0] / slope)
        value = there.xreplace({own.t: t})
        if sympy.count_ops(value) > MOST_SUBSTITUTED and sympy.count_ops(there) < sympy.count_ops(value) / 2:
            letter = own.t if len(pieces) == 1 else sympy.Symbol(f"{own.t}{number}", real=True)
            letters.append((letter, t.xreplace(x)))
            value = there.xreplace({own.t: letter})
        else:
            value = common.tidied(value).xreplace(x)
        total.append((value, own.range(piece)))
    if not total:
        return ZERO, ()
    if len(total) == 1:
        return total[0][0], tuple(letters)
    return sympy.Add(*(_within(value, s, *ends) for value, ends in total)), tuple(letters)


def _within(value, s, low, high) -> sympy.Expr:
    conditions = [sympy.StrictLessThan(low, s, evaluate=False)] if low.is_finite else []
    conditions += [sympy.StrictLessThan(s, high, evaluate=False)] if high.is_finite else []
    if not conditions:
        return value
    return sympy.Piecewise((value, sympy.And(*conditions, evaluate=False)), (ZERO, True), evaluate=False)


def _law(own: Own, name: str, density, ends, atoms, infinite) -> list[Line]:
    lines = []
    if ends is not None:
        when = common.interval("s", *ends)
        lines.append(Line(f"{name}(s)", density, when))
    lines += [Line(f"mass at {text_formula(atom.loss)}", common.tidied(atom.p)) for atom in atoms]
    return [*lines, Line("delta(inf)" if name == "omega" else f"delta{name[5:]}(inf)", infinite)]


def _ends(own: Own) -> tuple | None:
    ends = [own.range(piece) for piece in own.found.pieces]
    if not ends:
        return None
    return _extreme(sympy.Min, [low for low, _ in ends]), _extreme(sympy.Max, [high for _, high in ends])


def _extreme(choose, values) -> sympy.Expr:
    return values[0] if len(set(values)) == 1 else choose(*values)


def _pld_step(own: Own) -> Step:
    found, ends = _density(own, S), _ends(own)
    if found is None:
        stopped = StageStopped("PLD", "its density needs the inverses that have no closed form")
        return evaluated.law_step(
            own.setting, _law(own, "omega", _symbolic(own), ends, own.atoms, own.infinite), stopped
        )
    reason = (
        "Change of variables: `omega(s)` is the sum of `f(t) / |s'(t)|` over the outcomes t with loss s, f the "
        "first density"
    )
    density, letters = found
    lines = _law(own, "omega", density, ends, own.atoms, own.infinite)
    return common.pld_step(
        own.setting, lines, reason, density, ends, own.atoms, own.infinite, letters, splits=_splits(own)
    )


def _splits(own: Own) -> list:
    """Losses at which the density of several pieces jumps."""
    return [end for piece in own.found.pieces for end in own.range(piece) if end.is_finite]


def _symbolic(own: Own) -> sympy.Expr:
    """omega in terms of inverses that have no formula."""
    inverse = sympy.Function("s^{-1}")(S)
    return sympy.Function("f")(inverse) / sympy.Abs(sympy.Function("s'")(inverse))


def _mirror_step(own: Own) -> Step:
    turned = Own(Setting(own.pair, not own.back, own.setting.outputs.swapped(), own.setting.fn, own.setting.budget))
    found, ends, atoms = _density(turned, S), _ends(turned), turned.atoms
    name = f"omega_{own.setting.other_way}"
    if found is None:
        lines = [Line(f"{name}(s)", E(S) * sympy.Function("omega")(-S))]
        return evaluated.mirror_step(own.setting, lines)
    density, letters = found
    lines = _law(turned, name, density, ends, atoms, turned.infinite)
    return common.mirror_step(own.setting, lines, density, ends, atoms, letters, splits=_splits(turned))


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


def _mgf_step(own: Own, squares: list[sympy.Expr], search: Search) -> Step:
    """M(z): exponents of degree at most two by completing the square; else sympy within its budget."""
    total = sum((atom.p * E(Z * atom.loss) for atom in own.atoms), ZERO) + sympy.Add(*squares)
    stopped, reason = None, "The exponent of `f^{z+1} g^{-z}` is at most quadratic in t: complete the square"
    if search.integrals:
        found = search.result()
        if isinstance(found, StageStopped):
            stopped, reason = found, "The definition: the mean of `e^{z s}`"
            found = sum((sympy.Integral(body, tuple(limits)) for body, *limits in search.integrals), ZERO)
        else:
            reason = "sympy's antiderivative, compared with a quadrature"
        total += found
    elif not squares:
        reason = "One term for each atom"
    return common.mgf_step(
        own.setting, [Line("M(z)", total if stopped else common.tidied(total))], reason, stopped=stopped
    )


def _moments(own: Own, mgf, closed: bool) -> list[Step]:
    mass = 1 - own.infinite
    mean = common.tidied(own.expectation(lambda s: s) / mass)
    kappa = sympy.Symbol("kappa1", real=True)
    square = own.expectation(lambda s: s**2)
    cumulants = common.cumulant_step(
        own.setting,
        mean,
        square / mass - kappa**2,
        reason="`kappa1 = E s`, `kappa2 = E s^2 - kappa1^2`, given that the loss is finite",
        letters=((kappa, mean),),
        stopped=StageStopped("cumulants", "left as integrals") if mean.has(sympy.Integral) else None,
    )
    stopped = None if closed else StageStopped("moment generating function", "unevaluated, see above")
    letters = () if closed else tuple((MOMENT(z), mgf.xreplace({Z: z})) for z in (A - 1, LAM, -LAM))
    at = {z: mgf.xreplace({Z: z}) if closed else MOMENT(z) for z in (A - 1, LAM, -LAM)}
    renyi = common.renyi_step(own.setting, sympy.log(at[A - 1]) / (A - 1), stopped=stopped, letters=letters)
    plus, minus = (sympy.log(at[sign * LAM]) for sign in (1, -1))
    return [cumulants, renyi, common.alpha_step(own.setting, plus, minus, stopped=stopped, letters=letters)]


def _masses_above(own: Own, x) -> tuple[sympy.Expr, sympy.Expr] | None:
    """First's and second's mass of {s > x} on the pieces; None where some of it is not closed."""
    totals = [ZERO, ZERO]
    for piece in own.found.pieces:
        t = own.outcome(piece, x)
        masses = (piece.panel.q_mass, piece.panel.p_mass) if own.back else (piece.panel.p_mass, piece.panel.q_mass)
        low, high = own.range(piece)
        right = piece.increasing != own.back
        for side, mass in enumerate(masses):
            if t is None or mass.left is None or mass.right is None or mass.total is None:
                return None
            whole_panel = (piece.lower, piece.upper) == (piece.panel.cell.lower, piece.panel.cell.upper)
            inside, all_of_it = _mass_beyond(own, piece, mass, t, right, whole_panel)
            pieces = []
            if low.is_finite:
                pieces.append((all_of_it, sympy.LessThan(x, low, evaluate=False)))
            pieces.append((inside, sympy.StrictLessThan(x, high, evaluate=False) if high.is_finite else True))
            if high.is_finite:
                pieces.append((ZERO, True))
            totals[side] += sympy.Piecewise(*pieces, evaluate=False) if len(pieces) > 1 else inside
    return totals[0], totals[1]


def _mass_beyond(own: Own, piece: Piece, mass, t, right: bool, whole_panel: bool) -> tuple:
    """The mass of the piece beyond t on one side, and that of all of the piece."""
    source = mass.right if right else mass.left
    source = _readable(source)
    at = common.tidied(source.xreplace({own.t: t}))
    if whole_panel:
        return at, common.tidied(_readable(mass.total))
    rest = source.xreplace({own.t: piece.upper if right else piece.lower}) if _inner(piece, right) else ZERO
    other = (
        source.xreplace({own.t: piece.lower if right else piece.upper})
        if _inner(piece, not right)
        else _readable(mass.total)
    )
    return at - rest, other - rest


def _inner(piece: Piece, upper: bool) -> bool:
    return piece.upper != piece.panel.cell.upper if upper else piece.lower != piece.panel.cell.lower


def _with_atoms(own: Own, masses: tuple, x) -> tuple:
    """The masses of {s > x} with the atoms above x, and what is infinite."""
    p, q = own.infinite + masses[0], masses[1]
    for atom in own.atoms:
        above = sympy.StrictLessThan(x, atom.loss, evaluate=False)
        p += sympy.Piecewise((atom.p, above), (ZERO, True), evaluate=False)
        q += sympy.Piecewise((atom.q, above), (ZERO, True), evaluate=False)
    return p, q


def _profile(own: Own) -> list[Step]:
    masses = _masses_above(own, EPS)
    if masses is None:
        stick = sympy.Integral(
            sympy.Max(
                ZERO, sympy.Function(own.setting.first)(own.t) - E(EPS) * sympy.Function(own.setting.second)(own.t)
            ),
            own.t,
        )
        return evaluated.profile_steps(own.setting, stick)
    p, q = _with_atoms(own, masses, EPS)
    source = f"`{own.setting.first}(s > eps)`, `{own.setting.second}(s > eps)`"
    lines = [Line("delta(eps)", p - E(EPS) * q)]
    reason = f"Lemma 2 of Koskela et al. 2021: delta is {source}, the second times `e^eps`, from the tails at `t(eps)`"
    delta = common.delta_step(own.setting, lines, reason)
    h = common.h_step(own.setting, (p - X * q).xreplace({EPS: sympy.log(X)}))
    at_c = [side.xreplace({EPS: C}) for side in (p, q)]
    return [delta, h, common.tradeoff_parametric(own.setting, 1 - at_c[0], at_c[1])]


def _composition_step(own: Own, mgf, closed: bool) -> Step:
    """The recursion, checked at its first step: delta_0(eps) = max(0, 1 - e^eps)."""
    recursion = sympy.Integral(
        sympy.Function("delta_{k-1}")(EPS - S) * sympy.Function("omega")(S), (S, -sympy.oo, sympy.oo)
    )
    if own.infinite != 0:
        recursion = own.infinite + recursion
    lines = (Line("delta_k(eps)", recursion), Line("M_k(z)", mgf**K if closed else sympy.Function("M")(Z) ** K))

    def check(scene: Scene):
        eps = scene.loss()
        mean = scene.twin.moment(lambda s: max(mpmath.mpf(0), -mpmath.expm1(eps - s)), [eps])
        found = scene.twin.infinite()[0] + mean
        yield Comparison("delta of one step by the recursion", found, scene.twin.hockey_stick(eps))

    reason = "Composition convolves PLDs and multiplies M (Theorem 3 of Koskela et al. 2021)"
    stopped = StageStopped("convolution", "this PLD is not convolved with itself here; dplab.reference inverts M(z)^k")
    return Step("k-fold composition", lines, reason, check, common.source_of(own.setting), stopped=stopped)
