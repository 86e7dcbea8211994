"""Laws that a user may type: text for dplab, and the textbook density or probability in mpmath beside it.

The two share no code. `cuts` are the points where the pair of a law and its shift by 1 has corners.
"""

from collections.abc import Callable
from dataclasses import dataclass

import mpmath
from mpmath import mpf

from dplab import Pair


@dataclass(frozen=True)
class Law:
    """A density f(t) as text with {t} for the variable, as an mpmath function, and where it has corners."""

    name: str
    text: str
    density: Callable
    cuts: tuple
    integers: bool = False

    def pair(self) -> Pair:
        """The law shifted by 1 over the law itself."""
        p, q = self.text.replace("{t}", "(t - 1)"), self.text.replace("{t}", "t")
        return Pair.from_text(p, q, "t", discrete=self.integers)

    def p(self, t):
        """The textbook density of P."""
        return self.density(t - 1)

    q = property(lambda self: self.density)


def normals_text(*places) -> str:
    """The mixture of normals of width 1 at these places, as text."""
    return " + ".join(f"exp(-(t - {at})**2/2)/({len(places)}*sqrt(2*pi))" for at in places)


def normals_density(*places) -> Callable:
    """The same as a function."""
    return lambda t: mpmath.fsum(mpmath.npdf(t, at) for at in places) / len(places)


MIXTURES = Pair.from_text(normals_text(0, 3), normals_text(1, 4))
GEOMETRICS = Pair.from_text("2/5*(3/5)**t", "1/2**(t + 1)", "t", (0, "inf"), discrete=True)
POISSONS = Pair.from_text(
    "piecewise((exp(-3)*3**t/factorial(t), t >= 0), (0, True))",
    "piecewise((exp(-4)*4**t/factorial(t), t >= 0), (0, True))", "t", discrete=True,
)  # fmt: skip


def _normal(t, sd=1):
    return mpmath.exp(-(t**2) / (2 * mpf(sd) ** 2)) / (sd * mpmath.sqrt(2 * mpmath.pi))


def _staircase(t):
    k = mpmath.floor(abs(t))
    height = (1 - mpmath.exp(-1)) / (2 * (mpf("0.6") + mpf("0.4") * mpmath.exp(-1)))
    return height * mpmath.exp(-k) * (1 if abs(t) - k < mpf("0.6") else mpmath.exp(-1))


def _skellam(t):
    return mpmath.exp(-4) * mpmath.besseli(abs(int(t)), 4)


FAR = tuple(map(mpf, (-400, -60, -25, -10, -4, -2, -1, 0, 1, 2, 3, 5, 11, 26, 61, 401)))
TURNS = tuple(sorted((*FAR, mpf("-4.18"), mpf("5.18"))))
"""Corners of nothing, but the mixture's loss turns near the two points added."""

UNITS = tuple(map(mpf, range(-4, 6)))
with mpmath.workdps(40):
    STEPS = tuple(mpf(n) + mpf(part) for n in range(-50, 51) for part in (0, "0.4", "0.6"))

CONTINUOUS = [
    Law("uniform", "piecewise((1/3, abs({t}) < 3/2), (0, True))",
        lambda t: mpf(1) / 3 if abs(t) < 1.5 else mpf(0), tuple(map(mpf, (-5, "-1.5", "-0.5", "1.5", "2.5", 5)))),
    Law("logistic", "exp(-{t})/(1 + exp(-{t}))**2", lambda t: mpmath.sech(t / 2) ** 2 / 4, FAR),
    Law("Cauchy", "1/(pi*(1 + {t}**2))", lambda t: 1 / (mpmath.pi * (1 + t**2)), (-mpmath.inf, *FAR, mpmath.inf)),
    Law("staircase",
        "(1 - exp(-1))/(2*(3/5 + 2*exp(-1)/5))*exp(-floor(abs({t})))"
        "*piecewise((1, abs({t}) - floor(abs({t})) < 3/5), (exp(-1), True))", _staircase, STEPS),
    Law("triangular", "max(0, 2 - abs({t}))/4", lambda t: max(mpf(0), 2 - abs(t)) / 4, UNITS),
    Law("truncated Laplace", "piecewise((exp(-abs({t}))/(2*(1 - exp(-3))), abs({t}) <= 3), (0, True))",
        lambda t: mpmath.exp(-abs(t)) / 2 / (1 - mpmath.exp(-3)) if abs(t) <= 3 else mpf(0), UNITS),
    Law("truncated Gaussian", "piecewise((exp(-{t}**2/2)/(sqrt(2*pi)*erf(2/sqrt(2))), abs({t}) <= 2), (0, True))",
        lambda t: _normal(t) / mpmath.erf(mpmath.sqrt(2)) if abs(t) <= 2 else mpf(0), UNITS),
    Law("hyperbolic secant", "1/(2*cosh(pi*{t}/2))", lambda t: mpmath.sech(mpmath.pi * t / 2) / 2, FAR),
    Law("Gaussian mixture", "9*exp(-{t}**2/2)/(10*sqrt(2*pi)) + exp(-{t}**2/50)/(50*sqrt(2*pi))",
        lambda t: mpf("0.9") * _normal(t) + mpf("0.1") * _normal(t, 5), TURNS),
]  # fmt: skip

DISCRETE = [
    Law("geometric", "piecewise(((1/3)*(2/3)**{t}, {t} >= 0), (0, True))",
        lambda t: (mpf(1) / 3) * (mpf(2) / 3) ** t if t >= 0 else mpf(0), tuple(range(-2, 420)), True),
    Law("Poisson", "piecewise((exp(-3)*3**{t}/factorial({t}), {t} >= 0), (0, True))",
        lambda t: mpmath.exp(-3) * mpf(3) ** t / mpmath.factorial(t) if t >= 0 else mpf(0), tuple(range(-2, 90)), True),
    Law("Skellam", "exp(-4)*besseli(abs({t}), 4)", _skellam, tuple(range(-60, 61)), True),
]  # fmt: skip

LAWS = [*CONTINUOUS, *DISCRETE]
