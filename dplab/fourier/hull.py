"""The lower convex hull of a grid PLD's curve, by pooling adjacent violators.

A lower grid PLD made from supporting lines can have negative masses (the node values are then not convex in e^x).
Clipping them is no bound; the lower convex hull of the node values is. Its slopes are a weighted isotonic
regression of the raw slopes; pooling only touches the cells around negative masses.
"""

import math

import numpy as np

from .sums import suffix_decay_sums


def convex_masses(masses: np.ndarray, dx: float) -> np.ndarray:
    """Masses of the hull; `masses` may be negative. Cells are pooled until all masses are >= 0.

    Cell 0 is (0, x_0), cell l is (x_{l-1}, x_l), the last is the ray of slope 0 beyond the last node. A block
    of cells is known by its drop of h and its length; -slope times e^x of its right or left end follows.
    """
    if masses.min() >= 0:
        return masses
    size = len(masses)
    decay = suffix_decay_sums(masses, dx)[0]
    # on (0, x_0): x_0 times the Q-mass; lists, because single elements of arrays are slow
    drop = [*decay[:1], *(-np.expm1(-dx) * decay[1:]).tolist(), 0.0]
    first, last = list(range(size + 1)), list(range(size + 1))  # valid at block ends: last[first cell], first[last]
    merged: list[int] = []  # last cells of blocks that were pooled
    pending: list[int] = np.nonzero(masses < 0)[0].tolist()
    alive = [True] * (size + 1)  # alive[cell]: the cell starts a block

    def at_right(cell: int) -> float:
        """-slope of the block that starts at `cell`, times e^x of its right end."""
        length = last[cell] - cell + 1
        return drop[cell] / _width(cell, length)

    def _width(cell: int, length: int) -> float:
        """(X_right - X_left)/X_right; the first cell starts at X = 0."""
        return 1.0 if cell == 0 else -math.expm1(-length * dx)

    def at_left(cell: int) -> float:
        """-slope of the block that starts at `cell` >= 1, times e^x of its left end; 0 for the ray."""
        return 0.0 if last[cell] == size else drop[cell] / math.expm1(min((last[cell] - cell + 1) * dx, 700.0))

    while pending:
        node = pending.pop()  # the node between cell `node` and cell `node + 1`
        right = node + 1
        if not alive[right]:
            continue
        left = first[node]
        if at_right(left) >= at_left(right):
            continue
        end = last[right]
        merged.append(end)
        alive[right] = False
        drop[left] += drop[right]
        last[left], first[end] = end, left
        if end == size:
            drop[left] = 0.0  # pooled with the ray: flat from here on
        if end < size:
            pending.append(end)
        if left > 0:
            pending.append(left - 1)
    result = masses.copy()
    for start in {first[cell] for cell in merged}:
        end = last[start]
        if not alive[start] or start == end:
            continue
        result[start : min(end, size)] = 0.0  # nodes inside the block; its outer nodes follow
        for node in (start - 1, end):
            if 0 <= node < size:
                result[node] = max(at_right(first[node]) - at_left(node + 1), 0.0)
    return result
