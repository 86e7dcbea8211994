"""The known values of tests/data/truth.json as questions with answers."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from dplab import (
    ApproximateDP,
    Binomial,
    Composition,
    DiscreteGaussian,
    DiscreteLaplace,
    ExponentialCounting,
    Gaussian,
    Laplace,
    Pair,
    PoissonSubsampled,
    Product,
    RandomizedResponse,
)

DATA = Path(__file__).parents[1] / "data"

WRONG_AFTER = {("laplace", "10", 1000): 24}
"""Digits to which an entry of truth.json is right, where it is not right to all (see tests/data/README.md)."""

DIRECTIONS = {"X/Y": "forward", "Y/X": "backward", "X=Bin(n,p), Y=D+Bin(n,p)": "forward"}
"""How the file writes a direction, where it does not use our words."""


def _randomized_response(part: dict):
    return RandomizedResponse(part["p"]) if "p" in part else RandomizedResponse.from_eps(part["eps0"])


def _binomial(part: dict):
    return Binomial(part["n"], part["p"], part["shift"])


MECHANISMS: dict[str, Callable[[dict], Pair]] = {
    "randomized_response": _randomized_response,
    "gaussian": lambda part: Gaussian(part["sigma"]),
    "gdp": lambda part: Gaussian(sigma=f"1/{part['mu']}"),
    "laplace": lambda part: Laplace(part["b"]),
    "poisson_subsampled_gaussian": lambda part: PoissonSubsampled(Gaussian(part["sigma"]), part["q"]),
    "poisson_subsampled_randomized_response": lambda part: PoissonSubsampled(_randomized_response(part), part["q"]),
    "exponential_counting": lambda part: ExponentialCounting(part["eps_em"], part["m"], part["n"]),
    "discrete_laplace": lambda part: DiscreteLaplace(part["b"], part["shift"]),
    "discrete_gaussian": lambda part: DiscreteGaussian(part["sigma"], part["shift"]),
    "binomial": _binomial,
    "approximate_dp": lambda part: ApproximateDP(part["eps0"], part["delta0"]),
    "poisson_subsampled_binomial_dd": lambda part: PoissonSubsampled(
        Product(*[_binomial(part)] * part["d"]), part["q"]
    ),
}


@dataclass(frozen=True)
class Known:
    """delta(eps) or eps(delta) of a composition, to some digits."""

    name: str
    composition: Composition
    direction: str
    quantity: str
    argument: str
    value: str
    digits: int


def entries() -> list[dict]:
    """The file as it is."""
    return json.loads((DATA / "truth.json").read_text(encoding="utf-8"))


def truths() -> list[Known]:
    """Every entry as a question."""
    return [read(entry) for entry in entries()]


def read(entry: dict) -> Known:
    """An entry as a question."""
    parts = entry.get("parts") or [entry]
    composition = Composition([(MECHANISMS[part["mechanism"]](part), part.get("k", 1)) for part in parts])
    given = parts[0].get("direction", "both")
    direction = DIRECTIONS.get(given, given)
    argument = entry["eps" if entry["quantity"] == "delta" else "delta"]
    wrong = WRONG_AFTER.get((entry["mechanism"], entry.get("b", ""), entry.get("k", 1)))
    name = f"{entry['name']} {composition!r} {direction} {argument}"
    digits = wrong or entry["digits"]
    return Known(name, composition, direction, entry["quantity"], argument, entry["value"], digits)
