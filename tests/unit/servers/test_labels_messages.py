"""Messages about labels that are cut, late, of another question or made up: each is refused in one line."""

import dataclasses
from contextlib import suppress

import numpy as np
import pytest
from helpers.labeling import answers_of, asked, checked, every_cast, labelings_of, labels_of, servers_of
from helpers.scope import is_everything, size
from helpers.serving import REPLACE, SESSION

from ogive.crypto.wire import read_message
from ogive.errors import PeerError
from ogive.trust.servers.labeling import converse
from ogive.trust.servers.model import opened_labels

CAST = every_cast(3, 3)
QUERY = asked(CAST, 3, check=checked(2, 1))
OTHER = asked(CAST, 3, check=checked(1, 1))
FRONT = 84
"""Bytes of a header."""


@pytest.fixture(scope="module")
def servers():
    return servers_of(CAST, QUERY)


def talk(servers, query=QUERY):
    """All messages of a conversation, and both sides before each was taken."""
    return [message for message, _ in steps(labelings_of(servers, query))]


def steps(labelings):
    """Each message of a conversation with who takes it, who then takes it."""
    garbler, evaluator = labelings
    evaluator.begin()
    said, listener, speaker = garbler.begin(), evaluator, garbler
    while said is not None:
        yield said, listener
        said, listener, speaker = listener.take(said), speaker, listener


def refuses(labeling, message):
    with pytest.raises(PeerError) as why:
        labeling.take(message)
    assert "\n" not in str(why.value)
    return str(why.value)


def listener_at(servers, number):
    """Who takes a message of the conversation, with what it is to take."""
    for place, (message, listener) in enumerate(steps(labelings_of(servers, QUERY))):
        if place == number:
            return message, listener
    raise AssertionError("the conversation is shorter")


@pytest.mark.parametrize(
    "number", [0, 1, 2, *(pytest.param(number, marks=pytest.mark.everything) for number in (3, 6)), 7]
)
def test_a_message_of_another_length_is_refused(servers, number):
    message, listener = listener_at(servers, number)
    for wrong in (b"", message[:FRONT], message[:-1], message + b"\0"):
        refuses(listener, wrong)
    refuses(listener, longer(message))
    _, listener = listener_at(servers, number)
    refuses(listener, shorter(message))


def changed(message, **fields):
    header, body = read_message(message, longest=1 << 30)
    return dataclasses.replace(header, **fields).message(body)


def longer(message):
    header, body = read_message(message, longest=1 << 30)
    return header.message(body, b"\0")


def shorter(message):
    header, body = read_message(message, longest=1 << 30)
    return header.message(body[:-1])


@pytest.mark.parametrize(
    "number", [0, 1, 2, *(pytest.param(number, marks=pytest.mark.everything) for number in (3, 5))]
)
def test_a_message_that_does_not_belong_here_is_refused_and_the_right_one_is_taken(servers, number):
    message, listener = listener_at(servers, number)
    wrong = {
        "sequence": 9, "sender": 5, "receiver": 5, "kind": 4, "suite": 1, "round": 1, "session": bytes([1]) * 16,
        "study": bytes([1]) * 32,
    }  # fmt: skip
    for name, value in wrong.items():
        refuses(listener, changed(message, **{name: value}))
    listener.take(message)


def test_a_message_about_another_question_is_refused(servers):
    others = servers_of(CAST, OTHER)
    elsewhere = talk(others, OTHER)[0]
    _, listener = listener_at(servers, 0)
    assert "another question" in refuses(listener, elsewhere)


def test_a_message_that_comes_twice_or_after_the_end_is_refused(servers):
    message, listener = listener_at(servers, 0)
    listener.take(message)
    assert "sequence number" in refuses(listener, message)
    labelings = labelings_of(servers, QUERY)
    *_, (last, _) = steps(labelings)
    for labeling in labelings:
        assert "nothing more is taken" in refuses(labeling, last)


def test_a_server_that_stops_too_early_is_noticed(servers):
    garbler, evaluator = labelings_of(servers, QUERY)
    evaluator.take = lambda message: None
    with pytest.raises(PeerError, match="nothing more to say"):
        converse(garbler, evaluator)


def test_any_bytes_are_taken_or_refused_by_servers(servers):
    rng = np.random.default_rng(1)
    for number in range(8) if is_everything() else (0, 1, 2, 3, 6):  # a label has the steps of a check
        for _ in range(size(2, part=1)):
            message, listener = listener_at(servers, number)
            spoilt = bytearray(message)
            for place in rng.integers(0, len(message), 3):
                spoilt[place] ^= int(rng.integers(1, 256))
            with suppress(PeerError):  # anything else ends the test
                listener.take(bytes(spoilt))


def opened(answers, servers, query=QUERY):
    return opened_labels(answers, servers[0].collected, session=SESSION, query=query, adjacency=REPLACE)


def test_the_analyst_refuses_answers_that_do_not_belong_together(servers):
    answers, _ = answers_of(servers, QUERY)
    labels = opened(answers, servers)
    assert np.array_equal(opened(answers[::-1], servers), labels)
    elsewhere, _ = answers_of(servers_of(CAST, OTHER), OTHER)
    header, body = read_message(answers[1], longest=1 << 30)
    statuses = slice(64, 64 + CAST.shape[1])
    other_clients = header.message(bytes(32) + body[32:])
    other_statuses = bytearray(body)
    other_statuses[64] = (other_statuses[64] + 1) % 256
    strange = [
        read_message(each, longest=1 << 30)[0].message(
            read_message(each, longest=1 << 30)[1][:64] + b"\5" * CAST.shape[1]
        )
        for each in answers
    ]
    cases = [
        ([], "server 0 has not answered"),
        (answers[:1], "server 1 has not answered"),
        ([answers[0], answers[0]], "answered twice"),
        ([answers[0], elsewhere[1]], "another question"),
        ([answers[0], changed(answers[1], sequence=3)], "another question"),
        ([answers[0], other_clients], "did not count the same clients"),
        ([answers[0], header.message(bytes(other_statuses))], "do not agree on which queries"),
        (strange, "do not agree on which queries"),
        ([answers[0], shorter(answers[1])], "ends after"),
        ([answers[0], longer(answers[1])], "too long|at most"),
        ([answers[0], answers[1][:-1]], "message"),
    ]
    assert set(np.frombuffer(body[statuses], "<i1").tolist()) == {0, -1}
    for sent, why in cases:
        with pytest.raises(PeerError, match=why) as problem:
            opened(sent, servers)
        assert "\n" not in str(problem.value)


def test_the_analyst_refuses_a_label_of_no_class_and_more_answers_than_were_asked_for(servers):
    query = asked(CAST, 3)
    first, second = answers_of(servers_of(CAST, query), query)[0]
    (place,) = opened([first, second], servers, query)[:1]
    header, body = read_message(second, longest=1 << 30)
    front = 64 + CAST.shape[1]
    fourth = body[:front] + bytes([body[front] ^ place ^ 3]) + body[front + 1 :]
    with pytest.raises(PeerError, match="a label of no class"):
        opened([first, header.message(fourth)], servers, query)
    fewer = asked(CAST, 3, most=5)
    answers, labelings = answers_of(servers_of(CAST, fewer), fewer)
    claimed = []
    for answer in answers:
        header, body = read_message(answer, longest=1 << 30)
        claimed.append(header.message(body[:64] + bytes(6) + body[70:]))
    assert (labelings[0].statuses[:6] == [0, 0, 0, 0, 0, -2]).all()
    with pytest.raises(PeerError, match="answered 6 queries, and at most 5"):
        opened(claimed, servers, fewer)


def test_a_server_that_flips_its_half_changes_labels_and_nobody_notices(servers):
    """What is assumed is needed: servers that do not follow the protocol make labels wrong."""
    query = asked(every_cast(3, 2), 2)
    met = servers_of(every_cast(3, 2), query)
    first, second = answers_of(met, query)[0]
    header, body = read_message(second, longest=1 << 30)
    flipped = header.message(body[:-1] + bytes([body[-1] ^ 1]))
    assert not np.array_equal(opened([first, flipped], met, query), labels_of(met, query))
