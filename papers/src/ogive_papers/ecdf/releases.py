"""Simulated records of the paper, and noisy curves over them: with the paper's constants, and ours."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ogive.core.arrays import Float64, Int64
from ogive.noise import KeyedSource
from ogive.privacy import Adjacency, PureDP
from ogive.statistics.methods.choose import choose
from ogive.strategies import Strategy, design_path

SIZE = 2**15
"""Grid points N of the paper's synthetic data."""

CODE = (
    "noise/*.py",
    "strategies/**/*.py",
    "statistics/methods/choose.py",
    "papers/ecdf/releases.py",
)
"""Files that decide every curve made here."""


def poisson_counts(size: int, rate: float, generator: np.random.Generator) -> Int64:
    """Histogram of X_Pois: at every grid point a Poisson number of records (the paper, Section 6.2)."""
    return generator.poisson(rate, size).astype(np.int64)


@lru_cache(maxsize=64)
def paper_strategy(size: int, epsilon: float) -> Strategy:
    """Path noise Lap((L+1)/epsilon) on all nodes of the binary tree, one record replaced."""
    return design_path(size, privacy=PureDP(epsilon), adjacency=Adjacency.REPLACE, constants="paper")


@lru_cache(maxsize=64)
def best_strategy(size: int, epsilon: float) -> Strategy:
    """What `method="auto"` takes at the same guarantee."""
    return choose(size, PureDP(epsilon), Adjacency.REPLACE, "auto", lambda strategy: None)


def measure(strategy: Strategy, counts: Int64, source: KeyedSource) -> Int64:
    """Noisy measurements of a histogram, shape (M,)."""
    noise = tuple(level.law.sample(level.nodes, source=source) for level in strategy.levels)
    return strategy.measure(counts) + strategy.spread(noise)


def squared_error(estimate: Float64, truth: Float64) -> float:
    """Squared 2-norm of the difference."""
    return float(np.square(estimate - truth).sum())
