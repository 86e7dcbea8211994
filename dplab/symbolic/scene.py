"""A scene: random admissible numbers for the symbols of a mechanism, and everything numeric that checks need there."""

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from random import Random
from typing import Any

import mpmath
import sympy

from ..core.errors import DplabError, PrecisionError
from ..core.functions import MpmathTable
from ..core.pair import Pair
from ..core.pld import PLD
from .numeric import function, infinite_sum, number

MOST_TRIES = 400
PAGE = MpmathTable()


class Scene:
    """Numbers for one round of checks.

    `page` is the mechanism's own page, read in mpmath; `twin` are its output distributions as numbers. Both at the
    precision of the surrounding `workdps`.
    """

    def __init__(
        self, pair: Pair, backward: bool, outputs: Any, values: dict[str, Fraction], digits: int, random: Random
    ) -> None:
        self.pair = pair.bind(**values) if values else pair
        self.backward, self.digits, self.random = backward, digits, random
        self.names = values
        self.values = {
            sympy.Symbol(name, positive=True): mpmath.mpf(value.numerator) / value.denominator
            for name, value in values.items()
        }
        self._outputs = outputs

    @cached_property
    def page(self) -> PLD:
        """The mechanism's page, in this direction."""
        return PLD(self.pair, self.backward)

    @cached_property
    def page_atoms(self) -> list:
        """The page's atoms, computed once."""
        return self.page.atoms(PAGE)

    @cached_property
    def twin(self) -> Any:
        """The output distributions, in this direction."""
        return self._outputs.twin(self.values)

    def turned(self) -> "Scene":
        """The same numbers seen from the other direction."""
        other = Scene(self.pair, not self.backward, self._outputs.swapped(), {}, self.digits, self.random)
        other.values = self.values
        return other

    def number(self, expression, **letters):
        """The value of an expression here; `letters` give numbers to further symbols, by name."""
        free = sympy.sympify(expression).free_symbols - set(self.values)
        found = number(expression, {**self.values, **{x: letters[x.name] for x in free if x.name in letters}})
        real = not any(isinstance(value, mpmath.mpc) for value in letters.values())
        return found.real if real and _is_real(found) else found

    def draw(self, low, high):
        """A random number between two, not close to either."""
        return low + (high - low) * mpmath.mpf(self.random.randint(2000, 8000)) / 10_000

    def inside(self, low, high):
        """A random outcome between two ends of which either may be infinite, not far from the other."""
        low, high = (number(sympy.sympify(end), self.values) for end in (low, high))
        if mpmath.isinf(low) and mpmath.isinf(high):
            return self.draw(-3, 3)
        if mpmath.isinf(high):
            return low + self.draw(0, 3)
        return high - self.draw(0, 3) if mpmath.isinf(low) else self.draw(low, high)

    def mass_at(self, side: int):
        """The mass that the first (0) or second (1) distribution gives to a whole number."""
        return self._outputs.masses(self.values)[side]

    def common_outcomes(self, count: int) -> list[int]:
        """Random whole numbers that both distributions give, and not too rarely."""
        usual = self._outputs.usual(self.values)
        return sorted(self.random.sample(usual, min(count, len(usual))))

    def sum_where(self, mass, loss, first, last, c):
        """The sum of a mass over the whole numbers between two ends at which a loss is above c."""
        j = self._outputs.j
        masses, losses = (function(part, [j], self.values) for part in (mass, loss))
        low, high = (number(sympy.sympify(end), self.values) for end in (first, last))
        return infinite_sum(masses, low, high, lambda i: losses(i) > c)

    def power(self, sign: int = 1):
        """A random real z, of the given sign, at which M(z) is finite and not astronomic; of the other sign where
        it is infinite on that side."""
        lowest, highest = self.twin.powers
        return self.draw(mpmath.mpf(1) / 10, 1) * ((highest or lowest) if sign > 0 else (lowest or highest))

    def order(self):
        """A random lambda at which both M(lambda) and M(-lambda) are finite."""
        lowest, highest = self.twin.powers
        return self.draw(mpmath.mpf(1) / 10, 1) * min(highest, -lowest)

    @property
    def width(self):
        """A tenth of the range of the loss."""
        return self._range()[1] / 5

    def _range(self) -> tuple:
        """The middle and half the length of the range of the loss; one loss, up to rounding, has a range of 2."""
        low, high = self.twin.range()
        middle, half = (low + high) / 2, (high - low) / 2
        return middle, mpmath.mpf(1) if half <= (1 + abs(middle)) * mpmath.sqrt(mpmath.eps) else half

    def loss(self, reach=1):
        """A random value of the loss among those that occur, or up to `reach` times further out."""
        middle, half = self._range()
        return middle + half * reach * mpmath.mpf(self.random.randint(-9000, 9000)) / 10_000

    def __str__(self) -> str:
        shown = ", ".join(f"{name}={float(value):.4g}" for name, value in self.names.items())
        return f"at {shown}" if shown else "at the given parameters"


def _is_real(value) -> bool:
    """Whether a complex number is a real one but for rounding: Phi of an imaginary argument times i, say."""
    return isinstance(value, mpmath.mpc) and abs(value.imag) <= 2**10 * mpmath.eps * abs(value.real)


def admissible(pairs: Sequence[Pair], random: Random) -> dict[str, Fraction]:
    """Random values for the free symbols of some pairs, such that all accept them and lose something.

    Raises PrecisionError if none are found.
    """
    names = sorted(frozenset().union(*(pair.free_symbols for pair in pairs)))
    for _ in range(MOST_TRIES if names else 1):
        values = {name: _candidate(random) for name in names}
        try:
            bound = [
                pair.bind(**{name: value for name, value in values.items() if name in pair.free_symbols})
                for pair in pairs
                if pair.free_symbols
            ]
        except DplabError:
            continue
        if all(pair.reduced() is not None and _tame(pair) for pair in bound):
            return values
    raise PrecisionError(f"no admissible values found for the symbols {', '.join(names)} of {pairs!r}")


def _tame(pair: Pair) -> bool:
    """Losses of moderate size: a check at sigma = 0.01 would integrate functions that nobody can tell from 0."""
    inner = [value for value in pair.arguments.values() if isinstance(value, Pair)]
    inner += pair.arguments.get("mechanisms", ())
    if inner:
        return all(map(_tame, inner))
    if type(pair).__name__ in ("DensityPair", "IntegerPair", "TablePair"):
        return True
    with mpmath.workdps(15):
        if getattr(pair, "endless", False):
            return mpmath.mpf("0.02") < abs(pair.loss(PAGE, 0)) < 3
        ends = pair.support(PAGE)
        losses = [abs(atom.loss) for atom in pair.atoms(PAGE)]
        if ends is not None:
            where = pair.coordinate(PAGE)
            if where is not None and any(map(mpmath.isinf, ends)):
                ends = tuple(pair.coordinate_loss(PAGE, where.center + sign * where.scale) for sign in (-1, 1))
            losses += [abs(end) for end in ends]
        return not losses or mpmath.mpf("0.05") < max(losses) < (4 if ends is not None else 12)


def _candidate(random: Random) -> Fraction:
    kind = random.random()
    if kind < 0.5:
        return Fraction(random.randint(60, 940), 1000)
    if kind < 0.85:
        return Fraction(random.randint(500, 3000), 1000)
    return Fraction(random.randint(2, 9))
