"""Bars appear late, and nothing of them remains."""

import io
import sys

import nbformat
import pytest
from nbclient import NotebookClient

from dplab.core import progress as module
from dplab.core.progress import counted, progress


@pytest.mark.parametrize("loaded", [False, True])
@pytest.mark.parametrize("patience", [0.0, 60.0])
def test_in_a_terminal(monkeypatch, patience, loaded):
    """A program that has loaded ipykernel is no notebook yet."""
    monkeypatch.setattr(module, "PATIENCE", patience)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    if loaded:
        monkeypatch.setitem(sys.modules, "ipykernel", sys)
    else:
        monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    with progress(range(5), unit="step", what="work") as bar:
        assert list(bar) == [0, 1, 2, 3, 4]
    written = sys.stderr.getvalue()
    assert ("work" in written) == (patience == 0)
    assert written.split("\r")[-1].strip() == ""


def test_what_is_short_has_no_bar():
    items = [1, 2]
    with counted(items, long=False, unit="step", what="work") as found:
        assert found is items


def test_in_a_notebook_each_state_replaces_the_last():
    code = (
        "from dplab.core import progress as p\n"
        "p.PATIENCE = 0.0\n"
        "with p.progress(range(5), unit='step', what='work') as bar:\n"
        "    for i in bar:\n"
        "        shown = str(bar)\n"
        "print('done' if 'work' in shown else 'no bar')"
    )
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    NotebookClient(notebook, timeout=60).execute()
    bar, printed = notebook.cells[0].outputs
    assert bar.data == {"text/plain": ""}
    assert printed.text == "done\n"
