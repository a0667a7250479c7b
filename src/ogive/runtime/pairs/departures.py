"""What the aggregator tells everybody after the design was gone through: who has left, and which pairs had begun.

From it everybody draws who meets whom again. The seed is drawn once it is known who is gone, or people could choose
whom they meet by leaving; a person that is told lies spends no more than it agreed to. The message is signed, and
belongs to the study and to no pair.
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
from ogive.errors import ParameterError
from ogive.pairs.design import Design
from ogive.pairs.dropouts import paired_again
from ogive.runtime.pairs.study import PairsStudy

SEED_BYTES = 32
_KIND = max(Step) + 1
_SESSION = bytes(SESSION_BYTES)


@dataclass(frozen=True, eq=False)
class Departures:
    """Who has left.

    Fields:
        seed: 32 bytes, drawn after that.
        gone: Whether each user has left, shape (users,).
        begun: Of each pair of the design, whether it had begun, shape (pairs,).
    """

    seed: bytes
    gone: Bool
    begun: Bool

    def pairs(self, design: Design) -> Int64:
        """The pairs of those who lost a partner before their pair had begun, shape (new pairs, 2)."""
        kept = int(np.count_nonzero(~self.gone[design.pairs].any(axis=1)))
        try:
            return paired_again(design, self.gone, seed=self.seed, begun=self.begun).pairs[kept:]
        except ParameterError:  # no pair is left, old or new
            return np.empty((0, 2), np.int64)

    def message(self, study: PairsStudy, *, receiver: int, key: Ed25519PrivateKey) -> bytes:
        """The message for one person.

        Args:
            study: The study.
            receiver: The person's number.
            key: The aggregator's.
        """
        header = Header(Suite.PAIRS, _KIND, study.digest, _SESSION, AGGREGATOR, receiver, round=_KIND, sequence=_KIND)
        body = self.seed + write_bits(np.concatenate([self.gone, self.begun]))
        return sign(header.message(body), key)


class DeparturesReader:
    """Reads the message once.

    Args:
        study: The study.
        receiver: Number of who reads.
    """

    def __init__(self, study: PairsStudy, receiver: int) -> None:
        self._study = study
        self._inbox = Inbox(suite=Suite.PAIRS, study=study.digest, receiver=receiver, senders=[AGGREGATOR])

    def read(self, data: bytes) -> Departures:
        """Who has left.

        Raises:
            PeerError: it is not the aggregator's message, or was received before.
        """
        users, pairs = self._study.design.users, len(self._study.design)
        header, body = read_signed(
            self._inbox, data, public=lambda _: self._study.aggregator, kind=_KIND, session=_SESSION, round=_KIND,
            longest=SEED_BYTES - (-(users + pairs) // 8),
        )  # fmt: skip
        bits = read_bits(body[SEED_BYTES:], users + pairs)
        self._inbox.mark(header)
        return Departures(body[:SEED_BYTES], bits[:users], bits[users:])
