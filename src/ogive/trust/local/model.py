"""The local model: every record is randomized at its owner, and nobody ever sees one.

Roles: each owner sends one randomized report; the aggregator adds reports up; the analyst sees estimates. Whoever
sees a report, the aggregator included, learns what the report's own epsilon allows and no more.

What is simulated here: the owners of a table live in one process, which derives their random bits from one
secret of the release, so that a release that was cut off goes on with the same reports. A real collection goes by
`ogive.local`, through files or a network.
"""

from __future__ import annotations

from typing import Any, ClassVar

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from ogive.noise import KeyedSource
from ogive.noise.base import RandomSource
from ogive.noise.source import KEY_BYTES
from ogive.privacy import Adjacency, PrivacyUnit
from ogive.queries import Answer, Int64, PairsQuery, Query, ReportsQuery, RowValues
from ogive.records import Records
from ogive.trust.base import NEEDS_PAIRS, REPORTABLE, Opening


class Local:
    """Every record's owner sends one randomized report, and nobody sees a record.

    Args:
        data: Anything `Records.of` reads: a file, a frame, a dictionary of arrays; each row is one owner's.
        person: Column that says whose record it is, where a person may own several; each record is then a
            report of its own, and the guarantee for the person counts them all.
        max_rows_per_person: How many of a person's records are reported, chosen at random.

    Example:
        >>> import numpy as np, ogive
        >>> incomes = {"income": np.random.default_rng(1).gamma(2, 10_000, size=20_000)}
        >>> gini = ogive.Ustatistic("income", "gini", bounds=(0, 200_000))
        >>> spread = ogive.release(gini, trust=ogive.Local(incomes), privacy=ogive.PureDP(1))
    """

    name: ClassVar[str] = "local"
    private: ClassVar[bool] = True
    assumption: ClassVar[str] = (
        "Nobody had to be trusted with a record: each was randomized at its owner, and only the report was sent. "
        "The owners were simulated in one process, which saw everything."
    )

    def __init__(self, data: Any, *, person: str | None = None, max_rows_per_person: int = 1) -> None:
        self.records = Records.of(data).bounded(person, max_rows_per_person)

    def unit(self, adjacency: Adjacency) -> PrivacyUnit:
        """One record, or one person where a person column was named."""
        return PrivacyUnit(adjacency, self.records.person, self.records.max_rows_per_person)

    def data_digest(self) -> bytes:
        """SHA-256 of the records."""
        return self.records.digest()

    def count(self) -> int:
        """Records, after bounding; so many reports are sent."""
        return self.records.count()

    def refusal(self, query: Query) -> str | None:
        """Everything but reports needs somebody who sees records."""
        if isinstance(query, ReportsQuery):
            return None
        if isinstance(query, PairsQuery):
            return NEEDS_PAIRS
        needs = f"{query.method} needs somebody who sees records, and here nobody does"
        return f"{needs}; use trust central, or {REPORTABLE}"

    def open(self, adjacency: Adjacency, *, source: RandomSource) -> Opening:
        """Start a release with a fresh secret from the source."""
        return _LocalOpening(self.records, adjacency, source.key())

    def resume(self, adjacency: Adjacency, *, secret: bytes) -> Opening:
        """Go on with a release from its secret."""
        return _LocalOpening(self.records, adjacency, secret)


class _LocalOpening:
    """One collection of reports, fixed to the records and the secret."""

    def __init__(self, records: Records, adjacency: Adjacency, secret: bytes) -> None:
        self._records = records
        self._adjacency = adjacency
        self.secret = secret
        self._rows: dict[RowValues, Int64] = {}

    def answer(self, query: Query) -> Answer:
        """What the reports of all owners add up to.

        Privacy: `query.price(unit)` for every person, against everybody.
        """
        assert isinstance(query, ReportsQuery)
        rows = self._values(query.rows)
        info = b"ogive local\n" + self.context(query)
        source = KeyedSource(HKDF(hashes.SHA256(), KEY_BYTES, salt=None, info=info).derive(self.secret))
        return Answer(query.collect(rows, source=source), query.totals(rows, self._adjacency))

    def context(self, query: Query) -> bytes:
        assert isinstance(query, ReportsQuery)
        return query.digest(self._values(query.rows), self._adjacency)

    def _values(self, rows: RowValues) -> Int64:
        # read once: what a file holds may change while a release is open, the release may not
        if rows not in self._rows:
            self._rows[rows] = self._records.aggregate(rows)
        return self._rows[rows]
