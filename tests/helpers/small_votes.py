"""All histograms of a few votes, and what can be read off them by brute force. Slow on purpose."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np

Histogram = tuple[int, ...]


def histograms(teachers: int, classes: int, most: int | None = None) -> Iterator[Histogram]:
    """Every histogram with its counts in falling order."""
    most = teachers if most is None else most
    if classes == 1:
        if teachers <= most:
            yield (teachers,)
        return
    for first in range(min(teachers, most), -1, -1):
        for rest in histograms(teachers - first, classes - 1, first):
            yield (first, *rest)


def neighbours(votes: Histogram) -> set[Histogram]:
    """What a histogram becomes when one teacher changes its vote, counts in falling order."""
    found = set()
    for giver in range(len(votes)):
        for taker in range(len(votes)):
            if votes[giver] and giver != taker:
                changed = list(votes)
                changed[giver] -= 1
                changed[taker] += 1
                found.add(tuple(sorted(changed, reverse=True)))
    return found


@lru_cache(maxsize=16)
def graph(teachers: int, classes: int) -> tuple[np.ndarray, list[list[int]]]:
    """All histograms, shape (histograms, classes), and for each the places of its neighbours."""
    rows = list(histograms(teachers, classes))
    place = {row: number for number, row in enumerate(rows)}
    return np.array(rows), [sorted(place[other] for other in neighbours(row)) for row in rows]


def local_sensitivities(costs: np.ndarray, beside: list[list[int]]) -> np.ndarray:
    """The largest difference of a cost at a neighbour, for every histogram."""
    return np.array([np.abs(costs[others] - costs[here]).max() for here, others in enumerate(beside)])


def widened(values: np.ndarray, beside: list[list[int]], steps: int) -> np.ndarray:
    """The largest value within d changed votes, d = 0..steps-1, shape (histograms, steps)."""
    found = [values]
    for _ in range(steps - 1):
        last = found[-1]
        found.append(np.array([max(last[here], last[others].max()) for here, others in enumerate(beside)]))
    return np.stack(found, axis=1)


def least_excess(profiles: np.ndarray, beside: list[list[int]]) -> float:
    """How far a neighbour's profile at d + 1 is above a histogram's at d, at the least; below 0 where not nested."""
    return min(float((profiles[others, 1:] - profiles[here, :-1]).min()) for here, others in enumerate(beside))
