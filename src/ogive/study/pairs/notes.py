"""What a person gave, noted for good beside its ledger; the ledger counts the notes, so that older ones are found out.

Notes that were put back from a backup lack some, and would let a person give more halves than it paid for. Each note
takes the next number in the ledger, with a random value, and no number is taken twice. Notes that are found to be older
lose what the ledger knows them by, so that trying again changes nothing.
"""

from __future__ import annotations

import os

from ogive.errors import PeerError, ReleaseMismatchError, plain
from ogive.ledger import Reservation
from ogive.study.store import Kept, Store

_IDENTITY, _COUNT = "identity", "count"
_VALUE_BYTES, _COUNT_BYTES = 16, 8
_IDENTITY_NUMBER = 1


class Notes:
    """The notes of one person in one study.

    Args:
        store: Holds them.
        paid: The person's charge in its ledger.

    Raises:
        PeerError: they are not those that belong to the ledger, or older ones.
        LedgerError: they cannot be written.
    """

    def __init__(self, store: Store, paid: Reservation) -> None:
        self._store = store
        self._paid = paid
        fresh = os.urandom(_VALUE_BYTES)
        with store.write() as kept:
            self._identity = kept.put_new(_IDENTITY, fresh) or fresh
            count = _counted(kept)
        self._bind(_IDENTITY_NUMBER, self._identity)
        self._bind(_IDENTITY_NUMBER + count, os.urandom(_VALUE_BYTES))  # before anybody is met

    def note(self, token: bytes, value: bytes) -> bytes | None:
        """Note a value for good unless the token has one, and say which it had; None for none.

        Raises:
            PeerError: the notes are older ones; nothing may be given.
            LedgerError: it cannot be written.
        """
        with self._store.write() as kept:
            if kept.get(_IDENTITY) != self._identity:
                raise self._others()
            earlier = kept.put_new(f"note/{token.hex()}", value)
            count = 0 if earlier is not None else _counted(kept)
        if earlier is None:
            self._bind(_IDENTITY_NUMBER + count, os.urandom(_VALUE_BYTES))
        return earlier

    def _bind(self, number: int, value: bytes) -> None:
        try:
            self._paid.bind(number, value)
        except ReleaseMismatchError:
            with self._store.write() as kept:
                kept.drop_one(_IDENTITY)
            raise self._others() from None

    def _others(self) -> PeerError:
        return PeerError(
            f"the notes {plain(self._store.words)} are not those that belong to this ledger, or older ones, so what "
            "was given is not known; this person takes part no more"
        )


def _counted(kept: Kept) -> int:
    """The number of the next note."""
    count = int.from_bytes(kept.get(_COUNT) or b"", "little") + 1
    kept.put(_COUNT, count.to_bytes(_COUNT_BYTES, "little"))
    return count
