"""The suite's own rules, tried on a little suite that breaks them all."""

from pathlib import Path

import pytest

CONFTEST = Path(__file__).with_name("conftest.py").read_text()

SETTINGS = """
[pytest]
xfail_strict = true
markers = peer(name): may be skipped
"""

# The name says what becomes of the test on CI.
SUITE = """
import pytest

@pytest.fixture
def absent():
    pytest.skip("no fixture")

def test_passes(): pass

@pytest.mark.skip(reason="marked")
def test_fails_skip_by_mark(): pass

def test_fails_skip_by_call(): pytest.skip("called")

def test_fails_skip_by_fixture(absent): pass

@pytest.mark.peer("nobody")
def test_fails_skip_of_unlisted_peer(): pytest.skip("who?")

@pytest.mark.peer("riskcal")
def test_skips_listed_peer(): pytest.skip("not installed")

@pytest.mark.xfail(reason="known")
def test_xfails(): assert False

@pytest.mark.xfail
def test_fails_everywhere_unexpected_pass(): pass

@pytest.mark.xfail(strict=False)
def test_fails_everywhere_lenient(): assert False

def test_fails_everywhere_xfail_by_call(): pytest.xfail("some day")
"""


@pytest.fixture
def run(pytester, monkeypatch):
    def run(suite: str, *arguments: str, ci: str = "true"):
        monkeypatch.setenv("CI", ci)
        pytester.makeini(SETTINGS)
        pytester.makeconftest(CONFTEST)
        pytester.makepyfile(suite)
        without = [f"-pno:{plugin}" for plugin in ("cacheprovider", "nbmake", "anyio")]  # the last two start slowly
        return pytester.runpytest_subprocess("-rfE", *without, *arguments)

    return run


@pytest.mark.parametrize("arguments", [(), ("-n1",)], ids=["plain", "xdist"])
def test_on_ci_only_a_listed_peer_may_skip(run, arguments):
    result = run(SUITE, *arguments)
    result.assert_outcomes(passed=1, failed=5, errors=2, skipped=1, xfailed=1)
    failed = [line.split("::")[1] for line in result.outlines if line.startswith(("FAILED", "ERROR "))]
    assert len(failed) == 7
    assert all(name.startswith("test_fails") for name in failed)
    result.stdout.fnmatch_lines(["*a skip is a failure on CI: *no fixture*"])
    result.stdout.fnmatch_lines(["*peers that are not installed*", "riskcal"])


def test_elsewhere_only_the_xfails_count(run):
    run(SUITE, ci="").assert_outcomes(passed=1, failed=3, skipped=5, xfailed=1)


def test_a_module_that_skips_itself_fails_on_ci(run):
    result = run("import pytest\npytest.importorskip('no_such_module')\ndef test(): pass")
    assert result.ret != 0
    result.stdout.fnmatch_lines(["*a skip is a failure on CI*no_such_module*"])
