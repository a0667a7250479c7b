"""Participants of a secure aggregation whose processes end at any step and go on from what they stored."""

import hashlib
from dataclasses import replace

import numpy as np
import pytest
from helpers.aggregation import Notes, Session, enrolment, settings

from ogive.crypto.aggregation import AggregationParty, AggregationServer, Round
from ogive.errors import DataError, ParameterError, PeerError

SIZES = [(3, {}), (5, {"dropouts": 2, "totals": 2}), (4, {"confirmed": False})]


def seeded(number):
    state = {"count": 0}

    def random(size):
        state["count"] += 1
        return hashlib.shake_256(f"{number} {state['count']}".encode()).digest(size)

    return random


def begun(parties, more, seed=1):
    agreed = settings(parties, length=7, threshold=3 if parties == 5 else None, **more)
    rng = np.random.default_rng(seed)
    vectors = rng.integers(0, 2**64, size=(parties, 7), dtype=np.uint64)
    declared = [(number, 2 * number) for number in range(parties)] if more.get("totals") else None
    randoms = [seeded(number) for number in range(parties)]
    return Session(agreed, vectors, declared=declared, randoms=randoms)


def restored(session, number):
    """A party made anew from its bytes."""
    party = session.parties[number]
    again = AggregationParty.from_bytes(
        party.to_bytes(), session.settings, key=enrolment(number), note=session.notes[number], random=party._random
    )
    assert again.to_bytes() == party.to_bytes()
    return again


def restart(session):
    session.server = AggregationServer.from_bytes(session.server.to_bytes(), session.settings, key=enrolment(0))
    session.parties = {number: restored(session, number) for number in session.parties}


@pytest.mark.parametrize(("parties", "more"), SIZES)
def test_all_may_restart_before_and_after_every_message_and_send_the_same_bytes(parties, more):
    plain, again = begun(parties, more), begun(parties, more)
    for _ in plain.rounds:
        said, repeated = plain.answers(), {}
        for number in again.present():
            restart(again)
            repeated[number] = again.answer(number, again.inbox[number])
            restart(again)
            again.server.receive(repeated[number])
            restart(again)
            with pytest.raises(PeerError):
                again.server.receive(repeated[number])
        assert repeated == said
        for data in said.values():
            plain.server.receive(data)
        plain.close()
        again.close()
        restart(again)
        assert again.inbox == plain.inbox
    assert again.server.sum().tolist() == plain.server.sum().tolist() == plain.plain()
    assert again.server.totals == plain.server.totals
    assert again.server.included == plain.server.included


def test_a_party_that_leaves_and_servers_that_restart_give_the_sum_of_the_others():
    session = begun(5, {"dropouts": 2, "totals": 2})
    session.leaving = {2: Round.INPUT, 4: Round.UNMASK}
    for _ in session.rounds:
        restart(session)
        session.step()
    assert session.server.included == (1, 3, 4, 5)
    assert session.server.sum().tolist() == session.plain()


def test_a_state_from_before_an_answer_cannot_answer_twice():
    session = begun(3, {})
    session.run(until=Round.INPUT)
    old = restored(session, 1)
    session.answer(1, session.inbox[1])
    with pytest.raises(PeerError, match="answered the step input of this session before"):
        old.mask(session.inbox[1], session.vectors[0])
    fresh = AggregationParty.from_bytes(old.to_bytes(), session.settings, key=enrolment(1), note=Notes())
    assert fresh.mask(session.inbox[1], session.vectors[0]), "without its notes it would: they have to outlive it"


@pytest.mark.parametrize("until", [None, *Round])
def test_states_hold_no_secret_longer_than_it_is_needed(until):
    session = begun(3, {})
    own, keys = session.parties[1]._own, session.parties[1]._keys
    session.run(until=until)
    state = session.parties[1].to_bytes()
    reached = 99 if until is None else until
    assert (own.to_bytes(32, "little") in state) == (reached <= Round.INPUT)
    assert all((key.private_bytes_raw() in state) == (reached <= Round.SHARES) for key in keys)


def test_damaged_and_foreign_states_are_refused():
    session = begun(3, {})
    session.run(until=Round.INPUT)
    party, server = session.parties[1].to_bytes(), session.server.to_bytes()
    given = {"key": enrolment(1), "note": Notes()}
    for state, problem in (
        (party[:-1], "damaged"),
        (party[:200] + bytes([party[200] ^ 1]) + party[201:], "damaged"),
        (b"", "is not a state of this version"),
        (b"x" * 500, "is not a state of this version"),
        (server, "another role"),
    ):
        with pytest.raises(DataError, match=problem):
            AggregationParty.from_bytes(state, session.settings, **given)
    with pytest.raises(DataError, match="another aggregation"):
        AggregationParty.from_bytes(party, replace(session.settings, release=b"r" * 32), **given)
    with pytest.raises(DataError, match="another role"):
        AggregationServer.from_bytes(party, session.settings, key=enrolment(0))
    with pytest.raises(ParameterError, match="not the private key of number 1"):
        AggregationParty.from_bytes(party, session.settings, key=enrolment(2), note=Notes())


def test_every_cut_of_a_state_is_refused():
    session = begun(3, {})
    session.run(until=Round.UNMASK)
    for state, read in (
        (
            session.server.to_bytes(),
            lambda data: AggregationServer.from_bytes(data, session.settings, key=enrolment(0)),
        ),
        (
            session.parties[2].to_bytes(),
            lambda data: AggregationParty.from_bytes(data, session.settings, key=enrolment(2), note=Notes()),
        ),
    ):
        assert read(state)
        for length in range(0, len(state), 7):
            with pytest.raises(DataError):
                read(state[:length])
        # a digest that is right over a body that is not: cut, and closed again
        for length in range(90, len(state) - 32, 11):
            body = state[:length]
            with pytest.raises(DataError):
                read(body + hashlib.sha256(body).digest())
