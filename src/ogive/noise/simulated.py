"""Noise for simulations: the law of a release's noise, from random numbers that need not be secret or exact."""

from __future__ import annotations

import numpy as np

from ogive.arrays import Int64
from ogive.noise import DiscreteLaplace, KeyedSource
from ogive.noise.base import Law


def draw_public(law: Law, shape: tuple[int, int], random: np.random.Generator) -> Int64:
    """Draws for a simulation.

    The whole part of an exponential number of mean b is geometric, and the difference of two such numbers has the
    discrete Laplace law of scale b.
    """
    if isinstance(law, DiscreteLaplace):
        scale = float(law.scale)
        drawn = np.floor(scale * random.standard_exponential(shape))
        drawn -= np.floor(scale * random.standard_exponential(shape))
        return drawn.astype(np.int64)
    source = KeyedSource.from_seed(int(random.integers(1 << 62)))
    return law.sample(shape[0] * shape[1], source=source).reshape(shape)
