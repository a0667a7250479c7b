"""Labels of votes that neither of two servers sees: the curator's labels under the noise of both."""

import numpy as np
import pytest
from helpers.labeling import (
    BITS,
    VOTE,
    NoiseOfBoth,
    answers_of,
    asked,
    checked,
    every_cast,
    gaussian,
    labels_of,
    servers_of,
)
from helpers.scope import is_everything, size
from helpers.serving import REPLACE
from scipy import stats

from ogive import plan
from ogive.errors import ParameterError, UnsupportedError
from ogive.noise import DiscreteLaplace
from ogive.pate import ConfidentGNMax, GNMax, InteractiveGNMax, LNMax, label, tally
from ogive.pate.aggregators import expected_votes
from ogive.privacy import Adjacency, ApproxDP, PureDP
from ogive.queries import Ballots, LabelsQuery
from ogive.queries.labels import NOT_ASKED, REFUSED, Check
from ogive.statistics import Labels
from ogive.trust import Servers
from ogive.trust.imagined import Imagined
from ogive.trust.servers.labeling import Comparison, converse

SMALL = {f"{classes} classes": (classes, every_cast(3, classes)) for classes in (2, 3)}
QUERIES = {
    "gnmax": {},
    "lnmax": {"scale": 2},
    "confident": {"check": checked(2, 1)},
    "confident with little noise": {"check": checked(2, 0.05), "sigma": 0.05},
    "a threshold between votes": {"check": checked(2.5, 0.05), "sigma": 0.05},
    "a threshold that all reach": {"check": Check(-(1 << 62), gaussian(1))},
    "a threshold that none reaches": {"check": Check(1 << 62, gaussian(1))},
    "a threshold below zero": {"check": checked(-0.25, 1)},
}
RARE = ("confident with little noise", "a threshold that all reach")
"""Of these kinds there are others."""


@pytest.mark.each_value
@pytest.mark.parametrize("most", [None, 4])
@pytest.mark.parametrize(
    "options",
    [
        pytest.param(options, id=name, marks=[pytest.mark.everything] if name in RARE else [])
        for name, options in QUERIES.items()
    ],
)
@pytest.mark.parametrize(("classes", "cast"), SMALL.values(), ids=SMALL)
def test_labels_of_all_votes_are_the_curators_under_the_noise_of_both(classes, cast, options, most):
    query = asked(cast, classes, most=most, **options)
    servers = servers_of(cast, query)
    wanted = query.answer(tally(cast, classes), NoiseOfBoth(servers, query))
    assert np.array_equal(labels_of(servers, query), wanted)


@pytest.mark.parametrize("sigma", [0.05, 1])
def test_checks_against_a_student_are_the_curators(sigma):
    cast = every_cast(3, 3)
    rng = np.random.default_rng(5)
    probabilities = rng.dirichlet(np.ones(3), cast.shape[1])
    probabilities[:4] = [[0, 0, 1], [1, 0, 0], [0.5, 0.5, 0], [1 / 6, 1 / 6, 2 / 3]]
    query = asked(cast, 3, check=checked(1, sigma, expected_votes(probabilities, 3)))
    servers = servers_of(cast, query)
    wanted = query.answer(tally(cast, 3), NoiseOfBoth(servers, query))
    assert {REFUSED, 0, 1, 2} == set(wanted.tolist())
    assert np.array_equal(labels_of(servers, query), wanted)


def test_ties_go_to_the_lowest_class_and_a_reached_threshold_passes(silent):
    cast = every_cast(4, 3)
    query = asked(cast, 3, check=checked(2, 1))
    counts = tally(cast, 3)
    assert np.array_equal(
        labels_of(servers_of(cast, query), query), np.where(counts.max(axis=1) >= 2, counts.argmax(axis=1), REFUSED)
    )
    ties = (counts == counts.max(axis=1, keepdims=True)).sum(axis=1) > 1
    assert (counts.max(axis=1)[ties] >= 2).any()


def test_one_servers_noise_is_the_whole_noise_of_a_curator(monkeypatch):
    """Whoever knows what server 0 added still has what a curator adds, drawn by server 1."""
    cast = every_cast(3, 3)
    query = asked(cast, 3, check=checked(2, 1))
    servers = servers_of(cast, query)
    alone = NoiseOfBoth(servers[1:], query)
    zero = type("Zero", (), {"values": lambda self, law, level, nodes: np.zeros(np.shape(nodes), np.int64)})()
    monkeypatch.setattr(servers[0], "_nodes", lambda query, adjacency: zero)
    assert np.array_equal(labels_of(servers, query), query.answer(tally(cast, 3), alone))


def test_how_often_queries_pass_and_win_follows_the_noise_of_both_servers():
    """6,000 queries (3,500 in `make test`): rates within five standard deviations, which one server's noise is not."""
    queries, sigma = size(6_000, part=3_500), 2
    cast = np.repeat(np.array([[0], [0], [0], [1]]), queries, axis=1)
    query = asked(cast, 2, sigma=sigma, check=checked(2, sigma))
    found = labels_of(servers_of(cast, query, seed=7), query)

    def agrees(spread):
        passing = stats.norm.sf(2 - 3, scale=spread)
        winning = stats.norm.cdf(2, scale=spread * 2**0.5)
        answered = found >= 0
        off = (answered.mean() - passing) / (passing * (1 - passing) / queries) ** 0.5
        wins = (found[answered] == 0).mean()
        return abs(off) < 5, abs(wins - winning) < 5 * (winning * (1 - winning) / answered.sum()) ** 0.5

    assert agrees(sigma * 2**0.5) == (True, True)
    assert agrees(sigma) == (False, False)


def test_only_what_passes_is_labeled_and_only_so_many():
    cast = every_cast(3, 3)
    query = asked(cast, 3, check=checked(2, 0.05), sigma=0.05, most=4)
    servers = servers_of(cast, query)
    _, labelings = answers_of(servers, query)
    for found in labelings:
        assert found.half.shape == (4, 2)
        assert (found.statuses == 0).sum() == 4
        last = np.flatnonzero(found.statuses == 0)[-1]
        assert (found.statuses[last + 1 :] == NOT_ASKED).all()
        assert (found.statuses[:last] != NOT_ASKED).all()


def test_refused_queries_have_no_label_circuit_at_all():
    cast = every_cast(3, 2)
    query = asked(cast, 2, check=Check(1 << 62, gaussian(1)))
    answers, labelings = answers_of(servers_of(cast, query), query)
    assert all(found.half.size == 0 for found in labelings)
    assert len({answer[-cast.shape[1] :] for answer in answers}) == 1


def test_queries_are_divided_into_sessions(monkeypatch):
    cast = every_cast(3, 3)
    query = asked(cast, 3, check=checked(2, 1), most=9)
    servers = servers_of(cast, query)
    whole = labels_of(servers, query)
    instances = 4 if is_everything() else 8
    monkeypatch.setattr("ogive.crypto.semi_honest.instances_at_once", lambda circuit: instances)
    assert np.array_equal(labels_of(servers, query), whole)
    assert (whole == NOT_ASKED).any()


def test_a_second_asking_has_the_same_noise():
    cast = every_cast(3, 3)
    query = asked(cast, 3, check=checked(2, 1))
    servers = servers_of(cast, query)
    assert np.array_equal(labels_of(servers, query), labels_of(servers, query))


def test_bytes_are_those_that_are_foreseen():
    cast = every_cast(3, 3)
    query = asked(cast, 3, check=Check(-(1 << 62), gaussian(1)))
    servers = servers_of(cast, query)
    labelings = [server.label(query, REPLACE) for server in servers]
    sent = [0, 0]

    def counting(labeling, number):
        write = labeling._channel.write
        labeling._channel.write = lambda body: sent.__setitem__(number, sent[number] + len(body)) or write(body)

    for number, labeling in enumerate(labelings):
        counting(labeling, number)
    converse(*labelings)
    planned = Comparison(query, 3).traffic()
    # a digest of the question in every message; in the check both say their halves
    halves = -(-cast.shape[1] // 8)
    assert sent == [planned.garbler_bytes + 4 * 32 + halves, planned.evaluator_bytes + 4 * 32 + halves]
    comparison = Comparison(query, 3)
    assert planned.gates == cast.shape[1] * (comparison.check.ands + comparison.label.ands)


def test_too_many_votes_for_the_circuits_are_refused_in_one_line():
    ballots = Ballots(("q",), 2)
    for query in (
        LabelsQuery(ballots, gaussian(1), 1, BITS),
        LabelsQuery(ballots, DiscreteLaplace(1), 1, 0, None),
        LabelsQuery(ballots, gaussian(1), 1, BITS, Check(VOTE, gaussian(1))),
    ):
        most = 1 << 60 - query.bits
        with pytest.raises(UnsupportedError, match="leave the range") as why:
            Comparison(query, most)
        assert "\n" not in str(why.value)
        Comparison(query, most >> 3)


def test_labels_are_not_given_before_they_are_found():
    cast = every_cast(3, 2)
    query = asked(cast, 2)
    (server, _) = servers_of(cast, query)
    with pytest.raises(ParameterError, match="not computed all labels yet"):
        server.answer_labels(query, REPLACE, server.label(query, REPLACE))


TEACHERS, CLASSES = 12, 4
CAST = np.random.default_rng(2).integers(0, CLASSES, (TEACHERS, 20))
CAST[:, ::2] = 1
NAMES = tuple(f"q{number}" for number in range(20))
BALLOTS = Ballots(NAMES, CLASSES)
TABLE = dict(zip(NAMES, CAST.T, strict=True))
SITES = [dict(zip(NAMES, row[:, np.newaxis], strict=True)) for row in CAST]
MUCH = ApproxDP(10**9, "1e-5")
CLEAR = "0.02"


@pytest.mark.each_value
@pytest.mark.parametrize("data", [TABLE, SITES], ids=["one table", "a table of each teacher"])
@pytest.mark.parametrize("adjacency", list(Adjacency))
def test_a_release_finds_the_curators_labels_at_the_curators_price(data, adjacency):
    found = label(
        Servers(data),
        ConfidentGNMax(11, CLEAR, CLEAR),
        ballots=BALLOTS,
        privacy=MUCH,
        max_answers=7,
        adjacency=adjacency,
    )
    alone = label(
        tally(CAST, CLASSES), ConfidentGNMax(11, CLEAR, CLEAR), privacy=MUCH, max_answers=7, adjacency=adjacency
    )
    assert np.array_equal(found.labels, alone.labels)
    assert found.provenance.price == alone.provenance.price
    assert (found.asked, found.total) == (alone.asked, alone.total)
    assert found.asked == 13
    said = found.provenance.assumption
    assert "garbled circuits" in said
    assert "semi-honest" in said


@pytest.mark.parametrize(
    "made", [GNMax(CLEAR), LNMax("0.02"), InteractiveGNMax("8.5", CLEAR, CLEAR, "0.9")], ids=lambda made: made.name
)
def test_every_aggregator_of_labels_is_served(made):
    probabilities = np.full((20, CLASSES), 1 / CLASSES) if made.name == "interactive" else None
    privacy = PureDP(10**6) if made.name == "lnmax" else MUCH
    found = label(Servers(TABLE), made, ballots=BALLOTS, privacy=privacy, probabilities=probabilities)
    assert (found.labels[::2] == 1).all()


def test_a_release_that_goes_on_finds_the_same_labels():
    trust = Servers(TABLE)
    query = ConfidentGNMax(6, 3, 3).query(BALLOTS, None)
    secret = bytes(range(32))
    first, second = (trust.resume(REPLACE, secret=secret).answer(query) for _ in range(2))
    assert np.array_equal(first.values, second.values)
    other = trust.resume(REPLACE, secret=bytes(32)).answer(query)
    assert not np.array_equal(first.values, other.values)


@pytest.mark.parametrize(
    ("trust", "why"),
    [
        (lambda: Servers(TABLE, servers=3), "two servers compute labels .* not 3; use servers=2"),
        (lambda: Servers(TABLE, verified=False), "verified votes"),
        (lambda: Servers(SITES, upload="sums"), "verified votes"),
    ],
)
def test_what_cannot_label_says_what_would(trust, why):
    with pytest.raises(UnsupportedError, match=why) as problem:
        label(trust(), ConfidentGNMax(8, 4, 4), ballots=BALLOTS, privacy=MUCH)
    assert "LargestMargins" in str(problem.value)
    assert "trust central" in str(problem.value)
    assert "\n" not in str(problem.value)


def test_a_plan_counts_with_the_noise_of_both_servers_in_checks_and_counts():
    query = ConfidentGNMax(8, 40, 4).query(BALLOTS, None)
    imagined = Imagined(lambda aggregate: tally(CAST, CLASSES), REPLACE, adding=2, honest=1, run=0)
    wider = imagined.with_noise(query)
    assert wider.law.variance == pytest.approx(2 * query.law.variance)
    assert wider.check.law.variance == pytest.approx(2 * query.check.law.variance)
    made = plan(Labels(ConfidentGNMax(8, 4, 4), BALLOTS), privacy=MUCH, records=TEACHERS, trust=Servers, runs=2)
    assert [row.method for row in made.rows] == ["confident"]
    assert made.rows[0].traffic.bytes_per_server > 0


def test_a_plan_tells_bytes_and_seconds():
    query = ConfidentGNMax(8, 4, 4).query(BALLOTS, None)
    options = Servers(TABLE).options
    (labels,) = options.traffic([query], records=TEACHERS, adjacency=REPLACE)
    compared = Comparison(query, TEACHERS).traffic()
    assert labels.bytes_per_server > compared.garbler_bytes > 0
    assert labels.seconds > compared.seconds > 0
    assert labels.upload == "tables"
