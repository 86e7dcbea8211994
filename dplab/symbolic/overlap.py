"""Whether P and Q overlap at all. One part of a composition whose P and Q do not makes all of it so."""

from ..core.composition import Composition
from ..core.errors import NoClosedFormError
from ..core.pair import Pair
from .table import SympyTable


def is_apart(pair: Pair) -> bool:
    """Whether no outcome of P is one of Q: the loss has neither atoms nor a density."""
    fn = SympyTable()
    try:
        return not pair.endless and pair.support(fn) is None and not pair.atoms(fn)
    except NoClosedFormError:  # there are some, known numerically only
        return False


def simplest(composition) -> Composition:
    """A mechanism or composition in its simplest form; the one part that tells P and Q apart on its own, if one does.

    Raises ParameterTypeError for what is neither.
    """
    composition = Composition.of(composition).reduced()
    for pair, _ in composition.parts:
        if is_apart(pair):
            return Composition.of(pair)
    return composition
