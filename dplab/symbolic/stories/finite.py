"""Mechanisms with a few outcomes: everything is a finite sum, delta(eps) is piecewise linear in x = e^eps."""

import itertools
import math
from collections.abc import Callable, Sequence

import mpmath
import sympy

from ...core.display import text_formula
from ...core.pair import Atom
from ...core.parameters import evaluate
from ...mechanisms import PoissonSubsampled, RandomizedResponse
from ..derivation import Comparison, Line, Step, spelled_out
from ..outputs import Row, Table
from ..scene import PAGE, Scene
from . import bounds, common
from .mapping import map_step
from .setting import ALPHA, EPS, LAM, A, K, Setting, X, Z
from .writing import cases

ZERO, ONE = sympy.S.Zero, sympy.S.One
MOST_DEGREE = 60


def response_outputs(pair: RandomizedResponse, fn) -> Table:
    """The true answer and the other one."""
    p = evaluate(pair.p, fn)
    return Table((Row("truth", p, 1 - p), Row("flip", 1 - p, p)))


def kary_outputs(pair, fn) -> Table:
    """The two answers that tell P and Q apart, and all the others."""
    p0, p1 = pair.masses(fn)
    others = (pair.m - 2) * p1
    return Table((Row("P's answer", p0, p1), Row("Q's answer", p1, p0), Row("others", others, others)))


def counting_outputs(pair, fn) -> Table:
    """Weights e^{eps m} and e^{eps (n-m)} with the record, e^{eps (m-1)} and e^{eps (n-m)} without it."""
    eps, m, n = (common.parameter(pair, name, fn) for name in ("eps", "m", "n"))
    answers = [[sympy.exp(eps * count) for count in counts] for counts in ((m, n - m), (m - 1, n - m))]
    (a0, a1), (b0, b1) = answers
    return Table((Row("0", a0 / (a0 + a1), b0 / (b0 + b1)), Row("1", a1 / (a0 + a1), b1 / (b0 + b1))))


def approximate_outputs(pair, fn) -> Table:
    """Four outcomes: one that only P has, one that only Q has, and a randomised response between."""
    eps, delta = (common.parameter(pair, name, fn) for name in ("eps", "delta"))
    large, small = (1 - delta) * sympy.exp(eps) / (1 + sympy.exp(eps)), (1 - delta) / (1 + sympy.exp(eps))
    return Table((Row("1", delta, ZERO), Row("2", large, small), Row("3", small, large), Row("4", ZERO, delta)))


def table_outputs(pair, fn) -> Table:
    """The tables as they were given, outcomes of the same ratio together."""
    return Table(tuple(Row(str(place), evaluate(p, fn), evaluate(q, fn)) for place, (p, q) in enumerate(pair.rows, 1)))


def sampled_table(base: Callable) -> Callable:
    """The outcomes of a sampled mechanism: q P + (1-q) Q and Q."""

    def outputs(pair: PoissonSubsampled, fn) -> Table:
        q = pair.q(fn)
        rows = base(pair.mechanism, fn).rows
        return Table(tuple(Row(row.name, q * row.p + (1 - q) * row.q, row.q) for row in rows))

    return outputs


def finite_story(setting: Setting) -> list[Step]:
    """All steps for a table of outcomes."""
    rows = _rows(setting)
    atoms = setting.page.atoms(setting.fn)
    atoms = atoms[::-1] if setting.backward else atoms
    infinite, missing = (
        sympy.sympify(mass)
        for mass in (setting.page.mass_at_infinity(setting.fn), setting.page.mass_at_minus_infinity(setting.fn))
    )
    letters, atoms = _with_letters(atoms)
    named, atoms = _with_mass_letters(atoms)
    finite_rows = [row for row in rows if row.p != 0 and row.q != 0]
    head = [
        common.output_step(
            setting,
            [
                Line(f"{name}({row.name})", value)
                for side, name in ((1, setting.first), (2, setting.second))
                for row in rows
                for value in [row[side]]
            ],
            "The outcome's probabilities on the two neighbours",
        ),
        _loss_step(setting, finite_rows, infinite, missing),
    ]
    if isinstance(setting.pair, PoissonSubsampled):
        head.append(map_step(setting, setting.pair.q(setting.fn)))
    return head + finite_steps(setting, atoms, (*letters, *named), infinite, missing)


def finite_steps(setting: Setting, atoms: Sequence[Atom], letters, infinite=ZERO, missing=ZERO) -> list[Step]:
    """Everything that follows from a few atoms, listed from the largest loss down."""
    spelled = [Atom(*(spelled_out(part, letters) for part in atom)) for atom in atoms]
    mgf = sum((atom.p * sympy.exp(Z * atom.loss) for atom in atoms), ZERO)
    mean = _short(sum((atom.p * atom.loss for atom in atoms), ZERO) / (1 - infinite))
    regions = _regions(atoms, infinite, missing)
    order = sum((atom.p * sympy.exp((A - 1) * atom.loss) for atom in atoms), ZERO)
    return [
        common.pld_step(
            setting,
            [*(Line(f"mass at {text_formula(atom.loss)}", atom.p) for atom in atoms), Line("delta(inf)", infinite)],
            "Outcomes with the same loss are one atom",
            ZERO,
            None,
            spelled,
            infinite,
            letters,
        ),
        common.mirror_step(
            setting,
            [Line(f"mass at {text_formula(-atom.loss)}", atom.q) for atom in atoms]
            + [Line(f"delta_{setting.other_way}(inf)", missing)],
            ZERO,
            None,
            [Atom(-atom.loss, atom.q, atom.p) for atom in spelled],
            letters,
        ),
        common.mgf_step(setting, [Line("M(z)", mgf)], "One term for each atom", letters=letters),
        common.cumulant_step(setting, mean, _variance(atoms, infinite), letters=letters),
        common.renyi_step(setting, sympy.log(order) / (A - 1), letters=letters),
        common.alpha_step(setting, sympy.log(mgf.xreplace({Z: LAM})), sympy.log(mgf.subs(Z, -LAM)), letters=letters),
        common.delta_step(
            setting,
            [Line("delta(eps)", _piecewise(regions, EPS, sympy.exp(EPS), lambda loss: loss))],
            f"Lemma 2 of Koskela et al. 2021: each outcome with loss above `eps` gives `{setting.first} - e^eps "
            f"{setting.second}`",
            letters,
        ),
        common.h_step(setting, _piecewise(regions, X, X, sympy.exp), letters),
        common.tradeoff_step(
            setting,
            [Line("f(alpha)", _tradeoff(atoms, infinite, missing))],
            "Neyman-Pearson: reject the outcomes of smallest loss first; each is a straight piece of slope `-e^{-s}`, "
            "and a convex f is the largest of its lines",
            letters=letters,
        ),
        composition_step(setting, atoms, infinite, missing, letters),
        bounds.chernoff_step(setting, mgf.xreplace({Z: LAM}), infinite=infinite, letters=letters),
        bounds.total_error_step(setting),
        bounds.periodisation_step(setting),
    ]


def _with_mass_letters(atoms: Sequence[Atom]) -> tuple[tuple, list[Atom]]:
    """Masses that are more than a line can take get letters p0, p1, ..."""
    known: dict[sympy.Expr, sympy.Symbol] = {}

    def named(mass):
        mass = sympy.sympify(mass)
        if not mass.has(sympy.exp):
            return mass
        return known.setdefault(mass, sympy.Symbol(f"p{len(known)}", positive=True))

    renamed = [Atom(atom.loss, named(atom.p), named(atom.q)) for atom in atoms]
    return tuple((letter, meaning) for meaning, letter in known.items()), renamed


def _rows(setting: Setting) -> tuple[Row, ...]:
    assert isinstance(setting.outputs, Table)
    return setting.outputs.rows


def _with_letters(atoms: Sequence[Atom]) -> tuple[tuple, list[Atom]]:
    """Losses that are formulas get letters c, or c1, c2, ...; minus a letter is no new one."""
    known: dict[sympy.Expr, sympy.Expr] = {}
    formulas = [atom.loss for atom in atoms if not (atom.loss.is_Number or atom.loss.is_Symbol)]
    opposite = {loss for loss in formulas if any(sympy.expand(loss + other, log=False) == 0 for other in formulas)}
    several = len(formulas) - len(opposite) // 2 > 1
    renamed = []
    for atom in atoms:
        loss = atom.loss
        if loss not in formulas or (-loss).is_Symbol:
            renamed.append(loss)
            continue
        minus = next(
            (letter for meaning, letter in known.items() if sympy.expand(meaning + loss, log=False) == 0), None
        )
        if minus is not None:
            renamed.append(-minus)
            continue
        letter = sympy.Symbol(f"c{len(known) + 1}" if several else "c", real=True)
        known[_short_log(loss)] = letter
        renamed.append(letter)
    letters = tuple((letter, meaning) for meaning, letter in known.items())
    return letters, [Atom(loss, atom.p, atom.q) for loss, atom in zip(renamed, atoms, strict=True)]


def _short_log(loss) -> sympy.Expr:
    if not isinstance(loss, sympy.log):
        return loss
    if not _of_low_degree(loss):
        return loss
    inside = sympy.factor(sympy.together(loss.args[0]))
    return sympy.log(inside) if sympy.count_ops(inside) < sympy.count_ops(loss.args[0]) else loss


def _short(expression) -> sympy.Expr:
    forms = [expression, sympy.factor_terms(expression)]
    if _of_low_degree(expression):
        forms.append(sympy.factor(expression))
    return min(forms, key=sympy.count_ops)


def _of_low_degree(expression) -> bool:
    """Whether factoring ends soon: e^{833/1000} counts as the 833rd power of e^{1/1000}."""
    powers = [
        argument.as_coeff_Mul()[0] for (argument,) in (x.args for x in sympy.sympify(expression).atoms(sympy.exp))
    ]
    powers = [power for power in powers if power.is_Rational]
    unit = math.lcm(*(int(power.q) for power in powers))
    return all(abs(power) * unit <= MOST_DEGREE for power in powers)


def _variance(atoms: Sequence[Atom], infinite) -> sympy.Expr:
    """sum over pairs of atoms p_i p_j (s_i - s_j)^2, which shows at once that it is >= 0."""
    total = ZERO
    for a, b in itertools.combinations(atoms, 2):
        total += a.p * b.p * sympy.expand(a.loss - b.loss) ** 2
    return total / (1 - infinite) ** 2


def _loss_step(setting: Setting, rows: Sequence[Row], infinite, missing) -> Step:
    """s of each outcome."""
    lines = [Line(f"s({row.name})", sympy.log(_short(row.p / row.q))) for row in rows]
    lines += [
        Line(f"s({row.name})", sympy.oo if row.q == 0 else -sympy.oo)
        for row in _rows(setting)
        if row.p == 0 or row.q == 0
    ]

    def check(scene: Scene):
        page = sorted(atom.loss for atom in scene.page.atoms(PAGE))
        for line in lines[: len(rows)]:
            found = scene.number(line.right)
            nearest = min(page, key=lambda loss: abs(loss - found))
            yield Comparison(line.left, found, nearest)

    reason = f"`s = log({setting.first}/{setting.second})`, outcome by outcome"
    return Step("Privacy loss", tuple(lines), reason, check, "the mechanism's page")


def _regions(atoms: Sequence[Atom], infinite, missing) -> list[tuple]:
    """(a, b, lowest loss above which delta = a - x b), from the largest losses down."""
    a, b = sympy.sympify(infinite), ZERO
    regions = [(a, b, atoms[0].loss)]
    for place, atom in enumerate(atoms):
        a, b = a + atom.p, b + atom.q
        last = place == len(atoms) - 1
        regions.append((ONE, 1 - missing, -sympy.oo) if last else (_short(a), _short(b), atoms[place + 1].loss))
    return regions


def _piecewise(regions: Sequence[tuple], variable, x, at) -> sympy.Expr:
    pieces = [
        (a - x * b, variable, at(upper))
        for (a, b, _), (_, _, upper) in zip(regions[:0:-1], regions[-2::-1], strict=True)
    ]
    return cases(*pieces, otherwise=regions[0][0])


def _tradeoff(atoms: Sequence[Atom], infinite, missing) -> sympy.Expr:
    alpha, beta = ZERO, 1 - missing
    lines = []
    for atom in atoms[::-1]:
        slope = sympy.exp(-atom.loss)
        lines.append(beta - slope * (ALPHA - alpha) if alpha != 0 else beta - slope * ALPHA)
        alpha, beta = _short(alpha + atom.p), _short(beta - atom.q)
    lines[-1] = sympy.exp(-atoms[0].loss) * (1 - infinite - ALPHA)
    if infinite != 0:
        lines.append(ZERO)
    return sympy.Max(*lines, evaluate=False)


def composition_step(setting: Setting, atoms: Sequence[Atom], infinite, missing, letters) -> Step:
    """delta of k steps as a sum over how often each atom occurred; checked by running through all outcomes."""
    ways, p, q = ONE, ONE, ONE
    left: sympy.Expr = K
    limits = []
    for place, atom in enumerate(atoms):
        if place == len(atoms) - 1:
            j = left
        else:
            j = sympy.Symbol(f"j{place + 1}" if len(atoms) > 2 else "j", integer=True, nonnegative=True)
            limits.append((j, 0, left))
            ways, left = ways * sympy.binomial(left, j), left - j
        p, q = p * atom.p**j, q * atom.q**j
    total = ways * sympy.Max(0, p - sympy.exp(EPS) * q, evaluate=False)
    expression = sympy.Sum(total, *limits[::-1]) if limits else total
    if infinite != 0:
        expression = 1 - (1 - infinite) ** K + expression
    spelled = spelled_out(expression, letters)

    def check(scene: Scene):
        points = scene.twin.merged()
        for k in (2, 3):
            eps = k * scene.loss()
            growth = mpmath.exp(eps)
            expected = mpmath.mpf(0)
            for outcome in itertools.product(points, repeat=k):
                both = [mpmath.fprod(point[side] for point in outcome) for side in (0, 1)]
                expected += max(both[0] - growth * both[1], mpmath.mpf(0))
            yield Comparison(f"delta of {k} steps", scene.number(spelled, eps=eps, k=k), expected)

    reason = (
        "Composition convolves PLDs (Theorem 3 of Koskela et al. 2021): only how often each loss occurred matters; "
        "two atoms give a binomial sum (Kairouz, Oh, Viswanath 2015)"
    )
    return Step(
        "k-fold composition", (Line("delta_k(eps)", expression),), reason, check, "all sequences of outcomes", letters
    )
