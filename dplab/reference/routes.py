"""Which computation answers which question: special values first, then the cheapest route that is exact enough."""

from enum import Enum
from functools import cached_property

import mpmath

from ..core.errors import PrecisionError
from ..core.parameters import evaluate
from .arithmetic import FN
from .atomic import MOST_ATOMS, atomic, atoms_and_one_step, atoms_estimate, two_atoms_each
from .convolution import turns_known, two_steps
from .found import GUARD, Found, sign
from .integrals import Integrals
from .inversion import epsilon, known_epsilon
from .lattice import LatticeContour, lattice_of
from .law import Law
from .residues import MOST_STEPS, laplace, only_laplace
from .single_step import gaussians, only_gaussians, single_step

MOST_CLOSED_FORMS = 3000
"""Sums over atoms of one step's closed form are not taken longer than this."""


class Route(Enum):
    """The computations to choose from, cheapest first."""

    SINGLE_STEP = "closed form, one step"
    GAUSSIANS = "closed form, one Gaussian"
    ATOMS = "sum over atoms"
    ATOMS_AND_ONE_STEP = "sum over atoms of closed forms"
    TWO_STEPS = "convolution of two steps"
    LATTICE = "contour integral over one period"
    RESIDUES = "residues"
    CONTOUR = "contour integral"


class Solver:
    """Answers delta(eps) and eps(delta) for one law to one number of digits; keeps what can be reused."""

    def __init__(self, law: Law, digits: int):
        self.law, self.digits = law, digits
        self._integrals = Integrals(law, digits)

    def find(self, eps) -> Found:
        """delta(eps) for an exact eps (a Fraction or an Expression), or an infinity."""
        return self._special(eps) or self._trusted(self._ordinary(eps), eps)

    def _trusted(self, found: Found, eps) -> Found:
        """The result if it can be a delta at all; else the nearest number that can, with an error that says so."""
        with mpmath.workdps(self.digits + GUARD):
            least = max(mpmath.mpf(0), -mpmath.expm1(evaluate(eps, FN)))
            room = 2 * found.error + least * mpmath.mpf(10) ** (3 - mpmath.mp.dps)
            if least - room <= found.value <= 1 + room and found.error <= 1:
                return found
            value = min(max(found.value, least), mpmath.mpf(1))
            return Found(
                value, 1 - least, mpmath.mpf(0), f"{found.method}, not converged: only 1 - e^eps <= delta <= 1"
            )

    def _special(self, eps) -> Found | None:
        """Values known without any computation; None for an ordinary question."""
        with mpmath.workdps(self.digits + GUARD):
            zero, x = mpmath.mpf(0), evaluate(eps, FN)
            if x == -mpmath.inf:
                return Found(mpmath.mpf(1), zero, zero, "delta(-inf) = 1")
            infinite = self.law.mass_at_infinity()
            if x == mpmath.inf:
                return Found(infinite, _rounding(infinite), zero, "mass at infinity")
            if infinite == 1:
                return Found(infinite, zero, zero, "P and Q do not overlap")
            if not self.law.parts:
                value = max(zero, -mpmath.expm1(x))
                return Found(value, _rounding(value), min(zero, value - 1), "nothing released")
            rounding = _rounding(infinite)
        if sign(lambda: _gap(evaluate(eps, FN), self.law.largest_loss())) >= 0:
            return Found(infinite, rounding, zero, "no finite loss above eps: the mass at infinity")
        if sign(lambda: _gap(evaluate(eps, FN), self.law.smallest_loss())) <= 0:
            with mpmath.workdps(self.digits + GUARD):
                lacking = self.law.mass_at_minus_infinity()
                x = evaluate(eps, FN)
                value = -mpmath.expm1(x) + mpmath.exp(x) * lacking
                slope = mpmath.exp(x) * (lacking - 1)
                return Found(value, _rounding(value), slope, "no loss below eps: 1 - e^eps Q(P > 0)")
        return None

    def invert(self, delta) -> Found:
        """eps(delta) for an exact delta in [0, 1]."""
        known = known_epsilon(self.law, delta, self.digits)
        if known is not None:
            return known
        solvers = {self.digits: self}

        def find(eps, digits: int) -> Found:
            if digits not in solvers:
                solvers[digits] = Solver(self.law, digits)
            return solvers[digits].find(eps)

        return epsilon(self.law, find, delta, self.digits, by_contour=self._route() is Route.CONTOUR)

    @cached_property
    def _on_lattice(self) -> bool:
        with mpmath.workdps(60):
            return lattice_of(self.law) is not None

    def _route(self) -> Route:
        law = self.law
        if law.steps == 1:
            return Route.SINGLE_STEP
        if only_gaussians(law):
            return Route.GAUSSIANS
        if not law.continuous and self._on_lattice and not two_atoms_each(law):
            return Route.LATTICE
        if not law.continuous and atoms_estimate(law) <= MOST_ATOMS:
            return Route.ATOMS
        if sum(k for _, k in law.continuous) == 1 and atoms_estimate(law) <= MOST_CLOSED_FORMS:
            return Route.ATOMS_AND_ONE_STEP
        if only_laplace(law) and law.steps <= MOST_STEPS:
            return Route.RESIDUES
        if law.steps == 2 and law.continuous and all(turns_known(pld) for pld, _ in law.parts):
            return Route.TWO_STEPS
        return Route.CONTOUR

    def _ordinary(self, eps) -> Found:
        law, digits, route = self.law, self.digits, self._route()
        if route is Route.SINGLE_STEP:
            return single_step(law, eps, digits)
        if route is Route.GAUSSIANS:
            return gaussians(law, eps, digits)
        if route is Route.LATTICE:
            return LatticeContour(law, digits, self._integrals.landscape).find(eps)
        if route is Route.ATOMS:
            return atomic(law, eps, digits, self._tilt(eps))
        if route is Route.ATOMS_AND_ONE_STEP:
            return atoms_and_one_step(law, eps, digits, self._tilt(eps))
        try:
            if route is Route.TWO_STEPS:
                return two_steps(law, eps, digits)
            if route is Route.RESIDUES:
                return laplace(law, eps, digits, self._tilt(eps))
        except PrecisionError:  # the contour has other troubles
            pass
        return self._integrals.find(eps)

    def _tilt(self, eps) -> float:
        return self._integrals.landscape.tilt(float(evaluate(eps, FN)))


def _rounding(value):
    """What rounding at the working precision may have done; nothing to 0 and 1."""
    return mpmath.mpf(0) if value in (0, 1) else abs(value) * mpmath.mpf(10) ** (3 - mpmath.mp.dps)


def _gap(one, other):
    """one - other, and the size of the two."""
    return one - other, max(abs(one), abs(other))
