"""The rules of the house hold, and each check notices a breach."""

import importlib
import json
import subprocess
import sys
import types
from pathlib import Path

import pytest

from tests import house

MODULES = house.read_modules(house.ROOT / "dplab")
FILES = house.tracked_files()


def names(paths):
    return [str(path.relative_to(house.ROOT)) for path in paths]


def faults_in(check, suffix):
    return [
        f"{path.relative_to(house.ROOT)}: {fault}"
        for path in FILES
        if path.name.endswith(suffix) and (text := house.text_of(path)) is not None
        for fault in check(text)
    ]


def loaded_by(statement: str, watched: tuple[str, ...]) -> str:
    """Which of the watched packages a fresh interpreter holds after a statement."""
    code = f"{statement}\nimport sys\nprint(*[name for name in {watched!r} if name in sys.modules])"
    command = [sys.executable, "-c", code]
    return subprocess.run(command, cwd=house.ROOT, stdout=subprocess.PIPE, check=True, text=True).stdout.strip()


# ---------------------------------------------------------------- the house as it stands


def test_there_is_something_to_check():
    assert {"dplab", "dplab.core"} <= {module.name for module in MODULES}
    assert {"pyproject.toml", "tests/house.py"} <= set(names(FILES))


def test_imports_go_down_only():
    assert not house.floor_faults(MODULES)


def test_no_compiled_packages_where_a_browser_kernel_must_do():
    assert not house.compiled_import_faults(MODULES)


def test_every_module_and_public_definition_has_a_docstring():
    assert not house.docstring_faults(MODULES)


def test_no_module_is_called_like_a_public_name():
    public = set()
    for module in MODULES:
        if module.is_package:
            package = importlib.import_module(module.name)
            for name in getattr(package, "__all__", ()):
                if not isinstance(getattr(package, name), types.ModuleType):
                    public.add(f"{module.name}.{name}")
    assert "dplab.Gaussian" in public
    assert not house.name_faults([module.name for module in MODULES], public)


def test_notebooks_are_clean():
    assert not faults_in(house.notebook_faults, ".ipynb")


def test_source_files_are_short():
    assert not faults_in(house.length_fault, ".py")


def test_no_file_names_a_registry():
    assert not faults_in(house.host_faults, "")


def test_import_dplab_is_lazy():
    assert loaded_by("import dplab", ("sympy", "mpmath", "numpy", "scipy", "matplotlib", "IPython")) == ""


@pytest.mark.parametrize("route", ["reference", "symbolic"])
def test_route_runs_without_compiled_packages(route):
    assert loaded_by(f"import dplab.{route}", house.COMPILED) == ""


# ---------------------------------------------------------------- each check notices a breach


def write_package(root: Path, files: dict[str, str]) -> list[house.Module]:
    for name, text in {"__init__.py": '"""Top."""', **files}.items():
        path = root / "dplab" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return house.read_modules(root / "dplab")


@pytest.mark.parametrize(
    ("file", "statement"),
    [
        ("core/pair.py", "import dplab.symbolic"),
        ("core/pair.py", "from dplab.symbolic import delta"),
        ("core/pair.py", "from ..symbolic import delta"),
        ("core/__init__.py", "from .. import symbolic"),
        ("core/pair.py", "from dplab import Gaussian"),
        ("core/pair.py", "def later():\n    from dplab import symbolic"),
        ("core/pair.py", "import importlib\nimportlib.import_module('dplab.symbolic')"),
        ("core/pair.py", "from importlib import import_module\nimport_module('..symbolic', __package__)"),
        ("reference/__init__.py", "import dplab.symbolic"),
        ("plots/__init__.py", "from dplab.comparison import Comparison"),
        ("comparison.py", "from . import verification"),
        ("attic.py", "x = 1"),
    ],
)
def test_floors_notice(tmp_path, file, statement):
    rooms = {"symbolic/__init__.py": "", "verification.py": "", "comparison.py": "", file: statement}
    assert len(house.floor_faults(write_package(tmp_path, rooms))) == 1


def test_floors_allow(tmp_path):
    rooms = {
        "__init__.py": "from dplab.cli import main",
        "core/__init__.py": "from .pair import Pair\nimport math",
        "core/pair.py": "from dplab.core import pld",
        "core/pld.py": "",
        "plots/__init__.py": "from dplab import core",
        "comparison.py": "from dplab.plots import curve\nfrom .core.pair import Pair",
        "cli.py": "import dplab.comparison",
    }
    assert not house.floor_faults(write_package(tmp_path, rooms))


@pytest.mark.parametrize("room", house.WITHOUT_NUMPY)
@pytest.mark.parametrize("statement", ["import numpy as np", "def f():\n    from scipy.special import erfc"])
def test_compiled_imports_are_noticed(tmp_path, room, statement):
    assert house.compiled_import_faults(write_package(tmp_path, {f"{room}/x.py": statement}))
    assert not house.compiled_import_faults(write_package(tmp_path / "fine", {"fourier/x.py": statement}))


def test_missing_docstrings_are_noticed(tmp_path):
    text = "def public(): pass\n\ndef _private(): pass\n\nclass Public: pass\n"
    faults = house.docstring_faults(write_package(tmp_path, {"core/x.py": text}))
    silent = [fault.split(":")[0] for fault in faults]
    assert silent == ["dplab.core.x", "dplab.core.x.public", "dplab.core.x.Public"]


@pytest.mark.parametrize("module", ["dplab.compare", "dplab.fourier.compare", "dplab.fourier.delta"])
def test_name_clashes_are_noticed(module):
    public = {"dplab.compare", "dplab.fourier.delta"}
    assert house.name_faults([module], public)
    assert not house.name_faults(["dplab.comparison", "dplab.reference.delta"], public)


CLEAN = {"cell_type": "code", "id": "a", "metadata": {}, "source": "", "outputs": [], "execution_count": None}
KERNEL = {"kernelspec": {"name": "python3"}}


@pytest.mark.parametrize(
    ("cells", "metadata"),
    [
        ([CLEAN | {"outputs": [{"output_type": "stream"}]}], KERNEL),
        ([CLEAN | {"execution_count": 1}], KERNEL),
        ([CLEAN | {"id": ""}], KERNEL),
        ([CLEAN, CLEAN], KERNEL),
        ([CLEAN], KERNEL | {"widgets": {}}),
        ([CLEAN], {}),
    ],
    ids=["output", "count", "no id", "same id", "widgets", "no kernel"],
)
def test_dirty_notebooks_are_noticed(cells, metadata):
    assert len(house.notebook_faults(json.dumps({"cells": cells, "metadata": metadata}))) == 1
    assert not house.notebook_faults(json.dumps({"cells": [CLEAN], "metadata": KERNEL}))


def test_long_files_and_hosts_are_noticed():
    assert house.length_fault("x\n" * 451)
    assert not house.length_fault("x\n" * 450)
    assert house.host_faults(f"index-url = https://{house.REGISTRY_HOSTS[0]}/simple")


def test_eager_imports_are_noticed():
    assert loaded_by("import numpy", house.COMPILED) == "numpy"
