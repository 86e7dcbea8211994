"""The command: rows and peers chosen by name, results written, and failure where a bracket misses the truth."""

import json

import pytest

from dplab import peers
from dplab.experiments import bench, derivations
from dplab.experiments.measuring import Measurement


def test_rows_by_name():
    assert [row.name for row in bench.chosen_rows("W1,W6")] == ["W1", "W6"]
    assert [row.name for row in bench.chosen_rows("W4 eps=8")] == ["W4 eps=8"]
    assert len(bench.chosen_rows("W4")) == 6
    assert {row.name.split()[0] for row in bench.chosen_rows("")} == {f"W{number}" for number in range(1, 9)}
    assert bench.chosen_rows("derivations") == []
    assert [row.name for row in bench.chosen_rows("derivations,W2")] == ["W2"]
    with pytest.raises(SystemExit, match="W9"):
        bench.chosen_rows("W1,W9")


def test_peers_by_name_and_setting(monkeypatch):
    monkeypatch.setattr(peers, "installed", lambda: dict.fromkeys(peers.NAMES, "1.0"))
    everybody = bench.chosen_peers("all", "")
    assert {name for name, _ in everybody} == set(peers.NAMES)
    assert ("prv-accountant", "eps_error 1e-3") in everybody
    assert bench.chosen_peers("none", "") == []
    assert bench.chosen_peers("riskcal,autodp", "default") == [("riskcal", "default"), ("autodp", "default")]


def test_peers_that_are_not_there_are_kept_so_that_they_are_named(monkeypatch):
    monkeypatch.setattr(peers, "installed", lambda: dict.fromkeys(peers.NAMES))
    assert [name for name, _ in bench.chosen_peers("all", "")] == list(peers.NAMES)


@pytest.fixture
def no_processes(monkeypatch, tmp_path):
    """Everything is measured at once, without measuring; peers are not installed."""
    times = {"seconds": 0.1, "cpu_seconds": 0.1}
    monkeypatch.setattr(bench, "import_times", lambda repeat, tick: dict.fromkeys(bench.STATEMENTS, times))
    monkeypatch.setenv("DPLAB_PEERS", str(tmp_path / "nowhere"))


def own(sound):
    def measure(row, goal, repeat, tick):
        found = Measurement(row.name, "dplab", "atol", kind="bracket", lower=1.0, upper=2.0, seconds=0.1, peak_mb=9.0)
        found.sound, found.errors, found.width = sound, {"lower": -0.5, "upper": 0.5}, float("inf")
        return found

    return measure


@pytest.mark.parametrize("sound", [True, False])
def test_the_whole_command(no_processes, monkeypatch, tmp_path, capsys, sound):
    monkeypatch.setattr(bench, "own", own(sound))
    code = bench.main(["--only", "W1,W6", "--repeat", "1", "--out", str(tmp_path / "out")])
    said = capsys.readouterr().out
    assert code == (0 if sound else 1)
    assert ("STRICTNESS: W1" in said) is not sound
    assert all(name in said for name in peers.NAMES)
    data = json.loads((tmp_path / "out" / "bench.json").read_text())
    assert [row["row"] for row in data["rows"]] == ["W1", "W6"]
    assert data["rows"][0]["found"][0]["width"] == "inf"
    assert {one["who"] for one in data["rows"][1]["found"]} == {"dplab", *peers.NAMES}
    text = (tmp_path / "out" / "bench.md").read_text()
    assert text.count("| dplab |") == 2
    assert "## W6: eps at 1e-6" in text
    assert "not installed: dp-accounting" in text


def test_bad_arguments():
    with pytest.raises(SystemExit, match="repeat"):
        bench.main(["--repeat", "0"])


def test_derivations_are_timed_and_listed(no_processes, monkeypatch, tmp_path, capsys):
    found = [
        {"subject": "Gaussian(sigma=sigma) forward", "seconds": 0.5, "steps": 9},
        {"subject": "Laplace(b=b) forward", "seconds": 2.5, "steps": 9},
        {"subject": "Product() forward", "reason": "there is none yet"},
    ]
    monkeypatch.setattr(bench, "derivation_times", lambda repeat, tick: found)
    assert bench.main(["--only", "derivations", "--repeat", "1", "--out", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "0.50 s, 9 steps, goal met" in said
    assert "2.50 s, 9 steps, MISSES ITS GOAL" in said
    assert "none: there is none yet" in said
    assert json.loads((tmp_path / "bench.json").read_text())["derivations"] == found
    assert "## Derivations" in (tmp_path / "bench.md").read_text()


def test_a_derivation_is_measured():
    names = [derivations.name_of(subject) for subject in derivations.subjects()]
    assert "Gaussian(sigma=sigma) forward" in names
    assert len(names) == len(set(names))
    found = derivations.derive_here(names.index("Gaussian(sigma=sigma) forward"))
    assert found["steps"] > 3
    assert found["seconds"] > 0
