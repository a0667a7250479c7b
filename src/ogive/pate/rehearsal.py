"""What an aggregator would do with public votes: how many it answers and how many of these are right, by simulation.

All candidates meet the same noise, scaled to each, so that they differ by what they are and not by luck.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ogive.arrays import Bool, Float32, Float64, Int64
from ogive.pate.costs.scores import largest_excess
from ogive.pate.learners import check_seed

MOST_RUNS = 50
_MOST_NUMBERS = 1 << 22


class Predicted(NamedTuple):
    """Averages over runs.

    Fields:
        answered: Queries that teachers answer.
        right: Share of these whose label is the one that is wanted; 0 where none is answered.
        corrected: How many are right where the student errs; None without a student.
    """

    answered: float
    right: float
    corrected: float | None

    @property
    def gain(self) -> float:
        """What a plan makes the most of: right answers, or those that correct the student where there is one."""
        return self.answered * self.right if self.corrected is None else self.corrected


class Rehearsal:
    """Votes with noise that every candidate is tried on.

    Args:
        votes: Counts, shape (queries, classes).
        wanted: The label that is right for each query, shape (queries,).
        seed: Of the noise.
        probabilities: Predictions of a public student, shape (queries, classes).
    """

    def __init__(self, votes: Int64, wanted: Int64, *, seed: int = 0, probabilities: Float64 | None = None) -> None:
        queries, classes = votes.shape
        runs = int(min(MOST_RUNS, max(1, _MOST_NUMBERS // (queries * classes))))
        drawn = np.random.default_rng(check_seed(seed))
        self._votes = votes.astype(np.float32)
        self._highest = votes.max(axis=1).astype(np.float32)
        self._errs = self._excess = None
        if probabilities is not None:
            self._errs = probabilities.argmax(axis=1) != wanted
            self._excess = largest_excess(votes, probabilities).astype(np.float32)
        self._wanted = wanted
        self._checks: Float32 = drawn.standard_normal((runs, queries), dtype=np.float32)
        self._noise: Float32 = drawn.standard_normal((runs, queries, classes), dtype=np.float32)

    def right(self, sigma: float, *, asked: int) -> Bool:
        """Whether the largest noisy count is of the label that is wanted, of the first queries, shape (runs, asked)."""
        return np.asarray(self._noisy(sigma, asked).argmax(axis=2) == self._wanted[:asked])

    def confident(self, right: Bool, *, threshold: float, sigma_1: float, most: int) -> Predicted:
        """Of labels that are given where the check passes, until so many are.

        Args:
            right: From `right` for the noise of answers and the queries that are asked.
            threshold: In votes.
            sigma_1: Noise of the check.
            most: After so many answers the run ends.
        """
        return self._checked(self._highest, right, threshold, sigma_1, most)

    def interactive(self, right: Bool, *, threshold: float, sigma_1: float, most: int) -> Predicted:
        """As `confident`, where the largest excess of votes over what the student expects is checked."""
        assert self._excess is not None
        return self._checked(self._excess, right, threshold, sigma_1, most)

    def plain(self, right: Bool) -> Predicted:
        """Of all that are asked."""
        return self._averages(np.ones_like(right), right)

    def margins(self, sigma: float, *, asked: int, keep: int) -> Predicted:
        """Of those of the first queries that have the largest noisy margins."""
        noisy = self._noisy(sigma, asked)
        top = np.partition(noisy, -2, axis=2)
        order = np.argsort(top[:, :, -2] - top[:, :, -1], axis=1, kind="stable")
        kept = np.zeros(order.shape, dtype=np.bool_)
        np.put_along_axis(kept, order[:, :keep], True, axis=1)
        return self._averages(kept, noisy.argmax(axis=2) == self._wanted[:asked])

    def _checked(self, heights: Float32, right: Bool, threshold: float, sigma_1: float, most: int) -> Predicted:
        asked = right.shape[1]
        passed = heights[:asked] + np.float32(sigma_1) * self._checks[:, :asked] >= threshold
        return self._averages(passed & (np.cumsum(passed, axis=1) <= most), right)

    def _averages(self, answered: Bool, right: Bool) -> Predicted:
        count, good = int(answered.sum()), answered & right
        corrected = None if self._errs is None else float(good[:, self._errs[: right.shape[1]]].sum() / len(right))
        return Predicted(count / len(right), float(good.sum() / count) if count else 0.0, corrected)

    def _noisy(self, sigma: float, asked: int) -> Float32:
        return np.asarray(self._votes[:asked] + np.float32(sigma) * self._noise[:, :asked], dtype=np.float32)
