"""How often each charge was made to an account, kept beside its spends so that a release need not read all of them.

Two rows of META belong to an account. One holds how many spends have each charge, the other a stamp: a digest of the
first, the revision of the account at which it holds, and a keyed hash of both. Every change of an account by this
library writes the stamp anew. A library that knows no totals advances the revision alone, so that its changes make the
stamp one of an earlier revision. Totals whose stamp is of another revision, or was not made with the ledger's key, are
not used: the spends are counted again.

The tables stay as they are, and a ledger that has no totals gets them with its next spend under a limit.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping

from sqlalchemy import Connection, func, select, text

from ogive.ledger.entries import plain_text
from ogive.ledger.schema import META, SPENDS

_PUT = text(
    f"INSERT INTO {META.name} (name, value) VALUES (:name, :value) ON CONFLICT (name) DO UPDATE "
    "SET value = excluded.value"
)

Charged = tuple[str, str, str]
"""The part, the first charge and the charge of a spend, as the ledger keeps them."""


class Totals:
    """How many spends of one account have each charge.

    Args:
        groups: For each charge the number of its first spend, and how many spends there are.
    """

    def __init__(self, groups: dict[Charged, tuple[int, int]]) -> None:
        self._groups = groups

    @classmethod
    def counted(cls, connection: Connection, number: int, *, but: int = 0) -> Totals:
        """Totals of all spends of an account, which are read for it, but for one."""
        by = (SPENDS.c.part, SPENDS.c.first_charge, SPENDS.c.charge)
        query = select(*by, func.min(SPENDS.c.id), func.count()).where(SPENDS.c.data_set == number).group_by(*by)
        query = query.where(SPENDS.c.id != but) if but else query
        return cls({(part, first, now): (spend, times) for part, first, now, spend, times in connection.execute(query)})

    @classmethod
    def stored(cls, kept: Mapping[str, object], number: int, revision: int, key: bytes) -> Totals | None:
        """The totals that META has of an account, if they are those of its revision.

        Args:
            kept: Rows of META, those that `names` names among them.
            number: Of the account.
            revision: Its own.
            key: Authenticates totals.
        """
        value = kept.get(_totals_name(number))
        if not isinstance(value, str) or _stamped(kept, number, revision, key) != _digest(value):
            return None
        return cls({(part, first, now): (spend, times) for part, first, now, spend, times in json.loads(value)})

    def store(self, connection: Connection, number: int, revision: int, key: bytes) -> None:
        """Store them as those of a revision."""
        value = plain_text([[*charged, *spends] for charged, spends in self._groups.items()])
        stamp = _stamp(number, _digest(value), revision, key)
        rows = {_totals_name(number): value, _stamp_name(number): stamp}
        connection.execute(_PUT, [{"name": name, "value": each} for name, each in rows.items()])

    def rows(self) -> list[tuple[int, Charged, int]]:
        """The first spend, the charge and the number of spends, in the order of the first spends."""
        return sorted((spend, charged, times) for charged, (spend, times) in self._groups.items())

    def plus(self, spend: int, charged: Charged) -> Totals:
        """These and one more spend."""
        first, times = self._groups.get(charged, (spend, 0))
        return Totals({**self._groups, charged: (min(first, spend), times + 1)})

    def without(self, spend: int, charged: Charged) -> Totals | None:
        """These without one spend; None where it is the first of several, since the second is not known."""
        first, times = self._groups.get(charged, (spend, 0))
        if times < 1 or (first == spend and times > 1):
            return None
        rest = {each: spends for each, spends in self._groups.items() if each != charged}
        return Totals(rest if times == 1 else {**rest, charged: (first, times - 1)})


def names(number: int) -> tuple[str, str]:
    """The rows of META that an account's totals are."""
    return _totals_name(number), _stamp_name(number)


def confirm(
    connection: Connection, kept: Mapping[str, object], number: int, before: int, after: int, key: bytes
) -> None:
    """Make the totals of one revision those of a later one, up to which no charge has changed."""
    digest = _stamped(kept, number, before, key)
    if digest is not None:
        connection.execute(_PUT, {"name": _stamp_name(number), "value": _stamp(number, digest, after, key)})


def _totals_name(number: int) -> str:
    return f"totals {number}"


def _stamp_name(number: int) -> str:
    return f"stamp of totals {number}"


def _digest(value: str) -> str:
    return hashlib.sha256(value.encode()).hexdigest()


def _stamp(number: int, digest: str, revision: int, key: bytes) -> str:
    message = f"ogive ledger totals 1\n{number} {revision} {digest}"
    return f"{digest} {hmac.new(key, message.encode(), hashlib.sha256).hexdigest()}"


def _stamped(kept: Mapping[str, object], number: int, revision: int, key: bytes) -> str | None:
    """The digest of the totals of a revision; None where no valid stamp is of it."""
    found = kept.get(_stamp_name(number))
    if not isinstance(found, str):
        return None
    digest = found.partition(" ")[0]
    return digest if hmac.compare_digest(found.encode(), _stamp(number, digest, revision, key).encode()) else None
