"""The subprocess and its JSON, with peers that answer, print, warn, fail, hang and are not there."""

import dataclasses

import pytest

from dplab import Gaussian, Laplace, peers
from dplab.core.errors import ParameterError, UnboundSymbolError
from dplab.peers import environments
from dplab.peers.calling import Answer
from dplab.peers.protocol import Claim

from .fake import QUERY, answer


def test_an_answer_comes_back_with_its_figures(tmp_path):
    found = answer(tmp_path, 'return [Claim("bracket", "both", query.eps / 3, query.steps[0].k * 1.5, source="f")]')
    assert found.status == "answered"
    assert found.claims == (Claim("bracket", "both", 1 / 3, 4.5, source="f"),)
    assert found.version
    assert found.python
    assert found.peak_mb > 1
    assert found.grown_mb >= 0
    assert "[0.3333333333333333, 4.5]" in str(found)


def test_the_call_is_timed_and_the_import_is_not(tmp_path):
    found = answer(tmp_path, 'time.sleep(0.1); return [upper(1, "both", "f")]', load="time.sleep(0.3)")
    assert 0.1 <= found.seconds < 0.3 <= found.import_seconds


def test_memory_is_that_of_the_call(tmp_path):
    found = answer(tmp_path, 'x = bytearray(50_000_000); x[::4096] = x[::4096]; return [upper(len(x), "both", "f")]')
    assert 40 < found.grown_mb < 80


def test_what_the_peer_prints_does_not_spoil_the_answer(tmp_path):
    body = 'print("{]"); os.system("echo }"); sys.stdout.flush(); return [upper(1, "both", "f")]'
    assert answer(tmp_path, body).claims == (Claim("upper", "both", upper=1.0, source="f"),)


def test_warnings_are_notes(tmp_path):
    found = answer(tmp_path, 'warnings.warn("about to guess"); return [upper(1, "both", "f")]')
    assert found.notes == ("UserWarning: about to guess",)


@pytest.mark.parametrize(
    ("claims", "load", "status", "reason"),
    [
        ('raise ValueError("no such eps")', "return None", "failed", "ValueError: no such eps"),
        ('raise NotModelled("odd k")', "return None", "not modelled", "odd k"),
        ("return []", "import no_such_accountant", "not installed", "no_such_accountant"),
        ("os._exit(3)", "return None", "failed", "exit code 3"),
        ('return [Claim("upper", "both")]', "return None", "failed", "needs"),
        ('return [upper("much", "both", "f")]', "return None", "failed", "ValueError"),
        ("return [object]", "return None", "failed", ""),
    ],
)
def test_what_goes_wrong_has_a_name(tmp_path, claims, load, status, reason):
    found = answer(tmp_path, claims, load)
    assert (found.status, found.claims) == (status, ())
    assert reason in found.reason
    assert status in str(found)


def test_a_peer_that_hangs_is_ended(tmp_path):
    found = answer(tmp_path, "time.sleep(60)", timeout=0.5)
    assert found.status == "timeout"
    assert "0.5 s" in found.reason


def test_infinities_pass(tmp_path):
    query = dataclasses.replace(QUERY, eps=None, delta=0.0)
    found = answer(tmp_path, 'return [upper(float("inf"), "both", str(query.delta))]', query=query)
    assert found.claims == (Claim("upper", "both", upper=float("inf"), source="0.0"),)


def test_a_file_that_is_no_adapter(tmp_path):
    assert answer(tmp_path, "return [", load="(").status == "failed"


def test_an_interpreter_that_is_not_there(tmp_path):
    from dplab.peers.calling import run

    found = run("fake", str(tmp_path / "python"), "fake.py", QUERY, 10)
    assert found.status == "not installed"


# --- the public call -----------------------------------------------------------------------------------


def test_a_missing_environment_is_said_by_name(monkeypatch, tmp_path):
    monkeypatch.setenv(environments.ROOT_VARIABLE, str(tmp_path))
    for name in peers.NAMES:
        found = peers.ask(name, 3 * Gaussian(2), delta="1e-5")
        if found.status == "not modelled":
            continue
        assert found.status == "not installed"
        assert "make peers" in found.reason
    assert peers.installed() == dict.fromkeys(peers.NAMES)


def test_what_no_peer_models_is_refused_before_any_process_starts(monkeypatch, tmp_path):
    monkeypatch.setenv(environments.ROOT_VARIABLE, str(tmp_path))
    found = peers.ask("dp-accelerator", Laplace(2), delta="1e-5")
    assert found == Answer("dp-accelerator", "not modelled", reason="it does not model laplace")


@pytest.mark.parametrize(
    ("call", "error", "names"),
    [
        (lambda: peers.ask("opacus2", Gaussian(1), eps=1), ParameterError, "peer"),
        (lambda: peers.ask("riskcal", Gaussian(1)), ParameterError, "eps"),
        (lambda: peers.ask("riskcal", Gaussian(1), eps=1, delta="1e-5"), ParameterError, "eps"),
        (lambda: peers.ask("riskcal", Gaussian(1), eps="nan"), ParameterError, "eps"),
        (lambda: peers.ask("riskcal", Gaussian(1), delta=2), ParameterError, "delta"),
        (lambda: peers.ask("riskcal", Gaussian(1), eps=1, direction="up"), ParameterError, "direction"),
        (lambda: peers.ask("riskcal", "Gaussian", eps=1), ParameterError, "composition"),
        (lambda: peers.ask("riskcal", Gaussian("sigma"), eps=1), UnboundSymbolError, "sigma"),
        (lambda: peers.ask("riskcal", Gaussian(1), eps="x"), UnboundSymbolError, "x"),
    ],
)
def test_bad_input(call, error, names):
    with pytest.raises(error, match=names):
        call()
