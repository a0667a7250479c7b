"""What the aggregator tells everybody before each further pass: who is not there, and which pairs had begun.

From it everybody draws who meets whom anew: people who are there and were in fewer pairs than they agreed to. The seed
is drawn once it is known who is gone, or people could choose whom they meet by leaving; a person that is told lies
spends no more than it agreed to. The message is signed, and belongs to the study and to no pair.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from ogive.arrays import Bool, Int64
from ogive.crypto.channels import read_signed, sign
from ogive.crypto.twoparty import AGGREGATOR
from ogive.crypto.twoparty.messages import Step, read_bits, write_bits
from ogive.crypto.wire import SESSION_BYTES, Header, Inbox, Suite
from ogive.pairs.design import Design
from ogive.pairs.dropouts import met_anew
from ogive.runtime.pairs.study import PairsStudy

SEED_BYTES = 32
_KIND = max(Step) + 1
_SESSION = bytes(SESSION_BYTES)


@dataclass(frozen=True, eq=False)
class Departures:
    """Who is not there when a further pass begins.

    Fields:
        number: Of the pass; the first further one is 0.
        seed: 32 bytes, drawn after that.
        gone: Whether each user is not there, shape (users,).
        begun: Of each pair so far, whether it had begun, shape (pairs,).
    """

    number: int
    seed: bytes
    gone: Bool
    begun: Bool

    def pairs(self, study: PairsStudy, earlier: Int64) -> Int64:
        """The pairs of the pass, shape (new pairs, 2).

        Args:
            study: The study.
            earlier: All pairs so far, shape (pairs, 2).
        """
        free = free_pairs(study, earlier, self.begun)
        free[self.gone] = 0
        return met_anew(Design(study.design.users, earlier, study.design.between), free, seed=self.seed)

    def message(self, study: PairsStudy, *, receiver: int, key: Ed25519PrivateKey) -> bytes:
        """The message for one person.

        Args:
            study: The study.
            receiver: The person's number.
            key: The aggregator's.
        """
        place = _KIND + self.number
        header = Header(Suite.PAIRS, _KIND, study.digest, _SESSION, AGGREGATOR, receiver, round=place, sequence=place)
        body = self.seed + write_bits(np.concatenate([self.gone, self.begun]))
        return sign(header.message(body), key)


def free_pairs(study: PairsStudy, pairs: Int64, begun: Bool) -> Int64:
    """In how many more pairs each user may be, shape (users,): a pair that had begun counts as taken part in."""
    taken = np.bincount(pairs[begun].ravel(), minlength=study.design.users)
    return np.asarray(np.maximum(study.agreed - taken, 0))


class DeparturesReader:
    """Reads the messages in their order, each once, and knows all pairs so far.

    Args:
        study: The study.
        receiver: Number of who reads.
    """

    def __init__(self, study: PairsStudy, receiver: int) -> None:
        self._study = study
        self._inbox = Inbox(suite=Suite.PAIRS, study=study.digest, receiver=receiver, senders=[AGGREGATOR])
        self._pairs = study.design.pairs
        self._next = 0

    def read(self, data: bytes) -> tuple[Int64, int]:
        """The pairs of the pass, shape (new pairs, 2), and the number of the first of them.

        Raises:
            PeerError: it is not the aggregator's next message, or was received before.
        """
        users, first = self._study.design.users, len(self._pairs)
        header, body = read_signed(
            self._inbox, data, public=lambda _: self._study.aggregator, kind=_KIND, session=_SESSION,
            round=_KIND + self._next, longest=SEED_BYTES - (-(users + first) // 8),
        )  # fmt: skip
        bits = read_bits(body[SEED_BYTES:], users + first)
        self._inbox.mark(header)
        told = Departures(self._next, body[:SEED_BYTES], bits[:users], bits[users:])
        new = told.pairs(self._study, self._pairs)
        self._pairs = np.concatenate([self._pairs, new])
        self._next += 1
        return new, first
