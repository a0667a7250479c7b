"""An account as its owner reads it: what was bought, when, at what price, and what is left."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ogive.errors import quoted
from ogive.privacy import PrivacyUnit, named_columns
from ogive.showing.view import Card
from ogive.statistics.questions import (
    asked_name,
    published_columns,
    shown_subjects,
    state_words,
    trust_words,
    which_records,
)

if TYPE_CHECKING:
    from ogive.ledger import Account, Entry, Ledger
    from ogive.ledger.entries import Shared

_LISTED = 5


def statement(account: Account, *, asked: Mapping[str, int] | None = None) -> str:
    """The account like a bank statement: its unit, a line for each spend, the limit and what is left.

    Args:
        account: Whose.
        asked: How often each release was asked for, by its id, where that is known.
    """
    rows = [_row(entry, (asked or {}).get(entry.release_id, 1)) for entry in account.history]
    widths = [max((len(row[k]) for row in rows), default=0) for k in range(3)]
    lines = [f"{account.name}: {account.unit.words}"]
    more = disclosure(account)
    if more is not None:
        lines.append(f"  but {more}")
    for number, subject, price, note in rows:
        padded = f"  {number:>{widths[0]}}  {subject:<{widths[1]}}  {price:<{widths[2]}}  {note}"
        lines.append(padded.rstrip())
    if not rows:
        lines.append("  no releases yet")
    lines += [f"  people     {_people(shared)}" for shared in account.shared_people]
    spent = account.spent
    lines.append(f"  limit      {'none' if account.limit is None else account.limit}")
    lines.append(f"  spent      {'nothing' if spent is None else spent}")
    if account.limit is not None:
        lines.append(f"  remaining  {left(account)}")
    return "\n".join(lines)


def card(account: Account, *, asked: Mapping[str, int] | None = None) -> Card:
    """The account as notebooks show it; see `statement`."""
    rows = [_row(entry, (asked or {}).get(entry.release_id, 1)) for entry in account.history]
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
        for column in published_columns(question):
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
    some = which_records(statistic) if isinstance(statistic, Mapping) else []
    columns, more = shown_subjects(question)
    return " ".join([asked_name(question), *columns, *([f"and {more} more"] if more else []), *some])


def _row(entry: Entry, asked: int) -> tuple[str, str, str, str]:
    trust = trust_words(entry.question)
    notes = [] if trust is None else [f"trust {trust}"]
    if entry.part is not None:
        notes.append(f"part {entry.part}")
    became = state_words(entry.state, entry.statistic, entry.question)
    if became:
        notes.append(became)
    elif asked > 1:
        notes.append(f"asked {asked} times, paid once")
    when = f"{entry.started.astimezone(datetime.UTC):%Y-%m-%d %H:%M} UTC"
    return f"{entry.number}  {when}", subject(entry.question), str(entry.charge), "; ".join(notes)
