"""Designs of pairs among the users of one sample, drawn from a public seed.

The mean over any of them is unbiased. How far it is off depends on how many pairs share users (`variance.py`): least
where nobody meets the same person twice and all meet equally many, which is what `round_robin` does.

Source:
    `ustatistics.md`, 7.4.
"""

from __future__ import annotations

import numpy as np

from ogive.arrays import Int64
from ogive.checks import whole
from ogive.pairs.design import Design
from ogive.pairs.drawing import PublicDraws


def most_rounds(users: int) -> int:
    """How many rounds a tournament has until all have met all; of an odd number of users one rests in each."""
    return users - 1 if users % 2 == 0 else users


def round_robin(users: int, rounds: int, *, seed: bytes) -> Design:
    """Rounds of a tournament of users in random places: everybody meets another person in every round.

    The first rounds do as well as any others: in random places, two pairs that share a user are any two such pairs.
    Of an odd number of users another one rests in each round.

    Args:
        users: At least 2.
        rounds: P, 1 to users - 1, or to users where these are odd; then all meet all.
        seed: Public.

    Raises:
        ParameterError: a number is out of range.
    """
    users = whole(users, "users", 2)
    rounds = whole(rounds, "rounds", 1, most_rounds(users))
    places = PublicDraws(seed, "round robin").permutation(users)
    size = most_rounds(users)  # odd: a circle, on which the pairs of a round lie around the user at its turn
    steps = np.arange(1, (size + 1) // 2)
    turn = np.arange(rounds)[:, None]
    left, right = (turn + steps) % size, (turn - steps) % size
    if users % 2 == 0:
        left = np.hstack([left, turn])
        right = np.hstack([right, np.full_like(turn, users - 1)])
    return Design(users, places[np.stack([left.ravel(), right.ravel()], axis=1)])


def permutations(users: int, rounds: int, *, seed: bytes) -> Design:
    """Neighbours in independent random orders: in every round everybody meets one person, perhaps again.

    Of an odd number of users the last in each order rests.

    Args:
        users: At least 2.
        rounds: P, at least 1.
        seed: Public.

    Raises:
        ParameterError: a number is out of range.

    Source: Bell, Bellet, Gascon and Kulkarni 2020, section 5.
    """
    users = whole(users, "users", 2)
    rounds = whole(rounds, "rounds", 1)
    draws = PublicDraws(seed, "permutations")
    orders = [draws.permutation(users)[: users - users % 2] for _ in range(rounds)]
    return Design(users, np.concatenate(orders).reshape(-1, 2))


def with_replacement(users: int, pairs: int, *, seed: bytes) -> Design:
    """Independent uniform pairs; how many a user is in is random.

    Args:
        users: At least 2.
        pairs: N, at least 1.
        seed: Public.

    Raises:
        ParameterError: a number is out of range.
    """
    users = whole(users, "users", 2)
    pairs = whole(pairs, "pairs", 1)
    draws = PublicDraws(seed, "with replacement")
    return _partnered(users, draws.below(users, pairs), draws)


def sampled_partners(users: int, partners: int, *, seed: bytes) -> Design:
    """Every user draws so many partners, each on its own; how often a user is drawn by others is random.

    Users draw in random order, so that what is done pair by pair, such as `capped`, treats all alike.

    Args:
        users: At least 2.
        partners: Of each user, at least 1; on average a user is in twice as many pairs.
        seed: Public.

    Raises:
        ParameterError: a number is out of range.
    """
    users = whole(users, "users", 2)
    partners = whole(partners, "partners", 1)
    draws = PublicDraws(seed, "sampled partners")
    return _partnered(users, np.repeat(draws.permutation(users), partners), draws)


def all_pairs(users: int) -> Design:
    """Everybody meets everybody: the complete U-statistic, in O(users^2) pairs.

    Raises:
        ParameterError: there are fewer than 2 users.
    """
    users = whole(users, "users", 2)
    return Design(users, np.stack(np.triu_indices(users, 1), axis=1).astype(np.int64))


def _partnered(users: int, first: Int64, draws: PublicDraws) -> Design:
    """Each of the first with a uniform other user."""
    second = (first + 1 + draws.below(users - 1, len(first))) % users
    return Design(users, np.stack([first, second], axis=1))
