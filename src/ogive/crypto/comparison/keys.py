"""Comparison keys of many clients: what all have in common, their bytes, work on chunks of them, and new pairs."""

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
from numpy.typing import ArrayLike, NDArray

from ogive.core.arrays import UInt8, UInt64
from ogive.core.checks import among, whole
from ogive.core.compiling import njit
from ogive.crypto.domains import SEED_BYTES, Block, Blocks, Permutation, Random, block_key, words
from ogive.crypto.field import P, add, reduce, subtract
from ogive.crypto.wire import STUDY_BYTES, Reader, check_study
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

    A number stands for the group in the header of a batch; a value has `bits` in memory and in bytes; a leaf
    replaces `early` levels by default.
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
    for group in (Group("ring32", 1, 1 << 32, 32, 3), Group("ring64", 2, 1 << 64, 64, 2), Group("field", 3, P, 64, 2))
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
        return self.bits - self.leaf_bits

    @property
    def leaf_bits(self) -> int:
        """Low bits of a point that choose a value of the leaf: `early`, once it is known."""
        assert self.early is not None
        return self.early

    @property
    def leaf_values(self) -> int:
        return 1 << self.leaf_bits

    @property
    def per_block(self) -> int:
        return 128 // self.arithmetic.bits

    @property
    def places(self) -> list[tuple[int, np.uint64]]:
        """Where each value of a block is: in which of its two words, and how far that is to be shifted right."""
        within = 64 // self.arithmetic.bits
        return [(value // within, np.uint64(value % within * 32)) for value in range(self.per_block)]

    @property
    def leaf_blocks(self) -> int:
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
    """The header of a batch of keys, fewer than 2^32."""
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
        pieces = (np.ascontiguousarray(each, each.dtype.newbyteorder("<")).data for each in self.pieces())
        return b"".join([front(self.shape, self.study, len(self)), *pieces])

    @classmethod
    def from_bytes(cls, data: bytes | memoryview, *, shape: KeyShape, study: bytes) -> KeyBatch:
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
    """Do some work on every chunk of keys; `tool(size)` makes what a thread needs for chunks of `size` keys."""
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


# --- Pairs of comparison keys for many clients at once
#
# A client makes its own pair; an organization makes those of all its records. The number compared and the payload are
# in neither key alone.
#
# Source:
#     Boyle, Gilboa and Ishai 2015; Boyle et al. 2021.

# --- Sums and differences in a group, for compiled loops
#
# Rings wrap by themselves, modulo 2^64 here and modulo 2^32 once they are stored; given None, compilers drop the rest.


@njit(nogil=True)
def plus(x: Any, y: Any, prime: Any) -> Any:
    """The sum of two elements."""
    if prime is None:
        return x + y
    return add(x, y)


@njit(nogil=True)
def minus(x: Any, y: Any, prime: Any) -> Any:
    """The difference x - y of two elements."""
    if prime is None:
        return x - y
    return subtract(x, y)


@njit(nogil=True)
def reduced(word: Any, prime: Any) -> Any:
    """A word of a block as an element."""
    if prime is None:
        return word
    return reduce(word)


@njit(nogil=True, steps=lambda s, *rest: s.size)
def flip_high(s: UInt64, bits: np.uint64, out: UInt64) -> None:
    """Seeds for a block of the leaf: `bits` are flipped in the high words."""
    for i in range(s.size // 2):
        out[2 * i] = s[2 * i]
        out[2 * i + 1] = s[2 * i + 1] ^ bits


# --- Passes that choose corrections, from both servers' encrypted seeds
#
# Off the path of alpha both servers must reach the same seeds, control bits and values; on it their control bits
# differ.
#
# Arrays of seeds `s` and of encrypted blocks hold two words for each of server 0's keys, and then for each of server
# 1's. `t` are control bits of server 0, of which server 1 has the opposite. `missing` is value 1 less value 0 on the
# path so far. Of a block of values `v`, the left side's begin, and the right side's are in word `word` shifted right by
# `shift`. The bit of `alphas` at `position` is where the path turns.
#
# Loops are short and read few arrays, so that compilers use vectors. They run uncompiled for a client's own key.

_ZERO, _ONE = np.uint64(0), np.uint64(1)
_ALL, _CLEAR = np.uint64(2**64 - 1), np.uint64(2**64 - 2)

STEPS_A_LEVEL, STEPS_A_BLOCK = 100, 50
"""Steps of uncompiled loops that a key takes at each level, and for each block of its leaf."""


@njit(nogil=True, steps=lambda s, *rest: STEPS_A_LEVEL * (s.size // 4))
def correct_level(
    s: UInt64, t: UInt8, missing: UInt64, left: UInt64, right: UInt64, v: UInt64,
    alphas: UInt64, position: np.uint64, payloads: UInt64, word: int, shift: np.uint64, prime: Any,
    cs: UInt64, cw: Values, ct: UInt8,
) -> None:  # fmt: skip
    """Choose the corrections of a level, and walk one level down the path of alpha.

    `s`, `t` and `missing` are replaced by those of the next level; `cs`, `cw` and `ct` receive the corrections.
    """
    n = t.size
    s_0, s_1, left_0, left_1 = s[: 2 * n], s[2 * n : 4 * n], left[: 2 * n], left[2 * n : 4 * n]
    right_0, right_1, v_0, v_1 = right[: 2 * n], right[2 * n : 4 * n], v[: 2 * n], v[2 * n : 4 * n]
    _values(s_0, s_1, v_0, v_1, t, missing, alphas, position, payloads, word, shift, prime, cw)
    _corrections(s_0, s_1, left_0, left_1, right_0, right_1, alphas, position, cs, ct)
    before = t.copy()
    _controls(s_0, t, left_0, right_0, alphas, position, ct)
    _seeds(s_0, left_0, right_0, before, _ZERO, alphas, position, cs)
    _seeds(s_1, left_1, right_1, before, _ALL, alphas, position, cs)


@njit(nogil=True)
def _select(choice: np.uint64, zero: np.uint64, one: np.uint64) -> np.uint64:
    """`zero` where choice is 0, `one` where all its bits are set."""
    return zero ^ (choice & (zero ^ one))


@njit(nogil=True)
def _values(
    s_0: UInt64, s_1: UInt64, v_0: UInt64, v_1: UInt64, t: UInt8, missing: UInt64, alphas: UInt64, position: np.uint64,
    payloads: UInt64, word: int, shift: np.uint64, prime: Any, cw: Values,
) -> None:  # fmt: skip
    other_s_0, other_s_1, other_v_0, other_v_1 = s_0[word:], s_1[word:], v_0[word:], v_1[word:]
    for i in range(t.size):
        turn = _ZERO - ((alphas[i] >> position) & _ONE)
        left_0, left_1 = reduced(v_0[2 * i] ^ s_0[2 * i], prime), reduced(v_1[2 * i] ^ s_1[2 * i], prime)
        right_0 = reduced((other_v_0[2 * i] ^ other_s_0[2 * i]) >> shift, prime)
        right_1 = reduced((other_v_1[2 * i] ^ other_s_1[2 * i]) >> shift, prime)
        # off the path the left child has the payload: points there are below alpha
        lost = minus(_select(turn, right_1, left_1), _select(turn, right_0, left_0), prime)
        lost = plus(lost, turn & payloads[i], prime)
        stays = minus(_select(turn, left_0, right_0), _select(turn, left_1, right_1), prime)
        correction = minus(lost, missing[i], prime)
        missing[i] = plus(stays, lost, prime)
        cw[i] = _select(_ZERO - np.uint64(t[i]), minus(_ZERO, correction, prime), correction)


@njit(nogil=True)
def _corrections(
    s_0: UInt64, s_1: UInt64, left_0: UInt64, left_1: UInt64, right_0: UInt64, right_1: UInt64,
    alphas: UInt64, position: np.uint64, cs: UInt64, ct: UInt8,
) -> None:  # fmt: skip
    for i in range(ct.size):
        bit = (alphas[i] >> position) & _ONE
        turn = _ZERO - bit
        both = s_0[2 * i] ^ s_1[2 * i]
        left, right = left_0[2 * i] ^ left_1[2 * i] ^ both, right_0[2 * i] ^ right_1[2 * i] ^ both
        high_left, high_right = left_0[2 * i + 1] ^ left_1[2 * i + 1], right_0[2 * i + 1] ^ right_1[2 * i + 1]
        cs[2 * i] = _select(turn, right, left) & _CLEAR
        cs[2 * i + 1] = _select(turn, high_right, high_left) ^ s_0[2 * i + 1] ^ s_1[2 * i + 1]
        ct[i] = np.uint8(((left ^ bit ^ _ONE) & _ONE) | (((right ^ bit) & _ONE) << _ONE))


@njit(nogil=True)
def _controls(s: UInt64, t: UInt8, left: UInt64, right: UInt64, alphas: UInt64, position: np.uint64, ct: UInt8) -> None:
    for i in range(t.size):
        bit = (alphas[i] >> position) & _ONE
        stays = _select(_ZERO - bit, left[2 * i], right[2 * i]) ^ s[2 * i]
        t[i] = np.uint8((stays ^ (np.uint64(t[i]) & (np.uint64(ct[i]) >> bit))) & _ONE)


@njit(nogil=True)
def _seeds(
    s: UInt64,
    left: UInt64,
    right: UInt64,
    t: UInt8,
    opposite: np.uint64,
    alphas: UInt64,
    position: np.uint64,
    cs: UInt64,
) -> None:
    for i in range(t.size):
        turn = _ZERO - ((alphas[i] >> position) & _ONE)
        mask = (_ZERO - np.uint64(t[i])) ^ opposite
        stays = _select(turn, left[2 * i], right[2 * i]) ^ s[2 * i]
        high = _select(turn, left[2 * i + 1], right[2 * i + 1]) ^ s[2 * i + 1]
        s[2 * i] = (stays & _CLEAR) ^ (mask & cs[2 * i])
        s[2 * i + 1] = high ^ (mask & cs[2 * i + 1])


@njit(nogil=True, steps=lambda s, *rest: STEPS_A_BLOCK * (s.size // 4))
def correct_leaf(
    s: UInt64, t: UInt8, missing: UInt64, v: UInt64, low: UInt64, first: int, payloads: UInt64, prime: Any, leaf: Values
) -> None:
    """Choose the corrections of one block of the leaf, whose values are numbered from `first` on.

    `low` are the low bits of alpha, `s` what was encrypted to `v`; `leaf`, shape (n, values of the leaf), receives the
    corrections.
    """
    n, width = t.size, leaf.itemsize
    for value in range(first, min(first + 16 // width, leaf.shape[1])):
        word, shift = (value - first) * width // 8, np.uint64((value - first) * width % 8 * 8)
        s_0, s_1, v_0, v_1 = s[word : 2 * n], s[2 * n + word : 4 * n], v[word : 2 * n], v[2 * n + word : 4 * n]
        out, bound = leaf[:, value], np.uint64(value)
        for i in range(n):
            result = reduced((v_1[2 * i] ^ s_1[2 * i]) >> shift, prime)
            result = minus(result, reduced((v_0[2 * i] ^ s_0[2 * i]) >> shift, prime), prime)
            result = minus(result, missing[i], prime)
            result = plus(result, payloads[i] if bound < low[i] else _ZERO, prime)
            out[i] = _select(_ZERO - np.uint64(t[i]), minus(_ZERO, result, prime), result)


# --- Making pairs of keys

PAIRS_AT_ONCE = 8192
"""Enough that calls cost little, and few enough that the blocks of a level stay in a cache."""


def generate(
    alphas: ArrayLike,
    *,
    shape: KeyShape,
    study: bytes,
    payloads: ArrayLike | None = None,
    random: Random = os.urandom,
    threads: int | None = None,
) -> tuple[KeyBatch, KeyBatch]:
    """Share the functions x -> payload * [x < alpha] between two servers.

    Alphas are private numbers in [0, 2^bits), shape (n,); payloads private elements of the group, such as class bits or
    amounts in fixed point, None for 1. Keys are of use in the study of this digest, 32 bytes, alone.

    Returns:
        The keys for server 0 and those for server 1, which share all arrays but the roots.
    """
    numbers = _checked("alphas", alphas, shape.domain)
    amounts = None if payloads is None else _checked("payloads", payloads, shape.modulus)
    if amounts is not None and amounts.size != numbers.size:
        raise ParameterError(f"`payloads` must be as many as alphas, {numbers.size}, got {amounts.size}")
    check_study(study)
    n, dtype = numbers.size, shape.dtype
    roots = words(random(SEED_BYTES), 4 * n).reshape(2, n, 2)
    shared = {
        "seeds": np.empty((shape.levels, n, 2), np.uint64),
        "values": np.empty((shape.levels, n), dtype),
        "controls": np.empty((shape.levels, n), np.uint8),
        "leaves": np.empty((n, shape.leaf_values), dtype),
    }
    first = KeyBatch(shape, study, roots[0], **shared)
    second = KeyBatch(shape, study, roots[1], **shared)

    def work(maker: _Maker, part: slice) -> None:
        worth = np.ones(part.stop - part.start, np.uint64) if amounts is None else amounts[part]
        maker.run(first[part], second.roots[part], numbers[part], worth)

    for _ in in_chunks(
        work, lambda keys: _Maker(shape, study, keys), keys=n, chunk=PAIRS_AT_ONCE, threads=threads, progress=None
    ):
        pass
    return first, second


def _checked(name: str, numbers: ArrayLike, stop: int) -> UInt64:
    """Whole numbers in [0, stop) as unsigned words."""
    result: NDArray[Any] = np.asarray(numbers)
    if result.ndim != 1 or (result.dtype.kind not in "iub" and result.size):
        raise ParameterError(f"`{name}` must be whole numbers, shape (n,); got {result.dtype} {result.shape}")
    if result.size and (result.min() < 0 or int(result.max()) >= stop):
        raise ParameterError(f"`{name}` must be in [0, {stop}), got {result.min()} to {result.max()}")
    return result.astype(np.uint64)


class _Maker:
    """Buffers and keyed permutations to make pairs of keys; one for each thread."""

    def __init__(self, shape: KeyShape, study: bytes, keys: int) -> None:
        self._shape = shape
        self._levels, self._leaf = permutations(shape, study)
        # the seeds of server 0's keys, then those of server 1's; then what they are encrypted to, with room for AES
        self._seeds, self._left, self._right, self._values = (Blocks(2 * keys) for _ in range(4))
        self._t = np.empty(keys, np.uint8)
        self._missing = np.empty(keys, np.uint64)

    def run(self, batch: KeyBatch, other_roots: UInt64, alphas: UInt64, payloads: UInt64) -> None:
        """Fill a chunk of keys, whose roots are drawn, but for the bit that seeds have clear."""
        shape, keys = self._shape, len(batch)
        prime, (word, shift) = shape.arithmetic.prime, shape.places[1]
        seeds, left, right, values = self._seeds, self._left, self._right, self._values
        for server, roots in enumerate((batch.roots, other_roots)):
            roots[:, 0] &= np.uint64(2**64 - 2)
            seeds.words[2 * keys * server : 2 * keys * (server + 1)] = roots.reshape(-1)
        t, missing = self._t, self._missing
        t[:] = 0
        missing[:] = 0
        for level, keyed in enumerate(self._levels):
            for permutation, out in zip(keyed, (left, right, values), strict=True):
                permutation.encrypt(seeds, out)
            correct_level(
                seeds.words, t, missing, left.words, right.words, values.words,
                alphas, np.uint64(shape.bits - 1 - level), payloads, word, shift, prime,
                batch.seeds[level].reshape(-1), batch.values[level], batch.controls[level],
            )  # fmt: skip
        low = alphas & np.uint64(shape.leaf_values - 1)
        for block in range(shape.leaf_blocks):
            flip_high(seeds.words, np.uint64(block), left.words)
            self._leaf.encrypt(left, values)
            first = block * shape.per_block
            correct_leaf(left.words, t, missing, values.words, low, first, payloads, prime, batch.leaves)
