"""The mechanisms that widgets offer, and the sliders of their parameters."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from ..core.errors import ParameterError
from ..core.pair import Pair
from ..mechanisms import (
    ApproximateDP,
    Binomial,
    DiscreteGaussian,
    DiscreteLaplace,
    ExponentialCounting,
    Gaussian,
    KaryRandomizedResponse,
    Laplace,
    PoissonSubsampled,
    RandomizedResponse,
)
from .controls import choice_slider, dropdown


class Choice(NamedTuple):
    """A mechanism to be chosen: the names of its parameters, in order, and what makes it from their values."""

    parameters: tuple[str, ...]
    make: Callable[..., Pair]


class Scale(NamedTuple):
    """A parameter's slider: its values, where it starts, and what it is."""

    values: tuple
    start: object
    tooltip: str


CHOICES: dict[str, Choice] = {
    "Gaussian": Choice(("sigma",), Gaussian),
    "Laplace": Choice(("b",), Laplace),
    "randomised response": Choice(("p",), RandomizedResponse),
    "k-ary response": Choice(("eps0", "answers"), KaryRandomizedResponse),
    "exponential, counting": Choice(("eps0", "zeros", "records"), ExponentialCounting),
    "binomial": Choice(("coins", "heads", "shift"), Binomial),
    "discrete Laplace": Choice(("b", "shift"), DiscreteLaplace),
    "discrete Gaussian": Choice(("sigma", "shift"), DiscreteGaussian),
    "approximate DP": Choice(("eps0", "delta0"), ApproximateDP),
    "subsampled Gaussian": Choice(("sigma", "q"), lambda sigma, q: PoissonSubsampled(Gaussian(sigma), q)),
    "subsampled Laplace": Choice(("b", "q"), lambda b, q: PoissonSubsampled(Laplace(b), q)),
    "subsampled binomial": Choice(
        ("coins", "heads", "q"), lambda coins, heads, q: PoissonSubsampled(Binomial(coins, heads), q)
    ),
}
SCALES: dict[str, Scale] = {
    "sigma": Scale(("0.5", "0.7", "1", "1.5", "2", "3", "5"), "1", "Standard deviation over sensitivity"),
    "b": Scale(("0.3", "0.5", "0.7", "1", "1.5", "2", "3", "5"), "1", "Scale of the Laplace noise over sensitivity"),
    "p": Scale(
        ("0.51", "0.55", "0.6", "0.65", "0.7", "0.75", "0.8", "0.9", "0.99"), "0.75", "Probability of the true answer"
    ),
    "eps0": Scale(("0.1", "0.2", "0.5", "1", "1.5", "2", "3"), "1", "ε of one release, in nats"),
    "delta0": Scale(("0.001", "0.01", "0.05", "0.1", "0.2", "0.5"), "0.1", "δ of one release"),
    "answers": Scale((2, 3, 4, 5, 10, 20, 100), 4, "How many answers are possible"),
    "zeros": Scale((1, 2, 3, 4, 5, 8, 10), 3, "How many records are 0"),
    "records": Scale((10, 11, 12, 14, 16, 20), 10, "How many records there are"),
    "coins": Scale((2, 4, 6, 10, 20, 50, 100, 200), 10, "How many coins are thrown"),
    "heads": Scale(("0.1", "0.25", "0.4", "0.5", "0.6", "0.75", "0.9"), "0.5", "Probability of heads"),
    "shift": Scale((1, 2, 3, 4, 5), 1, "By how much the query's value moves"),
    "q": Scale(("0.01", "0.05", "0.1", "0.2", "0.3", "0.5", "0.8"), "0.3", "Poisson sampling rate"),
}
DIRECTIONS = [("P over Q (remove)", "forward"), ("Q over P (add)", "backward")]


def mechanism_of(mechanism: str, **parameters) -> Pair:
    """The pair that the controls describe; parameters of the other mechanisms are ignored.

    >>> mechanism_of("subsampled Gaussian", sigma="2", q="0.1", b="5")
    PoissonSubsampled(Gaussian(sigma=2), q=0.1)

    Raises ParameterError for a name that is not offered.
    """
    if mechanism not in CHOICES:
        raise ParameterError("mechanism", mechanism, f"one of {', '.join(CHOICES)}")
    names, make = CHOICES[mechanism]
    return make(*(parameters.get(name, SCALES[name].start) for name in names))


def mechanism_controls(mechanism: str, offered: Iterable[str], **start) -> dict:
    """A menu of the mechanisms offered, and a slider for every parameter that one of them has.

    start: values other than the usual ones, each on its slider.

    Raises ParameterError for a mechanism or a parameter that is not offered.
    """
    names = list(offered)
    if mechanism not in names:
        raise ParameterError("mechanism", mechanism, f"one of {', '.join(names)}")
    parameters = list(dict.fromkeys(parameter for name in names for parameter in CHOICES[name].parameters))
    unknown = sorted(set(start) - set(parameters))
    if unknown:
        raise ParameterError(unknown[0], start[unknown[0]], f"left out; the sliders are {', '.join(parameters)}")
    controls = {"mechanism": dropdown("mechanism", names, mechanism, tooltip="What is released")}
    for parameter in parameters:
        scale = SCALES[parameter]
        value = start.get(parameter, scale.start)
        controls[parameter] = choice_slider(parameter, scale.values, value, tooltip=scale.tooltip)
    return controls


def direction_control():
    """The menu of the two directions."""
    return dropdown("direction", DIRECTIONS, tooltip="Which of the two neighbours comes first")
