"""dp-accounting: PLDs rounded or connected dot by dot on a grid through 0, composed by FFT; both directions, max."""

from math import exp, log
from typing import Any, ClassVar

from ..protocol import Adapter, Claim, Query, Step, composed, upper


class DpAccounting(Adapter):
    """Upper bounds by connecting the dots, lower bounds by rounding.

    The settings are `interval` (the grid step) and `sides`: ("upper",) or ("upper", "lower").
    """

    name = "dp-accounting"
    about = "PLD by connect-the-dots; upper, and lower by rounding"
    mechanisms = (
        "gaussian",
        "laplace",
        "randomised response",
        "approximate dp",
        "discrete laplace",
        "discrete gaussian",
        "table",
    )
    sampled = ("gaussian", "laplace", "discrete laplace", "discrete gaussian")
    variants: ClassVar = {
        "default": {},
        "interval 1e-3": {"interval": 1e-3},
        "interval 1e-5": {"interval": 1e-5},
        "two-sided": {"sides": ["upper", "lower"]},
    }

    def load(self) -> Any:
        """The modules of PLDs and of their parameters' type."""
        from dp_accounting.pld import common, privacy_loss_distribution

        return privacy_loss_distribution, common

    def claims(self, peer: Any, query: Query) -> list[Claim]:
        """One claim a side."""
        sides = {side: self._ask(peer, query, side == "upper") for side in query.settings.get("sides", ["upper"])}
        source = "privacy_loss_distribution"
        if len(sides) == 2:
            return [Claim("bracket", query.direction, sides["lower"], sides["upper"], source=source)]
        if "lower" in sides:
            return [Claim("lower", query.direction, lower=sides["lower"], source=source)]
        return [upper(sides["upper"], query.direction, source)]

    def _ask(self, peer: Any, query: Query, pessimistic: bool) -> float:
        settings = {
            "pessimistic_estimate": pessimistic,
            "value_discretization_interval": query.settings.get("interval", 1e-4),
        }
        total = composed(query.steps, lambda step: _one(peer, step, settings))
        if query.delta is None:
            return float(total.get_delta_for_epsilon(query.eps))
        return float(total.get_epsilon_for_delta(query.delta))


def _one(peer: Any, step: Step, settings: dict) -> Any:
    """The PLD of one release."""
    pld, common = peer
    sampled = {"sampling_prob": step.q, **settings}
    if step.mechanism == "gaussian":
        return pld.from_gaussian_mechanism(step["sigma"], **sampled)
    if step.mechanism == "laplace":
        return pld.from_laplace_mechanism(step["b"], **sampled)
    if step.mechanism == "discrete laplace":
        return pld.from_discrete_laplace_mechanism(1 / step["b"], sensitivity=int(step["shift"]), **sampled)
    if step.mechanism == "discrete gaussian":
        return pld.from_discrete_gaussian_mechanism(step["sigma"], sensitivity=int(step["shift"]), **sampled)
    if step.mechanism == "randomised response":
        # With probability p the answer is drawn afresh from both, so it is wrong with probability p/2.
        return pld.from_randomized_response(2 / (1 + exp(step["eps"])), 2, **settings)
    if step.mechanism == "table":
        upper, lower = ({i: log(row[side]) for i, row in enumerate(step.table) if row[side] > 0} for side in (0, 1))
        return pld.from_two_probability_mass_functions(lower, upper, symmetric=False, **settings)
    parameters = common.DifferentialPrivacyParameters(step["eps"], step["delta"])
    interval = settings["value_discretization_interval"]
    return pld.from_privacy_parameters(parameters, value_discretization_interval=interval)


ADAPTER = DpAccounting()
