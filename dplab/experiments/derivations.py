"""How long each built-in derivation takes: the first one in a fresh process, imports excluded.

`python -m dplab.experiments.derivations NUMBER` makes one and prints JSON.
"""

import json
import statistics
import subprocess
import sys
from collections.abc import Callable

from ..core.pair import Pair
from ..peers.harness import measured
from .machine import environment

GOAL = 2.0
"""Seconds within which each must be done."""


def subjects() -> list[tuple[Pair, str]]:
    """Every mechanism of the gallery, alone and Poisson-subsampled, in each direction."""
    from ..mechanisms import PoissonSubsampled
    from ..symbolic.showing import specimens

    alone = specimens()
    sampled = [PoissonSubsampled(pair, "q") for pair in alone if not isinstance(pair, PoissonSubsampled)]
    everything = list(dict.fromkeys([*alone, *sampled]))
    return [(pair, way) for pair in everything for way in (("forward",) if pair.symmetric else ("forward", "backward"))]


def name_of(subject: tuple[Pair, str]) -> str:
    """Mechanism and direction."""
    return f"{subject[0]!r} {subject[1]}"


def derive_here(number: int) -> dict:
    """One derivation in this process: seconds, CPU seconds, number of steps; or why there is none."""
    from .. import symbolic
    from ..core.errors import NoClosedFormError

    pair, direction = subjects()[number]
    try:
        derivation, figures = measured(lambda: symbolic.derive(pair, direction))
    except NoClosedFormError as error:
        return {"reason": str(error)}
    return {"steps": len(derivation.steps), **figures}


def derivation_times(repeat: int, tick: Callable[[], object]) -> list[dict]:
    """Every derivation: its name and medians over fresh processes, or the reason why there is none."""
    found = []
    for number, subject in enumerate(subjects()):
        command = [sys.executable, "-m", "dplab.experiments.derivations", str(number)]
        runs = []
        for _ in range(repeat):
            done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment())
            runs.append(json.loads(done.stdout))
            tick()
        medians = {
            figure: statistics.median(run[figure] for run in runs)
            for figure in ("seconds", "cpu_seconds", "peak_mb")
            if all(run.get(figure) is not None for run in runs)
        }
        found.append({"subject": name_of(subject), **runs[0], **medians})
    return found


def lines(found: list[dict]) -> list[str]:
    """One line a derivation."""
    shown = []
    for one in found:
        if "reason" in one:
            shown.append(f"{one['subject']:<60} none: {one['reason']}")
        else:
            verdict = "goal met" if one["seconds"] <= GOAL else "MISSES ITS GOAL"
            shown.append(f"{one['subject']:<60} {one['seconds']:6.2f} s, {one['steps']} steps, {verdict}")
    return shown


if __name__ == "__main__":
    print(json.dumps(derive_here(int(sys.argv[1]))))
