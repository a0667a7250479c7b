"""Who shares masks with whom where parties are too many for all pairs: a random regular graph.

Parties stand in a circle in random order, and each is the neighbour of the k/2 next to it on either side. Seen from one
party, its neighbours are a uniformly random set of k others. With n parties, d that leave and c that collude, fixed
before the order is drawn, the aggregation does what it should unless one of these happens:

1. Some honest party has threshold t or more colluders among its neighbours, who could reconstruct its secrets.
   Neighbours are drawn from at least n - d - 1 others: at most n P[Hypergeometric(n - d - 1, c, k) >= t].
2. Some party is left with fewer than t neighbours, so that its mask cannot be removed and there is no sum: at most
   n P[k - Hypergeometric(n - 1, d, k) < t].
3. The honest parties in the sum fall apart, and the sum of each piece can be seen. Removing places of a circle in which
   the k/2 next places are joined disconnects the rest only if k/2 in a row are removed: at most
   n (b)_(k/2) / (n)_(k/2), with b = c + d and falling factorials.

`docs/proofs/aggregation_graph.md` proves each.

Source:
    Bell, Bonawitz, Gascón, Lepoint and Raykova 2020, for an honest-but-curious server.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from math import comb, inf, log2, perm

import numpy as np

from ogive.arrays import Int64
from ogive.crypto.domains import HashDomain, digest
from ogive.crypto.streams import SEED_BYTES, words
from ogive.errors import ParameterError

SAFE_BITS = 40
"""Failures of a graph are allowed with probability 2^-40."""

_TWENTIETH = 20


def counted_on(parties: int, colluding: int) -> int:
    """How many colluders a graph has to hold: the stated number, and at least one party in twenty.

    With fewer, a party would have so few neighbours that two or three of them could open its vector; with one in twenty
    a graph has at least 22 neighbours from 500 parties on.
    """
    return max(colluding, -(-parties // _TWENTIETH))


def _at_least(population: int, marked: int, drawn: int, bound: int) -> Fraction:
    """P[Hypergeometric(population, marked, drawn) >= bound], exactly."""
    most = min(marked, drawn)
    ways = sum(comb(marked, hit) * comb(population - marked, drawn - hit) for hit in range(max(bound, 0), most + 1))
    return Fraction(ways, comb(population, drawn))


@lru_cache(maxsize=64)
def failure_bits(parties: int, neighbours: int, threshold: int, *, dropouts: int, colluding: int) -> float:
    """How unlikely a graph is that fails, as bits: it fails with probability at most 2 to the minus that.

    Args:
        parties: n, at least 2.
        neighbours: k, even.
        threshold: t, of a secret's shares among the neighbours.
        dropouts: d.
        colluding: c.
    """
    if neighbours > parties - dropouts - 1:
        return 0.0
    leak = _at_least(parties - dropouts - 1, colluding, neighbours, threshold)
    lost = _at_least(parties - 1, dropouts, neighbours, neighbours - threshold + 1)
    run = neighbours // 2
    apart = Fraction(perm(colluding + dropouts, run), perm(parties, run))
    chance = parties * (leak + lost + apart)
    if chance == 0:
        return inf
    return max(0.0, log2(chance.denominator) - log2(chance.numerator))


@lru_cache(maxsize=64)
def choose_neighbours(parties: int, *, dropouts: int, colluding: int) -> tuple[int, int]:
    """The fewest neighbours with which a graph fails with probability at most 2^-40, and the largest threshold.

    Args:
        parties: How many there are.
        dropouts: How many may leave.
        colluding: How many may tell the server what they know; one in twenty is counted on even where it is less.

    Raises:
        ParameterError: too many leave or collude for any graph.
    """
    stated, colluding = colluding, counted_on(parties, colluding)
    for neighbours in range(2, parties - dropouts, 2):
        low, high = 1, neighbours
        while low < high:  # the smallest threshold at which colluders learn nothing; larger ones lose sums sooner
            middle = (low + high) // 2
            leak = parties * _at_least(parties - dropouts - 1, colluding, neighbours, middle)
            low, high = (low, middle) if leak <= Fraction(1, 1 << SAFE_BITS + 2) else (middle + 1, high)
        threshold = low - 1
        while (
            threshold < neighbours
            and failure_bits(parties, neighbours, threshold + 1, dropouts=dropouts, colluding=colluding) >= SAFE_BITS
        ):
            threshold += 1
        if threshold >= low:
            return neighbours, threshold
    raise ParameterError(
        f"{parties} parties cannot spare {dropouts} that leave where {stated} may collude; "
        "count on fewer that leave or collude"
    )


def graph(members: Sequence[int], neighbours: int | None, session: bytes) -> dict[int, tuple[int, ...]]:
    """Every member's neighbours, in ascending order: all others, or a random regular graph that the session fixes.

    Args:
        members: Numbers of the parties, ascending.
        neighbours: k, even; None for all others.
        session: Whoever knows it knows the graph.
    """
    if neighbours is None or neighbours >= len(members) - 1:
        return {member: _others(members, member) for member in members}
    circle = _circle(members, session)
    found = np.sort(_around(circle, np.arange(len(members)), neighbours), axis=1)
    return {int(member): tuple(map(int, row)) for member, row in zip(circle, found, strict=True)}


def neighbours_of(member: int, members: Sequence[int], neighbours: int | None, session: bytes) -> tuple[int, ...]:
    """One member's neighbours in `graph`, without those of all others.

    Args:
        member: Its number, one of the members.
        members: As for `graph`.
        neighbours: As for `graph`.
        session: As for `graph`.
    """
    if neighbours is None or neighbours >= len(members) - 1:
        return _others(members, member)
    circle = _circle(members, session)
    return tuple(sorted(map(int, _around(circle, np.flatnonzero(circle == member), neighbours)[0])))


def _others(members: Sequence[int], member: int) -> tuple[int, ...]:
    return tuple(each for each in members if each != member)


def _circle(members: Sequence[int], session: bytes) -> Int64:
    """All members in random order."""
    seed = digest(HashDomain.AGGREGATION_GRAPH, session, length=SEED_BYTES)
    return np.asarray(members)[np.argsort(words(seed, len(members)), kind="stable")]


def _around(circle: Int64, places: Int64, neighbours: int) -> Int64:
    """Who is next to each of some places of a circle, shape (places, neighbours)."""
    steps = np.arange(1, neighbours // 2 + 1)
    around: Int64 = circle[(places[:, None] + np.concatenate([-steps, steps])) % len(circle)]
    return around
