"""Where other accountants live: virtual environments of their own, since their pins differ from ours and clash.

`make peers` makes them, from the constraints files beside the Makefile.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT_VARIABLE = "DPLAB_PEERS"
"""An environment variable that names the folder with the environments, instead of the project's."""


@dataclass(frozen=True)
class Environment:
    """One virtual environment: `folder` in the project, `constraints` its pins, `python` the version it needs."""

    name: str
    folder: str
    constraints: str
    packages: tuple[str, ...]
    python: str | None = None
    """Such as "3.13"; None: the one that dplab runs in."""

    @property
    def path(self) -> Path:
        """Its folder, whether it exists or not."""
        return root() / self.folder

    @property
    def interpreter(self) -> Path:
        """Its Python, whether it exists or not."""
        windows = self.path / "Scripts" / "python.exe"
        return windows if sys.platform == "win32" else self.path / "bin" / "python"


ENVIRONMENTS = {
    environment.name: environment
    for environment in (
        Environment(
            "main",
            ".venv-peers",
            "constraints-peers.txt",
            ("dp-accounting", "prv-accountant", "dp-accelerator", "riskcal"),
        ),
        Environment(
            "older",  # random-allocation needs numpy < 2.2 and does not say that it needs pandas
            ".venv-peers-older",
            "constraints-peers-older.txt",
            ("numpy<2.2", "random-allocation", "pandas", "fourier-accountant", "autodp"),
        ),
        Environment(
            "3.13",  # opake's Python part fails on 3.11 and 3.12
            ".venv-peers-3.13",
            "constraints-peers-3.13.txt",
            ("opake-accounting",),
            python="3.13",
        ),
    )
}


def root() -> Path:
    """The folder that holds the environments: that of DPLAB_PEERS, else the project's, else the current one."""
    if chosen := os.environ.get(ROOT_VARIABLE):
        return Path(chosen)
    project = Path(__file__).resolve().parents[2]
    return project if (project / "pyproject.toml").exists() else Path.cwd()


def interpreters(version: str | None) -> Iterator[str]:
    """Pythons of a version ("3.13") found on this machine that run; the running one for None."""
    if version is None:
        yield sys.executable
        return
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    candidates = [
        [sys.executable],
        [f"python{version}"],
        *([str(path)] for path in sorted(versions.glob(f"{version}.*/bin/python"), reverse=True)),
        *([["py", f"-{version}"]] if sys.platform == "win32" else []),
    ]
    asking = "import sys; print('%d.%d' % sys.version_info[:2], sys.executable)"
    for command in candidates:
        try:
            done = subprocess.run([*command, "-c", asking], capture_output=True, text=True, timeout=30)
        except (OSError, subprocess.TimeoutExpired):
            continue
        found, _, path = done.stdout.strip().partition(" ")
        if done.returncode == 0 and found == version:
            yield path
