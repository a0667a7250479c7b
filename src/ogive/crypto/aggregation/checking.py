"""What a party checks before it goes on: who takes part, with which keys, and who confirmed what.

Sets of parties are kept as whole numbers, in which the bit of a party's number is 1.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from ogive.crypto.aggregation.mailbox import Mailbox, Round
from ogive.crypto.aggregation.messages import (
    ADVERTISED_BYTES,
    DIGEST_BYTES,
    Advertised,
    Roster,
    included_digest,
    keys_digest,
    opening_session,
)
from ogive.crypto.aggregation.settings import AggregationSettings
from ogive.errors import PeerError


def as_bits(members: Sequence[int]) -> int:
    """A set of parties as bits of a number."""
    flags = np.zeros(max(members, default=0) + 1, np.bool_)
    flags[np.asarray(members, np.int64)] = True
    return int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little")


def check_members(members: Sequence[int], what: str, *, party: int, least: int, among: int) -> None:
    """Check that a list of parties is one that a party goes on with.

    Args:
        members: The list.
        what: Its name, for messages.
        party: Who has to be in it.
        least: How many have to be in it.
        among: Whom it may name, as bits.

    Raises:
        PeerError: it is not.
    """
    if party not in members:
        raise PeerError(f"{what} lacks party {party}, who is asked")
    if len(members) < least:
        raise PeerError(f"{what} has {len(members)} parties, and at least {least} are needed")
    if as_bits(members) & ~among:
        raise PeerError(f"{what} names parties who were not in the one before")


def check_keys(
    roster: Roster,
    *,
    settings: AggregationSettings,
    mailbox: Mailbox,
    party: int,
    sent: bytes,
    neighbours: Collection[int],
) -> dict[int, Advertised]:
    """Check signed keys, and that no two are equal.

    Args:
        roster: Who takes part, with signed keys.
        settings: Of the aggregation.
        mailbox: The party's.
        party: Its number.
        sent: The message with its own keys.
        neighbours: Whose keys it needs.

    Returns:
        The neighbours' keys.

    Raises:
        PeerError: somebody's keys are missing, not signed, not those that all were told of, or used twice.
    """
    if roster.digest_of(party) != keys_digest(sent):
        raise PeerError(f"the list of parties has other keys of party {party} than it sent")
    found: dict[int, Advertised] = {}
    for signed in roster.signed:
        sender, body = mailbox.read_forwarded(
            signed, session=opening_session(settings), round=Round.KEYS, longest=ADVERTISED_BYTES
        )
        if roster.digest_of(sender) != keys_digest(signed):
            raise PeerError(f"the keys of party {sender} are not those in the list of parties")
        found[sender] = Advertised.from_bytes(body)
    if set(found) != {party, *neighbours}:
        raise PeerError(f"the list of parties has not the keys of party {party} and of each neighbour")
    keys = [key for each in found.values() for key in (each.channel, each.mask)]
    if len(set(keys)) != len(keys):
        raise PeerError("two parties sent the same public key, or one sent one for both uses")
    return {peer: found[peer] for peer in neighbours}


def check_confirmed(
    included: tuple[int, ...],
    confirmations: Sequence[bytes],
    *,
    settings: AggregationSettings,
    mailbox: Mailbox,
    session: bytes,
) -> None:
    """Check that enough parties signed the same list of who is in the sum.

    Raises:
        PeerError: one signed another, is not in it, or they are too few.
    """
    expected = included_digest(session, included)
    who = set()
    for signed in confirmations:
        sender, body = mailbox.read_forwarded(signed, session=session, round=Round.CONFIRM, longest=DIGEST_BYTES)
        if body != expected or sender not in included:
            raise PeerError(f"party {sender} confirmed another list of who is in the sum, or is not in it")
        who.add(sender)
    if len(who) < settings.threshold:
        raise PeerError(f"{len(who)} parties confirmed who is in the sum, and {settings.threshold} are needed")
