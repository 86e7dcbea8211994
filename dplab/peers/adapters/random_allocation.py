"""random-allocation: of its sampling schemes, the Poisson one (dp-accounting's PLD); upper bounds."""

from typing import Any, ClassVar

from ..protocol import Adapter, Claim, NotModelled, Query, upper


class RandomAllocation(Adapter):
    """Upper bounds in each direction; the setting is `interval`, the grid step."""

    name = "random-allocation"
    environment = "older"
    about = "Poisson scheme on dp-accounting's PLD; upper"
    directions = ("forward", "backward", "both")
    mixes = False
    variants: ClassVar = {"default": {}, "interval 1e-3": {"interval": 1e-3}}

    def check_further(self, query: Query) -> None:
        """It refuses eps <= 0 and delta outside (0, 1)."""
        if query.eps is not None and query.eps <= 0:
            raise NotModelled("it needs eps > 0")
        if query.delta is not None and not 0 < query.delta < 1:
            raise NotModelled("it needs a delta between 0 and 1")

    def load(self) -> Any:
        """The Poisson scheme and its parameters' types."""
        from random_allocation.comparisons import structs
        from random_allocation.other_schemes import poisson

        return poisson, structs

    def claims(self, peer: Any, query: Query) -> list[Claim]:
        """An upper bound."""
        poisson, structs = peer
        (step,) = query.steps
        parameters = structs.PrivacyParams(sigma=step["sigma"], num_steps=step.k, epsilon=query.eps, delta=query.delta)
        config = structs.SchemeConfig(discretization=query.settings.get("interval", 1e-4))
        names = {"forward": "remove", "backward": "add", "both": "both"}
        direction = structs.Direction(names[query.direction])
        ask = poisson.Poisson_delta_PLD if query.delta is None else poisson.Poisson_epsilon_PLD
        return [upper(ask(parameters, config, step.q, direction), query.direction, ask.__name__)]


ADAPTER = RandomAllocation()
