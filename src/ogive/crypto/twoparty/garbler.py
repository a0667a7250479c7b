"""What a garbler computes in a session: from bodies of messages to bodies of messages.

    begin    -> its base transfers, where they are extended
    answer   to the evaluator's transfers -> its half, labels and tables, corrections where transfers are direct

It learns nothing: what it is sent does not depend on any output.
"""

from __future__ import annotations

import numpy as np

from ogive.arrays import Bool, UInt64
from ogive.crypto.garbling import GateKeys, garble
from ogive.crypto.garbling.wires import fresh_deltas, fresh_zeros, labels_of, permute_bits
from ogive.crypto.streams import SEED_BYTES, WordStream
from ogive.crypto.transfer import BaseTransfers, correct_zeros, extend_zeros
from ogive.crypto.transfer.base import BaseReceiver
from ogive.crypto.transfer.extension import LABEL_BITS, bits_of
from ogive.crypto.transfer.group import POINT_BYTES, Random
from ogive.crypto.twoparty.messages import Step, write_bits
from ogive.crypto.twoparty.settings import PairSettings
from ogive.crypto.wire import Reader


class Garbler:
    """The garbler, for one session.

    Args:
        settings: Of the pair.
        session: The session's 16 bytes, new to this party.
        bits: Its inputs, shape (wires,).
        random: Gives so many random bytes.
    """

    def __init__(self, settings: PairSettings, session: bytes, bits: Bool, random: Random) -> None:
        self.expected: tuple[Step, ...] = (Step.EXTENSION,) if settings.extended else (Step.TRANSFER,)
        self._settings = settings
        self._session = session
        self._bits = bits
        self._stream = WordStream(random(SEED_BYTES))
        self._delta = fresh_deltas(1, self._stream)
        self._transfers = BaseTransfers(random)
        self._chosen: BaseReceiver | None = None

    def begin(self) -> dict[Step, bytes]:
        if not self._settings.extended:
            return {}
        self._chosen = self._transfers.receiver(self._session, bits_of(self._delta[0]))
        return {Step.TRANSFER: self._chosen.message}

    def answer(self, step: Step, body: bytes) -> dict[Step, bytes]:
        """Garble.

        Raises:
            PeerError: the evaluator's message is malformed.
        """
        assert step in self.expected
        direct, theirs = self._evaluator_zeros(body)
        circuit = self._settings.circuit
        own = fresh_zeros(circuit.garbler_bits, 1, self._stream)
        zeros = np.concatenate([own, theirs[:, None]])
        tables, ends = garble(self._settings.schedule, zeros, self._delta, GateKeys(self._session))
        labels = labels_of(self._bits[:, None], own, self._delta)
        garbled = b"".join([direct, labels.astype("<u8").tobytes(), tables.astype("<u8").tobytes()])
        half = write_bits(permute_bits(ends)[:, 0])
        for secret in (zeros, own, ends):
            secret.fill(0)
        return {Step.HALF: half, Step.GARBLED: garbled}

    def erase(self) -> None:
        """Overwrite its values and its secret."""
        self._bits.fill(False)
        self._delta.fill(0)
        del self._stream, self._chosen

    def _evaluator_zeros(self, body: bytes) -> tuple[bytes, UInt64]:
        """What the evaluator needs to find labels of its inputs, and their zero labels, shape (inputs, 2)."""
        inputs, delta = self._settings.circuit.evaluator_bits, self._delta[0]
        if self._chosen is None:
            sender = self._transfers.sender(self._session, inputs)
            corrections, zeros = correct_zeros(sender.keys(body), delta)
            return sender.message + corrections, zeros
        reader = Reader(body, "extension")
        keys = self._chosen.keys(reader.take(POINT_BYTES * LABEL_BITS))
        return b"", extend_zeros(keys, delta, reader.take(reader.left), inputs=inputs)
