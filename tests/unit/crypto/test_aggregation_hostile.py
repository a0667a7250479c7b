"""Parties and servers that lie, messages at the wrong time, and any bytes at all."""

from itertools import combinations

import numpy as np
import pytest
from helpers.aggregation import Session, enrolment, settings, stored, stored_server

from ogive.crypto.aggregation import Round, least_threshold
from ogive.crypto.aggregation.messages import Mailbox, write_confirmations, write_list
from ogive.crypto.aggregation.server import remove_masks
from ogive.crypto.wire import HEADER_BYTES, SIGNATURE_BYTES
from ogive.errors import PeerError

RNG = np.random.default_rng(62)


def session_of(parties, until=None, **more):
    vectors = RNG.integers(0, 2**64, size=(parties, 3), dtype=np.uint64)
    leaving = more.pop("leaving", None)
    declared = [(number, 0) for number in range(parties)] if more.get("totals") else None
    found = Session(settings(parties, **more), vectors, leaving=leaving, declared=declared)
    if until is not None:
        found.run(until=until)
    return found


def said_by_server(session, to, body, step):
    return Mailbox(session.settings, 0, enrolment(0)).write(
        body, receiver=to, session=session.server._session, round=step
    )


# --- both secrets of a party


@pytest.mark.parametrize("confirmed", [True, False])
def test_a_party_never_gives_both_shares_of_another_also_after_a_restart(confirmed):
    session = session_of(5, Round.UNMASK, dropouts=2, confirmed=confirmed)
    before = stored(session.parties[1])
    answer = session.parties[1].unmask(session.inbox[1])
    assert len(answer) == HEADER_BYTES + 5 * 32 + SIGNATURE_BYTES
    without = said_by_server(session, 1, write_list((1, 2, 3)) + write_confirmations([]), Round.UNMASK)
    for request in (without, session.inbox[1]):
        with pytest.raises(PeerError, match="this party has finished"):
            session.parties[1].unmask(request)
    wanted = "is not the one that this party confirmed" if confirmed else "is not that of an earlier sum of the same"
    with pytest.raises(PeerError, match=wanted):
        before.unmask(without)
    with pytest.raises(PeerError, match="answered the step unmask of this session before"):
        before.unmask(session.inbox[1])


@pytest.mark.parametrize("step", [Round.INPUT, Round.CONFIRM])
def test_a_party_that_was_restarted_sends_no_second_vector_and_signs_no_second_list(step):
    session = session_of(5, step, dropouts=2)
    before = stored(session.parties[1])
    session.answer(1, session.inbox[1])
    session.parties[1] = before
    with pytest.raises(PeerError, match=f"answered the step {step.name.lower()} of this session before"):
        session.answer(1, session.inbox[1])


def test_without_a_memory_of_answers_a_restarted_party_would_tell_both():
    """The control: the same request, and a memory that forgets, opens a single vector."""
    session = session_of(5, Round.INPUT, dropouts=2, confirmed=False)
    answers = session.answers()
    vector = np.frombuffer(answers[4][HEADER_BYTES:-SIGNATURE_BYTES], "<u8")
    for number in answers:
        session.server.receive(answers[number])
    session.close()
    own, keys = {}, {}
    for number in (1, 2, 3):
        forgetful = stored(session.parties[number], forgetful=True)
        with_four = session.parties[number].unmask(session.inbox[number])
        request = said_by_server(session, number, write_list((1, 2, 3)) + write_confirmations([]), Round.UNMASK)
        without = forgetful.unmask(request)
        place = HEADER_BYTES + 3 * 32
        own[number] = int.from_bytes(with_four[place : place + 32], "little")
        keys[number] = int.from_bytes(without[place : place + 32], "little")
    server = session.server
    terms = {"threshold": 3, "keys": server._keys, "neighbours": server._neighbours, "session": server._session}
    half = remove_masks(vector, {4: own}, included=(4,), **terms)
    # as if party 4 had left: its masks with the others, as it added them up itself
    zero = np.zeros(3, np.uint64)
    masks = remove_masks(zero, {4: keys}, included=(1, 2, 3, 5), **terms)
    assert (half - masks).tolist() == session.vectors[3].tolist()


# --- one list a release


def test_a_server_that_asks_again_gets_no_sum_without_some_party():
    """Two sums of the same vectors, noise included, one without a party: their difference would be its vector."""
    agreed = {"dropouts": 1}
    first = session_of(5, **agreed)
    first.run()
    second = Session(first.settings, first.vectors, leaving={2: Round.INPUT}, notes=first.notes)
    with pytest.raises(PeerError, match="is not that of an earlier sum of the same release"):
        second.run()
    with pytest.raises(PeerError, match="not open"):
        second.server.sum()
    again = Session(first.settings, first.vectors, notes=first.notes)
    assert again.run().tolist() == first.plain(), "the same list may be summed again"
    # the control: parties that forget between sessions give the vector away
    third = Session(first.settings, first.vectors, leaving={2: Round.INPUT})
    assert (first.server.sum() - third.run()).tolist() == first.vectors[1].tolist()


@pytest.mark.parametrize("confirmed", [True, False])
def test_other_measurements_of_a_release_have_the_same_list_and_other_releases_any(confirmed):
    first = session_of(5, dropouts=1, confirmed=confirmed, leaving={4: Round.INPUT})
    first.run()
    everyone = np.zeros((5, 2), np.uint64)
    other = settings(5, length=2, dropouts=1, confirmed=confirmed)
    assert other.digest != first.settings.digest
    with pytest.raises(PeerError, match="is not that of an earlier sum of the same release"):
        Session(other, everyone, notes=first.notes).run()
    Session(other, everyone, leaving={4: Round.SHARES}, notes=first.notes).run()
    another = settings(5, length=2, dropouts=1, confirmed=confirmed, release=bytes(32))
    Session(another, everyone, notes=first.notes).run()


def test_a_party_that_was_not_in_the_first_sum_finds_too_few_who_confirm_it_in_the_next():
    first = session_of(5, dropouts=1, leaving={5: Round.INPUT})
    first.run()
    second = Session(first.settings, first.vectors, notes=first.notes)
    second.run(until=Round.CONFIRM)
    refused = []
    for number in second.present():
        try:
            second.server.receive(second.answer(number, second.inbox[number]))
        except PeerError:
            refused.append(number)
    assert refused == [1, 2, 3, 4]
    with pytest.raises(PeerError, match="1 of 5 parties answered the step confirm, and at least 3 are needed"):
        second.close()


# --- what is left when it is over


def test_a_finished_party_and_server_hold_nothing_that_opens_a_vector():
    session = session_of(4, dropouts=1, leaving={4: Round.INPUT})
    session.run()
    for number in (1, 2, 3):
        left = vars(session.parties[number])
        assert not any(left[name] for name in ("_own", "_keys", "_pairs", "_agreed", "_held"))
    server = vars(session.server)
    assert not any(server[name] for name in ("_received", "_before", "_keys"))
    assert server["_masked"].size == 0
    assert session.server.sum().tolist() == session.plain()


def test_secrets_are_dropped_as_soon_as_no_step_needs_them():
    session = session_of(3, Round.INPUT)
    assert session.parties[1]._keys is None
    assert session.parties[1]._own is not None
    session.step()
    assert session.parties[1]._own is None
    assert not session.parties[1]._pairs
    session.step()
    session.step()
    assert session.server.sum().tolist() == session.plain()


# --- a server that shows different lists


@pytest.mark.parametrize(("parties", "dropouts", "colluding"), [(5, 2, 0), (7, 2, 2), (4, 1, 0)])
def test_lists_that_differ_are_never_both_opened(parties, dropouts, colluding):
    """Whatever two lists a server shows to whom, not both are confirmed by enough."""
    agreed = {"dropouts": dropouts, "colluding": colluding}
    session = session_of(parties, Round.CONFIRM, **agreed)
    everyone = tuple(range(1, parties + 1))
    liars = everyone[:colluding]
    one, other = everyone, everyone[:-1]
    signed = {}
    for number in everyone:
        for who in (one, other):
            if number in who:
                party = stored(session.parties[number], forgetful=True)
                signed[number, who] = (
                    party,
                    party.confirm(said_by_server(session, number, write_list(who), Round.CONFIRM)),
                )
    honest = [number for number in everyone if number not in liars and number in other]
    opened, refused = set(), 0
    for shown in range(len(honest) + 1):
        for first in combinations(honest, shown):
            sees = {number: (one if number in first else other) for number in honest}
            told = set()
            for who in (one, other):
                # colluding parties sign both lists
                confirmations = [
                    signed[number, who][1] for number in (*liars, *honest) if number in liars or sees[number] == who
                ]
                request = write_list(who) + write_confirmations(confirmations)
                for number in honest:
                    if sees[number] == who:
                        party = stored(signed[number, who][0], forgetful=True)
                        try:
                            party.unmask(said_by_server(session, number, request, Round.UNMASK))
                            told.add(who)
                        except PeerError:
                            refused += 1
            assert len(told) < 2
            opened |= told
    assert opened == {one, other}, "either one alone can be opened"
    assert refused


def test_with_a_threshold_too_low_both_lists_would_be_opened():
    """The control: settings refuse such a threshold, and for this reason."""
    session = session_of(5, Round.CONFIRM, dropouts=2, threshold=3)
    object.__setattr__(session.settings, "threshold", 2)
    lists = {1: (1, 2, 3, 4, 5), 2: (1, 2, 3, 4, 5), 3: (1, 2, 3, 4), 4: (1, 2, 3, 4)}
    signed = {
        number: session.parties[number].confirm(said_by_server(session, number, write_list(who), Round.CONFIRM))
        for number, who in lists.items()
    }
    for number, who in lists.items():
        agreeing = [signed[each] for each in lists if lists[each] == who]
        request = write_list(who) + write_confirmations(agreeing)
        session.parties[number].unmask(said_by_server(session, number, request, Round.UNMASK))
        assert session.parties[number]._next is None


def closed_piece(parties, colluding, dropouts, threshold):
    """Whether honest parties in the sum can be shown lists so that some of them share masks with no other one."""
    for outside in range(dropouts + 1):
        for honest_outside in range(outside + 1):
            honest = parties - colluding - honest_outside
            colluders = colluding - (outside - honest_outside)
            for piece in range(1, honest):  # none of whom confirmed; all the others may have, and all colluders
                confirmed = honest - piece + max(colluders, 0) >= threshold
                # what one of them may have been shown: the piece, honest parties that left later, colluders
                if confirmed and colluders >= 0 and piece + honest_outside + colluding >= parties - dropouts:
                    return True
    return False


def test_lists_that_differ_before_the_vectors_never_set_some_honest_parties_apart():
    allowed, below = [], []
    for parties in range(2, 20):
        for colluding in range(parties):
            for dropouts in range(parties - colluding):
                least = least_threshold(parties, colluding=colluding, confirmed=True)
                terms = [(parties, colluding, dropouts, each) for each in range(1, parties - dropouts + 1)]
                allowed += [closed_piece(*each) for each in terms if each[3] >= least]
                below += [closed_piece(*each) for each in terms if each[3] < least]
    assert len(allowed) > 500
    assert not any(allowed)
    assert any(below), "the control: what settings refuse"


def test_a_server_that_shows_different_keys_makes_different_sessions():
    session = session_of(3, Round.SHARES)
    other = session_of(3, Round.SHARES)
    # party 3 is shown as another run of it
    session.parties[3], session.inbox[3] = other.parties[3], other.inbox[3]
    answers = session.answers()
    session.server.receive(answers[1])
    with pytest.raises(PeerError, match="another session"):
        session.server.receive(answers[3])


@pytest.mark.parametrize("step", [Round.INPUT, Round.CONFIRM], ids=lambda each: each.name.lower())
def test_lists_only_get_shorter(step):
    session = session_of(4, step, dropouts=1, leaving={4: Round(step - 2)})
    body = session.inbox[1][HEADER_BYTES:-SIGNATURE_BYTES]
    shorter = write_list((1, 2, 3))
    assert body.startswith(shorter)
    longer = write_list((1, 2, 3, 4)) + body[len(shorter) :]
    with pytest.raises(PeerError, match="names parties who were not in the one before"):
        session.answer(1, said_by_server(session, 1, longer, step))
    session.step()


def test_who_is_not_in_the_sum_cannot_confirm_it():
    session = session_of(4, Round.CONFIRM, dropouts=1, leaving={4: Round.INPUT})
    said = session.answers()
    body = said[1][HEADER_BYTES:-SIGNATURE_BYTES]
    outside = Mailbox(session.settings, 4, enrolment(4)).write(
        body, receiver=0, session=session.server._session, round=Round.CONFIRM
    )
    request = write_list((1, 2, 3)) + write_confirmations([said[1], said[2], outside])
    with pytest.raises(PeerError, match="party 4 confirmed another list of who is in the sum, or is not in it"):
        session.parties[1].unmask(said_by_server(session, 1, request, Round.UNMASK))
    request = write_list((1, 2, 3)) + write_confirmations([said[1], said[2], said[3]])
    session.parties[1].unmask(said_by_server(session, 1, request, Round.UNMASK))


# --- parties that lie


@pytest.mark.parametrize("which", [0, 1], ids=["own mask", "private key"])
def test_a_wrong_share_gives_no_sum_and_says_whose_secret_it_was(which):
    session = session_of(5, Round.UNMASK, dropouts=1, leaving={5: Round.INPUT} if which else None)
    dealer = 5 if which else 2
    held = session.parties[1]._held
    # not in the lowest bits, which X25519 leaves out of private keys
    session.parties[1]._held = {**held, dealer: tuple(value ^ 1 << 100 for value in held[dealer])}
    with pytest.raises(PeerError, match=f"the shares of party {dealer}'s secret do not make up what it made known"):
        session.step()
    with pytest.raises(PeerError, match="not open"):
        session.server.sum()


def test_a_dealer_of_wrong_shares_gives_no_sum():
    session = session_of(3, Round.SHARES)
    session.parties[2]._own ^= 1
    for _ in range(3):
        session.step()
    with pytest.raises(PeerError, match="party 2's secret"):
        session.step()


def test_a_total_is_counted_once_and_only_as_declared():
    session = session_of(3, Round.INPUT, totals=2)
    party = session.parties[2]
    party.declaration = party.declaration[:32] + (99).to_bytes(8, "little") + bytes(8)
    answers = session.answers()
    with pytest.raises(PeerError, match="party 2 opens other totals than it declared"):
        session.server.receive(answers[2])
    for number in (1, 3):
        session.server.receive(answers[number])
    with pytest.raises(PeerError, match="2 of 3 parties answered the step input"):
        session.close()
    assert session.server.totals == (0 + 2, 0)


# --- at the wrong time


def test_messages_are_taken_once_and_in_their_round():
    session = session_of(3)
    said = []
    for step in session.rounds:
        answers = session.answers()
        for earlier in said:
            with pytest.raises(PeerError, match=r"another (session|round)|at most"):
                session.server.receive(earlier)
        for data in answers.values():
            session.server.receive(data)
        with pytest.raises(PeerError, match=f"message {int(step)} of number 1 was received before"):
            session.server.receive(answers[1])
        said += answers.values()
        asked = dict(session.inbox)
        session.close()
        if step not in (Round.KEYS, Round.UNMASK):
            with pytest.raises(PeerError, match=r"another (session|round|receiver)|at most"):
                session.answer(1, asked[1])
    with pytest.raises(PeerError, match="over"):
        session.server.receive(said[-1])
    with pytest.raises(PeerError, match="over"):
        session.server.close_round()


@pytest.mark.parametrize("step", list(Round)[1:], ids=lambda each: each.name.lower())
def test_steps_come_in_order(step):
    session = session_of(3, step)
    party = session.parties[1]
    calls = {
        Round.KEYS: party.advertise,
        Round.SHARES: lambda: party.share_keys(session.inbox[1]),
        Round.INPUT: lambda: party.mask(session.inbox[1], session.vectors[0]),
        Round.CONFIRM: lambda: party.confirm(session.inbox[1]),
        Round.UNMASK: lambda: party.unmask(session.inbox[1]),
    }
    for other, call in calls.items():
        if other is not step:
            with pytest.raises(
                PeerError, match=f"at the step {step.name.lower()}, and was asked for the step {other.name.lower()}"
            ):
                call()
    calls[step]()


def test_messages_of_another_run_are_refused_at_every_step():
    session, other = session_of(3), session_of(3)
    for step in session.rounds:
        if step is not Round.KEYS:
            with pytest.raises(PeerError, match=r"another session|other keys of party 1 than it sent"):
                session.answer(1, other.inbox[1])
        mine, theirs = session.answers(), other.answers()
        if step is not Round.KEYS:  # keys of another run would be taken, and then their owner finds them in the list
            with pytest.raises(PeerError, match="another session"):
                session.server.receive(theirs[1])
        for number in mine:
            session.server.receive(mine[number])
            other.server.receive(theirs[number])
        session.close()
        other.close()
    assert session.server.sum().tolist() == session.plain()


def test_keys_of_an_earlier_run_are_found_by_their_owner():
    earlier = session_of(3).answers()
    session = session_of(3)
    answers = session.answers()
    for data in (earlier[1], answers[2], answers[3]):
        session.server.receive(data)
    session.close()
    with pytest.raises(PeerError, match="other keys of party 1 than it sent"):
        session.answer(1, session.inbox[1])
    assert session.answer(2, session.inbox[2]), "others cannot know; but what they share, party 1 will not answer"


def test_messages_of_another_study_are_refused():
    session, other = session_of(3), session_of(3, dropouts=1)
    with pytest.raises(PeerError, match="another study"):
        session.server.receive(other.answers()[1])


def test_who_left_is_not_heard_again():
    session = session_of(5, Round.SHARES, dropouts=2)
    session.leaving[5] = Round.SHARES
    late = stored(session.parties[5]).share_keys(session.inbox[5])
    session.step()
    with pytest.raises(PeerError, match=r"another round|at most"):
        session.server.receive(late)
    forged = Mailbox(session.settings, 5, enrolment(5)).write(
        bytes(24), receiver=0, session=session.server._session, round=Round.INPUT
    )
    with pytest.raises(PeerError, match="party 5 had left before this round"):
        session.server.receive(forged)


# --- any bytes


def mutations(data, count):
    """Prefixes, flipped bits, and bytes put in, taken out or repeated."""
    yield b""
    for _ in range(count):
        at = int(RNG.integers(len(data)))
        match int(RNG.integers(5)):
            case 0:
                yield data[:at]
            case 1:
                yield data[:at] + bytes([data[at] ^ 1 << int(RNG.integers(8))]) + data[at + 1 :]
            case 2:
                yield data[:at] + RNG.bytes(int(RNG.integers(1, 9))) + data[at:]
            case 3:
                yield data[:at] + data[at + int(RNG.integers(1, 9)) :]
            case 4:
                yield RNG.bytes(at)


def attempts(data, write):
    """Any bytes, and bodies that are anything but signed as they should be."""
    for prefix in range(0, len(data), max(1, len(data) // 150)):
        yield data[:prefix]
    yield from mutations(data, 150)
    body = data[HEADER_BYTES:-SIGNATURE_BYTES]
    for changed in mutations(body, 150):
        yield write(changed)


@pytest.mark.parametrize("step", Round, ids=lambda each: each.name.lower())
def test_a_server_takes_any_bytes_or_refuses_them(step):
    session = session_of(3, step, totals=2, dropouts=1, leaving={3: Round.INPUT})
    good = session.answers()[1]
    box = Mailbox(session.settings, 1, enrolment(1))
    taken = 0
    for data in attempts(good, lambda body: box.write(body, receiver=0, session=session.server._session, round=step)):
        server = stored_server(session.server)
        try:
            assert server.receive(data) == 1
            taken += 1
        except PeerError:
            assert server._received == session.server._received
            assert server._totals == session.server._totals
            assert np.array_equal(server._masked, session.server._masked)
    # keys and shares that nobody has looked at yet, vectors and shares of any value
    assert (taken > 0) == (step is not Round.CONFIRM)


@pytest.mark.parametrize("step", list(Round)[1:], ids=lambda each: each.name.lower())
def test_a_party_takes_any_bytes_or_refuses_them(step):
    session = session_of(3, step, totals=2, dropouts=1, leaving={3: Round.INPUT})
    before = vars(session.parties[1]).copy()
    good = session.inbox[1]
    sessions = {Round.SHARES: session.parties[1]._session}
    box = Mailbox(session.settings, 0, enrolment(0))
    for data in attempts(
        good,
        lambda body: box.write(body, receiver=1, session=sessions.get(step, session.server._session), round=step),
    ):
        kept, session.parties[1] = session.parties[1], stored(session.parties[1], forgetful=True)
        try:
            session.answer(1, data)
        except PeerError:
            after = vars(session.parties[1])
            assert all(after[name] is before[name] for name in ("_next", "_session", "_held", "_pairs"))
            assert after["_members"] == before["_members"]
        session.parties[1] = kept
    session.step()


@pytest.mark.parametrize("step", Round, ids=lambda each: each.name.lower())
def test_every_bit_of_a_short_message_matters(step):
    """Every flipped bit of what a party sends is found, but for none."""
    session = session_of(2, step)
    good = session.answers()[1]
    for place in range(0, 8 * len(good), 1 if len(good) < 300 else 7):
        data = bytearray(good)
        data[place // 8] ^= 1 << place % 8
        with pytest.raises(PeerError):
            session.server.receive(bytes(data))
    assert session.server.receive(good) == 1


def test_shares_that_are_any_numbers_give_no_sum_and_no_other_error():
    for _ in range(20):
        session = session_of(4, Round.UNMASK, dropouts=1, leaving={4: Round.INPUT})
        for number, data in session.answers().items():
            body = RNG.bytes(4 * 32) if number == 2 else data[HEADER_BYTES:-SIGNATURE_BYTES]
            box = Mailbox(session.settings, number, enrolment(number))
            session.server.receive(box.write(body, receiver=0, session=session.server._session, round=Round.UNMASK))
        with pytest.raises(PeerError, match="do not make up what it made known"):
            session.close()


def test_what_is_no_bytes_is_refused():
    session = session_of(2, Round.SHARES)
    for data in ("text", None, 5, bytearray(500), np.zeros(500, np.uint8)):
        with pytest.raises(PeerError, match="at least 148 bytes"):
            session.parties[1].share_keys(data)
        with pytest.raises(PeerError, match="at least 148 bytes"):
            session.server.receive(data)
