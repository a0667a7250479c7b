"""Exact laws of randomized code: every coin it may toss, tossed every way, with its chance as a fraction.

`law(run)` calls `run` again and again; each time `run` gets a `Path` and asks it for choices, and the walk goes through
all answers, depth first. `randomizer(oracle, monkeypatch)` puts such choices in the place of the three primitives by
which reports are drawn, so that what is walked through is the code that owners run.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable
from fractions import Fraction

import numpy as np

from ogive.local import oracles, tree

WORD = 1 << 64


class Path:
    """One way through all choices; asks beyond what it was given take the first answer."""

    def __init__(self, taken: list[tuple[int, int]]) -> None:
        self.taken = taken
        self.at = 0
        self.chance = Fraction(1)

    def choose(self, chances: list[Fraction]) -> int:
        """A place in a list of chances, which add up to 1."""
        assert sum(chances) == 1
        if self.at == len(self.taken):
            self.taken.append((0, len(chances)))
        answer = self.taken[self.at][0]
        self.at += 1
        self.chance *= chances[answer]
        return answer


def law(run: Callable[[Path], Hashable]) -> dict[Hashable, Fraction]:
    """Chance of every result."""
    found: dict[Hashable, Fraction] = defaultdict(Fraction)
    taken: list[tuple[int, int]] = []
    while True:
        path = Path(taken)
        found[run(path)] += path.chance
        while taken and taken[-1][0] + 1 == taken[-1][1]:
            taken.pop()
        if not taken:
            break
        taken[-1] = (taken[-1][0] + 1, taken[-1][1])
    assert sum(found.values()) == 1
    return dict(found)


def randomizer(oracle, monkeypatch) -> Callable[[int, int], dict[bytes, Fraction]]:
    """The exact law of one participant's payload, as a function of the symbol and the number."""
    path = Path([])

    def bernoulli(source, count, threshold):
        chance = Fraction(threshold, WORD)
        return np.array([path.choose([1 - chance, chance]) for _ in range(count)], dtype=np.bool_)

    def uniform(source, count, bound):
        return np.array([path.choose([Fraction(1, bound)] * bound) for _ in range(count)], dtype=np.int64)

    def uniform_bits(source, exponents):
        return np.array([path.choose([Fraction(1, 1 << e)] * (1 << e)) for e in exponents.tolist()], dtype=np.int64)

    monkeypatch.setattr(oracles, "bernoulli", bernoulli)
    monkeypatch.setattr(oracles, "uniform", uniform)
    monkeypatch.setattr(tree, "bernoulli", bernoulli)
    monkeypatch.setattr(tree, "uniform_bits", uniform_bits)

    def payloads(symbol: int, number: int) -> dict[bytes, Fraction]:
        def run(taken: Path) -> bytes:
            nonlocal path
            path = taken
            return oracle.randomize(np.array([symbol]), np.array([number]), source=None).tobytes()

        return law(run)

    return payloads


def worst_ratio(laws: list[dict[bytes, Fraction]]) -> Fraction:
    """Largest ratio of a report's chances under two symbols; every report must be possible under all."""
    assert all(each.keys() == laws[0].keys() for each in laws)
    return max(max(each[report] for each in laws) / min(each[report] for each in laws) for report in laws[0])


def worst_slack(laws: list[dict[bytes, Fraction]], odds: Fraction) -> Fraction:
    """Least delta for which no set of reports is more than `odds` times, plus delta, as likely under another symbol."""
    return max(
        sum((max(first[report] - odds * second[report], Fraction(0)) for report in first), Fraction(0))
        for first in laws
        for second in laws
    )
