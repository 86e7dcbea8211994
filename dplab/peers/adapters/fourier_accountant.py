"""fourier-accountant: the PLD's density sampled on [-L, L], composed by FFT; a value without bounds."""

from typing import Any, ClassVar

from ..protocol import Adapter, Claim, NotModelled, Query


class FourierAccountant(Adapter):
    """Subsampled Gaussians, "remove"; settings `n` (grid points) and `L` (half the window)."""

    name = "fourier-accountant"
    environment = "older"
    about = "Fourier accountant; value without bounds, forward only"
    directions = ("forward",)
    variants: ClassVar = {"default": {}, "n=5e6 L=50": {"n": 5_000_000, "L": 50.0}}

    def check_further(self, query: Query) -> None:
        """eps must be positive, and its density has no limit at q = 1."""
        if query.eps is not None and query.eps <= 0:
            raise NotModelled("it needs eps > 0")
        if any(step.q == 1 for step in query.steps):
            raise NotModelled("it needs a sampling rate below 1")

    def load(self) -> Any:
        """The package, and numpy for its arrays."""
        import fourier_accountant
        import numpy

        return fourier_accountant, numpy

    def claims(self, peer: Any, query: Query) -> list[Claim]:
        """A value."""
        fourier, numpy = peer
        sigmas = numpy.array([step["sigma"] for step in query.steps])
        rates = numpy.array([step.q for step in query.steps])
        counts = numpy.array([step.k for step in query.steps])
        grid = {"nx": query.settings.get("n", 1_000_000), "L": query.settings.get("L", 20.0)}
        if query.delta is None:
            found, source = fourier.get_delta_R(query.eps, sigmas, rates, counts, **grid), "get_delta_R"
        else:
            found, source = fourier.get_epsilon_R(query.delta, sigmas, rates, counts, **grid), "get_epsilon_R"
        return [Claim("value", self.answered(query), value=float(found), source=source)]


ADAPTER = FourierAccountant()
