"""How server 0 asks another server, and how that one answers: requests and responses that nobody else reads or makes.

    request, response = envelope of: length u32 | fields as JSON | for each blob its length u32 and the blob

A request has a number that nobody used before, and its response states the digest of the request, so that a response
cannot come from another request. Messages between two servers that neither is server 0 go through it, in envelopes of
their own.
"""

from __future__ import annotations

import hashlib
import json
import logging
import secrets
import threading
from collections.abc import Sequence
from typing import Any, Protocol

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
)
from ogive.study.servers.node import Messages, Node
from ogive.study.servers.sealing import disclose, enclose, envelope_bytes, sealing_key
from ogive.study.servers.uploads import Relayed

LOG = logging.getLogger("ogive.study")

LEADER = 0
"""Number of the server that takes uploads and asks the others."""

FINAL = (BudgetError, UnsupportedError, ParameterError, DataError, ReleaseMismatchError)
"""After these a release is over; others pass."""

_NONCE_BYTES = 16
_LONGEST_SAID = 500


def pack(fields: dict[str, Any], blobs: Sequence[bytes]) -> bytes:
    """Fields and blobs as bytes."""
    head = json.dumps(fields).encode()
    return b"".join(len(each).to_bytes(4, "little") + each for each in (head, *blobs))


def unpack(data: bytes) -> tuple[dict[str, Any], list[bytes]]:
    """The inverse of `pack`.

    Raises:
        PeerError: these are no fields and blobs.
    """
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


def _heard(said: object) -> str:
    """What another server says for people: on one line, cut short, and nothing that a terminal would obey."""
    return plain("".join(each if each.isprintable() else " " for each in str(said)[:_LONGEST_SAID]))


class Carrier(Protocol):
    """Carries one envelope to another server, and its response back."""

    def carry(self, envelope: bytes) -> bytes:
        """The response.

        Raises:
            PeerError: none came.
        """
        ...


class Peer:
    """Another server, as server 0 asks it.

    Args:
        node: Server 0.
        number: Of the other one.
        carrier: Carries envelopes to it.
    """

    def __init__(self, node: Node, number: int, carrier: Carrier) -> None:
        self._node = node
        self.number = number
        self._carrier = carrier
        self._sealing = sealing_key(node.key)

    def count(self, what: str, blobs: Sequence[bytes] = (), **fields: Any) -> int:
        """The number that the other server answers with.

        Raises:
            PeerError, UnsupportedError: as of `ask`.
        """
        found, _ = self.ask(what, blobs, **fields)
        count = found.get("count")
        if not isinstance(count, int) or count < 0:
            raise PeerError(f"server {self.number} answered without a number")
        return count

    def ask(
        self, what: str, blobs: Sequence[bytes] = (), *, wanted: int = 0, **fields: Any
    ) -> tuple[dict[str, Any], list[bytes]]:
        """What the other server answers.

        Args:
            what: Is asked.
            blobs: Sent with it.
            wanted: How many blobs the answer must have.
            **fields: Sent with it.

        Raises:
            PeerError: it did not answer, answered something else, or refused for now.
            UnsupportedError: it refuses for good.
        """
        node, study = self._node, self._node.study
        request = pack({"ask": what, "nonce": secrets.token_hex(_NONCE_BYTES), **fields}, blobs)
        response = self._carrier.carry(
            enclose(
                request,
                study=study.digest,
                sender=node.number,
                key=node.key,
                receiver=self.number,
                sealing=study.servers[self.number].sealing,
            )
        )
        found, parts = unpack(
            disclose(
                response,
                study=study.digest,
                sender=self.number,
                key=study.servers[self.number].key,
                receiver=node.number,
                own=self._sealing,
            )
        )
        if found.get("to") != hashlib.sha256(request).hexdigest():
            raise PeerError(f"server {self.number} answered another request")
        if "refused" in found:
            reason = f"server {study.servers[self.number].name}: {_heard(found['refused'])}"
            raise UnsupportedError(reason) if found.get("final") else PeerError(reason)
        if len(parts) != wanted:
            raise PeerError(f"server {self.number} answered with {len(parts)} messages, and {wanted} were expected")
        return found, parts


class Answering:
    """A server that is asked by server 0.

    Args:
        node: The server.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._sealing = sealing_key(node.key)
        self._last: tuple[bytes, bytes] | None = None
        self._one = threading.Lock()

    def bytes_of(self, front: bytes) -> int:
        """How long the envelope is that begins so.

        Raises:
            PeerError: it is no request of server 0 to this one.
        """
        study = self._node.study
        return envelope_bytes(
            front, study=study.digest, sender=LEADER, key=study.servers[LEADER].key, receiver=self._node.number
        )

    def answer(self, envelope: bytes) -> bytes:
        """The response to a request of server 0; a request that comes again gets the response that it got.

        Raises:
            PeerError: it is no request of server 0 to this one.
        """
        node, study = self._node, self._node.study
        request = disclose(
            envelope,
            study=study.digest,
            sender=LEADER,
            key=study.servers[LEADER].key,
            receiver=node.number,
            own=self._sealing,
        )
        with self._one:
            return self._answer(request)

    def _answer(self, request: bytes) -> bytes:
        node, study = self._node, self._node.study
        digest = hashlib.sha256(request).digest()
        if self._last is not None and self._last[0] == digest:
            return self._last[1]
        try:
            fields, blobs = self._do(*unpack(request))
        except OgiveError as problem:
            LOG.warning("a request of server 0 is refused: %s", problem)
            fields, blobs = {"refused": str(problem), "final": isinstance(problem, FINAL)}, []
        response = enclose(
            pack(fields | {"to": digest.hex()}, blobs),
            study=study.digest,
            sender=node.number,
            key=node.key,
            receiver=LEADER,
            sealing=study.servers[LEADER].sealing,
        )
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
                made = [self._outgoing(messages) for messages in node.names()]
                return {}, [each for messages in made for each in messages]
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
                node.end(release, f"server {node.study.servers[LEADER].name}: {_heard(reason)}")
                return {}, []
            case {"ask": "opened", "release": int(release), "query": int(query)}:
                node.opened(release, query, blobs)
                return {}, []
        raise PeerError("server 0 asks what this version does not know")

    def _outgoing(self, messages: Messages) -> list[bytes]:
        """One blob for every other server in order, empty where there is no message; for server 0 as it is."""
        node, study = self._node, self._node.study
        made = []
        for receiver, server in enumerate(study.servers):
            if receiver == node.number:
                continue
            message = messages.get(receiver, b"")
            if message and receiver != LEADER:
                message = enclose(
                    message,
                    study=study.digest,
                    sender=node.number,
                    key=node.key,
                    receiver=receiver,
                    sealing=server.sealing,
                )
            made.append(message)
        return made

    def _incoming(self, blobs: Sequence[bytes]) -> list[bytes]:
        """The messages of every other server in order, those that are none left out."""
        node, study = self._node, self._node.study
        others = [number for number in range(len(study.servers)) if number != node.number]
        if len(blobs) != len(others):
            raise PeerError(f"there are {len(blobs)} messages, and {len(others)} other servers")
        found = []
        for sender, blob in zip(others, blobs, strict=True):
            if blob and sender != LEADER:
                blob = disclose(
                    blob,
                    study=study.digest,
                    sender=sender,
                    key=study.servers[sender].key,
                    receiver=node.number,
                    own=self._sealing,
                )
            if blob:
                found.append(blob)
        return found
