"""People and an aggregator without sockets: every pair, people who leave at any time, and what nobody may be asked."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.pairs_network import Network, collector_of, person_of, plain_circuit, study_of
from helpers.scope import is_everything
from helpers.twoparty import Notes, deliver_in_any_order, enrolment, public

from ogive.errors import ParameterError, PeerError
from ogive.pairs import Design, permutations, round_robin
from ogive.study.pairs import PairsStudy
from ogive.study.pairs.collector import Departures, Met

RNG = np.random.default_rng(810)
SIX = round_robin(6, 2, seed=b"six").pairs


def right(collected, values):
    """Whether every pair that was opened has the difference of its users' values."""
    opened = [(collected.values(pair), *collected.pairs[pair].tolist()) for pair in collected.outputs]
    return all(found == {"difference": abs(values[first] - values[second])} for found, first, second in opened)


def values_of(users):
    return RNG.choice(64, users, replace=False).tolist()


@pytest.mark.parametrize("at_once", [1, 2, 64])
def test_every_pair_of_a_design_is_opened(at_once):
    values = values_of(6)
    network = Network(study_of(SIX, 6), values, at_once=at_once)
    found = network.run()
    assert sorted(found.outputs) == list(range(len(SIX)))
    assert right(found, values)
    assert not found.lost
    assert not network.refused
    assert {person.given for person in network.people.values()} == {2}
    assert network.most_at_once == min(at_once, 3)


def test_a_pair_that_meets_twice_has_two_sessions():
    values = [3, 40]
    network = Network(study_of(np.array([[0, 1], [1, 0], [0, 1]]), 2), values)
    found = network.run()
    assert [found.values(pair) for pair in range(3)] == [{"difference": 37}] * 3
    assert len({data[40:56] for _, _, data in network.carried if data[5] == 6}) == 3


def test_circuits_are_those_of_the_part_of_epsilon_that_a_pair_may_spend():
    # a star: the middle agreed to three pairs, so all three divide epsilon by 3
    study = study_of(np.array([[0, 1], [0, 2], [3, 0]]), 4, circuits={1: plain_circuit(5), 3: plain_circuit(6)})
    assert all(study.settings(0, ends).circuit is study.circuits[3] for ends in study.design.pairs)
    alone = study.settings(3, np.array([1, 2]))
    assert alone.circuit is study.circuits[1]


@pytest.mark.each_value
@pytest.mark.parametrize("received", range(13))
@pytest.mark.parametrize("user", [0, 3])
def test_who_leaves_costs_nobody_anything_but_the_pair_at_hand(user, received):
    """Whenever it is: every pair of the others is right, and at most one of its pairs had begun and is lost."""
    values = values_of(6)
    study = study_of(SIX, 6)
    network = Network(study, values, dies_after={user: received})
    found = network.run()
    assert right(found, values)
    opened = {pair for pair in found.outputs if pair < len(SIX)}
    of_others = {pair for pair, ends in enumerate(SIX.tolist()) if user not in ends}
    assert of_others <= opened
    assert set(found.lost) | set(found.outputs) == set(range(len(found.pairs)))
    begun = network.collector._begun
    lost = [pair for pair in found.lost if pair < len(SIX)]
    assert all(user in SIX[pair] for pair in lost)
    assert sum(begun[lost]) <= 1
    # those who lost a partner before their pair had begun meet again, as everybody can find out
    if found.gone[user] and len(lost):
        told = network.collector._passes
        new = told[0].pairs(study, SIX) if told else np.empty((0, 2), int)
        assert np.array_equal(found.pairs[len(SIX) :], new)
        assert len(told) == (len(lost) - sum(begun[lost]) == 2)
        assert user not in found.pairs[len(SIX) :]
        assert Design(6, found.pairs[begun]).degrees.max() <= 2
        assert set(range(len(SIX), len(found.pairs))) <= set(found.outputs)
    else:
        assert len(found.pairs) == len(SIX)
    for other, person in network.people.items():
        assert person.given <= 2
        mine = [pair for pair in found.outputs if other in found.pairs[pair]]
        assert len(mine) <= person.given <= len(mine) + sum(begun[lost])


def test_who_leaves_early_and_late_was_among_the_cases():
    """The control of the test before: some lose both pairs, some one, some none."""
    lost = [
        len(
            [
                pair
                for pair in Network(study_of(SIX, 6), [0] * 6, dies_after={0: received}).run().lost
                if pair < len(SIX)
            ]
        )
        for received in (0, 4, 12)
    ]
    assert lost == [2, 1, 0]


def test_who_does_not_come_is_replaced():
    pairs = permutations(8, 1, seed=b"x").pairs
    missing = {int(pairs[0][0]), int(pairs[2][1])}
    values = [None if user in missing else value for user, value in enumerate(values_of(8))]
    network = Network(study_of(pairs, 8), values)
    found = network.run()
    assert sorted(found.lost) == [0, 2]
    assert found.lost[0] == f"user {pairs[0][0]} had left"
    assert sorted(found.outputs) == [1, 3, 4]
    assert set(found.pairs[4].tolist()) == {int(pairs[0][1]), int(pairs[2][0])}
    assert right(found, values)
    assert all(person.given == 1 for person in network.people.values())


def test_who_left_and_came_back_is_paired_anew_until_the_deadline():
    """User 0 leaves before its pair, the partner waits, and they and the next who comes meet in further passes."""
    values = values_of(4)
    network = Network(study_of(np.array([[0, 1], [2, 3]]), 4), values, deadline=100.0)
    network.leave(0)
    network.leave(2)
    network.say(0, network.collector.begin(0.0))
    network.settle()
    found = network.collector.collected
    assert [sorted(pair) for pair in found.pairs[2:].tolist()] == [[1, 3]]
    assert not network.collector.over
    assert network.collector.until == 100.0
    network.now = 50.0
    network.come_back(0)
    network.settle()
    assert not network.collector.over
    network.come_back(2)
    network.settle()
    found = network.collector.collected
    assert network.collector.over
    assert [sorted(pair) for pair in found.pairs[2:].tolist()] == [[1, 3], [0, 2]]
    assert sorted(found.outputs) == [2, 3]
    assert right(found, values)
    assert len(network.collector._passes) == 2
    assert not network.refused
    assert [person.given for person in network.people.values()] == [1] * 4


def test_nothing_begins_after_the_deadline():
    network = Network(study_of(np.array([[0, 1], [2, 3]]), 4), values_of(4), deadline=10.0)
    network.leave(0)
    network.say(0, network.collector.begin(0.0))
    network.settle()
    assert sorted(network.collector.collected.outputs) == [1]
    assert network.collector.expire(9.9) == []
    assert not network.collector.over
    network.now = 10.0
    network.come_back(0)
    network.settle()
    assert network.collector.over
    assert network.collector.collected.lost == {0: "time was up before it began"}


def test_a_person_that_left_in_a_pair_that_had_begun_is_in_no_other():
    network = Network(study_of(np.array([[0, 1], [2, 3]]), 4), values_of(4), deadline=10.0, at_once=1)
    network.say(0, network.collector.begin(0.0))
    while network.queue[0][2][5] != 6:
        network.step()
    network.queue.clear()
    network.leave(0)
    network.come_back(0)
    network.settle()
    assert network.collector.over, "the other pair is all there was left"
    assert sorted(network.collector.collected.outputs) == [1]
    assert not network.collector._passes


def test_nobody_but_one_is_left():
    network = Network(study_of(np.array([[0, 1], [2, 3]]), 4), [1, None, None, None])
    found = network.run()
    assert not found.outputs
    assert set(found.lost) == {0, 1}


def test_who_stalls_loses_the_pair_and_its_late_half_is_not_taken():
    values = [9, 20, 33, 1]
    network = Network(study_of(np.array([[0, 1], [2, 3], [0, 2], [1, 3]]), 4), values, at_once=1, seconds=5.0)
    network.say(0, network.collector.begin(0.0))
    while not any(receiver == 0 and data[5] == 6 and sender == 2 for sender, receiver, data in network.queue):
        network.step()
    late = network.queue.pop(0)
    assert late[0] == 2
    assert network.collector.until == 5.0
    network.say(0, network.collector.expire(4.9))
    assert not network.collector.collected.lost
    network.say(0, network.collector.expire(5.0))
    assert network.collector.collected.lost == {0: "it took longer than 5 seconds"}
    with pytest.raises(PeerError, match="of no pair that is at hand"):
        network.collector.receive(late[2], 5.0)
    while network.queue:
        network.step()
    found = network.collector.collected
    assert network.collector.over
    assert sorted(found.outputs) == [1, 2, 3]
    assert right(found, values)
    # nobody left, so nobody is paired again; and the pair counts for both
    assert [person.given for person in network.people.values()] == [2, 2, 2, 2]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("seed", range(20))
def test_connections_may_be_faster_or_slower_than_others(seed):
    """Only what one sends and what one is sent is in order: also of the second pass, which people hear of late."""
    values = values_of(6)
    values[int(SIX[0][0])] = None
    network = Network(study_of(SIX, 6), values)
    network.say(0, network.collector.begin(0.0))
    deliver_in_any_order(network.queue, network.step, np.random.default_rng(seed))
    found = network.collector.collected
    assert network.collector.over
    assert not network.refused
    assert right(found, values)
    assert set(found.lost) == {pair for pair, ends in enumerate(SIX) if SIX[0][0] in ends}


def test_a_half_that_is_malformed_costs_the_pair():
    network = Network(study_of(np.array([[0, 1], [2, 3]]), 4), [9, 20, 33, 1])
    network.say(0, network.collector.begin(0.0))
    while network.queue[0][2][5] != 6:
        network.step()
    (pair,) = (each for each in network.collector._open.values() if each.number == 0)
    box = pair.aggregator._mailbox
    # as if the body were authentic and wrong
    box.unseal = lambda data, step: (1, b"\xff")
    network.settle()
    assert network.refused == ["the message is of no pair that is at hand"]
    found = network.collector.collected
    assert found.lost == {0: "what one of them sent was malformed"}
    assert sorted(found.outputs) == [1]
    assert network.collector._begun.tolist() == [True, True]


# --- an aggregator that ends and is started again


def ended_after(steps, values, *, stored, **more):
    """A study whose aggregator ends after so many steps, with what it said last stored or not, and goes on."""
    network = Network(study_of(SIX, 6), values, deadline=1000.0, **more)
    network.say(0, network.collector.begin(network.now))
    network.store()
    for _ in range(steps):
        if not network.queue:
            break
        network.step()
        network.store()
    before = network.collector.collected
    if not stored and network.queue:
        network.step()  # it ends before this is stored
    network.start_again()
    found = network.run()
    return network, before, found


@pytest.mark.each_value
@pytest.mark.parametrize("stored", [True, False])
@pytest.mark.parametrize("leaver", [None, 2])
def test_an_aggregator_that_ends_at_any_step_goes_on_and_loses_the_pairs_at_hand_alone(stored, leaver):
    values = values_of(6)
    more = {} if leaver is None else {"dies_after": {leaver: 4}}
    lost, stride = set(), 7 if not is_everything() else 3 if leaver is not None else 1  # pairs take 10 or 11 messages
    for steps in range(0, 60, stride):
        network, before, found = ended_after(steps, values, stored=stored, at_once=2, **more)
        assert right(found, values)
        assert set(before.outputs) <= set(found.outputs)
        assert sorted({*found.outputs, *found.lost}) == list(range(len(found.pairs)))
        assert all(person.given <= 2 for person in network.people.values())
        ended = [pair for pair, why in found.lost.items() if why == "the service ended while it computed"]
        assert len(ended) <= 2
        lost.add(len(ended))
        again = Network(network.study, values, at_once=2)
        again.stored = network.stored
        again.start_again()
        assert sorted(again.collector.collected.outputs) == sorted(before_store(network))
    assert 2 in lost, "the control: pairs were at hand"


def before_store(network):
    """Pairs whose outputs were stored."""
    return [number for number, data in network.stored.pairs.items() if data[1] == 1]


@pytest.mark.parametrize("met", [Met(), Met(False, lost="user 2 had left"), Met(outputs=np.arange(7) % 2 == 1)])
def test_what_is_kept_of_a_pair_is_read_again_and_damage_is_one_line(met):
    data = met.to_bytes()
    again = Met.from_bytes(data, outputs=7)
    assert (again.begun, again.lost) == (met.begun, met.lost)
    assert np.array_equal(again.outputs, met.outputs) if met.outputs is not None else again.outputs is None
    for damaged in (b"", data[:1], b"\1\3", b"\1\0x", b"\1\2\xff", b"\1\1\xff\xff"):
        with pytest.raises(PeerError):
            Met.from_bytes(damaged, outputs=7)


def test_a_pair_at_hand_when_the_aggregator_ended_counts_as_taken_part_in():
    network = Network(study_of(np.array([[0, 1], [2, 3]]), 4), [9, 20, 33, 1], deadline=1000.0)
    network.say(0, network.collector.begin(0.0))
    network.store()
    network.start_again()
    assert network.collector._begun.tolist() == [True, True]
    found = network.run()
    assert len(found.pairs) == 2, "nobody has a place left, so nobody is paired anew"
    assert set(found.lost.values()) == {"the service ended while it computed"}


# --- what nobody may be asked


def test_a_person_gives_no_more_halves_than_it_agreed_to_whatever_it_is_told():
    """An aggregator that says that no pair had begun is refused: all were spent."""
    network = Network(study_of(np.array([[0, 1], [2, 3]]), 4), [9, 20, 33, 1])
    network.run()
    lies = Departures(0, bytes(32), np.array([False, True, False, True]), np.array([False, False]))
    again = lies.pairs(network.study, network.study.design.pairs)
    assert again.tolist() in ([[0, 2]], [[2, 0]])
    for user in (0, 2):
        person = network.people[user]
        words = lies.message(network.study, receiver=user + 1, key=enrolment(0))
        assert person.receive(words) == []
        rogue = collector_of(network.study)
        rogue._pairs = np.concatenate([network.study.design.pairs, again])
        rogue._waiting = [2]
        rogue._passes, rogue._begun = [lies], np.zeros(3, bool)
        rogue.arrived(0, 0.0)
        rogue.arrived(2, 0.0)
        rogue.begin(0.0)
        (pair,) = rogue._open.values()
        invitations = dict([pair.aggregator.invitation, pair.aggregator._second])
        with pytest.raises(PeerError, match="agreed to 1 pairs, and has taken part in as many"):
            person.receive(invitations[user + 1])
        assert person.given == 1


@pytest.mark.parametrize("agreed_again", [False, True], ids=["noted", "control: nothing was noted"])
def test_a_person_that_was_started_again_gives_no_more_halves_either(agreed_again):
    """What was spent before is noted, and an aggregator that says that no pair had begun is refused by its half."""
    network = Network(study_of(np.array([[0, 1], [2, 3]]), 4), [9, 20, 33, 1])
    network.run()
    lies = Departures(0, bytes(32), np.array([False, True, False, True]), np.array([False, False]))
    rogue = Network(network.study, [9, None, 33, None])
    rogue.collector._pairs = np.concatenate(
        [network.study.design.pairs, lies.pairs(network.study, network.study.design.pairs)]
    )
    rogue.collector._waiting, rogue.collector._passes = [2], [lies]
    rogue.collector._begun = np.zeros(3, bool)
    for user in (0, 2):
        note = None if agreed_again else network.people[user]._note
        rogue.people[user] = person_of(network.study, user, rogue.values[user], note=note)
        rogue.people[user].receive(lies.message(network.study, receiver=user + 1, key=enrolment(0)))
    found = rogue.run()
    assert bool(found.outputs) is agreed_again
    assert [rogue.people[user].given for user in (0, 2)] == [int(agreed_again)] * 2
    assert any("has taken part in as many" in refused for refused in rogue.refused) is not agreed_again


def test_a_person_is_in_each_pair_once_and_in_its_own_alone():
    study = study_of(np.array([[0, 1], [0, 1], [1, 2]]), 3)
    person = person_of(study, 0, 5)
    first, second = (collector_of(study) for _ in range(2))
    for collector in (first, second):
        for user in range(3):
            collector.arrived(user, 0.0)
    ((_, invitation), *_) = first.begin(0.0)
    assert len(person.receive(invitation)) == 1
    ((_, again), *_) = second.begin(0.0)
    with pytest.raises(PeerError, match="of another session"):
        person.receive(again)
    other = person_of(study, 2, 5)
    for data in (invitation, again):
        with pytest.raises(PeerError, match="of no pair that is at hand"):
            other.receive(data)


def test_another_invitation_ends_the_pair_at_hand():
    study = study_of(np.array([[0, 1], [0, 2]]), 3)
    person = person_of(study, 0, 5)
    collector = collector_of(study, seconds=1.0)
    for user in range(3):
        collector.arrived(user, 0.0)
    ((_, first),) = collector.begin(0.0)
    person.receive(first)
    at_hand = person._at_hand[1]
    assert not at_hand.over
    ((_, second),) = collector.expire(1.0)
    for place in range(0, len(second), 5):
        with pytest.raises(PeerError):
            person.receive(second[:place] + bytes([second[place] ^ 1]) + second[place + 1 :])
    assert not at_hand.over, "what is not an invitation ends nothing"
    person.receive(second)
    assert at_hand.over
    assert person._at_hand[1] is not at_hand


def test_a_pair_that_was_noted_before_a_restart_is_not_given_again():
    study = study_of(np.array([[0, 1]]), 2)
    network = Network(study, [5, 9])
    network.run()
    again = Network(study, [5, 9])
    again.people[0] = person_of(study, 0, 5, note=network.people[0]._note)
    assert not again.run().outputs
    assert any("gave its half of this pair before" in refused for refused in again.refused)
    assert again.people[0].given == 0


def test_words_of_departures_are_the_aggregators_and_taken_once():
    study = study_of(SIX, 6)
    said = Departures(0, bytes(range(32)), np.arange(6) == 2, np.zeros(len(SIX), bool))
    good = said.message(study, receiver=1, key=enrolment(0))
    person = person_of(study, 0, 5)
    before = set(person._pairs)
    wrong = [
        said.message(study, receiver=1, key=enrolment(1)),
        said.message(study, receiver=2, key=enrolment(0)),
        said.message(study_of(SIX[::-1], 6), receiver=1, key=enrolment(0)),
        replace(said, gone=said.gone[:1]).message(study, receiver=1, key=enrolment(0)),
        replace(said, begun=np.zeros(len(SIX) + 12, bool)).message(study, receiver=1, key=enrolment(0)),
        replace(said, seed=b"").message(study, receiver=1, key=enrolment(0)),
        *(good[:length] for length in range(len(good))),
        *(good[:place] + bytes([good[place] ^ 1]) + good[place + 1 :] for place in range(len(good))),
        good + b"\0",
    ]
    for data in wrong:
        with pytest.raises(PeerError):
            person.receive(data)
    assert set(person._pairs) == before
    person.receive(good)
    mine = [pair for pair in said.pairs(study, SIX).tolist() if 0 in pair]
    assert len(set(person._pairs) - before) == len(mine)
    with pytest.raises(PeerError, match="another round than expected"):
        person.receive(good)


def test_who_meets_whom_again_is_drawn_when_it_is_known_who_left():
    """The same person leaves twice, and the draws have nothing to do with each other."""
    values = [None if user == 3 else user for user in range(6)]
    networks = [Network(study_of(SIX, 6), values) for _ in range(2)]
    assert all(not network.collector._passes for network in networks)
    for network in networks:
        network.run()
    seeds = {network.collector._passes[0].seed for network in networks}
    assert len(seeds) == 2
    # three partners, of whom two meet each other: which two depends on the seed
    gone, begun = networks[0].collector._gone, np.zeros(len(SIX), bool)
    drawn = {
        tuple(Departures(0, bytes([seed]), gone, begun).pairs(networks[0].study, SIX).ravel().tolist())
        for seed in range(20)
    }
    assert len(drawn) > 1


@pytest.mark.parametrize("receiver", [0, 1, 2])
def test_any_bytes_are_refused_and_the_pair_goes_on(receiver):
    values = values_of(2)
    network = Network(study_of(np.array([[0, 1]]), 2), values)
    network.say(0, network.collector.begin(0.0))
    whole = 0
    while network.queue:
        _, to, data = network.queue[0]
        if to == receiver:
            whole += 1
            take = network.people[to - 1].receive if to else lambda wrong: network.collector.receive(wrong, 0.0)
            for place in RNG.integers(0, len(data), 40).tolist():
                for wrong in (
                    data[:place],
                    data[:place] + bytes([data[place] ^ 4]) + data[place + 1 :],
                    RNG.bytes(place),
                ):
                    with pytest.raises(PeerError):
                        take(wrong)
        network.step()
    assert whole
    assert right(network.collector.collected, values)
    assert network.collector.collected.outputs


# --- studies


def test_a_study_has_a_digest_of_all_that_is_in_it():
    study = study_of(SIX, 6)
    others = [
        study_of(SIX[::-1], 6),
        study_of(SIX, 6, circuits={2: plain_circuit(7)}),
        study_of(SIX, 6, circuits={2: plain_circuit(), 3: plain_circuit()}),
        PairsStudy(study.design, study.circuits, study.people[::-1], study.aggregator),
        PairsStudy(study.design, study.circuits, study.people, public(99)),
        study_of(np.array([[0, 1]]), 2),
        study_of(np.array([[0, 1]]), 2, between=True),
    ]
    assert len({study.digest, *(each.digest for each in others)}) == len(others) + 1
    assert study_of(SIX.copy(), 6).digest == study.digest


def test_studies_that_lack_something_are_refused():
    with pytest.raises(ParameterError, match="no circuit for users in 2 pairs"):
        study_of(SIX, 6, circuits={1: plain_circuit()})
    with pytest.raises(ParameterError, match="there must be 6 keys, one a user, got 5"):
        PairsStudy(Design(6, SIX), {2: plain_circuit()}, tuple(public(user + 1) for user in range(5)), public(0))


def test_somebody_elses_key_is_refused():
    from ogive.study.pairs import Person

    study = study_of(np.array([[0, 1]]), 2)
    person = Person(study, 0, {"x": 1}, key=enrolment(2), note=Notes())
    collector = collector_of(study)
    for user in range(2):
        collector.arrived(user, 0.0)
    ((_, invitation), *_) = collector.begin(0.0)
    with pytest.raises(ParameterError, match="not the private key of number 1"):
        person.receive(invitation)
