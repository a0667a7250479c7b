"""The ledger's tables, totals kept beside spends, and the transactions that write them and note it in the mark."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from sqlalchemy import (
    Column,
    Connection,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Row,
    String,
    Table,
    Text,
    UniqueConstraint,
    bindparam,
    func,
    select,
    text,
)

from ogive.accounting import at_least
from ogive.errors import LedgerError
from ogive.ledger.database import Database
from ogive.ledger.entries import DataSet, Keys, damaged, plain_text, read_charge, read_data_set, read_spend
from ogive.ledger.mark import Line, Mark, Noted

# --- Tables: exact numbers and structured values are text, so that every database keeps them as they are

VERSION = 2
"""Raised whenever an older library could misread the tables. 2: keys are derived for each ledger."""

# Nothing is ever deleted: a spend whose noise may have been seen is spent, and the first one divides a limit's delta.

TABLES = MetaData()

META = Table("ogive_meta", TABLES, Column("name", String(64), primary_key=True), Column("value", Text, nullable=False))

META_OF = select(META.c.name, META.c.value).where(META.c.name.in_(bindparam("names", expanding=True)))
"""The rows `names` of META."""

DATA_SETS = Table(
    "ogive_data_sets",
    TABLES,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("unit", Text, nullable=False),
    # JSON of a guarantee; null is no limit
    Column("spend_limit", Text),
    # JSON: part -> keyed fingerprint, "" for the whole
    Column("fingerprints", Text, nullable=False),
    Column("created", Text, nullable=False),
    sqlite_autoincrement=True,
)

SPENDS = Table(
    "ogive_spends",
    TABLES,
    Column("id", Integer, primary_key=True),
    Column("data_set", Integer, ForeignKey(DATA_SETS.c.id), nullable=False),
    # "" for the whole data set
    Column("part", Text, nullable=False),
    Column("fingerprint", Text, nullable=False),
    Column("digest", String(64), nullable=False),
    Column("statistic", Text, nullable=False),
    Column("question", Text, nullable=False),
    # at first, before any answer, and now
    Column("first_charge", Text, nullable=False),
    Column("charge", Text, nullable=False),
    Column("state", String(16), nullable=False),
    Column("release_id", String(64), nullable=False, unique=True),
    # both are wiped when the estimate is recorded
    Column("secret", LargeBinary),
    Column("bound", Text),
    Column("estimate", Text),
    Column("started", Text, nullable=False),
    Column("finished", Text),
    UniqueConstraint("data_set", "part", "fingerprint", "digest"),
    sqlite_autoincrement=True,
)

# what is read of all spends of a data set where its totals are not valid, without their questions and estimates; rows
# of an index of PostgreSQL are limited to some 2,700 bytes, and charges may have thousands of digits
CHARGES = Index(
    "ogive_charges", SPENDS.c.data_set, SPENDS.c.part, SPENDS.c.first_charge, SPENDS.c.charge, SPENDS.c.release_id
).ddl_if(dialect="sqlite")


# --- Totals: how often each charge was made to an account, so that a release need not read all its spends
#
# Two rows of META belong to an account. One holds how many spends have each charge, the other a stamp: a digest of the
# first, the revision of the account at which it holds, and a keyed hash of both. A change of an account whose totals
# are valid writes the stamp anew. A library that knows no totals advances the revision alone, so that its changes make
# the stamp one of an earlier revision. Totals whose stamp is of another revision, or was not made with the ledger's
# key, are not used: the spends are counted again. Two copies of a ledger may reach one revision by different changes,
# so totals are also compared with the mark, and are not used where they lack a charge that it lists.
#
# The tables stay as they are, and an account that has no totals gets them with its next charge under a limit.

_PUT = text(
    f"INSERT INTO {META.name} (name, value) VALUES (:name, :value) ON CONFLICT (name) DO UPDATE "
    "SET value = excluded.value"
)

_MOST = 1000
"""Different charges of which totals are stored; more would take longer to write than spends to count."""

Charged = tuple[str, str, str]
"""The part, the first charge and the charge of a spend, as the ledger keeps them."""


class Totals:
    """How many spends of one account have each charge."""

    def __init__(self, groups: dict[Charged, tuple[int, int]]) -> None:
        self._groups = groups

    @classmethod
    def counted(cls, connection: Connection, number: int, *, but: int = 0) -> Totals:
        """Totals of all spends of an account, which are read for it, but for one."""
        by = (SPENDS.c.part, SPENDS.c.first_charge, SPENDS.c.charge)
        query = select(*by, func.min(SPENDS.c.id), func.count()).where(SPENDS.c.data_set == number).group_by(*by)
        query = query.where(SPENDS.c.id != but) if but else query
        return cls({(part, first, now): (spend, times) for part, first, now, spend, times in connection.execute(query)})

    @classmethod
    def stored(
        cls, connection: Connection, values: Mapping[str, object], number: int, revision: int, key: bytes
    ) -> Totals | None:
        """The totals that are stored of an account, if they are those of its revision."""
        digest = _stamped(values, number, revision, key)
        if digest is None:
            return None
        rows = connection.execute(META_OF, {"names": [_totals_name(number)]}).all()
        value = rows[0].value if rows else None
        if not isinstance(value, str) or _digest(value) != digest:
            return None
        return cls({(part, first, now): (spend, times) for part, first, now, spend, times in json.loads(value)})

    def store(self, connection: Connection, number: int, revision: int, key: bytes) -> None:
        """Store them as those of a revision, unless they are of very many charges."""
        if len(self._groups) > _MOST:
            return
        value = plain_text([[*charged, *spends] for charged, spends in self._groups.items()])
        stamp = _stamp(number, _digest(value), revision, key)
        rows = {_totals_name(number): value, stamp_name(number): stamp}
        connection.execute(_PUT, [{"name": name, "value": each} for name, each in rows.items()])

    def lack(self, counted: Mapping[Charged, int]) -> bool:
        """Whether they have fewer spends of some charge than counted elsewhere."""
        return any(self._groups.get(charged, (0, 0))[1] < times for charged, times in counted.items())

    def rows(self) -> list[tuple[int, Charged, int]]:
        """The first spend, the charge and the number of spends, in the order of the first spends."""
        return sorted((spend, charged, times) for charged, (spend, times) in self._groups.items())

    def plus(self, spend: int, charged: Charged) -> Totals:
        """These and one more spend."""
        first, times = self._groups.get(charged, (spend, 0))
        return Totals({**self._groups, charged: (min(first, spend), times + 1)})

    def without(self, spend: int, charged: Charged) -> Totals | None:
        """These without one spend; None unless it is known to be the only one of its charge."""
        if self._groups.get(charged) != (spend, 1):
            return None
        return Totals({each: spends for each, spends in self._groups.items() if each != charged})


def confirm(
    connection: Connection, values: Mapping[str, object], number: int, before: int, after: int, key: bytes
) -> None:
    """Make the totals of one revision those of a later one, up to which no charge has changed."""
    digest = _stamped(values, number, before, key)
    if digest is not None:
        connection.execute(_PUT, {"name": stamp_name(number), "value": _stamp(number, digest, after, key)})


def _totals_name(number: int) -> str:
    return f"totals {number}"


def stamp_name(number: int) -> str:
    """The row of META that is the stamp of an account's totals."""
    return f"stamp of totals {number}"


def _digest(value: str) -> str:
    return hashlib.sha256(value.encode()).hexdigest()


def _stamp(number: int, digest: str, revision: int, key: bytes) -> str:
    message = f"ogive ledger totals 1\n{number} {revision} {digest}"
    return f"{digest} {hmac.new(key, message.encode(), hashlib.sha256).hexdigest()}"


def _stamped(values: Mapping[str, object], number: int, revision: int, key: bytes) -> str | None:
    """The digest of the totals of a revision; None where no valid stamp is of it."""
    result = values.get(stamp_name(number))
    if not isinstance(result, str):
        return None
    digest = result.partition(" ")[0]
    return digest if hmac.compare_digest(result.encode(), _stamp(number, digest, revision, key).encode()) else None


# --- Transactions that write to the tables and note their changes in the mark
#
# The mark lies beside the ledger and knows how far it had come, so that an older copy of the ledger is refused.

# a row of META for each data set: older libraries leave it alone, and tables stay as they are
_ADVANCE = text(
    f"INSERT INTO {META.name} (name, value) VALUES (:name, '1') ON CONFLICT (name) DO UPDATE "
    f"SET value = CAST(CAST({META.name}.value AS BIGINT) + 1 AS TEXT)"
)

_CHANGES = "ogive changes"
_RECENT = 100
"""Spends that are compared one by one; if more were noted since, all are compared."""
_AT_ONCE = 1000
"""Spends that one query names; databases limit how many values a statement has."""
_COMPARING = 1e-5
"""Seconds in which one spend is compared with the mark where all are."""
_PAUSE, _PATIENCE = 0.001, 0.5
"""Seconds between looks at the mark, and of all of them at most, while others wait for the account."""
_REVISION = re.compile(r"[0-9]{1,18}")


def revision_name(number: int | str) -> str:
    """The name in META of how often a data set was changed; without a number, how all such names begin."""
    return f"revision {number}"


def _kept(connection: Connection, number: int) -> dict[str, object]:
    """An account's rows of META: how often it was changed, and the stamp of its totals."""
    rows = connection.execute(META_OF, {"names": [revision_name(number), stamp_name(number)]})
    return dict(cast(Any, rows.all()))


def _revision(values: dict[str, object], number: int) -> int:
    result = values.get(revision_name(number))
    if result is None:
        return 0
    if not (isinstance(result, str) and _REVISION.fullmatch(result)):
        raise damaged("the number of an account's changes cannot be read")
    return int(result)


def _settings(connection: Connection, number: int) -> dict[str, str | None]:
    """The fields of a data set's row that the mark keeps."""
    row = connection.execute(select(DATA_SETS).where(DATA_SETS.c.id == number)).one()
    read_data_set(row)
    return {"unit": row.unit, "spend_limit": row.spend_limit, "fingerprints": row.fingerprints}


def _spend(row: Row[Any]) -> dict[str, str]:
    """The fields of a spend that the mark keeps."""
    read_spend(row)
    names = ("part", "fingerprint", "statistic", "first_charge", "charge", "started")
    return {name: getattr(row, name) for name in names}


def _less(charge: str | None, noted: str) -> bool:
    if charge is None:
        return True
    return charge != noted and not at_least(read_charge(charge), read_charge(noted))


@dataclass
class Change:
    """What one transaction did to an account, for the mark.

    Fields:
        begun: The revision at which the transaction locked the account.
        totals: How many spends have each charge after this transaction; None where that is not known.
        charged: Whether this transaction made a spend or raised a charge.
    """

    name: str
    revision: int
    noted: int
    settings: bool = False
    spends: set[int] = field(default_factory=set)
    made: dict[str, dict[str, str]] = field(default_factory=dict)
    begun: int = 0
    kept: dict[str, object] = field(default_factory=dict)
    totals: Totals | None = None
    charged: bool = False


class MarkedTables:
    """The tables of one ledger, of which every change is noted in a mark."""

    def __init__(self, database: Database, keys: Keys, mark: Mark | None = None, identity: str = "") -> None:
        self.database = database
        self.keys = keys
        self.mark = mark
        self.identity = identity
        # by data set: what the mark listed when it was compared last, how long its log was, and its newest spends
        self._compared: dict[int, tuple[Noted, int, tuple[str, ...]]] = {}

    @contextlib.contextmanager
    def writing(self, *, durable: bool = True) -> Iterator[Connection]:
        """Run a transaction, then note its changes in the mark, so that noise is drawn only for what the mark has."""
        with self.database.write() as connection:
            changes: dict[int, Change] = {}
            connection.info[_CHANGES] = changes
            yield connection
            self._keep_totals(connection, changes)
            lines = [] if self.mark is None else self.lines(connection, changes)
        if self.mark is not None:
            self.mark.note(self.identity, lines, durable=durable)

    def _keep_totals(self, connection: Connection, changes: dict[int, Change]) -> None:
        """Store the totals of accounts that this transaction charged, and confirm those of others that it changed."""
        key = self.keys.totals
        for number, change in changes.items():
            if key is None or change.revision == change.begun:
                continue
            if change.totals is not None:
                change.totals.store(connection, number, change.revision, key)
            elif not change.charged:
                confirm(connection, change.kept, number, change.begun, change.revision, key)

    def totals(self, connection: Connection, number: int, *, locked: bool) -> Totals:
        """How many spends of an account have each charge; counted where nothing valid is stored."""
        key = self.keys.totals
        if key is None:
            return Totals.counted(connection, number)
        current = connection.info[_CHANGES][number].kept if locked else _kept(connection, number)
        stored = Totals.stored(connection, current, number, _revision(current, number), key)
        return Totals.counted(connection, number) if stored is None else stored

    def charged_before(self, connection: Connection, number: int, totals: Totals) -> None:
        """Keep in mind what a locked account was charged apart from the one spend that this transaction charges."""
        change = connection.info[_CHANGES][number]
        assert not change.charged, "totals are those from before the transaction"
        change.totals = totals

    def lines(self, connection: Connection, changes: dict[int, Change]) -> list[Line]:
        """Lines of the mark for some changes."""
        results = []
        for number, change in changes.items():
            if change.revision == change.noted and not change.spends and not change.settings:
                continue
            settings = _settings(connection, number) if change.settings else {}
            spends: dict[str, dict[str, str]] = {}
            changed = sorted(change.spends)
            for start in range(0, len(changed), _AT_ONCE):
                query = select(SPENDS).where(SPENDS.c.id.in_(changed[start : start + _AT_ONCE]))
                spends |= {row.release_id: _spend(row) for row in connection.execute(query)}
            results.append(Line(change.name, change.revision, settings, {**spends, **change.made}))
        return results

    def locked(self, connection: Connection, row: DataSet) -> None:
        """Compare a data set, whose row was locked or made in this transaction, with the mark.

        Where the ledger is ahead, what the mark lacks is noted with this transaction.
        """
        changes = connection.info[_CHANGES]
        if row.id in changes:
            return
        if self.mark is not None:
            # first, so that the queries below see all that is noted: it was committed before
            self.mark.refresh()
        stored = _kept(connection, row.id)
        revision = _revision(stored, row.id)
        change = Change(row.name, revision, revision)
        if self.mark is not None:
            noted = self._noted(row.name, revision)
            # spends, too: others may have spent from an older copy until it had as many changes as the mark knows
            if self._others_are_behind(connection, row.name) or self.lacks(
                connection, row.id, noted, revision=revision
            ):
                raise self.behind()
            if revision > noted.revision:
                change = self.unnoted(connection, row, noted, revision)
        change.begun, change.kept = revision, stored
        changes[row.id] = change

    def _noted(self, name: str, revision: int) -> Noted:
        """What the mark lists of a locked account.

        A change is noted right after it was committed, so this waits for what another process is about to note, but no
        longer than it takes to compare all spends, since what a process of another machine changed is not noted here.
        """
        assert self.mark is not None
        noted = self.mark.accounts(self.identity).get(name, Noted())
        until = time.monotonic() + min(len(noted.charges) * _COMPARING, _PATIENCE)
        while noted.revision < revision and time.monotonic() < until:
            time.sleep(_PAUSE)
            self.mark.refresh()
            noted = self.mark.accounts(self.identity).get(name, Noted())
        return noted

    def _others_are_behind(self, connection: Connection, name: str) -> bool:
        """Whether the database lacks another account that the mark lists, or changes of it; skips damaged counters."""
        assert self.mark is not None
        others = {each: noted for each, noted in dict(self.mark.accounts(self.identity)).items() if each != name}
        if not others:
            return False
        numbers = {row.name: row.id for row in connection.execute(select(DATA_SETS.c.id, DATA_SETS.c.name))}
        query = select(META).where(META.c.name.startswith(revision_name("")))
        stored = {row.name: str(row.value) for row in connection.execute(query)}
        for each, noted in others.items():
            revision = stored.get(revision_name(numbers[each]), "0") if each in numbers else ""
            if not revision or (_REVISION.fullmatch(revision) and int(revision) < noted.revision):
                return True
        return False

    def lacks(
        self,
        connection: Connection,
        number: int,
        noted: Noted,
        *,
        anew: bool = False,
        revision: int | None = None,
        charges: dict[str, str] | None = None,
    ) -> bool:
        """Whether the database lacks a change, a spend or a part of a charge that the mark lists.

        All spends are compared once, with `charges` where they were read before, and where the database is ahead of the
        mark. Else those that were noted since the last time are, and the newest of those before: a copy that lacks any
        change of an account lacks all later ones, too, since they were made one after the other.
        """
        revision = self.revision(connection, number) if revision is None else revision
        if revision < noted.revision:
            return True
        compared, start, newest = self._compared.get(number, (None, 0, ()))
        seen = noted, len(noted.log), noted.newest
        recent = {*noted.log[start:], *newest}
        anew = anew or compared is not noted or revision > noted.revision or len(recent) > _RECENT
        if anew:
            query = select(SPENDS.c.release_id, SPENDS.c.charge).where(SPENDS.c.data_set == number)
            rows: Any = connection.execute(query).all() if charges is None else charges
            listed, charges = noted.charges, dict(rows)
        else:
            # by their unique name alone: with the account, SQLite would read all spends of the account for it
            query = select(SPENDS.c.release_id, SPENDS.c.charge, SPENDS.c.data_set)
            rows = connection.execute(query.where(SPENDS.c.release_id.in_(recent)))
            charges = {release_id: charge for release_id, charge, data_set in rows if data_set == number}
            listed = {release_id: noted.charges[release_id] for release_id in recent}
        # nearly always equal, which is several times faster to see
        if listed != charges and any(
            _less(charges.get(release_id), charge) for release_id, charge in [*listed.items()]
        ):
            return True
        self._compared[number] = seen
        return False

    def compared(self, connection: Connection, row: DataSet, totals: Totals) -> Totals:
        """Totals with as many spends of each charge as the mark lists; counted anew where the given ones lack some."""
        if self.mark is None:
            return totals
        noted = self.mark.accounts(self.identity).get(row.name, Noted())
        counted = dict(noted.counted)
        if totals.lack(counted):
            totals = Totals.counted(connection, row.id)
            # a charge that was raised is another one; and the mark may not list that yet
            if totals.lack(counted) and self.lacks(connection, row.id, noted, anew=True):
                raise self.behind()
        return totals

    def charged(self, connection: Connection, number: int) -> dict[str, str]:
        """The charges of all spends of an account, by release id."""
        query = select(SPENDS.c.release_id, SPENDS.c.charge).where(SPENDS.c.data_set == number)
        rows: Any = connection.execute(query).all()
        return dict(rows)

    def unnoted(
        self,
        connection: Connection,
        row: DataSet,
        noted: Noted,
        revision: int,
        charges: dict[str, str] | None = None,
    ) -> Change:
        """The changes of an account that the mark lacks; of these `charges`, where they were read before."""
        spends: set[int] = set()
        if (self.charged(connection, row.id) if charges is None else charges) != noted.charges:
            columns = (SPENDS.c.id, SPENDS.c.release_id, SPENDS.c.charge)
            rows = connection.execute(select(*columns).where(SPENDS.c.data_set == row.id))
            spends = {number for number, release_id, charge in rows if noted.charges.get(release_id) != charge}
        return Change(
            row.name, revision, noted.revision, settings=noted.settings != _settings(connection, row.id), spends=spends
        )

    def revision(self, connection: Connection, number: int) -> int:
        """How often a data set was changed; 0 for one that older libraries alone have changed."""
        return _revision(_kept(connection, number), number)

    def behind(self) -> LedgerError:
        """The error of a ledger that is an older copy."""
        assert self.mark is not None
        return LedgerError(
            f"the ledger {self.database.words} is an older copy: it lacks changes that {self.mark.path} knows. "
            "Restore the newest copy; or continue with this one by ogive ledger restore, which counts what is "
            "missing as spent"
        )

    def advance(
        self,
        connection: Connection,
        number: int,
        *,
        spend: int | None = None,
        new: dict[str, dict[str, str]] | None = None,
        settings: bool = False,
        charged: tuple[int, Charged] | None = None,
    ) -> None:
        """Count a change of a data set whose row is locked, and have it noted after the transaction.

        PostgreSQL refuses this, as a serialization failure, in a transaction that does not see the change before.
        So whoever spends knows all earlier spends, even if the isolation level were wrong.
        """
        connection.execute(_ADVANCE, {"name": revision_name(number)})
        change = connection.info[_CHANGES][number]
        change.revision += 1
        change.settings |= settings
        change.spends |= set() if spend is None else {spend}
        change.made |= new or {}
        if charged is not None:
            change.charged = True
            change.totals = None if change.totals is None else change.totals.plus(*charged)
