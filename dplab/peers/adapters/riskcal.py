"""riskcal: trade-off curves on top of dp-accounting's PLDs; upper bounds, both directions."""

from typing import Any, ClassVar

from ..protocol import Adapter, Claim, Query, upper


class RiskCal(Adapter):
    """Upper bounds; the setting is `interval`, the grid step."""

    name = "riskcal"
    about = "dp-accounting's PLD; upper"
    variants: ClassVar = {"default": {}, "interval 1e-3": {"interval": 1e-3}}

    def load(self) -> Any:
        """Its accountant."""
        from riskcal.accountants import CTDAccountant

        return CTDAccountant

    def claims(self, peer: Any, query: Query) -> list[Claim]:
        """An upper bound."""
        accountant = peer()
        accountant.history = [(step["sigma"], step.q, step.k) for step in query.steps]
        pld = accountant.get_pld(grid_step=query.settings.get("interval", 1e-4))
        if query.delta is None:
            return [upper(pld.get_delta_for_epsilon(query.eps), query.direction, "CTDAccountant.get_pld")]
        return [upper(pld.get_epsilon_for_delta(query.delta), query.direction, "CTDAccountant.get_pld")]


ADAPTER = RiskCal()
