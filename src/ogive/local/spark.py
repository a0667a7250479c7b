"""Parts of reports, added up by the workers of Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

Item = TypeVar("Item")


def map_on_spark(
    session: Any, work: Callable[[Item], tuple[int, bytes]], items: Sequence[Item]
) -> list[tuple[int, bytes]]:
    """Evaluate a function of each item in a task of its own.

    Spark starts a task again whose worker was lost, and hands out the result of one try alone.

    Args:
        session: A `pyspark.sql.SparkSession`. Its workers need ogive, and read files by the names that items have.
        work: The function, such as `ogive.local.add_part`; it returns the item's number and some bytes.
        items: What it is evaluated of, such as `ogive.local.divide` returns.

    Returns:
        The results, in any order.
    """
    if not items:
        return []

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            for place in batch.column(0).to_pylist():
                number, found = work(items[place])
                yield pa.RecordBatch.from_pydict({"number": [number], "found": [found]})

    rows = session.range(0, len(items), 1, len(items)).mapInArrow(run, "number long, found binary").collect()
    return [(row["number"], bytes(row["found"])) for row in rows]
