"""A dplab composition as a peer's question: a flat list of steps with float64 parameters.

A mechanism without a step of its own goes as a table of its outcomes' masses, if its losses are finitely many.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import mpmath

from ..core.composition import Composition
from ..core.directions import parse_direction
from ..core.errors import ParameterError, UnboundSymbolError
from ..core.functions import MpmathTable
from ..core.pair import Pair
from ..core.parameters import Parameter, approximate, evaluate, privacy_parameter, probability, require_numbers
from .protocol import NotModelled, Query, Step

_DIGITS = 40
MOST_OUTCOMES = 20_000
"""A longer table would take longer to pass on than to work with."""
SAMPLED = ("gaussian", "laplace", "discrete laplace", "discrete gaussian")
"""What peers know of on a Poisson sample; others go as tables."""


def query(
    composition,
    *,
    eps=None,
    delta=None,
    direction: str = "both",
    settings: Mapping[str, Any] | None = None,
) -> Query:
    """The question "delta at eps" or "eps at delta" of a composition, for any peer.

    Exactly one of `eps` (real, nats) and `delta` (in [0, 1]) is given. Parameters become the nearest float64.

    Raises ParameterError for values out of range, UnboundSymbolError for symbols, NotModelled if no peer could be
    told of the composition: a mechanism outside the list of `Step` whose losses have a density, or one without noise.

    >>> from dplab import Gaussian, PoissonSubsampled
    >>> query(10 * PoissonSubsampled(Gaussian(sigma=4, sensitivity=2), q="1/3"), eps=1).steps
    (Step(mechanism='gaussian', parameters={'sigma': 2.0}, q=0.3333333333333333, k=10),)
    """
    composition = Composition.of(composition)
    if composition.free_symbols:
        raise UnboundSymbolError(composition.free_symbols, "dplab.peers")
    if (eps is None) == (delta is None):
        raise ParameterError("eps", eps, "given alone, or delta alone", "A peer is asked one question at a time.")
    asked = parse_direction(direction)
    wanted: Parameter | float = privacy_parameter(eps) if delta is None else probability(delta, "delta")
    require_numbers("dplab.peers", wanted)
    number = _nearest(wanted)
    steps = [step for pair, k in composition.reduced().parts for step in _steps(pair, k)]
    return Query(
        steps=_merged(steps),
        eps=number if delta is None else None,
        delta=None if delta is None else number,
        direction=asked,
        symmetric=composition.reduced().symmetric,
        settings=dict(settings or {}),
        composition=composition.to_json(),
    )


def _nearest(value: Parameter | float) -> float:
    """The nearest float64 (`approximate` is for range checks only)."""
    if isinstance(value, Fraction):
        return float(value)
    if isinstance(value, float):
        return value
    with mpmath.workdps(_DIGITS):
        return float(evaluate(value, MpmathTable()))


def _steps(pair: Pair, k: int) -> list[Step]:
    """What stands for k times a pair: one step, or for a product one for each of its mechanisms."""
    if type(pair).__name__ == "Product":
        return [step for one in pair.arguments["mechanisms"] for step in _steps(one, k)]
    named = _named(pair, k)
    return [_tabled(pair, k) if named is None else named]


def _named(pair: Pair, k: int) -> Step | None:
    """The step of a mechanism that has one by name."""
    kind = type(pair).__name__
    if kind == "PoissonSubsampled":
        inner = _named(pair.arguments["mechanism"], k)
        if inner is None or inner.q != 1 or inner.mechanism not in SAMPLED:
            return None
        return Step(inner.mechanism, inner.parameters, _nearest(pair.arguments["q"]), k)
    if kind not in _READERS:
        return None
    name, reader = _READERS[kind]
    parameters = reader(pair)
    if any(value is None for value in parameters.values()):
        return None
    return Step(name, parameters, 1.0, k)


def _tabled(pair: Pair, k: int) -> Step:
    """Any pair with finitely many losses, as the masses of P and Q at each loss, at infinity and at minus infinity."""
    fn = MpmathTable()
    with mpmath.workdps(_DIGITS):
        if pair.support(fn) is not None:
            raise NotModelled(f"{pair!r} has no step of its own, and its losses have a density")
        rows = [(float(atom.p), float(atom.q)) for atom in pair.atoms(fn)]
        rows += [(float(pair.mass_at_infinity(fn)), 0.0), (0.0, float(pair.mass_at_minus_infinity(fn)))]
    kept = tuple((p, q) for p, q in rows if p > 0 or q > 0)
    if len(kept) > MOST_OUTCOMES:
        raise NotModelled(f"{pair!r} has {len(kept):,} losses, more than {MOST_OUTCOMES:,} for a table")
    return Step("table", {}, 1.0, k, kept)


def _scaled(name: str) -> Callable[[Pair], dict]:
    """Noise of scale `name` over the sensitivity; None without noise."""

    def read(pair: Pair) -> dict:
        scale, sensitivity = pair.arguments[name], pair.arguments["sensitivity"]
        if approximate(scale) == 0:
            return {name: None}
        if isinstance(scale, Fraction) and isinstance(sensitivity, Fraction):
            return {name: _nearest(scale / sensitivity)}
        with mpmath.workdps(_DIGITS):
            return {name: float(evaluate(scale, MpmathTable()) / evaluate(sensitivity, MpmathTable()))}

    return read


def _plain(*names: str) -> Callable[[Pair], dict]:
    return lambda pair: {name: _nearest(pair.arguments[name]) for name in names}


def _log_odds(pair: Any) -> dict:
    with mpmath.workdps(_DIGITS):
        return {"eps": float(pair.c(MpmathTable()))}


_READERS: dict[str, tuple[str, Callable[[Pair], dict]]] = {
    "Gaussian": ("gaussian", _scaled("sigma")),
    "Laplace": ("laplace", _scaled("b")),
    "RandomizedResponse": ("randomised response", _log_odds),
    "ApproximateDP": ("approximate dp", _plain("eps", "delta")),
    "DiscreteLaplace": ("discrete laplace", _plain("b", "shift")),
    "DiscreteGaussian": ("discrete gaussian", _plain("sigma", "shift")),
}


def _merged(steps: list[Step]) -> tuple[Step, ...]:
    """Equal steps put together, in order: different exact parameters may share their nearest float."""
    counts: dict[tuple, Step] = {}
    for step in steps:
        key = (step.mechanism, tuple(step.parameters.items()), step.q, step.table)
        before = counts[key].k if key in counts else 0
        counts[key] = Step(step.mechanism, step.parameters, step.q, before + step.k, step.table)
    return tuple(counts.values())
