"""Labels of wires: two for every wire and pair, one for each value, that differ by the secret of the pair's garbler.

The label of 0 is called the zero label; that of 1 is the zero label xor delta. The lowest bit of delta is 1, so that
the lowest bit of a label, its permute bit, is the value of the wire hidden by the permute bit of the zero label.
"""

from __future__ import annotations

import numpy as np

from ogive.arrays import Bool, UInt64
from ogive.crypto.garbling.passes import choose_labels
from ogive.crypto.streams import WordStream
from ogive.errors import ParameterError

LABEL_BYTES = 16


def fresh_deltas(pairs: int, stream: WordStream) -> UInt64:
    """A secret for each pair, uniform but for its lowest bit, which is 1; shape (pairs, 2)."""
    deltas = stream.words(2 * pairs).reshape(pairs, 2)
    deltas[:, 0] |= np.uint64(1)
    return deltas


def fresh_zeros(wires: int, pairs: int, stream: WordStream) -> UInt64:
    """Uniform zero labels; shape (wires, pairs, 2)."""
    return stream.words(2 * wires * pairs).reshape(wires, pairs, 2)


def labels_of(bits: Bool, zeros: UInt64, deltas: UInt64) -> UInt64:
    """The labels of values.

    Args:
        bits: The values; shape (wires, pairs).
        zeros: Zero labels of the wires; shape (wires, pairs, 2).
        deltas: The garbler's secrets; shape (pairs, 2).

    Returns:
        Shape (wires, pairs, 2).

    Raises:
        ParameterError: shapes do not fit.
    """
    check_shape("zero labels", zeros, (*bits.shape, 2))
    check_shape("secrets", deltas, (bits.shape[1], 2))
    labels = np.empty(zeros.shape, np.uint64)
    choose_labels(np.ascontiguousarray(bits), zeros, deltas, labels)
    return labels


def check_shape(name: str, array: UInt64, shape: tuple[int, ...]) -> None:
    """Refuse an array of another shape, for compiled passes look at no bounds.

    Raises:
        ParameterError: it has another shape.
    """
    if array.shape != shape:
        raise ParameterError(f"the {name} must have shape {shape}, got {array.shape}")


def permute_bits(labels: UInt64) -> Bool:
    """The lowest bit of each label, shape (wires, pairs); xor those of the zero labels they are the values."""
    return (labels[:, :, 0] & np.uint64(1)).astype(np.bool_)
