"""The questions that the bench asks: a composition, what is asked of it, and the route that answers."""

from dataclasses import dataclass

from ..core.composition import Composition
from ..core.results import Bracket, Reference
from ..mechanisms import Gaussian, Laplace, PoissonSubsampled, RandomizedResponse


@dataclass(frozen=True)
class Question:
    """One row of the bench: delta at `eps`, or eps at `delta`, by `route` ("fourier" or "reference")."""

    name: str
    composition: Composition
    eps: str | None = None
    delta: str | None = None
    route: str = "fourier"
    accuracy: float | None = None

    def ask(self) -> Bracket | Reference:
        """The route's answer."""
        if self.route == "reference":
            from .. import reference

            return reference.delta(self.composition, self.eps, digits=40)
        from .. import fourier

        if self.delta is not None:
            return fourier.epsilon(self.composition, self.delta, atol=self.accuracy or 1e-4)
        return fourier.delta(self.composition, self.eps, rtol=self.accuracy or 1e-3)


def _sampled(sigma, q) -> PoissonSubsampled:
    return PoissonSubsampled(Gaussian(sigma), q)


def _training_runs() -> Composition:
    """Twenty subsampled Gaussians, 500 steps each: sigma from 0.7 to 4, q from 0.001 to 0.05, evenly spaced."""
    total = Composition()
    for i in range(20):
        total = total + 500 * _sampled(0.7 + i * (4 - 0.7) / 19, 0.001 + i * (0.05 - 0.001) / 19)
    return total


def questions() -> list[Question]:
    """All rows, in the order in which they are printed."""
    case = 10_000 * _sampled(4, "0.01")
    return [
        Question("sigma=4 q=0.01 k=10^4 eps=1, 40 digits", case, eps="1", route="reference"),
        Question("sigma=4 q=0.01 k=10^4 eps=1", case, eps="1"),
        Question("the same to 1e-5", case, eps="1", accuracy=1e-5),
        Question("sigma=1 q=0.01 k=1000 eps=2", 1000 * _sampled(1, "0.01"), eps="2"),
        Question("sigma=10 q=0.001 k=10^6 eps=0.5", 10**6 * _sampled(10, "0.001"), eps="0.5"),
        Question("Laplace b=10 k=1000 eps=12", 1000 * Laplace(10), eps="12"),
        Question("sigma=1 q=0.01 k=1000 delta=1e-5", 1000 * _sampled(1, "0.01"), delta="1e-5", accuracy=2e-5),
        Question("sigma=0.8 q=0.004 k=10^4 delta=1e-6", 10_000 * _sampled("0.8", "0.004"), delta="1e-6"),
        Question("Laplace b=10 k=1000 delta=1e-6", 1000 * Laplace(10), delta="1e-6"),
        Question("randomised response 0.1 k=1000 delta=1e-6", 1000 * RandomizedResponse.from_eps("0.1"), delta="1e-6"),
        Question("20 subsampled Gaussians x 500, delta=1e-5", _training_runs(), delta="1e-5"),
        Question("sigma=10 q=0.001 k=10^6 delta=1e-9", 10**6 * _sampled(10, "0.001"), delta="1e-9"),
        Question("Gaussian sigma=50 k=5000 eps=45", 5000 * Gaussian(50), eps="45"),
    ]
