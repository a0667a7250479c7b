"""Reports added up by an aggregator: from any number of files, in any order, in bounded memory."""

from __future__ import annotations

import hashlib
import io
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from ogive.core.arrays import Int64, UInt8
from ogive.core.checks import whole
from ogive.core.files import Stamp, check_unchanged, one_each, stamp_of, write_atomically
from ogive.errors import ParameterError, PeerError, plain
from ogive.local import aggregation
from ogive.local.base import HEADER_BYTES, Oracle, read_numbers
from ogive.local.description import Description
from ogive.local.oracles import PublicClasses
from ogive.local.states import (
    GZIP,
    KEY_BYTES,
    LARGEST_COUNT,
    Journal,
    State,
    is_state,
    opened,
    read_file,
    read_state,
    write_state,
)
from ogive.local.tree import LevelOracle

# --- How many reports answer the same question: numbers decide that, and no report and no state can choose it


def smallest_group(oracle: Oracle, participants: int) -> int:
    """Fewest participants who are asked the same, so that their reports mix, if all of 0..participants-1 report."""
    if isinstance(oracle, PublicClasses):
        raise ParameterError(
            "reports of public classes mix with those of their own class only, and nobody knows beforehand how many "
            "those are"
        )
    if not isinstance(oracle, LevelOracle) or oracle.levels_of is None:
        return participants
    return int(aggregation.count_levels(0, participants, *oracle.levels_of.compiled).min())


def answers_fit(oracle: Oracle, sums: Int64, heard: UInt8) -> bool:
    """Whether sums have as many reports at each level as participants who were heard, in a bitmap, are asked it."""
    inner = oracle.inner if isinstance(oracle, PublicClasses) else oracle
    if not isinstance(inner, LevelOracle) or inner.levels_of is None:
        return True
    counted = sum(inner.level_reports(each) for each in sums.reshape(-1, *inner.shape))
    return np.array_equal(counted, aggregation.count_heard_levels(heard, *inner.levels_of.compiled))


# --- Reports added up

CHUNK = 1 << 20
"""Reports that are held in memory at a time, at most."""
CHUNK_BYTES = 1 << 26
"""Bytes that these have, at most: reports of unary oracles may have some thousands each."""

Progress = Callable[["Counts"], None]


@dataclass(frozen=True)
class Counts:
    """What became of reports.

    Fields:
        duplicate: Of a participant whose report was added up before; the first one counts.
        malformed: Of a participant number or a content that no participant can send, or cut off.
    """

    accepted: int = 0
    duplicate: int = 0
    malformed: int = 0
    foreign: int = 0

    @property
    def refused(self) -> int:
        """Reports that were not added up."""
        return self.duplicate + self.malformed + self.foreign

    def __add__(self, other: Counts) -> Counts:
        both = zip(astuple(self), astuple(other), strict=True)
        return Counts(*(min(mine + theirs, LARGEST_COUNT) for mine, theirs in both))

    def __str__(self) -> str:
        words = [f"{self.accepted} report{'' if self.accepted == 1 else 's'} accepted"]
        for count, what in (
            (self.duplicate, "of participants who had reported before"),
            (self.malformed, "malformed"),
            (self.foreign, "not to this description"),
        ):
            if count:
                words.append(f"{count} refused: {what}")
        return "; ".join(words)


class Collection:
    """The sums of all reports to one description.

    A collection holds the sums of reports and the set of participants who reported, not single reports. The sums of
    one report are that report.

    Args:
        description: A `Description`, or its plain data, JSON text, or the Path of its file.

    Raises:
        PeerError: the description is malformed or inconsistent.
    """

    def __init__(self, description: Any) -> None:
        self.description = Description.of(description)
        self.counts = Counts()
        self._heard = np.zeros(-(-self.description.participants // 8), dtype=np.uint8)
        self._sums = np.zeros(self.description.oracle.shape, dtype=np.int64)
        self._journal = Journal()

    @property
    def sums(self) -> Int64:
        """Copy of the sums of the accepted reports, of the oracle's shape."""
        return self._sums.copy()

    @property
    def accepted(self) -> int:
        """Number of participants whose report was accepted."""
        return self.counts.accepted

    @property
    def missing(self) -> int:
        """Number of participants without an accepted report."""
        return self.description.participants - self.counts.accepted

    def heard(self, number: int) -> bool:
        """Whether the report of a participant was added."""
        if not 0 <= number < self.description.participants:
            raise ParameterError(f"participants have the numbers 0 to {self.description.participants - 1}")
        return bool(self._heard[number >> 3] >> (number & 7) & 1)

    def add(self, source: Any, *, progress: Progress | None = None) -> Counts:
        """Add reports.

        A file is recognized by its content. A file that was added before adds nothing. A file that has grown, or was
        read only in part, is continued.

        Args:
            source: Reports as bytes, the path of a file of them (gzipped or not) or of a partial state, or an iterable
                of these.
            progress: Called after every chunk with its outcome.

        Returns:
            The outcome for these reports.

        Raises:
            ParameterError: the file cannot be read, or the source is none of these.
            PeerError: a partial state is damaged or does not fit; see `merge`.
        """
        if isinstance(source, bytes | bytearray | memoryview):
            return self._add_pieces([source], progress)
        if isinstance(source, str | Path):
            return self._add_file(Path(source), progress)
        if isinstance(source, Iterable):
            return self._add_several(source, progress)
        raise ParameterError(f"`reports` must be bytes, files or several of them, got {type(source).__name__}")

    def shared(self, other: Collection) -> int:
        """Of how many participants both this and another collection of the description have a report."""
        return int(aggregation.count_bits(self._heard & other._heard))

    def merge(self, other: Collection) -> Counts:
        """Add the sums of another collection of the same description.

        Returns:
            The outcome that the other collection recorded.

        Raises:
            PeerError: it is for another description, both have reports of the same participants, or it counts more
                refused reports than possible; nothing is added then.
        """
        if other.description.digest != self.description.digest:
            raise PeerError(
                f"the partial state is of another description ({other.description.id}, not {self.description.id})"
            )
        shared = self.shared(other)
        if shared:
            raise PeerError(
                f"{shared} participants are in both partial states, but every report may be counted once; "
                "add the reports themselves, of which the first of each participant counts"
            )
        if max(astuple(self.counts + other.counts)) == LARGEST_COUNT:
            refused = self.counts.refused + other.counts.refused
            raise PeerError(f"with the partial state {refused} reports were refused, which is more than possible")
        self._heard |= other._heard
        self._sums += other._sums
        self.counts += other.counts
        self._journal.merge(other._journal)
        return other.counts

    @staticmethod
    def new_key() -> bytes:
        """32 random bytes with which a state recognizes its files; never pass the key on with the state."""
        return secrets.token_bytes(KEY_BYTES)

    def save(self, path: str | Path, *, key: bytes | None = None) -> None:
        """Write the partial state, whole or not at all; see `to_bytes`.

        Raises:
            ParameterError: the file cannot be written, or the key is invalid.
        """
        write_atomically(Path(path), self.to_bytes(key=key))

    def to_bytes(self, *, key: bytes | None = None) -> bytes:
        """The partial state, to be merged elsewhere or read again.

        Args:
            key: Key with which `load` recognizes the files that were read. Without the key the state reveals only the
                number and lengths of these files. If None, the state stores nothing about them.

        Raises:
            ParameterError: the key is invalid.
        """
        journal = self._journal.sealed(key)
        return write_state(State(self.description, astuple(self.counts), journal, self._sums, self._heard))

    def digest(self) -> bytes:
        """SHA-256 of the description, the sums and the set of participants who reported."""
        result = hashlib.sha256(b"ogive collection 1\n" + self.description.digest)
        result.update(self._sums.astype("<i8").tobytes())
        result.update(self._heard.tobytes())
        return result.digest()

    @staticmethod
    def load(source: str | Path | bytes, *, key: bytes | None = None) -> Collection:
        """Read a partial state from a file, or from its bytes.

        Args:
            source: File or bytes of the state.
            key: Key with which the state was saved. Without it no file is recognized, and reports of a file that is
                added again count as duplicates.

        Raises:
            PeerError: the state is damaged or inconsistent.
            ParameterError: the file cannot be read, or the key is invalid.
        """
        state = read_state(source)
        collection = Collection(state.description)
        collection.counts = Counts(*state.counts)
        collection._heard, collection._sums, collection._journal = state.heard, state.sums, Journal(state.journal, key)
        if int(aggregation.count_bits(collection._heard)) != collection.accepted:
            raise PeerError("the partial state is inconsistent: it lists other participants than it counts")
        if not collection.description.oracle.possible(collection._sums, collection.accepted):
            raise PeerError("the partial state is inconsistent: its sums belong to other reports than it counts")
        if not answers_fit(collection.description.oracle, collection._sums, collection._heard):
            raise PeerError(
                "the partial state contradicts itself: its reports answer other questions than the participants that "
                "it heard are asked"
            )
        return collection

    def _add_several(self, source: Iterable[Any], progress: Progress | None) -> Counts:
        """Pieces are taken together until a file comes between them, or they fill a chunk."""
        counts = Counts()
        pieces: list[Any] = []
        held, most = 0, self._chunk * self.description.report_bytes
        for item in source:
            if isinstance(item, bytes | bytearray | memoryview):
                pieces.append(item)
                held += memoryview(item).nbytes
                if held < most and len(pieces) < CHUNK:
                    continue
            elif not isinstance(item, str | Path):
                raise ParameterError(f"`reports` must be bytes, files or several of them, got {type(item).__name__}")
            counts += self._add_pieces(pieces, progress)
            pieces, held = [], 0
            if isinstance(item, str | Path):
                counts += self._add_file(Path(item), progress)
        return counts + self._add_pieces(pieces, progress)

    @property
    def _chunk(self) -> int:
        """Reports of this description that are held in memory at a time."""
        return max(1, min(CHUNK, CHUNK_BYTES // self.description.report_bytes))

    def _add_file(self, path: Path, progress: Progress | None) -> Counts:
        if is_state(path):
            return self._add_state(path, progress)
        result = Counts()
        size = self.description.report_bytes
        most = self._chunk * size
        with opened(path, self._journal) as reading:
            ended = False
            while not ended:
                data = reading.read(most)
                ended = len(data) < most
                whole = len(data) - len(data) % size
                part = Counts()
                if whole:
                    part += self._add_chunk(np.frombuffer(data, np.uint8, whole).reshape(-1, size))
                    reading.done(memoryview(data)[:whole])
                # what is over at the end of a file that was read before was counted then
                if ended and (whole < len(data) or reading.damaged) and (whole or not reading.resumed):
                    part += Counts(malformed=1)
                result += self._count(part, progress)
        return result

    def _add_state(self, path: Path, progress: Progress | None) -> Counts:
        data = read_file(path)
        digest = hashlib.sha256(data).hexdigest()
        if self._journal.size(digest) == len(data):
            return Counts()
        result = self.merge(Collection.load(data))
        self._journal.replace(None, digest, len(data))
        if progress is not None:
            progress(result)
        return result

    def _add_pieces(self, pieces: list[Any], progress: Progress | None) -> Counts:
        """Each piece holds whole reports; what is over at its end is malformed."""
        size = self.description.report_bytes
        most = self._chunk * size
        result = Counts()
        for data, cut in _joined(pieces, size):
            for start in range(0, len(data), most):
                part = np.frombuffer(data[start : start + most], np.uint8).reshape(-1, size)
                result += self._count(self._add_chunk(part), progress)
            result += self._count(Counts(malformed=cut), None)
        return result

    def _count(self, counts: Counts, progress: Progress | None) -> Counts:
        self.counts += counts
        if progress is not None:
            progress(counts)
        return counts

    def _add_chunk(self, reports: UInt8) -> Counts:
        """Add some reports, shape (n, report bytes)."""
        oracle = self.description.oracle
        numbers = np.empty(len(reports), dtype=np.int64)
        payloads = np.empty((len(reports), oracle.payload_bytes), dtype=np.uint8)
        repeated = np.empty(len(reports), dtype=np.int64)
        tag = np.frombuffer(self.description.tag, np.uint8)
        result = aggregation.sift(reports, tag, self.description.participants, self._heard, numbers, payloads, repeated)
        count = int(result[aggregation.ACCEPTED])
        again = reports[repeated[: result[aggregation.REPEATED]]]
        good = oracle.add(self._sums, numbers[:count], payloads[:count])
        counts = Counts(foreign=int(result[aggregation.FOREIGN]), malformed=int(result[aggregation.OUT_OF_RANGE]))
        if bool(good.all()):
            return counts + Counts(accepted=count, duplicate=len(again))
        accepted = int(good.sum())
        aggregation.forget(self._heard, numbers[:count], good)
        counts += Counts(accepted=accepted, malformed=count - accepted)
        return counts + self._add_repeated(again)

    def _add_repeated(self, reports: UInt8) -> Counts:
        """Add reports whose number another of the chunk has, which was perhaps malformed and does not count."""
        oracle = self.description.oracle
        numbers = read_numbers(reports)
        payloads = np.ascontiguousarray(reports[:, HEADER_BYTES:])
        good = oracle.add(np.zeros_like(self._sums), numbers, payloads)
        counted = np.empty(len(reports), dtype=np.bool_)
        duplicate, malformed = aggregation.claim(self._heard, numbers, good, counted)
        assert bool(oracle.add(self._sums, numbers[counted], payloads[counted]).all())
        return Counts(int(counted.sum()), int(duplicate), int(malformed))


def _joined(pieces: list[Any], size: int) -> Iterator[tuple[bytes, int]]:
    """The whole reports of pieces in larger pieces, with how many pieces were cut off."""
    views = [memoryview(piece).cast("B") for piece in pieces]
    cut = sum(len(view) % size > 0 for view in views)
    if len(views) == 1:
        yield bytes(views[0][: len(views[0]) - len(views[0]) % size]), cut
    elif views:
        yield b"".join(view[: len(view) - len(view) % size] for view in views), cut


# --- Reports in parts: many workers add up a part each, and what they found is merged as if one process had read all
#
#     parts = divide(description, files)
#     collection = merge_parts(parts, map(add_part, parts))
#
# `map` may be that of a pool of processes, or a cluster's. A worker reads its own bytes and returns sums, no reports.

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
        stamp: Length and time of change of the file when it was divided.
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
        >>> question = ogive.describe_collection(curve, privacy=ogive.PureDP(1), participants=90, title="Ages")
        >>> path = Path(tempfile.mkdtemp()) / "ages.reports"
        >>> _ = path.write_bytes(Randomizer(question).reports(list(range(90))))
        >>> parts = divide(question, [path], reports=40)
        >>> merge_parts(parts, map(add_part, parts)).accepted
        90
    """
    read = Description.of(description)
    text, size = read.to_json(), read.report_bytes * whole(reports, "reports", 1)
    result: list[Part] = []
    for file in files:
        path = Path(file)
        stamp = stamp_of(path)
        starts = range(0, stamp[0], size) if _divisible(path) else None
        for start in (0,) if starts is None or not stamp[0] else starts:
            length = None if starts is None else min(size, stamp[0] - start)
            result.append(Part(len(result), text, str(path), start, length, stamp))
    return result


def add_part(part: Part) -> tuple[int, bytes]:
    """Add up the reports of one part, on any machine that can read its file.

    Returns:
        The part's number, and a partial state.

    Raises:
        ParameterError: the file cannot be read, or has changed since it was divided.
    """
    collection = Collection(part.description)
    _add(collection, part)
    return part.number, collection.to_bytes()


def merge_parts(parts: Iterable[Part], results: Iterable[tuple[int, bytes]]) -> Collection:
    """What all parts add up to: the collection that has read the files one after the other.

    Where parts have reports of the same participants, the first one counts, in the order of the parts; such a part is
    read once more here.

    Args:
        parts: From `divide`.
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
                number, result = work(items[place])
                yield pa.RecordBatch.from_pydict({"number": [number], "found": [result]})

    rows = session.range(0, len(items), 1, len(items)).mapInArrow(run, "number long, found binary").collect()
    return [(row["number"], bytes(row["found"])) for row in rows]
