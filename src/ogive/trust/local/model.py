"""The local model: every record is randomized at its owner, and nobody ever sees one.

Roles: each owner sends one randomized report; the aggregator adds reports up; the analyst sees estimates. Whoever
sees a report, the aggregator included, learns what the report's own epsilon allows and no more.

What is simulated here: the owners of a table live in one process, which derives their random bits from one
secret of the release, so that a release that was cut off goes on with the same reports. A real collection goes by
`ogive.local`, through files or a network.
"""

from __future__ import annotations

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from ogive.arrays import Int64
from ogive.noise import KeyedSource
from ogive.noise.source import KEY_BYTES
from ogive.privacy import Adjacency
from ogive.queries import Answer, ReportsQuery, RowValues
from ogive.records import Records
from ogive.trust.base import Opening
from ogive.trust.local.options import LocalOptions
from ogive.trust.table import SingleTable


class Local(SingleTable):
    """Every record's owner sends one randomized report, and nobody sees a record.

    Args:
        data: Anything `Records.of` reads: a file, a frame, a dictionary of arrays; each row is one owner's.
        person: Column with the person's identifier, if a person may own several records. Each record is then a report
            of its own, and the guarantee for the person covers all of them.
        max_rows_per_person: How many of a person's records are reported, chosen at random.
        na_values: Texts and numbers that mark a missing value in any column, in addition to the usual ones such
            as NA.

    Example:
        >>> import numpy as np, ogive
        >>> incomes = {"income": np.random.default_rng(1).gamma(2, 10_000, size=20_000)}
        >>> gini = ogive.Ustatistic("income", "gini", bounds=(0, 200_000))
        >>> spread = ogive.release(gini, trust=ogive.Local(incomes), privacy=ogive.PureDP(1))
    """

    options_type = LocalOptions

    def resume(self, adjacency: Adjacency, *, secret: bytes) -> _LocalOpening:
        """Continue a release from its secret."""
        return _LocalOpening(self.records, adjacency, secret)


class _LocalOpening(Opening[ReportsQuery]):
    """One collection of reports, fixed to the records and the secret."""

    def __init__(self, records: Records, adjacency: Adjacency, secret: bytes) -> None:
        self._records = records
        self._adjacency = adjacency
        self.secret = secret
        self._rows: dict[RowValues, Int64] = {}

    def answer(self, query: ReportsQuery) -> Answer:
        """What the reports of all owners add up to.

        Privacy: `query.price(unit)` for every person, against everybody.
        """
        rows = self._values(query.rows)
        info = b"ogive local\n" + self.context(query)
        source = KeyedSource(HKDF(hashes.SHA256(), KEY_BYTES, salt=None, info=info).derive(self.secret))
        return Answer(query.collect(rows, source=source), query.totals(rows, self._adjacency))

    def context(self, query: ReportsQuery) -> bytes:
        return query.digest(self._values(query.rows), self._adjacency)

    def _values(self, rows: RowValues) -> Int64:
        # read once: what a file holds may change while a release is open, the release may not
        if rows not in self._rows:
            self._rows[rows] = self._records.aggregate(rows)
        return self._rows[rows]
