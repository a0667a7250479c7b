"""Studies whose coordinator and parties lie, and whose messages are lost: sums are exact, or there are none.

An opened sum is compared with the vectors of those who are in it, which are made again from what their noise follows.
"""

import re

import numpy as np
import pytest
from helpers.hostile_peers import FAULTS, LIES, Bout, OtherKeys, TwoFaced, TwoRooms, known_part
from helpers.scope import is_everything, size
from helpers.served import STATISTICS, study_of

from ogive.crypto.aggregation import AggregationParty
from ogive.privacy import Adjacency
from ogive.study.agent import Agent

PARTIES, LIAR = 5, 4
COUNT, CURVE, SEVERAL = (
    next(each for each in STATISTICS if (each.name, getattr(each, "method", None)) == sort)
    for sort in (("count", None), ("ecdf", "auto"), ("quantiles", "bisection"))
)
"""A number, a curve, and a release of several sums."""
RUNS = size(40, part=4)


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(Agent, "_part", known_part)
    monkeypatch.setattr("ogive.study.coordinator.ATTEMPTS", 4)
    monkeypatch.setattr("ogive.statistics.curve.bands.SIMULATED_VALUES", 20_000)


@pytest.fixture(scope="module")
def records():
    """What five parties hold."""
    rng = np.random.default_rng(3)
    table = {"x": rng.gamma(4.0, 8.0, size=1_000), "p": rng.beta(1, 5, size=1_000)}
    table["y"] = (rng.random(1_000) < table["p"]).astype(int)
    table["z"] = table["y"] + rng.integers(0, 2, size=1_000)
    ends = np.linspace(0, 1_000, PARTIES + 1).astype(int)
    return {number: {name: values[ends[number - 1] : ends[number]] for name, values in table.items()}
            for number in range(1, PARTIES + 1)}  # fmt: skip


def study(statistics, adjacency=Adjacency.ADD_OR_REMOVE):
    return study_of(statistics, adjacency, parties=PARTIES, dropouts=1)


TRIED = sorted(set(LIES) - {"other totals"})
EVERYBODY, OTHERS, NOBODY = ("released", {1, 2, 3, 4, 5}), ("released", {1, 2, 3, 5}), ("over", set())
ENDS = {
    "no keys": NOBODY, "other keys": OTHERS, "half a message": OTHERS, "wrong shares dealt": NOBODY,
    "more than a vector": OTHERS, "another list": EVERYBODY, "wrong shares given": NOBODY, "silent": OTHERS,
    "silent after shares": OTHERS, "silent after masks": EVERYBODY, "silent after the list": EVERYBODY,
}  # fmt: skip
"""Who is in the sums where one party lies; nobody where its lie ends the release."""
OVER_HTTPS = ("half a message", "wrong shares given", "silent after masks")
"""One lie before the vectors, one after them, and one silence."""


@pytest.mark.each_value
@pytest.mark.parametrize("adjacency", [Adjacency.ADD_OR_REMOVE, Adjacency.REPLACE])
@pytest.mark.parametrize("lie", TRIED)
def test_a_party_that_lies_changes_no_sum(tmp_path, records, lie, adjacency):
    """Who lies before the vectors is left out or gets no sum; who lies later may only end the release."""
    asked = [COUNT, SEVERAL][: size(2, part=1)]
    bout = Bout(tmp_path, study(asked, adjacency), records, seed=lie, lies={LIAR: lie})
    found = bout.run()
    assert bout.verdict() == []
    assert {(each.state, frozenset(each.members)) for each in found.values()} == {
        (ENDS[lie][0], frozenset(ENDS[lie][1]))
    }


def test_other_totals_than_were_declared_are_refused_where_totals_are_opened(tmp_path, records):
    bout = Bout(tmp_path, study([CURVE], Adjacency.REPLACE), records, seed=1, lies={LIAR: "other totals"})
    assert {(each.state, each.members) for each in bout.run().values()} == {("released", (1, 2, 3, 5))}
    assert bout.verdict() == []


def test_of_every_statistic_sums_are_exact_while_a_party_falls_silent_and_processes_end(tmp_path, records, monkeypatch):
    monkeypatch.setattr("ogive.study.coordinator.ATTEMPTS", 100)
    asked = STATISTICS[: size(len(STATISTICS), part=3)]
    lies = {LIAR: "silent after masks"}
    bout = Bout(tmp_path, study(asked), records, seed=2, lies=lies, killed=0.02, lost=0.1)
    found = bout.run(20 + 10 * len(asked))
    # a release from whose vectors the network kept another party, too, lacks more than one, and is over
    over = [each.reason for each in found.values() if each.state != "released"]
    assert len(over) <= len(asked) // 10
    assert all("at least 4 are needed" in reason for reason in over)
    assert bout.verdict() == []
    assert bout.happened >= set(FAULTS)


ON_THE_WAY = {"cut": 0.01, "garble": 0.01, "twice": 0.01, "delay": 0.05}
SILENT = {"drop": 0.01, "hang": 0.005}
"""Chances per piece of bytes that a proxy harms it; after what is silent, a client waits for its whole patience."""


@pytest.mark.parametrize(
    "lie", [pytest.param(each, marks=() if each in OVER_HTTPS else pytest.mark.everything) for each in TRIED]
)
def test_over_https_and_a_bad_network_a_party_that_lies_changes_no_sum(tmp_path, records, monkeypatch, lie):
    monkeypatch.setattr("ogive.study.agent.LONGEST_PAUSE", 0.3)
    monkeypatch.setattr("ogive.study.agent.WAIT_SECONDS", 1.0)
    monkeypatch.setattr("ogive.study.https.mailbox.SLOW", 1 / 15)
    bout = Bout(tmp_path, study([COUNT]), records, seed=lie, lies={LIAR: lie}, killed=0.05)
    (found,) = bout.run_over_https(ON_THE_WAY | (SILENT if is_everything() else {})).values()
    assert bout.verdict() == []
    # the liar is left out where its message comes after those of all others
    if found.state == "released":
        assert set(found.members) in ([OTHERS[1]] if ENDS[lie] == OTHERS else [OTHERS[1], EVERYBODY[1]])
    else:
        assert ENDS[lie] == NOBODY
    assert "ended" in bout.happened
    assert bout.happened & {*ON_THE_WAY, *SILENT}


def two_faced(folder, records, seed):
    """A study whose coordinator tells two stories, with a party that colludes, and in every other one lies to all."""
    lie = TRIED[seed // 2 % len(TRIED)]
    lies = {LIAR: lie} if seed % 2 else {}
    asked = [COUNT, SEVERAL][: size(2, part=1)]
    chances = {"two_faced": 0.02, "killed": 0.01, "lost": 0.02}
    bout = Bout(folder, study(asked), records, seed=seed, lies=lies, colluding=LIAR, **chances)
    found = bout.run()
    assert {each.state for each in found.values()} <= {"released", "over"}
    return bout


def test_a_coordinator_that_tells_two_stories_opens_one_sum_or_none(tmp_path, records):
    stories = 0
    for seed in range(RUNS):
        bout = two_faced(tmp_path / str(seed), records, seed)
        assert bout.verdict() == [], seed
        stories += bout.stories
    assert stories >= RUNS // 4


def test_with_a_threshold_too_low_it_would_open_two(tmp_path, records, monkeypatch):
    """The control: two honest parties and the one that colludes are enough for either list."""
    for place in ("crypto.aggregation", "crypto.aggregation.settings"):
        monkeypatch.setattr(f"ogive.{place}.least_threshold", lambda *_, **__: 3)
    verdicts = (two_faced(tmp_path / str(seed), records, seed).verdict() for seed in range(0, 8, 2))
    assert any("under 2 lists" in line for verdict in verdicts for line in verdict)


FACES = {TwoFaced: 2, TwoRooms: 3, OtherKeys: 1}
"""Classes of two-faced coordinators, and how many studies each has in `make test`."""
REFUSALS = {
    TwoFaced: r"\d parties confirmed who is in the sum, and \d are needed"
    r"|party \d confirmed another list of who is in the sum, or is not in it"
    r"|the list of who is in the sum is not (the one that this party confirmed|that of an earlier sum)",
    TwoRooms: r"the list of who is in the sum is not that of an earlier sum of the same release",
    OtherKeys: r"the message is not signed by number \d, from whom it says it is",
}
"""What honest parties say of each."""


def over_https(folder, records, face, seed, faults=None):
    """A study over HTTPS whose coordinator is two-faced, with a party that colludes, and how far it came."""
    bout = Bout(folder, study([COUNT]), records, seed=seed, face=face, two_faced=0.02, colluding=LIAR)
    (found,) = bout.run_over_https(faults or {}).values()
    return bout, found


@pytest.mark.parametrize("face", FACES)
def test_over_https_a_two_faced_coordinator_opens_one_sum_or_none(tmp_path, records, monkeypatch, caplog, face):
    monkeypatch.setattr("ogive.study.agent.LONGEST_PAUSE", 0.3)
    monkeypatch.setattr("ogive.study.agent.WAIT_SECONDS", 1.0)
    monkeypatch.setattr("ogive.study.https.mailbox.SLOW", 1 / 15)
    stories = elsewhere = 0
    for seed in range(size(12 * FACES[face], part=FACES[face])):
        bout, found = over_https(tmp_path / str(seed), records, face, seed, ON_THE_WAY if seed % 2 else None)
        assert bout.verdict() == [], seed
        assert found.state in ("released", "over")
        assert found.state == "released" or "there is no sum" in found.reason
        stories += bout.stories
        elsewhere += len(bout.opened_elsewhere())
    assert stories
    assert bool(elsewhere) == (face is TwoRooms)
    lines = [record.getMessage() for record in caplog.records]
    refusals = [line for line in lines if "refused the step" in line]
    assert any(re.search(REFUSALS[face], line) for line in refusals)
    assert not any("\n" in line for line in lines)


def test_parties_that_sign_a_second_set_would_open_two(tmp_path, records, monkeypatch):
    """The control of the second room."""
    monkeypatch.setattr(AggregationParty, "_fix", lambda *_: None)
    verdicts = (over_https(tmp_path / str(seed), records, TwoRooms, seed)[0].verdict() for seed in range(3))
    assert any("sums of 2 sets of parties" in line for verdict in verdicts for line in verdict)


def test_a_sum_with_other_noise_is_noticed(tmp_path, records, monkeypatch):
    """The control of what is compared."""
    bout = Bout(tmp_path, study([COUNT, SEVERAL, CURVE][: size(3, part=2)]), records, seed=3)
    bout.run()
    assert bout.verdict() == []
    monkeypatch.setattr("helpers.hostile_peers.secret_of", lambda party, release: bytes(32))
    assert len(bout.verdict()) >= 2
