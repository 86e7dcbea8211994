"""The public call."""

import inspect
from collections.abc import Callable
from fractions import Fraction

from ..core.directions import parse_direction
from ..core.errors import ParameterTypeError
from ..core.parameters import (
    Parameter,
    approximate,
    checked,
    evaluate,
    parameter_text,
    privacy_parameter,
    require_numbers,
)
from ..core.progress import progress
from .results import Calibration
from .search import checked_range, close_in, opposite_pair
from .verdicts import Questions


def calibrate(
    family: Callable,
    eps,
    delta,
    direction: str = "both",
    *,
    tol="1e-4",
    between: tuple | None = None,
    whole: bool | None = None,
) -> Calibration:
    """The value of a parameter (noise scale, sampling rate, number of steps) for a wanted (eps, delta), safe side.

    family: a function of one parameter that returns a mechanism or composition. It is called with a Fraction, or with
    an int if it refuses fractions or `whole` is True. eps: any real number in nats; delta: in [0, 1]; direction as for
    `fourier.delta`. tol: how far apart, relatively, the safe and the unsafe value may lie (for whole numbers they are
    neighbours). between: the range (low, high) to search; without it, one is looked for around 1.

    delta must be monotone in the parameter; which way is found out, and an answer that contradicts it is an error.
    Returns a Calibration: `.value` is proven safe by its bracket's upper bound, `.unsafe` is proven unsafe by its
    lower bound. Where brackets cannot be told from delta, the two lie further apart, `reached` is False, and the note
    says so.
    Raises ParameterError for bad arguments, CalibrationError if every value is safe or none is, NotMonotoneError.

    >>> from dplab import Gaussian, PoissonSubsampled, calibrate
    >>> found = calibrate(lambda sigma: Gaussian(sigma), eps=1, delta="1e-5")
    >>> float(found), float(found.unsafe)  # 3.730632 by Balle and Wang (2018), Theorem 8
    (3.7307, 3.7306)
    >>> calibrate(lambda k: k * PoissonSubsampled(Gaussian(1), q="0.01"), eps=1, delta="1e-5").value
    254
    """
    if not callable(family):
        raise ParameterTypeError("family", family, "a function of one parameter, e.g. lambda sigma: Gaussian(sigma)")
    target_eps = privacy_parameter(eps)
    wanted = checked(delta, "delta", "in [0, 1]", lambda v: 0 <= v <= 1)
    exact_tol = checked(tol, "tol", "> 0 and at most 1/2", lambda v: 0 < 2 * v <= 1)
    require_numbers("dplab.calibrate", target_eps, wanted, exact_tol)
    parse_direction(direction)
    closeness = exact_tol if isinstance(exact_tol, Fraction) else Fraction(approximate(exact_tol))
    ends = None if between is None else checked_range(between, whole)
    name = _parameter_name(family)
    with progress(unit="bracket", what="calibrate") as bar:
        questions = Questions(family, name, target_eps, _enclosed(wanted), direction, bar)
        is_whole = questions.whole = not questions.takes_fractions() if whole is None else bool(whole)
        if ends is not None:
            ends = checked_range(between, is_whole)
        safe, unsafe = opposite_pair(questions, ends)
        safe, unsafe = close_in(questions, safe, unsafe, closeness)
    apart = abs(safe.value - unsafe.value)
    reached = apart <= (1 if is_whole else closeness * max(abs(safe.value), abs(unsafe.value)))
    note = "" if reached else "the values between these two cannot be told from delta"
    return Calibration(
        name,
        int(safe.value) if is_whole else safe.value,
        int(unsafe.value) if is_whole else unsafe.value,
        safe.bracket,
        unsafe.bracket,
        _text(target_eps),
        _text(wanted),
        reached,
        note,
        questions.count,
    )


def _parameter_name(family: Callable) -> str:
    try:
        names = list(inspect.signature(family).parameters)
    except (TypeError, ValueError):
        return "value"
    return names[0] if len(names) >= 1 and names[0] not in ("self", "args") else "value"


def _enclosed(wanted: Parameter) -> tuple[Fraction, Fraction]:
    """The wanted delta, exactly, or an enclosure of it."""
    if isinstance(wanted, Fraction):
        return wanted, wanted
    from ..fourier.intervals import IntervalTable

    enclosure = evaluate(wanted, IntervalTable())
    return Fraction(float(enclosure.lo)), Fraction(float(enclosure.hi))


def _text(value: Parameter | float) -> str:
    return str(value) if isinstance(value, float) else parameter_text(value)
