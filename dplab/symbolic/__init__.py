"""The symbolic route: privacy loss distributions, M(z), delta(eps) and eps(delta) as sympy expressions.

    delta(Gaussian("sigma"), "eps")      Phi(1/(2 sigma) - eps sigma) - e^eps Phi(-1/(2 sigma) - eps sigma)

Every formula comes from the mechanism's own page, evaluated with sympy's arithmetic (`SympyTable`). Where there is
no closed form, NoClosedFormError says which stage stopped. Imports sympy and mpmath, no numpy.
"""

from .law import SymbolicPLD
from .normal_cdf import Phi
from .route import delta, epsilon, log_delta, mgf, pld
from .table import SympyTable

__all__ = ["Phi", "SymbolicPLD", "SympyTable", "delta", "epsilon", "log_delta", "mgf", "pld"]
