"""Non-colluding servers: clients upload shares once and leave, and the servers answer any number of questions.

Roles: a client holds one record (or an organization many); each of m servers holds one share of every upload and a
noise key of its own; the analyst sees the servers' noisy answers, which make sense only added up.

    client    shares the cell of its record between the servers, by comparison keys or as a table
    server    forms the set of clients with the others, finds out with them that every upload is that of one record,
              adds shares up, adds noise
    analyst   adds the servers' answers

A server learns how many uploads there are, and nothing else: each share by itself, and those of any m - 1 servers
together, look the same whatever the records are. Every server adds the whole noise, so any one honest server suffices
for the guarantee.

What is simulated here: clients, servers and analyst live in one process, which derives the randomness of all from one
secret of the release, so that a release that was cut off goes on with the same uploads and the same noise. They
exchange bytes alone. Channels are taken to be authenticated and confidential, as TLS is: nothing here signs or seals.

Source:
    Barczewski, Mawass and Ramon for the protocol; Boyle, Gilboa and Ishai 2015 for the keys; Boneh, Boyle,
    Corrigan-Gibbs, Gilboa and Ishai 2021 for the verification; `docs/proofs/verified_uploads.md`.
"""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Callable, Sequence
from numbers import Number
from typing import Any, ClassVar, Self

from ogive.crypto.sketch import DEFAULT_TOLERATED, most_rejected
from ogive.errors import DataError, ParameterError, quoted
from ogive.noise.base import RandomSource
from ogive.privacy import Adjacency, PrivacyUnit
from ogive.queries import LinearQuery, Query
from ogive.records import Records
from ogive.trust.base import Opening, Traffic, needs_owners
from ogive.trust.parties import check_classes_named, count_parties, digest_of, no_sum, read_parties
from ogive.trust.servers.costs import fitting, traffic
from ogive.trust.servers.layout import MOST_CELLS, Layout
from ogive.trust.servers.opening import ServersOpening
from ogive.trust.servers.settings import AUTO, KEYS, SUMS, TABLES, Promise, Uploads

MOST_SERVERS = 16
MOST_VERIFICATIONS = 256
UPLOADS = (AUTO, KEYS, TABLES, SUMS)

Progress = Callable[[int, int], None]


class Servers:
    """Servers that do not collude, and answer from shares that clients uploaded once.

    Args:
        data: One table, each record of which is a client's own; or a list of tables, one for each organization.
            Anything `Records.of` reads. No person is in two tables.
        servers: How many servers there are, of which one has to be honest.
        upload: What is uploaded. "keys", for two servers: a comparison key for every record. "tables": the cells of the
            aggregate for every record, all zero but one, in shares. "sums", for organizations: all their records
            added up, in shares. "auto" takes tables for votes, else sums for organizations, else the cheaper of keys
            and tables, from public numbers.
        verified: Whether servers check that every upload is that of one record, so that a client who cheats moves no
            count by more than one. Sums cannot be checked so. By default, all that can be is.
        verifications: How often uploads can be checked: once for every set of thresholds that is asked for.
        tolerated: Share of the uploads that may be found false, from 0 to 1; with more the servers answer nothing.
        person: Column that says whose record it is, where a person may have several; the same in every table.
        max_rows_per_person: How many of a person's records are kept, chosen at random.
        progress: Called with how many uploads were made or read, and how many there are, again and again.

    Raises:
        ParameterError: an option is out of range, or options do not fit each other.
        DataError: the records cannot be read.

    Privacy:
        The price of a release against all who see the answers and what any servers - 1 of the servers see. The
        servers learn the number of uploads.

    Example:
        >>> import numpy as np, ogive
        >>> ages = {"age": np.random.default_rng(1).integers(18, 90, size=2_000)}
        >>> age = ogive.Ecdf("age", bounds=(0, 120), grid="integers")
        >>> curve = ogive.release(age, trust=ogive.Servers(ages), privacy=ogive.PureDP(1))
        >>> curve.total
        2000
    """

    name: ClassVar[str] = "servers"
    private: ClassVar[bool] = True
    assumption: str = ""  # of a type with its options

    def __init__(
        self,
        data: Any,
        *,
        servers: int = 2,
        upload: str = "auto",
        verified: bool | None = None,
        verifications: int = 16,
        tolerated: float = DEFAULT_TOLERATED,
        person: str | None = None,
        max_rows_per_person: int = 1,
        progress: Progress | None = None,
    ) -> None:
        organizations = _are_tables(data)
        most_rejected(0, tolerated=tolerated)
        terms = _checked(servers, upload, verified, verifications, organizations=organizations)
        self.uploads = dataclasses.replace(terms, tolerated=float(tolerated))
        tables = data if organizations else [data]
        self.parties = read_parties(tables, person=person, max_rows_per_person=max_rows_per_person)
        self.organizations = organizations
        self.holders = len(self.parties)
        self.assumption = _assumption(self.uploads)
        self._progress = progress

    @classmethod
    def simulated(
        cls,
        data: Any,
        *,
        servers: int = 2,
        parties: int | None = None,
        upload: str = "auto",
        person: str | None = None,
        max_rows_per_person: int = 1,
        progress: Progress | None = None,
    ) -> Self:
        """Servers for one table, whose records are dealt to so many organizations, or are each an owner's own."""
        records = Records.of(data).bounded(person, max_rows_per_person)
        held = records if parties is None else list(records.split(parties))
        return cls(
            held,
            servers=servers,
            upload=upload,
            person=person,
            max_rows_per_person=max_rows_per_person,
            progress=progress,
        )

    @classmethod
    def planned(cls, *, servers: int = 2, parties: int | None = None, upload: str = "auto") -> Self:
        """Servers without any records, which can be asked what they would refuse and what answers would carry."""
        made = cls.__new__(cls)
        made.organizations = parties is not None
        if parties is not None and (isinstance(parties, bool) or not isinstance(parties, int) or parties < 1):
            raise ParameterError(f"parties must be a whole number of at least 1, got {quoted(parties)}")
        made.holders = 1 if parties is None else parties
        made.uploads = _checked(servers, upload, None, 16, organizations=made.organizations)
        made.assumption = _assumption(made.uploads)
        return made

    @property
    def terms(self) -> Promise:
        """To how many servers is uploaded, and whether they verify it; an answer is the same with keys and tables."""
        return Promise(self.uploads.servers, self.uploads.every)

    @property
    def adding(self) -> int:
        """How many servers add noise; each adds the whole."""
        return self.uploads.servers

    honest: ClassVar[int] = 1

    def traffic(self, queries: Sequence[LinearQuery], *, records: int, adjacency: Adjacency) -> tuple[Traffic, ...]:
        """What clients upload and servers compute, with keys and with tables where both fit."""
        kinds = {each.kind for query in queries for each in fitting(self.uploads, query.aggregate)}
        return traffic(self.uploads, queries, self.holders if kinds == {SUMS} else records)

    def unit(self, adjacency: Adjacency) -> PrivacyUnit:
        """One record, or one person where a person column was named."""
        return PrivacyUnit(adjacency, self.parties[0].person, self.parties[0].max_rows_per_person)

    def data_digest(self) -> bytes:
        """SHA-256 of the records of all parties, in their order."""
        return digest_of(self.parties)

    def count(self) -> int:
        """Records of all parties, after bounding; so many uploads there are, where records are uploaded one by one."""
        return count_parties(self.parties) if self.organizations else self.parties[0].count()

    def refusal(self, query: Query) -> str | None:
        """Answers that are not sums over records."""
        owned = needs_owners(query)
        if owned is not None:
            return owned
        if not isinstance(query, LinearQuery):
            return no_sum(query, "servers only add up shares")
        check_classes_named(query, "parties" if self.organizations else "clients")
        return self.crowded(Layout(query.aggregate).cells)

    def crowded(self, cells: int) -> str | None:
        """Records that would have to be shared in more cells than any upload has."""
        if cells <= MOST_CELLS:
            return None
        return f"servers count records in at most {MOST_CELLS} cells, not in {cells}; use fewer bins"

    def open(self, adjacency: Adjacency, *, source: RandomSource) -> Opening:
        """Start a release with a fresh secret from the source."""
        return self.resume(adjacency, secret=source.key())

    def resume(self, adjacency: Adjacency, *, secret: bytes) -> Opening:
        """Go on with a release from its secret.

        Raises:
            DataError: no organization has any records, and their number is public.
        """
        if adjacency is Adjacency.REPLACE and not any(records.size for records in self.parties):
            raise DataError("no party has any records; where their number is public, a release needs at least one")
        return ServersOpening(self.parties, self.uploads, adjacency, secret, progress=self._progress)


def _are_tables(data: Any) -> bool:
    """Whether these are several tables, and not one column of values."""
    values = Number | datetime.date | None
    return isinstance(data, list | tuple) and bool(data) and not any(isinstance(each, values) for each in data)


def _checked(servers: int, upload: str, verified: bool | None, verifications: int, *, organizations: bool) -> Uploads:
    """What is uploaded, as far as that is known before a question is asked.

    Raises:
        ParameterError: an option is out of range, or options do not fit each other.
    """
    for name, value, least, most in (
        ("servers", servers, 2, MOST_SERVERS), ("verifications", verifications, 1, MOST_VERIFICATIONS),
    ):  # fmt: skip
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise ParameterError(f"{name} must be a whole number from {least} to {most}, got {quoted(value)}")
    if verified is not None and not isinstance(verified, bool):
        raise ParameterError(f"verified must be True or False, got {quoted(verified)}")
    if upload not in UPLOADS:
        raise ParameterError(f"upload must be one of {', '.join(UPLOADS)}, got {quoted(upload)}")
    if upload == KEYS and servers != 2:
        raise ParameterError(f"comparison keys are for two servers, not {servers}; use upload='tables'")
    if upload == SUMS and not organizations:
        raise ParameterError("sums are uploaded by organizations; give a list of their tables, or use upload='tables'")
    summed = upload == SUMS or (upload == AUTO and organizations)
    if summed and verified:
        raise ParameterError("sums of an organization cannot be verified; use upload='tables', one for every record")
    checked = upload != SUMS if verified is None else verified
    return Uploads(servers, upload, checked, verifications, organizations=organizations)


def _assumption(uploads: Uploads) -> str:
    """Whom one has to trust with what."""
    others = uploads.servers - 1
    trusted = (
        f"Whoever sees the answers and the uploads to {others} of the {uploads.servers} servers learns only what is "
        "published, as long as one server keeps to itself what it got and the noise that it added, all servers follow "
        "the protocol, nobody else reads or changes what is sent to and between servers, AES with public keys is as "
        "good as random permutations, and SHA-256 and SHAKE-256 as random functions. The servers learn how many "
        "uploads there are, which adjacency REPLACE publishes anyway and which they otherwise tell nobody. "
    )
    bounded = "moves no count by more than one record could, but with a chance below 2^-50, whoever made it. "
    if uploads.every:
        cheating = f"An upload {bounded}"
    elif uploads.verified:
        cheating = (
            "Sums of organizations were not verified: whoever uploads one can change the answers at will. An upload of "
            f"votes, which are verified, {bounded}"
        )
    else:
        cheating = "Uploads were not verified: whoever makes one can change the answers at will. "
    simulated = "Clients and servers were simulated in one process, which saw everything."
    return f"{trusted}{cheating}Each person's records are uploaded once. {simulated}"
