"""The symbolic route: privacy loss distributions, M(z), delta(eps) and eps(delta) as sympy expressions.

    delta(Gaussian("sigma"), "eps")      Phi(1/(2 sigma) - eps sigma) - e^eps Phi(-1/(2 sigma) - eps sigma)
    derive(Laplace("b"))                 the whole chain, step by step, every step checked

Every formula comes from the mechanism's own page, evaluated with sympy's arithmetic (`SympyTable`). Where there is
no closed form, NoClosedFormError says which stage stopped. Imports sympy and mpmath, no numpy.
"""

from .derivation import CheckReport, Derivation, Line, Step
from .deriving import derive
from .law import SymbolicPLD
from .normal_cdf import Phi, PhiInverse
from .route import delta, epsilon, log_delta, mgf, pld
from .showing import Gallery, gallery
from .table import SympyTable
from .worker import StageStopped

__all__ = [
    "CheckReport",
    "Derivation",
    "Gallery",
    "Line",
    "Phi",
    "PhiInverse",
    "StageStopped",
    "Step",
    "SymbolicPLD",
    "SympyTable",
    "delta",
    "derive",
    "epsilon",
    "gallery",
    "log_delta",
    "mgf",
    "pld",
]
