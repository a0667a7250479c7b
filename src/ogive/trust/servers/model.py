"""Non-colluding servers: clients upload shares once and leave, and the servers answer any number of questions.

Roles: a client holds one record (or an organization many); each of m servers holds one share of every upload and a
noise key of its own; the analyst sees the servers' noisy answers, which make sense only added up.

    client    shares the cell of its record between the servers, by comparison keys or as a table
    server    forms the set of clients with the others, finds out with them that every upload is that of one record,
              adds shares up, adds noise
    analyst   adds the servers' answers

Labels of teachers' votes two servers compute from their shares in garbled circuits, if both follow the protocol; see
`labeling`. Each of them learns which queries pass their check, and the analyst the labels.

A server learns how many uploads there are, and nothing else: each share by itself, and those of any m - 1 servers
together, look the same whatever the records are. Every server adds the whole noise, so any one honest server suffices
for the guarantee. Where fewer than m - 1 servers may collude, each adds the share of the noise that the others need.

What is simulated here: clients, servers and analyst live in one process, which derives the randomness of all from one
secret of the release, so that a release that was cut off goes on with the same uploads and the same noise. They
exchange bytes alone. Channels are taken to be authenticated and confidential, as TLS is: nothing here signs or seals.

Source:
    Barczewski, Mawass and Ramon for the protocol; Boyle, Gilboa and Ishai 2015 for the keys; Boneh, Boyle,
    Corrigan-Gibbs, Gilboa and Ishai 2021 for the verification; `docs/proofs/verified_uploads.md`.
"""

from __future__ import annotations

import datetime
from numbers import Number
from typing import Any, Self

from ogive.crypto.sketch.rejections import DEFAULT_TOLERATED
from ogive.errors import DataError, ParameterError
from ogive.privacy import Adjacency
from ogive.progress import Progress
from ogive.records import Records
from ogive.records.missing_words import NaValues
from ogive.trust.parties import SeveralTables, read_parties
from ogive.trust.servers.opening import ServersOpening
from ogive.trust.servers.options import ServersOptions
from ogive.trust.servers.uploads import SUMS


class Servers(SeveralTables):
    """Servers that do not collude and answer from secret shares that clients uploaded once.

    Args:
        data: One table in which each record belongs to one client, or a list of tables, one for each organization, in
            any form that `Records.of` reads. No person may be in two tables.
        servers: Number of servers.
        upload: What is uploaded. "keys", for two servers: a comparison key for every record. "tables": the cells of the
            aggregate for every record, all zero but one, in shares. "sums", for organizations: all their records
            added up, in shares. "auto" takes tables for votes, else sums for organizations, else the cheaper of keys
            and tables, from public numbers.
        verified: Whether servers check that every upload encodes one record, so that a dishonest client changes no
            count by more than one. Uploads of sums cannot be checked. By default every upload that can be checked is
            checked.
        verifications: Number of checks for which material is uploaded: one for every set of thresholds that is
            queried.
        tolerated: Largest share of invalid uploads, from 0 to 1; with a larger share the servers refuse to answer.
        colluding: How many servers may share all that they know, 1 to servers - 1, which is the default. With fewer,
            there is less noise: servers / (servers - colluding) times the variance of a curator.
        person: Column with the person's identifier, if a person may have several records; the same in every table.
        max_rows_per_person: How many of a person's records are kept, chosen at random.
        na_values: Texts and numbers that mark a missing value in any column, in addition to the usual ones such
            as NA.
        progress: Called repeatedly with the number of uploads made or read and the number of uploads in all.

    Raises:
        ParameterError: an option is out of range, or options do not fit each other.
        DataError: the records cannot be read.

    Privacy:
        The price of a release holds against everybody who sees the answers and the views of any `colluding` servers.
        The servers learn the number of uploads. Labels of votes are computed by two servers that must be semi-honest:
        garbled circuits hide votes from servers that follow the protocol, and not from those that do not.

    Example:
        >>> import numpy as np, ogive
        >>> ages = {"age": np.random.default_rng(1).integers(18, 90, size=2_000)}
        >>> age = ogive.Ecdf("age", bounds=(0, 120), grid="integers")
        >>> curve = ogive.release(age, trust=ogive.Servers(ages), privacy=ogive.PureDP(1))
        >>> curve.total
        2000
    """

    options_type = ServersOptions

    def __init__(
        self,
        data: Any,
        *,
        servers: int = 2,
        upload: str = "auto",
        verified: bool | None = None,
        verifications: int = 16,
        tolerated: float = DEFAULT_TOLERATED,
        colluding: int | None = None,
        person: str | None = None,
        max_rows_per_person: int = 1,
        na_values: NaValues = (),
        progress: Progress | None = None,
    ) -> None:
        tables = data if _are_tables(data) else [data]
        if upload == SUMS and tables is not data:
            raise ParameterError(
                "sums are uploaded by organizations; give a list of their tables, or use `upload='tables'`"
            )
        self.options: ServersOptions = ServersOptions(
            servers, len(data) if tables is data else None, upload, verified, verifications, tolerated, colluding
        )
        self.parties = read_parties(tables, person=person, max_rows_per_person=max_rows_per_person, na_values=na_values)
        self._progress = progress

    @classmethod
    def simulated(
        cls, options: Any, data: Any, *, person: str | None, max_rows_per_person: int, progress: Progress | None
    ) -> Self:
        """The model of one table whose records are divided among organizations, or each belong to one owner."""
        records = Records.of(data).bounded(person, max_rows_per_person)
        return cls(
            records if options.parties is None else list(records.split(options.parties)),
            servers=options.servers,
            upload=options.upload,
            verified=options.verified,
            verifications=options.verifications,
            tolerated=options.tolerated,
            colluding=options.colluding,
            person=person,
            max_rows_per_person=max_rows_per_person,
            progress=progress,
        )

    def resume(self, adjacency: Adjacency, *, secret: bytes) -> ServersOpening:
        """Continue a release from its secret.

        Raises:
            DataError: no organization has any records, and their number is public.
        """
        if adjacency is Adjacency.REPLACE and not any(records.size for records in self.parties):
            raise DataError("no party has any records; where their number is public, a release needs at least one")
        return ServersOpening(self.parties, self.options.uploads, adjacency, secret, progress=self._progress)


def _are_tables(data: Any) -> bool:
    """Whether these are several tables, and not one column of values."""
    values = Number | datetime.date | None
    return isinstance(data, list | tuple) and bool(data) and not any(isinstance(each, values) for each in data)
