"""How every releasing command releases: from the ledger's account where one was named, else on its own."""

from __future__ import annotations

import contextlib
import shlex
import sys
import warnings
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ogive.cli.options import BudgetOptions, OutputOptions, PrivacyOptions
from ogive.cli.output import busy, check_outputs, draw, write_result
from ogive.errors import AccountWarning, BudgetError, LedgerError, NoiseWarning, OgiveError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ogive.ledger import Account, Ledger

    Books = Callable[[], tuple[Ledger | None, Account | None]]
    from ogive.privacy import Adjacency, Privacy
    from ogive.records.foreign import Table
    from ogive.releasing.session import Session
    from ogive.statistics.base import Statistic
    from ogive.trust import Simulation
    from ogive.trust.base import TrustModel

# --- Columns that seem to identify people, which --person is for


def person_column(columns: Sequence[str], used: Collection[str] = ()) -> str | None:
    """The first column besides those measured whose name says that it identifies people; None if no column does."""
    from ogive.columns.grids import of_people

    return next((name for name in columns if of_people(name) and name not in used), None)


def suggest_person(columns: Sequence[str], used: Collection[str]) -> None:
    """Say on standard error that --person is for people with several records, where a column seems to identify them."""
    name = person_column(columns, used)
    if name is not None:
        option = f"--person {shlex.quote(name)}"
        print(
            f"ogive: every record counts as a person of its own; if a person may have several, add {option}",
            file=sys.stderr,
        )


# --- Releases and what pays for them

_SQLITE = b"SQLite format 3\0"
"""How a file of SQLite begins."""


@dataclass(frozen=True)
class Request:
    """What a command was asked to release, of the records in a file or at the address of their table."""

    statistic: Statistic[Any]
    data: Path | str | Table
    na: tuple[str, ...]
    granted: PrivacyOptions
    budget: BudgetOptions

    def carry_out(
        self,
        output: OutputOptions,
        plot: Path | None,
        *,
        table: Callable[[Any], str],
        picture: Callable[[Any, Any], Any],
        finish: Callable[[Any], Any],
    ) -> None:
        """Release the statistic and write it where it was asked for.

        All that can be refused is looked at before anything is spent: what was granted, the outputs, the ledger.

        Args:
            output: Where the result goes.
            plot: Where a picture of it goes.
            table: The result as text.
            picture: Draws the result into axes.
            finish: Adds to the result what costs nothing more; must not fail, since the result is paid for.
        """
        budget, trust = self.budget, self.granted.simulation()
        try:
            privacy = self.granted.privacy()
        except ParameterError as problem:
            raise self._with_other_needs(problem, trust) from None
        limit = budget.limit()
        check_outputs(self.data, output.output, plot=plot, keep=files_of(budget.ledger))
        if budget.no_ledger:
            from ogive.releasing.release import no_ledger_wanted

            no_ledger_wanted()
        kept_in = budget.ledger if trust.private else None
        if kept_in is None:
            with warnings_in_a_line(), busy(_releasing(self.data)) as progress:
                estimate = finish(self._released(trust.telling(progress), privacy))
        else:
            with warnings_in_a_line():
                estimate, note = self._paid(trust, privacy, limit)
            print(note, file=sys.stderr)
            estimate = finish(estimate)
        write_result(estimate, output, text=table, public=True if kept_in is not None else None, kept_in=kept_in)
        if plot is not None:
            draw(lambda axes: picture(estimate, axes), plot)

    def _with_other_needs(self, problem: ParameterError, trust: Simulation) -> ParameterError:
        """That no guarantee was given, with what else the statistic needs, where the table tells."""
        from ogive.privacy import PureDP
        from ogive.releasing.release import unit_of, unmet
        from ogive.statistics.base import Terms, completed

        if self.granted.stated:
            return problem
        try:
            model, adjacency = self._model(trust)
            unit = unit_of(model, adjacency, None, public=self.granted.public)
            terms = Terms(PureDP(1), unit, model.refusal, count=model.count)
            more = unmet(completed(self.statistic, model.schema), model, terms)
        except OgiveError:
            return problem
        if more is None:
            return problem
        return ParameterError(f"{problem.marked}; {more.marked}", remedy=("`privacy=PureDP(1)`", *more.remedy))

    def _model(self, trust: Simulation, used: Callable[[], Sequence[str]] = tuple) -> tuple[TrustModel, Adjacency]:
        """The trust model of a file without a ledger, and the adjacency; `used` are columns that a release reads."""
        from ogive.privacy import Adjacency
        from ogive.records import Records

        budget = self.budget
        fitting = Adjacency.REPLACE if budget.max_rows_per_person == 1 else Adjacency.ADD_OR_REMOVE
        adjacency = fitting if self.granted.adjacency is None else Adjacency(self.granted.adjacency)
        records = Records.of(self.data, na_values=self.na)
        if trust.private and budget.person is None:
            suggest_person(records.columns, used())
        return trust.over(records, **budget.people), adjacency

    def _used(self) -> Sequence[str]:
        """The columns that the release reads."""
        from ogive.statistics.base import describe
        from ogive.statistics.questions import subjects

        return subjects({"statistic": describe(self.statistic)})

    def _released(self, trust: Simulation, privacy: Privacy | None) -> Any:
        """One release without a ledger."""
        from ogive.releasing.release import release

        model, adjacency = self._model(trust, self._used)
        return release(
            self.statistic,
            trust=model,
            privacy=privacy,
            adjacency=adjacency,
            batch=self.budget.batch,
            public=self.granted.public,
        )

    def _paid(self, trust: Simulation, privacy: Privacy | None, limit: Privacy | None) -> tuple[Any, str]:
        """One release from an account, and what it did to the budget; says so where it begins new books."""
        from ogive.records import Records

        # before the whole file is read for its digest
        records, used = Records.of(self.data, na_values=self.na), self._used()
        records.check_columns(used)
        if self.budget.person is None:
            suggest_person(records.columns, used)
        with busy(_releasing(self.data)) as progress, self._session(trust.telling(progress), limit) as session:
            return pay_from(
                lambda: session.books,
                session.name,
                lambda: session.release(self.statistic, privacy=privacy, batch=self.budget.batch),
            )

    def _session(self, trust: Simulation, limit: Privacy | None) -> Session:
        from ogive.releasing.session import Session

        budget = self.budget
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AccountWarning)
            session = Session(
                self.data,
                limit=limit,
                ledger=budget.ledger,
                name=budget.data_set,
                **budget.people,
                adjacency=self.granted.adjacency,
                public=self.granted.public or None,
                trust=trust,
                part=budget.part,
                updated=budget.updated,
                other_people=budget.other_people,
                na_values=self.na,
            )
        for more in session.notices:
            print(f"the account {session.name!r}: {more}", file=sys.stderr)
        return session


def _releasing(data: Path | str | Table) -> str:
    """What is being done, without a password that an address may have."""
    from ogive.records.engines.connections import PREFIX, shown

    start = "starting Spark, which may take half a minute, and " if str(data).startswith(PREFIX) else ""
    return f"{start}releasing from {shown(data)}"


def is_ledger(path: Path) -> bool:
    """Whether a file is a data base of SQLite, as ledgers are."""
    try:
        with path.open("rb") as file:
            return file.read(len(_SQLITE)) == _SQLITE
    except OSError:
        return False


@contextlib.contextmanager
def warnings_in_a_line() -> Iterator[None]:
    """Write warnings of noise to standard error, each in a line, at the moment they are given."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", NoiseWarning)
        others = warnings.showwarning

        def tell(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
            if issubclass(category, NoiseWarning):
                print(f"ogive: warning: {message}", file=sys.stderr)
            else:
                others(message, category, *where, **more)

        warnings.showwarning = tell
        yield


def pay_from(books: Books, name: str, ask: Callable[[], Any]) -> tuple[Any, str]:
    """One release from an account, and what it did to the budget; says so where it begins new books.

    Args:
        books: The ledger and the account that pays, as they are when it is called.
        name: Of the data set.
        ask: Releases, and has the account pay.
    """
    before = _account(books).history
    stored = {entry.release_id for entry in before if entry.state == "released"}
    try:
        estimate = ask()
    except BudgetError:
        account = _account(books)
        if account.begin is not None:
            print("neither a ledger nor an account was created, and the limit is not kept", file=sys.stderr)
        elif account.is_new:
            print(f"no account {name!r} was created, and its limit is not kept", file=sys.stderr)
        raise
    except BaseException as problem:
        # shown where it is an interrupt, whatever an extension made of it
        problem.add_note(_interrupted(books, len(before)))
        raise
    finally:
        ledger, payer = books()
        if ledger is not None and payer is not None and payer.begin is None:
            announce(ledger)
            if payer.begun:
                print(f"created account {name!r} with limit {payer.limit}", file=sys.stderr)
    return estimate, _note(_account(books), name, estimate, stored)


def _account(books: Books) -> Account:
    account = books()[1]
    assert account is not None
    return account


def announce(ledger: Ledger) -> None:
    """Say on standard error that a ledger was begun: where another one was meant its name was misspelled."""
    if ledger.begun:
        print(f"created ledger {ledger.place}", file=sys.stderr)


def _interrupted(books: Books, before: int) -> str:
    """What a release that was cut off did to the budget."""
    try:
        paid = len(_account(books).history) > before
    except LedgerError:
        return "if the release was already paid, asking again costs nothing more"
    return "the release is paid, and asking again costs nothing more" if paid else "nothing was paid"


def _note(account: Account, name: str, estimate: Any, stored: set[str]) -> str:
    """What the release did to the budget, in one line."""
    from ogive.privacy import ApproxDP, GaussianDP
    from ogive.releasing.accounts import left

    release_id = estimate.provenance.release_id
    if release_id in stored:
        what = "asked before: this is the stored answer, at no cost"
    elif account.charged_here(release_id):
        what = f"paid {next(entry.charge for entry in account.history if entry.release_id == release_id)}"
    else:
        # cut off before, or asked by another process at the same moment: that one paid
        what = "asked before: no cost"
    gaussian = isinstance(account.remaining, ApproxDP) and any(
        isinstance(entry.charge, GaussianDP) for entry in account.history
    )
    more = " for any noise; with Gaussian noise more may fit" if gaussian else ""
    return f"{name}: {what}; {left(account)} remaining{more}"


def files_of(ledger: str | None) -> list[Path]:
    """The file of a ledger that is kept in one, its key and its mark, which no output may overwrite."""
    if ledger is None:
        return []
    from ogive.releasing.accounts import ledger_file

    file = ledger_file(ledger)
    return [] if file is None else [file, *(file.with_name(f"{file.name}.key{end}") for end in ("", ".mark"))]
