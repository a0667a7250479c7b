"""What each stage takes that a server goes through with stored uploads, from the store on disk to its answer.

    python benchmarks/server_stages.py [--people 1000000] [--cells 1024] [--quick]

Reports of comparison keys for two servers are made and stored beforehand, in the files that `ogive server` keeps, and
are not counted. Then both servers do what they do when a release is asked for, in turn, in one process without a
network. Figures are processor seconds of the busier server, all its threads together.
"""

from __future__ import annotations

import argparse
import os
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from harness import measure_in_folder, row
from uploads_network import study_text

from ogive.segments import Segments
from ogive.study.course import Step, course
from ogive.study.document import ServersStudy
from ogive.study.enrolment import make_key, make_token
from ogive.study.sealing import sealing_key
from ogive.study.servers.evaluating import batch_rows, open_uploads, opened_messages
from ogive.study.servers.uploads import FOLDER, Enrolled, Relayed, enrolled, make_reports, read_report
from ogive.trust.servers.model import add_answers
from ogive.trust.servers.server import Server, ServerState

SERVERS = range(2)
_CHUNK = 4_000


class Stages:
    """Processor seconds of each server in each stage, in order."""

    def __init__(self) -> None:
        self.seconds: dict[str, list[float]] = {}

    def each(self, stage: str, work: Callable[[int], Any]) -> list[Any]:
        """What both servers do."""
        seconds = self.seconds.setdefault(stage, [0.0, 0.0])
        found = []
        for number in SERVERS:
            began = time.process_time()
            found.append(work(number))
            seconds[number] += time.process_time() - began
        return found


def stored(folder: Path, *, people: int, cells: int) -> tuple[ServersStudy, list[Any]]:
    """A study whose uploads lie in the stores of both servers, and the servers' keys."""
    keys = [make_key(folder / f"{number}.key") for number in SERVERS]
    study = ServersStudy.parse(study_text(keys, people=people, cells=cells))
    tokens = [make_token() for _ in range(people)]
    values = np.random.default_rng(1).random(people)
    stores = [Segments(folder / f"store-{number}" / FOLDER) for number in SERVERS]
    for number in SERVERS:
        (folder / f"{number}.enrolled").write_bytes(enrolled(tokens, study, number))
    for start in range(0, people, _CHUNK):
        made = make_reports(study, {"x": values[start : start + _CHUNK]}, tokens[start : start + _CHUNK])
        reports = [read_report(report, study) for report in made]
        for number, store in enumerate(stores):
            store.append([parts[number] for parts in reports])
    for store in stores:
        store.close()
    return study, keys


def measure(folder: Path, *, people: int, cells: int) -> list[dict[str, Any]]:
    """The rows of one study."""
    study, keys = stored(folder, people=people, cells=cells)
    (collected,) = study.collected
    session = study.session(collected)
    step = course(study, study.releases[0], ())
    assert isinstance(step, Step)
    adjacency = study.unit.adjacency
    stages = Stages()
    places = [folder / f"store-{number}" for number in SERVERS]

    def opened(number: int) -> None:
        relayed = Relayed(study, number, places[number], closed=people)
        open_uploads(
            study,
            number,
            places[number],
            (some for _, some in relayed.parts(number)),
            key=sealing_key(keys[number]),
            enrolled=Enrolled.read([folder / f"{number}.enrolled"], study, number),
        )
        relayed.close()

    servers = [
        Server(
            collected,
            number,
            session=session,
            secret=bytes(32),
            random=os.urandom,
            state=ServerState(collected.study, session, number),
            clients=batch_rows(study.messages[number][0]),
        )
        for number in SERVERS
    ]

    def received(number: int) -> None:
        for message, _ in opened_messages(study, number, places[number], 0):
            servers[number].receive(message)

    def agreed(number: int) -> None:
        servers[number].agree([names[1 - number][number]])

    stages.each("decrypt, check, store as Parquet", opened)
    stages.each("read back, hash", received)
    names = stages.each("compare names", lambda number: servers[number].freeze())
    stages.each("compare names", agreed)
    verification = "evaluate keys at all thresholds, verify"
    preparing = [server.prepare(step.query) for server in servers]
    sent = stages.each(verification, lambda number: preparing[number].begin())
    while not all(each.done for each in preparing):
        sent = stages.each(verification, lambda number, sent=sent: preparing[number].take([sent[1 - number][number]]))
    answers = stages.each("add up, answer", lambda number: servers[number].answer(step.query, adjacency))
    add_answers(answers, collected, session=session, query=step.query, adjacency=adjacency)
    assert all(server.clients == people for server in servers), "nobody is left out"
    work = f"stages of a server, {people} keys, {cells} cells"
    rows = [
        row(work, stage, "s", max(seconds), runs=1, larger_is_better=False) for stage, seconds in stages.seconds.items()
    ]
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    sizes = [sum(path.stat().st_size for path in (place / FOLDER).iterdir()) / 1e6 for place in places]
    rows += [
        row(work, "memory of both servers in one process, at most", "MB", memory, runs=1, larger_is_better=False),
        row(work, "store", "MB", max(sizes), runs=1, larger_is_better=False),
    ]
    return rows


def main() -> None:
    """Measure, print and record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=1_000_000)
    parser.add_argument("--cells", type=int, default=1024)
    parser.add_argument("--quick", action="store_true", help="few people, and nothing is recorded")
    options = parser.parse_args()
    measure_in_folder(
        lambda folder: measure(folder, people=2_000 if options.quick else options.people, cells=options.cells),
        quick=options.quick,
    )


if __name__ == "__main__":
    main()
