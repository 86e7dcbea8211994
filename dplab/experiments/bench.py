"""`python -m dplab.experiments.bench`: time, width and peak memory of the main questions.

Every measurement is the first call in a fresh process, imports excluded; each question is repeated until its median
is known to about 5 %, at least 5 and at most 25 times. `--only TEXT` keeps the questions whose name contains TEXT.
"""

import argparse
import json
import math
import statistics
import subprocess
import sys
import time

from tqdm import tqdm

from ..core.results import Reference
from .questions import questions

_LEAST, _MOST, _STABLE = 5, 25, 0.05


def measure(index: int) -> dict:
    """Answer one question here and now: seconds, peak memory in MB, the answer and its relative or absolute width."""
    import resource

    question = questions()[index]
    from importlib import import_module

    import_module(f"dplab.{question.route}")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    answer = question.ask()
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    per_mb = 1024.0 if sys.platform != "darwin" else 1024.0**2
    if isinstance(answer, Reference):
        width = float(answer.error / abs(answer.value))
    else:
        width = answer.width if question.delta is not None else answer.relative_width
    return {
        "seconds": seconds,
        "peak": peak / per_mb,
        "grown": (peak - before) / per_mb,
        "answer": str(answer),
        "width": width,
    }


def repeated(index: int) -> dict:
    """Medians over fresh processes, until they are stable."""
    runs: list[dict] = []
    while len(runs) < _MOST:
        command = [sys.executable, "-m", "dplab.experiments.bench", "--measure", str(index)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        runs.append(json.loads(done.stdout))
        if len(runs) >= _LEAST and _spread([run["seconds"] for run in runs]) < _STABLE:
            break
    median = {key: statistics.median(run[key] for run in runs) for key in ("seconds", "peak", "grown")}
    return {**runs[0], **median, "runs": len(runs)}


def _spread(values: list[float]) -> float:
    """Standard error of the median, relative, from the median absolute deviation."""
    middle = statistics.median(values)
    deviation = statistics.median(abs(value - middle) for value in values)
    return 1.4826 * 1.2533 * deviation / math.sqrt(len(values)) / middle


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measure", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--only", default="", help="part of a question's name")
    arguments = parser.parse_args()
    if arguments.measure is not None:
        print(json.dumps(measure(arguments.measure)))
        return
    chosen = [(i, q) for i, q in enumerate(questions()) if arguments.only in q.name]
    print(f"{'question':<46}{'route':<11}{'ms':>8}{'runs':>6}{'MB':>7}{'+MB':>6}{'width':>10}  answer")
    for index, question in tqdm(chosen, disable=None, leave=False):
        found = repeated(index)
        tqdm.write(
            f"{question.name:<46}{question.route:<11}{1e3 * found['seconds']:>8.1f}{found['runs']:>6}"
            f"{found['peak']:>7.0f}{found['grown']:>6.0f}{found['width']:>10.1e}  {found['answer'][:100]}"
        )


if __name__ == "__main__":
    main()
