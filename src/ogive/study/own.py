"""A party's own records as what pays for its part of a release."""

from __future__ import annotations

from collections.abc import Sequence

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from ogive.arrays import UInt64
from ogive.columns import Schema
from ogive.crypto.domains import HashDomain
from ogive.errors import DataError
from ogive.noise.source import KEY_BYTES
from ogive.privacy import Adjacency, PrivacyUnit
from ogive.queries import Answer, LinearQuery
from ogive.records import Records
from ogive.records.contributions import columns_of
from ogive.statistics.base import innermost
from ogive.study.course import Step, course
from ogive.study.document import MERGE, Study
from ogive.trust.base import Opening, TrustModel
from ogive.trust.secagg.contribution import Contribution
from ogive.trust.secagg.options import SecAggOptions


class OwnRecords(TrustModel):
    """The records of one party of a study; what is asked of them is answered in a sum with others alone.

    Args:
        study: The study.
        number: The party's, from 1.
        records: Anything that `Records.of` reads; there may be none.

    Raises:
        ParameterError, DataError: the records cannot be read.
    """

    options_type = SecAggOptions

    def __init__(self, study: Study, number: int, records: object) -> None:
        self.options: SecAggOptions = study.aggregation
        self._unit = study.unit
        self._number = number
        self._records = Records.of_party(records).bounded(study.unit.person, study.unit.max_rows_per_person)

    def unit(self, adjacency: Adjacency) -> PrivacyUnit:
        """As the study says."""
        return self._unit

    def count(self) -> int:
        """The party's records, after bounding."""
        return self._records.count()

    def data_digest(self) -> bytes:
        """SHA-256 of the party's records."""
        return self._records.digest()

    def schema(self) -> Schema:
        """What the columns hold."""
        return self._records.schema()

    def check_columns(self, columns: Sequence[str]) -> None:
        """Refuse columns that the party's table lacks.

        Raises:
            DataError: one is not there; says which are.
        """
        self._records.check_columns(columns)

    def resume(self, adjacency: Adjacency, *, secret: bytes) -> OwnPart:
        """Go on with the party's part of a release."""
        return OwnPart(Contribution(self._records, self._number, self.options.terms, adjacency), secret)


class OwnPart(Opening[LinearQuery]):
    """A party's part of one release: vectors to be masked, with noise that is a function of the secret.

    Args:
        contribution: Of the party's records.
        secret: 32 bytes.
    """

    def __init__(self, contribution: Contribution, secret: bytes) -> None:
        self.contribution = contribution
        self.secret = secret

    def context(self, query: LinearQuery) -> bytes:
        """Digest of the party's part of a measurement."""
        return self.contribution.context(query)

    def answer(self, query: LinearQuery) -> Answer:
        """A single party opens nothing."""
        raise NotImplementedError("the sum is opened by all parties together")

    def vector(self, query: LinearQuery) -> UInt64:
        """What the party adds to the sum, noise included, modulo 2^64; shape (length,)."""
        info = HashDomain.STUDY_NOISE.encode()
        key = HKDF(hashes.SHA256(), KEY_BYTES, salt=None, info=info).derive(self.secret)
        return self.contribution.vector(query, key=key, context=self.context(query))


def check_records(study: Study, number: int, records: object) -> None:
    """Check that a party's records can answer each release; what is refused is told to their owner alone.

    Of aggregated releases the first query is computed as it will be, without noise, and nothing of it is kept.

    Raises:
        DataError: they lack a column, hold text where numbers are asked for, or have missing values that a release
            refuses.
    """
    if study.trust == MERGE:
        held = Records.of_party(records)
        for release in study.releases:
            held.check_columns([innermost(release.statistic).column])
        return
    own = OwnRecords(study, number, records)
    for release in study.releases:
        step = course(study, release, ())
        assert isinstance(step, Step), "every release asks something"
        own.check_columns([column.column for column in columns_of(step.query.aggregate)])
        try:
            own.resume(study.unit.adjacency, secret=bytes(KEY_BYTES)).contribution.sums(step.query.aggregate)
        except DataError as problem:
            raise DataError(f"release {release.name}: {problem}") from None
