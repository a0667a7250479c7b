"""Intervals of quantiles by bisection are as wide as the stray of a sample from its population demands."""

import math

import numpy as np
import pytest

import ogive
from ogive.noise import KeyedSource

BINS = 8_192
RECORDS = 4 * BINS


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_an_interval_without_noise_is_as_wide_as_the_sample_strays(level):
    """Where the number of records is private, a margin takes half of the error probability for the noise and the other
    half for the sample. The largest distance of a sample of n from its population exceeds s with probability at most
    2 exp(-2 n s^2): Massart 1990. At so large an epsilon there is no noise, so that each interval is 2 s wide."""
    values = (np.arange(RECORDS) + 0.5) / RECORDS
    result = ogive.quantiles(
        values, [0.3, 0.5, 0.8], bounds=(0, 1), bins=BINS, privacy=ogive.PureDP(2_000), method="bisection",
        adjacency=ogive.Adjacency.ADD_OR_REMOVE,
        confidence_level=level, source=KeyedSource(bytes(32)),
    )  # fmt: skip
    assert np.allclose(result.numbers, [0.3, 0.5, 0.8], atol=1 / BINS)
    for number, low, high in zip(result.numbers, result.low, result.high, strict=True):
        for stray in (number - low, high - number):
            # an end is rounded to a bin, and so is the estimate
            assert 2 * math.exp(-2 * RECORDS * (stray + 2 / BINS) ** 2) <= (1 - level) / 2
            assert 2 * math.exp(-2 * RECORDS * (stray - 2 / BINS) ** 2) >= (1 - level) / 2
