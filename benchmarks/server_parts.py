"""Comparison keys evaluated in parts: by the server itself, by a pool of processes, and by Spark on this machine.

    python benchmarks/server_parts.py [--people 1000000] [--cells 1024] [--quick]

A server counts and verifies the opened uploads that lie in its Parquet file, at all thresholds. Whoever evaluates them,
it comes to the same forms and sums, which is checked. The server itself takes all cores by threads, which a part does
not. Spark has two workers in one machine; its start and its first, small task are not counted.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from harness import measure_in_folder, row
from uploads_network import study_text

from ogive.core.arrays import UInt64
from ogive.crypto import field
from ogive.local import map_on_spark
from ogive.records.contributions import Contributions
from ogive.study.document import ServersStudy
from ogive.study.enrolment import make_key
from ogive.study.servers.evaluating import Elsewhere, Workers, batch_rows, opened_messages, opened_path
from ogive.trust.servers.clients import upload
from ogive.trust.servers.server import Server

SERVERS = range(2)
TURNS = 2
ALONE, POOL, SPARK = "the server itself", "a pool of 2 processes", "Spark, 2 workers"


def write_uploads(study: ServersStudy, folders: list[Path], people: int) -> None:
    """Opened uploads of so many people, as both servers keep them."""
    (collected,) = study.collected
    session, rng = study.session(collected), np.random.default_rng(1)
    forms = [study.messages[number][0] for number in SERVERS]
    size = batch_rows(forms[1])
    schemas = [pa.schema([pa.field("message", pa.binary(form.length), nullable=False)]) for form in forms]
    writers = [
        pq.ParquetWriter(opened_path(folder, 0), schema, compression="none", use_dictionary=False)
        for folder, schema in zip(folders, schemas, strict=True)
    ]
    for batch, start in enumerate(range(0, people, size)):
        clients = min(size, people - start)
        records = Contributions(rng.integers(0, collected.layout.counted, clients), None)
        made = upload(collected, records, batch=batch, session=session, random=os.urandom)
        for writer, form, schema, message in zip(writers, forms, schemas, made, strict=True):
            rows = pa.py_buffer(form.rows(message, clients))
            column = pa.FixedSizeBinaryArray.from_buffers(pa.binary(form.length), clients, [None, rows])
            writer.write_table(pa.Table.from_arrays([column], schema=schema))
    for writer in writers:
        writer.close()


def receiving(study: ServersStudy, number: int, folder: Path, workers: Workers | None) -> Server:
    """A server that was sent all uploads."""
    (collected,) = study.collected
    server = Server(
        collected,
        number,
        session=study.session(collected),
        secret=bytes(32),
        random=os.urandom,
        clients=batch_rows(study.messages[number][0]),
        evaluator=workers and Elsewhere(study, number, folder, 0, workers),
    )
    for message, _ in opened_messages(study, number, folder, 0):
        server.receive(message)
    return server


def measured(folder: Path, *, people: int, cells: int) -> list[dict[str, Any]]:
    """All rows of the table."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    study = ServersStudy.parse(
        study_text([make_key(folder / f"{number}.key") for number in SERVERS], people=people, cells=cells)
    )
    folders = [folder / f"store-{number}" for number in SERVERS]
    for each in folders:
        each.mkdir()
    write_uploads(study, folders, people)
    (collected,) = study.collected
    names = receiving(study, 0, folders[0], None).freeze()[1]
    other = receiving(study, 1, folders[1], None)
    told = other.freeze()[0]
    other.agree([names])
    ends = np.arange(collected.layout.cells)
    claim = collected.claim(ends)
    drawn = np.random.default_rng(2).integers(0, field.P, claim.coefficients).astype(np.uint64)
    weights = claim.identity(drawn).weights
    session = SparkSession.builder.master("local[2,4]").config("spark.ui.enabled", "false").getOrCreate()
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        workers = {ALONE: None, POOL: pool.map, SPARK: partial(map_on_spark, session)}
        servers = {}
        for name, each in workers.items():
            servers[name] = receiving(study, 0, folders[0], each)
            servers[name].freeze()
            servers[name].agree([told])
            servers[name].project(ends[-2:], weights[:, :1])  # compiles, and starts processes
        seconds: dict[str, float] = {}
        found: dict[str, UInt64] = {}
        for _ in range(TURNS):
            for name, server in servers.items():
                start = time.perf_counter()
                found[name] = server.project(ends, weights)
                seconds[name] = min(seconds.get(name, float("inf")), time.perf_counter() - start)
        assert all(np.array_equal(found[ALONE], each) for each in found.values())
    session.stop()
    return [
        row(
            f"keys in parts, {people:,} keys, {cells} cells, {name}",
            "elapsed time",
            "s",
            seconds[name],
            runs=TURNS,
            peer=None if name == ALONE else ALONE,
            peer_value=None if name == ALONE else seconds[ALONE],
        )
        for name in servers
    ]


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=1_000_000)
    parser.add_argument("--cells", type=int, default=1024)
    parser.add_argument("--quick", action="store_true", help="a tenth of the people, and nothing is recorded")
    options = parser.parse_args()
    people = options.people // 10 if options.quick else options.people
    measure_in_folder(lambda folder: measured(folder, people=people, cells=options.cells), quick=options.quick)


if __name__ == "__main__":
    main()
