"""What all participants of a secure aggregation agree on beforehand, who shares masks with whom, and the masks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import comb, inf, log2, perm

import numpy as np
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from ogive.core.arrays import Int64, UInt64
from ogive.crypto.domains import SEED_BYTES, HashDomain, Random, digest, number, words
from ogive.crypto.wire import PUBLIC_KEY_BYTES, STUDY_BYTES
from ogive.errors import ParameterError

# --- The random graph of who shares masks, where parties are too many for all pairs
#
# Parties stand in a circle in random order, and each is the neighbour of the k/2 next to it on either side. Seen from
# one party, its neighbours are a uniformly random set of k others. With n parties, d that leave and c that collude,
# fixed before the order is drawn, the aggregation does what it should unless one of these happens:
#
# 1. Some honest party has threshold t or more colluders among its neighbours, who could reconstruct its secrets.
#    Neighbours are drawn from at least n - d - 1 others: at most n P[Hypergeometric(n - d - 1, c, k) >= t].
# 2. Some party is left with fewer than t neighbours, so that its mask cannot be removed and there is no sum: at most
#    n P[k - Hypergeometric(n - 1, d, k) < t].
# 3. The honest parties in the sum fall apart, and the sum of each piece can be seen. Removing places of a
#    circle in which the k/2 next places are joined disconnects the rest only if k/2 in a row are removed: at most
#    n (b)_(k/2) / (n)_(k/2), with b = c + d and falling factorials.
#
# `docs/proofs/aggregation_graph.md` proves each.
#
# Source:
#     Bell, Bonawitz, Gascón, Lepoint and Raykova 2020, for an honest-but-curious server.

SAFE_BITS = 40
"""Failures of a graph are allowed with probability 2^-40."""

_TWENTIETH = 20


def counted_on(parties: int, colluding: int) -> int:
    """How many colluders a graph has to hold: the stated number, and at least one party in twenty.

    With fewer, two or three neighbours could open a vector; so a graph has at least 22 from 500 parties on.
    """
    return max(colluding, -(-parties // _TWENTIETH))


def _at_least(population: int, marked: int, drawn: int, bound: int) -> Fraction:
    """P[Hypergeometric(population, marked, drawn) >= bound], exactly."""
    most = min(marked, drawn)
    ways = sum(comb(marked, hit) * comb(population - marked, drawn - hit) for hit in range(max(bound, 0), most + 1))
    return Fraction(ways, comb(population, drawn))


@lru_cache(maxsize=64)
def failure_bits(parties: int, neighbours: int, threshold: int, *, dropouts: int, colluding: int) -> float:
    """How unlikely a graph is that fails, as bits: it fails with probability at most 2 to the minus that."""
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

    One party in twenty is counted on as colluding even where it is less.
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
    """Every member's neighbours, in ascending order: all others, or a random regular graph that the session fixes."""
    if neighbours is None or neighbours >= len(members) - 1:
        return {member: _others(members, member) for member in members}
    circle = _circle(members, session)
    result = np.sort(_around(circle, np.arange(len(members)), neighbours), axis=1)
    return {int(member): tuple(map(int, row)) for member, row in zip(circle, result, strict=True)}


def neighbours_of(member: int, members: Sequence[int], neighbours: int | None, session: bytes) -> tuple[int, ...]:
    """One member's neighbours in `graph`, without those of all others."""
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


# --- What all participants agree on beforehand

MOST_PARTIES = 10_000
MOST_TOTALS = 1 << 20
LONGEST = 1 << 27
"""Numbers in a vector; a gigabyte."""


def least_threshold(parties: int, *, colluding: int, confirmed: bool) -> int:
    """The fewest holders of shares who may be able to reconstruct a secret, where all hold shares of all.

    Colluding parties alone must not be enough. Where the server may lie, it must not get both secrets of a party
    either: two sets of that many parties, who confirmed different lists, have an honest one in common.
    """
    return max(colluding + 1, (parties + colluding) // 2 + 1 if confirmed else 1)


def check_threshold(threshold: int, parties: int, dropouts: int, colluding: int, *, confirmed: bool) -> None:
    """Refuse a threshold that colluders reach, or that is above the number of parties that will stay."""
    least, most = least_threshold(parties, colluding=colluding, confirmed=confirmed), parties - dropouts
    if least > most:
        raise ParameterError(
            f"{parties} parties cannot spare {dropouts} that leave where {colluding} may collude: {least} are needed "
            "to open the sum; count on fewer that leave or collude"
        )
    if not least <= threshold <= most:
        raise ParameterError(f"`threshold` must be from {least} to {most} here, got {threshold}")


@dataclass(frozen=True)
class AggregationSettings:
    """A study's secure aggregation: who takes part, what is added up, and how many may leave or collude.

    Fields:
        study: Digest of all that the sum is for, the release included; 32 bytes.
        release: Digest that all sums of one release have in common and no other release has, 32 bytes. A party's noise
            may be the same in several sums of a release, so it confirms one list of who is in them, and no other.
        parties: Ed25519 public keys of the parties, who are numbered from 1; at least two.
        server: The server's Ed25519 public key; it is number 0.
        length: Numbers in a party's vector, each modulo 2^64.
        threshold: Holders of shares of a secret who can reconstruct it.
        dropouts: How many parties may leave, at whatever round; if more leave, there is no sum.
        colluding: How many parties may tell the server, and each other, all that they know.
        totals: How many totals each party declares before keys are exchanged and opens with its vector; 0 if what it
            declares is never opened.
        confirmed: Whether parties confirm to each other who is in the sum before masks are opened, so that a server
            that tells them different things gets nothing. Without it the server has to follow the protocol.
        neighbours: With how many others each party shares masks and secrets, in a random regular graph; None for all.
            Then the threshold is of neighbours, `confirmed` has to be False, and the graph has to hold one party in
            twenty that colludes, even where `colluding` is less.

    Raises:
        ParameterError: the numbers do not fit together; says what would.
    """

    study: bytes
    release: bytes
    parties: tuple[bytes, ...]
    server: bytes
    length: int
    threshold: int
    dropouts: int = 0
    colluding: int = 0
    totals: int = 0
    confirmed: bool = True
    neighbours: int | None = None

    def __post_init__(self) -> None:
        count = len(self.parties)
        for what, result in (("study", self.study), ("release", self.release)):
            if len(result) != STUDY_BYTES:
                raise ParameterError(f"the digest of the {what} must have {STUDY_BYTES} bytes, got {len(result)}")
        if not 2 <= count <= MOST_PARTIES:
            raise ParameterError(f"secure aggregation needs 2 to {MOST_PARTIES} parties, got {count}")
        keys = (self.server, *self.parties)
        if any(len(key) != PUBLIC_KEY_BYTES for key in keys) or len(set(keys)) != len(keys):
            raise ParameterError("every party and the server needs an Ed25519 public key of its own, of 32 bytes")
        for name, value, least, most in (
            ("the length of the vectors", self.length, 1, LONGEST),
            ("the number of totals", self.totals, 0, MOST_TOTALS),
            ("dropouts", self.dropouts, 0, count - 1),
            ("colluding", self.colluding, 0, count - 1),
        ):
            if not least <= value <= most:
                raise ParameterError(f"`{name}` must be from {least} to {most}, got {value}")
        if self.least - self.colluding < 1:
            raise ParameterError(
                f"of {count} parties, {self.dropouts} that leave and {self.colluding} that collude leave nobody "
                "whose vector would be hidden; count on fewer"
            )
        if self.neighbours is None:
            check_threshold(self.threshold, count, self.dropouts, self.colluding, confirmed=self.confirmed)
        else:
            self._check_neighbours(count, self.neighbours)

    @property
    def least(self) -> int:
        """How many parties' vectors there must be for a sum."""
        return len(self.parties) - self.dropouts

    @cached_property
    def digest(self) -> bytes:
        """32 bytes that tell these settings from all others; every message carries them."""
        numbers = (
            self.length, self.threshold, self.dropouts, self.colluding, self.totals, self.confirmed,
            0 if self.neighbours is None else self.neighbours,
        )  # fmt: skip
        fields = (self.study, self.release, *(number(value) for value in numbers), self.server, *self.parties)
        return digest(HashDomain.AGGREGATION_SETTINGS, *fields)

    def _check_neighbours(self, count: int, neighbours: int) -> None:
        if self.confirmed:
            raise ParameterError("parties that only know their neighbours cannot confirm lists to each other")
        if not 2 <= neighbours < count or neighbours % 2:
            raise ParameterError(f"`neighbours` must be an even number below {count}, got {neighbours}")
        if not 1 <= self.threshold <= neighbours:
            raise ParameterError(f"`threshold` must be from 1 to {neighbours} neighbours, got {self.threshold}")
        colluding = counted_on(count, self.colluding)
        bits = failure_bits(count, neighbours, self.threshold, dropouts=self.dropouts, colluding=colluding)
        if bits < SAFE_BITS:
            raise ParameterError(
                f"with {neighbours} neighbours and a threshold of {self.threshold} the aggregation may fail or tell "
                f"too much with probability 2^-{bits:.0f}, and 2^-{SAFE_BITS} is allowed; take more neighbours, "
                "or another threshold"
            )


# --- Masks that hide one party's vector and cancel, or can be removed, in the sum of all
#
# A party's vector gets a mask of its own and one for every neighbour: added for those after it, taken away for those
# before it. Two neighbours have the same mask, which no one else can compute, so it cancels where both are in the sum.

# --- Threshold sharing of secrets (Shamir 1979)
#
# Secrets and shares are whole numbers modulo the prime q = 2^256 - 189; the share of holder number j >= 1 is the value
# at j of a random polynomial of degree threshold - 1 whose value at 0 is the secret.

PRIME = 2**256 - 189
SHARE_BYTES = 32


def uniform(random: Random, prime: int = PRIME) -> int:
    """A uniform number in [0, prime), by rejection."""
    size = (prime.bit_length() + 7) // 8
    limit = (1 << 8 * size) // prime * prime
    while True:
        value = int.from_bytes(random(size), "little")
        if value < limit:
            return value % prime


def share(secret: int, threshold: int, holders: Sequence[int], *, random: Random, prime: int = PRIME) -> list[int]:
    """Shares of a secret in [0, prime), of which `threshold` give it, for holders of distinct numbers from 1 on.

    Any threshold - 1 shares are uniform, whatever the secret. Only tests take another prime.
    """
    coefficients = [uniform(random, prime) for _ in range(threshold - 1)]
    shares = []
    for holder in holders:
        value = 0
        for coefficient in coefficients:
            value = (value + coefficient) * holder % prime
        shares.append((value + secret) % prime)
    return shares


@lru_cache(maxsize=256)
def _weights(holders: tuple[int, ...], prime: int) -> tuple[int, ...]:
    """What each share is multiplied with so that they add up to the secret."""
    weights = []
    for holder in holders:
        above, below = 1, 1
        for other in holders:
            if other != holder:
                above = above * other % prime
                below = below * (other - holder) % prime
        weights.append(above * pow(below, -1, prime) % prime)
    return tuple(weights)


def reconstruct(shares: Mapping[int, int], *, prime: int = PRIME) -> int:
    """The secret, from as many shares as its threshold: holder's number -> share.

    More or other shares than were dealt give some number, which says nothing of itself whether it is the secret.
    """
    weights = _weights(tuple(shares), prime)
    return sum(weight * value for weight, value in zip(weights, shares.values(), strict=True)) % prime


# --- Masks of one party


def fresh_key(random: Random) -> X25519PrivateKey:
    """A private key that can be shared as a number below the prime."""
    return X25519PrivateKey.from_private_bytes(as_secret(uniform(random)))


def pair_seed(session: bytes, one: int, other: int, agreed: bytes) -> bytes:
    """Seed of the mask of two parties; the same for both."""
    low, high = sorted((one, other))
    return digest(HashDomain.AGGREGATION_PAIR, session, number(low), number(high), agreed, length=SEED_BYTES)


def self_seed(session: bytes, party: int, secret: bytes) -> bytes:
    """Seed of a party's own mask, from the 32 bytes that it shares."""
    return digest(HashDomain.AGGREGATION_SELF, session, number(party), secret, length=SEED_BYTES)


def commitment(party: int, secret: bytes) -> bytes:
    """Commitment to the secret of a party's own mask, made before the secret is shared; 32 bytes."""
    return digest(HashDomain.AGGREGATION_COMMITMENT, number(party), secret)


def as_secret(value: int) -> bytes:
    """A shared number as the 32 bytes it was."""
    assert 0 <= value < PRIME
    return value.to_bytes(32, "little")


def add_masks(vector: UInt64, *, plus: Iterable[bytes], minus: Iterable[bytes]) -> None:
    """Add and take away the streams of seeds, in place, modulo 2^64."""
    for seed in plus:
        np.add(vector, words(seed, vector.size), out=vector)
    for seed in minus:
        np.subtract(vector, words(seed, vector.size), out=vector)


def mask_vector(vector: UInt64, *, party: int, own: bytes, pairs: dict[int, bytes]) -> UInt64:
    """The masked vector, shape (length,), which a party sends instead of its vector."""
    masked = vector.copy()
    after = [seed for other, seed in pairs.items() if other > party]
    before = [seed for other, seed in pairs.items() if other < party]
    add_masks(masked, plus=[own, *after], minus=before)
    return masked
