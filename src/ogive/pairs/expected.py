"""What pairs share on average over all designs of a kind, exactly, before one is drawn.

Two uniform pairs are of the same users with the chance 1 / C and share exactly one with 2 (n - 2) / C, C = n (n - 1) /
2 being all pairs. Given any design the mean is unbiased, so that the average of variances is the variance.

Source:
    `ustatistics.md`, 7.2 and 7.4; theorem 5 of Bell, Bellet, Gascon and Kulkarni 2020 is `permutations`.
"""

from __future__ import annotations

from fractions import Fraction

from ogive.pairs.variance import Overlaps, TwoSampleOverlaps


def round_robin(users: int, rounds: int) -> Overlaps:
    """Of every tournament, not only on average; of an odd number of users one rests in each round."""
    resting = rounds * (users % 2)
    pairs = rounds * (users // 2)
    squares = (users - resting) * rounds**2 + resting * (rounds - 1) ** 2
    return Overlaps(pairs, Fraction(squares - 2 * pairs), Fraction(pairs))


def permutations(users: int, rounds: int) -> Overlaps:
    """Of independent rounds: pairs of one round share nothing, pairs of two are uniform."""
    pairs = rounds * (users // 2)
    others = rounds * (rounds - 1) * (users // 2) ** 2
    return _uniform(users, pairs, others)


def with_replacement(users: int, pairs: int) -> Overlaps:
    """Of independent uniform pairs."""
    return _uniform(users, pairs, pairs * (pairs - 1))


def sampled_partners(users: int, partners: int) -> Overlaps:
    """Of so many independent partners of each user.

    A user is drawn by others a binomial number of times, with mean `partners`; a pair is drawn again by the user who
    drew it and by the one who was drawn.
    """
    pairs = users * partners
    both = pairs + Fraction(pairs * (2 * partners - 1), users - 1)
    drawn = partners * (1 - Fraction(1, users - 1))
    return Overlaps(pairs, users * (4 * partners**2 + drawn) - 2 * both, both)


def all_pairs(users: int) -> Overlaps:
    """Of the complete U-statistic: Hoeffding's variance."""
    pairs = users * (users - 1) // 2
    return Overlaps(pairs, Fraction(2 * (users - 2) * pairs), Fraction(pairs))


def injections(first: int, second: int, rounds: int) -> TwoSampleOverlaps:
    """Of independent injections between so many users of the first class and of the second."""
    small, large = min(first, second), max(first, second)
    turns = rounds * (rounds - 1)
    pairs = rounds * small
    again = Fraction(turns * small, large)
    of_small, of_large = turns * small - again, again * (small - 1)
    ends = (of_small, of_large) if first == small else (of_large, of_small)
    return TwoSampleOverlaps(pairs, ends[0], ends[1], pairs + again)


def balanced_injections(first: int, second: int, rounds: int) -> TwoSampleOverlaps:
    """Of every such design, not only on average: nobody meets twice, and degrees differ by at most one."""
    small, large = min(first, second), max(first, second)
    pairs = rounds * small
    less, more = divmod(pairs, large)
    of_small = Fraction(small * rounds**2 - pairs)
    of_large = Fraction((large - more) * less**2 + more * (less + 1) ** 2 - pairs)
    ends = (of_small, of_large) if first == small else (of_large, of_small)
    return TwoSampleOverlaps(pairs, ends[0], ends[1], Fraction(pairs))


def _uniform(users: int, pairs: int, others: int) -> Overlaps:
    """Each pair with itself, and so many ordered pairs of uniform pairs."""
    every = users * (users - 1) // 2
    return Overlaps(pairs, Fraction(others * 2 * (users - 2), every), pairs + Fraction(others, every))
