"""Comparison keys of many clients: what all have in common, their bytes, and work on chunks of them."""

from __future__ import annotations

import os
import struct
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ogive.core.arrays import UInt8, UInt64
from ogive.core.checks import among, whole
from ogive.crypto.aes import SEED_BYTES, Block, Permutation, block_key
from ogive.crypto.field import P
from ogive.crypto.wire import STUDY_BYTES, Reader
from ogive.errors import ParameterError, PeerError

# --- What all keys of a study have in common
#
# A key is for a comparison x < alpha of numbers of L bits. Its tree has L - early levels, and then a leaf of 2^early
# values, which costs less than as many levels more.

MAX_BITS = 40
MAX_EARLY = 12


@dataclass(frozen=True)
class Group:
    """Where shares of values live: whole numbers modulo 2^32, 2^64 or the prime 2^61 - 1.

    A number stands for the group in the header of a batch; a value takes so many bits in memory and in bytes; a leaf
    replaces so many levels where nothing else is said.
    """

    name: str
    number: int
    modulus: int
    bits: int
    early: int

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of a value, little-endian."""
        return np.dtype("<u4" if self.bits == 32 else "<u8")

    @property
    def prime(self) -> np.uint64 | None:
        """The modulus of the field; None for a ring, whose numbers wrap by themselves."""
        return np.uint64(self.modulus) if self.name == "field" else None


GROUPS = {
    group.name: group
    for group in (
        Group("ring32", 1, 1 << 32, 32, 3),
        Group("ring64", 2, 1 << 64, 64, 2),
        Group("field", 3, P, 64, 2),
    )
}


@dataclass(frozen=True, kw_only=True)
class KeyShape:
    """Public shape of comparison keys.

    Args:
        group: "ring32" for counts of fewer than 2^31 records with their noise, "ring64", or "field" (modulo 2^61 - 1),
            the only one whose keys can be verified.
        bits: Numbers compared are in [0, 2^bits); from 1 to 40.
        early: Levels that the leaf replaces, from 0 to the smaller of bits and 12; None for the shortest
            keys (3 for ring32 and 2 otherwise, fewer for small domains).

    Raises:
        ParameterError: an argument is out of its range.
    """

    group: str
    bits: int
    early: int | None = None

    def __post_init__(self) -> None:
        among(self.group, "group", GROUPS)
        whole(self.bits, "bits", 1, MAX_BITS)
        if self.early is None:
            object.__setattr__(self, "early", min(self.arithmetic.early, self.bits - 1))
        most = min(self.bits, MAX_EARLY)
        whole(self.early, "early", 0, most)

    @property
    def arithmetic(self) -> Group:
        return GROUPS[self.group]

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of values and of their shares."""
        return self.arithmetic.dtype

    @property
    def modulus(self) -> int:
        """Shares add up modulo this."""
        return self.arithmetic.modulus

    @property
    def domain(self) -> int:
        """Numbers that can be compared: 2^bits."""
        return 1 << self.bits

    @property
    def levels(self) -> int:
        """Levels of the tree above the leaf."""
        return self.bits - self.leaf_bits

    @property
    def leaf_bits(self) -> int:
        """Low bits of a point that choose a value of the leaf: `early`, once it is known."""
        assert self.early is not None
        return self.early

    @property
    def leaf_values(self) -> int:
        """Values of a leaf."""
        return 1 << self.leaf_bits

    @property
    def per_block(self) -> int:
        """Values that one block of a leaf holds."""
        return 128 // self.arithmetic.bits

    @property
    def places(self) -> list[tuple[int, np.uint64]]:
        """Where each value of a block is: in which of its two words, and how far that is to be shifted right."""
        within = 64 // self.arithmetic.bits
        return [(value // within, np.uint64(value % within * 32)) for value in range(self.per_block)]

    @property
    def leaf_blocks(self) -> int:
        """Blocks that a whole leaf takes."""
        return -(-self.leaf_values // self.per_block)

    @property
    def level_bytes(self) -> int:
        """What one level of a key takes: seed correction, value correction, control bits."""
        return SEED_BYTES + self.dtype.itemsize + 1

    @property
    def key_bytes(self) -> int:
        """What one key takes: the seed of the root, the levels and the leaf."""
        return SEED_BYTES + self.levels * self.level_bytes + self.leaf_values * self.dtype.itemsize


# --- Batches of keys as bytes
#
#     batch  = header (44 bytes) | roots | levels | leaves
#     header = "OGK1" | group u8 | bits u8 | early u8 | 0 | number of keys u32 | digest of the study 32
#     roots  = a seed of 16 bytes a key
#     level  = seed corrections, 16 bytes a key | value corrections, 4 or 8 | control bits, 1
#     leaves = value corrections, 2^early a key
#
# All numbers are little-endian. Bytes that are accepted are evaluated without error, to something: whether it is what
# an honest client would have sent is for the servers to verify.

Values = NDArray[Any]

MAGIC = b"OGK1"
_WHAT = "batch of keys"
_COUNT = struct.Struct("<I")
HEADER_BYTES = len(MAGIC) + 4 + _COUNT.size + STUDY_BYTES
_SEED = np.dtype("<u8")


def front(shape: KeyShape, study: bytes, count: int) -> bytes:
    """The header of a batch of so many keys, fewer than 2^32."""
    if count >> 32:
        raise ParameterError(f"one batch holds fewer than 2^32 keys, got {count}")
    return MAGIC + _described(shape) + _COUNT.pack(count) + study


def _described(shape: KeyShape) -> bytes:
    return bytes([shape.arithmetic.number, shape.bits, shape.leaf_bits, 0])


def _numbers(data: UInt8, dtype: np.dtype[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """A copy that is aligned and can be written, which compiled passes read fastest."""
    return np.array(data).view(dtype).reshape(shape).astype(dtype.newbyteorder("="), copy=False)


def _check(batch: KeyBatch) -> None:
    """Raise PeerError for bits that must be clear, and for numbers outside the field."""
    for name, seeds in (("root", batch.roots), ("seed correction", batch.seeds)):
        if int(np.bitwise_or.reduce(seeds[..., 0], axis=None)) & 1:
            raise PeerError(f"the {_WHAT} has a {name} whose lowest bit is not clear")
    if batch.controls.max(initial=0) > 3:
        raise PeerError(f"the {_WHAT} has control bits beyond the two of a level")
    prime = batch.shape.arithmetic.prime
    if prime is not None:
        for name, values in (("level", batch.values), ("leaf", batch.leaves)):
            if values.max(initial=0) >= prime:
                raise PeerError(f"the {_WHAT} has a value of a {name} outside the field")


@dataclass(frozen=True, eq=False)
class KeyBatch:
    """Keys of n clients for one server; everything but the seeds of the roots is the same for both servers.

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
        """The batch as bytes, in the format above."""
        pieces = (np.ascontiguousarray(each, each.dtype.newbyteorder("<")).data for each in self.pieces())
        return b"".join([front(self.shape, self.study, len(self)), *pieces])

    @classmethod
    def from_bytes(cls, data: bytes | memoryview, *, shape: KeyShape, study: bytes) -> KeyBatch:
        """Read a batch of keys of this shape and study, believing nothing."""
        reader = Reader(data, _WHAT)
        reader.expect(MAGIC, "beginning")
        names = ("group", "number of bits", "depth of leaves", "reserved byte")
        for name, wanted in zip(names, _described(shape), strict=True):
            value = reader.number(1)
            if value != wanted:
                raise PeerError(f"the {_WHAT} has another {name} than the study: {value}, not {wanted}")
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
        batch = cls(
            shape,
            study,
            _numbers(roots, _SEED, (count, 2)),
            _numbers(seeds, _SEED, (shape.levels, count, 2)),
            _numbers(values, shape.dtype, (shape.levels, count)),
            np.array(controls),
            _numbers(leaves, shape.dtype, (count, shape.leaf_values)),
        )
        _check(batch)
        return batch

    def pieces(self) -> tuple[NDArray[Any], ...]:
        """All of every key, a row for every client, seed first, in the order of the format above."""
        parts: list[NDArray[Any]] = [self.roots]
        for level in range(self.shape.levels):
            parts += [self.seeds[level], self.values[level], self.controls[level]]
        return (*parts, self.leaves)


def permutations(shape: KeyShape, study: bytes) -> tuple[list[list[Permutation]], Permutation]:
    """AES under the keys of all blocks of each level, by number, and of the leaf; not for two threads at once."""
    blocks = (Block.LEFT, Block.RIGHT, Block.VALUES)
    levels = [[Permutation(block_key(study, level, block)) for block in blocks] for level in range(shape.levels)]
    return levels, Permutation(block_key(study, shape.levels, Block.LEAF))


# --- The same work on chunks of many keys, by several threads

Tool = TypeVar("Tool")
Result = TypeVar("Result")

_LEAST = 256


def in_chunks(
    work: Callable[[Tool, slice], Result],
    tool: Callable[[int], Tool],
    *,
    keys: int,
    chunk: int,
    threads: int | None,
    progress: Callable[[int], None] | None,
) -> Iterator[Result]:
    """Do some work on every chunk of keys; `tool(size)` makes what a thread needs for chunks of so many keys."""
    if threads is None:
        threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    whole(threads, "threads", 1)
    # few keys are divided among the threads
    chunk = min(chunk, max(-(-keys // threads), _LEAST))
    parts = [slice(start, min(start + chunk, keys)) for start in range(0, keys, chunk)]
    own = threading.local()

    def one(part: slice) -> Result:
        size = part.stop - part.start
        if getattr(own, "size", None) != size:
            own.tool, own.size = tool(size), size
        return work(own.tool, part)

    results = map(one, parts) if min(threads, len(parts)) < 2 else _by_threads(one, parts, threads)
    for part, result in zip(parts, results, strict=True):
        yield result
        if progress is not None:
            progress(part.stop)


def _by_threads(one: Callable[[slice], Result], parts: list[slice], threads: int) -> Iterator[Result]:
    pool = ThreadPoolExecutor(threads)
    try:
        # no more than are soon worked on: what was given up is not started, and results do not pile up
        ahead: deque[Future[Result]] = deque()
        for part in parts:
            ahead.append(pool.submit(one, part))
            if len(ahead) > 2 * threads:
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)
