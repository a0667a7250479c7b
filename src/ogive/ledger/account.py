"""A data set's account: what was spent on it, and what may still be."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection

from ogive.errors import ParameterError, quoted
from ogive.ledger.books import Booked, Books, Charges, Spot, check_affordable
from ogive.ledger.database import retried
from ogive.ledger.entries import WHOLE, Entry, Shared
from ogive.ledger.mark import context_mark
from ogive.ledger.opening import (
    Hasher,
    Wanted,
    check_unit,
    claim,
    find_row,
    make_row,
    refuse_new,
    sample,
    shared_people,
)
from ogive.privacy import Charge, Privacy, PrivacyUnit, check_charge, check_privacy

_MARK = 16  # digits


class Account:
    """The charges on one data set, or on one declared part of it, held within a limit.

    Open one with `Ledger.account`. All processes that open the same account see the same charges.
    """

    def __init__(self, books: Books, spot: Spot, unit: PrivacyUnit, *, wanted: Wanted | None = None) -> None:
        self._books = books
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
        return "/".join(self._books.keys.fingerprint(b"ogive account\n" + name.encode())[:_MARK] for name in names)

    @property
    def has_fingerprint(self) -> bool:
        """Whether the ledger stores a fingerprint of this account's data."""
        return self._spot.fingerprint is not None

    def asked(self) -> tuple[str | None, list[dict[str, Any]]]:
        """The stored fingerprint of the current data, and the questions that were asked of these data.

        The fingerprint is None if none was ever given.
        """
        return (None, []) if self.is_new else self._books.asked(self._spot)

    def fingerprint(self, digest: bytes) -> str:
        """As `Ledger.fingerprint`: a keyed digest of the data, which reveals nothing without the ledger's key."""
        return self._books.keys.fingerprint(digest)

    @property
    def limit(self) -> Privacy | None:
        """Guarantee that all releases together must satisfy; None if no limit is set."""
        if self.is_new:
            return self._wanted.limit if self._wanted is not None else None
        with self._books.database.read() as connection:
            return self._books.data_set(connection, self._spot.number).limit

    @property
    def is_new(self) -> bool:
        """Whether the account is not in the ledger yet: it was opened lazily and nothing has been charged."""
        with self._settling:
            if self._spot.number:
                return False
            if not self._books.number_of(self.name):
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
            self._books.set_limit(self._spot, limit)

    @property
    def spent(self) -> Privacy | None:
        """Total of the charges so far, as a guarantee of the limit's type; None before the first charge.

        For an account with parts: the largest total over all persons.
        """
        if self.is_new:
            return None
        with self._books.database.read() as connection:
            limit = self._books.data_set(connection, self._spot.number).limit
            return self._books.charges(connection, self._spot.number).spent(limit, self._spot.part)

    @property
    def remaining(self) -> Privacy | None:
        """Largest guarantee that one more release may have; None without a limit, or if nothing is left.

        Under an ApproxDP limit this is an ApproxDP that Laplace or Gaussian noise may use, or a PureDP if only Laplace
        noise still fits.
        """
        if self.is_new:
            limit = self.limit
            return None if limit is None else Charges(()).remaining(limit, self._spot.part)
        with self._books.database.read() as connection:
            limit = self._books.data_set(connection, self._spot.number).limit
            if limit is None:
                return None
            return self._books.charges(connection, self._spot.number).remaining(limit, self._spot.part)

    @property
    def history(self) -> tuple[Entry, ...]:
        """The charges, oldest first: those of the data set and all its parts, or those that concern this part."""
        if self.is_new:
            return ()
        return tuple(spend.entry(number) for number, spend in self._books.numbered(self._spot.number, self._parts))

    @property
    def shared_people(self) -> tuple[Shared, ...]:
        """Other accounts or parts with the same person identifiers, as far as the ledger could compare."""
        if self.is_new:
            return ()
        with self._books.database.read() as connection:
            return shared_people(connection, self._spot.number, self._spot.part)

    @property
    def questions(self) -> tuple[tuple[int, dict[str, Any]], ...]:
        """Questions asked of the data set and all its parts, with their charge numbers; faster than `history`."""
        return () if self.is_new else tuple(self._books.questions(self._spot.number))

    def answers(self) -> tuple[dict[str, Any], ...]:
        """The recorded estimates as plain data, oldest first. Unfinished releases of `history` are left out."""
        spends = [] if self.is_new else self._books.spends(self._spot.number, self._parts)
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
        crowd = sample(self._books, self.name, name, fingerprint, people, others=other_people)
        spot = Spot(self._spot.number, self.name, name, fingerprint, crowd)
        with self._books.writing() as connection:
            self._books.database.lock_making(connection)
            if not is_new:
                row = self._books.data_set(connection, spot.number, lock=True)
                claim(self._books, connection, row, spot, updated=updated, keep=not lazy)
            else:
                refuse_new(self._books, connection, spot)
        if not is_new:
            wanted = replace(wanted, limit=None)
        return Account(self._books, spot, self.unit, wanted=wanted if is_new or lazy else None)

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
            with self._books.database.read() as connection:
                charges = self._books.charges(connection, self._spot.number)
        check_affordable(self._spot, limit, charges, check_charge(charge), first=charge)

    def find(self, question: dict[str, Any]) -> dict[str, Any] | None:
        """The estimate recorded for exactly this question, as plain data; None if there is none."""
        return None if self.is_new else self._books.find(self._spot, question)

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
        if self._wanted is None:  # what is settled already needs no more locks
            return self._reserve(question, statistic=statistic, secret=secret, **charges)
        with self._settling:
            return self._reserve(question, statistic=statistic, secret=secret, **charges)

    def reserved(self, question: dict[str, Any]) -> Reservation | None:
        """The unfinished charge for exactly this question, with its secret; None if there is none.

        Raises:
            LedgerError: the ledger cannot be read.
        """
        booked = None if self.is_new else self._books.reserved(self._spot, question)
        return None if booked is None else Reservation(self._books, self._spot, booked, self._charged)

    def _reserve(
        self, question: dict[str, Any], *, statistic: str, charge: Charge, first: Charge, secret: bytes
    ) -> Reservation:
        made: list[bool] = []

        def begin(connection: Connection) -> Spot:
            return self._settle(connection, made=made)

        settling = {} if self._wanted is None else {"begin": begin}
        booked = self._books.reserve(
            self._spot, question, statistic=statistic, charge=charge, first=first, secret=secret, **settling
        )
        if booked.spot is not None:
            self._spot, self._wanted = booked.spot, None
            self.begun = self.begun or made[-1]  # of the last attempt
        if not booked.resumed:
            self._charged.add(booked.release_id)
        return Reservation(self._books, self._spot, booked, self._charged)

    @retried
    def _settled(self, *, keep: bool = True, limit: bool = True) -> Spot:
        with self._books.writing() as connection:
            return self._settle(connection, keep=keep, limit=limit)

    def _settle(
        self, connection: Connection, *, keep: bool = True, limit: bool = True, made: list[bool] | None = None
    ) -> Spot:
        """Find the account's row, or make it, and look at the fingerprint, all in one transaction."""
        wanted = self._wanted
        assert wanted is not None
        if not limit:
            wanted = replace(wanted, limit=None)
        row = find_row(self._books, connection, wanted)
        if made is not None:
            made.append(row is None)
        if row is None:
            row = make_row(self._books, connection, wanted)
        spot = replace(self._spot, number=row.id)
        claim(self._books, connection, row, spot, keep=keep)
        return spot

    @property
    def _parts(self) -> tuple[str, ...] | None:
        return (WHOLE, self._spot.part) if self._spot.part else None

    def __repr__(self) -> str:
        where = f".part({self._spot.part!r})" if self._spot.part else ""
        return f"Account({self.name!r}){where}"


class Reservation:
    """A spend in progress, which nothing takes back. Comes from `Account.reserve`."""

    def __init__(self, books: Books, spot: Spot, booked: Booked, charged: set[str]) -> None:
        self._books = books
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
        self._books.bind(self._spot, self._number, number, context_mark(self.secret, number, context))

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
        self._books.advance_stream(self._spot, self._number, before, after, mark)

    def charge(self, charge: Charge) -> None:
        """Raise the charge to what the release costs now; lower ones change nothing.

        Raises:
            BudgetError: it does not fit; the spend stays as it was.
        """
        if self._books.raise_charge(self._spot, self._number, check_charge(charge)):
            self._charged.add(self.release_id)

    def record(self, estimate: dict[str, Any]) -> dict[str, Any]:
        """Keep the estimate and wipe the secret.

        Returns:
            The estimate that was recorded first, which is this one unless another process was faster.
        """
        return self._books.record(self._spot, self._number, estimate)
