"""Random pairs of densities as text: what nobody would think of writing down, but anybody could.

Laws on the line, the half line and the unit interval, with rational scales and shifts, mixtures of two, and a law
against itself shifted. The same seed gives the same pair everywhere.
"""

import re
from collections.abc import Callable
from random import Random
from typing import NamedTuple

LINE = (
    "exp(-x**2/2)/sqrt(2*pi)",
    "exp(-abs(x))/2",
    "exp(-x)/(1 + exp(-x))**2",
    "1/(pi*(1 + x**2))",
    "2/(pi*(exp(x) + exp(-x)))",
    "exp(-x - exp(-x))",
    "2/(pi*sqrt(3)*(1 + x**2/3)**2)",
    "max(0, 1 - abs(x))",
    "x**2*exp(-x**2/2)/sqrt(2*pi)",
    "(1 + abs(x))*exp(-abs(x))/4",
    "3/4*max(0, 1 - x**2)",
    "piecewise((1/2, abs(x) < 1), (0, True))",
    "piecewise((exp(-x)/2, x > 0), (exp(2*x), True))",
)
HALF_LINE = (
    "exp(-x)",
    "x*exp(-x)",
    "2*x*exp(-x**2)",
    "sqrt(2/pi)*exp(-x**2/2)",
    "exp(-log(x)**2/2)/(x*sqrt(2*pi))",
    "x**2*exp(-x)/2",
    "2/(1 + x)**3",
    "exp(-sqrt(x))/(2*sqrt(x))",
    "2*exp(-x)/(1 + exp(-x))**2",
)
UNIT = (
    "1",
    "{n1}*t**{n}",
    "{n1}*(1 - t)**{n}",
    "6*t*(1 - t)",
    "1/(log(2)*(1 + t))",
    "-log(t)",
    "{n}*exp(-{n}*t)/(1 - exp(-{n}))",
    "(1 + {n}*t)/(1 + {n}/2)",
    "3/2*sqrt(t)",
    "1/(pi*sqrt(t*(1 - t)))",
    "piecewise((1/2, t < 1/2), (3/2, True))",
)
SHIFTS, WEIGHTS = ("0", "0", "1", "(-1/2)", "(1/3)", "2", "(3/10)"), ("1/2", "1/4", "9/10", "1/100")
MIXTURES = 0.3


class RandomPair(NamedTuple):
    """The arguments of Pair.from_text."""

    p: str
    q: str
    support: tuple | None


def random_pair(seed: int) -> RandomPair:
    """The pair of this seed; P and Q differ."""
    random = Random(f"pair {seed}")
    while True:
        found = _pair(random)
        if found.p != found.q:
            return found


def _pair(random: Random) -> RandomPair:
    kind = random.random()
    if kind < 0.2:
        law, (scale, at) = random.choice(LINE), (_scale(random), random.choice(SHIFTS))
        other = f"({at} + {random.choice(('1', '1/2', '1/7', '3'))})"
        return RandomPair(_moved(law, scale, at), _moved(law, scale, other), None)
    if kind < 0.6:
        return RandomPair(_mixed(random, _on_line), _mixed(random, _on_line), None)
    if kind < 0.8:
        return RandomPair(_mixed(random, _on_half_line), _mixed(random, _on_half_line), (0, "oo"))
    return RandomPair(_mixed(random, _on_unit), _mixed(random, _on_unit), (0, 1))


def _mixed(random: Random, law: Callable[[Random], str]) -> str:
    if random.random() >= MIXTURES:
        return law(random)
    weight = random.choice(WEIGHTS)
    return f"{weight}*({law(random)}) + (1 - {weight})*({law(random)})"


def _scale(random: Random) -> str:
    return random.choice(("1", "1", f"({random.randint(1, 8)}/{random.choice((1, 2, 3, 4, 5, 10))})"))


def _moved(law: str, scale: str, at: str) -> str:
    inside = re.sub(r"\bx\b", f"((t - {at})/{scale})", law)
    return f"({inside})/{scale}"


def _on_line(random: Random) -> str:
    return _moved(random.choice(LINE), _scale(random), random.choice(SHIFTS))


def _on_half_line(random: Random) -> str:
    return _moved(random.choice(HALF_LINE), _scale(random), "0")


def _on_unit(random: Random) -> str:
    n = random.randint(1, 4)
    return random.choice(UNIT).format(n=n, n1=n + 1)
