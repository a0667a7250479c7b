"""Public, replayable randomness of a task."""

from __future__ import annotations

import numpy as np

from ogive.noise import KeyedSource


def streams(seed: int) -> tuple[np.random.Generator, KeyedSource]:
    """Randomness of a task: a generator for simulated records, a source of words for privacy noise.

    Both are public and replayable, which is right for simulated records only.
    """
    return np.random.default_rng([seed, 0]), KeyedSource.from_seed(seed)
