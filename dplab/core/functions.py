"""The function table: the few functions in which every mechanism writes its formulas.

A mechanism's page is written once against a table `fn`; each route supplies the table of its arithmetic (mpmath
here, since it is pure Python and several floors need it; sympy in `symbolic`, outward-rounded float64 intervals in
`fourier`). Operators + - * / act on the numbers themselves.

==================  ====================================================================================
`rational(n, d)`    the exact fraction n/d        `symbol(name)`    an unbound symbol (sympy only)
`exp log sqrt`      as usual                      `log1p expm1`     stable near zero
`normal_cdf(x)`     Phi(x), accurate in the lower tail (Phic(x) = Phi(-x))
`log_normal_cdf(x)` log Phi(x), without underflow
`log_mix(s, r)`     log(1 + r (e^s - 1)), stable for small r and large s: the loss map of subsampling
`power(x, r)`       x**r for a Fraction r         `pi`, `inf`       constants
`atan(x)`, `acot(x)` the angles in (-pi/2, pi/2) and (0, pi); acot is accurate for large x
`loggamma(x)`       log Gamma(x), x > 0           `besseli(n, x)`   I_n(x), n a whole number, x > 0; `log_besseli(n, x)`
`split(x, at, left, right)`  left(x) where x <= at, right(x) elsewhere: two forms of one formula (or tuple)
`between(x, low, high, below, inside, above)`  below where x <= low, above where x >= high, else inside(x)
`within(x, low, high)` x, known to lie between the two
`refined(t, x, solved)`  t, or solved(x) where rounding has made t a wide enclosure
`difference(one, other)`  of two pairs (a, b) with the same a - b, that difference with the least cancellation
`solve(f, x, low, high, rising, gaps, flat)`  the t in [low, high] with f(t) = x, for an f that is monotone outside the
                    gaps; `flat` says at which ends it turns
`certified(f, slope, ends, values, rising)`  where a piece is not certainly monotone, and its range (see `Certified`)
`integral(f, low, high)`  of a smooth f
`up_to(bound)`      a number known to lie in [0, bound] (enclosures only; elsewhere 0)
`monotone(f, x, rising)`  f(x) for an f with one or several monotone values (enclosures: from the ends of x)
`spanned(low, high, values)`  the two ends, moved out to where some values may lie (enclosures only)
`loosened(mass, x, values, most)`  the mass, up to `most` larger or smaller where x may be a value (enclosures only)
`is_infinite(x)`    whether an end of a support is infinite
`floor(x)`          the largest whole number <= x
`binomial_pmf(n, j, p)`   C(n,j) p^j (1-p)^(n-j)
`theta(a, v)`       sum of e^{-(t-a)^2/(2v)} over all whole numbers t
`theta_above(m, v)` sum of e^{-t^2/(2v)} over whole t > m, accurate in its tail
`each(items, formula)`    formula(t) for every whole number t of a range, or for every atom of a collection: a list, or
                    (interval arithmetic) columns of arrays, so that a law of 100,000 atoms is one array operation
`total(values)`     the sum of what `each` made       `joined(one, two)`  two collections of atoms as one
`sums(one, two)`    the atoms of the sum of two independent losses, equal losses as one atom, largest first
`is_zero(x)`        whether a mass is 0, exactly
`depth`             a law with infinitely many atoms is listed down to masses of e^-depth
==================  ====================================================================================
"""

from fractions import Fraction
from typing import Any, Protocol

import mpmath

from .certified import Certified
from .errors import UnboundSymbolError
from .whole_numbers import WholeNumbers


class FunctionTable(Protocol):
    """What a mechanism may call; see the table above."""

    pi: Any
    inf: Any
    symbolic: bool
    """Whether numbers are formulas, so that nothing infinite can be listed."""
    keeps_remainders: bool
    """Whether numbers are enclosures, so that what is cut off must be bounded by `up_to`."""

    def up_to(self, bound: Any) -> Any: ...

    def rational(self, numerator: int, denominator: int) -> Any: ...
    def symbol(self, name: str) -> Any: ...
    def exp(self, x: Any) -> Any: ...
    def log(self, x: Any) -> Any: ...
    def sqrt(self, x: Any) -> Any: ...
    def log1p(self, x: Any) -> Any: ...
    def expm1(self, x: Any) -> Any: ...
    def normal_cdf(self, x: Any) -> Any: ...
    def log_normal_cdf(self, x: Any) -> Any: ...
    def normal_excess(self, t: Any, d: Any) -> Any: ...
    def log_mix(self, s: Any, r: Any) -> Any: ...
    def atan(self, x: Any) -> Any: ...
    def acot(self, x: Any) -> Any: ...
    def loggamma(self, x: Any) -> Any: ...
    def besseli(self, n: int, x: Any) -> Any: ...
    def log_besseli(self, n: int, x: Any) -> Any: ...
    def split(self, x: Any, at: int, left: Any, right: Any) -> Any: ...
    def between(self, x: Any, low: Any, high: Any, below: Any, inside: Any, above: Any) -> Any: ...
    def within(self, x: Any, low: Any, high: Any) -> Any: ...
    def refined(self, t: Any, x: Any, solved: Any) -> Any: ...
    def difference(self, one: tuple, other: tuple) -> Any: ...
    def solve(
        self, function: Any, x: Any, low: Any, high: Any, rising: bool, gaps: Any = (), flat: Any = (False, False)
    ) -> Any: ...
    def certified(self, function: Any, slope: Any, ends: tuple, values: tuple, rising: bool) -> Certified: ...
    def integral(self, function: Any, low: Any, high: Any) -> Any: ...
    def monotone(self, function: Any, x: Any, rising: bool) -> Any: ...
    def spanned(self, low: Any, high: Any, values: Any) -> tuple: ...
    def loosened(self, mass: Any, x: Any, values: Any, most: Any) -> Any: ...
    def power(self, x: Any, r: Fraction) -> Any: ...
    def is_infinite(self, x: Any) -> bool: ...
    def floor(self, x: Any) -> Any: ...
    def binomial_pmf(self, n: int, j: Any, p: Any) -> Any: ...
    def theta(self, a: Any, v: Any) -> Any: ...
    def theta_above(self, m: Any, v: Any) -> Any: ...
    def each(self, items: Any, formula: Any) -> Any: ...
    def total(self, values: Any) -> Any: ...
    def joined(self, one: Any, two: Any) -> Any: ...
    def sums(self, one: Any, two: Any) -> Any: ...
    def is_zero(self, x: Any) -> bool: ...

    @property
    def depth(self) -> float: ...


class MpmathTable(WholeNumbers):
    """mpmath numbers, real or complex, at the precision of the surrounding `mpmath.workdps`."""

    inf = mpmath.inf
    symbolic = False
    keeps_remainders = False

    def up_to(self, bound):
        """Numbers keep no remainders: 0."""
        return mpmath.mpf(0)

    @property
    def pi(self):
        """pi at the working precision."""
        return +mpmath.pi

    def rational(self, numerator: int, denominator: int):
        """The fraction, rounded once."""
        return mpmath.mpf(numerator) / denominator

    def symbol(self, name: str):
        """Symbols have no value here: raises UnboundSymbolError."""
        raise UnboundSymbolError([name], "the mpmath arithmetic")

    log = staticmethod(mpmath.log)
    sqrt = staticmethod(mpmath.sqrt)
    log1p = staticmethod(mpmath.log1p)
    expm1 = staticmethod(mpmath.expm1)
    atan = staticmethod(mpmath.atan)
    loggamma = staticmethod(mpmath.loggamma)

    def exp(self, x):
        """e^x; 0 or infinity where |x| > 2^4096: e^{-e^x} would take numbers of astronomic length to say no more."""
        if isinstance(x, mpmath.mpf | mpmath.mpc):
            negative, mantissa, exponent, bits = x.real._mpf_
            if mantissa and exponent + bits > 4096:
                return mpmath.mpf(0) if negative else mpmath.inf
        return mpmath.exp(x)

    def besseli(self, n, x):
        """I_n(x) for a whole number n (I_{-n} = I_n) and x > 0."""
        from .solving import bessel_series

        return bessel_series(abs(int(mpmath.nint(n))), x)

    def log_besseli(self, n, x):
        """log I_n(x)."""
        return mpmath.log(self.besseli(n, x))

    def acot(self, x):
        """The angle in (0, pi) whose cotangent is x."""
        return mpmath.pi / 2 - mpmath.atan(x) if isinstance(x, mpmath.mpc) else mpmath.atan2(1, x)

    def normal_cdf(self, x):
        """Phi(x) with full relative accuracy in both tails."""
        return mpmath.erfc(-x / mpmath.sqrt(2)) / 2

    def log_normal_cdf(self, x):
        """log Phi(x)."""
        return mpmath.log(self.normal_cdf(x)) if x < 0 else mpmath.log1p(-self.normal_cdf(-x))

    def normal_excess(self, t, d):
        """Phi(-t) - e^{d (t + d/2)} Phi(-t - d) for d > 0, the Gaussian delta at eps = d (t + d/2)."""
        with mpmath.extraprec(40 + max(0, int(-mpmath.log(d, 2))) + int(4 * mpmath.log(2 + abs(t), 2))):
            return self.normal_cdf(-t) - mpmath.exp(d * (t + d / 2)) * self.normal_cdf(-t - d)

    def split(self, x, at: int, left, right):
        """left(x) if x <= at, else right(x)."""
        return left(x) if x <= at else right(x)

    def between(self, x, low, high, below, inside, above):
        """below for x <= low, above for x >= high, else inside(x); complex x by their real part, ends included."""
        at = mpmath.re(x)
        if isinstance(x, mpmath.mpc) and low <= at <= high:
            return inside(x)
        return below if at <= low else above if at >= high else inside(x)

    def within(self, x, low, high):
        """x, or the end that rounding has carried it over."""
        return x if isinstance(x, mpmath.mpc) else min(max(x, low), high)

    def refined(self, t, x, solved):
        """t; its real part where rounding has made a root of a vanishing number imaginary."""
        return t.real if isinstance(t, mpmath.mpc) and not isinstance(x, mpmath.mpc) else t

    def difference(self, one: tuple, other: tuple):
        """The difference of the pair whose numbers are smaller."""
        best = min(one, other, key=lambda pair: abs(pair[0]) + abs(pair[1]))
        return best[0] - best[1]

    def solve(self, function, x, low, high, rising: bool, gaps=(), flat=(False, False)):
        """The t with function(t) = x to the working precision; `low` and `high` may be infinite."""
        from .solving import solve

        return solve(function, x, low, high, rising, flat)

    def certified(self, function, slope, ends: tuple, values: tuple, rising: bool) -> Certified:
        """As was claimed: numbers prove nothing here."""
        return Certified((), *values)

    def monotone(self, function, x, rising: bool):
        """f(x)."""
        return function(x)

    def integral(self, function, low, high):
        """The integral of a smooth function, by double-exponential quadrature."""
        from .solving import integral

        return integral(function, low, high)

    def power(self, x, r: Fraction):
        """x**r."""
        return x ** (mpmath.mpf(r.numerator) / r.denominator) if r.denominator != 1 else x**r.numerator

    def log_mix(self, s, r):
        """log(1 + r (e^s - 1)); -inf at s = -inf when r = 1, and below the inverse's support."""
        if r == 1:
            return s
        # e^s cannot overflow here. s + log r + log1p((1-r)/r e^-s) would cancel for 1 < s < log(1/r).
        inside = r * mpmath.expm1(s)
        return mpmath.log1p(inside) if inside > -1 else -mpmath.inf

    def is_infinite(self, x) -> bool:
        """True for +inf and -inf."""
        return mpmath.isinf(x)


class CautiousTable(MpmathTable):
    """mpmath for formulas that nobody has looked at yet: what would take for ever raises OverflowError."""

    largest_exponent = 10**6

    def exp(self, x):
        """e^x for |x| up to a million."""
        if abs(x) > self.largest_exponent:
            raise OverflowError("an exponential in it is too large")
        return mpmath.exp(x)


class AnyValue(MpmathTable):
    """mpmath with one half for every symbol: for questions whose answer does not depend on the values."""

    def symbol(self, name: str):
        """One half."""
        return self.rational(1, 2)
