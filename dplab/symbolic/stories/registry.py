"""Which story is told of which mechanism."""

from collections.abc import Callable

from ...core.errors import NoClosedFormError
from ...core.pair import Pair
from ...mechanisms import PoissonSubsampled
from ..derivation import Step
from ..outputs import Outputs
from . import finite, lattice
from .gaussian import gaussian_outputs, gaussian_story
from .laplace import laplace_outputs, laplace_story
from .own import own_outputs, own_story
from .sampled import BASES, sampled_outputs, sampled_story
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
    "Laplace": (laplace_outputs, laplace_story),
}


def story_of(pair: Pair) -> Story:
    """How its output distributions are found, and its steps.

    Raises NoClosedFormError for a mechanism that has no story.
    """
    kind = type(pair).__name__
    if kind in OUTCOMES:
        return OUTCOMES[kind]
    if kind in TABLES:
        return TABLES[kind], finite.finite_story
    if isinstance(pair, PoissonSubsampled):
        base = type(pair.mechanism).__name__
        if type(pair.mechanism) in BASES:
            return sampled_outputs, sampled_story
        if base in TABLES:
            return finite.sampled_table(TABLES[base]), finite.finite_story
    raise NoClosedFormError(f"derivation: there is none yet for {pair!r}")
