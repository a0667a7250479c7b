"""Comparison keys one at a time, in whole numbers, as the papers write them: slow, and written from their pseudo-code.

A seed is a number below 2^128 whose lowest bit is the control bit's place. Nothing of the package is used here.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

MODULI = {"ring32": 2**32, "ring64": 2**64, "field": 2**61 - 1}


def aes(key: bytes, block: int) -> int:
    encryptor = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
    return int.from_bytes(encryptor.update(block.to_bytes(16, "little")), "little")


def key_of(study: bytes, level: int, number: int) -> bytes:
    fields = [b"ogive/1/comparison/block", study, level.to_bytes(8, "little"), number.to_bytes(8, "little")]
    return hashlib.shake_256(b"".join(len(each).to_bytes(8, "little") + each for each in fields)).digest(16)


@dataclass(frozen=True)
class Setting:
    """Group, bits, levels that the leaf replaces, study."""

    group: str
    bits: int
    early: int
    study: bytes

    @property
    def modulus(self) -> int:
        return MODULI[self.group]

    @property
    def width(self) -> int:
        return 32 if self.group == "ring32" else 64

    def hash(self, level: int, number: int, seed: int) -> int:
        return aes(key_of(self.study, level, number), seed) ^ seed

    def numbers(self, block: int) -> list[int]:
        """The group elements of a block of 128 bits."""
        mask = 2**self.width - 1
        return [(block >> start & mask) % self.modulus for start in range(0, 128, self.width)]

    def expand(self, level: int, seed: int) -> tuple[list[int], list[int], list[int]]:
        """Seeds, control bits and values of the left and the right child."""
        children = [self.hash(level, side, seed) for side in (0, 1)]
        values = self.numbers(self.hash(level, 2, seed))
        return [child & ~1 for child in children], [child & 1 for child in children], values[:2]

    def leaf(self, seed: int) -> list[int]:
        """The 2^early elements that a last seed stands for."""
        level, found, block = self.bits - self.early, [], 0
        while len(found) < 2**self.early:
            found += self.numbers(self.hash(level, 3, seed ^ block << 64))
            block += 1
        return found[: 2**self.early]


@dataclass(frozen=True)
class Key:
    """One server's key: its seed; corrections (seed, value, left bit, right bit) of every level; those of the leaf."""

    root: int
    levels: list[tuple[int, int, int, int]]
    leaf: list[int]

    def to_bytes(self, setting: Setting) -> bytes:
        width = setting.width // 8
        text = self.root.to_bytes(16, "little")
        for seed, value, left, right in self.levels:
            text += seed.to_bytes(16, "little") + value.to_bytes(width, "little") + bytes([left | right << 1])
        return text + b"".join(value.to_bytes(width, "little") for value in self.leaf)


def generate(setting: Setting, alpha: int, beta: int, roots: tuple[int, int]) -> tuple[Key, Key]:
    """Share x -> beta * [x < alpha]."""
    q, depth = setting.modulus, setting.bits - setting.early
    seeds, bits, offset, levels = list(roots), [0, 1], 0, []
    for level in range(depth):
        path = alpha >> (setting.bits - 1 - level) & 1
        (s0, t0, v0), (s1, t1, v1) = (setting.expand(level, seed) for seed in seeds)
        keep, lose, sign = path, 1 - path, -1 if bits[1] else 1
        seed = s0[lose] ^ s1[lose]
        value = sign * (v1[lose] - v0[lose] - offset) + (sign * beta if lose == 0 else 0)
        offset = (offset - v1[keep] + v0[keep] + sign * value) % q
        controls = [t0[0] ^ t1[0] ^ path ^ 1, t0[1] ^ t1[1] ^ path]
        levels.append((seed, value % q, *controls))
        seeds = [s[keep] ^ (seed if bit else 0) for s, bit in zip((s0, s1), bits, strict=True)]
        bits = [t[keep] ^ (bit & controls[keep]) for t, bit in zip((t0, t1), bits, strict=True)]
    sign, low = -1 if bits[1] else 1, alpha % 2**setting.early
    leaves = [setting.leaf(seed) for seed in seeds]
    leaf = [
        sign * (one - zero - offset + (beta if place < low else 0)) % q
        for place, (zero, one) in enumerate(zip(*leaves, strict=True))
    ]
    first, second = (Key(root, levels, leaf) for root in roots)
    return first, second


def evaluate(setting: Setting, server: int, key: Key, x: int) -> int:
    """A server's share of beta * [x < alpha]."""
    seed, bit, total, sign = key.root, server, 0, -1 if server else 1
    for level, (correction, value, left, right) in enumerate(key.levels):
        side = x >> (setting.bits - 1 - level) & 1
        seeds, bits, values = setting.expand(level, seed)
        total += sign * (values[side] + bit * value)
        seed = seeds[side] ^ (correction if bit else 0)
        bit = bits[side] ^ (bit & (left, right)[side])
    place = x % 2**setting.early
    return (total + sign * (setting.leaf(seed)[place] + bit * key.leaf[place])) % setting.modulus


def blocks_to_generate(shape):
    """AES blocks that make a pair of keys."""
    return 2 * (3 * shape.levels + shape.leaf_blocks)


def blocks_to_evaluate(shape, points):
    """AES blocks that evaluate one key at points, where every prefix that they share is walked once."""
    per_block = min(shape.leaf_values, shape.per_block)
    prefixes = [len({point >> shape.bits - level for point in map(int, points)}) for level in range(shape.levels + 1)]
    return sum(prefixes[1:]) + sum(prefixes[:-1]) + len({int(point) // per_block for point in points})
