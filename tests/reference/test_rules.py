"""Quadrature rules and fixed-point lines against closed forms of M."""

from itertools import islice

import mpmath
import pytest

from dplab import Gaussian, Laplace, PoissonSubsampled
from dplab.core.pld import PLD
from dplab.reference.arithmetic import FN
from dplab.reference.line import Rotor, Transform
from dplab.reference.rules import Nodes, Rule, atom_nodes


def settled(pld: PLD, reach, z, lift=0.0) -> Transform:
    transform = Transform(pld, Rule(pld, 40, reach, lift))
    while transform.rule_error(z, mpmath.re(z)) > mpmath.mpf(10) ** -30:
        transform.refine()
    return transform


@pytest.fixture(autouse=True)
def forty_digits():
    with mpmath.workdps(40):
        yield


@pytest.mark.parametrize("lift", [0.0, 1.5])
@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize(("pair", "reach"), [(Gaussian(2), (-17, 17)), (Laplace(1), (-5, 5))])
def test_rule_against_closed_form(pair, reach, backward, lift):
    pld = PLD(pair, backward)
    for z in (mpmath.mpc("0.7"), mpmath.mpc("0.7", 9), mpmath.mpc(-3, 20)):
        found = settled(pld, reach, z, lift).at(z)
        assert abs(found - pld.mgf(FN, z)) < mpmath.mpf(10) ** -28 * abs(pld.mgf(FN, mpmath.re(z)))


@pytest.mark.parametrize("lift", [0.0, 1.0])
def test_half_a_gaussian_has_half_its_moments(lift):
    """E_Q of ((1 + e^u)/2)^2 = (1 + 2 + e^{mu^2})/4, at z = 1."""
    pld = PLD(PoissonSubsampled(Gaussian(1), "0.5"))
    found = settled(pld, (-16, 18), mpmath.mpc(1), lift).at(mpmath.mpf(1))
    assert abs(mpmath.re(found) - (3 + mpmath.e) / 4) < mpmath.mpf(10) ** -29


def test_line_is_the_rule_turned():
    pld = PLD(PoissonSubsampled(Laplace(1), "0.3"))
    transform = settled(pld, (-5, 5), mpmath.mpc(2, 5))
    c, h = mpmath.mpf(2), mpmath.mpf("0.37")
    for m, value in enumerate(islice(transform.along(c, h, 160), 12)):
        exact = transform.value(mpmath.mpc(c, m * h), c)
        assert abs(value.ratio - exact.ratio) < mpmath.mpf(10) ** -36
        assert abs(value.continuous - exact.continuous) < 1e-12


def test_rotor_with_complex_losses_fades():
    rotor = Rotor([(mpmath.mpc(1, 2), mpmath.mpf(1) / 2), (mpmath.mpf(0), mpmath.mpf(1) / 2)], mpmath.mpf(1), 140)
    for _ in range(100):
        rotor.turn()
    assert len(rotor.state) == 1
    assert abs(rotor.value() - mpmath.mpf(1) / 2) < mpmath.mpf(10) ** -38


def test_nodes_add_up():
    nodes = atom_nodes(PLD(Laplace(1)))
    assert len(nodes) == 2
    assert Nodes().at(mpmath.mpf(1)) == 0
    assert isinstance(nodes.at(mpmath.mpf(1)), mpmath.mpf)
    assert abs(nodes.at(mpmath.mpf(0)) - (1 + mpmath.exp(-1)) / 2) < mpmath.mpf(10) ** -38
