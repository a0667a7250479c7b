"""Servers as real processes on loopback, killed while people upload and while they answer: nothing acknowledged is
lost, nothing is counted twice, and the sums are those of servers in one process."""

import asyncio
import json
import ssl

import httpx
import pytest
from helpers.forked import Forked
from helpers.scope import size
from helpers.server_processes import Processes
from helpers.servers_study import Trial, ages, in_process, token_of
from helpers.waiting import PATIENCE, Beside, until

from ogive.study.servers.uploads import credential

PEOPLE = size(240, part=80)


async def upload_all(processes, waiting, acknowledged, connections=6):
    """Upload by several connections until all reports are acknowledged, whatever happens to the server."""
    context = ssl.create_default_context(cafile=str(processes.folder / "tls-0" / "ca.pem"))
    study = processes.trial.study
    url = f"https://127.0.0.1:{processes.ports[0]}/v1/tasks/{study.digest.hex()}/reports"

    async def work():
        async with httpx.AsyncClient(verify=context, timeout=PATIENCE, trust_env=False) as client:
            while waiting:
                person, report = waiting.pop()
                shown = credential(token_of(person), study=study.digest, server=0).hex()
                try:
                    response = await client.post(url, content=report, headers={"Authorization": f"Bearer {shown}"})
                except httpx.HTTPError:
                    waiting.append((person, report))
                    await asyncio.sleep(0.05)
                    continue
                assert response.status_code == 201, response.text
                acknowledged.append(person)

    await asyncio.gather(*(work() for _ in range(connections)))


def test_servers_are_killed_while_people_upload_and_while_they_answer(tmp_path):
    trial = Trial(tmp_path, people=PEOPLE, records=PEOPLE)
    reports = trial.reports({"age": ages(PEOPLE)})
    trial.close()
    acknowledged = []
    with Processes(trial) as processes:
        for number in trial.numbers:
            processes.start(number)
        for number in trial.numbers:
            processes.until(number, lambda found: True)
        waiting = list(enumerate(reports))
        with Beside(lambda: asyncio.run(upload_all(processes, waiting, acknowledged)), stop=waiting.clear) as uploading:
            for number, share in ((0, 0.2), (1, 0.4), (0, 0.6)):
                until(lambda share=share: len(acknowledged) >= share * PEOPLE or not uploading.alive, every=0.002)
                before = len(acknowledged)
                processes.kill(number)
                processes.start(number)
                assert processes.until(number, lambda found: True)["uploads"] >= (before if number == 0 else 0)
        assert sorted(acknowledged) == list(range(PEOPLE))
        assert processes.until(0, lambda found: True)["uploads"] == PEOPLE
        asking = ["study", "release", "study.toml", "age", "--state", "server-0/state.db", "-o", "age.json"]
        release = Forked(asking, tmp_path)
        processes.until(0, lambda found: not found["open"])
        for number in (1, 0):
            processes.kill(number)
            processes.start(number)
        printed, _ = release.communicate(PATIENCE)
        assert f"records:    {PEOPLE} (public)" in printed
        for number in trial.numbers:
            found = processes.until(number, lambda found: found["releases"][0]["state"] == "released")
            assert (found["clients"], found["left_out"], found["spent"]) == (PEOPLE, 0, "epsilon = 1")
            body = httpx.get(
                f"https://127.0.0.1:{processes.ports[number]}/v1/releases/age",
                verify=ssl.create_default_context(cafile=str(tmp_path / f"tls-{number}" / "ca.pem")),
                timeout=PATIENCE,
                trust_env=False,
            )
            assert body.json() == json.loads((tmp_path / "age.json").read_text())
    for number in trial.numbers:
        trial.start(number)
    expected = in_process(trial, reports)
    for node in trial.nodes.values():
        assert (node.answers(0)[0].values.ravel() == expected.ravel()).all()
    trial.close()


@pytest.fixture
def one(tmp_path):
    """One server 0 alone, and its trial."""
    trial = Trial(tmp_path, people=8, records=8)
    reports = trial.reports({"age": ages(8)})
    trial.close()
    with Processes(trial) as processes:
        processes.start(0)
        processes.until(0, lambda found: True)
        yield processes, reports


def test_hostile_requests_are_answered_in_one_line_and_store_nothing(one):
    processes, reports = one
    study = processes.trial.study
    context = ssl.create_default_context(cafile=str(processes.folder / "tls-0" / "ca.pem"))
    base = f"https://127.0.0.1:{processes.ports[0]}"
    task = f"/v1/tasks/{study.digest.hex()}"
    mine = {"Authorization": f"Bearer {credential(token_of(1), study=study.digest, server=0).hex()}"}
    others = {"Authorization": f"Bearer {credential(token_of(1), study=study.digest, server=1).hex()}"}
    with httpx.Client(verify=context, base_url=base, timeout=PATIENCE, trust_env=False) as client:
        for headers in ({}, others, {"Authorization": "Bearer zz"}, {"Authorization": "Basic aa"}):
            assert client.post(f"{task}/reports", content=reports[1], headers=headers).status_code == 401
        for body, status in (
            (b"", 400), (reports[1][:-1], 400), (reports[1] + b"x", 413), (b"x" * (1 << 20), 413),
            (b"x" * len(reports[1]), 400),
        ):  # fmt: skip
            response = client.post(f"{task}/reports", content=body, headers=mine)
            assert (response.status_code, response.text.count("\n")) == (status, 1)
        assert client.post("/v1/tasks/0/reports", content=reports[1], headers=mine).status_code == 404
        assert client.post(f"{task}/preparation_jobs", content=b"x").status_code == 404  # server 0 is asked nothing
        assert client.get(f"{task}/reports").status_code == 405
        assert client.get("/v1/releases/age").status_code == 404
        assert client.get("/v1/releases/..%2f..%2fstate.db").status_code == 404
        assert client.get("/health").text == "ok\n"
        assert client.get("/v1/study").content == study.text
        assert processes.status(0)["uploads"] == 0
        assert client.post(f"{task}/reports", content=reports[1], headers=mine).status_code == 201
        assert client.post(f"{task}/reports", content=reports[1], headers=mine).status_code == 201
        assert client.post(f"{task}/reports", content=reports[2], headers=mine).status_code == 409
        assert "ogive_server_uploads 1\n" in client.get("/metrics").text
    log = (processes.folder / "0.log").read_text()
    assert mine["Authorization"][7:] not in log
    assert "Traceback" not in log
