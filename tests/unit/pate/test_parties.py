"""Votes that nobody sees: teachers as parties whose votes are added up, and what such models refuse."""

import numpy as np
import pytest

from ogive.errors import PeerError, UnsupportedError
from ogive.noise import DerivedNodes, DiscreteLaplace, KeyedSource
from ogive.pate import ConfidentGNMax, GNMax, LargestMargins, label, tally
from ogive.privacy import Adjacency, ApproxDP, PureDP
from ogive.queries import Ballots, VotesQuery
from ogive.trust import Central, Clear, Local, SecAgg, Servers
from ogive.trust.servers.server import Server

TEACHERS, QUERIES, CLASSES = 12, 30, 4
CAST = np.random.default_rng(2).integers(0, CLASSES, (TEACHERS, QUERIES))
CAST[:, ::2] = 1  # all agree in every second query
NAMES = tuple(f"q{number}" for number in range(QUERIES))
BALLOTS = Ballots(NAMES, CLASSES)
SITES = [dict(zip(NAMES, row[:, np.newaxis], strict=True)) for row in CAST]
TABLE = dict(zip(NAMES, CAST.T, strict=True))
MARGINS = LargestMargins(None, keep=15)
MUCH = ApproxDP(10, "1e-5")

MODELS = {
    "secagg": lambda: SecAgg(SITES, colluding=2, dropouts=1),
    "servers": lambda: Servers(SITES),
    "servers of one table": lambda: Servers(TABLE),
    "servers that add sums": lambda: Servers(SITES, upload="sums"),
    "three servers": lambda: Servers(SITES, servers=3),
}


@pytest.fixture
def no_noise(monkeypatch):
    """Noise of nodes is zero, whoever draws it."""
    monkeypatch.setattr(DerivedNodes, "values", lambda self, law, level, nodes: np.zeros(np.shape(nodes), np.int64))


@pytest.mark.parametrize("model", MODELS)
def test_the_sum_of_all_teachers_votes_is_exact_when_the_noise_is_off(model, no_noise):
    found = label(MODELS[model](), MARGINS, ballots=BALLOTS, privacy=MUCH)
    assert np.array_equal(found.votes, tally(CAST, CLASSES))
    assert np.flatnonzero(found.taught).tolist() == list(range(0, QUERIES, 2))
    assert (found.labels[::2] == 1).all()


@pytest.mark.parametrize("privacy", [PureDP(40), MUCH], ids=["laplace", "gaussian"])
@pytest.mark.parametrize("model", MODELS)
def test_the_price_is_that_of_a_single_curator_and_the_noise_no_less(model, privacy):
    alone = label(Central(TABLE), MARGINS, ballots=BALLOTS, privacy=privacy, source=KeyedSource.from_seed(1))
    found = label(MODELS[model](), MARGINS, ballots=BALLOTS, privacy=privacy, source=KeyedSource.from_seed(1))
    assert found.provenance.price == alone.provenance.price
    assert found.law.variance >= alone.law.variance
    assert found.total == TEACHERS
    off = (found.votes - tally(CAST, CLASSES)) * 2**found.bits
    # 120 integers: their mean square is within 60 % of the stated variance but for once in millions
    assert 0.4 < (off**2).mean() / found.law.variance < 2.2


def test_a_teacher_who_leaves_is_in_no_sum(no_noise):
    trust = SecAgg(SITES, dropouts=2, leaving={3: "input"})
    found = label(trust, MARGINS, ballots=BALLOTS, privacy=MUCH, adjacency=Adjacency.ADD_OR_REMOVE)
    assert np.array_equal(found.votes, tally(np.delete(CAST, 2, axis=0), CLASSES))
    with pytest.raises(PeerError):
        label(
            SecAgg(SITES, leaving={3: "input"}),
            MARGINS,
            ballots=BALLOTS,
            privacy=MUCH,
            adjacency=Adjacency.ADD_OR_REMOVE,
        )


COMPARING = {"servers", "servers of one table"}
"""Two servers that verify votes, which compute labels in garbled circuits."""


@pytest.mark.parametrize("aggregator", [GNMax(40), ConfidentGNMax(8, 40, 40)], ids=lambda each: each.name)
@pytest.mark.parametrize("model", sorted(MODELS.keys() - COMPARING))
def test_labels_of_unopened_votes_need_a_comparison_and_the_refusal_says_what_works(model, aggregator):
    with pytest.raises(UnsupportedError, match="garbled circuits") as why:
        label(MODELS[model](), aggregator, ballots=BALLOTS, privacy=MUCH)
    assert "LargestMargins" in str(why.value)
    assert "trust central" in str(why.value)
    assert "\n" not in str(why.value)


def test_reports_of_single_teachers_are_refused_with_what_works():
    for aggregator in (GNMax(40), MARGINS):
        with pytest.raises(UnsupportedError, match="use trust central"):
            label(Local(TABLE), aggregator, ballots=BALLOTS, privacy=MUCH)


@pytest.mark.parametrize(
    ("make", "kind", "verified"),
    [
        (lambda: Servers(TABLE), "tables", True),
        (lambda: Servers(TABLE, upload="keys"), "tables", True),
        (lambda: Servers(SITES), "tables", True),
        (lambda: Servers(SITES, upload="tables", servers=3), "tables", True),
        (lambda: Servers(TABLE, verified=False), "tables", False),
        (lambda: Servers(SITES, verified=False), "tables", False),
        (lambda: Servers(SITES, upload="sums"), "sums", False),
    ],
)
def test_votes_are_verified_unless_something_else_is_asked_for(make, kind, verified, no_noise, monkeypatch):
    sent = []
    taken = Server.receive

    def receive(self, message):
        sent.append(self.collected.uploads)
        taken(self, message)

    monkeypatch.setattr(Server, "receive", receive)
    model = make()
    found = label(model, MARGINS, ballots=BALLOTS, privacy=MUCH)
    assert np.array_equal(found.votes, tally(CAST, CLASSES))
    assert {(each.kind, each.verified) for each in sent} == {(kind, verified)}
    query = VotesQuery(BALLOTS, DiscreteLaplace(1))
    (planned,) = model.options.traffic([query], records=TEACHERS, adjacency=Adjacency.REPLACE)
    assert planned.upload == kind
    said = found.provenance.assumption
    assert ("Uploads were not verified: anyone who makes one" in said) is not verified
    assert ("changes no count by more than one record could" in said) is verified


def test_thousands_of_queries_are_counted():
    wide = np.random.default_rng(4).integers(0, 10, (50, 5_000))
    names = tuple(f"q{number}" for number in range(5_000))
    ballots = Ballots(names, 10)
    table = dict(zip(names, wide.T, strict=True))
    found = label(Clear(table), LargestMargins(1, keep=10), ballots=ballots)
    assert np.array_equal(found.votes, tally(wide, 10))
