"""Stages that may run away run in a process of their own, which is ended when its budget is spent.

A plain `subprocess` (no fork of a process with threads, no import of the caller's `__main__`): it reads one pickled
request, a function of this package with its arguments, and writes one pickled answer. Both ends are ours. The budget
is CPU time where the system can limit it, so that a busy machine does not change the outcome, counted from when sympy
has been imported; and four times as much wall time in any case.
"""

import importlib
import os
import pickle
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core.errors import ParameterError

DEFAULT_BUDGET = 1.0
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


class Running:
    """`function` ("module:name" inside dplab.symbolic) in a process of its own; it never hangs.

    `result` waits for it, and leaving the `with` block ends it. Raises ParameterError for a budget that is no number of
    seconds from 0.1 to 3600.
    """

    def __init__(self, stage: str, function: str, *arguments, budget: float = DEFAULT_BUDGET) -> None:
        number = isinstance(budget, (int, float)) and not isinstance(budget, bool)
        if not number or not LEAST_BUDGET <= budget <= LARGEST_BUDGET:
            allowed = f"a number of seconds from {LEAST_BUDGET} to {LARGEST_BUDGET:g}"
            raise ParameterError("budget", budget, allowed)
        self.stage, self.budget = stage, budget
        self._ends = time.monotonic() + 4 * (budget + START_UP)
        path = str(Path(__file__).parents[2])
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, [path, os.environ.get("PYTHONPATH")]))}
        command = [sys.executable, "-m", "dplab.symbolic.worker"]
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        self._process: subprocess.Popen | None = None
        try:
            self._process = process = subprocess.Popen(command, env=environment, **pipes)
            assert process.stdin is not None
            process.stdin.write(pickle.dumps((function, arguments, budget)))
            process.stdin.flush()
        except OSError:  # a kernel without processes, as in a browser
            return

    def __enter__(self) -> "Running":
        return self

    def __exit__(self, *_) -> None:
        if self._process is not None:
            self._process.kill()
            with self._process:  # closes its pipes and waits
                pass

    def result(self) -> Any:
        """Its value, or StageStopped."""
        if self._process is None:
            return StageStopped(self.stage, "this Python can start no worker")
        try:
            answer, _ = self._process.communicate(timeout=max(0.1, self._ends - time.monotonic()))
        except subprocess.TimeoutExpired:
            answer = b""
        if self._process.returncode != 0 or not answer:
            return StageStopped(self.stage, f"its budget of {self.budget:g} s ran out", self.budget)
        kind, value = pickle.loads(answer)
        return value if kind == "value" else StageStopped(self.stage, value)


def _limit_cpu(seconds: float) -> None:
    """End this process after so much CPU time from now; a resource limit would know whole seconds only."""
    if hasattr(signal, "setitimer"):  # else the wall time alone ends it
        signal.setitimer(signal.ITIMER_PROF, seconds)


def main() -> None:
    """Answer the request on standard input."""
    function, arguments, budget = pickle.load(sys.stdin.buffer)
    module, name = function.split(":")
    try:
        found = getattr(importlib.import_module(f"dplab.symbolic.{module}"), name)
        _limit_cpu(budget)
        answer = ("value", found(*arguments))
    except Exception as error:
        answer = ("stopped", f"{type(error).__name__}: {error}"[:200])
    sys.stdout.buffer.write(pickle.dumps(answer))


if __name__ == "__main__":
    main()
