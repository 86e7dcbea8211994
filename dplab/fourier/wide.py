"""Numbers below 1e-308: the same interval arithmetic on `np.longdouble`, where that has a wider exponent.

On x86 Linux a long double reaches down to 1e-4932. Arrays of that type go through the same code as float64 ones: every
operation is at least as exact, `rounding` steps outwards by that type's own ulp, and the bounds in units of u =
2^-53 hold a fortiori. SciPy's special functions know float64 only: what they are asked is rounded outwards, or
enters a formula that says what rounding it costs.
"""

import math
from typing import Any

import numpy as np
from scipy import special

HAS_WIDE = bool(np.finfo(np.longdouble).maxexp > 16000)
"""Whether this machine's long double has a wider exponent than float64 (not on Windows, nor on most ARM)."""

U = 2.0**-53
TINY = 1e-300
_WIDE_TINY = np.longdouble("1e-4900" if HAS_WIDE else TINY)
_LOG_LEAST, _WIDE_LOG_LEAST = -660.0, -11200.0


def is_wide(x: Any) -> bool:
    """Whether an array, or a number, is of the wider type."""
    return HAS_WIDE and getattr(x, "dtype", None) == np.longdouble


def least(x: Any) -> Any:
    """The smallest number that the type of x holds with all its digits, with some room."""
    return _WIDE_TINY if is_wide(x) else TINY


def log_least(wide: bool) -> float:
    """The logarithm of the smallest mass that tails of one step resolve."""
    return _WIDE_LOG_LEAST if wide and HAS_WIDE else _LOG_LEAST


def exp_of(x: float, wide: bool) -> Any:
    """e^x in the type asked for."""
    return np.exp(np.longdouble(x)) if wide and HAS_WIDE else math.exp(x)


def log_of(x: Any) -> float:
    """log x of one number of either type, -inf for 0."""
    if not x > 0:
        return -math.inf
    return float(np.log(x)) if is_wide(x) else math.log(x)


def widened(x: np.ndarray, wide: bool) -> np.ndarray:
    """The array in the type asked for."""
    return np.asarray(x).astype(np.longdouble) if wide and HAS_WIDE else np.asarray(x)


def narrow_down(x: Any) -> Any:
    """float64 numbers that are not above x."""
    return _narrow(x, -np.inf) if is_wide(x) else x


def narrow_up(x: Any) -> Any:
    """float64 numbers that are not below x."""
    return _narrow(x, np.inf) if is_wide(x) else x


def _narrow(x: Any, towards: float) -> Any:
    with np.errstate(over="ignore", under="ignore"):
        near = np.asarray(x).astype(float)
        wrong = near > x if towards < 0 else near < x
        return np.where(wrong, np.nextafter(near, towards), near)


def half_erfc(a: Any) -> tuple[Any, Any]:
    """erfc(a)/2 and a bound of its relative error.

    For float64: SciPy's, 16 u, and 6 a^2 u more for a > 0, where SciPy squares a in float64 (tested against 40 digits).
    For the wider type and a > 0: erfcx(a) e^{-a^2}, 64 u for SciPy's erfcx, 1 u for rounding its argument to float64
    (|d log erfcx / d log a| <= 1), and a^2/512 u for the exponent, which has 11 bits more.
    """
    if not is_wide(a):
        positive = np.minimum(np.maximum(a, 0.0), 40.0)
        with np.errstate(under="ignore"):
            return 0.5 * special.erfc(a), (16 + 6 * positive * positive) * U
    near = np.asarray(a).astype(float)
    right = np.maximum(a, 0.0)
    with np.errstate(under="ignore"):
        tail = 0.5 * special.erfcx(np.maximum(near, 0.0)) * np.exp(-right * right)
        value = np.where(near > 0, tail, 0.5 * special.erfc(np.minimum(near, 0.0)))
    reach = np.minimum(right, 200.0)
    return value, (68 + reach * reach / 256) * U
