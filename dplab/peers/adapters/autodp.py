"""autodp: Rényi divergences of a zoo of mechanisms; an upper bound of eps."""

from math import exp
from typing import Any

from ..protocol import Adapter, Claim, Query, Step, upper


class AutoDp(Adapter):
    """Upper bounds of eps by Rényi divergences (its characteristic-function part fails on current SciPy)."""

    name = "autodp"
    environment = "older"
    about = "RDP; upper, eps only"
    mechanisms = ("gaussian", "laplace", "randomised response")
    quantities = ("eps",)

    def load(self) -> Any:
        """Its mechanisms and what it makes of them."""
        from autodp import mechanism_zoo, transformer_zoo

        return mechanism_zoo, transformer_zoo

    def claims(self, peer: Any, query: Query) -> list[Claim]:
        """An upper bound."""
        _, transformers = peer
        parts = [_one(peer, step) for step in query.steps]
        composed = transformers.Composition()(parts, [step.k for step in query.steps])
        return [upper(composed.get_approxDP(query.delta), query.direction, "Composition.get_approxDP")]


def _one(peer: Any, step: Step) -> Any:
    zoo, transformers = peer
    if step.mechanism == "laplace":
        return zoo.LaplaceMechanism(b=step["b"])
    if step.mechanism == "randomised response":
        return zoo.RandresponseMechanism(p=1 / (1 + exp(-step["eps"])))
    base = zoo.GaussianMechanism(sigma=step["sigma"])
    if step.q == 1:
        return base
    return transformers.AmplificationBySampling(PoissonSampling=True)(base, step.q, improved_bound_flag=True)


ADAPTER = AutoDp()
