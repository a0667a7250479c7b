"""The service as a real process on loopback, killed while people report, and asked by hostile clients."""

import asyncio
import contextlib
import socket
import threading

import httpx
import pytest
from helpers.local_service import LocalProcess, LocalTrial, reports_of
from helpers.scope import size
from helpers.waiting import PATIENCE, Beside, until

from ogive.local import Collection

PEOPLE = size(400, part=120)


async def report_all(process, waiting, acknowledged, connections=6):
    """Report by several connections until all reports are acknowledged, whatever happens to the service."""

    context = process.context

    async def work():
        async with httpx.AsyncClient(verify=context, base_url=process.base, timeout=PATIENCE, trust_env=False) as to:
            while waiting:
                person, report = waiting.pop()
                headers = {"Authorization": f"Bearer {process.trial.tokens[person]}"}
                try:
                    response = await to.post(process.path, content=report, headers=headers)
                except httpx.HTTPError:
                    waiting.append((person, report))
                    await asyncio.sleep(0.05)
                    continue
                assert response.status_code == 201, response.text
                acknowledged.append(person)

    await asyncio.gather(*(work() for _ in range(connections)))


def test_a_service_that_is_killed_has_each_acknowledged_report_once(tmp_path):
    trial = LocalTrial(tmp_path, people=PEOPLE)
    waiting, acknowledged = list(enumerate(trial.reports)), []
    with (
        LocalProcess(trial) as process,
        Beside(lambda: asyncio.run(report_all(process, waiting, acknowledged)), stop=waiting.clear) as reporting,
    ):
        for share in (0.2, 0.5, 0.8):
            until(lambda share=share: len(acknowledged) >= share * PEOPLE or not reporting.alive, every=0.002)
            process.kill()
            before = set(acknowledged)
            stored = Collection(trial.description)
            stored.add(trial.store)
            assert all(map(stored.heard, before))
            process.start()
            assert process.status()["uploads"] >= len(before)
        reporting.join()
        assert sorted(acknowledged) == list(range(PEOPLE))
        assert process.status()["uploads"] == PEOPLE
    by_service, by_file = Collection(trial.description), Collection(trial.description)
    assert by_service.add(trial.store).refused == 0
    by_file.add(b"".join(trial.reports))
    assert by_service.digest() == by_file.digest()


@pytest.fixture(scope="module")
def process(tmp_path_factory):
    with LocalProcess(LocalTrial(tmp_path_factory.mktemp("local"), people=8)) as running:
        yield running


def test_hostile_requests_are_answered_in_one_line_and_store_nothing(process):
    trial = process.trial
    report, before = trial.reports[1], process.status()["uploads"]
    mine = {"Authorization": f"Bearer {trial.tokens[1]}"}
    other = {"Authorization": f"Bearer {trial.tokens[2]}"}
    number = trial.tokens[1].partition("-")[0]
    with process.client() as client:
        unknown = ("", "Bearer", "Bearer zz", f"Bearer {number}-", "Bearer 9-" + "0" * 64, "Basic aa")
        for headers in ({}, *({"Authorization": each} for each in unknown)):
            assert client.post(process.path, content=report, headers=headers).status_code == 401
        for body, status in (
            (b"", 400), (report[:-1], 400), (report + b"x", 413), (b"x" * (1 << 20), 413), (b"x" * len(report), 400),
            (bytes(len(report)), 400), (report[:-1] + b"\xff", 400),
        ):  # fmt: skip
            response = client.post(process.path, content=body, headers=mine)
            assert (response.status_code, response.text.count("\n")) == (status, 1)
        assert client.post(process.path, content=report, headers=other).status_code == 400
        wrong = process.path.replace(trial.description.digest.hex(), "0" * 64)
        assert client.post(wrong, content=report, headers=mine).status_code == 404
        assert client.get(process.path).status_code == 405
        assert process.status()["uploads"] == before
        again = reports_of(trial.description, trial.values, seed=9)
        person = next(person for person in range(1, 8) if again[person] != trial.reports[person])
        mine = {"Authorization": f"Bearer {trial.tokens[person]}"}
        for body, status in ((trial.reports[person], 201), (trial.reports[person], 201), (again[person], 409)):
            assert client.post(process.path, content=body, headers=mine).status_code == status
        told = process.status()
        assert told["uploads"] == before + 1
        assert sum(count for _, count in told["uploads_by_hour"]) == before + 1  # a replay is no other report
        assert f"ogive_local_uploads {before + 1}\n" in client.get("/metrics").text
    log = (trial.folder / "log").read_text()
    assert "Traceback" not in log
    assert not any(token in log for token in trial.tokens)


def test_many_false_reports_at_a_time_keep_nobody_from_reporting(process):
    """Many connections send six reports each, and more until the honest one was acknowledged in their midst."""
    connections = size(100, part=12)
    trial, context = process.trial, process.context
    before = process.status()["uploads"]
    acknowledged, found = threading.Event(), []

    async def send(to):
        sent = 0
        while sent < 6 or not acknowledged.is_set():
            headers = {"Authorization": f"Bearer {trial.tokens[7]}"} if sent % 2 else {}
            try:
                response = await to.post(process.path, content=bytes(10), headers=headers)
            except httpx.TransportError:  # on a busy machine it did not begin a request in time, and connects again
                continue
            sent += 1
            found.append(response.status_code)

    async def flood():
        # one request at a time for each connection: httpx looks through all that wait whenever a request begins or ends
        limits = httpx.Limits(max_connections=connections, max_keepalive_connections=connections)
        async with httpx.AsyncClient(
            verify=context, base_url=process.base, timeout=PATIENCE, trust_env=False, limits=limits
        ) as to:
            await asyncio.gather(*(send(to) for _ in range(connections)))

    with Beside(lambda: asyncio.run(flood()), stop=acknowledged.set) as flooding, process.client() as client:
        until(lambda: len(found) >= connections or not flooding.alive)
        headers = {"Authorization": f"Bearer {trial.tokens[0]}"}
        assert client.post(process.path, content=trial.reports[0], headers=headers).status_code == 201
        assert flooding.alive
        acknowledged.set()
    assert len(found) >= 6 * connections
    assert set(found) == {400, 401}
    assert process.status()["uploads"] == before + 1


def test_what_is_no_request_fills_no_log(process):
    log = process.trial.folder / "log"
    before = log.stat().st_size
    upgrade = b"GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
    for number in range(60):
        with (
            socket.create_connection(("127.0.0.1", process.port), timeout=PATIENCE) as plain,
            process.context.wrap_socket(plain, server_hostname="127.0.0.1") as secure,
        ):
            secure.sendall(upgrade if number % 2 else b"no request\r\n\r\n")
            assert secure.recv(100)
    said = log.read_bytes()[before:]
    assert said.count(b"\n") == 2
    assert b"something that is not an HTTP request was refused" in said


def test_connections_that_say_nothing_keep_nobody_from_reporting(process):
    with contextlib.ExitStack() as silent, process.client() as client:
        for _ in range(50):
            silent.enter_context(socket.create_connection(("127.0.0.1", process.port)))
        headers = {"Authorization": f"Bearer {process.trial.tokens[6]}"}
        assert client.post(process.path, content=process.trial.reports[6], headers=headers).status_code == 201


def test_the_description_is_given_as_what_its_digest_is_of(process):
    with process.client() as client:
        found = client.get("/v1/study")
    assert found.content == process.trial.description.canonical
    assert Collection(found.content).description == process.trial.description


def test_the_page_runs_its_own_script_alone(process):
    with process.client() as client:
        page = client.get("/")
        assert client.get("/local_report.mjs").text in page.text
        assert "8 participants have reported" in client.get("/status").text
    policy = page.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "connect-src 'self'" in policy
    assert "script-src 'unsafe" not in policy
