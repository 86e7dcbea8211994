"""Costs known beforehand: estimates against the allocator's own count, and requests refused before they begin."""

import re
import subprocess
import sys
import tracemalloc

import pytest

from dplab import DplabError, Gaussian, Laplace, PoissonSubsampled, RandomizedResponse, fourier
from dplab.core.errors import MemoryLimitError, ParameterError
from dplab.fourier import Cost

SAMPLED = PoissonSubsampled(Gaussian(1), "0.01")
SEVERAL = sum((50 * PoissonSubsampled(Gaussian(1 + i / 4), "0.01") for i in range(1, 6)), 50 * SAMPLED)
CASES = [
    ("nodes", 1000 * SAMPLED, 1, {"rtol": 1e-5}),
    ("points", 10_000 * PoissonSubsampled(Gaussian(4), "0.01"), 1, {"rtol": 1e-5}),
    ("atoms that keep the transform up", 5 * Laplace(1), 1, {"rtol": 1e-8}),
    ("atoms that do not", 1000 * Laplace(10), 10, {"rtol": 1e-6}),
    ("several parts", SEVERAL, 1, {"rtol": 1e-3}),
    ("round", 100 * SAMPLED, 1, {"grid": "round", "rtol": 2e-2}),
    ("minmax", 5 * PoissonSubsampled(Gaussian(1), "0.1"), 1, {"grid": "minmax", "rtol": 1e-2}),
    ("point", 1000 * SAMPLED, 1, {"grid": "point", "rtol": 1e-5}),
    ("large losses counted", 100 * PoissonSubsampled(Gaussian(1), "1e-4"), "0.5", {"rtol": 1e-4}),
]


def peak_of(call) -> int:
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(("composition", "eps", "settings"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_memory_is_right_within_a_factor_of_two(composition, eps, settings):
    estimate = fourier.cost(composition, eps, direction="forward", **settings).memory
    peak = peak_of(lambda: fourier.delta(composition, eps, "forward", **settings))
    assert peak > 1e6
    assert peak / 2 <= estimate <= 2 * peak


def test_memory_of_eps_of_delta():
    composition = 1000 * SAMPLED
    estimate = fourier.cost(composition, delta="1e-5", direction="forward", atol=1e-5).memory
    peak = peak_of(lambda: fourier.epsilon(composition, "1e-5", "forward", atol=1e-5))
    assert peak / 2 <= estimate <= 2 * peak


MEASURED = """
import resource, sys
from pathlib import Path
from dplab import Gaussian, PoissonSubsampled, fourier

def call(rtol):
    composition = 10_000 * PoissonSubsampled(Gaussian(4), "0.01")
    fourier.delta(composition, 1, "forward", rtol=rtol)
    status = Path("/proc/self/status")
    if status.exists():  # where ru_maxrss would include the parent process
        return 1024 * int(status.read_text().split("VmHWM:")[1].split()[0])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

print(-call(1e-2) + call(3e-7))
"""


def test_resident_memory_of_a_fresh_process():
    out = subprocess.run([sys.executable, "-c", MEASURED], capture_output=True, text=True, check=True).stdout
    peak = int(out)
    estimate = fourier.cost(10_000 * PoissonSubsampled(Gaussian(4), "0.01"), 1, direction="forward", rtol=3e-7).memory
    assert estimate > 5e7
    assert peak / 2 <= estimate <= 2 * peak


def test_estimates_allocate_little():
    assert peak_of(lambda: fourier.cost(1000 * SAMPLED, 1, rtol=1e-9, max_size=2**27)) < 3e6


# --- refusals ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "name"),
    [({"rtol": 1e-7}, "rtol"), ({"dx": "1e-7"}, "dx"), ({"rtol": 1e-4, "grid": "round"}, "rtol")],
    ids=str,
)
def test_a_refusal_says_which_accuracy_fits(settings, name):
    limit = 2e7
    with pytest.raises(MemoryLimitError, match=rf"more than max_memory = 20 MB; {name} = .* fits") as caught:
        fourier.delta(1000 * SAMPLED, 1, "forward", max_memory=limit, **settings)
    assert isinstance(caught.value, DplabError)
    assert isinstance(caught.value, MemoryError)
    fits = float(re.search(rf"{name} = (\S+) fits", str(caught.value))[1])
    peak = peak_of(lambda: fourier.delta(1000 * SAMPLED, 1, "forward", max_memory=limit, **{**settings, name: fits}))
    assert peak < 2 * limit
    assert fourier.cost(1000 * SAMPLED, 1, direction="forward", **{**settings, name: fits}).memory > 0.5 * limit


def test_eps_is_refused_in_its_own_unit():
    with pytest.raises(MemoryLimitError, match=r"atol = .* fits") as caught:
        fourier.epsilon(1000 * SAMPLED, "1e-5", atol=1e-9, max_memory=2e7)
    fits = float(re.search(r"atol = (\S+) fits", str(caught.value))[1])
    found = fourier.epsilon(1000 * SAMPLED, "1e-5", atol=fits, max_memory=2e7)
    assert found.width <= fits


def test_nothing_large_is_allocated_before_a_refusal():
    def refused():
        with pytest.raises(MemoryLimitError):
            fourier.delta(1000 * SAMPLED, 1, rtol=1e-9, max_memory=1e8)

    assert peak_of(refused) < 3e6


def test_many_parts_are_refused_at_the_default():
    many = sum((30 * Gaussian(str(20 + i / 10)) for i in range(30)), 30 * Gaussian(7))
    with pytest.raises(MemoryLimitError, match=r"max_memory = 1.07 GB"):
        fourier.delta(many, 1, dx="1e-7", max_size=2**24)


def test_a_refusal_for_settings_by_hand_names_them():
    with pytest.raises(MemoryLimitError, match="n = 4194304 was set by hand"):
        fourier.delta(1000 * SAMPLED, 1, n=2**22, max_memory=2e7)
    with pytest.raises(MemoryLimitError, match="no accuracy fits"):
        fourier.delta(1000 * SAMPLED, 1, max_memory=1e5)


def test_second_tries_stay_within_the_limit():
    """Atoms off the grid need a much finer second try than was planned: the bracket is what fits, flagged."""
    mixed = 3 * Laplace(1) + 2 * RandomizedResponse("0.7")
    limit = 1e7
    found = []
    peak = peak_of(lambda: found.append(fourier.delta(mixed, 1, rtol=1e-7, max_memory=limit)))
    assert not found[0].reached
    assert found[0].relative_width < 1e-3
    assert peak < 2 * limit


# --- the call itself --------------------------------------------------------------------------------


def test_what_needs_no_grid():
    for cost in (
        fourier.cost(Gaussian(1), 1),
        fourier.cost(3 * Laplace(0), 1),
        fourier.cost(5 * Gaussian(1), "inf"),
        fourier.cost(5 * Gaussian(1), delta=1),
    ):
        assert cost == Cost(0, 0.0)
        assert "no grid" in str(cost)


def test_both_directions_take_the_larger_memory_and_the_sum_of_times():
    ways = [fourier.cost(1000 * SAMPLED, 1, direction=way) for way in ("forward", "backward", "both")]
    assert ways[2].memory == max(ways[0].memory, ways[1].memory)
    assert ways[2].seconds == pytest.approx(ways[0].seconds + ways[1].seconds)


def test_how_it_shows():
    cost = fourier.cost(1000 * SAMPLED, 1)
    assert re.fullmatch(r"about [\d.]+ MB and [\d.]+ s: \d+ points, \d+ nodes in 1 grid, dx = [\d.e-]+", str(cost))
    assert "<td" in cost._repr_html_()


@pytest.mark.parametrize("arguments", [{}, {"eps": 1, "delta": "1e-5"}], ids=str)
def test_one_of_eps_and_delta(arguments):
    with pytest.raises(ParameterError, match=r"^eps"):
        fourier.cost(1000 * SAMPLED, **arguments)


@pytest.mark.parametrize("bad", [0, -1, "lots", None, float("nan")], ids=repr)
def test_bad_limits_are_named(bad):
    with pytest.raises(ParameterError, match=r"^max_memory"):
        fourier.delta(1000 * SAMPLED, 1, max_memory=bad)
