"""Faults that are really caused: full disks, clocks that disagree, parties without certificates; and PostgreSQL."""

import logging
import ssl
import threading
import time

import httpx
import pytest
from helpers.full_disk import full_disk
from helpers.postgres import server
from helpers.scope import is_everything, size
from helpers.study import Trial, carry, key_of, text_of
from helpers.study_service import Serving, running
from helpers.waiting import PATIENCE, ended, until

from ogive import PureDP
from ogive.errors import LedgerError
from ogive.statistics.kinds import read_recorded
from ogive.study.coordinator import Coordinator
from ogive.study.frames import Question
from ogive.study.store import Store

PARTIES = size(4, part=3)
TEXT = text_of(PARTIES, dropouts=int(is_everything()))
STEPS = ("keys", "shares", "input", "confirm", "unmask")


def some(*chosen):
    """All steps, of which `make test` takes these."""
    return [pytest.param(step, marks=() if step in chosen else pytest.mark.everything) for step in STEPS]


def until_step(trial, wanted):
    """Carry until the first question of a step; its party and bytes."""
    while True:
        for number in trial.sites:
            data = trial.coordinator.question(number)
            if data is None:
                continue
            if Question.from_bytes(data, coordinator=trial.study.coordinator).stage.word == wanted:
                return number, data
            trial.coordinator.receive(number, trial.sites[number].agent.answer(data))


@pytest.mark.parametrize("step", some("input"))
def test_an_agent_whose_disk_is_full_answers_nothing_and_goes_on_later(tmp_path, step):
    trial = Trial(tmp_path, TEXT)
    trial.coordinator.request("age")
    number, data = until_step(trial, step)
    agent = trial.sites[number].agent
    with full_disk(), pytest.raises(LedgerError) as refused:
        agent.answer(data)
    assert "\n" not in str(refused.value)
    reply = agent.answer(data)
    trial.coordinator.receive(number, reply)
    carry(trial.coordinator, trial.agents)
    assert read_recorded(trial.coordinator.result("age")).total == 1000 * PARTIES
    assert all(site.account.spent == PureDP(1) for site in trial.sites.values())


@pytest.mark.parametrize("step", some("confirm"))
def test_a_coordinator_whose_disk_is_full_takes_nothing_and_goes_on_later(tmp_path, step):
    trial = Trial(tmp_path, TEXT)
    trial.coordinator.request("age")
    number, data = until_step(trial, step)
    reply = trial.sites[number].agent.answer(data)
    with full_disk(), pytest.raises(LedgerError):
        trial.coordinator.receive(number, reply)
    again = trial.coordinator.question(number)
    assert again == data, "what was not stored does not count"
    trial.coordinator.receive(number, trial.sites[number].agent.answer(again))
    carry(trial.coordinator, trial.agents)
    assert read_recorded(trial.coordinator.result("age")).total == 1000 * PARTIES
    assert all(site.account.spent == PureDP(1) for site in trial.sites.values())


def test_a_service_whose_disk_is_full_says_so_and_agents_come_again(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr("ogive.study.agent.LONGEST_PAUSE", 0.3)
    caplog.set_level(logging.INFO)
    trial = Trial(tmp_path, TEXT)
    with Serving(trial) as serving, running(serving):
        trial.coordinator.request("age")
        with full_disk():
            until(lambda: "cannot be written" in caplog.text or "waiting for the coordinator" in caplog.text)
            time.sleep(0.5)
        until(lambda: trial.coordinator.result("age") is not None)
    assert all(site.account.spent == PureDP(1) for site in trial.sites.values())


def test_wall_clocks_decide_nothing(tmp_path, monkeypatch):
    """Every look at the wall clock says something else; steps are measured by a clock that only goes on."""
    alone = Trial(tmp_path / "alone", TEXT, seed="clocks")
    alone.coordinator.request("age")
    carry(alone.coordinator, alone.agents)
    times = iter(range(10**9))
    monkeypatch.setattr(time, "time", lambda: 2e9 * (next(times) % 2) + 1)
    trial = Trial(tmp_path / "jumping", TEXT, seed="clocks")
    trial.coordinator.request("age")
    carry(trial.coordinator, trial.agents)
    assert trial.coordinator.result("age")["raw"] == alone.coordinator.result("age")["raw"]


def test_a_coordinator_may_keep_its_state_in_postgresql_and_end_at_every_step(tmp_path):
    trial = Trial(tmp_path, TEXT)
    url = server().database()

    def begin():
        return Coordinator(trial.study, key=key_of(0), store=Store(url), clock=trial.clock)

    coordinator, steps = begin(), 0
    coordinator.request("age")
    while coordinator.result("age") is None:
        for number, agent in trial.agents.items():
            question = coordinator.question(number)
            if question is not None:
                coordinator.receive(number, agent.answer(question))
                steps += 1
                if is_everything() or steps % 5 == 0:  # at each step, and after the answer of another party each time
                    coordinator = begin()
    assert steps >= 5 * PARTIES
    assert read_recorded(coordinator.result("age")).total == 1000 * PARTIES
    assert all(site.account.spent == PureDP(1) for site in trial.sites.values())


def test_one_process_runs_on_a_state_in_postgresql(tmp_path):
    url = server().database()
    first, second = Store(url), Store(url)
    first.hold()
    with pytest.raises(LedgerError, match="in use by another process") as refused:
        second.hold()
    assert url.split("@")[0].split(":")[-1] not in str(refused.value)
    first.close()
    second.hold()
    second.close()


def test_a_service_that_asks_for_certificates_lets_in_those_of_its_authority_alone(tmp_path, caplog, monkeypatch):
    monkeypatch.setattr("ogive.study.agent.LONGEST_PAUSE", 0.3)
    caplog.set_level(logging.INFO)
    trial = Trial(tmp_path, TEXT)
    with Serving(trial, clients=True) as serving:
        bare = ssl.create_default_context(cafile=str(serving.folder / "ca.pem"))
        with httpx.Client(verify=bare, trust_env=False, timeout=PATIENCE) as client, pytest.raises(httpx.HTTPError):
            client.get(f"https://127.0.0.1:{serving.port}/v1/study")
        with running(serving):
            trial.coordinator.request("age")
            until(lambda: trial.coordinator.result("age") is not None)
        serving.clients = False  # an agent without its certificate
        stop = threading.Event()
        connection = serving.connection(1)
        thread = threading.Thread(target=connection.run, args=(trial.agents[1], stop), daemon=True)
        caplog.clear()
        thread.start()
        until(lambda: "waiting for the coordinator" in caplog.text)
        stop.set()
        ended(thread)
        connection.close()
    assert len([line for line in caplog.messages if "waiting for the coordinator" in line]) == 1
