"""M(z), the moment generating function of the privacy loss: closed forms multiply under composition."""

import sympy

from ..core.errors import NoClosedFormError
from ..core.pld import PLD
from ..mechanisms import PoissonSubsampled
from .compositions import Parts
from .table import SympyTable

LARGEST_ORDER = 200
"""Largest integer order a = z + 1 for which the subsampled moment is written out."""


def composed_mgf(parts: Parts, fn: SympyTable, z: sympy.Expr) -> sympy.Expr:
    """The product of the M_j(z)^k_j.

    Raises NoClosedFormError for a part whose M(z) is not closed.
    """
    return sympy.Mul(*[_one_step(pld, fn, z) ** k for pld, k in parts])


def _one_step(pld: PLD, fn: SympyTable, z: sympy.Expr) -> sympy.Expr:
    closed = pld.mgf(fn, z)
    if closed is not None:
        return closed
    if pld.support(fn) is None:
        return sum((atom.p * sympy.exp(z * atom.loss) for atom in pld.atoms(fn)), sympy.S.Zero)
    order = -z if pld.backward else z + 1
    if isinstance(pld.pair, PoissonSubsampled) and order.is_Integer and 0 <= order <= LARGEST_ORDER:
        return _sampled_moment(pld.pair, fn, int(order))
    raise NoClosedFormError(
        f"moment generating function: M(z) of {pld.pair!r} is closed only for whole z"
        + (" >= -1, as a binomial sum" if not pld.backward else " <= 0, as a binomial sum")
        + f", not for z = {z}; use dplab.reference"
    )


def _sampled_moment(pair: PoissonSubsampled, fn: SympyTable, order: int) -> sympy.Expr:
    """E_Q[(1 - q + q e^s)^a] = sum_j C(a,j) (1-q)^(a-j) q^j M(j-1) of the mechanism [Abadi et al. 2016]."""
    q, total = pair.q(fn), sympy.S.Zero
    for j in range(order + 1):
        moment = sympy.S.One if j == 0 else pair.mechanism.mgf(fn, sympy.Integer(j - 1))
        if moment is None:
            raise NoClosedFormError(f"moment generating function: M(z) of {pair.mechanism!r} is not closed")
        total += sympy.binomial(order, j) * (1 - q) ** (order - j) * q**j * moment
    return total
