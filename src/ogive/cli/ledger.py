"""`ogive ledger`: what was spent on which data, how much may be, and everything that was released."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, Parameter

from ogive.cli.data import Whole
from ogive.cli.options import TABLE, OutputOptions, Words, guarantee
from ogive.cli.output import check_outputs, write_out
from ogive.cli.paying import announce, files_of
from ogive.errors import LedgerError, ParameterError, quoted

if TYPE_CHECKING:
    from ogive.ledger import Account, Ledger

SCHEMA = "ogive.statement/1"

app = App(name="ledger", help="Show, limit and export the privacy spent on each data set.")

Place = Annotated[str | None, Parameter(help="A file, sqlite:///FILE or postgresql://USER@HOST/DB.")]
DataSet = Annotated[str | None, Parameter(help="Show only this data set.")]


@app.command
def show(ledger: Place = None, *, data_set: DataSet = None, output: OutputOptions = TABLE) -> None:
    """Show what was released at what price, and what remains, like a bank statement.

    Args:
        ledger: Where the books are.
        data_set: Only this data set; all of them by default.
        output: Where the statement goes.
    """
    from ogive.releasing.accounts import statement

    check_outputs(None, output.output, keep=files_of(ledger))
    with opened(ledger) as books:
        texts = [statement(account) for account in accounts_of(books, data_set)]
        exported = _exported(books, data_set)["accounts"]
    for account in exported:
        for entry in account["entries"]:
            del entry["estimate"]
    content = json.dumps({"schema": SCHEMA, "accounts": exported}, indent=1)
    write_out(lambda: content, lambda: "\n\n".join(texts) or "the ledger has no data sets yet", output, public=True)


@app.command
def limit(
    ledger: Place = None,
    *,
    data_set: str,
    limit_epsilon: Annotated[str | None, Parameter(alias="--epsilon")] = None,
    limit_delta: Annotated[str | None, Parameter(alias="--delta")] = None,
    limit_rho: Annotated[str | None, Parameter(alias="--rho")] = None,
    no_limit: bool = False,
    new: bool = False,
    person: str | None = None,
    max_rows_per_person: Whole = 1,
    row_choice: Literal["siphash", "md5"] | None = None,
    adjacency: Literal["replace", "add_or_remove"] | None = None,
    public: Words = (),
) -> None:
    """Set how much may be spent on a data set in all; never below what is spent already.

    Args:
        ledger: Where the books are.
        data_set: Whose limit.
        limit_epsilon: The limit; with --limit-delta it is approximate.
        limit_delta: Slack in probability.
        limit_rho: The limit in zero-concentrated privacy, instead of the other two.
        no_limit: Lift the limit.
        new: Open the account of a data set that was not used before.
        person: For a new account: column with the person's identifier.
        max_rows_per_person: For a new account: how many of a person's records are kept.
        row_choice: For a new account: what they are chosen by, siphash for files or md5 for tables of an engine.
        adjacency: For a new account: replace or add_or_remove.
        public: For a new account: columns that everybody may know.
    """
    granted = guarantee(limit_epsilon, limit_delta, limit_rho, prefix="limit-")
    if (granted is None) != no_limit:
        raise ParameterError("give either a limit, for example --limit-epsilon 3, or --no-limit to remove it")
    if new and granted is None:
        raise ParameterError("give the limit of the account, for example --limit-epsilon 3")
    from ogive.privacy import BY_CONTENTS, Adjacency, PrivacyUnit

    chosen_by = BY_CONTENTS if row_choice is None else row_choice
    unit_given = person is not None or max_rows_per_person != 1 or row_choice is not None
    if not new and (unit_given or adjacency is not None or public):
        raise ParameterError("the privacy unit is set with --new and cannot be changed later")
    from ogive.releasing.accounts import default_adjacency, statement

    with opened(ledger, make=new, read_only=False) as books:
        announce(books)
        if new:
            if any(account.name == data_set for account in books.accounts()):
                raise LedgerError(
                    f"the ledger has an account {quoted(data_set)} already; leave --new out to change its limit"
                )
            chosen = default_adjacency(None, max_rows_per_person) if adjacency is None else Adjacency(adjacency)
            unit = PrivacyUnit(chosen, person, max_rows_per_person, public, chosen_by)
            account = books.account(data_set, unit=unit, limit=granted)
        else:
            (account,) = accounts_of(books, data_set)
            account.set_limit(granted)
        print(statement(account))


@app.command
def restore(ledger: Place = None) -> None:
    """Continue with an older copy of a ledger, for example a backup. Charges that the copy lacks count as spent.

    What was charged after the copy is known from the mark, a file beside the key file. Answers that were lost stay
    lost: whoever asks again pays again. Whoever spends from the same database on another machine restores it there,
    too.

    Args:
        ledger: Where the books are.
    """
    from ogive.ledger import Ledger
    from ogive.releasing.accounts import statement

    if ledger is None:
        raise ParameterError("name the ledger, for example: ogive ledger restore budget.db")
    lines = Ledger.restore(ledger)
    print("\n".join(lines) or "nothing is missing from the ledger; nothing was changed")
    if lines:
        with opened(ledger) as books:
            print("", *(statement(account) for account in books.accounts()), sep="\n\n")


@app.command
def export(ledger: Place = None, *, data_set: DataSet = None, output: OutputOptions = TABLE) -> None:
    """Write all that a ledger holds but its secrets, the released estimates included, as JSON.

    Args:
        ledger: Where the books are.
        data_set: Only this data set; all of them by default.
        output: Where it goes.
    """
    check_outputs(None, output.output, keep=files_of(ledger))
    with opened(ledger) as books:
        exported = _exported(books, data_set)
    content = json.dumps(exported, indent=1)
    accounts = len(exported["accounts"])
    text = content if output.output is None else f"exported {accounts} {'data set' if accounts == 1 else 'data sets'}"
    write_out(lambda: content, lambda: text, output, public=True)


def opened(place: str | None, *, make: bool = False, read_only: bool = True) -> Ledger:
    """The ledger at a place."""
    from ogive.ledger import Ledger
    from ogive.releasing.accounts import ledger_file

    if place is None:
        raise ParameterError("name the ledger, for example: ogive ledger show budget.db")
    file = ledger_file(place)
    missing = file is not None and not file.exists()
    return Ledger.open(place, read_only=read_only or (missing and not make))


def accounts_of(books: Ledger, name: str | None) -> list[Account]:
    """All accounts, or the one of a name."""
    accounts = books.accounts()
    results = [account for account in accounts if name in (None, account.name)]
    if not results and name is not None:
        known = ", ".join(account.name for account in accounts) or "none"
        raise LedgerError(f"the ledger has no account {quoted(name)}; it has {known}")
    return results


def _exported(books: Ledger, name: str | None) -> dict[str, Any]:
    accounts_of(books, name)
    whole = books.export()
    return {**whole, "accounts": [account for account in whole["accounts"] if name in (None, account["name"])]}
