"""A progress bar for what takes longer than two seconds, and nothing for what does not."""

import sys
from contextlib import nullcontext
from typing import Any

PATIENCE = 2.0
"""Seconds before a bar appears."""


def progress(items=None, *, total: int | None = None, unit: str, what: str) -> Any:
    """The items, counted by a bar that appears after two seconds and leaves nothing behind; or, without items, a bar to
    update by hand. tqdm's, and to be used in a `with` statement.
    """
    from tqdm import tqdm

    out = NotebookLine() if _in_notebook() else sys.stderr
    return tqdm(items, total=total, delay=PATIENCE, leave=False, unit=unit, desc=what, file=out)


def counted(items, *, long: bool, total: int | None = None, unit: str, what: str) -> Any:
    """`progress` over the items where it may take `long`; else the items as they are, and tqdm is not even loaded."""
    return progress(items, total=total, unit=unit, what=what) if long else nullcontext(items)


def _in_notebook() -> bool:
    """Whether a kernel runs here: a program may have loaded ipykernel without."""
    if "ipykernel" not in sys.modules:
        return False
    from IPython import get_ipython

    return get_ipython() is not None


class NotebookLine:
    """A line of text in a notebook that each write replaces: written to a stream, every state of a bar would stay in
    the saved notebook."""

    def __init__(self):
        self._display: Any = None

    def write(self, text: str) -> None:
        """Show the text, without what moves the cursor of a terminal."""
        from IPython.display import display

        shown = {"text/plain": text.strip("\r\n ")}
        if self._display is None and shown["text/plain"]:
            self._display = display(shown, raw=True, display_id=True)
        elif self._display is not None and text.strip("\n"):
            self._display.update(shown, raw=True)

    def flush(self) -> None:
        """Nothing is held back."""
