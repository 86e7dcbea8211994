"""A pair (P, Q) of output distributions on the worst neighbours, described by the law of its privacy loss.

Notation (the same in all of dplab):

==============  =====================================================================================
P, Q            output distributions; forward = P over Q        s     privacy loss log(dP/dQ)
omega           PLD: the law of s under P where Q > 0           M(z)  E_omega[exp(z s)]
delta(inf)      mass at infinity: P(Q = 0)                      x     a value of the loss, in nats
==============  =====================================================================================

A mechanism is a subclass that writes its formulas once against a function table `fn` (see `functions`). The loss
law has finite atoms, a continuous part on an interval, and mass where one of the two distributions has none.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

from .errors import ParameterError, SchemaError
from .expression import Expression
from .parameters import Parameter, exact, parameter_text, symbols_of

MOST_NESTED = 32


class Atom(NamedTuple):
    """An outcome set with one finite loss: its loss, its mass under P and its mass under Q."""

    loss: Any
    p: Any
    q: Any


class Tails(NamedTuple):
    """The masses that P and Q give to the same set of outcomes."""

    p: Any
    q: Any


class Coordinate(NamedTuple):
    """A variable u along which the continuous part is smooth: its open interval, a typical value, a typical width."""

    lower: Any
    upper: Any
    center: Any
    scale: Any


class Pair(ABC):
    """Two output distributions; the base of every mechanism.

    Instances are immutable and equal when they are the same mechanism with the same exact parameters.
    Multiples and sums are compositions: `1000 * pair + other`.
    """

    _registry: ClassVar[dict[str, type["Pair"]]] = {}
    defaults: ClassVar[Mapping[str, Parameter]] = {}
    arguments: Mapping[str, Any]
    depth: int
    """1 for a mechanism on its own, one more for each one around it."""

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        Pair._registry[cls.__name__] = cls

    def _set(self, **arguments) -> None:
        nested = [pair for value in arguments.values() for pair in _pairs_in(value)]
        depth = 1 + max((pair.depth for pair in nested), default=0)
        if depth > MOST_NESTED:
            raise ParameterError("mechanism", nested[0], f"nested at most {MOST_NESTED} deep")
        object.__setattr__(self, "arguments", MappingProxyType(arguments))
        object.__setattr__(self, "depth", depth)

    # --- the law of the loss, forward direction ---------------------------------------------------

    symmetric: ClassVar[bool] = False
    """True when the loss has the same law in both directions, whatever the parameters."""

    def mass_at_infinity(self, fn):
        """delta(inf) = P(Q = 0)."""
        return fn.rational(0, 1)

    def mass_at_minus_infinity(self, fn):
        """Q(P = 0), the mass at infinity of the other direction."""
        return fn.rational(0, 1)

    def atoms(self, fn) -> list[Atom]:
        """The atoms of the loss at finite values, from the largest loss down."""
        return []

    def support(self, fn) -> tuple | None:
        """Ends of the interval on which the loss has a density, or None if it has none."""
        return None

    def density(self, fn, x):
        """omega(x) of the continuous part, for x inside the support."""
        raise NotImplementedError(f"{type(self).__name__} has no continuous part")

    def above(self, fn, x) -> Tails:
        """P(s > x) and Q(s > x) of the continuous part, for x inside the support."""
        raise NotImplementedError(f"{type(self).__name__} has no continuous part")

    def below(self, fn, x) -> Tails:
        """P(s <= x) and Q(s <= x) of the continuous part, for x inside the support."""
        raise NotImplementedError(f"{type(self).__name__} has no continuous part")

    endless: ClassVar[bool] = False
    """True when the loss takes infinitely many values without a density; then the hooks below say more."""

    def loss_ends(self, fn) -> tuple | None:
        """Infimum and supremum of an endless loss, infinite perhaps; None for the others, whose atoms show them."""
        return None

    def remainder(self, fn) -> Tails | None:
        """Bounds of the masses that `atoms` leaves out of an endless loss; None if it lists them all."""
        return None

    def atoms_above(self, fn, x) -> Tails | None:
        """P(s > x) and Q(s > x) of the atoms in closed form; None where `atoms` is to be added up."""
        return None

    def atoms_below(self, fn, x) -> Tails | None:
        """P(s <= x) and Q(s <= x) of the atoms in closed form; None where `atoms` is to be added up."""
        return None

    def lattice(self, fn) -> tuple | None:
        """(offset, spacing) if all finite losses are offset plus whole multiples of spacing, exactly; else None."""
        return None

    def above_scaled(self, fn, x) -> Tails:
        """P(s > x) and e^x Q(s > x) of the continuous part, formed without overflow for large losses."""
        p, q = self.above(fn, x)
        return Tails(p, fn.exp(x) * q)

    def below_scaled(self, fn, x) -> Tails:
        """e^{-x} P(s <= x) and Q(s <= x) of the continuous part, formed without overflow for large losses."""
        p, q = self.below(fn, x)
        return Tails(fn.exp(-x) * p, q)

    def excess_above(self, fn, x):
        """P(s > x) - e^x Q(s > x) of the continuous part, its share of delta(x); better where nothing cancels."""
        p, scaled = self.above_scaled(fn, x)
        return p - scaled

    def excess_below(self, fn, x):
        """Q(s <= x) - e^{-x} P(s <= x) of the continuous part, its share of the other direction's delta(-x)."""
        scaled, q = self.below_scaled(fn, x)
        return q - scaled

    def mgf(self, fn, z):
        """M(z) in closed form, atoms included; None where there is no closed form."""
        return None

    # --- outcomes, for mechanisms whose outcomes are numbers ----------------------------------------

    def loss(self, fn, t):
        """s at the outcome t."""
        raise NotImplementedError(f"{type(self).__name__} has no numeric outcomes")

    def outcome(self, fn, s):
        """The outcome with loss s, where the loss is one-to-one."""
        raise NotImplementedError(f"{type(self).__name__} has no numeric outcomes")

    common_outcomes: range | None = None
    """The outcomes that P and Q share, if they are finitely many whole numbers, those of large losses first."""

    def outcome_masses(self, fn, j) -> Tails:
        """P{j} and Q{j} at one of the common outcomes."""
        raise NotImplementedError(f"{type(self).__name__} has no counted outcomes")

    # --- a coordinate along which integrals over the continuous part converge fast ----------------

    def coordinate(self, fn) -> Coordinate | None:
        """The variable u of `coordinate_loss`; None without a continuous part."""
        return None

    def coordinate_loss(self, fn, u):
        """The loss at u."""
        return u

    def coordinate_densities(self, fn, u) -> Tails:
        """Densities of P and Q along u."""
        p = self.density(fn, u)
        return Tails(p, p * fn.exp(-u))

    def panels(self) -> list["Pair"]:
        """The continuous part cut where it is not smooth: pairs of sub-probabilities with a coordinate each.

        Most mechanisms are one panel themselves.
        """
        return [self]

    def turns(self, fn) -> list | None:
        """The coordinates at which the loss turns, in increasing order, where they are known; None where not."""
        return None

    def knots(self, fn) -> list:
        """Losses inside the support where `density`, `above` and `below` change their formula, largest first."""
        return []

    def definition(self, fn, x, backward: bool):
        """delta(x) unevaluated, as a sympy expression, for pairs whose tails have no closed form; else None."""
        return None

    # --- identity ---------------------------------------------------------------------------------

    @abstractmethod
    def reduced(self) -> "Pair | None":
        """The simplest equal pair (q = 1 is the mechanism itself), or None where P = Q and nothing is lost."""

    def independent(self) -> tuple["Pair", ...]:
        """Pairs whose composition has the same law: several for a product, else the pair itself."""
        return (self,)

    @property
    def free_symbols(self) -> frozenset[str]:
        """Names of parameters that are symbols without a value."""
        names: frozenset[str] = frozenset()
        for value in self.arguments.values():
            names |= symbols_of(value).union(*(pair.free_symbols for pair in _pairs_in(value)))
        return names

    def bind(self, **values) -> "Pair":
        """The pair with symbols replaced by values.

        Raises ParameterError for a name that is not a free symbol.
        """
        unknown = sorted(set(values) - self.free_symbols)
        if unknown:
            raise ParameterError(unknown[0], values[unknown[0]], f"one of the free symbols {sorted(self.free_symbols)}")
        return self._bound({name: exact(value, name) for name, value in values.items()})

    def _bound(self, values: Mapping[str, Parameter]) -> "Pair":
        arguments = {}
        for name, value in self.arguments.items():
            if isinstance(value, Pair):
                value = value._bound(values)
            elif _pairs_in(value):
                value = tuple(pair._bound(values) for pair in value)
            elif isinstance(value, Expression):
                value = exact(_substituted(value, values, name), name)
            arguments[name] = value
        return self.from_arguments(**arguments)

    # --- your own --------------------------------------------------------------------------------

    _makers: ClassVar[dict[str, Callable[..., "Pair"]]] = {}
    """Filled by the room of mechanisms, which knows how pairs are made of densities and tables."""

    @staticmethod
    def _maker(kind: str) -> Callable[..., "Pair"]:
        if kind not in Pair._makers:
            raise SchemaError("pairs are made by the room of mechanisms: take Pair from dplab, not from dplab.core")
        return Pair._makers[kind]

    @staticmethod
    def from_densities(p, q, variable, support=None) -> "Pair":
        """The pair of two sympy densities of one variable, on a support (the whole line, or all integers).

        A real `variable` means densities with respect to length, DiracDelta(t - a) an atom at a; an integer variable
        means probabilities of integers. `support`: two ends, or a sympy Interval or Range. Parameters are symbols
        declared positive.

        >>> import sympy
        >>> from dplab import Pair
        >>> t = sympy.Symbol("t", real=True)
        >>> logistic = sympy.exp(-t) / (1 + sympy.exp(-t)) ** 2
        >>> pair = Pair.from_densities(logistic.subs(t, t - 1), logistic, t)
        >>> [str(piece.increasing) for piece in pair.pieces]
        ['True']

        Raises ParameterError for densities that are none, saying what was found and where.
        """
        return Pair._maker("densities")(p, q, variable, support)

    @staticmethod
    def from_tables(p, q) -> "Pair":
        """The pair of two finite tables: outcome -> probability, or probabilities in the same order.

        Probabilities are exact: int, text such as "1/3", Fraction, Decimal, or a float (its printed decimal).

        >>> from dplab import Pair
        >>> Pair.from_tables({"yes": "0.75", "no": "0.25"}, {"yes": "0.25", "no": "0.75"})
        TablePair(p=[0.25, 0.75], q=[0.75, 0.25])

        Raises ParameterError for negative probabilities and tables that do not sum to 1.
        """
        return Pair._maker("tables")(p, q)

    @staticmethod
    def from_text(p: str, q: str, variable: str = "t", support=None, discrete: bool = False) -> "Pair":
        """The pair of two densities written as text; nothing is evaluated as Python.

        Allowed: numbers, names, + - * / **, and the functions of the grammar of densities (exp, log, sqrt, abs, sign,
        erf, erfc, cosh, sinh, tanh, sech, atan, gamma, factorial, binomial, besseli, floor, heaviside, dirac, min, max,
        piecewise((value, condition), ..., (value, True))). `discrete`: outcomes are the integers of the support.

        >>> from dplab import Pair
        >>> Pair.from_text("exp(-(t - 1)**2/2)/sqrt(2*pi)", "exp(-t**2/2)/sqrt(2*pi)").mass_at_infinity is not None
        True

        Raises ParameterError that names the part of the text that is not allowed, or says why it is no density.
        """
        return Pair._maker("text")(p, q, variable, support, discrete)

    @classmethod
    def from_arguments(cls, **arguments) -> "Pair":
        """Rebuild a pair from its named arguments (the inverse of `arguments`)."""
        return cls(**arguments)

    def to_json(self) -> dict:
        """A dictionary of plain JSON values: "type" and the exact parameters as text."""
        return {"type": type(self).__name__, **{name: _plain(value) for name, value in self.arguments.items()}}

    @staticmethod
    def from_json(data: Mapping) -> "Pair":
        """The inverse of `to_json`.

        Raises SchemaError for unknown mechanisms or fields, ParameterError for values out of range.
        """
        if not isinstance(data, Mapping) or not isinstance(data.get("type"), str):
            raise SchemaError('a mechanism is an object with the key "type"')
        fields = {k: v for k, v in data.items() if k != "type"}
        kind = Pair._registry.get(data["type"])
        if kind is None:
            raise SchemaError(f"unknown mechanism {data['type']!r}; known: {', '.join(sorted(Pair._registry))}")
        nested = {k: _from_plain(v) for k, v in fields.items()}
        try:
            return kind.from_arguments(**nested)
        except TypeError as error:
            if isinstance(error, ParameterError):
                raise
            raise SchemaError(f"{data['type']}: wrong fields {sorted(fields)}") from None

    def _key(self) -> tuple:
        return (type(self).__name__, tuple(self.arguments.items()))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Pair):
            return NotImplemented  # a composition knows when it is this one pair
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable")

    def __reduce__(self):
        return _rebuilt, (type(self), dict(self.arguments))

    def __repr__(self) -> str:
        shown = [
            ", ".join(map(repr, _pairs_in(value))) if _pairs_in(value) else f"{name}={parameter_text(value)}"
            for name, value in self.arguments.items()
            if self.defaults.get(name) != value
        ]
        return f"{type(self).__name__}({', '.join(shown)})"

    def __mul__(self, k):
        from .composition import Composition

        return Composition.of(self) * k

    __rmul__ = __mul__

    def __add__(self, other):
        from .composition import Composition

        return Composition.of(self) + other

    __radd__ = __add__


def _pairs_in(value: Any) -> tuple[Pair, ...]:
    """The mechanisms in one argument, which is one of them, a tuple of them, or a parameter."""
    if isinstance(value, Pair):
        return (value,)
    return value if isinstance(value, tuple) and all(isinstance(item, Pair) for item in value) else ()


def _plain(value: Any):
    """One argument as JSON has it."""
    if isinstance(value, Pair):
        return value.to_json()
    return [pair.to_json() for pair in value] if _pairs_in(value) else parameter_text(value)


def _from_plain(value: Any):
    """The inverse of `_plain`."""
    if isinstance(value, Mapping):
        return Pair.from_json(value)
    return tuple(_from_plain(item) for item in value) if isinstance(value, list) else value


def _rebuilt(kind: type[Pair], arguments: dict) -> Pair:
    return kind.from_arguments(**arguments)


def _substituted(value: Expression, values: Mapping[str, Parameter], name: str) -> Expression:
    try:
        return value.substitute(dict(values))
    except (ZeroDivisionError, OverflowError) as error:
        raise ParameterError(name, str(value), "a finite number once its symbols are bound", str(error)) from None
