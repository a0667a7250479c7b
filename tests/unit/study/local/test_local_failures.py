"""Services for reports whose disk fails, and devices whose service lies."""

import asyncio
import os
import socket
import ssl
import threading

import httpx
import pytest
from helpers.local_service import LocalTrial, reports_of
from helpers.waiting import PATIENCE, ended

from ogive.errors import PeerError, RefusalError
from ogive.study.https import Sender
from ogive.study.local.service import LocalService, ReleasedFile


def test_a_service_whose_store_failed_says_so_where_it_is_watched(tmp_path, monkeypatch):
    trial = LocalTrial(tmp_path, people=4)
    reports = trial.opened()
    application = LocalService(trial.description, reports, trial.participants(), ReleasedFile(None)).application()
    path = f"/v1/tasks/{trial.description.digest.hex()}/reports"

    def failing(_):
        raise OSError(5, "Input/output error")

    async def use():
        to = httpx.ASGITransport(application)
        async with httpx.AsyncClient(transport=to, base_url="https://lab") as client:
            healthy = await client.get("/health")
            headers = {"Authorization": f"Bearer {trial.tokens[0]}"}
            with monkeypatch.context() as broken:
                broken.setattr(os, "fdatasync", failing)
                refused = await client.post(path, content=trial.reports[0], headers=headers)
            again = await client.post(path, content=trial.reports[0], headers=headers)
            return healthy.status_code, refused.status_code, again.status_code, await client.get("/health")

    *codes, health = asyncio.run(use())
    assert codes == [200, 503, 503]
    assert (health.status_code, health.text.count("\n")) == (503, 1)
    assert "start the process again" in health.text
    reports.close()
    with_store = trial.opened()
    assert len(with_store) <= 1  # nothing was acknowledged
    with_store.close()


@pytest.fixture
def lying(tmp_path):
    """A service that answers whatever a test wants; gives what to call with the answer, and a sender to it."""
    trial = LocalTrial(tmp_path, people=4)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "tls" / "service.pem", tmp_path / "tls" / "service.key")
    listening = socket.create_server(("127.0.0.1", 0))
    threads = []

    def answer(head, body=b"", times=1):
        def serve():
            try:
                with context.wrap_socket(listening.accept()[0], server_side=True) as one:
                    said = b""
                    while not said.endswith(b"report"):  # or what is not read would reset the connection
                        said += one.recv(1 << 16)
                    one.sendall(head)
                    for _ in range(times):
                        one.sendall(body)
            except OSError:
                pass  # the device hung up

        threads.append(threading.Thread(target=serve, daemon=True))
        threads[-1].start()
        url = f"https://127.0.0.1:{listening.getsockname()[1]}"
        return Sender(trial.description.digest, url, authority=tmp_path / "tls" / "ca.pem")

    yield answer
    ended(*threads)
    listening.close()


def test_a_device_reads_no_answer_without_end(lying):
    head = b"HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n"
    piece = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    with lying(head, piece, times=1 << 14) as sender:  # a gigabyte
        assert sender.send(b"report", "token")


@pytest.mark.parametrize(
    ("head", "problem", "words"),
    [
        (b"HTTP/1.1 302 Found\r\nLocation: https://elsewhere\r\nContent-Length: 0\r\n\r\n", PeerError, "302"),
        (b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", PeerError, "takes no uploads of this study"),
        (b"HTTP/1.1 403 No\r\nContent-Length: 9\r\n\r\na\nb\x1b[2Jc\n", PeerError, "refuses the upload"),
        (b"nonsense\r\n\r\n", RefusalError, "does not take the upload now"),
        (b"HTTP/1.1 201 Created\r\n" + b"X: y\r\n" * 200, RefusalError, "does not take the upload now"),
    ],
)
def test_whatever_a_service_answers_is_one_line(lying, monkeypatch, head, problem, words):
    monkeypatch.setattr("ogive.study.https.TRIES", 1)
    with lying(head) as sender, pytest.raises(problem, match=words) as refusal:
        sender.send(b"report", "token")
    assert str(refusal.value).isprintable()


def test_two_people_with_one_token_are_one(tmp_path):
    trial = LocalTrial(tmp_path, people=4)
    kept = trial.opened()
    people = trial.participants()
    first, second = (
        reports_of(trial.description, [20, 20, 20, 20])[1],
        reports_of(trial.description, [90] * 4, seed=3)[1],
    )
    assert first != second
    kept.take(people.person(trial.tokens[1]), first).result(PATIENCE)
    with pytest.raises(PeerError, match="each uploads one"):
        kept.take(people.person(trial.tokens[1]), second)
    assert len(kept) == 1
    kept.close()
