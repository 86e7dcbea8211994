"""Which story is told of which mechanism."""

from collections.abc import Callable
from fractions import Fraction

from ...core.errors import NoClosedFormError
from ...core.pair import Pair
from ...mechanisms import PoissonSubsampled, Product
from ...mechanisms.own import DensityPair, TablePair
from ..derivation import Step
from ..outputs import Outputs, Table
from ..overlap import is_apart
from . import finite, lattice
from .apart import CERTAIN, apart_story
from .gaussian import gaussian_outputs, gaussian_story
from .integers import integer_law, integer_outputs, integer_story
from .laplace import laplace_outputs, laplace_story
from .own import own_story
from .own_law import own_outputs
from .sampled import BASES, sampled_outputs, sampled_story
from .sampled_lattice import sampled_lattice
from .sampled_own import sampled_own_outputs, sampled_own_story
from .sampled_product import sampled_product
from .setting import Setting

Story = tuple[Callable[..., Outputs], Callable[[Setting], list[Step]]]

TABLES: dict[str, Callable] = {
    "RandomizedResponse": finite.response_outputs,
    "KaryRandomizedResponse": finite.kary_outputs,
    "ExponentialCounting": finite.counting_outputs,
    "ApproximateDP": finite.approximate_outputs,
    "TablePair": finite.table_outputs,
}
OUTCOMES: dict[str, Story] = {
    "Binomial": (lattice.binomial_outputs, lattice.lattice_story(lattice.binomial_law)),
    "DiscreteGaussian": (
        lattice.discrete_gaussian_outputs,
        lattice.lattice_story(lattice.discrete_gaussian_law),
    ),
    "DiscreteLaplace": (lattice.discrete_laplace_outputs, lattice.discrete_laplace_story),
    "DensityPair": (own_outputs, own_story),
    "Gaussian": (gaussian_outputs, gaussian_story),
    "IntegerPair": (integer_outputs, integer_story),
    "Laplace": (laplace_outputs, laplace_story),
}


LATTICES: dict[str, tuple[Callable, Callable]] = {
    "IntegerPair": (integer_outputs, lambda pair, fn, backward: integer_law(pair, backward)),
    "Binomial": (lattice.binomial_outputs, lattice.binomial_law),
    "DiscreteGaussian": (lattice.discrete_gaussian_outputs, lattice.discrete_gaussian_law),
    "DiscreteLaplace": (lattice.discrete_laplace_outputs, lattice.discrete_laplace_law),
}


def plain(pair: Pair) -> Pair:
    """A sampled table of one's own as the pair of the mixed tables; any other pair as it is."""
    if not isinstance(pair, PoissonSubsampled) or not isinstance(pair.arguments["q"], Fraction):
        return pair
    base, q = pair.mechanism, pair.arguments["q"]
    if isinstance(base, TablePair):
        rows = [(a, b) for a, b in base.rows if isinstance(a, Fraction) and isinstance(b, Fraction)]
        if len(rows) == len(base.rows):
            return TablePair([q * a + (1 - q) * b for a, b in rows], [b for _, b in rows])
    return pair


def story_of(pair: Pair) -> Story:
    """How its output distributions are found, and its steps.

    Raises NoClosedFormError for a mechanism that has no story.
    """
    if is_apart(pair):
        return _certain if getattr(pair, "noiseless", False) else _story_of_kind(pair)[0], apart_story
    if isinstance(pair, PoissonSubsampled) and is_apart(pair.mechanism):
        return finite.sampled_table(_certain), finite.finite_story
    return _story_of_kind(pair)


def _certain(pair: Pair, fn) -> Table:
    return CERTAIN


def _story_of_kind(pair: Pair) -> Story:
    kind = type(pair).__name__
    if kind in OUTCOMES:
        return OUTCOMES[kind]
    if kind in TABLES:
        return TABLES[kind], finite.finite_story
    if isinstance(pair, PoissonSubsampled):
        base = type(pair.mechanism).__name__
        if type(pair.mechanism) in BASES:
            return sampled_outputs, sampled_story
        if isinstance(pair.mechanism, DensityPair):
            return sampled_own_outputs, sampled_own_story
        if isinstance(pair.mechanism, Product):
            return sampled_product(pair, story_of)
        if base in LATTICES:
            return sampled_lattice(*LATTICES[base])
        if base in TABLES:
            return finite.sampled_table(TABLES[base]), finite.finite_story
    raise NoClosedFormError(f"derivation: there is none yet for {pair!r}")
