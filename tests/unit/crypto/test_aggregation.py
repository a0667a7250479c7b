"""Secure aggregation when everybody follows it: the sum is right whoever leaves, or there is none."""

import copy
from itertools import combinations

import numpy as np
import pytest
from helpers.aggregation import (
    RELEASE,
    STUDY,
    Notes,
    Session,
    enrolment,
    public,
    settings,
    stored,
    stored_server,
)
from helpers.scope import size

from ogive.crypto.aggregation import (
    AggregationParty,
    AggregationServer,
    AggregationSettings,
    Round,
    choose_neighbours,
    least_threshold,
)
from ogive.crypto.aggregation.messages import totals_commitment
from ogive.errors import ParameterError, PeerError

RNG = np.random.default_rng(61)
PARTIES = tuple(map(public, range(1, 6)))


def vectors(parties, length=3):
    return RNG.integers(0, 2**64, size=(parties, length), dtype=np.uint64)


def expected(leaving, least, threshold, rounds, parties=5):
    """The round at which a session ends for want of answers, or None."""
    for each in rounds:
        staying = sum(leaving.get(number, 99) > each for number in range(1, parties + 1))
        if staying < (least if each < Round.CONFIRM else threshold):
            return each
    return None


def of_five(confirmed):
    return Session(settings(5, dropouts=2, confirmed=confirmed, threshold=3), vectors(5))


def with_leaving(session, leaving):
    """A session that goes on from the same round by itself, and which others leave."""
    made = copy.copy(session)
    made.leaving = leaving
    made.server = stored_server(session.server)
    made.notes = copy.deepcopy(session.notes)
    made.parties = {number: stored(party) for number, party in session.parties.items()}
    for number, party in made.parties.items():
        party._note, party._held = made.notes[number], dict(party._held)
    return made


def check_outcome(session):
    leaving = session.leaving
    end = expected(leaving, 3, 3, session.rounds)
    if end is None:
        assert session.run().tolist() == session.plain()
        assert set(session.server.included) == {u for u in range(1, 6) if leaving.get(u, 99) > Round.INPUT}
        return True
    with pytest.raises(PeerError, match=f"answered the step {end.name.lower()}, and at least 3 are needed"):
        session.run()
    assert session.round is end
    with pytest.raises(PeerError, match="not open"):
        session.server.sum()
    return False


@pytest.mark.parametrize("round", Round, ids=lambda each: each.name.lower())
def test_every_subset_of_five_may_leave_at_every_round(round):
    before = of_five(confirmed=True)
    before.run(until=round)
    outcomes = [
        check_outcome(with_leaving(before, dict.fromkeys(some, round)))
        for count in range(6)
        for some in combinations(range(1, 6), count)
    ]
    assert sum(outcomes) == 1 + 5 + 10, "up to two may leave"


@pytest.mark.parametrize("confirmed", [True, False])
def test_parties_may_leave_at_different_rounds(confirmed):
    rounds = [each for each in Round if confirmed or each is not Round.CONFIRM]
    outcomes = set()
    for _ in range(size(60, part=30)):
        leaving = {number: rounds[int(RNG.integers(len(rounds)))] for number in range(1, 6) if RNG.random() < 0.45}
        outcomes.add(check_outcome(with_leaving(of_five(confirmed), leaving)))
    assert outcomes == {True, False}


@pytest.mark.parametrize("parties", [2, 3, 4, 9])
def test_the_sum_wraps_as_whole_numbers_modulo_2_to_the_64(parties):
    high = np.full((parties, 4), 2**64 - 1, dtype=np.uint64)
    high[:, 1], high[:, 2], high[0, 3] = 2**63, 0, 5
    session = Session(settings(parties, length=4), high)
    assert session.run().tolist() == [
        2**64 - parties, (parties * 2**63) % 2**64, 0, (5 - (parties - 1)) % 2**64,
    ]  # fmt: skip
    assert session.server.included == tuple(range(1, parties + 1))


def test_what_the_server_receives_looks_nothing_like_the_vectors():
    agreed = settings(3, length=4096)
    session = Session(agreed, np.zeros((3, 4096), np.uint64))
    session.run(until=Round.INPUT)
    sent = session.answers()
    for data in sent.values():
        ones = np.unpackbits(np.frombuffer(data[84:-64], np.uint8)).sum()
        # 2^18 fair bits: mean 131072, standard deviation 256; six of them either way, chance 2e-9
        assert abs(int(ones) - 131072) < 6 * 256


def test_no_two_sessions_have_the_same_masks():
    agreed, same = settings(2), np.zeros((2, 3), np.uint64)
    sent = []
    for _ in range(2):
        session = Session(agreed, same)
        session.run(until=Round.INPUT)
        sent += [data[84:-64] for data in session.answers().values()]
    assert len(set(sent)) == 4


def test_declared_totals_are_opened_with_the_vector_and_added_up_of_those_in_the_sum():
    agreed = settings(4, dropouts=1, totals=2)
    declared = [(10, 0), (20, 2**40), (30, 1), (40, 7)]
    session = Session(agreed, vectors(4), declared=declared, leaving={3: Round.INPUT})
    session.run()
    assert session.server.totals == (70, 2**40 + 7)


def test_totals_that_are_not_public_are_committed_to_and_not_sent():
    session = Session(settings(2), vectors(2), declared=[(5,), (6,)])
    sent = [session.answers()]
    party = session.parties[1]
    assert totals_commitment(1, party.declaration) in sent[0][1]
    for data in sent[0].values():
        session.server.receive(data)
    session.close()
    for _ in session.rounds[1:]:
        sent.append(session.answers())
        for data in sent[-1].values():
            session.server.receive(data)
        session.close()
    assert session.server.totals == ()
    assert all(
        party.declaration not in data and party.declaration[:32] not in data for each in sent for data in each.values()
    )


def test_another_salt_or_total_or_party_is_another_commitment():
    salt = bytes(32)
    one = totals_commitment(1, salt + (5).to_bytes(8, "little"))
    assert one != totals_commitment(1, salt + (6).to_bytes(8, "little"))
    assert one != totals_commitment(2, salt + (5).to_bytes(8, "little"))
    assert one != totals_commitment(1, b"\x01" + salt[1:] + (5).to_bytes(8, "little"))


@pytest.mark.parametrize(("parties", "dropouts", "colluding"), [(24, 2, 2), (40, 3, 0), (60, 5, 5)])
def test_many_parties_share_masks_with_some_others_only(parties, dropouts, colluding):
    neighbours, threshold = choose_neighbours(parties, dropouts=dropouts, colluding=colluding)
    assert neighbours < parties - 1
    agreed = settings(
        parties, dropouts=dropouts, colluding=colluding, confirmed=False, neighbours=neighbours, threshold=threshold
    )
    leaving = {1: Round.SHARES, 2: Round.INPUT}
    session = Session(agreed, vectors(parties), leaving=leaving)
    assert session.run().tolist() == session.plain()
    assert session.server.included == tuple(range(3, parties + 1))


def test_too_few_shares_from_neighbours_give_no_sum():
    neighbours, threshold = choose_neighbours(24, dropouts=2, colluding=2)
    agreed = settings(24, dropouts=2, colluding=2, confirmed=False, neighbours=neighbours, threshold=threshold)
    leaving = dict.fromkeys(range(threshold, 25), Round.UNMASK)
    session = Session(agreed, vectors(24), leaving=leaving)
    with pytest.raises(PeerError, match=rf"shares of party \d+'s secret arrived, and {threshold} are needed"):
        session.run()
    with pytest.raises(PeerError, match="not open"):
        session.server.sum()


def test_the_least_threshold_is_the_one_of_the_specification():
    # a lying server: 2 t > n + c; t = floor(2n/3) + 1 for c < n/3
    for parties in range(2, 60):
        for colluding in range(parties):
            least = least_threshold(parties, colluding=colluding, confirmed=True)
            assert 2 * least > parties + colluding >= 2 * (least - 1) or least == colluding + 1
            assert least_threshold(parties, colluding=colluding, confirmed=False) == colluding + 1
        assert least_threshold(parties, colluding=(parties - 1) // 3, confirmed=True) <= 2 * parties // 3 + 1


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"threshold": 2}, "threshold must be from 3 to 4"),
        ({"threshold": 5, "dropouts": 1}, "threshold must be from 3 to 4"),
        ({"dropouts": 2, "colluding": 1}, "5 parties cannot spare 2 that leave where 1 may collude: 4 are needed"),
        ({"dropouts": 2, "colluding": 3}, "leave nobody whose vector would be hidden"),
        ({"colluding": 3, "confirmed": False, "threshold": 3, "dropouts": 1}, "threshold must be from 4 to 4"),
        ({"dropouts": -1}, "dropouts must be from 0 to 4, got -1"),
        ({"colluding": 5}, "colluding must be from 0 to 4, got 5"),
        ({"length": 0}, "the length of the vectors must be from 1"),
        ({"totals": 2_000_000}, "the number of totals must be from 0 to 1048576"),
        ({"study": b"short"}, "digest of the study must have 32 bytes, got 5"),
        ({"release": b""}, "digest of the release must have 32 bytes, got 0"),
        ({"server": public(1)}, "an Ed25519 public key of its own"),
        ({"parties": (public(1), public(1))}, "an Ed25519 public key of its own"),
        ({"parties": (public(1), b"k")}, "an Ed25519 public key of its own"),
        ({"parties": (public(1),)}, "needs 2 to 10000 parties, got 1"),
        ({"neighbours": 2}, "cannot confirm lists"),
        ({"neighbours": 3, "confirmed": False}, "an even number below 5, got 3"),
        ({"neighbours": 6, "confirmed": False}, "an even number below 5, got 6"),
        ({"neighbours": 2, "confirmed": False}, "threshold must be from 1 to 2 neighbours, got 4"),
        ({"neighbours": 2, "confirmed": False, "threshold": 2}, "may fail or tell too much with probability 2\\^-0"),
    ],
)
def test_settings_that_do_not_fit_together_are_refused(changed, words):
    given = {"study": STUDY, "release": RELEASE, "parties": PARTIES, "server": public(0), "length": 3}
    with pytest.raises(ParameterError, match=words):
        AggregationSettings(**{**given, "threshold": 4, "dropouts": 1, **changed})


def test_settings_differ_in_their_digest():
    given = {"study": STUDY, "release": RELEASE, "parties": PARTIES, "server": public(0), "length": 3}
    whole = {**given, "threshold": 4, "dropouts": 1, "colluding": 0, "totals": 0, "confirmed": True}
    changes = [
        {}, {"study": bytes(32)}, {"release": bytes(32)}, {"parties": tuple(map(public, range(2, 7)))},
        {"server": public(9)}, {"length": 4}, {"threshold": 3}, {"dropouts": 0}, {"colluding": 1}, {"totals": 1},
        {"confirmed": False},
    ]  # fmt: skip
    assert len({AggregationSettings(**{**whole, **changed}).digest for changed in changes}) == len(changes)


def test_participants_need_their_own_keys_and_numbers():
    agreed = settings(3, totals=1)
    with pytest.raises(ParameterError, match="not the private key of number 2"):
        AggregationParty(agreed, number=2, key=enrolment(1), note=Notes(), declared=(1,))
    with pytest.raises(ParameterError, match="numbered from 1 to 3, got 4"):
        AggregationParty(agreed, number=4, key=enrolment(4), note=Notes(), declared=(1,))
    with pytest.raises(ParameterError, match="numbered from 1"):
        AggregationParty(agreed, number=0, key=enrolment(0), note=Notes(), declared=(1,))
    with pytest.raises(ParameterError, match="1 totals must be declared, got 0"):
        AggregationParty(agreed, number=1, key=enrolment(1), note=Notes())
    with pytest.raises(ParameterError, match="not the private key of number 0"):
        AggregationServer(agreed, key=enrolment(1))


@pytest.mark.parametrize("vector", [np.zeros(2, np.uint64), np.zeros((3, 1), np.uint64), np.zeros(3, np.int64)])
def test_a_vector_of_another_shape_or_type_is_refused(vector):
    session = Session(settings(2), vectors(2))
    session.run(until=Round.INPUT)
    with pytest.raises(ParameterError, match="must be 3 numbers of 64 bits"):
        session.parties[1].mask(session.inbox[1], vector)
