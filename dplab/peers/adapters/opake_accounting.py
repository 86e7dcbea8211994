"""opake-accounting: PLDs in Rust, connected dot by dot on a grid; both directions."""

from typing import Any, ClassVar

from ..protocol import Adapter, Claim, Query, Step, composed, upper


class Opake(Adapter):
    """Upper bounds; the setting is `interval`, the grid step. Its Python part needs Python 3.13."""

    name = "opake-accounting"
    environment = "3.13"
    about = "PLD in Rust; upper"
    mechanisms = ("gaussian", "randomised response", "approximate dp")
    variants: ClassVar = {
        "default": {},
        "interval 1e-3": {"interval": 1e-3},
        "interval 1e-5": {"interval": 1e-5},
    }

    def load(self) -> Any:
        """The compiled module."""
        from opake.api.accounting.core import opake_accounting

        return opake_accounting

    def claims(self, peer: Any, query: Query) -> list[Claim]:
        """An upper bound."""
        config = peer.DiscretizationConfig(discretization=query.settings.get("interval", 1e-4))
        total = composed(query.steps, lambda step: _one(peer, step, config))
        if query.delta is None:
            return [upper(total.delta_at(query.eps), query.direction, "Pld.delta_at")]
        return [upper(total.epsilon_at(query.delta), query.direction, "Pld.epsilon_at")]


def _one(peer: Any, step: Step, config: Any) -> Any:
    if step.mechanism != "gaussian":
        return peer.eps_delta_pld(step["eps"], step.parameters.get("delta", 0.0), config)
    base = peer.gaussian_pld(step["sigma"], config)
    return base if step.q == 1 else peer.poisson_pld(base, step.q)


ADAPTER = Opake()
