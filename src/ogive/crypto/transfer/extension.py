"""Labels of the evaluator's inputs by oblivious transfer: the garbler gets zero labels, the evaluator its bits'.

Many inputs take 128 base transfers with roles reversed, in which the garbler chooses the bits of its secret, and one
message of the evaluator, 16 bytes an input:

    evaluator   T[i] = stream of key 0, U[i] = T[i] ^ stream of key 1 ^ its bits        sends U
    garbler     Q[i] = stream of the key of bit i of delta, ^ U[i] if that is 1

Row i belongs to bit i of labels: column j of Q is the zero label of input j, and that of T the label of the evaluator's
bit. Fewer than 128 inputs take a base transfer each, in which the evaluator chooses its bits, and one message of the
garbler, 16 bytes an input, that makes the two keys differ by delta.

An evaluator that uses other bits in other rows learns bits of delta: it has to follow the protocol. Keys are for one
extension, and delta for one pair and session.

Source:
    Ishai, Kilian, Nissim and Petrank 2003; Asharov, Lindell, Schneider and Zohner 2013; `crypto.md`, section 7.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ogive.arrays import Bool, UInt64
from ogive.crypto.garbling.wires import LABEL_BYTES
from ogive.crypto.streams import words
from ogive.crypto.transfer.base import KeyPair
from ogive.crypto.wire import Reader

LABEL_BITS = 8 * LABEL_BYTES
"""Base transfers of an extension; with fewer inputs than this, direct transfers take fewer."""


def bits_of(delta: UInt64) -> list[int]:
    """The 128 bits of a secret, shape (2,), which the garbler chooses in the base transfers."""
    return np.unpackbits(delta.astype("<u8").view(np.uint8), bitorder="little").tolist()


def extend_choices(keys: Sequence[KeyPair], choices: Bool) -> tuple[bytes, UInt64]:
    """The evaluator's side of an extension.

    Args:
        keys: Of 128 base transfers that it sent.
        choices: Its bits; shape (inputs,).

    Returns:
        The message for the garbler, and the labels of the bits, shape (inputs, 2).
    """
    width = _words_of(choices.size)
    padded = np.zeros(64 * width, np.bool_)
    padded[: choices.size] = choices
    row = np.packbits(padded, bitorder="little").view("<u8")
    kept, other = (np.stack([words(pair[side], width) for pair in keys]) for side in (0, 1))
    return (kept ^ other ^ row).astype("<u8").tobytes(), _columns(kept, choices.size)


def extend_zeros(keys: Sequence[bytes], delta: UInt64, message: bytes, *, inputs: int) -> UInt64:
    """The garbler's side of an extension.

    Args:
        keys: Of 128 base transfers in which it chose the bits of its secret.
        delta: The secret; shape (2,).
        message: The evaluator's.
        inputs: How many inputs the evaluator has.

    Returns:
        Zero labels of its inputs, shape (inputs, 2).

    Raises:
        PeerError: the message has not the length of so many inputs.
    """
    width = _words_of(inputs)
    reader = Reader(message, "message of the extension")
    sent = reader.array(LABEL_BITS * width, "<u8").reshape(LABEL_BITS, width)
    reader.finish()
    own = np.stack([words(key, width) for key in keys])
    chosen = np.array(bits_of(delta), np.bool_)[:, None]
    return _columns(own ^ np.where(chosen, sent, np.uint64(0)), inputs)


def correct_zeros(keys: Sequence[KeyPair], delta: UInt64) -> tuple[bytes, UInt64]:
    """The garbler's side of direct transfers, one for each input of the evaluator.

    Args:
        keys: Of base transfers that it sent.
        delta: Its secret; shape (2,).

    Returns:
        The message for the evaluator, and zero labels of its inputs, shape (inputs, 2).
    """
    zeros, ones = (_labels([pair[side] for pair in keys]) for side in (0, 1))
    return (zeros ^ ones ^ delta).astype("<u8").tobytes(), zeros


def correct_choices(keys: Sequence[bytes], choices: Bool, message: bytes) -> UInt64:
    """The evaluator's side of direct transfers.

    Args:
        keys: Of base transfers in which it chose its bits.
        choices: Its bits; shape (inputs,).
        message: The garbler's.

    Returns:
        The labels of its bits, shape (inputs, 2).

    Raises:
        PeerError: the message has not the length of so many inputs.
    """
    reader = Reader(message, "message of the transfer")
    corrections = reader.array(2 * choices.size, "<u8").reshape(-1, 2)
    reader.finish()
    return _labels(keys) ^ np.where(choices[:, None], corrections, np.uint64(0))


def _words_of(inputs: int) -> int:
    """Words of a row, whose bits are a multiple of 128."""
    return -(-inputs // LABEL_BITS) * 2


def _labels(keys: Sequence[bytes]) -> UInt64:
    return np.frombuffer(b"".join(keys), "<u8").reshape(-1, 2)


def _columns(rows: UInt64, count: int) -> UInt64:
    """The first columns of 128 rows of bits as labels."""
    bits = np.unpackbits(rows.astype("<u8").view(np.uint8), axis=1, count=count, bitorder="little")
    return np.packbits(np.ascontiguousarray(bits.T), axis=1, bitorder="little").view("<u8")
