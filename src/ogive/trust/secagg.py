"""Secure aggregation: several parties, of whose answers only the sum is seen.

Roles: each party holds records of its own; the server sees one masked vector a party; the analyst sees the sum.

    party     adds up its own records (`measure` of its aggregate, integers) and its share of the noise,
              then one mask for every other party: added for those after it, taken away for those before it
    server    adds up what it gets, modulo 2^64: the masks cancel, and what is left is the noisy sum

Every pair of parties has a mask stream of its own, so a vector that lacks even one other party's is uniformly
distributed. The noise is whole once `honest` parties have added theirs; the others' comes on top, so fewer honest
parties mean more noise, by parties / honest in variance, and never a higher price.

What is simulated here: all parties live in one process, which derives masks and noise from one secret of the
release, so that a release that was cut off goes on with the same noise. Agreeing on masks without a common
secret, and going on when a party drops out, is a matter of the network protocol and not of this file.

Source:
    Bonawitz et al. 2017 for the masks; `docs/proofs/noise_shares.md` for the noise.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from ogive.errors import ParameterError, UnsupportedError
from ogive.noise import DerivedNodes, KeyedSource
from ogive.noise.base import RandomSource
from ogive.noise.shares import MOST_PARTIES, ShareNodes, share_of
from ogive.noise.source import KEY_BYTES
from ogive.privacy import Adjacency, PrivacyUnit
from ogive.queries import Aggregate, Answer, Int64, Label, LinearQuery, Query, ReportsQuery
from ogive.records import Records
from ogive.records.labelled import columns_of
from ogive.trust.base import NEEDS_OWNERS, Opening
from ogive.trust.parties import count_parties, party_sums, read_parties

_WORDS = 2  # of 32 bits in a number


def _assumption(honest_parties_add: str) -> str:
    return (
        "Whoever sees only the sum of all parties' masked vectors learns only what is published, and so do colluding "
        f"parties, as long as {honest_parties_add} their share of the noise and tell nobody. "
        "Each person's records lie with one party. The parties were simulated in one process, which saw everything."
    )


def _check_number(parties: object) -> None:
    """Refuse what is no number of parties."""
    if isinstance(parties, bool) or not isinstance(parties, int) or not 2 <= parties <= MOST_PARTIES:
        raise ParameterError(f"parties must be a whole number from 2 to {MOST_PARTIES}, got {parties!r}")


def _honest(parties: int, colluding: int, dropouts: int) -> int:
    """How many parties are sure to add their noise and keep it to themselves."""
    for name, value in (("colluding", colluding), ("dropouts", dropouts)):
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < parties:
            raise ParameterError(f"{name} must be a number of parties from 0 to {parties - 1}, got {value!r}")
    if colluding + dropouts >= parties:
        raise ParameterError(
            f"colluding={colluding} and dropouts={dropouts} leave none of {parties} parties honest; one is needed"
        )
    return parties - colluding - dropouts


class SecAgg:
    """Several parties who add up masked vectors; only the sum is ever seen.

    Args:
        parties: The records of each party, at least two; anything `Records.of` reads. No person is in two of them.
        honest: How many of the parties are sure to add their noise and to keep it to themselves; all by default.
        person: Column that says whose record it is, where a person may have several; the same at every party.
        max_rows_per_person: How many of a person's records are kept, chosen at random.

    Raises:
        ParameterError: there are fewer than two parties, two are the same, or honest is not between 1 and their number.
        DataError: a party's records cannot be read.

    Example:
        >>> import numpy as np, ogive
        >>> sites = [{"age": np.random.default_rng(seed).integers(18, 90, size=2_000)} for seed in range(5)]
        >>> age = ogive.Ecdf("age", bounds=(0, 120), grid="integers")
        >>> curve = ogive.release(age, trust=ogive.SecAgg(sites), privacy=ogive.PureDP(1))
        >>> curve.total
        10000
    """

    name: ClassVar[str] = "secagg"
    private: ClassVar[bool] = True
    assumption: str = _assumption("the stated number of honest parties add")  # of the type itself, as is `honest`
    honest: int = 1  # of the type itself, for plans that know of no parties

    def __init__(
        self,
        parties: Sequence[Any],
        *,
        honest: int | None = None,
        person: str | None = None,
        max_rows_per_person: int = 1,
    ) -> None:
        if not isinstance(parties, list | tuple) or not 2 <= len(parties) <= MOST_PARTIES:
            raise ParameterError(
                f"parties must be a list of the records of 2 to {MOST_PARTIES} parties, for example "
                "[north, south]; for a single one use Central"
            )
        chosen = len(parties) if honest is None else honest
        if isinstance(chosen, bool) or not isinstance(chosen, int) or not 1 <= chosen <= len(parties):
            raise ParameterError(f"honest must be a number of parties from 1 to {len(parties)}, got {honest!r}")
        self.parties = read_parties(parties, person=person, max_rows_per_person=max_rows_per_person)
        self.honest = chosen
        whole = "all" if chosen == len(parties) else f"at least {chosen}"
        verb = "adds" if chosen == 1 else "add"
        self.assumption = _assumption(f"{whole} of the {len(parties)} parties {verb}")

    @classmethod
    def simulated(
        cls,
        data: Any,
        *,
        parties: int,
        colluding: int = 0,
        dropouts: int = 0,
        person: str | None = None,
        max_rows_per_person: int = 1,
    ) -> SecAgg:
        """The model of one table that is dealt to so many parties, whose rows are chosen by a public hash.

        Raises:
            ParameterError: fewer than two parties, none of them honest, or too few records for all.
            DataError: the records cannot be read.
        """
        _check_number(parties)
        honest = _honest(parties, colluding, dropouts)
        dealt = Records.of(data).bounded(person, max_rows_per_person).split(parties)
        return cls(dealt, honest=honest, person=person, max_rows_per_person=max_rows_per_person)

    @classmethod
    def planned(cls, *, parties: int, colluding: int = 0, dropouts: int = 0) -> SecAgg:
        """The model without any records, to be asked what it refuses.

        Raises:
            ParameterError: fewer than two parties, or none of them honest.
        """
        _check_number(parties)
        model = cls.__new__(cls)
        model.honest = _honest(parties, colluding, dropouts)
        return model

    def unit(self, adjacency: Adjacency) -> PrivacyUnit:
        """One record of one party, or one person where a person column was named."""
        return PrivacyUnit(adjacency, self.parties[0].person, self.parties[0].max_rows_per_person)

    def count(self) -> int:
        """Records of all parties, after bounding."""
        return count_parties(self.parties)

    def refusal(self, query: Query) -> str | None:
        """Answers that do not add up, and noise that cannot be drawn in shares."""
        if isinstance(query, ReportsQuery):
            return NEEDS_OWNERS
        if not isinstance(query, LinearQuery):
            return (
                f"{query.method} needs all records in one place, and secure aggregation only adds up; "
                "use trust central, or a method whose answers add up, such as path"
            )
        if any(isinstance(column, Label) and column.negative is None for column in columns_of(query.aggregate)):
            return "parties cannot compare which other class they mean; say the negative class, for example negative=0"
        try:
            for law in {level.law for level in query.levels}:
                share_of(law, self.honest)
        except UnsupportedError as problem:
            return str(problem)
        return None

    def open(self, adjacency: Adjacency, *, source: RandomSource) -> Opening:
        """Start a release with a fresh secret from the source."""
        return _SecAggOpening(self.parties, self.honest, adjacency, source.key())

    def resume(self, adjacency: Adjacency, *, secret: bytes) -> Opening:
        """Go on with a release from its secret."""
        return _SecAggOpening(self.parties, self.honest, adjacency, secret)


class _SecAggOpening:
    """One release by several parties, fixed to their data, the adjacency and the secret."""

    def __init__(self, parties: tuple[Records, ...], honest: int, adjacency: Adjacency, secret: bytes) -> None:
        self._parties = parties
        self._honest = honest
        self._adjacency = adjacency
        self.secret = secret
        self._sums: dict[Aggregate, tuple[Int64, ...]] = {}

    def answer(self, query: Query) -> Answer:
        """Add up the parties' masked vectors.

        Privacy: `query.price(unit)` once per measurement, against whoever sees the sum and at most
            parties - honest parties.
        """
        assert isinstance(query, LinearQuery)
        context = self.context(query)
        received = [self._masked(query, context, number) for number in range(len(self._parties))]
        total = np.stack(received).sum(axis=0, dtype=np.uint64).view(np.int64)
        pooled = np.stack(self._aggregates(query.aggregate)).sum(axis=0)
        spread = Fraction(len(self._parties), self._honest)
        return Answer(total, query.totals(pooled, self._adjacency), spread=spread)

    def context(self, query: Query) -> bytes:
        found = hashlib.sha256(b"ogive secure aggregation 1\n")
        found.update(len(self._parties).to_bytes(8, "big") + self._honest.to_bytes(8, "big"))
        for sums in self._aggregates(query.aggregate):
            found.update(query.digest(sums, self._adjacency))
        return found.digest()

    def _masked(self, query: LinearQuery, context: bytes, number: int) -> np.ndarray[Any, np.dtype[np.uint64]]:
        """What one party sends."""
        noise = ShareNodes(DerivedNodes(self._key(b"noise", number), context), self._honest)
        exact = query.measure(self._aggregates(query.aggregate)[number])
        vector = np.ascontiguousarray(exact + query.noise(noise)).view(np.uint64)
        for other in range(len(self._parties)):
            if other < number:
                vector = vector - self._mask(context, other, number, vector.shape)
            elif other > number:
                vector = vector + self._mask(context, number, other, vector.shape)
        return vector

    def _mask(
        self, context: bytes, low: int, high: int, shape: tuple[int, ...]
    ) -> np.ndarray[Any, np.dtype[np.uint64]]:
        """What a pair of parties share; uniform modulo 2^64, other for every measurement."""
        stream = KeyedSource(self._key(b"mask" + context, low, high))
        words = stream.words(_WORDS * int(np.prod(shape)))
        return np.ascontiguousarray(words).view(np.uint64).reshape(shape)

    def _key(self, use: bytes, *numbers: int) -> bytes:
        info = b"ogive secagg\n" + use + b"".join(number.to_bytes(8, "big") for number in numbers)
        return HKDF(hashes.SHA256(), KEY_BYTES, salt=None, info=info).derive(self.secret)

    def _aggregates(self, aggregate: Aggregate) -> tuple[Int64, ...]:
        # summed once: what a file holds may change while a release is open, the release may not
        if aggregate not in self._sums:
            self._sums[aggregate] = party_sums(self._parties, aggregate)
        return self._sums[aggregate]
