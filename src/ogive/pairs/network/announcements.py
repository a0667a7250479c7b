"""What the aggregator tells everybody after the design was gone through: who has left, and which pairs had begun.

From it everybody draws who meets whom again. The message is signed, and belongs to the study and to no pair.
"""

from __future__ import annotations

import numpy as np
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from ogive.crypto.channels import read_signed, sign
from ogive.crypto.twoparty import AGGREGATOR
from ogive.crypto.twoparty.messages import Step, read_bits, write_bits
from ogive.crypto.wire import SESSION_BYTES, Header, Inbox, Suite
from ogive.pairs.network.study import Bool, PairsStudy

_KIND = max(Step) + 1
_SESSION = bytes(SESSION_BYTES)


def write_departures(study: PairsStudy, gone: Bool, begun: Bool, *, receiver: int, key: Ed25519PrivateKey) -> bytes:
    """The message for one person.

    Args:
        study: The study.
        gone: Whether each user has left, shape (users,).
        begun: Of each pair of the design, whether it had begun, shape (pairs,).
        receiver: The person's number.
        key: The aggregator's.
    """
    header = Header(Suite.PAIRS, _KIND, study.digest, _SESSION, AGGREGATOR, receiver, round=_KIND, sequence=_KIND)
    return sign(header.message(write_bits(np.concatenate([gone, begun]))), key)


class DeparturesReader:
    """Reads the message once.

    Args:
        study: The study.
        receiver: Number of who reads.
    """

    def __init__(self, study: PairsStudy, receiver: int) -> None:
        self._study = study
        self._inbox = Inbox(suite=Suite.PAIRS, study=study.digest, receiver=receiver, senders=[AGGREGATOR])

    def read(self, data: bytes) -> tuple[Bool, Bool]:
        """Who has left, shape (users,), and which pairs of the design had begun, shape (pairs,).

        Raises:
            PeerError: it is not the aggregator's message, or was received before.
        """
        users, pairs = self._study.design.users, len(self._study.design)
        header, body = read_signed(
            self._inbox, data, public=lambda _: self._study.aggregator, kind=_KIND, session=_SESSION, round=_KIND,
            longest=-(-(users + pairs) // 8),
        )  # fmt: skip
        bits = read_bits(body, users + pairs)
        self._inbox.mark(header)
        return bits[:users], bits[users:]
