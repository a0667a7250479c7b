"""Reports in parts: many workers add up a part each, and what they found is merged as if one process had read all.

    parts = divide(description, files)
    collection = merge_parts(parts, map(add_part, parts))

`map` may be that of a pool of processes, or a cluster's. A worker reads its own bytes and returns sums, never reports.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from ogive.core.checks import whole
from ogive.core.files import Stamp, check_unchanged, one_each, stamp_of
from ogive.errors import ParameterError, plain
from ogive.local.collection import Collection
from ogive.local.description import Description
from ogive.local.states import GZIP, is_state

PART_REPORTS = 1 << 22


@dataclass(frozen=True)
class Part:
    """Some reports of a file, or all of it; it is sent to a worker.

    Fields:
        number: Its place among all parts, from 0.
        description: As JSON.
        path: Of the file, which the worker reads by this name.
        start: The first byte.
        length: How many bytes; None for a file that cannot be divided, such as one that is compressed.
        stamp: Length and time of change of the file when the parts were made.
    """

    number: int
    description: str
    path: str
    start: int
    length: int | None
    stamp: Stamp


def divide(description: Any, files: Iterable[str | Path], *, reports: int = PART_REPORTS) -> list[Part]:
    """Divide files of reports into parts.

    Compressed files, stores of a service and partial states are a part each.

    Args:
        description: A `Description`, or its plain data, JSON text, or the Path of its file.
        files: Files of reports, by names that all workers know, such as those of a shared disk.
        reports: Of one part, at most.

    Raises:
        ParameterError: a file cannot be read.
        PeerError: the description is malformed.

    Example:
        >>> import ogive, tempfile
        >>> from pathlib import Path
        >>> from ogive.local import Randomizer, add_part, divide, merge_parts
        >>> curve = ogive.Ecdf("age", bounds=(0, 120), bins=16)
        >>> asked = ogive.describe_collection(curve, privacy=ogive.PureDP(1), participants=90, title="Ages")
        >>> path = Path(tempfile.mkdtemp()) / "ages.reports"
        >>> _ = path.write_bytes(Randomizer(asked).reports(list(range(90))))
        >>> parts = divide(asked, [path], reports=40)
        >>> merge_parts(parts, map(add_part, parts)).accepted
        90
    """
    read = Description.of(description)
    text, size = read.to_json(), read.report_bytes * whole(reports, "reports", 1)
    found: list[Part] = []
    for file in files:
        path = Path(file)
        stamp = stamp_of(path)
        starts = range(0, stamp[0], size) if _divisible(path) else None
        for start in (0,) if starts is None or not stamp[0] else starts:
            length = None if starts is None else min(size, stamp[0] - start)
            found.append(Part(len(found), text, str(path), start, length, stamp))
    return found


def add_part(part: Part) -> tuple[int, bytes]:
    """Add up the reports of one part, on any machine that can read its file.

    Returns:
        The part's number, and a partial state.

    Raises:
        ParameterError: the file cannot be read, or is another one than when the parts were made.
    """
    collection = Collection(part.description)
    _add(collection, part)
    return part.number, collection.to_bytes()


def merge_parts(parts: Iterable[Part], results: Iterable[tuple[int, bytes]]) -> Collection:
    """What all parts add up to: the collection that has read the files one after the other.

    Where parts have reports of the same participants, the first one counts, in the order of the parts; such a part is
    read once more here.

    Args:
        parts: What `divide` made.
        results: What `add_part` returned for each, in any order; the same result may come several times.

    Raises:
        PeerError: a result lacks, is of no part, or contradicts another one of the same part or the description.
        ParameterError: a part that is read once more cannot be.
    """
    tasks = {part.number: part for part in parts}
    if not tasks:
        raise ParameterError("there are no parts; name at least one file of reports")
    states = one_each(tasks, results)
    collection = Collection(tasks[min(tasks)].description)
    for number, part in sorted(tasks.items()):
        other = Collection.load(states[number])
        if collection.shared(other):
            _add(collection, part)
        else:
            collection.merge(other)
    return collection


def _add(collection: Collection, part: Part) -> None:
    path = Path(part.path)
    if part.length is None:
        collection.add(path)
    else:
        try:
            with io.BufferedReader(path.open("rb", buffering=0)) as file:
                file.seek(part.start)
                data = file.read(part.length)
        except OSError as problem:
            raise ParameterError(f"cannot read {plain(path)}: {problem.strerror}") from None
        collection.add(data)
    check_unchanged(path, part.stamp)


def _divisible(path: Path) -> bool:
    """Whether reports stand in the file one after the other."""
    if not path.is_file() or is_state(path):
        return False
    try:
        with path.open("rb") as file:
            return file.read(len(GZIP)) != GZIP
    except OSError as problem:
        raise ParameterError(f"cannot read {plain(path)}: {problem.strerror}") from None


# --- Parts of reports, added up by the workers of Spark

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
