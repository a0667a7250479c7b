"""Kernels of U-statistics as circuits of the numbers of two people; others are composed of the same arithmetic.

Source:
    `ustatistics.md`, sections 2 and 8. AUC with half ties and Kendall take fewer AND gates here than there: two numbers
    differ where they are not equal, which costs one gate less than a second comparison.
"""

from __future__ import annotations

from ogive.crypto.circuits.arithmetic import absolute_difference, equal, less, square
from ogive.crypto.circuits.builder import Bit, Signed, Unsigned


def gini(x: Unsigned, y: Unsigned) -> Unsigned:
    """Gini's mean difference |x - y|; 2k - 1 ANDs for numbers of k bits."""
    return absolute_difference(x, y)


def squared_difference(x: Unsigned, y: Unsigned) -> Unsigned:
    """(x - y)^2, whose mean is twice the variance."""
    return square(absolute_difference(x, y))


def collision(x: Unsigned, y: Unsigned) -> Bit:
    """Whether x = y; k - 1 ANDs."""
    return equal(x, y)


def auc_strict(negative: Unsigned, positive: Unsigned) -> Bit:
    """Whether the negative's score is below the positive's; k ANDs."""
    return less(negative, positive)


def auc_half(negative: Unsigned, positive: Unsigned) -> Unsigned:
    """Twice the AUC kernel that counts a tie as a half: 0, 1 for a tie, or 2; 2k - 1 ANDs."""
    return Unsigned((equal(negative, positive), less(negative, positive)))


def kendall(first: tuple[Unsigned, Unsigned], second: tuple[Unsigned, Unsigned]) -> Signed:
    """Kendall's sign product of two people with two coordinates each: -1, 0 or 1; 4k ANDs for numbers of k bits."""
    (y1, z1), (y2, z2) = first, second
    differ = ~equal(y1, y2) & ~equal(z1, z2)
    return Signed((differ, differ & (less(y1, y2) ^ less(z1, z2))))
