"""A progress bar for what takes longer than two seconds, and nothing for what does not."""

import sys
from contextlib import nullcontext
from typing import Any

PATIENCE = 2.0
"""Seconds before a bar appears."""


def progress(items=None, *, total: int | None = None, unit: str, what: str) -> Any:
    """The items, counted by a bar that appears after two seconds and leaves nothing behind; or, without items, a bar to
    update by hand. tqdm's, and to be used in a `with` statement.

    In a notebook it is written to stdout: of stderr an empty red box would remain.
    """
    from tqdm import tqdm

    out = sys.stdout if "ipykernel" in sys.modules else sys.stderr
    return tqdm(items, total=total, delay=PATIENCE, leave=False, unit=unit, desc=what, file=out)


def counted(items, *, long: bool, total: int | None = None, unit: str, what: str) -> Any:
    """`progress` over the items where it may take `long`; else the items as they are, and tqdm is not even loaded."""
    return progress(items, total=total, unit=unit, what=what) if long else nullcontext(items)
