"""Pairs given by two probabilities of whole numbers of one's own: sums over the outcomes, closed where they can be."""

import math

import mpmath
import sympy

from ...core.functions import MpmathTable
from ...core.pair import Atom
from ...mechanisms.own import IntegerPair
from ...mechanisms.own.runs import Run
from ...mechanisms.own.signs import sign
from ..derivation import Comparison, Line, Step
from ..outputs import Lattice
from ..scene import Scene
from ..worker import StageStopped
from . import common
from .finite import finite_steps
from .lattice import MOST_WRITTEN, Law, lattice_steps, loss_step
from .setting import J, S, Setting, Z

ZERO, ONE, OO = sympy.S.Zero, sympy.S.One, sympy.oo
E = sympy.exp
POWERS = tuple(sympy.Rational(n, 4) for n in (12, 8, 4, 2, 1))
ROUND = mpmath.mpf(1)
"""What digits of a difference of losses count from."""
NEAR, FAR = 200, 600
"""Where it is looked how fast the terms of a moment fall."""


def integer_outputs(pair: IntegerPair, fn) -> Lattice:
    """The runs of both laws."""
    runs = pair.analysis.runs
    first, last = min(run.first for run in runs), max(run.last for run in runs)
    p, q = _by_run(runs, [run.p for run in runs]), _by_run(runs, [run.q for run in runs])
    powers = tuple(_largest_power(runs, side) for side in ("q", "p"))
    return Lattice(J, p, q, _end(first), _end(last), powers=powers)


def _end(end) -> sympy.Expr:
    return sympy.Integer(int(end)) if math.isfinite(end) else (OO if end > 0 else -OO)


def _in_j(formula, run: Run) -> sympy.Expr:
    return sympy.sympify(formula).xreplace({run.variable: J})


def _by_run(runs, formulas) -> sympy.Expr:
    """One formula for all of them; 0 between the runs."""
    if len(runs) == 1:
        return _in_j(formulas[0], runs[0])
    pieces = []
    for run, formula in zip(runs, formulas, strict=True):
        if run.first == run.last:
            pieces.append((_in_j(formula, run), sympy.Eq(J, _end(run.first))))
            continue
        inside = [sympy.GreaterThan(J, _end(run.first))] if math.isfinite(run.first) else []
        inside += [sympy.LessThan(J, _end(run.last))] if math.isfinite(run.last) else []
        pieces.append((_in_j(formula, run), sympy.And(*inside)))
    return sympy.Piecewise(*pieces, (ZERO, True), evaluate=False)


def _largest_power(runs, first: str) -> sympy.Rational:
    """The largest of a few z at which the terms f^{z+1} g^{-z} fall about as fast as those of f and g."""
    fn = MpmathTable()

    def falls(run: Run, step: int, z) -> bool:
        start = int(run.first if step > 0 and math.isfinite(run.first) else run.last if math.isfinite(run.last) else 0)
        places = [mpmath.mpf(start + step * reach) for reach in (NEAR, FAR)]
        programs = (run.log_p, run.log_q) if first == "p" else (run.log_q, run.log_p)
        drops = [log(fn, places[0]) - log(fn, places[1]) for log in programs]
        return (z + 1) * drops[0] - z * drops[1] > min(drops) / 4

    with mpmath.workdps(30):
        for power in POWERS:
            z = mpmath.mpf(power.p) / power.q
            infinite = [
                (run, step)
                for run in runs
                if run.loss is not None
                for step, end in ((1, run.last), (-1, run.first))
                if math.isinf(end)
            ]
            if all(falls(run, step, z) for run, step in infinite):
                return power
    return POWERS[-1]


# --- the law of the loss ------------------------------------------------------------------------------


def shared_runs(pair: IntegerPair) -> list[Run]:
    """Where both laws have mass; a single outcome that the next run's formulas hold for belongs to that run."""
    found: list[Run] = []
    for run in (run for run in pair.analysis.runs if run.loss is not None):
        before = found[-1] if found else None
        if before is not None and before.first == before.last == run.first - 1 and _holds_at(run, before):
            found[-1] = Run(run.variable, before.first, run.last, run.p, run.q, run.loss)
        else:
            found.append(run)
    return found


def _holds_at(run: Run, single: Run) -> bool:
    at = {run.variable: _end(single.first)}
    pairs = ((getattr(run, name), getattr(single, name)) for name in ("p", "q", "loss"))
    return all(sign(sympy.sympify(one).subs(at) - sympy.sympify(other).subs(at)) == 0 for one, other in pairs)


def integer_law(pair: IntegerPair, backward: bool) -> Law:
    """The law of the loss, in either direction."""
    runs, common_runs = pair.analysis.runs, shared_runs(pair)
    p_alone = sum((_sum(_in_j(run.p, run), run) for run in runs if run.q == 0), ZERO)
    q_alone = sum((_sum(_in_j(run.q, run), run) for run in runs if run.p == 0), ZERO)
    p, q = (_by_run(common_runs, [getattr(run, side) for run in common_runs]) for side in "pq")
    loss = _by_run(common_runs, [turned(run, backward) for run in common_runs])
    first = _end(min(run.first for run in common_runs))
    last = _end(max(run.last for run in common_runs))
    if backward:
        p, q, p_alone, q_alone = q, p, q_alone, p_alone
    mgf = sum((_moment(run, backward) for run in common_runs), ZERO)
    above = None
    if len(common_runs) == 1 and (found := inverse(loss)):
        rising, at = found

        def above(x):
            if rising:
                return sympy.Max(first, sympy.floor(at.xreplace({S: x})) + 1), last
            return first, sympy.Min(last, sympy.ceiling(at.xreplace({S: x})) - 1)

    return Law(p, q, loss, first, last, p_alone, q_alone, above, mgf)


def turned(run: Run, backward: bool) -> sympy.Expr:
    """The loss on a run, in either direction."""
    assert run.loss is not None
    return -run.loss if backward else run.loss


def _moment(run: Run, backward: bool) -> sympy.Expr:
    """The sum of f^{z+1} g^{-z} over a run."""
    mass = _in_j(run.q if backward else run.p, run)
    return _sum(mass * E(Z * _in_j(turned(run, backward), run)), run)


def _sum(term: sympy.Expr, run: Run) -> sympy.Expr:
    """A sum over a run: closed for c e^{a j}, and for c e^{a j}/j! from 0 on; else unevaluated."""
    first, last = _end(run.first), _end(run.last)
    if first == last:
        return term.xreplace({J: first})
    closed = geometric(term, first, last) or poisson(term, first, last)
    return sympy.Sum(term, (J, first, last)) if closed is None else closed


def _linear(logarithm: sympy.Expr) -> tuple | None:
    """(a, c) of a j + c; None if it is not of that form."""
    try:
        polynomial = sympy.Poly(sympy.expand(logarithm), J)
    except sympy.PolynomialError:
        return None
    if polynomial.degree() > 1 or any(c.has(J) for c in polynomial.all_coeffs()):
        return None
    return polynomial.coeff_monomial(J), polynomial.coeff_monomial(1)


def _logarithm(term: sympy.Expr) -> sympy.Expr:
    return sympy.expand(sympy.expand_log(sympy.log(term), force=True))


def geometric(term: sympy.Expr, first, last) -> sympy.Expr | None:
    """The sum of c e^{a j}; an infinite one where it converges."""
    found = _linear(_logarithm(term))
    if found is None or found[0] == 0 or (first == -OO and last == OO):
        return None
    slope, start = found

    def at(end):
        return E(sympy.expand(slope * end + start))

    if first == -OO:
        return at(last) / (1 - E(-slope))
    return at(first) / (1 - E(slope)) if last == OO else (at(first) - at(last + 1)) / (1 - E(slope))


def poisson(term: sympy.Expr, first, last) -> sympy.Expr | None:
    """The sum of c e^{a j}/(j - m)! over j from m on, e^{c + a m + e^a}."""
    if last != OO or first == -OO:
        return None
    found = _linear(_logarithm(sympy.simplify(term * sympy.factorial(J - first))))
    return None if found is None else E(found[1] + found[0] * first + E(found[0]))


def inverse(loss: sympy.Expr) -> tuple[bool, sympy.Expr] | None:
    """(rising, j(s)) of a loss that is linear, or the logarithm of something linear; None for others."""
    straight = _linear(loss)
    if straight is not None and straight[0] != 0:
        return sign(straight[0]) == 1, (S - straight[1]) / straight[0]
    for side in (1, -1):
        ratio = _linear(sympy.simplify(E(sympy.expand(side * loss))))
        if ratio is not None and ratio[0] != 0:
            return sign(side * ratio[0]) == 1, (E(side * S) - ratio[1]) / ratio[0]
    return None


# --- steps --------------------------------------------------------------------------------------------


def integer_story(setting: Setting) -> list[Step]:
    """All steps for two laws on the whole numbers."""
    pair = setting.pair
    assert isinstance(pair, IntegerPair)
    law = integer_law(pair, setting.backward)
    t = pair.variable
    lines = [
        Line(f"{name}(j)", sympy.sympify(mass).xreplace({t: J}))
        for name, mass in (("P", pair.p_density), ("Q", pair.q_density))
    ]
    runs = shared_runs(pair)
    losses = [Line("s(j)", _in_j(turned(run, setting.backward), run), _where(run)) for run in runs]
    head = [
        common.output_step(setting, lines, "As they were given, summed over the whole numbers"),
        loss_step(setting, losses, law.loss),
        _monotone_step(setting, runs),
    ]
    if all(run.constant or run.first == run.last for run in runs):
        atoms = pair.atoms(setting.fn)
        if len(atoms) <= MOST_WRITTEN:
            if setting.backward:
                atoms = [Atom(-atom.loss, atom.q, atom.p) for atom in atoms[::-1]]
            return [*head, *finite_steps(setting, atoms, (), law.infinite, law.missing)]
    mgf_stopped = None
    if law.mgf.has(sympy.Sum):
        mgf_stopped = StageStopped("moment generating function", "this sum over the outcomes has no closed form here")
    return [*head, *lattice_steps(setting, law, mgf_stopped)]


def _where(run: Run) -> str:
    if math.isinf(run.last):
        return "for all whole j" if math.isinf(run.first) else f"for j >= {int(run.first)}"
    if math.isinf(run.first):
        return f"for j <= {int(run.last)}"
    return f"for {int(run.first)} <= j <= {int(run.last)}" if run.first < run.last else f"for j = {int(run.first)}"


def _monotone_step(setting: Setting, runs: list[Run]) -> Step:
    """Whether the loss rises or falls from each outcome to the next, and the outcome as a function of the loss."""
    lines, ways, stopped, differences = [], [], None, []
    for run in runs:
        loss = _in_j(turned(run, setting.backward), run)
        difference = sympy.simplify(loss.xreplace({J: J + 1}) - loss)
        way, why = _direction(run, loss, difference)
        if run.first == run.last:
            ways.append(f"{_where(run)[4:]} is one outcome")
            continue
        differences.append((run, difference, way))
        lines.append(Line("s(j + 1) - s(j)", difference, _where(run)))
        if way is None:
            stopped = StageStopped("monotonicity", "the sign of s(j + 1) - s(j) was not proved")
            ways.append(f"unknown {_where(run)}")
            continue
        ways.append(f"{('falls', 'is constant', 'rises')[way + 1]} {_where(run)} ({why})")
        if way and (found := inverse(loss)):
            lines.append(Line("j(s)", found[1], _where(run)))
    if not lines:
        lines = [Line("s", _in_j(turned(runs[0], setting.backward), runs[0]), _where(runs[0]))]

    def check(scene: Scene):
        masses = [scene.mass_at(side) for side in (0, 1)]
        outcomes = scene.common_outcomes(6)

        def true(j):
            return mpmath.log(masses[0](j) / masses[1](j))

        for line in lines:
            if line.left in ("s", "j(s)"):
                continue
            for run, difference, way in differences:
                for j in (j for j in outcomes if difference is line.right and run.first <= j < run.last):
                    step = true(j + 1) - true(j)
                    yield Comparison(f"s({j + 1}) - s({j})", scene.number(difference, j=j), step, scale=ROUND)
                    if way:
                        yield Comparison("a step against its sign", mpmath.mpf(0), way * step, "<=", ROUND)
        for run in runs:
            for j in (j for j in outcomes if run.first <= j <= run.last):
                loss = _in_j(turned(run, setting.backward), run)
                yield Comparison(f"s({j})", scene.number(loss, j=j), true(j))
                found = inverse(loss) if run.first < run.last else None
                if found:
                    yield Comparison("j(s(j))", scene.number(found[1], s=true(j)), mpmath.mpf(j))

    reason = f"The loss {'; '.join(ways)}"
    return Step("Monotone pieces", tuple(lines), reason, check, "the masses themselves", stopped=stopped)


def _direction(run: Run, loss, difference) -> tuple[int | None, str]:
    """The sign of s(j+1) - s(j) all along a run, and what proves it; None if nothing does."""
    if not difference.has(J):
        found = sign(difference)
        return found, "the difference is a number"
    ratio = sympy.simplify(E(sympy.expand(loss)))
    if ratio.is_rational_function(J):
        d = sympy.Dummy("d", nonnegative=True)
        outwards = {J: _end(run.first) + d} if math.isfinite(run.first) else {J: _end(run.last) - 1 - d}
        if math.isinf(run.first) and math.isinf(run.last):
            return None, ""
        quotient = sympy.cancel((ratio.xreplace({J: J + 1}) / ratio).xreplace(outwards) - 1)
        above, below = (sympy.Poly(part, d) for part in sympy.fraction(sympy.cancel(quotient)))
        ways = [_one_sign(part) for part in (above, below)]
        if 0 not in ways:
            return ways[0] * ways[1], "the coefficients of its quotient have one sign"
        return None, ""
    return _turan(run, loss)


def _one_sign(polynomial: sympy.Poly) -> int:
    """The sign at 0 and at all positive numbers that the coefficients prove; 0 if they prove none."""
    signs = [sign(c) for c in polynomial.all_coeffs()]
    lowest = signs[-1] or 0
    return lowest if all(found in (0, lowest) for found in signs) else 0


def _turan(run: Run, loss) -> tuple[int | None, str]:
    """I_n^2 > I_{n-1} I_{n+1} at whole n: the logarithm of I_{n-1}/I_n rises, also for n < 0 since I_{-n} = I_n.

    e^{-x} I_n(x) is the law of the difference of two Poisson variables of mean x/2 (the generating function
    e^{x (y + 1/y)/2} is a product), so the matrix (I_{i-j}) is the product of the two matrices of Poisson masses at
    i - j and at j - i. A 2 by 2 minor of it is a sum of products of theirs (Cauchy and Binet), none of which is
    negative as p_{m+1}/p_m = x/(2(m+1)) falls; those of neighbouring rows and columns have a positive one.
    """
    bessels = sorted(loss.atoms(sympy.besseli), key=sympy.default_sort_key)
    if len(bessels) != 2 or bessels[0].args[1] != bessels[1].args[1]:
        return None, ""
    logs = [sympy.expand_log(sympy.log(part), force=True) for part in bessels]
    coefficients = [sympy.expand(loss).coeff(log) for log in logs]
    rest = sympy.expand(loss - sum(c * log for c, log in zip(coefficients, logs, strict=True)))
    if rest.has(J) or coefficients not in ([1, -1], [-1, 1]):
        return None, ""
    upper, lower = bessels if coefficients[0] == 1 else bessels[::-1]
    orders = []
    for part in (upper, lower):
        order = part.args[0]
        if isinstance(order, sympy.Abs):
            order = order.args[0]
        orders.append(order)
    for turn in (1, -1):  # I_{-n} = I_n
        slope = sympy.diff(orders[1], J)
        gap = sympy.expand(turn * orders[0] - orders[1])
        if slope**2 == 1 and gap**2 == 1:
            return int(-gap * slope), "log-concave: `e^{-x} I_n` is the law of a difference of two Poisson variables"
    return None, ""
