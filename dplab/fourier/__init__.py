"""The fast route: numpy FFT with strict two-sided bounds; every number is a `Bracket`.

Each call takes the grid by name (`GRIDS`): "split-merge" (the default, second order), "round", "minmax", or "point",
which bounds nothing and answers with an `Approximation`.

`algorithm_1` and `grid_masses` are the lecture version in plain float64; `algorithm_1_bracket` is the same with every
error bounded, from the pieces that a lecture on error analysis shows: `alphas`, `theorem_10`, `one_sided`.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from .choices import GRIDS
from .costs import Cost
from .route import cost, curve, delta, epsilon, log_delta

if TYPE_CHECKING:
    from .bounded_lecture import algorithm_1_bracket, algorithm_1_with_error, compose, outward_masses
    from .chernoff import Alphas, after_rounding, alphas, alphas_of
    from .lecture import algorithm_1, grid_masses, rounded_masses
    from .wrapping import OneSided, Theorem10, best_one_sided, best_theorem_10, one_sided, theorem_10

_LECTURES = {
    **dict.fromkeys(("algorithm_1_bracket", "algorithm_1_with_error", "compose", "outward_masses"), "bounded_lecture"),
    **dict.fromkeys(("Alphas", "after_rounding", "alphas", "alphas_of"), "chernoff"),
    **dict.fromkeys(("algorithm_1", "grid_masses", "rounded_masses"), "lecture"),
    **dict.fromkeys(
        ("OneSided", "Theorem10", "best_one_sided", "best_theorem_10", "one_sided", "theorem_10"), "wrapping"
    ),
}
"""Where the lecture functions are: imported when first used, since the accountant does without them."""

__all__ = [
    "GRIDS",
    "Alphas",
    "Cost",
    "OneSided",
    "Theorem10",
    "after_rounding",
    "algorithm_1",
    "algorithm_1_bracket",
    "algorithm_1_with_error",
    "alphas",
    "alphas_of",
    "best_one_sided",
    "best_theorem_10",
    "compose",
    "cost",
    "curve",
    "delta",
    "epsilon",
    "grid_masses",
    "log_delta",
    "one_sided",
    "outward_masses",
    "rounded_masses",
    "theorem_10",
]


def __getattr__(name: str):
    if name not in _LECTURES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_LECTURES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LECTURES})
