"""Server 0, which relays uploads to the other servers and asks them until a release is complete.

Everything that it goes on with is on disk, at it or at the others: what was relayed, who is in the sets, which sums
were opened. So a step that failed is tried again from there, by whatever process comes next.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial
from typing import TypeVar

from ogive.errors import ParameterError, PeerError
from ogive.segments import BEGINNING, Place
from ogive.study.servers.asking import FINAL, Peer
from ogive.study.servers.document import ServersStudy
from ogive.study.servers.kept import end, ended, is_requested, refuse, told, untold
from ogive.study.servers.node import Messages, Node
from ogive.study.servers.uploads import Reports
from ogive.study.store import Store

LOG = logging.getLogger("ogive.study")
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
        self._told_ended: set[int] = set()
        self._threads = ThreadPoolExecutor(len(peers) + 1)

    @property
    def study(self) -> ServersStudy:
        """The study."""
        return self.node.study

    def relay(self) -> bool:
        """Relay to every other server what it lacks; False if there was nothing."""
        return any(self._others(self._relay))

    def advance(self) -> bool:
        """Go on with what was asked for; False if there is nothing to do."""
        self._tell()
        for number, release in enumerate(self.study.releases):
            with self._store.read() as kept:
                asked = is_requested(kept, release.name) and ended(kept, release.name) is None
            if asked and self.node.estimate(number) is None:
                if self._has_too_few(release.name):
                    continue
                try:
                    self._form()
                    self._release(number)
                except FINAL as problem:
                    LOG.warning("release %s is over: %s", release.name, problem)
                    with self._store.write() as kept:
                        end(kept, release.name, str(problem))
                return True
        self._tell_ended()
        return False

    def close(self) -> None:
        """Stop what runs in the background."""
        self._threads.shutdown()

    # the steps

    def _has_too_few(self, name: str) -> bool:
        """Whether uploads go on, since there are too few for a release, which nobody has paid for then."""
        count, least = len(self._uploads), self.study.min_uploads
        if self.node.closed is not None or count >= least:
            return False
        reason = f"uploads: {count}, min_uploads of the study: {least}; uploads go on, and nothing was spent"
        LOG.warning("release %s is refused: %s", name, reason)
        with self._store.write() as kept:
            refuse(kept, name, reason)
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
        wanted = len(self.study.collected) * (servers - 1)
        own, others = self._everywhere(self.node.names, lambda peer: peer.ask("names", wanted=wanted)[1])
        sent = [
            _sent(messages, [blobs[number * (servers - 1) :][: servers - 1] for blobs in others], servers)
            for number, messages in enumerate(own)
        ]
        self._others(lambda peer: peer.ask("agree", [blob for each in sent for blob in _received(each, peer.number)]))
        self.node.agree([_received(each, 0) for each in sent])
        LOG.info("the set has %d clients; %d uploads are left out", self.node.clients, self.node.left_out)

    def _release(self, number: int) -> None:
        while (step := self.node.step(number)) is not None:
            self._answer(number, step.number)

    def _answer(self, release: int, query: int) -> None:
        """Let all servers prepare and answer a query, and open the sum."""
        own, others = self._everywhere(
            lambda: self.node.begin(release, query),
            lambda peer: peer.ask("begin", wanted=len(self._peers), release=release, query=query)[1],
        )
        done = False
        while not done:
            own, others, done = self._exchange(_sent(own, others, len(self.study.servers)))
        answer, answers = self._everywhere(
            lambda: self.node.answer(release, query),
            lambda peer: peer.ask("answer", wanted=1, release=release, query=query)[1][0],
        )
        self.node.opened(release, query, [answer, *answers])
        LOG.info("release %s: query %d is opened", self.study.releases[release].name, query + 1)
        self._tell()

    def _tell(self) -> None:
        """Tell the other servers all answers to what was opened, so that they have the sums, too."""
        with self._store.read() as kept:
            found = untold(kept)
        for release, query, messages in found:
            self._told(release, query, messages)

    def _told(self, release: int, query: int, messages: list[bytes]) -> None:
        self._others(lambda peer: peer.ask("opened", messages, release=release, query=query))
        with self._store.write() as kept:
            told(kept, release, query)

    def _tell_ended(self) -> None:
        """Tell the other servers which releases are over, and why; again after a restart."""
        for number, release in enumerate(self.study.releases):
            if number in self._told_ended:
                continue
            with self._store.read() as kept:
                reason = ended(kept, release.name)
            if reason is not None:
                self._others(partial(Peer.ask, what="over", release=number, reason=reason))
                self._told_ended.add(number)

    def _exchange(self, sent: _Sent) -> tuple[Messages, list[list[bytes]], bool]:
        """One round of messages; also whether it was the last."""
        (own, done), found = self._everywhere(
            lambda: self.node.take([blob for blob in _received(sent, 0) if blob]),
            lambda peer: peer.ask("take", _received(sent, peer.number), wanted=len(self._peers)),
        )
        if any(fields.get("done") != done for fields, _ in found):
            raise PeerError("the servers are not at the same step; all begin anew")
        return own, [blobs for _, blobs in found], done

    def _others(self, call: Callable[[Peer], T]) -> list[T]:
        """Do the same with all other servers at once."""
        return _results([self._threads.submit(call, peer) for peer in self._peers])

    def _everywhere(self, own: Callable[[], S], others: Callable[[Peer], T]) -> tuple[S, list[T]]:
        """Do the same here and at all other servers at once."""
        here = self._threads.submit(own)
        there = [self._threads.submit(others, peer) for peer in self._peers]
        wait([here])
        found = _results(there)
        return here.result(), found


def _sent(own: Messages, others: Sequence[Sequence[bytes]], servers: int) -> _Sent:
    """Messages by sender and receiver; those of others are one for each server but the sender, in order."""
    found = {(0, receiver): own.get(receiver, b"") for receiver in range(1, servers)}
    for sender, blobs in enumerate(others, 1):
        receivers = [number for number in range(servers) if number != sender]
        found |= {(sender, receiver): blob for receiver, blob in zip(receivers, blobs, strict=True)}
    return found


def _received(sent: _Sent, receiver: int) -> list[bytes]:
    """What the others sent to a server, in their order; empty where that is nothing."""
    return [message for (_, to), message in sorted(sent.items()) if to == receiver]


def _results(waiting: list[Future[T]]) -> list[T]:
    wait(waiting)
    return [each.result() for each in waiting]
