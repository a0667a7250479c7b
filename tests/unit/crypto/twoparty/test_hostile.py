"""Messages that were changed, repeated, swapped, or are from somebody else; parties that start again."""

import struct

import numpy as np
import pytest
from helpers.scope import is_everything, size
from helpers.twoparty import EVALUATOR, GARBLER, Notes, Pair, auc_circuit, enrolment, gini_circuit, settings_of

from ogive.crypto.circuits import evaluate
from ogive.crypto.twoparty import AGGREGATOR, PairAggregator, PairParty, Step, body_bytes
from ogive.crypto.wire import HEADER_BYTES, Header, Suite
from ogive.errors import PeerError

RNG = np.random.default_rng(809)
DIRECT = settings_of(auc_circuit(4, precision=4))
EXTENDED = settings_of(gini_circuit(4, digits=4, precision=30))
MESSAGES = [(name, at) for name, count in (("direct", 10), ("extended", 11)) for at in range(count)]
SETTINGS = {"direct": DIRECT, "extended": EXTENDED}


def new_pair(settings, **more):
    circuit = settings.circuit
    return Pair(settings, RNG.random(circuit.garbler_bits) < 0.5, RNG.random(circuit.evaluator_bits) < 0.5, **more)


def wanted(pair):
    garbler, evaluator = pair.bits.values()
    return evaluate(pair.settings.circuit, garbler[None], evaluator[None])[0]


def refused(pair, receiver, data):
    """Deliver what must be refused, with nothing said in return."""
    before = list(pair.queue)
    with pytest.raises(PeerError):
        pair.deliver(receiver, data)
    assert pair.queue == before


def finishes(pair):
    assert np.array_equal(pair.run(), wanted(pair))
    assert all(party.over for party in pair.parties.values())


def changed(data):
    """Prefixes, flipped bits of every byte or of many, and bytes put in, taken out and appended."""
    every = max(1, len(data) // size(150, part=50))
    for length in range(0, len(data), every):
        yield data[:length]
    for place in {*range(0, len(data), every), *range(HEADER_BYTES), *range(len(data) - 64, len(data))}:
        yield data[:place] + bytes([data[place] ^ 1 << int(RNG.integers(8))]) + data[place + 1 :]
    for _ in range(20):
        at = int(RNG.integers(len(data)))
        yield data[:at] + RNG.bytes(16) + data[at:]
        yield data[:at] + data[at + 16 :]
        yield data[:at] + RNG.bytes(len(data) - at)
    yield data + bytes(1)


@pytest.mark.parametrize(("name", "at"), MESSAGES)
def test_a_changed_message_is_refused_and_the_true_one_still_taken(name, at):
    pair = new_pair(SETTINGS[name])
    pair.run(until=at)
    _, receiver, data = pair.queue[0]
    for other in changed(data):
        if other != data:
            refused(pair, receiver, other)
    for other in ("text", None, 5, bytearray(data), np.zeros(9)):
        refused(pair, receiver, other)
    finishes(pair)


@pytest.mark.parametrize(
    ("name", "at"),
    [  # every other message, which are others of either kind
        (name, at) if at % 2 == (name == "extended") else pytest.param(name, at, marks=pytest.mark.everything)
        for name, at in MESSAGES
    ],
)
def test_a_message_is_taken_once_and_by_its_receiver_alone(name, at):
    pair = new_pair(SETTINGS[name])
    pair.run(until=at)
    _, receiver, data = pair.queue[0]
    for other in {AGGREGATOR, GARBLER, EVALUATOR} - {receiver}:
        refused(pair, other, data)
    pair.step()
    for _, to, earlier in pair.sent:
        refused(pair, to, earlier)
    outputs = wanted(pair)
    assert np.array_equal(pair.run(), outputs)
    for _, to, earlier in pair.sent:
        refused(pair, to, earlier)
    assert np.array_equal(pair.aggregator.outputs, outputs)


@pytest.mark.parametrize("name", SETTINGS)
def test_messages_come_in_order(name):
    """Of each participant: a later one is refused as long as an earlier one has not come, and then taken."""
    known, early = new_pair(SETTINGS[name]), 0
    known.run()
    for at in range(len(known.sent)):
        if at == 0 or is_everything():  # `make test` goes through one pair, which finishes
            pair = new_pair(SETTINGS[name])
            pair.run(until=at)
        _, receiver, data = pair.queue[0]
        pair.sent.append(pair.queue.pop(0))
        later = [each for each in pair.queue if each[1] == receiver and each[2][5] != data[5]]
        for _, to, other in later:
            refused(pair, to, other)
        early += len(later)
        pair.deliver(receiver, data)
        if at == len(known.sent) - 1 or is_everything():
            finishes(pair)
    assert early == {"direct": 0, "extended": 1}[name], "as many messages wait while an earlier one is on its way"


@pytest.mark.parametrize("name", SETTINGS)
def test_messages_of_other_sessions_pairs_and_studies_are_refused(name):
    settings = SETTINGS[name]
    others = [settings, settings_of(settings.circuit, pair=6), settings_of(settings.circuit, study=bytes(32))]
    for other in others if name == "direct" or is_everything() else others[:1]:
        mine, theirs = new_pair(settings), new_pair(other)
        theirs.run()
        while mine.queue:
            for _, to, data in theirs.sent:
                # of the same settings an invitation is as good as another, as long as none was taken
                if not (other is settings and data[5] == Step.INVITE):
                    refused(mine, to, data)
            mine.step()
        assert np.array_equal(mine.aggregator.outputs, wanted(mine))


def test_parties_that_were_invited_differently_do_not_meet():
    pair, again = new_pair(DIRECT), new_pair(DIRECT)
    pair.run(until=2)
    again.run(until=2)
    # the evaluator is invited by another run of the aggregator
    pair.queue[0] = again.queue[0]
    pair.step()
    hellos = list(pair.queue)
    assert [to for _, to, _ in hellos] == [AGGREGATOR, GARBLER]
    for _, to, data in hellos:
        with pytest.raises(PeerError, match="another session"):
            pair.deliver(to, data)


HEADER = struct.Struct("<4sBBH32s16sIIIQQ")


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        (1, 2, "is of version 2"),
        (2, 9, "another type than expected: 9, not 1"),
        (3, 1, "another protocol than expected: 1, not 4"),
        (4, bytes(32), "another study"),
        (5, bytes(16), "another session"),
        (6, EVALUATOR, "not signed by number 7"),
        (6, 5, "number 5, who does not take part"),
        (7, EVALUATOR, "another receiver than expected: 7, not 3"),
        (8, 2, "another round than expected: 2, not 1"),
        (9, 2, "has the sequence number 2, and 1 is expected"),
        (10, 49, "at most 48"),
    ],
)
def test_every_field_of_a_header_is_looked_at(field, value, message):
    pair = new_pair(DIRECT)
    _, receiver, data = pair.queue[0]
    fields = list(HEADER.unpack(data[:HEADER_BYTES]))
    fields[field] = value
    with pytest.raises(PeerError, match=message):
        pair.deliver(receiver, HEADER.pack(*fields) + data[HEADER_BYTES:])


@pytest.mark.parametrize("step", [Step.INVITE, Step.HELLO])
def test_only_the_aggregator_invites_and_it_says_no_hello(step):
    pair = new_pair(DIRECT)
    if step is Step.HELLO:
        pair.run(until=2)
        box, receiver = pair.aggregator._mailbox, GARBLER
    else:
        box, receiver = pair.parties[EVALUATOR]._mailbox, GARBLER
    _, data = box.write_opening(step, receiver)
    with pytest.raises(PeerError, match="has no message to send in the step"):
        pair.deliver(receiver, data)
    finishes(pair)


# --- authentic and malformed


def said(pair, sender, receiver, step, body):
    """A message as the sender would seal it, with the key that the receiver has."""
    box = (pair.aggregator if receiver == AGGREGATOR else pair.parties[receiver])._mailbox
    header = Header(Suite.PAIRS, step, pair.settings.digest, box.session, sender, receiver, round=step, sequence=step)
    nonce = int(step).to_bytes(12, "little")
    return header.message(box._ciphers[sender, receiver].encrypt(nonce, body, header.message()))


@pytest.mark.parametrize(
    ("name", "at", "step"),
    [
        ("direct", 6, Step.TRANSFER),
        ("direct", 8, Step.GARBLED),
        ("extended", 6, Step.TRANSFER),
        ("extended", 7, Step.EXTENSION),
    ],
)
def test_points_outside_the_group_end_the_pair_for_who_receives_them(name, at, step):
    pair = new_pair(SETTINGS[name])
    pair.run(until=at)
    sender, receiver, data = next(each for each in pair.queue if each[2][5] == step)
    bad = said(pair, sender, receiver, step, bytes(body_bytes(pair.settings.circuit, step)))
    refused(pair, receiver, bad)
    party = pair.parties[receiver]
    assert party.over
    assert not party.spent
    with pytest.raises(PeerError, match="nothing more to say"):
        party.receive(data)
    assert pair.aggregator.outputs is None


def test_a_key_of_small_order_ends_the_pair():
    pair = new_pair(DIRECT)
    pair.run(until=3)
    box = pair.parties[EVALUATOR]._mailbox
    box.opening = box.opening[:16] + bytes(32)
    for receiver, number in ((pair.parties[GARBLER], GARBLER), (pair.aggregator, AGGREGATOR)):
        with pytest.raises(PeerError, match="with which no secret can be agreed on"):
            receiver.receive(box.write_opening(Step.HELLO, number)[1])
        with pytest.raises(PeerError, match=r"nothing more"):
            receiver.receive(b"")


def test_a_half_with_bits_of_no_output_ends_the_pair():
    pair = new_pair(DIRECT)
    pair.run(until=8)
    bad = said(pair, EVALUATOR, AGGREGATOR, Step.HALF, b"\x02")
    with pytest.raises(PeerError, match="bits of no output"):
        pair.aggregator.receive(bad)
    with pytest.raises(PeerError, match="this pair is over"):
        pair.run()
    assert pair.aggregator.outputs is None


def test_what_a_cheating_garbler_can_do_is_as_stated():
    """Tables are not checked: the outputs of a spoiled circuit are opened, and nobody can tell."""
    found = set()
    for _ in range(40):
        pair = new_pair(DIRECT)
        pair.bits = {number: np.zeros_like(bits) for number, bits in pair.bits.items()}
        pair.run(until=8)
        sender, receiver, data = next(each for each in pair.queue if each[2][5] == Step.GARBLED)
        spoiled = said(pair, sender, receiver, Step.GARBLED, garbled_of(pair, data))
        pair.queue = [each for each in pair.queue if each[2] != data]
        pair.deliver(receiver, spoiled)
        found.add(bool(pair.run()[0]))
    assert found == {False, True}


def garbled_of(pair, data):
    """The body of the garbler's message, with other tables."""
    body = (
        pair.parties[EVALUATOR]
        ._mailbox._ciphers[GARBLER, EVALUATOR]
        .decrypt(
            int(Step.GARBLED).to_bytes(12, "little"),
            data[HEADER_BYTES:],
            data[: HEADER_BYTES - 8] + bytes(8),
        )
    )
    tables = 32 * pair.settings.circuit.ands
    return body[:-tables] + RNG.bytes(tables)


# --- when a release is made


def test_a_half_that_comes_after_a_pair_was_given_up_is_not_taken():
    pair = new_pair(DIRECT)
    pair.run(until=9)
    ((_, receiver, late),) = pair.queue
    assert receiver == AGGREGATOR
    assert late[5] == Step.HALF
    assert pair.aggregator.begun
    assert all(party.spent for party in pair.parties.values())
    pair.aggregator.close()
    assert not pair.aggregator._halves
    with pytest.raises(PeerError, match="this pair is over"):
        pair.aggregator.receive(late)
    assert pair.aggregator.outputs is None


@pytest.mark.parametrize("name", SETTINGS)
def test_a_pair_is_spent_for_who_has_given_its_half_and_for_nobody_else(name):
    pair = new_pair(SETTINGS[name])
    while pair.queue:
        given = {sender for sender, _, data in [*pair.sent, *pair.queue] if data[5] == Step.HALF}
        assert {number for number, party in pair.parties.items() if party.spent} == given
        hellos = [each for each in pair.sent if each[1] == AGGREGATOR and each[2][5] == Step.HELLO]
        assert pair.aggregator.begun == (len(hellos) == 2)
        assert pair.aggregator.begun >= bool(given), "what the aggregator counts is never less than what was given"
        pair.step()


def test_a_party_that_was_restarted_gives_no_second_half():
    first = new_pair(DIRECT)
    first.run()
    again = new_pair(DIRECT, notes=first.notes)
    with pytest.raises(PeerError, match="gave its half of this pair before"):
        again.run()
    assert again.aggregator.outputs is None
    assert not any(party.spent for party in again.parties.values())
    # another pair of the same two is another matter
    other = new_pair(settings_of(DIRECT.circuit, pair=9), notes=first.notes)
    finishes(other)


def test_a_session_that_failed_before_the_half_may_be_begun_again():
    first = new_pair(EXTENDED)
    first.run(until=8)
    assert not any(party.spent for party in first.parties.values() if party is first.parties[EVALUATOR])
    again = new_pair(DIRECT, notes={GARBLER: Notes(), EVALUATOR: first.notes[EVALUATOR]})
    finishes(again)


@pytest.mark.each_value
@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("until", range(12))
def test_a_party_that_gives_up_keeps_nothing(name, until):
    pair = new_pair(SETTINGS[name])
    pair.run(until=until)
    for party in pair.parties.values():
        role = party._role
        party.close()
        assert party.over
        assert not party._bits.any()
        assert party._role is None
        assert party._mailbox._private is None
        assert not party._mailbox._ciphers
        if role is not None:
            assert not role._bits.any()
        with pytest.raises(PeerError, match="nothing more to say"):
            party.receive(b"")


def test_bits_of_the_caller_are_its_own():
    bits = np.ones(DIRECT.circuit.garbler_bits, bool)
    party = PairParty(DIRECT, GARBLER, bits, key=enrolment(GARBLER), note=Notes())
    party.close()
    assert bits.all()


def test_an_aggregator_takes_nothing_before_hellos():
    pair = new_pair(DIRECT)
    other = PairAggregator(DIRECT, key=enrolment(AGGREGATOR))
    pair.run()
    for _, to, data in pair.sent:
        if to == AGGREGATOR:
            with pytest.raises(PeerError, match=r"another (session|type)|at most|at least"):
                other.receive(data)
