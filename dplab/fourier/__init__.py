"""The fast route: numpy FFT with strict two-sided bounds; every number is a `Bracket`.

`algorithm_1` and `rounded_masses` are the lecture version, which bounds nothing.
"""

from .lecture import algorithm_1, rounded_masses
from .route import curve, delta, epsilon, log_delta

__all__ = ["algorithm_1", "curve", "delta", "epsilon", "log_delta", "rounded_masses"]
