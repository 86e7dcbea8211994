"""dplab: differential-privacy accounting, derived symbolically, evaluated to 50 digits, bounded strictly by FFT.

Everything is imported when it is first used, so that `import dplab` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .calibration import calibrate
    from .comparison import compare
    from .core.composition import Composition
    from .core.errors import DplabError
    from .core.pair import Pair
    from .core.pld import PLD
    from .core.results import Approximation, Bracket, Exact, Reference
    from .mechanisms import (
        ApproximateDP,
        Binomial,
        DensityPair,
        DiscreteGaussian,
        DiscreteLaplace,
        ExponentialCounting,
        Gaussian,
        IntegerPair,
        KaryRandomizedResponse,
        Laplace,
        PoissonSubsampled,
        Product,
        RandomizedResponse,
        TablePair,
        dpsgd,
    )

__version__ = "0.1.0"

_HOMES = {
    "RandomizedResponse": "mechanisms",
    "Gaussian": "mechanisms",
    "Laplace": "mechanisms",
    "PoissonSubsampled": "mechanisms",
    "ApproximateDP": "mechanisms",
    "Binomial": "mechanisms",
    "DiscreteGaussian": "mechanisms",
    "DiscreteLaplace": "mechanisms",
    "ExponentialCounting": "mechanisms",
    "KaryRandomizedResponse": "mechanisms",
    "Product": "mechanisms",
    "dpsgd": "mechanisms",
    "DensityPair": "mechanisms",
    "IntegerPair": "mechanisms",
    "TablePair": "mechanisms",
    "Pair": "core.pair",
    "PLD": "core.pld",
    "Composition": "core.composition",
    "Exact": "core.results",
    "Reference": "core.results",
    "Bracket": "core.results",
    "Approximation": "core.results",
    "DplabError": "core.errors",
    "calibrate": "calibration",
    "compare": "comparison",
}
_ROOMS = (
    "core",
    "mechanisms",
    "symbolic",
    "reference",
    "fourier",
    "clt",
    "calibration",
    "comparison",
    "plots",
    "peers",
    "widgets",
)

__all__ = [
    "PLD",
    "ApproximateDP",
    "Approximation",
    "Binomial",
    "Bracket",
    "Composition",
    "DensityPair",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "DplabError",
    "Exact",
    "ExponentialCounting",
    "Gaussian",
    "IntegerPair",
    "KaryRandomizedResponse",
    "Laplace",
    "Pair",
    "PoissonSubsampled",
    "Product",
    "RandomizedResponse",
    "Reference",
    "TablePair",
    "calibrate",
    "compare",
    "dpsgd",
]


def __getattr__(name: str):
    if name in _HOMES:
        import_module(".mechanisms", __name__)  # so that JSON finds every mechanism
        value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    elif name in _ROOMS:
        value = import_module(f".{name}", __name__)
    else:
        raise AttributeError(f"module 'dplab' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES, *_ROOMS})
