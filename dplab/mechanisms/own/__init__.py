"""Your own mechanism: pairs made of two densities, two tables, or text, with everything else derived from them."""

from ...core.errors import ParameterError, ParameterTypeError
from ...core.pair import Pair
from .densities import DensityPair
from .integers import IntegerPair
from .tables import TablePair, from_tables

__all__ = ["DensityPair", "IntegerPair", "TablePair"]


def _from_densities(p, q, variable, support=None) -> Pair:
    if getattr(variable, "is_integer", None) or getattr(support, "is_Range", False) or _whole(support):
        return IntegerPair(p, q, variable, _ends_of_set(support))
    return DensityPair(p, q, variable, support)


def _whole(support) -> bool:
    return type(support).__name__ in ("Range", "Integers", "Naturals", "Naturals0")


def _ends_of_set(support):
    if not _whole(support):
        return support
    if not support.is_empty and getattr(support, "step", 1) == 1:
        return support.inf, support.sup
    raise ParameterError("support", str(support), "a Range of consecutive integers")


def _from_text(p, q, variable="t", support=None, discrete=False) -> Pair:
    for name, text in (("P", p), ("Q", q), ("variable", variable)):
        if not isinstance(text, str):
            raise ParameterTypeError(name, text, "text; for sympy expressions there is Pair.from_densities")
    return (IntegerPair if discrete else DensityPair)(p, q, variable, support)


Pair._makers.update(densities=_from_densities, tables=from_tables, text=_from_text)
