"""What a whole server takes, from the first upload to its answer, beside what a plan predicts; for `uploads.py`.

Two servers verify a curve at all its thresholds. The clients' uploads are made as they are sent, a message at a time,
and are not counted; the server that takes longer is.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from harness import row

from ogive.columns import Binning
from ogive.columns.grids import Grid
from ogive.privacy import Adjacency, PureDP
from ogive.queries import CurveQuery
from ogive.records.contributions import Contributions
from ogive.strategies import design_tree
from ogive.trust.servers.clients import upload
from ogive.trust.servers.server import Server, ServerState
from ogive.trust.servers.settings import AggregateUploads, Layout, cost_of
from ogive.trust.servers.uploads import KEYS, TABLES, Uploads

CASES = ((20_000, 4096), (100_000, 1024), (300_000, 100))
"""Clients and thresholds."""

MESSAGE_CLIENTS, MESSAGE_NUMBERS = 1 << 14, 1 << 21
RUNS = 2
FACTOR = 2.0
ADJACENCY = Adjacency.REPLACE


class Timed:
    """Two servers in turn, and the processor time of each."""

    def __init__(self, collected: AggregateUploads) -> None:
        self.session = bytes(16)
        self.seconds = [0.0, 0.0]
        self.servers = [
            Server(
                collected,
                number,
                session=self.session,
                secret=bytes(32),
                random=os.urandom,
                state=ServerState(collected.study, self.session, number),
                clients=MESSAGE_CLIENTS,
            )
            for number in range(2)
        ]

    def each(self, work: Callable[[int], Any]) -> list[Any]:
        """What both do."""
        found = []
        for number in range(2):
            start = time.process_time()
            found.append(work(number))
            self.seconds[number] += time.process_time() - start
        return found


def server_seconds(uploads: Uploads, query: CurveQuery, clients: int, cells: int) -> float:
    """Processor time of the busier server, all its threads together."""
    collected = AggregateUploads(Layout(query.aggregate), uploads)
    timed = Timed(collected)
    servers, rng = timed.servers, np.random.default_rng(1)
    columns = 1 if collected.tables is None else collected.tables.columns
    size = min(MESSAGE_CLIENTS, MESSAGE_NUMBERS // columns)
    for batch, start in enumerate(range(0, clients, size)):
        records = Contributions(rng.integers(0, cells, min(size, clients - start)), None)
        sent = upload(collected, records, batch=batch, session=timed.session, random=os.urandom)
        timed.each(lambda number, sent=sent: servers[number].receive(sent[number]))
    messages = timed.each(lambda number: servers[number].freeze())
    timed.each(lambda number: servers[number].agree([messages[1 - number][number]]))
    preparations = timed.each(lambda number: servers[number].prepare(query))
    messages = timed.each(lambda number: preparations[number].begin())
    while not all(preparation.done for preparation in preparations):
        messages = timed.each(lambda number, last=messages: preparations[number].take([last[1 - number][number]]))
    timed.each(lambda number: servers[number].answer(query, ADJACENCY))
    return max(timed.seconds)


def server_rows() -> Iterator[dict[str, Any]]:
    """Seconds of a server, and by what factor a plan is off, which should be at most two."""
    for number, (clients, cells) in enumerate([(500, 64), *CASES]):
        strategy = design_tree(cells, privacy=PureDP(1), adjacency=ADJACENCY)
        query = CurveQuery(Binning("x", Grid.linear(0, 1, bins=cells), "refuse"), strategy)
        for kind in (KEYS, TABLES):
            uploads = Uploads(2, kind, verified=True, verifications=16)
            took = min(server_seconds(uploads, query, clients, cells) for _ in range(RUNS))
            if not number:
                continue  # for compilation alone
            predicted = cost_of(uploads, query, clients).seconds
            work = f"plan, a server of {clients} clients with {kind} at {cells} thresholds"
            yield row(work, "time", "s", took, runs=RUNS, peer="what plans count with", peer_value=predicted)
            off = max(took / predicted, predicted / took)
            yield row(work, "plan off by", "times", off, runs=RUNS, target=FACTOR, larger_is_better=False)
