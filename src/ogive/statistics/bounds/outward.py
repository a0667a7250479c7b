"""Bounds that go on from bins which certainly hold records to bins beside them, which need smaller counts.

A bin that lies d places beyond the bounds extends them if noise alone would reach its count with probability at most
c / 4^(d - 1). The probability falls as the harm grows: bounds that are d bins of base 2 too wide cost 2^d times the
noise. No bin needs more than one that is taken by itself. Noise makes the bounds too wide with probability at most that
of any bin passing the threshold by itself, plus 2 (c + c / 4 + ...) = 8 c / 3.

Source:
    `docs/proofs/together.md`.
"""

from __future__ import annotations

from collections.abc import Sequence

from ogive.noise.base import Law
from ogive.statistics.bounds.noise import reach

FURTHER = 4
"""How many times smaller the probability is one place further off."""

AT_BOTH_ENDS = 2 * FURTHER / (FURTHER - 1)
"""The probabilities of all places at both ends together, in those of the first."""


def needed_beside(law: Law, size: int, chance: float, most: int) -> tuple[int, ...]:
    """The noisy counts from which on a bin extends the bounds, by its distance from them, 1 first.

    Args:
        law: Noise of each count.
        size: How many bins there are.
        chance: Largest probability that noise alone extends the bounds to the bin next to them.
        most: What a bin needs that is taken by itself; no bin needs more.
    """
    needed: list[int] = []
    while len(needed) < size:
        count = reach(law, 1, chance / FURTHER ** len(needed)) if not needed or needed[-1] < most else most
        needed.append(min(count, most))
    return tuple(needed)


def extended(counts: Sequence[int], needed: Sequence[int]) -> int:
    """By how many of the bins beyond a bound it moves outwards.

    Args:
        counts: Noisy counts of the bins beyond it, the nearest first.
        needed: What a bin needs, by its distance from the bound, 1 first.
    """
    taken = 0
    for place, count in enumerate(counts, start=1):
        if count >= needed[place - taken - 1]:
            taken = place
    return taken
