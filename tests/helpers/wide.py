"""The widest noise at its tails, the largest parameter that is accepted, and shares in integers of any size."""

from __future__ import annotations

import math

import numpy as np

from ogive.columns import Binning
from ogive.columns.grids import Grid
from ogive.errors import OgiveError
from ogive.noise import DiscreteGaussian, DiscreteLaplace, Geometric

LAPLACE, GAUSSIAN, GEOMETRIC = DiscreteLaplace(1 << 47), DiscreteGaussian(1 << 47), Geometric(1 << 47)
"""The widest laws that can be drawn."""


def tail(law):
    """What noise passes with a probability of at most 2^-64: 2 exp(-t / scale), or 2 exp(-t^2 / 2 sigma^2)."""
    return math.ceil(law.sigma * 10 if isinstance(law, DiscreteGaussian) else law.scale * 46)


class AtTails:
    """Noise at its tail, or none, at every node, of signs that are drawn; `drawn` are the values by level."""

    def __init__(self, seed, size_of=tail):
        self.draw, self.size_of, self.drawn = np.random.default_rng(seed), size_of, {}

    def values(self, law, level, nodes):
        least = 0 if isinstance(law, Geometric) else -1
        self.drawn[level] = self.draw.integers(least, 2, np.shape(nodes)) * self.size_of(law)
        return self.drawn[level]


def last(is_accepted, end):
    """The last whole number below the end that is accepted, as 0 is and the end is not."""
    assert is_accepted(0)
    assert not is_accepted(end)
    return next(number for number in range(end - 1, -1, -1) if is_accepted(number))


def accepted(ask, *refusals):
    """Whether a question is answered and not refused, in one line; the words of a refusal say which."""
    try:
        ask()
    except OgiveError as problem:
        if "\n" in str(problem) or not any(word in str(problem) for word in refusals):
            raise
        return False
    return True


def largest(is_accepted, end=1 << 64):
    """The last whole number that is accepted, by bisection, where 0 is accepted and the end is not."""
    first = 0
    while end - first > 1:
        middle = (first + end) // 2
        first, end = (middle, end) if is_accepted(middle) else (first, middle)
    return first


def numbers(bins):
    return Binning("x", Grid.linear(0, 1, bins=bins))


def shared(values, modulus, servers=2, seed=0):
    """Shares of whole numbers, uniform but for the last server's, uint64 of shape (servers, *shape)."""
    draw, flat = np.random.default_rng(seed), np.asarray(values, dtype=object)
    some = draw.integers(0, modulus - 1, (servers - 1, *flat.shape), dtype=np.uint64, endpoint=True)
    rest = (flat - some.astype(object).sum(axis=0)) % modulus
    return [*some, rest.astype(np.uint64)]
