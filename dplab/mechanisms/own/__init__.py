"""Your own mechanism: pairs made of two densities, two tables, or text, with everything else derived from them."""

from ...core.pair import Pair
from .densities import DensityPair
from .tables import TablePair, from_tables

__all__ = ["DensityPair", "TablePair"]


def _from_densities(p, q, variable, support=None) -> Pair:
    return DensityPair(p, q, variable, support)


def _from_text(p, q, variable="t", support=None, discrete=False) -> Pair:
    return DensityPair(p, q, variable, support)


Pair._makers.update(densities=_from_densities, tables=from_tables, text=_from_text)
