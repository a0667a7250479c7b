"""Batches of keys as bytes.

    batch  = header (44 bytes) | roots | levels | leaves
    header = "OGK1" | group u8 | bits u8 | early u8 | 0 | number of keys u32 | digest of the study 32
    roots  = a seed of 16 bytes a key
    level  = seed corrections, 16 bytes a key | value corrections, 4 or 8 | control bits, 1
    leaves = value corrections, 2^early a key

All numbers are little-endian. Bytes that are accepted are evaluated without error, to something: whether it is what an
honest client would have sent is for the servers to verify.
"""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ogive.arrays import UInt8, UInt64
from ogive.crypto.comparison.shape import SEED_BYTES, KeyShape
from ogive.crypto.wire import STUDY_BYTES, Reader
from ogive.errors import ParameterError, PeerError

Values = NDArray[Any]

MAGIC = b"OGK1"
_WHAT = "batch of keys"
_COUNT = struct.Struct("<I")
HEADER_BYTES = len(MAGIC) + 4 + _COUNT.size + STUDY_BYTES
_SEED, _CONTROL = np.dtype("<u8"), np.dtype("u1")


class Parts(NamedTuple):
    """The arrays of a batch, as its fields."""

    roots: UInt64
    seeds: UInt64
    values: Values
    controls: UInt8
    leaves: Values


def pack(shape: KeyShape, study: bytes, parts: Parts) -> bytes:
    """A batch as bytes.

    Raises:
        ParameterError: it has 2^32 keys or more.
    """
    count = len(parts.roots)
    packed: list[bytes | memoryview] = [front(shape, study, count), _packed(parts.roots, _SEED)]
    for level in range(shape.levels):
        packed.append(_packed(parts.seeds[level], _SEED))
        packed.append(_packed(parts.values[level], shape.dtype))
        packed.append(_packed(parts.controls[level], _CONTROL))
    packed.append(_packed(parts.leaves, shape.dtype))
    return b"".join(packed)


def front(shape: KeyShape, study: bytes, count: int) -> bytes:
    """The header of a batch of so many keys.

    Raises:
        ParameterError: they are 2^32 or more.
    """
    if count >> 32:
        raise ParameterError(f"one batch holds fewer than 2^32 keys, got {count}")
    return MAGIC + _described(shape) + _COUNT.pack(count) + study


def unpack(data: bytes | memoryview, shape: KeyShape, study: bytes) -> Parts:
    """The arrays of a batch of that shape and study, in memory that can be written.

    Raises:
        PeerError: the bytes are no such batch; one line says why.
    """
    reader = Reader(data, _WHAT)
    reader.expect(MAGIC, "beginning")
    names = ("group", "number of bits", "depth of leaves", "reserved byte")
    for name, wanted in zip(names, _described(shape), strict=True):
        found = reader.number(1)
        if found != wanted:
            raise PeerError(f"the {_WHAT} has another {name} than the study: {found}, not {wanted}")
    count = reader.number(_COUNT.size)
    reader.expect(study, "study")
    if reader.left != count * shape.key_bytes:
        raise PeerError(
            f"the {_WHAT} says that it has {count} keys, of {count * shape.key_bytes} bytes, and has {reader.left}"
        )
    body = np.frombuffer(data, np.uint8, offset=HEADER_BYTES)
    roots, rest = np.split(body, [count * SEED_BYTES])
    levels, leaves = np.split(rest, [shape.levels * count * shape.level_bytes])
    columns = [count * SEED_BYTES, count * (SEED_BYTES + shape.dtype.itemsize)]
    seeds, values, controls = np.split(levels.reshape(shape.levels, count * shape.level_bytes), columns, axis=1)
    parts = Parts(
        _numbers(roots, _SEED, (count, 2)),
        _numbers(seeds, _SEED, (shape.levels, count, 2)),
        _numbers(values, shape.dtype, (shape.levels, count)),
        np.array(controls),
        _numbers(leaves, shape.dtype, (count, shape.leaf_values)),
    )
    _check(parts, shape.arithmetic.prime)
    return parts


def _described(shape: KeyShape) -> bytes:
    return bytes([shape.arithmetic.number, shape.bits, shape.leaf_bits, 0])


def _packed(array: NDArray[Any], dtype: np.dtype[Any]) -> memoryview:
    return np.ascontiguousarray(array, dtype=dtype).data


def _numbers(data: UInt8, dtype: np.dtype[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """A copy that is aligned and can be written, which compiled passes read fastest."""
    return np.array(data).view(dtype).reshape(shape).astype(dtype.newbyteorder("="), copy=False)


def _check(parts: Parts, prime: np.uint64 | None) -> None:
    """Raise PeerError for bits that must be clear, and for numbers outside the field."""
    for name, seeds in (("root", parts.roots), ("seed correction", parts.seeds)):
        if int(np.bitwise_or.reduce(seeds[..., 0], axis=None)) & 1:
            raise PeerError(f"the {_WHAT} has a {name} whose lowest bit is not clear")
    if parts.controls.max(initial=0) > 3:
        raise PeerError(f"the {_WHAT} has control bits beyond the two of a level")
    if prime is not None:
        for name, values in (("level", parts.values), ("leaf", parts.leaves)):
            if values.max(initial=0) >= prime:
                raise PeerError(f"the {_WHAT} has a value of a {name} outside the field")
