"""The agent: the one process of a party that holds records, key, ledger and protocol state.

    question  ->  check signature, study, place, attempt and ledger
              ->  compute the answer from the records and the stored state
              ->  store state, notes and answer in one transaction
              ->  reply

So the process may end at any moment: what was answered is stored, and a repeated question gets the same bytes. Whatever
carries the bytes can delay or lose them, and nothing else. The agent answers what the study says and refuses the rest;
why it refused is told to its owner alone, since it may depend on the records.

Learns: what the parties of an aggregation learn, and the sums that were opened.

Source:
    `docs/proofs/attempts.md`.
"""

from __future__ import annotations

import json
import os
import random
import re
import socketserver
import stat
import struct
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from ogive.core.arrays import UInt64
from ogive.crypto.aggregation import AggregationParty
from ogive.crypto.domains import HashDomain, derived_key
from ogive.errors import DataError, LedgerError, OgiveError, ParameterError, PeerError, ReleaseMismatchError, plain
from ogive.ledger import Account
from ogive.noise.source import KEY_BYTES
from ogive.privacy import Adjacency, Loss
from ogive.queries import Answer, LinearQuery
from ogive.records import Records
from ogive.records.contributions import columns_of
from ogive.releasing.release import Payment
from ogive.releasing.release import release as release_curve
from ogive.statistics.base import innermost, settled
from ogive.statistics.curve.estimate import Curve
from ogive.statistics.ecdf.statistic import Ecdf
from ogive.statistics.kinds import read_recorded
from ogive.study.common import LOG
from ogive.study.course import Own, OwnOpening, Step, check_budget, check_paid, course, estimate_of, payment_of
from ogive.study.document import MERGE, Study
from ogive.study.frames import Question, Reply, Stage, digest_of, settings_of
from ogive.study.https import believing, read_address
from ogive.study.local_client import FRONT, LONGEST, SECONDS, Unavailable, UnknownToken
from ogive.study.store import Entries, OfParties, Store, begin
from ogive.trust.secagg import SecAggOptions
from ogive.trust.secagg.terms import Contribution
from ogive.trust.table import Central

# --- A party's own records, which answer and pay for its part of a release


class OwnRecords(Own):
    """The records of one party of a study."""

    options_type = SecAggOptions

    def __init__(self, study: Study, number: int, records: object) -> None:
        super().__init__(study)
        self._terms = study.aggregation.terms
        self._number = number
        self._records = Records.of_party(records).bounded(study.unit.person, study.unit.max_rows_per_person)

    def count(self) -> int:
        return self._records.count()

    def data_digest(self) -> bytes:
        return self._records.digest()

    def check_columns(self, columns: Sequence[str]) -> None:
        self._records.check_columns(columns)

    def resume(self, adjacency: Adjacency, *, secret: bytes) -> OwnPart:
        return OwnPart(Contribution(self._records, self._number, self._terms, adjacency), secret)


class OwnPart(OwnOpening[LinearQuery]):
    """Vectors to be masked, with noise that is a function of the secret, 32 bytes."""

    def __init__(self, contribution: Contribution, secret: bytes) -> None:
        super().__init__(secret)
        self.contribution = contribution

    def context(self, query: LinearQuery) -> bytes:
        return self.contribution.context(query)

    def vector(self, query: LinearQuery) -> UInt64:
        """What the party adds to the sum, noise included, modulo 2^64; shape (length,)."""
        key = derived_key(self.secret, HashDomain.STUDY_NOISE.encode())
        return self.contribution.vector(query, key=key, context=self.context(query))


def check_records(study: Study, number: int, records: object) -> None:
    """Check that a party's records can answer each release; what is refused is told to their owner alone.

    Of aggregated releases the first query is computed as it will be, without noise, and nothing of it is stored.
    """
    if study.trust == MERGE:
        held = Records.of_party(records)
        for release in study.releases:
            held.check_columns([innermost(release.statistic).column])
        return
    own = OwnRecords(study, number, records)
    for release in study.releases:
        step = course(study, release, ())
        assert isinstance(step, Step), "every release asks something"
        own.check_columns([column.column for column in columns_of(step.query.aggregate)])
        try:
            own.resume(study.unit.adjacency, secret=bytes(KEY_BYTES)).contribution.sums(step.query.aggregate)
        except DataError as problem:
            raise DataError(f"release {release.name}: {problem}") from None


# --- A party's own curve, where curves are merged: private by itself, so nobody has to be trusted beyond one's party
#
# Source: `docs/sites.md` and `docs/proofs/composition.md`.


def release_own(study: Study, release_number: int, party: int, records: Central, account: Account) -> bytes:
    """A party's own curve as its ledger pays for it, once; the same bytes again for free."""
    release = study.releases[release_number]
    curve = release_curve(
        release.statistic,
        trust=records,
        privacy=release.privacy,
        adjacency=study.unit.adjacency,
        public=study.unit.public,
        ledger=account,
        batch=study.parties[party - 1].name,
    )
    return json.dumps(curve.to_dict()).encode()


def read_merged(study: Study, release_number: int, data: bytes) -> dict[str, Any]:
    """The merged curve as a party reads it from the coordinator, as plain data."""
    try:
        curve = read_recorded(json.loads(data))
    except (OgiveError, ValueError, RecursionError):
        raise PeerError("the merged curve cannot be read") from None
    names = {each.name for each in study.parties}
    statistic = settled(study.releases[release_number].statistic, study.unit)
    if (
        not isinstance(curve, Curve)
        or not isinstance(statistic, Ecdf)
        or curve.grid != statistic.binning().grid
        or not {batch.name for batch in curve.batches} <= names
    ):
        raise PeerError("the merged curve is not of this release")
    return curve.to_dict()


# --- The agent

CONFIRMED_SET = 1 << 30
"""The number under which a reservation is bound to the set of parties that was confirmed; measurements count from 0."""

_APPROVED = "approved"


_PLACE = struct.Struct("<II")
"""Where a party stands in a release: the query and the attempt that it last took part in."""


class Agent:
    """One party of a study, as its owner approved it; `account` pays the party's part of each release."""

    def __init__(
        self,
        study: Study,
        records: object,
        *,
        key: Ed25519PrivateKey,
        store: Store,
        account: Account,
        random: Callable[[int], bytes] = os.urandom,
    ) -> None:
        self.study = study
        self.number = study.number_of(key.public_key().public_bytes_raw())
        self._key = key
        self._store = store
        self._account = account
        self._random = random
        self._curator: Central | None = None
        self._own: OwnRecords | None = None
        if study.trust == MERGE:
            self._curator = Central(
                records, person=study.unit.person, max_rows_per_person=study.unit.max_rows_per_person
            )
        else:
            self._own = OwnRecords(study, self.number, records)
        self._parts: dict[int, OwnPart] = {}
        self._one = threading.Lock()
        account.check_unit(study.unit)
        with store.write() as entries:
            begin(entries, study, store.words)

    def answer(self, data: bytes) -> bytes:
        with self._one:
            return self._answer(data)

    def results(self) -> dict[str, dict[str, Any]]:
        """What was released so far, by the name of the release, as plain data."""
        result = {}
        for number, release in enumerate(self.study.releases):
            stored = self._merged(number) if self._curator is not None else self._payment(number).stored()
            if stored is not None:
                result[release.name] = stored
        return result

    def _answer(self, data: bytes) -> bytes:
        question = Question.from_bytes(data, coordinator=self.study.coordinator)
        if question.study != self.study.digest:
            raise PeerError("the question is about another study, or another version of this one")
        if question.party != self.number:
            raise PeerError(f"the question is for party {question.party}, and this is party {self.number}")
        digest = digest_of(data)
        where = _of(question.release, f"reply/{question.query}/{question.attempt}/{int(question.stage)}")
        with self._store.read() as entries:
            stored = entries.get(where)
        if stored is not None and stored[: len(digest)] == digest:
            return stored[len(digest) :]  # it was delivered twice, or the reply was lost
        try:
            if stored is not None:
                raise PeerError("the same step was asked before in other words")
            if question.release >= len(self.study.releases):
                raise PeerError(f"the study has no release number {question.release + 1}")
            with self._store.write() as entries:
                reply = Reply(digest, False, self._step(entries, question)).to_bytes(self._key)
                entries.put(where, digest + reply)
        except OgiveError as problem:
            LOG.warning("%s: refused the step %s: %s", self._words(question), question.stage.word, problem)
            return Reply(digest, True).to_bytes(self._key)
        done = "its result is stored" if question.stage is Stage.RESULT else f"answered the step {question.stage.word}"
        LOG.info("%s: %s", self._words(question), done)
        return reply

    def _words(self, question: Question) -> str:
        if question.release >= len(self.study.releases):
            return f"release number {question.release + 1}"
        name = self.study.releases[question.release].name
        if question.stage is Stage.RESULT:
            return f"release {name}"
        return f"release {name}, query {question.query + 1}, attempt {question.attempt + 1}"

    def _step(self, entries: Entries, question: Question) -> bytes:
        if self._curator is not None:
            return self._merging(entries, question, self._curator)
        if question.stage is Stage.OWN:
            raise PeerError("the parties of this study add up together, and release no curves of their own")
        payment = self._payment(question.release)
        if question.stage is Stage.RESULT:
            self._record(question, payment)
            entries.drop(_of(question.release))
            return b""
        if payment.stored() is not None:
            raise PeerError("this release was completed before, and its result is in the ledger")
        check_paid(self.study, question.release, self._account, payment, paid=entries.get(_paid(question.release)))
        if question.stage is Stage.KEYS:
            answers = question.answers
            party, step = self._begin(entries, question, payment)
        else:
            if entries.get(_of(question.release, "place")) != _PLACE.pack(question.query, question.attempt):
                raise PeerError("this party does not take part in that attempt")
            answers = OfParties(self.study, entries).answers(question.release)
            step = self._next(question, answers)
            party = AggregationParty.from_bytes(
                entries.get(_of(question.release, "state")) or b"",
                settings_of(self.study, question.release, step, question.attempt),
                key=self._key,
                note=self._noting(entries, payment),
                random=self._random,
            )
        match question.stage:
            case Stage.KEYS:
                body = party.advertise()
            case Stage.SHARES:
                body = party.share_keys(question.message)
            case Stage.INPUT:
                part = self._pay(question.release, payment, answers)
                entries.put_new(_paid(question.release), payment.release_id.encode())
                body = party.mask(question.message, part.vector(step.query))
            case Stage.CONFIRM:
                body = party.confirm(question.message)
            case _:
                body = party.unmask(question.message)
        entries.put(_of(question.release, "state"), party.to_bytes())
        return body

    def _merging(self, entries: Entries, question: Question, records: Central) -> bytes:
        """The own curve of this party, whatever attempt asks for it; or note the merged one."""
        number = question.release
        if question.stage is Stage.OWN:
            entries.drop(_of(number, "reply/"))  # of attempts that are over
            own = entries.get(_paid(number))
            if own is None:
                own = release_own(self.study, number, self.number, records, self._account)
                entries.put(_paid(number), own)
            return own
        if question.stage is Stage.RESULT:
            merged = read_merged(self.study, number, question.message)
            entries.put(_merged_name(number), json.dumps(merged).encode())
            return b""
        raise PeerError("the parties of this study add up curves, and have no secure aggregation")

    def _merged(self, number: int) -> dict[str, Any] | None:
        with self._store.read() as entries:
            stored = entries.get(_merged_name(number))
        return None if stored is None else dict(json.loads(stored))

    def _begin(self, entries: Entries, question: Question, payment: Payment) -> tuple[AggregationParty, Step]:
        """Take part in an attempt; earlier ones are over."""
        earlier = entries.get(_of(question.release, "place"))
        place = question.query, question.attempt
        if earlier is not None and len(earlier) != _PLACE.size:
            raise PeerError("the stored place of this party in a release is damaged")
        if earlier is not None and place <= _PLACE.unpack(earlier):
            raise PeerError("this party took part in that attempt, or in a later one")
        step = self._next(question, question.answers)
        check_budget(self.study, question.release, self._account, payment)
        party = AggregationParty(
            settings_of(self.study, question.release, step, question.attempt),
            number=self.number,
            key=self._key,
            declared=self._part(question.release).contribution.declared(step.query),
            note=self._noting(entries, payment),
            random=self._random,
        )
        entries.put(_of(question.release, "place"), _PLACE.pack(*place))
        OfParties(self.study, entries).put_answers(question.release, question.answers)
        entries.drop(_of(question.release, "reply/"))  # of attempts that are over
        return party, step

    def _next(self, question: Question, answers: tuple[Answer, ...]) -> Step:
        step = course(self.study, self.study.releases[question.release], answers)
        if not isinstance(step, Step) or step.number != question.query:
            raise PeerError(f"query {question.query + 1} is not what this release asks after {len(answers)} sums")
        return step

    def _noting(self, entries: Entries, payment: Payment) -> Callable[[bytes, bytes], bytes | None]:
        """Notes of this party: steps in its store, and the set of parties of a release in its ledger.

        The ledger notices when an older copy is put in its place, so a party whose state was restored from a backup
        still confirms no second set.
        """

        def note(token: bytes, value: bytes) -> bytes | None:
            if not token.startswith(b"release "):
                return entries.put_new(f"note/{token.hex()}", value)
            reserved = self._account.reserved(payment.question)
            if reserved is None:
                raise PeerError("this party has no vector in a sum of this release")
            try:
                reserved.bind(CONFIRMED_SET, value)
            except ReleaseMismatchError:
                return b"another set"
            return value

        return note

    def _payment(self, release: int) -> Payment:
        assert self._own is not None, "curves that are merged are paid for as any release"
        return payment_of(self.study, release, self._account, self._own)

    def _part(self, release: int) -> OwnPart:
        if release not in self._parts:
            assert self._own is not None, "curves that are merged have no parts"
            self._parts[release] = self._own.resume(self.study.unit.adjacency, secret=self._random(32))
        return self._parts[release]

    def _pay(self, release: int, payment: Payment, answers: tuple[Answer, ...]) -> OwnPart:
        """Make the charge durable, with the key of the noise, before noise is drawn; it is charged once a release."""
        part = self._part(release)

        def pay(loss: Loss, query: LinearQuery) -> None:
            nonlocal part
            opening = payment.pay(loss, query, part)
            assert isinstance(opening, OwnPart)
            part = OwnPart(part.contribution, opening.secret)

        course(self.study, self.study.releases[release], answers, pay=pay)
        self._parts[release] = part
        return part

    def _record(self, question: Question, payment: Payment) -> None:
        """Compute the result from the opened sums, and close the charge with it."""
        reserved = self._account.reserved(payment.question)
        estimate = estimate_of(self.study, question.release, question.answers)
        if estimate is None:
            name, count = self.study.releases[question.release].name, len(question.answers)
            raise ParameterError(f"release {name} has {count} opened sums, and more are to come")
        if reserved is not None:
            reserved.record(estimate.to_dict())


def approve(store: Store, study: Study) -> None:
    """Note that the owner of the records approves a study, once."""
    with store.write() as entries:
        entries.put(_APPROVED, study.digest)


def is_approved(store: Store, study: Study) -> bool:
    with store.read() as entries:
        return entries.get(_APPROVED) == study.digest


def _of(release: int, what: str = "") -> str:
    return f"release/{release}/{what}"


def _paid(release: int) -> str:
    """Name of what tells who paid for a release: the id of the entry, or the party's own curve."""
    return f"paid/{release}"


def _merged_name(release: int) -> str:
    return f"merged/{release}"


# --- An agent at a socket of its own machine, for carriers that run as another user, without access to records
#
#     request   length 8 (little-endian) | question
#     answer    status 1 (0 a reply, 1 no question of this study) | length 8 | reply
#
# Needs no package for HTTPS.


_CONNECTIONS = 8


def listen_at(address: str, agent: Agent, stop: threading.Event) -> None:
    """Answer at a socket until told to stop.

    The socket is open to its owner and group: whoever may connect can ask what the coordinator signed, and learns
    what the coordinator would.
    """
    if not address.startswith("unix:/"):
        raise ParameterError(f"--listen takes unix:/PATH of a socket, got {plain(address)}")
    path = Path(address.removeprefix("unix:"))
    try:
        if path.exists() and stat.S_ISSOCK(path.stat().st_mode):
            path.unlink()
        with _Server(str(path), agent) as server:
            path.chmod(0o660)
            LOG.info("listening at the socket %s; the coordinator's questions are answered as they come", path)
            threading.Thread(target=server.serve_forever, daemon=True).start()
            try:
                stop.wait()
            finally:
                server.shutdown()
                path.unlink(missing_ok=True)
    except OSError as problem:
        raise ParameterError(f"the socket {plain(path)} cannot be made: {problem.strerror or problem}") from None


class _Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    request_queue_size = _CONNECTIONS

    def __init__(self, path: str, agent: Agent) -> None:
        super().__init__(path, _Handler)
        self.agent = agent

    def handle_error(self, request: object, client_address: object) -> None:
        """One connection that ends badly is no news."""


class _Handler(socketserver.StreamRequestHandler):
    timeout = SECONDS

    def handle(self) -> None:
        assert isinstance(self.server, _Server)
        length = int.from_bytes(self.rfile.read(FRONT), "little")
        if length > LONGEST:
            return
        question = self.rfile.read(length)
        try:
            status, reply = 0, self.server.agent.answer(question)
        except (PeerError, LedgerError) as problem:
            LOG.warning("a question of %d bytes is not answered: %s", len(question), problem)
            status, reply = 1, b""
        self.wfile.write(bytes([status]) + len(reply).to_bytes(FRONT, "little") + reply)


# --- An agent's connection to its coordinator over HTTPS: it connects outwards, waits for questions and sends replies

WAIT_SECONDS = 25.0
LONGEST_PAUSE = 15.0
_PAUSE = 0.5
_NUMBER = re.compile(r"\[Errno -?[0-9]+\] ")


class Connection:
    """The connection of one agent, which connects outwards, waits for questions and sends replies."""

    def __init__(
        self,
        url: str,
        name: str,
        token: str,
        *,
        authority: Path | None = None,
        certificate: tuple[Path, Path] | None = None,
    ) -> None:
        read_address(url, "the coordinator")
        context = believing(authority)
        if certificate is not None:
            try:
                context.load_cert_chain(*certificate)
            except OSError as problem:  # ssl.SSLError is one
                raise ParameterError(
                    f"the certificate {plain(certificate[0])} cannot be used: {problem.strerror}"
                ) from None
        from ogive.study.https.mailbox import Mailbox  # an agent at a socket needs no package for HTTPS

        self._mailbox = Mailbox(url, name, token, context, wait=WAIT_SECONDS)
        self._line = ""

    def run(self, agent: Agent, stop: threading.Event) -> None:
        """Answer questions until told to stop; a connection that is lost is tried again."""
        pause = _PAUSE
        while not stop.is_set():
            try:
                busy = self.once(agent)
            except UnknownToken as problem:
                raise PeerError(str(problem)) from None
            except (LedgerError, Unavailable) as problem:
                self._say(f"waiting for the coordinator, which is tried again: {_reason(problem)}")
                stop.wait(pause * (1 + random.random()) / 2)  # so that agents do not return all at once
                pause = min(2 * pause, LONGEST_PAUSE)
                continue
            pause = _PAUSE
            if not busy:
                stop.wait(0.01)

    def once(self, agent: Agent) -> bool:
        """Wait for one question and answer it; False if there was none."""
        question = self._mailbox.question()
        self._say("connected to the coordinator; its questions are answered as they come")
        if question is None:
            return False
        try:
            reply = agent.answer(question)
        except PeerError as problem:
            LOG.warning("a question of %d bytes is not answered: %s", len(question), problem)
            raise Unavailable("its questions are not those of this study") from None
        self._mailbox.leave(reply)  # it may come too late
        return True

    def _say(self, line: str) -> None:
        if line != self._line:
            self._line = line
            LOG.info("%s", line)

    def close(self) -> None:
        self._mailbox.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()


def _reason(problem: Exception) -> str:
    text = str(problem) or type(problem).__name__
    if "CERTIFICATE_VERIFY_FAILED" in text:
        return f"its certificate is not valid ({plain(text.rpartition(': ')[2])[:200]})"
    return plain(_NUMBER.sub("", text))[:200]
