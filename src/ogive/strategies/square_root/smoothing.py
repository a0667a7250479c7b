"""Square-root measurements smoothed in the norm of their own noise, and the kinds that are not offered for them."""

from __future__ import annotations

import numpy as np

from ogive.arrays import Float64, Int64
from ogive.strategies.square_root.integer import factor_column
from ogive.strategies.square_root.least_squares import smooth_square_root
from ogive.strategies.square_root.strategy import SquareRoot, decoder

LARGEST_SQUARE_ROOT = 1 << 16


def unsmoothable_square_root(strategy: SquareRoot, kind: str) -> str | None:
    """Why a kind of smoothing is not offered for a square root, or None if it is."""
    if kind == "least_absolute":
        return (
            "least_absolute smoothing is not offered for sqrt, whose noise is Gaussian; use another smoothing or method"
        )
    if kind == "least_squares" and strategy.size > LARGEST_SQUARE_ROOT:
        return f"least_squares smoothing of sqrt takes minutes above {LARGEST_SQUARE_ROOT} bins; use another smoothing"
    return None


def nearest_square_root(strategy: SquareRoot, answer: Int64, total: int | None, kind: str) -> Float64:
    """The histogram of bins at least 0 that is nearest to an answer, by "least_squares", the only kind there is."""
    assert kind == "least_squares"
    known = None if total is None else float(total)
    column = factor_column(strategy.size, strategy.bits)
    unit = 2.0**strategy.bits
    inverse = np.diff(decoder(column, strategy.bits), prepend=0.0) * unit
    sigma = float(np.sqrt(strategy.law.variance)) / unit
    return smooth_square_root(answer.astype(np.float64) / unit, column / unit, inverse, sigma, total=known)
