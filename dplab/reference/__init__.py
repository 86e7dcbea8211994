"""Floor 2: the high-precision route. Every delta and eps to as many digits as asked for, with an error estimate.

`delta`, `log_delta`, `epsilon` and `curve` choose among closed forms, exact sums, residues and the contour integral.
"""

from .questions import curve, delta, epsilon, log_delta

__all__ = ["curve", "delta", "epsilon", "log_delta"]
