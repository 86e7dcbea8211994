"""Asking a peer: a fresh process of its own interpreter, a JSON question in, a JSON answer out."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from ..core.errors import ParameterError
from . import translation
from .environments import ENVIRONMENTS
from .protocol import Adapter, Claim, NotModelled, Query

Status = Literal["answered", "not modelled", "not installed", "failed", "timeout"]

NAMES = (
    "dp-accounting",
    "prv-accountant",
    "fourier-accountant",
    "opake-accounting",
    "dp-accelerator",
    "autodp",
    "riskcal",
    "random-allocation",
)
"""Every peer there is an adapter for."""

_HARNESS = Path(__file__).with_name("harness.py")


@dataclass(frozen=True)
class Answer:
    """What came of a question to a peer: its claims, or a status and a reason.

    `seconds` is the first call's wall time, imports excluded; `peak_mb` the peer's process's peak resident memory and
    `grown_mb` how much of it the call added; `notes` are the peer's warnings.
    """

    peer: str
    status: Status
    claims: tuple[Claim, ...] = ()
    reason: str = ""
    version: str = ""
    seconds: float | None = None
    cpu_seconds: float | None = None
    import_seconds: float | None = None
    peak_mb: float | None = None
    grown_mb: float | None = None
    python: str = ""
    notes: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        if self.status != "answered":
            return f"{self.peer}: {self.status}: {self.reason}"
        return f"{self.peer} {self.version}: " + "; ".join(_shown(claim) for claim in self.claims)


def _shown(claim: Claim) -> str:
    if claim.kind == "bracket":
        return f"[{claim.lower!r}, {claim.upper!r}]"
    value = next(v for v in (claim.upper, claim.lower, claim.value) if v is not None)
    return f"{ {'upper': '<=', 'lower': '>=', 'value': '~'}[claim.kind] } {value!r}"


def adapter(name: str) -> Adapter:
    """The adapter of a peer, by its distribution's name.

    Raises ParameterError for a peer there is none for.
    """
    if name not in NAMES:
        raise ParameterError("peer", name, f"one of {', '.join(NAMES)}")
    found = import_module(f".adapters.{name.replace('-', '_')}", __package__).ADAPTER
    assert isinstance(found, Adapter)
    return found


def ask(
    name: str,
    composition,
    *,
    eps=None,
    delta=None,
    direction: str = "both",
    settings: Mapping[str, Any] | None = None,
    timeout: float = 600,
) -> Answer:
    """Ask one peer for delta at `eps`, or eps at `delta`, of a composition.

    `settings` are the peer's own (its adapter lists them). `timeout` is in seconds, after which its process is ended.
    A peer that is not installed, does not model the question, fails or takes too long gives an Answer that says so.

    Raises ParameterError for an unknown peer or values out of range, UnboundSymbolError for symbols.
    """
    peer = adapter(name)
    try:
        query = translation.query(composition, eps=eps, delta=delta, direction=direction, settings=settings)
    except NotModelled as refusal:
        return Answer(name, "not modelled", reason=str(refusal), settings=dict(settings or {}))
    return ask_query(peer, query, timeout)


def ask_query(peer: Adapter, query: Query, timeout: float = 600) -> Answer:
    """Ask a question that has been translated already."""
    settings = dict(query.settings)
    try:
        peer.check(query)
    except NotModelled as refusal:
        return Answer(peer.name, "not modelled", reason=str(refusal), settings=settings)
    environment = ENVIRONMENTS[peer.environment]
    if not environment.interpreter.exists():
        reason = f"no {environment.folder}: make peers"
        return Answer(peer.name, "not installed", reason=reason, settings=settings)
    file = sys.modules[type(peer).__module__].__file__
    return run(peer.name, str(environment.interpreter), str(file), query, timeout)


def run(name: str, interpreter: str, file: str, query: Query, timeout: float) -> Answer:
    """Run the harness with an adapter's file in an interpreter, hand it the query and read its answer."""
    command = [interpreter, "-I", str(_HARNESS), file]
    settings = dict(query.settings)
    # An environment that a shell has activated must not leak into the peer's.
    inherited = {key: value for key, value in os.environ.items() if key not in ("VIRTUAL_ENV", "PYTHONHOME")}
    try:
        done = subprocess.run(
            command,
            input=json.dumps(query.to_json()),
            capture_output=True,
            text=True,
            timeout=timeout,
            env=inherited,
        )
    except subprocess.TimeoutExpired:
        return Answer(name, "timeout", reason=f"no answer within {timeout:g} s", settings=settings)
    except OSError as error:
        return Answer(name, "not installed", reason=f"{interpreter} does not run: {error}", settings=settings)
    try:
        data = json.loads(done.stdout)
        claims = tuple(Claim(**claim) for claim in data.pop("claims", ()))
        return Answer(name, claims=claims, settings=settings, notes=tuple(data.pop("notes", ())), **data)
    except (ValueError, TypeError) as error:
        last = (done.stderr.strip().splitlines() or ["nothing on standard error"])[-1]
        reason = f"no readable answer (exit code {done.returncode}): {last}"
        if done.returncode == 0:
            reason += f"; {error}"
        return Answer(name, "failed", reason=reason, settings=settings)
