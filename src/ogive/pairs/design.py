"""A design: the list of who meets whom. It is public, and drawn without a look at anybody's value."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ogive.arrays import Int64
from ogive.errors import ParameterError


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
