"""Sums with a known rounding error: geometric suffix sums in blocks."""

import math

import numpy as np

from .intervals import U


def suffix_decay_sums(masses: np.ndarray, dx: float) -> tuple[np.ndarray, float]:
    """D_i = sum_{j>=i} masses_j e^{(i-j) dx} in blocks, and a bound of its relative error (for masses >= 0).

    Within a block the weights are relative to its first element, so a block is short enough that they do not
    underflow; the rest is carried from block to block.
    """
    size = len(masses)
    width = int(min(np.ceil(np.sqrt(size)), max(1, np.floor(30.0 / dx))))
    rows = -(-size // width)
    padded = np.zeros(rows * width, masses.dtype)
    padded[:size] = masses
    steps = dx * np.arange(width + 1)
    forth, back = np.exp(steps[:-1]), np.exp(-steps)
    inner = np.cumsum((padded.reshape(rows, width) * back[:-1])[:, ::-1], axis=1)[:, ::-1]
    carry, carries = 0.0, np.empty(rows, masses.dtype)
    for row in range(rows - 1, -1, -1):
        carries[row] = carry * back[-1]  # what lies right of the block, seen from its first element
        carry = inner[row, 0] + carries[row]
    result = forth * (inner + carries[:, None])
    relative = (width + rows * (4 + width * dx) + 32 + 8 * width * dx) * U
    return result.ravel()[:size], relative


def suffix_sums(values: np.ndarray) -> tuple[np.ndarray, float]:
    """sum_{j>=i} values_j in blocks, and a bound of its relative error (for values >= 0)."""
    size = len(values)
    width = int(np.ceil(np.sqrt(size)))
    rows = -(-size // width)
    padded = np.zeros(rows * width, values.dtype)
    padded[:size] = values
    inner = np.cumsum(padded.reshape(rows, width)[:, ::-1], axis=1)[:, ::-1]
    after = np.append(np.cumsum(inner[::-1, 0])[::-1][1:], 0.0)
    return (inner + after[:, None]).ravel()[:size], (width + rows + 16) * U


def log_exp_sum(masses: np.ndarray, x: np.ndarray, z: float) -> tuple[float, float]:
    """log sum a_i e^{z x_i} over the positive masses, and a bound of what rounding its exponents and the sum adds;
    -inf and 0 without mass."""
    used = masses > 0
    if not used.any():
        return -math.inf, 0.0
    exponents = z * x[used]
    weights = exponents + np.log(masses[used])
    peak = float(weights.max())
    value = peak + math.log(float(np.exp(weights - peak).sum()))
    spread = float(np.abs(weights - peak).max(initial=0.0, where=weights > -700))
    slack = 4 * float(np.abs(exponents).max()) + 4 * spread + 4 * abs(peak) + len(weights) + 3000
    return value, slack * U
