"""Exact parameters: every number a user gives means one exact value, on every route, to every digit.

A parameter is an int, str ("0.01", "1/3", "1/sqrt(10)", "sigma"), Fraction, Decimal, sympy number or symbol, or a
float, which means **the decimal that Python prints for it** (0.01 is 1/100). numpy scalars count as what they
hold. What comes out is a `Fraction` or, where the value is irrational or symbolic, an `Expression`.
"""

import math
import numbers
import operator
import re
from decimal import Decimal
from fractions import Fraction
from typing import Any

from .errors import ParameterError, ParameterTypeError, UnboundSymbolError
from .expression import Expression, from_sympy, parse

Parameter = Fraction | Expression

_RATIONAL = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,4})?|[+-]?\d+/\d+")
INFINITY = math.inf
LARGEST, SMALLEST = Fraction(10) ** 300, Fraction(1, 10**300)
_KINDS = 'a number: int, "0.01", "1/3", Fraction, Decimal, float, a sympy number, or a symbol\'s name'


def exact(value: object, name: str) -> Parameter:
    """The exact value of one parameter.

    >>> exact(0.01, "q")
    Fraction(1, 100)
    >>> exact("1/sqrt(10)", "eps")
    1/sqrt(10)

    Raises ParameterError for nan, infinities and text that is no formula, ParameterTypeError for other kinds.
    """
    if isinstance(value, bool):
        raise ParameterTypeError(name, value, _KINDS)
    if isinstance(value, Fraction):
        return value
    if isinstance(value, Expression):
        return _collapse(value)
    if isinstance(value, str):
        return _from_text(value, name)
    if isinstance(value, float):  # np.float64 is a float too: its repr is not a decimal, float's own is
        if not math.isfinite(value):
            raise ParameterError(name, value, "a finite number")
        return Fraction(float.__repr__(value))
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise ParameterError(name, value, "a finite number")
        if abs(value.adjusted()) > 10_000:
            raise ParameterError(name, value, "a number of moderate size")
        return Fraction(value)
    if hasattr(value, "free_symbols") and hasattr(value, "is_Rational"):
        return _from_sympy(value, name)
    if isinstance(value, numbers.Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    return _from_other(value, name)


def _from_text(text: str, name: str) -> Parameter:
    if _RATIONAL.fullmatch(text.strip()):
        try:
            return Fraction(text.strip())
        except ZeroDivisionError:
            raise ParameterError(name, text, "a finite number", "It divides by zero.") from None
    if text.strip().lower().lstrip("+-") in ("nan", "inf", "infinity"):
        raise ParameterError(name, text, "a finite number")
    return _collapse(parse(text, name))


def _from_sympy(value, name: str) -> Parameter:
    no_number = not value.free_symbols and getattr(value, "is_comparable", True) is False
    if value.is_finite is False or no_number:
        raise ParameterError(name, value, "a finite real number or a symbol")
    return _collapse(from_sympy(value, name))


def _from_other(value, name: str) -> Parameter:
    try:
        return Fraction(operator.index(value))
    except TypeError:
        pass
    if isinstance(value, numbers.Real) or type(value).__name__ == "mpf" or hasattr(value, "__array__"):
        shown = _printed_decimal(value)
        if shown is not None:
            return exact(shown, name)
    raise ParameterTypeError(name, value, _KINDS)


def _printed_decimal(value) -> str | None:
    """The decimal a scalar of another library prints, or None (arrays, objects)."""
    if getattr(value, "shape", ()) != ():
        return None
    shown = str(value)
    return shown if _RATIONAL.fullmatch(shown) or shown in ("nan", "inf", "-inf", "+inf") else None


def _collapse(expression: Expression) -> Parameter:
    """An expression that is one rational number, as a Fraction."""
    return expression.tree[1] if expression.tree[0] == "num" else expression


def symbols_of(*values: object) -> frozenset[str]:
    """Names of the unbound symbols in some parameters."""
    names: frozenset[str] = frozenset()
    for value in values:
        if isinstance(value, Expression):
            names |= value.free_symbols
    return names


def require_numbers(route: str, *values: object) -> None:
    """Raise UnboundSymbolError if any of the parameters is still symbolic."""
    names = symbols_of(*values)
    if names:
        raise UnboundSymbolError(names, route)


def evaluate(value: Parameter | float, fn):
    """A parameter as a number of the arithmetic of a function table (infinite eps: its infinity)."""
    if isinstance(value, Expression):
        return value.evaluate(fn)
    if isinstance(value, float):
        return fn.inf if value > 0 else -fn.inf
    return fn.rational(value.numerator, value.denominator)


def approximate(value: Parameter | float) -> float:
    """The nearest float (for range checks and pictures, never for results)."""
    if isinstance(value, Expression):
        import mpmath

        from .functions import CautiousTable

        with mpmath.workdps(30):
            try:
                number = value.evaluate(CautiousTable())
            except (ZeroDivisionError, OverflowError, MemoryError, ValueError):
                return math.nan
            if isinstance(number, mpmath.mpc) or not mpmath.isfinite(number):
                return math.nan
            return float(number)
    return float(value)


def checked(
    value: object, name: str, allowed: str, accepts, cause: str = "", smallest: Fraction = SMALLEST
) -> Parameter:
    """An exact parameter whose range is known; symbols pass, numbers must satisfy `accepts`."""
    parameter = exact(value, name)
    if symbols_of(parameter):
        return parameter
    number: Any = parameter if isinstance(parameter, Fraction) else approximate(parameter)
    if isinstance(number, float) and math.isnan(number):
        raise ParameterError(name, value, "a finite real number")
    if not accepts(number):
        raise ParameterError(name, value, allowed, cause)
    if number != 0 and not smallest <= abs(number) <= LARGEST:
        raise ParameterError(name, value, f"zero or between 1e-300 and 1e300 in size ({allowed})")
    return parameter


def positive(value: object, name: str, cause: str = "") -> Parameter:
    """An exact parameter > 0."""
    return checked(value, name, "> 0", lambda v: v > 0, cause)


def nonnegative(value: object, name: str, cause: str = "") -> Parameter:
    """An exact parameter >= 0."""
    return checked(value, name, ">= 0", lambda v: v >= 0, cause)


def probability(value: object, name: str, cause: str = "") -> Parameter:
    """An exact parameter in [0, 1]."""
    return checked(value, name, "in [0, 1]", lambda v: 0 <= v <= 1, cause)


def privacy_parameter(value: object, name: str = "eps") -> Parameter | float:
    """eps: any real number in nats, or an infinity."""
    if isinstance(value, str) and value.strip().lower() in ("inf", "+inf", "-inf"):
        value = float(value)
    is_infinite = isinstance(value, float) and math.isinf(value)
    if is_infinite or str(value) in ("oo", "-oo", "inf", "-inf", "+inf", "Infinity", "-Infinity"):
        return INFINITY if not str(value).startswith("-") else -INFINITY
    return checked(value, name, "a real number (nats), or inf", lambda v: True, smallest=Fraction(0))


def count(value: Any, name: str = "k") -> int:
    """A number of releases: an integer >= 0 (2.0 is refused: the usual cause is a division that was meant
    to be whole)."""
    if isinstance(value, (bool, str)):
        raise ParameterTypeError(name, value, "an integer >= 0")
    if hasattr(value, "is_Integer"):
        if not value.is_Integer:
            raise ParameterTypeError(name, value, "an integer >= 0")
        value = int(value)
    try:
        number = operator.index(value)
    except TypeError:
        raise ParameterTypeError(
            name, value, "an integer >= 0", "Releases are counted: round it yourself, the way you mean."
        ) from None
    if number < 0:
        raise ParameterError(name, value, ">= 0")
    return number


def whole(value: object, name: str, least: int = 0, most: int = 10**6, cause: str = "") -> Fraction:
    """An exact parameter that is a whole number from `least` to `most` (text such as "30" too, as in JSON)."""
    parameter = exact(value, name)
    allowed = f"a whole number from {least} to {most}"
    if isinstance(parameter, Expression):
        raise ParameterTypeError(name, value, allowed, cause or "Symbols and irrational numbers are not counted in.")
    if parameter.denominator != 1 or not least <= parameter <= most:
        raise ParameterError(name, value, allowed, cause)
    return parameter


def parameter_text(value: Parameter) -> str:
    """The shortest text that reads back to the same exact value.

    >>> parameter_text(Fraction(1, 100)), parameter_text(Fraction(1, 3))
    ('0.01', '1/3')
    """
    if isinstance(value, Expression):
        return str(value)
    if value.denominator == 1:
        return str(value.numerator)
    rest = value.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    if rest != 1 or value.denominator > 10**40:
        return f"{value.numerator}/{value.denominator}"
    digits = 0
    while value.denominator and (10**digits) % value.denominator:
        digits += 1
    return _plain_decimal(value, digits)


def _plain_decimal(value: Fraction, digits: int) -> str:
    scaled = abs(value.numerator) * 10**digits // value.denominator
    sign = "-" if value < 0 else ""
    text = str(scaled)
    if digits - len(text) >= 4:
        head, tail = text[0], text[1:].rstrip("0")
        return f"{sign}{head}{'.' + tail if tail else ''}e-{digits - len(text) + 1}"
    text = text.rjust(digits + 1, "0")
    return f"{sign}{text[:-digits]}.{text[-digits:]}"
