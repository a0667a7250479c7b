"""Studies over HTTPS on loopback: the same integers as in one process, through faults, and nothing for strangers."""

import asyncio
import contextlib
import datetime
import gzip
import json
import socket
import ssl
import threading
import tracemalloc

import httpx
import pytest
from helpers.scope import is_everything, size
from helpers.study import AGE, Trial, carry, key_of, text_of
from helpers.study_service import Proxy, Serving, free_port, running
from helpers.waiting import PATIENCE, ended, in_thread, until
from starlette.requests import Request

from ogive.errors import ParameterError, PeerError
from ogive.study import enrolment
from ogive.study.agent import Connection
from ogive.study.enrolment import equip, read_token
from ogive.study.frames import Question, Stage
from ogive.study.https import service as serving_module
from ogive.study.https.mailbox import Mailbox, Unavailable
from ogive.study.https.service import BURST, _Arriving

MEAN = {
    "name": "mean",
    "statistic": "mean",
    "privacy": "{ rho = 0.5 }",
    "column": "'age'",
    "bounds": "[0, 120]",
    "by": "'ward'",
    "groups": "['A', 'B']",
}
RELEASES = (AGE, MEAN) if is_everything() else (MEAN,)
NAMES = tuple(release["name"] for release in RELEASES)
BUDGET = "{ epsilon = 9, delta = 1e-6 }"
TEXT = text_of(size(4, part=3), dropouts=int(is_everything()), releases=RELEASES, budget=BUDGET)


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """What equal seeds give in one process."""
    trial = Trial(tmp_path_factory.mktemp("alone"), TEXT, seed="carriers")
    ask_for_all(trial)
    carry(trial.coordinator, trial.agents)
    return results(trial)


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    """Agents that ask often, so that tests end soon."""
    monkeypatch.setattr("ogive.study.agent.LONGEST_PAUSE", 0.3)
    monkeypatch.setattr("ogive.study.agent.WAIT_SECONDS", 1.0)


def results(trial):
    return {name: trial.coordinator.result(name) for name in NAMES}


def released(trial):
    return all(results(trial).values()) and all(
        len(site.agent.results()) == len(NAMES) for site in trial.sites.values()
    )


def ask_for_all(trial):
    for name in NAMES:
        trial.coordinator.request(name)


def test_the_same_seeds_give_the_same_integers_as_in_one_process(tmp_path, alone):
    trial = Trial(tmp_path, TEXT, seed="carriers")
    with Serving(trial) as serving, running(serving):
        ask_for_all(trial)
        until(lambda: released(trial))
    assert results(trial) == alone
    for site in trial.sites.values():
        assert site.agent.results() == alone


FAULTS = {
    "cut": {"cut": 0.05},
    "delay": {"delay": 0.3},
    "garble": {"garble": 0.05},
    "all": {"cut": 0.02, "garble": 0.02, "delay": 0.1},
}


# all faults at once
@pytest.mark.parametrize(
    "faults",
    [pytest.param(each, marks=pytest.mark.everything if each != "all" else ()) for each in FAULTS],
)
def test_a_bad_network_changes_no_number(tmp_path, alone, faults):
    trial = Trial(tmp_path, TEXT, seed="carriers")
    with (
        Serving(trial) as serving,
        Proxy(serving.port, faults, FAULTS[faults]) as proxy,
        running(serving, port=proxy.port),
    ):
        ask_for_all(trial)
        until(lambda: released(trial))
    assert sum(proxy.done.values()) > 0
    assert results(trial) == alone
    assert all(len(site.account.history) == len(NAMES) for site in trial.sites.values())


@pytest.fixture(scope="module")
def serving(tmp_path_factory):
    trial = Trial(tmp_path_factory.mktemp("served"))
    trial.coordinator.request("age")
    with Serving(trial) as served:
        yield served


def client(serving, token=None):
    context = ssl.create_default_context(cafile=str(serving.folder / "ca.pem"))
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    return httpx.Client(
        base_url=f"https://localhost:{serving.port}", verify=context, headers=headers, trust_env=False, timeout=PATIENCE
    )


def token_of(serving, number):
    return (serving.folder / f"site-{number}.token").read_text().strip()


def test_strangers_learn_what_is_public_and_nothing_else(serving):
    with client(serving) as stranger:
        assert stranger.get("/v1/study").content == serving.trial.study.text
        assert stranger.get("/health").text == "ok\n"
        status = stranger.get("/v1/status").json()
        assert status["releases"][0]["state"] == "running"
        assert set(status["parties"][0]) == {"name", "seen"}
        assert stranger.get("/v1/releases/age").status_code == 404
        assert stranger.get("/v1/releases/other").status_code == 404
        for path in ("/v1/study/", "/health/", "/v1/status/"):
            found = stranger.get(path, headers={"Host": "elsewhere.example"})
            assert (found.status_code, found.headers.get("location")) == (404, None)
        for what in ("question", "reply"):
            assert stranger.post(f"/v1/parties/site-1/{what}").status_code == 401
            assert stranger.get(f"/v1/parties/site-1/{what}").status_code == 405


@pytest.mark.parametrize("token", [None, "wrong", "0" * 64])
def test_a_wrong_token_opens_nothing(serving, token):
    with client(serving, token) as stranger:
        assert stranger.post("/v1/parties/site-1/question").status_code == 401


def test_a_token_is_that_of_one_party(serving):
    with client(serving, token_of(serving, 2)) as second:
        assert second.post("/v1/parties/site-1/question").status_code == 401
        assert second.post("/v1/parties/site-9/question").status_code == 401
        found = second.post("/v1/parties/site-2/question")
        assert found.status_code == 200
        question = Question.from_bytes(found.content, coordinator=serving.trial.study.coordinator)
        assert (question.party, question.stage) == (2, Stage.KEYS)


def test_garbage_and_more_than_a_reply_may_have_are_refused(serving):
    with client(serving, token_of(serving, 3)) as third:
        third.post("/v1/parties/site-3/question")
        for body in (b"", b"garbage", b"ogive study reply 1\n" + bytes(200)):
            answer = third.post("/v1/parties/site-3/reply", content=body)
            assert answer.status_code == 409
            assert answer.text.count("\n") == 1
        longest = serving.trial.coordinator.longest_reply(3)
        assert third.post("/v1/parties/site-3/reply", content=bytes(longest)).status_code == 409
        for size in (longest + 1, 10_000_000):
            answer = third.post("/v1/parties/site-3/reply", content=bytes(size))
            assert (answer.status_code, answer.text.count("\n")) == (413, 1)

            def chunks(size=size):
                yield from [bytes(1000)] * (size // 1000 + 1)

            assert third.post("/v1/parties/site-3/reply", content=chunks()).status_code == 413
        assert third.post("/v1/parties/site-3/question?wait=long").status_code == 400


def test_a_reply_that_a_newer_one_replaces_before_its_end_does_not_count(serving):
    """The newer reply comes between the last part of the older one and its end."""
    service, newer = serving.service, _Arriving(100)

    async def replaced():
        with contextlib.closing(_Arriving(100)) as older:
            parts = iter((True, False))

            async def receive():
                more = next(parts)
                if not more:
                    older.close()
                    service._arriving[4] = newer
                return {"type": "http.request", "body": b"reply" if more else b"", "more_body": more}

            service._arriving[4] = older
            scope = {"type": "http", "headers": [], "path_params": {"name": "site-4"}}
            return await service._received(Request(scope, receive), 4, older)

    answer = asyncio.run(replaced())
    assert (answer.status_code, answer.body) == (409, b"another reply of this party came\n")
    assert service._arriving.pop(4) is newer
    assert not newer.closed
    newer.close()


def test_the_longest_reply_is_that_of_each_step(tmp_path):
    """Every reply of a study has at most that many bytes, and that of a vector exactly so many."""
    trial = Trial(tmp_path, TEXT)
    ask_for_all(trial)
    seen = {}
    while not released(trial):
        for number, site in trial.sites.items():
            question = trial.coordinator.question(number)
            if question is None:
                continue
            reply, longest = site.agent.answer(question), trial.coordinator.longest_reply(number)
            assert len(reply) <= longest
            stage = Question.from_bytes(question, coordinator=trial.study.coordinator).stage
            seen.setdefault(stage, set()).add(longest - len(reply))
            trial.coordinator.receive(number, reply)
        trial.coordinator.advance()
    assert set(seen) == set(Stage) - {Stage.OWN}
    assert seen[Stage.INPUT] == seen[Stage.KEYS] == seen[Stage.CONFIRM] == seen[Stage.RESULT] == {0}


def unfinished(serving, number, size):
    """A connection on which a party has begun a reply of so many bytes."""
    context = ssl.create_default_context(cafile=str(serving.folder / "ca.pem"))
    raw = socket.create_connection(("127.0.0.1", serving.port), timeout=PATIENCE)
    found = context.wrap_socket(raw, server_hostname="localhost")
    found.sendall(
        f"POST /v1/parties/site-{number}/reply HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer "
        f"{token_of(serving, number)}\r\nContent-Length: {size}\r\n\r\n".encode()
        + bytes(size - 1)
    )
    return found


def test_of_the_unfinished_replies_of_a_party_one_is_kept(serving):
    trial, service = serving.trial, serving.service
    trial.coordinator.question(4)
    size = trial.coordinator.longest_reply(4)
    with contextlib.ExitStack() as stack:
        several = []
        for _ in range(5):
            before = service._arriving.get(4)
            several.append(stack.enter_context(unfinished(serving, 4, size)))
            until(
                lambda before=before: (now := service._arriving.get(4)) not in (None, before) and now.size == size - 1
            )
            assert before is None or before.closed
        assert list(service._arriving) == [4]
        for each in several[:-1]:
            each.sendall(b"x")
            assert each.recv(12) == b"HTTP/1.1 409"
        several[-1].sendall(b"x")
        assert several[-1].recv(12) == b"HTTP/1.1 409"  # it came whole, and is not a reply
        until(lambda: not service._arriving)


def test_another_partys_reply_does_not_count(serving):
    trial = serving.trial
    reply = trial.sites[1].agent.answer(trial.coordinator.question(1))
    with client(serving, token_of(serving, 3)) as third:
        assert third.post("/v1/parties/site-3/reply", content=reply).status_code == 409


def test_a_flood_of_one_party_is_held_back_and_others_are_served(serving, monkeypatch):
    monkeypatch.setattr("ogive.study.https.service.PER_SECOND", 0.0)  # however long the requests take
    with client(serving, token_of(serving, 4)) as fourth:
        codes = [fourth.post("/v1/parties/site-4/question").status_code for _ in range(int(BURST) + 60)]
    assert codes[0] == 200
    assert 429 in codes
    with client(serving, token_of(serving, 2)) as second:
        assert second.post("/v1/parties/site-2/question").status_code == 200


def test_pages_load_nothing_and_name_no_token(serving):
    with client(serving) as stranger:
        page = stranger.get("/")
    assert "script" not in page.text
    assert "default-src 'none'" in page.headers["Content-Security-Policy"]
    assert "Release age is at the step keys" in page.text
    assert not any(token_of(serving, number) in page.text for number in range(1, 5))


def test_an_agent_with_a_wrong_token_ends_with_one_line(serving):
    with serving.connection(1, token="0" * 64) as connection, pytest.raises(PeerError, match="token"):
        connection.run(serving.trial.sites[1].agent, threading.Event())


@pytest.mark.parametrize("kind", ["expired", "another authority", "another host"])
def test_a_certificate_that_is_not_valid_is_not_believed(tmp_path, monkeypatch, kind, caplog):
    trial = Trial(tmp_path)
    folder = tmp_path / "service"
    if kind == "expired":
        monkeypatch.setattr(enrolment, "_EARLY", datetime.timedelta(days=500))
        monkeypatch.setattr(enrolment, "CERTIFICATE_DAYS", -1)
        monkeypatch.setattr(enrolment.issue, "__kwdefaults__", {"hosts": (), "days": -1})
    equip(folder, trial.study, hosts=("example.org",) if kind == "another host" else ("127.0.0.1",))
    if kind == "another authority":
        (folder / "ca.pem").unlink()
        (folder / "ca.key").unlink()
        enrolment.make_authority(folder, "another")
    trial.coordinator.request("age")
    stop = threading.Event()
    with Serving(trial, folder=folder) as serving, serving.connection(1) as connection, caplog.at_level("INFO"):
        thread = threading.Thread(target=connection.run, args=(trial.sites[1].agent, stop))
        thread.start()
        until(lambda: "certificate is not valid" in caplog.text)
        stop.set()
        ended(thread)
    assert trial.coordinator.waiting_for == (1, 2, 3, 4)


class Hangs(Proxy):
    """A proxy on which the connections of some pieces hang."""

    pieces = (20, 45, 80)

    def __init__(self, port):
        super().__init__(port, 0, {"hang": 0})
        self.count = 0

    def _fault(self):
        self.count += 1
        if self.count not in self.pieces:
            return None
        self.done["hang"] += 1
        return "hang"


@pytest.mark.everything
def test_connections_that_hang_cost_no_step(tmp_path, alone):
    """With steps of 6 s and nothing else changed, agents come back within them."""
    trial = Trial(tmp_path, TEXT, seed="carriers", step_seconds=6)
    with (
        Serving(trial) as serving,
        Hangs(serving.port) as proxy,
        running(serving, port=proxy.port),
    ):
        ask_for_all(trial)
        until(lambda: released(trial))
        mailboxes = [connection._mailbox for connection in serving._connections]
        assert {(box._wait, box._client.timeout.read, box._client.timeout.connect) for box in mailboxes} == {(1, 3, 2)}
    assert proxy.done["hang"] == len(proxy.pieces)
    assert results(trial) == alone


@pytest.mark.parametrize("step", [1.0, 5.0, 60.0, 600.0])
def test_a_party_waits_for_less_than_a_step(step):
    mailbox = Mailbox("https://localhost:1", "site-1", "0" * 64, ssl.create_default_context(), wait=25)
    mailbox._keep_to(f"{step:g}")
    assert mailbox._client.timeout.read <= max(5 / 12 * step, 2 + step / 4)
    assert mailbox._wait == min(step / 4, 25)
    for long in ("86400", "1e9", "inf"):
        mailbox._keep_to(long)
        assert mailbox._wait == 25
    for nothing in ("", "soon", "nan", "-1", "0"):  # as for a minute
        mailbox._keep_to(nothing)
        assert (mailbox._wait, mailbox._client.timeout.read) == (15, 25)
    mailbox.close()


class Hostile:
    """A coordinator's service that answers what it likes."""

    def __init__(self, folder, application):
        config = serving_module.configuration(application, folder)
        config.host, config.port, config.timeout_graceful_shutdown = "127.0.0.1", free_port(), 1
        self.server, self.folder = serving_module.StoppingServer(config, lambda: None), folder

    def mailbox(self):
        context = ssl.create_default_context(cafile=str(self.folder / "ca.pem"))
        return Mailbox(f"https://127.0.0.1:{self.server.config.port}", "site-1", "0" * 64, context, wait=25)


async def packed(scope, receive, send):
    """A GB of zeros, in a MB."""
    if scope["type"] == "http":
        body = gzip.compress(bytes(1 << 20), 1) * 1024
        headers = [(b"content-encoding", b"gzip")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})


async def endless(scope, receive, send):
    """More bytes than any question has."""
    if scope["type"] == "http":
        await send({"type": "http.response.start", "status": 200, "headers": []})
        with contextlib.suppress(OSError):
            for _ in range(64):
                await send({"type": "http.response.body", "body": bytes(1 << 16), "more_body": True})
        await send({"type": "http.response.body"})


async def slow(scope, receive, send):
    """A byte each now and then."""
    if scope["type"] == "http":
        await send({"type": "http.response.start", "status": 200, "headers": []})
        with contextlib.suppress(OSError):
            for _ in range(60):
                await send({"type": "http.response.body", "body": b"x", "more_body": True})
                await asyncio.sleep(0.05)
        await send({"type": "http.response.body"})


@pytest.mark.parametrize(
    ("application", "said"), [(packed, "packed"), (endless, "more than the 1048576 bytes"), (slow, "too slowly")]
)
def test_a_hostile_coordinator_takes_no_memory_and_no_time_of_an_agent(tmp_path, application, said, monkeypatch):
    trial, folder = Trial(tmp_path), tmp_path / "hostile"
    equip(folder, trial.study, hosts=("127.0.0.1",))
    monkeypatch.setattr("ogive.study.https.mailbox.LONGEST", 1 << 20)
    hostile = Hostile(folder, application)
    with in_thread(hostile.server), contextlib.closing(hostile.mailbox()) as mailbox:
        if application is slow:
            monkeypatch.setattr("ogive.study.https.mailbox._FIRST_SECONDS", 0.5)
            monkeypatch.setattr("ogive.study.https.mailbox.LEAST_RATE", 1000.0)
        tracemalloc.start()
        try:
            with pytest.raises(Unavailable, match=said):
                mailbox.question()
            assert tracemalloc.get_traced_memory()[1] < 64 << 20
        finally:
            tracemalloc.stop()


def test_who_waits_for_a_question_is_answered_when_the_service_stops(tmp_path):
    trial, found = Trial(tmp_path), []
    with Serving(trial) as serving:
        context = ssl.create_default_context(cafile=str(serving.folder / "ca.pem"))
        token = read_token(serving.folder / "site-1.token")
        mailbox = Mailbox(f"https://127.0.0.1:{serving.port}", "site-1", token, context, wait=25)
        assert mailbox.question() is None  # at once: how long a step takes is not known yet
        serving.service._seen.clear()
        waiting = threading.Thread(target=lambda: found.append(mailbox.question()))
        waiting.start()
        until(lambda: serving.service._seen)
    ended(waiting)
    mailbox.close()
    assert found == [None]  # and not an error, which would be a page of its log


@pytest.mark.parametrize(("days", "said"), [(40, None), (20, "will expire at 20"), (0, "has expired at 20")])
def test_a_coordinator_says_that_its_certificate_expires(tmp_path, monkeypatch, caplog, days, said):
    trial, folder = Trial(tmp_path), tmp_path / "service"
    equip(folder, trial.study, hosts=("127.0.0.1",))
    for name in ("service.pem", "service.key"):
        (folder / name).unlink()
    enrolment.issue(folder, "service", hosts=("127.0.0.1",), days=days)
    monkeypatch.setattr(serving_module, "run", lambda application, listening, *_, **__: listening.close())
    with caplog.at_level("INFO"):
        serving_module.serve(
            trial.study,
            key=key_of(0),
            state=str(tmp_path / "served.db"),
            folder=folder,
            host="127.0.0.1",
            port=0,
            step_seconds=1,
            clients=False,
        )
    warned = [line for line in caplog.messages if "expire" in line]
    assert warned == [] if said is None else len(warned) == 1 and said in warned[0]


def test_an_address_without_tls_is_refused(tmp_path):
    with pytest.raises(ParameterError, match="https"):
        Connection("http://127.0.0.1:1", "site-1", "0" * 64)


@pytest.mark.everything
def test_two_coordinators_at_once_lose_nothing(tmp_path, alone):
    """Two services with the same key on two states: agents answer each step of an attempt once."""
    trial = Trial(tmp_path, TEXT, seed="carriers")
    other = Trial(tmp_path / "other", TEXT)
    with Serving(trial) as serving, Serving(other, folder=serving.folder) as second:
        ask_for_all(trial)
        ask_for_all(other)
        stop, threads = threading.Event(), []
        for number, site in trial.sites.items():
            for each in (serving, second):
                connection = each.connection(number)
                threads.append(threading.Thread(target=connection.run, args=(site.agent, stop), daemon=True))
        for thread in threads:
            thread.start()
        for _ in range(40):
            trial.clock.now += 20
            other.clock.now += 33
            threading.Event().wait(0.1)
            if all(results(trial).values()) or all(results(other).values()):
                break
        stop.set()
        ended(*threads)
    for site in trial.sites.values():
        assert len(site.account.history) <= 2
        assert site.account.spent is None or site.account.spent.epsilon <= 9
    both = [found for found in (trial.coordinator.result("age"), other.coordinator.result("age")) if found]
    assert all(json.dumps(each["raw"]) == json.dumps(both[0]["raw"]) for each in both)
