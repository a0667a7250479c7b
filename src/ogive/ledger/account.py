"""A data set's account: what was spent on it, what may still be, and how it is opened."""

from __future__ import annotations

import base64
import dataclasses
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sqlalchemy import Connection, delete, insert, select

from ogive.core.arrays import UInt64
from ogive.errors import LedgerError, ParameterError, plain, quoted
from ogive.ledger.database import retried
from ogive.ledger.entries import (
    PEOPLE_ROWS,
    WHOLE,
    DataSet,
    Entry,
    PeopleRow,
    Shared,
    context_mark,
    damaged,
    now,
    people_row,
    plain_text,
    read_data_set,
    read_fingerprints,
    read_part,
    read_people,
)
from ogive.ledger.tables import DATA_SETS, META, SPENDS
from ogive.ledger.transactions import Booked, Charges, LedgerTables, People, Spot, check_affordable
from ogive.privacy import Charge, Privacy, PrivacyUnit, check_charge, check_privacy

_MARK = 16  # digits


class Account:
    """The charges on one data set, or on one declared part of it, held within a limit.

    Open one with `Ledger.account`. All processes that open the same account see the same charges.
    """

    def __init__(self, tables: LedgerTables, spot: Spot, unit: PrivacyUnit, *, wanted: Wanted | None = None) -> None:
        self._tables = tables
        self._spot = spot
        # what its first spend settles; None where nothing is open
        self._wanted = wanted
        # two threads may come to the first spend at once
        self._settling = threading.RLock()
        self._charged: set[str] = set()
        self.name = spot.name
        self.unit = unit
        self.begun = False
        """Whether this object's first spend made the account in the ledger."""
        self.begin: Callable[[], Account] | None = None
        """Makes the ledger and gives its account, where this one stands in for it until a charge is accepted."""

    @property
    def part_name(self) -> str | None:
        """Name of the part that this account pays for; None for the whole data set."""
        return self._spot.part or None

    @property
    def mark(self) -> str:
        """Public mark of this account, which its releases carry. The mark of a part follows after a slash.

        It looks random to anybody without the ledger's key, so it may be published.
        """
        names = [self.name] if self.part_name is None else [self.name, self.part_name]
        return "/".join(self._tables.keys.fingerprint(b"ogive account\n" + name.encode())[:_MARK] for name in names)

    @property
    def has_fingerprint(self) -> bool:
        """Whether the ledger stores a fingerprint of this account's data."""
        return self._spot.fingerprint is not None

    def asked(self) -> tuple[str | None, list[dict[str, Any]]]:
        """The stored fingerprint of the current data, and the questions that were asked of these data.

        The fingerprint is None if none was ever given.
        """
        return (None, []) if self.is_new else self._tables.asked(self._spot)

    def fingerprint(self, digest: bytes) -> str:
        """As `Ledger.fingerprint`: a keyed digest of the data, which reveals nothing without the ledger's key."""
        return self._tables.keys.fingerprint(digest)

    @property
    def limit(self) -> Privacy | None:
        """Guarantee that all releases together must satisfy; None if no limit is set."""
        if self.is_new:
            return self._wanted.limit if self._wanted is not None else None
        with self._tables.database.read() as connection:
            return self._tables.data_set(connection, self._spot.number).limit

    @property
    def is_new(self) -> bool:
        """Whether the account is not in the ledger yet: it was opened lazily and nothing has been charged."""
        with self._settling:
            if self._spot.number:
                return False
            if not self._tables.number_of(self.name):
                return True
            # another process or object began it meanwhile; whether with the same limit is compared by the first spend
            self._spot = self._settled(keep=False, limit=False)
            return False

    def charged_here(self, release_id: str) -> bool:
        """Whether this object charged a release, rather than an earlier object or another process."""
        return release_id in self._charged

    def set_limit(self, limit: Privacy | None) -> None:
        """Set or change the limit of the whole data set; None removes it.

        Raises:
            BudgetError: the charges so far exceed the new limit.
        """
        if limit is not None:
            check_privacy(limit)
        with self._settling:
            if self.is_new:
                self._spot = self._settled()
                self.begun = True
                self._wanted = None
            elif self._wanted is not None:
                self._wanted = replace(self._wanted, limit=None)  # what was wanted at first is so no more
            self._tables.set_limit(self._spot, limit)

    @property
    def spent(self) -> Privacy | None:
        """Total of the charges so far, as a guarantee of the limit's type; None before the first charge.

        For an account with parts: the largest total over all persons.
        """
        if self.is_new:
            return None
        with self._tables.database.read() as connection:
            limit = self._tables.data_set(connection, self._spot.number).limit
            return self._tables.charges(connection, self._spot.number).spent(limit, self._spot.part)

    @property
    def remaining(self) -> Privacy | None:
        """Largest guarantee that one more release may have; None without a limit, or if nothing is left.

        Under an ApproxDP limit this is an ApproxDP that Laplace or Gaussian noise may use, or a PureDP if only Laplace
        noise still fits.
        """
        if self.is_new:
            limit = self.limit
            return None if limit is None else Charges(()).remaining(limit, self._spot.part)
        with self._tables.database.read() as connection:
            limit = self._tables.data_set(connection, self._spot.number).limit
            if limit is None:
                return None
            return self._tables.charges(connection, self._spot.number).remaining(limit, self._spot.part)

    @property
    def history(self) -> tuple[Entry, ...]:
        """The charges, oldest first: those of the data set and all its parts, or those that concern this part."""
        if self.is_new:
            return ()
        return tuple(spend.entry(number) for number, spend in self._tables.numbered(self._spot.number, self._parts))

    @property
    def shared_people(self) -> tuple[Shared, ...]:
        """Other accounts or parts with the same person identifiers, as far as the ledger could compare."""
        if self.is_new:
            return ()
        with self._tables.database.read() as connection:
            return shared_people(connection, self._spot.number, self._spot.part)

    @property
    def questions(self) -> tuple[tuple[int, dict[str, Any]], ...]:
        """Questions asked of the data set and all its parts, with their charge numbers; faster than `history`."""
        return () if self.is_new else tuple(self._tables.questions(self._spot.number))

    def answers(self) -> tuple[dict[str, Any], ...]:
        """The recorded estimates as plain data, oldest first. Unfinished releases of `history` are left out."""
        spends = [] if self.is_new else self._tables.spends(self._spot.number, self._parts)
        results = [spend.recorded() for spend in spends]
        return tuple(estimate for estimate in results if estimate is not None)

    @retried
    def part(
        self,
        name: str,
        *,
        fingerprint: str | None = None,
        updated: bool = False,
        people: Hasher | None = None,
        other_people: bool = False,
        lazy: bool = False,
    ) -> Account:
        """The account of a declared part of the records.

        All records of a person must lie in one part, permanently, and the choice of the part must not depend on
        protected values. Charges on different parts then cost together no more than the largest (parallel
        composition).

        Args:
            name: Name of the part, for example "north".
            fingerprint: From `Ledger.fingerprint`; checks that the part still holds the same records. None skips the
                check.
            updated: Accept the new fingerprint and keep the charges.
            people: Hashes the persons of the part, as for `Ledger.account`.
            other_people: Create the part although another part has some of the same person identifiers, or another
                account most of them: here they identify different people. The declaration is recorded and appears in
                statements.
            lazy: Store the first fingerprint with the first charge, not now.

        Raises:
            ParameterError: the name is empty, or this is a part already.
            LedgerError: the part held other records before, or the records have an account or part already, or some
                of the persons are in another part.
        """
        if self._spot.part:
            raise ParameterError(f"{self._spot.words} is a part already; parts have no parts")
        if not isinstance(name, str) or not name:
            raise ParameterError(f"a part's name must be a text, got {quoted(name)}")
        is_new, wanted = self.is_new, Wanted(self.name, self.unit, self.limit)
        crowd = sample(self._tables, self.name, name, fingerprint, people, others=other_people)
        spot = Spot(self._spot.number, self.name, name, fingerprint, crowd)
        with self._tables.writing() as connection:
            self._tables.database.lock_making(connection)
            if not is_new:
                row = self._tables.data_set(connection, spot.number, lock=True)
                claim(self._tables, connection, row, spot, updated=updated, keep=not lazy)
            else:
                refuse_new(self._tables, connection, spot)
        if not is_new:
            wanted = replace(wanted, limit=None)
        return Account(self._tables, spot, self.unit, wanted=wanted if is_new or lazy else None)

    def check_unit(self, unit: PrivacyUnit) -> None:
        """Refuse a release whose privacy unit differs from that of this account.

        Raises:
            LedgerError: the privacy units differ.
        """
        if unit != self.unit:
            check_unit(self.name, self.unit, unit)

    def check_affordable(self, charge: Charge) -> None:
        """Refuse a charge that the account could not pay, without recording anything.

        Raises:
            BudgetError: the charge exceeds the remaining budget.
        """
        limit = self.limit
        if limit is None:
            return
        charges = Charges(())
        if not self.is_new:
            with self._tables.database.read() as connection:
                charges = self._tables.charges(connection, self._spot.number)
        check_affordable(self._spot, limit, charges, check_charge(charge), first=charge)

    def find(self, question: dict[str, Any]) -> dict[str, Any] | None:
        """The estimate recorded for exactly this question, as plain data; None if there is none."""
        return None if self.is_new else self._tables.find(self._spot, question)

    def reserve(
        self, question: dict[str, Any], *, statistic: str, charge: Charge, secret: bytes, first: Charge | None = None
    ) -> Reservation:
        """Record a charge durably before noise is drawn.

        A question is charged once, however often and by however many processes it is reserved. All of them get the
        secret of the first reservation, and therefore the same noise.

        Args:
            question: Everything that determines the question, as plain data.
            statistic: Name of the statistic.
            charge: The charge, or the charge so far.
            secret: Everything needed to draw the noise of the release again; stored encrypted until the estimate is
                recorded.
            first: The final charge, if the charge will be raised to one of another type. For the first charge of an
                account it decides how the delta of the limit is divided. It must not depend on answers.

        Raises:
            BudgetError: the charge exceeds the remaining budget.
            LedgerError: the ledger cannot be written.
        """
        charges = {"charge": check_charge(charge), "first": check_charge(charge if first is None else first)}
        # what is settled already needs no more locks
        with nullcontext() if self._wanted is None else self._settling:
            return self._reserve(question, statistic=statistic, secret=secret, **charges)

    def reserved(self, question: dict[str, Any]) -> Reservation | None:
        """The unfinished charge for exactly this question, with its secret; None if there is none.

        Raises:
            LedgerError: the ledger cannot be read.
        """
        booked = None if self.is_new else self._tables.reserved(self._spot, question)
        return None if booked is None else Reservation(self._tables, self._spot, booked, self._charged)

    def _reserve(
        self, question: dict[str, Any], *, statistic: str, charge: Charge, first: Charge, secret: bytes
    ) -> Reservation:
        began: list[bool] = []

        def begin(connection: Connection) -> Spot:
            return self._settle(connection, began=began)

        settling = {} if self._wanted is None else {"begin": begin}
        booked = self._tables.reserve(
            self._spot, question, statistic=statistic, charge=charge, first=first, secret=secret, **settling
        )
        if booked.spot is not None:
            self._spot, self._wanted = booked.spot, None
            self.begun = self.begun or began[-1]  # of the last attempt
        if not booked.resumed:
            self._charged.add(booked.release_id)
        return Reservation(self._tables, self._spot, booked, self._charged)

    @retried
    def _settled(self, *, keep: bool = True, limit: bool = True) -> Spot:
        with self._tables.writing() as connection:
            return self._settle(connection, keep=keep, limit=limit)

    def _settle(
        self, connection: Connection, *, keep: bool = True, limit: bool = True, began: list[bool] | None = None
    ) -> Spot:
        """Find the account's row, or make it, and look at the fingerprint, all in one transaction."""
        wanted = self._wanted
        assert wanted is not None
        if not limit:
            wanted = replace(wanted, limit=None)
        row = find_row(self._tables, connection, wanted)
        if began is not None:
            began.append(row is None)
        if row is None:
            row = make_row(self._tables, connection, wanted)
        spot = replace(self._spot, number=row.id)
        claim(self._tables, connection, row, spot, keep=keep)
        return spot

    @property
    def _parts(self) -> tuple[str, ...] | None:
        return (WHOLE, self._spot.part) if self._spot.part else None

    def __repr__(self) -> str:
        where = f".part({self._spot.part!r})" if self._spot.part else ""
        return f"Account({self.name!r}){where}"


class Reservation:
    """A spend in progress, which nothing takes back. Comes from `Account.reserve`."""

    def __init__(self, tables: LedgerTables, spot: Spot, booked: Booked, charged: set[str]) -> None:
        self._tables = tables
        self._charged = charged
        self._spot = spot
        self._number = booked.number
        self.release_id = booked.release_id
        self.secret = booked.secret
        self.resumed = booked.resumed

    def bind(self, number: int, context: bytes) -> None:
        """Note what a measurement depends on, before its noise is drawn.

        Args:
            number: Of the measurement within the release, from 0.
            context: Digest of all that fixes its noise; the ledger keeps a keyed digest of it.

        Raises:
            ReleaseMismatchError: the measurement had another context before: the records changed.
        """
        self._tables.bind(self._spot, self._number, number, context_mark(self.secret, number, context))

    def advance_stream(self, before: int, after: int, elements: bytes) -> None:
        """Note how far a stream was taken, before the totals of these steps are published.

        Args:
            before: How many elements there were.
            after: How many there are now.
            elements: All that tells the elements between from others; the ledger keeps a keyed digest of it.

        Raises:
            ReleaseMismatchError: the stream was taken further, or by other elements: the state in use is an older one.
        """
        mark = context_mark(self.secret, before, elements)
        self._tables.advance_stream(self._spot, self._number, before, after, mark)

    def charge(self, charge: Charge) -> None:
        """Raise the charge to what the release costs now; lower ones change nothing.

        Raises:
            BudgetError: it does not fit; the spend stays as it was.
        """
        if self._tables.raise_charge(self._spot, self._number, check_charge(charge)):
            self._charged.add(self.release_id)

    def record(self, estimate: dict[str, Any]) -> dict[str, Any]:
        """Keep the estimate and wipe the secret.

        Returns:
            The estimate that was recorded first, which is this one unless another process was faster.
        """
        return self._tables.record(self._spot, self._number, estimate)


# --- Whom records are about: keyed hashes of persons, by which they are known again under another name
#
# Of each account and part the ledger keeps the smallest `MOST_HASHES` hashes, a random sample of its people and the
# same one wherever they appear. The sample is sealed and always of one length, so that without the key file it tells
# neither who nor how many they are. Whoever has ledger and key file can test whether a person is in the sample.
#
# Source: Broder, On the resemblance and containment of documents, 1997; bottom-k samples.

MOST_HASHES = 4096
"""Of how many persons hashes are kept; of fewer persons all are kept, and comparisons are exact."""

LEAST_SEEN = 10
"""How many common hashes it takes to call two larger tables mostly the same people; by chance there are none."""

Hasher = Callable[..., UInt64]
"""Called with `key` and `count`: the smallest hashes of all persons of a table, sorted and all different."""

_COUNT_BYTES = 4


def sample(
    tables: LedgerTables, name: str, part: str, fingerprint: str | None, hasher: Hasher | None, *, others: bool
) -> People | None:
    """Hash the people of an account's records where the ledger does not know them yet; None where it does."""
    if hasher is None:
        return None
    number = tables.number_of(name)
    with tables.database.read() as connection:
        own = _own(connection, number, part) if number else None
    if own is not None and fingerprint is not None and own.fingerprint == fingerprint:
        return None
    return People(hasher(key=tables.keys.people, count=MOST_HASHES), others)


def claim_people(tables: LedgerTables, connection: Connection, spot: Spot, *, known: bool, keep: bool) -> None:
    """Refuse records of people who have another account, or are in another part; keep whom these are about."""
    if spot.people is None:
        return
    own = _own(connection, spot.number, spot.part) if spot.number else None
    if own is not None and spot.fingerprint is not None and own.fingerprint == spot.fingerprint:
        return
    shared = () if own is None else own.shared
    excused = {(each.account, each.part) for each in shared}
    noted = spot.people.others or (known and own is None and _spent(connection, spot))
    names = {row.id: row.name for row in connection.execute(select(DATA_SETS.c.id, DATA_SETS.c.name))}
    for other in _all(connection):
        if other.number not in names:
            raise damaged("people belong to no account")
        account = names[other.number]
        if (account, other.part or None) in excused or not _rivals(spot, other):
            continue
        words = _compared(spot, account, other, _unsealed(tables, other))
        if words is None:
            continue
        if not noted:
            raise LedgerError(words)
        shared += (Shared(account, other.part or None, declared=spot.people.others),)
    if keep:
        before = np.empty(0, np.uint64) if own is None else _unsealed(tables, own)
        hashes = np.union1d(before, spot.people.hashes)[:MOST_HASHES]
        _write(tables, connection, spot, hashes, shared)


def shared_people(connection: Connection, number: int, part: str) -> tuple[Shared, ...]:
    """The accounts and parts that share people with an account and its parts, or with one part."""
    rows = [each for each in _all(connection, number) if part in (WHOLE, each.part)]
    return tuple(dict.fromkeys(shared for each in rows for shared in each.shared))


def _spent(connection: Connection, spot: Spot) -> bool:
    of_spot = (SPENDS.c.data_set == spot.number) & (SPENDS.c.part == spot.part)
    return connection.execute(select(SPENDS.c.id).where(of_spot).limit(1)).first() is not None


def _rivals(spot: Spot, row: PeopleRow) -> bool:
    """Whether people in both would have two budgets; a data set and its part share one account."""
    if row.number != spot.number:
        return True
    return WHOLE not in (row.part, spot.part) and row.part != spot.part


def _compared(spot: Spot, account: str, row: PeopleRow, theirs: UInt64) -> str | None:
    """Why the records must not have a budget of their own; None if they may."""
    assert spot.people is not None
    common, ours_seen, theirs_seen, exact = overlap(spot.people.hashes, theirs)
    about = "" if exact else "about "
    if row.number == spot.number:
        if not common:
            return None
        return (
            f"{about}{_percent(common, ours_seen)} of the people in these records are in the part "
            f"{quoted(row.part)} too, but the parts of a data set together cost only the largest of their spends if "
            "no person is in two; remove them from one part, or release from the whole data set; if the ids denote "
            "other people, use `other_people=True`"
        )
    if common < (1 if exact else LEAST_SEEN) or 2 * common <= min(ours_seen, theirs_seen):
        return None
    other = f"the account {quoted(account)}" + (f", part {quoted(row.part)}," if row.part else "")
    how = f"`name={quoted(account)}`" + (f" and `part={quoted(row.part)}`" if row.part else "")
    if 2 * common > ours_seen:
        who = f"{about}{_percent(common, ours_seen)} of the people in these records have {other} already"
    else:
        who = f"{about}{_percent(common, theirs_seen)} of the people of {other} are in these records"
    return (
        f"{who} and would get a second budget; use that account: {how}, with `updated=True` if these are newer "
        "records; if the ids denote other people, or a second budget is intended, use `other_people=True`"
    )


def overlap(one: UInt64, other: UInt64) -> tuple[int, int, int, bool]:
    """How many people two samples have in common, of how many of each that are comparable; and whether all are."""
    # below the smaller of the two samples' largest hashes both hold everybody, so that shares there are shares of all
    exact = len(one) < MOST_HASHES and len(other) < MOST_HASHES
    ends = [each[-1] for each in (one, other) if len(each) >= MOST_HASHES]
    if ends:
        one, other = (each[: np.searchsorted(each, min(ends), side="right")] for each in (one, other))
    return len(np.intersect1d(one, other, assume_unique=True)), len(one), len(other), exact


def _percent(common: int, seen: int) -> str:
    share = 100 * common / max(seen, 1)
    return f"{share:.0f} %" if share >= 1 else "less than 1 %"


def _own(connection: Connection, number: int, part: str) -> PeopleRow | None:
    name = people_row(number, part)
    value = connection.execute(select(META.c.value).where(META.c.name == name)).scalar()
    return None if value is None else read_people(name, value)


def _all(connection: Connection, number: int | None = None) -> Iterator[PeopleRow]:
    """Rows of every account and part, or of those of one data set."""
    prefix = PEOPLE_ROWS if number is None else f"{PEOPLE_ROWS}{number} "
    query = select(META).where(META.c.name.startswith(prefix, autoescape=True)).order_by(META.c.name)
    for row in list(connection.execute(query)):
        yield read_people(row.name, row.value)


def _write(
    tables: LedgerTables, connection: Connection, spot: Spot, hashes: UInt64, shared: tuple[Shared, ...]
) -> None:
    content = len(hashes).to_bytes(_COUNT_BYTES, "little") + hashes.astype("<u8").tobytes()
    name = people_row(spot.number, spot.part)
    # of one length, whatever the number of persons
    sealed = tables.keys.seal(content.ljust(_COUNT_BYTES + 8 * MOST_HASHES, b"\0"), name)
    value = {
        "part": spot.part,
        "fingerprint": spot.fingerprint,
        "shared": [each.to_dict() for each in shared],
        "sealed": base64.b64encode(sealed).decode(),
    }
    connection.execute(delete(META).where(META.c.name == name))
    connection.execute(insert(META).values(name=name, value=plain_text(value)))
    tables.advance(connection, spot.number)


def _unsealed(tables: LedgerTables, row: PeopleRow) -> UInt64:
    content = tables.keys.unseal(row.sealed, row.name)
    count = int.from_bytes(content[:_COUNT_BYTES], "little")
    return np.frombuffer(content, "<u8", count=count, offset=_COUNT_BYTES).astype(np.uint64)


# --- Which row an account is, whether it is for these records, and that these records have no other account


@dataclass(frozen=True)
class Wanted:
    """What the opener of an account stated; a unit or limit of None is the account's own."""

    name: str
    unit: PrivacyUnit | None
    limit: Privacy | None


def find_row(tables: LedgerTables, connection: Connection, wanted: Wanted) -> DataSet | None:
    """The row of a data set, locked and compared with what is wanted; None where there is none."""
    tables.database.lock_making(connection)
    query = select(DATA_SETS).where(DATA_SETS.c.name == wanted.name)
    result = connection.execute(query.with_for_update()).one_or_none()
    if result is None:
        return None
    row = read_data_set(result)
    tables.locked(connection, row)
    check_unit(wanted.name, row.unit, wanted.unit)
    limit = wanted.limit
    if limit is not None and row.limit is None:
        tables.check_limit(connection, row, limit)
        tables.change(connection, row.id, spend_limit=plain_text(limit.to_dict()))
    elif limit is not None and row.limit != limit:
        raise LedgerError(
            f"the account {quoted(wanted.name)} has the limit {row.limit}, not {limit}; "
            "leave the limit out, or change it with `Account.set_limit`"
        )
    return row


def make_row(tables: LedgerTables, connection: Connection, wanted: Wanted) -> DataSet:
    """A new data set's row; within the transaction that found none."""
    if wanted.unit is None:
        raise LedgerError(
            f"the ledger {plain(tables.database.words)} has no account {quoted(wanted.name)}; declare the "
            "privacy unit when it is first used, for example `unit=PrivacyUnit(Adjacency.REPLACE)`"
        )
    connection.execute(
        insert(DATA_SETS).values(
            name=wanted.name,
            unit=plain_text(wanted.unit.to_dict()),
            spend_limit=None if wanted.limit is None else plain_text(wanted.limit.to_dict()),
            fingerprints=plain_text({}),
            created=now(),
        )
    )
    row = read_data_set(connection.execute(select(DATA_SETS).where(DATA_SETS.c.name == wanted.name)).one())
    tables.locked(connection, row)
    tables.advance(connection, row.id, settings=True)
    return row


def check_unit(name: str, own: PrivacyUnit, unit: PrivacyUnit | None) -> None:
    """Refuse a unit that is not the account's."""
    if unit is not None and unit != own and dataclasses.replace(unit, row_choice=own.row_choice) == own:
        raise LedgerError(
            f"the account {quoted(name)} chooses rows of a person by {quoted(own.row_choice)}, and this release would "
            f"choose them by {quoted(unit.row_choice)}; give the choice of the account as `row_choice`"
        )
    if unit is not None and unit != own:
        raise LedgerError(
            f"the account {quoted(name)} protects {plain(own.words)}, and this release would protect "
            f"{plain(unit.words)}; release with the unit of the account"
        )


def claim(
    tables: LedgerTables, connection: Connection, row: DataSet, spot: Spot, *, updated: bool = False, keep: bool = True
) -> None:
    """Compare a fingerprint with the one that is kept; keep it where there is none, or where data were updated."""
    known_fingerprints = row.fingerprints
    fingerprint = spot.fingerprint
    if updated and fingerprint is None:
        # the data are others, and nobody says how to tell: any new text will do
        fingerprint = secrets.token_hex(32)
    known = fingerprint is not None and known_fingerprints.get(spot.part) == fingerprint
    if known or fingerprint is None:
        claim_people(tables, connection, spot, known=known, keep=keep or spot.part in known_fingerprints)
        return
    refuse_second(connection, row.id, spot.part, fingerprint)
    if spot.part in known_fingerprints and not updated:
        raise LedgerError(
            f"{spot.words} was opened for other data before; if these are newer or other data of the same people, "
            "use `updated=True`, which keeps the spends; use another name only for other people"
        )
    claim_people(tables, connection, spot, known=False, keep=keep or spot.part in known_fingerprints)
    if keep or spot.part in known_fingerprints:
        tables.change(connection, row.id, fingerprints=plain_text({**known_fingerprints, spot.part: fingerprint}))


def refuse_new(tables: LedgerTables, connection: Connection, spot: Spot) -> None:
    """Refuse a new account, or a part of it, for records or people that would get a second budget by it."""
    if spot.fingerprint is not None:
        refuse_second(connection, 0, spot.part, spot.fingerprint)
    claim_people(tables, connection, spot, known=False, keep=False)


def refuse_second(connection: Connection, number: int, part: str, fingerprint: str) -> None:
    """Refuse records that have an account, or are another part, already: they would get a second budget.

    Records that an account had before an update count, too, if anything was spent on them.
    """
    rows = list(connection.execute(select(DATA_SETS.c.id, DATA_SETS.c.name, DATA_SETS.c.fingerprints)))
    owners = [
        (row.id, each)
        for row in rows
        for each, mark in read_fingerprints(row.fingerprints).items()
        if mark == fingerprint
    ]
    spends = select(SPENDS.c.data_set, SPENDS.c.part).where(SPENDS.c.fingerprint == fingerprint).distinct()
    owners += [(row.data_set, read_part(row.part)) for row in connection.execute(spends)]
    names = {row.id: row.name for row in rows}
    for owner, each in owners:
        # the whole and its part pay into one account, so that they may have the same records
        if owner != number or (part and each not in (WHOLE, part)):
            if owner not in names:
                raise damaged("an entry belongs to no account")
            name = names[owner]
            what = f"the account {quoted(name)}" + (f", part {quoted(each)}" if each else "")
            how = f"`name={quoted(name)}`" + (f" and `part={quoted(each)}`" if each else "")
            raise LedgerError(f"these records already have {what}; use it: {how}")
