"""`python -m dplab.experiments.bench` (`make bench`): dplab and other accountants on the same questions.

Every figure is the first call in a fresh process, imports excluded, median of `--repeat` processes. dplab's brackets
must contain the truth, or the bench fails. Results go to `--out` as JSON and as Markdown.
"""

import argparse
import json
import sys
from pathlib import Path

from tqdm import tqdm

from .. import peers
from . import machine, tables
from .derivations import derivation_times, lines, subjects
from .imports import GOAL, STATEMENTS, import_times, ratio
from .measuring import Measurement, of_peer, own
from .questions import Question, questions

DERIVATIONS = "derivations"
"""The row of the symbolic route: every built-in derivation."""


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--repeat", type=int, default=7, metavar="N", help="processes for each figure (7)")
    made.add_argument("--only", default="", metavar="ROWS", help="rows by name: W1,W4 eps=8,derivations")
    made.add_argument("--peers", default="all", metavar="NAMES", help='"all", "none", or names separated by commas')
    made.add_argument("--variants", default="", metavar="NAMES", help="only these settings of peers, by name")
    made.add_argument("--patience", type=float, default=20, metavar="S", help="a slower peer is run once only (20)")
    made.add_argument("--timeout", type=float, default=600, metavar="S", help="when a peer is given up (600)")
    made.add_argument("--out", type=Path, default=Path("build/bench"), metavar="DIR", help="where the results go")
    return made


def chosen_rows(only: str) -> list[Question]:
    """The rows named; "W4" also stands for its single points.

    Raises SystemExit for a name that there is not.
    """
    names = [name.strip() for name in only.split(",") if name.strip() and name.strip() != DERIVATIONS]
    if not names and only:
        return []
    rows = [row for row in questions() if not names or any(row.name == n or row.name.split()[0] == n for n in names)]
    known = {row.name for row in questions()} | {row.name.split()[0] for row in questions()}
    if unknown := [name for name in names if name not in known]:
        raise SystemExit(f"--only: no row called {', '.join(unknown)}; there are {', '.join(sorted(known))}")
    return rows


def chosen_peers(asked: str, variants: str) -> list[tuple[str, str]]:
    """(peer, setting) pairs; peers that are not installed are kept, so that each is reported by name."""
    names = list(peers.NAMES) if asked == "all" else [n.strip() for n in asked.split(",") if n.strip() and n != "none"]
    wanted = [variant.strip() for variant in variants.split(",") if variant.strip()]
    there = peers.installed()
    pairs = []
    for name in names:
        settings = list(peers.adapter(name).variants)
        settings = [variant for variant in settings if not wanted or variant in wanted]
        pairs += [(name, variant) for variant in (settings if there[name] else settings[:1])]
    return pairs


def measure_row(row: Question, others: list[tuple[str, str]], arguments: argparse.Namespace, bar) -> list[Measurement]:
    """dplab at each of the row's goals, then every peer."""
    found = []
    tqdm.write(f"{row.name}: {row.title}; truth {row.truth[0] if len(row.truth) == 1 else 'in closed form'}")

    def report(one: Measurement) -> None:
        found.append(one)
        tqdm.write(tables.line(one, row.quantity))

    for goal in range(len(row.goals)):
        bar.set_postfix_str(f"{row.name} dplab")
        report(own(row, goal, arguments.repeat, bar.update))
    for name, variant in others if len(row.truth) == 1 else []:
        bar.set_postfix_str(f"{row.name} {name} {variant}")
        before = bar.n
        if (found[-1].who, found[-1].status) not in ((name, "not modelled"), (name, "not installed")):
            report(of_peer(row, name, variant, arguments.repeat, arguments.patience, arguments.timeout, bar.update))
        bar.update(arguments.repeat - (bar.n - before))  # what was left out
    return found


def main(argv: list[str] | None = None) -> int:
    """Run the bench; 1 if a bracket of dplab's misses the truth."""
    arguments = parser().parse_args(argv)
    if arguments.repeat < 1:
        raise SystemExit("--repeat: at least 1")
    rows, others = chosen_rows(arguments.only), chosen_peers(arguments.peers, arguments.variants)
    derived = not arguments.only or DERIVATIONS in arguments.only
    runs = sum(arguments.repeat * (len(row.goals) + (len(others) if len(row.truth) == 1 else 0)) for row in rows)
    loads = [machine.load() or 0.0]
    results = []
    runs += (arguments.repeat + 1) * len(STATEMENTS) + (arguments.repeat * len(subjects()) if derived else 0)
    with tqdm(total=runs, disable=None, unit="run") as bar:
        bar.set_postfix_str("imports")
        times = import_times(arguments.repeat, bar.update)
        for row in rows:
            results.append((row, measure_row(row, others, arguments, bar)))
            loads.append(machine.load() or 0.0)
        bar.set_postfix_str(DERIVATIONS)
        derivations = derivation_times(arguments.repeat, bar.update) if derived else []
    print("\n".join(lines(derivations)))
    facts = _facts(times, loads, arguments.repeat)
    print("\n".join(facts))
    _write(arguments.out, results, times, derivations, facts, loads)
    wrong = [one for _, found in results for one in found if one.who == "dplab" and one.sound is False]
    for one in wrong:
        print(f"STRICTNESS: {one.row} at {one.setting}: [{one.lower!r}, {one.upper!r}] misses the truth")
    return 1 if wrong else 0


def _facts(times: dict, loads: list[float], repeat: int) -> list[str]:
    facts = [", ".join(f"{key} {value}" for key, value in machine.description().items())]
    facts.append(f"medians of {repeat} fresh processes, first call, imports excluded")
    shown = ", ".join(f"{name} {1e3 * one['seconds']:.0f} ms" for name, one in times.items())
    verdict = "met" if ratio(times) <= GOAL else "missed"
    facts.append(f"imports: {shown}; dplab.fourier takes {ratio(times):.2f} x the CPU time of the first ({verdict})")
    missing = [name for name, version in peers.installed().items() if version is None]
    if missing:
        facts.append(f"not installed: {', '.join(missing)} (make peers)")
    return facts + ([machine.busy(loads)] if machine.busy(loads) else [])


def _write(
    out: Path, results: list, times: dict, derivations: list[dict], facts: list[str], loads: list[float]
) -> None:
    out.mkdir(parents=True, exist_ok=True)
    data = {
        "machine": machine.description(),
        "loads": loads,
        "imports": times,
        "derivations": derivations,
        "rows": [
            {"row": row.name, "question": row.title, "truth": row.truth, "found": [one.to_json() for one in found]}
            for row, found in results
        ],
    }
    (out / "bench.json").write_text(json.dumps(data, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    text = tables.markdown(results, facts)
    if derivations:
        text += "\n## Derivations\n\n" + "".join(f"- {line}\n" for line in lines(derivations))
    (out / "bench.md").write_text(text, encoding="utf-8")
    print(f"written to {out / 'bench.json'} and {out / 'bench.md'}")


if __name__ == "__main__":
    sys.exit(main())
