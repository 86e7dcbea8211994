"""Runs in the peer's interpreter: `python -I harness.py ADAPTER < query.json`. One question, one JSON answer.

ADAPTER is the path of an adapter's file. Imports are not timed; the call is the first in its process. What the peer
prints goes to standard error.
"""

import importlib
import importlib.util
import json
import os
import sys
import time
import traceback
import types
import warnings
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any


def adapters_package(folder: Path, name: str = "dplab_peers") -> str:
    """Make the folder importable as a package of its own, so that adapters find `.protocol` without dplab."""
    package = types.ModuleType(name)
    package.__path__ = [str(folder)]
    sys.modules[name] = package
    return name


def adapter_at(path: Path, package: str) -> Any:
    """The adapter in a file, wherever the file is; its relative imports are those of a file in `adapters`."""
    spec = importlib.util.spec_from_file_location(f"{package}.adapters.{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.ADAPTER


def peak_memory() -> float | None:
    """This process's peak resident memory so far in MB, or None where it is not known."""
    try:
        with open("/proc/self/status", encoding="ascii") as status:  # VmHWM starts anew at exec, ru_maxrss does not
            for line in status:
                if line.startswith("VmHWM"):
                    return int(line.split()[1]) / 1024
    except OSError:
        pass
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024.0**2 if sys.platform == "darwin" else 1024.0)


def measured(call: Callable[[], Any]) -> tuple[Any, dict]:
    """The call's result, with its seconds (wall and CPU) and the process's peak memory in MB before and after."""
    before = peak_memory()
    cpu, start = time.process_time(), time.perf_counter()
    result = call()
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    after = peak_memory()
    grown = None if before is None or after is None else after - before
    return result, {"seconds": seconds, "cpu_seconds": cpu, "peak_mb": after, "grown_mb": grown}


def answer(adapter: Any, query: Any, not_modelled: type[Exception]) -> dict:
    """The adapter's answer to a query, whatever happens, as plain JSON values."""
    result: dict = {"python": sys.version.split()[0]}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        try:
            adapter.check(query)
            start = time.perf_counter()
            peer = adapter.load()
            result["import_seconds"] = time.perf_counter() - start
            result["version"] = metadata.version(adapter.name)
            claims, figures = measured(lambda: adapter.claims(peer, query))
            result |= {"status": "answered", "claims": [vars(claim) for claim in claims], **figures}
        except not_modelled as refusal:
            result |= {"status": "not modelled", "reason": str(refusal)}
        except (ImportError, metadata.PackageNotFoundError) as error:
            result |= {"status": "not installed", "reason": f"{type(error).__name__}: {error}"}
        except Exception as error:
            traceback.print_exc()
            result |= {"status": "failed", "reason": f"{type(error).__name__}: {error}"}
    said = dict.fromkeys(f"{w.category.__name__}: {w.message}" for w in caught)
    return {**result, "notes": list(said)[:5]}


def main() -> None:
    """Answer the query on standard input with the adapter named on the command line."""
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # a peer that prints must not spoil the answer
    package = adapters_package(Path(__file__).parent)
    protocol = importlib.import_module(f"{package}.protocol")
    adapter = adapter_at(Path(sys.argv[1]), package)
    query = protocol.Query.from_json(json.load(sys.stdin))
    json.dump(answer(adapter, query, protocol.NotModelled), channel)
    channel.close()


if __name__ == "__main__":
    main()
