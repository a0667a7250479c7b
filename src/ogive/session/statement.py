"""An account as its owner reads it: what was bought, when, at what price, and what is left."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ogive.errors import quoted
from ogive.statistics.asked import GOES_ON, asked_name, subjects, trust_words

if TYPE_CHECKING:
    from ogive.ledger import Account, Entry
    from ogive.ledger.entries import Shared


def statement(account: Account, *, asked: Mapping[str, int] | None = None) -> str:
    """The account like a bank statement: its unit, a line for each spend, the limit and what is left.

    Args:
        account: Whose.
        asked: How often each release was asked for, by its id, where that is known.
    """
    rows = [_row(entry, (asked or {}).get(entry.release_id, 1)) for entry in account.history]
    widths = [max((len(row[k]) for row in rows), default=0) for k in range(3)]
    lines = [f"{account.name}: {account.unit.words}"]
    for number, subject, price, note in rows:
        padded = f"  {number:>{widths[0]}}  {subject:<{widths[1]}}  {price:<{widths[2]}}  {note}"
        lines.append(padded.rstrip())
    if not rows:
        lines.append("  nothing was released yet")
    lines += [f"  people     {_people(shared)}" for shared in account.shared_people]
    spent = account.spent
    lines.append(f"  limit      {'none' if account.limit is None else account.limit}")
    lines.append(f"  spent      {'nothing' if spent is None else spent}")
    if account.limit is not None:
        lines.append(f"  remaining  {left(account)}")
    return "\n".join(lines)


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
        return f"declared to be others than those with the same ids in {where}; if they are not, losses in both add up"
    return f"many have the same ids as in {where}; where they are the same people, losses in both add up"


def subject(question: Mapping[str, Any]) -> str:
    """What a question asks for, in short: the statistic and its columns."""
    return " ".join([asked_name(question), *subjects(question)])


def _row(entry: Entry, asked: int) -> tuple[str, str, str, str]:
    trust = trust_words(entry.question)
    notes = [] if trust is None else [f"trust {trust}"]
    if entry.part is not None:
        notes.append(f"part {entry.part}")
    if entry.state == "reserved" and entry.statistic in GOES_ON:
        notes.append("goes on: what follows costs no more")
    elif entry.state == "reserved":
        notes.append("not finished: ask again, which costs no more")
    elif entry.state == "lost":
        notes.append("lost with its answer when an older copy of the ledger was put back")
    elif asked > 1:
        notes.append(f"asked {asked} times, paid once")
    when = f"{entry.started.astimezone(datetime.UTC):%Y-%m-%d %H:%M} UTC"
    return f"{entry.number}  {when}", subject(entry.question), str(entry.charge), "; ".join(notes)
