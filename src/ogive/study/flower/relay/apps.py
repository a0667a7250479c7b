"""The relay of a study: a run carries questions from the study's service to the nodes of parties, and replies back.

It keeps nothing, and can forge nothing: both sides sign. The service asks again, with the same bytes, for what was
lost, and agents repeat what they replied; so this run, the SuperLink and any node may end at any moment, and the next
run goes on. A run ends when no release is asked for any more and everybody who is there has read the results.

The party's side asks the local agent, and carries its reply back. It knows nothing of records and keys, and runs as a
user who cannot read them. Where the agent listens, and for which party, is in the SuperNode's own configuration, which
no run can change.
"""

from __future__ import annotations

import hashlib
import json
import logging
import ssl
import threading
import time
from concurrent.futures import Future
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
from flwr.app import ConfigRecord, Context, Message, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp import Grid, ServerApp

from ogive.study.https.mailbox import Mailbox, quiet_client, read
from ogive.study.local_client import Unavailable, UnknownToken, ask_at, lacking

LOG = logging.getLogger("flwr")

POLL_SECONDS = 0.2
"""How often replies are looked for; Flower's own loop looks every 3 s."""
LOOK_SECONDS = 2.0
"""How often nodes and the study's status are looked at."""
WAIT_SECONDS = 10.0
"""How long the service waits for a question of a party."""
PAUSE_SECONDS = 2.0
"""How long a party rests that could not be asked, or whose reply did not count."""
LONGEST_PUBLIC = 1 << 24
"""Bytes of what the service tells everybody."""
DONE_SECONDS = 5.0
"""How long nobody must have been asked anything before a run ends."""

server = ServerApp()


class NotCarriedError(Exception):
    """Why a run cannot carry the study, in one line; Flower keeps it as the reason of the run's end."""


@server.main()  # type: ignore[untyped-decorator]
def main(grid: Grid, context: Context) -> None:
    """Carry until every release that was asked for is released or over."""
    if lacking():
        raise NotCarriedError(f"Flower is not quiet; start the SuperLink with {lacking()} in its environment")
    config = context.run_config
    folder = Path(str(config["service"]))
    names = str(config["parties"]).split(",")
    files = {name: folder / f"{name}.token" for name in names if (folder / f"{name}.token").exists()}
    if not files:
        raise NotCarriedError(f"there is no token of any party in {folder}")
    LOG.info("carrying for %s; other parties come by themselves", ", ".join(files))
    try:
        tls = ssl.create_default_context(cafile=str(folder / "ca.pem"))
        tokens = {name: file.read_text("ascii").strip() for name, file in files.items()}
    except (OSError, UnicodeDecodeError) as problem:
        raise NotCarriedError(f"ca.pem and the parties' tokens cannot be read in {folder}: {problem}") from None
    with closing(Service(str(config["coordinator"]), tls)) as service:
        service.check(str(config["study"]))
        mailboxes = {name: Mailbox(service.url, name, token, tls, wait=WAIT_SECONDS) for name, token in tokens.items()}
        Relay(Nodes(grid, float(config["answer-seconds"])), service, mailboxes).run()


class Service:
    """What is public at the study's service."""

    def __init__(self, url: str, context: ssl.SSLContext) -> None:
        self.url = url.rstrip("/")
        self._client = quiet_client(context)

    def check(self, digest: str) -> None:
        """Refuse to carry another study than this app was written for."""
        try:
            result = hashlib.sha256(self._get("study")).hexdigest()
        except (httpx.HTTPError, Unavailable) as problem:
            raise NotCarriedError(f"the study's service at {self.url} cannot be reached: {problem}") from None
        if result != digest:
            raise NotCarriedError(f"the service runs another study: {result}, and this app is for {digest}")

    def is_busy(self) -> bool:
        """Whether a release is asked for and neither released nor over."""
        try:
            releases = json.loads(self._get("status"))["releases"]
        except (httpx.HTTPError, Unavailable, ValueError, LookupError) as problem:
            LOG.warning("the study's service cannot be reached: %s", problem or type(problem).__name__)
            return True
        return any(release["state"] in ("requested", "running") for release in releases)

    def close(self) -> None:
        self._client.close()

    def _get(self, what: str) -> bytes:
        with self._client.stream("GET", f"{self.url}/v1/{what}") as response:
            response.raise_for_status()
            return read(response, LONGEST_PUBLIC)


class Nodes:
    """The nodes of a run, and what they have not answered yet.

    An answer is waited for longer than the 60 s in which Flower notices that a node is gone.
    """

    def __init__(self, grid: Grid, seconds: float) -> None:
        self._grid = grid
        self._seconds = seconds
        self._one = threading.Lock()
        self._waiting: dict[str, Future[Any]] = {}

    def online(self) -> set[int]:
        with self._one:
            return set(self._grid.get_node_ids())

    def ask(self, node: int, action: str, fields: dict[str, str | bytes]) -> Any:
        """What a node answers, as a record; None if it does not. Another thread has to `collect`."""
        message = Message(
            RecordDict({"ogive": ConfigRecord(fields)}),
            dst_node_id=node,
            message_type=f"query.{action}",
            ttl=self._seconds,
        )
        answered: Future[Any] = Future()
        with self._one:
            try:
                (number,) = self._grid.push_messages([message]) or (None,)
            except httpx.HTTPError as problem:
                LOG.warning("Flower does not take a message: %s", problem)
                return None
            if number is None:
                return None
            self._waiting[number] = answered
        return answered.result()

    def collect(self) -> bool:
        """Hand out the answers that have come; whether any was waited for. Flower reports those that will not come."""
        with self._one:
            if not self._waiting:
                return False
            for reply in self._grid.pull_messages(list(self._waiting)):
                answered = self._waiting.pop(reply.metadata.reply_to_message_id)
                if reply.has_error():
                    LOG.warning("node %s does not answer: %s", reply.metadata.src_node_id, reply.error.reason)
                answered.set_result(None if reply.has_error() else reply.content["ogive"])
            return True


class Relay:
    """Carries for every party whose node is there, each in a thread of its own."""

    def __init__(self, nodes: Nodes, service: Service, mailboxes: dict[str, Mailbox]) -> None:
        self._nodes = nodes
        self._service = service
        self._mailboxes = mailboxes
        self._online: set[int] = set()
        self._met: set[int] = set()
        self._of_party: dict[str, list[int]] = {}
        self._busy = time.monotonic()
        self._fault: Exception | None = None
        self._over = threading.Event()

    def run(self) -> None:
        try:
            self._run()
        finally:
            self._over.set()

    def _run(self) -> None:
        looked = -LOOK_SECONDS
        while True:
            if self._fault is not None:
                raise self._fault
            now = time.monotonic()
            if self._nodes.collect():
                self._busy = now
            if now - looked >= LOOK_SECONDS:
                looked = now
                self._online = self._nodes.online()
                for node in self._online - self._met:
                    self._met.add(node)
                    threading.Thread(target=self._work, args=(node,), name=f"node {node}", daemon=True).start()
                if now - self._busy >= DONE_SECONDS and not self._service.is_busy():
                    LOG.info("no release is asked for any more")
                    return
            time.sleep(POLL_SECONDS)

    def _work(self, node: int) -> None:
        """Carry for a node's party; a fault of this program ends the run, instead of leaving out the party."""
        try:
            self._meet(node)
        except Exception as problem:
            self._fault = problem

    def _meet(self, node: int) -> None:
        """Learn for which party a node runs. One that lies gets questions that its agent cannot answer."""
        answer = self._nodes.ask(node, "hello", {})
        if answer is None:
            self._met.discard(node)  # it is asked again
            return
        name, needed = str(answer["party"]), str(answer["lacking"])
        if needed:
            LOG.warning("node %s is left out: its Flower is not quiet; start the SuperNode with %s", node, needed)
        elif name not in self._mailboxes:
            LOG.warning("node %s is left out: it runs for %r, which is not a party of the study", node, name)
        else:
            LOG.info("node %s runs for %s", node, name)
            self._of_party.setdefault(name, []).append(node)
            if len(self._of_party[name]) == 1:
                with closing(self._mailboxes[name]) as mailbox:
                    self._carry(name, mailbox)

    def _carry(self, name: str, mailbox: Mailbox) -> None:
        tries = 0
        while not self._over.is_set():
            there = [node for node in self._of_party[name] if node in self._online]
            try:
                question = mailbox.question() if there else None
                if question is None:
                    self._over.wait(0 if there else LOOK_SECONDS)
                    continue
                self._busy = time.monotonic()
                answer = self._nodes.ask(there[tries % len(there)], "ask", {"question": question})
                reply = b"" if answer is None else bytes(answer["reply"])
                counts = bool(reply) and mailbox.leave(reply)
                if reply:
                    what = "the service takes it" if counts else "the service does not take it, and is asked again"
                    LOG.info("%s replied with %d bytes; %s", name, len(reply), what)
                else:
                    LOG.info("%s did not reply to a question of %d bytes, which is asked again", name, len(question))
                self._busy = time.monotonic()
            except UnknownToken as problem:
                LOG.warning("%s: %s", name, problem)
                return
            except Unavailable as problem:
                LOG.warning("%s: the study's service cannot be used now: %s", name, problem)
                counts = False
            if not counts:
                tries += 1  # another node may run for the party, too
                self._over.wait(PAUSE_SECONDS)


# --- The party's side

AGENT_SECONDS = 20.0
"""How long an agent that does not answer is tried again: it may just be starting."""

client = ClientApp()


@client.query("hello")  # type: ignore[untyped-decorator]
def hello(message: Message, context: Context) -> Message:
    """Say for which party this node runs, and what keeps its Flower from being quiet."""
    return _reply(message, {"party": str(context.node_config.get("party", "")), "lacking": lacking()})


@client.query("ask")  # type: ignore[untyped-decorator]
def ask(message: Message, context: Context) -> Message:
    """Carry a question to the agent, and its reply back; no bytes if it does not answer."""
    question = bytes(message.content["ogive"]["question"])
    return _reply(message, {"reply": _ask_agent(Path(str(context.node_config["agent"])), question)})


def _ask_agent(agent: Path, question: bytes) -> bytes:
    until = time.monotonic() + AGENT_SECONDS
    while True:
        try:
            return ask_at(agent, question) or b""
        except OSError as problem:
            if time.monotonic() > until:
                print(f"the agent at {agent} does not answer: {problem}")
                return b""
            time.sleep(0.2)


def _reply(message: Message, fields: dict[str, str | bytes]) -> Message:
    return Message(RecordDict({"ogive": ConfigRecord(fields)}), reply_to=message)
