"""Transactions that write to the ledger's tables and note what they changed in the mark.

The mark lies beside the ledger and knows how far it had come, so that an older copy of the ledger is refused.
"""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, cast

from sqlalchemy import Connection, Row, select, text

from ogive.accounting import at_least
from ogive.errors import LedgerError
from ogive.ledger.database import Database
from ogive.ledger.entries import DataSet, damaged, read_charge, read_data_set, read_spend
from ogive.ledger.keys import Keys
from ogive.ledger.mark import Line, Mark, Noted
from ogive.ledger.schema import DATA_SETS, META, META_OF, SPENDS
from ogive.ledger.totals import Charged, Totals, confirm, stamp_name

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


def _revision(kept: dict[str, object], number: int) -> int:
    found = kept.get(revision_name(number))
    if found is None:
        return 0
    if not (isinstance(found, str) and _REVISION.fullmatch(found)):
        raise damaged("the number of an account's changes cannot be read")
    return int(found)


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
        name: Of the account.
        revision: Its revision now.
        noted: The revision that the mark has.
        settings: Whether its row changed.
        spends: The spends that changed, by number.
        made: New spends, as the mark keeps them, by release id.
        begun: The revision at which the transaction locked the account.
        kept: The account's rows of META then.
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
    """The tables of one ledger, of which every change is noted in a mark.

    Args:
        database: Where they are.
        keys: Make fingerprints, and seal secrets.
        mark: Where changes are noted; None for a ledger in memory, and for tables that are not complete.
        identity: Of the ledger, in its mark.
    """

    def __init__(self, database: Database, keys: Keys, mark: Mark | None = None, identity: str = "") -> None:
        self.database = database
        self.keys = keys
        self.mark = mark
        self.identity = identity
        # by data set: what the mark listed when it was compared last, how long its log was, and its newest spends
        self._compared: dict[int, tuple[Noted, int, tuple[str, ...]]] = {}

    @contextlib.contextmanager
    def writing(self, *, durable: bool = True) -> Iterator[Connection]:
        """Run a transaction, then note its changes in the mark, so that noise is drawn only for what the mark has.

        Args:
            durable: Whether the lines must outlive a power cut; not where an older copy would refill nothing.

        Raises:
            LedgerError: the ledger is an older copy, or the mark cannot be written: what was paid stays paid.
        """
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
        """How many spends of an account have each charge; counted where nothing valid is stored.

        Args:
            connection: A transaction.
            number: Of the account.
            locked: Whether it has locked the account.
        """
        key = self.keys.totals
        if key is None:
            return Totals.counted(connection, number)
        kept = connection.info[_CHANGES][number].kept if locked else _kept(connection, number)
        stored = Totals.stored(connection, kept, number, _revision(kept, number), key)
        return Totals.counted(connection, number) if stored is None else stored

    def charged_before(self, connection: Connection, number: int, totals: Totals) -> None:
        """Keep in mind what a locked account was charged apart from the one spend that this transaction charges."""
        change = connection.info[_CHANGES][number]
        assert not change.charged, "totals are those from before the transaction"
        change.totals = totals

    def lines(self, connection: Connection, changes: dict[int, Change]) -> list[Line]:
        """Lines of the mark for some changes."""
        found = []
        for number, change in changes.items():
            if change.revision == change.noted and not change.spends and not change.settings:
                continue
            settings = _settings(connection, number) if change.settings else {}
            spends: dict[str, dict[str, str]] = {}
            changed = sorted(change.spends)
            for start in range(0, len(changed), _AT_ONCE):
                query = select(SPENDS).where(SPENDS.c.id.in_(changed[start : start + _AT_ONCE]))
                spends |= {row.release_id: _spend(row) for row in connection.execute(query)}
            found.append(Line(change.name, change.revision, settings, {**spends, **change.made}))
        return found

    def locked(self, connection: Connection, row: DataSet) -> None:
        """Compare a data set, whose row was locked or made in this transaction, with the mark.

        Where the ledger is ahead, what the mark lacks is noted with this transaction.

        Raises:
            LedgerError: the ledger is an older copy.
        """
        changes = connection.info[_CHANGES]
        if row.id in changes:
            return
        if self.mark is not None:
            # first, so that the queries below see all that is noted: it was committed before
            self.mark.refresh()
        kept = _kept(connection, row.id)
        revision = _revision(kept, row.id)
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
        change.begun, change.kept = revision, kept
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
        kept = {row.name: str(row.value) for row in connection.execute(query)}
        for each, noted in others.items():
            revision = kept.get(revision_name(numbers[each]), "0") if each in numbers else ""
            if not revision or (_REVISION.fullmatch(revision) and int(revision) < noted.revision):
                return True
        return False

    def lacks(
        self, connection: Connection, number: int, noted: Noted, *, anew: bool = False, revision: int | None = None
    ) -> bool:
        """Whether the database lacks a change, a spend or a part of a charge that the mark lists.

        All spends are compared once, and where the database is ahead of the mark. Else those that were noted since the
        last time are, and the newest of those before: a copy that lacks any change of an account lacks all later ones,
        too, since they were made one after the other.

        Args:
            connection: A transaction.
            number: Of the data set.
            noted: What the mark lists of it.
            anew: Whether all spends are compared, whatever was before.
            revision: Its own, where it was read in this transaction.
        """
        revision = self.revision(connection, number) if revision is None else revision
        if revision < noted.revision:
            return True
        compared, start, newest = self._compared.get(number, (None, 0, ()))
        seen = noted, len(noted.log), noted.newest
        recent = {*noted.log[start:], *newest}
        anew = anew or compared is not noted or revision > noted.revision or len(recent) > _RECENT
        query = select(SPENDS.c.release_id, SPENDS.c.charge, SPENDS.c.data_set)
        if anew:
            query, listed = query.where(SPENDS.c.data_set == number), dict(noted.charges)
        else:
            # by their unique name alone: with the account, SQLite would read all spends of the account for it
            query = query.where(SPENDS.c.release_id.in_(recent))
            listed = {release_id: noted.charges[release_id] for release_id in recent}
        rows = connection.execute(query)
        charges = {release_id: charge for release_id, charge, data_set in rows if data_set == number}
        # nearly always equal, which is several times faster to see
        if not listed.items() <= charges.items() and any(
            _less(charges.get(release_id), charge) for release_id, charge in listed.items()
        ):
            return True
        self._compared[number] = seen
        return False

    def compared(self, connection: Connection, row: DataSet, totals: Totals) -> Totals:
        """Totals with as many spends of each charge as the mark lists; counted anew where the given ones lack some.

        Raises:
            LedgerError: the database lacks a spend or a part of a charge that the mark lists.
        """
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

    def unnoted(self, connection: Connection, row: DataSet, noted: Noted, revision: int) -> Change:
        """The changes of an account that the mark lacks."""
        columns = (SPENDS.c.id, SPENDS.c.release_id, SPENDS.c.charge)
        rows = connection.execute(select(*columns).where(SPENDS.c.data_set == row.id))
        spends = {each.id for each in rows if noted.spends.get(each.release_id, {}).get("charge") != each.charge}
        return Change(
            row.name, revision, noted.revision, settings=noted.settings != _settings(connection, row.id), spends=spends
        )

    def revision(self, connection: Connection, number: int) -> int:
        """How often a data set was changed; 0 for one that older libraries alone have changed.

        Raises:
            LedgerError: the ledger is damaged.
        """
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
        made: dict[str, dict[str, str]] | None = None,
        settings: bool = False,
        charged: tuple[int, Charged] | None = None,
    ) -> None:
        """Count a change of a data set whose row is locked, and have it noted after the transaction.

        PostgreSQL refuses this, as a serialization failure, in a transaction that does not see the change before.
        So whoever spends knows all earlier spends, even if the isolation level were wrong.

        Args:
            connection: A transaction of `writing`.
            number: Of the data set.
            spend: Number of a spend that changed.
            made: A new spend, as the mark keeps it, under its release id.
            settings: Whether the data set's own row changed.
            charged: The number of a spend that was made, or whose charge was raised, and what it is charged now.
        """
        connection.execute(_ADVANCE, {"name": revision_name(number)})
        change = connection.info[_CHANGES][number]
        change.revision += 1
        change.settings |= settings
        change.spends |= set() if spend is None else {spend}
        change.made |= made or {}
        if charged is not None:
            change.charged = True
            change.totals = None if change.totals is None else change.totals.plus(*charged)
