"""Servers over TLS where the network is bad or an answer takes long: the sums are those of a good network."""

import asyncio
import contextlib
import gzip
import socket
import time

import httpx
import pytest
import uvicorn
from helpers.servers_study import AGE, Trial, ages, in_process, key_of, seeded
from helpers.study_service import Proxy, free_port
from helpers.waiting import PATIENCE, in_thread, until

from ogive.errors import ParameterError, PeerError, RefusalError
from ogive.privacy import PureDP
from ogive.study import https as sending
from ogive.study import sealing
from ogive.study.enrolment import equip, issue
from ogive.study.https import Sender
from ogive.study.https.service import configuration
from ogive.study.sealing import enclose
from ogive.study.servers import asking
from ogive.study.servers.asking import HttpsCarrier
from ogive.study.servers.service import ServerService
from ogive.study.servers.uploads import credential, make_reports

FEW = AGE | {"bounds": "[0, 8]"}


@contextlib.contextmanager
def served(trial, number, *, leader=None, tls=None):
    """A server of a trial as a service in a thread; yields its port."""
    tls = trial.folder / f"tls-{number}" if tls is None else tls
    if not tls.exists():
        equip(tls, trial.study, hosts=("127.0.0.1",))
    port = free_port()
    config = configuration(ServerService(trial.nodes[number], leader).application(), tls)
    config.host, config.port, config.timeout_graceful_shutdown = "127.0.0.1", port, 1
    with in_thread(uvicorn.Server(config)):
        yield port


@pytest.fixture
def trial(tmp_path):
    with Trial(tmp_path, people=12, releases=(FEW,), records=12, min_uploads="0") as made:
        yield made


def shown(trial, token):
    return credential(token, study=trial.study.digest, server=0).hex()


def carrier(trial, port, number=1):
    return HttpsCarrier(
        trial.study, number, f"https://127.0.0.1:{port}", authority=trial.folder / f"tls-{number}" / "ca.pem"
    )


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param("cut", marks=pytest.mark.everything),
        pytest.param("delay", marks=pytest.mark.everything),
        "garble",  # which TLS notices, and ends the connection
    ],
)
def test_a_bad_network_changes_no_sum(trial, fault, monkeypatch):
    for module in (asking, sending):
        monkeypatch.setattr(module, "SECONDS", 2.0)
    monkeypatch.setattr(asking, "CONNECT_SECONDS", 1.0)
    reports = trial.reports({"age": ages(12) % 9})
    with served(trial, 1) as port, Proxy(port, 3, {fault: 0.1}) as proxy:
        carried = carrier(trial, proxy.port)
        trial.connect({1: carried})
        with served(trial, 0, leader=trial.leader) as first, Proxy(first, 5, {fault: 0.1}) as front:
            sender = Sender(
                trial.study.digest, f"https://127.0.0.1:{front.port}", authority=trial.folder / "tls-0" / "ca.pem"
            )
            with sender:
                for report, token in zip(reports, trial.tokens, strict=True):
                    while True:
                        with contextlib.suppress(RefusalError):
                            assert sender.send(report, shown(trial, token))
                            break
            assert len(trial.nodes[0].uploads) == 12
            trial.ask()
            until(lambda: trial.nodes[1].estimate(0) is not None)
        carried.close()
        assert sum(proxy.done.values()) + sum(front.done.values()) > 0
    expected = in_process(trial, reports)
    for node in trial.nodes.values():
        assert (node.answers(0)[0].values.ravel() == expected.ravel()).all()
        assert node.spent() == PureDP(1)


def test_an_answer_that_takes_long_is_asked_for_again_and_computed_once(trial, monkeypatch):
    monkeypatch.setattr(asking, "SECONDS", 0.3)
    began = []
    close = trial.nodes[1].close_uploads

    def slow(count):
        began.append(count)
        time.sleep(1.5)
        return close(count)

    monkeypatch.setattr(trial.nodes[1], "close_uploads", slow)
    with served(trial, 1) as port:
        carried = carrier(trial, port)
        trial.connect({1: carried})
        fields, blobs = trial.leader._peers[0].ask("close", count=0)
        carried.close()
    assert (set(fields), blobs) == ({"to"}, [])
    assert began == [0]


def test_a_server_that_never_answers_is_given_up(trial, monkeypatch):
    monkeypatch.setattr(asking, "SECONDS", 0.2)
    monkeypatch.setattr(asking, "TRIES", 2)
    monkeypatch.setattr(asking, "CONNECT_SECONDS", 0.2)
    equip(trial.folder / "tls-1", trial.study, hosts=("127.0.0.1",))
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        carried = carrier(trial, silent.getsockname()[1])
        with pytest.raises(PeerError, match=r"no answer from https://127.0.0.1"):
            carried.carry(b"x")
        carried.close()


@pytest.mark.parametrize("wrong", ["expired", "another host", "another authority"])
def test_a_certificate_that_is_not_valid_is_one_line(trial, wrong):
    tls = trial.folder / "tls"
    equip(tls, trial.study, hosts=("example.org",) if wrong == "another host" else ("127.0.0.1",))
    if wrong == "expired":
        for name in ("service.pem", "service.key"):
            (tls / name).unlink()
        issue(tls, "service", hosts=("127.0.0.1",), days=-1)
    believed = tls
    if wrong == "another authority":
        believed = trial.folder / "other"
        equip(believed, trial.study, hosts=("127.0.0.1",))
    with served(trial, 0, leader=trial.leader, tls=tls) as port:
        url = f"https://127.0.0.1:{port}"
        carried = HttpsCarrier(trial.study, 1, url, authority=believed / "ca.pem")
        with pytest.raises(PeerError, match="certificate") as refusal:
            carried.carry(b"x")
        carried.close()
        assert "\n" not in str(refusal.value)
        (report,) = trial.reports({"age": [3]})
        with (
            Sender(trial.study.digest, url, authority=believed / "ca.pem") as sender,
            pytest.raises(RefusalError, match="its certificate is not valid"),
        ):
            sender.send(report, shown(trial, trial.tokens[0]))
    assert len(trial.nodes[0].uploads) == 0


def test_a_slow_body_is_not_waited_for(trial, monkeypatch):
    monkeypatch.setattr("ogive.study.https.pages.REPORT_SECONDS", 0.3)
    (report,) = trial.reports({"age": [3]})

    def slowly():
        yield report[:10]
        time.sleep(1)
        yield report[10:]

    shown = credential(trial.tokens[0], study=trial.study.digest, server=0).hex()
    with served(trial, 0, leader=trial.leader) as port:
        url = f"https://127.0.0.1:{port}/v1/tasks/{trial.study.digest.hex()}/reports"
        response = httpx.post(
            url,
            content=slowly(),
            headers={"Authorization": f"Bearer {shown}"},
            verify=False,
            timeout=PATIENCE,
            trust_env=False,
        )
    assert (response.status_code, response.text) == (408, "the report came too slowly\n")
    assert len(trial.nodes[0].uploads) == 0


def test_a_request_is_read_only_where_server_0_began_it(trial, monkeypatch):
    carried = 0

    def without_end(front):
        nonlocal carried
        yield front
        for _ in range(100_000):
            carried += 1 << 10
            yield bytes(1 << 10)

    def message(length, key=0):
        return enclose(
            bytes(length), study=trial.study.digest, sender=0, key=key_of(key), receiver=1,
            sealing=trial.study.servers[1].sealing,
        )  # fmt: skip

    def slowly():
        yield message(100)[:50]
        time.sleep(1.5)
        yield message(100)[50:]

    with served(trial, 1) as port:
        url = f"https://127.0.0.1:{port}/v1/tasks/{trial.study.digest.hex()}/preparation_jobs"

        def post(content):
            with contextlib.suppress(httpx.WriteError):  # the server ended the connection while more was sent
                return httpx.post(url, content=content, verify=False, timeout=PATIENCE, trust_env=False)

        assert post(bytes(50)).status_code == 403
        assert post(message(100)[:-1]).status_code == 403
        assert post(message(100) + b"x").status_code == 413
        assert post(message(100, key=5)).status_code == 403
        with monkeypatch.context() as patch:
            patch.setattr("ogive.study.servers.service.JOB_SECONDS", 0.5)
            assert post(slowly()).status_code == 408
        for front in (bytes(200), message(100, key=5), message(100)):
            response = post(without_end(front))
            assert response is None or response.status_code in (403, 413)
            assert carried < 1 << 25
            carried = 0
        assert post(message(100)).status_code == 200  # of which it says, encrypted, that it is none


@contextlib.contextmanager
def answering(trial, respond):
    """An application in place of server 1; yields the connection of server 0 to it."""
    tls = trial.folder / "tls-1"
    equip(tls, trial.study, hosts=("127.0.0.1",))
    port = free_port()
    server = uvicorn.Server(
        uvicorn.Config(
            respond, host="127.0.0.1", port=port, ssl_certfile=str(tls / "service.pem"), loop="asyncio", ws="none",
            ssl_keyfile=str(tls / "service.key"), log_level="critical", timeout_graceful_shutdown=1, lifespan="off",
        )
    )  # fmt: skip
    with in_thread(server), contextlib.closing(carrier(trial, port)) as carried:
        yield carried


@pytest.mark.parametrize(
    "begins",
    [
        "nothing",
        pytest.param("another", marks=pytest.mark.everything),
        "own",
        "huge",
        "packed",
        pytest.param("refusal", marks=pytest.mark.everything),
        "slow",
    ],
)
def test_server_0_reads_no_more_of_an_answer_than_the_other_server_signed(trial, begins, monkeypatch):
    if begins == "slow":
        monkeypatch.setattr(asking, "ANSWER_SECONDS", 0.5)
    study = trial.study
    keys = {"another": key_of(0), "own": key_of(1)}
    envelope = enclose(
        bytes(100), study=study.digest, sender=1, key=keys.get(begins, key_of(1)), receiver=0,
        sealing=study.servers[0].sealing,
    )  # fmt: skip
    if begins == "huge":
        told = ((1 << 30) + 1).to_bytes(8, "little") + bytes(32)
        info = sealing._message_info(study.digest, 1, 0)
        envelope = key_of(1).sign(sealing._signed(info, told)) + told
    first = {"nothing": bytes(200), "packed": gzip.compress(envelope + bytes(1 << 26)), "slow": envelope[:50]}.get(
        begins, envelope
    )
    sent = 0

    async def respond(scope, receive, send):
        nonlocal sent
        status = 403 if begins == "refusal" else 200
        packed = [(b"content-encoding", b"gzip")] if begins == "packed" else []
        await send({"type": "http.response.start", "status": status, "headers": packed})
        with contextlib.suppress(OSError):
            await send({"type": "http.response.body", "body": first, "more_body": True})
            for _ in range(30 if begins == "slow" else 4096):
                await asyncio.sleep(0.05 if begins == "slow" else 0)
                some = envelope[50:51] if begins == "slow" else bytes(1 << 14)
                await send({"type": "http.response.body", "body": some, "more_body": True})
                sent += len(some)
            await send({"type": "http.response.body", "body": b""})

    said = {
        "own": "more bytes than it states", "huge": "more bytes than it states", "slow": "did not come within",
        "refusal": "answered 403", "another": "none of server 1", "nothing": "none of server 1",
        "packed": "none of server 1",
    }  # fmt: skip
    with answering(trial, respond) as carried:
        with pytest.raises(PeerError, match=said[begins]):
            carried.carry(b"x")
        assert sent < 1 << 25  # of 64 MiB; what is on its way is in buffers of the connection


def test_an_answer_of_another_server_has_the_form_that_is_expected(trial):
    peer = trial.leader._peers[0]
    answering = trial.answering[1]
    for fields, blobs in (({}, []), ({"count": "3"}, []), ({"count": -1}, []), ({"count": 0}, [b"more"])):
        answering._do = lambda *_, fields=fields, blobs=blobs: (fields, blobs)
        with pytest.raises(PeerError, match=r"server 1 answered with(out a number| 1 messages, and 0 were expected)"):
            peer.count("uploads", start=0)
    with pytest.raises(PeerError, match="1 messages, and 3 were expected"):
        peer.ask("names", expected=3)


def test_a_report_that_is_refused_is_one_line_and_not_sent_again(trial, monkeypatch):
    monkeypatch.setattr(sending, "TRIES", 2)
    monkeypatch.setattr(sending, "_PAUSE", 0.01)
    (report,) = trial.reports({"age": [3]})
    with served(trial, 0, leader=trial.leader) as port:
        sender = Sender(trial.study.digest, f"https://127.0.0.1:{port}", authority=trial.folder / "tls-0" / "ca.pem")
        with sender:
            with pytest.raises(PeerError, match=r"refuses the upload \(401\)"):
                sender.send(report, shown(trial, "ab" * 32))
            assert sender.send(report, shown(trial, trial.tokens[0]))
            assert sender.send(report, shown(trial, trial.tokens[0]))
            (other,) = make_reports(trial.study, {"age": [5]}, trial.tokens[:1], random=seeded(8))
            trial.nodes[0].close_uploads()
            with pytest.raises(PeerError, match=r"\(410\)"):
                sender.send(trial.reports({"age": [1, 2]})[1], shown(trial, trial.tokens[1]))
            assert not sender.send(other, shown(trial, trial.tokens[0]))
    with pytest.raises(ParameterError, match="must be such as https"):
        Sender(trial.study.digest, "ftp://127.0.0.1")
