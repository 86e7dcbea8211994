"""Where to draw the vertical line Re z = c, and how fine the trapezoid rule on it must be.

The integrand M(z) e^{-z eps}/(z(z+1)) has poles at 0 and -1. On the real axis its modulus is log-convex in each of the
three strips, so each has one saddle. A line in

* c > 0 gives delta = delta(inf) + I,    * -1 < c < 0 gives delta = 1 + I,
* c < -1 gives delta = 1 - e^eps (1 - delta_{Y/X}(inf)) + I.

The trapezoid rule with step h errs by the aliases at eps +- L, L = 2 pi/h. Moving the line to c' bounds them by
`e^{-|c'-c| L}` times the integral of the modulus on c', plus the residues of the poles crossed, again with their
e^{-distance L}: so L follows from log M on the real axis, heavy tails included.
"""

import math
from dataclasses import dataclass, replace

from .law import Law
from .single_step import log_delta_of_one
from .sketch import ClosedSketch, Cumulants, Sketch, closed_and_endless

FLAT = 0.15
"""If the saddle right of 0 is nearer to it than this many standard widths, a line left of 0 is cheaper."""


@dataclass(frozen=True)
class Saddle:
    """A line Re z = c: log of the integrand's modulus there (without phase), the width of its peak along the
    line (nats^-1), and the log of the expected size of delta."""

    c: float
    log_peak: float
    width: float
    log_delta: float


class Landscape:
    """log|integrand| on the real axis, from float sketches of the parts."""

    def __init__(self, law: Law):
        self.law = law
        self.sketches = [ClosedSketch(pld) if closed_and_endless(pld) else Sketch(pld, k) for pld, k in law.parts]
        self.log_masses = (self.cumulants(0.0).log, self.cumulants(-1.0).log)

    def cumulants(self, c: float) -> Cumulants:
        """log M^k at c with its first two derivatives, all parts together."""
        each = [(k, sketch.cumulants(c)) for sketch, (_, k) in zip(self.sketches, self.law.parts, strict=True)]
        return Cumulants(
            math.fsum(k * part.log for k, part in each),
            math.fsum(k * part.mean for k, part in each),
            math.fsum(k * part.variance for k, part in each),
        )

    def saddle(self, eps: float) -> Saddle:
        """The best line for this eps."""
        right = self._saddle_in(eps, lambda d: d)
        beyond = self.cumulants(0.0)
        if right.c * math.sqrt(beyond.variance) > FLAT or beyond.mean < eps:
            return right
        return self._left_of_zero(eps)

    def line(self, eps: float, below: float, log_delta: float | None = None) -> Saddle:
        """The line with the fewest nodes: at the saddle, or left of it where a heavy upper tail asks for a small step.

        Left of the saddle (but right of 0) the upper aliases fade fast while the integrand grows little.
        `log_delta` is what delta has turned out to be, if an earlier line has shown it.
        """
        saddle = self.saddle(eps)
        presumed = self.presumed(saddle, eps) if log_delta is None else log_delta
        saddle = replace(saddle, log_delta=presumed)
        upper, lower = self.periods(saddle, eps, below)
        if saddle.c < 0 or upper < 1.2 * lower:
            return saddle
        low, high, best, shortest = saddle.c / 8, saddle.c, saddle, upper
        for _ in range(8):
            middle = (low + high) / 2
            moved = replace(self.at(middle, eps), log_delta=saddle.log_delta, width=saddle.width)
            if moved.log_peak - saddle.log_peak > below / 3:
                low = middle
                continue
            upper, lower = self.periods(moved, eps, below)
            if max(upper, lower) < shortest:
                best, shortest = moved, max(upper, lower)
            low, high = (low, middle) if upper > lower else (middle, high)
        return best

    def bent_line(self, eps: float, below: float) -> Saddle:
        """The vertex for a contour bent away from the bulk of a heavy tail: as `line`, but left of 0 whenever eps is
        below the mean, where the tail is damped."""
        if self.cumulants(0.0).mean <= eps:
            return self.line(eps, below)
        return self._left_of_zero(eps)

    def _left_of_zero(self, eps: float) -> Saddle:
        middle = self._saddle_in(eps, lambda d: -1 / (1 + d))
        left = self._saddle_in(eps, lambda d: -1 - d)
        return min(middle, left, key=lambda s: s.log_peak)

    def tilt(self, eps: float) -> float:
        """The saddle with c > 0."""
        return self._saddle_in(eps, lambda d: d).c

    def heavy_tailed(self, eps: float) -> bool:
        """Whether delta is far smaller than the modulus at the saddle: much cancels on any vertical line."""
        saddle = self.saddle(eps)
        return self.presumed(saddle, eps) < saddle.log_delta - 20

    def presumed(self, saddle: Saddle, eps: float) -> float:
        """log delta: by the saddle if log M is nearly a parabola across three widths, else (a heavy tail takes over)
        the larger of what the bulk alone gives, as a normal law, and of what one step gives."""
        if saddle.c < 0:
            return saddle.log_delta
        reach = 3 * saddle.width
        here, beyond = self.cumulants(saddle.c), self.cumulants(saddle.c + reach)
        if abs(beyond.log - here.log - reach * (here.mean + reach * here.variance / 2)) < 4:
            return saddle.log_delta
        bulk, single = self.cumulants(0.0), -math.inf
        distance = eps - bulk.mean
        if distance > 0:
            c = distance / bulk.variance
            normal = -distance * c / 2 - math.log(c * (c + 1)) - 0.5 * math.log(2 * math.pi * bulk.variance)
        else:
            normal = saddle.log_delta
        for pld, k in self.law.parts:
            single = max(single, math.log(k) + log_delta_of_one(pld, eps))
        return min(saddle.log_delta, max(normal, single))

    def at(self, c: float, eps: float) -> Saddle:
        """The line through c as a `Saddle`."""
        part = self.cumulants(c)
        peak = part.log - c * eps - math.log(abs(c * (c + 1)))
        curvature = part.variance + 1 / c**2 + 1 / (c + 1) ** 2
        log_delta = peak - 0.5 * math.log(2 * math.pi * curvature) if c > 0 else self._log_delta(eps)
        return Saddle(c, peak, 1 / math.sqrt(curvature), log_delta)

    def log_line(self, c: float, eps: float) -> float:
        """log of a bound (up to a small factor) on (1/2 pi) int |integrand| along Re z = c."""
        return self.cumulants(c).log - c * eps - 0.5 * math.log(abs(c * (c + 1)))

    def step(self, saddle: Saddle, eps: float, below: float) -> float:
        """The largest h whose aliases are below e^{-below} of delta, at most the width of the peak."""
        return min(2 * math.pi / max(self.periods(saddle, eps, below)), saddle.width)

    def periods(self, saddle: Saddle, eps: float, below: float) -> tuple[float, float]:
        """The L = 2 pi/h that the upper aliases need, and the L that the lower ones need."""
        goal = saddle.log_delta - below
        return self._period(saddle, eps, goal, 1), self._period(saddle, eps, goal, -1)

    def poles(self, eps: float) -> list[tuple[float, float]]:
        """The integrand's poles, and the log of the size of their residues."""
        return [(0.0, self.log_masses[0]), (-1.0, self.log_masses[1] + eps)]

    def _period(self, saddle: Saddle, eps: float, goal: float, side: int) -> float:
        """The L that makes the aliases on one side small enough."""
        crossed = [(abs(p - saddle.c), mass) for p, mass in self.poles(eps) if (p - saddle.c) * side > 0]
        crossed.sort()
        best, residues, start = math.inf, 0.0, 0.0
        for distance, log_mass in [*crossed, (math.inf, 0.0)]:
            best = min(best, max(residues, self._within(saddle, eps, goal, side, start, distance)))
            residues = max(residues, (log_mass - goal) / distance)
            start = distance
        return best

    def _within(self, saddle: Saddle, eps: float, goal: float, side: int, start: float, stop: float) -> float:
        """The best L from lines between two distances of the saddle."""
        if math.isinf(stop):
            distances = [start + 0.1 * saddle.width * 1.5**i for i in range(30)]
        else:
            distances = [start + (stop - start) * i / 16 for i in range(1, 16)]
        best = math.inf
        for distance in distances:
            line = saddle.c + side * distance
            if any(sketch.at_the_edge(line) for sketch in self.sketches):
                break
            needed = (self.log_line(line, eps) - goal) / distance
            if needed > 4 * best:
                break
            best = min(best, needed)
        return max(best, 1e-300)

    def _log_delta(self, eps: float) -> float:
        """The expected size of delta, from the saddle right of 0."""
        return min(0.0, self._saddle_in(eps, lambda d: d).log_delta)

    def _saddle_in(self, eps: float, place) -> Saddle:
        """The least modulus over the strip {place(d): d > 0}: bisection on log d."""

        def slope(d: float) -> float:
            c = place(d)
            return self.cumulants(c).mean - eps - 1 / c - 1 / (c + 1)

        rising = 1 if place(2.0) > place(1.0) else -1
        low = high = 1.0
        while slope(low) * rising > 0 and low > 1e-200:
            high, low = low, low / 8
        while slope(high) * rising < 0 and high < 1e200:
            low, high = high, high * 8
        for _ in range(12):
            middle = math.sqrt(low * high)
            low, high = (low, middle) if slope(middle) * rising > 0 else (middle, high)
        return self.at(place(math.sqrt(low * high)), eps)


def moved(saddle: Saddle) -> float:
    """Another abscissa in the same strip, at the price of a few per cent in size."""
    c, step = saddle.c, 0.35 * saddle.width
    if c > 0:
        return c - min(step, c / 10)
    if c < -1:
        return c - step
    return c + min(step, -c / 4) if c < -0.5 else c - min(step, (c + 1) / 4)
