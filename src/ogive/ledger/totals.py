"""How often each charge was made to an account, kept beside its spends so that a release need not read all of them.

Two rows of META belong to an account. One holds how many spends have each charge, the other a stamp: a digest of the
first, the revision of the account at which it holds, and a keyed hash of both. A change of an account whose totals are
valid writes the stamp anew. A library that knows no totals advances the revision alone, so that its changes make the
stamp one of an earlier revision. Totals whose stamp is of another revision, or was not made with the ledger's key, are
not used: the spends are counted again. Two copies of a ledger may reach one revision by different changes, so totals
are also compared with the mark, and are not used where they lack a charge that it lists.

The tables stay as they are, and an account that has no totals gets them with its next charge under a limit.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping

from sqlalchemy import Connection, func, select, text

from ogive.ledger.entries import plain_text
from ogive.ledger.schema import META, META_OF, SPENDS

_PUT = text(
    f"INSERT INTO {META.name} (name, value) VALUES (:name, :value) ON CONFLICT (name) DO UPDATE "
    "SET value = excluded.value"
)

_MOST = 1000
"""Different charges of which totals are stored; more would take longer to write than spends to count."""

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
    def stored(
        cls, connection: Connection, kept: Mapping[str, object], number: int, revision: int, key: bytes
    ) -> Totals | None:
        """The totals that are stored of an account, if they are those of its revision.

        Args:
            connection: A transaction.
            kept: The account's rows of META, its stamp among them.
            number: Of the account.
            revision: Its own.
            key: Authenticates totals.
        """
        digest = _stamped(kept, number, revision, key)
        if digest is None:
            return None
        rows = connection.execute(META_OF, {"names": [_totals_name(number)]}).all()
        value = rows[0].value if rows else None
        if not isinstance(value, str) or _digest(value) != digest:
            return None
        return cls({(part, first, now): (spend, times) for part, first, now, spend, times in json.loads(value)})

    def store(self, connection: Connection, number: int, revision: int, key: bytes) -> None:
        """Store them as those of a revision, unless they are of very many charges."""
        if len(self._groups) > _MOST:
            return
        value = plain_text([[*charged, *spends] for charged, spends in self._groups.items()])
        stamp = _stamp(number, _digest(value), revision, key)
        rows = {_totals_name(number): value, stamp_name(number): stamp}
        connection.execute(_PUT, [{"name": name, "value": each} for name, each in rows.items()])

    def lack(self, counted: Mapping[Charged, int]) -> bool:
        """Whether they have fewer spends of some charge than counted elsewhere."""
        return any(self._groups.get(charged, (0, 0))[1] < times for charged, times in counted.items())

    def rows(self) -> list[tuple[int, Charged, int]]:
        """The first spend, the charge and the number of spends, in the order of the first spends."""
        return sorted((spend, charged, times) for charged, (spend, times) in self._groups.items())

    def plus(self, spend: int, charged: Charged) -> Totals:
        """These and one more spend."""
        first, times = self._groups.get(charged, (spend, 0))
        return Totals({**self._groups, charged: (min(first, spend), times + 1)})

    def without(self, spend: int, charged: Charged) -> Totals | None:
        """These without one spend; None unless it is known to be the only one of its charge."""
        if self._groups.get(charged) != (spend, 1):
            return None
        return Totals({each: spends for each, spends in self._groups.items() if each != charged})


def confirm(
    connection: Connection, kept: Mapping[str, object], number: int, before: int, after: int, key: bytes
) -> None:
    """Make the totals of one revision those of a later one, up to which no charge has changed."""
    digest = _stamped(kept, number, before, key)
    if digest is not None:
        connection.execute(_PUT, {"name": stamp_name(number), "value": _stamp(number, digest, after, key)})


def _totals_name(number: int) -> str:
    return f"totals {number}"


def stamp_name(number: int) -> str:
    """The row of META that is the stamp of an account's totals."""
    return f"stamp of totals {number}"


def _digest(value: str) -> str:
    return hashlib.sha256(value.encode()).hexdigest()


def _stamp(number: int, digest: str, revision: int, key: bytes) -> str:
    message = f"ogive ledger totals 1\n{number} {revision} {digest}"
    return f"{digest} {hmac.new(key, message.encode(), hashlib.sha256).hexdigest()}"


def _stamped(kept: Mapping[str, object], number: int, revision: int, key: bytes) -> str | None:
    """The digest of the totals of a revision; None where no valid stamp is of it."""
    found = kept.get(stamp_name(number))
    if not isinstance(found, str):
        return None
    digest = found.partition(" ")[0]
    return digest if hmac.compare_digest(found.encode(), _stamp(number, digest, revision, key).encode()) else None
