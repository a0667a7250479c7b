"""Rates on one core that plans of servers count with, and whole servers: measured, and beside what they assume.

Run: python benchmarks/uploads.py [--quick]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from harness import best_time, record, row
from upload_servers import server_rows

from ogive.crypto import field
from ogive.crypto.comparison import KeyShape, evaluate, evaluate_sums, generate
from ogive.crypto.comparison.evaluation import evaluate_weighed
from ogive.crypto.sketch import CellClaim
from ogive.crypto.tables import (
    BLOCKS_PER_SECOND,
    CELLS_PER_SECOND,
    PRODUCTS_PER_SECOND,
    WEIGHED_PER_SECOND,
    ShareShape,
    blocks_at,
    one_hot_columns,
    project,
    share,
)

STUDY = bytes(32)
SEED = 7
RUNS = 5
ASSUMED = "what plans count with"


def seconds(work: Callable[[], object], runs: int) -> float:
    """Of processor time: everything here runs on one core."""
    return best_time(work, runs=runs, clock=time.process_time)


def key_rows(runs: int, size: int) -> Iterator[dict[str, Any]]:
    """AES blocks a second, for one threshold, a hundred, and the whole domain."""
    rng = np.random.default_rng(SEED)
    for bits, points, clients in ((16, 1, 8 * size), (16, 100, size), (10, 1023, size // 4)):
        for name, work in (("adding up", evaluate_sums), ("one by one", evaluate)):
            if name == "one by one" and points > 100:
                continue
            shape = KeyShape(group="field", bits=bits)
            batch, _ = generate(rng.integers(0, 1 << bits, clients), shape=shape, study=STUDY)
            at = np.linspace(0, (1 << bits) - 2, points).astype(np.int64)
            blocks = clients * blocks_at(shape, points)
            took = seconds(lambda work=work, batch=batch, at=at: work(batch, at, server=0, threads=1), runs)
            yield rate(
                f"keys of {bits} bits at {points} points, {name}", "M blocks/s", blocks / took, BLOCKS_PER_SECOND
            )


def weighed_rows(runs: int, size: int) -> Iterator[dict[str, Any]]:
    """Products a second of a check of keys: what walking takes more where values are weighed."""
    rng = np.random.default_rng(SEED)
    for bits, points, clients in ((12, 4095, size // 16), (10, 1023, size // 4), (7, 100, size)):
        shape = KeyShape(group="field", bits=bits)
        batch, _ = generate(rng.integers(0, 1 << bits, clients), shape=shape, study=STUDY)
        at, weights = np.arange(points), elements(rng, (2, points))

        def weigh(batch: Any = batch, at: Any = at, weights: Any = weights) -> object:
            return evaluate_weighed(batch, at, weights, server=0, threads=1)

        def add(batch: Any = batch, at: Any = at) -> object:
            return evaluate_sums(batch, at, server=0, threads=1)

        more = seconds(weigh, runs) - seconds(add, runs)
        work = f"keys of {bits} bits at {points} points, checking"
        yield rate(work, "M products/s", 2 * points * clients / more, WEIGHED_PER_SECOND)


def table_rows(runs: int, size: int) -> Iterator[dict[str, Any]]:
    """Cells a second, added up and checked."""
    rng = np.random.default_rng(SEED)
    for cells, clients in ((8, 4 * size), (1024, size // 8)):
        shape = ShareShape(cells)
        columns = one_hot_columns(rng.integers(0, cells, clients), cells=cells)
        first, _ = share(columns, shape=shape, servers=2, study=STUDY)
        weights = CellClaim(np.arange(cells)).identity(elements(rng, cells)).weights
        took = seconds(first.sums, runs)
        yield rate(f"tables of {cells} cells, adding up", "M cells/s", cells * clients / took, CELLS_PER_SECOND)
        took = seconds(lambda first=first, weights=weights: first.project(weights), runs)
        assumed = 1 / (1 / CELLS_PER_SECOND + 2 / PRODUCTS_PER_SECOND)
        yield rate(f"tables of {cells} cells, checking", "M cells/s", cells * clients / took, assumed)
    values = elements(rng, (100, size))
    took = seconds(lambda: project(values, elements(rng, (2, 100))), runs)
    yield rate("products of a check", "M products/s", 2 * values.size / took, PRODUCTS_PER_SECOND)


def elements(rng: np.random.Generator, shape: Any) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """Uniform elements of the field."""
    return rng.integers(0, field.P, shape, dtype=np.uint64)


def rate(work: str, unit: str, found: float, assumed: float) -> dict[str, Any]:
    """A row that compares what was measured with what is assumed, in millions a second."""
    return row(f"plan, {work}", "rate", unit, found / 1e6, runs=RUNS, peer=ASSUMED, peer_value=assumed / 1e6)


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer clients and runs, and no whole servers")
    quick = parser.parse_args().quick
    runs, size = (2, 4_000) if quick else (RUNS, 40_000)
    rates = [*key_rows(runs, size), *weighed_rows(runs, size), *table_rows(runs, size)]
    record(rates if quick else [*rates, *server_rows()], quick=quick)


if __name__ == "__main__":
    main()
