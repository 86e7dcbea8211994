"""Independent coordinates released together: d dimensions, each with its own pair.

The loss of a product is the sum of its factors' losses, so that on its own it is the same as their composition; what
it adds is that it can be sampled as one mechanism.
"""

from fractions import Fraction

from ..core.errors import ParameterError, ParameterTypeError
from ..core.expression import Expression, fold
from ..core.pair import Pair, Tails
from .gaussian import Gaussian

MOST_FACTORS = 10_000
_CAUSE = "A product that is sampled as one must have atoms only, or Gaussians only; compose the factors instead."


class Product(Pair):
    """One release of all the `mechanisms`, with independent noise, about one record that moves each of them.

    `Product(*[Binomial(30, "0.5")] * 2)` is the two-dimensional binomial mechanism with shift vector (1, 1). Direction
    forward is forward in every factor. Sampled as a whole, the factors must have atoms only, or be all Gaussian.

    Source: Koskela et al. (2021), Theorem 11; section E of its appendix for the sampled product.

    >>> from dplab import Gaussian, RandomizedResponse
    >>> Product(RandomizedResponse("0.75"), Gaussian(sigma=2))
    Product(RandomizedResponse(p=0.75), Gaussian(sigma=2))

    Raises ParameterTypeError for what is no mechanism, ParameterError for none at all or more than 10,000.
    """

    def __init__(self, *mechanisms):
        for mechanism in mechanisms:
            if not isinstance(mechanism, Pair):
                raise ParameterTypeError("mechanism", mechanism, "a mechanism such as Binomial(n=30, p=0.5)")
        if not 1 <= len(mechanisms) <= MOST_FACTORS:
            raise ParameterError("mechanisms", len(mechanisms), f"from 1 to {MOST_FACTORS} mechanisms")
        self._set(mechanisms=tuple(sorted(mechanisms, key=repr)))

    @classmethod
    def from_arguments(cls, **arguments):
        """Rebuild from the tuple "mechanisms"."""
        (mechanisms,) = arguments.values() if set(arguments) == {"mechanisms"} else ((),)
        if not isinstance(mechanisms, (tuple, list)):
            raise ParameterTypeError("mechanisms", mechanisms, "a list of mechanisms")
        return cls(*mechanisms)

    @property
    def mechanisms(self) -> tuple[Pair, ...]:
        """The factors, in a canonical order."""
        return self.arguments["mechanisms"]

    @property
    def symmetric(self) -> bool:  # type: ignore[override]
        """True if every factor is."""
        return all(pair.symmetric for pair in self.mechanisms)

    @property
    def factors(self) -> tuple[Pair, ...]:
        """The factors in their simplest form, products inside multiplied out, lossless ones left out."""
        found: list[Pair] = []
        for pair in self.mechanisms:
            simpler = pair.reduced()
            if simpler is not None:
                found += simpler.factors if isinstance(simpler, Product) else [simpler]
        return tuple(found)

    def reduced(self):
        """The one factor that is left, one Gaussian for Gaussians only, None where nothing is lost."""
        factors = self.factors
        if not factors:
            return None
        if len(factors) == 1:
            return factors[0]
        if all(isinstance(pair, Gaussian) for pair in factors):
            return _joint_gaussian(factors)
        return Product(*factors)

    def independent(self):
        """The factors, which composed are the product."""
        return self.factors

    def mass_at_infinity(self, fn):
        """1 - prod (1 - delta_j(inf)), by sums of non-negative terms."""
        return self._joined(fn, [pair.mass_at_infinity(fn) for pair in self.mechanisms])

    def mass_at_minus_infinity(self, fn):
        """The same of the other direction."""
        return self._joined(fn, [pair.mass_at_minus_infinity(fn) for pair in self.mechanisms])

    @staticmethod
    def _joined(fn, masses):
        total = fn.rational(0, 1)
        for mass in masses:
            total = total + (1 - total) * mass
        return total

    def atoms(self, fn):
        """The atoms of the sum of the factors' losses; equal factors by repeated squaring."""
        product = None
        for pair in dict.fromkeys(self.mechanisms):
            power = _power(fn, pair.atoms(fn), self.mechanisms.count(pair))
            product = power if product is None else fn.sums(product, power)
        return product

    @property
    def endless(self) -> bool:  # type: ignore[override]
        """True if a factor's loss is."""
        return any(pair.endless for pair in self.mechanisms)

    def loss_ends(self, fn):
        """Sums of the factors' ends."""
        if not self.endless:
            return None
        ends = [pair.loss_ends(fn) or _listed_ends(pair.atoms(fn)) for pair in self.mechanisms]
        return sum(low for low, _ in ends), sum(high for _, high in ends)

    def remainder(self, fn):
        """What any factor leaves out, by the union bound."""
        if not self.endless:
            return None
        p, q = fn.rational(0, 1), fn.rational(0, 1)
        for pair in self.mechanisms:
            rest = pair.remainder(fn)
            if rest is not None:
                p, q = p + rest.p, q + rest.q
        return Tails(p, q)

    def support(self, fn):
        """None: a product of continuous factors is known as their composition only.

        Raises ParameterError if a factor has a density (see `PoissonSubsampled`).
        """
        self.require_atoms()
        return None

    def require_atoms(self) -> None:
        """Raise ParameterError, naming the factor, if one has a density."""
        from ..core.functions import AnyValue  # mpmath, which the numeric path does not load otherwise

        for pair in self.mechanisms:
            if pair.support(AnyValue()) is not None:
                raise ParameterError("mechanism", pair, "a mechanism with atoms only", _CAUSE)


def _listed_ends(atoms) -> tuple:
    losses = [atom.loss for atom in atoms]
    return min(losses), max(losses)


def _power(fn, atoms, times: int):
    result = None
    while times:
        if times % 2:
            result = atoms if result is None else fn.sums(result, atoms)
        times //= 2
        atoms = fn.sums(atoms, atoms) if times else atoms
    return result


def _joint_gaussian(factors: tuple[Pair, ...]) -> Gaussian:
    """Gaussians of mu_j = Delta_j/sigma_j together: one of mu = sqrt(sum of mu_j^2)."""
    noiseless = [pair for pair in factors if isinstance(pair, Gaussian) and pair.noiseless]
    if noiseless:
        return Gaussian(0, noiseless[0].arguments["sensitivity"])
    kinds = dict.fromkeys(factors)
    if len(kinds) == 1:
        sigma, sensitivity = factors[0].arguments["sigma"], factors[0].arguments["sensitivity"]
        length: tuple = ("sqrt", ("num", Fraction(len(factors))))
        length = length if sensitivity == 1 else ("*", length, _tree(sensitivity))
        return Gaussian(sigma, Expression(length))
    squares = []
    for pair in kinds:
        mu = fold(("/", _tree(pair.arguments["sensitivity"]), _tree(pair.arguments["sigma"])))
        squares.append(fold(("*", ("num", Fraction(factors.count(pair))), fold(("**", mu, ("num", Fraction(2)))))))
    while len(squares) > 1:
        squares = [fold(("+", *two)) if len(two) == 2 else two[0] for two in _in_twos(squares)]
    return Gaussian(1, Expression(("sqrt", squares[0])))


def _in_twos(items: list) -> list[list]:
    """The items in pairs, the last one alone if need be."""
    return [items[i : i + 2] for i in range(0, len(items), 2)]


def _tree(value) -> tuple:
    return value.tree if isinstance(value, Expression) else ("num", value)
