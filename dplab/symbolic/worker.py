"""Stages that may run away run in a process of their own, which is ended when its budget is spent.

A plain `subprocess` (no fork of a process with threads, no import of the caller's `__main__`): it reads one pickled
request, a function of this package with its arguments, and writes one pickled answer. Both ends are ours. The budget
is CPU time where the system can limit it, so that a busy machine does not change the outcome, and four times as much
wall time in any case.
"""

import importlib
import os
import pickle
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core.errors import ParameterError

DEFAULT_BUDGET = 2.0
START_UP = 1.0
"""Seconds that are granted for starting Python and importing sympy."""
LEAST_BUDGET, LARGEST_BUDGET = 0.1, 3600.0


@dataclass(frozen=True)
class StageStopped:
    """A stage without a result: which one, and why. `spent` is the budget in seconds if that was the reason."""

    stage: str
    reason: str
    spent: float | None = None

    def __str__(self) -> str:
        return f"{self.stage}: {self.reason}"


def run_stage(stage: str, function: str, *arguments, budget: float = DEFAULT_BUDGET) -> Any:
    """The value of `function` ("module:name" inside dplab.symbolic), or StageStopped; never hangs.

    Raises ParameterError for a budget that is no number of seconds from 0.1 to 3600.
    """
    if isinstance(budget, bool) or not isinstance(budget, (int, float)) or not LEAST_BUDGET <= budget <= LARGEST_BUDGET:
        raise ParameterError("budget", budget, f"a number of seconds from {LEAST_BUDGET} to {LARGEST_BUDGET:g}")
    path = str(Path(__file__).parents[2])
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, [path, os.environ.get("PYTHONPATH")]))}
    request = pickle.dumps((function, arguments, budget))
    command = [sys.executable, "-m", "dplab.symbolic.worker"]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    try:
        with subprocess.Popen(command, env=environment, **pipes) as process:
            try:
                answer, _ = process.communicate(request, timeout=4 * (budget + START_UP))
            except subprocess.TimeoutExpired:
                answer = b""
            finally:
                process.kill()
    except OSError:  # a kernel without processes, as in a browser
        return StageStopped(stage, "this Python can start no worker")
    if process.returncode != 0 or not answer:
        return StageStopped(stage, f"its budget of {budget:g} s ran out", budget)
    kind, value = pickle.loads(answer)
    return value if kind == "value" else StageStopped(stage, value)


def _limit_cpu(seconds: float) -> None:
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 2))
    except (ImportError, ValueError, OSError):
        pass  # then the wall time alone ends it


def main() -> None:
    """Answer the request on standard input."""
    function, arguments, budget = pickle.load(sys.stdin.buffer)
    _limit_cpu(budget + START_UP)
    module, name = function.split(":")
    try:
        answer = ("value", getattr(importlib.import_module(f"dplab.symbolic.{module}"), name)(*arguments))
    except Exception as error:
        answer = ("stopped", f"{type(error).__name__}: {error}"[:200])
    sys.stdout.buffer.write(pickle.dumps(answer))


if __name__ == "__main__":
    main()
