"""Logarithmic axes that survive 1e-1000: log10 of any number type, and decades labelled in words a reader knows.

Values are drawn as their log10 on a linear axis. That is faster than matplotlib's own log axis, does not stop at the
smallest float, and zero can be shown as what it is: below the picture.
"""

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def log10(value) -> float:
    """log10 of a float, a Fraction or an mpf; -inf for zero, nan for what is negative or not a number.

    >>> log10(1000), log10(0)
    (3.0, -inf)
    """
    if isinstance(value, (int, float)):
        if not value > 0:
            return -math.inf if value == 0 else math.nan
        return math.log10(value)
    import mpmath

    number = mpmath.mpf(value.numerator) / value.denominator if hasattr(value, "denominator") else mpmath.mpf(value)
    if not number > 0:
        return -math.inf if number == 0 else math.nan
    return float(mpmath.log10(number))


def power_label(exponent: float) -> str:
    """The label of a tick at 10^exponent.

    >>> power_label(-12), power_label(-1), power_label(math.log10(0.05)), power_label(0)
    ('10⁻¹²', '0.1', '0.05', '1')
    """
    nearest = round(exponent)
    if abs(exponent - nearest) < 1e-9:
        if -2 <= nearest <= 2:
            return f"{10.0**nearest:g}"
        return "10" + str(nearest).translate(_SUPERSCRIPTS)
    power = math.floor(exponent)
    mantissa = f"{10 ** (exponent - power):.2g}"
    if -3 <= power <= 2:
        return f"{float(mantissa) * 10.0**power:g}"
    return f"{mantissa}·10{str(power).translate(_SUPERSCRIPTS)}"


def decades(low: float, high: float, most: int = 7) -> list[float]:
    """Tick positions (as log10) between two exponents: whole decades, or 1-2-5 where the span is short."""
    if high - low < 1.7:
        candidates = [n + math.log10(m) for n in range(math.floor(low), math.ceil(high) + 1) for m in (1, 2, 5)]
        inside = [c for c in candidates if low - 1e-9 <= c <= high + 1e-9]
        if len(inside) >= 2:
            return inside
        return [low, high] if high > low else [low]
    step = max(1, math.ceil((high - low) / most))
    for nice in (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000):
        if nice >= step:
            step = nice
            break
    return [float(n) for n in range(step * math.ceil(low / step), math.floor(high) + 1, step)]


def log_axis(ax: "Axes", low: float, high: float, most: int = 7) -> None:
    """Make the y axis of `ax` run from 10^low to 10^high."""
    ax.set_ylim(low, high)
    ticks = decades(low, high, most)
    ax.set_yticks(ticks, [power_label(tick) for tick in ticks])
