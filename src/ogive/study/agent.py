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
import logging
import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from ogive.columns import Schema
from ogive.core.arrays import UInt64
from ogive.crypto.aggregation import AggregationParty, AggregationSettings
from ogive.crypto.domains import HashDomain, derived_key
from ogive.crypto.wire import Reader
from ogive.errors import DataError, OgiveError, PeerError, ReleaseMismatchError
from ogive.ledger import Account
from ogive.noise.source import KEY_BYTES
from ogive.privacy import Adjacency, Loss, PrivacyUnit
from ogive.queries import Answer, LinearQuery
from ogive.records import Records
from ogive.records.contributions import columns_of
from ogive.releasing.release import Payment
from ogive.statistics.base import innermost
from ogive.study.course import Step, course
from ogive.study.document import MERGE, Study
from ogive.study.frames import Question, Reply, Stage, digest_of, read_answers, write_answer
from ogive.study.merging import own_records, read_merged, release_own
from ogive.study.paying import check_budget, check_paid, payment_of
from ogive.study.result import estimate_of, settings_of
from ogive.study.store import Kept, Store, begin
from ogive.trust.base import Opening, TrustModel
from ogive.trust.secagg.contribution import Contribution
from ogive.trust.secagg.options import SecAggOptions
from ogive.trust.table import Central

# --- A party's own records, which answer and pay for its part of a release


class OwnRecords(TrustModel):
    """The records of one party of a study; what is asked of them is answered in a sum with others alone."""

    options_type = SecAggOptions

    def __init__(self, study: Study, number: int, records: object) -> None:
        self.options: SecAggOptions = study.aggregation
        self._unit = study.unit
        self._number = number
        self._records = Records.of_party(records).bounded(study.unit.person, study.unit.max_rows_per_person)

    def unit(self, adjacency: Adjacency) -> PrivacyUnit:
        """As the study says."""
        return self._unit

    def count(self) -> int:
        """The party's records, after bounding."""
        return self._records.count()

    def data_digest(self) -> bytes:
        """SHA-256 of the party's records."""
        return self._records.digest()

    def schema(self) -> Schema:
        """What the columns hold."""
        return self._records.schema()

    def check_columns(self, columns: Sequence[str]) -> None:
        """Refuse columns that the party's table lacks."""
        self._records.check_columns(columns)

    def resume(self, adjacency: Adjacency, *, secret: bytes) -> OwnPart:
        """Go on with the party's part of a release."""
        return OwnPart(Contribution(self._records, self._number, self.options.terms, adjacency), secret)


class OwnPart(Opening[LinearQuery]):
    """A party's part of one release: vectors to be masked, with noise that is a function of the secret, 32 bytes."""

    def __init__(self, contribution: Contribution, secret: bytes) -> None:
        self.contribution = contribution
        self.secret = secret

    def context(self, query: LinearQuery) -> bytes:
        """Digest of the party's part of a measurement."""
        return self.contribution.context(query)

    def answer(self, query: LinearQuery) -> Answer:
        """A single party opens nothing."""
        raise NotImplementedError("the sum is opened by all parties together")

    def vector(self, query: LinearQuery) -> UInt64:
        """What the party adds to the sum, noise included, modulo 2^64; shape (length,)."""
        key = derived_key(self.secret, HashDomain.STUDY_NOISE.encode())
        return self.contribution.vector(query, key=key, context=self.context(query))


def check_records(study: Study, number: int, records: object) -> None:
    """Check that a party's records can answer each release; what is refused is told to their owner alone.

    Of aggregated releases the first query is computed as it will be, without noise, and nothing of it is kept.
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


# --- The agent

LOG = logging.getLogger("ogive.study")

CONFIRMED_SET = 1 << 30
"""The number under which a reservation is bound to the set of parties that was confirmed; measurements count from 0."""

_STUDY = "study"
_APPROVED = "approved"


@dataclass(frozen=True)
class _Place:
    """Where a party stands in a release: the query and the attempt that it last took part in."""

    query: int
    attempt: int

    def to_bytes(self) -> bytes:
        return self.query.to_bytes(4, "little") + self.attempt.to_bytes(4, "little")

    @staticmethod
    def from_bytes(data: bytes) -> _Place:
        reader = Reader(data, "stored place")
        return _Place(reader.number(4), reader.number(4))


class Agent:
    """One party of a study.

    Args:
        study: As its owner approved it.
        records: The party's records, anything that `Records.of` reads; there may be none.
        key: The party's enrolment key.
        store: Keeps its protocol state.
        account: Pays the party's part of each release.
        random: Gives so many random bytes.
    """

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
        self._curator = own_records(study, records) if study.trust == MERGE else None
        self._own = None if study.trust == MERGE else OwnRecords(study, self.number, records)
        self._parts: dict[int, OwnPart] = {}
        self._one = threading.Lock()
        account.check_unit(study.unit)
        with store.write() as kept:
            begin(kept, _STUDY, study.digest, store.words)

    def answer(self, data: bytes) -> bytes:
        """The reply to a question."""
        with self._one:
            return self._answer(data)

    def results(self) -> dict[str, dict[str, Any]]:
        """What was released so far, by the name of the release, as plain data."""
        found = {}
        for number, release in enumerate(self.study.releases):
            stored = self._merged(number) if self._curator is not None else self._payment(number).stored()
            if stored is not None:
                found[release.name] = stored
        return found

    def _answer(self, data: bytes) -> bytes:
        question = Question.from_bytes(data, coordinator=self.study.coordinator)
        if question.study != self.study.digest:
            raise PeerError("the question is about another study, or another version of this one")
        if question.party != self.number:
            raise PeerError(f"the question is for party {question.party}, and this is party {self.number}")
        digest = digest_of(data)
        where = _reply(question)
        with self._store.read() as kept:
            told = kept.get(where)
        if told is not None and told[: len(digest)] == digest:
            return told[len(digest) :]  # it was delivered twice, or the reply was lost
        try:
            if told is not None:
                raise PeerError("the same step was asked before in other words")
            if question.release >= len(self.study.releases):
                raise PeerError(f"the study has no release number {question.release + 1}")
            with self._store.write() as kept:
                reply = Reply(digest, False, self._step(kept, question)).to_bytes(self._key)
                kept.put(where, digest + reply)
        except OgiveError as problem:
            LOG.warning("%s: refused the step %s: %s", self._words(question), question.stage.word, problem)
            return Reply(digest, True).to_bytes(self._key)
        if question.stage is Stage.RESULT:
            LOG.info("%s: its result is stored", self._words(question))
        else:
            LOG.info("%s: answered the step %s", self._words(question), question.stage.word)
        return reply

    def _words(self, question: Question) -> str:
        if question.release >= len(self.study.releases):
            return f"release number {question.release + 1}"
        name = self.study.releases[question.release].name
        if question.stage is Stage.RESULT:
            return f"release {name}"
        return f"release {name}, query {question.query + 1}, attempt {question.attempt + 1}"

    def _step(self, kept: Kept, question: Question) -> bytes:
        if self._curator is not None:
            return self._merging(kept, question, self._curator)
        if question.stage is Stage.OWN:
            raise PeerError("the parties of this study add up together, and release no curves of their own")
        payment = self._payment(question.release)
        if question.stage is Stage.RESULT:
            self._record(question, payment)
            kept.drop(_of(question.release))
            return b""
        if payment.stored() is not None:
            raise PeerError("this release was completed before, and its result is in the ledger")
        check_paid(self.study, question.release, self._account, payment, paid=kept.get(_paid(question.release)))
        place = _Place(question.query, question.attempt)
        if question.stage is Stage.KEYS:
            answers = question.answers
            party, step = self._begin(kept, question, payment)
        else:
            if kept.get(_of(question.release, "place")) != place.to_bytes():
                raise PeerError("this party does not take part in that attempt")
            answers = read_answers(kept.get(_of(question.release, "answers")) or b"")
            step = self._next(question, answers)
            party = self._restored(kept, question, step, payment)
        match question.stage:
            case Stage.KEYS:
                body = party.advertise()
            case Stage.SHARES:
                body = party.share_keys(question.message)
            case Stage.INPUT:
                part = self._pay(question.release, payment, answers)
                kept.put_new(_paid(question.release), payment.release_id.encode())
                body = party.mask(question.message, part.vector(step.query))
            case Stage.CONFIRM:
                body = party.confirm(question.message)
            case _:
                body = party.unmask(question.message)
        kept.put(_of(question.release, "state"), party.to_bytes())
        return body

    def _merging(self, kept: Kept, question: Question, records: Central) -> bytes:
        """The own curve of this party, whatever attempt asks for it; or note the merged one."""
        number = question.release
        if question.stage is Stage.OWN:
            kept.drop(_of(number, "reply/"))  # of attempts that are over
            own = kept.get(_paid(number))
            if own is None:
                own = release_own(self.study, number, self.number, records, self._account)
                kept.put(_paid(number), own)
            return own
        if question.stage is Stage.RESULT:
            merged = read_merged(self.study, number, question.message)
            kept.put(_merged_name(number), json.dumps(merged).encode())
            return b""
        raise PeerError("the parties of this study add up curves, and have no secure aggregation")

    def _merged(self, number: int) -> dict[str, Any] | None:
        with self._store.read() as kept:
            stored = kept.get(_merged_name(number))
        found: dict[str, Any] | None = None if stored is None else json.loads(stored)
        return found

    def _begin(self, kept: Kept, question: Question, payment: Payment) -> tuple[AggregationParty, Step]:
        """Take part in an attempt; earlier ones are over."""
        earlier = kept.get(_of(question.release, "place"))
        place = _Place(question.query, question.attempt)
        if earlier is not None:
            before = _Place.from_bytes(earlier)
            if (place.query, place.attempt) <= (before.query, before.attempt):
                raise PeerError("this party took part in that attempt, or in a later one")
        step = self._next(question, question.answers)
        check_budget(self.study, question.release, self._account, payment)
        party = AggregationParty(
            self._settings(question, step),
            number=self.number,
            key=self._key,
            declared=self._part(question.release).contribution.declared(step.query),
            note=self._noting(kept, payment),
            random=self._random,
        )
        kept.put(_of(question.release, "place"), place.to_bytes())
        kept.put(_of(question.release, "answers"), b"".join(map(write_answer, question.answers)))
        kept.drop(_of(question.release, "reply/"))  # of attempts that are over
        return party, step

    def _restored(self, kept: Kept, question: Question, step: Step, payment: Payment) -> AggregationParty:
        return AggregationParty.from_bytes(
            kept.get(_of(question.release, "state")) or b"",
            self._settings(question, step),
            key=self._key,
            note=self._noting(kept, payment),
            random=self._random,
        )

    def _next(self, question: Question, answers: tuple[Answer, ...]) -> Step:
        step = course(self.study, self.study.releases[question.release], answers)
        if not isinstance(step, Step) or step.number != question.query:
            raise PeerError(f"query {question.query + 1} is not what this release asks after {len(answers)} sums")
        return step

    def _settings(self, question: Question, step: Step) -> AggregationSettings:
        return settings_of(self.study, question.release, step, question.attempt)

    def _noting(self, kept: Kept, payment: Payment) -> Callable[[bytes, bytes], bytes | None]:
        """Notes of this party: steps in its store, and the set of parties of a release in its ledger.

        The ledger notices when an older copy is put in its place, so a party whose state was restored from a backup
        still confirms no second set.
        """

        def note(token: bytes, value: bytes) -> bytes | None:
            if not token.startswith(b"release "):
                return kept.put_new(f"note/{token.hex()}", value)
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
        """The account's side of a release."""
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
        if reserved is not None:
            reserved.record(estimate.to_dict())


def approve(store: Store, study: Study) -> None:
    """Note that the owner of the records approves a study, once."""
    with store.write() as kept:
        kept.put(_APPROVED, study.digest)


def is_approved(store: Store, study: Study) -> bool:
    """Whether the owner of the records approved exactly this study."""
    with store.read() as kept:
        return kept.get(_APPROVED) == study.digest


def _of(release: int, what: str = "") -> str:
    """The name under which something of a release is stored."""
    return f"release/{release}/{what}"


def _paid(release: int) -> str:
    """Name of what tells who paid for a release: the id of the entry, or the party's own curve."""
    return f"paid/{release}"


def _merged_name(release: int) -> str:
    return f"merged/{release}"


def _reply(question: Question) -> str:
    return _of(question.release, f"reply/{question.query}/{question.attempt}/{int(question.stage)}")
