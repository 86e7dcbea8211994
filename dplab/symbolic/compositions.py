"""delta(eps) of a composition, where it is closed.

The parts are sorted by kind: Gaussians add up to one Gaussian, purely atomic PLDs to binomial sums, Laplace losses
are summed by residues, and one step of anything else stands alone. Atoms and *one* continuous kind combine, because
given the atoms' sum the loss is only shifted: delta(eps) = sum of mass * delta_c(eps - loss). Two continuous kinds
need a convolution, and there the symbolic route stops.
"""

from collections.abc import Callable
from itertools import product
from math import comb, prod

import sympy

from ..core.composition import Composition
from ..core.errors import NoClosedFormError
from ..core.pair import Atom
from ..core.pld import PLD
from ..mechanisms import Gaussian, Laplace
from .laplace_sums import MOST_TERMS, laplace_sum, number_of_terms
from .normal_cdf import Phi
from .regions import Law, Region, as_piecewise, law_of, regions_of
from .table import SympyTable
from .tidy import sign_of

Parts = list[tuple[PLD, int]]

MOST_ATOMS = 5
"""Up to so many convolved atoms are written out; more become a sum with binomial coefficients."""
MOST_LISTED = 12
"""Up to so many atoms of one step make regions of their own; more are added up one by one."""
MOST_INDICES = 4
"""A sum over more free indices than this is no closed form that anybody reads or evaluates."""


MOST_WRITTEN = 300
"""Up to so many atoms of a composition of different steps are written out as a sum."""
MOST_SUMMANDS = 10_000
"""A sum with more terms than this is no closed form."""


class Kinds:
    """The parts of a composition in one direction, by kind."""

    def __init__(self, composition: Composition, backward: bool, fn: SympyTable):
        self.fn = fn
        self.atomic: Parts = []
        self.gaussian: list[tuple[Gaussian, int]] = []
        self.endless: Parts = []
        self.other: Parts = []
        for pld, k in composition.plds(backward):
            if pld.endless:
                self.endless.append((pld, k))
            elif pld.support(fn) is None:
                self.atomic.append((pld, k))
            elif isinstance(pld.pair, Gaussian):
                self.gaussian.append((pld.pair, k))  # the same law in both directions
            else:
                self.other.append((pld, k))

    @property
    def mu(self) -> sympy.Expr:
        """The Gaussians' joint mu: the root of the sum of k mu^2."""
        return sympy.sqrt(sum(k * pair.mu(self.fn) ** 2 for pair, k in self.gaussian))

    @property
    def infinite(self) -> sympy.Expr:
        """delta(inf) of the atomic parts: 1 - prod (1 - delta_j(inf))^k_j."""
        return 1 - sympy.Mul(*[(1 - pld.mass_at_infinity(self.fn)) ** k for pld, k in self.atomic])

    @property
    def missing(self) -> sympy.Expr:
        """delta(inf) of the atomic parts in the other direction."""
        return 1 - sympy.Mul(*[(1 - pld.mass_at_minus_infinity(self.fn)) ** k for pld, k in self.atomic])

    def single_law(self) -> Law | None:
        """The law, if it is that of one step or of a few atoms written out; else None."""
        if self.endless or any(len(pld.pair.common_outcomes or ()) > MOST_LISTED for pld, _ in self.atomic):
            return None
        alone = [*self.atomic, *self.other]
        if not self.gaussian and len(alone) == 1 and alone[0][1] == 1:
            law = law_of(alone[0][0], self.fn)
            return law if len(law.atoms) <= MOST_LISTED or law.ends is not None else None
        if not self.gaussian and not self.other and _number_of_atoms(self.atomic) <= MOST_ATOMS:
            atoms = convolved_atoms(self.atomic, self.fn)
            return None if atoms is None else Law(atoms, self.infinite, self.missing)
        return None


def closed_regions(kinds: Kinds, x: sympy.Expr) -> list[Region] | None:
    """delta(x) region by region where the law is that of one step or of a few atoms; else None."""
    kinds.fn.name_losses_of(x, -x)
    if kinds.endless:
        return endless_regions(kinds, x)
    law = kinds.single_law()
    return None if law is None else regions_of(law, kinds.fn, x)


def closed_delta(kinds: Kinds, x: sympy.Expr) -> tuple[sympy.Expr, str]:
    """delta(x) in letters of the table, and the rule that gave it.

    Raises NoClosedFormError that names the stage that stopped.
    """
    regions = closed_regions(kinds, x)
    if regions is not None:
        return as_piecewise(regions, x), "P(s > eps) - e^eps Q(s > eps), Lemma 2 of Koskela et al. 2021"
    if not kinds.atomic:
        profile, reason = _continuous_profile(kinds)
        return profile(x), reason
    if not kinds.gaussian and not kinds.other:
        return _atomic_sum(kinds, x), "sum over the atoms of the k-fold convolution"
    kinds.fn.name_losses_of()
    profile, reason = _continuous_profile(kinds)
    return _shifted_sum(kinds, x, profile), f"given the atoms' sum, {reason}"


def _continuous_profile(kinds: Kinds) -> tuple[Callable[[sympy.Expr], sympy.Expr], str]:
    if kinds.gaussian and kinds.other:
        raise NoClosedFormError(
            f"convolution: {kinds.gaussian[0][0]!r} and {kinds.other[0][0].pair!r} have no closed convolution; "
            "use dplab.reference"
        )
    if kinds.gaussian:
        mu = kinds.mu
        return lambda x: gaussian_delta(mu, x), "Balle and Wang 2018, Theorem 8, with mu^2 = sum of k mu_i^2"
    if len(kinds.other) == 1 and kinds.other[0][1] == 1:
        law = law_of(kinds.other[0][0], kinds.fn)
        return lambda x: as_piecewise(regions_of(law, kinds.fn, x), x), "Lemma 2 of Koskela et al. 2021"
    losses = [(pld.pair.e0(kinds.fn), k) for pld, k in kinds.other if isinstance(pld.pair, Laplace)]
    if len(losses) == len(kinds.other):
        if number_of_terms(losses) <= MOST_TERMS:
            return lambda x: laplace_sum(losses, x), "residues of the contour integral at -1/2, 0 and -1"
        raise NoClosedFormError(
            f"residues: this sum of Laplace losses has {number_of_terms(losses)} terms, more than {MOST_TERMS}; "
            "use dplab.reference"
        )
    pld, k = kinds.other[0]
    raise NoClosedFormError(
        f"convolution: the PLD of {k} * {pld.pair!r} has no closed form; "
        "use dplab.reference, or dplab.fourier for bounds"
    )


def gaussian_delta(mu: sympy.Expr, x: sympy.Expr) -> sympy.Expr:
    """Phi(mu/2 - x/mu) - e^x Phi(-mu/2 - x/mu)."""
    scaled = sympy.expand(x / mu, log=False)
    return Phi(mu / 2 - scaled) - sympy.exp(x) * Phi(-mu / 2 - scaled)


# --- atoms ------------------------------------------------------------------------------------------


def _number_of_atoms(parts: Parts) -> int:
    fn = SympyTable()
    return prod(comb(k + _values_of(pld, fn) - 1, k) for pld, k in parts)


def _values_of(pld: PLD, fn: SympyTable) -> int:
    """How many values one step's loss takes, without forming them where they are counted."""
    outcomes = pld.pair.common_outcomes
    return len(pld.atoms(fn)) if outcomes is None else len(outcomes)


def convolved_atoms(parts: Parts, fn: SympyTable) -> list[Atom] | None:
    """All atoms of the k-fold convolution from the largest loss down; None if their order cannot be decided.

    Two atoms s1 > s2 alone give j s1 + (k-j) s2, in order by themselves.
    """
    atoms = _all_atoms(parts, fn)
    in_order = len(parts) <= 1 and all(len(law_of(pld, fn).atoms) <= 2 for pld, _ in parts)
    return atoms if in_order else _sorted_down(atoms)


def _all_atoms(parts: Parts, fn: SympyTable) -> list[Atom]:
    merged: dict[sympy.Expr, Atom] = {}
    for choice in product(*(_multisets(law_of(pld, fn).atoms, k) for pld, k in parts)):
        loss = sympy.expand(sum((atom.loss for atom in choice), sympy.S.Zero), log=False)
        known = merged.get(loss, Atom(loss, sympy.S.Zero, sympy.S.Zero))
        p, q = (sympy.Mul(*[getattr(atom, side) for atom in choice]) for side in ("p", "q"))
        merged[loss] = Atom(loss, known.p + p, known.q + q)
    return list(merged.values())


def _multisets(atoms, k: int) -> list[Atom]:
    """The k-fold convolution of a few atoms, the one with most of the first atom first."""
    found = []
    for counts in product(range(k, -1, -1), repeat=len(atoms)):
        if sum(counts) != k:
            continue
        ways, left = 1, k
        for j in counts:
            ways, left = ways * comb(left, j), left - j
        powers = list(zip(atoms, counts, strict=True))
        found.append(
            Atom(
                sum((j * atom.loss for atom, j in powers), sympy.S.Zero),
                ways * sympy.Mul(*[atom.p**j for atom, j in powers]),
                ways * sympy.Mul(*[atom.q**j for atom, j in powers]),
            )
        )
    return found


def _sorted_down(atoms: list[Atom]) -> list[Atom] | None:
    ordered: list[Atom] = []
    for atom in atoms:
        signs = [sign_of(other.loss - atom.loss) for other in ordered]
        if None in signs or 0 in signs:
            return None
        ordered.insert(signs.count(1), atom)
    return ordered


def _atomic_sum(kinds: Kinds, x: sympy.Expr) -> sympy.Expr:
    """delta(inf) + sum of C(k,j) max(0, p1^j p2^(k-j) - e^x q1^j q2^(k-j))."""

    def term(ways, p, q, loss):
        return ways * sympy.Max(0, p - sympy.exp(x) * q, evaluate=False)

    if len(kinds.atomic) == 1 and kinds.atomic[0][1] == 1:
        pld = kinds.atomic[0][0]
        outcomes = pld.pair.common_outcomes
        if outcomes is not None and len(outcomes) > MOST_LISTED:
            j = sympy.Symbol("j", integer=True, nonnegative=True)
            masses = pld.outcome_masses(kinds.fn, j)
            limits = (j, min(outcomes), max(outcomes))
            return kinds.infinite + sympy.Sum(term(1, masses.p, masses.q, None), limits)
        atoms = law_of(kinds.atomic[0][0], kinds.fn).atoms
        return sum((term(1, atom.p, atom.q, atom.loss) for atom in atoms), kinds.infinite)
    if len(kinds.atomic) > 1 and _number_of_atoms(kinds.atomic) <= MOST_WRITTEN:
        atoms = _all_atoms(kinds.atomic, kinds.fn)
        return sum((term(1, atom.p, atom.q, atom.loss) for atom in atoms), kinds.infinite)
    return kinds.infinite + _sum_over_atoms(kinds, term)


def endless_regions(kinds: Kinds, x: sympy.Expr) -> list[Region]:
    """One step of an endless loss: its tails in closed form between the ends of the loss.

    Raises NoClosedFormError for anything composed with it.
    """
    pld, k = kinds.endless[0]
    if k > 1 or len(kinds.endless) > 1 or kinds.atomic or kinds.gaussian or kinds.other:
        raise NoClosedFormError(
            f"convolution: the loss of {pld.pair!r} takes infinitely many values, and its sums have no closed form; "
            "use dplab.reference, or dplab.fourier for bounds"
        )
    fn, infinite = kinds.fn, pld.mass_at_infinity(kinds.fn)
    tails, ends = pld.atoms_above(fn, x), pld.loss_ends(fn)
    if tails is None or ends is None:
        raise NoClosedFormError(f"tails: those of {pld.pair!r} have no closed form; use dplab.reference")
    smallest, largest = ends
    regions = [Region(smallest, largest, infinite + tails.p - sympy.exp(x) * tails.q)]
    if largest != sympy.oo:
        regions.insert(0, Region(largest, sympy.oo, infinite))
    if smallest != -sympy.oo:
        rest = 1 - pld.mass_at_minus_infinity(fn)
        regions.append(Region(-sympy.oo, smallest, 1 - sympy.exp(x) * rest))
    return regions


def _shifted_sum(kinds: Kinds, x: sympy.Expr, profile: Callable[[sympy.Expr], sympy.Expr]) -> sympy.Expr:
    t = sympy.Dummy("t", real=True)
    shape = profile(t)  # once: with an index inside, simplification would only do harm
    if _number_of_atoms(kinds.atomic) <= MOST_ATOMS:
        atoms = _all_atoms(kinds.atomic, kinds.fn)
        return sum((atom.p * shape.xreplace({t: x - atom.loss}) for atom in atoms), kinds.infinite)
    return kinds.infinite + _sum_over_atoms(kinds, lambda ways, p, q, loss: ways * p * shape.xreplace({t: x - loss}))


def _sum_over_atoms(kinds: Kinds, term) -> sympy.Expr:
    """The sum of a term over all ways in which the steps can fall on the atoms; one index for each free choice."""
    if sum(_values_of(pld, kinds.fn) - 1 for pld, _ in kinds.atomic) > MOST_INDICES:
        raise NoClosedFormError(
            f"convolution: a sum over more than {MOST_INDICES} free indices; use dplab.reference, or dplab.fourier"
        )
    if _number_of_atoms(kinds.atomic) > MOST_SUMMANDS:
        raise NoClosedFormError(
            f"convolution: a sum of more than {MOST_SUMMANDS} terms; use dplab.reference, or dplab.fourier"
        )
    ways, p, q, loss = sympy.S.One, sympy.S.One, sympy.S.One, sympy.S.Zero
    limits: list[tuple] = []
    for pld, k in kinds.atomic:
        left: sympy.Expr = sympy.Integer(k)
        atoms = law_of(pld, kinds.fn).atoms
        for number, atom in enumerate(atoms):
            if number == len(atoms) - 1:
                j = left
            else:
                j = sympy.Symbol(f"j{len(limits) + 1}" if len(limits) else "j", integer=True, nonnegative=True)
                limits.append((j, 0, left))
                ways, left = ways * sympy.binomial(left, j), left - j
            p, q, loss = p * atom.p**j, q * atom.q**j, loss + j * atom.loss
    body = term(ways, p, q, loss)
    return sympy.Sum(body, *limits[::-1]) if limits else body
