"""Hostile coordinators: a party confirms one set for a release, whatever it is told and whatever is restored."""

import shutil

import numpy as np
import pytest
from helpers.scope import is_everything, size
from helpers.study import AGE, Trial, carry, key_of, people, text_of

from ogive import Ledger, PureDP
from ogive.crypto.aggregation import AggregationServer
from ogive.errors import PeerError
from ogive.study import agent as agent_module
from ogive.study.course import course
from ogive.study.frames import Question, Reply, Stage, settings_of

# noise that a difference of two sums would have to show: without it the difference is exact
LOUD = AGE | {"privacy": "{ epsilon = 0.01 }"}


class Liar:
    """A coordinator with the true key that runs attempts as it likes."""

    def __init__(self, trial, release=0):
        self.trial, self.release = trial, release
        self.step = course(trial.study, trial.study.releases[release], ())

    def ask(self, party, attempt, stage, message=b"", answers=()):
        """A party's body; None where it refuses."""
        question = Question(
            self.trial.study.digest, party, self.release, 0, attempt, stage, tuple(answers), message
        ).to_bytes(key_of(0))
        reply = Reply.from_bytes(
            self.trial.sites[party].agent.answer(question), party=self.trial.study.parties[party - 1].key
        )
        return None if reply.refused else reply.body

    def attempt(self, number, *, until=None, without=()):
        """Run an attempt without the vectors of some; the sum, or the stage that too few answered."""
        server = AggregationServer(settings_of(self.trial.study, self.release, self.step, number), key=key_of(0))
        asked = server.asked
        for stage in Stage:
            if stage is Stage.RESULT:
                break
            for party in asked:
                if stage is Stage.INPUT and party in without:
                    continue
                message = b"" if stage is Stage.KEYS else server.message(party)
                body = self.ask(party, number, stage, message)
                if body is not None:
                    server.receive(body)
            if stage is until:
                return server
            try:
                asked = server.close_round()
            except PeerError:
                return stage
        return server.sum().view(np.int64)


@pytest.fixture
def trial(tmp_path):
    return Trial(tmp_path, text_of(releases=(LOUD,)))


def test_a_second_set_is_not_opened_after_a_first(trial):
    liar = Liar(trial)
    opened = liar.attempt(0)
    assert opened.size > 1
    # "the first was lost": the same noise over a set without party 4 would give its records away
    assert liar.attempt(1, without=(4,)) is Stage.CONFIRM


def test_the_control_would_give_one_party_away(trial, monkeypatch):
    """Without the note in the ledger the difference of two openings is party 4's own sums and its own noise alone."""
    liar = Liar(trial)
    keep = agent_module.Agent._noting
    monkeypatch.setattr(
        agent_module.Agent, "_noting", lambda self, kept, payment: forgetting(keep(self, kept, payment))
    )
    both = liar.attempt(0), liar.attempt(1, without=(4,))
    part = trial.sites[4].agent._parts[0]
    alone = part.vector(liar.step.query).view(np.int64)
    assert np.array_equal(both[0] - both[1], alone)


def forgetting(note):
    return lambda token, value: None if token.startswith(b"release ") else note(token, value)


def test_the_same_set_may_be_opened_again_and_says_nothing_new(trial):
    liar = Liar(trial)
    assert np.array_equal(liar.attempt(0, without=(4,)), liar.attempt(1, without=(4,)))
    assert trial.sites[1].account.spent == PureDP("0.01")


@pytest.mark.parametrize(
    "half", [(1,), *(pytest.param(more, marks=pytest.mark.everything) for more in ((1, 2), (1, 2, 3)))]
)
def test_a_set_that_only_some_confirmed_leaves_one_set_at_most(trial, half):
    """Two sets of three have a party in common, which confirmed only one of them."""
    liar = Liar(trial)
    first = liar.attempt(0, until=Stage.INPUT)
    asked = first.close_round()
    confirmed = [party for party in asked if party in half]
    for party in confirmed:
        first.receive(liar.ask(party, 0, Stage.CONFIRM, first.message(party)))
    second = liar.attempt(1, without=(4,))
    # three must confirm: those who confirmed the first set are lost for the second
    assert (second is Stage.CONFIRM) == (len(set(half) & {1, 2, 3}) > 0)
    if len(half) == 3:
        first.close_round()
        assert liar.ask(1, 0, Stage.UNMASK, first.message(1)) is None  # that attempt is over


def test_an_attempt_that_is_over_is_not_gone_on_with(trial):
    liar = Liar(trial)
    first = liar.attempt(0, until=Stage.INPUT)
    first.close_round()
    liar.attempt(1, until=Stage.KEYS)
    assert liar.ask(1, 0, Stage.CONFIRM, first.message(1)) is None
    assert liar.ask(1, 0, Stage.KEYS) is None


def test_a_step_is_answered_once(trial):
    liar = Liar(trial)
    server = liar.attempt(0, until=Stage.KEYS)
    server.close_round()
    question = Question(trial.study.digest, 1, 0, 0, 0, Stage.SHARES, (), server.message(1)).to_bytes(key_of(0))
    agent = trial.sites[1].agent
    assert agent.answer(question) == agent.answer(question)
    assert liar.ask(1, 0, Stage.SHARES, server.message(1) + b"x") is None


def test_a_party_whose_state_was_restored_from_a_backup_confirms_no_second_set(trial, tmp_path):
    liar = Liar(trial)
    backup = tmp_path / "backup.db"
    for number in (1, 2, 3):
        shutil.copy(tmp_path / f"site-{number}" / "agent.db", f"{backup}{number}")
    opened = liar.attempt(0)
    assert opened.size > 1
    for number in (1, 2, 3):
        for file in (tmp_path / f"site-{number}").glob("agent.db-*"):
            file.unlink()
        shutil.copy(f"{backup}{number}", tmp_path / f"site-{number}" / "agent.db")
        trial.sites[number].begin()
    assert liar.attempt(1, without=(4,)) is Stage.CONFIRM


def test_records_that_changed_between_two_attempts_end_the_release_for_that_party(trial):
    liar = Liar(trial)
    liar.attempt(0, until=Stage.INPUT)
    trial.sites[2].records = people(17)
    trial.sites[2].begin()
    server = liar.attempt(1, until=Stage.INPUT)
    assert 2 not in server._received
    assert set(server._received) == {1, 3, 4}


def test_a_release_that_is_complete_is_not_asked_again(tmp_path):
    trial = Trial(tmp_path)
    trial.coordinator.request("age")
    carry(trial.coordinator, trial.agents)
    liar = Liar(trial)
    assert liar.attempt(7) is Stage.KEYS
    assert trial.sites[1].account.spent == PureDP(1)


def test_what_the_account_cannot_pay_is_refused_before_anything_is_sent(tmp_path):
    names = "abc"[: size(3, part=2)]
    most = PureDP(len(names) - 1)
    trial = Trial(tmp_path, text_of(releases=[AGE | {"name": name} for name in names], budget="{ epsilon = 3 }"))
    for site in trial.sites.values():
        site.account.set_limit(most)
    for name in names:
        trial.coordinator.request(name)
    carry(trial.coordinator, trial.agents)
    progress = trial.coordinator.progress()
    assert [progress[name].state for name in names] == ["released"] * (len(names) - 1) + ["running"]
    assert trial.coordinator.waiting_for == ()
    assert trial.sites[1].account.spent == most


def test_two_agents_on_copies_of_one_state_share_what_the_ledger_says(trial, tmp_path):
    """Two processes with the same ledger answer for one party: still one set."""
    liar = Liar(trial)
    liar.attempt(0)
    site = trial.sites[1]
    again = Ledger.open(site.folder / "ledger.db").account("test", unit=trial.study.unit, limit=trial.study.budget)
    assert again.spent == PureDP("0.01")


@pytest.mark.parametrize("change", ["study", "party", "key", "cut", "longer", "stage", "release", "empty"])
def test_what_is_no_question_of_this_study_is_not_answered(trial, change):
    question = Question(trial.study.digest, 1, 0, 0, 0, Stage.KEYS)
    agent = trial.sites[1].agent
    good = question.to_bytes(key_of(0))
    other = {
        "study": Question(bytes(32), 1, 0, 0, 0, Stage.KEYS).to_bytes(key_of(0)),
        "party": Question(trial.study.digest, 2, 0, 0, 0, Stage.KEYS).to_bytes(key_of(0)),
        "key": question.to_bytes(key_of(2)),
        "cut": good[:-1],
        "longer": good + b"\0",
        "empty": b"",
    }
    if change in other:
        with pytest.raises(PeerError):
            agent.answer(other[change])
    else:
        wrong = {"stage": (0, Stage.UNMASK), "release": (5, Stage.KEYS)}[change]
        asked = Question(trial.study.digest, 1, wrong[0], 0, 0, wrong[1]).to_bytes(key_of(0))
        assert Reply.from_bytes(agent.answer(asked), party=trial.study.parties[0].key).refused
    assert trial.sites[1].account.spent is None
    assert not Reply.from_bytes(agent.answer(good), party=trial.study.parties[0].key).refused


@pytest.mark.parametrize("queries", [1, 3])
def test_another_query_than_the_course_asks_is_refused(trial, queries):
    asked = Question(trial.study.digest, 1, 0, queries, 0, Stage.KEYS).to_bytes(key_of(0))
    assert Reply.from_bytes(trial.sites[1].agent.answer(asked), party=trial.study.parties[0].key).refused


@pytest.mark.parametrize("other", ["ledger", "account", "lost"])
def test_a_release_is_not_answered_under_a_second_noise(trial, other):
    """What paid is not what pays now: another noise and set would thin out what hides the others."""
    liar = Liar(trial)
    opened = liar.attempt(0)
    site = trial.sites[1]
    if other == "lost":
        for file in site.folder.glob("ledger.db*"):
            file.unlink()
    place = site.folder / ("second.db" if other == "ledger" else "ledger.db")
    account = Ledger.open(place).account(
        "second" if other == "account" else "test", unit=trial.study.unit, limit=trial.study.budget
    )
    site.agent = agent_module.Agent(trial.study, site.records, key=key_of(1), store=site.agent._store, account=account)
    assert liar.ask(1, 1, Stage.KEYS) is None
    assert account.spent is None
    site.begin()
    if other == "account" or (other == "ledger" and is_everything()):
        assert np.array_equal(liar.attempt(1), opened)


@pytest.mark.parametrize("state", ["kept", "restored"])
def test_a_release_is_over_for_a_party_whose_ledger_lost_it(trial, state):
    """Its entry was written off, and the noise and the set with it."""
    site = trial.sites[1]
    site.account.set_limit(trial.study.budget)
    older = {name: (site.folder / name).read_bytes() for name in ("ledger.db", "agent.db")}
    liar = Liar(trial)
    assert liar.attempt(0).size > 1
    for name in ("ledger.db", "agent.db") if state == "restored" else ("ledger.db",):
        for file in site.folder.glob(f"{name}-*"):
            file.unlink()
        (site.folder / name).write_bytes(older[name])
    Ledger.restore(site.folder / "ledger.db")
    site.begin()
    assert site.account.spent == PureDP("0.01")
    assert liar.ask(1, 1, Stage.KEYS) is None
    assert site.account.spent == PureDP("0.01")
