"""What passes between dplab and another accountant: questions and claims, as plain JSON.

This file and the adapters beside it also run in the peer's own interpreter, where there is no dplab: they import
nothing but the standard library, and the peer inside `load`.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

KINDS = ("upper", "lower", "bracket", "value")
DIRECTIONS = ("forward", "backward", "both")


class NotModelled(Exception):
    """The peer has no way to answer this question; the message says what is missing."""


@dataclass(frozen=True)
class Step:
    """`k` releases of one mechanism, each on a Poisson sample of rate `q` (1: of everybody).

    `mechanism` is "gaussian" (sigma), "laplace" (b), both scaled to sensitivity 1; "randomised response" (eps);
    "approximate dp" (eps, delta); "discrete laplace" (b, shift); "discrete gaussian" (sigma, shift); or "table": any
    pair with finitely many losses, each outcome's masses under P and Q in `table`. All numbers are float64, the nearest
    to the exact values of the dplab composition.
    """

    mechanism: str
    parameters: Mapping[str, float]
    q: float
    k: int
    table: tuple[tuple[float, float], ...] = ()

    def __getitem__(self, name: str) -> float:
        return self.parameters[name]


@dataclass(frozen=True)
class Query:
    """delta at `eps`, or eps at `delta`, of some steps in a direction; `settings` are the peer's own knobs.

    `symmetric` is True when both directions have the same law. `composition` is dplab's JSON, for the record.
    """

    steps: tuple[Step, ...]
    eps: float | None
    delta: float | None
    direction: str = "both"
    symmetric: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)
    composition: str = ""

    @property
    def quantity(self) -> str:
        """What is asked: "delta" (at eps) or "eps" (at delta)."""
        return "delta" if self.delta is None else "eps"

    def to_json(self) -> dict:
        """Plain JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping) -> "Query":
        """The inverse of `to_json`."""
        return cls(**{**data, "steps": tuple(_step(step) for step in data["steps"])})


def _step(data: Mapping) -> Step:
    return Step(**{**data, "table": tuple((p, q) for p, q in data.get("table", ()))})


@dataclass(frozen=True)
class Claim:
    """What the peer says about the quantity asked for.

    kind "upper": the truth is at most `upper`. "lower": at least `lower`. "bracket": both. "value": `value`, which
    bounds nothing. `direction` is the one the peer answered for; `source` is its function or method.
    """

    kind: str
    direction: str
    lower: float | None = None
    upper: float | None = None
    value: float | None = None
    source: str = ""

    def __post_init__(self):
        if self.kind not in KINDS or self.direction not in DIRECTIONS:
            raise ValueError(f"kind is one of {KINDS} and direction one of {DIRECTIONS}: {self}")
        needed = {"upper": ("upper",), "lower": ("lower",), "bracket": ("lower", "upper"), "value": ("value",)}
        given = [name for name in ("lower", "upper", "value") if getattr(self, name) is not None]
        if any(name not in given for name in needed[self.kind]):
            raise ValueError(f"a claim of kind {self.kind} needs {needed[self.kind]}: {self}")


def composed(steps: Iterable[Step], make: Callable[[Step], Any]) -> Any:
    """The PLD of all steps, for peers whose PLDs have `self_compose(k)` and `compose(other)`; `make` gives one."""
    total = None
    for step in steps:
        part = make(step)
        part = part.self_compose(step.k) if step.k > 1 else part
        total = part if total is None else total.compose(part)
    assert total is not None
    return total


class Adapter:
    """One other accountant. A subclass answers in two halves: `load` imports the peer, `claims` calls it (timed).

    `check` runs in dplab's own process too, before any other is started: it raises NotModelled, and needs no peer.
    """

    name: ClassVar[str]
    """The distribution's name."""
    environment: ClassVar[str] = "main"
    """Which of the peers' environments it lives in (see `environments`)."""
    about: ClassVar[str] = ""
    mechanisms: ClassVar[tuple[str, ...]] = ("gaussian",)
    """What of `Step.mechanism` it models."""
    sampled: ClassVar[tuple[str, ...]] = ("gaussian",)
    """Of those, which it models on a Poisson sample."""
    directions: ClassVar[tuple[str, ...]] = ("both",)
    """The directions it can answer for, where they differ; asked for both, one that knows forward alone says so."""
    quantities: ClassVar[tuple[str, ...]] = ("delta", "eps")
    mixes: ClassVar[bool] = True
    """Whether it composes different mechanisms."""
    variants: ClassVar[Mapping[str, Mapping[str, Any]]] = {"default": {}}
    """Named settings worth comparing; the bench runs them all."""

    def check(self, query: Query) -> None:
        """Raise NotModelled if the peer has no way to answer."""
        if query.quantity not in self.quantities:
            raise NotModelled(f"it does not compute {query.quantity}")
        if not query.steps:
            raise NotModelled("it needs at least one release")
        if not self.mixes and len(query.steps) > 1:
            raise NotModelled("it composes one mechanism with itself only")
        for step in query.steps:
            if step.mechanism not in self.mechanisms:
                raise NotModelled(f"it does not model {step.mechanism}")
            if step.q != 1 and step.mechanism not in self.sampled:
                raise NotModelled(f"it does not model Poisson-subsampled {step.mechanism}")
        self.answered(query)
        self.check_further(query)

    def check_further(self, query: Query) -> None:
        """Raise NotModelled for what only this peer cannot do."""

    def answered(self, query: Query) -> str:
        """The direction that the answer will be for."""
        if query.symmetric or query.direction in self.directions:
            return query.direction
        if query.direction == "both" and "forward" in self.directions:
            return "forward"
        raise NotModelled(f"it answers for {' and '.join(self.directions)} only, not for {query.direction}")

    def load(self) -> Any:
        """Import the peer and return what `claims` needs."""
        raise NotImplementedError

    def claims(self, peer: Any, query: Query) -> list[Claim]:
        """Ask the peer."""
        raise NotImplementedError


def upper(value: Any, direction: str, source: str) -> Claim:
    """The claim that the truth is at most a value."""
    return Claim("upper", direction, upper=float(value), source=source)
