"""What pairs share on average over all designs of a kind, exactly, before one is drawn, and how many pairs are best.

Two uniform pairs are of the same users with the chance 1 / C and share exactly one with 2 (n - 2) / C, C = n (n - 1) /
2 being all pairs. Given any design the mean is unbiased, so that the average of variances is the variance.

Source:
    `ustatistics.md`, 7.2 and 7.4; theorem 5 of Bell, Bellet, Gascon and Kulkarni 2020 is `permutations`.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from ogive.core.checks import whole
from ogive.pairs.designs import most_rounds
from ogive.pairs.variance import Overlaps, PairNoise, TwoSampleOverlaps


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


# --- How many pairs each user should be in
#
# More pairs say more of the values, and each gets less of the epsilon. The search is over whole numbers, on the exact
# formula, and complete: no design has less variance than all pairs, and the noise of the mean does not fall with the
# rounds, so once both together exceed the best error no later one wins.
#
# Source:
#     `ustatistics.md`, 7.3. With a kernel in [0, 1] and Laplace noise one pair is best up to epsilon = 4.


def optimal_pairs(users: int, epsilon: float, zeta1: float, zeta2: float, noise: PairNoise) -> int:
    """Rounds of a tournament with the least mean squared error.

    Args:
        users: At least 2.
        epsilon: Of each user, divided by the rounds.
        zeta1: Variance of the kernel's mean given one of its records.
        zeta2: Variance of the kernel.
        noise: Of each pair.

    Raises:
        ParameterError: a number is out of range.
    """
    users = whole(users, "users", 2)
    return _least(
        lambda rounds: round_robin(users, rounds).variance(zeta1, zeta2),
        lambda rounds: noise.variance(epsilon / rounds) / (rounds * (users // 2)),
        most_rounds(users),
        all_pairs(users).variance(zeta1, zeta2),
    )


def optimal_injections(
    first: int, second: int, epsilon: float, sigma10: float, sigma01: float, sigma11: float, noise: PairNoise
) -> int:
    """Rounds of balanced injections with the least mean squared error.

    Args:
        first: Users of the first class, at least 1.
        second: Of the second, at least 1.
        epsilon: Of each user; a round takes a share of it, of every pair's user of the smaller class.
        sigma10: Variance of the kernel's mean given its first record.
        sigma01: Given its second.
        sigma11: Variance of the kernel.
        noise: Of each pair.

    Raises:
        ParameterError: a number is out of range.
    """
    small = min(whole(first, "first", 1), whole(second, "second", 1))
    large = max(first, second)

    def sampling(rounds: int) -> float:
        return balanced_injections(first, second, rounds).variance(sigma10, sigma01, sigma11)

    return _least(sampling, lambda rounds: noise.variance(epsilon / rounds) / (rounds * small), large, sampling(large))


def _least(sampling: Callable[[int], float], noise: Callable[[int], float], most: int, floor: float) -> int:
    """The first number from 1 to `most` with the least sum; `noise` does not fall and `sampling` is above the floor."""
    best, error = 1, sampling(1) + noise(1)
    for rounds in range(2, most + 1):
        noisy = noise(rounds)
        if noisy + floor >= error:
            break
        result = sampling(rounds) + noisy
        if result < error:
            best, error = rounds, result
    return best
