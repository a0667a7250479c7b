"""One server of a study: what it was sent, its state, its account, and its part in every answer.

It is a state machine between the network and the disk. Whatever it says is stored before it leaves, so that the process
may end at any moment. The state of the protocol of `trust.servers` is stored whenever a call to it has returned or
raised; a preparation that was cut off is begun anew by all servers.

Learns: how many people upload, who of them fails the verification, and the sums that all servers open together.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from ogive import ledger, privacy, queries
from ogive.crypto.domains import HashDomain, derived_key, digest
from ogive.errors import DataError, ParameterError, PeerError, RefusalError, ReleaseMismatchError, plain
from ogive.noise.source import KEY_BYTES
from ogive.statistics.base import Estimate
from ogive.study.course import Own, OwnOpening, Step, check_budget, course, estimate_of, payment_of
from ogive.study.document import ServersStudy
from ogive.study.sealing import sealing_key
from ogive.study.servers.evaluating import Elsewhere, Workers, batch_rows, open_uploads, opened_messages
from ogive.study.servers.uploads import Enrolled, Relayed, Reports
from ogive.study.store import NUMBER_BYTES, OfServers, Steps, Store, begin
from ogive.trust.servers import ServersOptions
from ogive.trust.servers.model import opened_answer
from ogive.trust.servers.server import Preparation, Server, ServerState
from ogive.trust.servers.settings import question_digest

# --- The uploads of one server, which pay for its part of a release


class OwnUploads(Own):
    """What a server was sent of every aggregate; it answers with its own noise.

    `servers` gives the server of each aggregate in the order of `collected`, and `noise` is the secret of this server
    from which its noise follows, 32 bytes.
    """

    options_type = ServersOptions

    def __init__(self, study: ServersStudy, servers: Callable[[], list[Server]], noise: bytes) -> None:
        super().__init__(study)
        self._study = study
        self._servers = servers
        self._noise = noise

    def count(self) -> int:
        return self._servers()[0].clients

    def data_digest(self) -> bytes:
        result = hashlib.sha256(b"ogive uploads\n")
        for server in self._servers():
            result.update(_set_of(server))
        return result.digest()

    def resume(self, adjacency: privacy.Adjacency, *, secret: bytes) -> OwnAnswers:
        return OwnAnswers(self._study, self._servers(), secret, self._noise)


class OwnAnswers(OwnOpening[queries.LinearQuery]):
    """Answers whose noise is a function of the server's own secret, not of the release's."""

    def __init__(self, study: ServersStudy, servers: list[Server], secret: bytes, noise: bytes) -> None:
        super().__init__(secret)
        self._study = study
        self._noise = noise
        self._servers = servers

    def context(self, query: queries.LinearQuery) -> bytes:
        """Digest of all that an answer follows from: the noise, the clients that are counted, and the question.

        The ledger keeps it with the charge. A server that lost its state, or has an older one, would draw other noise
        or count other clients for a charge that was made before; the ledger refuses that.
        """
        number, uploaded = self._study.uploaded(query)
        server = self._servers[number]
        counted = _set_of(server), server.dropped.astype("<i8").tobytes()
        question = question_digest(uploaded, self._study.unit.adjacency)
        return digest(HashDomain.UPLOAD_CONTEXT, self._noise, *counted, question)


def _set_of(server: Server) -> bytes:
    assert server.state is not None, "a server that answers has a state"
    return server.state.uploads


# --- One server: its state, its account, and its part in every answer

Messages = dict[int, bytes]
"""By the number of the server that each is for."""

_SECRET, _CLIENTS = "secret", "clients"


@dataclass
class _Preparing:
    """A preparation under way: the numbers of release, query and aggregate, and this server's part in it."""

    release: int
    query: int
    server: int
    preparation: Preparation


class Node:
    """One server of a study, with a folder for its uploads; `workers` evaluate these, or this process does."""

    def __init__(
        self,
        study: ServersStudy,
        folder: Path,
        *,
        key: Ed25519PrivateKey,
        store: Store,
        account: ledger.Account,
        enrolled: Enrolled,
        random: Callable[[int], bytes] = os.urandom,
        workers: Workers | None = None,
    ) -> None:
        self.study = study
        self.number = study.number_of(key.public_key().public_bytes_raw())
        self.key = key
        self._sealing = sealing_key(key)
        if self._sealing.public_key().public_bytes_raw() != study.servers[self.number].sealing:
            raise ParameterError("the study names another key for uploads to this server than the one it has")
        self._folder = folder
        self._store = store
        self._account = account
        self._enrolled = enrolled
        self._random = random
        self._workers = workers
        self._one = threading.RLock()
        self._servers: list[Server] = []
        self._preparing: _Preparing | None = None
        self._estimates: dict[int, Estimate] = {}  # computed once; what was opened does not change
        account.check_unit(study.unit)
        self._steps = Steps(folder)
        try:
            closed = self._opened_state()
            if self.number == 0:
                self.uploads: Reports | Relayed = Reports(study, folder, enrolled, closed=closed is not None)
            else:
                self.uploads = Relayed(study, self.number, folder, closed=closed)
        except BaseException:
            self._steps.close()
            raise
        if closed is not None and len(self.uploads) != closed:
            self.uploads.close()
            self._steps.close()
            raise RefusalError(
                f"{plain(folder)} holds {len(self.uploads)} uploads, and there were {closed} when uploads ended: the "
                "store was cut off or is an older one; put it back as it was last"
            )
        self.closed = closed
        for release in range(len(study.releases)):
            if closed is not None:
                self._record(release)  # the process may have ended before it did

    def _opened_state(self) -> int | None:
        """Begin a state or go on with it; how many uploads there were when no more were taken."""
        with self._store.write() as entries:
            begin(entries, self.study, self._store.words)
            self._steps.check(entries, self._store.words)
            self._secret = entries.get(_SECRET) or self._random(KEY_BYTES)
            entries.put_new(_SECRET, self._secret)
            return OfServers(self.study, entries).closed

    @property
    def clients(self) -> int | None:
        with self._store.read() as entries:
            result = entries.get(_CLIENTS)
        return None if result is None else int.from_bytes(result, "little")

    @property
    def left_out(self) -> int:
        clients = self.clients
        return 0 if self.closed is None or clients is None else self.closed - clients

    def formed(self) -> bool:
        with self._one:
            return self.closed is not None and all(
                server.state is not None and server.state.frozen for server in self._collected()
            )

    def close_uploads(self, count: int | None = None) -> int:
        with self._one:
            if isinstance(self.uploads, Reports):
                count = self.uploads.close_uploads()
            else:
                assert count is not None, "server 0 says how many there are"
                if count < self.study.min_uploads:
                    raise PeerError(f"uploads: {count}, min_uploads of the study: {self.study.min_uploads}")
                self.uploads.close_uploads(count)
            with self._store.write() as entries:
                OfServers(self.study, entries).close(count)
            self.closed = count
            return count

    def names(self) -> list[Messages]:
        """For each aggregate the names of the clients here, for the other servers."""
        with self._one:
            return [server.freeze() for server in self._collected()]

    def agree(self, messages: Sequence[Sequence[bytes]]) -> None:
        """Form the sets of clients, from the names that all other servers sent of each aggregate."""
        with self._one:
            servers = self._collected()
            if self.formed():
                return
            if len(messages) != len(servers):
                raise PeerError(f"there are names for {len(messages)} sets of clients, and {len(servers)} are formed")
            try:
                with self._store.write() as entries:
                    for number, (server, names) in enumerate(zip(servers, messages, strict=True)):
                        server.agree(names)
                        for place, each in enumerate(names):
                            entries.put(f"names/{number}/{place}", each)
                        entries.put(_state(number), server.going().to_bytes())
                    entries.put(_CLIENTS, servers[0].clients.to_bytes(NUMBER_BYTES, "little"))
            except BaseException:
                self._servers = []  # one of them may have formed its set, and nothing of it is stored
                raise

    def step(self, release: int) -> Step | None:
        result = course(self.study, self.study.releases[release], self.answers(release))
        return result if isinstance(result, Step) else None

    def answers(self, release: int) -> tuple[queries.Answer, ...]:
        with self._store.read() as entries:
            return OfServers(self.study, entries).answers(release)

    def begin(self, release: int, query: int) -> Messages:
        with self._one:
            step = self._expected(release, query)
            number, uploaded = self.study.uploaded(step.query)
            payment = self._payment(release)
            if payment.stored() is not None:
                raise self._another_state(release)
            check_budget(self.study, release, self._account, payment)
            preparation = self._servers[number].prepare(uploaded)
            self._preparing = _Preparing(release, query, number, preparation)
            with self._stored(number):
                return preparation.begin()

    def take(self, messages: Sequence[bytes]) -> tuple[Messages, bool]:
        with self._one:
            if self._preparing is None:
                raise PeerError("no preparation is under way; begin anew")
            preparing = self._preparing
            if preparing.preparation.done:
                raise PeerError("the query is prepared, and no message is expected any more")
            with self._stored(preparing.server):
                sent = preparing.preparation.take(messages)
            return sent, preparing.preparation.done

    def answer(self, release: int, query: int) -> bytes:
        """The share of the answer of this server, with its noise, which its account has paid for."""
        with self._one:
            step = self._expected(release, query)
            preparing = self._preparing
            if (
                preparing is None
                or (preparing.release, preparing.query) != (release, query)
                or not preparing.preparation.done
            ):
                raise PeerError("the query was not prepared; begin anew")
            self._pay(release)
            with self._stored(preparing.server):
                _, uploaded = self.study.uploaded(step.query)
                answer = self._servers[preparing.server].answer(uploaded, self.study.unit.adjacency)
            with self._store.write() as entries:
                entries.put(self._answer_name(release, query), answer)
            return answer

    def opened(self, release: int, query: int, messages: Sequence[bytes]) -> None:
        with self._one:
            self._check_release(release)
            before = self.answers(release)
            if query < len(before):
                return  # the same was told before
            step = self._expected(release, query)
            number, uploaded = self.study.uploaded(step.query)
            server = self._servers[number]
            with self._store.read() as entries:
                given = entries.get(self._answer_name(release, query))
            if given is None or given not in messages:
                raise PeerError("the answers to be added up lack the one that this server gave")
            answer = opened_answer(
                messages,
                server.collected,
                session=server.session,
                query=uploaded,
                adjacency=self.study.unit.adjacency,
                clients=server.clients,
            )
            self._check_sums(release, (*before, answer))
            with self._store.write() as entries:
                releases = OfServers(self.study, entries)
                releases.put_answers(release, (*before, answer))
                if self.number == 0:
                    releases.put_undelivered(release, query, messages)
            self._preparing = None
        self._record(release)

    def end(self, release: int, reason: str) -> None:
        """Keep why a release is over, as server 0 says, unless it is complete here."""
        with self._one:
            self._check_release(release)
            if self.estimate(release) is None:
                with self._store.write() as entries:
                    OfServers(self.study, entries).end(release, reason)

    def estimate(self, release: int) -> Estimate | None:
        if release not in self._estimates:
            result = estimate_of(self.study, release, self.answers(release))
            if result is None:
                return None
            self._estimates[release] = result
        return self._estimates[release]

    def states(self) -> list[dict[str, Any]]:
        complete = [self.estimate(number) is not None for number in range(len(self.study.releases))]
        with self._store.read() as entries:
            releases = OfServers(self.study, entries)
            return [releases.row(number, released=done) for number, done in enumerate(complete)]

    def check(self) -> None:
        self.answers(0)

    def spent(self) -> Any:
        return self._account.spent

    def close(self) -> None:
        self.uploads.close()
        self._steps.close()

    # the parts

    def _check_release(self, release: int) -> None:
        if not 0 <= release < len(self.study.releases):
            raise PeerError(f"the study has no release number {release + 1}")

    def _answer_name(self, release: int, query: int) -> str:
        return f"answer/{self.study.releases[release].name}/{query}"

    def _check_sums(self, release: int, opened: tuple[queries.Answer, ...]) -> None:
        """Refuse sums from which nothing can be computed, which only organizations can bring about."""
        try:
            course(self.study, self.study.releases[release], opened)
        except PeerError as problem:
            raise DataError(str(problem)) from None

    def _expected(self, release: int, query: int) -> Step:
        self._check_release(release)
        if not self.formed():
            raise PeerError("the sets of clients were not formed")
        step = self.step(release)
        if step is None or step.number != query:
            raise PeerError(f"query {query + 1} is not what release {self.study.releases[release].name} asks now")
        return step

    def _collected(self) -> list[Server]:
        if self.closed is None:
            raise PeerError("uploads are still taken")
        if not self._servers:
            parts = (some for _, some in self.uploads.parts(self.number))
            open_uploads(self.study, self.number, self._folder, parts, key=self._sealing, enrolled=self._enrolled)
            self._servers = [self._read(number) for number in range(len(self.study.collected))]
        return self._servers

    def _read(self, number: int) -> Server:
        collected = self.study.collected[number]
        session = self.study.session(collected)
        with self._store.read() as entries:
            stored = entries.get(_state(number))
            names = [entries.get(f"names/{number}/{place}") for place in range(len(self.study.servers) - 1)]
        state = ServerState(collected.study, session, self.number) if stored is None else ServerState.from_bytes(stored)
        workers = self._workers
        server = Server(
            collected,
            self.number,
            session=session,
            secret=derived_key(self._secret, HashDomain.UPLOAD_NOISE.encode() + collected.study),
            random=self._random,
            state=state,
            clients=batch_rows(self.study.messages[self.number][number]),
            evaluator=workers and Elsewhere(self.study, self.number, self._folder, number, workers),
        )
        for message, _ in opened_messages(self.study, self.number, self._folder, number):
            server.receive(message)
        if stored is not None:
            server.freeze()
            server.agree([each for each in names if each is not None])
        return server

    @contextmanager
    def _stored(self, number: int) -> Iterator[None]:
        """Store the state of a server when what is done with it has returned or raised."""
        try:
            yield
        finally:
            state = self._servers[number].state
            assert state is not None
            with self._store.write() as entries:
                entries.put(_state(number), state.to_bytes())
                entries.put(_CLIENTS, self._servers[0].clients.to_bytes(NUMBER_BYTES, "little"))
                step = self._steps.take(entries)
            self._steps.note(step)

    def _payment(self, release: int) -> Any:
        return payment_of(self.study, release, self._account, self._own())

    def _own(self) -> OwnUploads:
        return OwnUploads(self.study, self._collected, self._secret)

    def _pay(self, release: int) -> None:
        """Make the charge durable before the answer leaves; it is charged once a release."""
        payment = self._payment(release)
        part = self._own().resume(self.study.unit.adjacency, secret=self._random(KEY_BYTES))

        def pay(loss: privacy.Loss, query: queries.LinearQuery) -> None:
            payment.pay(loss, query, part)

        try:
            course(self.study, self.study.releases[release], self.answers(release), pay=pay)
        except ReleaseMismatchError:
            raise self._another_state(release) from None

    def _another_state(self, release: int) -> ReleaseMismatchError:
        name = self.study.releases[release].name
        return ReleaseMismatchError(
            f"the ledger has a charge for release {name} that was made with another state of this server, and the "
            "same charge pays for no other noise; without that state the release is over, and a new study is needed"
        )

    def _record(self, release: int) -> None:
        result = self.estimate(release)
        if result is None:
            return
        reserved = self._account.reserved(self._payment(release).question)
        if reserved is not None:
            reserved.record(result.to_dict())


def _state(number: int) -> str:
    return f"state/{number}"
