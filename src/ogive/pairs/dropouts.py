"""Who meets whom after some have dropped out: those left without a partner meet each other.

Nobody is in more pairs than they agreed to, which are those of the first design, and a pair that was lost after it had
begun counts as taken part in: what was seen of it cannot be taken back.
"""

from __future__ import annotations

import numpy as np

from ogive.arrays import Bool, Int64
from ogive.errors import ParameterError
from ogive.pairs.design import Design, pair_keys
from ogive.pairs.drawing import PublicDraws

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
    found, used = [np.empty((0, 2), np.int64)], np.sort(pair_keys(earlier.pairs, earlier.users))
    for _ in range(TRIES):
        first, second = _sides(earlier, first, second, draws)
        count = min(len(first), len(second))
        if not count:
            break
        drawn = np.stack([first[:count], second[:count]], axis=1)
        good = _fresh(drawn, used, earlier.users)
        if good.any():
            found.append(drawn[good])
            used = np.sort(np.concatenate([used, pair_keys(drawn[good], earlier.users)]))
        first = np.concatenate([drawn[~good, 0], first[count:]])
        second = np.concatenate([drawn[~good, 1], second[count:]])
    return np.concatenate(found)


def _sides(design: Design, first: Int64, second: Int64, draws: PublicDraws) -> tuple[Int64, Int64]:
    """Those who want a partner, shuffled: by class between classes, else in two halves of any."""
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
