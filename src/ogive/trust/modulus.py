"""Room for sums and their noise: they must not wrap around 2^64, or leave the numbers in which servers hold shares.

A wrapped sum would tell no more than an exact one, but it would be wrong by 2^64. The noise of one number of a
measurement exceeds `noise_bound` with probability below 2^-64, that of some number of a vector of k with one below
k 2^-64; what is left of 2^63 is divided among the parties' exact integers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from math import ceil, isqrt

import numpy as np

from ogive.errors import DataError, ParameterError, UnsupportedError
from ogive.noise.base import Law
from ogive.noise.discrete import DiscreteLaplace
from ogive.noise.laws import share_of
from ogive.queries import LinearQuery

LARGEST = (1 << 63) - 1
"""Sums are read as numbers in [-2^63, 2^63)."""
TAIL_BITS = 64
"""Noise is larger than its stated bound with probability at most 2^-TAIL_BITS."""
_NATURAL = 0.6931471806  # log 2, rounded up


def noise_bound(laws: Iterable[Law], *, adding: int, honest: int, tail_bits: int = TAIL_BITS) -> int:
    """A bound on the noise of one number of a measurement, exceeded with probability at most 2^-tail_bits.

    Source:
        Discrete Laplace noise of scale t exceeds T with probability below 2 exp(-T / t) / (1 + exp(-1 / t)), and m
        parties' shares are part of a sum of ceil(m / h) such variables, independent and symmetric. Sums of discrete
        Gaussians of variance v in all are subgaussian (Canonne, Kamath and Steinke 2020); Bernstein's inequality for
        sums of Poisson variables of the same variance needs 20 more.
    """
    counted = Counter(laws)
    extra = tail_bits + 1 + counted.total().bit_length()
    bound = 0
    for law, levels in counted.items():
        if isinstance(law, DiscreteLaplace):
            whole = -(-adding // honest)
            largest = whole * (ceil((extra + whole.bit_length()) * _NATURAL * law.scale) + 1)
        else:
            deviation = isqrt(ceil(share_of(law, honest).variance * adding * 1.01)) + 1
            largest = ceil((2 * extra * _NATURAL) ** 0.5 * deviation + extra)
        bound += levels * largest
    return bound


def largest_share(laws: Iterable[Law], *, parties: int, honest: int) -> int:
    """How large one party's exact integers may be; 0 or less if there is no room even for the noise."""
    return (LARGEST - noise_bound(laws, adding=parties, honest=honest)) // parties


# --- Room in the numbers in which servers hold shares

_LARGEST = 1 << 62
"""Queries refuse records whose measurements would be larger."""


def check_range(query: LinearQuery, *, records: int, servers: int, honest: int, modulus: int) -> None:
    """Check that measurements of this many records with the noise of all servers stay within a modulus."""
    room = modulus // 4
    cells = np.zeros(query.aggregate.shape, dtype=np.int64)
    once = int(np.abs(query.measure(cells + 1)).max(initial=0))  # what one record adds, where all add, is below it
    laws = [level.law for level in query.levels]
    fits = once * records < room and noise_bound(laws, adding=servers, honest=honest) < room
    if fits:
        for place in (0, -1):  # a query may look at some of its rows alone
            cells[...] = 0
            cells.flat[place] = records * -(-_LARGEST // room)
            try:
                query.measure(cells)
            except (DataError, ParameterError):
                fits = False
    if not fits:
        raise UnsupportedError(
            "sums of this many records and their noise may leave the range of the servers' numbers; "
            "ask for fewer fractional bits or for more privacy loss, or use trust central"
        )
