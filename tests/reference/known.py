"""The known values of tests/data that belong to the mechanisms of this route, as questions with answers."""

import json
from dataclasses import dataclass
from pathlib import Path

from dplab import Composition, Gaussian, Laplace, PoissonSubsampled, RandomizedResponse

DATA = Path(__file__).parents[1] / "data"

WRONG_AFTER = {("laplace", "10", 1000): 24}
"""Digits to which an entry of truth.json is right, where it is not right to all (see tests/data/README.md)."""


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


def truths() -> list[Known]:
    """The entries of truth.json whose mechanisms exist."""
    return [known for entry in _load("truth.json") if (known := _truth(entry)) is not None]


def cases() -> dict[str, dict]:
    """The cases by id."""
    return {case["id"]: case for case in _load("cases.json")}


def _load(name: str) -> list[dict]:
    return json.loads((DATA / name).read_text(encoding="utf-8"))


def _truth(entry: dict) -> Known | None:
    parts = entry.get("parts") or [entry]
    mechanisms = [_mechanism(part) for part in parts]
    if None in mechanisms:
        return None
    composition = Composition([(m, part.get("k", 1)) for m, part in zip(mechanisms, parts, strict=True)])
    direction = parts[0].get("direction", "both")
    argument = entry["eps" if entry["quantity"] == "delta" else "delta"]
    wrong = WRONG_AFTER.get((entry["mechanism"], entry.get("b", ""), entry.get("k", 1)))
    name = f"{entry['name']} {composition!r} {direction} {argument}"
    digits = wrong or entry["digits"]
    return Known(name, composition, direction, entry["quantity"], argument, entry["value"], digits)


def _mechanism(part: dict):
    kind = part["mechanism"]
    if kind == "randomized_response":
        return RandomizedResponse(part["p"]) if "p" in part else RandomizedResponse.from_eps(part["eps0"])
    if kind == "gaussian":
        return Gaussian(sigma=part["sigma"])
    if kind == "gdp":
        return Gaussian(sigma=f"1/{part['mu']}")
    if kind == "laplace":
        return Laplace(b=part["b"])
    if kind == "poisson_subsampled_gaussian":
        return PoissonSubsampled(Gaussian(sigma=part["sigma"]), q=part["q"])
    if kind == "poisson_subsampled_randomized_response":
        return PoissonSubsampled(RandomizedResponse(part["p"]), q=part["q"])
    return None
