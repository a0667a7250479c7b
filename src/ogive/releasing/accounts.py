"""Which account pays for the releases of a data set, and how its owner reads it: what was bought, and what is left."""

from __future__ import annotations

import dataclasses
import datetime
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ogive.errors import ParameterError, plain, quoted
from ogive.ledger import Account, Ledger
from ogive.ledger.account import Hasher
from ogive.ledger.database import Database
from ogive.ledger.ledger import check_not_lost
from ogive.privacy import (
    Adjacency,
    ApproxDP,
    Privacy,
    PrivacyUnit,
    PureDP,
    ZeroConcentratedDP,
    check_adjacency,
    check_columns,
    named_columns,
)
from ogive.records.engines.connections import address_of, is_address
from ogive.records.foreign import FOREIGN
from ogive.showing.view import Card
from ogive.statistics import questions

if TYPE_CHECKING:
    from ogive.ledger import Entry
    from ogive.ledger.entries import Shared
    from ogive.records import Records
    from ogive.trust import TrustModel

_LISTED = 5


def statement(account: Account, *, times: Mapping[str, int] | None = None) -> str:
    """The account like a bank statement: its unit, a line for each spend, the limit and what is left."""
    shown = card(account, times=times)
    (_, unit), *facts = shown.facts
    lines = [f"{account.name}: {unit}"]
    if facts[0][0] == "but":
        lines.append(f"  but {facts.pop(0)[1]}")
    widths = [max((len(row[k]) for row in shown.rows), default=0) for k in range(3)]
    for number, what, price, note in shown.rows:
        padded = f"  {number:>{widths[0]}}  {what:<{widths[1]}}  {price:<{widths[2]}}  {note}"
        lines.append(padded.rstrip())
    lines += [f"  {each}" for each in shown.notes]
    return "\n".join([*lines, *(f"  {name:<11}{text}" for name, text in facts)])


def card(account: Account, *, times: Mapping[str, int] | None = None) -> Card:
    """The account as notebooks show it; see `statement`."""
    rows = [_row(entry, (times or {}).get(entry.release_id, 1)) for entry in account.history]
    more, spent = disclosure(account), account.spent
    facts = [
        ("hides", account.unit.words),
        *([] if more is None else [("but", more)]),
        *(("people", _people(shared)) for shared in account.shared_people),
        ("limit", "none" if account.limit is None else str(account.limit)),
        ("spent", "nothing" if spent is None else str(spent)),
        *([] if account.limit is None else [("remaining", left(account))]),
    ]
    headings = ("release", "question", "price", "note") if rows else ()
    return Card(account.name, facts, headings, rows, () if rows else ("no releases yet",))


def hidden(account: Account) -> PrivacyUnit:
    """What the account's releases really hide together.

    Its own unit; but earlier versions published exact counts of columns that it does not declare public, and nothing
    that is published hides those.
    """
    return dataclasses.replace(account.unit, public=(*account.unit.public, *_published(account)))


def disclosure(account: Account) -> str | None:
    """That an earlier version published more than the account's unit allows, in a line; None if it did not."""
    published = _published(account)
    if not published:
        return None
    numbers = sorted({number for numbers in published.values() for number in numbers})
    listed = ", ".join(map(str, numbers[:_LISTED])) + (" and others" if len(numbers) > _LISTED else "")
    what = f"releases {listed}" if len(numbers) > 1 else f"release {listed}"
    return (
        f"{what} published the exact counts of {named_columns(sorted(published))}, so all releases together protect "
        f"only {hidden(account).words}"
    )


def unseen(ledger: Ledger, account: Account, *, compares_people: bool) -> str | None:
    """That a new account may be about the records of another one, in a line; None where the ledger would notice."""
    if not account.is_new:
        return None
    others = [
        each.name
        for each in ledger.accounts()
        if each.name != account.name and not (compares_people and each.unit.person is not None)
    ]
    if not others:
        return None
    which = f"the account {quoted(others[0])}" if len(others) == 1 else f"one of {len(others)} other accounts"
    return (
        f"the ledger cannot tell whether these are the records of {which} in another form or order, which would then "
        "have two budgets; if they are, use that account; persons are compared where both name a column of their ids"
    )


def _published(account: Account) -> dict[str, list[int]]:
    """Columns that are not declared public though their exact counts were published, with the spends that did so."""
    results: dict[str, list[int]] = {}
    for number, question in account.questions:
        for column in questions.published_columns(question):
            if column not in account.unit.public and column != account.unit.person:
                results.setdefault(column, []).append(number)
    return results


def left(account: Account) -> str:
    """What may still be spent, in words; by noise of any kind, so that more of the same noise may fit."""
    if account.limit is None:
        return "any amount, as there is no limit"
    remaining = account.remaining
    return "nothing" if remaining is None else str(remaining)


def _people(shared: Shared) -> str:
    """What the ledger knows of the same people elsewhere."""
    where = f"the account {quoted(shared.account)}" + (
        f", part {quoted(shared.part)}" if shared.part is not None else ""
    )
    if shared.declared:
        return (
            f"declared to be other people than those with the same ids in {where}; if they are the same, the losses "
            "in both add up"
        )
    return f"many have the same ids as in {where}; for those who are the same people, the losses in both add up"


def subject(question: Mapping[str, Any]) -> str:
    """What a question asks for, in short: the statistic, its columns and which records."""
    statistic = question.get("statistic")
    some = questions.which_records(statistic) if isinstance(statistic, Mapping) else []
    columns, more = questions.shown_subjects(question)
    return " ".join([questions.asked_name(question), *columns, *([f"and {more} more"] if more else []), *some])


def _row(entry: Entry, times: int) -> tuple[str, str, str, str]:
    trust = questions.trust_words(entry.question)
    notes = [] if trust is None else [f"trust {trust}"]
    if entry.part is not None:
        notes.append(f"part {entry.part}")
    became = questions.state_words(entry.state, entry.statistic, entry.question)
    if became:
        notes.append(became)
    elif times > 1:
        notes.append(f"asked {times} times, paid once")
    when = f"{entry.started.astimezone(datetime.UTC):%Y-%m-%d %H:%M} UTC"
    return f"{entry.number}  {when}", subject(entry.question), str(entry.charge), "; ".join(notes)


# --- What a session works out before it can spend: the data set's name, its unit, and the account that pays

_HOW_MUCH = "the limit of the account, for example `limit=PureDP(3)`"

IN_MEMORY = "data"
"""Name of data that have none, in a ledger that lasts as long as the session."""

SUFFIXES = (
    *(".gz", ".csv", ".tsv", ".txt", ".parquet", ".arrow", ".feather", ".ipc", ".npy", ".npz"),
    *(end for ends in FOREIGN.values() for end in ends),
)


def name_of(data: Any, name: str | None, *, lasting: bool, parameter: str = "name") -> str:
    """What the data are called in the ledger: a file's name without its suffix, or a table's own, unless their user
    says otherwise.
    """
    if name is not None:
        return check_name(name, parameter)
    if is_address(data):
        return check_name(address_of(data).called, parameter)
    if isinstance(data, str | os.PathLike):
        path = Path(data)
        while path.suffix.lower() in SUFFIXES:
            path = path.with_suffix("")
        return check_name(path.name, parameter)
    if lasting:
        raise ParameterError("name the data set in the ledger, for example `name='patients'`")
    return IN_MEMORY


def check_name(name: object, parameter: str = "name") -> str:
    """Return a data set's name as it is."""
    if not isinstance(name, str) or not name.strip():
        raise ParameterError(f"`{parameter}` must be what the data set is called in the ledger, got {quoted(name)}")
    return name


def ledger_file(place: str | Path) -> Path | None:
    """The file of a ledger that is kept in one."""
    return Database(place).path


def open_ledger(place: str | Path | None, *, limit: Privacy | None) -> Ledger:
    """Open a ledger; one in memory only with a limit."""
    if limit is None and place is None:
        raise ParameterError(f"give {_HOW_MUCH}")
    return Ledger.open(place)


def is_made(file: Path) -> bool:
    """Whether a ledger's file holds anything; an empty one is yet to be made, as one that is not there."""
    return file.exists() and (file.is_dir() or file.stat().st_size > 0)


def is_unmade(place: str | Path | None, *, limit: Privacy | None) -> bool:
    """Whether a ledger is a file that nobody has made so far, and that could be made."""
    database = Database(place)
    file = database.path
    if file is None or is_made(file):
        return False
    check_not_lost(database)
    if limit is None:
        raise ParameterError(f"there is no ledger {plain(file)}; to create one give {_HOW_MUCH}")
    database.check_folder()
    return True


def default_adjacency(account: Account | None, max_rows_per_person: int) -> Adjacency:
    """The account's own where there is one; else REPLACE, unless a person may have several rows."""
    if account is not None:
        return account.unit.adjacency
    return Adjacency.REPLACE if max_rows_per_person == 1 else Adjacency.ADD_OR_REMOVE


def open_account(
    ledger: Ledger,
    name: str,
    trust: TrustModel,
    *,
    fingerprint: str,
    adjacency: Adjacency | str | None,
    public: Sequence[str] | str | None,
    max_rows_per_person: int,
    limit: Privacy | None,
    part: str | None,
    updated: bool,
    people: Hasher | None = None,
    other_people: bool = False,
) -> Account:
    """The account of the data set, or of a part of it: the ledger's own, or one that begins with its first spend."""
    if limit is not None and not isinstance(limit, PureDP | ZeroConcentratedDP | ApproxDP):
        raise ParameterError(f"`limit` must be `PureDP`, `ApproxDP` or `ZeroConcentratedDP`, got {quoted(limit)}")
    known = next((account for account in ledger.accounts() if account.name == name), None)
    chosen = default_adjacency(known, max_rows_per_person) if adjacency is None else check_adjacency(adjacency)
    if public is None:
        public = () if known is None else known.unit.public
    unit = dataclasses.replace(trust.unit(chosen), public=check_columns(public))
    records: dict[str, Any] = {
        "fingerprint": fingerprint,
        "updated": updated,
        "people": people,
        "other_people": other_people,
    }
    if part is None:
        account = ledger.account(name, unit=unit, limit=limit, **records, lazy=True)
    else:
        # the records are the part's, so they say nothing about what the whole holds
        whole = ledger.account(name, unit=unit, limit=limit, lazy=True)
        account = whole.part(part, **records, lazy=True)
    if limit is None and account.is_new:
        raise ParameterError(f"{quoted(name)} is new in the ledger; give {_HOW_MUCH}")
    return account


def public_size(records: Records, unit: PrivacyUnit, given: int | None) -> int:
    """How many records to plan for: the given number, or the number of rows where that is public."""
    if given is not None:
        return given
    if unit.person is None and unit.adjacency is Adjacency.REPLACE:
        return records.size
    what = (
        "the number of records is private"
        if unit.person is None
        else "the number of records that are used is not known beforehand"
    )
    raise ParameterError(f"{what}; give an approximate number, for example `records=10000`")
