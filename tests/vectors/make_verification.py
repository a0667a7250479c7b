"""Uploads and messages of servers that must be refused, each named for its one defect: writes `verification.json`.

    python tests/vectors/make_verification.py

Two servers, one client with four cells, seeds and coins all fixed, so the same bytes come out every time.
"""

import json
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from helpers.verifying import STUDY, check_servers, verifiers

from ogive.crypto import field
from ogive.crypto.field import P
from ogive.crypto.sketch import CellClaim
from ogive.crypto.tables import ShareBatch, ShareShape, share

FILE = Path(__file__).with_name("verification.json")
CLAIM = CellClaim(np.arange(4))
SHAPE = ShareShape(columns=4, squares=1, verifications=1)
HEAD = 52
ROUNDS = ("open", "masks", "results", "accepted")


def counting(size):
    """Bytes that are random to nobody."""
    return bytes(place * 37 % 251 for place in range(size))


def uploaded(columns, *, square=0):
    """What both servers get of a client with these columns, whose square is off by a number."""
    pair = list(share(np.array([columns]).T, shape=SHAPE, servers=2, study=STUDY, random=counting))
    explicit = pair[1].explicit.copy()
    explicit[4] = field.sums(explicit[4], field.encode([square]))
    pair[1] = ShareBatch(SHAPE, STUDY, 1, 2, pair[1].seeds, explicit)
    return [batch.to_bytes() for batch in pair]


def changed(data, place, by=1):
    place %= len(data)
    return data[:place] + bytes([data[place] ^ by]) + data[place + 1 :]


def false_uploads():
    """Uploads that can be read, and of which a verification finds that they are no record's."""
    columns = {
        "two_ones": [1, 0, 1, 0],
        "a_two": [0, 2, 0, 0],
        "minus_one": [0, 0, 0, -1],
        "two_and_minus_one": [2, -1, 0, 0],
        "half_twice": [P // 2 + 1, P // 2 + 1, 0, 0],
        "half_of_the_modulus": [1, P // 2, 0, 0],
        "bit_60": [1, 0, 0, 1 << 60],
    }
    found = {name: uploaded(given) for name, given in columns.items()}
    good = uploaded([0, 1, 0, 0])
    return found | {
        "square_off_by_one": uploaded([0, 1, 0, 0], square=1),
        "seed_of_server_0_changed": [changed(good[0], -1), good[1]],
        "seed_of_server_1_changed": [good[0], changed(good[1], HEAD)],
        "cell_changed": [good[0], changed(good[1], HEAD + 16, 4)],
        "square_changed": [good[0], changed(good[1], -8)],
    }


def bad_batches():
    """Batches of shares that cannot be read, and words of the refusal."""
    good = uploaded([0, 1, 0, 0])[1]
    return {
        "no_bytes": (b"", "ends after 0 bytes"),
        "another_format": (changed(good, 0), "another format"),
        "another_server": (changed(good, 4), "another server"),
        "another_number_of_servers": (changed(good, 5), "another number of servers"),
        "another_number_of_verifications": (changed(good, 6), "another number of verifications"),
        "another_number_of_columns": (changed(good, 8), "another number of columns"),
        "another_number_of_squares": (changed(good, 12), "another number of squares"),
        "another_number_of_products": (changed(good, 14), "another number of products"),
        "one_client_more": (changed(good, 16, 3), "in the middle of a field"),
        "no_client": (changed(good, 16), "too long"),
        "another_study": (changed(good, 20), "another study"),
        "cut_off": (good[:-1], "in the middle of a field"),
        "byte_appended": (good + b"\0", "too long; bytes left over: 1"),
        "element_is_the_modulus": (good[:-8] + P.to_bytes(8, "little"), "not below"),
        "element_of_64_bits": (good[:-8] + b"\xff" * 8, "not below"),
    }


def batches():
    return [
        ShareBatch.from_bytes(data, shape=SHAPE, study=STUDY, server=server, servers=2)
        for server, data in enumerate(uploaded([0, 1, 0, 0]))
    ]


def received():
    """What server 0 receives from server 1 in every round of an honest verification."""
    _, rounds = check_servers(CLAIM, batches())
    return dict(zip(ROUNDS, (sent[1][0] for sent in rounds), strict=True))


def at(turn):
    """Server 0's check when it is the turn of a call, and that call."""
    mine, messages = batches()[0], received()
    check = verifiers([mine])[0].check(CLAIM)
    calls = {name: getattr(check, name) for name in ROUNDS}
    calls["masks"] = lambda given: check.masks(given, mine.project)
    check.commit()
    for name in ROUNDS[: ROUNDS.index(turn)]:
        calls[name]([messages[name]])
    return calls[turn]


def bad_messages(turn):
    """Messages that a call refuses, and words of the refusal."""
    messages = received()
    good, others = messages[turn], [name for name in ROUNDS if name != turn]
    found = {
        "no_bytes": (b"", "ends after 0 bytes"),
        "another_magic": (changed(good, 0), "does not begin as messages of ogive do"),
        "another_version": (changed(good, 4, 3), "is of version 2; this is version 1"),
        "another_protocol": (changed(good, 6, 3), "another protocol"),
        "another_study": (changed(good, 8), "another study"),
        "another_session": (changed(good, 40), "another session"),
        "from_itself": (changed(good, 56), "from number 0, who does not take part"),
        "another_receiver": (changed(good, 60), "another receiver"),
        "another_verification": (changed(good, 64), "another round"),
        "length_too_large": (changed(good, 83, 128), "at most"),
        "cut_off": (good[:-1], "in the middle of a field"),
        "byte_appended": (good + b"\0", "too long; bytes left over: 1"),
        "eight_bytes_fewer": (changed(good[:-8], 76, good[76] ^ (good[76] - 8)), "bytes, not"),
    }
    found |= {f"message_of_{name}": (messages[name], "another type|at most") for name in others}
    if turn == "open":
        found["other_claim"] = (changed(good, 84), "another claim, other uploads")
    if turn == "masks":
        found["other_coins"] = (changed(good, -1), "other coins than it committed to")
    if turn in ("results", "accepted"):
        found["element_is_the_modulus"] = (good[:-8] + P.to_bytes(8, "little"), "not below")
    return found


def vectors():
    """All vectors, by what they are and then by name."""

    def listed(cases):
        return {name: {"message": data.hex(), "refused": words} for name, (data, words) in cases.items()}

    return {
        "uploads": {name: [data.hex() for data in pair] for name, pair in false_uploads().items()},
        "batches": listed(bad_batches()),
        **{turn: listed(bad_messages(turn)) for turn in ROUNDS},
    }


if __name__ == "__main__":
    FILE.write_text(json.dumps(vectors(), indent=1) + "\n")
