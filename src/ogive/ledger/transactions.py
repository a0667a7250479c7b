"""The transactions of a ledger: what is read from its tables and written to them, one transaction a function."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import Connection, Select, insert, select, update

from ogive.accounting import at_least, compose, fits, in_terms_of, mismatch, remaining
from ogive.accounting.composition import sum_rho
from ogive.core.arrays import UInt64
from ogive.errors import BudgetError, LedgerError, ParameterError, ReleaseMismatchError, plain, quoted
from ogive.ledger.database import retried
from ogive.ledger.entries import (
    RELEASED,
    RESERVED,
    WHOLE,
    DataSet,
    Spend,
    now,
    plain_text,
    question_digest,
    read_charge,
    read_data_set,
    read_part,
    read_question,
    read_spend,
)
from ogive.ledger.tables import DATA_SETS, SPENDS, Charged, MarkedTables, Totals
from ogive.privacy import ApproxDP, Privacy, PureDP, ZeroConcentratedDP
from ogive.privacy import Charge as Price

# of a stream, in place of what its measurements depend on: the step it was taken last
_BEFORE, _AFTER, _ELEMENTS = "before", "after", "elements"


@dataclass(frozen=True, eq=False)
class People:
    """Whom the data are about, as the opener of an account says.

    Fields:
        hashes: Keyed hashes of some of the persons, or of all where those are few, sorted.
        others: Whether they are declared to be other people than those in the ledger.
    """

    hashes: UInt64
    others: bool


@dataclass(frozen=True)
class Spot:
    """Where a spend belongs: a part of a data set, as it was when the account was opened.

    Fields:
        number, name: Of the data set; the number is 0 where it is not in the ledger yet.
        part: `WHOLE` for all of it.
        fingerprint: Of the data, as the opener says; None if nothing was said.
        people: Whom they are about; None if nobody said, or if the ledger knows that of these very data.
    """

    number: int
    name: str
    part: str
    fingerprint: str | None
    people: People | None = field(default=None, compare=False)

    @property
    def words(self) -> str:
        """The data set and part in words, for messages."""
        return f"the account {quoted(self.name)}" + (f", part {quoted(self.part)}," if self.part else "")


@dataclass(frozen=True)
class Booked:
    """What a reservation came to.

    Fields:
        release_id: Of the release; the first attempt's when it is resumed.
        secret: Of the release; the first attempt's when it is resumed.
    """

    number: int
    release_id: str
    secret: bytes
    resumed: bool
    spot: Spot | None = None


class LedgerTables(MarkedTables):
    """What is read from the tables of one ledger, and written to them."""

    # --- reading

    def data_set(self, connection: Connection, number: int, *, lock: bool = False) -> DataSet:
        """The row of a data set, checked; locked until the transaction ends, if it will be spent from."""
        query: Select[Any] = select(DATA_SETS).where(DATA_SETS.c.id == number)
        # SQLite has no row locks and needs none: its write transactions exclude each other
        row = connection.execute(query.with_for_update() if lock else query).one_or_none()
        if row is None:
            raise LedgerError(
                f"the ledger {plain(self.database.words)} lost an account; was it replaced by another file?"
            )
        result = read_data_set(row)
        if lock:
            self.locked(connection, result)
        return result

    def charges(
        self, connection: Connection, number: int, *, apart: int = 0, data_set: DataSet | None = None
    ) -> Charges:
        """What was charged to a data set so far, equal charges together."""
        totals = self.totals(connection, number, locked=data_set is not None)
        if data_set is not None:
            totals = self.compared(connection, data_set, totals)
        alone: list[tuple[int, Charged, int]] = []
        if apart:
            charged = self._charged(connection, apart)
            others = totals.without(apart, charged)
            if others is None:
                others = Totals.counted(connection, number, but=apart)
                if data_set is not None:
                    self.compared(connection, data_set, others.plus(apart, charged))
            totals, alone = others, [(apart, charged, 1)]
        if data_set is not None:
            self.charged_before(connection, number, totals)
        return Charges(
            Charge(spend, read_part(part), read_charge(first), read_charge(now), times)
            for spend, (part, first, now), times in sorted([*totals.rows(), *alone])
        )

    def find(self, spot: Spot, question: dict[str, Any]) -> dict[str, Any] | None:
        """The estimate that was recorded for this very question about these very data, or None."""
        with self.database.read() as connection:
            data_set = self.data_set(connection, spot.number)
            row = self._same(connection, spot, self._fingerprint(data_set, spot), question)
            return None if row is None else row.recorded()

    def asked(self, spot: Spot) -> tuple[str | None, list[dict[str, Any]]]:
        """The fingerprint that is kept of the data, None for none, and the questions that were asked of them."""
        with self.database.read() as connection:
            data_set = self.data_set(connection, spot.number)
            current = self._fingerprint(data_set, spot)
            query = select(SPENDS).where(
                SPENDS.c.data_set == spot.number, SPENDS.c.part == spot.part, SPENDS.c.fingerprint == current
            )
            spends = [read_spend(row) for row in connection.execute(query)]
        return data_set.fingerprints.get(spot.part), [spend.question for spend in spends]

    def number_of(self, name: str) -> int:
        """The number of a data set; 0 where there is none of that name."""
        with self.database.read() as connection:
            return connection.execute(select(DATA_SETS.c.id).where(DATA_SETS.c.name == name)).scalar() or 0

    def spends(self, number: int, parts: tuple[str, ...] | None) -> list[Spend]:
        """The spends of a data set, oldest first; of all parts or of some."""
        return [row for _, row in self.numbered(number, parts)]

    def numbered(self, number: int, parts: tuple[str, ...] | None) -> list[tuple[int, Spend]]:
        """The spends of a data set with their numbers, from 1."""
        query = select(SPENDS).where(SPENDS.c.data_set == number).order_by(SPENDS.c.id)
        with self.database.read() as connection:
            rows = list(connection.execute(query))
        result = enumerate(map(read_spend, rows), 1)
        return [(place, spend) for place, spend in result if parts is None or spend.part in parts]

    def questions(self, number: int) -> list[tuple[int, Any]]:
        """What was asked of a data set, oldest first, with the spends' numbers within it, from 1."""
        query = select(SPENDS.c.question).where(SPENDS.c.data_set == number).order_by(SPENDS.c.id)
        with self.database.read() as connection:
            texts = list(connection.execute(query).scalars())
        return [(place, read_question(text)) for place, text in enumerate(texts, 1)]

    # --- spending

    @retried
    def reserve(
        self,
        spot: Spot,
        question: dict[str, Any],
        *,
        statistic: str,
        charge: Price,
        first: Price,
        secret: bytes,
        begin: Callable[[Connection], Spot] | None = None,
    ) -> Booked:
        """Make a spend durable, or find the one that was made for the same question before."""
        with self.writing() as connection:
            begun = None if begin is None else begin(connection)
            spot = spot if begun is None else begun
            data_set = self.data_set(connection, spot.number, lock=True)
            fingerprint = self._fingerprint(data_set, spot)
            row = self._same(connection, spot, fingerprint, question)
            if row is not None:
                self._raise_charge(connection, data_set, spot, row, charge)
                if row.secret is None:
                    # released a moment ago by another process; the caller's own noise will not be published
                    return Booked(row.id, row.release_id, secret, resumed=True, spot=begun)
                unsealed = self.keys.unseal(row.secret, row.release_id)
                return Booked(row.id, row.release_id, unsealed, resumed=True, spot=begun)
            self._check(connection, data_set, spot, charge, first=first)
            release_id = secrets.token_hex(16)
            text = plain_text(question)
            noted = {
                "part": spot.part,
                "fingerprint": fingerprint,
                "statistic": statistic,
                "first_charge": plain_text(first.to_dict()),
                "charge": plain_text(charge.to_dict()),
                "started": now(),
            }
            done = connection.execute(
                insert(SPENDS).values(
                    data_set=spot.number,
                    digest=question_digest(text),
                    question=text,
                    state=RESERVED,
                    release_id=release_id,
                    secret=self.keys.seal(secret, release_id),
                    bound=plain_text({}),
                    **noted,
                )
            )
            assert done.inserted_primary_key is not None
            spend = done.inserted_primary_key[0]
            charged = (spend, (noted["part"], noted["first_charge"], noted["charge"]))
            self.advance(connection, spot.number, new={release_id: noted}, charged=charged)
            return Booked(spend, release_id, secret, resumed=False, spot=begun)

    @retried
    def raise_charge(self, spot: Spot, number: int, charge: Price) -> bool:
        """Charge more for a spend in progress, never less; whether it is more."""
        with self.writing() as connection:
            data_set = self.data_set(connection, spot.number, lock=True)
            return self._raise_charge(connection, data_set, spot, self._spend(connection, number), charge)

    @retried
    def bind(self, spot: Spot, number: int, measurement: int, mark: str) -> None:
        """Note what a measurement of a spend in progress depends on, once and for all."""
        with self.writing() as connection:
            self.data_set(connection, spot.number, lock=True)
            row = self._spend(connection, number)
            if row.state == RELEASED:
                return  # another process finished it; what this one measures will not be published
            bound = dict(row.bound)
            if bound.setdefault(str(measurement), mark) != mark:
                raise ReleaseMismatchError(
                    "the records, the method that auto chooses, the parties or the uploads changed since this "
                    "release was interrupted, and its noise must not be used twice; open the account with "
                    "`updated=True`, or name another method: the release is then made and paid again"
                )
            if bound != row.bound:
                self.advance(connection, spot.number)
                connection.execute(update(SPENDS).where(SPENDS.c.id == number).values(bound=plain_text(bound)))

    @retried
    def advance_stream(self, spot: Spot, number: int, before: int, after: int, mark: str) -> None:
        """Note how far a stream in progress was taken, and by which elements, before their totals are published.

        Only the last step is kept: it may be repeated with the same elements, and the next one begins where it ended.
        """
        step = {_BEFORE: str(before), _AFTER: str(after), _ELEMENTS: mark}
        with self.writing() as connection:
            self.data_set(connection, spot.number, lock=True)
            row = self._spend(connection, number)
            if row.secret is None:
                raise ReleaseMismatchError(
                    f"{spot.words} closed this stream when an older copy of the ledger was restored; start another one"
                )
            if row.bound == step:
                return
            place = row.bound.get(_AFTER, "0")
            if row.bound.get(_BEFORE) == str(before):
                raise ReleaseMismatchError(
                    f"{spot.words} has this stream with {quoted(place)} elements already, and others than now follow "
                    f"the first {before}: give the same call once more"
                )
            if place != str(before):
                raise ReleaseMismatchError(
                    f"{spot.words} has this stream at element {quoted(place)}, and this state is at element "
                    f"{before}; its noise must not be used for other elements: continue from the newest state"
                )
            self.advance(connection, spot.number)
            connection.execute(update(SPENDS).where(SPENDS.c.id == number).values(bound=plain_text(step)))

    @retried
    def reserved(self, spot: Spot, question: dict[str, Any]) -> Booked | None:
        """The spend in progress that was made for a question before; None where there is none."""
        with self.database.read() as connection:
            data_set = self.data_set(connection, spot.number)
            row = self._same(connection, spot, self._fingerprint(data_set, spot), question)
        if row is None or row.secret is None:
            return None
        return Booked(row.id, row.release_id, self.keys.unseal(row.secret, row.release_id), resumed=True)

    def record(self, spot: Spot, number: int, estimate: dict[str, Any]) -> dict[str, Any]:
        """Keep the estimate of a spend and wipe its secret; the first one wins and is returned."""
        recorded = self._record(spot, number, plain_text(estimate))
        if recorded is not None:
            return recorded
        with contextlib.suppress(LedgerError):
            self.database.forget()  # the estimate is safe; what cannot be forgotten now is at the next record
        return estimate

    @retried
    def _record(self, spot: Spot, number: int, estimate: str) -> dict[str, Any] | None:
        """Keep an estimate's text; the one that is there already, if there is one."""
        # a copy from before this has the sealed secret: who asks again gets the same noise for the same records
        with self.writing(durable=False) as connection:
            self.data_set(connection, spot.number, lock=True)
            row = self._spend(connection, number)
            first = row.recorded()
            if first is not None:
                return first
            self.advance(connection, spot.number)
            values = {"estimate": estimate, "state": RELEASED, "finished": now(), "secret": None, "bound": None}
            connection.execute(update(SPENDS).where(SPENDS.c.id == number).values(**values))
        return None

    # --- settings

    @retried
    def set_limit(self, spot: Spot, limit: Privacy | None) -> None:
        """Change a data set's limit, not below what is spent."""
        with self.writing() as connection:
            data_set = self.data_set(connection, spot.number, lock=True)
            self.check_limit(connection, data_set, limit)
            self.change(connection, spot.number, spend_limit=None if limit is None else plain_text(limit.to_dict()))

    def check_limit(self, connection: Connection, data_set: DataSet, limit: Privacy | None) -> None:
        """Refuse a limit that a locked data set has overspent."""
        charges = self.charges(connection, data_set.id, data_set=data_set)
        if not charges.keep(limit, WHOLE):
            spent = charges.spent(None, WHOLE)
            raise BudgetError(f"the account {quoted(data_set.name)} has spent {spent}; its limit cannot be {limit}")

    def change(self, connection: Connection, number: int, **values: str | None) -> None:
        """Change fields of a data set's row."""
        self.advance(connection, number, settings=True)
        connection.execute(update(DATA_SETS).where(DATA_SETS.c.id == number).values(**values))

    # --- inside a transaction

    def _fingerprint(self, data_set: DataSet, spot: Spot) -> str:
        stored = data_set.fingerprints
        # a first fingerprint is kept with the first spend
        current = stored.get(spot.part) or spot.fingerprint or stored.get(WHOLE) or ""
        if spot.fingerprint is not None and spot.fingerprint != current:
            raise LedgerError(
                f"{spot.words} was opened for other data meanwhile; open it again, "
                "with `updated=True` if these are newer"
            )
        return current

    def _same(self, connection: Connection, spot: Spot, fingerprint: str, question: dict[str, Any]) -> Spend | None:
        row = connection.execute(
            select(SPENDS).where(
                SPENDS.c.data_set == spot.number,
                SPENDS.c.part == spot.part,
                SPENDS.c.fingerprint == fingerprint,
                SPENDS.c.digest == question_digest(plain_text(question)),
            )
        ).one_or_none()
        return None if row is None else read_spend(row)

    def _spend(self, connection: Connection, number: int) -> Spend:
        row = connection.execute(select(SPENDS).where(SPENDS.c.id == number)).one_or_none()
        if row is None:
            raise LedgerError(
                f"the ledger {plain(self.database.words)} lost an entry; was it replaced by another file?"
            )
        return read_spend(row)

    def _charged(self, connection: Connection, number: int) -> Charged:
        """The part, the first charge and the charge of a spend."""
        columns = (SPENDS.c.part, SPENDS.c.first_charge, SPENDS.c.charge)
        part, first, now = connection.execute(select(*columns).where(SPENDS.c.id == number)).one()
        return part, first, now

    def _raise_charge(self, connection: Connection, data_set: DataSet, spot: Spot, row: Spend, charge: Price) -> bool:
        charged = row.charge
        if at_least(charged, charge):
            return False
        if row.state == RELEASED or not at_least(charge, charged):
            raise LedgerError(
                f"the entry {row.release_id} was charged {charged} and cannot be charged {charge} instead; if it was "
                "interrupted and the method that auto chooses has changed, name a method: it is then made and paid "
                "again"
            )
        self._check(connection, data_set, spot, charge, first=charge, raised=row.id)
        connection.execute(update(SPENDS).where(SPENDS.c.id == row.id).values(charge=plain_text(charge.to_dict())))
        self.advance(connection, spot.number, spend=row.id, charged=(row.id, self._charged(connection, row.id)))
        return True

    def _check(
        self,
        connection: Connection,
        data_set: DataSet,
        spot: Spot,
        charge: Price,
        *,
        first: Price,
        raised: int | None = None,
    ) -> None:
        """Refuse a charge that does not fit beside all others, or in place of the lower one of a spend."""
        if data_set.limit is not None:
            charges = self.charges(connection, spot.number, apart=raised or 0, data_set=data_set)
            check_affordable(spot, data_set.limit, charges, charge, first=first, raised=raised)


def check_affordable(
    spot: Spot, limit: Privacy, charges: Charges, charge: Price, *, first: Price, raised: int | None = None
) -> None:
    """Refuse a charge that does not fit beside all others."""
    reason = mismatch(limit, charge)
    if reason is not None:
        raise BudgetError(f"{spot.words} cannot pay {charge}: {reason}")
    wanted = charges.plus(spot.part, charge, first=first) if raised is None else charges.raised(raised, charge)
    if not wanted.keep(limit, spot.part):
        left = charges.remaining(limit, spot.part)
        more = "" if raised is None else ", part of which is paid"
        raise BudgetError(
            f"{spot.words} has {left if left is not None else 'nothing'} left of {limit}, "
            f"and this release would cost {in_terms_of(limit, charge)}{more}"
        )


# --- What was charged to a data set and its parts, and what somebody in it may still lose


@dataclass(frozen=True)
class Charge:
    """One spend, or several alike, as far as composition cares.

    Fields:
        number: Of the spend, or of the first of them; 0 for one that is not booked.
        first: What it was charged, or was said to come to perhaps, before any answer.
    """

    number: int
    part: str
    first: Price
    now: Price
    times: int = 1


class Charges:
    """What was charged to a data set: to all of it and to each declared part.

    Equal charges are counted together, in the order in which the first of each was made; only the very first one's
    place matters. A person belongs to one part for good, so what they lose is what the whole and their part were
    charged.
    """

    def __init__(self, charges: Iterable[Charge]) -> None:
        self._charges = tuple(charges)

    def plus(self, part: str, charge: Price, *, first: Price) -> Charges:
        """These and one more, which may come to `first`."""
        return Charges([*self._charges, Charge(0, part, first, charge)])

    def raised(self, number: int, charge: Price) -> Charges:
        """The same charges with one of them raised, which is by itself."""
        if [old.times for old in self._charges if old.number == number] != [1]:
            raise LedgerError("the ledger lost an entry; was it replaced by another file?")
        return Charges(replace(old, now=charge) if old.number == number else old for old in self._charges)

    def sequences(self, part: str) -> list[list[Charge]]:
        """Every sequence of charges that a person has whom a spend on `part` concerns; `WHOLE` concerns everybody.

        `WHOLE` among the parts stands for somebody who is in none.
        """
        parts = {charge.part for charge in self._charges} | {WHOLE} if part == WHOLE else {part}
        return [[charge for charge in self._charges if charge.part in (WHOLE, one)] for one in sorted(parts)]

    def keep(self, limit: Privacy | None, part: str) -> bool:
        """Whether everybody whom a spend on the part concerns stays within the limit."""
        if limit is None:
            return True
        with _sums():
            return all(
                fits(limit, _now(sequence), first=sequence[0].first) for sequence in self.sequences(part) if sequence
            )

    def remaining(self, limit: Privacy, part: str) -> Privacy | None:
        """The largest guarantee that a release on the part may still be granted, or None."""
        with _sums():
            results = [
                remaining(limit, _now(sequence), first=sequence[0].first if sequence else None)
                for sequence in self.sequences(part)
            ]
        least = results[0]
        for other in results[1:]:
            least = _smaller(least, other)
        return least

    def spent(self, limit: Privacy | None, part: str) -> Privacy | None:
        """What somebody has lost at most, as a guarantee of the limit's type; None before any spend."""
        with _sums():
            return self._spent(limit, part)

    def _spent(self, limit: Privacy | None, part: str) -> Privacy | None:
        sequences = [_now(sequence) for sequence in self.sequences(part) if sequence]
        if not sequences:
            return None
        if isinstance(limit, ZeroConcentratedDP):
            return max((ZeroConcentratedDP(sum_rho(sequence)) for sequence in sequences), key=_size)
        delta = limit.delta if isinstance(limit, ApproxDP) else None
        totals = [compose(sequence, delta=delta) for sequence in sequences]
        deltas = [total.delta for total in totals if isinstance(total, ApproxDP)]
        if deltas:
            most: Privacy = max((compose(sequence, delta=max(deltas)) for sequence in sequences), key=_size)
            # where rounding says more than the limit, which all of it keeps, the limit says it better
            over = isinstance(limit, ApproxDP) and _size(most) > limit.epsilon and max(deltas) == limit.delta
            return limit if over and self.keep(limit, part) else most
        if any(isinstance(total, ZeroConcentratedDP) for total in totals):
            return max((ZeroConcentratedDP(sum_rho(sequence)) for sequence in sequences), key=_size)
        return max(totals, key=_size)


@contextlib.contextmanager
def _sums() -> Iterator[None]:
    """Turn the error of charges that add up to no guarantee into one of the ledger."""
    try:
        yield
    except ParameterError as problem:
        raise LedgerError(
            f"the ledger's charges add up to no guarantee: {plain(problem)}; one of them is extremely large or "
            "small, or the ledger is damaged: restore it from a backup"
        ) from None


def _now(charges: list[Charge]) -> list[Price]:
    results: list[Price] = []
    for charge in charges:
        results += [charge.now] * charge.times
    return results


def _size(privacy: Privacy) -> Any:
    return privacy.rho if isinstance(privacy, ZeroConcentratedDP) else privacy.epsilon


def _smaller(one: Privacy | None, other: Privacy | None) -> Privacy | None:
    if one is None or other is None:
        return None
    if type(one) is type(other):
        return min(one, other, key=_size)
    # where one of them leaves room for pure releases only, so do both
    return PureDP(min(_size(one), _size(other)))
