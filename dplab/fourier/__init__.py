"""The fast route: numpy FFT with strict two-sided bounds; every number is a `Bracket`."""

from .route import curve, delta, epsilon, log_delta

__all__ = ["curve", "delta", "epsilon", "log_delta"]
