"""The parameter of a mechanism for a wanted (eps, delta): proven safe, beside a neighbour proven unsafe."""

from .entry import calibrate
from .results import Calibration

__all__ = ["Calibration", "calibrate"]
