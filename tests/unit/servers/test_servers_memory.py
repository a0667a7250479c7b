"""What servers remember only grows: preparations that overlap, messages that come late, lists asked for again."""

import dataclasses

import numpy as np
import pytest
from helpers.serving import (
    REPLACE,
    SESSION,
    SIZE,
    agree,
    ask,
    collected,
    hostile,
    meet,
    new_server,
    new_servers,
    opened,
    resent,
    uploads_of,
    whole,
)

import ogive
from ogive import PureDP, Servers
from ogive.crypto import sketch
from ogive.errors import DataError, ParameterError, PeerError, UnsupportedError
from ogive.privacy import Adjacency
from ogive.trust.servers.model import run
from ogive.trust.servers.server import ServerState, Stop
from ogive.trust.servers.uploads import KEYS, TABLES

CELLS = np.random.default_rng(5).integers(0, SIZE, size=60)
COUNTS = np.bincount(CELLS, minlength=SIZE)


@pytest.fixture
def claims(monkeypatch):
    """For each server and piece of material, the claims that it was used for."""
    found = {}
    begin = sketch.Check.__init__

    def noting(check, claim, shares, **named):
        begin(check, claim, shares, **named)
        found.setdefault((shares.server, named["number"]), []).append(claim)

    monkeypatch.setattr(sketch.Check, "__init__", noting)
    return found


def points_of(claims):
    return {place: [claim.points.tolist() for claim in each] for place, each in claims.items()}


def exchanged(some, sent):
    """What every server sends after it got what the others sent it."""
    received = [[messages[number] for messages in sent if number in messages] for number in range(len(some))]
    return [each.take(messages) for each, messages in zip(some, received, strict=True)]


def begun(servers, query):
    some = [server.prepare(query) for server in servers]
    return some, [each.begin() for each in some]


def finished(some, sent):
    while not all(each.done for each in some):
        sent = exchanged(some, sent)


# Preparations that overlap


def test_of_two_preparations_the_one_begun_last_goes_on(claims, silent):
    servers = meet(collected(), uploads_of(collected(), CELLS))
    first, late = begun(servers, opened(6))
    second, sent = begun(servers, opened(*range(12)))
    with pytest.raises(PeerError, match="another preparation was begun after this one"):
        exchanged(first, late)
    finished(second, sent)
    with pytest.raises(PeerError, match="another preparation was begun after this one"):
        first[0].take([late[1][0]])
    assert points_of(claims) == {(server, 0): [list(range(12))] for server in range(2)}
    assert np.array_equal(ask(servers, opened(6)), opened(6).measure(COUNTS))


def test_a_preparation_in_the_middle_of_a_check_uses_its_material_up(claims):
    servers = meet(collected(), uploads_of(collected(), CELLS))
    first, sent = begun(servers, opened(6))
    sent = exchanged(first, sent)
    run([server.prepare(opened(*range(12))) for server in servers])
    with pytest.raises(PeerError, match="another preparation was begun after this one"):
        exchanged(first, sent)
    assert points_of(claims) == {(s, n): [points] for s in range(2) for n, points in ((0, [6]), (1, list(range(12))))}


def test_late_states_are_refused_and_bring_nobody_back(claims, silent):
    """A state from before a client was left out and a question answered: neither is forgotten."""
    settings = collected()
    honest = [resent(each, number + 1) for number, each in enumerate(uploads_of(settings, CELLS, size=60))]
    servers = meet(settings, [hostile(settings, 10, 5), *honest])
    _, late = begun(servers, opened(6))
    first = ask(servers, opened(6))
    before = [server.state for server in servers]
    assert [(each.used, each.left_out.size, each.answered) for each in before] == [(1, 1, True)] * 2
    some, sent = begun(servers, opened(6))
    with pytest.raises(PeerError, match="is an old one, which came late or twice"):
        exchanged(some, late)
    with pytest.raises(PeerError, match="is an old one, which came late or twice"):
        some[0].take([late[1][0]])
    finished(some, sent)
    for server, state in zip(servers, before, strict=True):
        assert dataclasses.replace(server.state, sequence=state.sequence).to_bytes() == state.to_bytes()
    assert np.array_equal(ask(servers, opened(6)), first)
    assert set(map(len, claims.values())) == {1}


def test_whatever_others_say_a_server_forgets_nothing():
    """Maxima are taken with what a server itself remembers now, in whatever order messages come."""
    servers = meet(collected(), uploads_of(collected(), CELLS))
    begin = servers[1].state
    own = dataclasses.replace(servers[0].state, used=3, left_out=np.array([4]))
    servers[0].state = own
    servers[0].adopt([begin])
    assert servers[0].state.to_bytes() == own.to_bytes()
    servers[0].adopt([dataclasses.replace(begin, used=2, left_out=np.array([1]), answered=False)])
    assert (servers[0].state.used, servers[0].state.left_out.tolist()) == (3, [1, 4])
    servers[0].state = dataclasses.replace(own, answered=True)
    with pytest.raises(UnsupportedError, match="after a question had been answered"):
        servers[0].adopt([begin])
    assert (servers[0].state.answered, servers[0].state.stopped) == (True, Stop.LATE)


def test_a_question_answered_while_another_is_prepared_is_not_forgotten(silent):
    servers = meet(collected(), uploads_of(collected(), CELLS))
    ask(servers, opened(6))
    for server in servers:
        server.state = dataclasses.replace(server.state, answered=False)
    some, sent = begun(servers, opened(3))
    for server in servers:
        server.answer(opened(6), REPLACE)
    finished(some, sent)
    assert all(server.state.answered for server in servers)


def test_servers_that_go_on_say_newer_states_than_before():
    """Numbers of states are stored, so that a server which runs on hears one that was made again."""
    settings = collected()
    uploads = list(uploads_of(settings, CELLS))
    servers = meet(settings, uploads)
    first = ask(servers, opened(6))
    again = new_server(settings, 1, state=ServerState.from_bytes(servers[1].state.to_bytes()))
    for messages in uploads:
        again.receive(messages[1])
    again.freeze()
    again.agree([servers[0].freeze()[1]])
    assert np.array_equal(ask([servers[0], again], opened(6)), first)


# The last exchange


def test_nobody_answers_before_all_said_that_they_count_the_same():
    servers = meet(collected(), uploads_of(collected(), CELLS))
    some, sent = begun(servers, opened(6))
    for _ in range(5):
        sent = exchanged(some, sent)
        with pytest.raises(ParameterError, match="prepare the question first"):
            servers[0].answer(opened(6), REPLACE)
    assert servers[0].state.ends.size, "it counted, and waits for the other"
    finished(some, sent)
    assert servers[0].answer(opened(6), REPLACE)
    states = [server.state for server in servers]
    servers[0].state = dataclasses.replace(states[0], left_out=np.array([1]))
    with pytest.raises(ParameterError, match="prepare the question first"):
        servers[0].answer(opened(6), REPLACE)


# States that cannot be


@pytest.mark.parametrize("places", [[2**62, -(2**62) - 1, 0], [-1, 3], [3, 3], [4, 2], [0, -1], [2**63 - 1, -(2**63)]])
@pytest.mark.parametrize("name", ["ends", "left_out"])
def test_lists_that_do_not_increase_are_no_state(name, places):
    state = ServerState(bytes(32), SESSION, 1, **{name: np.array(places, dtype=np.int64)})
    with pytest.raises(PeerError, match="not in the form"):
        ServerState.from_bytes(state.to_bytes())


@pytest.mark.parametrize("kind", [KEYS, TABLES])
def test_states_that_no_server_can_have_are_refused(kind):
    settings = collected(kind)
    servers = meet(settings, uploads_of(settings, CELLS))
    most = 4 if kind == KEYS else 3
    wrong = [
        ({"sequence": 9, "used": most + 1}, f"more than {most} verifications"),
        ({"sequence": 9, "ends": np.array([3, 5])}, "leave out the last cell"),
        ({"sequence": 0}, "is an old one"),
    ]
    for changed, match in wrong:
        some = servers[0].prepare(opened(3))
        some.begin()
        before = servers[0].state.to_bytes()
        with pytest.raises(PeerError, match=match):
            some.take([servers[1].say(dataclasses.replace(servers[1].state, **changed))[0]])
        assert servers[0].state.to_bytes() == before
    good = dataclasses.replace(servers[1].state, sequence=9, used=most, ends=np.array([3, SIZE - 1]))
    assert servers[0].hear([servers[1].say(good)[0]])[0].used == most


# Lists of names


def test_a_list_is_told_again_and_a_wrong_one_changes_nothing(silent):
    settings = collected()
    uploads = list(uploads_of(settings, CELLS))
    servers = meet(settings, uploads)
    lists = [server.freeze() for server in servers]
    assert len(lists[0][1]) == len(lists[1][0]) > 32 * CELLS.size
    ask(servers, opened(6))
    again, fewer = (new_server(settings, 1, state=servers[1].state), new_server(settings, 0))
    for messages in uploads:
        again.receive(messages[1])
    for messages in uploads[:-1]:
        fewer.receive(messages[0])
    again.freeze()
    with pytest.raises(PeerError, match="not those with which this server began"):
        again.agree([fewer.freeze()[1]])
    assert again.clients == 0
    again.agree([servers[0].freeze()[1]])
    assert again.clients == CELLS.size
    assert np.array_equal(ask([servers[0], again], whole()), whole().measure(COUNTS))


# Uploads


def test_nobody_removes_a_client_by_using_its_number(silent):
    settings = collected()
    honest = list(uploads_of(settings, CELLS[:5], size=1))
    others = list(uploads_of(settings, CELLS[5:10], size=1, seed=77))
    servers = new_servers(settings, clients=1)
    for messages in [*others, *honest, *honest]:
        for server, message in zip(servers, messages, strict=True):
            server.receive(message)
    agree(servers)
    assert [server.clients for server in servers] == [10, 10]
    assert np.array_equal(ask(servers, whole()), whole().measure(np.bincount(CELLS[:10], minlength=SIZE)))


@pytest.mark.parametrize("stops", [1, 2, 3])
def test_servers_that_are_stopped_within_the_check_of_tables_have_others(stops, claims, silent):
    settings = collected(TABLES, servers=3)
    servers = meet(settings, uploads_of(settings, CELLS))
    for _ in range(stops):
        some, sent = begun(servers, opened(6))
        exchanged(some, sent)
    if stops == 3:
        with pytest.raises(UnsupportedError, match="material for 3 verifications, and all were used"):
            ask(servers, opened(6))
        return
    assert np.array_equal(ask(servers, opened(6)), opened(6).measure(COUNTS))
    assert np.array_equal(ask(servers, opened(3)), opened(3).measure(COUNTS))
    assert servers[0].state.used == stops + 1, "the first that ends is of all cells"
    assert {place: len(each) for place, each in claims.items()} == {
        (server, number): 1 for server in range(3) for number in range(stops + 1)
    }


def test_no_organization_has_records():
    nothing = [{"age": []}, {"age": []}]
    statistic = ogive.Ecdf("age", bounds=(0, 120), grid="integers")
    with pytest.raises(DataError, match="no party has any records"):
        ogive.release(statistic, trust=Servers(nothing), privacy=PureDP(1))
    some = [{"age": []}, {"age": [5]}]
    assert ogive.release(statistic, trust=Servers(some), privacy=PureDP(1)).total == 1
    hidden = ogive.release(statistic, trust=Servers(nothing), privacy=PureDP(1), adjacency=Adjacency.ADD_OR_REMOVE)
    assert hidden.provenance.price == PureDP(1)


def test_the_assumption_names_what_is_taken_for_random():
    assumption = Servers({"age": [3]}).assumption
    assert all(each in assumption for each in ("AES", "SHA-256", "SHAKE-256"))
