"""Making the peers' environments (`python -m dplab.peers`, `make peers`), and saying who is there.

An environment that cannot be made is reported, with the peers it would have held, and does not stop the others.
"""

import json
import subprocess
import sys
from collections.abc import Callable

from .calling import NAMES, adapter
from .environments import ENVIRONMENTS, Environment, interpreters, root

_LISTING = """
import json
from importlib import metadata
print(json.dumps({d.metadata["Name"].lower().replace("_", "-"): d.version for d in metadata.distributions()}))
"""


def installed() -> dict[str, str | None]:
    """Every peer by name: its version, or None where it is not installed."""
    versions: dict[str, dict[str, str]] = {}
    for name, environment in ENVIRONMENTS.items():
        versions[name] = {}
        if environment.interpreter.exists():
            command = [str(environment.interpreter), "-I", "-c", _LISTING]
            done = subprocess.run(command, capture_output=True, text=True)
            versions[name] = json.loads(done.stdout) if done.returncode == 0 else {}
    return {name: versions[adapter(name).environment].get(name) for name in NAMES}


def install(environment: Environment, run: Callable = subprocess.run) -> list[str]:
    """Make one environment and install its peers; what went wrong, in words.

    Where the packages cannot be installed together, they are tried one by one, so that one does not cost the others.
    """
    python = next(interpreters(environment.python), None)
    if python is None:
        return [f"no Python {environment.python} found"]
    if fault := _fault(run, [python, "-m", "venv", "--clear", str(environment.path)]):
        return [fault]
    pip = [str(environment.interpreter), "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
    pip += ["--constraint", str(root() / environment.constraints)]
    if not _fault(run, [*pip, *environment.packages]):
        return []
    faults = [(package, _fault(run, [*pip, package])) for package in environment.packages]
    return [f"{package}: {fault}" for package, fault in faults if fault]


def _fault(run: Callable, command: list[str]) -> str:
    try:
        code = run(command, stdout=sys.stderr).returncode
    except OSError as error:
        return f"{command[0]}: {error}"
    return f"{' '.join(command[1:3])} ended with {code}" if code else ""


def main() -> None:
    """Make every environment that is not complete, then list the peers by name."""
    for environment in ENVIRONMENTS.values():
        there = installed()
        wanted = [name for name in NAMES if adapter(name).environment == environment.name]
        if all(there[name] for name in wanted):
            continue
        print(f"Installing {', '.join(wanted)} into {environment.folder}", flush=True)
        for fault in install(environment):
            print(f"  {fault}", flush=True)
    for name, version in installed().items():
        print(f"{name:<20} {version or 'NOT INSTALLED'}")
