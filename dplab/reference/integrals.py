"""Which contour: a short vertical line if it will do, else one that the law allows to bend, else a long line."""

from functools import cached_property

import mpmath

from ..core.parameters import evaluate
from .arithmetic import FN
from .bent import BentContour, bends
from .contour import BRIEF, FULL, Contour
from .found import Found, reached
from .law import Law
from .saddle import Landscape
from .two_ended import TwoEnded, two_ended


class Integrals:
    """delta(eps) by contour integrals, for one law and number of digits; lines and rules are kept for further eps."""

    def __init__(self, law: Law, digits: int):
        self.law, self.digits = law, digits

    @cached_property
    def landscape(self) -> Landscape:
        """log M on the real axis."""
        return Landscape(self.law)

    @cached_property
    def _brief(self) -> Contour:
        limits = BRIEF if self._bent is not None else FULL
        return Contour(self.law, self.digits, self.landscape, limits, whole=True)

    @cached_property
    def _long(self) -> Contour:
        return Contour(self.law, self.digits, self.landscape)

    @cached_property
    def _bent(self) -> BentContour | None:
        return BentContour(self.law, self.digits, self.landscape) if bends(self.law) else None

    @cached_property
    def _two_ended(self) -> TwoEnded | None:
        return TwoEnded(self.law, self.digits, self.landscape) if two_ended(self.law) else None

    def find(self, eps) -> Found:
        """delta(eps) by the first contour that reaches the digits, or by the one that comes nearest."""
        for kept in (self._brief, self._bent, self._long):
            found = kept.again(eps) if kept is not None else None
            if found is not None:
                return found
        tried: list[Found] = []
        contours = [self._brief, self._bent, self._two_ended, self._long]
        if self._bent is not None and self.landscape.heavy_tailed(float(evaluate(eps, FN))):
            contours = [self._bent]  # on a vertical line far more would cancel
        for contour in contours:
            found = contour.find(eps) if contour is not None else None
            if found is not None and reached(found, self.digits):
                return found
            if found is not None:
                tried.append(found)
        half = mpmath.mpf(1) / 2  # all that is known without a contour
        return min(tried, key=lambda one: one.error, default=Found(half, half, -half, "no contour converges"))
