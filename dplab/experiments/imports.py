"""The import of the numeric path beside that of numpy and scipy.special: medians over fresh processes, alternating."""

import statistics
import subprocess
import sys
from collections.abc import Callable

from .machine import environment

GOAL = 1.3
STATEMENTS = {
    "numpy + scipy.special": "import numpy, scipy.special",
    "dplab.fourier": "import dplab.fourier",
    "dplab": "import dplab",
}
_TIMED = """
import time
wall, cpu = time.perf_counter(), time.process_time()
{}
print(time.perf_counter() - wall, time.process_time() - cpu)
"""


def import_times(repeat: int, tick: Callable[[], None]) -> dict[str, dict[str, float]]:
    """Median wall and CPU seconds of each import; a first round, not counted, leaves bytecode files behind."""
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in STATEMENTS}
    for number in range(repeat + 1):
        for name, statement in STATEMENTS.items():
            command = [sys.executable, "-c", _TIMED.format(statement)]
            done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment())
            wall, cpu = map(float, done.stdout.split())
            if number:
                found[name].append((wall, cpu))
            tick()
    return {
        name: {
            "seconds": statistics.median(wall for wall, _ in pairs),
            "cpu_seconds": statistics.median(cpu for _, cpu in pairs),
        }
        for name, pairs in found.items()
    }


def ratio(times: dict[str, dict[str, float]]) -> float:
    """dplab.fourier over numpy + scipy.special, of CPU seconds (the same work, whatever else runs)."""
    return times["dplab.fourier"]["cpu_seconds"] / times["numpy + scipy.special"]["cpu_seconds"]
