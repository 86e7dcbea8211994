"""The public questions of the central limit route; every answer is an `Approximation`, which bounds nothing."""

import math
from collections.abc import Iterable

from ..core.composition import Composition
from ..core.directions import parse_direction, single_directions
from ..core.errors import ParameterError, UnboundSymbolError
from ..core.parameters import approximate, privacy_parameter, probability, require_numbers
from ..core.results import Approximation, Curve, Quantity
from .models import METHODS, Method, Model, model_of


def delta(composition, eps, direction: str = "both", method: Method = "gdp") -> Approximation:
    """delta(eps) as if the loss were normal; it may lie on either side of the truth.

    `eps` is any real number in nats, or inf; `direction` "forward" (= "remove"), "backward" (= "add"), or "both",
    the larger one. `method` is "gdp", "limit", "moments" or "normal" (see `dplab.clt`). The result's `details` have
    mu, and mean and variance of the composed loss.

    Source: Dong, Roth, Su (2022), Theorems 3.4 and 3.6, Corollary 2.13 for delta of mu-GDP.

    >>> from dplab import Gaussian, PoissonSubsampled
    >>> print(delta(10_000 * PoissonSubsampled(Gaussian(sigma=4), q=0.01), eps=1))  # truth: 4.243e-06
    delta ~ 3.90813e-06 (gdp; no bound)

    Raises ParameterError for bad parameters, UnboundSymbolError for symbols without a value.
    """
    return _delta(composition, eps, direction, method, "delta")


def log_delta(composition, eps, direction: str = "both", method: Method = "gdp") -> Approximation:
    """log delta(eps), for deltas below 1e-300; -inf where delta is 0. Arguments and errors as for `delta`.

    >>> from dplab import Gaussian
    >>> round(log_delta(Gaussian(sigma=1), eps=100).value, 6)
    -4960.254554
    """
    return _delta(composition, eps, direction, method, "log delta")


def epsilon(composition, delta, direction: str = "both", method: Method = "gdp") -> Approximation:
    """The smallest eps >= 0 (nats) whose approximate delta(eps) is at most `delta`, in [0, 1].

    inf where delta is not above the mass at infinity (always for delta = 0, unless nothing is released), 0 where it
    is at least delta(0).

    >>> from dplab import RandomizedResponse
    >>> c = 10 * RandomizedResponse.from_eps("1/sqrt(10)")  # truth: 2.88967
    >>> print(epsilon(c, delta=0.001, method="limit"))
    eps ~ 3.13867 (limit; no bound)

    Raises as `delta`.
    """
    target = probability(delta, "delta")
    require_numbers("dplab.clt", target)
    models, canonical = _models(composition, direction, method)
    goal = approximate(target)
    value, model = max(((model.epsilon(goal), model) for model in models), key=lambda pair: pair[0])
    return Approximation(value, method, "eps", canonical, model.details)


def curve(composition, epss: Iterable, direction: str = "both", method: Method = "gdp") -> Curve:
    """delta at each of several eps. Arguments and errors as for `delta`.

    >>> from dplab import Laplace
    >>> [round(float(value), 3) for value in curve(100 * Laplace(b=10), [0, 1, 2])]
    [0.377, 0.121, 0.019]
    """
    points = [_number(eps) for eps in epss]
    models, canonical = _models(composition, direction, method)
    return Curve(tuple(points), tuple(_answer(models, eps, method, "delta", canonical) for eps in points))


def _delta(composition, eps, direction: str, method: str, quantity: Quantity) -> Approximation:
    point = _number(eps)
    models, canonical = _models(composition, direction, method)
    return _answer(models, point, method, quantity, canonical)


def _answer(models: list[Model], eps: float, method: str, quantity: Quantity, direction: str) -> Approximation:
    logarithm, model = max(((model.log_delta(eps), model) for model in models), key=lambda pair: pair[0])
    value = logarithm if quantity == "log delta" else math.exp(logarithm)
    return Approximation(value, method, quantity, direction, model.details)


def _number(eps) -> float:
    value = privacy_parameter(eps)
    require_numbers("dplab.clt", value)
    return approximate(value)


def _models(composition, direction: str, method: str) -> tuple[list[Model], str]:
    composition = Composition.of(composition)
    canonical = parse_direction(direction)
    if method not in METHODS:
        raise ParameterError("method", method, f"one of {', '.join(METHODS)}")
    if composition.free_symbols:
        raise UnboundSymbolError(composition.free_symbols, "dplab.clt")
    composition = composition.reduced()
    directions = single_directions(direction, composition.symmetric)
    return [model_of(composition, name == "backward", method) for name in directions], canonical
