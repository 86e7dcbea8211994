"""The four questions of this route: delta, log delta, eps, and a curve of deltas."""

from collections.abc import Iterable
from dataclasses import replace

import mpmath

from ..core.composition import Composition
from ..core.directions import parse_direction, single_directions
from ..core.errors import ParameterError, ParameterTypeError, UnboundSymbolError
from ..core.parameters import approximate, count, privacy_parameter, probability, require_numbers
from ..core.results import Curve, Reference
from .found import GUARD, Found
from .law import Law
from .routes import Solver

ROUTE = "dplab.reference"
MOST_DIGITS_ASKED = 200


def delta(composition, eps, direction: str = "both", digits: int = 40) -> Reference:
    """The tight delta(eps) of a mechanism or composition, to `digits` significant digits.

    `eps` is any real number in nats (negative too) or an infinity; a float means the decimal that Python prints.
    `direction` is "forward" (= "remove"), "backward" (= "add") or "both", the max of the two. `digits` is 1..200.
    The result's `error` estimates its absolute error from two independent computations, `method` names the route.

    Source: Koskela et al. (2021), Lemma 2 and Theorem 3; the contour integral of MATH.md section 5.

    >>> from dplab import Gaussian, PoissonSubsampled
    >>> print(delta(Gaussian(sigma=1), eps=1, digits=20).value)
    0.126936737506643945801
    >>> c = 10_000 * PoissonSubsampled(Gaussian(sigma=4), q="0.01")
    >>> mpmath.nstr(delta(c, eps=1, digits=30).value, 30)
    '4.24348425248216315104115302818e-6'

    Raises ParameterError for values out of range, UnboundSymbolError if a parameter is a symbol without a value.
    """
    law, names, wanted = _checked(composition, direction, digits)
    exact_eps = privacy_parameter(eps)
    require_numbers(ROUTE, exact_eps)
    found = [(Solver(Law.of(law, name), wanted).find(exact_eps), name) for name in names]
    return _largest(found, wanted, direction, "delta")


def log_delta(composition, eps, direction: str = "both", digits: int = 40) -> Reference:
    """The natural logarithm of the tight delta(eps), for deltas that no float can hold; -inf where delta is 0.

    Parameters, errors and sources as for `delta`; the error is that of the logarithm.

    >>> from dplab import Gaussian
    >>> mpmath.nstr(log_delta(Gaussian(sigma=1), eps=100, digits=15).value, 15)
    '-4960.01885698166'
    """
    plain = delta(composition, eps, direction, digits)
    with mpmath.workdps(plain.digits + GUARD):
        if plain.value == 0:
            return replace(plain, value=-mpmath.inf, error=mpmath.mpf(0), quantity="log delta")
        value, error = mpmath.log(plain.value), plain.error / plain.value
        return replace(plain, value=value, error=error, quantity="log delta")


def epsilon(composition, delta, direction: str = "both", digits: int = 40) -> Reference:
    """The smallest eps >= 0 for which the mechanism or composition is (eps, delta)-DP, to `digits` digits.

    `delta` is a probability, 0 and 1 included; the other parameters are those of `delta`. eps is 0 by convention where
    delta(0) is at most the delta asked for, and infinite where delta is below the mass at infinity (or equal to it,
    with an unbounded loss); `method` then says so in words.

    Source: MATH.md section 1; Newton in x = e^eps, where delta is convex.

    >>> from dplab import Gaussian, Laplace
    >>> mpmath.nstr(epsilon(Gaussian(sigma=1), delta="1e-3", digits=20).value, 20)
    '3.1386705485829392086'
    >>> print(epsilon(Laplace(b=1), delta=0).value, epsilon(Gaussian(sigma=1), delta=0).value)
    1.0 +inf

    Raises ParameterError for values out of range, UnboundSymbolError if a parameter is a symbol without a value.
    """
    law, names, wanted = _checked(composition, direction, digits)
    exact_delta = probability(delta, "delta")
    require_numbers(ROUTE, exact_delta)
    found = [(Solver(Law.of(law, name), wanted).invert(exact_delta), name) for name in names]
    return _largest(found, wanted, direction, "eps")


def curve(composition, epss: Iterable, direction: str = "both", digits: int = 20) -> Curve:
    """delta at each of several eps; parameters and errors as for `delta`.

    >>> from dplab import Laplace
    >>> [mpmath.nstr(point.value, 6) for point in curve(Laplace(b=1), [0, 0.5, 1])]
    ['0.393469', '0.221199', '0.0']
    """
    law, names, wanted = _checked(composition, direction, digits)
    if isinstance(epss, (str, bytes)) or not isinstance(epss, Iterable):
        raise ParameterTypeError("epss", epss, "a sequence of numbers")
    exact = [privacy_parameter(eps) for eps in epss]
    require_numbers(ROUTE, *exact)
    solvers = [(Solver(Law.of(law, name), wanted), name) for name in names]
    points = []
    for eps in exact:
        points.append(_largest([(s.find(eps), name) for s, name in solvers], wanted, direction, "delta"))
    return Curve(tuple(approximate(eps) for eps in exact), tuple(points))


def _checked(composition, direction: str, digits: int) -> tuple[Composition, tuple[str, ...], int]:
    """The composition, the single directions to compute, and the digits; all bad input is refused here."""
    law = Composition.of(composition)
    parse_direction(direction)
    wanted = count(digits, "digits")
    if not 1 <= wanted <= MOST_DIGITS_ASKED:
        raise ParameterError("digits", digits, f"from 1 to {MOST_DIGITS_ASKED}")
    if law.free_symbols:
        raise UnboundSymbolError(law.free_symbols, ROUTE)
    return law, single_directions(direction, law.reduced().symmetric), wanted


def _largest(found: list[tuple[Found, str]], digits: int, direction: str, quantity) -> Reference:
    """The larger of the directions' results, clipped to what delta can be, as a `Reference`."""
    best, name = max(found, key=lambda pair: pair[0].value)
    asked = parse_direction(direction)
    method = f"{best.method}, {name}" if asked == "both" and len(found) > 1 else best.method
    with mpmath.workdps(digits + GUARD):
        near = [one.error for one, _ in found if one.value + one.error >= best.value - best.error]
        error = max([best.error, *near])
        return Reference(+best.value, +error, method, digits, quantity, asked)
