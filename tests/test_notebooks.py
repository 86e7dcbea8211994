"""The notebooks run from top to bottom in time, hold what every notebook must, and say nothing that is not so."""

import time

import nbformat
import pytest
from nbclient import NotebookClient

from dplab import Gaussian, PoissonSubsampled, RandomizedResponse, clt, fourier, reference
from tests.house import ROOT

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
SECONDS = 30
SLIDES = {"slide", "subslide", "fragment", "notes", "skip", "-"}


def read(path):
    return nbformat.read(path, nbformat.NO_CONVERT)


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def notebook(request):
    return read(request.param)


def test_there_are_notebooks():
    assert {
        "00_start_here",
        "01_definitions",
        "02_privacy_loss",
        "03_composition",
        "04_fourier_accountant",
        "09_exact_fft_clt",
    } <= {path.stem for path in NOTEBOOKS}


@pytest.mark.long
def test_runs_from_top_to_bottom_in_time(notebook):
    start = time.perf_counter()
    NotebookClient(notebook, timeout=SECONDS, kernel_name="python3").execute()
    seconds = time.perf_counter() - start
    streams = [o for cell in notebook.cells for o in cell.get("outputs", []) if o.output_type == "stream"]
    assert not [o.text for o in streams if o.name == "stderr" and o.text.strip()]
    pictures = [o for cell in notebook.cells for o in cell.get("outputs", []) if "<svg" in str(o.get("data", ""))]
    assert len(pictures) >= 3
    assert seconds < 2 * SECONDS, f"{seconds:.0f} s on this machine; a quiet one must need less than {SECONDS} s"


def test_is_valid_and_its_ids_are_words(notebook):
    nbformat.validate(notebook)
    assert (notebook.nbformat, notebook.nbformat_minor) == (4, 5)
    for cell in notebook.cells:
        assert cell.id == cell.id.lower()
        assert cell.id.replace("-", "").isalnum()
        assert cell.metadata.slideshow.slide_type in SLIDES


def test_teaches_as_every_notebook_must(notebook):
    cells = {cell.id: cell.source for cell in notebook.cells}
    text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    order = [cell.id for cell in notebook.cells]
    assert "you will learn to" in cells["title"] or "you can" in cells["title"]
    assert "What goes wrong, and how it shows" in text
    assert "here to read on" in text
    assert "Theorem" in text
    assert "_widget(" in cells["widget"]
    for place, name in enumerate(order):
        if name.endswith("picture") and "from dplab.plots import" in cells[name]:
            assert "> **Before" in cells[order[place - 1]], f"{name} has no question before it"


def test_widgets_use_no_output_widget(notebook):
    code = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    for word in ("interact", "Output(", "%matplotlib", "pyplot"):
        assert word not in code


# ---------------------------------------------------------------- what the text claims


def says(stem: str, *phrases: str) -> None:
    """The claims tested here are still in the text."""
    text = " ".join(" ".join(cell.source.split()) for cell in read(ROOT / "notebooks" / f"{stem}.ipynb").cells)
    for phrase in phrases:
        assert phrase in text, phrase


def test_claims_of_00():
    says("00_start_here", r"$10\,c \approx 4$", "either side of the truth")
    import math

    assert 10 * math.log(0.6 / 0.4) == pytest.approx(4, abs=0.1)
    survey = 10 * RandomizedResponse("0.6")
    judged = [fourier.delta(survey, eps).judge(clt.delta(survey, eps).value) for eps in ("0.5", "1.5")]
    assert judged == ["below", "above"]


def test_claims_of_01():
    says(
        "01_definitions",
        "lie 31 % of $P$, but $e^\\varepsilon \\cdot 6.7\\,\\%$ of $Q$ are taken off: what sticks out is 13 %",
        "$\\delta(\\infty) = 1/4$",
        "$(\\log\\frac43, 0)$-private",
        "*better and better* while the true $\\delta$ grows",
    )
    from dplab.plots.outcomes import outcomes

    law = outcomes(Gaussian(1))
    assert law.best(1) == [(pytest.approx(1.5), float("inf"))]
    p, q = law.masses(law.best(1))
    assert (p, q, p - q * 2.718281828) == pytest.approx((0.31, 0.067, 0.13), abs=0.005)  # rounded to per cent
    clear = PoissonSubsampled(Gaussian(0), "1/4")
    assert [float(reference.delta(clear, 50, direction=d).value) for d in ("remove", "add")] == [0.25, 0]
    assert reference.epsilon(clear, 0, direction="add").value == pytest.approx(0.2876820724517809)  # log(4/3)
    growing = [float(reference.delta(k * RandomizedResponse("0.6"), "0.5").value) for k in (2, 4, 8, 16, 32)]
    assert growing == sorted(growing)
    assert 0.6**8 - 0.4**8 * 1.6487 < 0.6**4 - 0.4**4 * 1.6487  # the outcome with the largest excess: all answers true


def test_claims_of_04():
    says(
        "04_fourier_accountant",
        "is a whole number of periods $2L$ when $k$ is odd",
        "They agree to a quarter of a per cent",
        "at $\\varepsilon = 15$ $\\delta \\approx 10^{-24}$",
        "The bounds are some ten times larger than the error",
        "$10^{10}$ times too large below although all losses were rounded *down*",
        "by half of it at the end",
        "hundreds of times fewer points",
    )
    import numpy as np

    one = Gaussian(2)
    a, infinite = fourier.rounded_masses(one, 6, 96)
    for k in (7, 8):
        naive = np.fft.ifft(np.fft.fft(a) ** k).real
        right = fourier.compose(a, k, 6).masses
        assert (np.abs(naive - right).max() < 1e-15) == (k % 2 == 1)
        assert np.abs(np.fft.fftshift(naive) - right).max() < 1e-15 or k % 2
    long, far = fourier.rounded_masses(one, 24, 384)
    true = fourier.algorithm_1(long, 8, 24, 1, far)
    assert abs(fourier.algorithm_1(a, 8, 6, 1, infinite) / true - 1) == pytest.approx(0.0025, abs=0.0005)
    for half in (4, 6, 9, 12):
        row, rest = fourier.rounded_masses(one, half, 16 * half)
        error = true - fourier.algorithm_1(row, 8, half, 1, rest)
        assert 3 < fourier.best_one_sided(row, 8, half).above / error < 20
    assert 1e-24 < fourier.delta(8 * one, 15).lower < 5e-24
    row, rest = fourier.rounded_masses(one, 24, 64 * 48, "lower")
    noise = fourier.algorithm_1(row, 8, 24, 16, rest)
    assert abs(noise) > 1e9 * fourier.delta(8 * one, 16).upper
    second_order = fourier.delta(8 * one, 1)
    many = 200 * second_order.budget.settings["n"]
    assert fourier.algorithm_1_bracket(one, 8, 11, many, 1).width > second_order.width
    fine, rest = fourier.rounded_masses(one, 24, 3072)
    grid = np.arange(-1536, 1536) / 64
    tilted = fine * np.exp(7 * grid)
    weights = np.exp(8 * np.log(tilted.sum()) - 7 * grid)
    law = fourier.compose(tilted / tilted.sum(), 8, 24).masses * weights
    value = float(law @ np.where(grid > 15, -np.expm1(np.minimum(15 - grid, 0)), 0))
    assert 1.4 < value / fourier.delta(8 * one, 15).lower < 1.7


def test_claims_of_05():
    says(
        "05_error_analysis",
        "The grid. So let us play with the window",
        "the best $\\lambda$ is $2.7$",
        "the factor stays at about $1/\\alpha^+$, here some 450",
        "One half, as if every loss moved by $\\Delta x/2$",
        "A *lower* bound fifteen times above the truth",
        "It follows down to about $10^{-13}$",
        "The same share of rounding at $\\delta = 0.29$ and at $10^{-214}$",
        "never more than $4k$ times the sharper bound",
        "a factor of $0.95$ is nothing in one step",
    )
    import math

    import numpy as np

    one = Gaussian(2)
    widths = {L: fourier.algorithm_1_bracket(one, 10, L, 1024, 1).budget for L in (4, 5, 6, 8, 12)}
    assert min(widths, key=lambda L: widths[L].total) == 8
    assert widths[8]["grid"] > 0.99 * widths[8].total
    assert fourier.best_one_sided(fourier.rounded_masses(one, 8, 2**14)[0], 10, 8).lam_above == pytest.approx(
        2.7, abs=0.01
    )
    for lam in (0.1, 1, 4):
        grown = fourier.alphas(fourier.rounded_masses(one, 8, 256)[0], 8, lam).plus - fourier.alphas_of(one, lam).plus
        assert grown / (lam / 16) == pytest.approx(0.5, abs=0.02)
    step = PoissonSubsampled(Gaussian(2), "0.01")
    plus, minus = fourier.alphas(fourier.rounded_masses(step, 4, 2**13)[0], 4, 4)
    sides = [
        (fourier.theorem_10(plus, minus, k, 4, 4).total, fourier.one_sided(plus, minus, k, 4, 4)) for k in (100, 50_000)
    ]
    ratios = [total / (side.above + side.below) for total, side in sides]
    assert ratios == pytest.approx([100, 450], rel=0.05)
    assert 1 / plus == pytest.approx(450, rel=0.02)
    lower = fourier.grid_masses(step, 4, 2**14, "minmax", "lower").masses
    assert lower.sum() == pytest.approx(0.95, abs=0.002)
    assert all(alpha < 0 for alpha in fourier.alphas(lower, 4, 2))
    assert 2 * math.e * math.exp(-8) / fourier.delta(1000 * step, "0.5").upper == pytest.approx(
        15, abs=0.5
    )  # its limit
    rng = np.random.default_rng(5)
    for a, b in rng.exponential(0.3, (200, 2)):
        k, L = int(rng.integers(1, 40)), float(rng.uniform(1, 5))
        side = fourier.one_sided(a, b, k, L, 1.001 / min(L, 1))
        assert fourier.theorem_10(a, b, k, L, 1.001 / min(L, 1)).total <= 4 * k * (side.above + side.below)
    quiet = 5000 * Gaussian(50)
    row = fourier.grid_masses(Gaussian(50), 24, 2**13, "split-merge", "upper")
    for eps, follows in ((10, True), (11, True), (13, False), (20, False)):
        plain = fourier.algorithm_1(row.masses, 5000, 24, eps, row.infinity)
        assert (0.3 < plain / fourier.delta(quiet, eps).upper < 3) == follows
    assert fourier.delta(quiet, 11).upper == pytest.approx(1e-13, rel=0.5)
    found = [fourier.delta(quiet, eps) for eps in (1, 45)]
    assert [bracket.upper for bracket in found] == [pytest.approx(0.286, abs=0.001), pytest.approx(3.5e-214, rel=0.02)]
    shares = [bracket.budget["rounding"] / bracket.upper for bracket in found]
    assert 0.3 < shares[0] / shares[1] < 3


def test_claims_of_02():
    says(
        "02_privacy_loss",
        "half of all mass sits in one **atom** there",
        "$1 - 0.75^{10} = 94\\,\\%$",
        "the promise $\\delta = 0$ is gone",
    )
    from dplab import Laplace, Pair

    uniform = Pair.from_text("heaviside(t - 1/4)*heaviside(5/4 - t)", "heaviside(t)*heaviside(1 - t)")
    assert [float(reference.delta(uniform, eps).value) for eps in (0, 1, 100)] == [0.25, 0.25, 0.25]
    assert round(100 * (1 - 0.75**10)) == 94
    truncated = Pair.from_text(
        "exp(-abs(t - 1))*heaviside(t + 2)*heaviside(4 - t)/(2 - 2*exp(-3))",
        "exp(-abs(t))*heaviside(t + 3)*heaviside(3 - t)/(2 - 2*exp(-3))",
    )
    # what P has above 3, and nothing else, has a loss above 1
    alone = (2.718281828459045**-2 - 2.718281828459045**-3) / (2 - 2 * 2.718281828459045**-3)
    assert float(reference.delta(truncated, 1).value) == pytest.approx(alone)
    assert float(reference.delta(Laplace(1), 1).value) == 0


def test_claims_of_03():
    says(
        "03_composition",
        "A composes *remove* and finds $5/32$",
        "*add* is the worse one, with $6/32$",
        "B finds $7/32$",
        "**B is safe, but not tight.**",
    )
    from fractions import Fraction as F

    asked = 2 * PoissonSubsampled(RandomizedResponse("3/4"), "1/2")
    found = [reference.delta(asked, "log(3/2)", direction=d, digits=20).value for d in ("remove", "add", "both")]
    assert [float(value) for value in found] == pytest.approx([5 / 32, 6 / 32, 6 / 32], rel=1e-15)
    # B: the larger of the two curves has corners at 1/2, 1 and 2, with these masses
    stepwise = {F(2): F(1, 2), F(1): F(1, 4), F(1, 2): F(1, 4)}
    x = F(3, 2)
    twice = sum(a * b * max(0, 1 - x / (r * s)) for r, a in stepwise.items() for s, b in stepwise.items())
    assert twice == F(7, 32)
    hundred = 100 * PoissonSubsampled(Gaussian(sigma=1), q="0.05")
    assert {fourier.delta(hundred, eps).judge(clt.delta(hundred, eps).value) for eps in (1, 2, 4)} == {"below"}


def test_claims_of_09():
    says(
        "09_exact_fft_clt",
        "$e^{16.5}$",
        "two parts in $10^{17}$",
        "$\\varepsilon = 1.62$",
        "off by more than a factor of ten",
    )
    import math
    from fractions import Fraction

    training = 10_000 * PoissonSubsampled(Gaussian(sigma=4), q="0.01")
    around = [float(reference.delta(training, eps, digits=15).value) for eps in ("0.95", "1.05")]
    assert math.log(around[0] / around[1]) / 0.1 == pytest.approx(16.5, abs=0.1)
    assert float(Fraction(0.01) * 100 - 1) == pytest.approx(2e-17, rel=0.1)
    heavy = 1000 * PoissonSubsampled(Gaussian(sigma=1), q="0.01")
    assert fourier.epsilon(heavy, "1e-5").judge(1.62) == "below"
    assert clt.epsilon(heavy, "1e-5").value == pytest.approx(1.62, abs=0.005)
    ratios = [fourier.delta(heavy, eps).lower / clt.delta(heavy, eps).value for eps in (1, 3)]
    assert ratios[0] < 10 < ratios[1]
