"""Making the environments: what fails is named, and does not stop the rest."""

import sys
from types import SimpleNamespace

import pytest

from dplab.peers import environments, installation
from dplab.peers.environments import ENVIRONMENTS, Environment, interpreters


@pytest.fixture
def folder(monkeypatch, tmp_path):
    monkeypatch.setenv(environments.ROOT_VARIABLE, str(tmp_path))
    return tmp_path


class Shell:
    """Stands in for subprocess.run: remembers commands, fails those that hold a word."""

    def __init__(self, *failing: str):
        self.failing, self.commands = failing, []

    def __call__(self, command, **_):
        self.commands.append(command)
        bad = any(word in self.failing for word in command) and command[2] != "venv"
        return SimpleNamespace(returncode=int(bad))


def test_packages_go_in_together(folder):
    shell = Shell()
    assert installation.install(ENVIRONMENTS["main"], shell) == []
    made, pip = shell.commands
    assert made == [sys.executable, "-m", "venv", "--clear", str(folder / ".venv-peers")]
    assert pip[-4:] == list(ENVIRONMENTS["main"].packages)
    assert str(folder / "constraints-peers.txt") in pip


def test_one_that_fails_is_named_and_the_others_go_in(folder):
    shell = Shell("riskcal")
    faults = installation.install(ENVIRONMENTS["main"], shell)
    assert faults == ["riskcal: -m pip ended with 1"]
    assert [command[-1] for command in shell.commands[2:]] == list(ENVIRONMENTS["main"].packages)


def test_a_python_that_is_missing(folder):
    shell = Shell()
    nowhere = Environment("x", ".venv-x", "none.txt", ("opake-accounting",), python="3.99")
    assert installation.install(nowhere, shell) == ["no Python 3.99 found"]
    assert shell.commands == []


def test_a_command_that_does_not_start(folder):
    def run(command, **_):
        raise FileNotFoundError("gone")

    assert installation.install(ENVIRONMENTS["main"], run) == [f"{sys.executable}: gone"]


def test_interpreters():
    assert list(interpreters(None)) == [sys.executable]
    running = "{}.{}".format(*sys.version_info)
    assert next(interpreters(running))
    assert list(interpreters("3.99")) == []


def test_every_peer_is_listed_with_or_without_a_version(folder, monkeypatch, capsys):
    monkeypatch.setattr(installation, "install", lambda environment: [f"{environment.packages[0]}: no"])
    installation.main()
    said = capsys.readouterr().out
    for name in installation.NAMES:
        assert f"{name:<20} NOT INSTALLED" in said
    assert "  opake-accounting: no" in said


def test_an_environment_without_its_peers(folder):
    for environment in ENVIRONMENTS.values():
        environment.interpreter.parent.mkdir(parents=True)
        environment.interpreter.symlink_to(sys.executable)
    assert installation.installed() == dict.fromkeys(installation.NAMES)
