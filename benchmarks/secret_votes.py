"""Labels of votes that neither of two servers sees, beside those of a curator who sees them all.

    python benchmarks/secret_votes.py [--quick]

Both servers run in one process on one core and send each other bytes: processor time of both, base transfers included,
per query that is asked. Making a circuit takes a second or so, once in a process, and is not counted, and nor are
uploads and their verification. The curator draws the noise of one.
"""

from __future__ import annotations

import argparse
import os
import time
from dataclasses import dataclass

import numpy as np
from harness import best_time, record, row

from ogive.core.arrays import Int64
from ogive.crypto import field
from ogive.noise import DerivedNodes
from ogive.pate import ConfidentGNMax, simulated_votes
from ogive.queries import Ballots, LabelsQuery
from ogive.queries.labels import REFUSED
from ogive.trust.servers.labeling import Comparison, SemiHonestLabeling, Votes

RUNS = 3
SECOND = 1.0
"""What a query may take."""


@dataclass(frozen=True)
class Case:
    """A round of labels.

    Fields:
        classes: How many there are.
        teachers: Who vote.
        queries: Asked at once.
        aggregator: How votes become labels.
    """

    classes: int
    teachers: int
    queries: int
    aggregator: ConfidentGNMax

    @property
    def name(self) -> str:
        """Size of the round, as the results call it."""
        asked = "a single query" if self.queries == 1 else f"{self.queries} queries"
        return f"{asked}, {self.classes} classes, {self.teachers} teachers"


CASES = (
    Case(10, 250, 1, ConfidentGNMax(-1000, 150, 40)),  # which passes
    Case(10, 250, 640, ConfidentGNMax(200, 150, 40)),
    Case(150, 5000, 1, ConfidentGNMax(-10_000, 1500, 100)),
    Case(150, 5000, 100, ConfidentGNMax(3500, 1500, 100)),
)


class Channel:
    """Bytes that are counted and go nowhere."""

    def __init__(self) -> None:
        self.sent = 0

    def write(self, body: bytes) -> bytes:
        """Count a message."""
        self.sent += len(body)
        return body

    def read(self, message: bytes) -> bytes:
        """The message itself."""
        return message


class Round:
    """One round of labels between two servers, whose work is timed one by one."""

    def __init__(self, case: Case, counts: Int64, query: LabelsQuery) -> None:
        rng = np.random.default_rng(2)
        first = rng.integers(0, field.P, counts.shape, np.uint64)
        shares = first, field.differences(counts.astype(np.uint64), first)
        comparison = Comparison(query, case.teachers)
        self.channels = [Channel(), Channel()]
        self.seconds = [0.0, 0.0]
        self.servers = [
            SemiHonestLabeling(
                comparison,
                Votes(number, shares[number], DerivedNodes(os.urandom(32), b"votes")),
                session=bytes(16),
                question=bytes(32),
                random=os.urandom,
                channel=self.channels[number],
            )
            for number in range(2)
        ]
        self._timed(1, None)
        said, listener = self._timed(0, None), 1
        while said is not None:
            said, listener = self._timed(listener, said), 1 - listener

    def _timed(self, number: int, message: bytes | None) -> bytes | None:
        server = self.servers[number]
        start = time.process_time()
        said = server.begin() if message is None else server.take(message)
        self.seconds[number] += time.process_time() - start
        return said


def main() -> None:
    """Measure, print and record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer runs, and nothing is recorded")
    quick = parser.parse_args().quick
    rows = []
    for case in CASES:
        counts, _ = simulated_votes(case.queries, case.teachers, case.classes)
        ballots = Ballots(tuple(map(str, range(case.queries))), case.classes)
        query = case.aggregator.query(ballots, None)
        Round(case, counts, query)
        runs = 1 if quick else RUNS
        found = min((Round(case, counts, query) for _ in range(runs)), key=lambda each: sum(each.seconds))
        alone = best_time(
            lambda counts=counts, query=query: query.answer(counts, DerivedNodes(os.urandom(32), b"votes")),
            runs=runs,
            clock=time.process_time,
        )
        comparison = Comparison(query, case.teachers)
        assert comparison.check is not None
        answered = int((found.servers[0].statuses > REFUSED).sum())
        values = {
            "time of both servers": ("s/query", sum(found.seconds) / case.queries, alone / case.queries, SECOND),
            "time of the busier server": ("s/query", max(found.seconds) / case.queries, None, SECOND),
            "sent by both": ("kB/query", sum(each.sent for each in found.channels) / case.queries / 1000, None, None),
            "gates of a check": ("AND", comparison.check.ands, None, None),
            "gates of a label": ("AND", comparison.label.ands, None, None),
            "labeled": ("queries", answered, None, None),
        }
        rows += [
            row(
                f"labels of votes that nobody sees, {case.name}",
                metric,
                unit,
                value,
                runs=runs,
                target=target,
                larger_is_better=False,
                peer=None if peer is None else "one curator",
                peer_value=peer,
            )
            for metric, (unit, value, peer, target) in values.items()
        ]
    record(rows, quick=quick)


if __name__ == "__main__":
    main()
