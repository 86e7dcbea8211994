"""The picture of growth: exponents from the far end, all lines named, nothing under the legend."""

import pytest

from dplab.plots import draw_scaling, picture
from dplab.plots.scaling import exponent

ROOT = [(10.0**j, 10.0 ** (j / 2 - 3)) for j in range(8)]
FLAT_THEN_LINEAR = [(1, 1.0), (10, 1.0), (100, 1.0), (1000, 10.0), (10_000, 100.0)]


def test_the_exponent_is_that_of_the_far_end():
    assert exponent(ROOT) == pytest.approx(0.5)
    assert exponent(FLAT_THEN_LINEAR) == pytest.approx(1.0)
    assert exponent([(1, 2.0), (1000, 2.0)]) == pytest.approx(0.0)
    assert exponent([(1, 1.0), (10, 2.0), (1e6, 3.0)], decades_kept=1) > 0  # two points at least


def test_lines_guide_and_sentence():
    from matplotlib.figure import Figure

    ax = Figure().add_subplot()
    said = draw_scaling(ax, {"root": ROOT, "line": FLAT_THEN_LINEAR}, x="steps k", guide=0.5)
    assert said.startswith("CPU seconds against steps k from 1 to 1e7: ")
    assert "root from 0.001 to 3.16 seconds, exponent 0.50" in said
    assert "line from 1 to 100 seconds, exponent 1.00" in said
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["root: 0.50", "line: 1.00", "exponent 0.5"]
    guide = ax.get_lines()[-1]
    (x0, x1), (y0, y1) = guide.get_data()
    assert (y1 - y0) / (x1 - x0) == pytest.approx(0.5)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_the_legend_covers_no_line(count):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.6, 4.8))
    ax = figure.add_subplot()
    draw_scaling(ax, {f"series {i}": [(x, t * 2**i) for x, t in ROOT] for i in range(count)}, x="k", guide=0.5)
    figure.draw_without_rendering()
    box = ax.get_legend().get_window_extent()
    for line in ax.get_lines():
        for point in ax.transData.transform(line.get_xydata()):
            assert not box.contains(*point)


def test_it_makes_a_picture():
    made = picture(draw_scaling, {"root": ROOT}, x="n", guide=1.0, title="growth")
    assert made.svg.startswith("<svg")
    assert "exponent 0.50" in made.description
