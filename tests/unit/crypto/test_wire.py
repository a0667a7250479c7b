"""Messages: what was packed is read, and all other bytes are read or refused with one error."""

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ogive.crypto.wire import HEADER_BYTES, Header, Inbox, Reader, Suite, read_message
from ogive.errors import PeerError

HEADER = Header(Suite.AGGREGATION, 3, b"s" * 32, b"n" * 16, 5, 0, 2, 7)
EXPECTED = {"kind": 3, "session": b"n" * 16, "round": 2, "sequence": 7, "longest": 100}


def inbox(**changed):
    return Inbox(**{"suite": 1, "study": b"s" * 32, "receiver": 0, "senders": range(1, 9), **changed})


def test_the_header_is_laid_out_as_specified():
    by_hand = b"OGIV" + bytes([1, 3]) + struct.pack("<H", 1) + b"s" * 32 + b"n" * 16
    by_hand += struct.pack("<III", 5, 0, 2) + struct.pack("<QQ", 7, 2) + b"hi"
    assert HEADER.message(b"hi") == by_hand
    assert HEADER_BYTES == len(by_hand) - 2 == 84


@given(st.binary(max_size=100), st.integers(0, 255), st.integers(0, 2**32 - 1), st.integers(0, 2**64 - 1))
def test_what_was_packed_is_read(body, kind, number, sequence):
    header = Header(2, kind, b"a" * 32, b"b" * 16, number, 1, 4, sequence)
    assert read_message(header.message(body), longest=100) == (header, body)


def test_every_prefix_is_refused():
    whole = HEADER.message(b"body")
    for length in range(len(whole)):
        with pytest.raises(PeerError):
            inbox().read(whole[:length], **EXPECTED)


def test_every_flipped_bit_outside_of_the_body_is_refused_but_who_sends():
    whole = HEADER.message(b"body")
    accepted = set()
    for place in range(8 * HEADER_BYTES):
        changed = bytearray(whole)
        changed[place // 8] ^= 1 << place % 8
        try:
            inbox().read(bytes(changed), **EXPECTED)
            accepted.add(place // 8)
        except PeerError:
            pass
    assert accepted == {56}, "one byte of the sender, among 1..8"
    # the control: a reader that expects no number takes any
    changed = HEADER.message(b"body")[:68] + bytes(8) + HEADER.message(b"body")[76:]
    assert inbox().read(changed, **{**EXPECTED, "sequence": None})[0].sequence == 0


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data):
    for attempt in (data, HEADER.message(b"")[: 84 - len(data)] + data):
        try:
            _, body = read_message(attempt, longest=50)
        except PeerError:
            continue
        assert len(body) <= 50


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"suite": Suite.SKETCH}, "protocol"),
        ({"study": b"t" * 32}, "study"),
        ({"receiver": 1}, "receiver"),
        ({"senders": {4, 6}}, "number 5, who does not take part"),
    ],
)
def test_messages_for_others_are_refused(changed, words):
    with pytest.raises(PeerError, match=words):
        inbox(**changed).read(HEADER.message(b""), **EXPECTED)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"kind": 2}, "type"),
        ({"session": b"m" * 16}, "session"),
        ({"round": 3}, "round"),
        ({"sequence": 6}, "has the sequence number 7, and 6 is expected"),
        ({"longest": 3}, "at most 3"),
    ],
)
def test_messages_of_another_moment_are_refused(changed, words):
    with pytest.raises(PeerError, match=words):
        inbox().read(HEADER.message(b"body"), **{**EXPECTED, **changed})


def test_a_message_is_received_once_and_only_what_was_marked_is_used_up():
    box = inbox()
    for _ in range(2):
        header, _ = box.read(HEADER.message(b"a"), **EXPECTED)
    box.mark(header)
    with pytest.raises(PeerError, match="message 7 of number 5 was received before"):
        box.read(HEADER.message(b"b"), **EXPECTED)
    later = Header(**{**vars(HEADER), "sequence": 8})
    assert box.read(later.message(b"b"), **{**EXPECTED, "sequence": 8}) == (later, b"b")


def test_a_reader_reads_fields_in_order_and_nothing_beyond_the_end():
    reader = Reader(b"ab\x01\x02" + np.arange(2, dtype="<u8").tobytes() + b"z", "list")
    reader.expect(b"ab", "beginning")
    assert reader.number(2) == 513
    assert reader.array(2, "<u8").tolist() == [0, 1]
    with pytest.raises(PeerError, match="left over: 1"):
        reader.finish()
    with pytest.raises(PeerError, match="ends after 21 bytes"):
        reader.number(2)
    assert reader.take(1) == b"z"
    reader.finish()
    again = Reader(memoryview(b"abc"), "list")
    assert again.view(2) == b"ab"
    with pytest.raises(PeerError, match="ends after 3 bytes"):
        again.view(2)
    assert again.take(1) == b"c"
    with pytest.raises(PeerError, match="another beginning"):
        Reader(b"ac", "list").expect(b"ab", "beginning")
    with pytest.raises(PeerError, match="must be bytes, got str"):
        Reader("text", "list")
