"""Floor 1: what is released. One page per mechanism; each writes its formulas once, for every arithmetic."""

from .approximate_dp import ApproximateDP
from .binomial import Binomial
from .discrete_gaussian import DiscreteGaussian
from .discrete_laplace import DiscreteLaplace
from .exponential_counting import ExponentialCounting
from .gaussian import Gaussian
from .kary_randomized_response import KaryRandomizedResponse
from .laplace import Laplace
from .own import DensityPair, IntegerPair, TablePair
from .product import Product
from .randomized_response import RandomizedResponse
from .subsampling import PoissonSubsampled
from .training import dpsgd

__all__ = [
    "ApproximateDP",
    "Binomial",
    "DensityPair",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "ExponentialCounting",
    "Gaussian",
    "IntegerPair",
    "KaryRandomizedResponse",
    "Laplace",
    "PoissonSubsampled",
    "Product",
    "RandomizedResponse",
    "TablePair",
    "dpsgd",
]
