"""Votes of teachers among servers: one upload a teacher with a vector for every query, counted all or none."""

import itertools

import numpy as np
import pytest
from helpers.serving import REPLACE, SESSION, agree, ask, bytes_of, collected, meet, new_server, new_servers, resent

from ogive.crypto import tables
from ogive.crypto.field import P
from ogive.crypto.wire import read_message
from ogive.errors import PeerError, UnsupportedError
from ogive.noise import DiscreteLaplace, KeyedSource
from ogive.pate import tally
from ogive.queries import Ballots, VotesQuery
from ogive.records.contributions import Contributions
from ogive.trust import Servers
from ogive.trust.servers import ServersOptions
from ogive.trust.servers.clients import upload, upload_messages, upload_sums
from ogive.trust.servers.server import Server
from ogive.trust.servers.uploads import SUMS, TABLES

QUERIES, CLASSES, TEACHERS = 7, 4, 9
BALLOTS = Ballots(tuple(f"q{number}" for number in range(QUERIES)), CLASSES)
ASKED = VotesQuery(BALLOTS, DiscreteLaplace(1))
CAST = np.random.default_rng(1).integers(0, CLASSES, (TEACHERS, QUERIES))


def settings_of(*, servers=2, verified=True, kind=TABLES, ballots=BALLOTS):
    return collected(kind, servers=servers, verified=verified, aggregate=ballots)


def uploads_of(settings, cast, *, size=4, seed=1):
    """Messages of honest teachers, so many in one."""
    random = bytes_of(seed)
    for batch, start in enumerate(range(0, len(cast), size)):
        records = Contributions(cast[start : start + size])
        yield upload(settings, records, batch=batch, session=SESSION, random=random)


def one_hot(votes, classes=CLASSES):
    """The vectors of one teacher, shape (classes, queries)."""
    return (np.arange(classes)[:, np.newaxis] == votes).astype(np.int64)


def parts_of(settings, vectors, *, seed=50):
    """All that one teacher with these vectors sends: of tables, and where they are verified of material, for each."""
    random, made = bytes_of(seed), []
    for columns, shape, name in (
        (vectors, settings.tables, "tables"), (vectors[:0], settings.material, "material"),
    ):  # fmt: skip
        if shape is not None:
            servers, study = settings.uploads.servers, settings.binding(name, SESSION)
            made.append(tables.share(columns, shape=shape, servers=servers, study=study, random=random))
    return made


def sent_by(settings, vectors, *, batch=100):
    return upload_messages(settings, parts_of(settings, vectors), batch=batch, session=SESSION)


@pytest.mark.parametrize(("servers", "verified"), [(2, True), (3, True), (5, True), (2, False)])
@pytest.mark.parametrize("size", [1, 4, TEACHERS])
def test_votes_are_counted_exactly_without_noise(servers, verified, size, silent):
    settings = settings_of(servers=servers, verified=verified)
    met = meet(settings, uploads_of(settings, CAST, size=size))
    assert np.array_equal(ask(met, ASKED), tally(CAST, CLASSES))
    assert met[0].clients == TEACHERS


def test_sums_of_organizations_are_counted_exactly(silent):
    settings = settings_of(servers=3, verified=False, kind=SUMS)
    random = bytes_of(3)
    sums = [settings.layout.columns(tally(some, CLASSES)) for some in (CAST[:5], CAST[5:])]
    messages = [
        upload_sums(settings, each, batch=batch, session=SESSION, random=random) for batch, each in enumerate(sums)
    ]
    assert np.array_equal(ask(meet(settings, messages), ASKED), tally(CAST, CLASSES))


@pytest.mark.parametrize("seed", range(12))
def test_honest_teachers_are_never_refused(seed, silent):
    rng = np.random.default_rng(seed)
    queries, classes, teachers = int(rng.integers(1, 40)), int(rng.integers(2, 12)), int(rng.integers(1, 60))
    ballots = Ballots(tuple(map(str, range(queries))), classes)
    settings = settings_of(servers=int(rng.integers(2, 5)), ballots=ballots)
    cast = rng.integers(0, classes, (teachers, queries))
    met = meet(settings, uploads_of(settings, cast, size=int(rng.integers(1, 20)), seed=seed))
    assert np.array_equal(ask(met, VotesQuery(ballots, DiscreteLaplace(1))), tally(cast, classes))
    assert all(server.dropped.size == 0 for server in met)


FALSE = {
    "two classes": (1, 1, 0, 0),
    "all classes": (1, 1, 1, 1),
    "five votes": (0, 5, 0, 0),
    "two votes": (2, 0, 0, 0),
    "a negative vote": (0, 0, -1, 0),
    "a vote moved": (2, -1, 0, 0),  # their number is right
    "votes that add up to none": (1, 0, -1, 0),
    "half a vote": (0, 0, 0, (P + 1) // 2),
    "half of the modulus": (P // 2, 0, 0, 0),
    "the root of one": (0, P - 1, 0, 0),  # the square of its entry is 1
    "many": (1000, 2000, -3000, 7),
}


@pytest.mark.each_value
@pytest.mark.parametrize("query", [0, 3, QUERIES - 1])
@pytest.mark.parametrize("vote", FALSE)
def test_a_false_vote_in_one_query_leaves_its_teacher_out_of_all(vote, query, silent):
    for servers in (2, 3):
        settings = settings_of(servers=servers)
        vectors = one_hot(CAST[0])
        vectors[:, query] = FALSE[vote]
        met = meet(settings, [*uploads_of(settings, CAST), sent_by(settings, vectors)])
        assert np.array_equal(ask(met, ASKED), tally(CAST, CLASSES))
        assert all(server.dropped.size == 1 and server.clients == TEACHERS for server in met)


def test_without_verification_a_false_vote_counts(silent):
    settings = settings_of(verified=False)
    vectors = one_hot(CAST[0])
    vectors[:, 3] = FALSE["five votes"]
    met = meet(settings, [*uploads_of(settings, CAST), sent_by(settings, vectors)])
    assert np.array_equal(ask(met, ASKED) - tally(CAST, CLASSES), vectors.T)


def test_votes_that_are_right_in_sum_over_queries_are_false_all_the_same(silent):
    settings = settings_of()
    for first, second in (((1, 1, 0, 0), (0, 0, 0, 0)), ((2, 0, 0, 0), (-1, 0, 0, 1)), ((3, -2, 0, 0), (-2, 3, 0, 0))):
        vectors = one_hot(CAST[0])
        vectors[:, 0], vectors[:, 1] = first, second
        met = meet(settings, [*uploads_of(settings, CAST), sent_by(settings, vectors)])
        assert np.array_equal(ask(met, ASKED), tally(CAST, CLASSES))


@pytest.mark.parametrize("query", [0, QUERIES - 1])
@pytest.mark.parametrize("vector", [(0, 1, 0, 0), (2, 0, 0, 0)], ids=["honest", "false"])
def test_false_material_in_one_query_saves_nobody(vector, query, silent):
    settings = settings_of()
    vectors = one_hot(CAST[0])
    vectors[:, query] = vector
    parts = parts_of(settings, vectors)
    parts[1][-1].explicit[0, query] ^= np.uint64(2)  # the square of the mask, off by two
    messages = upload_messages(settings, parts, batch=100, session=SESSION)
    met = meet(settings, [*uploads_of(settings, CAST), messages])
    assert np.array_equal(ask(met, ASKED), tally(CAST, CLASSES))
    assert met[0].dropped.size == 1


def test_who_votes_for_nothing_in_a_query_counts_nowhere_there(silent):
    settings = settings_of()
    vectors = one_hot(CAST[0])
    vectors[:, 2] = 0
    met = meet(settings, [*uploads_of(settings, CAST), sent_by(settings, vectors)])
    assert np.array_equal(ask(met, ASKED) - tally(CAST, CLASSES), vectors.T)


@pytest.mark.parametrize("vectors", [1, QUERIES - 1, QUERIES + 1])
def test_more_or_fewer_votes_than_queries_are_no_upload(vectors):
    settings = settings_of()
    pieces = parts_of(settings, np.resize(one_hot(CAST[0]), (CLASSES, vectors)))
    whole = parts_of(settings, one_hot(CAST[0]))
    for parts in (pieces, [pieces[0], whole[1]], [whole[0], pieces[1]]):
        message = with_hashes_of(settings, parts, whole)[0]
        with pytest.raises(PeerError, match="different numbers of clients"):
            new_server(settings, 0).receive(message)
    new_server(settings, 0).receive(with_hashes_of(settings, whole, whole)[0])


def with_hashes_of(settings, parts, others):
    """A message of these parts with the hashes of other ones."""
    made = []
    for number, message in enumerate(upload_messages(settings, others, batch=1, session=SESSION)):
        replaced = message
        for part, other in zip(parts, others, strict=True):
            old, new = other[number].to_bytes(), part[number].to_bytes()
            framed = len(old).to_bytes(8, "little") + old
            assert framed in replaced
            replaced = replaced.replace(framed, len(new).to_bytes(8, "little") + new)
        made.append(rewritten(message, replaced))
    return made


def rewritten(message, replaced):
    """The message with another body under a header of its length."""
    header, body = read_message(message, longest=1 << 30)
    return header.message(replaced[len(message) - len(body) :])


def test_an_upload_that_is_sent_twice_votes_once(silent):
    settings = settings_of()
    messages = [*uploads_of(settings, CAST, size=1)]
    met = meet(settings, [*messages, resent(messages[2], 200)])
    assert np.array_equal(ask(met, ASKED), tally(CAST, CLASSES))


def test_a_teacher_whose_votes_differ_in_their_order_at_one_server_is_in_no_set(silent):
    settings = settings_of()
    honest = parts_of(settings, one_hot(CAST[0]))
    swapped = np.r_[1, 0, 2:QUERIES]
    other = [(part[0], part[1][swapped]) for part in honest]
    own = upload_messages(settings, honest, batch=100, session=SESSION)
    mixed = upload_messages(settings, other, batch=100, session=SESSION)
    servers = new_servers(settings)
    for messages in [*uploads_of(settings, CAST), [own[0], mixed[1]]]:
        for server, message in zip(servers, messages, strict=True):
            server.receive(message)
    agree(servers)
    assert [server.left_out for server in servers] == [1, 1]
    assert np.array_equal(ask(servers, ASKED), tally(CAST, CLASSES))


def test_uploads_may_come_in_any_order(silent):
    settings = settings_of(servers=3)
    messages = [*uploads_of(settings, CAST, size=1), sent_by(settings, one_hot(CAST[0]) * 2)]
    servers = new_servers(settings)
    for number, server in enumerate(servers):
        for place in np.random.default_rng(number).permutation(len(messages)):
            server.receive(messages[place][number])
    agree(servers)
    assert np.array_equal(ask(servers, ASKED), tally(CAST, CLASSES))
    assert len({tuple(server.dropped) for server in servers}) == 1


def test_too_many_false_teachers_stop_the_study():
    settings = settings_of()
    false = [
        upload_messages(settings, parts_of(settings, one_hot(CAST[0]) * 2, seed=seed), batch=seed, session=SESSION)
        for seed in (60, 61)
    ]
    met = meet(settings, [*uploads_of(settings, CAST), *false])
    with pytest.raises(UnsupportedError, match=f"2 of {TEACHERS + 2} clients failed"):
        ask(met, ASKED)


def test_a_release_of_votes_goes_on_with_the_same_uploads_and_noise(monkeypatch):
    sent, taken = [], Server.receive

    def receive(self, message):
        sent.append(message)
        taken(self, message)

    monkeypatch.setattr(Server, "receive", receive)
    trust = Servers(dict(zip(BALLOTS.queries, CAST.T, strict=True)), servers=3)
    opening = trust.open(REPLACE, source=KeyedSource.from_seed(4))
    first = opening.answer(ASKED).values
    again = trust.resume(REPLACE, secret=opening.secret).answer(ASKED).values
    assert np.array_equal(first, again)
    assert sent[: len(sent) // 2] == sent[len(sent) // 2 :]
    other = trust.open(REPLACE, source=KeyedSource.from_seed(5)).answer(ASKED).values
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("servers", [2, 3])
@pytest.mark.parametrize("kind", [TABLES, SUMS])
def test_planned_bytes_are_those_that_are_sent(servers, kind):
    def sent(teachers):
        """Bytes that clients send, and that the last server gets, of clients and others."""
        settings = settings_of(servers=servers, kind=kind, verified=kind == TABLES)
        if kind == TABLES:
            uploads = [*uploads_of(settings, CAST[:teachers], size=teachers)]
        else:
            columns = [settings.layout.columns(tally(row[np.newaxis], CLASSES)) for row in CAST[:teachers]]
            parts = tables.share(
                np.concatenate([each.reshape(QUERIES, CLASSES).T for each in columns], axis=1),
                shape=settings.tables, servers=servers, study=settings.binding("tables", SESSION), random=bytes_of(4),
            )  # fmt: skip
            uploads = [upload_messages(settings, [parts], batch=0, session=SESSION)]
        met = meet(settings, uploads)
        received = sum(len(messages[-1]) for messages in uploads)
        received += sum(len(server.freeze()[servers - 1]) for server in new_sent(settings, uploads)[:-1])
        rounds = [server.prepare(ASKED) for server in met]
        exchanged = [each.begin() for each in rounds]
        while not all(each.done for each in rounds):
            received += sum(len(messages.get(servers - 1, b"")) for messages in exchanged)
            inbox = [[messages[number] for messages in exchanged if number in messages] for number in range(servers)]
            exchanged = [each.take(found) for each, found in zip(rounds, inbox, strict=True)]
        return sum(len(message) for messages in uploads for message in messages), received

    few, many = sent(2), sent(9)
    options = ServersOptions(servers, parties=9 if kind == SUMS else None, upload=kind)
    (planned,) = options.traffic([ASKED], records=9, adjacency=REPLACE)
    assert planned.upload == kind
    # what does not grow with the number of teachers is headers and states
    assert many[0] - few[0] == 7 * planned.bytes_per_party
    assert (many[1] - few[1]) * 9 == 7 * planned.bytes_per_server


def new_sent(settings, uploads):
    """Servers that got these uploads, and whose sets are open."""
    servers = new_servers(settings)
    for messages in uploads:
        for server, message in zip(servers, messages, strict=True):
            server.receive(message)
    return servers


def test_more_queries_than_are_expanded_at_a_time_are_verified(silent):
    ballots = Ballots(tuple(map(str, range(9_000))), 3)  # more vectors than are expanded at a time
    cast = np.random.default_rng(5).integers(0, 3, (3, 9_000))
    settings = settings_of(ballots=ballots)
    vectors = one_hot(cast[0], 3)
    vectors[:, 8_999] = (1, 1, 0)
    met = meet(settings, [*uploads_of(settings, cast), sent_by(settings, vectors)])
    assert np.array_equal(ask(met, VotesQuery(ballots, DiscreteLaplace(1))), tally(cast, 3))


def test_what_one_server_is_sent_is_uniform_whatever_the_votes_are():
    settings = settings_of()
    for vectors, server in itertools.product((one_hot(CAST[0]), one_hot(CAST[1]) * 0), range(2)):
        words = np.concatenate(
            [
                (held.seeds if held.explicit is None else held.explicit).ravel() >> np.uint64(48)
                for seed in range(60)
                for held in (parts_of(settings, vectors, seed=seed)[0][server],)
            ]
        )
        top = (1 << 16) if server == 0 else (1 << 13)  # elements have 61 bits
        # the mean of uniform numbers, to five standard errors
        assert abs(words.mean() / top - 0.5) < 5 / np.sqrt(12 * words.size)
