"""The numeric path is light: beside numpy and scipy.special it loads dplab's own files and little else.

Modules are counted, not timed: `make bench` times.
"""

import subprocess
import sys

import pytest

from tests.house import ROOT

BASE = "import numpy, scipy.special"
FEW = {"_decimal", "decimal", "fractions", "numbers"}
"""What exact parameters need."""

QUESTIONS = {
    "delta": 'fourier.delta(1000 * Gaussian(sigma=50), eps="1/3")',
    "eps": 'fourier.epsilon(1000 * Laplace(b=10), delta="1e-6")',
    "randomised response": 'fourier.epsilon(100 * RandomizedResponse.from_eps("0.1"), delta="1e-6")',
    "sampled": 'fourier.epsilon(1000 * PoissonSubsampled(Gaussian(sigma=1), q="0.01"), delta="1e-5")',
    "lattice": 'fourier.epsilon(30 * DiscreteGaussian(sigma=5) + Binomial(n=100, p="0.5"), delta="1e-3")',
    "curve": "fourier.curve(1000 * Gaussian(sigma=50), [1, 2, 3])",
}


def loaded(statement: str) -> set[str]:
    """All modules that a fresh interpreter holds after a statement."""
    code = f"{statement}\nimport sys\nprint(*sys.modules)"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True, text=True)
    return set(done.stdout.split())


def test_the_import():
    extra = loaded("import dplab.fourier") - loaded(BASE)
    foreign = {name for name in extra if name.split(".")[0] != "dplab"}
    assert foreign <= FEW
    rooms = {name.split(".")[1] for name in extra - foreign if "." in name}
    assert rooms == {"core", "fourier"}
    lectures = {"bounded_lecture", "lecture", "wrapping", "chernoff"}
    assert not {f"dplab.fourier.{name}" for name in lectures} & extra


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_first_call(question):
    """Nothing heavy hides in the first call: no mpmath, no sympy, no more of scipy."""
    setting = "from dplab import fourier\nfrom dplab.mechanisms import *"
    extra = loaded(f"{setting}\n{QUESTIONS[question]}") - loaded(BASE)
    assert {name for name in extra if name.split(".")[0] in ("mpmath", "sympy", "matplotlib", "scipy", "tqdm")} == set()
