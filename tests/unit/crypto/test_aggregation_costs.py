"""What secure aggregation takes: bytes as they are sent, and seconds that grow as the work does."""

import sys
import tracemalloc

import numpy as np
import pytest
from helpers.aggregation import Session, settings

from ogive.crypto.aggregation import choose_neighbours
from ogive.crypto.aggregation.messages import aggregation_cost


def moved_bytes(agreed):
    """What each party sends, and what it receives, in a whole session, by numbers."""
    declared = [(1,) * agreed.totals] * len(agreed.parties)
    session = Session(agreed, np.zeros((len(agreed.parties), agreed.length), np.uint64), declared=declared)
    sent, received = dict.fromkeys(session.parties, 0), dict.fromkeys(session.parties, 0)
    for _ in session.rounds:
        for number, data in session.answers().items():
            sent[number] += len(data)
            received[number] += len(session.inbox[number])
            session.server.receive(data)
        session.close()
    return sent, received


@pytest.mark.parametrize(
    ("parties", "length", "totals", "confirmed"), [(2, 1, 0, True), (5, 100, 1, True), (9, 33, 2, False)]
)
def test_bytes_are_those_that_are_sent_and_received(parties, length, totals, confirmed):
    cost = aggregation_cost(parties, length, totals=totals, confirmed=confirmed)
    sent, received = moved_bytes(settings(parties, length=length, totals=totals, confirmed=confirmed))
    assert set(received.values()) == {cost.bytes_to_party}
    assert set(sent.values()) == {cost.bytes_per_party}
    assert cost.bytes_per_server == sum(sent.values())


def test_bytes_with_neighbours_are_those_that_are_sent_and_received():
    neighbours, threshold = choose_neighbours(60, dropouts=0, colluding=0)
    agreed = settings(60, length=3, confirmed=False, neighbours=neighbours, threshold=threshold)
    cost = aggregation_cost(60, 3, neighbours=neighbours, confirmed=False)
    sent, received = moved_bytes(agreed)
    assert (set(sent.values()), set(received.values())) == ({cost.bytes_per_party}, {cost.bytes_to_party})


def test_what_the_server_sends_grows_with_the_square_of_the_parties():
    few, many = (aggregation_cost(parties, 100, neighbours=40, confirmed=False) for parties in (1000, 10_000))
    assert many.bytes_per_party == few.bytes_per_party
    assert many.bytes_to_party > 5 * few.bytes_to_party


def test_messages_to_all_are_never_held_at_once():
    parties = 150
    neighbours, threshold = choose_neighbours(parties, dropouts=0, colluding=0)
    agreed = settings(parties, confirmed=False, neighbours=neighbours, threshold=threshold)
    session = Session(agreed, np.zeros((parties, 3), np.uint64))
    for data in session.answers().values():
        session.server.receive(data)
    tracemalloc.start()
    try:
        longest = 0
        for number in session.server.close_round():
            longest = max(longest, len(session.server.message(number)))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert longest > 36 * parties
    assert peak < parties * longest / 4
    assert sys.getsizeof(session.parties[1]._members) < 2 * parties, "a party keeps a bit for each other"


def test_seconds_grow_with_pairs_numbers_and_those_who_leave():
    few = aggregation_cost(10, 1000).seconds
    assert aggregation_cost(100, 1000).seconds > 8 * few
    assert aggregation_cost(10, 10**7).seconds == pytest.approx(10 * aggregation_cost(10, 10**6).seconds, rel=0.1)
    assert aggregation_cost(10, 10**6, dropouts=3).seconds > 1.2 * aggregation_cost(10, 10**6).seconds


def test_seconds_are_near_those_of_the_benchmarks():
    # of one machine with two cores; the predicted time is that of the server, who has most to do
    for parties, length, measured in ((10, 1 << 10, 0.011), (30, 1 << 12, 0.038), (100, 1 << 15, 0.226)):
        assert aggregation_cost(parties, length).seconds == pytest.approx(measured, rel=0.35)
