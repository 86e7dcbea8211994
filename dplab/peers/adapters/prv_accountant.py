"""prv-accountant: privacy random variables truncated, rounded to a grid and composed by FFT; two-sided."""

from typing import Any, ClassVar

from ..protocol import Adapter, Claim, Query, Step


class PrvAccountant(Adapter):
    """Two-sided bounds; of the two directions of sampling, "remove" alone.

    The settings are `eps_error` and `delta_error`, the widths it is asked to keep; a `delta_error` left out is a
    thousandth of the delta asked for.
    """

    name = "prv-accountant"
    about = "PRV accountant; two-sided, forward only for sampling"
    mechanisms = ("gaussian", "laplace", "randomised response", "approximate dp")
    directions = ("forward",)
    variants: ClassVar = {
        "eps_error 0.1": {"eps_error": 0.1},
        "eps_error 0.01": {"eps_error": 0.01},
        "eps_error 1e-3": {"eps_error": 1e-3},
    }

    def load(self) -> Any:
        """The package."""
        import prv_accountant
        import prv_accountant.privacy_random_variables

        return prv_accountant

    def claims(self, peer: Any, query: Query) -> list[Claim]:
        """A bracket."""
        wanted = query.delta if query.delta is not None else 1e-6
        accountant = peer.PRVAccountant(
            prvs=[_variable(peer, step) for step in query.steps],
            max_self_compositions=[step.k for step in query.steps],
            eps_error=query.settings.get("eps_error", 0.1),
            delta_error=query.settings.get("delta_error", wanted / 1000),
        )
        counts = [step.k for step in query.steps]
        if query.delta is None:
            low, _, high = accountant.compute_delta(query.eps, counts)
        else:
            low, _, high = accountant.compute_epsilon(query.delta, counts)
        return [Claim("bracket", self.answered(query), float(low), float(high), source="PRVAccountant")]


def _variable(peer: Any, step: Step) -> Any:
    if step.mechanism == "laplace":
        return peer.LaplaceMechanism(mu=1 / step["b"])
    if step.mechanism == "randomised response":
        return peer.PureDPMechanism(step["eps"])
    if step.mechanism == "approximate dp":
        return peer.ApproximateDPMechanism(step["eps"], step["delta"])
    if step.q == 1:
        return peer.GaussianMechanism(step["sigma"])
    return peer.PoissonSubsampledGaussianMechanism(sampling_probability=step.q, noise_multiplier=step["sigma"])


ADAPTER = PrvAccountant()
