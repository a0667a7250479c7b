"""A session: data, a limit and a ledger, with the same verbs as the one-call functions."""

from __future__ import annotations

import dataclasses
import functools
import threading
import warnings
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn, Self

from ogive.errors import AccountWarning, LedgerError, ParameterError, quoted
from ogive.ledger import Account, Ledger
from ogive.noise.base import RandomSource
from ogive.privacy import Adjacency, Privacy, PrivacyUnit, check_adjacency, check_columns
from ogive.records import Records
from ogive.records.missing_words import NaValues
from ogive.releasing.accounts import (
    card,
    default_adjacency,
    disclosure,
    is_made,
    is_unmade,
    ledger_file,
    left,
    name_of,
    open_account,
    open_ledger,
    public_size,
    statement,
    unseen,
)
from ogive.releasing.planning import plan
from ogive.releasing.pointwise import PointwiseCurve
from ogive.releasing.release import outside, release
from ogive.releasing.verbs import Verbs
from ogive.showing.view import Card, as_html
from ogive.statistics.base import Estimate, EstimateT, Statistic, check_statistic, completed, describe
from ogive.statistics.kinds import is_estimate, read_recorded
from ogive.statistics.questions import subjects
from ogive.trust import Central, Simulation, TrustOf

if TYPE_CHECKING:
    from ogive.ledger import Entry
    from ogive.ledger.account import Hasher
    from ogive.releasing.planning import Plan
    from ogive.statistics.ecdf.statistic import Ecdf


class Session(Verbs):
    """One data set with one privacy budget for all its releases.

    Each charge is recorded durably before noise is drawn. A repeated question gets the stored answer at no cost. After
    an interrupt or a crash the same request completes the release at no further cost. With a ledger file or database
    the budget outlives the session and is shared by colleagues. A new account appears in the ledger with its first
    charge, and so does a new ledger's file: a first release that is refused leaves nothing behind.

    Args:
        data: Anything `Records.of` reads: a file, a data frame, a dict of columns, the address of a table in
            an engine.
        limit: Privacy budget: the total that may be spent. Required for a new account; an existing account keeps its
            limit, and a different one is refused.
        ledger: Where charges are recorded: a path or URL such as "sqlite:///budget.db" or "postgresql://user@host/db",
            or an open `Ledger`. With None they are lost when the session ends.
        name: Name of the data set in the ledger; by default the name of the file without its suffix, or of the
            table in an engine.
        person: Column with the person's identifier, if a person may have several records.
        max_rows_per_person: How many of a person's records are kept, chosen at random.
        row_choice: What they are chosen by: "siphash", their contents, or "md5", the cells that they count in. By
            default the first one, and the second one for tables of an engine.
        adjacency: Which data sets are adjacent. By default that of the account; for a new account REPLACE, or
            ADD_OR_REMOVE if a person may have several records.
        public: Columns whose values are public, such as a label. Adjacent data sets agree in them record by record,
            and releases may publish exact counts of them. By default those of the account; none for a new account.
        trust: The trust model: its type, such as `Central` or `Local`, its name, such as "local", or a `Simulation` of
            a model that needs options, such as the number of parties of `SecAgg`. `Clear` returns exact values, and
            spends and records nothing.
        part: Name of the part that these records are, if the data set was declared to consist of parts without common
            persons.
        updated: Whether the records may have changed since the account was last used. Earlier charges remain.
        other_people: With `person`: create an account although another account of the ledger has mostly the same
            identifiers, or a part although another part has some of them, because the identifiers mean different
            people or a second budget is intended. The ledger records the declaration, and statements show it.
        na_values: Texts and numbers that mark a missing value in any column, in addition to the usual ones such
            as NA.

    Raises:
        ParameterError: an argument is invalid, a new account has no limit, or a data frame in a durable ledger has no
            name.
        DataError: the records cannot be read.
        LedgerError: the ledger cannot be used; the account is for other records, another privacy unit or another
            limit; or the records, or most of their people, have an account of another name.

    Warns:
        AccountWarning: an earlier version published more from this account than its privacy unit allows.

    Example:
        >>> import numpy as np, ogive
        >>> people = {"age": np.random.default_rng(1).integers(18, 90, size=20_000)}
        >>> session = ogive.Session(people, limit=ogive.PureDP(3))
        >>> curve = session.ecdf("age", bounds=(0, 120), bins=120, privacy=ogive.PureDP("0.5"))
        >>> print(session.remaining)
        epsilon = 2.5
        >>> again = session.ecdf("age", bounds=(0, 120), bins=120, privacy=ogive.PureDP("0.5"))
        >>> print(session.remaining)
        epsilon = 2.5
    """

    def __init__(
        self,
        data: Any,
        *,
        limit: Privacy | None = None,
        ledger: Ledger | str | Path | None = None,
        name: str | None = None,
        person: str | None = None,
        max_rows_per_person: int = 1,
        row_choice: str | None = None,
        adjacency: Adjacency | str | None = None,
        public: Sequence[str] | str | None = None,
        trust: TrustOf = Central,
        part: str | None = None,
        updated: bool = False,
        other_people: bool = False,
        na_values: NaValues = (),
    ) -> None:
        self._simulation = Simulation.of(trust)
        private = self._simulation.private
        self.name = name_of(data, name, lasting=ledger is not None and private)
        self._times: Counter[str] = Counter()
        self._closed = False
        self._account: Account | None = None
        self._ledger: Ledger | None = None
        # where the ledger's file is to be made; None where there is one, or none is needed
        self._place: str | Path | None = None
        self._ledger_is_own = private and not isinstance(ledger, Ledger)
        self._records = Records.of(data, na_values=na_values)
        if public is not None:
            self._records.check_columns(check_columns(public))
        self._trust = self._simulation.over(
            self._records, person=person, max_rows_per_person=max_rows_per_person, row_choice=row_choice
        )
        if not private:
            plain = default_adjacency(None, max_rows_per_person) if adjacency is None else check_adjacency(adjacency)
            declared = check_columns(() if public is None else public)
            self.unit: PrivacyUnit = dataclasses.replace(self._trust.unit(plain), public=declared)
            return
        self._opened = functools.partial(
            open_account,
            name=self.name,
            trust=self._trust,
            adjacency=adjacency,
            public=public,
            max_rows_per_person=max_rows_per_person,
            limit=limit,
            part=part,
            updated=updated,
            other_people=other_people,
        )
        compared_by = None if self._records.is_counted_elsewhere else person  # an engine hands out no names
        self._people = None if compared_by is None else functools.partial(self._records.person_hashes, compared_by)
        self._beginning = threading.RLock()
        if isinstance(ledger, Ledger):
            self._ledger = ledger
        else:
            self._place = ledger if is_unmade(ledger, limit=limit) else None
            self._ledger = open_ledger(ledger if self._place is None else None, limit=limit)
        try:
            self._digest = self._records.digest()
            # a ledger that ends with the session has nobody to compare these people with
            compared = ledger is not None and self._place is None
            self._account = self._account_in(self._ledger, self._people if compared else None)
            for more in self.notices:
                warnings.warn(f"account {self.name!r}: {more}", AccountWarning, stacklevel=outside())
        except BaseException:
            self.close()
            raise
        if self._place is not None:
            self._account.begin = self._begin
        self.unit = self._account.unit

    def _account_in(self, ledger: Ledger, people: Hasher | None) -> Account:
        return self._opened(ledger, fingerprint=ledger.fingerprint(self._digest), people=people)

    def _begin(self) -> Account:
        """The account in the ledger's file, which is made now unless somebody was faster."""
        with self._beginning:
            assert self._account is not None
            if self._place is None:
                return self._account
            ledger = Ledger.open(self._place)
            try:
                account = self._account_in(ledger, self._people)
            except BaseException:
                ledger.close()
                raise
            self._ledger, self._account, self._place = ledger, account, None
            self.unit = account.unit
            return account

    @property
    def notices(self) -> tuple[str, ...]:
        """What the account's user should know before anything is released."""
        if self._account is None or self._ledger is None:
            return ()
        compared = self._people is not None
        result = disclosure(self._account), unseen(self._ledger, self._account, compares_people=compared)
        return tuple(each for each in result if each is not None)

    @property
    def books(self) -> tuple[Ledger | None, Account | None]:
        """The ledger and the account as they are now; stand-ins in memory while the ledger's file is yet to be made."""
        return self._ledger, self._account

    @property
    def _current(self) -> Account | None:
        """The account, which is in the ledger's file as soon as anybody has made that."""
        file = None if self._place is None else ledger_file(self._place)
        return self._begin() if file is not None and is_made(file) else self._account

    def part(self, name: str, data: Any, *, updated: bool = False, other_people: bool = False) -> Session:
        """A session on a declared part of the data set, under the same limit.

        All records of a person must lie in one part, permanently, and the choice of the part must not depend on
        protected values. Hospitals qualify; diagnoses do not. Releases of different parts then cost together no more
        than the most expensive part.

        Args:
            name: Name of the part, for example "north".
            data: The records of the part.
            updated: Whether the records may have changed since the part was last used.
            other_people: Whether identifiers that also occur in another part mean different people here.

        Raises:
            ParameterError: this session is for a part already, or has no budget.
            DataError, LedgerError: as for a session.
        """
        account = self._open_account()
        ledger = self.ledger
        if account.part_name is not None:
            raise ParameterError(f"this session belongs to the part {quoted(account.part_name)}; parts have no parts")
        return Session(
            data,
            limit=account.limit if account.is_new else None,
            ledger=ledger,
            name=self.name,
            person=self.unit.person,
            max_rows_per_person=self.unit.max_rows_per_person,
            row_choice=None if self.unit.person is None else self.unit.row_choice,
            adjacency=self.unit.adjacency,
            public=self.unit.public,
            trust=self._simulation,
            part=name,
            updated=updated,
            other_people=other_people,
        )

    def release(
        self,
        statistic: Statistic[EstimateT],
        *,
        privacy: Privacy | None = None,
        batch: str | None = None,
        source: RandomSource | None = None,
    ) -> EstimateT:
        """Release any statistic of the session's data within its budget.

        Args:
            statistic: For example `Ecdf("age", bounds=(0, 120))`.
            privacy: The guarantee for everything that is published; may be omitted only under `Clear`.
            batch: Public name of these records, for merging curves; by default the name of the part.
            source: Source of the noise key; by default the operating system.

        Raises:
            BudgetError: the release exceeds the remaining budget; nothing was charged.
            ParameterError, DataError, LedgerError, UnsupportedError: as `ogive.release`.

        Privacy:
            `privacy` for `unit`; all releases of the account together stay within `limit`.
        """
        check_statistic(statistic)
        self._check_open()
        self._check_unchanged()
        estimate = release(
            statistic,
            trust=self._trust,
            privacy=privacy,
            adjacency=self.unit.adjacency,
            public=self.unit.public,
            ledger=self._current,
            batch=batch,
            source=source,
        )
        if estimate.provenance is not None:
            self._times[estimate.provenance.release_id] += 1
        return estimate

    def pointwise(
        self, statistic: Ecdf, *, privacy: Privacy, state: str | Path | None = None, source: RandomSource | None = None
    ) -> PointwiseCurve:
        """Open a distribution function of the session's data point by point, at one charge to its budget.

        Opened again, it costs nothing and has the same noise.

        Args:
            statistic: Column and grid, for example `Ecdf("age", bounds=(0, 120))`.
            privacy: The guarantee for all points together, however many are opened.
            state: As for `PointwiseCurve.open`.
            source: Source of the noise key; by default the operating system.

        Raises:
            BudgetError: the release exceeds the remaining budget; nothing was charged.
            ParameterError, DataError, LedgerError, UnsupportedError: as `PointwiseCurve.open`.

        Privacy:
            `privacy` for `unit`.
        """
        self._check_open()
        self._check_unchanged()
        return PointwiseCurve.open(
            statistic,
            trust=self._trust,
            privacy=privacy,
            adjacency=self.unit.adjacency,
            state=state,
            ledger=self._current,
            source=source,
        )

    def plan(
        self,
        statistic: Statistic[Any],
        *,
        privacy: Privacy | Sequence[Privacy] | None = None,
        records: int | None = None,
        like: Any = None,
    ) -> Plan:
        """Predict price and error of every method; spends nothing.

        Args:
            statistic: The statistic to plan.
            privacy: A guarantee, or several to compare; pure epsilons from 0.1 to 5 by default.
            records: Approximate number of records; by default the exact number if it is public.
            like: Public or synthetic records of the same columns, to simulate on.

        Raises:
            ParameterError: the number of records is private and was not given, or as for `ogive.plan`.
        """
        check_statistic(statistic)
        if records is None and getattr(statistic, "where", None) is not None:
            raise ParameterError(
                "how many records satisfy `where` is not counted for a plan; say about how many, `records=1000`"
            )
        self._records.check_columns(subjects({"statistic": describe(statistic)}))
        return plan(
            completed(statistic, self._records.schema),
            privacy=privacy,
            records=public_size(self._records, self.unit, records),
            adjacency=self.unit.adjacency,
            trust=self._trust,
            public=self.unit.public,
            like=like,
        )

    @property
    def answers(self) -> tuple[Estimate, ...]:
        """The estimates released so far, from the ledger at no cost, oldest first."""
        account = self._current
        result = () if account is None else account.answers()
        return tuple(read_recorded(plain) for plain in result if is_estimate(plain))

    @property
    def account(self) -> Account | None:
        """The account that is charged; None under `Clear`. Makes the ledger's file where there is none yet."""
        return self._account if self._place is None else self._begin()

    @property
    def ledger(self) -> Ledger | None:
        """The ledger of the account; None under `Clear`. Makes the ledger's file where there is none yet."""
        if self._place is not None:
            self._begin()
        return self._ledger

    @property
    def limit(self) -> Privacy | None:
        """The privacy budget in total."""
        return None if (account := self._current) is None else account.limit

    @property
    def spent(self) -> Privacy | None:
        """Total charge of all releases of the account, including those of colleagues; None before the first."""
        return None if (account := self._current) is None else account.spent

    @property
    def remaining(self) -> Privacy | None:
        """The remaining budget, of the limit's type; None if nothing is left or there is no limit."""
        return None if (account := self._current) is None else account.remaining

    @property
    def history(self) -> tuple[Entry, ...]:
        """The charges of the account, oldest first; a repeated question adds none."""
        return () if (account := self._current) is None else account.history

    def close(self) -> None:
        """Close the ledger if the session opened it; the session then releases nothing more."""
        self._closed = True
        if self._ledger is not None and self._ledger_is_own:
            self._ledger.close()

    def _named(self, **named: Any) -> tuple[str, ...]:
        self._records.check_named(named)
        return tuple(named.values())

    def _check_open(self) -> None:
        if self._closed:
            raise LedgerError("this session is closed; open another")

    def _check_unchanged(self) -> None:
        """Answers are stored for the records that the session was opened with, and must not be of others."""
        if self._account is not None and self._records.digest() != self._digest:
            raise LedgerError(
                "the records changed since this session was opened; open another, with `updated=True` if these are the "
                "same people's newer data"
            )

    def __reduce__(self) -> NoReturn:
        raise TypeError("a session cannot be copied or pickled; open another")

    def _open_account(self) -> Account:
        self._check_open()
        if self._account is None:
            raise ParameterError("a session without privacy has no budget, so it has no parts")
        return self._account

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __str__(self) -> str:
        if self._closed:
            return f"{self.name}: this session is closed"
        account = self._current
        return f"{self.name}: {self._trust.assumption}" if account is None else statement(account, times=self._times)

    def _repr_html_(self) -> str:
        account = None if self._closed else self._current
        if account is None:
            note = "this session is closed" if self._closed else self._trust.assumption
            return as_html(Card(self.name, notes=(note,)))
        return as_html(card(account, times=self._times))

    def __repr__(self) -> str:
        if self._closed:
            return f"<Session {self.name!r}, closed>"
        account = self._current
        if account is None:
            return f"<Session {self.name!r}, trust={type(self._trust).__name__}>"
        return f"<Session {self.name!r}, remaining: {left(account)}>"
