"""What coordinator and agent say to each other, as bytes that any carrier may move and none can forge.

    question   magic | signature of the coordinator | study digest 32 | party | release | query | attempt | step
               | number of answers | answers | length 8 | message
    reply      magic | signature of the party | SHA-256 of the question 32 | refused 1 | body

Numbers have 4 bytes, little-endian, unless said otherwise. The answers of earlier queries come with the first step of
an attempt and with the last; the message is that of the aggregation.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from math import prod

import numpy as np
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from ogive.crypto.aggregation import AggregationSettings, Round
from ogive.crypto.domains import HashDomain, digest, number
from ogive.crypto.wire import SIGNATURE_BYTES, Reader
from ogive.errors import PeerError
from ogive.queries import Answer
from ogive.study.course import Step, release_digest
from ogive.study.document import Study
from ogive.study.local_client import LONGEST
from ogive.trust.secagg.terms import opened_totals, public_bytes, shape_of

QUESTION = b"ogive study question 1\n"
REPLY = b"ogive study reply 1\n"

_MOST_AXES = 8
_MOST_ANSWERS = 1 << 10
_MOST_TOTALS = 1 << 20


class Stage(IntEnum):
    """The steps of one query: the rounds of the aggregation, and after the last query the result.

    Where curves are merged there is one step, in which each party sends its own, and the result.
    """

    KEYS = Round.KEYS
    SHARES = Round.SHARES
    INPUT = Round.INPUT
    CONFIRM = Round.CONFIRM
    UNMASK = Round.UNMASK
    RESULT = 5
    OWN = 6

    @property
    def word(self) -> str:
        """As messages and logs write it."""
        return "own curve" if self is Stage.OWN else self.name.lower()


@dataclass(frozen=True)
class Question:
    """What the coordinator asks of one party.

    Release and query count from 0, as the attempt, of which each begins everything of its query anew. The opened sums
    of the queries before come in the first step and the last; the message is that of the aggregation, empty in the
    first step and the last, or the merged curve in the last.
    """

    study: bytes
    party: int
    release: int
    query: int
    attempt: int
    stage: Stage
    answers: tuple[Answer, ...] = ()
    message: bytes = b""

    @property
    def place(self) -> tuple[int, int, int, int]:
        """Where in the study it stands: release, query, attempt and step."""
        return self.release, self.query, self.attempt, int(self.stage)

    def to_bytes(self, key: Ed25519PrivateKey) -> bytes:
        numbers = (self.party, self.release, self.query, self.attempt, self.stage, len(self.answers))
        body = b"".join(
            [
                self.study,
                *(number.to_bytes(4, "little") for number in numbers),
                *map(write_answer, self.answers),
                len(self.message).to_bytes(8, "little"),
                self.message,
            ]
        )
        return _signed(QUESTION, body, key)

    @staticmethod
    def from_bytes(data: bytes, *, coordinator: bytes) -> Question:
        """Read a question from any bytes; `coordinator` is the coordinator's public key."""
        reader = _opened(data, QUESTION, coordinator, "question", "the coordinator of this study")
        study = reader.take(32)
        party, release, query, attempt, stage, count = (reader.number(4) for _ in range(6))
        if stage not in list(Stage):
            raise PeerError(f"the question is about step {stage}, which there is not")
        if count > _MOST_ANSWERS:
            raise PeerError(f"the question says that it has {count} answers, and there are at most {_MOST_ANSWERS}")
        answers = tuple(read_answer(reader) for _ in range(count))
        message = reader.take(reader.number(8))
        reader.finish()
        return Question(study, party, release, query, attempt, Stage(stage), answers, message)


@dataclass(frozen=True)
class Reply:
    """What a party answers: its message of the aggregation, or its own curve; or that it refuses, why is in its log.

    The body is empty in the last step, too.
    """

    question: bytes
    refused: bool
    body: bytes = b""

    def to_bytes(self, key: Ed25519PrivateKey) -> bytes:
        return _signed(REPLY, self.question + bytes([self.refused]) + self.body, key)

    @staticmethod
    def size(body: int) -> int:
        return len(REPLY) + SIGNATURE_BYTES + 32 + 1 + body

    @staticmethod
    def from_bytes(data: bytes, *, party: bytes) -> Reply:
        """Read a reply from any bytes; `party` is the party's public key."""
        reader = _opened(data, REPLY, party, "reply", "this party")
        question, refused = reader.take(32), reader.number(1)
        if refused > 1:
            raise PeerError("the reply neither answers nor refuses")
        return Reply(question, bool(refused), reader.take(reader.left))


def digest_of(question: bytes) -> bytes:
    return hashlib.sha256(question).digest()


def _signed(magic: bytes, body: bytes, key: Ed25519PrivateKey) -> bytes:
    return magic + key.sign(magic + body) + body


def _opened(data: bytes, magic: bytes, public: bytes, what: str, who: str) -> Reader:
    if not isinstance(data, bytes) or not data.startswith(magic):
        raise PeerError(f"this is no {what} of this version")
    if len(data) > LONGEST:
        raise PeerError(f"the {what} has more than {LONGEST} bytes")
    front = len(magic) + SIGNATURE_BYTES
    signature, body = data[len(magic) : front], data[front:]
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, magic + body)
    except (InvalidSignature, ValueError):
        raise PeerError(f"the {what} is not signed by {who}") from None
    return Reader(body, what)


def write_answer(answer: Answer) -> bytes:
    """An opened sum as bytes: how many added noise, how many shares make it whole, totals, shape and values."""
    totals: Sequence[int] = answer.totals or ()
    numbers = (answer.adding, answer.honest, len(totals), answer.values.ndim, *answer.values.shape)
    return b"".join(
        [
            *(number.to_bytes(4, "little") for number in numbers),
            *(total.to_bytes(8, "little") for total in totals),
            answer.values.astype("<i8", copy=False).tobytes(),
        ]
    )


def read_answer(reader: Reader) -> Answer:
    """The inverse of `write_answer`."""
    adding, honest, count, axes = (reader.number(4) for _ in range(4))
    if not 1 <= honest <= adding or count > _MOST_TOTALS or axes > _MOST_AXES:
        raise PeerError("an opened sum states numbers that none can have")
    shape = tuple(reader.number(4) for _ in range(axes))
    totals = tuple(reader.number(8) for _ in range(count))
    values = reader.array(prod(shape), "<i8").astype(np.int64)
    if not values.size:
        raise PeerError("an opened sum has no numbers")  # which numpy would give some shapes and not others
    values = values.reshape(shape)
    return Answer(values, totals or None, adding=adding, honest=honest)


def read_answers(data: bytes) -> tuple[Answer, ...]:
    reader = Reader(data, "list of opened sums")
    results = []
    while reader.left:
        results.append(read_answer(reader))
    return tuple(results)


# --- The aggregation of one measurement, on which every participant agrees alone


def settings_of(study: Study, release: int, step: Step, attempt: int) -> AggregationSettings:
    """What all participants of one attempt at a measurement agree on.

    All attempts at all measurements of a release have one release digest in common: a party confirms one set of parties
    under it, and no other.
    """
    query = step.query
    public = hashlib.sha256(public_bytes(query, study.unit.adjacency)).digest()
    place = (number(release), number(step.number), number(attempt))
    return study.aggregation.terms.settings(
        study=digest(HashDomain.STUDY_MEASUREMENT, study.digest, *place, public),
        release=release_digest(study, release),
        parties=[party.key for party in study.parties],
        server=study.coordinator,
        length=prod(shape_of(query)),
        totals=opened_totals(query, study.unit.adjacency),
    )
