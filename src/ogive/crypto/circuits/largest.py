"""Circuits on counts of which each party holds a share: whether the largest reaches a bound, and which is largest.

A count from 0 to B = 2^width - 1 is shared modulo the prime p = 2^61 - 1, which is more than 2 B. The two shares add up
to the count, or to p more. In the first case neither exceeds B; in the second one does, since 2 B < p. Because p is -1
modulo 2^width,

    count = own low bits + the other's low bits + (1 unless both shares are at most B)    modulo 2^width

so that a count takes one AND gate more than an adder. `share_bits` makes a party's inputs.

Source:
    `docs/proofs/secret_votes.md`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from ogive.arrays import Bool, UInt64
from ogive.crypto.circuits.arithmetic import less, select, sum_of_bits
from ogive.crypto.circuits.builder import Bit, Builder, Unsigned
from ogive.crypto.circuits.circuit import Circuit
from ogive.errors import ParameterError

MOST_BITS = 60
"""The widest counts, of which twice the largest is still below the prime."""

_CIRCUITS = 16


@lru_cache(_CIRCUITS)
def reaches(classes: int, width: int, *, offset_width: int, shift: int) -> Circuit:
    """Whether 2^shift times the largest count plus both parties' offsets is 0 or more.

    With widths k and w and m counts: m k + 2 (m - 1) k + 2 w - shift ANDs at most.

    Args:
        classes: How many counts there are, m.
        width: Bits of a count.
        offset_width: Bits of the offsets, which are added modulo 2^offset_width; the sum must fit with its sign.
        shift: Less than the width of offsets.

    Raises:
        ParameterError: there are no two counts, or a width is out of range.
    """
    _check(classes, width)
    if not shift < offset_width <= MOST_BITS + 2:
        raise ParameterError(
            f"an offset must have more than {shift} bits and at most {MOST_BITS + 2}, got {offset_width}"
        )
    builder = Builder()
    counts = _counts(builder, classes, width)
    sides = builder.garbler("offset", offset_width), builder.evaluator("offset", offset_width)
    zero = sides[0].bits[0] ^ sides[0].bits[0]
    offset = sum_of_bits(sides[0].bits, sides[1].bits, zero)
    highest, _ = _first_largest(builder, counts)
    wanted = offset_width - shift
    height = (*highest.bits, *[zero] * wanted)[:wanted]
    total = sum_of_bits(offset[shift:], height, zero)
    return builder.finish({"reaches": ~total[-1]})


@lru_cache(_CIRCUITS)
def first_largest(classes: int, width: int) -> Circuit:
    """The number of the largest count, the lowest number of equal ones.

    With counts of width k and m of them: m k + 2 (m - 1) k ANDs, and at most log2(m) for each of m - 1 comparisons.

    Args:
        classes: How many counts there are, m.
        width: Bits of a count.

    Raises:
        ParameterError: there are no two counts, or the width is out of range.
    """
    _check(classes, width)
    builder = Builder()
    _, place = _first_largest(builder, _counts(builder, classes, width))
    return builder.finish({"place": place})


def share_bits(shares: UInt64, width: int, *, offsets: UInt64 | None = None, offset_width: int = 0) -> Bool:
    """One party's inputs of either circuit, shape (instances, wires).

    Args:
        shares: Its shares modulo 2^61 - 1, shape (instances, classes).
        width: Bits of a count.
        offsets: Its offsets modulo 2^offset_width, shape (instances,); None where the circuit has none.
        offset_width: Bits of an offset.
    """
    places = np.arange(width, dtype=np.uint64)
    low = (shares[:, :, None] >> places & np.uint64(1)).astype(np.bool_)
    small = shares <= np.uint64((1 << width) - 1)
    parts = [np.concatenate([low, small[:, :, None]], axis=2).reshape(len(shares), -1)]
    if offsets is not None:
        parts.append((offsets[:, None] >> np.arange(offset_width, dtype=np.uint64) & np.uint64(1)).astype(np.bool_))
    bits: Bool = np.hstack(parts)
    return bits


def _check(classes: int, width: int) -> None:
    if classes < 2 or not 1 <= width <= MOST_BITS:
        raise ParameterError(
            f"a count must have 1 to {MOST_BITS} bits, and there must be two or more; got {classes} of {width} bits"
        )


def _counts(builder: Builder, classes: int, width: int) -> list[Unsigned]:
    """The counts, of inputs that hold for each its low bits and whether the share is small."""
    found = []
    for number in range(classes):
        name = f"share {number}"
        *ours, small = builder.garbler(name, width + 1).bits
        *theirs, also_small = builder.evaluator(name, width + 1).bits
        found.append(Unsigned(sum_of_bits(ours, theirs, ~(small & also_small))))
    return found


def _first_largest(builder: Builder, counts: Sequence[Unsigned]) -> tuple[Unsigned, Unsigned]:
    """The largest count and its number, by a tournament of neighbours that a later count wins only if it is larger."""
    digits = (len(counts) - 1).bit_length()
    row = [(count, builder.constant(number, digits)) for number, count in enumerate(counts)]
    while len(row) > 1:
        left = len(row) % 2
        pairs = zip(row[: len(row) - left : 2], row[1::2], strict=True)
        row = [_winner(first, second) for first, second in pairs] + row[len(row) - left :]
    return row[0]


def _winner(first: tuple[Unsigned, Unsigned], second: tuple[Unsigned, Unsigned]) -> tuple[Unsigned, Unsigned]:
    later: Bit = less(first[0], second[0])
    chosen = [select(later, yes, no) for yes, no in zip(second, first, strict=True)]
    return Unsigned(chosen[0].bits), Unsigned(chosen[1].bits)
