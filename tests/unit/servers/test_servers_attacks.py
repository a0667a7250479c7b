"""Attacks on servers that count for others, each played to its end: what is learnt, or what is refused."""

import contextlib
import dataclasses
import json
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from helpers.serving import (
    REPLACE,
    SESSION,
    SIZE,
    agree,
    ask,
    bytes_of,
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
from ogive.columns import Binning
from ogive.crypto import field, sketch, tables
from ogive.crypto.wire import HEADER_BYTES, read_message
from ogive.errors import DataError, ParameterError, PeerError, ReleaseMismatchError, UnsupportedError
from ogive.noise import KeyedSource
from ogive.privacy import Adjacency
from ogive.queries import CurveQuery
from ogive.records.contributions import Contributions
from ogive.releasing import pointwise
from ogive.strategies import design_path, design_tree
from ogive.trust.servers.clients import upload, upload_messages, upload_sums
from ogive.trust.servers.model import ServersOpening, add_answers, run
from ogive.trust.servers.server import ServerState, Stop
from ogive.trust.servers.uploads import KEYS, SUMS, TABLES

AGE = ogive.Ecdf("age", (0, 120), grid="integers")
CELLS = np.random.default_rng(5).integers(0, SIZE, size=60)


@pytest.fixture
def views(monkeypatch):
    """What server 0 sees of every verification: its number, claim and identity, and the factor that was opened."""
    found = []
    results = sketch.Check.results

    def noting(check, messages):
        messages = list(messages)
        sent = results(check, messages)
        if check._shares.server == 0:
            total = check._total(sketch.Round.MASKS, messages, check._masks)
            found.append((check._number, check._claim, check._identity, total[0]))
        return sent

    monkeypatch.setattr(sketch.Check, "results", noting)
    return found


def guessed(first, second, cells):
    """How many clients' blocks follow from two verifications, if both had the same material."""

    def projected(view, cell):
        _, claim, identity, _ = view
        reached = (claim.points < cell).astype(object)
        return (int(identity.constants[0]) + int(identity.weights[0].astype(object) @ reached)) % field.P

    size = int(max(cells)) + 1
    told = {}
    for cell in range(size):
        told.setdefault((projected(second, cell) - projected(first, cell)) % field.P, set()).add(cell)
    seen = [(int(b) - int(a)) % field.P for a, b in zip(first[3], second[3], strict=True)]
    return sum(bool(told.get(each, set()) & set(cells.tolist())) for each in seen)


# Material that is used twice


def test_material_that_is_used_twice_tells_cells(views):
    """Control: two checks that use one piece of material for two claims."""
    settings = collected()
    for points in ((6,), tuple(range(12))):
        run([server.prepare(opened(*points)) for server in meet(settings, uploads_of(settings, CELLS))])
    assert views[0][0] == views[1][0] == 0
    assert guessed(*views, CELLS) == CELLS.size


def test_a_resumed_curve_uses_no_material_for_another_claim(tmp_path, views):
    ages = np.random.default_rng(3).integers(0, 121, size=200)
    trust, state = Servers({"age": ages}, upload="keys"), tmp_path / "state"
    ogive.PointwiseCurve.open(AGE, trust=trust, privacy=PureDP(1), state=state).counts([60])
    ogive.PointwiseCurve.resume(state, trust=trust).counts(list(range(5, 120, 5)))
    first, again, second = views
    assert [first[0], again[0], second[0]] == [0, 0, 1]
    assert np.array_equal(first[3], again[3]), "what was asked before is the same transcript"
    assert np.array_equal(first[2].weights, again[2].weights)
    assert guessed(first, second, ages) == 0
    assert guessed(again, second, ages) == 0


@pytest.mark.parametrize("where", ["check", "record"])
def test_after_a_question_that_was_cut_off_a_curve_has_to_be_resumed(tmp_path, monkeypatch, views, where):
    ages = np.random.default_rng(3).integers(0, 121, size=200)
    trust, state = Servers({"age": ages}, upload="keys"), tmp_path / "state"
    curve = ogive.PointwiseCurve.open(AGE, trust=trust, privacy=PureDP(1), state=state)

    def cut_off(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(*((sketch.Check, "accepted") if where == "check" else (ServersOpening, "answer")), cut_off)
        with pytest.raises(KeyboardInterrupt):
            curve.counts([60])
    for points in ([60], [30], []):
        with pytest.raises(ReleaseMismatchError, match="was cut off"):
            curve.counts(points)
    if where == "check":
        with pytest.raises(ReleaseMismatchError, match="was cut off"):
            curve._opening.answer(opened_at(60))
    resumed = ogive.PointwiseCurve.resume(state, trust=trust)
    resumed.counts(list(range(5, 120, 5)))
    by_material = {}
    for number, claim, *_ in views:
        by_material.setdefault(number, set()).add(claim.points.tobytes())
    assert sorted(by_material) == [0, 1]
    assert all(len(claims) == 1 for claims in by_material.values()), "one claim for each piece of material"


def opened_at(*points):
    return CurveQuery(AGE.binning(), design_path(121, privacy=PureDP(1), adjacency=REPLACE), points)


def test_a_curve_uploads_the_same_kind_whatever_is_asked_first(tmp_path):
    """Of two kinds the noise would be two, and a point could be asked of both."""
    for size in (3, 7, 12, 121):
        statistic = ogive.Ecdf("age", (0, size - 1), grid="integers")
        trust = Servers({"age": np.random.default_rng(3).integers(0, size, size=500)}, verified=False)
        state = tmp_path / str(size)
        curve = ogive.PointwiseCurve.open(statistic, trust=trust, privacy=PureDP("0.1"), state=state)
        one = curve.counts([size // 2])
        assert json.loads(state.read_text())["asked"] == [[size // 2]]
        resumed = ogive.PointwiseCurve.resume(state, trust=trust)
        assert resumed.counts(list(range(size)))[size // 2] == one[0]
        afresh = trust.resume(REPLACE, secret=bytes.fromhex(json.loads(state.read_text())["secret"]))
        again = ogive.PointwiseCurve(curve._query, afresh, PureDP("0.1"), REPLACE, state=None)
        assert again.counts(list(range(size)))[size // 2] == one[0], "also for who asks all at first"


def test_the_kind_of_upload_is_part_of_what_fixes_the_noise():
    secret = bytes(32)
    contexts = {
        upload: Servers({"age": np.arange(100)}, upload=upload).resume(REPLACE, secret=secret).context(opened_at(5))
        for upload in ("auto", "keys", "tables")
    }
    assert contexts["auto"] == contexts["keys"] != contexts["tables"]


def test_of_two_who_go_on_with_one_curve_at_once_one_is_refused(tmp_path, monkeypatch):
    """Both have read the state before either has written it."""
    trust, state = Servers({"age": np.arange(100)}, upload="keys"), tmp_path / "state"
    ogive.PointwiseCurve.open(AGE, trust=trust, privacy=PureDP(1), state=state)
    curves = [ogive.PointwiseCurve.resume(state, trust=trust) for _ in range(2)]
    read, both = pointwise._asked, threading.Barrier(2)

    def slow(path):
        found = read(path)
        with contextlib.suppress(threading.BrokenBarrierError):
            both.wait(0.3)
        return found

    monkeypatch.setattr(pointwise, "_asked", slow)

    def attempt(curve, point):
        try:
            return curve.counts([point])
        except ReleaseMismatchError:
            return None

    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(attempt, curves, (30, 40)))
    assert sum(answer is not None for answer in answers) == 1
    assert len(json.loads(state.read_text())["asked"]) == 1


@pytest.mark.parametrize(
    "trust", [Servers([{"age": []}, {"age": []}]), Servers({"age": []}), Servers([{"age": []}], upload="tables")]
)
def test_a_release_of_nobody_is_refused_where_it_would_show(trust):
    with pytest.raises(DataError, match="no party has any records"):
        ogive.release(AGE, trust=trust, privacy=PureDP(1))
    assert ogive.release(AGE, trust=trust, privacy=PureDP(1), adjacency=Adjacency.ADD_OR_REMOVE).total is None


def test_every_message_of_a_resumed_curve_is_the_one_that_was_sent(tmp_path, monkeypatch):
    sent = []
    send = sketch.Check._send

    def noting(check, done, body):
        messages = send(check, done, body)
        sent.append(messages)
        return messages

    monkeypatch.setattr(sketch.Check, "_send", noting)
    trust, state = Servers({"age": np.arange(100)}, upload="keys"), tmp_path / "state"
    curve = ogive.PointwiseCurve.open(AGE, trust=trust, privacy=PureDP(1), state=state)
    values = [curve.counts([point])[0] for point in (60, 20, 90, 20)]
    before = list(sent)
    resumed = ogive.PointwiseCurve.resume(state, trust=trust)
    assert sent == 2 * before
    assert [resumed.counts([point])[0] for point in (90, 20, 60)] == [values[2], values[1], values[0]]
    assert sent == 2 * before


def test_a_release_that_goes_on_sends_the_same_messages(monkeypatch, tmp_path):
    sent = []
    send = sketch.Check._send

    def noting(check, done, body):
        messages = send(check, done, body)
        sent.append(messages)
        return messages

    monkeypatch.setattr(sketch.Check, "_send", noting)
    data = {"age": np.random.default_rng(4).integers(0, 121, size=100)}
    with ogive.Ledger.open(tmp_path / "books.db") as ledger:
        account = ledger.account("ages", unit=Servers(data).unit(Adjacency.REPLACE), limit=PureDP(5))
        statistic = ogive.Quantiles("age", [0.2, 0.7], bounds=(0, 120), grid="integers")

        class StoppedError(Exception):
            pass

        publish = "ogive.releasing.release.Payment.record"
        with monkeypatch.context() as patch:
            patch.setattr(publish, lambda books, estimate: (_ for _ in ()).throw(StoppedError))
            with pytest.raises(StoppedError):
                ogive.release(statistic, trust=Servers(data, upload="keys"), privacy=PureDP(1), ledger=account)
        before = list(sent)
        assert before
        ogive.release(statistic, trust=Servers(data, upload="keys"), privacy=PureDP(1), ledger=account)
        assert sent == 2 * before


def test_of_two_who_go_on_with_one_curve_one_is_refused(tmp_path):
    trust, state = Servers({"age": np.arange(100)}, upload="keys"), tmp_path / "state"
    ogive.PointwiseCurve.open(AGE, trust=trust, privacy=PureDP(1), state=state)
    one, other = (ogive.PointwiseCurve.resume(state, trust=trust) for _ in range(2))
    one.counts([30])
    with pytest.raises(ReleaseMismatchError, match="another process continues"):
        other.counts([40])
    state.unlink()
    with pytest.raises(DataError, match="cannot read"):
        one.counts([50])


def restarted(settings, states, uploads):
    servers = [
        new_server(settings, number, state=state, random=bytes_of(900 + number)) for number, state in enumerate(states)
    ]
    for batch in uploads:
        for server, message in zip(servers, batch, strict=True):
            server.receive(message)
    agree(servers)
    return servers


def test_a_server_that_goes_on_uses_new_material_and_answers_alike(views):
    settings = collected()
    uploads = list(uploads_of(settings, CELLS))
    servers = meet(settings, uploads)
    first = ask(servers, opened(6))
    states = [ServerState.from_bytes(server.state.to_bytes()) for server in servers]
    again = restarted(settings, states, uploads[::-1])
    assert np.array_equal(ask(again, opened(6)), first)
    assert len(views) == 1, "nothing is verified to answer what was answered"
    ask(again, opened(*range(12)))
    assert [view[0] for view in views] == [0, 1]
    assert guessed(*views, CELLS) == 0


@pytest.mark.parametrize("turn", range(1, 6))
def test_a_server_that_was_stopped_in_a_check_begins_another(turn, views):
    """Wherever one server stops, with the state that it had when it last returned, its material is not used again."""
    settings = collected()
    uploads = list(uploads_of(settings, CELLS))
    servers = meet(settings, uploads)
    some = [server.prepare(opened(6)) for server in servers]
    sent = [each.begin() for each in some]
    for _ in range(turn):
        received = [[messages[number] for messages in sent if number in messages] for number in range(2)]
        sent = [each.take(messages) for each, messages in zip(some, received, strict=True)]
    begun = max(server.state.used for server in servers)
    assert begun == 1
    states = [server.state for server in servers]
    again = restarted(settings, [states[0], ServerState(settings.study, SESSION, 1)], uploads)
    ask(again, opened(*range(12)))
    assert [view[0] for view in views][-1] == 1
    assert again[0].state.used == again[1].state.used == 2


def test_a_server_without_its_state_answers_nothing():
    settings = collected()
    servers = meet(settings, uploads_of(settings, CELLS))
    ask(servers, opened(6))
    lost = restarted(settings, [None, servers[1].state], list(uploads_of(settings, CELLS)))[0]
    for call in (lambda: lost.prepare(opened(6)), lambda: lost.answer(opened(6), REPLACE)):
        with pytest.raises(ParameterError, match="was given no state"):
            call()
    with pytest.raises(PeerError, match="not those with which this server began"):
        restarted(settings, [server.state for server in servers], list(uploads_of(settings, CELLS[:50])))
    with pytest.raises(ParameterError, match="state must be that of this server"):
        new_server(settings, 1, state=servers[0].state)


def test_any_bytes_are_a_state_or_refused():
    state = ServerState(
        bytes(32),
        SESSION,
        1,
        b"s" * 32,
        3,
        np.array([1, 5, 12]),
        np.array([4]),
        answered=True,
        stopped=Stop.LATE,
        sequence=7,
    )
    data = state.to_bytes()
    assert ServerState.from_bytes(data).to_bytes() == data
    read = 0
    rng = np.random.default_rng(2)
    forged = [data[:length] for length in range(len(data))] + [data + b"\0"] + [rng.bytes(n) for n in range(200)]
    forged += [
        data[: bit // 8] + bytes([data[bit // 8] ^ 1 << bit % 8]) + data[bit // 8 + 1 :] for bit in range(8 * len(data))
    ]
    for each in forged:
        try:
            read += ServerState.from_bytes(each).to_bytes() == each
        except PeerError:
            continue
    assert 0 < read < len(forged)


# What is bound, to what


def flipped(message, place):
    return message[:place] + bytes([message[place] ^ 1]) + message[place + 1 :]


def test_damaged_material_leaves_a_client_out_of_every_answer(silent):
    """One bit of what a later verification will use: the client is in no answer, so none differs by its record."""
    settings = collected()
    uploads = [list(each) for each in uploads_of(settings, CELLS, size=60)]
    target, clients = 17, CELLS.size
    last = len(uploads[0][1]) - 32 * clients - 8  # hashes, with their length, come after the material
    place = last - 8 * clients * settings.uploads.verifications + 8 * (clients + target)
    uploads[0][1] = flipped(uploads[0][1], place)
    servers = meet(settings, uploads)
    left = np.bincount(np.delete(CELLS, target), minlength=SIZE)
    for query in (opened(3, 4, 8), opened(2, 3, 4, 5, 6, 7, 8)):
        assert np.array_equal(ask(servers, query), query.measure(left))
    assert [server.left_out for server in servers] == [1, 1]
    assert not servers[0].dropped.size


@pytest.mark.parametrize(("kind", "count"), [(KEYS, 2), (TABLES, 2), (TABLES, 3), (SUMS, 3)])
def test_another_set_has_other_noise(kind, count):
    settings = collected(kind, servers=count, verified=kind != SUMS)
    other = CELLS.copy()
    other[7] = (other[7] + 5) % SIZE

    def servers(cells, seed):
        if kind != SUMS:
            return meet(settings, uploads_of(settings, cells, seed=seed))
        sums = settings.layout.columns(np.bincount(cells, minlength=SIZE))
        return meet(settings, [upload_sums(settings, sums, batch=0, session=SESSION, random=bytes_of(seed))])

    one, two = servers(CELLS, 1), servers(other, 2)
    assert one[0].state.uploads != two[0].state.uploads
    query = opened(*range(SIZE))
    change = ask(one, query) - ask(two, query)
    assert np.abs(change).max() > 1, "noise of their own, and not one record's difference"
    assert np.array_equal(ask(servers(CELLS, 1), query), ask(one, query))


def test_a_client_that_sends_parts_which_do_not_match_is_left_out_alone(silent):
    settings = collected()
    uploads = [list(each) for each in uploads_of(settings, CELLS, size=1)]
    uploads[4][1] = flipped(uploads[4][1], HEADER_BYTES + 8 + 44 + 16 + 3)  # a correction of the keys
    uploads[9][0] = flipped(uploads[9][0], len(uploads[9][0]) - 1)  # the hash of the other server's part
    servers = meet(settings, uploads)
    left = np.bincount(np.delete(CELLS, [4, 9]), minlength=SIZE)
    assert np.array_equal(ask(servers, whole()), whole().measure(left))
    assert [server.left_out for server in servers] == [2, 2]


def test_clients_may_come_and_go_in_any_order_until_the_set_is_closed(silent):
    for kind, verified in ((KEYS, True), (TABLES, True), (TABLES, False)):
        settings = collected(kind, verified=verified)
        uploads = list(uploads_of(settings, CELLS, size=1))
        servers = new_servers(settings)
        for server, order in zip(servers, (range(60), range(59, -1, -1)), strict=True):
            for number in order:
                if number != 3 * server._number + 10:  # one upload is lost on the way to each
                    server.receive(uploads[number][server._number])
        agree(servers)
        left = np.bincount(np.delete(CELLS, [10, 13]), minlength=SIZE)
        assert np.array_equal(ask(servers, whole()), whole().measure(left))
        assert servers[0].state.uploads == servers[1].state.uploads


def test_an_upload_that_is_sent_twice_counts_once(silent):
    settings = collected()
    uploads = list(uploads_of(settings, CELLS[:3], size=3))
    servers = meet(settings, [uploads[0], resent(uploads[0], 1)])
    assert np.array_equal(ask(servers, whole()), whole().measure(np.bincount(CELLS[:3], minlength=SIZE)))


def test_an_upload_of_one_session_is_of_no_use_in_another():
    for kind in (KEYS, TABLES, SUMS):
        settings, other = collected(kind, verified=kind != SUMS), b"another session."
        if kind == SUMS:
            made = upload_sums(settings, np.arange(SIZE), batch=0, session=SESSION, random=bytes_of(1))
        else:
            made = next(uploads_of(settings, CELLS))
        for server, message in zip(new_servers(settings, other), resent(made, 0, other), strict=True):
            with pytest.raises(PeerError, match="another study"):
                server.receive(message)
        assert settings.binding("keys", SESSION) != settings.binding("keys", other)
        assert len({settings.binding(part, SESSION) for part in ("keys", "tables", "material")}) == 3


def test_a_message_of_many_clients_is_refused_where_one_was_admitted():
    settings = collected()
    many = next(uploads_of(settings, np.zeros(5, int)))
    with pytest.raises(PeerError, match="of 5 clients, and at most 1 are allowed"):
        new_server(settings, 0, clients=1).receive(many[0])
    new_server(settings, 0, clients=5).receive(many[0])


@pytest.mark.parametrize("names", [b"\1" * 33, b"\2" * 32 + b"\1" * 32, b"\1" * 64], ids=["long", "order", "twice"])
def test_lists_of_names_that_are_none_are_refused_and_change_nothing(names):
    settings = collected()
    servers = new_servers(settings)
    uploads = next(uploads_of(settings, CELLS, size=60))
    for server, message in zip(servers, uploads, strict=True):
        server.receive(message)
    good = servers[1].freeze()[0]
    servers[0].freeze()
    with pytest.raises(PeerError, match="a list of clients is"):
        servers[0].agree([servers[1]._message(2, 0, 0, names)])
    with pytest.raises(PeerError, match="no message of server 1"):
        servers[0].agree([])
    servers[0].agree([good])
    assert servers[0].clients == 60
    with pytest.raises(ParameterError, match="formed once"):
        servers[0].agree([good])


# Messages that are changed on the way


def steps(servers, query, count):
    """So many rounds of a preparation; it, and what was sent in the last."""
    some = [server.prepare(query) for server in servers]
    sent = [each.begin() for each in some]
    for _ in range(count):
        received = [[messages[number] for messages in sent if number in messages] for number in range(len(some))]
        sent = [each.take(messages) for each, messages in zip(some, received, strict=True)]
    return some, sent


def test_servers_agree_on_who_is_left_out_before_they_answer(silent):
    """One bit of the results on the way to one server: both leave the client out, or nothing is answered."""
    settings = collected()
    servers = meet(settings, uploads_of(settings, CELLS))
    some, sent = steps(servers, opened(3, 8), 4)
    sent[0] = some[0].take([flipped(sent[1][0], HEADER_BYTES)]), some[1].take([sent[0][1]])
    sent = list(sent[0])
    assert [server.dropped.tolist() for server in servers] == [[0], []]
    while not all(each.done for each in some):
        sent = [some[0].take([sent[1][0]]), some[1].take([sent[0][1]])]
    assert [server.dropped.tolist() for server in servers] == [[0], [0]]
    answers = [server.answer(opened(3, 8), REPLACE) for server in servers]
    found = add_answers(answers, settings, session=SESSION, query=opened(3, 8), adjacency=REPLACE)
    truth = opened(3, 8).measure(np.bincount(CELLS, minlength=SIZE))
    assert set((truth - found).tolist()) <= {0, 1}


def test_answers_that_count_other_clients_are_refused():
    settings = collected()
    servers = meet(settings, uploads_of(settings, CELLS))
    ask(servers, opened(3))
    without = [dataclasses.replace(server.state, left_out=np.array([0])) for server in servers]
    others = restarted(settings, without, list(uploads_of(settings, CELLS)))
    ask(others, opened(3))
    answers = [others[0].answer(opened(3), REPLACE), servers[1].answer(opened(3), REPLACE)]
    with pytest.raises(PeerError, match="did not count the same clients"):
        add_answers(answers, settings, session=SESSION, query=opened(3), adjacency=REPLACE)


def test_answers_to_another_question_are_refused():
    settings = collected()
    servers = meet(settings, uploads_of(settings, CELLS))
    ask(servers, opened(3, 5))
    answers = [server.answer(query, REPLACE) for server, query in zip(servers, (opened(3), opened(5)), strict=True)]
    for query, adjacency in ((opened(3), REPLACE), (opened(5), REPLACE)):
        with pytest.raises(PeerError, match="is to another question"):
            add_answers(answers, settings, session=SESSION, query=query, adjacency=adjacency)
    answers = [server.answer(opened(3), REPLACE) for server in servers]
    with pytest.raises(PeerError, match="is to another question"):
        add_answers(answers, settings, session=SESSION, query=opened(3), adjacency=Adjacency.ADD_OR_REMOVE)


@pytest.mark.parametrize("turn", range(6))
def test_a_bad_message_uses_nothing_up(turn, silent):
    settings = collected(verifications=2)
    servers = meet(settings, uploads_of(settings, CELLS))
    some, sent = steps(servers, opened(4), turn)
    received = [sent[1][0]], [sent[0][1]]
    for number in range(2):
        for bad in ([b"garbage"], [], received[number] * 2, [received[number][0][:-1]], received[1 - number]):
            with pytest.raises(PeerError):
                some[number].take(bad)
    sent = [each.take(messages) for each, messages in zip(some, received, strict=True)]
    while not all(each.done for each in some):
        sent = [some[0].take([sent[1][0]]), some[1].take([sent[0][1]])]
    assert servers[0].state.used == 1
    assert np.array_equal(ask(servers, opened(4)), opened(4).measure(np.bincount(CELLS, minlength=SIZE)))


def test_servers_of_which_one_lost_the_last_round_come_together_again(silent):
    settings = collected()
    servers = meet(settings, uploads_of(settings, CELLS))
    some, sent = steps(servers, opened(3), 4)
    some[0].take([sent[1][0]])  # server 1 never gets the results
    assert [server.state.ends.size for server in servers] == [2, 0]
    assert np.array_equal(ask(servers, opened(3)), opened(3).measure(np.bincount(CELLS, minlength=SIZE)))
    assert servers[0].state.used == servers[1].state.used == 2


def test_a_state_of_another_set_or_server_is_refused():
    settings = collected()
    servers = meet(settings, uploads_of(settings, CELLS))
    own = servers[1].state
    wrong = [
        ({"uploads": b"x" * 32}, "has other uploads"),
        ({"server": 0}, "is that of another server"),
        ({"session": b"s" * 16}, "is that of another server, study or session"),
        ({"ends": np.array([SIZE])}, "tells of cells that there are not"),
        ({"left_out": np.array([60])}, "tells of clients that there are not"),
    ]
    for changed, match in wrong:
        some = servers[0].prepare(opened(3))
        some.begin()
        with pytest.raises(PeerError, match=match):
            some.take([servers[1].say(dataclasses.replace(own, **changed))[0]])


# Clients that fail, and when


def test_a_study_that_was_stopped_answers_nothing_any_more():
    settings = collected()
    uploads = [hostile(settings, 6, payload, batch=number) for number, payload in enumerate((2, 3, 4))]
    servers = meet(settings, uploads)
    with pytest.raises(UnsupportedError, match="3 of 3 clients failed"):
        ask(servers, opened(4))
    states = [server.state for server in servers]
    assert states[0].stopped is Stop.MANY, "stored although it raised"
    for both in (servers, restarted(settings, [states[0], servers[1].state], uploads)):
        for call in (
            lambda both=both: both[0].prepare(opened(4)),
            lambda both=both: both[0].answer(opened(4), REPLACE),
        ):
            with pytest.raises(UnsupportedError, match="nothing is answered any more"):
                call()
    # the other server learns of it before it does anything more
    with pytest.raises(UnsupportedError):
        servers[1].adopt([states[0], servers[1].state])


def test_a_failure_after_an_answer_stops_the_study_and_one_before_does_not(silent):
    """A client whose material is good at first, and false later: it was counted, and cannot be taken out unseen."""
    settings = collected(verifications=4)
    honest = [resent(each, number + 1) for number, each in enumerate(uploads_of(settings, CELLS, size=10))]
    servers = meet(settings, [hostile(settings, 6, 1, spoil=(1,)), *honest])
    counts = np.bincount([*CELLS, 6], minlength=SIZE)
    assert np.array_equal(ask(servers, opened(4)), opened(4).measure(counts))
    with pytest.raises(UnsupportedError, match="after a question had been answered"):
        ask(servers, opened(2, 4, 8))
    assert servers[0].state.stopped is Stop.LATE
    with pytest.raises(UnsupportedError, match="nothing is answered any more"):
        servers[0].answer(opened(4), REPLACE)
    # a check between which and the first nothing was answered takes it out
    servers = meet(settings, [hostile(settings, 6, 1, spoil=(1,)), *honest])
    run([server.prepare(opened(4)) for server in servers])
    assert np.array_equal(ask(servers, opened(2, 8)), opened(2, 8).measure(np.bincount(CELLS, minlength=SIZE)))


def test_nothing_is_answered_in_blocks_that_were_not_counted():
    settings = collected()
    servers = meet(settings, uploads_of(settings, CELLS))
    with pytest.raises(ParameterError, match="prepare the question first"):
        servers[0].answer(opened(3), REPLACE)
    run([server.prepare(opened(8)) for server in servers])
    with pytest.raises(ParameterError, match="prepare the question first"):
        servers[0].answer(opened(3), REPLACE)
    with pytest.raises(ParameterError, match="compare the sets first"):
        new_server(settings, 0).prepare(opened(3))
    with pytest.raises(ParameterError, match="after the uploads are frozen"):
        new_server(settings, 0).agree([])


def test_the_share_that_may_fail_is_stated_and_binds_the_study(silent, caplog):
    settings = collected()
    generous = dataclasses.replace(settings, uploads=dataclasses.replace(settings.uploads, tolerated=0.2))
    assert settings.study != generous.study
    honest = [resent(each, number + 3) for number, each in enumerate(uploads_of(generous, CELLS, size=60))]
    servers = meet(generous, [*(hostile(generous, 6, 7, batch=number) for number in range(3)), *honest])
    assert np.array_equal(ask(servers, whole()), whole().measure(np.bincount(CELLS, minlength=SIZE)))
    assert servers[0].left_out == 3
    assert "found false uploads of clients" in caplog.text
    with pytest.raises(ParameterError, match="tolerated must be from 0 to 1"):
        Servers({"age": np.arange(9)}, tolerated=1.1)
    assert Servers({"age": np.arange(9)}, tolerated=0.3).options.uploads.tolerated == 0.3


# Grids and sets of one, and of none


@pytest.mark.parametrize("kind", [KEYS, TABLES])
@pytest.mark.parametrize("size", [0, 1, 40])
def test_one_cell_and_no_clients_are_counted(kind, size, silent):
    for bins in (1, 2):
        binning = Binning("x", ogive.Grid.linear(0, 1, bins=bins))
        settings = collected(kind, aggregate=binning)
        cells = np.random.default_rng(1).integers(0, bins, size=size)
        query = CurveQuery(binning, design_tree(bins, privacy=PureDP(1), adjacency=REPLACE))
        servers = meet(settings, uploads_of(settings, cells))
        assert np.array_equal(ask(servers, query), query.measure(np.bincount(cells, minlength=bins)))


@pytest.mark.parametrize("upload_kind", ["auto", "keys", "tables"])
def test_curves_of_one_cell_are_released(upload_kind):
    statistic = ogive.Ecdf("x", (0, 1), bins=1)
    curve = ogive.release(statistic, trust=Servers({"x": np.array([0.2, 0.5])}, upload=upload_kind), privacy=PureDP(1))
    assert curve.total == 2


def test_a_table_of_one_cell_is_verified(silent):
    binning = Binning("x", ogive.Grid.linear(0, 1, bins=1))
    settings = collected(TABLES, aggregate=binning)

    def claiming(number, batch):
        columns = np.full((1, 1), number)
        parts = [
            tables.share(values, shape=shape, servers=2, study=settings.binding(name, SESSION), random=bytes_of(batch))
            for values, shape, name in (
                (columns, settings.tables, "tables"),
                (np.empty((0, 1), int), settings.material, "material"),
            )
        ]
        return upload_messages(settings, parts, batch=batch, session=SESSION)

    query = CurveQuery(binning, design_tree(1, privacy=PureDP(1), adjacency=REPLACE))
    servers = meet(settings, [claiming(1_000_000, 0), claiming(1, 1), claiming(1, 2)])
    assert ask(servers, query).tolist() == query.measure(np.array([2])).tolist()


# Records that change while they are read


@pytest.mark.parametrize("upload_kind", ["keys", "tables"])
def test_a_file_that_changes_after_it_was_priced_is_refused(upload_kind, tmp_path):
    file, state = tmp_path / "x.csv", tmp_path / "state"

    def write(values):
        file.write_text("age\n" + "\n".join(map(str, values)) + "\n")

    values = np.random.default_rng(1).integers(0, 121, size=300).tolist()
    changed = [*values[:7], (values[7] + 60) % 121, *values[8:]]
    write(values)
    ogive.PointwiseCurve.open(AGE, trust=Servers(file, upload=upload_kind), privacy=PureDP(1), state=state)
    curve = ogive.PointwiseCurve.resume(state, trust=Servers(file, upload=upload_kind))
    write(changed)
    with pytest.raises(DataError, match="the records changed while they were read"):
        curve.counts([10, 50, 100])


def test_what_is_left_out_of_an_opening_can_be_asked():
    query = CurveQuery(AGE.binning(), design_path(121, privacy=PureDP(1), adjacency=REPLACE), (60,))
    opening = Servers({"age": np.arange(100)}).open(REPLACE, source=KeyedSource(bytes(32)))
    assert opening.takes(query)
    opening.answer(query)
    assert opening.left_out == 0
    assert not opening.takes(query)
    assert opening.takes(dataclasses.replace(query, points=(30,)))
    plain = Servers({"age": np.arange(100)}, verified=False).open(REPLACE, source=KeyedSource(bytes(32)))
    assert plain.takes(query), "clients upload"
    plain.answer(query)
    assert not plain.takes(dataclasses.replace(query, points=(30,)))


def test_uploads_that_say_they_are_of_more_clients_than_hashes_are_refused():
    settings = collected()
    message = upload(settings, Contributions(np.array([1, 2])), batch=0, session=SESSION, random=bytes_of(1))[0]
    cut = message[HEADER_BYTES:-72] + (32).to_bytes(8, "little") + message[-64:-32]
    header, _ = read_message(message, longest=1 << 20)
    with pytest.raises(PeerError, match="of different numbers of clients"):
        new_server(settings, 0).receive(header.message(cut))
