"""Messages between servers that are changed, repeated, late, in another order or of another session."""

import dataclasses
import functools

import numpy as np
import pytest
from helpers.scope import size
from helpers.serving import (
    REPLACE,
    SESSION,
    SIZE,
    agree,
    ask,
    bytes_of,
    collected,
    meet,
    new_servers,
    opened,
    uploads_of,
)

from ogive.crypto import wire
from ogive.crypto.sketch import Round
from ogive.crypto.wire import HEADER_BYTES, Suite, read_message
from ogive.errors import PeerError, UnsupportedError
from ogive.records.contributions import Contributions
from ogive.trust.servers.clients import upload
from ogive.trust.servers.model import add_answers
from ogive.trust.servers.server import ANSWER, FROZEN, STATE

pytestmark = pytest.mark.usefixtures("silent")

CELLS = np.random.default_rng(8).integers(0, SIZE, size=6)
QUERY = opened(4)
TRUTH = QUERY.measure(np.bincount(CELLS, minlength=SIZE))
SEQUENCE = range(68, 76)
OTHER = b"o" * 16
STEPS = 8
"""Messages that server 1 sends: its list, a state, four of a verification, a state, an answer."""


def holding(session=SESSION):
    """Two servers with the uploads of a session, which compared nothing yet; the same bytes whenever made."""
    settings = collected(verifications=2)
    servers = new_servers(settings, session)
    messages = upload(settings, Contributions(CELLS, None), batch=0, session=session, random=bytes_of(3))
    for server, message in zip(servers, messages, strict=True):
        server.receive(message)
    return servers


class Run:
    """Two servers that answer a question, step by step; `spoil` changes what server 1 sends in a step to server 0."""

    def __init__(self, spoil=lambda step, message: [], session=SESSION):
        self.servers, self.spoil = holding(session), spoil
        self.sent = []  # what server 1 sent, by step
        self.refused = []  # what server 0, or the analyst, said of changed messages

    def hear(self, message, take):
        """Give server 0 each changed message in turn, then the right one where all were refused."""
        step, found = len(self.sent), None
        self.sent.append(message)
        for changed in self.spoil(step, message):
            before = None if self.servers[0].state is None else self.servers[0].state.to_bytes()
            try:
                found = take(changed)
            except PeerError as refusal:
                self.refused.append(str(refusal))
                assert before == self.servers[0].state.to_bytes(), "a refusal changes nothing"
            else:
                return found
        return take(message)

    def answers(self):
        """The sum that the analyst finds."""
        one, two = self.servers
        lists = one.freeze(), two.freeze()
        self.hear(lists[1][0], lambda message: one.agree([message]))
        two.agree([lists[0][1]])
        some = [server.prepare(QUERY) for server in self.servers]
        sent = [each.begin() for each in some]
        while not all(each.done for each in some):
            there = some[1].take([sent[0][1]])
            here = self.hear(sent[1][0], lambda message: some[0].take([message]))
            sent = [here, there]
        answers = [server.answer(QUERY, REPLACE) for server in self.servers]
        where = {"session": one.session, "query": QUERY, "adjacency": REPLACE}
        return self.hear(answers[1], lambda message: add_answers([answers[0], message], one.collected, **where))


@functools.cache
def honest():
    """What server 1 sends where nobody interferes."""
    run = Run()
    run.answers()
    assert len(run.sent) == STEPS
    return tuple(run.sent)


def flipped(message, place, mask):
    return message[:place] + bytes([message[place] ^ mask]) + message[place + 1 :]


def flipping(step, place, mask):
    """Changes one byte of the message of one step."""
    return lambda now, right: [flipped(right, place, mask)] if now == step else []


def test_the_numbers_of_messages_follow_from_what_they_are():
    headers = [read_message(message, longest=1 << 20)[0] for message in honest()]
    kinds = [header.kind for header in headers]
    assert kinds == [FROZEN, STATE, *Round, STATE, ANSWER]
    assert [header.sequence for header in headers[:-1]] == [0, 1, 1, 2, 3, 4, 2]
    again = Run()
    again.answers()
    assert tuple(again.sent) == honest()


@pytest.mark.parametrize("step", range(STEPS))
def test_every_changed_byte_of_a_header_is_refused_and_changes_nothing(step):
    message = honest()[step]
    masks, places = (1, 128, 255), range(HEADER_BYTES)
    changes = [flipped(message, place, mask) for place in places for mask in masks]
    run = Run(lambda now, right: changes if now == step else [])
    assert np.array_equal(run.answers(), TRUTH)
    assert run.sent[step] == message
    assert len(run.refused) == len(changes)


def test_readers_that_compare_no_numbers_take_changed_ones(monkeypatch):
    """The control: what any reader did once."""
    read = wire.Inbox.read
    any_number = {"sequence": None}
    monkeypatch.setattr(wire.Inbox, "read", lambda self, data, **options: read(self, data, **options | any_number))
    taken = 0
    for step in range(2, 6):
        for place in SEQUENCE:
            run = Run(flipping(step, place, 1))
            assert np.array_equal(run.answers(), TRUTH)
            taken += not run.refused
    assert taken == 4 * len(SEQUENCE)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("step", range(STEPS))
def test_a_changed_byte_of_a_body_is_refused_or_shown_and_never_moves_an_answer(step):
    """Whoever can change bytes on the way can stop an answer, or have clients left out, which is said."""
    body = len(honest()[step]) - HEADER_BYTES
    outcomes = set()
    for place in range(HEADER_BYTES, HEADER_BYTES + body, max(1, body // size(60, part=20))):
        run = Run(flipping(step, place, 64))
        try:
            found = run.answers()
        except (PeerError, UnsupportedError):
            outcomes.add("stopped")
            continue
        lost = run.servers[0].left_out
        outcomes.add("refused" if run.refused else "left out" if lost else "the same")
        if step < STEPS - 1:
            assert np.abs(found - TRUTH).max() <= lost
    # a share of an answer is any number, so the analyst's channel has to be authenticated
    assert step == STEPS - 1 or outcomes


def renumbered(message, **changed):
    header, body = read_message(message, longest=1 << 20)
    return dataclasses.replace(header, **changed).message(body)


@pytest.mark.parametrize("step", range(STEPS))
def test_messages_of_other_steps_are_refused_whatever_their_number_says(step):
    headers = [read_message(message, longest=1 << 20)[0] for message in honest()]

    def others(now, right):
        if now != step:
            return []
        # a later state is what a server says that began anew meanwhile
        there = [message for number, message in enumerate(honest()) if number != step and (step, number) != (1, 6)]
        return there + [renumbered(message, sequence=headers[step].sequence) for message in there]

    run = Run(others)
    assert np.array_equal(run.answers(), TRUTH)
    assert len(run.refused) == 2 * (STEPS - 1 - (step == 1))


@pytest.mark.parametrize("step", range(STEPS))
def test_a_message_that_comes_twice_in_one_round_is_refused(step):
    servers = holding()
    one = servers[0]
    sent = honest()[step]
    if step == 0:
        one.freeze()
        with pytest.raises(PeerError, match="two messages of one round"):
            one.agree([sent, sent])
    elif step == STEPS - 1:
        agree(servers)
        ask(servers, QUERY)
        answer = one.answer(QUERY, REPLACE)
        with pytest.raises(PeerError, match="answered twice"):
            add_answers([answer, sent, sent], one.collected, session=SESSION, query=QUERY, adjacency=REPLACE)
    else:
        agree(servers)
        some = [server.prepare(QUERY) for server in servers]
        sent = [each.begin() for each in some]
        for _ in range(step - 1):
            sent = [some[0].take([sent[1][0]]), some[1].take([sent[0][1]])]
        with pytest.raises(PeerError, match="two messages of one round"):
            some[0].take([sent[1][0]] * 2)


@pytest.mark.parametrize("step", range(STEPS))
def test_messages_of_another_session_are_refused_also_under_this_ones_name(step):
    other = Run(session=OTHER)
    other.answers()
    theirs = other.sent[step]
    run = Run(lambda now, right: [theirs] if now == step else [])
    assert np.array_equal(run.answers(), TRUTH)
    assert len(run.refused) == 1
    assert "session" in run.refused[0]
    # names, states and commitments are bound to their session inside too
    if step in (0, 1, 2, 6):
        disguised = Run(lambda now, right: [renumbered(theirs, session=SESSION)] if now == step else [])
        try:
            disguised.answers()
        except (PeerError, UnsupportedError):
            return
        assert disguised.refused or disguised.servers[0].clients == 0


def test_messages_of_an_earlier_question_are_refused_under_any_number():
    """The same servers verify twice: what was sent the first time is of no use the second time."""
    settings = collected(verifications=3)
    servers = meet(settings, uploads_of(settings, CELLS))
    rounds = []
    for query in (opened(4), opened(4, 9)):
        some = [server.prepare(query) for server in servers]
        sent, seen = [each.begin() for each in some], []
        while not all(each.done for each in some):
            seen.append(sent[1][0])
            if rounds and len(seen) <= len(rounds[0]):
                old, right = rounds[0][len(seen) - 1], sent[1][0]
                header, _ = read_message(right, longest=1 << 20)
                replays = [old, renumbered(old, sequence=header.sequence)]
                # numbers that look uniform say nothing of when they were sent; what else is sent does
                if header.suite == Suite.SERVERS or header.kind in (Round.COMMIT, Round.OPEN):
                    replays.append(renumbered(old, sequence=header.sequence, round=header.round))
                for replayed in replays:
                    with pytest.raises(PeerError):
                        some[0].take([replayed])
            sent = [some[0].take([sent[1][0]]), some[1].take([sent[0][1]])]
        rounds.append(seen)
    assert len(rounds[0]) == len(rounds[1]) == 6
