"""A study over Flower's own processes, with TLS and node authentication: through kills, and under a hostile app.

Each process has a group of its own, and everything that is waited for has a bound.
"""

import json
import textwrap
from dataclasses import replace

import pytest
from helpers.flower import Federation, listening
from helpers.study import Trial, carry, key_of, text_of
from helpers.study_service import Serving
from helpers.waiting import until

from ogive.study.flower import write_app
from ogive.study.frames import Question, Reply, Stage
from ogive.study.local_client import ask_at

pytest.importorskip("flwr", reason="Flower is not installed; ogive[flower] brings it")

TEXT = text_of(3, dropouts=0)


def in_one_process(folder):
    """What equal seeds give without a network."""
    folder.mkdir()
    trial = Trial(folder, TEXT, seed="carriers")
    trial.coordinator.request("age")
    carry(trial.coordinator, trial.agents)
    return trial.coordinator.result("age")


def reached(trial, stage):
    found = trial.coordinator.progress()["age"]
    return found.state == "released" or (found.state == "running" and found.stage >= stage)


@pytest.mark.everything
@pytest.mark.slow
def test_the_same_seeds_give_the_same_integers_through_the_death_of_a_node_and_of_the_superlink(tmp_path):
    trial = Trial(tmp_path, TEXT, seed="carriers", step_seconds=600)
    with (
        Serving(trial) as serving,
        listening(trial, tmp_path) as agents,
        Federation(tmp_path, serving.folder, agents) as federation,
    ):
        app = tmp_path / "app"
        write_app(app, trial.study, url=f"https://127.0.0.1:{serving.port}", service=str(serving.folder))
        project = (app / "pyproject.toml").read_text()
        assert "answer-seconds = 120" in project
        (app / "pyproject.toml").write_text(project.replace("answer-seconds = 120", "answer-seconds = 70"))
        federation.begin()
        trial.coordinator.request("age")
        federation.run("run", app)
        until(lambda: reached(trial, Stage.SHARES))
        federation.kill("node2")
        federation.node_again(2)
        until(lambda: reached(trial, Stage.CONFIRM))
        federation.kill("superlink")
        federation.superlink()
        assert trial.coordinator.result("age") is None, "the release was not over before the SuperLink was killed"
        federation.run("another run", app)
        federation.ended("another run", 600)  # several answers may be lost, and each is waited for
    expected = in_one_process(tmp_path / "alone")
    assert trial.coordinator.result("age") == expected
    for site in trial.sites.values():
        assert site.agent.results() == {"age": expected}
        assert len(site.account.history) == 1


HOSTILE = '''
"""An app that asks the agent of a node for what it likes, and tells everything it got."""
import json
from pathlib import Path
from flwr.app import ConfigRecord, Message, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp import ServerApp
from hostile.local_client import ask_at

client = ClientApp()
server = ServerApp()


@client.query()
def ask(message, context):
    questions = json.loads(message.content["ogive"]["questions"])
    got = {}
    for name, question in questions.items():
        try:
            got[name] = (ask_at(context.node_config["agent"], bytes.fromhex(question), seconds=5) or b"").hex()
        except OSError as problem:
            got[name] = ""
    return Message(RecordDict({"ogive": ConfigRecord({"got": json.dumps(got)})}), reply_to=message)


@server.main()
def main(grid, context):
    questions = ConfigRecord({"questions": Path(context.run_config["questions"]).read_text()})
    nodes = []
    while not nodes:
        nodes = list(grid.get_node_ids())
    (reply,) = grid.send_and_receive(
        [Message(RecordDict({"ogive": questions}), dst_node_id=nodes[0], message_type="query")]
    )
    Path(context.run_config["got"]).write_text(reply.content["ogive"]["got"])
'''


def hostile_app(folder, relay):
    """An app that whoever may start runs could start."""
    package = folder / "hostile"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "apps.py").write_text(HOSTILE)
    for name in ("local_client",):
        text = (relay / "ogive_relay" / f"{name}.py").read_text()
        (package / f"{name}.py").write_text(text.replace("ogive_relay", "hostile"))
    project = (relay / "pyproject.toml").read_text().partition("[tool.flwr.app.components]")[0]
    (folder / "pyproject.toml").write_text(
        project
        + textwrap.dedent(f"""\
        [tool.flwr.app.components]
        serverapp = "hostile.apps:server"
        clientapp = "hostile.apps:client"
        [tool.flwr.app.config]
        questions = "{folder}/questions.json"
        got = "{folder}/got.json"
        agent = "/dev/null"
        """)
    )
    return folder


def hostile_questions(study):
    """Questions that the study does not have; most of them as if the coordinator itself had signed them."""
    fair = Question(study.digest, 1, 0, 0, 0, Stage.KEYS)
    signed = {
        "another study": replace(fair, study=bytes(32)),
        "another party": replace(fair, party=2),
        "no such release": replace(fair, release=7),
        "no such query": replace(fair, query=3),
        "the last step first": replace(fair, stage=Stage.UNMASK, message=b"\0" * 100),
        "a vector without a set": replace(fair, stage=Stage.INPUT),
        "a result that was not opened": replace(fair, stage=Stage.RESULT),
    }
    good = fair.to_bytes(key_of(0))
    return {name: each.to_bytes(key_of(0)) for name, each in signed.items()} | {
        "signed by a party": fair.to_bytes(key_of(2)),
        "cut": good[:-1],
        "longer": good + b"\0",
        "one bit": good[:40] + bytes([good[40] ^ 1]) + good[41:],
        "garbage": bytes(range(256)) * 10,
        "nothing": b"",
    }


@pytest.mark.slow
def test_a_hostile_app_gets_refusals_and_nothing_else(tmp_path):
    trial = Trial(tmp_path, TEXT, seed="carriers", step_seconds=600)
    questions = hostile_questions(trial.study)
    with (
        Serving(trial) as serving,
        listening(trial, tmp_path, only=(1,)) as agents,
        Federation(tmp_path, serving.folder, agents) as federation,
    ):
        write_app(tmp_path / "app", trial.study, url="https://127.0.0.1:1", service="none")
        hostile = hostile_app(tmp_path / "hostile", tmp_path / "app")
        (hostile / "questions.json").write_text(json.dumps({name: each.hex() for name, each in questions.items()}))
        federation.begin()
        federation.run("run", hostile)
        until(lambda: (hostile / "got.json").exists() and (hostile / "got.json").read_text().endswith("}"))
        got = {name: bytes.fromhex(each) for name, each in json.loads((hostile / "got.json").read_text()).items()}
        fair = Question(trial.study.digest, 1, 0, 0, 0, Stage.KEYS).to_bytes(key_of(0))
        (path,) = agents.values()
        answered = Reply.from_bytes(ask_at(path, fair), party=trial.study.parties[0].key)
    assert got.keys() == questions.keys()
    for name, reply in got.items():
        if reply:
            found = Reply.from_bytes(reply, party=trial.study.parties[0].key)
            assert (found.refused, found.body) == (True, b""), name
    refused = {name for name, reply in got.items() if reply}
    assert refused == {
        "no such release", "no such query", "the last step first", "a vector without a set",
        "a result that was not opened",
    }  # fmt: skip
    assert trial.sites[1].account.spent is None
    assert (answered.refused, bool(answered.body)) == (False, True), "what the study says is answered"
