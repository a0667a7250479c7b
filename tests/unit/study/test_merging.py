"""Studies whose parties release curves of their own, which are added up; and votes of teachers in studies."""

import json

import numpy as np
import pytest
from helpers.scope import is_everything
from helpers.study import AGE, Trial, carry, key_of, people, text_of

import ogive
from ogive import PureDP
from ogive.errors import ParameterError, PeerError
from ogive.statistics.kinds import read_recorded
from ogive.study.document import Study
from ogive.study.enrolment import template
from ogive.study.frames import Question, Reply, Stage, digest_of

OWN = AGE | {"method": "'hat_ls'"}
COUNT = {"name": "n", "statistic": "count", "privacy": "{ epsilon = 1 }", "column": "'age'", "among": "[1]"}
QUERIES = [f"scan{number}" for number in range(6)]
VOTES = {
    "name": "scans",
    "statistic": "labels",
    "privacy": "{ epsilon = 8, delta = 1e-5 }",
    "queries": str(QUERIES),
    "classes": "3",
    "keep": "4",
}


def merging(releases=(OWN,), **more):
    """The file of a study of four parties that merge."""
    return text_of(releases=releases, **more).replace(b"colluding = 1", b'trust = "merge"')


def curves_of(trial):
    """What each party's ledger holds of its own release."""
    return {
        number: read_recorded(entry.estimate) for number, site in trial.sites.items() for entry in site.account.history
    }


def test_the_result_is_the_sum_of_the_curves_that_the_parties_ledgers_paid_for(tmp_path):
    trial = Trial(tmp_path, merging())
    trial.coordinator.request("age")
    carry(trial.coordinator, trial.agents)
    merged = read_recorded(trial.coordinator.result("age"))
    own = [
        ogive.release(
            trial.study.releases[0].statistic,
            trust=ogive.Central(site.records),
            privacy=PureDP(1),
            ledger=site.account,
            batch=f"site-{number}",
        )
        for number, site in trial.sites.items()
    ]
    assert [each.total for each in own] == [1000] * 4
    np.testing.assert_allclose(merged.raw, sum(each.raw for each in own), atol=1e-9)
    assert [batch.name for batch in merged.batches] == [f"site-{number}" for number in range(1, 5)]
    assert merged.provenance.privacy == PureDP(1)
    for number, site in trial.sites.items():
        assert site.account.spent == PureDP(1)
        assert site.agent.results() == {"age": trial.coordinator.result("age")}, number


def test_a_party_may_be_missing_and_one_that_comes_late_is_waited_for(tmp_path):
    trial = Trial(tmp_path, merging())
    trial.coordinator.request("age")
    some = {number: agent for number, agent in trial.agents.items() if number < 3}
    carry(trial.coordinator, some)
    trial.clock.now += 61
    carry(trial.coordinator, some)
    found = trial.coordinator.progress()["age"]
    assert (found.state, found.attempt) == ("running", 1)
    assert "2 of 4 parties sent their curves, and 1 may be missing" in found.failed[0]
    trial.begin()  # the coordinator's process ends, and another begins
    carry(trial.coordinator, {number: agent for number, agent in trial.agents.items() if number < 4})
    trial.clock.now += 61
    trial.coordinator.advance()
    merged = read_recorded(trial.coordinator.result("age"))
    assert merged.total == 3000
    assert trial.coordinator.progress()["age"].members == (1, 2, 3)
    assert [trial.sites[number].account.spent for number in (1, 2, 3)] == [PureDP(1)] * 3
    assert trial.sites[4].account.spent is None


def test_curves_that_came_are_kept_when_the_coordinator_ends(tmp_path):
    trial = Trial(tmp_path, merging())
    trial.coordinator.request("age")
    carry(trial.coordinator, {1: trial.agents[1], 2: trial.agents[2]})
    trial.begin()
    assert trial.coordinator.question(1) is None
    carry(trial.coordinator, {3: trial.agents[3], 4: trial.agents[4]})
    assert read_recorded(trial.coordinator.result("age")).total == 4000


def own_reply(trial, party, curve):
    """A party's signed reply with a curve of its choice; to what it is asked now."""
    question = trial.coordinator.question(party)
    body = curve if isinstance(curve, bytes) else json.dumps(curve.to_dict()).encode()
    return Reply(digest_of(question), False, body).to_bytes(key_of(party))


def central(statistic=None, *, privacy=1, batch="site-1", **more):
    statistic = ogive.Ecdf("age", bounds=(0, 120), grid="integers", method="hat_ls") if statistic is None else statistic
    return ogive.release(statistic, trust=ogive.Central(people(1)), privacy=PureDP(privacy), batch=batch, **more)


WRONG = {
    "another column": lambda: central(ogive.Ecdf("score", bounds=(0, 120), grid="integers", method="hat_ls")),
    "other thresholds": lambda: central(ogive.Ecdf("age", bounds=(0, 120), bins=121, method="hat_ls")),
    "under epsilon = 2": lambda: central(privacy=2),
    "hides other units": lambda: central(adjacency=ogive.Adjacency.ADD_OR_REMOVE),
    "not of that party's records alone": lambda: central(batch="site-2"),
    "is not a released curve": lambda: central(ogive.Count("age", among=(1,))),
    "cannot be read": lambda: b"{",
}


@pytest.mark.filterwarnings("ignore::ogive.NoiseWarning")
@pytest.mark.parametrize("words", WRONG)
def test_a_party_that_sends_something_else_is_refused_and_nothing_changes(tmp_path, words):
    trial = Trial(tmp_path, merging())
    trial.coordinator.request("age")
    reply = own_reply(trial, 1, WRONG[words]())
    with pytest.raises(PeerError, match=words):
        trial.coordinator.receive(1, reply)
    assert 1 in trial.coordinator.waiting_for
    if is_everything() or words == "cannot be read":
        carry(trial.coordinator, trial.agents)
        assert read_recorded(trial.coordinator.result("age")).total == 4000


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """A study that merges and one that adds up, of which nothing was asked."""
    return Trial(tmp_path_factory.mktemp("a"), merging()), Trial(tmp_path_factory.mktemp("b"))


@pytest.mark.parametrize("stage", [stage for stage in Stage if stage not in (Stage.OWN, Stage.RESULT)])
def test_a_coordinator_that_asks_for_another_protocol_is_refused(both, stage):
    merged, added = both
    asked = Question(merged.study.digest, 1, 0, 0, 0, stage).to_bytes(key_of(0))
    assert Reply.from_bytes(merged.agents[1].answer(asked), party=merged.study.parties[0].key).refused
    asked = Question(added.study.digest, 1, 0, 0, 0, Stage.OWN).to_bytes(key_of(0))
    assert Reply.from_bytes(added.agents[1].answer(asked), party=added.study.parties[0].key).refused
    assert merged.sites[1].account.spent is None
    assert added.sites[1].account.spent is None


def test_a_result_that_is_not_of_the_release_is_not_kept(tmp_path):
    trial = Trial(tmp_path, merging())
    for message in (b"", b"{}", json.dumps(central(batch="elsewhere").to_dict()).encode()):
        asked = Question(trial.study.digest, 1, 0, 0, 0, Stage.RESULT, (), message).to_bytes(key_of(0))
        assert Reply.from_bytes(trial.agents[1].answer(asked), party=trial.study.parties[0].key).refused
    assert trial.agents[1].results() == {}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (text_of(releases=(OWN,)).replace(b"dropouts", b'trust = "merge"\ndropouts'), "leave out colluding"),
        (merging((AGE,)), "by the methods path, tree_ls, hat_ls, sqrt, symmetric, ring; name one"),
        (merging((COUNT,)), "must be an ecdf"),
        (merging((OWN | {"where": "'age > 3'"},)), "must be an ecdf, of all records"),
        (merging(dropouts=3), "a sum needs two curves"),
        (merging().replace(b'"merge"', b'"servers"'), "trust must be secagg or merge"),
        (text_of(releases=(VOTES | {"queries": "3"},)), "queries must be names"),
        (text_of(releases=(VOTES | {"classes": "1"},)), "classes"),
        (text_of(releases=(VOTES | {"keep": "0"},)), "keep"),
        (text_of(releases=(VOTES | {"sigma": "-1"},)), "sigma"),
        (text_of(releases=(VOTES | {"column": "'x'"},)), "has no field 'column'"),
    ],
)  # fmt: skip
def test_what_cannot_be_merged_or_voted_on_is_refused_in_one_line(text, words):
    with pytest.raises(ParameterError) as refused:
        Study.parse(text)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("trust", ["secagg", "merge"])
def test_the_file_of_a_new_study_can_be_read(trust):
    from helpers.study import public

    text = template("x", trust, coordinator=public(0), members={"a": [public(1)], "b": [public(2)]}, records=10)
    assert Study.parse(text.encode()).trust == trust


def test_labels_are_those_of_the_votes_of_all_parties_teachers(tmp_path):
    """25 teachers of four parties each; on most queries nearly all agree, so that noise changes no label."""
    rng = np.random.default_rng(5)
    leading = [0, 1, 2, 0, 1, None]
    votes = {
        party: {
            name: rng.integers(0, 3, 250) if lead is None else np.where(rng.random(250) < 0.97, lead, 2 - lead)
            for name, lead in zip(QUERIES, leading, strict=True)
        }
        for party in range(1, 5)
    }
    text = text_of(releases=(VOTES,), budget="{ epsilon = 8, delta = 1e-5 }")
    trial = Trial(tmp_path, text, records=votes)
    trial.coordinator.request("scans")
    carry(trial.coordinator, trial.agents)
    found = read_recorded(trial.coordinator.result("scans"))
    labels = found.labels.tolist()
    assert sum(label >= 0 for label in labels) == 4
    assert labels[-1] == -1
    assert all(label in (-1, lead) for label, lead in zip(labels[:-1], leading[:-1], strict=True))
    exact = np.array(
        [[np.sum([np.sum(each[name] == k) for each in votes.values()]) for k in range(3)] for name in QUERIES]
    )
    assert np.abs(found.votes - exact).max() < 30
    assert np.abs(found.votes - exact).max() > 0
    for site in trial.sites.values():
        assert site.account.spent is not None
        assert site.agent.results()["scans"] == trial.coordinator.result("scans")


def test_a_vote_that_is_no_class_is_the_partys_own_affair(tmp_path, caplog):
    votes = {party: {name: np.zeros(30, int) for name in QUERIES} for party in range(1, 5)}
    votes[2][QUERIES[0]] = np.full(30, 7)
    text = text_of(releases=(VOTES,), budget="{ epsilon = 8, delta = 1e-5 }")
    trial = Trial(tmp_path, text, records=votes, step_seconds=1)
    trial.coordinator.request("scans")
    carry(trial.coordinator, trial.agents)
    trial.clock.now += 2
    carry(trial.coordinator, trial.agents)
    assert trial.coordinator.progress()["scans"].members == (1, 3, 4)
    assert trial.sites[2].account.spent is None
    assert "refused" in caplog.text


def test_a_party_sends_one_curve_whatever_pays(tmp_path):
    """Started with another ledger, it sends the curve that was paid for."""
    trial = Trial(tmp_path, merging())
    site = trial.sites[1]

    def own(attempt):
        question = Question(trial.study.digest, 1, 0, 0, attempt, Stage.OWN).to_bytes(key_of(0))
        return Reply.from_bytes(site.agent.answer(question), party=trial.study.parties[0].key).body

    first = own(0)
    account = ogive.Ledger.open(tmp_path / "second.db").account("test", unit=trial.study.unit)
    site.agent = type(site.agent)(trial.study, site.records, key=key_of(1), store=site.agent._store, account=account)
    assert own(1) == first
    assert account.spent is None
