"""Compositions: independent (or adaptive, with fixed dominating pairs) releases, written as sums.

`1000 * PoissonSubsampled(Gaussian(sigma=4), q="0.01") + 50 * Laplace(b=10)`. Composition convolves the PLDs and
multiplies their M(z) [Koskela et al. 2021, Theorems 3 and 4], so order does not matter: a composition is a
multiset of pairs, immutable, hashable, and JSON in and out.
"""

import json
from collections.abc import Iterable, Mapping

from .errors import ParameterError, ParameterTypeError, SchemaError
from .pair import Pair
from .parameters import count
from .pld import PLD

SCHEMA = "dplab.composition/1"


class Composition:
    """A multiset of pairs.

    `parts` is a tuple of (pair, k), k >= 1, in a canonical order. k = 0 parts disappear: nothing released is
    perfect privacy. Two compositions are equal when they are the same multiset.
    """

    parts: tuple[tuple[Pair, int], ...]
    __slots__ = ("parts",)

    def __init__(self, parts: Iterable[tuple[Pair, int]] = ()):
        counts: dict[Pair, int] = {}
        for pair, k in parts:
            if not isinstance(pair, Pair):
                raise ParameterTypeError("mechanism", pair, "a mechanism (a Pair)")
            counts[pair] = counts.get(pair, 0) + count(k)
        kept = [(pair, k) for pair, k in counts.items() if k > 0]
        object.__setattr__(self, "parts", tuple(sorted(kept, key=lambda part: repr(part[0]))))

    @classmethod
    def of(cls, value: object) -> "Composition":
        """A composition from a composition or a single mechanism.

        Raises ParameterTypeError for anything else.
        """
        if isinstance(value, Composition):
            return value
        if isinstance(value, Pair):
            return cls([(value, 1)])
        raise ParameterTypeError(
            "composition", value, "a mechanism, or a sum of multiples of mechanisms such as 1000 * Gaussian(sigma=50)"
        )

    def reduced(self) -> "Composition":
        """The same law with each pair in its simplest form, products as their factors, and lossless ones left out."""
        simpler = [(pair.reduced(), k) for pair, k in self.parts]
        return Composition([(one, k) for pair, k in simpler if pair is not None for one in pair.independent()])

    def plds(self, backward: bool) -> list[tuple[PLD, int]]:
        """The PLDs to be convolved, with their multiplicities."""
        return [(PLD(pair, backward), k) for pair, k in self.reduced().parts]

    @property
    def symmetric(self) -> bool:
        """True when both directions have the same law."""
        return all(pair.symmetric for pair, _ in self.parts)

    @property
    def steps(self) -> int:
        """Total number of releases."""
        return sum(k for _, k in self.parts)

    @property
    def free_symbols(self) -> frozenset[str]:
        """Names of parameters that are symbols without a value."""
        return frozenset().union(*(pair.free_symbols for pair, _ in self.parts))

    def bind(self, **values) -> "Composition":
        """The composition with symbols replaced by values.

        Raises ParameterError for a name that is not a free symbol.
        """
        unknown = sorted(set(values) - self.free_symbols)
        if unknown:
            raise ParameterError(unknown[0], values[unknown[0]], f"one of the free symbols {sorted(self.free_symbols)}")
        return Composition(
            [(pair.bind(**{n: v for n, v in values.items() if n in pair.free_symbols}), k) for pair, k in self.parts]
        )

    def to_json(self) -> str:
        """JSON text: {"schema": ..., "parts": [{"k": 1000, "type": "Gaussian", "sigma": "50", ...}]}.

        Numbers are exact decimals or fractions as text.
        """
        parts = [{"k": k, **pair.to_json()} for pair, k in self.parts]
        return json.dumps({"schema": SCHEMA, "parts": parts})

    @classmethod
    def from_json(cls, text: str) -> "Composition":
        """The inverse of `to_json`.

        Raises SchemaError for text that does not follow the schema, ParameterError for values out of range.
        """
        try:
            data = json.loads(text)
        except (TypeError, ValueError, RecursionError) as error:
            raise SchemaError(f"not JSON: {error}") from None
        if not isinstance(data, Mapping) or data.get("schema") != SCHEMA or not isinstance(data.get("parts"), list):
            raise SchemaError(f'expected {{"schema": "{SCHEMA}", "parts": [...]}}')
        parts = []
        for part in data["parts"]:
            if not isinstance(part, Mapping) or "k" not in part:
                raise SchemaError('every part is an object with "k" and "type"')
            try:
                pair = Pair.from_json({n: v for n, v in part.items() if n != "k"})
            except RecursionError:
                raise SchemaError("mechanisms are nested too deeply") from None
            parts.append((pair, count(part["k"])))
        return cls(parts)

    def __add__(self, other: object) -> "Composition":
        if isinstance(other, int) and other == 0:
            return self  # where sum([...]) starts
        if not isinstance(other, (Composition, Pair)):
            return NotImplemented
        return Composition([*self.parts, *Composition.of(other).parts])

    __radd__ = __add__

    def __mul__(self, k: object) -> "Composition":
        times = count(k)
        return Composition([(pair, n * times) for pair, n in self.parts])

    __rmul__ = __mul__

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Pair):
            other = Composition.of(other)
        return isinstance(other, Composition) and self.parts == other.parts

    def __hash__(self) -> int:
        if len(self.parts) == 1 and self.parts[0][1] == 1:
            return hash(self.parts[0][0])
        return hash(self.parts)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("Composition is immutable")

    def __reduce__(self):
        return Composition, (self.parts,)

    def __repr__(self) -> str:
        if not self.parts:
            return "Composition()"
        return " + ".join(f"{k} * {pair!r}" if k > 1 else repr(pair) for pair, k in self.parts)
