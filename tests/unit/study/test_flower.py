"""The relay app for Flower without Flower's processes: what it writes, carries, refuses and survives."""

import ast
import os
import sys
import threading
import time
import tomllib
import types

import pytest
from helpers.flower import listening
from helpers.forked import Forked
from helpers.study import Trial, carry, text_of
from helpers.study_service import Serving, running
from helpers.waiting import PATIENCE, Beside, until

from ogive.errors import ParameterError
from ogive.study import flower as writing
from ogive.study.document import Study
from ogive.study.flower import write_app
from ogive.study.local_client import QUIET, lacking

TEXT = text_of(3, dropouts=0)


@pytest.fixture
def study():
    return Study.parse(TEXT)


def write(folder, study, **changed):
    write_app(folder, study, **({"url": "https://127.0.0.1:8443", "service": "/etc/ogive"} | changed))


def test_the_app_names_study_service_and_parties(tmp_path, study):
    write(tmp_path / "app", study)
    project = tomllib.loads((tmp_path / "app" / "pyproject.toml").read_text())
    assert project["tool"]["flwr"]["app"]["config"] == {
        "coordinator": "https://127.0.0.1:8443",
        "service": "/etc/ogive",
        "study": study.digest.hex(),
        "parties": "site-1,site-2,site-3",
        "answer-seconds": 120,
    }
    assert "agent" not in project["tool"]["flwr"]["app"]["config"], "where the agent listens is no run's to say"
    assert all(f"{name}={value}\n" in (tmp_path / "app" / "environment").read_text() for name, value in QUIET.items())


def test_the_app_needs_python_and_flower_alone(tmp_path, study):
    write(tmp_path / "app", study)
    files = {path.stem: path.read_text() for path in (tmp_path / "app" / "ogive_relay").glob("*.py")}
    imported = set()
    for text in files.values():
        for node in ast.walk(ast.parse(text)):
            imported |= {node.module} if isinstance(node, ast.ImportFrom) else set()
            imported |= {alias.name for alias in node.names} if isinstance(node, ast.Import) else set()
    own = {name.removeprefix("ogive_relay.") for name in imported if name.startswith("ogive")}
    assert own < files.keys()
    others = {name.partition(".")[0] for name in imported} - {"ogive_relay"}
    assert others - set(sys.stdlib_module_names) == {"flwr", "httpx"}, "httpx comes with flwr"


def test_a_folder_that_is_there_is_kept(tmp_path, study):
    for name in ("folder", "file", "link"):
        path = tmp_path / name
        path.mkdir() if name == "folder" else path.touch() if name == "file" else path.symlink_to("nowhere")
        with pytest.raises(ParameterError, match="is there already and is kept"):
            write(path, study)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder", "link"]
    assert not list((tmp_path / "folder").iterdir())


def test_nothing_is_written_half(tmp_path, study, monkeypatch):
    monkeypatch.setattr(writing, "_COPIED", (*writing._COPIED, "not/there.py"))
    with pytest.raises(ParameterError, match="cannot be written"):
        write(tmp_path / "app", study)
    assert not list(tmp_path.iterdir())
    with pytest.raises(ParameterError, match="cannot be made"):
        write(tmp_path / "missing" / "app", study)


@pytest.mark.parametrize("changed", [{"url": "http://x"}, {"url": 'https://"'}, {"service": "a\nb"}, {"service": '"'}])
def test_what_the_app_cannot_hold_is_refused(tmp_path, study, changed):
    with pytest.raises(ParameterError):
        write(tmp_path / "app", study, **changed)
    assert not list(tmp_path.iterdir())


def test_what_the_environment_lacks_is_said(monkeypatch):
    for name in QUIET:
        monkeypatch.delenv(name, raising=False)
    assert lacking() == "FLWR_TELEMETRY_ENABLED=0 FLWR_DISABLE_UPDATE_CHECK=1"
    monkeypatch.setenv("FLWR_DISABLE_UPDATE_CHECK", "1")
    assert lacking() == "FLWR_TELEMETRY_ENABLED=0"


# what follows runs the app's two halves in this process


class Network:
    """What Flower does, in one process: nodes with a configuration each, some of which are offline or lose messages."""

    def __init__(self, configurations):
        self.nodes = dict(enumerate(configurations, 100))
        self.offline, self.lost, self.seconds = set(), 0, lambda: 0.0
        self._replies, self.sent = {}, 0

    def get_node_ids(self):
        return [node for node in self.nodes if node not in self.offline]

    def push_messages(self, messages):
        from flwr.app import Error, Message

        from ogive.study.flower.relay import apps

        names = []
        for message in messages:
            self.sent += 1
            name = f"message {self.sent}"
            message.metadata.__dict__["_message_id"] = name
            node, action = message.metadata.dst_node_id, message.metadata.message_type.partition(".")[2]
            if node in self.offline or self.sent <= self.lost:
                reply = Message(Error(code=0, reason="the node is gone"), reply_to=message)
            else:
                context = types.SimpleNamespace(node_config=self.nodes[node], run_config={"agent": "/dev/null"})
                reply = getattr(apps, action)(message, context)
            self._replies[name] = time.monotonic() + self.seconds(), reply
            names.append(name)
        return names

    def pull_messages(self, names):
        now = time.monotonic()
        return [self._replies.pop(name)[1] for name in names if name in self._replies and self._replies[name][0] <= now]


@pytest.fixture
def quick(monkeypatch):
    """The relay's module, which looks often, so that tests end soon."""
    pytest.importorskip("flwr", reason="Flower is not installed; ogive[flower] brings it")
    from flwr.supercore.task_identity import TaskIdentity

    from ogive.study.flower.relay import apps

    for name in ("task", "run", "node"):  # what Flower tells its own processes
        monkeypatch.setattr(TaskIdentity, f"_{name}_id", 1)
    for name, seconds in {"POLL": 0.01, "LOOK": 0.1, "WAIT": 0.5, "PAUSE": 0.05}.items():
        monkeypatch.setattr(apps, f"{name}_SECONDS", seconds)
    monkeypatch.setattr("ogive.study.agent.WAIT_SECONDS", 0.5)
    for name, value in QUIET.items():
        monkeypatch.setenv(name, value)
    yield apps
    until(lambda: not any(thread.name.startswith("node ") for thread in threading.enumerate()))


def context_of(trial, serving, **changed):
    config = {
        "coordinator": f"https://127.0.0.1:{serving.port}",
        "service": str(serving.folder),
        "study": trial.study.digest.hex(),
        "parties": ",".join(party.name for party in trial.study.parties),
        "answer-seconds": 120,
    }
    return types.SimpleNamespace(run_config=config | changed)


def honest(agents):
    return [{"agent": str(path), "party": name} for (_, name), path in agents.items()]


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """What equal seeds give in one process."""
    trial = Trial(tmp_path_factory.mktemp("alone"), TEXT, seed="carriers")
    trial.coordinator.request("age")
    carry(trial.coordinator, trial.agents)
    return trial.coordinator.result("age")


def test_the_same_seeds_give_the_same_integers_through_lost_messages_and_nodes_that_lie(tmp_path, quick, expected):
    trial = Trial(tmp_path, TEXT, seed="carriers", step_seconds=600)
    with Serving(trial) as serving, listening(trial, tmp_path) as agents:
        configurations = honest(agents)
        liar = configurations[0] | {"agent": configurations[2]["agent"]}
        network = Network([liar, *configurations, {"party": "nobody"}, {}])
        network.lost = 7
        trial.coordinator.request("age")
        quick.main(network, context_of(trial, serving))
    assert trial.coordinator.result("age") == expected
    assert all(site.agent.results() for site in trial.sites.values())


@pytest.mark.everything
def test_a_node_that_comes_late_is_waited_for(tmp_path, quick):
    trial = Trial(tmp_path, TEXT, seed="carriers", step_seconds=600)
    with Serving(trial) as serving, listening(trial, tmp_path) as agents:
        network = Network(honest(agents))
        network.offline = {101}
        trial.coordinator.request("age")
        with Beside(quick.main, network, context_of(trial, serving), stop=network.offline.clear) as run:
            until(lambda: trial.coordinator.waiting_for == (2,))
            time.sleep(2 * quick.DONE_SECONDS)
            assert run.alive, "a release that is running is waited for"
            network.offline.clear()
    assert trial.coordinator.result("age") is not None


@pytest.mark.everything
def test_a_run_ends_when_everybody_has_read_the_result_however_slow_nodes_are(tmp_path, quick):
    """Nodes take longer than a run waits that nobody has asked, and what they take longest for is the result."""
    trial = Trial(tmp_path, TEXT, step_seconds=600)
    with Serving(trial) as serving, listening(trial, tmp_path) as agents:
        network = Network(honest(agents))
        network.seconds = lambda: 0.1 if trial.coordinator.result("age") is None else 2 * quick.DONE_SECONDS
        trial.coordinator.request("age")
        quick.main(network, context_of(trial, serving))
        assert all(site.agent.results() for site in trial.sites.values())


def test_a_run_without_anything_to_carry_ends(tmp_path, quick, monkeypatch):
    monkeypatch.setattr(quick, "DONE_SECONDS", 0.5)
    trial = Trial(tmp_path, TEXT)
    with Serving(trial) as serving, listening(trial, tmp_path) as agents:
        quick.main(Network(honest(agents)), context_of(trial, serving))
    assert trial.coordinator.progress() == {}


def test_flower_that_is_not_quiet_carries_nothing(tmp_path, quick, monkeypatch, caplog):
    trial = Trial(tmp_path, TEXT)
    with Serving(trial) as serving, listening(trial, tmp_path) as agents:
        monkeypatch.setenv("FLWR_TELEMETRY_ENABLED", "1")
        with pytest.raises(quick.NotCarriedError, match="start the SuperLink with FLWR_TELEMETRY_ENABLED=0"):
            quick.main(Network(honest(agents)), context_of(trial, serving))
        of_run = iter([""])  # now only the nodes' processes are not quiet
        monkeypatch.setattr(quick, "lacking", lambda: next(of_run, lacking()))
        quick.main(Network(honest(agents)), context_of(trial, serving))
    assert caplog.text.count("is left out: its Flower is not quiet; start the SuperNode with FLWR_TELEMETRY") == 3


@pytest.mark.parametrize("what", ["study", "service", "coordinator"])
def test_a_run_that_cannot_carry_says_why(tmp_path, quick, what):
    trial = Trial(tmp_path, TEXT)
    changed = {"study": "0" * 64, "service": str(tmp_path / "nowhere"), "coordinator": "https://127.0.0.1:1"}[what]
    reason = {"study": "runs another study", "service": "no token of any party in", "coordinator": "cannot be reached"}[
        what
    ]
    with Serving(trial) as serving, pytest.raises(quick.NotCarriedError, match=reason) as found:
        quick.main(Network([]), context_of(trial, serving, **{what: changed}))
    assert "\n" not in str(found.value)


def test_a_service_whose_certificate_is_missing_is_not_asked(tmp_path, quick):
    trial = Trial(tmp_path, TEXT)
    with Serving(trial) as serving:
        (serving.folder / "ca.pem").unlink()
        with pytest.raises(quick.NotCarriedError, match=r"ca.pem and the parties' tokens cannot be read in"):
            quick.main(Network([]), context_of(trial, serving))


@pytest.mark.everything
def test_a_party_without_a_token_here_comes_over_https(tmp_path, quick, expected):
    trial = Trial(tmp_path, TEXT, seed="carriers", step_seconds=600)
    with Serving(trial) as serving, listening(trial, tmp_path) as agents, running(serving, (2,)):
        (serving.folder / "site-2.token").unlink()
        trial.coordinator.request("age")
        quick.main(Network(honest(agents)), context_of(trial, serving))
    assert trial.coordinator.result("age") == expected


@pytest.mark.everything
def test_an_agent_that_is_not_there_is_tried_again(tmp_path, quick, monkeypatch):
    monkeypatch.setattr("ogive.study.flower.relay.apps.AGENT_SECONDS", 0.5)
    trial = Trial(tmp_path, TEXT, step_seconds=600)
    with Serving(trial) as serving:
        with listening(trial, tmp_path) as agents:
            configurations = honest(agents)
        assert not any(os.path.exists(each["agent"]) for each in configurations)  # noqa: PTH110 - strings
        trial.coordinator.request("age")
        network = Network(configurations)
        with Beside(quick.main, network, context_of(trial, serving)) as run:
            until(lambda: network.sent > 2 * len(configurations) or not run.alive)
            with listening(trial, tmp_path):
                run.join()
    assert trial.coordinator.result("age") is not None


def test_the_command_writes_the_app_and_says_that_flower_is_to_be_quiet(tmp_path):
    (tmp_path / "study.toml").write_bytes(TEXT)
    words = ["study", "flower", "study.toml", "-o", "app", "--service", "relay"]
    first = Forked(words, tmp_path)
    printed, said = first.communicate(PATIENCE)
    assert (first.returncode, printed) == (0, "")
    assert "sends no telemetry and looks for no updates" in said
    second = Forked(words, tmp_path)
    _, said = second.communicate(PATIENCE)
    project = tomllib.loads((tmp_path / "app" / "pyproject.toml").read_text())
    assert project["tool"]["flwr"]["app"]["config"]["service"] == str(tmp_path / "relay")
    assert second.returncode == 2
    assert said.count("\n") == 1
    assert "is there already and is kept" in said
