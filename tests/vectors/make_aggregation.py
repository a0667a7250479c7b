"""Messages of a secure aggregation that must be refused, each named for its one defect: writes `aggregation.json`.

    python tests/vectors/make_aggregation.py

Three parties, two numbers each, two totals, keys and random bytes all fixed, so the same bytes come out every time.
"""

import hashlib
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from helpers.aggregation import Session, enrolment, settings

from ogive.crypto.aggregation import Round
from ogive.crypto.aggregation.messages import (
    Advertised,
    Mailbox,
    Roster,
    included_digest,
    keys_digest,
    opening_session,
    write_confirmations,
    write_list,
)
from ogive.crypto.wire import HEADER_BYTES, SIGNATURE_BYTES

FILE = Path(__file__).with_suffix("").with_name("aggregation.json")
AGREED = settings(3, length=2, totals=2)
VECTORS = [[1, 2**64 - 1], [5, 1], [7, 2]]
DECLARED = [(10, 1), (20, 2), (30, 3)]


def fixed(number):
    """Bytes that are random to nobody."""
    count = 0

    def random(size):
        nonlocal count
        count += 1
        return hashlib.shake_256(f"party {number}, draw {count}".encode()).digest(size)

    return random


def session_at(step, agreed=AGREED):
    """The session of three parties at the beginning of a step."""
    session = Session(agreed, VECTORS, declared=DECLARED, randoms=[fixed(number) for number in (1, 2, 3)])
    session.run(until=step)
    return session


def body_of(message):
    return message[HEADER_BYTES:-SIGNATURE_BYTES]


def current(session):
    """The session's 16 bytes."""
    return session.server._session


def from_server(body, step, *, session, to=1, agreed=AGREED):
    return Mailbox(agreed, 0, enrolment(0)).write(body, receiver=to, session=session, round=step)


def from_party(number, body, step, *, session, to=0, agreed=AGREED):
    return Mailbox(agreed, number, enrolment(number)).write(body, receiver=to, session=session, round=step)


def changed(data, place, by=1):
    place %= len(data)
    return data[:place] + bytes([data[place] ^ by]) + data[place + 1 :]


def shifted(message, by):
    length = int.from_bytes(message[76:HEADER_BYTES], "little") + by
    return message[:76] + length.to_bytes(8, "little") + message[HEADER_BYTES:]


def header_defects(message):
    """Defects that any message may have, and words of the refusal; headers are read before signatures."""
    return {
        "no_bytes": (b"", "at least 148 bytes"),
        "another_magic": (changed(message, 0), "does not begin as messages of ogive do"),
        "another_version": (changed(message, 4, 3), "is of version 2; this is version 1"),
        "another_type": (changed(message, 5, 3), "another type"),
        "another_protocol": (changed(message, 6, 3), "another protocol"),
        "another_study": (changed(message, 8), "another study"),
        "another_session": (changed(message, 40), "another session"),
        "another_receiver": (changed(message, 60, 8), "another receiver"),
        "another_round": (changed(message, 64, 8), "another round"),
        "another_sequence_number": (changed(message, 68, 8), "sequence number"),
        "length_too_large": (changed(message, 83, 128), "at most"),
        "length_one_more": (shifted(message, 1), "ends after|at most"),
        "length_one_less": (shifted(message, -1), "too long; bytes left over: 1"),
        "body_changed": (changed(message, HEADER_BYTES), "is not signed by number"),
        "signature_changed": (changed(message, -1, 64), "is not signed by number"),
        "signature_missing": (message[:-SIGNATURE_BYTES], "ends after|left over|at least 148|not signed"),
        "byte_appended": (message + b"\0", "too long; bytes left over: 1"),
    }


def keys_defects():
    session = session_at(Round.KEYS)
    good = session.answers()[1]
    opened = opening_session(AGREED)
    again = {"session": opened}
    yield (
        "server",
        Round.KEYS,
        {
            **header_defects(good),
            "from_nobody": (changed(good, 56, 4), "from number 5, who does not take part"),
            "from_another_party": (changed(good, 56, 3), "is not signed by number 2"),
            "signed_by_another_party": (good[:-64] + enrolment(2).sign(good[:-64]), "is not signed by number 1"),
            "keys_cut_off": (from_party(1, body_of(good)[:-1], Round.KEYS, **again), "in the middle of a field"),
        },
    )


def roster_defects():
    session = session_at(Round.SHARES)
    good = session.inbox[1]
    opened = opening_session(AGREED)
    roster = Roster.from_bytes(body_of(good), AGREED)
    digests = tuple(roster.digest_of(member) for member in roster.members)

    def listed(signed):
        return from_server(
            Roster.of((1, 2, 3), tuple(map(keys_digest, signed)), signed).to_bytes(), Round.SHARES, session=opened
        )

    def second(**fields):
        keys = {**vars(Advertised.from_bytes(body_of(roster.signed[1]))), **fields}
        forged = from_party(2, Advertised(**keys).to_bytes(), Round.KEYS, session=opened)
        return listed((roster.signed[0], forged, roster.signed[2]))

    first, third = (Advertised.from_bytes(body_of(roster.signed[place])) for place in (0, 2))
    low_order = bytes.fromhex("e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800")

    def sent(members, digests, signed):
        return from_server(Roster.of(members, digests, signed).to_bytes(), Round.SHARES, session=opened)

    strange = from_party(1, Advertised(*[bytes(16)] + [bytes([each]) * 32 for each in (1, 2, 3, 4)]).to_bytes(),
                         Round.KEYS, session=opened)  # fmt: skip
    other, everyone = settings(3, length=2, totals=1), (1, 2, 3)
    yield "party", Round.SHARES, {
        "without_the_party": (sent((2, 3), digests[1:], roster.signed[1:]), "lacks party 1"),
        "too_few_parties": (sent((1, 2), digests[:2], roster.signed[:2]), "has 2 parties, and at least 3"),
        "not_ascending": (sent((1, 3, 2), digests, roster.signed), "must be ascending"),
        "a_party_twice": (sent((1, 2, 2), digests, roster.signed), "must be ascending"),
        "a_party_that_does_not_exist": (sent((1, 2, 4), digests, roster.signed), "numbers from 1 to 3"),
        "party_number_zero": (sent((0, 1, 2), digests, roster.signed), "numbers from 1 to 3"),
        "keys_missing": (sent((1, 2, 3), digests, roster.signed[:2]), "has not the keys"),
        "keys_twice": (sent(everyone, digests, (*roster.signed[:2], roster.signed[1])), "has not the keys"),
        "too_many_keys": (from_server(changed(body_of(good), 112, 7), Round.SHARES, session=opened), "names 4"),
        "keys_of_another_digest": (sent(everyone, (*digests[:2], bytes(32)), roster.signed), "not those in the"),
        "own_keys_replaced": (listed((strange, *roster.signed[1:])), "other keys of party 1 than it sent"),
        "keys_not_signed": (
            listed((*roster.signed[:2], changed(roster.signed[2], -1, 64))), "is not signed by number 3",
        ),
        "keys_of_another_study": (
            listed((*roster.signed[:2], from_party(3, third.to_bytes(), Round.KEYS, session=opened, agreed=other))),
            "another study",
        ),
        "mask_key_of_party_1_again": (second(mask=first.mask), "the same public key"),
        "channel_key_of_party_3_as_mask_key": (second(mask=third.channel), "the same public key"),
        "one_key_for_both_uses": (second(mask=b"\5" * 32, channel=b"\5" * 32), "one sent one for both uses"),
        "channel_key_zero": (second(channel=bytes(32)), "party 2 sent a key with which no secret can be agreed on"),
        "mask_key_of_low_order": (second(mask=low_order), "party 2 sent a key with which no secret can be agreed on"),
        "signed_by_a_party": (
            good[:-64] + enrolment(2).sign(good[:-64]), "is not signed by number 0",
        ),
    }  # fmt: skip


def shares_defects():
    session = session_at(Round.SHARES)
    good = session.answers()[1]
    now = {"session": current(session)}
    body = body_of(good)
    yield "server", Round.SHARES, {
        "one_share_missing": (from_party(1, body[:92], Round.SHARES, **now), "another number of parties"),
        "one_byte_missing": (from_party(1, body[:-1], Round.SHARES, **now), "another number of parties"),
        "message_of_round_0": (session_at(Round.KEYS).answers()[1], "another session"),
        "session_of_round_0": (
            from_party(1, body, Round.SHARES, session=opening_session(AGREED)), "another session",
        ),
    }  # fmt: skip
    session = session_at(Round.INPUT)
    good = session.inbox[1]
    body, now = body_of(good), {"session": current(session)}
    listed, sealed = body[:16], body[16:]
    other = session.inbox[2]
    yield (
        "party",
        Round.INPUT,
        {
            "without_the_party": (from_server(write_list((2, 3)) + sealed, Round.INPUT, **now), "lacks party 1"),
            "too_few_parties": (from_server(write_list((1, 2)) + sealed[:92], Round.INPUT, **now), "has 2 parties"),
            "list_cut_off": (from_server(body[:10], Round.INPUT, **now), "in the middle of a field"),
            "share_missing": (from_server(listed + sealed[:92], Round.INPUT, **now), "in the middle of a field"),
            "share_too_many": (from_server(listed + sealed + sealed[:92], Round.INPUT, **now), "at most"),
            "shares_exchanged": (
                from_server(listed + sealed[92:] + sealed[:92], Round.INPUT, **now),
                "from party 2 were changed",
            ),
            "share_changed": (
                from_server(changed(body, 120), Round.INPUT, **now),
                "the shares from party 3 were changed",
            ),
            "nonce_changed": (
                from_server(changed(body, 17), Round.INPUT, **now),
                "the shares from party 2 were changed",
            ),
            "shares_of_party_2": (
                from_server(body_of(other), Round.INPUT, **now),
                "were changed, or are not for party 1",
            ),
            "message_for_party_2": (other, "another receiver than expected: 2, not 1"),
            "roster_again": (session_at(Round.SHARES).inbox[1], "at most"),
        },
    )


def input_defects():
    session = session_at(Round.INPUT)
    good = session.answers()[1]
    body, now = body_of(good), {"session": current(session)}
    yield (
        "server",
        Round.INPUT,
        {
            "vector_too_short": (from_party(1, body[:-8], Round.INPUT, **now), "in the middle of a field"),
            "vector_too_long": (from_party(1, body + bytes(8), Round.INPUT, **now), "at most"),
            "totals_missing": (from_party(1, body[48:], Round.INPUT, **now), "in the middle of a field"),
            "total_not_as_declared": (from_party(1, changed(body, 32), Round.INPUT, **now), "opens other totals"),
            "salt_not_as_declared": (from_party(1, changed(body, 0), Round.INPUT, **now), "opens other totals"),
            "vector_of_party_2": (
                from_party(1, body_of(session_at(Round.INPUT).answers()[2]), Round.INPUT, **now),
                "opens other",
            ),
        },
    )


def confirm_defects():
    session = session_at(Round.CONFIRM)
    asked, now = session.inbox[1], {"session": current(session)}
    lists = {
        "without_the_party": ((2, 3), "lacks party 1"),
        "too_few_parties": ((1, 2), "has 2 parties, and at least 3 are needed"),
        "not_ascending": ((1, 3, 2), "must be ascending"),
    }
    yield (
        "party",
        Round.CONFIRM,
        {
            **header_defects(asked),
            **{
                name: (from_server(write_list(who), Round.CONFIRM, **now), words)
                for name, (who, words) in lists.items()
            },
            "list_too_long": (from_server(body_of(asked) + bytes(4), Round.CONFIRM, **now), "at most"),
            "list_empty": (from_server(write_list(()), Round.CONFIRM, **now), "lacks party 1"),
            "request_for_shares": (session_at(Round.UNMASK).inbox[1], "at most|another round"),
        },
    )
    good = session.answers()[1]
    yield "server", Round.CONFIRM, {
        "another_list": (
            from_party(1, included_digest(current(session), (1, 2)), Round.CONFIRM, **now), "confirmed another list",
        ),
        "another_session_in_it": (
            from_party(1, included_digest(bytes(16), (1, 2, 3)), Round.CONFIRM, **now), "confirmed another list",
        ),
        "digest_too_short": (from_party(1, body_of(good)[:-1], Round.CONFIRM, **now), "another list"),
    }  # fmt: skip


def unmask_defects():
    session = session_at(Round.UNMASK)
    good, now = session.inbox[1], {"session": current(session)}
    body = body_of(good)
    signed = [body[20 + 180 * place : 200 + 180 * place] for place in range(3)]

    def ask(who, confirmations):
        return from_server(write_list(who) + write_confirmations(confirmations), Round.UNMASK, **now)

    lie = from_party(2, included_digest(current(session), (1, 2)), Round.CONFIRM, **now)
    yield (
        "party",
        Round.UNMASK,
        {
            "without_the_party": (ask((2, 3), signed), "lacks party 1"),
            "too_few_parties": (ask((1, 2), signed), "has 2 parties"),
            "nobody_confirmed": (ask((1, 2, 3), []), "0 parties confirmed who is in the sum, and 2 are needed"),
            "too_few_confirmed": (
                ask((1, 2, 3), signed[:1]),
                "1 parties confirmed who is in the sum, and 2 are needed",
            ),
            "one_confirmed_twice": (ask((1, 2, 3), [signed[1]] * 2), "1 parties confirmed"),
            "another_list_confirmed": (ask((1, 2, 3), [signed[0], lie]), "party 2 confirmed another list"),
            "confirmation_not_signed": (
                ask((1, 2, 3), [signed[0], changed(signed[1], 179, 64)]),
                "is not signed by number 2",
            ),
            "more_confirmations_than_parties": (ask((1, 2, 3), [*signed, signed[0]]), "at most|names 4 parties"),
            "confirmations_cut_off": (from_server(body[:-1], Round.UNMASK, **now), "in the middle of a field"),
        },
    )
    sent = session.answers()[1]
    body = body_of(sent)
    yield (
        "server",
        Round.UNMASK,
        {
            "share_missing": (from_party(1, body[:64], Round.UNMASK, **now), "in the middle of a field"),
            "share_too_many": (from_party(1, body + bytes(32), Round.UNMASK, **now), "at most"),
            "share_not_below_the_prime": (
                from_party(1, b"\xff" * 32 + body[32:], Round.UNMASK, **now),
                "not below the prime",
            ),
        },
    )


def vectors():
    """All of them: name -> who is to refuse it, at which step, with which words, and the message."""
    found = {}
    for defects in (keys_defects, roster_defects, shares_defects, input_defects, confirm_defects, unmask_defects):
        for who, step, named in defects():
            for name, (data, words) in named.items():
                found[f"{who}_{step.name.lower()}_{name}"] = {
                    "to": who, "step": step.name.lower(), "refused": words, "message": data.hex(),
                }  # fmt: skip
    return found


if __name__ == "__main__":
    FILE.write_text(json.dumps(vectors(), indent=1) + "\n")
