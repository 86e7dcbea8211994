"""Growth: what is asked, that it is timed and written; and that equal parts are transformed once."""

import json

import numpy as np
import pytest

from dplab import Gaussian, Laplace, fourier
from dplab.experiments import scale
from dplab.experiments.scale import Line, Point, lines, measure


def test_lines_grow_and_end_where_they_should():
    for line in lines():
        sizes = [point.size for point in line.points]
        assert sizes == sorted(set(sizes))
        assert line.panel in scale.PANELS
    ends = {
        panel: max(p.size for line in lines() if line.panel == panel for p in line.points) for panel in scale.PANELS
    }
    assert ends == {"steps": 10**7, "fixed": 10**7, "n": 2**22, "mechanisms": 1000, "points": 1000}
    assert max(point.size for line in lines(100) for point in line.points if line.panel == "steps") == 100


class Work:
    """A call that says so, and whose time is set by the clock below."""

    def __init__(self):
        self.calls = 0

    def __call__(self):
        self.calls += 1
        return fourier.delta(Gaussian(1), 1)


@pytest.fixture
def clock(monkeypatch):
    """CPU seconds as set by the test: each call takes the next of them."""
    durations, now = [], [0.0]

    def process_time():
        if durations and process_time.running:
            now[0] += durations.pop(0)
        process_time.running = not process_time.running
        return now[0]

    process_time.running = False
    monkeypatch.setattr(scale.time, "process_time", process_time)
    return durations


def test_medians(clock):
    clock[:] = [3.0, 1.0, 2.0]
    work = Work()
    found = measure(Line("n", "x", 1.0, (Point(5, work),)), 3, 10, lambda: None)
    assert (found.sizes, found.seconds, found.reached) == ([5], [2.0], [True])
    assert work.calls == 4  # the first warms up


def test_slow_points_are_not_repeated_and_very_slow_ones_end_the_line(clock):
    clock[:] = [5.0, 50.0]
    works = [Work(), Work(), Work()]
    ticks = []
    points = tuple(Point(10**i, work) for i, work in enumerate(works))
    found = measure(Line("n", "x", 1.0, points), 3, 1, lambda: ticks.append(1))
    assert found.sizes == [1, 10]
    assert [work.calls for work in works] == [2, 1, 0]
    assert len(ticks) == 3


def test_the_whole_command(tmp_path, capsys):
    assert scale.main(["--only", "n", "--repeat", "1", "--largest", "4096", "--out", str(tmp_path)]) == 0
    assert "transform size n" in capsys.readouterr().out
    (line,) = json.loads((tmp_path / "scale.json").read_text())["lines"]
    assert line["sizes"] == line["transforms"] == [1024, 4096]
    assert "| 4,096 |" in (tmp_path / "scale.md").read_text()
    assert "<desc" in (tmp_path / "scale.svg").read_text()


# --- what the growth rests on --------------------------------------------------------------------------


@pytest.mark.parametrize("k", [10, 1000, 100_000])
@pytest.mark.parametrize("ask", [lambda c: fourier.delta(c, "1.5"), lambda c: fourier.epsilon(c, "1e-6")])
def test_each_distinct_part_is_transformed_once_a_side(monkeypatch, k, ask):
    """Whatever the number of steps; equal parts are one, however they were written."""
    real, calls = np.fft.rfft, []

    def counted(*args, **keywords):
        calls.append(1)
        return real(*args, **keywords)

    monkeypatch.setattr(np.fft, "rfft", counted)
    parts = k * Gaussian(50) + k * Laplace(20) + k * Gaussian("50.0") + k * Gaussian(100, sensitivity=2)
    ask(parts)
    assert len(calls) == 2 * 2
