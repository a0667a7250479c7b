"""How server 0 asks another server, and how that one answers: requests and responses that nobody else reads or makes.

    request, response = envelope of: length u32 | fields as JSON | for each blob its length u32 and the blob

A request has a number that nobody used before, and its response states the digest of the request, so that a response
cannot come from another request. Messages between two servers that neither is server 0 go through it, in envelopes of
their own.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import httpx
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from ogive.crypto.wire import Reader
from ogive.errors import (
    BudgetError,
    DataError,
    OgiveError,
    ParameterError,
    PeerError,
    ReleaseMismatchError,
    UnsupportedError,
    plain,
    quoted,
)
from ogive.segments import BEGINNING, Place
from ogive.study.common import LOG
from ogive.study.document import ServersStudy
from ogive.study.https import believing, read_address
from ogive.study.https.mailbox import quiet_client
from ogive.study.sealing import Arriving, disclose, enclose, envelope_bytes, sealing_key
from ogive.study.servers.node import Messages, Node
from ogive.study.servers.uploads import Relayed, Reports
from ogive.study.store import OfServers, Store

LEADER = 0
"""Number of the server that takes uploads and asks the others."""

FINAL = (BudgetError, UnsupportedError, ParameterError, DataError, ReleaseMismatchError)
"""After these a release is over; others pass."""

_NONCE_BYTES = 16
_LONGEST_TEXT = 500


def pack(fields: dict[str, Any], blobs: Sequence[bytes]) -> bytes:
    head = json.dumps(fields).encode()
    return b"".join(len(each).to_bytes(4, "little") + each for each in (head, *blobs))


def unpack(data: bytes) -> tuple[dict[str, Any], list[bytes]]:
    reader = Reader(data, "request")
    try:
        fields = json.loads(reader.take(reader.number(4)))
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict):
        raise PeerError("the request has no fields")
    blobs = []
    while reader.left:
        blobs.append(reader.take(reader.number(4)))
    return fields, blobs


def _shown(text: object) -> str:
    """What another server says for people: on one line, cut short, and nothing that a terminal would obey."""
    return plain("".join(each if each.isprintable() else " " for each in str(text)[:_LONGEST_TEXT]))


def _enclosed(node: Node, message: bytes, receiver: int) -> bytes:
    study, sealing = node.study.digest, node.study.servers[receiver].sealing
    return enclose(message, study=study, sender=node.number, key=node.key, receiver=receiver, sealing=sealing)


def _disclosed(node: Node, envelope: bytes, sender: int, own: X25519PrivateKey) -> bytes:
    study, key = node.study.digest, node.study.servers[sender].key
    return disclose(envelope, study=study, sender=sender, key=key, receiver=node.number, own=own)


class Peer:
    """Another server, as server 0 asks it."""

    def __init__(self, node: Node, number: int, carrier: HttpsCarrier) -> None:
        self._node = node
        self.number = number
        self._carrier = carrier
        self._sealing = sealing_key(node.key)

    def count(self, what: str, blobs: Sequence[bytes] = (), **fields: Any) -> int:
        result, _ = self.ask(what, blobs, **fields)
        count = result.get("count")
        if not isinstance(count, int) or count < 0:
            raise PeerError(f"server {self.number} answered without a number")
        return count

    def ask(
        self, what: str, blobs: Sequence[bytes] = (), *, expected: int = 0, **fields: Any
    ) -> tuple[dict[str, Any], list[bytes]]:
        node, study = self._node, self._node.study
        request = pack({"ask": what, "nonce": secrets.token_hex(_NONCE_BYTES), **fields}, blobs)
        response = self._carrier.carry(_enclosed(node, request, self.number))
        result, parts = unpack(_disclosed(node, response, self.number, self._sealing))
        if result.get("to") != hashlib.sha256(request).hexdigest():
            raise PeerError(f"server {self.number} answered another request")
        if "refused" in result:
            reason = f"server {study.servers[self.number].name}: {_shown(result['refused'])}"
            raise UnsupportedError(reason) if result.get("final") else PeerError(reason)
        if len(parts) != expected:
            raise PeerError(f"server {self.number} answered with {len(parts)} messages, and {expected} were expected")
        return result, parts


class Answering:
    """A server that is asked by server 0."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._sealing = sealing_key(node.key)
        self._last: tuple[bytes, bytes] | None = None
        self._one = threading.Lock()

    def bytes_of(self, front: bytes) -> int:
        study = self._node.study
        return envelope_bytes(
            front, study=study.digest, sender=LEADER, key=study.servers[LEADER].key, receiver=self._node.number
        )

    def answer(self, envelope: bytes) -> bytes:
        """The response to a request of server 0; a request that comes again gets the response that it got."""
        request = _disclosed(self._node, envelope, LEADER, self._sealing)
        with self._one:
            return self._answer(request)

    def _answer(self, request: bytes) -> bytes:
        digest = hashlib.sha256(request).digest()
        if self._last is not None and self._last[0] == digest:
            return self._last[1]
        try:
            fields, blobs = self._do(*unpack(request))
        except OgiveError as problem:
            LOG.warning("a request of server 0 is refused: %s", problem)
            fields, blobs = {"refused": str(problem), "final": isinstance(problem, FINAL)}, []
        response = _enclosed(self._node, pack(fields | {"to": digest.hex()}, blobs), LEADER)
        self._last = digest, response
        return response

    def _do(self, fields: dict[str, Any], blobs: list[bytes]) -> tuple[dict[str, Any], list[bytes]]:
        node = self._node
        match fields:
            case {"ask": "uploads", "start": int(start)}:
                assert isinstance(node.uploads, Relayed), "server 0 asks itself nothing"
                return {"count": node.uploads.take(start, blobs)}, []
            case {"ask": "close", "count": int(count)}:
                node.close_uploads(count)
                return {}, []
            case {"ask": "names"}:
                return {}, [each for messages in node.names() for each in self._outgoing(messages)]
            case {"ask": "agree"}:
                others = len(node.study.servers) - 1
                rows = [blobs[start : start + others] for start in range(0, len(blobs), others)]
                node.agree([self._incoming(row) for row in rows])
                return {"clients": node.clients}, []
            case {"ask": "begin", "release": int(release), "query": int(query)}:
                return {}, self._outgoing(node.begin(release, query))
            case {"ask": "take"}:
                sent, done = node.take(self._incoming(blobs))
                return {"done": done}, self._outgoing(sent)
            case {"ask": "answer", "release": int(release), "query": int(query)}:
                return {}, [node.answer(release, query)]
            case {"ask": "over", "release": int(release), "reason": reason}:
                node.end(release, f"server {node.study.servers[LEADER].name}: {_shown(reason)}")
                return {}, []
            case {"ask": "opened", "release": int(release), "query": int(query)}:
                node.opened(release, query, blobs)
                return {}, []
        raise PeerError("server 0 asks what this version does not know")

    def _outgoing(self, messages: Messages) -> list[bytes]:
        """One blob for every other server in order, empty where there is no message; for server 0 as it is."""
        results = []
        for receiver in range(len(self._node.study.servers)):
            if receiver == self._node.number:
                continue
            message = messages.get(receiver, b"")
            results.append(_enclosed(self._node, message, receiver) if message and receiver != LEADER else message)
        return results

    def _incoming(self, blobs: Sequence[bytes]) -> list[bytes]:
        """The messages of every other server in order, those that are none left out."""
        node = self._node
        others = [number for number in range(len(node.study.servers)) if number != node.number]
        if len(blobs) != len(others):
            raise PeerError(f"there are {len(blobs)} messages, and {len(others)} other servers")
        results = []
        for sender, blob in zip(others, blobs, strict=True):
            if blob and sender != LEADER:
                blob = _disclosed(node, blob, sender, self._sealing)
            if blob:
                results.append(blob)
        return results


# --- The connection of server 0 to another server

SECONDS = 60.0
"""After how long without an answer the same envelope is sent again: a connection may be lost without a word."""
TRIES = 60
"""How often; a server may verify millions of uploads before it answers."""
CONNECT_SECONDS = 10.0
BROKEN, PAUSE = 4, 0.1
"""How often an envelope is sent whose connection breaks, and how many seconds more are waited each time."""
ANSWER_SECONDS = 600.0
"""How long an answer may take to come once it began."""
_LONGEST_REFUSAL = 1000


class HttpsCarrier:
    """Carries envelopes to one server."""

    def __init__(self, study: ServersStudy, number: int, url: str, *, authority: Path | None) -> None:
        read_address(url, "a server")
        self._url = f"{url.rstrip('/')}/v1/tasks/{study.digest.hex()}/preparation_jobs"
        self._name = url
        self._study, self._number = study, number
        self._client = quiet_client(believing(authority))
        self._client.timeout = httpx.Timeout(SECONDS, connect=CONNECT_SECONDS)

    def carry(self, envelope: bytes) -> bytes:
        waited = broken = 0
        while True:
            try:
                with self._client.stream("POST", self._url, content=envelope) as response:
                    return self._read(response)
            except httpx.ReadTimeout:  # the other server may still be at work, and answers what came first
                waited += 1
                reason = f"nothing came within {TRIES * SECONDS:.0f} s"
            except httpx.HTTPError as problem:
                broken += 1
                reason = str(problem) or type(problem).__name__
            if waited >= TRIES or broken >= BROKEN:
                raise PeerError(f"no answer from {plain(self._name)}: {plain(reason)[:200]}")
            time.sleep(PAUSE * broken)

    def _read(self, response: httpx.Response) -> bytes:
        """The body of a response, of which nothing more is kept than the server signed, and nothing is unpacked."""
        if response.status_code != httpx.codes.OK:
            text = next(response.iter_raw(), b"")[:_LONGEST_REFUSAL].decode(errors="replace")
            raise PeerError(f"{plain(self._name)} answered {response.status_code}: {quoted(text)}")
        arriving = Arriving(self._bytes_of)
        end = time.monotonic() + ANSWER_SECONDS
        for some in response.iter_raw():
            if not arriving.add(some):
                raise PeerError(f"{plain(self._name)} answers with more bytes than it states, or than any answer has")
            if time.monotonic() > end:
                raise PeerError(f"the answer of {plain(self._name)} did not come within {ANSWER_SECONDS:.0f} s")
        return bytes(arriving)

    def _bytes_of(self, front: bytes) -> int:
        study = self._study
        key = study.servers[self._number].key
        return envelope_bytes(front, study=study.digest, sender=self._number, key=key, receiver=LEADER)

    def close(self) -> None:
        self._client.close()


# --- Server 0, which relays uploads to the other servers and asks them until a release is complete
#
# Everything that it goes on with is on disk, at it or at the others: what was relayed, who is in the sets, which sums
# were opened. So a step that failed is tried again from there, by whatever process comes next.

S = TypeVar("S")
T = TypeVar("T")
_Sent = dict[tuple[int, int], bytes]

_RELAYED_BYTES = 1 << 22


class Leader:
    """Server 0 of a study."""

    def __init__(self, node: Node, store: Store, peers: Sequence[Peer]) -> None:
        assert isinstance(node.uploads, Reports), "server 0 takes uploads"
        if [peer.number for peer in peers] != list(range(1, len(node.study.servers))):
            others = ", ".join(server.name for server in node.study.servers[1:])
            raise ParameterError(f"server 0 needs the addresses of all others, in this order: {others}")
        self.node = node
        self._store = store
        self._peers = peers
        self._uploads = node.uploads
        self._places: dict[int, tuple[Place, int]] = {}
        self._announced: set[int] = set()
        self._threads = ThreadPoolExecutor(len(peers) + 1)

    @property
    def study(self) -> ServersStudy:
        return self.node.study

    def relay(self) -> bool:
        """Relay to every other server what it lacks; False if there was nothing."""
        return any(self._others(self._relay))

    def advance(self) -> bool:
        """Go on with what was asked for; False if there is nothing to do."""
        self._tell()
        for number, release in enumerate(self.study.releases):
            with self._store.read() as entries:
                releases = OfServers(self.study, entries)
                waits = releases.is_requested(number) and releases.over(number) is None
            if waits and self.node.estimate(number) is None:
                if self._has_too_few(number):
                    continue
                try:
                    self._form()
                    while (step := self.node.step(number)) is not None:
                        self._answer(number, step.number)
                except FINAL as problem:
                    LOG.warning("release %s is over: %s", release.name, problem)
                    with self._store.write() as entries:
                        OfServers(self.study, entries).end(number, str(problem))
                return True
        self._tell_ended()
        return False

    def close(self) -> None:
        self._threads.shutdown()

    # the steps

    def _has_too_few(self, release: int) -> bool:
        """Whether uploads go on, since there are too few for a release, which nobody has paid for then."""
        count, least = len(self._uploads), self.study.min_uploads
        if self.node.closed is not None or count >= least:
            return False
        reason = f"uploads: {count}, min_uploads of the study: {least}; uploads go on, and nothing was spent"
        LOG.warning("release %s is refused: %s", self.study.releases[release].name, reason)
        with self._store.write() as entries:
            OfServers(self.study, entries).refuse(release, reason)
        return True

    def _relay(self, peer: Peer) -> bool:
        place, at = self._places.get(peer.number, (BEGINNING, 0))
        count = at if peer.number in self._places else peer.count("uploads", start=at)
        held: list[bytes] = []
        start, new = at, False
        for after, parts in self._uploads.parts(peer.number, place):
            held += parts
            place = after
            if sum(map(len, held)) >= _RELAYED_BYTES:
                new |= self._send(peer, start, held, count)
                start, held = start + len(held), []
                self._places[peer.number] = place, start
        if held:
            new |= self._send(peer, start, held, count)
        self._places[peer.number] = place, start + len(held)
        return new

    def _send(self, peer: Peer, start: int, parts: list[bytes], count: int) -> bool:
        if start + len(parts) <= count:
            return False  # it was relayed before this process began
        if peer.count("uploads", parts, start=start) != start + len(parts):
            raise PeerError(f"server {peer.number} holds another number of uploads than were relayed to it")
        return True

    def _form(self) -> None:
        """Take no more uploads, and form the sets of clients, unless that was done."""
        if self.node.formed():
            return
        count = self.node.close_uploads()
        self.relay()
        self._others(lambda peer: peer.ask("close", count=count))
        servers = len(self.study.servers)
        expected = len(self.study.collected) * (servers - 1)
        own, others = self._everywhere(self.node.names, lambda peer: peer.ask("names", expected=expected)[1])
        sent = [
            _sent(messages, [blobs[number * (servers - 1) :][: servers - 1] for blobs in others], servers)
            for number, messages in enumerate(own)
        ]
        self._others(lambda peer: peer.ask("agree", [blob for each in sent for blob in _received(each, peer.number)]))
        self.node.agree([_received(each, 0) for each in sent])
        LOG.info("the set has %d clients; %d uploads are left out", self.node.clients, self.node.left_out)

    def _answer(self, release: int, query: int) -> None:
        """Let all servers prepare and answer a query, and open the sum."""
        own, others = self._everywhere(
            lambda: self.node.begin(release, query),
            lambda peer: peer.ask("begin", expected=len(self._peers), release=release, query=query)[1],
        )
        done = False
        while not done:
            own, others, done = self._exchange(_sent(own, others, len(self.study.servers)))
        answer, answers = self._everywhere(
            lambda: self.node.answer(release, query),
            lambda peer: peer.ask("answer", expected=1, release=release, query=query)[1][0],
        )
        self.node.opened(release, query, [answer, *answers])
        LOG.info("release %s: query %d is opened", self.study.releases[release].name, query + 1)
        self._tell()

    def _tell(self) -> None:
        """Tell the other servers all answers to what was opened, so that they have the sums, too."""
        with self._store.read() as entries:
            undelivered = OfServers(self.study, entries).undelivered()
        for release, query, messages in undelivered:
            self._others(partial(Peer.ask, what="opened", blobs=messages, release=release, query=query))
            with self._store.write() as entries:
                OfServers(self.study, entries).delivered(release, query)

    def _tell_ended(self) -> None:
        """Tell the other servers which releases are over, and why; again after a restart."""
        for number in range(len(self.study.releases)):
            if number in self._announced:
                continue
            with self._store.read() as entries:
                reason = OfServers(self.study, entries).over(number)
            if reason is not None:
                self._others(partial(Peer.ask, what="over", release=number, reason=reason))
                self._announced.add(number)

    def _exchange(self, sent: _Sent) -> tuple[Messages, list[list[bytes]], bool]:
        """One round of messages; also whether it was the last."""
        (own, done), result = self._everywhere(
            lambda: self.node.take([blob for blob in _received(sent, 0) if blob]),
            lambda peer: peer.ask("take", _received(sent, peer.number), expected=len(self._peers)),
        )
        if any(fields.get("done") != done for fields, _ in result):
            raise PeerError("the servers are not at the same step; all begin anew")
        return own, [blobs for _, blobs in result], done

    def _others(self, call: Callable[[Peer], T]) -> list[T]:
        return _results([self._threads.submit(call, peer) for peer in self._peers])

    def _everywhere(self, own: Callable[[], S], others: Callable[[Peer], T]) -> tuple[S, list[T]]:
        here = self._threads.submit(own)
        there = [self._threads.submit(others, peer) for peer in self._peers]
        wait([here])
        result = _results(there)
        return here.result(), result


def _sent(own: Messages, others: Sequence[Sequence[bytes]], servers: int) -> _Sent:
    """Messages by sender and receiver; those of others are one for each server but the sender, in order."""
    result = {(0, receiver): own.get(receiver, b"") for receiver in range(1, servers)}
    for sender, blobs in enumerate(others, 1):
        receivers = [number for number in range(servers) if number != sender]
        result |= {(sender, receiver): blob for receiver, blob in zip(receivers, blobs, strict=True)}
    return result


def _received(sent: _Sent, receiver: int) -> list[bytes]:
    return [message for (_, to), message in sorted(sent.items()) if to == receiver]


def _results(waiting: list[Future[T]]) -> list[T]:
    wait(waiting)
    return [each.result() for each in waiting]
