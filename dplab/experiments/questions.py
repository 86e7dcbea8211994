"""The questions that the bench asks: a composition, what is asked of it, the answer, and what dplab must give.

Rows W1 to W8 are the standard questions; they take the FFT path from the one-step PLD, in the default direction
"both". Truths are to 25 digits, by `dplab.reference` (`tests/experiments/test_questions.py` computes them again and
compares them with values from elsewhere).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

from ..core.composition import Composition
from ..mechanisms import Gaussian, Laplace, PoissonSubsampled, RandomizedResponse


@dataclass(frozen=True)
class Goal:
    """What dplab must give at one accuracy: `accuracy` is asked for, `width` must not be exceeded (eps: absolute;
    delta: relative), nor `seconds` and `mb` (peak memory of the process)."""

    accuracy: float
    width: float
    seconds: float | None = None
    mb: float | None = None


@dataclass(frozen=True)
class Question:
    """One row: delta at `eps`, or eps at `delta`; `known` is the truth as decimal text, empty for W4's closed form.

    Several eps are one call of `curve`, with a truth for each; peers are asked about single points only.
    """

    name: str
    title: str
    composition: Composition
    known: tuple[str, ...]
    goals: tuple[Goal, ...]
    eps: tuple[str, ...] = ()
    delta: str | None = None

    @property
    def truth(self) -> tuple[str, ...]:
        """The truths as decimal text, one for each eps; the closed form is worked out when asked for."""
        return self.known or gaussian_truths(self.eps)

    @property
    def quantity(self) -> str:
        """ "delta" or "eps": what is asked for."""
        return "eps" if self.delta is not None else "delta"

    def ask(self, accuracy: float) -> list[Any]:
        """dplab's brackets, one for each truth."""
        from .. import fourier

        if self.delta is not None:
            return [fourier.epsilon(self.composition, self.delta, atol=accuracy)]
        if len(self.eps) > 1:
            return list(fourier.curve(self.composition, self.eps, rtol=accuracy))
        return [fourier.delta(self.composition, self.eps[0], rtol=accuracy)]

    def peer_arguments(self) -> dict[str, str]:
        """The question to a peer: its eps or its delta."""
        return {"delta": self.delta} if self.delta is not None else {"eps": self.eps[0]}

    def error(self, value: float, index: int = 0) -> float:
        """value - truth; for delta divided by the truth."""
        truth = Fraction(self.truth[index])
        try:
            away = Fraction(value) - truth
        except (OverflowError, ValueError):  # inf, nan
            return value
        return float(away / truth if self.quantity == "delta" else away)


def sampled(sigma, q) -> PoissonSubsampled:
    """The subsampled Gaussian."""
    return PoissonSubsampled(Gaussian(sigma), q)


def training_runs(count: int = 20, steps: int = 500) -> Composition:
    """Subsampled Gaussians, `steps` each: sigma from 0.7 to 4, q from 0.001 to 0.05, evenly spaced."""
    parts = []
    for i in range(count):
        gaps = max(count - 1, 1)
        parts.append((sampled(0.7 + i * (4 - 0.7) / gaps, 0.001 + i * (0.05 - 0.001) / gaps), steps))
    return Composition(parts)


def questions() -> list[Question]:
    """All rows, in the order in which they are printed."""
    million = 10**6 * sampled(10, "0.001")
    return [
        Question(
            "W1",
            "eps at 1e-5; sigma=1, q=0.01, k=1000",
            1000 * sampled(1, "0.01"),
            ("1.828236666516576842614438",),
            (Goal(2e-5, 2e-5, 0.10),),
            delta="1e-5",
        ),
        Question(
            "W2",
            "eps at 1e-6; sigma=0.8, q=0.004, k=10^4",
            10_000 * sampled("0.8", "0.004"),
            ("4.028436037608012443867213",),
            (Goal(1e-4, 1e-4, 0.15),),
            delta="1e-6",
        ),
        Question(
            "W3",
            "delta at eps=1; sigma=4, q=0.01, k=10^4",
            10_000 * sampled(4, "0.01"),
            ("4.243484252482163151041153e-6",),
            (Goal(1e-3, 1e-3, 0.05), Goal(1e-5, 1e-5, 0.5)),
            eps=("1",),
        ),
        *_plain_gaussians(),
        Question(
            "W5",
            "eps at 1e-6; Laplace b=10, k=1000",
            1000 * Laplace(10),
            ("18.95028736753955819814755",),
            (Goal(1e-4, 1e-4, 0.10),),
            delta="1e-6",
        ),
        Question(
            "W6",
            "eps at 1e-6; randomised response eps0=0.1, k=1000",
            1000 * RandomizedResponse.from_eps("0.1"),
            ("19.34467144799304367251909",),
            (Goal(1e-9, 1e-9, 0.05),),
            delta="1e-6",
        ),
        Question(
            "W7",
            "eps at 1e-5; 20 subsampled Gaussians (sigma 0.7 to 4, q 0.001 to 0.05), 500 steps each",
            training_runs(),
            ("4.789125799623431650024586",),
            (Goal(1e-4, 1e-4, 0.8),),
            delta="1e-5",
        ),
        Question(
            "W8",
            "eps at 1e-9; sigma=10, q=0.001, k=10^6",
            million,
            ("0.5366912660720273485191797",),
            (Goal(1e-4, 1e-4, 0.5, 500.0),),
            delta="1e-9",
        ),
    ]


def _plain_gaussians() -> Iterator[Question]:
    """W4: 5000 Gaussians, sigma=50, deltas from 0.29 to 3.5e-214; a closed form is known and not used."""
    composition = 5000 * Gaussian(50)
    whole = tuple(str(eps) for eps in range(1, 46))
    title = "Gaussian sigma=50, k=5000"
    yield Question("W4", f"delta at eps=1..45, one curve; {title}", composition, (), (Goal(1e-3, 1e-3),), eps=whole)
    for eps in ("8", "11", "12", "20", "45"):
        yield Question(
            f"W4 eps={eps}",
            f"delta at eps={eps}; {title}",
            composition,
            (),
            (Goal(1e-3, 1e-3),),
            eps=(eps,),
        )


@cache
def gaussian_truths(epss: tuple[str, ...]) -> tuple[str, ...]:
    """W4's closed form, Phi(-eps/mu + mu/2) - e^eps Phi(-eps/mu - mu/2) with mu = sqrt(5000)/50, to 25 digits."""
    import mpmath

    with mpmath.workdps(60):  # the two terms differ by a factor of about eps, so they cancel little
        mu = mpmath.sqrt(5000) / 50
        values = []
        for text in epss:
            eps = mpmath.mpf(text)
            delta = mpmath.ncdf(-eps / mu + mu / 2) - mpmath.exp(eps) * mpmath.ncdf(-eps / mu - mu / 2)
            values.append(mpmath.nstr(delta, 25))
        return tuple(values)
