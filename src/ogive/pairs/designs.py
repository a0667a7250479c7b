"""Designs: who meets whom, among the users of one sample or between two classes, drawn from a public seed.

The mean over any of them is unbiased. How far it is off depends on how many pairs share users (`variance.py`): least
where nobody meets the same person twice and all meet equally many, which is what `round_robin` does.

Source:
    `ustatistics.md`, 7.4.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ogive.core.arrays import Bool, Int64
from ogive.core.checks import whole
from ogive.crypto.domains import SEED_BYTES, HashDomain, WordStream, digest
from ogive.errors import ParameterError, quoted

# --- A design, which is public and drawn without a look at anybody's value


@dataclass(frozen=True, eq=False)
class Design:
    """Pairs of users, whose values are averaged with equal weights.

    Fields:
        users: How many there are, numbered from 0; some may be in no pair.
        pairs: User numbers, shape (N, 2); a pair may occur more than once, and counts as often.
        between: Whether the first of each pair is of one class and the second of another, and nobody of both.

    Raises:
        ParameterError: there is no pair, somebody does not exist, meets themselves, or is of both classes.
    """

    users: int
    pairs: Int64
    between: bool = False

    def __post_init__(self) -> None:
        pairs = self.pairs
        if pairs.ndim != 2 or pairs.shape[1] != 2 or not len(pairs):
            raise ParameterError(f"`pairs` must be of shape (pairs, 2), at least one, got shape {pairs.shape}")
        if pairs.min() < 0 or pairs.max() >= self.users:
            raise ParameterError(f"`pairs` must be of users 0 to {self.users - 1}, got {pairs.min()} to {pairs.max()}")
        if (pairs[:, 0] == pairs[:, 1]).any():
            raise ParameterError("a pair must be of two users, got one with themselves")
        if self.between and (self._column(0).astype(bool) & self._column(1).astype(bool)).any():
            raise ParameterError("a user between classes must be always first or always second in a pair")

    def __len__(self) -> int:
        return len(self.pairs)

    def _column(self, column: int) -> Int64:
        return np.bincount(self.pairs[:, column], minlength=self.users).astype(np.int64)

    @cached_property
    def first_degrees(self) -> Int64:
        """In how many pairs each user is first, shape (users,)."""
        return self._column(0)

    @cached_property
    def second_degrees(self) -> Int64:
        """In how many pairs each user is second, shape (users,)."""
        return self._column(1)

    @property
    def degrees(self) -> Int64:
        """In how many pairs each user is, shape (users,)."""
        return self.first_degrees + self.second_degrees


def pair_keys(pairs: Int64, users: int) -> Int64:
    """A number for each pair, shape (N,), the same for the same two users whoever of them is first."""
    keys: Int64 = pairs.min(axis=1) * users + pairs.max(axis=1)
    return keys


# --- Designs of one sample
#
# Everybody who has the seed draws the same again, on any machine. The seed must be settled after people have entered,
# or be drawn by nobody alone, or else somebody could choose whom they meet; it needs no secrecy.


class PublicDraws:
    """Draws for one purpose, from the beginning of its stream.

    Args:
        purpose: What is drawn; other purposes have unrelated streams.
    """

    def __init__(self, seed: bytes, purpose: str) -> None:
        if not isinstance(seed, bytes) or not seed:
            raise ParameterError(f"`seed` must be bytes, at least one, got {quoted(seed)}")
        self._stream = WordStream(digest(HashDomain.PAIRS_DESIGN, purpose.encode(), seed, length=SEED_BYTES))

    def permutation(self, size: int) -> Int64:
        """The numbers 0 to size - 1 in random order; no order's chance is off by more than that of two equal words."""
        return np.argsort(self._stream.words(size), kind="stable").astype(np.int64)

    def below(self, bound: int, count: int) -> Int64:
        """Random numbers from 0 to bound - 1, shape (count,); chances are equal but for bound / 2^64."""
        return (self._stream.words(count) % np.uint64(bound)).astype(np.int64)


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
    """Every user draws `partners` partners, each on its own; how often a user is drawn by others is random.

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


# --- Designs between two classes
#
# In every round each user of the smaller class meets one of the larger. Pairs of two users of one class would say
# nothing of an AUC.
#
# Source:
#     `ustatistics.md`, 7.4.


def injections(positive: Bool, rounds: int, *, seed: bytes) -> Design:
    """Independent random injections of the smaller class into the larger.

    Users of the smaller class are in as many pairs as there are rounds, those of the larger in a random number.

    Args:
        positive: The public class of each user, shape (users,); positives are first in their pairs.
        rounds: P, at least 1.
        seed: Public.

    Raises:
        ParameterError: a class is empty, or a number out of range.
    """
    small, large = _classes(positive)
    rounds = whole(rounds, "rounds", 1)
    draws = PublicDraws(seed, "injections")
    met = np.concatenate([draws.permutation(large.size)[: small.size] for _ in range(rounds)])
    return _between(positive, np.tile(small, rounds), large[met])


def balanced_injections(positive: Bool, rounds: int, *, seed: bytes) -> Design:
    """Injections in which no two users meet twice, and users of the larger class are in equally many pairs but for one.

    Both classes stand in a random order and are gone through side by side, over and over; each time that they come
    back to where they began, the larger moves on by one. So every pair comes up once before any comes up again.

    Args:
        positive: The public class of each user, shape (users,); positives are first in their pairs.
        rounds: P, 1 to the size of the larger class; then all meet all of the other class.
        seed: Public.

    Raises:
        ParameterError: a class is empty, or a number out of range.
    """
    small, large = _classes(positive)
    rounds = whole(rounds, "rounds", 1, large.size)
    draws = PublicDraws(seed, "balanced injections")
    small, large = small[draws.permutation(small.size)], large[draws.permutation(large.size)]
    step = np.arange(rounds * small.size)
    moved = step + step // math.lcm(small.size, large.size)
    return _between(positive, small[step % small.size], large[moved % large.size])


def _classes(positive: Bool) -> tuple[Int64, Int64]:
    """Numbers of the users of the smaller and of the larger class; of equal ones the positives are the smaller."""
    if positive.ndim != 1 or positive.dtype != np.bool_:
        raise ParameterError("the classes must be one truth value a user")
    result = sorted((np.flatnonzero(positive), np.flatnonzero(~positive)), key=len)
    if not result[0].size:
        raise ParameterError("pairs between classes need a user of each, got an empty class")
    return result[0], result[1]


def _between(positive: Bool, small: Int64, large: Int64) -> Design:
    ends = (small, large) if positive[small[0]] else (large, small)
    return Design(positive.size, np.stack(ends, axis=1), between=True)


# --- New pairs after some have dropped out
#
# Those who are left without a partner meet each other. Nobody is in more pairs than they agreed to, which are those of
# the first design, and a pair that was lost after it had begun counts as taken part in: what was seen of it cannot be
# undone.

TRIES = 64
"""How often those who are left over are shuffled again, until they are paired or give up."""


def paired_again(design: Design, gone: Bool, *, seed: bytes, begun: Bool | None = None) -> Design:
    """The pairs that no dropout touches, in their order, and after them new pairs of those who lost a partner.

    New pairs repeat none that stays, none that is new, and none that was lost; a few users may stay unpaired.

    Args:
        design: The first design.
        gone: Whether each user has dropped out, shape (users,).
        seed: Public; settled once it is known who is gone, or else users could choose whom they meet by dropping out.
        begun: Of each pair of the design, whether it had begun; matters for those that are lost. None: none had.

    Raises:
        ParameterError: a shape does not fit, or no pair is left.
    """
    begun = np.zeros(len(design), dtype=np.bool_) if begun is None else begun
    if gone.shape != (design.users,) or begun.shape != (len(design),):
        raise ParameterError("`dropouts` must be one truth value a user, and those that began one a pair")
    lost = gone[design.pairs].any(axis=1)
    ends = design.pairs[lost & ~begun]
    first, second = (ends[:, column][~gone[ends[:, column]]] for column in (0, 1))
    pairs = np.concatenate([design.pairs[~lost], _matched(design, first, second, PublicDraws(seed, "dropouts"))])
    if not len(pairs):
        raise ParameterError("no pair is left: too many users have dropped out")
    return Design(design.users, pairs, design.between)


def met_anew(earlier: Design, free: Int64, *, seed: bytes) -> Int64:
    """New pairs of users who may be in more pairs than they were in so far, shape (pairs, 2).

    They repeat no earlier pair; a few users may stay unpaired.

    Args:
        earlier: All pairs so far, whatever became of them.
        free: In how many more pairs each user may be; 0 for who is gone; shape (users,).
        seed: Public; settled once `free` is known.

    Raises:
        ParameterError: the shape does not fit.
    """
    if free.shape != (earlier.users,):
        raise ParameterError("each user needs one number of pairs that are left")
    users = np.arange(earlier.users)
    if earlier.between:
        sides = [np.isin(users, earlier.pairs[:, column]) for column in (0, 1)]
    else:
        sides = [users >= 0, users < 0]  # everybody on one side, which is halved
    first, second = (np.repeat(users[side], free[side]) for side in sides)
    return _matched(earlier, first, second, PublicDraws(seed, "dropouts"))


def _matched(earlier: Design, first: Int64, second: Int64, draws: PublicDraws) -> Int64:
    """Pairs of those who want a partner, each as often as it is named, that are not among the earlier ones."""
    result, used = [np.empty((0, 2), np.int64)], np.sort(pair_keys(earlier.pairs, earlier.users))
    for _ in range(TRIES):
        first, second = _sides(earlier, first, second, draws)
        count = min(len(first), len(second))
        if not count:
            break
        drawn = np.stack([first[:count], second[:count]], axis=1)
        good = _fresh(drawn, used, earlier.users)
        if good.any():
            result.append(drawn[good])
            used = np.sort(np.concatenate([used, pair_keys(drawn[good], earlier.users)]))
        first = np.concatenate([drawn[~good, 0], first[count:]])
        second = np.concatenate([drawn[~good, 1], second[count:]])
    return np.concatenate(result)


def _sides(design: Design, first: Int64, second: Int64, draws: PublicDraws) -> tuple[Int64, Int64]:
    """Users who want a partner, shuffled: by class between classes, else in two halves of all."""
    if design.between:
        return first[draws.permutation(len(first))], second[draws.permutation(len(second))]
    together = np.concatenate([first, second])
    together = together[draws.permutation(len(together))]
    half = len(together) // 2
    return together[:half], together[half:]


def _fresh(pairs: Int64, used: Int64, users: int) -> Bool:
    """Which pairs are of two users, not among the used ones, which are sorted, and the first of their kind."""
    keys = pair_keys(pairs, users)
    good = np.zeros(len(pairs), dtype=np.bool_)
    good[np.unique(keys, return_index=True)[1]] = True
    near = used[np.minimum(np.searchsorted(used, keys), len(used) - 1)]
    good &= (pairs[:, 0] != pairs[:, 1]) & (near != keys)
    return good
