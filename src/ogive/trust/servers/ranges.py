"""Whether sums of so many records, with their noise, fit the numbers in which servers hold shares."""

from __future__ import annotations

import numpy as np

from ogive.errors import DataError, ParameterError, UnsupportedError
from ogive.queries import LinearQuery
from ogive.trust.secagg.modulus import noise_bound

_LARGEST = 1 << 62
"""Queries refuse records whose measurements would be larger."""


def check_range(query: LinearQuery, *, records: int, servers: int, honest: int, modulus: int) -> None:
    """Check that measurements of so many records with the noise of all servers stay within a modulus.

    Args:
        query: The strategy that is measured.
        records: How many there are, in all.
        servers: How many servers add noise.
        honest: How many servers' shares make up the whole noise.
        modulus: Of the shares.

    Raises:
        UnsupportedError: they may not, with a chance above 2^-64 for each number.
    """
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
            "sums of so many records and their noise may leave the range of the servers' numbers; "
            "ask for fewer fractional bits or for more privacy loss, or use trust central"
        )
