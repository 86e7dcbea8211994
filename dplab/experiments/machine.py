"""What machine a measurement was made on, and whether it was quiet."""

import os
import platform
import sys
from importlib import metadata
from pathlib import Path

_UNWANTED = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "PYTHONDONTWRITEBYTECODE")
"""A forced BLAS kernel slows numpy down; without bytecode files every import compiles dplab anew."""


def environment() -> dict[str, str]:
    """The variables for a process that is measured: ours, without what falsifies times."""
    return {name: value for name, value in os.environ.items() if name not in _UNWANTED}


def load() -> float | None:
    """Processes that want a core, averaged over a minute; None where that is not known."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else None


def description() -> dict:
    """Processor, cores, versions."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": platform.platform(),
        "python": sys.version.split()[0],
        **{name: metadata.version(name) for name in ("numpy", "scipy")},
    }


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def busy(loads: list[float]) -> str:
    """A warning if others were at work, or an empty text. The bench itself is one process."""
    if loads and max(loads) > 1.5:
        return f"The machine was busy (load up to {max(loads):.1f}): these times are not valid."
    return ""
