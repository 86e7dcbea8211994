"""dp-accelerator: Rényi divergences of the subsampled Gaussian in Rust; an upper bound of eps."""

from typing import Any

from ..protocol import Adapter, Claim, Query, upper


class DpAccelerator(Adapter):
    """Upper bounds of eps at the orders that its accountant uses; its divergences cannot be had to add them up."""

    name = "dp-accelerator"
    about = "RDP in Rust; upper, eps only"
    quantities = ("eps",)
    mixes = False

    def load(self) -> Any:
        """Its function and its accountant's orders."""
        from dp_accelerator import DPSGDAccountant, compute_epsilon_batch

        return compute_epsilon_batch, DPSGDAccountant(1.0, 1, 2).orders

    def claims(self, peer: Any, query: Query) -> list[Claim]:
        """An upper bound."""
        compute_epsilon_batch, orders = peer
        (step,) = query.steps
        (found,) = compute_epsilon_batch(step.q, step["sigma"], [step.k], orders, query.delta)
        return [upper(found, query.direction, "compute_epsilon_batch")]


ADAPTER = DpAccelerator()
