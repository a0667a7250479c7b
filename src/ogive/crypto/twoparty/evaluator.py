"""What an evaluator computes in a session: from bodies of messages to bodies of messages.

    begin    -> its base transfers, where they are direct
    answer   to the garbler's base transfers -> its own and the extension
             to labels and tables -> its half

It learns nothing: the labels that it finds are uniform to it.
"""

from __future__ import annotations

import numpy as np

from ogive.arrays import Bool, UInt64
from ogive.crypto.garbling import GateKeys, evaluate
from ogive.crypto.garbling.wires import LABEL_BYTES, permute_bits
from ogive.crypto.transfer import BaseTransfers, correct_choices, extend_choices
from ogive.crypto.transfer.base import BaseReceiver
from ogive.crypto.transfer.extension import LABEL_BITS
from ogive.crypto.transfer.group import POINT_BYTES, Random
from ogive.crypto.twoparty.messages import Step, write_bits
from ogive.crypto.twoparty.settings import PairSettings
from ogive.crypto.wire import Reader


class Evaluator:
    """The evaluator, for one session.

    Args:
        settings: Of the pair.
        session: The session's 16 bytes, new to this party.
        bits: Its inputs, shape (wires,).
        random: Gives so many random bytes.
    """

    def __init__(self, settings: PairSettings, session: bytes, bits: Bool, random: Random) -> None:
        self.expected: tuple[Step, ...] = (Step.TRANSFER, Step.GARBLED) if settings.extended else (Step.GARBLED,)
        self._settings = settings
        self._session = session
        self._bits = bits
        self._transfers = BaseTransfers(random)
        self._chosen: BaseReceiver | None = None
        self._labels: UInt64 = np.zeros((0, 2), np.uint64)

    def begin(self) -> dict[Step, bytes]:
        if self._settings.extended:
            return {}
        self._chosen = self._transfers.receiver(self._session, self._bits.tolist())
        return {Step.TRANSFER: self._chosen.message}

    def answer(self, step: Step, body: bytes) -> dict[Step, bytes]:
        """Extend the garbler's base transfers, or evaluate.

        Raises:
            PeerError: the garbler's message is malformed.
        """
        assert step in self.expected
        if step is Step.TRANSFER:
            sender = self._transfers.sender(self._session, LABEL_BITS)
            columns, self._labels = extend_choices(sender.keys(body), self._bits)
            return {Step.EXTENSION: sender.message + columns}
        circuit, inputs = self._settings.circuit, self._bits.size
        reader = Reader(body, "garbled circuit")
        if self._chosen is not None:
            keys = self._chosen.keys(reader.take(POINT_BYTES * inputs))
            self._labels = correct_choices(keys, self._bits, reader.take(LABEL_BYTES * inputs))
        theirs = reader.array(2 * circuit.garbler_bits, "<u8").reshape(-1, 2)
        tables = reader.array(4 * circuit.ands, "<u8").reshape(-1, 1, 2, 2)
        reader.finish()
        held = np.concatenate([theirs, self._labels])[:, None]
        found = evaluate(self._settings.schedule, held, tables, GateKeys(self._session))
        return {Step.HALF: write_bits(permute_bits(found)[:, 0])}

    def erase(self) -> None:
        """Overwrite its values and labels."""
        self._bits.fill(False)
        self._labels = np.zeros((0, 2), np.uint64)
        self._chosen = None
