"""Comparing a ledger with its mark, and going on with an older copy: what it lost counts as spent."""

from __future__ import annotations

import hashlib
import secrets

from sqlalchemy import Connection, delete, insert, select, update

from ogive.accounting import at_least
from ogive.errors import quoted
from ogive.ledger.books import Books
from ogive.ledger.entries import (
    LOST,
    DataSet,
    now,
    plain_text,
    question_digest,
    read_charge,
    read_data_set,
    read_spend,
)
from ogive.ledger.mark import Line, Mark, Noted
from ogive.ledger.marked import Change, revision_name
from ogive.ledger.schema import DATA_SETS, META, SPENDS

IDENTITY, LATE_IDENTITY = "ledger", "mark"
"""Names in META of a ledger's identity: of one that was made with it, and of one that got it with its mark."""


def identity_of(connection: Connection, kept: dict[str, str], mark: Mark) -> str:
    """Which ledger this is.

    One of an older version has no identity. It gets one from its first account. Before it has any, it is taken for an
    older copy of such a ledger, if the mark knows one.

    Args:
        connection: Of the ledger.
        kept: What META has.
        mark: Of its key file.
    """
    named = kept.get(IDENTITY) or kept.get(LATE_IDENTITY)
    if named:
        return named
    query = select(DATA_SETS.c.name, DATA_SETS.c.created).order_by(DATA_SETS.c.id).limit(1)
    first = connection.execute(query).one_or_none()
    if first is not None:
        text = plain_text([kept.get("key_check", ""), first.name, first.created])
        return hashlib.sha256(text.encode()).hexdigest()[:32]
    return next(iter(mark.unnamed), secrets.token_hex(16))


def check_newest(books: Books, connection: Connection) -> None:
    """Refuse a ledger that lacks what the mark had before this transaction.

    Raises:
        LedgerError: the ledger is an older copy.
    """
    assert books.mark is not None
    rows = {row.name: row for row in map(read_data_set, connection.execute(select(DATA_SETS)))}
    for name, noted in books.mark.accounts(books.identity).items():
        if name not in rows or books.lacks(connection, rows[name].id, noted, anew=True):
            raise books.behind()


def unnoted(books: Books, connection: Connection) -> list[Line]:
    """What the mark lacks of a whole ledger: changes of other machines, of who was killed, and of older libraries."""
    assert books.mark is not None
    accounts = books.mark.accounts(books.identity)
    changes: dict[int, Change] = {}
    for row in map(read_data_set, list(connection.execute(select(DATA_SETS)))):
        revision = books.revision(connection, row.id)
        # also where the revision is known: older libraries spend and count none
        changes[row.id] = books.unnoted(connection, row, accounts.get(row.name, Noted()), revision)
    return books.lines(connection, changes)


def write_off(books: Books, connection: Connection) -> tuple[list[str], list[Line]]:
    """Charge as spent what the mark lists and an older copy of the ledger lacks.

    Releases in progress are closed, because their noise may have met the records that were bound later. Limits and
    fingerprints become what they were last.

    Returns:
        A sentence for each account that was behind, and lines for the mark, to be noted once this is committed.
    """
    assert books.mark is not None
    said, lines = [], []
    for name, noted in sorted(books.mark.accounts(books.identity).items()):
        query = select(DATA_SETS).where(DATA_SETS.c.name == name)
        row = connection.execute(query.with_for_update()).one_or_none()
        if row is not None and not books.lacks(connection, read_data_set(row).id, noted, anew=True):
            continue
        if row is None:
            values = {**noted.settings, "name": name, "created": now()}
            connection.execute(insert(DATA_SETS).values(**values))
            row = connection.execute(query).one()
        sentence, line = _write_off(books, connection, read_data_set(row), noted)
        said.append(sentence)
        lines += [line] if line.spends else []
    return said, lines


def _write_off(books: Books, connection: Connection, row: DataSet, noted: Noted) -> tuple[str, Line]:
    rows = connection.execute(select(SPENDS).where(SPENDS.c.data_set == row.id))
    known = {spend.release_id: spend for spend in map(read_spend, rows)}
    revision = books.revision(connection, row.id)
    if noted.settled > revision:
        last = {"spend_limit": noted.settings["spend_limit"], "fingerprints": noted.settings["fingerprints"]}
        connection.execute(update(DATA_SETS).where(DATA_SETS.c.id == row.id).values(**last))
    for begun in known.values():
        if begun.secret is not None:
            # under a question that nobody asks, so that asking again is paid anew
            asked = plain_text({**begun.question, "lost": begun.release_id})
            closed = {"state": LOST, "secret": None, "bound": None, "question": asked, "digest": question_digest(asked)}
            connection.execute(update(SPENDS).where(SPENDS.c.id == begun.id).values(**closed))
    lost = {}
    for release_id, spend in noted.spends.items():
        if release_id not in known:
            _book(connection, row.id, release_id, spend)
        elif not at_least(known[release_id].charge, read_charge(spend["charge"])):
            changed = update(SPENDS).where(SPENDS.c.release_id == release_id).values(charge=spend["charge"])
            connection.execute(changed)
        else:
            continue
        lost[release_id] = spend
    connection.execute(delete(META).where(META.c.name == revision_name(row.id)))
    ahead = max(revision, noted.revision) + 1
    connection.execute(insert(META).values(name=revision_name(row.id), value=str(ahead)))
    words = {0: "no spend was lost", 1: "1 lost spend counts as spent"}
    sentence = f"{quoted(row.name)}: {words.get(len(lost), f'{len(lost)} lost spends count as spent')}"
    # so that a copy from before this restoration is older than what the mark lists last
    return sentence, Line(row.name, ahead, spends=lost)


def _book(connection: Connection, number: int, release_id: str, spend: dict[str, str]) -> None:
    """Enter a lost spend in the ledger, with a placeholder for its question, which is not known."""
    question = plain_text({"statistic": {"name": spend["statistic"]}, "lost": release_id})
    values = {**spend, "data_set": number, "release_id": release_id, "question": question, "state": LOST}
    values["digest"] = question_digest(question)
    connection.execute(insert(SPENDS).values(**values))
