"""The contour integral on a bent contour, for few or heavy-tailed steps of subsampled Gaussians.

On a vertical line |M(z)| then falls only like a power of log y. Forward losses are bounded below by
S_min = sum k_j log(1 - q_j), so that with E = eps - S_min > 0 the integrand is e^{-Ez} times factors that stay small
in a sector right of the line, and on the hyperbola

    w(xi) = w_0 - A cos phi + A cosh(xi + i phi)

it decays double-exponentially (the mirror image of inverting a Laplace transform: Weideman and Trefethen 2007).
Backward losses are the mirror image: w = -1 - z, E = S_max - eps. Two runs that share neither the contour nor the
paths in u (see `paths`) are compared; the error is their difference.
"""

import math
from dataclasses import replace
from typing import Any, NamedTuple

import mpmath

from ..core.parameters import evaluate
from ..core.progress import progress
from ..mechanisms import Gaussian, PoissonSubsampled
from .arithmetic import FN
from .bulk import BULK
from .found import GUARD, Found, guarded, reached
from .law import Law
from .paths import SubsampledGaussian
from .saddle import Landscape, Saddle, moved

MOST_WORK = 800_000 * 55
"""Most terms (nodes in z times nodes in u) of one run, times their decimal places."""

MOST_NODES = 10**5
"""Most nodes in z of one run; work ends it much earlier."""

FIRST_DIGITS = 8
"""A first pair of runs finds the size of delta, which says how much cancels."""

SPARE = 5


class Branch(NamedTuple):
    """A run: nodes w_m, their weights without e^{-w eps}, the direction's sign, and whether it got to its end."""

    nodes: list[Any]
    weights: list[Any]
    complete: bool
    doubt: Any


class Shape(NamedTuple):
    """The free choices of a run."""

    vertex: float
    angle: float
    size: float
    step: float
    path_step: float
    path_shift: float


def bends(law: Law) -> bool:
    """Whether every part is a (subsampled) Gaussian, and some part is subsampled."""
    sampled = [isinstance(pld.pair, PoissonSubsampled) for pld, _ in law.parts]
    bases = [pld.pair.mechanism if isinstance(pld.pair, PoissonSubsampled) else pld.pair for pld, _ in law.parts]
    return any(sampled) and all(isinstance(base, Gaussian) and not base.noiseless for base in bases)


class BentContour:
    """delta(eps) for one law and number of digits; the last runs are kept for further eps nearby."""

    def __init__(self, law: Law, digits: int, landscape: Landscape):
        self.law, self.digits, self.landscape = law, digits, landscape
        self.backward = law.parts[0][0].backward
        self.runs: tuple[Branch, ...] | None = None
        self.c, self.places, self.built_at = 0.0, digits, math.nan

    def again(self, eps) -> Found | None:
        """delta(eps) from the last runs, None if there are none or eps is too far from theirs."""
        if self.runs is None or abs(float(evaluate(eps, FN)) - self.built_at) * max(1.0, abs(self.c)) > 1:
            return None
        found = self._evaluated(eps)
        return found if reached(found, self.digits) else None

    def find(self, eps) -> Found:
        """delta(eps), for eps inside the range of the loss."""
        self.built_at = float(evaluate(eps, FN))
        saddle = self._calm(self.landscape.bent_line(self.built_at, (self.digits + SPARE) * math.log(10)))
        self.c = saddle.c
        if self.digits > 2 * FIRST_DIGITS:
            found = self._refined(eps, saddle, FIRST_DIGITS)
            if found.error >= abs(found.value):
                return found
            with mpmath.workdps(15):
                saddle = replace(saddle, log_delta=float(mpmath.log(abs(found.value))))
        return self._refined(eps, saddle, self.digits)

    def _calm(self, saddle: Saddle) -> Saddle:
        """The vertex moved left if need be: right of it the Gaussian hump of M, q^z e^{z(z+1) mu^2/2}, must not grow
        by much along the contour before its own decay sets in."""
        calm = math.inf
        for pld, _ in self.law.parts:
            if isinstance(pld.pair, PoissonSubsampled):
                mu, q = float(self._base(pld).mu(FN)), float(pld.pair.q(FN))
                calm = min(calm, (4 / mu if mu else math.inf) - math.log(q) / mu**2 - 0.5)
        if self.backward:
            calm = math.inf  # the vertex is left of -1, where the hump is small
        if saddle.c <= calm:
            return saddle
        return replace(self.landscape.at(calm, self.built_at), log_delta=saddle.log_delta)

    def _refined(self, eps, saddle: Saddle, digits: int) -> Found:
        """Both runs, with more digits and a finer step as the error of the last runs asks for."""
        finer, closer = 1.0, 1.0
        for _ in range(4):
            lost = max(0.0, saddle.log_peak - saddle.log_delta) / math.log(10)
            self.places = digits + GUARD + math.ceil(lost) + len(str(self.law.steps))
            with BULK.at(self.places):
                shapes = [self._shape(saddle, finer, closer, which) for which in (0, 1)]
                self.runs = tuple(self._run(eps, saddle, shape, digits) for shape in shapes)
            found = self._evaluated(eps)
            complete = all(run.complete for run in self.runs)
            if reached(found, digits) or not complete:
                return found
            with mpmath.workdps(15):
                seen = float(mpmath.log(max(abs(found.value), found.error)))
                doubt = sum(run.doubt for run in self.runs)
                right = -float(mpmath.log10(found.error)) + saddle.log_peak / math.log(10)
            if seen < saddle.log_delta - 2:
                saddle = replace(saddle, log_delta=seen)
            elif doubt > found.error / 2:
                closer *= 0.7
            else:
                finer *= min(0.85, max(0.4, (right + lost) / (digits + lost + 3)))
        return found

    def _shape(self, saddle: Saddle, finer: float, closer: float, which: int) -> Shape:
        mus = [self._base(pld).mu(FN) for pld, _ in self.law.parts if isinstance(pld.pair, PoissonSubsampled)]
        size = max(2 * saddle.width, min(4 / float(max(mus)), 10 * saddle.width))
        digits = (self.places - GUARD + SPARE) * math.log(10)
        path = closer * (0.08 if max(mus) > 3 else 0.1 * min(1.0, float(min(mus)))) * math.sqrt(60 / digits)
        if which == 0:
            vertex, angle, share, path_share, shift = saddle.c, math.radians(66), 1.0, 1.0, 0.0
        else:
            vertex, angle, share, path_share, shift = moved(saddle), math.radians(69), 0.93, 0.9, 0.05
            size *= 1.2
        left = self._step(vertex, angle, size, saddle.log_delta - (self.digits + SPARE) * math.log(10))
        step = finer * min(left, share * 2 * math.pi * 0.48 / digits)
        return Shape(vertex, angle, size, step, path_share * path, shift)

    def _step(self, vertex: float, angle: float, size: float, goal: float) -> float:
        """The largest step of the trapezoid rule whose error on the contour's left is e^goal.

        It errs by e^{-2 pi d/step} times what the integrand reaches a distance d away, on the hyperbola with the angle
        angle + d (up to the vertical line, left of which nothing decays), and by the residues of poles on the way.
        """

        def other(x: float) -> float:
            """w for a real z, and z for a real w."""
            return -1 - x if self.backward else x

        away, room, longest = other(vertex) - size * math.cos(angle), math.pi / 2 - angle, 0.0
        poles = self.landscape.poles(self.built_at)
        turns = [(math.acos(max(-1.0, min(1.0, (other(pole) - away) / size))) - angle, log) for pole, log in poles]
        for i in range(1, 13):
            d = room * i / 12
            costs = [(d, self.landscape.at(other(away + size * math.cos(angle + d)), self.built_at).log_peak)]
            costs += [(turn, log) for turn, log in turns if 0 < turn <= d]
            longest = max(longest, min(2 * math.pi * turn / max(log - goal, 1e-9) for turn, log in costs))
        return longest

    def _run(self, eps, saddle: Saddle, shape: Shape, digits: int) -> Branch:
        x = evaluate(eps, FN)
        parts = self._parts(shape)
        vertex = mpmath.mpf(-1 - shape.vertex if self.backward else shape.vertex)
        angle, size, step = mpmath.mpf(shape.angle), mpmath.mpf(shape.size), mpmath.mpf(shape.step)
        nodes, weights, doubt, terms = [], [], mpmath.mpf(0), 0
        highest, small = mpmath.mpf(0), 0
        below = (self.places + 3) * math.log(10)
        cut = mpmath.mpf(10) ** -(digits + SPARE) * mpmath.exp(saddle.log_delta)
        spare, term = below, mpmath.exp(saddle.log_peak)
        with progress(unit="node", what="reference") as bar:
            for m in range(MOST_NODES):
                bar.update()
                w = vertex - size * mpmath.cos(angle) + size * mpmath.cosh(mpmath.mpc(m * step, angle))
                w = mpmath.mpc(vertex) if m == 0 else w
                wanted = min(0.01, float(mpmath.sqrt(cut / (10 * term))) / self.law.steps)
                product, wrong, used = self._product(parts, w, spare, wanted)
                terms += used
                weight = product * size * mpmath.sinh(mpmath.mpc(m * step, angle)) / (w * (w + 1)) * step / mpmath.pi
                nodes.append(w)
                weights.append(weight / 2 if m == 0 else weight)
                term = abs(weight * self._factor(w, x))
                doubt += term * wrong
                highest = max(highest, term)
                small = small + 1 if term < cut else 0
                spare = max(30.0, min(below, below + float(mpmath.log(term / highest)) + 30))
                if small >= 5:
                    return Branch(nodes, weights, True, doubt)
                if terms * self.places > MOST_WORK:
                    break
        return Branch(nodes, weights, False, doubt + term * len(nodes))

    def _parts(self, shape: Shape) -> list[tuple[Any, int]]:
        """Each part as a mechanism's expectation, or the mu of a plain Gaussian, with its k."""
        parts: list[tuple[Any, int]] = []
        for pld, k in self.law.parts:
            if isinstance(pld.pair, PoissonSubsampled):
                parts.append((SubsampledGaussian(pld.pair, self.places, shape.path_step, shape.path_shift), k))
            else:
                parts.append((self._base(pld).mu(FN), k))
        return parts

    @staticmethod
    def _product(parts: list[tuple[Any, int]], w, below: float, wanted: float) -> tuple[Any, Any, int]:
        """prod M_j(w)^{k_j}, the relative error its rules may have made, and the number of terms."""
        product, wrong, terms = mpmath.mpf(1), mpmath.mpf(0), 0
        for part, k in parts:
            if isinstance(part, SubsampledGaussian):
                mean = part.mean(w, below, wanted)
                product *= ((1 - part.q) ** (w + 1) * mean.value) ** k
                wrong += k * (mean.doubt / abs(mean.value)) ** 2
                terms += mean.terms
            else:
                product *= mpmath.exp(k * w * (w + 1) * part**2 / 2)
        return product, wrong, terms

    def _factor(self, w, x):
        """e^{-z eps}."""
        return mpmath.exp((1 + w) * x) if self.backward else mpmath.exp(-w * x)

    def _evaluated(self, eps) -> Found:
        with mpmath.workdps(self.places):
            x = evaluate(eps, FN)
            assert self.runs is not None
            (one, slope), (other, _) = (self._sum(run, x) for run in self.runs)
            doubt = sum(run.doubt for run in self.runs)
            constant, constant_slope = self.law.left_of(self.c, x)
            value = constant + one
            error = abs(one - other) + doubt + guarded(value, self.digits)
            return Found(value, error, constant_slope + slope, "bent contour integral")

    def _sum(self, run: Branch, x) -> tuple[Any, Any]:
        total = slope = mpmath.mpf(0)
        for w, weight in zip(run.nodes, run.weights, strict=True):
            term = weight * self._factor(w, x)
            total += term.imag
            slope += (term * ((1 + w) if self.backward else -w)).imag
        return total, slope

    @staticmethod
    def _base(pld) -> Gaussian:
        pair = pld.pair.mechanism if isinstance(pld.pair, PoissonSubsampled) else pld.pair
        assert isinstance(pair, Gaussian)
        return pair
