"""`python -m dplab.experiments.strict`: random brackets against references, by the thousand.

Each case (see `strict_cases`) asks delta(eps) of `fourier` at default settings and of `reference` to 20 digits. The
bracket has to contain the reference; a violation is a bug. Results are appended to a file, one line of JSON a case, and
a run that is started again goes on where it stopped. A reference that does not reach its digits, or not within its
time, judges nothing: such cases are counted and named, and do not count as passed.
"""

import argparse
import json
import math
import multiprocessing
import signal
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import mpmath
from tqdm import tqdm

from .. import fourier, reference
from .strict_cases import case, exact_eps

DIGITS = 20
LIMIT = 60
"""Seconds of CPU that one reference may take."""

WIDE = 1e-2
QUANTILES = (0.5, 0.9, 0.95, 0.99, 1.0)
DEFAULT_FILE = "strict-results.jsonl"


class _TooSlow(BaseException):
    """Raised by the timer; no handler of ordinary errors may swallow it."""


def examine(number: int, limit: float = LIMIT) -> dict:
    """One case: its question, the bracket, the reference and the verdict, as plain JSON values.

    verdict: "inside", "outside", "no reference", or "crash" where `fourier` raised an error. `width` is the bracket's
    relative width.
    """
    found = case(number)
    asked = {
        "case": number,
        "family": found.family,
        "composition": repr(found.composition),
        "eps": found.eps,
        "direction": found.direction,
    }
    start = time.process_time()
    try:
        bracket = fourier.delta(found.composition, exact_eps(found), found.direction)
    except Exception as error:  # a bracket is promised for every question: whatever was raised is a bug
        return {**asked, "verdict": "crash", "width": 1.0, "truth": f"{type(error).__name__}: {error}"}
    bracket_seconds = time.process_time() - start
    result = asked | {
        "lower": bracket.lower.hex(),
        "upper": bracket.upper.hex(),
        "width": bracket.relative_width if math.isfinite(bracket.relative_width) else 1.0,
        "reached": bracket.reached,
        "note": bracket.note,
        "seconds": round(bracket_seconds, 3),
    }
    start = time.process_time()
    try:
        truth = _timed(lambda: reference.delta(found.composition, exact_eps(found), found.direction, DIGITS), limit)
    except (_TooSlow, ArithmeticError) as error:
        return {**result, "verdict": "no reference", "why": type(error).__name__}
    result |= {
        "truth": mpmath.nstr(truth.value, DIGITS),
        "error": mpmath.nstr(truth.error, 3),
        "method": truth.method,
        "reference_seconds": round(time.process_time() - start, 3),
    }
    with mpmath.workdps(2 * DIGITS):
        # Inside even if the reference errs by all that it owns up to.
        inside = bracket.lower <= truth.value + truth.error and truth.value - truth.error <= bracket.upper
    if not inside:
        return {**result, "verdict": "outside"}
    return {**result, "verdict": "inside" if truth.reached else "no reference"}


def _timed(ask, seconds: float):
    def stop(*_):
        raise _TooSlow

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        return ask()
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def run(numbers: list[int], file: Path, processes: int, limit: float = LIMIT) -> Iterator[dict]:
    """Examine the cases that the file does not hold yet, append them to it, and yield all results."""
    wanted, done = set(numbers), {}
    if file.exists():
        for line in file.read_text().splitlines():
            result = json.loads(line)
            if result["case"] in wanted:
                done[result["case"]] = result
    yield from done.values()
    left = [number for number in numbers if number not in done]
    with file.open("a") as out, multiprocessing.get_context("spawn").Pool(processes) as pool:
        for result in pool.imap_unordered(partial(examine, limit=limit), left):
            out.write(json.dumps(result) + "\n")
            out.flush()
            yield result


def report(results: list[dict]) -> str:
    """The verdicts, and how wide the brackets are, by family."""
    judged = [r for r in results if r["verdict"] in ("inside", "outside")]
    outside = [r for r in judged if r["verdict"] == "outside"]
    crashed = [r for r in results if r["verdict"] == "crash"]
    lines = [
        f"{len(results)} cases, {len(judged)} with a reference to {DIGITS} digits: "
        f"{len(judged) - len(outside)} brackets contain it, {len(outside)} do not",
        f"relative width <= {WIDE:g}: {_share(results):.2%} of all cases",
        "",
        f"{'relative width of the bracket':<34}" + "".join(f"{f'{q:.0%}':>10}" for q in QUANTILES) + f"{'<= 1e-2':>10}"
        f"{'cases':>8}{'no ref.':>8}",
    ]
    for family in ["all", *sorted({r["family"] for r in results})]:
        chosen = [r for r in results if family in ("all", r["family"])]
        widths = sorted(r["width"] for r in chosen)
        row = [widths[max(math.ceil(q * len(widths)) - 1, 0)] for q in QUANTILES]
        missing = sum(r["verdict"] == "no reference" for r in chosen)
        columns = "".join(f"{w:>10.1e}" for w in row)
        lines.append(f"{family:<34}{columns}{_share(chosen):>10.1%}{len(chosen):>8}{missing:>8}")
    for r in outside + crashed:
        lines.append(
            f"{r['verdict'].upper()} case {r['case']}: {r['composition']} eps={r['eps']} {r['direction']}: {r['truth']}"
        )
    return "\n".join(lines)


def _share(results: list[dict]) -> float:
    return sum(r["width"] <= WIDE for r in results) / max(len(results), 1)


def main() -> None:
    """Run the cases and print the report; exit status 1 if a bracket is missing or does not contain its
    reference."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=10_000, help="how many (default 10,000)")
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds that one reference may take")
    parser.add_argument("--file", type=Path, default=Path(DEFAULT_FILE), help="where results are kept")
    parser.add_argument("--report", action="store_true", help="only report what the file holds")
    arguments = parser.parse_args()
    numbers = list(range(arguments.first, arguments.first + arguments.cases))
    if arguments.report:
        results = [json.loads(line) for line in arguments.file.read_text().splitlines()]
    else:
        found = run(numbers, arguments.file, arguments.processes, arguments.limit)
        results = list(tqdm(found, total=len(numbers), disable=None))
    print(report(results))
    sys.exit(any(r["verdict"] in ("outside", "crash") for r in results))


if __name__ == "__main__":
    main()
