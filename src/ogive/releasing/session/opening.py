"""What a session works out before it can spend: the data set's name, its unit, and the account that pays."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ogive.errors import ParameterError, plain, quoted
from ogive.ledger import Account, Ledger
from ogive.ledger.database import Database
from ogive.ledger.ledger import check_not_lost
from ogive.ledger.opening import Hasher
from ogive.privacy import (
    Adjacency,
    ApproxDP,
    Privacy,
    PrivacyUnit,
    PureDP,
    ZeroConcentratedDP,
    check_adjacency,
    check_columns,
)
from ogive.records.engines.opening import address_of, is_address

if TYPE_CHECKING:
    from ogive.records import Records
    from ogive.trust import TrustModel

_HOW_MUCH = "the limit of the account, for example `limit=PureDP(3)`"

IN_MEMORY = "data"
"""Name of data that have none, in a ledger that lasts as long as the session."""

SUFFIXES = (".gz", ".csv", ".tsv", ".txt", ".parquet", ".arrow", ".feather", ".ipc", ".npy", ".npz")


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
    """The file of a ledger that is kept in one.

    Raises:
        ParameterError: place is no path or URL of a ledger.
        LedgerError: the database's driver is missing.
    """
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
