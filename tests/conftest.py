"""Rules for the whole suite: what a skip means, which xfails are allowed, how hypothesis searches.

With CI=true a skipped test is a failure, because a green run must mean that everything ran. One exception:
a test marked `@pytest.mark.peer("name")` may skip where that accountant cannot be installed.
"""

import os
from collections.abc import Iterator

import hypothesis
import pytest

# Accountants by other people, installed into environments of their own; some exist for some platforms only.
PEERS_THAT_MAY_BE_MISSING = (
    "autodp",
    "dp-accelerator",
    "dp-accounting",
    "fourier-accountant",
    "gdpnum",
    "opacus",
    "opake-accounting",
    "prv-accountant",
    "random-allocation",
    "riskcal",
)

ON_CI = os.environ.get("CI", "").lower() in ("1", "true")

# On CI a failing case is reported as it was drawn: to shrink one of several seconds takes minutes.
DRAWN = tuple(phase for phase in hypothesis.Phase if phase is not hypothesis.Phase.shrink)
hypothesis.settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True, phases=DRAWN)
hypothesis.settings.register_profile("quick", deadline=None, max_examples=25)
hypothesis.settings.load_profile("ci" if ON_CI else "quick")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """To run a whole notebook is a long test."""
    for item in items:
        if item.path.suffix == ".ipynb":
            item.add_marker(pytest.mark.long)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo) -> Iterator[None]:
    """Fail a skip on CI, and everywhere an xfail that is not strict, since it proves nothing."""
    report = yield
    peer = item.get_closest_marker("peer")
    by_call = call.excinfo is not None and isinstance(call.excinfo.value, pytest.xfail.Exception)
    lenient = any(mark.kwargs.get("strict") is False for mark in item.iter_markers("xfail"))
    if by_call or (lenient and call.when == "call"):
        _fail(report, "an xfail must be strict: @pytest.mark.xfail, without strict=False")
    elif report.skipped and not hasattr(report, "wasxfail"):
        if peer is not None and peer.args[0] in PEERS_THAT_MAY_BE_MISSING:
            report.user_properties.append(("missing peer", peer.args[0]))
        elif ON_CI:
            _fail(report, f"skipped, and a skip is a failure on CI: {_reason(report)}")
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Iterator[None]:
    """A module that skips itself hides all its tests."""
    report = yield
    if ON_CI and report.skipped:
        _fail(report, f"skipped, and a skip is a failure on CI: {_reason(report)}")
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name the peers that were not there, so that nobody takes their silence for agreement."""
    skipped = terminalreporter.stats.get("skipped", [])
    missing = {name for report in skipped for key, name in report.user_properties if key == "missing peer"}
    if missing:
        terminalreporter.section("peers that are not installed")
        terminalreporter.write_line(", ".join(sorted(missing)))


def _fail(report: pytest.TestReport | pytest.CollectReport, why: str) -> None:
    report.outcome = "failed"
    report.longrepr = why
    vars(report).pop("wasxfail", None)


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    return report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
