"""One server of a study as an HTTP service.

    GET  /v1/study                              the study file
    GET  /v1/tasks/TASK                         whether uploads are taken, and how many there are
    POST /v1/tasks/TASK/reports                 server 0: a person's report; 201 once it is durable
    POST /v1/tasks/TASK/preparation_jobs        the other servers: a request of server 0, sealed and signed
    GET  /v1/status                             the same with the state of each release, as JSON
    GET  /v1/releases/NAME                      what was released, as JSON
    GET  /, /releases/NAME                      pages
    GET  /health, /metrics                      for whoever operates it

TASK is the digest of the study in hexadecimal digits. A person shows a credential, as `Authorization: Bearer
CREDENTIAL`. Logs hold counts, sizes and times, and never a body, a credential or a header.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from ogive.errors import LedgerError, OgiveError, ParameterError, PeerError
from ogive.ledger import Ledger
from ogive.privacy import Adjacency
from ogive.showing.parts import Html, table, tag
from ogive.study.common import LOG
from ogive.study.document import ServersStudy
from ogive.study.enrolment import load_key
from ogive.study.https.connections import FAILED, admit, beside, exact
from ogive.study.https.pages import Released, Taking, by_hour, drawn, in_state, release_link, study_page
from ogive.study.https.service import listen, log_to_stderr, run
from ogive.study.sealing import LARGEST_ENVELOPE, Arriving
from ogive.study.servers.asking import LEADER, Answering, HttpsCarrier, Leader, Peer
from ogive.study.servers.evaluating import Workers
from ogive.study.servers.node import Node
from ogive.study.servers.uploads import Enrolled, Reports, list_name, report_bytes
from ogive.study.store import Store
from ogive.study.submissions import NotEnrolledError

# --- The page of a server


def status_page(status: dict[str, Any], released: Mapping[str, Released]) -> str:
    releases = status["releases"]
    rows = [(release_link(each), (each["state"], each["privacy"], str(each["opened"]))) for each in releases]
    parts = [
        table("Releases", ("release", "state", "guarantee", "sums opened"), rows, texts=(1, 2)),
        *(_reason(each) for each in releases),
        *drawn(released),
        None if status["uploads"] is None else by_hour("Uploads", "uploads", status["uploads_by_hour"]),
    ]
    spent = "Nothing was released so far." if status["spent"] is None else f"Spent so far: {status['spent']}."
    return study_page(status, _lead(status), parts, f"The budget of this study is {status['budget']}. {spent}")


def _lead(status: dict[str, Any]) -> str:
    uploads = f"Server {status['server']} of {', '.join(status['servers'])}. "
    if status["uploads"] is None:
        uploads += "How many people upload is private. " + (
            "Uploads are taken." if status["open"] else "No more uploads are taken."
        )
    else:
        uploads += f"{status['uploads']:,} uploads are stored"
        uploads += " and more are taken." if status["open"] else "; no more are taken."
    if status["clients"] is not None:
        uploads += (
            f" {status['clients']:,} {status['who']} are counted. {status['left_out']:,} uploads are left out, "
            "because they did not come to all servers alike or were found false."
        )
    return f"{uploads} The servers are {status['waiting']}." if status["waiting"] else uploads


def _reason(release: dict[str, Any]) -> Html | None:
    if not release["reason"]:
        return None
    return tag("section", tag("h3", f"Release {release['name']} is over"), tag("p", release["reason"]))


# --- The application

JOB = "application/vnd.ogive.preparation-job"

JOB_SECONDS = 600.0
"""How long a request of server 0 may take to come."""
_PRIVATE = "whoever runs the servers knows why; it may tell how many people there are, which is private here"
TICK_SECONDS = 0.25
LONGEST_PAUSE = 15.0


class ServerService(Taking):
    """The application around one server."""

    prefix = "ogive_server"
    page = staticmethod(status_page)

    def __init__(self, node: Node, leader: Leader | None) -> None:
        super().__init__(node.study.text, "jobs")
        self.longest = report_bytes(node.study)
        self._node = node
        self._leader = leader
        self._answering = None if leader is not None else Answering(node)
        self._problem = ""

    def application(self) -> ASGIApp:
        task = f"/v1/tasks/{self._node.study.digest.hex()}"
        routes = [*self.routes(), Route(task, self._task)]
        if self._leader is None:
            routes.append(Route(f"{task}/preparation_jobs", self._job, methods=["POST"]))
            return exact(routes=routes)
        leader = self._leader
        others = exact(routes=routes, lifespan=lambda _: beside(self._tick(leader)))
        return self.before(others, f"{task}/reports")

    async def _tick(self, leader: Leader) -> None:
        """Relay what came, and go on with what was asked for."""
        pause = TICK_SECONDS
        while True:
            try:
                busy = await run_in_threadpool(leader.relay)
                busy |= await run_in_threadpool(leader.advance)
                pause = TICK_SECONDS
                self._say("the other servers answer")
            except OgiveError as problem:
                self._say(f"waiting: {problem}")
                busy, pause = False, min(2 * pause, LONGEST_PAUSE)
            if not busy:
                await asyncio.sleep(pause)

    def _say(self, text: str) -> None:
        if text != self._problem:
            self._problem = text
            LOG.info("%s", text)

    def person(self, shown: str) -> int:
        try:
            credential = bytes.fromhex(shown)
        except ValueError:
            raise NotEnrolledError from None
        return self._reports.number(credential)

    def take(self, number: int, report: bytes) -> Future[None]:
        return self._reports.take(number, report)

    @property
    def _reports(self) -> Reports:
        uploads = self._node.uploads
        assert isinstance(uploads, Reports), "server 0 takes reports"
        return uploads

    async def _job(self, request: Request) -> Response:
        assert self._answering is not None, "server 0 is asked nothing"
        arriving = Arriving(self._answering.bytes_of)  # nothing is kept before it is known to be of server 0
        most = f"a request has the length that it states, and at most {LARGEST_ENVELOPE} bytes"
        try:
            wrong = await admit(request, arriving.add, what="request", most=most, seconds=JOB_SECONDS)
            if wrong is not None:
                return self.refused(*wrong)
            body = bytes(arriving)
            response = await run_in_threadpool(self._answering.answer, body)
        except PeerError as problem:
            return self.refused(str(problem), 403)
        except LedgerError as problem:
            LOG.error("the state cannot be used: %s", problem)
            return self.refused("the server cannot store anything now; try again", 503)
        self.counts["jobs"] += 1
        self.counts["bytes_in"] += len(body)
        return Response(response, media_type=JOB)

    async def _task(self, request: Request) -> Response:
        private = self._node.study.unit.adjacency is Adjacency.ADD_OR_REMOVE
        uploads = None if private else len(self._node.uploads)  # nothing is read from the disk for strangers
        return JSONResponse({"open": self._node.closed is None, "uploads": uploads})

    def read(self) -> dict[str, Any]:
        node, spent = self._node, self._node.spent()
        return {
            "spent": None if spent is None else str(spent),
            "clients": node.clients,
            "left_out": node.left_out,
            "releases": node.states(),
        }

    def public(self, stored: dict[str, Any]) -> dict[str, Any]:
        """Everything that anybody may know of this server; None for what would tell a private number of people."""
        node, study = self._node, self._node.study
        status: dict[str, Any] = {
            "study": study.name,
            "title": study.title,
            "digest": study.digest.hex(),
            "server": study.servers[node.number].name,
            "servers": [server.name for server in study.servers],
            "budget": str(study.budget),
            "spent": stored["spent"],
            "open": node.closed is None,
            "uploads": len(node.uploads),
            "bytes": node.uploads.size,
            "uploads_by_hour": [] if self._leader is None else self._reports.by_hour,
            "who": "organizations" if study.organizations else "people",
            "clients": stored["clients"],
            "left_out": stored["left_out"],
            "releases": stored["releases"],
            "waiting": self._problem if self._problem.startswith("waiting") else None,
        }
        if study.unit.adjacency is Adjacency.ADD_OR_REMOVE:
            status |= dict.fromkeys(("uploads", "bytes", "uploads_by_hour", "clients", "left_out"))
            status["waiting"] = status["waiting"] and "waiting for each other"
            status["releases"] = [each | {"reason": each["reason"] and _PRIVATE} for each in status["releases"]]
        return status

    def result(self, name: str) -> dict[str, Any] | None:
        for number, release in enumerate(self._node.study.releases):
            if release.name == name:
                estimate = self._node.estimate(number)
                return None if estimate is None else estimate.to_dict()
        return None

    def check(self) -> None:
        self._node.check()

    def fault(self) -> str | None:
        return None if self._node.uploads.usable else FAILED

    def metrics(self, status: dict[str, Any]) -> dict[str, Any]:
        counts = {}
        if status["uploads"] is not None:
            counts = {**self.counts, "uploads": status["uploads"], "store_bytes": status["bytes"]}
        return counts | in_state(status, "running", "released", "over")


# --- The process

STATE, LEDGER = "state.db", "ledger"


def serve(
    study: ServersStudy | str | Path,
    *,
    store: str | Path,
    number: int | None = None,
    key: Ed25519PrivateKey | str | Path = "my.key",
    enrolled: Sequence[str | Path] = (),
    service: str | Path = "tls",
    connect_to: Sequence[str] = (),
    authority: str | Path | None = None,
    host: str = "127.0.0.1",
    port: int = 8443,
    ledger: str | None = None,
    workers: Workers | None = None,
) -> None:
    """Run a server of a study until the process is told to stop, as `ogive server` does.

    Args:
        study: The study, or its file.
        store: Folder of uploads, state and ledger; made if it is not there.
        number: Which server this is said to be; None for whichever has the key.
        key: The server's, or its file.
        enrolled: Files of who may upload to this server; none for the one that `ogive study devices` names after it.
        service: Folder with its certificate.
        connect_to: At server 0 the addresses of all others, in the order of the study.
        authority: File with the certificate that theirs were issued with; None for those that the system trusts.
        host: Address to listen on.
        port: Port to listen on; 0 for any that is free.
        ledger: Where the ledger is; None for a file in the folder.
        workers: Who evaluates uploads: a function as `map`, such as that of a pool of processes, which is called as
            `workers(evaluate_part, parts)`. None for this process, with all its cores. Workers read the files in the
            store by their paths. If they fail, this process does their work.

    Raises:
        ParameterError: a file cannot be used, the key is another server's, or addresses are given that are not needed.
        RefusalError, LedgerError: another process runs on the folder, or it cannot be used.

    Privacy:
        Workers see what this server sees of uploads, so they belong to its administration. Noise, keys and state stay
        in this process.
    """
    study = study if isinstance(study, ServersStudy) else ServersStudy.read(study)
    key = key if isinstance(key, Ed25519PrivateKey) else load_key(Path(key))
    folder = Path(store)
    result = study.number_of(key.public_key().public_bytes_raw())
    if number not in (None, result):
        raise ParameterError(
            f"the key is that of server {result}, {study.servers[result].name}, and `number` is {number}"
        )
    number = result
    if number != LEADER and connect_to:
        raise ParameterError(f"server 0, {study.servers[LEADER].name}, connects to the others; leave out --connect-to")
    lists = [Path(each) for each in enrolled or [list_name(study.servers[number].name)]]
    listed = Enrolled.read(lists, study, number)
    listening = listen(Path(service), host, port)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    state = Store.held(folder / STATE)
    log_to_stderr()
    account = Ledger.open(ledger if ledger is not None else folder / LEDGER).account(
        study.name, unit=study.unit, limit=study.budget
    )
    node = Node(study, folder, key=key, store=state, account=account, enrolled=listed, workers=workers)
    issuer = None if authority is None else Path(authority)
    carriers = [HttpsCarrier(study, other, url, authority=issuer) for other, url in enumerate(connect_to, 1)]
    leader = None
    if number == LEADER:
        peers = [Peer(node, other, carrier) for other, carrier in enumerate(carriers, 1)]
        leader = Leader(node, state, peers)
    LOG.info(
        "server %s of study %s at https://%s:%d, %d may upload",
        study.servers[number].name, study.name, host, listening.getsockname()[1], len(listed),
    )  # fmt: skip
    run(ServerService(node, leader).application(), listening, Path(service))
    if leader is not None:
        leader.close()
    for carrier in carriers:
        carrier.close()
    node.close()
    state.close()
