"""Transfers of random keys: agreement on the chosen side only, and messages of parties that do not follow."""

import random

import pytest
from helpers.dealer import InsecureDealer

from ogive.crypto.domains import HashDomain, number
from ogive.crypto.transfer import BaseTransfers, base_times, hashed, minus, plus, random_scalar
from ogive.errors import ParameterError, PeerError

CHOICES = [0, 1, 1, 0, 1, 0, 0, 1]
IDENTITY = bytes([1]) + bytes(31)
ORDER_2 = (2**255 - 20).to_bytes(32, "little")


@pytest.fixture(params=["base", "dealer"])
def parties(request):
    if request.param == "base":
        return BaseTransfers(), BaseTransfers()
    return InsecureDealer(b"secret"), InsecureDealer(b"secret")


def test_keys_agree_on_the_chosen_side_only(parties):
    sender, receiver = parties[0].sender(b"s", 8), parties[1].receiver(b"s", CHOICES)
    pairs, chosen = sender.keys(receiver.message), receiver.keys(sender.message)
    assert [pair[choice] for pair, choice in zip(pairs, CHOICES, strict=True)] == chosen
    assert len({key for pair in pairs for key in pair}) == 16
    assert {len(key) for key in chosen} == {16}


def test_there_may_be_no_transfers(parties):
    sender, receiver = parties[0].sender(b"s", 0), parties[1].receiver(b"s", [])
    assert (sender.keys(receiver.message), receiver.keys(sender.message)) == ([], [])


def test_a_session_has_other_keys_than_another(parties):
    keys = set()
    for session in (b"one", b"two"):
        sender, receiver = parties[0].sender(session, 2), parties[1].receiver(session, [0, 1])
        keys |= {key for pair in sender.keys(receiver.message) for key in pair}
    assert len(keys) == 8


def test_sides_of_different_sessions_do_not_agree():
    sender, receiver = BaseTransfers().sender(b"one", 8), BaseTransfers().receiver(b"two", CHOICES)
    pairs, chosen = sender.keys(receiver.message), receiver.keys(sender.message)
    assert not set(chosen) & {key for pair in pairs for key in pair}


def test_messages_have_the_stated_sizes_and_all_points_differ():
    sender, receiver = BaseTransfers().sender(b"s", 8), BaseTransfers().receiver(b"s", CHOICES)
    assert (len(sender.message), len(receiver.message)) == (32 * 8, 64 * 8)
    points = sender.message + receiver.message
    assert len({points[at : at + 32] for at in range(0, len(points), 32)}) == 24


def test_the_receivers_own_point_is_that_of_the_formula():
    draws = [bytes([value]) + bytes(63) for value in (3, 9)]
    source = iter(draws)
    receiver = BaseTransfers(lambda _: next(source)).receiver(b"s", [1])
    other = base_times((9).to_bytes(32, "little"))
    mask = hashed(HashDomain.TRANSFER_POINT, b"s", number(0), number(1), other)
    assert receiver.message == other + minus(base_times((3).to_bytes(32, "little")), mask)


@pytest.mark.parametrize("first", ["sender", "receiver"])
@pytest.mark.parametrize("second", ["sender", "receiver"])
def test_a_repeated_session_is_refused(first, second):
    party = BaseTransfers()
    begin = {"sender": lambda s: party.sender(s, 1), "receiver": lambda s: party.receiver(s, [0])}
    begin[first](b"s")
    with pytest.raises(PeerError, match="session was used before"):
        begin[second](b"s")
    begin[second](b"t")


@pytest.mark.parametrize("bad", [IDENTITY, ORDER_2, bytes(32), b"\xff" * 32])
@pytest.mark.parametrize("place", [0, 1, 7])
def test_a_bad_point_anywhere_is_refused(bad, place):
    sender, receiver = BaseTransfers().sender(b"s", 8), BaseTransfers().receiver(b"s", CHOICES)
    for side, message in ((sender, receiver.message), (receiver, sender.message)):
        with pytest.raises(PeerError, match="not one of the subgroup"):
            side.keys(message[: 32 * place] + bad + message[32 * (place + 1) :])


def test_a_point_that_cancels_the_mask_is_refused():
    sender = BaseTransfers().sender(b"s", 1)
    other = base_times(random_scalar())
    mask = hashed(HashDomain.TRANSFER_POINT, b"s", number(0), number(0), other)
    negative = minus(other, plus(other, mask))
    with pytest.raises(PeerError, match="the identity"):
        sender.keys(negative + other)


def test_messages_of_other_lengths_are_refused(parties):
    sender, receiver = parties[0].sender(b"s", 8), parties[1].receiver(b"s", CHOICES)
    for side, message in ((sender, receiver.message), (receiver, sender.message)):
        wrong = [message + b"\0"] + ([message[:-1], b""] if message else [])
        for data in wrong:
            with pytest.raises(PeerError, match=r"too long|in the middle of a field"):
                side.keys(data)


def test_any_bytes_are_read_or_refused():
    rng = random.Random(3)
    sender, receiver = BaseTransfers().sender(b"s", 2), BaseTransfers().receiver(b"s", [0, 1])
    for side, message in ((sender, receiver.message), (receiver, sender.message)):
        read = refused = 0
        for _ in range(60):
            data = bytearray(message)
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
            try:
                read += len(side.keys(bytes(data))) == 2
            except PeerError:
                refused += 1
        assert read + refused == 60
        assert refused > 30


@pytest.mark.parametrize("choice", [2, -1])
def test_a_choice_of_neither_is_refused(choice):
    with pytest.raises(ParameterError, match="choices must be 0 or 1"):
        BaseTransfers().receiver(b"s", [0, 1, choice])
