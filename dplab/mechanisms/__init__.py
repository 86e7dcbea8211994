"""Floor 1: what is released. One page per mechanism; each writes its formulas once, for every arithmetic."""

from .gaussian import Gaussian
from .laplace import Laplace
from .own import DensityPair, TablePair
from .randomized_response import RandomizedResponse
from .subsampling import PoissonSubsampled

__all__ = ["DensityPair", "Gaussian", "Laplace", "PoissonSubsampled", "RandomizedResponse", "TablePair"]
