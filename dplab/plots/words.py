"""Numbers in sentences: short, and readable for a value that no float can hold."""

import math


def short(value, digits: int = 3) -> str:
    """A number of any type in a few significant digits.

    >>> short(0.00012345), short(1e6), short(float("inf"))
    ('1.23e-4', '1e6', '∞')
    """
    if isinstance(value, (int, float)):
        if math.isinf(value):
            return "∞" if value > 0 else "-∞"
        text = f"{value:.{digits - 1}e}" if 0 < abs(value) < 1e-3 else f"{value:.{digits}g}"
    else:
        import mpmath

        number = mpmath.mpf(value.numerator) / value.denominator if hasattr(value, "denominator") else mpmath.mpf(value)
        if -300 < mpmath.log10(abs(number) if number else 1) < 300:
            return short(float(number), digits)
        text = mpmath.nstr(number, digits)
    mantissa, e, exponent = text.partition("e")
    if e and "." in mantissa:
        mantissa = mantissa.rstrip("0").rstrip(".")
    return f"{mantissa}e{int(exponent)}" if e else text


def span(first, last) -> str:
    """From one number to another, or just the one.

    >>> span(1, 2), span(1, 1)
    ('from 1 to 2', 'at 1')
    """
    return f"at {short(first)}" if short(first) == short(last) else f"from {short(first)} to {short(last)}"


def percent(ratio: float) -> str:
    """A ratio as a percentage, in digits that suit its size.

    >>> percent(0.1234), percent(0.997), percent(0.00082), percent(3e-9)
    ('12 %', '100 %', '0.082 %', '3e-7 %')
    """
    value = 100 * ratio
    return f"{value:.0f} %" if 10 <= abs(value) < 1e4 else f"{short(value, 2)} %"


def in_words(values, conjunction: str = "and") -> str:
    """A list as a reader would say it.

    >>> in_words(["a", "b", "c"])
    'a, b and c'
    """
    listed = [str(value) for value in values]
    return listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} {conjunction} {listed[-1]}" if listed else ""
