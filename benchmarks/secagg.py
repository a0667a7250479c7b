"""What a secure aggregation takes, over parties and bins: seconds of a party, of the server, of all; bytes of a party.

    python benchmarks/secagg.py [--quick]

Whole sessions with every signature, in one process on one core; processor time, since the machine is shared. A party's
own work is that of the first party; all the work is what a simulation in one process takes.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from harness import record, row

from ogive.crypto.aggregation import (
    AggregationParty,
    AggregationServer,
    AggregationSettings,
    Round,
    choose_neighbours,
    least_threshold,
)

SEED = 11
PARTIES = (3, 10, 30, 100)
BINS = (2**10, 2**12, 2**15)
TARGET = 10
"""Seconds for all the work of 100 parties and 2^15 bins."""


class Work:
    """One session, whose work is timed participant by participant.

    Args:
        parties: How many there are.
        bins: Numbers in a vector.
        leaving: How many leave after they shared their secrets.
        neighbours: With how many each shares masks; None for all.
        threshold: Of a secret's shares; the least by default.
    """

    def __init__(
        self, parties: int, bins: int, *, leaving: int = 0, neighbours: int | None = None, threshold: int | None = None
    ) -> None:
        keys = [Ed25519PrivateKey.generate() for _ in range(parties + 1)]
        public = [key.public_key().public_bytes_raw() for key in keys]
        confirmed = neighbours is None
        least = least_threshold(parties, colluding=0, confirmed=confirmed) if threshold is None else threshold
        settings = AggregationSettings(
            bytes(32), bytes(32), tuple(public[1:]), public[0], bins, least,
            dropouts=leaving, confirmed=confirmed, neighbours=neighbours,
        )  # fmt: skip
        vectors = np.random.default_rng(SEED).integers(0, 2**64, size=(parties, bins), dtype=np.uint64)
        self.seconds = dict.fromkeys(range(parties + 1), 0.0)
        self.sent = dict.fromkeys(range(1, parties + 1), 0)
        server = self._timed(0, lambda: AggregationServer(settings, key=keys[0]))
        members = {
            number: self._timed(
                number,
                lambda number=number: AggregationParty(
                    settings, number=number, key=keys[number], note=lambda token, value: None
                ),
            )
            for number in range(1, parties + 1)
        }
        asked = tuple(members)
        gone = set(range(parties - leaving + 1, parties + 1))
        for step in Round:
            if step is Round.CONFIRM and not confirmed:
                continue
            for number in asked:
                if step >= Round.INPUT and number in gone:
                    continue
                # made by the server one by one, and signed
                data = b"" if step is Round.KEYS else self._timed(0, lambda number=number: server.message(number))
                party, vector = members[number], vectors[number - 1]
                calls: dict[Round, Callable[[], bytes]] = {
                    Round.KEYS: party.advertise,
                    Round.SHARES: lambda party=party, data=data: party.share_keys(data),
                    Round.INPUT: lambda party=party, data=data, vector=vector: party.mask(data, vector),
                    Round.CONFIRM: lambda party=party, data=data: party.confirm(data),
                    Round.UNMASK: lambda party=party, data=data: party.unmask(data),
                }
                answer = self._timed(number, calls[step])
                self.sent[number] += len(answer)
                self._timed(0, lambda answer=answer: server.receive(answer))
            asked = self._timed(0, server.close_round)
        staying = [number - 1 for number in members if number not in gone]
        assert np.array_equal(server.sum(), vectors[staying].sum(axis=0, dtype=np.uint64)), "the sum is right"

    def _timed(self, number: int, work: Callable[[], Any]) -> Any:
        start = time.process_time()
        result = work()
        self.seconds[number] += time.process_time() - start
        return result


def rows_of(name: str, make: Callable[[], Work], runs: int, target: float | None = None) -> list[dict[str, Any]]:
    """Rows of one kind of session; the fastest of several."""
    make()
    found = [make() for _ in range(runs)]
    values = {
        "one party's time": ("s", min(work.seconds[1] for work in found), None),
        "the server's time": ("s", min(work.seconds[0] for work in found), None),
        "everybody's time": ("s", min(sum(work.seconds.values()) for work in found), target),
        "sent by a party": ("kB", found[0].sent[1] / 1000, None),
    }
    return [
        row(name, metric, unit, value, runs=runs, target=wanted, larger_is_better=False)
        for metric, (unit, value, wanted) in values.items()
    ]


def main() -> None:
    """Measure, print and record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few parties, and nothing is recorded")
    quick = parser.parse_args().quick
    rows: list[dict[str, Any]] = []
    for parties in PARTIES[:2] if quick else PARTIES:
        for bins in BINS:
            runs = 1 if quick or parties >= 100 else 3
            target = TARGET if (parties, bins) == (100, 2**15) else None
            name = f"secure aggregation, {parties} parties, 2^{bins.bit_length() - 1} bins"
            rows += rows_of(name, lambda parties=parties, bins=bins: Work(parties, bins), runs, target)
    if quick:
        record(rows, quick=True)
        return
    name = "secure aggregation, 100 parties, 2^15 bins, of whom 10 leave after the shares"
    rows += rows_of(name, lambda: Work(100, 2**15, leaving=10), 1)
    neighbours, threshold = choose_neighbours(1000, dropouts=50, colluding=100)
    name = f"secure aggregation, 1000 parties, 2^10 bins, {neighbours} neighbours each"
    rows += rows_of(name, lambda: Work(1000, 2**10, leaving=50, neighbours=neighbours, threshold=threshold), 1)
    record(rows)


if __name__ == "__main__":
    main()
