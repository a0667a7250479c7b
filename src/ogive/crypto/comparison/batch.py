"""Many keys of one server, level by level: everything but the seeds of the roots is the same for both servers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogive.arrays import UInt8, UInt64
from ogive.crypto.comparison.shape import KeyShape
from ogive.crypto.comparison.wire import Parts, Values, pack, unpack
from ogive.errors import ParameterError

__all__ = ["KeyBatch", "UInt8", "UInt64", "Values", "join"]


@dataclass(frozen=True, eq=False)
class KeyBatch:
    """Keys of n clients for one server.

    Fields:
        shape: Of every key.
        study: Digest of the study that they belong to, 32 bytes.
        roots: Seeds, shape (n, 2); what makes this server's keys differ from the other's.
        seeds: Seed corrections, shape (levels, n, 2).
        values: Value corrections, shape (levels, n), elements of the group.
        controls: Corrections of the control bits, shape (levels, n): bit 0 for the left child, bit 1 for the right.
        leaves: Corrections of the leaf, shape (n, leaf_values).
    """

    shape: KeyShape
    study: bytes
    roots: UInt64
    seeds: UInt64
    values: Values
    controls: UInt8
    leaves: Values

    def __len__(self) -> int:
        """Number of clients."""
        return len(self.roots)

    def __getitem__(self, chosen: slice | NDArray[Any]) -> KeyBatch:
        """Some of the keys: a slice (without a copy), or an array of indices or of truth values."""
        if isinstance(chosen, slice):
            seeds, values, controls = self.seeds[:, chosen], self.values[:, chosen], self.controls[:, chosen]
            return KeyBatch(self.shape, self.study, self.roots[chosen], seeds, values, controls, self.leaves[chosen])
        numbers: NDArray[np.intp] = np.arange(len(self))[chosen]
        # in memory level by level again, which indexing by an array does not promise
        return KeyBatch(
            self.shape,
            self.study,
            self.roots[numbers],
            np.take(self.seeds, numbers, axis=1),
            np.take(self.values, numbers, axis=1),
            np.take(self.controls, numbers, axis=1),
            self.leaves[numbers],
        )

    def to_bytes(self) -> bytes:
        """The batch as bytes, in the format of `wire`.

        Raises:
            ParameterError: it has 2^32 keys or more.
        """
        parts = Parts(self.roots, self.seeds, self.values, self.controls, self.leaves)
        return pack(self.shape, self.study, parts)

    @classmethod
    def from_bytes(cls, data: bytes | memoryview, *, shape: KeyShape, study: bytes) -> KeyBatch:
        """Read a batch, believing nothing.

        Args:
            data: Any bytes.
            shape: What keys of this study look like.
            study: Digest of the study, 32 bytes.

        Raises:
            PeerError: the bytes are no batch of keys of this study; one line says why.
        """
        return cls(shape, study, *unpack(data, shape, study))

    def pieces(self) -> tuple[NDArray[Any], ...]:
        """All of every key, a row for every client, seed first, in the order of `wire`."""
        parts: list[NDArray[Any]] = [self.roots]
        for level in range(self.shape.levels):
            parts += [self.seeds[level], self.values[level], self.controls[level]]
        return (*parts, self.leaves)


def join(batches: Sequence[KeyBatch]) -> KeyBatch:
    """Put the keys of several batches of one study and server into one, in their order.

    Raises:
        ParameterError: there are none, or they differ in shape or study.
    """
    if not batches:
        raise ParameterError("`batches` must have at least one batch of keys")
    first = batches[0]
    if any((batch.shape, batch.study) != (first.shape, first.study) for batch in batches):
        raise ParameterError("`batches` must be of one shape and one study")
    return KeyBatch(
        first.shape,
        first.study,
        np.concatenate([batch.roots for batch in batches]),
        np.concatenate([batch.seeds for batch in batches], axis=1),
        np.concatenate([batch.values for batch in batches], axis=1),
        np.concatenate([batch.controls for batch in batches], axis=1),
        np.concatenate([batch.leaves for batch in batches]),
    )
