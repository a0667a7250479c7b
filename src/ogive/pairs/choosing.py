"""How many pairs each user should be in: more pairs say more of the values, and each gets less of the epsilon.

The search is over whole numbers, on the exact formula, and complete: no design has less variance than all pairs, and
the noise of the mean does not fall with the rounds, so once both together exceed the best error no later one wins.

Source:
    `ustatistics.md`, 7.3. With a kernel in [0, 1] and Laplace noise one pair is best up to epsilon = 4.
"""

from __future__ import annotations

from collections.abc import Callable

from ogive.checks import whole
from ogive.pairs import expected
from ogive.pairs.designs import most_rounds
from ogive.pairs.noise import PairNoise


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
        lambda rounds: expected.round_robin(users, rounds).variance(zeta1, zeta2),
        lambda rounds: noise.variance(epsilon / rounds) / (rounds * (users // 2)),
        most_rounds(users),
        expected.all_pairs(users).variance(zeta1, zeta2),
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
        return expected.balanced_injections(first, second, rounds).variance(sigma10, sigma01, sigma11)

    return _least(sampling, lambda rounds: noise.variance(epsilon / rounds) / (rounds * small), large, sampling(large))


def _least(sampling: Callable[[int], float], noise: Callable[[int], float], most: int, floor: float) -> int:
    """The first number from 1 to `most` with the least sum; `noise` does not fall and `sampling` is above the floor."""
    best, error = 1, sampling(1) + noise(1)
    for rounds in range(2, most + 1):
        noisy = noise(rounds)
        if noisy + floor >= error:
            break
        found = sampling(rounds) + noisy
        if found < error:
            best, error = rounds, found
    return best
